// SPDX-License-Identifier: Apache-2.0
/// Statements found in a text, and texts put around them.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "paths.h"
#include "ptx/text_edits.h"

using namespace sm100::ptx;

namespace {

const std::string kText =
    ".version 9.0\n.target sm_90a, debug\n// a comment; with a semicolon\n.address_size 64\n"
    ".visible .entry k(\n\t.param .u64 a\n)\n.maxntid 384, 1, 1\n{\n"
    "\t.reg .pred %p<2>;\n\t.reg .b32 %r<4>;\n"
    "L0:\n\t@!%p1 mov.u32 %r1, %tid.x; // first; not here\n"
    "\tadd.s32 /* ; */ %r2,\n\t\t%r1, 1 ;\n\tbra L0;\n}\n";

}  // namespace

TEST_CASE("A statement's text reaches from its guard to its semicolon") {
  const Module m = parse(kText, "x.ptx");
  const Body& body = m.entries[0].body;
  const auto text = [&](size_t i) {
    const StatementText s = statement_text(m, body.statements[i]);
    return m.text->substr(s.begin, s.end - s.begin);
  };
  CHECK(text(0) == "@!%p1 mov.u32 %r1, %tid.x;");
  CHECK(statement_text(m, body.statements[0]).guard == "@!%p1");
  CHECK(statement_text(m, body.statements[0]).operands == "%r1, %tid.x");
  CHECK(text(1) == "add.s32 /* ; */ %r2,\n\t\t%r1, 1 ;");
  CHECK(statement_text(m, body.statements[1]).guard.empty());
  CHECK(text(2) == "bra L0;");
}

TEST_CASE("Edits leave everything else as it is") {
  const Module m = parse(kText, "x.ptx");
  const Body& body = m.entries[0].body;
  TextEdits edits(m);
  CHECK(edits.apply() == kText);
  edits.after(body.statements[0], " <behind>");
  edits.before(body.statements[0], "<one>");
  edits.before(body.statements[0], "<two>");
  edits.replace(body.statements[1], "<instead>");
  edits.module_scope("<module>");
  edits.body_start(m.entries[0], "<body>");
  CHECK(edits.apply() ==
        ".version 9.0\n.target sm_90a, debug\n// a comment; with a semicolon\n.address_size 64\n<module>"
        ".visible .entry k(\n\t.param .u64 a\n)\n.maxntid 384, 1, 1\n{<body>\n"
        "\t.reg .pred %p<2>;\n\t.reg .b32 %r<4>;\n"
        "L0:\n\t<one><two>@!%p1 mov.u32 %r1, %tid.x; <behind> // first; not here\n"
        "\t<instead>\n\tbra L0;\n}\n");
}

TEST_CASE("Every statement of the PTX in scenarios is found") {
  for (const auto& file : std::filesystem::recursive_directory_iterator(sm100::scenario_dir())) {
    if (file.path().extension() != ".ptx") continue;
    INFO(file.path().string());
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const Module m = parse(text.str(), file.path().string());
    TextEdits edits(m);
    size_t statements = 0;
    for (const auto* list : {&m.entries, &m.functions})
      for (const Entry& entry : *list)
        for (const Statement& s : entry.body.statements) {
          edits.before(s, "/* before */");
          edits.after(s, "/* after */");
          ++statements;
        }
    const Module again = parse(edits.apply(), "again.ptx");
    size_t found = 0;
    for (const auto* list : {&again.entries, &again.functions})
      for (const Entry& entry : *list) found += entry.body.statements.size();
    CHECK(found == statements);
    CHECK(statements > 0);
  }
}

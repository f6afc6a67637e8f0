// SPDX-License-Identifier: Apache-2.0
// The model against what hardware has shown: reductions element by element, mbarrier scripts, and programs that
// both run (bench/hardware/seam).  The data, hardware/seam.json beside this file, are what hw_semantics --only seam
// --json has written; without them the comparisons are skipped.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/hardware/seam/barrier_script.h"
#include "bench/hardware/seam/programs.h"
#include "catch.h"
#include "models/mbarrier.h"
#include "paths.h"
#include "sim/role_code.h"

namespace sm100::sim {
namespace {

/// Everything that was seen whose id begins so, by id: the question and what was seen.
struct Answer {
  std::string question, seen;
};
std::map<std::string, Answer> answers(const std::string& prefix) {
  std::map<std::string, Answer> all;
  const std::string path = source_dir() + "/tests/sim/hardware/seam.json";
  if (!std::filesystem::exists(path)) return all;
  std::ifstream file(path);
  const nlohmann::json document = nlohmann::json::parse(file);
  for (const auto& row : document.at("rows"))
    if (row.contains("seen") && row.at("id").get<std::string>().rfind(prefix, 0) == 0)
      all[row.at("id")] = {row.at("question"), row.at("seen")};
  return all;
}

/// What a script leaves when the simulator's unit carries it out.
std::string seen_by_unit(const std::string& script) {
  const models::DeviceProfile profile = host::load_profile("b200");
  models::Jitter jitter(std::nullopt, profile);
  struct : models::Observer {
    void violation(const models::Violation& v) override { failed |= !v.warning; }
    bool failed = false;
  } observer;
  models::SharedMemory smem;
  smem.start_cta(4096, true);
  models::Mbarrier unit(0, smem, profile, jitter, observer);
  constexpr uint32_t kAt = 0x400;
  const models::Source by{};
  std::vector<MbarrierToken> states;
  std::string seen;
  const auto say = [&](uint32_t value) { seen += (seen.empty() ? "" : " ") + std::to_string(value); };
  for (const hardware::BarrierOperation& o : hardware::parse_barrier_script(script)) {
    using S = hardware::BarrierStep;
    switch (o.step) {
      case S::init: unit.init(kAt, o.operand, by); break;
      case S::inval: unit.inval(kAt, by), states.clear(); break;
      case S::expect: unit.expect_tx(kAt, o.operand, by); break;
      case S::complete: unit.complete_tx(kAt, o.operand, by); break;
      case S::parity: say(unit.test_parity(kAt, o.operand, by)); break;
      case S::test:
        say(unit.find(kAt)->phase > unit.phase_of_token(kAt, states[o.operand], by, "test").value_or(-1));
        break;
      case S::pending: say(pending_count(states[o.operand])); break;
      default: states.push_back(unit.arrive_once(kAt, hardware::arrival_of(o), by));
    }
    if (observer.failed) return "trap";
  }
  return seen;
}

/// What a program leaves in its output on the model, behind findings and a hang, if there are any.
template <class P>
std::string run_on_model() {
  const ProcessPool::Finished finished = in_child([&]() -> std::string {
    constexpr uint32_t kWords = hardware::kBlockBytes / 4;
    RoleCode code{.program = {}, .warps = 1, .ctas = P::kCtas, .with_data = true};
    GlobalAddr in, out;
    code.before = [&](Device& d) {
      in = d.gpu.memory().allocate("in", hardware::kBlockBytes, true);
      out = d.gpu.memory().allocate("out", hardware::kBlockBytes * P::kCtas, true);
      auto* words = reinterpret_cast<uint32_t*>(d.gpu.memory().data(in, hardware::kBlockBytes));
      for (uint32_t i = 0; i < kWords; ++i) words[i] = hardware::program_input(i);
    };
    code.checked = !requires { P::kRaces; };
    std::string left;
    code.after = [&](Device& d) {
      left = hardware::words_text(
          reinterpret_cast<const uint32_t*>(d.gpu.memory().data(out, hardware::kBlockBytes * P::kCtas)),
          size_t{kWords} * P::kCtas);
    };
    code.program = [&](RoleIsa& isa) { P{}(static_cast<SimIsa&>(isa), in, out); };
    const std::string said = diagnosis_here(code);
    const std::string ids = ids_of(said);  // asking for a phase again and again is a warning
    return (ids.find("finding") == 0 || ids.find("hang") == 0 ? said + "\n" : "") + left;
  });
  return finished.died.empty() ? finished.bytes : "died";
}

}  // namespace

TEST_CASE("mbarrier scripts: the unit sees what the word's functions say", "[hardware]") {
  for (const std::string& script : hardware::barrier_scripts()) {
    CAPTURE(script);
    CHECK(seen_by_unit(script) == hardware::seen_by_reference(hardware::parse_barrier_script(script)));
  }
}

TEST_CASE("mbarrier scripts: the unit sees what hardware does", "[hardware]") {
  const auto all = answers("script.");
  if (all.empty()) SM100_SKIP("no tests/sim/hardware/seam.json");
  for (const auto& [id, answer] : all) {
    CAPTURE(id, answer.question);
    CHECK(seen_by_unit(answer.question) == answer.seen);
  }
}

TEST_CASE("reductions: every element is what hardware makes of it", "[hardware]") {
  const auto all = answers("reduce.");
  if (all.empty()) SM100_SKIP("no tests/sim/hardware/seam.json");
  for (const auto& [id, answer] : all) {
    if (id.rfind("reduce.atom_old", 0) == 0) continue;
    CAPTURE(id);
    std::vector<std::string> parts;  // reduce, path, operation, type
    std::stringstream words(id);
    for (std::string part; std::getline(words, part, '.');) parts.push_back(part);
    std::string type = parts.at(3);
    if (parts.size() > 4) type += "." + parts[4];
    ReduceOp op{};
    ReduceType as{};
    for (int o = 0; o <= int(ReduceOp::exch); ++o)
      if (parts[2] == name(ReduceOp(o))) op = ReduceOp(o);
    for (int t = 0; t <= int(ReduceType::bf16x2); ++t)
      if (type == name(ReduceType(t))) as = ReduceType(t);
    if (parts[1] == "atom" && as == ReduceType::f32) as = ReduceType::f32_ftz;  // as the model's atomics do
    REQUIRE(as != ReduceType::none);
    std::stringstream triplets(answer.seen);
    int wrong = 0;
    std::string first;
    for (std::string one; triplets >> one;) {
      char* end = nullptr;
      const uint64_t old = std::strtoull(one.c_str(), &end, 16), value = std::strtoull(end + 1, &end, 16),
                     result = std::strtoull(end + 1, nullptr, 16);
      if (reduce(op, as, old, value) == result) continue;
      if (wrong++ == 0) first = one;
    }
    CAPTURE(first);
    CHECK(wrong == 0);
  }
}

TEST_CASE("programs: on the model they run clean, whether hardware has run them or not", "[hardware]") {
  const auto seen = answers("program.");
  hardware::for_each_program([&]<class P>(P) {
    CAPTURE(P::kId);
    const std::string left = run_on_model<P>();
    CAPTURE(left);
    CHECK(left.find('\n') == std::string::npos);
    CHECK(left != "died");
    if (const auto on_hardware = seen.find(std::string("program.") + P::kId); on_hardware != seen.end())
      CHECK(left == on_hardware->second.seen);
  });
}

}  // namespace sm100::sim

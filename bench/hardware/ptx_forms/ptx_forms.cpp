// SPDX-License-Identifier: Apache-2.0
/// ptx_forms write sm_90a forms.ptx forms.txt: every scalar form as an entry, and operands for it.
/// ptx_forms compare sm_90a RESULTS: what run.cu printed, against ptx/.  Forms that differ are listed with their
/// first difference.
/// ptx_forms fixture sm_90a RESULTS: what tests/ptx/test_silicon.cpp holds ptx/ against.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "bench/hardware/ptx_forms/here.h"

namespace {

using namespace sm100::ptx_forms;

/// A 64-bit word becomes the operand, or the other way round.
std::string to_operand(Type type, size_t i) {
  const std::string name = register_of(type, i);
  if (type == Type::pred) return "setp.ne.u64 " + name + ", %x, 0;";
  const int width = bits(type);
  return width == 64 ? "mov.b64 " + name + ", %x;" : "cvt.u" + std::to_string(width) + ".u64 " + name + ", %x;";
}
std::string from_operand(Type type, size_t i) {
  const std::string name = register_of(type, i);
  if (type == Type::pred) return "selp.u64 %x, 1, 0, " + name + ";";
  const int width = bits(type);
  return width == 64 ? "mov.b64 %x, " + name + ";" : "cvt.u64.u" + std::to_string(width) + " %x, " + name + ";";
}

void write_entry(std::ostream& out, const Case& c, size_t number) {
  const auto& operands = c.form->operands;
  size_t inputs = 0, outputs = 0;
  for (const auto& o : operands) (o.written ? outputs : inputs) += 1;
  out << ".visible .entry form_" << number << "(.param .u64 in, .param .u64 out) { // " << c.form->name << "\n"
      << ".reg .pred %p<9>; .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<9>, %t; .reg .b64 %d<9>, %x, %in, %out;\n"
      << "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
      << "mad.wide.u32 %in, %t, " << 8 * inputs << ", %in; mad.wide.u32 %out, %t, " << 8 * outputs << ", %out;\n";
  size_t at = 0;
  for (size_t i = 0; i < operands.size(); ++i)
    if (!operands[i].written)
      out << "ld.global.u64 %x, [%in+" << 8 * at++ << "]; " << to_operand(operands[i].type, i) << "\n";
  // A result that is not written must have some value.
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].written) out << "mov.u64 %x, 0; " << to_operand(operands[i].type, i) << "\n";
  out << instruction(c) << "\n";
  at = 0;
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].written)
      out << from_operand(operands[i].type, i) << " st.global.u64 [%out+" << 8 * at++ << "], %x;\n";
  out << "ret;\n}\n";
}

std::string ptx_text(const std::vector<Case>& cases, const std::string& target) {
  std::ostringstream out;
  out << ".version 9.0\n.target " << target << "\n.address_size 64\n";
  for (size_t i = 0; i < cases.size(); ++i) write_entry(out, cases[i], i);
  return out.str();
}

/// number name inputs outputs, then a row of hexadecimal numbers for each thread.
void write_operands(std::ostream& out, const std::vector<Case>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const size_t inputs = cases[i].rows[0].size();
    out << i << ' ' << cases[i].form->name << ' ' << inputs << ' ' << cases[i].form->operands.size() - inputs
        << '\n';
    for (const auto& row : cases[i].rows) {
      for (const uint64_t value : row) out << std::hex << value << ' ';
      out << std::dec << '\n';
    }
  }
}

/// Lines of run.cu: "number thread results…", by form and thread.
std::vector<std::vector<std::vector<uint64_t>>> read_results(const std::vector<Case>& cases, std::istream& in) {
  std::vector<std::vector<std::vector<uint64_t>>> seen(cases.size(), std::vector<std::vector<uint64_t>>(kThreads));
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    size_t number = 0, thread = 0;
    if (!(fields >> number >> thread) || number >= cases.size() || thread >= kThreads) continue;
    for (uint64_t value = 0; fields >> std::hex >> value;) seen[number][thread].push_back(value);
  }
  return seen;
}

/// A line for each form that hardware does not approximate: its name and the hash of its results.
void write_fixture(const std::vector<Case>& cases, std::istream& in) {
  const auto seen = read_results(cases, in);
  for (size_t i = 0; i < cases.size(); ++i)
    if (!seen[i][0].empty() && cases[i].form->max_ulps == 0)
      std::printf("%s %016llx\n", cases[i].form->name.c_str(), static_cast<unsigned long long>(hash_of(seen[i])));
}

/// Returns how many forms differ.
int compare(const std::vector<Case>& cases, std::istream& in) {
  const auto seen = read_results(cases, in);
  int different = 0, compared = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (seen[i][0].empty()) continue;
    ++compared;
    const auto ours = computed(cases[i]);
    int wrong = 0, first = -1;
    for (int t = 0; t < kThreads; ++t)
      if (ours[static_cast<size_t>(t)] != seen[i][static_cast<size_t>(t)])
        wrong += 1, first = first < 0 ? t : first;
    if (wrong == 0) continue;
    ++different;
    std::printf("%s: %d of %d%s; of", cases[i].form->name.c_str(), wrong, kThreads,
                cases[i].form->max_ulps > 0 ? " (approximate)" : "");
    for (const uint64_t v : cases[i].rows[static_cast<size_t>(first)])
      std::printf(" %llx", static_cast<unsigned long long>(v));
    std::printf(": GPU");
    for (const uint64_t v : seen[i][static_cast<size_t>(first)])
      std::printf(" %llx", static_cast<unsigned long long>(v));
    std::printf(", here");
    for (const uint64_t v : ours[static_cast<size_t>(first)])
      std::printf(" %llx", static_cast<unsigned long long>(v));
    std::printf("\n");
  }
  std::printf("%d forms compared, %d differ\n", compared, different);
  return different;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "", target = argc > 2 ? argv[2] : "";
  const std::vector<Case> cases = make_cases(target != "sm_90a");
  if (command == "write" && argc == 5) {
    std::ofstream(argv[3]) << ptx_text(cases, target);
    std::ofstream operands(argv[4]);
    write_operands(operands, cases);
    std::printf("%zu forms\n", cases.size());
    return 0;
  }
  if (command == "compare" && argc == 4) {
    std::ifstream results(argv[3]);
    return compare(cases, results) != 0;
  }
  if (command == "fixture" && argc == 4) {
    std::ifstream results(argv[3]);
    write_fixture(cases, results);
    return 0;
  }
  std::fprintf(stderr,
               "ptx_forms write TARGET FORMS.ptx FORMS.txt | ptx_forms compare|fixture TARGET RESULTS.txt\n");
  return 2;
}

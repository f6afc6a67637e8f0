// SPDX-License-Identifier: Apache-2.0
// ThunderKittens' bf16 program for the B200 with the first of its sizes: its own host code allocates, fills,
// multiplies on the device for comparison, launches, and prints how far its result is from that.  It judges
// nothing; this does, from what it has printed: a step of bf16 is right.
#define main its_own_main
#include SOURCE
#undef main

#include <cstdio>
#include <sstream>
#include <string>

namespace {

/// The number behind a label of what the program has printed.
double printed(const std::string& text, const std::string& label) {
  const size_t at = text.find(label);
  return at == std::string::npos ? NAN : std::strtod(text.c_str() + at + label.size(), nullptr);
}

}  // namespace

int main() {
  std::ostringstream said;
  std::streambuf* const console = std::cout.rdbuf(said.rdbuf());
  run_benchmark<config<256, 64, 128, 4, true, 5, 2>>(1024, 1024, 1024, true);
  std::cout.rdbuf(console);
  std::cout << said.str();
  const double largest = printed(said.str(), "abs max:"), error = printed(said.str(), "err max:");
  const bool passed = largest > 0 && error <= largest / 128;
  std::printf("error %g of %g: %s\n", error, largest, passed ? "Passed" : "Failed");
  return passed ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
/// Runs a short kernel that stands in a test.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

namespace sm100::sim {

/// One cluster of `ctas` CTAs, each on an SM of its own.
/// @param contents  of the tensors of 32 words that the entry's parameters point to: "zeros", "ones"
inline RunResult run_ptx(const std::string& text, int ctas = 1, const std::vector<std::string>& contents = {}) {
  std::string tensors, arguments;
  for (size_t i = 0; i < contents.size(); ++i) {
    tensors += fmt::format("[[problem.tensor]]\nname = \"t{}\"\ntype = \"u32\"\nshape = [32]\ncontents = \"{}\"\n",
                           i, contents[i]);
    arguments += fmt::format("[[problem.argument]]\naddress = \"t{}\"\n", i);
  }
  if (contents.empty())
    tensors = "[[problem.tensor]]\nname = \"none\"\ntype = \"u8\"\nshape = [16]\ncontents = \"zeros\"\n";
  const ScratchDirectory folder;
  folder.write("k.ptx", text);
  return run_in_child(host::load_scenario(folder.write(
      "k.toml", fmt::format("kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [{0}, 1, 1]\n"
                            "cluster = [{0}, 1, 1]\n{1}{2}[run]\nsms = {0}\n",
                            ctas, tensors, arguments))));
}

}  // namespace sm100::sim

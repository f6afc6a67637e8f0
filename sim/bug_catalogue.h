// SPDX-License-Identifier: Apache-2.0
/// The bug catalogue: the ways in which kernels of this family break, by number ("KB-07").  Scenarios and checks
/// name the numbers, which are stable.  docs/bugs.md is written from it.  Data only.
#pragma once

#include <string_view>

namespace sm100::sim {

struct CatalogueEntry {
  std::string_view id;
  std::string_view bug;     ///< what is wrong in the kernel
  std::string_view effect;  ///< what one sees
  /// Public reports of a bug of this kind, as "owner/repository#number", separated by blanks; empty: none that is
  /// confirmed.
  std::string_view reports;
  std::string_view absent;  ///< why scenarios/bugs/ does not have it; empty: it does
};

inline constexpr CatalogueEntry kBugCatalogue[] = {
    {"KB-01", "A role starts with the wrong parity",
     "A producer with parity 0 waits for a release that nobody makes: a hang in the first tile. A consumer with "
     "parity 1 reads a stage that is not filled.",
     "", ""},
    {"KB-02", "A wait names the stage or the parity of an earlier lap",
     "It passes at once, because that phase is long over: wrong numbers when the other side is late, or a hang one "
     "lap later.",
     "NVIDIA/TensorRT-LLM#15338 tile-ai/tilelang#3087", ""},
    {"KB-03", "32 lanes arrive where one is counted, or one where 32 are",
     "Too many: phases complete early, and data is overwritten. Too few: a hang.",
     "triton-lang/triton#9498 deepseek-ai/DeepEP#293", ""},
    {"KB-04", "A barrier's count does not fit its cluster",
     "Too small: a neighbour's stage is overwritten. Too large: a hang after one lap of the ring.",
     "deepseek-ai/DeepGEMM#51", ""},
    {"KB-05", "A signal goes to the wrong CTA",
     "The CTA that waits hangs; arrivals or bytes gather on a barrier on which nobody waits.",
     "triton-lang/triton#9460 deepseek-ai/DeepGEMM#368", ""},
    {"KB-06", "A named barrier has the wrong thread count, or an arrival without its sync",
     "Too large: a hang. Too small: warps pass before the others have come.",
     "Dao-AILab/quack#146 vllm-project/vllm#26026", ""},
    {"KB-07", "Two groups of warps share a named barrier", "Now and then a CTA hangs, more often under load.",
     "flashinfer-ai/flashinfer#4533", ""},
    {"KB-08", "A slot is released before it is read", "Roles disagree about the tile or about the end of work.",
     "tile-ai/tilelang#2410 tile-ai/tilelang#2420", ""},
    {"KB-09", "A drain waits with a fixed parity",
     "It depends on the number of laps: right, a hang, or a wait that passes too early, so that the CTA exits "
     "under "
     "its peers.",
     "", ""},
    {"KB-10", "expect_tx differs from the bytes that the copies deliver",
     "Too large: a hang. Too small: the phase completes before all operands have landed.",
     "mirage-project/mirage#705 tile-ai/tilelang#2566 NVIDIA/cutlass#3314", ""},
    {"KB-11", "A receiver of a multicast expects no bytes",
     "It waits for ever, or its count of bytes stays negative.", "facebookexperimental/triton#908", ""},
    {"KB-12", "An accumulator is released before its last read",
     "Some columns of some tiles hold sums of a later tile.",
     "NVIDIA/cudnn-frontend#652 vllm-project/flash-attention#182 facebookexperimental/triton#2024", ""},
    {"KB-13", "A generic read, then an asynchronous write, without a proxy fence",
     "Stale or mixed values, very rarely.", "deepseek-ai/DeepEP#642 NVIDIA/TransformerEngine#2695", ""},
    {"KB-14", "A generic write, then an asynchronous read, without a proxy fence",
     "Old bytes in the output, or wrong products, differently in each run.",
     "MoonshotAI/FlashKDA#24 sgl-project/sglang#39124 pytorch/ao#4278 NVIDIA/Fuser#4814", ""},
    {"KB-15", "A strip is written again while a store still reads it",
     "A strip of a tile holds parts of a later one.",
     "NVIDIA/TransformerEngine#3417 deepseek-ai/DeepEP#657 tile-ai/TileOPs#1550", ""},
    {"KB-16", "wait_group.read is taken for \"written\"", "A reader sees old data although the flag is set.",
     "NVIDIA/TransformerEngine#3417", "no kernel signals others through memory that a TMA store has written"},
    {"KB-17", "Another thread than the MMA's issues the commit",
     "The commit covers nothing: the barrier completes at once.", "NVIDIA/Fuser#3199 NVIDIA/Fuser#4812", ""},
    {"KB-18", "An operand is not waited for", "Mostly right, because copies are fast; wrong when one is late.",
     "facebookexperimental/CUTracer#106", ""},
    {"KB-19", "Tensor memory is freed while the same CTA still reads it",
     "A launch failure, or another CTA's data in the last tile.", "Dao-AILab/flash-attention#2312", ""},
    {"KB-20", "Tensor memory is freed without a barrier of the warps that read it",
     "Hardly ever anything: loads are short.", "", ""},
    {"KB-21", "A pair allocates or frees out of step", "A launch failure, or a hang in tcgen05.alloc.",
     "facebookexperimental/triton#652", ""},
    {"KB-22", "The address of tensor memory is used before it is published",
     "Loads from other columns, and a dealloc that fails.", "facebookexperimental/triton#1449", ""},
    {"KB-23", "Tensor memory is not freed, or more is wanted than there is",
     "The next CTA of the SM waits in tcgen05.alloc, or the launch fails at exit.", "", ""},
    {"KB-24", "Coordinates do not follow the mapping of tiles",
     "Right without swizzle and persistence; wrong, or out of bounds, with them.", "NVIDIA/cutlass#3394", ""},
    {"KB-25", "A tile without k steps is stored", "Tensor memory's old content, or NaN, in the tile.",
     "NVIDIA/cutlass#2674 Dao-AILab/flash-attention#2906 NVIDIA/cutlass#2547", ""},
    {"KB-26", "A barrier is used before it is initialised everywhere",
     "Arrivals are lost: a hang at the start, depending on the launch skew.",
     "facebookexperimental/triton#652 facebookexperimental/triton#1240 NVIDIA/Fuser#1552", ""},
    {"KB-27", "A tensor map is changed while copies use it, or used without acquire",
     "Now and then a block of the output belongs to another group.",
     "deepseek-ai/DeepGEMM#343 NVIDIA/cutlass#2162 triton-lang/triton#7293", ""},
    {"KB-28", "A CTA exits before its peers are done with it", "Sporadic faults or hangs at the end of the kernel.",
     "facebookexperimental/triton#1105 triton-lang/triton#10656 triton-lang/triton#9413", ""},
    {"KB-29", "The padding of scale factors is not defined", "NaN in valid rows.", "NVIDIA/TransformerEngine#3070",
     "the problem's fault, no instruction's: scenarios/block_scaled/padding_nan.toml"},
    {"KB-30", "The last tile of a group is stored as a whole one", "The next group's first rows are overwritten.",
     "vllm-project/vllm#35497", ""},
    {"KB-31", "CTAs of a cluster disagree about the tile", "A hang after some roles have gone.",
     "Dao-AILab/quack#206 marin-community/marin#8870", ""},
    {"KB-32", "A multicast overwrites a neighbour's stage",
     "Wrong tiles in clusters with multicast, often a hang later.",
     "inclusionAI/humming#56 deepseek-ai/DeepGEMM#51", ""},
    {"KB-33", "An address of barriers lies outside its array", "The neighbouring barrier gets the signals.", "",
     ""},
    {"KB-34", "A dependent launch reads before griddepcontrol.wait", "Stale data under load.",
     "NVIDIA/cutlass#2760 NVIDIA/cutlass#2962 Dao-AILab/quack#206 flashinfer-ai/flashinfer#2708", ""},
    {"KB-35", "CTA scope, or the local form, for another CTA's barrier",
     "Formally no order between the CTAs; tools flag the local form.", "apache/tvm#20074 triton-lang/triton#10922",
     ""},
    {"KB-36", "A warp skips a barrier of all", "A hang at the barrier.",
     "triton-lang/triton#9456 ggml-org/llama.cpp#27678", ""},
    {"KB-37", "Split-K: the lock is not set up, not released, or not ordered",
     "A split waits for ever, or adds what is not there yet.",
     "NVIDIA/cutlass#1296 ROCm/aiter#3288 ROCm/aiter#4494 ROCm/rocm-libraries#10951", ""},
    {"KB-38", "A swizzled buffer is not where its atom begins", "Every value is in the wrong place.",
     "tile-ai/tilelang#2379 NVIDIA/Fuser#4096 cloudrift-ai/emmy#200", ""},
    {"KB-39", "Scale factors lie in the wrong columns", "Columns or k steps are scaled by a neighbour's factor.",
     "NVIDIA/cutlass#3535", ""},
    {"KB-40", "The throttle between load warp and scheduler is not signalled in step",
     "A hang in the first tiles: the two wait for each other.", "", ""},
};

}  // namespace sm100::sim

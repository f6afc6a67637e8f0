# SPDX-License-Identifier: Apache-2.0
"""The scenarios that every mutant runs, in this order, until one of them reports; each takes less than 0.3 s."""

from typing import NamedTuple


class Scenario(NamedTuple):
    name: str
    file: str  # in scenarios/
    set: tuple = ()


SCENARIOS = [
    Scenario("more tiles than SMs", "08_more_tiles_than_sms.toml",
             ("problem.m=512", "problem.n=512", "run.sms=2", "config.stages=3")),
    Scenario("one stage", "02_one_stage.toml", ("run.sms=2",)),
    Scenario("pairs", "13_pairs.toml", ("run.sms=4", "problem.m=512")),
    Scenario("pairs, 4x4 cluster", "smoke/smoke_03.toml", ("problem.m=1024", "problem.k=256")),
    Scenario("multicast, 4x4 cluster", "smoke/smoke_02.toml"),
    Scenario("k groups, 4x2 cluster", "smoke/smoke_05.toml"),
    Scenario("split-K", "01_dense_small.toml",
             ("config.num_split_k=3", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3")),
    Scenario("split-K of pairs", "smoke/smoke_06.toml"),
    Scenario("swapped", "01_dense_small.toml", ("config.ab_swapped=true", "problem.m=256", "problem.n=512",
                                             "problem.k=256", "config.stages=4", "run.sms=3")),
    Scenario("static scheduler", "09_static_scheduler.toml", ("problem.k=256", "problem.m=256", "run.sms=3")),
    Scenario("functor on the strip", "15_fused_epilogue_smem.toml", ("problem.k=256",)),
    Scenario("dependent launches", "18_dependent_launch.toml", ("problem.m=256",)),
    Scenario("one strip per tile", "11_small_n.toml"),
    Scenario("multicast, late answers", "smoke/smoke_02.toml", ("run.jitter=3", "problem.k=128")),
    Scenario("pairs, late answers", "smoke/smoke_03.toml", ("run.jitter=5", "problem.k=128")),
    Scenario("no CLC", "01_dense_small.toml", ("config.clc_stages=0", "problem.m=256", "problem.n=256",
                                            "problem.k=256", "config.stages=2", "run.sms=2")),
]

# What people.py needs beside: epilogues with terms, and the kernels whose synchronisation mutants.py leaves alone.
PEOPLE_SCENARIOS = SCENARIOS + [
    Scenario("functor in registers", "14_fused_epilogue.toml", ("problem.k=256",)),
    Scenario("f32 output", "01_dense_small.toml", ("config.output=f32", "config.stages=4", "problem.k=256")),
]

DIRECT_SCENARIOS = [
    Scenario("one thread", "direct/v1a.toml", ("problem.m=512", "problem.n=512", "problem.k=512")),
    Scenario("slabs", "direct/v1b.toml", ("problem.m=512", "problem.n=512", "problem.k=512")),
    Scenario("roles", "direct/v4.toml", ("problem.m=512", "problem.n=512", "problem.k=512")),
    Scenario("pairs", "direct/v5.toml", ("problem.m=512", "problem.n=512", "problem.k=512")),
]

FALLBACK_SCENARIOS = [
    Scenario("ragged", "21_fallback.toml"),
    Scenario("64 rows", "21_fallback.toml", ("config.block_m=64",)),
    Scenario("f32 output", "21_fallback.toml", ("config.output=f32", "config.block_n=32")),
]

COPY_SCENARIOS = [
    Scenario("copy", "copy/three_stages.toml", ("problem.m=512", "problem.n=1024")),
    Scenario("copy, one stage", "copy/one_stage.toml", ("problem.m=512", "problem.n=1024", "run.sms=2")),
    Scenario("copy, multicast", "copy/multicast_2_one_stage.toml",
             ("problem.m=512", "problem.n=1024", "config.stages=2", "run.sms=4")),
    Scenario("copy, multicast to four, k groups", "copy/multicast_4_ragged.toml", ("problem.m=500",)),
    Scenario("copy, dependent launches", "copy/dependent_launch.toml",
             ("problem.m=512", "problem.n=1024", "run.launches=2", "run.feed=source", "run.sms=8")),
    Scenario("copy, late answers", "copy/multicast_4_ragged.toml", ("problem.m=500", "run.jitter=3")),
]

SCALED_SCENARIOS = [
    Scenario("stored scales", "bugs/sound/scaled_narrow.toml"),
    Scenario("stored scales of pairs", "smoke/block_scaled_narrow_04.toml", ("problem.n=128", "run.sms=4")),
    Scenario("copied scales", "bugs/sound/scaled_nvfp4.toml", ("problem.k=1536",)),
    Scenario("scales along rows", "smoke/block_scaled_output_04.toml"),
    Scenario("scales of half tiles", "smoke/block_scaled_output_03.toml"),
    Scenario("scales along columns", "smoke/block_scaled_output_07.toml"),
    Scenario("rows of the cluster that C lacks", "smoke/block_scaled_output_06.toml", ("problem.m=200", "problem.n=96")),
    Scenario("stored scales, late answers", "bugs/sound/scaled_narrow.toml", ("run.jitter=3",)),
    Scenario("scales along rows that C lacks, with provenance", "smoke/block_scaled_output_04.toml", ("problem.m=300", "run.provenance=on")),
]

CUTLASS_SCENARIOS = [
    Scenario("accumulators that overlap", "bugs/sound/cutlass_overlap.toml"),
    Scenario("a residual", "bugs/sound/cutlass_residual.toml"),
    Scenario("both, of pairs", "smoke/cutlass_block_scaled_06.toml", ("problem.m=512", "problem.k=512")),
    Scenario("both, late answers", "smoke/cutlass_block_scaled_05.toml", ("run.jitter=3",)),
    Scenario("one strip of the residual", "smoke/cutlass_block_scaled_09.toml"),
]

BLOCKWISE_SCENARIOS = [
    Scenario("blockwise", "bugs/sound/blockwise.toml"),
    Scenario("two blocks of columns", "smoke/blockwise_02.toml"),
    Scenario("cluster", "bugs/sound/blockwise_cluster.toml"),
    Scenario("pairs", "smoke/blockwise_01.toml", ("config.mma=[256, 128, 32]", "config.cta_group=2", "config.cluster=[2, 1, 1]",
                                                   "problem.m=512", "run.sms=2")),
    Scenario("half k tiles, ragged", "smoke/blockwise_01.toml", ("config.swizzle=64", "problem.m=200", "problem.n=200",
                                                                 "problem.k=336")),
    Scenario("late answers", "bugs/sound/blockwise.toml", ("run.jitter=3",)),
    Scenario("a tile over the last block", "smoke/blockwise_01.toml", ("config.mma=[64, 136, 32]", "problem.n=200")),
]

MOE_SCENARIOS = [
    Scenario("ragged groups", "smoke/grouped_1d1d_01.toml"),
    Scenario("factors", "smoke/grouped_1d1d_02.toml"),
    Scenario("ring", "bugs/sound/grouped_ring.toml"),
    Scenario("ring of one slot", "bugs/sound/grouped_ring.toml", ("config.work_stages=1",)),
    Scenario("pairs", "smoke/grouped_1d1d_01.toml", ("config.mma=[256, 128, 64]", "config.cta_group=2")),
    Scenario("contiguous", "smoke/grouped_1d1d_01.toml", ("problem.layout=contiguous",)),
    Scenario("blocks of tiles", "smoke/grouped_1d1d_01.toml", ("config.block_swizzle=2", "problem.tokens=[390, 64, 100, 0, 257]")),
    Scenario("experts end in an atom", "smoke/grouped_1d1d_01.toml", ("problem.n=200",)),
]

MOE_FP8_SCENARIOS = [
    Scenario("ragged groups", "bugs/sound/tokens_of_experts.toml"),
    Scenario("ragged groups, two CTAs", "smoke/grouped_1d2d_01.toml"),
    Scenario("pairs", "bugs/sound/tokens_by_pairs.toml"),
    Scenario("ring", "bugs/sound/tokens_by_a_ring.toml"),
    Scenario("nothing fills its tile", "smoke/grouped_1d2d_09.toml"),
    Scenario("late answers", "bugs/sound/tokens_of_experts.toml", ("run.jitter=3",)),
]

MAPS_SCENARIOS = [
    Scenario("maps in shared memory", "bugs/sound/grouped_maps.toml"),
    Scenario("maps in global memory", "bugs/sound/grouped_maps_global.toml"),
    Scenario("a group without K", "bugs/sound/grouped_without_k.toml"),
    Scenario("shapes", "bugs/sound/grouped_maps.toml", ("problem.groups=[[200, 136, 512], [64, 264, 256], [300, 72, 1024]]", "run.sms=2")),
    Scenario("pairs", "bugs/sound/grouped_maps.toml", ("config.cta_group=2", "config.mma=[256, 128, 64]",
                                                      "problem.groups=[[512, 256, 512], [256, 128, 256]]", "run.sms=4")),
]

# SPDX-License-Identifier: Apache-2.0
"""More mistakes that people make: of places.py's kind, in all families of kernels.  Three readers of the kernels, who did not know the
checks, wrote them before they had read any report, each with the scenario in which it shows and with what an ideal report names.
Patterns were taken from the reports of the first run where these named the cause; the others say what should have been named.  In the
format of mutants.py (`run.py --list readers`).
"""

from mutants import Mutant
from scenarios import Scenario

MUTANTS: list[Mutant] = []


def m(id, file, what, expect, scenarios, *edits, equivalent=""):
    patterns = (expect,) if isinstance(expect, str) else expect
    MUTANTS.append(Mutant(id, file, edits, what, patterns, equivalent, "",
                          tuple(Scenario(" ".join((name, *values)), name, tuple(values)) for name, *values in scenarios)))


# --- matmul, pipeline, scheduler

m("reader-b-slot-no-first", "kernels/pipeline/input_ring.h",
  "every stage's B tiles lie in the slots of stage 0. Ideal: the load of B for a stage writes the slot of another stage (0) that MMAs still read",
  r"two copies of load overlap that should never touch: an address is wrong.*load_warp.h:37",
  (("01_dense_small.toml", "problem.m=256", "problem.n=256", "run.sms=2"),),
  ("return b_tiles[first + j];", "return b_tiles[j];"))
m("reader-peer-bit", "kernels/matmul/cluster_share.h",
  "the bit of the address that tells the CTAs of a pair apart is taken one too high. Ideal: copies (load warp) complete on input_full of a CTA that is not the pair's leader",
  r"\[MB3\] tensor load's mbarrier .*own CTA's or its peer's",
  (("smoke/smoke_03.toml", "problem.m=1024", "problem.k=256"),),
  ("kPeerBit = 1u << kClusterRankShift;", "kPeerBit = 2u << kClusterRankShift;"))
m("reader-release-row-shift", "kernels/matmul/cluster_share.h",
  "the row of the mask that releases a stage is shifted by the cluster's height. Ideal: the commit on input_empty goes to CTAs that are not the row of the MMA's CTA (rank 4 and on), and not to its own",
  r"with one of mma of CTA \d+, which no copy of this CTA reaches",
  (("smoke/smoke_05.toml",),),
  ("- 1) << (place.y * c.cluster_m);", "- 1) << (place.y * c.cluster_n);"))
m("reader-a-mask-stride", "kernels/matmul/cluster_share.h",
  "the CTAs of a column of the cluster are taken cluster_n ranks apart instead of cluster_m. Ideal: the mask of the multicast of A names CTAs of other columns (other tile rows), or A of the CTA below is missing",
  r"copies of CTA \d+ and CTA \d+ bring the same bytes of one fill of input_full\[0\]",
  (("smoke/smoke_05.toml",),),
  ("bits |= 1u << (i * c.cluster_m);", "bits |= 1u << (i * c.cluster_n);"))
m("reader-grid-cluster-swapped", "kernels/matmul/matmul_kernel.h",
  "the cluster's width and height are swapped where the scheduler learns them. Ideal: CTAs of a cluster take tiles that are not theirs (the place of a rank in its cluster): tiles twice and tiles never, from the second tile on",
  r"no CTA has had tiles",
  (("smoke/smoke_05.toml",),),
  (".cluster_m = cfg.cluster_m,\n          .cluster_n = cfg.cluster_n,",
   ".cluster_m = cfg.cluster_n,\n          .cluster_n = cfg.cluster_m,"))
m("reader-static-swapped-rows", "kernels/matmul/matmul_kernel.h",
  "static grid of swapped operands counts its rows by the user's M instead of N. Ideal: the scheduler hands out half of the tiles only: those of C's columns 256-511 are never computed",
  r"no CTA has had tiles \(2, 0\)",
  (("01_dense_small.toml", "config.ab_swapped=true", "config.scheduler=static", "problem.m=256", "problem.n=512", "problem.k=256",
    "config.stages=4", "run.sms=3"),),
  ("grid_m(cfg, cfg.ab_swapped ? params.n : params.m)", "grid_m(cfg, params.m)"))
m("reader-last-split-less", "kernels/scheduler/tile_grid.h",
  "a last split that is as long as the others is not taken for the last. Ideal: no split of a tile stores C: its sums stay in the workspace (last split not recognised)",
  r"all 2 parts of its K were multiplied, and nobody has stored their sum.*split_reduction",
  (("smoke/smoke_06.toml",),),
  ("const bool last = left <= k_tiles_per_split;", "const bool last = left < k_tiles_per_split;"))
m("reader-cta-of-no-z", "kernels/scheduler/tile_grid.h",
  "the split of a tile that CLC hands out is lost: 0. Ideal: k of the later splits is never multiplied / the tile's split 0 is computed again; the split index (z) of fetched tiles",
  r"its k 0-383 was multiplied 3 times, and no other k",
  (("01_dense_small.toml", "config.num_split_k=3", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3"),),
  ("first.y + rank / uint32_t(cluster_m), first.z};", "first.y + rank / uint32_t(cluster_m), 0};"))
m("reader-raster-no-n-guard", "kernels/scheduler/rasterization.h",
  "block swizzle also of the strip that is not whole. Ideal: tiles are computed outside C (tile n 6 and 7 of 6) and others never",
  r"no CTA has had tiles \(0, 4\)",
  (("08_more_tiles_than_sms.toml", "problem.n=768", "config.block_swizzle=4"),),
  ("if (u < sm * width && v < sn * width) {", "if (u < sm * width) {"))
m("reader-static-first-cta", "kernels/scheduler/static_scheduler.h",
  "the first cluster of the walk is the CTA's index, not the cluster's. Ideal: the CTAs of a pair work on different tiles (each begins at its own index), B's and A's halves are of different tiles",
  r"no CTA has had tiles \(1, 0\)",
  (("13_pairs.toml", "config.scheduler=static", "run.sms=4", "problem.m=512"),),
  ("return isa_.ctaid().x / uint32_t(grid_.cluster_m);", "return isa_.ctaid().x;"))
m("reader-own-tile-rank-twice", "kernels/scheduler/clc_scheduler.h",
  "the CTA's rank is added to its own block index, which has it already. Ideal: the first tile of a CTA is its rank too far: tiles twice, outside C or never",
  r"no CTA has had tiles \(0, 1\)",
  (("smoke/smoke_02.toml",),),
  ("return grid_.tile_of(isa_, isa_.ctaid(), true);",
   "return grid_.tile_of(isa_, grid_.cta_of(isa_.ctaid(), isa_.cluster_ctarank()), true);"))
m("reader-accumulate-not-set", "kernels/matmul/mma_warp.h",
  "the flag to accumulate stays off for all MMAs of a tile's first stage. Ideal: MMAs of the first stage overwrite the accumulator: k 0-47 of each tile is lost (tcgen05.mma, accumulate/enable-input-d)",
  r"k 0-47 .*overwrites the sum instead of adding.*mma_warp.h:35",
  (("01_dense_small.toml", "problem.m=256", "problem.n=256", "run.sms=2"),),
  ("        accumulate = true;\n", ""))
m("reader-idesc-mn-swapped", "kernels/matmul/mma_warp.h",
  "M and N swapped in the instruction descriptor. Ideal: tcgen05.mma multiplies 64 x 128 where the tile is 128 x 64: shape in the instruction descriptor",
  r"operand B \(instruction descriptor: M 64, N 128\)",
  (("12_ragged.toml",),),
  ("cfg_.mma_m, cfg_.mma_n);", "cfg_.mma_n, cfg_.mma_m);"))
m("reader-idesc-d-f16", "kernels/matmul/mma_warp.h",
  "the accumulator's type in the instruction descriptor is f16. Ideal: D is f16 in tensor memory (instruction descriptor) and the epilogue reads f32",
  r"\bD\b.*f16|f16.*\bD\b",
  (("01_dense_small.toml", "config.dtype=f16", "problem.m=256", "problem.n=256", "run.sms=2"),),
  ("cfg_.dtype, cfg_.dtype, DataType::f32,", "cfg_.dtype, cfg_.dtype, DataType::f16,"))
m("reader-idesc-b-mn-major", "kernels/matmul/mma_warp.h",
  "B is said to be MN-major in the instruction descriptor. Ideal: B is read MN-major (transposed) while TMA wrote it K-major: major-ness of B in the instruction descriptor",
  r"B lies along K .*reads it along N as operand B: the transpose bit",
  (("01_dense_small.toml", "problem.m=256", "problem.n=256", "run.sms=2"),),
  ("cfg_.mma_m, cfg_.mma_n);", "cfg_.mma_m, cfg_.mma_n, false, true);"))
m("reader-store-column-block-n", "kernels/matmul/epilogue_warp.h",
  "the tile's column in C counts half of a pair's N. Ideal: the store's column in C: tile n is stored at n x 128 instead of n x 256 (over other tiles; the right part is never stored)",
  r"sums of columns 256-383 were stored in columns 128-255: the store's coordinates",
  (("13_pairs.toml", "run.sms=4", "problem.m=512"),),
  (".column = tile.n * cfg.mma_n,", ".column = tile.n * block_n(cfg),"))
m("reader-right-half-strip", "kernels/epilogue/tile_writer.h",
  "the store of the right half of a pair's M = 128 tile takes the left half's rows of the strip. Ideal: the store of the right half (columns 64-127 of the tile) reads the strip's first half, which holds the left columns",
  r"two tensor stores read the same bytes of the strip .*tile_writer.h:7[01]",
  (("13_pairs.toml", "config.mma=[128, 128, 16]", "run.sms=4", "problem.m=256", "problem.n=256"),),
  ("= strip + uint32_t(half) * (strip_bytes(cfg) / 2);", "= strip;"))
m("reader-functor-no-half", "kernels/epilogue/tile_writer.h",
  "the functor's column of the right half of a pair's M = 128 tile lacks the half. Ideal: bias and residual of the right half are taken 64 columns too far left",
  r"take bias and residual of the column 64 before.*tile_writer.h:59",
  (("14_fused_epilogue.toml", "config.cta_group=2", "config.cluster=[2, 1, 1]", "problem.k=256"),),
  ("column + part.half * accumulator_columns(cfg), f);", "column, f);"))
m("reader-bias-guard-rows", "kernels/epilogue/fragment_functor.h",
  "the guard of the bias compares the column with the number of rows. Ideal: columns 384-519 get no bias (the load is predicated off)",
  r"the bias is missing.*columns 384-519",
  (("14_fused_epilogue.toml", "problem.k=256"),),
  ("inside(lane) = place.column < params.columns;", "inside(lane) = place.column < params.rows;"))
m("reader-residual-left-twice", "kernels/epilogue/fragment_functor.h",
  "both elements of a pair take the left one's residual. Ideal: odd columns add the residual of the column to the left",
  r"odd columns take the residual of the column before",
  (("14_fused_epilogue.toml", "problem.k=256"),),
  ("residual[i / step][lane], i % step); }));", "residual[i / step][lane], 0); }));"))
m("reader-residual-alpha", "kernels/epilogue/element_functor.h",
  "the residual is multiplied by alpha instead of beta. Ideal: the residual's factor is alpha (0.5) instead of beta (1)",
  r"the residual was multiplied by alpha",
  (("14_fused_epilogue.toml", "problem.k=256"),),
  ("isa.fma_rn_f32(params.beta, residual(), x)", "isa.fma_rn_f32(params.alpha, residual(), x)"))
m("reader-silu-ln2", "kernels/epilogue/element_functor.h",
  "SiLU takes ln 2 for log2 e. Ideal: the activation is not SiLU's (its exponential), all other terms are right",
  r"the activation is wrong.*not SiLU",
  (("14_fused_epilogue.toml", "problem.k=256"),),
  ("kLog2E = 1.44269504f;", "kLog2E = 0.693147181f;"))
m("reader-lock-count", "kernels/matmul/split_reduction.h",
  "a split releases the lock with its number of k tiles instead of its end. Ideal: split 1 stores a lock value (its count) that no split waits for; the last split waits for the sum",
  r"waits until locks\[3\] holds 12; it holds 6",
  (("01_dense_small.toml", "config.num_split_k=3", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3"),),
  ("release_lock(isa, lockers, lock, work.k_begin + work.k_count, loc)", "release_lock(isa, lockers, lock, work.k_count, loc)"))
m("reader-partials-order", "kernels/matmul/split_reduction.h",
  "row half and block of columns swapped where partial sums are loaded. Ideal: partial sums are read from other places of the workspace than they belong to (rows and columns of add_partials)",
  r"partial sums .*(belong|of row|of column)",
  (("01_dense_small.toml", "config.num_split_k=2", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3"),),
  ("workspace_addresses(isa, cfg, fragment, i / 2, i % 2), loc);", "workspace_addresses(isa, cfg, fragment, i % R, i / R), loc);"))
m("reader-sums-upper-lanes", "kernels/matmul/split_reduction.h",
  "the whole sums of a warp's lower fragment are stored over the upper one. Ideal: tcgen05.st of rows 16-31 goes to lanes 0-15 of the warp's quarter; lanes 16-31 keep the last split's own sums",
  r"tcgen05\.st",
  (("01_dense_small.toml", "config.num_split_k=2", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3"),),
  ("isa.tcgen05_st_16x256b(sums.plus_lanes(uint32_t(row)), registers, loc);", "isa.tcgen05_st_16x256b(sums, registers, loc);"))
m("reader-bytes-group-a", "kernels/pipeline/input_ring.h",
  "the bytes of a stage have the group's A tiles and one B tile (a parenthesis lost). Ideal: expect_tx of input_full announces fewer bytes than the copies bring (B's second tile is missing)",
  r"\[MB11\] input_full\[0\] .*expect_tx counts too few bytes",
  (("smoke/smoke_05.toml",),),
  ("return uint32_t(group) * (a.shape.bytes() + b.shape.bytes());", "return uint32_t(group) * a.shape.bytes() + b.shape.bytes();"))
m("reader-b-share-x", "kernels/matmul/cluster_share.h",
  "the slice of B is the CTA's column of the cluster, not its pair's. Ideal: load of B writes slices beyond its tile's slot (slice 2, 3 of 2) and from rows of other tiles",
  r"two copies of load overlap that should never touch: an address is wrong.*load_warp.h:37",
  (("smoke/smoke_03.toml", "problem.m=1024", "problem.k=256"),),
  ("return {place.x / c.cta_group, b_sharers(c), b_mask(c, place)};", "return {place.x, b_sharers(c), b_mask(c, place)};"))
m("reader-slice-elements", "kernels/pipeline/smem_tile.h",
  "the place of a slice in its tile counts elements as bytes. Ideal: slices of A and B land at half their offset in the slot, over each other; the rest of the slot is never written",
  r"copies of CTA \d+ and CTA \d+ bring the same bytes of one fill of input_full\[0\]",
  (("smoke/smoke_02.toml",),),
  ("return {base + uint32_t(first) * shape.slab_row_bytes(),", "return {base + uint32_t(first * shape.columns),"))
m("reader-ring-stages-tiles", "kernels/matmul/rings.h",
  "the input ring has as many stages as tile slots, although a stage holds two. Ideal: the ring's cursor runs beyond the 9 stages of input_full/input_empty (barrier and slot outside of the arrays)",
  r"\[MB18\] .*input_empty\[9\] would lie here, of which there are 9",
  (("smoke/smoke_05.toml",),),
  ("          ring_stages(cfg),", "          cfg.stages,"))
m("reader-clc-ring-accum-stages", "kernels/matmul/matmul_kernel.h",
  "the scheduler's ring has as many stages as there are accumulators. Ideal: clc_full/clc_empty/throttle stage 2 and 3 of 2 are used (beyond the arrays)",
  r"\[MB18\] .*throttle_full\[2\] would lie here, of which there are 2",
  (("08_more_tiles_than_sms.toml", "problem.m=512", "problem.n=512", "run.sms=2", "config.stages=3", "config.accum_stages=4"),),
  ("smem.scheduler, cfg.clc_stages, grid}", "smem.scheduler, cfg.accum_stages, grid}"))

# --- direct

m("direct-reader-drain-full", "kernels/direct/direct_steps.h",
  "the load warp's drain waits for full barriers instead of empty ones. Ideal: load waits for input_full, which nobody completes in the second CTA of a pair, instead of input_empty",
  r"\[MB18\] load waits on input_full\[\d\].*of this ring it waits on input_empty",
  (("direct/v5.toml",),),
  ("ring_.empty(ring_.producer_stage())", "ring_.full(ring_.producer_stage())"))
m("direct-reader-k-step-no-mod", "kernels/pipeline/smem_tile.h",
  "from the second slab on, the operand's start counts the steps of all slabs. Ideal: descriptors of A and B begin beyond their k step (in the next rows of the slab) from MMA 4 on",
  r"start address|step along K",
  (("direct/v2b.toml",),),
  ("kMmaKBytes * (uint32_t(step) % per_slab);", "kMmaKBytes * uint32_t(step);"))
m("direct-reader-one-slab-per-step", "kernels/pipeline/smem_tile.h",
  "without swizzle an MMA is taken for one slab of k, not two. Ideal: descriptors of A and B advance half a step: k overlaps and the last half of each stage's k is never multiplied",
  r"k 8-127 is multiplied more than once, and k 136-255 is never multiplied.*direct_steps.h:116",
  (("direct/v1b.toml",),),
  ("return base + 2 * uint32_t(step) * shape.slab_bytes();", "return base + uint32_t(step) * shape.slab_bytes();"))
m("direct-reader-lbo-sbo-swapped", "kernels/pipeline/smem_tile.h",
  "leading and stride byte offset swapped in the descriptor without swizzle. Ideal: LBO and SBO of A's and B's descriptors are swapped: rows and core matrices along K",
  r"leading.*(stride|swapped)|stride byte offset|LBO|SBO",
  (("direct/v1b.toml",),),
  ("make_smem_descriptor(start, shape.slab_bytes(), 8 * 16, Swizzle::none)",
   "make_smem_descriptor(start, 8 * 16, shape.slab_bytes(), Swizzle::none)"))
m("direct-reader-slab-of-mma", "kernels/direct/operand_slabs.h",
  "the slab in the copy's coordinates counts MMAs' k instead of slabs'. Ideal: copies of A and B take k (third coordinate) four times too far on, beyond the matrix",
  r"k 256-511 is never multiplied.*direct_steps.h:106",
  (("direct/v2b.toml",),),
  ("TensorCoords{0, row, k / columns}", "TensorCoords{0, row, k / kDirectMmaK}"))
m("direct-reader-tiles-of-pairs", "kernels/direct/persistent_kernel.h",
  "the number of tiles counts pairs, the index CTAs. Ideal: the walk ends at half of the tiles: tiles of rows 512-1023 are never computed",
  r"nobody has stored .* in rows 512-1023, columns 0-767",
  (("direct/v6.toml",),),
  ("params_.m / kDirectBlockM * (params_.n / cfg_.block_n);", "params_.m / direct_mma_m(cfg_) * (params_.n / cfg_.block_n);"))
m("direct-reader-tiles-by-m", "kernels/direct/direct_steps.h",
  "tiles of a stripe are counted by M instead of N. Ideal: tile n = 3 of 3 is computed: stores beyond C's columns (into the next rows), and the last stripe of rows never",
  r"a tile that lies outside of C was computed: \(0, 3\)",
  (("direct/v6.toml",),),
  ("return direct_tile(cfg_, i, params_.n / cfg_.block_n,", "return direct_tile(cfg_, i, params_.m / cfg_.block_n,"))
m("direct-reader-accum-parity", "kernels/direct/direct_kernel.h",
  "the wait for the accumulator takes the parity that a fresh barrier has passed. Ideal: epilogue reads tensor memory before accum_full has completed (parity 1 of a fresh barrier)",
  r"accum_full\[0\] passes at once: parity 1",
  (("direct/v4.toml",),),
  ("while (!isa_.mbarrier_try_wait_parity(barrier, 0, Base::scope())) {}", "while (!isa_.mbarrier_try_wait_parity(barrier, 1, Base::scope())) {}"))
m("direct-reader-half-rounded", "kernels/direct/direct_steps.h",
  "only half of the pairs are rounded. Ideal: the store writes registers that were never written: columns 8-15 of each 16 of C",
  r"change between the load from tensor memory and the store.*direct_steps.h:176",
  (("direct/v7.toml",),),
  ("for (int j = 0; j < kColumns / 2; ++j)", "for (int j = 0; j < kColumns / 4; ++j)"))
m("direct-reader-accum-stride-rows", "kernels/direct/persistent_kernel.h",
  "accumulators of a pair lie half their columns apart. Ideal: the accumulators overlap (columns 128-255), MMAs of one tile overwrite the other's while the epilogue reads it",
  r"two accumulators overlap: .*columns 128-383",
  (("direct/v6.toml",),),
  ("uint32_t(stage * cfg_.block_n)", "uint32_t(stage * direct_b_rows(cfg_))"))

# --- hopper_matmul

m("hopper-reader-consumer-registers", "kernels/hopper_matmul/config.h",
  "consumers ask for 240 registers. Ideal: setmaxnreg.inc of the consumers asks for more registers than the producer has given up (40 + 2 x 240)",
  r"setmaxnreg.inc 240 can never be served.*40 \+ 240 \+ 240",
  (("hopper/cooperative.toml",),),
  ("kConsumerRegisters = 232;", "kConsumerRegisters = 240;"))
m("hopper-reader-dec-one-warp", "kernels/hopper_matmul/hopper_matmul_kernel.h",
  "only the load warp of the producer warpgroup executes setmaxnreg.dec. Ideal: setmaxnreg.dec is not executed by all warps of its warpgroup",
  r"setmaxnreg.inc 232 can never be served.*exited gives nothing back.*at fault: spare",
  (("hopper/cooperative.toml",),),
  ("    isa.template setmaxnreg_dec<kProducerRegisters>();\n    if (warp == kHopperLoadWarp) hopper_load_warp(isa, cfg, smem, params, work);",
   "    if (warp == kHopperLoadWarp) {\n      isa.template setmaxnreg_dec<kProducerRegisters>();\n      hopper_load_warp(isa, cfg, smem, params, work);\n    }"))
m("hopper-reader-strip-row-of-cta", "kernels/hopper_matmul/consumer_warps.h",
  "a warp's rows of the strip follow from its number in the CTA. Ideal: consumer warps write rows 64 and on, beyond their strip of 64 rows (into other strips); the strip's rows are never written",
  r"\[SM1\] stmatrix .*outside the CTA's shared memory.*consumer_warps.h:81",
  (("hopper/cooperative.toml",),),
  ("16 * group.index(isa), f);", "16 * isa.warpid(), f);"))
m("hopper-reader-first-strip-again", "kernels/hopper_matmul/consumer_warps.h",
  "every strip takes the registers of the first. Ideal: columns 32 and on of each tile of C hold the sums of columns 0-31 (registers of the first strip)",
  r"32 columns away from where they belong.*consumer_warps.h:81",
  (("hopper/cooperative.toml",),),
  ("as_bits(sums[lane][i * kRegisters + r])", "as_bits(sums[lane][r])"))
m("hopper-reader-part-of-pingpong", "kernels/hopper_matmul/consumer_warps.h",
  "the second consumer takes rows 64-127 of the CTA's tile also where a tile has 64. Ideal: consumer 1's descriptor of A begins 64 rows on, outside the stage's A tile (the next slot), and its rows of C are 64 too far down",
  r"consumer reads the stage of input_full\[3\], and has waited for input_full\[2\], which it has not handed back yet.*consumer_warps.h:40",
  (("hopper/pingpong.toml",),),
  ("const int part = is_pingpong(cfg) ? 0 : consumer * kWgmmaM;", "const int part = consumer * kWgmmaM;"))
m("hopper-reader-load-row-cluster", "kernels/hopper_matmul/load_warp.h",
  "A's row lacks the factor of the cluster. Ideal: load takes rows of A of another tile (tile 1 of rank 0 at row 128 instead of 256)",
  r"A rows 256-319 were used where A rows 384-447 belong.*load_warp.h:21",
  (("hopper/cooperative_cluster.toml",),),
  ("const int row = (tile.m * cfg.cluster + rank) * hopper_block_m(cfg), column", "const int row = (tile.m + rank) * hopper_block_m(cfg), column"))
m("hopper-reader-worker-cta", "kernels/hopper_matmul/hopper_matmul_kernel.h",
  "the worker is the CTA, not its cluster. Ideal: the CTAs of a cluster walk different tiles although they share B (worker index of the CTA)",
  r"a tile is computed and stored 2 times",
  (("hopper/cooperative_cluster.toml",),),
  ("cfg.raster_order, int(isa.ctaid().x) / cfg.cluster,", "cfg.raster_order, int(isa.ctaid().x),"))
m("hopper-reader-turn-barrier-2", "kernels/hopper_matmul/config.h",
  "the turn barriers begin at the id of the second consumer's strip. Ideal: named barrier 2 serves two purposes: the strip of consumer 1 and the turn of consumer 0",
  r"\[NB3\] named barrier 2: .*consumer_warps.h:82",
  (("hopper/pingpong.toml",),),
  ("kHopperTurnBarrier = 3;", "kHopperTurnBarrier = 2;"))
m("hopper-reader-turn-from-2", "kernels/hopper_matmul/consumer_warps.h",
  "the first turn of the second consumer does not wait. Ideal: consumer 1 does not wait at its turn barrier in its first turn: consumer 0's arrival is left over / it is one turn ahead",
  r"first wait on the ring is for stage 2.*turn of consumer 1",
  (("hopper/pingpong.toml",),),
  ("if (is_pingpong(cfg) && turn > 0) isa.bar_sync", "if (is_pingpong(cfg) && turn > 1) isa.bar_sync"))
m("hopper-reader-last-wait-1", "kernels/hopper_matmul/consumer_warps.h",
  "after the last k step one group of wgmma stays pending. Ideal: the sums are read (and the stage released) while the last wgmma group is in flight: wait_group 1 instead of 0",
  r"\[TM7\] load overwrites operands that wgmma of consumer may still read",
  (("hopper/cooperative.toml",),),
  ("isa.template wgmma_wait_group<0>(sums);", "isa.template wgmma_wait_group<1>(sums);"))
m("hopper-reader-store-step", "kernels/hopper_matmul/consumer_warps.h",
  "strips are stored as many columns apart as they have registers. Ideal: the store's column: strip i at 16 i instead of 32 i, over the strip before; the right half of a tile is never stored",
  r"nobody has stored .* and others twice: a store's coordinates are wrong.*consumer_warps.h:84",
  (("hopper/cooperative.toml",),),
  ("TensorCoords{column + i * kColumns, row}", "TensorCoords{column + i * kRegisters, row}"))
m("hopper-reader-e5m2-as-e4m3", "kernels/hopper_matmul/consumer_warps.h",
  "e5m2 operands are multiplied as e4m3. Ideal: wgmma's type of A and B is e4m3, the matrices are e5m2",
  r"A is e5m2, and the MMAs take operand A for",
  (("hopper/fp8.toml", "config.dtype=e5m2"),),
  ("case DataType::e5m2: return consume_hopper_tiles<N, DataType::e5m2>(", "case DataType::e5m2: return consume_hopper_tiles<N, DataType::e4m3>("))

# --- copy

m("copy-reader-copy-0", "kernels/copy/consumer_warp.h",
  "all CTAs of a cluster store copy 0. Ideal: the store's third coordinate: copy 1 of the destination is never written, copy 0 twice",
  r"nobody has stored .* in copy 1",
  (("copy/multicast_2_one_stage.toml", "problem.m=512", "problem.n=1024", "config.stages=2", "run.sms=4"),),
  ("tile.m * cfg.tile_m, copy}, strip,", "tile.m * cfg.tile_m, 0}, strip,"))
m("copy-reader-chunk-lanes", "kernels/copy/consumer_warp.h",
  "a thread's chunks lie a warp's lanes apart, not the group's threads. Ideal: consumers copy the first part of a slot several times, the rest of the strip is never written (rows of the strip that are stored stale)",
  r"warps \d+ and \d+ of consumer write the same shared memory with one line.*consumer_warp.h:45",
  (("copy/three_stages.toml", "problem.m=512", "problem.n=1024"),),
  ("uint32_t(i * copy_consumers().threads() + copy", "uint32_t(i * kWarpLanes + copy"))
m("copy-reader-walk-fast-swapped", "kernels/scheduler/static_walk.h",
  "rows and columns of tiles swapped where the walk divides its index. Ideal: tiles are copied outside of the matrix (tile n 2 and 3 of 2), others never: the walk's tile coordinates",
  r"outside|no CTA has had tiles",
  (("copy/three_stages.toml", "problem.m=512", "problem.n=1024"),),
  ("const int fast = along_m ? grid_.tiles_m : grid_.tiles_n;", "const int fast = along_m ? grid_.tiles_n : grid_.tiles_m;"))
m("copy-reader-multicast-slot-0", "kernels/copy/load_warp.h",
  "with multicast all k tiles of a group are loaded into the stage's first slot. Ideal: the load's destination: both k tiles go to slot 0 of the stage, slot 1 is read although no copy has written it",
  r"\[TM5\] load makes two copies to the same bytes, for one fill of input_full\[0\]",
  (("copy/multicast_4_ragged.toml", "problem.m=500"),),
  ("stage.slot(j).slice(rank, cfg.cluster)", "stage.slot(0).slice(rank, cfg.cluster)"))

# --- others: fallback, epilogue

m("fallback-reader-parity-of-two", "kernels/fallback/fallback_kernel.h",
  "the parity flips every second step. Ideal: the wait for \"tma\" (or \"mma\") in step 1 takes the parity of step 0, which has completed: it does not wait for the step's tiles",
  r"\[TC7\] warp reads bytes of the copy that have not landed|tma\[0\] passes at once on phase 0, which the warp has already seen",
  (("21_fallback.toml",),),
  ("const uint32_t parity = uint32_t(step) & 1;", "const uint32_t parity = uint32_t(step) >> 1 & 1;"))
m("fallback-reader-right-guard", "kernels/epilogue/global_writer.h",
  "the guard of a pair's right element asks for the left one. Ideal: the store of column 203 of 203 lands on the next row's first element (outside C at the last row)",
  r"the element is of tile \(0, 0\), which CTA 3 has not had",
  (("21_fallback.toml",),),
  ("right_inside(lane) = c.contains(pair.row, pair.column + 1);", "right_inside(lane) = c.contains(pair.row, pair.column);"))
m("reader-fp8-format", "kernels/epilogue/smem_writer.h",
  "e4m3 and e5m2 confused in the conversion of the output. Ideal: C is converted to e5m2 where it is e4m3",
  r"e5m2",
  (("16_fused_epilogue_fp8.toml",),),
  ("value(lane) = cfg.output == DataType::e5m2 ?", "value(lane) = cfg.output != DataType::e5m2 ?"))
m("reader-swapped-store-coords", "kernels/epilogue/tile_writer.h",
  "row and column swapped in the store of swapped operands. Ideal: the store's coordinates in C (row and column exchanged): tiles land at the mirrored place, parts of C are never stored",
  r"store's coordinates",
  (("01_dense_small.toml", "config.ab_swapped=true", "problem.m=256", "problem.n=512", "problem.k=256", "config.stages=4", "run.sms=3"),),
  ("TensorCoords{tile.row + block * block_columns(cfg), column}", "TensorCoords{column, tile.row + block * block_columns(cfg)}"))

# ---- block_scaled
m("scaled-reader-id-by-mma", "kernels/block_scaled/scaled_mmas.h",
  "the byte of a scale's cell is the MMA's number, not its first scale's. Ideal: the scale id in the instruction descriptor is 1, 2, 3 where the MMAs of a k tile of MXFP4 want 0 and 2 (SFA and SFB of another k block, or an id that the kind does not have)",
  r"\[TC5\] instruction descriptor .*ids 1 and 1",
  (("smoke/block_scaled_04.toml",),),
  ("byte_of_cell = scale % kScaleAtomScales;",
   "byte_of_cell = k % kScaleAtomScales;"))
m("scaled-reader-sfb-id-0", "kernels/block_scaled/scaled_mmas.h",
  "SFB's id stays 0, SFA's counts. Ideal: the MMAs of a k tile behind the first take SFB of the first 32 elements of K, because the descriptor's SFB id is 0 (scaled_mmas.h)",
  r"\[PV1\] scale factors of operand B are others: SFB .*scaled_mmas",
  (("smoke/block_scaled_01.toml",),),
  ("false, false, false, scale_id, scale_id);",
   "false, false, false, scale_id, 0);"))
m("scaled-reader-atom-swapped", "kernels/block_scaled/scaled_mmas.h",
  "arguments of tile.atom(group, k_atom) swapped in the copy to tensor memory. Ideal: tcgen05.cp of SFA and SFB begins at another atom of shared memory than the one of its k atom and rows (scaled_mmas.h copy_scales), beyond the stage's scales",
  r"mma reads the stage of input_full\[1\], and has waited for input_full\[0\], which it has not handed back yet.*scaled_mmas.h:24",
  (("smoke/block_scaled_10.toml",),),
  ("scale_atom_descriptor(tile.atom(group, k_atom))",
   "scale_atom_descriptor(tile.atom(k_atom, group))"))
m("scaled-reader-sfb-slot-of-tile", "kernels/block_scaled/scaled_mmas.h",
  "narrow tiles: SFB's column of a k atom by the tile in shared memory (two groups), not by the slot in tensor memory (one). Ideal: the MMAs of the second k atom take SFB from column 8 of the slot where the store warps have put it in column 4 (scaled_mmas.h)",
  r"mma reads columns 168-169 of tensor memory, which sfb_store fills later.*other columns than have been filled",
  (("smoke/block_scaled_narrow_03.toml",),),
  ("tile_sfb.plus_columns(sfb_slot(cfg_).column(0, atom)), accumulate);",
   "tile_sfb.plus_columns(stage.sfb.shape.column(0, atom)), accumulate);"))
m("scaled-reader-narrow-first", "kernels/block_scaled/sfb_warps.h",
  "first row of a narrow tile in its atoms as if an atom held whole tiles: 48 columns, tile 2 begins at row 0 instead of 96. Ideal: SFB of the columns of tiles 2, 3 ... are those of other columns, stored by sfb_store (sfb_warps.h)",
  r"scale factors of operand B are others: .* was stored where SFB of row .* they are those of the rows 96 before.*sfb_warps",
  (("smoke/block_scaled_narrow_03.toml",),),
  ("const int first = tile.n * cfg.mma_n % kScaleAtomRows;",
   "const int first = tile.n % (kScaleAtomRows / cfg.mma_n) * cfg.mma_n;"))
m("scaled-reader-one-column", "kernels/block_scaled/sfb_warps.h",
  "tiles of 33 to 63 columns: SFB's second column of 32 rows is not stored. Ideal: the MMAs read SFB of columns 32-47 of the tile from tensor memory that sfb_store has never stored",
  r"\[TC13\] tcgen05\.mma reads SFB from columns .*nobody has written",
  (("smoke/block_scaled_narrow_03.toml",),),
  ("if (cfg.mma_n > kScaleColumnRows)",
   "if (cfg.mma_n > 2 * kScaleColumnRows)"))
m("scaled-reader-sfd-16", "kernels/epilogue/scaled_output.h",
  "first output scale of a tile by blocks of 16, copied from NVFP4, where blocks have 32. Ideal: output scales (SFD) of tiles with n > 0 are stored twice as far along the row as they belong (scaled_output.h store_scales)",
  r"those of tile t begin at block t \* 8 of a row, and a tile has 4 blocks",
  (("smoke/block_scaled_output_02.toml",),),
  ("gathered.first = tile.column / block;",
   "gathered.first = tile.column / 16;"))
m("scaled-reader-sfd-byte", "kernels/epilogue/scaled_output.h",
  "each strip's scales go to the word's first bytes. Ideal: of four output scales (SFD) of a row bytes 2 and 3 are 0 and bytes 0 and 1 hold two scales or-ed (scaled_output.h quantise_rows)",
  r"(SFD|output scales?|scales of the output) .*(byte|word|or-ed|or of|nobody)",
  (("smoke/block_scaled_output_01.toml",),),
  ("scale.code << 8 * (count + b);",
   "scale.code << 8 * b;"))
m("scaled-reader-sfd-swapped", "kernels/epilogue/scaled_output.h",
  "scales along columns: row and column of store_scales swapped. Ideal: output scales (SFD) of column c, row block r are stored at column r * 16, row block c / 16 (scaled_output.h)",
  r"column and block have changed places",
  (("smoke/block_scaled_output_07.toml",),),
  ("store_scales(isa, params, column, row / block, kWarpLanes / block, scales);",
   "store_scales(isa, params, row, column / block, kWarpLanes / block, scales);"))
m("scaled-reader-no-norm", "kernels/epilogue/block_quantizer.h",
  "elements are divided by the scale without the norm constant. Ideal: quantised elements are a third of what they should be, the factor lacks norm = 3 (block_quantizer.h)",
  r"norm",
  (("smoke/block_scaled_output_04.toml",),),
  ("isa.min_nan_f32(params.norm * reciprocal, kLargestF32)",
   "isa.min_nan_f32(reciprocal, kLargestF32)"))

# ---- cutlass_block_scaled
m("cutlass-reader-residual-row-of-pair", "kernels/cutlass_block_scaled/epilogue_load_warp.h",
  "rows of the residual counted in tiles of the pair. Ideal: epilogue_load loads the residual of rows 2 x as far down (row tile.m * 256 for CTAs of 128 rows), zeros from beyond C for the lower half",
  r"takes the residual of row b \* 256 on, where that of row b \* 128 on belongs",
  (("smoke/cutlass_block_scaled_06.toml", "problem.m=512", "problem.k=512"),),
  ("TensorCoords{column, tile.m * block_m(cfg)}",
   "TensorCoords{column, tile.m * cfg.mma_m}"))
m("cutlass-reader-residual-forward", "kernels/cutlass_block_scaled/epilogue_load_warp.h",
  "the residual's strips come from left to right for both accumulators. Ideal: the residual of a tile in the first accumulator is that of other columns: epilogue_load brings strips 0, 1, 2 ..., the epilogue takes them from the last to the first",
  r"the residual was taken in the reverse order within each 256 columns, in strips of 32",
  (("smoke/cutlass_block_scaled_05.toml",),),
  ("strip_of(cfg, second, place) * strip_columns(cfg);",
   "place * strip_columns(cfg);"))
m("cutlass-reader-begin-sfb-over-sfa", "kernels/block_scaled/scaled_mmas.h",
  "early copies of a tile's first stage: SFB goes to SFA's columns. Ideal: on a tile's first stage SFB is copied over SFA's columns in tensor memory (scaled_mmas.h begin), and SFB's columns hold those of an earlier stage or nothing",
  r"\[TC13\] tcgen05\.mma reads SFB from columns .*nobody has written",
  (("smoke/cutlass_block_scaled_02.toml",),),
  ("copy_scales(isa, stage.sfb, tmem.plus_columns(sfb_column(cfg_, stage.index)));",
   "copy_scales(isa, stage.sfb, tmem.plus_columns(sfa_column(cfg_, stage.index)));"))
m("cutlass-reader-beta-alpha", "kernels/epilogue/element_functor.h",
  "the residual is multiplied by alpha. Ideal: alpha * residual was added where beta * residual belongs",
  r"alpha \* residual|residual .*alpha",
  (("smoke/cutlass_block_scaled_04.toml",),),
  ("isa.fma_rn_f32(params.beta, residual(), x)",
   "isa.fma_rn_f32(params.alpha, residual(), x)"))
m("cutlass-reader-residual-rows", "kernels/cutlass_block_scaled/accumulator_strips.h",
  "residual read from the strip: rows 8-15 of a fragment by the wrong register bit. Ideal: rows 8-15 of each 16 take the residual of rows 0-7 (accumulator_strips.h read_fragment)",
  r"rows 8-15 of each 16 .*residual",
  (("smoke/cutlass_block_scaled_04.toml",),),
  ("lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4)",
   "lane / 4 + 8 * (i % 2), 8 * (i / 4)"))
m("cutlass-reader-order-late", "kernels/cutlass_block_scaled/ordered_loader.h",
  "load_order is signalled one k tile behind the last that fills the ring: never, where a tile has fewer k tiles than stages. Ideal: epilogue_load waits for load_order, on which load never arrives (ordered_loader.h)",
  r"load has gone on .*without its mbarrier\.arrive on load_order",
  (("smoke/cutlass_block_scaled_09.toml",),),
  ("tile.k_begin + filling - 1;",
   "tile.k_begin + filling;"))
m("cutlass-reader-column-of-half", "kernels/cutlass_block_scaled/cutlass_epilogue_warp.h",
  "columns of a pair's tile counted in halves of B. Ideal: the epilogue stores tile n at columns n * 128 instead of n * 256 (tiles overlap, the last columns of C are written by nobody)",
  r"sums of columns 256-511 were stored in columns 128-383: the store's coordinates",
  (("smoke/cutlass_block_scaled_06.toml", "problem.m=512", "problem.k=512"),),
  (".column = tile.n * cfg.mma_n,",
   ".column = tile.n * cfg.mma_n / cfg.cta_group,"))
m("cutlass-reader-stride-overlap", "kernels/cutlass_block_scaled/overlapped_ring.h",
  "the second accumulator begins overlap_columns (64) behind the first, not 192. Ideal: the second accumulator lies over columns of the first that the epilogue has not read at the release (columns 64-191): MMAs overwrite them",
  r"overwrites columns of an accumulator that epilogue still reads",
  (("smoke/cutlass_block_scaled_02.toml",),),
  ("overlaps(cfg) ? accum_stride_columns(cfg) : 0};",
   "overlaps(cfg) ? cfg.overlap_columns : 0};"))

# ---- blockwise
m("blockwise-reader-half-columns", "kernels/blockwise/tile_sums.h",
  "halves side by side: the right half's strips are taken for the left half's columns. Ideal: columns 128-255 of each tile take B's scales of columns 0-127's block (tile_sums.h)",
  r"B's scales of another block of columns were taken.*columns 128-255 of each 256",
  (("smoke/blockwise_07.toml",),),
  ("tile_n * cfg.mma_n + warp_part(cfg, warp).half * accumulator_columns(cfg);",
   "tile_n * cfg.mma_n;"))
m("blockwise-reader-block-in-tile", "kernels/blockwise/tile_sums.h",
  "the second block of columns begins 128 columns into every tile, also where the tile begins inside a block. Ideal: columns between the block's end and column 128 of a tile take B's scale of the block before (columns 112-127 of tile n = 1)",
  r"B's scales of another block of columns were taken: the block 1 before",
  (("smoke/blockwise_09.toml",),),
  ("const bool second = block_of(i) > 0;",
   "const bool second = i * 8 * R >= Config::scale_block;"))
m("blockwise-reader-fma-order", "kernels/blockwise/tile_sums.h",
  "sum and product change places in the fma. Ideal: the running sum is multiplied by the scales of each k block and the block's product added without them",
  r"(running )?sum .*(multiplied|scaled).*(again|by the scales)|scales .*applied to the sum",
  (("smoke/blockwise_01.toml",),),
  ("isa.fma_rn_f32(as_float(partial[lane][r]), scale[r / 2 % 2], as_float(sum[lane][r]))",
   "isa.fma_rn_f32(as_float(sum[lane][r]), scale[r / 2 % 2], as_float(partial[lane][r]))"))
m("blockwise-reader-widen-less", "kernels/blockwise/tile_sums.h",
  "bf16 scales: the last block's scale of B is not widened. Ideal: B's scale is used as the low half of an f32 word: bf16 taken for f32 (tile_sums.h widen_scales)",
  r"B's scales? .*(bf16|widen|low half|2\^16)",
  (("blockwise/bf16_scales.toml",),),
  ("for (int i = 0; i < n_blocks_per_tile(cfg); ++i) columns.of[i](lane) <<= 16;",
   "for (int i = 0; i + 1 < n_blocks_per_tile(cfg); ++i) columns.of[i](lane) <<= 16;"))
m("blockwise-reader-row-scale-bytes", "kernels/blockwise/tiles.h",
  "row scales in shared memory are 4 bytes apart also where they are bf16. Ideal: row r takes A's scale of row 2 r, and of rows from 64 on bytes of the next stage's scales (tiles.h of_row)",
  r"epilogue reads the stage of input_full\[1\], and has handed back none: it works on stage 0",
  (("blockwise/bf16_scales.toml",),),
  ("uint32_t(row) * bytes_per_scale(cfg);",
   "uint32_t(row) * 4;"))
m("blockwise-reader-strip-row", "kernels/blockwise/blockwise_epilogue_warp.h",
  "row scales by a warp's row in the strip, not in the tile. Ideal: halves side by side: warps 2 and 3 (the right half of the columns) read A's scales of rows 64-127, beyond the stage's 64",
  r"epilogue reads the stage of input_full\[1\], and has handed back none: it works on stage 0",
  (("smoke/blockwise_07.toml",),),
  ("warp_part(cfg, warp).row);",
   "warp_part(cfg, warp).strip_row);"))

# ---- grouped_1d1d
m("moe-reader-sfb-half", "kernels/grouped_1d1d/moe_loader.h",
  "pairs: each CTA loads SFB of its half of B's rows, not of all the tile's columns. Ideal: the odd CTA's SFB is that of columns 128 further (load at moe_loader.h)",
  r"scale factors of operand B.*SFB",
  (("smoke/grouped_1d1d_04.toml",),),
  ("(swapped ? token_scales : weight_scales) + tile.n * cfg_.mma_n / kScaleAtomRows;",
   "(swapped ? token_scales : weight_scales) + (tile.n * cfg_.mma_n + place_.half * block_n(cfg_)) / kScaleAtomRows;"))
m("moe-reader-slot-atoms", "kernels/grouped_1d1d/group_walk.h",
  "masked: slots' scales lie slot_rows apart, without padding to whole atoms. Ideal: SFA of the tokens of expert g begins at atom 160 g / 128 instead of 2 g: scales of another expert's slot",
  r"scale factors of operand A are others: .*group 1.*moe_loader",
  (("smoke/grouped_1d1d_08.toml",),),
  ("g * scale_groups(cfg_, p.slot_rows), g};",
   "g * p.slot_rows / rows_per_scale_group(cfg_), g};"))
m("moe-reader-expert-of-own-row", "kernels/grouped_1d1d/group_walk.h",
  "contiguous pairs: each CTA goes by its own first row. Ideal: the odd CTA of a pair finds no expert for its rows (padding) and skips tiles that the even one computes",
  r"it has had 0 tiles, and load of CTA 0 has had 4: it has left one out",
  (("smoke/grouped_1d1d_07.toml",),),
  ("const int first_m = tile.m - (cfg_.ab_swapped ? 0 : half_);",
   "const int first_m = tile.m;"))
m("moe-reader-guard-swapped", "kernels/grouped_1d1d/guarded_writer.h",
  "the guard of transposed stores has row and column swapped. Ideal: elements whose column of C is beyond the group's last row are not stored (guarded_writer.h): nobody writes them",
  r"nobody has stored 4,063 of 4,352 elements of C, in rows 0-16, columns 17-255.*guarded_writer",
  (("smoke/grouped_1d1d_09.toml",),),
  ("inside(lane) = c.contains(pair.column + i % 2, pair.row);",
   "inside(lane) = c.contains(pair.row, pair.column + i % 2);"))
m("moe-reader-slot-words", "kernels/grouped_1d1d/work_ring.h",
  "readers of a slot take expert and scale group in the wrong order. Ideal: roles that read the ring take the place of the scales for the expert: B of another expert and SFA of another group (work_ring.h)",
  r"B of group \d+ rows .* and SFA of .* was used where SFA of",
  (("smoke/grouped_1d1d_05.toml", "problem.experts=[2, 0, 1]"),),
  ("{low(s.group.lo), high(s.group.lo), low(s.group.hi), high(s.group.hi)}};",
   "{low(s.group.lo), high(s.group.lo), high(s.group.hi), low(s.group.hi)}};"))
m("moe-reader-end-row", "kernels/grouped_1d1d/token_rows_of_tile.h",
  "contiguous: the row behind a tile is asked for its expert, not the last one. Ideal: the last row of a group's last whole tile is not stored, or the table of experts is read one word beyond its end (token_rows_of_tile.h)",
  r"\[GM1\] ld\.global.*right at the end of experts .*group_walk",
  (("smoke/grouped_1d1d_06.toml",),),
  ("if (table.expert_of_row(end - 1) == tile.group.expert) return end;",
   "if (table.expert_of_row(end) == tile.group.expert) return end;"))
m("moe-reader-block-fast", "kernels/grouped_1d1d/group_walk.h",
  "blocks of tiles are as large as the fast direction says, not the slow one. Ideal: the walk computes no tile at (2, 0), (3, 0) of the group of 400 tokens, and tiles n = 3 that do not exist",
  r"tiles that lie outside of C were computed: \(0, 3\)",
  (("smoke/grouped_1d1d_05.toml",),),
  ("quotient(i, block * slow)",
   "quotient(i, block * fast)"))
m("moe-reader-k-elements", "kernels/grouped_1d1d/moe_loader.h",
  "k counted in elements, the maps count bytes. Ideal: A and B of k 512 ... are loaded where k 256 ... belongs: every k step goes twice as far, the second half lies beyond K",
  r"k 256-511 is never multiplied .*moe_loader",
  (("smoke/grouped_1d1d_03.toml",),),
  ("const int k = k_tile * kTileRowBytes,",
   "const int k = k_tile * block_k(cfg_),"))

# ---- grouped_1d2d
m("moefp8-reader-blocks-swapped", "kernels/grouped_1d2d/params.h",
  "n_blocks and k_blocks change places for an expert's scales. Ideal: B's scales are read with a pitch of 2 blocks instead of 4: those of other k blocks and blocks of columns",
  r"B's scales of (another|other) .*block",
  (("smoke/grouped_1d2d_01.toml",),),
  ("bytes_per_scale(cfg), n_blocks,\n            k_blocks};",
   "bytes_per_scale(cfg), k_blocks,\n            n_blocks};"))
m("moefp8-reader-row-in-group", "kernels/grouped_1d2d/grouped_sums_epilogue.h",
  "whole tiles are stored at their row in the group, without the group's first row. Ideal: whole tiles of the group that begins at row 294 are stored from row 0 on, over another group's",
  r"sums of .*group \d+.* stored in .*(group|rows)|store's coordinates.*group",
  (("smoke/grouped_1d2d_01.toml",),),
  (".row = tokens.first,",
   ".row = tile.m * block_m(cfg),"))
m("moefp8-reader-expert-padded", "kernels/grouped_1d2d/token_loader.h",
  "an expert's weights begin at whole blocks of 128 rows. Ideal: B's rows of expert e begin at 256 e instead of 200 e: rows of the next expert",
  r"zeros from beyond .* used where B of group 1 rows 136-199 belong.*token_loader",
  (("smoke/grouped_1d2d_09.toml",),),
  ("tile.group.expert * params_.n + tile.n",
   "tile.group.expert * params_.n_blocks * Config::scale_block + tile.n"))
m("moefp8-reader-factor-of-whole", "kernels/grouped_1d2d/grouped_sums_epilogue.h",
  "whole tiles take the kernel's functor, not that with the expert's factor. Ideal: whole tiles are stored without their expert's factor (alpha)",
  r"factor|alpha",
  (("smoke/grouped_1d2d_02.toml",),),
  (".functor = &tokens.functor,",
   ".functor = &params.functor,"))
m("moefp8-reader-expert-0", "kernels/grouped_1d1d/group_tile.h",
  "expert 0 is taken for none. Ideal: the group of expert 0 has no tiles: its rows 0-129 are written by nobody, no role had its tiles",
  r"nobody has stored 33,280 of 33,280 elements of C, in rows 0-129",
  (("smoke/grouped_1d2d_01.toml",),),
  ("return expert >= 0 && end_row > first_row;",
   "return expert > 0 && end_row > first_row;"))

# ---- grouped_block_scaled
m("maps-reader-c-dims", "kernels/grouped_block_scaled/grouped_epilogue.h",
  "C's map: m and n change places. Ideal: the map of C has 256 columns and 128 rows for a C of 256 x 128 (global_dim edited in grouped_epilogue.h)",
  r"its tensor map has 128 rows of 256 elements, where C has 256 of 128",
  (("smoke/grouped_block_scaled_01.toml",),),
  ("{address, uint32_t(problem.n), uint32_t(problem.m), row_bytes}",
   "{address, uint32_t(problem.m), uint32_t(problem.n), row_bytes}"))
m("maps-reader-c-pitch", "kernels/grouped_block_scaled/grouped_epilogue.h",
  "C's map: pitch of rows of two bytes an element where the output is f32. Ideal: the map of C has a row pitch of 2 N bytes instead of 4 N: rows are stored over each other",
  r"tensor store: tensor map is invalid: global strides",
  (("smoke/grouped_block_scaled_06.toml",),),
  ("uint64_t(problem.n) * uint64_t(output_bytes(cfg_));",
   "uint64_t(problem.n) * 2;"))
m("maps-reader-fp4-bytes", "kernels/grouped_block_scaled/grouped_loader.h",
  "FP4: rows of A and B have K bytes. Ideal: the maps of A and B have a row pitch of K bytes instead of K / 2: every second row is skipped (grouped_loader.h edit)",
  r"the tensor map of A of group 0 has 512 bytes from a row to the next, where rows .* 256 bytes apart",
  (("smoke/grouped_block_scaled_01.toml",),),
  ("uint32_t(int64_t(problem.k) * operand_bits(cfg_) / 8);",
   "uint32_t(problem.k);"))
m("maps-reader-k-atoms-floor", "kernels/grouped_block_scaled/grouped_loader.h",
  "atoms of scales along K rounded down. Ideal: the maps of SFA and SFB have one atom less along K, in dimension and pitch: scales of other rows and k (grouped_loader.h scale_extent)",
  r"the tensor map of SFA of group 0 has 2,048 bytes from one group of 128 rows to the next, .* its stride is wrong",
  (("smoke/grouped_block_scaled_02.toml", "problem.groups=[[100, 72, 288], [257, 200, 1056], [128, 136, 544]]"),),
  ("uint32_t(ceil_div(ceil_div(k, scale_block(c)), kScaleAtomScales))",
   "uint32_t(k / scale_block(c) / kScaleAtomScales)"))
m("maps-reader-sfb-pointer", "kernels/grouped_block_scaled/grouped_loader.h",
  "the SFB load warp's map gets SFA's address. Ideal: SFB's map points at SFA (sfb_load, grouped_loader.h): scales of A's rows are used for B",
  r"its tensor map begins in SFA",
  (("grouped/narrow.toml",),),
  ("tile.group, GroupPointer::sfb, loc);",
   "tile.group, GroupPointer::sfa, loc);"))
m("maps-reader-maps-of-pair", "kernels/grouped_block_scaled/grouped_block_scaled_kernel.h",
  "the two CTAs of a pair have their maps in the same place. Ideal: both CTAs of a pair edit the same maps in global memory, which the other copies with",
  r"\[TP1\] a tensor load of load uses a tensor map that load edits",
  (("smoke/grouped_block_scaled_03.toml",),),
  ("params.maps + uint64_t(isa.ctaid().x) * cta_map_bytes(cfg.map_slots)",
   "params.maps + uint64_t(isa.ctaid().x / cfg.cta_group) * cta_map_bytes(cfg.map_slots)"))

# ---- fallback
m("fallback-reader-idesc-swapped", "kernels/fallback/fallback_kernel.h",
  "M and N change places in the instruction descriptor. Ideal: the MMAs have a shape of 64 x 128 for a tile of 128 x 64 (instruction descriptor in fallback_kernel.h)",
  r"reads part of operand B .*M 64, N 128",
  (("21_fallback.toml",),),
  ("DataType::f32, cfg.block_m, cfg.block_n);",
   "DataType::f32, cfg.block_n, cfg.block_m);"))
m("fallback-reader-f32-column", "kernels/fallback/fallback_kernel.h",
  "f32 output: every strip is stored at the tile's first columns. Ideal: columns 32-63 of a tile are stored in columns 0-31 (fallback_kernel.h store_tile), 32-63 are written by nobody",
  r"store's coordinates .*fallback_kernel\.h:99",
  (("21_fallback.toml", "config.output=f32"),),
  ("store_fragment_f32<R>(isa, c, first_row + row_of_warp, column + i, registers);",
   "store_fragment_f32<R>(isa, c, first_row + row_of_warp, column, registers);"))

# A third reader's, who wrote when the first two had been read.
# --- matmul, pipeline, scheduler, epilogue

m("third-vector-row-of-half", "kernels/epilogue/strip_functor.h",
  "M = 128 of a pair: the rows of the right half of a strip are taken for rows 64-127 of the tile. Ideal: the functor (ld.global in strip_functor.h) reads the residual of the right half's columns 64 rows too far down",
  r"residual of rows 64-\d+ was added where that of rows 0-\d+ belongs",
  (("15_fused_epilogue_smem.toml", "config.mma=[128, 128, 16]", "config.cta_group=2", "config.cluster=[2, 1, 1]", "problem.k=256"),),
  ("first_row + e.row - half * store_rows(cfg),", "first_row + e.row,"))
m("third-bias-swapped-rows", "kernels/epilogue/fragment_functor.h",
  "swapped: a register's bias is chosen by its column in the fragment instead of its row. Ideal: the term bias is that of another column of C (8 beside), in apply_to_fragment",
  r"bias was taken of columns whose bit of 8",
  (("14_fused_epilogue.toml", "config.ab_swapped=true", "problem.k=256"),),
  ("of[i / 2 % 2][lane][0]", "of[i % 2][lane][0]"))
m("third-residual-guard-first", "kernels/epilogue/fragment_functor.h",
  "the guard of every residual load is that of the fragment's first register. Ideal: ld.global of the residual reads beyond its last row (rows 380-383 of 380): the guard of that load",
  r"\[GM1\] ld\.global.*end of residual",
  (("14_fused_epilogue.toml", "problem.m=380", "problem.k=256"),),
  ("place_of_register(cfg, first_row, first_column, i, lane).inside(params)", "place_of_register(cfg, first_row, first_column, 0, lane).inside(params)"))
m("third-workspace-strip-row", "kernels/matmul/split_reduction.h",
  "split-K of pairs with M = 128: a warp's rows in the workspace are counted in the strip instead of in the tile. Ideal: the partial sums of warps 2 and 3 are stored outside the tile's part of the workspace (row 64 on), for the last tile outside the workspace",
  r"\[GM1\] st\.global.*past the end of workspace",
  (("smoke/smoke_06.toml",),),
  ("uint64_t(part.row * cfg.mma_n + column) * 4", "uint64_t(part.strip_row * cfg.mma_n + column) * 4"))
m("third-static-y-by-m", "kernels/scheduler/static_scheduler.h",
  "a cluster's first tile along N is multiplied with the cluster's height. Ideal: the static scheduler hands out tiles beyond C along N and leaves out every other column of tiles",
  r"no CTA has had tiles \(0, 1\), \(0, 3\)",
  (("09_static_scheduler.toml", "config.cluster=[2, 1, 1]", "problem.k=256"),),
  ("(row - z * grid.y) * uint32_t(grid_.cluster_n), z};", "(row - z * grid.y) * uint32_t(grid_.cluster_m), z};"))
m("third-raster-strips-of-n", "kernels/scheduler/rasterization.h",
  "block swizzle counts the strips along N instead of M. Ideal: the scheduler's mapping gives tiles (1, *) twice and tiles (3, *) never",
  r"no CTA has had tiles \(3, 0\), \(3, 1\)",
  (("01_dense_small.toml", "config.block_swizzle=2", "problem.n=256", "problem.k=256", "run.sms=2"),),
  ("int us = u / width + sm * (v % width);", "int us = u / width + sn * (v % width);"))
m("third-activation-before-residual", "kernels/epilogue/element_functor.h",
  "the residual is added behind the activation. Ideal: the activation is applied before the residual: order of the functor's terms",
  r"activation was applied ahead of the residual",
  (("16_fused_epilogue_fp8.toml",),),
  ("  if (cfg.residual) x = isa.fma_rn_f32(params.beta, residual(), x);\n  if (cfg.activation == Activation::relu) x = x > 0 ? x : 0;\n"
   "  if (cfg.activation == Activation::silu) x = silu(isa, x);\n",
   "  if (cfg.activation == Activation::relu) x = x > 0 ? x : 0;\n  if (cfg.activation == Activation::silu) x = silu(isa, x);\n"
   "  if (cfg.residual) x = isa.fma_rn_f32(params.beta, residual(), x);\n"))
m("third-group-has-le", "kernels/pipeline/warp_group.h",
  "the bound of a group of warps takes one warp too many: the scheduler warp works as a fifth epilogue warp. Ideal: warp 4 (scheduler) comes to the barriers, tensor memory or strips of the epilogue, whose group it does not belong to",
  r"\[NB5\] bar\.sync on named barrier \d .*epilogue_warp\.h:18",
  (("01_dense_small.toml", "problem.m=256", "problem.n=256", "problem.k=256", "run.sms=2"),),
  ("warp < first_warp + warps;", "warp <= first_warp + warps;"))
m("third-k-step-64", "kernels/matmul/load_warp.h",
  "a k tile is 64 elements wide in FP8 too (it is 128). Ideal: the k coordinate of A's and B's copies: k tile 1 begins at 64 instead of 128, the second half of K is never multiplied",
  r"k 64-127 is multiplied more than once.*load_warp\.h:36",
  (("16_fused_epilogue_fp8.toml",),),
  ("(k_tile + j) * a_tile(cfg_).columns", "(k_tile + j) * 64"))
m("third-m64-lanes-packed", "kernels/epilogue/tmem_reader.h",
  "M = 64: the epilogue looks for a warp's 16 rows in lanes 16 w on. Ideal: tcgen05.ld of warp 1-3 reads lanes outside the warp's quarter (16 w instead of 32 w)",
  r"tcgen05\.ld.* at lane \d+ by warp \d: a warp reaches its own quarter only|lanes? (16|32|48) .*quarter",
  (("10_m64.toml", "problem.k=256"),),
  ("strip.plus_lanes(32u * uint32_t(warp));", "strip.plus_lanes((lower ? 32u : 16u) * uint32_t(warp));"))
m("third-swapped-blocks-of-strip", "kernels/epilogue/tile_writer.h",
  "swapped pairs with M = 128: a half's store takes all blocks of the strip. Ideal: the store of the left half also stores the right half's block, to the rows of M of the next CTA (64 further): coordinate/number of blocks of the TMA store of C",
  r"\[SM4\] a tensor store of epilogue reads shared memory that nobody has written.*tile_writer\.h:7[01]",
  (("smoke/smoke_04.toml", "config.mma=[128, 64, 16]", "config.cta_group=2"),),
  ("block < store_rows(cfg) / block_columns(cfg)", "block < strip_rows(cfg) / block_columns(cfg)"))
m("third-peer-mma-breaks", "kernels/matmul/mma_warp.h",
  "the MMA warp of a pair's second CTA leaves its loop at the first tile. Ideal: clc_empty lacks the 32 arrivals of the MMA warp of the odd CTA, which has stopped decoding tiles",
  r"mma of CTA 1 has exited without its mbarrier\.arrive on clc_empty",
  (("13_pairs.toml", "problem.m=512", "run.sms=4"),),
  ("continue;  // the leader's MMAs are ours too", "break;  // the leader's MMAs are ours too"))
m("third-accum-empty-cta-0", "kernels/pipeline/output_ring.h",
  "epilogue threads of a pair tell the cluster's CTA 0 instead of the pair's leader. Ideal: accum_empty of CTA 0 gets the arrivals of all pairs' epilogues, those of the other leaders none",
  r"epilogue of CTA 3 .*mbarrier\.arrive on accum_empty\[0\] of CTA 2",
  (("smoke/smoke_03.toml", "problem.m=1024", "problem.k=256"),),
  ("ClusterSmemAddr{own.value & ~(1u << kClusterRankShift)}", "ClusterSmemAddr{own.value & ((1u << kClusterRankShift) - 1)}"))
m("third-k-end-count", "kernels/scheduler/work_tile.h",
  "the end of a split's k range is its length. Ideal: the k tiles of the second split (8-15) are never loaded nor multiplied: its range ends before it begins",
  r"load has gone through tile \(1, 0\) without a step along K",
  (("01_dense_small.toml", "config.num_split_k=2", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3"),),
  ("return k_begin + k_count;", "return k_count;"))

# --- direct

m("direct-third-slab-of-stage", "kernels/direct/operand_slabs.h",
  "the third coordinate counts stages instead of slabs. Ideal: k coordinate (slab) of the copies of A and B: stage 1 begins at slab 1 instead of 32",
  r"k 8-255 is multiplied more than once.*direct_steps\.h:105",
  (("direct/v1b.toml",),),
  ("TensorCoords{0, row, k / columns}", "TensorCoords{0, row, k / cfg.block_k}"))
m("direct-third-idesc-b-rows", "kernels/direct/direct_steps.h",
  "N of the instruction is the rows of B that a CTA loads: half of the tile's columns. Ideal: instruction descriptor's N (128 instead of 256): columns 128-255 of the accumulator are never written",
  r"\[TC13\].*columns 128 to 135.*N = 128 has written columns 0 to 127",
  (("direct/v5.toml", "problem.k=256"),),
  ("direct_mma_m(cfg_), cfg_.block_n);", "direct_mma_m(cfg_), direct_b_rows(cfg_));"))
m("direct-third-stride-of-pairs", "kernels/direct/persistent_kernel.h",
  "the walk of a persistent CTA steps by the number of pairs instead of CTAs. Ideal: the walk over tiles: a pair's CTAs come to tiles that are not theirs (odd index for the first CTA), tiles are computed twice",
  r"tile \(0, 2\) was had twice",
  (("direct/v6.toml", "problem.k=256"),),
  ("i += int(isa_.nctaid().x);", "i += int(isa_.nctaid().x) / cfg_.cta_group;"))
m("direct-third-matrix-swapped", "kernels/direct/direct_steps.h",
  "M and N are swapped in the description of C. Ideal: the address of a tile's first row is made with a pitch of M: st.global writes rows of other tiles",
  r"\[GM1\] st\.global.*past the end of C .*where row 597",
  (("direct/v4.toml", "problem.k=256"),),
  ("const GlobalMatrix c{params_.c, params_.m, params_.n};", "const GlobalMatrix c{params_.c, params_.n, params_.m};"))
m("direct-third-drain-all-then-one", "kernels/direct/direct_kernel.h",
  "the load warp waits for all stages behind its loop, and for one more at the end. Ideal: the last wait of the load warp for input_empty is one too many: no fill is left whose release it could see",
  r"release of a fill that it has not made.*waits once too often on input_empty",
  (("direct/v4.toml", "problem.k=512"),),
  ("for (int k = 0; k < steps_; ++k) load_step(k);\n    Base::drain(cfg_.stages - 1);",
   "for (int k = 0; k < steps_; ++k) load_step(k);\n    Base::drain(cfg_.stages);"))

# --- hopper

m("hopper-third-strip-barrier-shared", "kernels/hopper_matmul/config.h",
  "both consumers meet at the same named barrier for their strips. Ideal: named barrier 1 is used by the warps of both consumer warpgroups, each of which means its own 128 threads",
  r"named barrier 1.*(warps 0xf0.*warps 0xf00|both consumers)",
  (("hopper/cooperative.toml", "problem.k=256"),),
  (".barrier = kHopperStripBarrier + i};", ".barrier = kHopperStripBarrier};"))
m("hopper-third-b-row-block-m", "kernels/hopper_matmul/load_warp.h",
  "B's rows are counted in tiles of M. Ideal: row coordinate of B's copies: tile n = 1 begins at 128 instead of 256",
  r"B rows 128-383 were used where B rows 256-511 belong.*load_warp\.h:26",
  (("hopper/cooperative_cluster.toml",),),
  ("column = tile.n * cfg.block_n;", "column = tile.n * hopper_block_m(cfg);"))
m("hopper-third-b-advance-elements", "kernels/hopper_matmul/consumer_warps.h",
  "B's descriptor advances by 16 elements taken for bytes. Ideal: B's k of wgmma step 1 on: the descriptor begins 8 elements of K too early for each step",
  r"A's k 16-31 was multiplied by B's k 8-23.*consumer_warps\.h:40",
  (("hopper/cooperative.toml", "problem.k=256"),),
  ("advance(b, bytes)", "advance(b, uint32_t(step) * 16)"))
m("hopper-third-tile-reference", "kernels/hopper_matmul/consumer_warps.h",
  "the consumer holds a reference to the iterator's tile, which moves on to the next. Ideal: the consumers work on and store to the next tile instead of the one that was loaded; of the last one nothing is consumed",
  r"consumer has skipped tile \(\d, \d\), which load has: it went on to tile",
  (("hopper/cooperative.toml", "problem.k=256"),),
  ("const WorkTile tile = work.current();\n    work.next();", "const WorkTile& tile = work.current();\n    work.next();"))
m("hopper-third-empty-count-own", "kernels/hopper_matmul/shared_storage.h",
  "input_empty counts the readers of the own CTA only, though B's tile is shared by two. Ideal: input_empty completes with the arrivals of half of its readers (count 8 instead of 16): a stage is filled while consumers of a CTA still read it",
  r"\[TM7\].*input_empty\[0\] completed phase 0 without its arrival",
  (("hopper/cooperative_cluster.toml",),),
  (".count = uint32_t(hopper_readers(c) * c.cluster),", ".count = uint32_t(hopper_readers(c)),"))
m("hopper-third-workers-ctas", "kernels/hopper_matmul/hopper_matmul_kernel.h",
  "the walk steps by CTAs instead of clusters. Ideal: the scheduler's stride: half of the tiles are never computed (no CTA has had them)",
  r"no CTA has had tiles \(0, 1\), \(1, 1\)",
  (("hopper/cooperative_cluster.toml",),),
  ("int(isa.nctaid().x) / cfg.cluster};", "int(isa.nctaid().x)};"))

# --- copy

m("copy-third-strip-64", "kernels/copy/consumer_warp.h",
  "a strip is taken to be 64 columns wide (it has 32). Ideal: column coordinate of the consumer's store: strip i goes to 64 i instead of 32 i",
  r"row 0, column 64 holds the source's row 0, column 32.*consumer_warp\.h:69",
  (("copy/narrow.toml", "problem.m=256", "problem.n=512"),),
  ("strip_index * copy_block_k(cfg)", "strip_index * 64"))
m("copy-third-j-elements", "kernels/copy/load_warp.h",
  "the k tile within a group is added as an element. Ideal: column coordinate of the load of a group's second k tile: one column after the first instead of a tile after it",
  r"\[TM10\] tensor load at coordinates \(1, 0\).*load_warp\.h:28",
  (("copy/k_group_2.toml", "problem.m=256", "problem.n=1024"),),
  ("column + (k_tile + j) * copy_block_k(cfg);", "column + k_tile * copy_block_k(cfg) + j;"))

# --- block_scaled

m("scaled-third-b-type-e4m3", "kernels/block_scaled/scaled_mmas.h",
  "the descriptor says that B is e4m3, whatever it is. Ideal: instruction descriptor's type of B (e4m3 for e5m2)",
  r"take operand B for e4m3: the B type in the instruction descriptor is wrong",
  (("smoke/block_scaled_02.toml",),),
  ("cfg_.dtype, cfg_.dtype,", "cfg_.dtype, DataType::e4m3,"))
m("scaled-third-sfa-coords-swapped", "kernels/block_scaled/scaled_loader.h",
  "the coordinates of SFA's copy along K and along M are swapped. Ideal: SFA's copy: coordinates of k atom and row group",
  r"scale factors of operand A .*SFA of row 0, k block 16 belongs.*scaled_loader\.h:27",
  (("smoke/block_scaled_05.toml",),),
  ("TensorCoords{0, k_atom, sfa_group}", "TensorCoords{0, sfa_group, k_atom}"))
m("scaled-third-narrow-group", "kernels/block_scaled/sfb_warps.h",
  "the atom of a narrow tile's scales is counted by whole tiles in an atom. Ideal: SFB load warp: the row group of tile 2 is 1 instead of 0 (48 columns)",
  r"those of the rows 128 behind, which were loaded in their place: the load's coordinates.*sfb_warps\.h:1\d\d",
  (("smoke/block_scaled_narrow_03.toml",),),
  ("tile.n * cfg.mma_n / kScaleAtomRows}, stage.full()", "tile.n / (kScaleAtomRows / cfg.mma_n)}, stage.full()"))
m("scaled-third-amax-whole-warp", "kernels/epilogue/scaled_output.h",
  "scales along columns of 16 rows: the shuffles go over the whole warp. Ideal: scales of C (SFD): the maximum is taken over 32 rows instead of 16",
  r"scales of the output \(SFD\) are wrong: .* of two blocks",
  (("smoke/block_scaled_output_07.toml",),),
  ("for (int apart = elements_per_scale(cfg) / 2; apart > 0; apart /= 2) {", "for (int apart = kWarpLanes / 2; apart > 0; apart /= 2) {"))
m("scaled-third-store-column-elements", "kernels/epilogue/scaled_output.h",
  "the column of a quantised strip's store is given in elements, the map counts bytes. Ideal: column coordinate of the TMA store of C (FP4): twice too far right",
  r"sums of columns 32-63 were stored in columns 64-95: the store's coordinates.*scaled_output\.h:229",
  (("smoke/block_scaled_output_01.toml",),),
  ("TensorCoords{column * output_bits(cfg) / 8, tile.row}", "TensorCoords{column, tile.row}"))

# --- cutlass_block_scaled

m("cutlass-third-residual-block-n", "kernels/cutlass_block_scaled/epilogue_load_warp.h",
  "the residual's column is that of half a tile of a pair. Ideal: column coordinate of the residual's copies (epilogue_load): tile n begins at 128 n instead of 256 n",
  r"residual of columns 128-383 was added where that of columns 256-511 belongs",
  (("smoke/cutlass_block_scaled_06.toml", "problem.m=512", "problem.k=512"),),
  ("const int column = tile.n * cfg.mma_n +", "const int column = tile.n * block_n(cfg) +"))
m("cutlass-third-residual-lower", "kernels/cutlass_block_scaled/accumulator_strips.h",
  "the lower fragment's residual is read at the upper one's rows. Ideal: residual of rows 16-31 of each warp: ld.shared reads rows 0-15",
  r"rows 16-31 of each 32 take the residual of the row 16 before.*accumulator_strips\.h:54",
  (("smoke/cutlass_block_scaled_04.toml",),),
  ("read_fragment<R>(strip, first_row + 16, residual.lower);", "read_fragment<R>(strip, first_row, residual.lower);"))
m("cutlass-third-scales-over-accum", "kernels/cutlass_block_scaled/config.h",
  "accumulators that overlap are counted as two strides: the scales begin inside the second accumulator. Ideal: columns of SFA/SFB in tensor memory (384 on) are those of the second accumulator (192-447): tcgen05.cp overwrites sums",
  r"\[TC17\] the accumulator of an MMA covers .*: D has columns 192 to 447, SFA begins at column 384",
  (("smoke/cutlass_block_scaled_02.toml", "problem.k=512"),),
  ("return (accumulators(c) - 1) * accum_stride_columns(c) + c.mma_n;", "return accumulators(c) * accum_stride_columns(c);"))
m("cutlass-third-sfb-over-sfa", "kernels/cutlass_block_scaled/config.h",
  "SFB begins behind one slot of SFA, though there is one for each stage. Ideal: columns of SFB's slots overlap SFA's slots of later stages: tcgen05.cp of one over the other",
  r"SFB.*SFA.*columns|\[TC17\]",
  (("smoke/cutlass_block_scaled_03.toml",),),
  ("all_accumulator_columns(c) + c.scale_slots * sfa_tile(c).columns() +\n                  scale_slot(c, stage) * sfb_slot(c).columns());",
   "all_accumulator_columns(c) + sfa_tile(c).columns() +\n                  scale_slot(c, stage) * sfb_slot(c).columns());"),
  equivalent="the columns that a later stage's tcgen05.cp overwrites have been read by MMAs of the same thread, and the order of issue, which CUTLASS relies on, keeps the results right; a note (TC17) says so")
m("cutlass-third-load-place", "kernels/cutlass_block_scaled/accumulator_strips.h",
  "strips are read from tensor memory in the order of the walk, whichever strip comes. Ideal: tcgen05.ld of tiles in the first accumulator: the column of the strip is that of its place (strips in reverse order)",
  r"has released accum_empty\[0\] before it reads",
  (("smoke/cutlass_block_scaled_02.toml", "problem.k=512"),),
  ("result_.accumulator.plus_columns(uint32_t(i * 8 * R))", "result_.accumulator.plus_columns(uint32_t(loaded_ * 8 * R))"))

# --- blockwise

m("blockwise-third-b-scale-pitch", "kernels/blockwise/tile_sums.h",
  "rows of B's table of scales are taken to be as long as it has rows. Ideal: B's scales: the pitch (n_blocks instead of k_blocks): the scale of another block",
  r"B's scales of other blocks of K were taken: those of block k - 2.*blockwise_epilogue_warp\.h:33",
  (("smoke/blockwise_01.toml",),),
  ("uint64_t(block) * uint64_t(table.k_blocks)", "uint64_t(block) * uint64_t(table.n_blocks)"))
m("blockwise-third-row-of-lane", "kernels/blockwise/tile_sums.h",
  "a lane's row is taken to be lane % 4. Ideal: A's row scales: ld.shared of the scale of another row of the fragment",
  r"scales of A were taken by the wrong part of the lane's number: of row lane % 4",
  (("smoke/blockwise_01.toml",),),
  ("first_row + 16 * fragment + 8 * half + lane / 4)", "first_row + 16 * fragment + 8 * half + lane % 4)"))
m("blockwise-third-stage-of-accumulator", "kernels/blockwise/blockwise_epilogue_warp.h",
  "the stage of the input ring is the accumulator's number. Ideal: the epilogue reads A's row scales of, and releases (input_empty), the stage of the accumulator's index instead of the input ring's",
  r"\[TM5\] epilogue reads the stage of input_full\[0\], and has handed back input_empty\[1\] last.*blockwise_epilogue_warp\.h:36",
  (("smoke/blockwise_01.toml",),),
  ("input.at(input.consumer_stage());", "input.at(accumulator.index);"))

# --- grouped_1d1d

m("moe-third-expert-of-group", "kernels/grouped_1d1d/group_walk.h",
  "a group's number is taken for its expert. Ideal: weights: B's rows (and SFB's) are those of expert g instead of experts[g]; groups without an expert are computed",
  r"B of group 4 rows 128-255 were used where B of group 1 rows 128-255 belong.*moe_loader\.h:41",
  (("smoke/grouped_1d1d_01.toml",),),
  ("const int expert = word(p.experts, g);", "const int expert = g;"))
m("moe-third-no-scale-offset", "kernels/grouped_1d1d/group_walk.h",
  "the padding of scales to whole atoms is forgotten. Ideal: SFA's row group of groups behind the first: it leaves out the padding (scale_offset)",
  r"scale factors of operand A .*SFA of row 0, k block 0 belongs.*moe_loader\.h:43",
  (("smoke/grouped_1d1d_01.toml",),),
  ("first / rows_per_scale_group(cfg_) + scale_offset, expert};", "first / rows_per_scale_group(cfg_), expert};"))
m("moe-third-block-tail", "kernels/grouped_1d1d/group_walk.h",
  "the last block of tiles is taken to be as wide as the others. Ideal: the scheduler hands out tiles beyond the group (m = 3) and leaves out the last ones: width of the last block",
  r"no CTA has had tile \(2, 1\)",
  (("smoke/grouped_1d1d_01.toml", "config.block_swizzle=2", "problem.tokens=[300, 64, 100, 0, 257]"),),
  ("const int width = fast - first < block ? fast - first : block;", "const int width = block;"))

# --- grouped_1d2d

m("moefp8-third-expert-stride", "kernels/grouped_1d2d/params.h",
  "an expert's table of scales is taken to have one scale for each block of N. Ideal: B's scales of experts behind the first: the start of the expert's table lacks the factor k_blocks",
  r"B's scales of another place .*begin 2 scales into the tensor, .*the number of blocks of K lacks as a factor",
  (("smoke/grouped_1d2d_01.toml",),),
  ("uint64_t(expert) * uint64_t(n_blocks) * uint64_t(k_blocks) * bytes_per_scale(cfg)", "uint64_t(expert) * uint64_t(n_blocks) * bytes_per_scale(cfg)"))
m("moefp8-third-scale-of-token", "kernels/grouped_1d2d/token_loader.h",
  "the place of a token's scale is its row, without the groups' padding to 16 bytes. Ideal: coordinate of the copy of A's row scales: groups behind the first lack their padding",
  r"\[TM10\] tensor load at coordinates \(130, 0\).*token_loader\.h:34",
  (("smoke/grouped_1d2d_01.toml",),),
  ("const int scale = tile.group.scale_group + (token - tile.group.first_row);", "const int scale = token;"))

# --- grouped_block_scaled

m("maps-third-stride-columns", "kernels/grouped_block_scaled/map_editor.h",
  "the stride of a matrix is its number of columns: right for A and B, whose maps count bytes. Ideal: the map of C: the stride between rows is n instead of 2 n bytes",
  r"the tensor map of C of group 0 has 128 bytes from a row to the next, where rows .* 256 bytes",
  (("smoke/grouped_block_scaled_01.toml",),),
  ("tensormap_replace_global_stride<0>(map, matrix.row_bytes, loc)", "tensormap_replace_global_stride<0>(map, matrix.columns, loc)"))
m("maps-third-slot-wrap", "kernels/grouped_block_scaled/grouped_loader.h",
  "the ring of sets of maps wraps one too late. Ideal: the set behind the last (slot = slots) does not exist: the load warp edits the map of A where the CTA's map of C lies",
  r"\[GM1\] tensormap\.cp_fenceproxy.*end of maps",
  (("smoke/grouped_block_scaled_01.toml", "config.stages=2",
    "problem.groups=[[128, 128, 256], [256, 128, 512], [128, 256, 256], [128, 128, 768], [256, 128, 256], [128, 256, 512]]"),),
  ("slot = slot + 1 == slots ? 0 : slot + 1;", "slot = slot == slots ? 0 : slot + 1;"))

# --- fallback

m("fallback-third-ctaid-swapped", "kernels/fallback/fallback_kernel.h",
  "x and y of the CTA are swapped. Ideal: tile (m, n) of the CTA: tiles beyond C's rows, and C's last columns of tiles are never computed",
  r"no CTA has had tiles \(0, 3\), \(1, 3\), \(2, 3\)",
  (("21_fallback.toml",),),
  ("const int tile_m = int(isa.ctaid().y), tile_n = int(isa.ctaid().x);", "const int tile_m = int(isa.ctaid().x), tile_n = int(isa.ctaid().y);"))

# --- a fourth and a fifth list, in all families: those whose cause is named since what they missed was mended

m("fourth-k-of-group-mma", "kernels/matmul/load_warp.h",
  "k coordinate of a group's second k tile: one MMA's K (16) behind the first instead of a k tile (64). Ideal: k coordinate of the copies of A and B, load_warp.h",
  r"k 16-63 is multiplied more than once.*load_warp\.h:36",
  (("smoke/smoke_05.toml",),),
  ("const int k = (k_tile + j) * a_tile(cfg_).columns;", "const int k = k_tile * a_tile(cfg_).columns + j * cfg_.mma_k;"))
m("fourth-b-row-rank", "kernels/matmul/load_warp.h",
  "B's half by the rank in the cluster instead of the pair. Ideal: row coordinate of B's copies (load), too far: rank * block_n",
  r"B rows 384-415 were used where B rows 128-159 belong.*load_warp\.h:37",
  (("smoke/smoke_03.toml", "problem.m=1024", "problem.k=256",),),
  ("+ place_.half * block_n(cfg_);", "+ int(place_.rank) * block_n(cfg_);"))
m("fourth-b-share-of-a", "kernels/matmul/load_warp.h",
  "B is loaded with A's share (slice, receivers): copy-paste. Ideal: multicast mask / slice of B's copies, load_warp.h B line",
  r"multicasts at load_warp\.h:36 and at load_warp\.h:37 .*name the same CTAs",
  (("smoke/smoke_05.toml",),),
  ("load_slice(isa, stage.b(j), b_share(cfg_, place_),", "load_slice(isa, stage.b(j), a_share(cfg_, place_),"))
m("fourth-a-times-a", "kernels/matmul/mma_warp.h",
  "both operands of the MMA are A. Ideal: operand B of tcgen05.mma is A's tile, mma_warp.h",
  r"operand B reads A, .*leads into the other's tile",
  (("01_dense_small.toml", "problem.m=256", "problem.n=256", "run.sms=2",),),
  ("advance(a, along), advance(b, along),", "advance(a, along), advance(a, along),"))
m("fourth-first-mma-out", "kernels/matmul/mma_warp.h",
  "the loop over a k tile's MMAs begins at 1. Ideal: k 0-15 of each k tile is never multiplied, mma_warp.h",
  r"k 0-15 is never multiplied.*mma_warp\.h:35",
  (("01_dense_small.toml", "problem.m=256", "problem.n=256", "run.sms=2",),),
  ("for (int k = 0; k < mmas_per_k_tile(cfg_); ++k) {", "for (int k = 1; k < mmas_per_k_tile(cfg_); ++k) {"))
m("fourth-first-not-leads", "kernels/matmul/mma_warp.h",
  "only the cluster's first CTA multiplies, not every pair's leader. Ideal: mma of CTA 2, 4.. skips its tiles",
  r"mma of CTA \d+ has acquired stage 0 for phase 0 without filling it",
  (("smoke/smoke_03.toml", "problem.m=1024", "problem.k=256",),),
  ("if (!place.leads() || is_written", "if (!place.first() || is_written"))
m("fourth-row-of-pair", "kernels/matmul/epilogue_warp.h",
  "row of the store counted in tiles of the pair. Ideal: row coordinate of the store",
  r"sums of rows 128-255 were stored in rows 256-383: the store's coordinates",
  (("13_pairs.toml", "run.sms=4", "problem.m=512",),),
  (".row = tile.m * block_m(cfg),", ".row = tile.m * cfg.mma_m,"))
m("fourth-release-and", "kernels/matmul/cluster_share.h",
  "release mask is row AND column. Ideal: the commit on input_empty reaches only the CTA itself; the others of its row and column lack it",
  r"each commit to it by a mask has reached its own CTA alone",
  (("smoke/smoke_05.toml",),),
  ("return {uint16_t(row | column)};", "return {uint16_t(row & column)};"))
m("fourth-group-mask-half", "kernels/matmul/cluster_share.h",
  "mask of a pair's commit names CTA `half ^ 1`. Ideal: commit on accum_full of the pairs behind the first goes to CTA 1 instead of the own peer",
  r"phase 0 of accum_full\[0\] of CTA 1, .*completed by mma of CTA 2, whose MMAs write other tensor memory",
  (("smoke/smoke_03.toml", "problem.m=1024", "problem.k=256",),),
  ("own | 1u << (place.rank ^ 1) : own)", "own | 1u << (place.half ^ 1) : own)"))
m("fourth-split-release-early", "kernels/matmul/split_reduction.h",
  "accumulator released behind the first strip's load. Ideal: epilogue releases accum_empty before it has loaded the other strips",
  r"has arrived on accum_empty\[0\] .*before it reads these columns.*split_reduction\.h:103",
  (("01_dense_small.toml", "config.num_split_k=3", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3", "problem.m=512",),),
  ("if (!last && i + 1 == strips) ring.consumer_release(tile.result);", "if (!last && i == 0) ring.consumer_release(tile.result);"))
m("fourth-lock-waits-count", "kernels/matmul/split_reduction.h",
  "a split waits for its own length instead of its beginning. Ideal: split 2 waits for lock value 6 where 12 belongs (or adds before split 1 has)",
  r"waits until locks\[3\] holds 4; it holds 12",
  (("01_dense_small.toml", "config.num_split_k=3", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3",),),
  ("wait_for_lock(isa, lockers, lock, work.k_begin, loc);", "wait_for_lock(isa, lockers, lock, work.k_count, loc);"))
m("fourth-partials-columns-8", "kernels/matmul/split_reduction.h",
  "strips of partial sums lie 8 columns apart in the workspace. Ideal: partial sums of strips overlap in the workspace: columns 32.. go to 8..",
  r"partial sums .*columns 8-15 belong, those of rows 0-7 and columns 32-39 were added",
  (("01_dense_small.toml", "config.num_split_k=2", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3",),),
  ("+ i * strip_columns(cfg);", "+ i * 8;"))
m("fourth-raster-strip-mod", "kernels/scheduler/rasterization.h",
  "block of a swizzled tile by v % width. Ideal: the scheduler's mapping gives tiles twice and others never",
  r"no CTA has had tiles \(0, 4\)",
  (("08_more_tiles_than_sms.toml", "problem.n=1024", "config.block_swizzle=2",),),
  ("const int vs = u % width + width * (v / width);", "const int vs = u % width + width * (v % width);"))
m("fourth-static-no-z", "kernels/scheduler/static_scheduler.h",
  "bound of the static walk leaves out the splits. Ideal: no CTA takes the later splits: their K is never multiplied / the tiles are never stored",
  r"of its K only 0-255 was multiplied: tile \(0, 0\) was had once for 2 splits of K",
  (("09_static_scheduler.toml", "problem.k=512", "problem.m=256", "config.num_split_k=2", "run.sms=3",),),
  ("cluster < grid.x * grid.y * grid.z;", "cluster < grid.x * grid.y;"))
m("fourth-clc-arms-row", "kernels/scheduler/clc_scheduler.h",
  "scheduler arms clc_full of the first row of the cluster only. Ideal: clc_full of CTA 4 and on is not armed (expect_tx of the scheduler)",
  r"16 bytes were delivered to a phase that nobody armed.*scheduler_warp\.h:15",
  (("smoke/smoke_05.toml",),),
  ("isa_.lanes_below(grid_.cluster_size(), [&] {", "isa_.lanes_below(grid_.cluster_m, [&] {"))
m("fourth-slice-by-parts", "kernels/pipeline/smem_tile.h",
  "slice i begins at row i * parts. Ideal: place of the slices in the slot (rows 2 instead of 64), rest of the slot never written",
  r"bring the same bytes of one fill of input_full\[0\]",
  (("smoke/smoke_02.toml",),),
  ("return rows(i * (shape.rows / parts), shape.rows / parts);", "return rows(i * parts, shape.rows / parts);"))
m("fourth-buffer-div", "kernels/epilogue/tile_writer.h",
  "buffer of a strip by division: two strips one behind the other in the same buffer. Ideal: warps write a strip buffer whose store is still reading (strip 1 in buffer 0)",
  r"\[TM8\].*this strip lies where the one before it did",
  (("01_dense_small.toml", "problem.m=256", "problem.n=256", "run.sms=2",),),
  ("buffer = place % kOutputBuffers;", "buffer = place / kOutputBuffers;"))
m("fourth-f32-row-half", "kernels/epilogue/smem_writer.h",
  "f32 strips: second half of rows one row further instead of 8. Ideal: rows 8-15 of each 16 written over rows 1-8 of the strip, smem_writer.h",
  r"lie 7 rows away from where they belong, .*(registers, strip)",
  (("01_dense_small.toml", "config.output=f32", "config.stages=4", "problem.k=256",),),
  ("return first_row + lane / 4 + 8 * half; };", "return first_row + lane / 4 + half; };"))
m("fourth-strip-swizzle-32", "kernels/epilogue/output_strip.h",
  "strips of 64-byte rows are written with the 32-byte swizzle. Ideal: strip written with another swizzle than the store's map has",
  r"16 columns away.*registers, strip or swizzle",
  (("01_dense_small.toml", "problem.m=256", "problem.n=256", "run.sms=2",),),
  ("case 64: return Swizzle::b64;", "case 64: return Swizzle::b32;"))
m("fourth-register-columns-4", "kernels/epilogue/fragment_functor.h",
  "columns of a fragment's registers 4 apart instead of 8. Ideal: bias and residual of columns 8.. are taken 4, 8, 12 columns too far left",
  r"of each 32 columns block b of 8 takes bias and residual of column 4 \* b",
  (("14_fused_epilogue.toml", "problem.k=256",),),
  ("first_column + 8 * (i / 4) +", "first_column + 4 * (i / 4) +"))
m("fourth-residual-lower-row", "kernels/epilogue/fragment_functor.h",
  "the residual of the lower fragment is that of the upper one's rows. Ideal: rows 16-31 of each 32 take the residual of the row 16 before",
  r"rows 16-31 of each 32 take the residual of the row 16 before",
  (("14_fused_epilogue.toml", "problem.k=256",),),
  ("apply_to_fragment<R>(isa, cfg, params, first_row + row,", "apply_to_fragment<R>(isa, cfg, params, first_row,"))
m("fourth-vector-bias-0", "kernels/epilogue/strip_functor.h",
  "bias of a lane's first vector for all. Ideal: the right half of the tile takes bias of the left half (64 columns before)",
  r"columns 64-127 of each 128 take the bias of the column 64 before",
  (("15_fused_epilogue_smem.toml", "config.cta_group=2", "config.cluster=[2, 1, 1]", "problem.k=256",),),
  ("bias[same_columns(cfg) ? 0 : j]", "bias[0]"))
m("fourth-relu-negative", "kernels/epilogue/element_functor.h",
  "relu keeps the negative numbers. Ideal: activation is not ReLU: the negative part / wrong sign of the comparison",
  r"min\(x, 0\) was computed where ReLU belongs",
  (("16_fused_epilogue_fp8.toml",),),
  ("x = x > 0 ? x : 0;", "x = x < 0 ? x : 0;"))
m("direct-fourth-first-of-stage-0", "kernels/direct/direct_steps.h",
  "the first MMA of ring stage 0 overwrites. Ideal: MMAs at k step 7, 14 .. overwrite the accumulator: k before is lost",
  r"first MMA of a tile adds to the sum that an earlier tile has left.*direct_steps\.h:116",
  (("direct/v6.toml",),),
  ("issue_mmas(stage, accumulator, k == 0);", "issue_mmas(stage, accumulator, stage.index == 0);"))
m("direct-fourth-lanes-0", "kernels/direct/direct_steps.h",
  "all warps load the first quarter's lanes. Ideal: tcgen05.ld of warp 1 reads lanes 0-31, which it may not",
  r"\[TC2\] tcgen05\.ld\.32x32b at lane 0 by warp \d",
  (("direct/v4.toml", "problem.k=512",),),
  ("accumulator.plus_lanes(32u * uint32_t(quarter));", "accumulator.plus_lanes(0);"))
m("hopper-fourth-release-k-1", "kernels/hopper_matmul/consumer_warps.h",
  "the stage of a tile's first k step is never released. Ideal: consumer does not arrive on input_empty of the stage of k 0",
  r"consumer has passed input_full\[0\] phase 0 without releasing it",
  (("hopper/cooperative.toml", "problem.k=512",),),
  ("    if (k > 0) {", "    if (k > 1) {"))
m("hopper-fourth-part-base", "kernels/hopper_matmul/load_warp.h",
  "every CTA's part of B lands at the slot's beginning. Ideal: both multicast copies of B write the same bytes; the second half of B's slot is never written",
  r"copies of CTA \d and CTA \d bring the same bytes.*load_warp\.h:26",
  (("hopper/cooperative_cluster.toml",),),
  ("isa.cp_async_bulk_tensor_shared_global_multicast(part.base,", "isa.cp_async_bulk_tensor_shared_global_multicast(stage.b(0).base,"))
m("copy-fourth-buffer-j", "kernels/copy/consumer_warp.h",
  "strip buffer by the k tile in its group: always the first. Ideal: buffer 0 is written while the store of the strip before reads it",
  r"\[TM8\].*this strip lies where the one before it did",
  (("copy/three_stages.toml", "problem.m=512", "problem.n=1024",),),
  ("buffer = strip_index % kOutputBuffers;", "buffer = j % kOutputBuffers;"))
m("copy-fourth-mask-last", "kernels/copy/load_warp.h",
  "multicast mask is one bit, the last CTA's (a parenthesis). Ideal: mask of the multicast lacks CTA 0",
  r"multicasts at load_warp\.h:24 have reached rank 1 of the cluster's 2 alone",
  (("copy/multicast_2_one_stage.toml", "problem.m=512", "problem.n=1024", "config.stages=2", "run.sms=4",),),
  ("CtaMask{uint16_t((1u << cfg.cluster) - 1)}", "CtaMask{uint16_t(1u << (cfg.cluster - 1))}"))
m("copy-fourth-walk-le", "kernels/scheduler/static_walk.h",
  "bound of the walk is > instead of >=. Ideal: a CTA takes a tile outside of the matrix (one too many)",
  r"a tile that lies outside of C was computed",
  (("copy/three_stages.toml", "problem.m=512", "problem.n=1024",),),
  ("if (index_ >= grid_.tiles_m * grid_.tiles_n) return {};", "if (index_ > grid_.tiles_m * grid_.tiles_n) return {};"))
m("scaled-fourth-sfb-map", "kernels/block_scaled/scaled_loader.h",
  "SFB is loaded with SFA's map. Ideal: SFB's copy uses the map of SFA, scaled_loader.h",
  r"bytes that are no SFB was used.*scaled_loader\.h:30",
  (("smoke/block_scaled_01.toml", "problem.n=384",),),
  ("map_of(params_.sfb)", "map_of(params_.sfa)"))
m("scaled-fourth-sfb-column-swapped", "kernels/block_scaled/scaled_mmas.h",
  "group and k atom swapped in SFB's column. Ideal: MMA of k atom 1 takes SFB from the column of row group 1",
  r"SFB of row 128, k block 0 was used where SFB of row 0, k block 4 belongs.*scaled_mmas\.h:37",
  (("smoke/block_scaled_07.toml",),),
  ("sfb_slot(cfg_).column(0, atom)", "sfb_slot(cfg_).column(atom, 0)"))
m("scaled-fourth-store-wrap", "kernels/block_scaled/sfb_warps.h",
  "narrow tiles: rows wrap at an atom, the tile has two. Ideal: SFB of columns 32-47 of tile 2 are those of rows 0-15 of the first atom instead of the second (sfb_store)",
  r"was stored where SFB of row 128.*sfb_warps\.h:208",
  (("smoke/block_scaled_narrow_03.toml",),),
  ("(first + c * kScaleColumnRows + lane) % rows;", "(first + c * kScaleColumnRows + lane) % kScaleAtomRows;"))
m("scaled-fourth-amax-first", "kernels/epilogue/scaled_output.h",
  "all blocks of a strip take the first one's maximum. Ideal: scales of the output of odd blocks are those of the block before",
  r"what they are made of is that of the block before",
  (("smoke/block_scaled_output_01.toml",),),
  ("scale_of_block(isa, cfg.scaled_output, params, amax[lane][b])", "scale_of_block(isa, cfg.scaled_output, params, amax[lane][0])"))
m("scaled-fourth-bias-255", "kernels/epilogue/block_quantizer.h",
  "reciprocal of a ue8m0 scale with 255 instead of 254. Ideal: elements are twice too large: divided by half the scale",
  r"they are 2 times what they should be",
  (("smoke/block_scaled_output_02.toml",),),
  ("kTwiceBias = 254;", "kTwiceBias = 255;"))
m("scaled-fourth-lane-half-le", "kernels/epilogue/scaled_output.h",
  "lane 16 takes the other half's order of bytes. Ideal: output scales (SFD) of column 16 of each 32: bytes swapped",
  r"those of the first 1 and the last 1 of each 2 blocks have changed places",
  (("smoke/block_scaled_output_07.toml",),),
  ("own(lane) = lane < kHalf ?", "own(lane) = lane <= kHalf ?"))
m("cutlass-fourth-release-ge", "kernels/cutlass_block_scaled/accumulator_strips.h",
  "the accumulator is released behind every strip from the last shared one on. Ideal: epilogue arrives on accum_empty more than once per tile (accumulator_strips.h)",
  r"has arrived on accum_empty \d+ times, and has waited for accum_full \d+ times: it hands back more",
  (("smoke/cutlass_block_scaled_02.toml", "problem.k=512",),),
  ("if (++loaded_ == shared_strips(cfg_))", "if (++loaded_ >= shared_strips(cfg_))"))
m("cutlass-fourth-parity", "kernels/cutlass_block_scaled/overlapped_ring.h",
  "the MMA warp takes the second accumulator first. Ideal: D's columns: MMA writes the accumulator that the epilogue does not read (parity of the producer)",
  r"whose MMAs write columns 192-447, and reads columns 160-191",
  (("smoke/cutlass_block_scaled_02.toml", "problem.k=512",),),
  ("this->producer_parity() ^ 1);", "this->producer_parity());"))
m("cutlass-fourth-awaited", "kernels/cutlass_block_scaled/mma_input_ring.h",
  "the flag that a stage has been awaited is never cleared. Ideal: mma does not wait for input_full from the second stage on",
  r"mma reads bytes without having waited.* on input_full\[1\]",
  (("smoke/cutlass_block_scaled_02.toml", "problem.k=512",),),
  ("    awaited_ = false;\n", "    "))
m("cutlass-fourth-residual-count", "kernels/cutlass_block_scaled/tiles.h",
  "count of residual_empty is warps, not threads. Ideal: residual_empty: count 4, 128 threads arrive (count too low)",
  r"\[MB5\] 32 lanes arrive at once, and the mbarrier counts 4 arrivals",
  (("smoke/cutlass_block_scaled_04.toml",),),
  (".count = uint32_t(cutlass_epilogue_group().threads()),", ".count = uint32_t(cutlass_epilogue_group().warps),"))
m("blockwise-fourth-scales-k-tile", "kernels/blockwise/blockwise_loader.h",
  "k tile taken for k block. Ideal: k coordinate of the copy of A's scales (k tile instead of block)",
  r"A's scales of other blocks of K.*blockwise_loader\.h:23",
  (("smoke/blockwise_05.toml",),),
  ("k_block_of(cfg_, k_tile)}", "k_tile}"))
m("blockwise-fourth-scale-of-column", "kernels/blockwise/tile_sums.h",
  "a register's row by its lowest bit. Ideal: A's row scales: odd columns take that of the row 8 behind/before",
  r"scales of A were taken of rows whose bit of 8 is the column's bit of 1",
  (("smoke/blockwise_01.toml",),),
  ("scale[r / 2 % 2]", "scale[r % 2]"))
m("blockwise-fourth-release-one", "kernels/blockwise/blockwise_epilogue_warp.h",
  "one lane hands the scales back, the cluster's count is for all CTAs. Ideal: input_empty lacks arrivals of epilogue: each warp arrives once instead of once per CTA",
  r"epilogue of CTA \d has passed input_full\[0\] phase 0 without releasing it",
  (("bugs/sound/blockwise_cluster.toml",),),
  ("isa.lanes_below(cluster_size(cfg), [&]", "isa.lanes_below(1, [&]"))
m("moe-fourth-tiles-before-late", "kernels/grouped_1d1d/group_walk.h",
  "tiles of the groups before are added up behind the new group. Ideal: the walk's first tile of a group is wrong: tiles never and twice",
  r"tiles that lie outside of C were computed",
  (("smoke/grouped_1d1d_01.toml",),),
  ("      tiles_before_ += tiles_;\n      group_ = table_.group(index_);\n      tiles_ = group_.has_work() ? tiles_m() * tiles_n() : 0;", "      group_ = table_.group(index_);\n      tiles_ = group_.has_work() ? tiles_m() * tiles_n() : 0;\n      tiles_before_ += tiles_;"))
m("moe-fourth-b-of-tokens", "kernels/grouped_1d1d/moe_loader.h",
  "B's rows begin where A's do: copy-paste. Ideal: row coordinate of B's copy: the tokens' first row instead of the expert's",
  r"B of group \d rows .* were used where B of group 1 rows 128-255 belong.*moe_loader\.h:41",
  (("smoke/grouped_1d1d_01.toml",),),
  ("const int b_row = (swapped ? token : weight)", "const int b_row = (swapped ? weight : token)"))
m("moe-fourth-factor-bytes", "kernels/grouped_1d1d/token_rows_of_tile.h",
  "an expert's factor is addressed in bytes. Ideal: ld.global of the expert's factor at an address that is not aligned / expert instead of 4 x expert",
  r"\[GM2\].*must be 4-byte aligned.*token_rows_of_tile\.h:44",
  (("smoke/grouped_1d1d_02.toml",),),
  ("expert_scales + 4 * uint64_t(tile.group.expert)", "expert_scales + uint64_t(tile.group.expert)"))
m("moe-fourth-slots-16", "kernels/grouped_1d1d/work_ring.h",
  "slots 16 bytes apart instead of 32. Ideal: the scheduler's slot overlaps the one before (work ring, st.shared / ld.shared)",
  r"the slots of two stages overlap",
  (("bugs/sound/grouped_ring.toml",),),
  ("kWorkSlotBytes * uint32_t(stage)", "16 * uint32_t(stage)"))
m("moefp8-fourth-weight-by-k", "kernels/grouped_1d2d/token_loader.h",
  "an expert's weights begin at expert * k. Ideal: row coordinate of B's copy (expert * k instead of expert * n)",
  r"zeros .*were used where B of group 1 .*token_loader\.h:32",
  (("smoke/grouped_1d2d_01.toml",),),
  ("tile.group.expert * params_.n +", "tile.group.expert * params_.k +"))
m("moefp8-fourth-tail-row", "kernels/grouped_1d2d/grouped_sums_epilogue.h",
  "a group's tail is stored at the group's first rows. Ideal: tail tile's sums stored in the rows of the group's first tile (row of st.global)",
  r"sums of rows 256-299 were stored in rows 0-43: the store's coordinates",
  (("smoke/grouped_1d2d_01.toml", "problem.tokens=[300, 64, 130]", "problem.experts=[1, 0, 2]",),),
  ("tokens.end, params.n}, tokens.first, column);", "tokens.end, params.n}, tile.group.first_row, column);"))
m("maps-fourth-scale-stride", "kernels/grouped_block_scaled/map_editor.h",
  "stride of the scale map by the row groups. Ideal: map of SFA/SFB: stride of dimension 1/2",
  r"tensor map of SFB of group 0 .*its stride is wrong",
  (("smoke/grouped_block_scaled_01.toml",),),
  ("uint64_t(scales.k_atoms) * kScaleAtomBytes", "uint64_t(scales.row_groups) * kScaleAtomBytes"))
m("maps-fourth-pointer-row", "kernels/grouped_block_scaled/map_editor.h",
  "rows of pointers are taken to be as long as rows of problems. Ideal: pointers of group 1 are read at 16 instead of 64 (other tensor's address)",
  r"what it reads is C of group 0, which nothing multiplies",
  (("smoke/grouped_block_scaled_01.toml",),),
  ("uint64_t(group) * kPointerRowBytes", "uint64_t(group) * kProblemRowBytes"))
m("fallback-fourth-rows-of-cta", "kernels/fallback/fallback_kernel.h",
  "all warps store to the first warp's rows. Ideal: row of warps 1-3's stores lacks 32 w",
  r"warp of CTA 3 and warp of CTA 3 write the same global memory.*fallback_kernel\.h:101",
  (("21_fallback.toml",),),
  ("store_fragment_bf16<R>(isa, c, first_row + row_of_warp,", "store_fragment_bf16<R>(isa, c, row + row_of_warp,"))
m("fifth-slice-row-sharers", "kernels/matmul/load_warp.h",
  "source row of a slice: index * sharers. Ideal: row coordinate of the slices of A and B (load_warp.h)",
  r"A rows 260-291 were used where A rows 288-319 belong.*load_warp\.h:36",
  (("smoke/smoke_02.toml",),),
  ("corner.c[1] + share.index * slice.shape.rows};", "corner.c[1] + share.index * share.sharers};"))
m("fifth-step-if-last-split", "kernels/matmul/epilogue_warp.h",
  "accumulator ring is stepped behind the last split only. Ideal: epilogue's cursor on accum_full: does not step behind a split that is not the last",
  r"a wait of epilogue for accum_full\[0\] passed at once",
  (("01_dense_small.toml", "config.num_split_k=3", "problem.m=256", "problem.n=256", "config.stages=4", "run.sms=3",),),
  ("      write_output(isa, cfg, group, ring, params, output);\n    ring.consumer_step();", "      { write_output(isa, cfg, group, ring, params, output);\n    ring.consumer_step(); }"))
m("fifth-clc-slot-0", "kernels/scheduler/clc_scheduler.h",
  "readers decode the response in slot 0 whatever the stage. Ideal: ld.shared of the response of slot 0 where stage 1's belongs",
  r"mma had waited for clc_full\[1\], and read what clc_full\[0\] fills",
  (("08_more_tiles_than_sms.toml", "problem.m=512", "problem.n=512", "run.sms=2", "config.stages=3",),),
  ("isa_.ld_shared_b128(response(stage), loc);", "isa_.ld_shared_b128(response(0), loc);"))
m("fifth-static-z-by-x", "kernels/scheduler/static_scheduler.h",
  "the split's index is divided by the grid's x. Ideal: scheduler's walk: tiles/splits that do not exist, others never (z)",
  r"tiles that lie outside of C were computed: \(0, -2\)",
  (("09_static_scheduler.toml", "problem.k=512", "problem.m=256", "config.num_split_k=2", "run.sms=3",),),
  ("z = isa_.div_u32(row, grid.y);", "z = isa_.div_u32(row, grid.x);"))
m("fifth-half-strip-columns", "kernels/epilogue/tile_writer.h",
  "the right half begins a strip (32) further instead of half of the tile. Ideal: column coordinate of the stores of the right half",
  r"sums of columns 96-127 were stored in columns 64-95.*tile_writer\.h:71",
  (("13_pairs.toml", "config.mma=[128, 128, 16]", "run.sms=4", "problem.m=256", "problem.n=256",),),
  ("const int column = tile.column + half * accumulator_columns(cfg) + i * strip_columns(cfg);", "const int column = tile.column + half * strip_columns(cfg) + i * strip_columns(cfg);"))
m("fifth-vector-residual-0", "kernels/epilogue/strip_functor.h",
  "all vectors of a lane take the first one's residual. Ideal: residual of the lane's first vector (other rows) for all",
  r"of each 128 rows all take the residual of the first 32",
  (("15_fused_epilogue_smem.toml", "problem.k=256",),),
  ("bias[same_columns(cfg) ? 0 : j], residual[j], vector);", "bias[same_columns(cfg) ? 0 : j], residual[0], vector);"))
m("direct-fifth-load-columns-half", "kernels/direct/direct_steps.h",
  "tcgen05.ld's columns half as far apart. Ideal: columns of the load from tensor memory",
  r"columns 132-139 were loaded from tensor memory where those of columns 136-143 belong.*direct_steps\.h:166",
  (("direct/v4.toml", "problem.k=512",),),
  ("(rows.plus_columns(uint32_t(i)));", "(rows.plus_columns(uint32_t(i / 2)));"))
m("hopper-fifth-b-is-a", "kernels/hopper_matmul/consumer_warps.h",
  "B's descriptor begins at A's tile. Ideal: operand B of wgmma reads A",
  r"operand B reads A, .*consumer_warps\.h:40",
  (("hopper/cooperative.toml", "problem.k=256",),),
  ("b = hopper_operand(stage.b(0).base);", "b = hopper_operand(stage.a(0).base);"))
m("hopper-fifth-mask-peer", "kernels/hopper_matmul/load_warp.h",
  "B's part goes to the peer alone. Ideal: mask of the multicast leaves out the own CTA",
  r"multicast at load_warp\.h:26 leaves out the CTA that issues it",
  (("hopper/cooperative_cluster.toml",),),
  ("CtaMask{uint16_t((1u << cfg.cluster) - 1)}", "CtaMask{uint16_t(1u << (rank ^ 1))}"))
m("copy-fifth-arrive-own", "kernels/copy/consumer_warp.h",
  "consumers tell their own CTA alone that a stage is free. Ideal: input_empty lacks the arrivals of the other CTA's consumers",
  r"consumer of CTA 1 has passed input_full\[0\] phase 0 without releasing it.*of CTA 0 is missing",
  (("copy/multicast_2_one_stage.toml", "problem.m=512", "problem.n=1024", "config.stages=2", "run.sms=4",),),
  ("ring.consumer_arrive(stage, copy_sharers(cfg));", "ring.consumer_arrive(stage, 1);"))
m("scaled-fifth-cp-group-0", "kernels/block_scaled/scaled_mmas.h",
  "all row groups are copied to the first one's columns. Ideal: tcgen05.cp of SFB's second group goes over the first; columns of the second are not written",
  r"\[TC13\].*nobody has written all lanes of columns 284 to 287.*a tcgen05\.cp has written columns 280 to 283",
  (("smoke/block_scaled_03.toml",),),
  ("to.plus_columns(tile.shape.column(group, k_atom)),", "to.plus_columns(tile.shape.column(0, k_atom)),"))
m("scaled-fifth-others-8", "kernels/epilogue/scaled_output.h",
  "the scales for the other half are those of the column 8 apart. Ideal: output scales (SFD) of columns whose bit of 8 is wrong",
  r"number differs in the bits of 8 and 16",
  (("smoke/block_scaled_output_07.toml",),),
  ("if (i == (lane ^ kHalf)) others(lane)", "if (i == (lane ^ 8)) others(lane)"))
m("scaled-fifth-words-first", "kernels/epilogue/scaled_output.h",
  "the second 16 bytes of a strip's row are the first again. Ideal: columns 16-31 of each 32 hold the elements of columns 0-15",
  r"of each 32 elements of a row the last 16 hold those of the first 16",
  (("smoke/block_scaled_output_02.toml",),),
  ("&y[lane][first + w * per_word]", "&y[lane][w * per_word]"))
m("cutlass-fifth-strip-off", "kernels/cutlass_block_scaled/config.h",
  "strips in reverse order begin one too far. Ideal: strip 8 of 0-7: columns of tcgen05.ld/store beyond the tile",
  r"epilogue has released accum_empty\[0\] before it reads",
  (("smoke/cutlass_block_scaled_02.toml", "problem.k=512",),),
  ("strips_per_tile(c) - 1 - place : place;", "strips_per_tile(c) - place : place;"))
m("blockwise-fifth-tile-as-block", "kernels/blockwise/tile_sums.h",
  "B's scales: the tile's number is taken for its first block. Ideal: B's scales of other blocks of columns (tile n instead of 2 n)",
  r"B's scales of another block of columns were taken: the block 1 before",
  (("smoke/blockwise_02.toml",),),
  ("const int block = first_n_block(cfg, tile_n) + i;", "const int block = tile_n + i;"))
m("moe-fifth-first-token-pair", "kernels/grouped_1d1d/group_tile.h",
  "a CTA's first row of tokens counted in tiles of the pair. Ideal: row of the stores of the odd CTA / second tile",
  r"sums of rows 128-171 were stored in rows 256-299: the store's coordinates",
  (("smoke/grouped_1d1d_03.toml",),),
  ("m * block_m(c));", "m * c.mma_m);"))
m("moe-fifth-publish-no-wait", "kernels/grouped_1d1d/work_ring.h",
  "the scheduler takes the ring's stage without waiting. Ideal: scheduler does not wait for work_empty",
  r"scheduler has never waited for work_empty",
  (("bugs/sound/grouped_ring.toml",),),
  ("const int stage = ring.producer_acquire(loc);", "const int stage = ring.producer_stage();"))
m("moefp8-fifth-scale-k-plus", "kernels/grouped_1d2d/token_loader.h",
  "k block of A's scales one too far. Ideal: k coordinate of the copy of A's scales, token_loader.h",
  r"A's scales of other blocks of K.*token_loader\.h:34",
  (("smoke/grouped_1d2d_01.toml",),),
  ("TensorCoords{scale, k_block_of(cfg_, k_tile)}", "TensorCoords{scale, k_block_of(cfg_, k_tile) + 1}"))
m("maps-fifth-sfa-by-b", "kernels/grouped_block_scaled/grouped_loader.h",
  "SFA is loaded by B's map. Ideal: SFA's copy uses the map of B",
  r"\[TM1\] 3-dimensional tensor copy with a tensor map of rank 2.*scaled_loader\.h:27",
  (("smoke/grouped_block_scaled_01.toml",),),
  ("maps_.input(slot, 1), maps_.input(slot, 2),", "maps_.input(slot, 1), maps_.input(slot, 1),"))
m("fallback-fifth-bytes-2a", "kernels/fallback/fallback_kernel.h",
  "expect_tx counts A's bytes twice. Ideal: expect_tx counts 32768, the copies bring 24576",
  r"expect_tx counts 8,192 bytes more",
  (("21_fallback.toml",),),
  ("smem.a.shape.bytes() + smem.b.shape.bytes(), Scope::cta", "2 * smem.a.shape.bytes(), Scope::cta"))

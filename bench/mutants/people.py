# SPDX-License-Identifier: Apache-2.0
"""Mistakes that people make: wrong bounds, coordinates, halves, strides, swizzles, descriptors, columns, orders, counts and
masks, early returns.  None leaves a call out or doubles one; most break no protocol and end in wrong numbers.

A list of its own beside mutants.py (`run.py --list people`), in its format.  `expect` names the operand or the output that is
wrong and the role or the line that made it so: a report that says no more than "the result is wrong" matches none.
"""

from mutants import mutant_list

MUTANTS, of, m = mutant_list()

LOAD = r"load_warp\.h"
MMA = r"mma_warp\.h"

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/load_warp.h")
m("people-a-row-of-pair", "A's rows counted in tiles of the pair", rf"A rows .*{LOAD}",
  ("tile.m * block_m(cfg_)", "tile.m * cfg_.mma_m"))
m("people-b-without-half", "both CTAs of a pair load the left half of B", rf"B rows .*{LOAD}",
  (" + place_.half * block_n(cfg_);", ";"))
m("people-b-row-block", "B's rows counted in blocks of one CTA", rf"B rows .*{LOAD}",
  ("b_row = tile.n * cfg_.mma_n", "b_row = tile.n * block_n(cfg_)"))
m("people-k-of-group", "all k tiles of a group are its first", rf"(k |K ).*{LOAD}",
  ("(k_tile + j) * a_tile(cfg_).columns", "k_tile * a_tile(cfg_).columns"))
m("people-share-step", "a slice's first row counted in whole tiles", rf"rows .*{LOAD}",
  ("share.index * slice.shape.rows", "share.index * tile.shape.rows"))
m("people-slice-place", "every slice goes to the first one's place", rf"{LOAD}|TC3|TC7|TM5",
  ("tile.slice(share.index, share.sharers)", "tile.slice(0, share.sharers)"))
m("people-split-from-0", "every split loads K from its beginning", rf"(k |K ).*{LOAD}",
  ("// once, before its copies\n        loader.load(isa, stage, tile, k);",
   "// once, before its copies\n        loader.load(isa, stage, tile, k - tile.k_begin);"))
m("people-swapped-maps", "B is loaded with A's map", rf"(A|B).*{LOAD}|TM",
  ("map_of(params_.b), {k, b_row}", "map_of(params_.a), {k, b_row}"))

STEP_MORE = ("k < tile.k_end(); k += cfg.k_group_size", "k <= tile.k_end(); k += cfg.k_group_size")
STEP_LESS = ("k < tile.k_end(); k += cfg.k_group_size", "k + cfg.k_group_size < tile.k_end(); k += cfg.k_group_size")
m("people-load-step-more", "the load warp fills once too often for each tile", r"load (has filled|goes on to fill) .* too many", STEP_MORE)
m("people-load-step-less", "the load warp fills once too seldom for each tile", r"load has filled .* too few", STEP_LESS)
m("people-load-skips-tile", "the load warp leaves out a tile", r"load has skipped tile \(1, 0\)",
  ("work.throttle_signal();  // lets the scheduler ask for the next tile\n",
   "work.throttle_signal();  // lets the scheduler ask for the next tile\n    if (tile.m == 1 && tile.n == 0) continue;\n"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/mma_warp.h")
m("people-mma-step-more", "the MMA warp waits for one stage too many for each tile", r"mma (has consumed|waits for) .* too many", STEP_MORE)
m("people-mma-step-less", "the MMA warp takes one stage too few for each tile", r"mma has consumed .* too few", STEP_LESS)
m("people-mma-skips-tile", "the MMA warp leaves out a tile", r"mma has skipped tile \(1, 0\)",
  ("is_written_without_mmas(cfg, tile)) continue;", "is_written_without_mmas(cfg, tile) || (tile.m == 1 && tile.n == 0)) continue;"))
m("people-b-of-first-slot", "all k tiles of a group multiply B's first", rf"(k |K |B ).*{MMA}",
  ("b = operand_descriptor(stage.b(j))", "b = operand_descriptor(stage.b(0))"))
m("people-b-not-advanced", "B's descriptor stays at the tile's first 32 bytes", rf"(k |K |B ).*{MMA}",
  ("advance(b, along)", "b"))
m("people-advance-half", "descriptors step 16 bytes along K", rf"(k |K ).*{MMA}",
  ("const uint32_t along = kMmaKBytes * uint32_t(k);\n        isa.tcgen05_mma(", "const uint32_t along = kMmaKBytes / 2 * uint32_t(k);\n        isa.tcgen05_mma("))
m("people-half-of-k-tile", "half of a tile's MMAs", rf"(k |K ).*{MMA}",
  ("k < mmas_per_k_tile(cfg_)", "k < mmas_per_k_tile(cfg_) / 2"))
m("people-never-overwrite", "a tile's first MMA adds to what lies there", rf"TC13|{MMA}",
  ("bool accumulate = !first_of_tile;", "bool accumulate = true;"))
m("people-overwrite-each-stage", "each stage's first MMA overwrites the sum", rf"(k |K |overwr).*{MMA}",
  ("bool accumulate = !first_of_tile;", "bool accumulate = false;"))
m("people-first-of-k-0", "a split's first MMA is taken to be that of k tile 0", rf"TC13|{MMA}",
  ("k == tile.k_begin", "k == 0"))
m("people-half-n", "the instruction descriptor has half of N", rf"TC13|column.*{MMA}|{MMA}.*column|B rows",
  ("cfg_.mma_m, cfg_.mma_n);", "cfg_.mma_m, cfg_.mma_n / 2);"))
m("people-a-type", "A and B change places", rf"(A|B) .*{MMA}|TC",
  ("advance(a, along), advance(b, along)", "advance(b, along), advance(a, along)"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/cluster_share.h")
m("people-share-of-row", "a CTA's slice of A by its place along M", rf"A rows|{LOAD}|TC3|TC7|TM5|TM2",
  ("return {place.y, a_sharers(c)", "return {place.x % a_sharers(c), a_sharers(c)"))
m("people-descriptor-half", "slices of B by the place along N", rf"B rows|{LOAD}|TC3|TC7|TM5|TM2",
  ("return {place.x / c.cta_group, b_sharers(c)", "return {place.x % b_sharers(c), b_sharers(c)"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/epilogue/tile_writer.h")
m("people-store-no-half", "both halves of a tile stored in the left one's columns", r"(column|stored).*tile_writer",
  ("tile.column + half * accumulator_columns(cfg) + i * strip_columns(cfg);\n  const SmemAddr part", "tile.column + i * strip_columns(cfg);\n  const SmemAddr part"))
m("people-lower-over-upper", "the lower fragment goes to the upper one's rows", r"(row|strip).*(tile_writer|smem_writer)|(tile_writer|smem_writer).*(row|strip)|SM4.*strip|SM4.*tile_writer",
  ("part.strip_row + row, registers", "part.strip_row, registers"))
m("people-block-step", "blocks of a transposed strip stored too close", r"(row|column|stored).*tile_writer",
  ("tile.row + block * block_columns(cfg)", "tile.row + block * strip_columns(cfg)"))
m("people-strip-of-next", "strips stored one to the right", r"(column|stored).*tile_writer|GM4.*column",
  ("+ i * strip_columns(cfg);\n  const SmemAddr part", "+ (i + 1) * strip_columns(cfg);\n  const SmemAddr part"))
m("people-functor-row", "the functor gets the row of the strip", r"functor|epilogue.*(tile_writer|functor|store)|TC|residual",
  ("tile.row + part.row, column + part.half", "tile.row, column + part.half"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/epilogue/strip_source.h")
m("people-strip-columns-half", "strips of tensor memory half as far apart", r"column.*(strip_source|tile_writer|epilogue)",
  ("uint32_t(i * 8 * R)), warp, lower, loc)", "uint32_t(i * 4 * R)), warp, lower, loc)"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/epilogue/tmem_reader.h")
m("people-lower-is-upper", "the lower fragment is loaded from the upper one's lanes", r"(row|lane).*(strip_source|tmem_reader|tile_writer)|(strip_source|tmem_reader|tile_writer).*(row|lane)",
  ("(base.plus_lanes(16), loc)", "(base, loc)"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/epilogue/smem_writer.h")
m("people-matrix-order", "stmatrix's second and third matrix change places", r"(strip|row|column).*(smem_writer|tile_writer|strip)",
  ("strip.at(first_row + lane % 16, column + 8 * (lane / 16))", "strip.at(first_row + lane / 16 * 8 + lane % 8, column + 8 * (lane / 8 % 2))"))
m("people-pair-order", "the two elements of a word change places", r"(strip|column).*(smem_writer|tile_writer|strip)",
  ("f[lane][4 * r + 2 * i], f[lane][4 * r + 2 * i + 1]", "f[lane][4 * r + 2 * i + 1], f[lane][4 * r + 2 * i]"))
m("people-strip-unswizzled", "strips written without their swizzle", r"(strip|swizzle|column).*(smem_writer|tile_writer|strip)",
  ("return {swizzle_address(strip_swizzle(cfg), base.value + offset)};", "return {base.value + offset};"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/split_reduction.h")
m("people-partials-step", "the lower fragment's partial sums 8 rows further", r"(partial|workspace|split_reduction)",
  ("uint64_t(16 * cfg.mma_n) * 4", "uint64_t(8 * cfg.mma_n) * 4"))
m("people-partials-half-row", "a pair's second row of partial sums over the first", r"(partial|workspace|split_reduction)",
  ("const int row = lane / 4 + 8 * half, column", "const int row = lane / 4, column"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/scheduler/tile_grid.h")
m("people-splits-overlap", "splits begin a k tile early", r"(k |K ).*(twice|load_warp|mma_warp)|hang",
  ("int(ctaid.z) * k_tiles_per_split, left", "int(ctaid.z) * (k_tiles_per_split - (ctaid.z > 0 ? 1 : 0)), left"))
m("people-rank-along-n", "the CTAs of a cluster numbered along N", r"tile|rows|written",
  ("{first.x + rank % uint32_t(cluster_m), first.y + rank / uint32_t(cluster_m), first.z}",
   "{first.x + rank / uint32_t(cluster_n), first.y + rank % uint32_t(cluster_n), first.z}"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/scheduler/static_scheduler.h")
m("people-rows-by-columns", "tiles unrolled by the number of columns", r"tile|written|twice|GM4",
  ("div_u32(cluster, grid.x), z", "div_u32(cluster, grid.y), z"))
m("people-last-wave", "the last tile is left out", r"written|GM4",
  ("cluster < grid.x * grid.y * grid.z", "cluster + 1 < grid.x * grid.y * grid.z"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/direct/direct_steps.h")
m("direct-b-without-rank", "both CTAs of a pair load the left half of B", r"B rows .*direct_steps\.h",
  (" + int(rank_) * direct_b_rows(cfg_), k,", ", k,"))
m("direct-a-row-of-pair", "A's rows counted in tiles of the pair", r"A rows .*direct_steps\.h",
  ("&params_.a, tile_.m * kDirectBlockM, k, barrier", "&params_.a, tile_.m * kDirectBlockM * cfg_.cta_group, k, barrier"))
m("direct-b-block-m", "B's rows counted in blocks of A's", r"B rows .*direct_steps\.h",
  ("&params_.b, tile_.n * cfg_.block_n", "&params_.b, tile_.n * kDirectBlockM"))
m("direct-k-half", "k steps half as far apart", r"(k |K ).*direct_steps\.h",
  ("issue_copies(stage, k * cfg_.block_k)", "issue_copies(stage, k * cfg_.block_k / 2)"))
m("direct-last-mma", "the last MMA of a step is left out", r"(k |K ).*direct_steps\.h",
  ("i < cfg_.block_k / kDirectMmaK; ++i", "i < cfg_.block_k / kDirectMmaK - 1; ++i"))
m("direct-first-of-step", "each step's first MMA overwrites the sum", r"(k |K |overwr).*direct_steps\.h",
  ("!first || i > 0", "i > 0"))
m("direct-columns-early", "the epilogue ends 8 columns early", r"(column|written|GM4).*",
  ("i < cfg_.block_n; i += kColumns", "i < cfg_.block_n - kColumns; i += kColumns"))
m("direct-column-0", "every step of the epilogue loads the same columns", r"column.*direct_steps\.h",
  ("rows.plus_columns(uint32_t(i))", "rows.plus_columns(0)"))
m("direct-row-pitch", "rows of C as far apart as the tile is wide", r"(row|stored|written).*direct_steps\.h|GM4|GM5",
  ("uint32_t(params_.n) * 2, c.at", "uint32_t(cfg_.block_n) * 2, c.at"))
m("direct-pair-order", "the two elements of a word change places", r"column.*direct_steps\.h",
  ("as_float(sums[lane][2 * j + 1]), as_float(sums[lane][2 * j])", "as_float(sums[lane][2 * j]), as_float(sums[lane][2 * j + 1])"))
m("direct-first-row", "warps' rows 16 apart", r"(row|stored|written).*direct_steps\.h|GM4",
  ("first_row = tile_.m * kDirectBlockM + 32 * quarter;", "first_row = tile_.m * kDirectBlockM + 16 * quarter;"))

of("kernels/direct/config.h")
m("direct-tile-of-cta", "a pair's CTAs take different columns", r"tile|rows|column|written|same global memory",
  ("group - stripe * tiles_n}", "cta % tiles_n}"))
of("kernels/direct/operand_slabs.h")
m("direct-slab-step", "slabs of a tile are all its first columns", r"(k |K ).*(operand_slabs|direct_steps)",
  ("TensorCoords{k + i * columns, row}", "TensorCoords{k, row}"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/fallback/fallback_kernel.h")
m("fallback-column-block-m", "columns counted in blocks of rows", r"B rows|column|written|GM4|GM5|tile",
  ("column = tile_n * cfg.block_n;", "column = tile_n * cfg.block_m;"))
m("fallback-b-row", "B is loaded at A's row", r"B rows .*fallback_kernel\.h",
  ("TensorCoords{k, column}, smem.tma", "TensorCoords{k, row}, smem.tma"))
m("fallback-k-floor", "the last, ragged k step is left out", r"(k |K ).*",
  ("ceil_div(params.k, kFallbackBlockK)", "(params.k / kFallbackBlockK)"))
m("fallback-k-step-of-mma", "k steps as far apart as an MMA's", r"(k |K ).*fallback_kernel\.h",
  ("const int k = step * kFallbackBlockK;", "const int k = step * kFallbackMmaK;"))
m("fallback-rows-of-m64", "rows of warps as for 64 rows", r"(row|stored|written).*(fallback_kernel|global_writer)|GM4",
  ("warp * (lower ? 32 : 16);", "warp * 16;"))
of("kernels/epilogue/global_writer.h")
m("fallback-last-column", "the last column is guarded away", r"written|GM4|column",
  ("row < rows && column < columns", "row < rows && column < columns - 1"))
m("fallback-pair-row", "rows and columns of a fragment's pairs mixed up", r"(row|column).*(global_writer|fallback_kernel)",
  ("row(first_row + lane / 4 + 8 * (p % 2))", "row(first_row + lane / 4 + 8 * (p / 2 % 2))"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/copy/load_warp.h")
m("copy-row-without-rank", "every CTA loads the first slice's rows", r"(row|copied|source).*load_warp\.h",
  ("row + rank * slice.shape.rows", "row"))
m("copy-column-of-tile", "all tiles of a row load the first one's columns", r"(column|copied|source).*load_warp\.h",
  ("const int column = tile.n * cfg.tile_n, row", "const int column = 0, row"))
of("kernels/copy/consumer_warp.h")
m("copy-strip-of-group", "all strips of a k group stored over the first", r"(column|stored|written).*|GM4",
  ("tile.n * cfg.tile_n + strip_index * copy_block_k(cfg)", "tile.n * cfg.tile_n + k * copy_block_k(cfg)"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/block_scaled/scaled_loader.h")
m("scaled-sfa-of-0", "SFA of the first rows for all tiles", r"(scale|SFA).*scaled_loader\.h",
  ("const int sfa_group = tile.m * block_m(cfg_) / kScaleAtomRows;", "const int sfa_group = 0;"))
m("scaled-sfb-by-tile", "SFB counted in tiles", r"(scale|SFB).*(scaled_loader|sfb)",
  ("const int sfb_group = tile.n * cfg_.mma_n / kScaleAtomRows;", "const int sfb_group = tile.n;"))
m("scaled-atom-by-tile", "scale atoms along K counted in k tiles", r"(scale|SFA|SFB).*scaled_loader\.h",
  ("k_tile * scale_atoms_per_k_tile(cfg_);", "k_tile;"))
of("kernels/block_scaled/scaled_mmas.h")
m("scaled-id-0", "every MMA takes the first scales of a cell", r"(scale|SFA|SFB).*scaled_mmas\.h",
  ("descriptor(uint32_t(byte_of_cell))", "descriptor(0)"))
m("scaled-sfb-of-sfa", "SFB's columns are SFA's", r"(scale|SFB).*scaled_mmas\.h",
  ("tile_sfb.plus_columns(sfb_slot(cfg_).column(0, atom)), accumulate", "sfa.plus_columns(sfb_slot(cfg_).column(0, atom)), accumulate"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/grouped_1d1d/moe_loader.h")
m("moe-weights-of-0", "every group multiplies the first expert's weights", r"B .*rows? .*moe_loader\.h",
  ("const int weight = tile.group.expert * params_.n,", "const int weight = 0,"))
m("moe-tokens-of-0", "every group multiplies the first group's tokens", r"A .*rows? .*moe_loader\.h",
  ("const int token = tile.group.first_row,", "const int token = 0,"))
m("moe-scale-rounding", "experts' scales counted in whole atoms", r"(scale|SFB).*moe_loader\.h",
  ("tile.group.expert * ceil_div(params_.n, kScaleAtomRows);", "tile.group.expert * (params_.n / kScaleAtomRows);"))
of("kernels/grouped_1d1d/token_rows_of_tile.h")
m("moe-end-of-tile", "tiles are stored beyond their group's end", r"(row|stored|twice|written).*|GM5",
  ("if (!cfg.whole_tiles) t.end = end_of_rows(isa, cfg, params, tile, first, rows);", ""))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/grouped_1d2d/token_loader.h")
m("moefp8-weights-next", "weights of the next expert", r"B .*rows? .*token_loader\.h",
  ("tile.group.expert * params_.n + tile.n", "(tile.group.expert + 1) * params_.n + tile.n"))
of("kernels/blockwise/blockwise_loader.h")
m("blockwise-scales-of-0", "scales of the first rows for all tiles", r"scale.*",
  ("TensorCoords{tile.m * block_m(cfg_), k_block_of(cfg_, k_tile)}", "TensorCoords{0, k_block_of(cfg_, k_tile)}"))
of("kernels/grouped_block_scaled/grouped_loader.h")
m("maps-rows-of-a", "all maps have A's rows", r"(B rows|row|map|TM).*",
  ("const int rows = i % 2 == 0 ? problem.m : problem.n;", "const int rows = problem.m;"))
of("kernels/grouped_block_scaled/group_scheduler.h")
m("maps-along-n", "a group's tiles unrolled by their number along N", r"(tile|row|twice|written).*|GM4",
  ("(local - n * tiles_.along_m) * cfg.cta_group + half", "(local - n * tiles_.along_n) * cfg.cta_group + half"))

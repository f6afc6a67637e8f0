// SPDX-License-Identifier: Apache-2.0
/// Device profile: every number of the model, read from models/profiles/*.toml, where each has its source.
///
/// Units are in the names: cycles are SM cycles, ns are wall time of clock domains outside the SM (L2, HBM,
/// launch), converted once with sm_clock_ghz.  `visit` lists every entry; the loader accepts exactly these
/// keys.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace sm100::models {

using Cycles = uint64_t;

struct DeviceProfile {
  std::string name;
  bool has_tensor_core = true;  ///< tcgen05, tensor memory and CLC: sections umma, tmem, clc
  bool has_wgmma = false;       ///< section wgmma

  struct {
    int compute_capability;  ///< 100: 10.0
    int sms, gpc_sms, smem_bytes_per_cta_max;
    // What an SM holds at once (models/occupancy.h); units are what is handed out at a time.
    int smem_bytes_per_sm, smem_reserved_per_cta, smem_unit, ctas_per_sm, warps_per_sm, threads_per_sm,
        registers_per_sm, register_unit, named_barriers_per_sm;
    double sm_clock_ghz;
  } device{};
  /// Cycles an instruction keeps its warp busy.
  struct {
    double control;         ///< scalar instructions from one trace point to the next: loops, branches, addresses
    double control_inline;  ///< the same in straight-line code: a predicate, an address
    double alu, warp_sync, elect, mbarrier_init, mbarrier_arrive, mbarrier_try_wait, mapa, bulk_tensor, bulk_group,
        tcgen05_mma, tcgen05_commit, tcgen05_alloc, tcgen05_fence, tcgen05_ld, ld_shared, st_shared, stmatrix,
        bar_sync, fence, clc_try_cancel, setmaxnreg, integer, special_function, division, wide_division, branch;
  } issue{};
  struct {
    int wakeup_cycles;
  } mbarrier{}, bar{};
  struct {
    double limit_ns;  ///< a suspended mbarrier.try_wait returns false
  } try_wait{};
  struct {
    int grant_cycles;  ///< from a setmaxnreg.dec to the setmaxnreg.inc that has waited for it
  } registers{};
  /// What the device recorder's instructions cost at the begin and at the end of a span (run.recorder).
  struct {
    double begin, end;
    double store_cycles;         ///< of the warps' port of shared memory, for a store; a begin has two, an end one
    double store_part;           ///< of that port, which a store gets beside wgmma on top of what operands leave
    double beside_wgmma_cycles;  ///< that a store costs its warp while the SM multiplies
  } trace{};
  struct {
    int latency_cycles, smem_a_read_bytes_per_cycle, smem_read_bytes_per_cycle, columns_per_cycle, commit_cycles;
    double smem_fill_conflict;  ///< by which fills of shared memory prolong the operand reads
    double ss_floor_m64_cycles, ss_floor_m128_cycles;
    int ss_floor_max_n;
    // cta_group 2
    int pair_latency_m256_cycles, pair_latency_m128_cycles, pair_m128_ss_cycles, pair_m128_ss_columns_per_cycle;
    double pair_narrow_m256_cycles, pair_narrow_m128_cycles, pair_ts_floor_m128_cycles;
    int pair_narrow_max_n;
    // added to the latency of other kinds
    int i8_cycles, pair_i8_cycles, scaled_cycles, scaled_ss_cycles, scaled_ts_n256_cycles;
    int cp_bytes_per_cycle;  ///< tcgen05.cp, read from a CTA's shared memory
  } umma{};
  /// The warpgroup's matrix instruction of sm_90a.
  struct {
    int latency_cycles, smem_read_bytes_per_cycle, columns_per_cycle, register_floor_cycles;
    // issue of an instruction: max(issue_min, N / columns_per_issue - issue_less), of integers issue_min
    int fence_cycles, wait_cycles, issue_min_cycles, issue_less_cycles, columns_per_issue_cycle;
    // Of .sp: what its D comes later, with A in shared memory (N of 64 and more) and in registers, and its floor.
    int sparse_latency_cycles, sparse_register_cycles, sparse_floor_cycles;
    double least_left;  ///< of the port of shared memory, to warps beside operand reads that take all of it
  } wgmma{};
  /// mma.sync of a warp: cycles of its scheduler's tensor core, and until D is there.
  struct {
    double cycles, half_cycles, small_cycles;  ///< m16n8 with two registers of B, with one, m8n8
    int latency_cycles, half_latency_cycles, small_latency_cycles;
    double f64_cycles;     ///< of 16 x 8 x 4 products of f64, or fewer
    int f64_wait_cycles;   ///< by which D is there later
    double packed_cycles;  ///< of 4-bit integers, which are a routine
    double sparse_cycles;  ///< that a sparse one takes more
  } mma_sync{};
  struct {
    int bytes_per_cycle, ld_latency_cycles;
    double tma_port_share;  ///< of the bytes that TMA moves, the part that takes the warps' data port
  } smem{};
  /// A warp's st.global, on its way out of the SM (models/store_path.h): max(line, its sectors) for each line.
  struct {
    double line_cycles, sector_cycles;
    int room;                      ///< stores of warps on the way
    int handover_bytes_per_cycle;  ///< of a warp's registers
    double l2_share;               ///< of what a copy of so many requests takes of the paths to L2
    double request_cycles;  ///< of the way, in turns with a store's lines, for a request of the copy engine; 0: no
                            ///< part of it
  } global_store{};
  struct {
    int alloc_cycles, ld_latency_cycles, ld_columns_per_cycle;
  } tmem{};
  struct {
    double load_rows_per_cycle, store_sectors_per_cycle;
    double store_cycles_between;          ///< of stores between two rows of loads; 0: they do not hinder each other
    double load_latency_cycles_per_line;  ///< by which the first row of a box comes later, for each line of it
    double request_bytes_per_cycle;       ///< at which an SM's copies ask L2, one after the other
    int row_bytes, sector_bytes, load_latency_cycles, store_read_latency_cycles;
    int im2col_latency_cycles;  ///< by which an im2col load comes later than a tiled one
  } tma{};
  struct {
    double l2_hit_ns;  ///< in the half of the chip that asks
    double l2_far_ns;  ///< beyond that, of what comes from the other half
    /// Of all SMs together, and of a GPC's; writes also share with some of each byte read.
    double l2_tb_per_s, l2_read_tb_per_s, l2_write_tb_per_s, l2_gpc_tb_per_s, l2_gpc_write_tb_per_s,
        l2_write_share_of_reads;
    double l2_gpc_spread;      ///< of the times for which a GPC's boxes keep its path: 0: all alike, 1: exponential
    int l2_mib, l2_dirty_mib;  ///< that L2 holds, and of these that differ from HBM's
    double l2_early_share;     ///< of a half's lines, by which some leave it before their turn, in the mean
    /// Equal requests that wait together: of a GPC, or of a cluster only (0); how many become one; of an SM with
    /// more KiB on their way than merge_free_kib, so many of each KiB more are not merged.
    int merge_in_gpc, merge_most;
    double merge_free_kib, merge_lost_per_kib;
    double dram_extra_ns, dram_wait_ns, dram_tb_per_s;
    double dram_spread;  ///< of the times that a channel takes for a block: 0: all alike, 1: exponential
    /// What writing a line costs a channel that has read less than dram_turn_ns ago, in lines read.
    double dram_write_cost, dram_turn_ns;
    double translation_ns, store_visible_ns;
    int dram_channels, dram_interleave_bytes, dram_wait_lines, translation_mib, line_bytes;
  } memory{};
  struct {
    int remote_arrive_cycles, barrier_cycles;
  } cluster{};
  struct {
    double response_ns;
  } clc{};
  struct {
    double kernel_start_ns, cta_gap_ns, setup_ns;
    // between launches of one stream
    double grid_gap_ns, dependent_start_ns, dependency_wait_ns;
  } launch{};
  /// What work costs in energy, and what becomes of the SM clock (models/sm_clock.h).
  struct {
    double full_ghz;     ///< SM clock of a chip that does nothing: the highest it takes
    double limit_watts;  ///< of the chip, which it keeps by lowering the clock
    double idle_watts;   ///< with nothing running
    double sm_watts;     ///< of an SM whose warps wait, at the full clock
    double
        loss_per_kilowatt;  ///< of what the chip takes, the part that is lost on the way, for each kW that it takes
    double tensor_nj_per_cycle;  ///< of an SM's busy tensor pipe, at the full clock, with random operands
    double l2_pj_per_byte;       ///< that leaves L2 for shared memory
    double store_pj_per_byte;    ///< that SMs write to L2, on the way there
    double dram_pj_per_byte;
    double energy_exponent;  ///< energy of an operation of an SM: clock to this power
    // What the clock loses, as parts of the full one, without the limit: tensor_drop * duty of the tensor pipes ^
    // tensor_exponent; a launch on an idle chip, for what it would take beyond the limit, in limits.
    double tensor_drop, tensor_exponent, first_drop;
    double error;  ///< of the clock, either way: 0.05: 5 %
  } power{};
  /// Largest extra delays of `--jitter`: asynchronous completions, warps woken, an instruction issued (every so
  /// many-th), the start of a warp or a CTA.
  struct {
    int async_cycles, wakeup_cycles, issue_cycles, issue_one_in, start_cycles;
  } jitter{};

  /// Calls v("section.key", value) for every entry.
  template <class V>
  void visit(V&& v);

  Cycles cycles_of_ns(double ns) const { return Cycles(std::llround(ns * device.sm_clock_ghz)); }
  double bytes_per_cycle(double tb_per_s) const { return tb_per_s * 1e3 / device.sm_clock_ghz; }
};

template <class V>
void DeviceProfile::visit(V&& v) {
  v("device.compute_capability", device.compute_capability);
  v("device.sms", device.sms);
  v("device.gpc_sms", device.gpc_sms);
  v("device.smem_bytes_per_cta_max", device.smem_bytes_per_cta_max);
  v("device.smem_bytes_per_sm", device.smem_bytes_per_sm);
  v("device.smem_reserved_per_cta", device.smem_reserved_per_cta);
  v("device.smem_unit", device.smem_unit);
  v("device.ctas_per_sm", device.ctas_per_sm);
  v("device.warps_per_sm", device.warps_per_sm);
  v("device.threads_per_sm", device.threads_per_sm);
  v("device.registers_per_sm", device.registers_per_sm);
  v("device.register_unit", device.register_unit);
  v("device.named_barriers_per_sm", device.named_barriers_per_sm);
  v("device.sm_clock_ghz", device.sm_clock_ghz);
  v("issue.control", issue.control);
  v("issue.control_inline", issue.control_inline);
  v("issue.alu", issue.alu);
  v("issue.warp_sync", issue.warp_sync);
  v("issue.elect", issue.elect);
  v("issue.mbarrier_init", issue.mbarrier_init);
  v("issue.mbarrier_arrive", issue.mbarrier_arrive);
  v("issue.mbarrier_try_wait", issue.mbarrier_try_wait);
  v("issue.mapa", issue.mapa);
  v("issue.bulk_tensor", issue.bulk_tensor);
  v("issue.bulk_group", issue.bulk_group);
  v("issue.tcgen05_mma", issue.tcgen05_mma);
  v("issue.tcgen05_commit", issue.tcgen05_commit);
  v("issue.tcgen05_alloc", issue.tcgen05_alloc);
  v("issue.tcgen05_fence", issue.tcgen05_fence);
  v("issue.tcgen05_ld", issue.tcgen05_ld);
  v("issue.ld_shared", issue.ld_shared);
  v("issue.st_shared", issue.st_shared);
  v("issue.stmatrix", issue.stmatrix);
  v("issue.bar_sync", issue.bar_sync);
  v("issue.fence", issue.fence);
  v("issue.clc_try_cancel", issue.clc_try_cancel);
  v("issue.setmaxnreg", issue.setmaxnreg);
  v("issue.integer", issue.integer);
  v("issue.special_function", issue.special_function);
  v("issue.division", issue.division);
  v("issue.wide_division", issue.wide_division);
  v("issue.branch", issue.branch);
  v("mbarrier.wakeup_cycles", mbarrier.wakeup_cycles);
  v("bar.wakeup_cycles", bar.wakeup_cycles);
  v("try_wait.limit_ns", try_wait.limit_ns);
  v("registers.grant_cycles", registers.grant_cycles);
  v("trace.begin", trace.begin);
  v("trace.end", trace.end);
  v("trace.store_cycles", trace.store_cycles);
  v("trace.store_part", trace.store_part);
  v("trace.beside_wgmma_cycles", trace.beside_wgmma_cycles);
  v("umma.latency_cycles", umma.latency_cycles);
  v("umma.smem_a_read_bytes_per_cycle", umma.smem_a_read_bytes_per_cycle);
  v("umma.smem_read_bytes_per_cycle", umma.smem_read_bytes_per_cycle);
  v("umma.columns_per_cycle", umma.columns_per_cycle);
  v("umma.commit_cycles", umma.commit_cycles);
  v("umma.smem_fill_conflict", umma.smem_fill_conflict);
  v("umma.ss_floor_m64_cycles", umma.ss_floor_m64_cycles);
  v("umma.ss_floor_m128_cycles", umma.ss_floor_m128_cycles);
  v("umma.ss_floor_max_n", umma.ss_floor_max_n);
  v("umma.pair_latency_m256_cycles", umma.pair_latency_m256_cycles);
  v("umma.pair_latency_m128_cycles", umma.pair_latency_m128_cycles);
  v("umma.pair_m128_ss_cycles", umma.pair_m128_ss_cycles);
  v("umma.pair_m128_ss_columns_per_cycle", umma.pair_m128_ss_columns_per_cycle);
  v("umma.pair_narrow_m256_cycles", umma.pair_narrow_m256_cycles);
  v("umma.pair_narrow_m128_cycles", umma.pair_narrow_m128_cycles);
  v("umma.pair_ts_floor_m128_cycles", umma.pair_ts_floor_m128_cycles);
  v("umma.pair_narrow_max_n", umma.pair_narrow_max_n);
  v("umma.i8_cycles", umma.i8_cycles);
  v("umma.pair_i8_cycles", umma.pair_i8_cycles);
  v("umma.scaled_cycles", umma.scaled_cycles);
  v("umma.scaled_ss_cycles", umma.scaled_ss_cycles);
  v("umma.scaled_ts_n256_cycles", umma.scaled_ts_n256_cycles);
  v("umma.cp_bytes_per_cycle", umma.cp_bytes_per_cycle);
  v("mma_sync.cycles", mma_sync.cycles);
  v("mma_sync.half_cycles", mma_sync.half_cycles);
  v("mma_sync.small_cycles", mma_sync.small_cycles);
  v("mma_sync.latency_cycles", mma_sync.latency_cycles);
  v("mma_sync.half_latency_cycles", mma_sync.half_latency_cycles);
  v("mma_sync.small_latency_cycles", mma_sync.small_latency_cycles);
  v("mma_sync.f64_cycles", mma_sync.f64_cycles);
  v("mma_sync.f64_wait_cycles", mma_sync.f64_wait_cycles);
  v("mma_sync.packed_cycles", mma_sync.packed_cycles);
  v("mma_sync.sparse_cycles", mma_sync.sparse_cycles);
  v("wgmma.latency_cycles", wgmma.latency_cycles);
  v("wgmma.smem_read_bytes_per_cycle", wgmma.smem_read_bytes_per_cycle);
  v("wgmma.columns_per_cycle", wgmma.columns_per_cycle);
  v("wgmma.register_floor_cycles", wgmma.register_floor_cycles);
  v("wgmma.sparse_latency_cycles", wgmma.sparse_latency_cycles);
  v("wgmma.sparse_register_cycles", wgmma.sparse_register_cycles);
  v("wgmma.sparse_floor_cycles", wgmma.sparse_floor_cycles);
  v("wgmma.least_left", wgmma.least_left);
  v("wgmma.fence_cycles", wgmma.fence_cycles);
  v("wgmma.wait_cycles", wgmma.wait_cycles);
  v("wgmma.issue_min_cycles", wgmma.issue_min_cycles);
  v("wgmma.issue_less_cycles", wgmma.issue_less_cycles);
  v("wgmma.columns_per_issue_cycle", wgmma.columns_per_issue_cycle);
  v("smem.bytes_per_cycle", smem.bytes_per_cycle);
  v("smem.ld_latency_cycles", smem.ld_latency_cycles);
  v("smem.tma_port_share", smem.tma_port_share);
  v("global_store.line_cycles", global_store.line_cycles);
  v("global_store.sector_cycles", global_store.sector_cycles);
  v("global_store.room", global_store.room);
  v("global_store.handover_bytes_per_cycle", global_store.handover_bytes_per_cycle);
  v("global_store.l2_share", global_store.l2_share);
  v("global_store.request_cycles", global_store.request_cycles);
  v("tmem.alloc_cycles", tmem.alloc_cycles);
  v("tmem.ld_latency_cycles", tmem.ld_latency_cycles);
  v("tmem.ld_columns_per_cycle", tmem.ld_columns_per_cycle);
  v("tma.load_rows_per_cycle", tma.load_rows_per_cycle);
  v("tma.load_latency_cycles_per_line", tma.load_latency_cycles_per_line);
  v("tma.store_sectors_per_cycle", tma.store_sectors_per_cycle);
  v("tma.store_cycles_between", tma.store_cycles_between);
  v("tma.sector_bytes", tma.sector_bytes);
  v("tma.row_bytes", tma.row_bytes);
  v("tma.request_bytes_per_cycle", tma.request_bytes_per_cycle);
  v("tma.load_latency_cycles", tma.load_latency_cycles);
  v("tma.store_read_latency_cycles", tma.store_read_latency_cycles);
  v("tma.im2col_latency_cycles", tma.im2col_latency_cycles);
  v("memory.l2_hit_ns", memory.l2_hit_ns);
  v("memory.l2_far_ns", memory.l2_far_ns);
  v("memory.l2_tb_per_s", memory.l2_tb_per_s);
  v("memory.l2_read_tb_per_s", memory.l2_read_tb_per_s);
  v("memory.l2_write_tb_per_s", memory.l2_write_tb_per_s);
  v("memory.l2_gpc_tb_per_s", memory.l2_gpc_tb_per_s);
  v("memory.l2_gpc_write_tb_per_s", memory.l2_gpc_write_tb_per_s);
  v("memory.l2_write_share_of_reads", memory.l2_write_share_of_reads);
  v("memory.l2_gpc_spread", memory.l2_gpc_spread);
  v("memory.merge_in_gpc", memory.merge_in_gpc);
  v("memory.merge_most", memory.merge_most);
  v("memory.merge_free_kib", memory.merge_free_kib);
  v("memory.merge_lost_per_kib", memory.merge_lost_per_kib);
  v("memory.dram_extra_ns", memory.dram_extra_ns);
  v("memory.dram_wait_ns", memory.dram_wait_ns);
  v("memory.dram_tb_per_s", memory.dram_tb_per_s);
  v("memory.dram_spread", memory.dram_spread);
  v("memory.dram_write_cost", memory.dram_write_cost);
  v("memory.dram_turn_ns", memory.dram_turn_ns);
  v("memory.dram_channels", memory.dram_channels);
  v("memory.dram_interleave_bytes", memory.dram_interleave_bytes);
  v("memory.dram_wait_lines", memory.dram_wait_lines);
  v("memory.translation_mib", memory.translation_mib);
  v("memory.translation_ns", memory.translation_ns);
  v("memory.store_visible_ns", memory.store_visible_ns);
  v("memory.line_bytes", memory.line_bytes);
  v("memory.l2_mib", memory.l2_mib);
  v("memory.l2_dirty_mib", memory.l2_dirty_mib);
  v("memory.l2_early_share", memory.l2_early_share);
  v("cluster.remote_arrive_cycles", cluster.remote_arrive_cycles);
  v("cluster.barrier_cycles", cluster.barrier_cycles);
  v("clc.response_ns", clc.response_ns);
  v("launch.kernel_start_ns", launch.kernel_start_ns);
  v("launch.cta_gap_ns", launch.cta_gap_ns);
  v("launch.setup_ns", launch.setup_ns);
  v("launch.grid_gap_ns", launch.grid_gap_ns);
  v("launch.dependent_start_ns", launch.dependent_start_ns);
  v("launch.dependency_wait_ns", launch.dependency_wait_ns);
  v("power.full_ghz", power.full_ghz);
  v("power.limit_watts", power.limit_watts);
  v("power.idle_watts", power.idle_watts);
  v("power.sm_watts", power.sm_watts);
  v("power.loss_per_kilowatt", power.loss_per_kilowatt);
  v("power.tensor_nj_per_cycle", power.tensor_nj_per_cycle);
  v("power.l2_pj_per_byte", power.l2_pj_per_byte);
  v("power.store_pj_per_byte", power.store_pj_per_byte);
  v("power.dram_pj_per_byte", power.dram_pj_per_byte);
  v("power.energy_exponent", power.energy_exponent);
  v("power.tensor_drop", power.tensor_drop);
  v("power.tensor_exponent", power.tensor_exponent);
  v("power.first_drop", power.first_drop);
  v("power.error", power.error);
  v("jitter.async_cycles", jitter.async_cycles);
  v("jitter.wakeup_cycles", jitter.wakeup_cycles);
  v("jitter.issue_cycles", jitter.issue_cycles);
  v("jitter.issue_one_in", jitter.issue_one_in);
  v("jitter.start_cycles", jitter.start_cycles);
}

}  // namespace sm100::models

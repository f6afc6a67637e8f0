# SPDX-License-Identifier: Apache-2.0
"""The mutants: one synchronising call of the kernels removed or altered in each.

`edits` are (text, replacement) pairs; each text is in the file exactly once.  `expect` are regular expressions: a report
names the right thing when one of them matches its line, which reads "[id] message (at fault: role line)".  They name what
has been altered: the barrier or the buffer and who should have acted, or a check that means nothing else.
`equivalent`: why no program can notice.  `survives`: what is wrong with it and why nothing notices.
"""

import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Mutant(NamedTuple):
    id: str
    file: str
    edits: tuple
    what: str
    expect: tuple
    equivalent: str = ""
    survives: str = ""
    scenarios: tuple = ()  # its own, instead of its kernel's


def mutant_list():
    """A list, of(FILE) that says which file comes next, and m(...) that adds a mutant of it."""
    mutants: list[Mutant] = []
    current = ""

    def of(file):
        nonlocal current
        current = file

    def m(id, what, expect, *edits, equivalent="", survives=""):
        patterns = (expect,) if isinstance(expect, str) else expect
        mutants.append(Mutant(id, current, edits, what, patterns, equivalent, survives))

    return mutants, of, m


MUTANTS, of, m = mutant_list()
SCOPES = "happens-before takes every scope for the widest; a stated .cta across CTAs is a warning (SC1)"

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/pipeline/pipeline_state.h")
m("state-no-count", "cursor does not count its steps", "$^", ("    ++count;\n", ""),
  equivalent="the count only labels trace spans")
m("state-no-flip", "parity never flips", r"MB8|parity", ("      parity ^= 1;\n", ""))
m("state-no-wrap", "index never returns to 0", r"MB1\]|MB3\]|MB1[58]", ("      index = 0;\n", ""))
m("state-late-wrap", "index runs one beyond the last stage", r"MB1\]|MB1[58]|MB3",
  ("if (++index == stages)", "if (++index > stages)"))
m("state-early-wrap", "index never reaches the last stage", r"never been|MB8|skipped or repeated",
  ("if (++index == stages)", "if (++index >= (stages > 1 ? stages - 1 : 1))"))
m("state-consumer-parity-1", "consumers start at parity 1", r"MB8|parity|without having waited|TM5|TC7|CL6",
  ("consumer_start_state() { return {0, 0, 0}; }", "consumer_start_state() { return {0, 1, 0}; }"))
m("state-producer-parity-0", "producers start at parity 0", r"first lap must wait for parity 1",
  ("producer_start_state() { return {0, 1, 0}; }", "producer_start_state() { return {0, 0, 0}; }"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/pipeline/producer_consumer_pipeline.h")
m("wait-not-repeated", "try_wait once instead of until it succeeds", "try_wait",
  ("while (!isa.mbarrier_try_wait_parity(barrier, parity, scope, loc)) {}",
   "(void)isa.mbarrier_try_wait_parity(barrier, parity, scope, loc);"),
  survives="hardware's try_wait may time out; the simulator's returns when the phase has completed, never before")
m("wait-inverted", "all waits use the other parity", r"MB8|parity",
  ("isa.mbarrier_try_wait_parity(barrier, parity, scope, loc)",
   "isa.mbarrier_try_wait_parity(barrier, parity ^ 1, scope, loc)"))
m("wait-once-parity", "the wait for a barrier used once has parity 1", r"tmem_dealloc|TC9|TC1\]",
  ("mbarrier_wait(isa, barrier, 0, Scope::cta,", "mbarrier_wait(isa, barrier, 1, Scope::cta,"))
m("ring-full-no-stage", "full() ignores the stage", r"_full|MB\d",
  ("return barriers_.full + 8u * uint32_t(stage);", "return barriers_.full + 0u * uint32_t(stage);"))
m("ring-empty-no-stage", "empty() ignores the stage", r"_empty|MB\d|TM7",
  ("return barriers_.empty + 8u * uint32_t(stage);", "return barriers_.empty + 0u * uint32_t(stage);"))
m("acquire-waits-full", "producer_acquire waits on full", r"_full|MB8|TM7",
  ("mbarrier_wait(isa_, empty(stage), producer_.parity", "mbarrier_wait(isa_, full(stage), producer_.parity"))
m("consumer-waits-empty", "consumer_wait waits on empty", r"_empty|without having waited|TC7|TM5",
  ("mbarrier_wait(isa_, full(stage), consumer_.parity", "mbarrier_wait(isa_, empty(stage), consumer_.parity"))
m("acquire-consumer-parity", "producer_acquire uses the consumer's parity", r"parity|MB8",
  ("empty(stage), producer_.parity", "empty(stage), consumer_.parity"))
m("wait-producer-parity", "consumer_wait uses the producer's parity", r"parity|MB8|without having waited|TM5|TC7|CL6",
  ("full(stage), consumer_.parity", "full(stage), producer_.parity"))
m("acquire-no-wait", "producer_acquire does not wait", r"TM5|TM7|TC1[57]|CL6|MB5|EX1|MB8|empty",
  ("    mbarrier_wait(isa_, empty(stage), producer_.parity, wait_scope_,\n"
   "                  wait_args(empty(stage), stage, producer_.lap(stages_) - 1, what), loc);\n", "    (void)loc, (void)what;\n"))
m("consumer-no-wait", "consumer_wait does not wait", r"TM5|TC7|TC3|CL6|without having waited",
  ("    mbarrier_wait(isa_, full(stage), consumer_.parity, wait_scope_,\n"
   "                  wait_args(full(stage), stage, consumer_.lap(stages_), what), loc);\n", "    (void)loc, (void)what;\n"))
m("acquire-cta-scope", "producer_acquire at scope cta in a cluster", "scope",
  ("empty(stage), producer_.parity, wait_scope_", "empty(stage), producer_.parity, Scope::cta"),
  survives=SCOPES)
m("consumer-cta-scope", "consumer_wait at scope cta in a cluster", "scope",
  ("full(stage), consumer_.parity, wait_scope_", "full(stage), consumer_.parity, Scope::cta"),
  survives=SCOPES)
m("producer-no-step", "producer_step does nothing", r"MB8|MB5|TM5|TM7",
  ("    producer_.step(stages_);\n", ""))
m("consumer-no-step", "consumer_step does nothing", r"MB8|without having waited|TM5|TC7",
  ("    consumer_.step(stages_);\n", ""))
m("signal-no-acquire", "throttle: load signals without waiting for empty", r"throttle",
  ("const int stage = producer_acquire(loc);\n    isa_.mbarrier_arrive", "const int stage = producer_.index;\n    isa_.mbarrier_arrive"))
m("signal-no-arrive", "throttle: load does not arrive on full", r"throttle_full",
  ("    isa_.mbarrier_arrive(full(stage), Scope::cta, loc);\n", ""))
m("signal-arrive-empty", "throttle: load arrives on empty", r"throttle",
  ("isa_.mbarrier_arrive(full(stage), Scope::cta, loc);", "isa_.mbarrier_arrive(empty(stage), Scope::cta, loc);"))
m("signal-one-lane", "throttle: one lane of load arrives instead of 32", r"throttle_full",
  ("isa_.mbarrier_arrive(full(stage), Scope::cta, loc);",
   "isa_.elected([&] { isa_.mbarrier_arrive(full(stage), Scope::cta, loc); });"))
m("signal-twice", "throttle: load arrives twice", r"throttle_full|MB8",
  ("isa_.mbarrier_arrive(full(stage), Scope::cta, loc);",
   "isa_.mbarrier_arrive(full(stage), Scope::cta, loc), isa_.mbarrier_arrive(full(stage), Scope::cta, loc);"))
m("signal-no-step", "throttle: load does not step", r"throttle|MB8",
  ("full(stage), Scope::cta, loc);\n    producer_step(loc);", "full(stage), Scope::cta, loc);"))
m("throttle-no-wait", "throttle: scheduler does not wait for load", r"throttle",
  ("const int stage = consumer_wait(loc);\n    isa_.mbarrier_arrive", "const int stage = consumer_.index;\n    isa_.mbarrier_arrive"))
m("throttle-no-arrive", "throttle: scheduler does not release", r"throttle_empty",
  ("    isa_.mbarrier_arrive(empty(stage), Scope::cta, loc);\n", ""))
m("throttle-arrive-full", "throttle: scheduler arrives on full", r"throttle",
  ("isa_.mbarrier_arrive(empty(stage), Scope::cta, loc);", "isa_.mbarrier_arrive(full(stage), Scope::cta, loc);"))
m("throttle-one-lane", "throttle: one lane of the scheduler arrives instead of 32", r"throttle_empty",
  ("isa_.mbarrier_arrive(empty(stage), Scope::cta, loc);",
   "isa_.elected([&] { isa_.mbarrier_arrive(empty(stage), Scope::cta, loc); });"))
m("throttle-no-step", "throttle: scheduler does not step", r"throttle|MB8",
  ("empty(stage), Scope::cta, loc);\n    consumer_step(loc);", "empty(stage), Scope::cta, loc);"))
m("drain-nothing", "drain returns at once", r"MB12|EX1|EX2|MB10|exit",
  ("i < stages_; ++i", "i < 0; ++i"))
m("drain-one-less", "drain leaves out the last stage", r"MB12|EX1|EX2|MB10|exit",
  ("i < stages_; ++i", "i < stages_ - 1; ++i"))
m("drain-one-more", "drain waits one stage too far", r"drain|empty",
  ("i < stages_; ++i", "i <= stages_; ++i"))
m("drain-no-step", "drain waits for the same stage again and again", r"MB12|EX1|EX2|MB10|MB8|exit",
  ("      producer_acquire(loc);\n      producer_step(loc);\n", "      producer_acquire(loc);\n"))
m("drain-no-wait", "drain steps without waiting", r"MB12|EX1|EX2|MB10|exit",
  ("      producer_acquire(loc);\n      producer_step(loc);\n", "      producer_step(loc);\n"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/pipeline/barrier_array.h")
m("init-one-stage", "only stage 0 of each array is initialised", r"MB1\]",
  ("s < array.stages", "s < 1"))
m("init-twice", "every barrier is initialised twice", r"MB2\]",
  ("isa.mbarrier_init(array.base + 8u * uint32_t(s), array.count);",
   "isa.mbarrier_init(array.base + 8u * uint32_t(s), array.count), "
   "isa.mbarrier_init(array.base + 8u * uint32_t(s), array.count);"))
m("init-count-plus-1", "every barrier is initialised with one arrival too many", r"initialised for \d+ arrivals|MB17",
  ("uint32_t(s), array.count)", "uint32_t(s), array.count + 1)"))
m("init-count-1", "every barrier is initialised with count 1", r"initialised for \d+ arrivals|MB17|MB5",
  ("uint32_t(s), array.count)", "uint32_t(s), 1)"))
m("init-count-0", "every barrier is initialised with count 0", r"MB4\]",
  ("uint32_t(s), array.count)", "uint32_t(s), 0)"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/pipeline/input_ring.h")
ARM = "this->isa_.mbarrier_arrive_expect_tx(stage.full(), armed_bytes(), Scope::cta, loc);"
m("arm-plain-arrive", "the full barrier gets an arrival without bytes", r"expect_tx|TM5|TC7|input_full",
  (ARM, "this->isa_.mbarrier_arrive(stage.full(), Scope::cta, loc);"))
m("arm-more-bytes", "expect_tx counts 128 bytes too many", r"expect_tx counts", (ARM, ARM.replace("bytes(),", "bytes() + 128,")))
m("arm-fewer-bytes", "expect_tx counts 128 bytes too few", r"more than expect_tx|expect_tx|TM5|TC7|MB5",
  (ARM, ARM.replace("bytes(),", "bytes() - 128,")))
m("arm-half", "expect_tx counts one operand", r"more than expect_tx|expect_tx|TM5|TC7",
  (ARM, ARM.replace("bytes(),", "bytes() / 2,")))
m("arm-double", "expect_tx counts the bytes twice", r"expect_tx counts", (ARM, ARM.replace("bytes(),", "bytes() * 2,")))
m("arm-empty", "expect_tx on the empty barrier", r"MB15|input_empty|expect_tx",
  (ARM, ARM.replace("stage.full()", "stage.empty()")))
m("arm-next-stage", "expect_tx on the full barrier of the next stage", r"input_full|TM5|TC7|MB5\].*load_warp.h:62",
  (ARM, ARM.replace("stage.full()", "this->full((stage.index + 1) % this->stages())")))
m("arm-twice", "the stage is armed twice", r"MB5|expect_tx|input_full", (ARM, ARM + " " + ARM))
MC = "this->isa_.tcgen05_commit_multicast(sharing_.cta_group, stage.empty(), sharing_.loaders, loc);"
UC = "this->isa_.tcgen05_commit(sharing_.cta_group, stage.empty(), loc);"
m("release-not-multicast", "the stage is released in the own CTA alone", r"tcgen05.commit|input_empty|TM7",
  (MC, UC))
m("release-full-multicast", "multicast commit on full instead of empty", r"input_full|input_empty|MB15",
  (MC, MC.replace("stage.empty", "stage.full")))
m("release-full", "commit on full instead of empty", r"input_full|input_empty|MB15",
  ("      " + UC, "      " + UC.replace("stage.empty", "stage.full")))
m("release-none", "without a cluster the stage is not released", r"tcgen05.commit on input_empty",
  ("      " + UC, "      (void)stage;"))
m("release-none-multicast", "in a cluster the stage is not released", r"tcgen05.commit on input_empty",
  (MC, "(void)stage;"))
m("release-next-stage", "commit on the empty barrier of the next stage", r"input_empty|TM7",
  ("      " + UC, "      " + UC.replace("stage.empty()", "this->empty((stage.index + 1) % this->stages())")))
m("release-arrive", "an mbarrier.arrive instead of the commit", r"TM7|MB5|commit",
  ("      " + UC, "      this->isa_.mbarrier_arrive(stage.empty(), Scope::cta, loc);"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/pipeline/output_ring.h")
FB = "    this->isa_.tcgen05_fence_before_thread_sync();\n"
m("accum-acquire-no-fence", "MMA warp: no fence::after_thread_sync behind the wait for accum_empty", r"TC16",
  ("return after_wait(Base::producer_acquire(loc));", "return at(Base::producer_acquire(loc));"))
m("accum-wait-no-fence", "epilogue: no fence::after_thread_sync behind the wait for accum_full", r"TC16",
  ("return after_wait(Base::consumer_wait(loc));", "return at(Base::consumer_wait(loc));"))
m("accum-release-no-fence", "epilogue: no fence::before_thread_sync before the release", r"TC16", (FB, ""))
AM = "this->isa_.tcgen05_commit_multicast(2, this->full(stage.index), sharing_.group, loc);"
AC = "this->isa_.tcgen05_commit(1, this->full(stage.index), loc);"
m("accum-commit-own", "pairs: accum_full is signalled in the leader alone", r"accum_full", (AM, AC.replace("(1,", "(2,")))
m("accum-commit-none-pair", "pairs: accum_full is not signalled", r"accum_full", (AM, "(void)stage;"))
m("accum-commit-none", "accum_full is not signalled", r"accum_full", ("      " + AC, "      (void)stage;"))
m("accum-commit-empty", "commit on accum_empty", r"accum_empty|accum_full|MB15",
  ("      " + AC, "      " + AC.replace("this->full", "this->empty")))
m("accum-commit-arrive", "an mbarrier.arrive instead of the commit on accum_full", r"TC3|accum_full",
  ("      " + AC, "      this->isa_.mbarrier_arrive(this->full(stage.index), Scope::cta, loc);"))
m("accum-commit-next", "commit on the next accumulator's barrier", r"accum_full|TC3|TC17",
  ("      " + AC, "      " + AC.replace("this->full(stage.index)", "this->full((stage.index + 1) % this->stages())")))
AR = "this->isa_.mbarrier_arrive(own, Scope::cta, loc);"
AL = "this->isa_.mbarrier_arrive(ClusterSmemAddr{own.value & ~(1u << kClusterRankShift)}, Scope::unstated, loc);"
m("accum-release-none", "the epilogue does not release the accumulator", r"accum_empty", (AR, "(void)own;"))
m("accum-release-none-pair", "pairs: the epilogue does not release the accumulator", r"accum_empty", (AL, "(void)own;"))
m("accum-release-own", "pairs: each CTA releases its own accum_empty", r"accum_empty|MB16", (AL, AR))
m("accum-release-one-lane", "one lane of each epilogue warp releases", r"accum_empty",
  (AR, "this->isa_.elected([&] { " + AR + " });"))
m("accum-release-twice", "the accumulator is released twice", r"accum_empty|TC1[57]|MB8|TC3", ("      " + AR, "      " + AR + " " + AR))
m("accum-release-full", "the release arrives on accum_full", r"accum_full|MB15|accum_empty",
  ("= this->empty(stage.index);", "= this->full(stage.index);"))
m("accum-release-next", "the next accumulator is released", r"accum_empty|TC1[57]",
  ("= this->empty(stage.index);", "= this->empty((stage.index + 1) % this->stages());"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/load_warp.h")
m("load-no-acquire", "load does not wait for an empty stage", r"TM7|TM5|MB5|input_empty",
  ("ring.producer_acquire()", "ring.at(ring.producer_stage())"))
m("load-no-arm", "load does not arm the stage", r"expect_tx|input_full",
  ("if (loader.arms()) ring.arm(stage);", ""))
m("load-arm-every-cta", "pairs: both CTAs arm", r"input_full|expect_tx|MB5|MB16",
  ("if (loader.arms()) ring.arm", "ring.arm"))
m("load-arm-late", "the stage is armed behind its copies", "$^",
  ("        if (loader.arms()) ring.arm(stage);  // once, before its copies\n", ""),
  ("loader.load(isa, stage, tile, k);\n", "loader.load(isa, stage, tile, k);\n        if (loader.arms()) ring.arm(stage);\n"),
  equivalent="the phase cannot complete before the arrival that arms it, and the tx-count may be negative meanwhile")
m("load-arm-32", "all 32 lanes arm and copy", r"MB5|MB2|expect_tx|input_full|lanes|TC2",
  ("isa.elected([&] {", "isa.lanes_below(32, [&] {"))
m("load-no-step", "load stays at stage 0", r"MB8|TM7|TM5|input_full|input_empty",
  ("      ring.producer_step();\n", ""))
m("load-step-twice", "load skips every other stage", r"MB8|input_full|skipped or repeated",
  ("      ring.producer_step();\n", "      ring.producer_step(), ring.producer_step();\n"))
m("load-no-drain", "load exits without draining", r"EX1|MB12|MB10",
  ("  ring.producer_drain();  // commits", "  // commits"),
  survives="the epilogue of the last tile takes longer than any commit of the cluster is late, so none arrives after the "
           "exit; EX1 and MB12 see what happens, not what is unordered")
m("load-no-throttle", "load does not signal the throttle", r"throttle_full",
  ("    work.throttle_signal();  // lets", "    // lets"))
m("load-throttle-twice", "load signals the throttle twice per tile", r"throttle",
  ("    work.throttle_signal();  // lets", "    work.throttle_signal(); work.throttle_signal();  // lets"))
m("load-throttle-late", "load signals the throttle behind the tile's copies", r"throttle_full",
  ("    work.throttle_signal();  // lets", "    // lets"), ("    isa.bar_warp_sync();\n", "    isa.bar_warp_sync();\n    work.throttle_signal();\n"))
m("load-no-warp-sync", "no warp sync behind a tile", "$^", ("    isa.bar_warp_sync();\n", ""),
  equivalent="elected branches of the seam reconverge; it only keeps lanes of a real warp together")
m("load-no-pdl-wait", "load does not wait for the kernel ahead", r"GD1", ("    isa.griddepcontrol_wait();", "    (void)0;"))
m("load-barrier-own", "pairs: copies signal the own CTA's barrier", r"input_full|MB16|expect_tx|MB10",
  ("= leader_address(cfg_, stage.full());", "= stage.full();"))
m("load-barrier-stage-0", "copies signal stage 0", r"input_full|expect_tx|TM5|TC7",
  ("leader_address(cfg_, stage.full())", "leader_address(cfg_, stage.barriers.full)"))
m("load-barrier-empty", "copies signal the empty barrier", r"input_empty|input_full|expect_tx|MB",
  ("leader_address(cfg_, stage.full())", "leader_address(cfg_, stage.empty())"))
m("load-no-multicast", "a slice is loaded for the own CTA alone", r"expect_tx|bytes|input_full",
  ("if (share.sharers > 1)", "if (share.sharers > 99)"))
m("load-a-mask-b", "A's slice goes to the CTAs that share B", r"expect_tx|bytes|input_full|TM5|mismatch",
  ("a_share(cfg_, place_), map_of(params_.a)", "(TileShare{a_share(cfg_, place_).index, a_share(cfg_, place_).sharers, b_mask(cfg_, place_)}), map_of(params_.a)"))
m("load-b-mask-a", "B's slice goes to the CTAs that share A", r"expect_tx|bytes|input_full|TM5|mismatch",
  ("b_share(cfg_, place_), map_of(params_.b)", "(TileShare{b_share(cfg_, place_).index, b_share(cfg_, place_).sharers, a_mask(cfg_, place_)}), map_of(params_.b)"))
m("load-a-mask-own", "A's slice comes back to its own CTA alone", r"expect_tx|bytes|input_full",
  ("a_share(cfg_, place_), map_of(params_.a)", "(TileShare{a_share(cfg_, place_).index, a_share(cfg_, place_).sharers, CtaMask{uint16_t(1u << place_.rank)}}), map_of(params_.a)"))
m("load-b-mask-own", "B's slice comes back to its own CTA alone", r"expect_tx|bytes|input_full",
  ("b_share(cfg_, place_), map_of(params_.b)", "(TileShare{b_share(cfg_, place_).index, b_share(cfg_, place_).sharers, CtaMask{uint16_t(1u << place_.rank)}}), map_of(params_.b)"))
m("load-group-of-one", "only the first k tile of a group is copied", r"expect_tx counts|bytes",
  ("for (int j = 0; j < cfg_.k_group_size; ++j) {", "for (int j = 0; j < 1; ++j) {"))
of("kernels/matmul/rings.h")
m("load-cta-scope", "the input ring waits at scope cta in a cluster", "scope",
  ("cluster_size(cfg) > 1 ? Scope::cluster : Scope::cta,", "Scope::cta,"),
  survives=SCOPES)
m("bytes-no-pair", "expect_tx counts one CTA of a pair", r"expect_tx|bytes|TC7|TM5",
  (".armed_ctas = cfg.cta_group,", ".armed_ctas = 1,"))

of("kernels/pipeline/input_ring.h")
m("bytes-no-group", "expect_tx counts one k tile of a group", r"expect_tx|bytes|TC7|TM5",
  ("return uint32_t(group) * (a.shape.bytes() + b.shape.bytes());", "return a.shape.bytes() + b.shape.bytes();"))
m("bytes-a-only", "expect_tx leaves out B", r"expect_tx|bytes|TC7|TM5",
  ("return uint32_t(group) * (a.shape.bytes() + b.shape.bytes());", "return uint32_t(group) * a.shape.bytes();"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/config.h")
m("accum-stride-half", "accumulators overlap", r"TC1[57]|TC3",
  ("return 512 / c.accum_stages;", "return 512 / c.accum_stages / 8;"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/cluster_share.h")
m("release-mask-row", "a leader releases its row alone", r"input_empty|TM7", ("uint16_t(row | column)", "uint16_t(row)"))
m("release-mask-column", "a leader releases its column alone", r"input_empty|TM7",
  ("uint16_t(row | column)", "uint16_t(column)"))
m("release-mask-one-column", "pairs: a leader releases one column of the pair's two", r"input_empty|TM7",
  ("if (c.cta_group == 2) column |=", "if (c.cta_group == 3) column |="))
m("release-mask-all", "a leader releases the whole cluster", r"input_empty|TM7|MB5|TM5",
  ("uint16_t(row | column)", "uint16_t((1u << c.cluster_m * c.cluster_n) - 1)"))
m("group-mask-own", "pairs: a commit for both CTAs reaches the leader alone", r"accum_full",
  ("own | 1u << (place.rank ^ 1) : own", "own : own"))
m("group-mask-peer", "pairs: a commit for both CTAs reaches the peer alone", r"accum_full",
  ("own | 1u << (place.rank ^ 1) : own", "1u << (place.rank ^ 1) : own"))
m("leader-own", "leader_address gives the own CTA's", r"input_full|MB16|expect_tx|MB10",
  ("SmemAddr{address.value & ~kPeerBit}", "address"))
m("leads-both", "both CTAs of a pair lead", r"input_full|accum", ("return half == 0;", "return true;"))
m("leads-odd", "the odd CTA leads", r"input_full|expect_tx", ("return half == 0;", "return half == 1;"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/mma_warp.h")
m("mma-no-alloc", "tensor memory is not allocated", r"TC1\]|TC9|SM\d|alloc",
  ("  isa.tcgen05_alloc(smem.tmem_address, kTmemColumns, cfg.cta_group);\n", ""))
m("mma-alloc-half", "half of tensor memory is allocated", r"TC1\]|TC9",
  ("isa.tcgen05_alloc(smem.tmem_address, kTmemColumns,", "isa.tcgen05_alloc(smem.tmem_address, kTmemColumns / 2,"))
m("mma-no-address-sync", "no warp sync behind the allocation", "$^", ("  isa.bar_warp_sync();\n", ""),
  equivalent="the address is written by the warp itself, and bar.arrive orders the warp's lanes")
m("mma-no-address-fence", "no fence::before_thread_sync behind the allocation", r"TC16",
  ("  isa.bar_warp_sync();\n  isa.tcgen05_fence_before_thread_sync();\n", "  isa.bar_warp_sync();\n"),
  equivalent="the columns reach other warps only behind a commit, which implies the fence")
m("mma-no-address-arrive", "MMA warp does not publish the address", r"named barrier 1",
  ("  isa.bar_arrive(kTmemAddressBarrier, tmem_address_threads(cfg));", ""))
m("mma-address-sync", "bar.sync instead of bar.arrive", "$^",
  ("isa.bar_arrive(kTmemAddressBarrier, tmem_address_threads(cfg));", "isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));"),
  equivalent="stricter: the MMA warp waits for the epilogue warps once")
m("mma-address-early", "the address is published before the allocation", r"SM3|TC1\]|MB|happens|tmem_address",
  ("  isa.tcgen05_alloc(smem.tmem_address, kTmemColumns, cfg.cta_group);\n",
   "  isa.bar_arrive(kTmemAddressBarrier, tmem_address_threads(cfg));\n"
   "  isa.tcgen05_alloc(smem.tmem_address, kTmemColumns, cfg.cta_group);\n"),
  ("  isa.bar_arrive(kTmemAddressBarrier, tmem_address_threads(cfg));  // does", "  // does"))
m("mma-address-count", "MMA warp counts 128 threads at the address barrier, the epilogue 160", r"NB2|named barrier 1",
  ("isa.bar_arrive(kTmemAddressBarrier, tmem_address_threads(cfg))", "isa.bar_arrive(kTmemAddressBarrier, epilogue_group().threads())"))
m("mma-address-id", "MMA warp arrives at another barrier", r"named barrier [12]|NB",
  ("isa.bar_arrive(kTmemAddressBarrier,", "isa.bar_arrive(kTmemAddressBarrier + 1,"))
m("mma-no-prefetch", "MMA warp fetches the next tile behind the work", "$^", ("if (cfg.mma_prefetch) work.prefetch();", ""),
  equivalent="mma_prefetch = false is a configuration of the kernel")
m("mma-prefetch-twice", "MMA warp fetches two responses per tile", r"CL9|CL4|clc",
  ("if (cfg.mma_prefetch) work.prefetch();", "if (cfg.mma_prefetch) work.prefetch(), work.prefetch();"))
m("mma-both-issue", "pairs: both CTAs issue the MMAs", r"TC|input_full|accum|MB",
  ("if (!place.leads() || is_written_without_mmas(cfg, tile)) continue;", ""))
m("mma-no-acquire", "MMA warp does not wait for an empty accumulator", r"TC1[57]|accum_empty",
  ("acquire_accumulator(isa, output, input, mma, tmem)", "output.at(output.producer_stage())"))
m("mma-no-wait", "MMA warp does not wait for a full stage", r"TC7|TM5|without having waited",
  ("input.consumer_wait()", "input.at(input.consumer_stage())"))
REL = "        input.consumer_release(stage);\n"
ISS = "        mma.issue(isa, stage, {tile, tmem, result.accumulator}, k == tile.k_begin);\n"
m("mma-no-release", "MMA warp does not release its stages", r"tcgen05.commit on input_empty", (REL, ""))
m("mma-release-first", "MMA warp releases a stage before its MMAs", r"TM7|TC12",
  (ISS + REL, REL + ISS))
m("mma-release-other-thread", "all lanes release", r"MB5|TC12|input_empty|TM7",
  (ISS + REL + "      });\n", ISS + "      });\n      isa.lanes_below(32, [&] {\n" + REL + "      });\n"))
m("mma-release-last-only", "MMA warp releases the last stage of a tile alone", r"tcgen05.commit on input_empty",
  (REL, "        if (k + cfg.k_group_size >= tile.k_end())\n  " + REL))
m("mma-all-lanes", "32 lanes issue MMAs and commit", r"TC12|MB5|input_empty|lanes",
  ("      isa.elected([&] {\n" + ISS, "      isa.lanes_below(32, [&] {\n" + ISS))
m("mma-no-input-step", "MMA warp stays at its stage", r"MB8|TM5|TC7", ("      input.consumer_step();\n", ""))
m("mma-input-step-twice", "MMA warp skips every other stage", r"MB8|skipped or repeated",
  ("      input.consumer_step();\n", "      input.consumer_step(), input.consumer_step();\n"))
COM = "isa.elected([&] { output.producer_commit(result); });"
m("mma-no-commit", "MMA warp does not signal accum_full", r"accum_full", (COM, ""))
m("mma-commit-32", "32 lanes commit to accum_full", r"TC12|TC3|MB5|accum_full|MB8",
  (COM, COM.replace("isa.elected([&]", "isa.lanes_below(32, [&]")))
m("mma-commit-early", "accum_full is signalled before the tile's MMAs", r"TC3|TC12|accum_full|TC17",
  ("      " + COM + "\n", ""),
  ("acquire_accumulator(isa, output, input, mma, tmem);\n", "acquire_accumulator(isa, output, input, mma, tmem);\n    " + COM + "\n"))
m("mma-commit-twice", "MMA warp commits twice to accum_full", r"accum_full|TC3|TC17|MB8|MB5|MB15",
  (COM, COM + "\n      " + COM))
m("mma-no-output-step", "MMA warp stays at its accumulator", r"accum|MB8", ("    output.producer_step();\n", ""))
m("mma-output-step-twice", "MMA warp skips an accumulator", r"accum|MB8",
  ("    output.producer_step();\n", "    output.producer_step(), output.producer_step();\n"))
m("mma-no-drain", "MMA warp does not drain accum_empty", r"MB12|MB10|EX1|exit|accum_empty",
  ("  if (place.leads()) output.producer_drain();", ""),
  equivalent="the wait for tmem_dealloc behind it: the same threads arrive there after their last release")
m("mma-drain-both", "pairs: the odd CTA drains too", "$^",
  ("  if (place.leads()) output.producer_drain();", "  output.producer_drain();"),
  equivalent="nothing has used the odd CTA's ring: a fresh barrier passes parity 1")
m("mma-no-dealloc-wait", "MMA warp frees tensor memory without waiting for the epilogue", r"TC1\]|TC9|MB12|tmem_dealloc|TC17",
  ("  mbarrier_wait_once(isa, smem.tmem_dealloc);\n", ""))
m("mma-no-dealloc-fence", "no fence::after_thread_sync before dealloc", r"TC16",
  ("  mbarrier_wait_once(isa, smem.tmem_dealloc);\n  isa.tcgen05_fence_after_thread_sync();\n",
   "  mbarrier_wait_once(isa, smem.tmem_dealloc);\n"))
m("mma-no-dealloc", "tensor memory is not freed", r"TC9|tcgen05.alloc",
  ("  isa.tcgen05_dealloc(tmem, kTmemColumns, cfg.cta_group);\n", ""))
m("mma-dealloc-half", "half of tensor memory is freed", r"TC9",
  ("isa.tcgen05_dealloc(tmem, kTmemColumns,", "isa.tcgen05_dealloc(tmem, kTmemColumns / 2,"))
m("mma-dealloc-twice", "tensor memory is freed twice", r"TC9|TC1\]",
  ("  isa.tcgen05_dealloc(tmem, kTmemColumns, cfg.cta_group);\n",
   "  isa.tcgen05_dealloc(tmem, kTmemColumns, cfg.cta_group);\n  isa.tcgen05_dealloc(tmem, kTmemColumns, cfg.cta_group);\n"))
m("mma-dealloc-group", "pairs: dealloc with cta_group 1", r"TC8|TC9",
  ("isa.tcgen05_dealloc(tmem, kTmemColumns, cfg.cta_group)", "isa.tcgen05_dealloc(tmem, kTmemColumns, 1)"))
of("kernels/matmul/rings.h")
m("mma-commit-group", "pairs: the stage's commit has cta_group 1", r"TC8",
  ("           .cta_group = cfg.cta_group,\n           .loaders", "           .cta_group = 1,\n           .loaders"))
of("kernels/matmul/mma_warp.h")
m("mma-no-relinquish", "the allocation permit is not given back", "$^",
  ("  isa.tcgen05_relinquish_alloc_permit(cfg.cta_group);\n", ""),
  equivalent="the permit goes with the CTA; this kernel allocates once")
m("mma-relinquish-early", "the permit is given back before the allocation", r"TC9",
  ("  isa.tcgen05_relinquish_alloc_permit(cfg.cta_group);\n", ""),
  ("  isa.tcgen05_alloc(smem", "  isa.tcgen05_relinquish_alloc_permit(cfg.cta_group);\n  isa.tcgen05_alloc(smem"))
m("mma-no-launch-dependents", "dependents are not launched early", "$^",
  ("  if (cfg.pdl) isa.griddepcontrol_launch_dependents();\n", ""),
  equivalent="the exit of the CTA counts as launch_dependents")
m("mma-launch-dependents-first", "dependents are launched at the start", "$^",
  ("  if (cfg.pdl) isa.griddepcontrol_launch_dependents();\n", ""),
  ("  isa.tcgen05_alloc(smem", "  if (cfg.pdl) isa.griddepcontrol_launch_dependents();\n  isa.tcgen05_alloc(smem"),
  equivalent="griddepcontrol.wait orders the data; this is a matter of pace")
m("mma-cta-scope", "the MMA warp's output ring waits at scope cta in a cluster", "scope",
  ("cluster_size(cfg) > 1 ? Scope::cluster : Scope::cta,", "Scope::cta,"),
  survives=SCOPES)

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/named_barriers.h")
m("address-count-less", "the address barrier counts 128 threads", r"NB\d|named barrier 1|SM3",
  ("kWarpLanes + epilogue_group().threads() + other", "epilogue_group().threads() + other"))
m("address-count-more", "the address barrier counts 192 threads", r"named barrier 1",
  ("kWarpLanes + epilogue_group().threads() + other", "64 + epilogue_group().threads() + other"))
m("address-id-0", "the address barrier is the epilogue's", r"NB\d|named barrier 0",
  ("kTmemAddressBarrier = 1;", "kTmemAddressBarrier = 0;"),
  equivalent="all four epilogue warps leave its only generation before one of them comes to the strips' barrier")
m("lock-barrier-0", "the lock's barrier has the strips' id", "$^", ("kReductionBarrier = 4;", "kReductionBarrier = 0;"),
  equivalent="the same four warps, never in both at once")
m("lock-barrier-1", "the lock's barrier has the address barrier's id", r"NB\d|named barrier 1", ("kReductionBarrier = 4;", "kReductionBarrier = 1;"),
  equivalent="the address barrier's only generation is over before an epilogue warp comes to the lock")

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/epilogue_warp.h")
m("epi-no-address-wait", "the epilogue does not wait for the address", r"SM3|named barrier 1|TC1\]|tmem_address|SM\d",
  ("  isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));\n", ""))
m("epi-address-arrive", "bar.arrive instead of bar.sync", r"SM3|named barrier 1|TC1\]",
  ("isa.bar_sync(kTmemAddressBarrier,", "isa.bar_arrive(kTmemAddressBarrier,"))
m("epi-address-count", "the epilogue counts 128 threads at the address barrier", r"NB2|named barrier 1|SM3",
  ("isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg))", "isa.bar_sync(kTmemAddressBarrier, epilogue_group().threads())"))
m("epi-address-id", "the epilogue waits at another barrier", r"named barrier [12]|NB",
  ("isa.bar_sync(kTmemAddressBarrier,", "isa.bar_sync(kTmemAddressBarrier + 1,"))
m("epi-no-address-fence", "no fence::after_thread_sync behind the address barrier", r"TC16",
  ("tmem_address_threads(cfg));\n  isa.tcgen05_fence_after_thread_sync();\n", "tmem_address_threads(cfg));\n"),
  equivalent="the wait for accum_full behind it has the same fence before the first load")
m("epi-no-wait", "the epilogue does not wait for a full accumulator", r"TC3|accum_full",
  ("ring.consumer_wait()", "ring.at(ring.consumer_stage())"))
m("epi-no-step", "the epilogue stays at its accumulator", r"accum_full|MB8|TC3|accum",
  ("    ring.consumer_step();\n", ""))
m("epi-step-twice", "the epilogue skips an accumulator", r"accum_full|MB8",
  ("    ring.consumer_step();\n", "    ring.consumer_step(), ring.consumer_step();\n"))
m("epi-no-dealloc-fence", "no fence::before_thread_sync before the dealloc arrival", r"TC16",
  ("  isa.tcgen05_fence_before_thread_sync();\n", ""),
  equivalent="the release of the last accumulator has the same fence, behind the last load")
m("epi-no-dealloc-arrive", "no arrival on the own tmem_dealloc", r"tmem_dealloc",
  ("  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);\n", ""))
m("epi-no-dealloc-peer", "pairs: no arrival on the peer's tmem_dealloc", r"tmem_dealloc",
  ("    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::unstated);\n", "    (void)0;\n"))
m("epi-dealloc-own-twice", "pairs: the peer's arrival goes to the own CTA", r"tmem_dealloc|TC1\]|TC9|TC17|MB12",
  ("isa.cluster_ctarank() ^ 1)", "isa.cluster_ctarank())"),
  equivalent="dealloc of a pair is collective: it waits for the peer's, which comes behind the peer's epilogue")
m("epi-dealloc-early", "the dealloc arrival comes before the work", r"tmem_dealloc|TC1\]|TC9|TC17",
  ("  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);\n", ""),
  ("  for (auto work =", "  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);\n  for (auto work ="))
m("epi-dealloc-one-lane", "one lane of each warp arrives on tmem_dealloc", r"tmem_dealloc",
  ("  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);\n",
   "  isa.elected([&] { isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta); });\n"))
m("epi-cta-scope", "pairs: the epilogue's ring waits at scope cta", "scope",
  ("cfg.cta_group == 2 ? Scope::cluster : Scope::cta)", "Scope::cta)"),
  survives=SCOPES)

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/scheduler_warp.h")
m("sched-no-request", "the scheduler never asks", r"clc_full|throttle", ("    work.signal_and_request();\n", ""))
m("sched-request-twice", "the scheduler asks twice per tile", r"throttle|clc|CL\d",
  ("    work.signal_and_request();\n", "    work.signal_and_request(), work.signal_and_request();\n"))
m("sched-no-drain", "the scheduler does not drain", r"MB12|MB10|EX|clc_empty",
  ("  work.drain();  // the", "  // the"))
m("sched-no-pdl-wait", "the scheduler does not wait for the kernel ahead", "$^",
  ("  if (cfg.pdl) isa.griddepcontrol_wait();", ""),
  equivalent="only who gets which tiles when: nothing of the kernel ahead is touched")

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/pipeline/set_up.h")
m("kernel-no-init", "barriers are not initialised", r"MB1\]", ("      init_barriers(isa, cfg, smem);\n", ""))
m("kernel-init-32", "32 lanes initialise the barriers", r"MB2\]", ("    isa.elected([&] {", "    isa.lanes_below(32, [&] {"))
m("kernel-init-all-warps", "every warp initialises the barriers", r"MB2\]",
  ("  if (isa.warpid() == 0) {", "  if (isa.warpid() >= 0) {"))
m("kernel-no-init-fence", "no fence.mbarrier_init", r"MB14", ("  isa.fence_mbarrier_init();\n", ""))
CA, CW, MEET = "  isa.barrier_cluster_arrive(loc);\n", "  isa.barrier_cluster_wait(loc);\n", "  meet_cluster(isa, loc);\n"
m("kernel-no-cluster-barrier", "no barrier behind the set-up", r"MB14|MB1\]", (MEET, ""))
m("kernel-no-cluster-arrive", "no cluster arrive", r"CB2", (CA + CW, CW))
m("kernel-no-cluster-wait", "no cluster wait", r"MB14|MB1\]|CB1", (CA + CW, CA))
m("kernel-cluster-arrive-twice", "two cluster arrives", r"CB1", (CA + CW, CA + CA + CW))
m("kernel-cluster-barrier-first", "the barrier comes before the set-up", r"MB14|MB1\]",
  (MEET, ""), ("  if (isa.warpid() == 0) {", MEET + "  if (isa.warpid() == 0) {"))
m("kernel-fence-behind", "fence.mbarrier_init behind the arrive", r"MB14",
  ("  isa.fence_mbarrier_init();\n", ""), (CA + CW, CA + "  isa.fence_mbarrier_init();\n" + CW))
m("kernel-cta-barrier", "a CTA's barrier instead of the cluster's", r"MB14|MB1\]",
  (MEET, "  isa.bar_sync(0, 32 * kMatmulWarps);\n"))

of("kernels/matmul/matmul_kernel.h")
m("kernel-every-scheduler", "every CTA of a cluster runs a scheduler warp", r"throttle|clc|CL\d",
  ("warp == kSchedulerWarp && own_place(isa, cfg).first()", "warp == kSchedulerWarp"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/shared_storage.h")
COUNTS = [  # array, count as written, altered, what
    ("input_full", "1", "2", "2 instead of 1"),
    ("input_empty", "commits + arrivals", "commits + arrivals + 1",
     "the leader itself counted twice"),
    ("input_empty", "commits + arrivals", "uint32_t(c.cluster_m + c.cluster_n - 1) + arrivals",
     "both CTAs of a pair counted"),
    ("input_empty", "commits + arrivals", "1u + arrivals", "1, in a cluster too"),
    ("accum_full", "1", "2", "2 instead of 1"),
    ("accum_empty", "group * epilogue", "epilogue", "one CTA of a pair"),
    ("accum_empty", "group * epilogue", "group * 4", "warps instead of threads"),
    ("accum_empty", "group * epilogue", "group * epilogue + 32", "one warp too many"),
    ("clc_full", "1", "2", "2 instead of 1"),
    ("clc_empty", "32 + ctas * (32 + 32 + epilogue + other_tile_readers(c))", "32 + (32 + 32 + epilogue + other_tile_readers(c))", "one CTA of the cluster"),
    ("clc_empty", "32 + ctas * (32 + 32 + epilogue + other_tile_readers(c))", "ctas * (32 + 32 + epilogue + other_tile_readers(c))", "without the scheduler"),
    ("clc_empty", "32 + ctas * (32 + 32 + epilogue + other_tile_readers(c))", "32 + ctas * (32 + 32)", "without the epilogue"),
    ("clc_empty", "32 + ctas * (32 + 32 + epilogue + other_tile_readers(c))", "ctas * (32 + 32 + 32 + epilogue + other_tile_readers(c)) + 32", "a scheduler in each CTA too many"),
    ("throttle_full", "32", "1", "1 instead of 32"),
    ("throttle_full", "32", "64", "64 instead of 32"),
    ("throttle_empty", "32", "1", "1 instead of 32"),
    ("throttle_empty", "32", "64", "64 instead of 32"),
    ("tmem_dealloc", "group * epilogue", "epilogue", "one CTA of a pair"),
    ("tmem_dealloc", "group * epilogue", "group * epilogue - 32", "without one warp"),
    ("tmem_dealloc", "group * epilogue", "group * epilogue + 32", "one warp too many"),
]
COUNT_REPORTS = {  # what a wrong count shows as, where the report's line does not have the barrier's name
    "input_empty": (r"TM7", r"arrivals: tcgen05.commit of mma \(at load_warp"),
    "accum_empty": (r"TC1[57]",),
    "clc_empty": (r"CL6", r"arrivals: mbarrier.arrive of scheduler, load, mma, epilogue"),
    "tmem_dealloc": (r"TC9", r"arrivals: mbarrier.arrive of epilogue \(at mma_warp"),
}


def declaration(array, file="kernels/matmul/shared_storage.h"):
    """The text from an array's name in its declaration to the declaration's end."""
    text = (ROOT / file).read_text()
    return re.search(r'\{\.name = "%s",.*?\}\);' % array, text, re.S).group()


def altered(array, key, old, new, file="kernels/matmul/shared_storage.h"):
    row = declaration(array, file)
    assert row.count(f".{key} = {old},") == 1, (array, key, old)
    return row, row.replace(f".{key} = {old},", f".{key} = {new},")


for i, (array, old, new, what) in enumerate(COUNTS):
    n = 1 + sum(a == array for a, *_ in COUNTS[:i])
    m(f"count-{array}-{n}", f"count of {array}: {what}", (rf"{array}|MB17", *COUNT_REPORTS.get(array, ())),
      altered(array, "count", old, new))
for array, stages in (("input_full", "ring_stages(c)"), ("input_empty", "ring_stages(c)"), ("accum_full", "c.accum_stages"),
                      ("accum_empty", "c.accum_stages"), ("clc_full", "c.clc_stages"), ("clc_empty", "c.clc_stages"),
                      ("throttle_full", "c.clc_stages"), ("throttle_empty", "c.clc_stages")):
    m(f"short-{array.replace('_', '-')}", f"{array} is declared one stage short", r"MB1\]|MB2\]|MB1[58]",
      altered(array, "stages", stages, f"{stages} - ({stages} > 0)"))
m("response-overlap", "the responses have no room: they lie on tmem_dealloc", r"MB2\]|CL\d",
  ("layout.bytes(s.scheduler.response, kClcResponseBytes * uint32_t(c.clc_stages), 16);", "layout.bytes(s.scheduler.response, 0, 16);"))
m("response-misaligned", "the responses are aligned to 8 bytes", r"CL1\]",
  ("layout.bytes(s.scheduler.response, kClcResponseBytes * uint32_t(c.clc_stages), 16);",
   "layout.bytes(s.scheduler.response, 8, 16), layout.bytes(s.scheduler.response, kClcResponseBytes * uint32_t(c.clc_stages), 8);"))
m("address-overlap", "the tensor-memory address lies on tmem_dealloc", r"MB2\]|MB1\]",
  ("layout.bytes(s.tmem_address, 4, 4);", "s.tmem_address = s.tmem_dealloc;"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/scheduler/clc_scheduler.h")
m("fetch-no-wait", "a response is read without waiting for it", r"CL6|CL9|CL3|clc_full|EX2|MB12",
  ("clc.consumer_wait(loc)", "clc.consumer_stage()"))
m("fetch-no-proxy-fence", "no proxy fence between read and release of a response", r"CL8",
  ("    isa_.fence_proxy_async_shared_cta();\n", ""))
REM = "    isa_.mbarrier_arrive(isa_.mapa(clc.empty(stage), 0), Scope::unstated, loc);\n"
m("fetch-no-release", "responses are not released", r"clc_empty", (REM, ""))
m("fetch-release-own", "a response is released in the own CTA", r"clc_empty|MB16",
  (REM, "    isa_.mbarrier_arrive(clc.empty(stage), Scope::cta, loc);\n"))
m("fetch-release-one-lane", "one lane releases a response", r"clc_empty", (REM, "    isa_.elected([&] {" + REM.strip() + "});\n"))
m("fetch-release-twice", "responses are released twice", r"clc_empty|CL6|MB5|MB8|CL9", (REM, REM + REM))
m("fetch-release-full", "the release arrives on clc_full", r"clc_full|MB15|clc_empty", (REM, REM.replace("empty", "full")))
LOAD = "    const ClcResponse answer = isa_.ld_shared_b128(response(stage), loc);\n"
m("fetch-release-first", "a response is released before it is read", r"CL6|CL8",
  (REM, ""), (LOAD, REM + LOAD))
m("fetch-no-step", "readers stay at response 0", r"clc|CL\d|MB8", ("    clc.consumer_step();\n", ""))
m("fetch-step-twice", "readers skip a response", r"clc|MB8|CL\d", ("    clc.consumer_step();\n", "    clc.consumer_step(), clc.consumer_step();\n"))
m("fetch-slot-0", "the response of slot 0 is read", r"CL\d|TM5|MB|clc",
  (LOAD, LOAD.replace("response(stage)", "response(0)")))
m("fetch-no-predicate", "the id is decoded without its predicate", r"CL3", ("Dim3 ctaid = valid ? isa_", "Dim3 ctaid = true ? isa_"))
m("request-no-acquire", "a slot is requested without waiting for its readers", r"CL6|MB5|clc",
  ("clc.producer_acquire(loc)", "clc.producer_stage()"))
ARMC = ("      isa_.mbarrier_arrive_expect_tx(isa_.mapa(clc.full(stage), isa_.laneid()), kClcResponseBytes, Scope::cluster,\n"
        "                                     loc);\n")
m("request-no-arm", "clc_full is not armed", r"expect_tx of scheduler", (ARMC, ""))
m("request-arm-own", "clc_full is armed in the first CTA alone", r"expect_tx of scheduler", ("isa_.lanes_below(grid_.cluster_size(),", "isa_.lanes_below(1,"))
m("request-arm-32", "32 lanes arm CTAs that are not there", r"CR1|clc_full|MB5", ("isa_.lanes_below(grid_.cluster_size(),", "isa_.lanes_below(32,"))
m("request-arm-8-bytes", "clc_full is armed for 8 bytes", r"clc_full|CL6|more than expect_tx|MB5|CL9", (ARMC, ARMC.replace("kClcResponseBytes", "8u")))
m("request-arm-32-bytes", "clc_full is armed for 32 bytes", r"clc_full|expect_tx", (ARMC, ARMC.replace("kClcResponseBytes", "32u")))
m("request-arm-plain", "clc_full gets an arrival without bytes", r"clc_full|CL6|CL9|MB",
  (ARMC, "      isa_.mbarrier_arrive(isa_.mapa(clc.full(stage), isa_.laneid()), Scope::cluster, loc);\n"))
m("request-arm-empty", "clc_empty is armed", r"expect_tx of scheduler|clc_empty|MB15", (ARMC, ARMC.replace("clc.full", "clc.empty")))
m("request-arm-cta-scope", "clc_full of the peers is armed at scope cta", "scope", (ARMC, ARMC.replace("Scope::cluster", "Scope::cta")),
  survives=SCOPES)
TC = "        isa_.clusterlaunchcontrol_try_cancel(response(stage), clc.full(stage), loc);\n"
TM = "        isa_.clusterlaunchcontrol_try_cancel_multicast(response(stage), clc.full(stage), loc);\n"
m("request-none", "armed, but nothing is requested", r"clc_full|expect_tx", (TC, "        (void)stage;\n"))
m("request-not-multicast", "the response goes to the first CTA alone", r"clc_full", (TM, TC))
m("request-next-barrier", "the response signals the next slot's barrier", r"clc_full|CL6|CL9|MB",
  (TC, TC.replace("clc.full(stage)", "clc.full((stage + 1) % clc.stages())")))
m("request-slot-0", "all responses go to slot 0", r"CL\d|clc",
  ("return storage_.response + kClcResponseBytes * uint32_t(stage);", "return storage_.response + 0u * uint32_t(stage);"))
m("request-32", "32 lanes request", r"CL\d|clc_full|MB|TC2|lanes", ("    isa_.elected([&] {\n      if (grid_", "    isa_.lanes_below(32, [&] {\n      if (grid_"))
m("request-no-step", "the scheduler asks into slot 0 for ever", r"clc|CL\d|MB", ("    clc.producer_step();\n", ""))
m("request-arm-late", "clc_full is armed behind the request", "$^",
  ("    isa_.lanes_below(grid_.cluster_size(), [&] {\n" + ARMC + "    });\n", ""),
  ("    clc.producer_step();\n", "    isa_.lanes_below(grid_.cluster_size(), [&] {\n" + ARMC + "    });\n    clc.producer_step();\n"),
  equivalent="the phase cannot complete before the arrival that arms it, and the tx-count may be negative meanwhile")
m("clc-cta-scope", "waits for responses at scope cta", "scope", ("stages_, Scope::cluster}", "stages_}"),
  survives=SCOPES)

# ---------------------------------------------------------------------------------------------------------------------
m("throttle-every-cta", "the load warps of all CTAs signal their throttle", r"throttle|MB16",
  ("if (scheduler_.isa_.cluster_ctarank() == 0) throttle_", "throttle_"))
m("throttle-wrong-cta", "the load warp of the second CTA signals its throttle", r"throttle",
  ("if (scheduler_.isa_.cluster_ctarank() == 0) throttle_", "if (scheduler_.isa_.cluster_ctarank() == 1) throttle_"))
m("sched-no-throttle", "the scheduler ignores the throttle", r"throttle", ("      throttle_.consumer_signal_and_step(loc);\n", ""))
m("sched-no-clc-request", "the scheduler does not request", r"clc_full", ("      scheduler_.request(request_, loc);\n", ""))
m("sched-request-first", "the scheduler requests before the throttle", "$^",
  ("      throttle_.consumer_signal_and_step(loc);\n      scheduler_.request(request_, loc);\n",
   "      scheduler_.request(request_, loc);\n      throttle_.consumer_signal_and_step(loc);\n"),
  equivalent="the throttle is a matter of pace: the scheduler asks one tile ahead")
m("sched-drain-nothing", "the scheduler's drain does nothing", r"MB12|MB10|EX|clc_empty", ("{ request_.producer_drain(loc); }", "{ (void)loc; }"))
m("sched-drain-throttle", "the scheduler drains the throttle instead", r"MB12|MB10|EX|clc_empty|throttle",
  ("{ request_.producer_drain(loc); }", "{ throttle_.producer_drain(loc); }"))
m("sched-one-cursor", "request and fetch share a cursor", "$^", ("scheduler_.fetch(fetch_, loc)", "scheduler_.fetch(request_, loc)"),
  equivalent="a pipeline has a cursor for each side")

of("kernels/scheduler/work_iterator.h")
m("prefetch-forgotten", "a prefetched tile is fetched again", r"CL9|CL4|clc", ("    has_prefetched_ = true;\n", ""))
m("prefetch-kept", "the first prefetched tile is taken for ever", r"CL9|clc|input|cycle-budget", ("    has_prefetched_ = false;\n", ""),
  equivalent="who prefetches does so for every tile, and the others never")

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/epilogue/tmem_reader.h")
WL = "  if (lower)\n    isa.tcgen05_wait_ld(f.upper, f.lower, loc);\n  else\n    isa.tcgen05_wait_ld(f.upper, loc);\n"
m("ld-no-wait", "no tcgen05.wait::ld", r"TC15|wait::ld|wait_ld", (WL, ""))
m("ld-wait-first", "tcgen05.wait::ld before the load of the lower rows", r"TC15|wait::ld|wait_ld",
  (WL, ""), ("  if (lower) f.lower = ", "  isa.tcgen05_wait_ld(f.upper, loc);\n  if (lower) f.lower = "))
m("ld-wait-before", "tcgen05.wait::ld before the loads", r"TC15|wait::ld|wait_ld",
  (WL, ""), ("  f.upper = isa.template", "  isa.tcgen05_wait_ld(f.upper, loc);\n  f.upper = isa.template"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/epilogue/strip_store.h")
m("strip-no-fence", "no proxy fence before the store", r"TM6", ("  isa.fence_proxy_async_shared_cta();\n", ""))
m("strip-no-publish", "no barrier before the store", r"TM6|TM8|SM3", ("async_shared_cta();\n  group.sync(isa, loc);\n", "async_shared_cta();\n"))
m("strip-fence-late", "the proxy fence is behind the barrier", r"TM6",
  ("  isa.fence_proxy_async_shared_cta();\n  group.sync(isa, loc);\n",
   "  group.sync(isa, loc);\n  isa.fence_proxy_async_shared_cta();\n"),
  survives="the storing thread's fence then lies between the barrier and the store; the check takes that for enough")
m("strip-publish-64", "the barrier before the store counts 64 threads", r"NB\d|TM[68]|named barrier 0",
  ("async_shared_cta();\n  group.sync(isa, loc);", "async_shared_cta();\n  isa.bar_sync(group.barrier, 64, loc);"))
m("strip-publish-160", "the barrier before the store counts 160 threads", r"NB\d|named barrier 0",
  ("async_shared_cta();\n  group.sync(isa, loc);", "async_shared_cta();\n  isa.bar_sync(group.barrier, 160, loc);"))
m("strip-publish-arrive", "bar.arrive instead of bar.sync before the store", r"TM[68]|NB\d|named barrier 0",
  ("async_shared_cta();\n  group.sync(isa, loc);", "async_shared_cta();\n  isa.bar_arrive(group.barrier, group.threads(), loc);"))
m("strip-publish-id", "the barrier before the store is the address barrier", r"NB\d|named barrier 1",
  ("async_shared_cta();\n  group.sync(isa, loc);", "async_shared_cta();\n  isa.bar_sync(1, group.threads(), loc);"),
  equivalent="the address barrier's only generation is over before an epilogue warp comes here")
m("store-no-commit", "the store is in no bulk group", r"TM8|TM9", ("    isa.cp_async_bulk_commit_group();\n", ""))
m("store-commit-first", "the group is committed before the store", r"TM8|TM9",
  ("    isa.cp_async_bulk_tensor_global_shared(map, coords, strip, loc);\n    isa.cp_async_bulk_commit_group();\n",
   "    isa.cp_async_bulk_commit_group();\n    isa.cp_async_bulk_tensor_global_shared(map, coords, strip, loc);\n"))
m("store-all-lanes", "32 lanes store the strip", r"TM\d|lanes|TC2", ("  isa.elected([&] {", "  isa.lanes_below(32, [&] {"),
  equivalent="ptxas makes one store of it, as an H200 shows")
W0, W1 = "isa.template cp_async_bulk_wait_group_read<0>();", "isa.template cp_async_bulk_wait_group_read<1>();"
m("store-wait-last-1", "wait_group.read 1 behind the last strip", r"TM8|TM9", (W0, "isa.template cp_async_bulk_wait_group_read<1>(); "))
m("store-wait-2", "wait_group.read 2 between strips", r"TM8", (W1, "isa.template cp_async_bulk_wait_group_read<2>();"))
m("store-wait-0", "wait_group.read 0 between strips", "$^", (W1, "isa.template cp_async_bulk_wait_group_read<0>(); "),
  equivalent="stricter: no overlap of strips")
m("store-no-wait-last", "no wait_group.read behind the last strip", r"TM8|TM9", (W0, ""))
m("store-no-wait", "no wait_group.read between strips", r"TM8", (W1, ""))
m("store-no-barrier", "no barrier behind wait_group.read", r"TM8|SM3", ("  if (i != 0 || last) group.sync(isa, loc);\n", "  (void)loc;\n"))
m("store-barrier-last-only", "the barrier behind wait_group.read only after the last strip", r"TM8|SM3", ("if (i != 0 || last) group", "if (last) group"))
m("store-barrier-not-last", "no barrier after a single strip", r"TM8|SM3", ("if (i != 0 || last) group", "if (i != 0) group"))
m("store-barrier-always", "the barrier after strip 0 too", "$^", ("if (i != 0 || last) group", "if (i >= 0) group"),
  equivalent="stricter: one barrier more")
m("store-barrier-first", "the barrier comes before wait_group.read", r"TM8|SM3",
  ("  if (i != 0 || last) group.sync(isa, loc);\n", ""),
  ("  if (last) {\n", "  if (i != 0 || last) group.sync(isa, loc);\n  if (last) {\n"))
m("store-barrier-96", "the barrier behind wait_group.read counts 96 threads", r"NB\d|named barrier 0|TM8",
  ("if (i != 0 || last) group.sync(isa, loc);", "if (i != 0 || last) isa.bar_sync(group.barrier, 96, loc);"))
of("kernels/matmul/config.h")
m("epilogue-barrier-1", "the strips' barrier has the address barrier's id", r"NB\d|named barrier 1", (".barrier = 0}", ".barrier = 1}"),
  equivalent="the address barrier's only generation is over before an epilogue warp comes to the strips")
of("kernels/epilogue/strip_store.h")
m("store-one-buffer", "the strips count one buffer in shared memory", r"TM8", ("kOutputBuffers = 2;", "kOutputBuffers = 1;"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/epilogue/tile_writer.h")
RL = "    if (last) source.release();\n"
m("tile-no-release", "the accumulator is not released", r"accum_empty", (RL, ""))
m("tile-release-first", "the accumulator is released after its first strip", r"TC15|TC17", (RL, RL.replace("if (last)", "if (place == 0)")))
m("tile-release-every", "the accumulator is released after every strip", r"TC15|TC17|accum_empty|MB8", (RL, RL.replace("if (last) ", "")))
m("tile-release-before-load", "the accumulator is released before the last load", r"TC15|TC17",
  (RL, ""), ("    AccumulatorFragments<R> f = source", RL + "    AccumulatorFragments<R> f = source"))
m("tile-release-one-warp", "one epilogue warp does not release", r"accum_empty", (RL, RL.replace("if (last)", "if (last && warp != 3)")))
m("tile-release-late", "the accumulator is released behind the store", "$^",
  (RL, ""), ("    wait_for_strip_buffer(isa, group, place, last);\n", RL + "    wait_for_strip_buffer(isa, group, place, last);\n"),
  equivalent="stricter: less overlap")
m("tile-no-publish", "strips are stored without being published", r"TM6|TM8|SM3", ("      publish_strip(isa, group);\n", ""))
m("tile-store-all-warps", "every warp stores the strip", "$^", ("if (warp == 0) store_tile_strip", "if (warp >= 0) store_tile_strip"),
  equivalent="four stores of the same bytes, each waited for by its thread")
m("tile-store-other-warp", "warp 1 stores the strip", "$^", ("if (warp == 0) store_tile_strip", "if (warp == 1) store_tile_strip"),
  equivalent="any warp may store what all have published")
m("tile-no-buffer-wait", "strips do not wait for their buffer", r"TM8|TM9|SM3", ("    wait_for_strip_buffer(isa, group, place, last);\n", ""))
m("tile-one-buffer", "all strips use buffer 0", r"TM8", ("buffer = place % kOutputBuffers;", "buffer = place % 1;"))
m("swapped-no-commit", "swapped: the stores are in no bulk group", r"TM8|TM9", ("    isa.cp_async_bulk_commit_group();\n", ""))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/epilogue/strip_functor.h")
FSY = "  group.sync(isa, loc);  // the whole strip is there\n"
m("functor-no-barrier", "the functor reads the strip without a barrier", r"SM3", (FSY, ""))
m("functor-arrive", "bar.arrive instead of bar.sync", r"SM3|NB", (FSY, "  isa.bar_arrive(group.barrier, group.threads(), loc);\n"))
m("functor-64", "the functor's barrier counts 64 threads", r"SM3|NB|named barrier 0", (FSY, "  isa.bar_sync(group.barrier, 64, loc);\n"))
m("functor-id", "the functor's barrier has an id of its own", r"NB5\].*named barrier 2", (FSY, "  group.at_barrier(2).sync(isa, loc);\n"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/matmul/split_reduction.h")
m("lock-no-wait", "a split does not wait for the ones before it", r"GM3|workspace|lock",
  ("  if (!first) wait_for_lock(isa, lockers, lock, work.k_begin, loc);\n", "  (void)lock;\n"))
m("lock-wait-wrong", "a split waits for one k tile more", r"lock|waits until",
  ("wait_for_lock(isa, lockers, lock, work.k_begin, loc)", "wait_for_lock(isa, lockers, lock, work.k_begin + 1, loc)"))
m("lock-wait-no-barrier", "the other warps do not wait for the lock", r"GM3|workspace",
  ("    });\n  }\n  group.sync(isa, loc);\n", "    });\n  }\n"))
m("lock-no-poll", "the lock is read once", r"GM3|workspace|lock", ("while (isa.ld_acquire_gpu_global_u32(lock, loc) != uint32_t(k_tiles)) {}",
  "(void)isa.ld_acquire_gpu_global_u32(lock, loc);"))
m("lock-first-waits", "the first split waits too", "$^", ("  if (!first) wait_for_lock", "  wait_for_lock"),
  equivalent="the lock is 0 before the launch: the wait passes")
m("lock-no-release", "the lock is not released", r"lock|workspace", ("  if (!work.last_split) release_lock(isa, lockers, lock, work.k_begin + work.k_count, loc);\n", ""))
m("lock-release-wrong", "the lock gets the first k tile of the own range", r"lock|waits until",
  ("release_lock(isa, lockers, lock, work.k_begin + work.k_count, loc)", "release_lock(isa, lockers, lock, work.k_begin, loc)"))
m("lock-release-no-barrier", "the lock is released without waiting for the other warps", r"GM3|workspace",
  ("one release.\n  group.sync(isa, loc);\n", "one release.\n"))
m("lock-release-first", "the lock is released before the sums are stored", r"GM3|workspace",
  ("  if (!work.last_split) release_lock(isa, lockers, lock, work.k_begin + work.k_count, loc);\n", ""),
  ("  with_strip_registers(cfg,", "  if (!work.last_split) release_lock(isa, lockers, lock, work.k_begin + work.k_count, loc);\n  with_strip_registers(cfg,"))
m("lock-release-last", "the last split releases too", "$^", ("  if (!work.last_split) release_lock", "  release_lock"),
  equivalent="nobody waits for the whole range; locks are zeroed before a launch")
m("lock-other-warp", "warp 1 polls the lock", "$^", ("  if (group.is_first(isa)) {\n", "  if (group.index(isa) == 1) {\n"),
  equivalent="the barrier orders all warps behind whichever polls")
RR = "    if (!last && i + 1 == strips) ring.consumer_release(tile.result);\n"
m("split-no-release", "a split does not release its accumulator", r"accum_empty", (RR, ""))
m("split-release-first", "a split releases its accumulator after the first strip", r"TC15|TC17", (RR, RR.replace("i + 1 == strips", "i == 0")))
m("split-release-last-too", "the last split releases twice", r"TC1[57]|accum_empty|TC4|MB8|TC3", (RR, RR.replace("!last && ", "")),
  survives="last splits come last: in these scenarios no accumulator is used again behind one, and nobody asks at exit "
           "whether phases have completed that nobody waited for")
m("split-no-wait-st", "no tcgen05.wait::st behind the sums", r"TC4", ("  if (last) isa.tcgen05_wait_st(loc);\n", ""))

# ---------------------------------------------------------------------------------------------------------------------
# pipeline_copy; ids that begin with copy- run its scenarios.
of("kernels/pipeline/input_ring.h")
m("copy-release-no-warp-sync", "the stage is released without the warp's other lanes", "$^",
  ("    this->isa_.bar_warp_sync();  // all lanes have read\n", ""),
  survives="the simulator's warps run in step: no lane can still read when one arrives")
CE = "this->isa_.elected([&] { this->isa_.mbarrier_arrive(stage.empty(), Scope::cta, loc); });"
CR = "        this->isa_.mbarrier_arrive(this->isa_.mapa(stage.empty(), this->isa_.laneid()), Scope::unstated, loc);\n"
m("copy-no-release", "the stage is not released", r"input_empty", (CE, ""))
m("copy-release-32", "32 lanes release", r"input_empty|TM5|MB5|MB8|TM7",
  (CE, "this->isa_.mbarrier_arrive(stage.empty(), Scope::cta, loc);"))
m("copy-release-full", "the release arrives on full", r"input_full|MB15|input_empty", (CE, CE.replace("stage.empty", "stage.full")))
m("copy-no-remote-release", "multicast: the stage is not released", r"input_empty", (CR, ""))
m("copy-release-own", "multicast: the stage is released in the own CTA alone", r"input_empty|TM7",
  (CR, "        this->isa_.mbarrier_arrive(stage.empty(), Scope::cta, loc);\n"))
m("copy-release-one", "multicast: the stage is released in the first CTA alone", r"input_empty",
  ("this->isa_.lanes_below(ctas, [&] {", "this->isa_.lanes_below(1, [&] {"))
m("copy-release-all", "multicast: lanes beyond the cluster release too", r"CR1|input_empty",
  ("this->isa_.lanes_below(ctas, [&] {", "this->isa_.lanes_below(32, [&] {"))

of("kernels/copy/consumer_warp.h")
m("copy-no-wait", "consumers do not wait for a full stage", r"TM5", ("ring.consumer_wait()", "ring.at(ring.consumer_stage())"))
CA2 = "        if (j + 1 == cfg.k_group_size) ring.consumer_arrive(stage, copy_sharers(cfg));\n"
m("copy-release-first-of-group", "the stage is released after the first k tile of a group", r"TM5|input_empty",
  (CA2, CA2.replace("j + 1 == cfg.k_group_size", "j == 0")))
m("copy-release-every", "the stage is released after every k tile of a group", r"TM5|input_empty|MB8|MB5",
  (CA2, CA2.replace("if (j + 1 == cfg.k_group_size) ", "")))
m("copy-release-before-read", "the stage is released before it is read", r"TM5|TM7",
  (CA2, ""), ("        const auto f = read_slot", CA2 + "        const auto f = read_slot"))
m("copy-release-one-warp", "one warp does not release", r"input_empty",
  (CA2, CA2.replace("if (j + 1", "if (isa.warpid() != 2 && j + 1")))
m("copy-no-consumer-step", "consumers stay at their stage", r"MB8|TM5", ("      ring.consumer_step();\n", ""))
m("copy-no-publish", "strips are stored without being published", r"TM6|TM8|SM3", ("  publish_strip(isa, copy_consumers());\n", ""))
m("copy-no-buffer-wait", "strips do not wait for their buffer", r"TM8|TM9|SM3",
  ("        wait_for_strip_buffer(isa, copy_consumers(), strip_index, strip_index + 1 == tile.k_count);\n", ""))
m("copy-buffer-never-last", "the last strip does not free both buffers", r"TM8|TM9",
  ("strip_index + 1 == tile.k_count);", "false);"))
m("copy-one-buffer", "all strips use buffer 0", r"TM8", ("buffer = strip_index % kOutputBuffers;", "buffer = strip_index % 1;"))

of("kernels/copy/load_warp.h")
m("copy-no-acquire", "load does not wait for an empty stage", r"TM5|MB5|input_empty",
  ("ring.producer_acquire()", "ring.at(ring.producer_stage())"))
CARM = "        ring.arm(stage);  // for all bytes of the stage, also those that peers load\n"
m("copy-no-arm", "load does not arm the stage", r"expect_tx|input_full", (CARM, ""))
m("copy-arm-own-bytes", "multicast: load arms for its own share", r"expect_tx|TM5|MB5|input_full",
  (CARM, "        isa.mbarrier_arrive_expect_tx(stage.full(), ring.armed_bytes() / uint32_t(copy_sharers(cfg)), Scope::cta);\n"))
m("copy-arm-late", "the stage is armed behind its copies", "$^",
  (CARM, ""), ("params, stage, tile, k);\n", "params, stage, tile, k);\n" + CARM),
  equivalent="the phase cannot complete before the arrival that arms it, and the tx-count may be negative meanwhile")
m("copy-no-step", "load stays at stage 0", r"MB8|TM5|input_full|input_empty", ("      ring.producer_step();\n", ""))
m("copy-no-drain", "load exits without draining", r"MB12|MB10|CR3", ("  ring.producer_drain();  // peers", "  // peers"))
m("copy-no-pdl-wait", "load does not wait for the kernel ahead", r"GD1", ("isa.griddepcontrol_wait();", "(void)0;"))
m("copy-launch-first", "dependents are launched at the start", "$^",
  ("  if (cfg.pdl) isa.griddepcontrol_launch_dependents();\n", ""),
  ("  if (cfg.pdl) isa.griddepcontrol_wait();", "  if (cfg.pdl) isa.griddepcontrol_launch_dependents();\n  if (cfg.pdl) isa.griddepcontrol_wait();"),
  equivalent="griddepcontrol.wait orders the data; this is a matter of pace")
m("copy-mask-less", "multicast: the last CTA of the cluster is left out", r"input_full|expect_tx|bytes",
  ("(1u << cfg.cluster) - 1", "(1u << (cfg.cluster - 1)) - 1"))
m("copy-mask-more", "multicast: the mask names a CTA that is not there", r"TM4",
  ("(1u << cfg.cluster) - 1", "(2u << cfg.cluster) - 1"))
m("copy-barrier-0", "multicast: copies signal stage 0", r"input_full|expect_tx|TM5",
  ("stage.full(),\n                                                       CtaMask", "stage.barriers.full,\n                                                       CtaMask"))

of("kernels/pipeline/set_up.h")
m("copy-no-init", "barriers are not initialised", r"MB1\]", ("      init_barriers(isa, cfg, smem);\n", ""))
m("copy-init-32", "32 lanes initialise the barriers", r"MB2\]", ("    isa.elected([&] {", "    isa.lanes_below(32, [&] {"))
m("copy-no-init-fence", "no fence.mbarrier_init", r"MB14", ("  isa.fence_mbarrier_init();\n", ""))
m("copy-no-cluster-barrier", "no barrier behind the set-up", r"MB14|MB1\]", (MEET, ""))
m("copy-no-cluster-wait", "no cluster wait", r"MB14|MB1\]|CB1", (CW, ""))

of("kernels/copy/shared_storage.h")
m("copy-count-full", "count of input_full: 2 instead of 1", r"input_full|MB17",
  altered("input_full", "count", "1", "2", "kernels/copy/shared_storage.h"))
m("copy-count-empty-own", "count of input_empty: one CTA of the cluster", r"input_empty|MB17",
  ("copy_consumers().warps * copy_sharers(c)", "copy_consumers().warps"))
m("copy-count-empty-less", "count of input_empty: without one warp", r"input_empty|MB17|TM5",
  ("copy_consumers().warps * copy_sharers(c)", "copy_consumers().warps * copy_sharers(c) - 1"))
m("copy-count-empty-threads", "count of input_empty: threads instead of warps", r"input_empty|MB17",
  ("copy_consumers().warps * copy_sharers(c)", "32 * copy_consumers().warps * copy_sharers(c)"))
m("copy-short", "input_full is declared one stage short", r"MB1\]|MB2\]|MB1[58]",
  altered("input_full", "stages", "copy_ring_stages(c)", "copy_ring_stages(c) - 1", "kernels/copy/shared_storage.h"))

# ---------------------------------------------------------------------------------------------------------------------
# block_scaled: ids begin with "scaled-", the scenarios are those of it
of("kernels/block_scaled/sfb_warps.h")
m("scaled-store-no-wait", "store warps do not wait for SFB's bytes", r"sfb_full|TM5|TM3|TC7",
  ("loaded.consumer_wait()", "loaded.at(loaded.consumer_stage())"))
m("scaled-store-no-acquire", "store warps do not wait for the MMAs that read the columns", r"scales_empty|TC5|TC1[57]",
  ("const int slot = stored.producer_acquire();", "const int slot = stored.producer_stage();"))
m("scaled-store-no-acquire-fence", "no fence::after_thread_sync behind that wait", r"TC16",
  ("    const int stage = Base::producer_acquire(loc);\n    this->isa_.tcgen05_fence_after_thread_sync();\n",
   "    const int stage = Base::producer_acquire(loc);\n"))
m("scaled-store-no-proxy-fence", "no proxy fence between ld.shared and the release of a stage", r"CL8|TM6|TM7|proxy",
  ("      isa.fence_proxy_async_shared_cta();  // TMA writes next where we have read\n", ""))
SREL = "      loaded.consumer_arrive(from, 1);\n"
m("scaled-store-no-release", "store warps do not release SFB's stages", r"mbarrier.arrive on sfb_empty", (SREL, ""))
m("scaled-store-release-threads", "all threads of the store warps release a stage", r"sfb_empty|MB5",
  (SREL, "      isa.mbarrier_arrive(from.empty(), Scope::cta);\n"))
m("scaled-store-release-first", "a stage is released before it is read", r"TM7|TM5|TM6|CL8|sfb_",
  (SREL, ""), ("      const TmemAddr to =", SREL + "      const TmemAddr to ="))
m("scaled-store-no-wait-st", "scales are announced before tcgen05.st has finished", r"TC4|TC5|TC1[567]|wait::st",
  ("    this->isa_.tcgen05_wait_st(loc);\n", ""))
m("scaled-store-no-fence-before", "no fence::before_thread_sync before the announcement", r"TC16",
  ("    this->isa_.tcgen05_fence_before_thread_sync();\n", ""))
m("scaled-store-no-commit", "stored scales are not announced", r"scales_full", ("      stored.producer_commit(slot);\n", ""))
m("scaled-store-commit-own", "pairs: each CTA announces to itself", r"scales_full",
  ("if (cta_group_ == 2)\n      this->isa_.mbarrier_arrive", "if (false)\n      this->isa_.mbarrier_arrive"))
m("scaled-store-no-step", "store warps stay at a slot", r"scales_|MB8", ("      stored.producer_step();\n", ""))
m("scaled-store-no-load-step", "store warps stay at a stage of SFB", r"sfb_|MB8", ("      loaded.consumer_step();\n", ""))
m("scaled-store-no-drain", "store warps exit without draining", r"MB12|MB10|scales_empty",
  ("  stored.producer_drain();", "  //"),
  survives="the MMAs' commits land before the warps exit in every scenario; EX1 and MB12 see what happens in a run")
m("scaled-store-one-quarter", "all store warps write the first quarter", r"TC1\b|TC1\]|TC2|quarter",
  ("sfb_store_group().index(isa) * kWarpLanes", "0 * kWarpLanes"))
m("scaled-store-no-address-wait", "store warps do not wait for the tensor-memory address", r"tmem address|TC\d|SM\d|NB\d",
  ("  isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));\n", ""))
m("scaled-mma-no-scales-wait", "the MMA warp does not wait for stored scales", r"scales_full|TC4\].*sfb_store|TC5|TC1[357]",
  ("    if (stores_sfb(cfg_)) scales_.consumer_wait(loc);\n", ""))
m("scaled-mma-no-scales-fence", "no fence::after_thread_sync behind that wait", r"TC16",
  ("    Base::consumer_wait(loc);\n    this->isa_.tcgen05_fence_after_thread_sync();\n", "    Base::consumer_wait(loc);\n"))
m("scaled-mma-no-scales-release", "the MMA warp does not release the columns", r"tcgen05.commit on scales_empty",
  ("    if (stores_sfb(cfg_)) scales_.consumer_release(stage.index, loc);\n", ""))
m("scaled-mma-scales-release-own", "pairs: the columns of the odd CTA are not released", r"scales_empty|TC8\].*commit",
  ("if (cta_group_ == 2)\n      this->isa_.tcgen05_commit_multicast", "if (false)\n      this->isa_.tcgen05_commit_multicast"))
m("scaled-mma-no-scales-step", "the MMA warp stays at a slot", r"scales_|MB8",
  ("    if (stores_sfb(cfg_)) scales_.consumer_step(loc);\n", ""))
m("scaled-load-no-arm", "SFB's load warp does not arm the stage", r"expect_tx|sfb_full", ("        ring.arm(stage);\n", ""))
m("scaled-load-no-acquire", "SFB's load warp does not wait for an empty stage", r"sfb_empty|TM7|MB5",
  ("ring.producer_acquire()", "ring.at(ring.producer_stage())"))
m("scaled-load-no-step", "SFB's load warp stays at a stage", r"sfb_|MB8", ("      ring.producer_step();\n", ""))
m("scaled-load-no-drain", "SFB's load warp exits without draining", r"MB12|MB10",
  ("  ring.producer_drain();\n", ""),
  survives="the releases land before the warp exits in every scenario; EX1 and MB12 see what happens in a run")
m("scaled-load-stage-barrier", "SFB's bytes count on stage 0", r"sfb_full|MB5|TM5",
  ("stage.full(),\n", "stage.barriers.full,\n"))

of("kernels/block_scaled/tiles.h")
TILES = "kernels/block_scaled/tiles.h"
for array, old, new, what in (("sfb_empty", "store_warps", "1", "one warp instead of four"),
                              ("sfb_empty", "store_warps", "store_threads", "threads instead of warps"),
                              ("scales_full", "uint32_t(c.cta_group) * store_threads", "store_threads", "one CTA of a pair"),
                              ("scales_full", "uint32_t(c.cta_group) * store_threads", "uint32_t(c.cta_group) * store_threads - 32",
                               "without one warp"),
                              ("scales_empty", "1", "2", "2 instead of 1")):
    n = 1 + sum(x.id.startswith(f"scaled-count-{array}") for x in MUTANTS)
    m(f"scaled-count-{array}-{n}", f"count of {array}: {what}", rf"{array}|MB17|MB5|TC5|TM7" + (r"|TC4\].*sfb_store" if array == "scales_full" else ""),
      altered(array, "count", old, new, TILES))
m("scaled-bytes-with-sfb", "input_full expects SFB's bytes, which count elsewhere", r"input_full",
  ("(sfb_apart ? 0 : sfb_tiles.shape.bytes())", "sfb_tiles.shape.bytes()"))
m("scaled-bytes-without-sfa", "input_full does not expect SFA's bytes", r"input_full|TC7|TM5|MB5",
  ("OperandTiles::stage_bytes() + sfa_tiles.shape.bytes() +", "OperandTiles::stage_bytes() +"))

of("kernels/block_scaled/scaled_mmas.h")
EARLY = "!(first_of_tile && begins_early())"
m("scaled-no-sfa-copy", "SFA is not copied to tensor memory", r"TC13|scale", (f"    if ({EARLY}) copy_scales(isa, stage.sfa, sfa);\n", ""))
m("scaled-no-sfb-copy", "SFB is not copied to tensor memory", r"TC13|scale",
  (f"    if (!stores_sfb(cfg_) && {EARLY}) copy_scales(isa, stage.sfb, sfb);\n", ""))
m("scaled-one-slot", "all stages copy SFA to one slot", r"TC17|scale",
  ("work.tmem.plus_columns(sfa_column(cfg_, stage.index))", "work.tmem.plus_columns(sfa_column(cfg_, 0 * stage.index))"),
  equivalent="tcgen05.cp and the MMAs of one thread run in the order of issue, as CUTLASS and DeepGEMM rely on: TC17 is a note")
m("scaled-copies-last", "SFA is copied behind the MMAs that read it", r"TC13|TC17|scale",
  (f"    if ({EARLY}) copy_scales(isa, stage.sfa, sfa);\n", ""),
  ("      accumulate = true;\n    }\n", "      accumulate = true;\n    }\n    copy_scales(isa, stage.sfa, sfa);\n"))

of("kernels/block_scaled/scaled_loader.h")
m("scaled-no-sfa-load", "SFA is not loaded", r"input_full",
  ("    isa.cp_async_bulk_tensor_shared_global(stage.sfa.base,", "    if (false) isa.cp_async_bulk_tensor_shared_global(stage.sfa.base,"))
m("scaled-sfb-twice", "the load warp brings SFB, too, where another warp does", r"input_full|TM7|MB5|TM5",
  ("    if (stores_sfb(cfg_)) return;  // the SFB load warp brings them\n", ""))

of("kernels/epilogue/scaled_output.h")
OREL = "    if (last) ring.consumer_release(tile.result);\n"
m("scaled-out-no-release", "the accumulator is not released", r"accum_empty", (OREL, ""))
m("scaled-out-release-first", "the accumulator is released behind the first strip's load", r"TC3|TC1[57]|accum_empty|MB5",
  (OREL, "    if (i == 0) ring.consumer_release(tile.result);\n"))
m("scaled-out-no-wait-ld", "registers are used without tcgen05.wait::ld", r"TC18|TC3|TC15",
  ("  isa.tcgen05_wait_ld(x, loc);\n", ""))
m("scaled-out-no-publish", "strips are stored without fence and barrier", r"TM6|TM8", ("      publish_strip(isa, group);\n", ""))
m("scaled-out-no-store-wait", "strip buffers are not waited for", r"TM8", ("    wait_for_strip_buffer(isa, group, i, last);\n", ""))
m("scaled-out-not-last", "the last strip is not drained", r"TM8",
  ("wait_for_strip_buffer(isa, group, i, last)", "wait_for_strip_buffer(isa, group, i, false)"))
m("scaled-out-all-store", "every warp stores the strip", r"TM8|TM6|PV3.*stored twice",
  ("    if (warp == 0) store_strip", "    store_strip"))
m("scaled-out-no-row-guard", "scales of rows that C does not have are stored", r"GM\d|mismatch",
  ("inside(lane) = row + lane < params.rows && scale < params.blocks;", "inside(lane) = scale < params.blocks;"))
m("scaled-out-no-block-guard", "scales of blocks that C does not have are stored", r"GM\d|mismatch",
  ("inside(lane) = row + lane < params.rows && scale < params.blocks;", "inside(lane) = row + lane < params.rows;"))
m("scaled-out-not-gathered", "the last word of a row's scales is not stored", r"PV2.*scales of the output.*scaled_output",
  ("if (gathered.complete() || last) {", "if (gathered.complete()) {"))
m("scaled-out-half-warp", "the amax of 16 rows is that of 8", r"PV2.*scales of the output.*scaled_output",
  ("int apart = elements_per_scale(cfg) / 2; apart > 0", "int apart = elements_per_scale(cfg) / 4; apart > 0"))

of("kernels/epilogue/block_quantizer.h")
m("scaled-out-no-norm", "elements are not multiplied by the norm", r"PV2.*scales of the output.*scaled_output", ("params.norm * reciprocal, kLargestF32", "reciprocal, kLargestF32"))
m("scaled-out-no-clamp", "the factor of a block of zeros is infinite", r"mismatch",
  ("isa.min_nan_f32(params.norm * reciprocal, kLargestF32)", "params.norm * reciprocal"),
  survives="no block of the scenarios' products is zero; a test of the recipe has one")
m("scaled-out-divisor", "the scale is amax / 7", r"PV2.*scales of the output.*scaled_output", ("amax * params.norm_over_max", "amax * params.norm_over_max * 6 / 7"))

# ---------------------------------------------------------------------------------------------------------------------
of("kernels/cutlass_block_scaled/accumulator_strips.h")
m("cutlass-release-early", "the accumulator is released one strip before all shared columns are read", r"TC3|TC1[57]",
  ("++loaded_ == shared_strips(cfg_)", "++loaded_ == shared_strips(cfg_) - 1"))
m("cutlass-release-late", "released one strip later, and without overlap behind the first strip", r"TC3|TC1[57]",
  ("++loaded_ == shared_strips(cfg_)", "++loaded_ == shared_strips(cfg_) + 1"))
m("cutlass-no-release", "an accumulator that overlaps is not released", r"accum_empty",
  (" ring_.consumer_release(result_);\n    if (cfg_.residual)", ";\n    if (cfg_.residual)"))
m("cutlass-release-twice", "an accumulator that overlaps is released behind its last strip, too", r"accum_empty|TC|MB5|MB15",
  ("if (!overlaps(cfg_)) ring_", "ring_"))
m("cutlass-residual-no-wait", "the epilogue does not wait for the residual", r"residual_full|TM5",
  ("residual_.consumer_wait()", "residual_.at(residual_.consumer_stage())"))
m("cutlass-residual-no-fence", "no proxy fence between the reads and the release of a strip", r"TM11|proxy",
  ("    isa_.fence_proxy_async_shared_cta();  // TMA writes next where we have read\n", ""))
RREL = "    isa_.mbarrier_arrive(stage.empty(), Scope::cta);\n"
m("cutlass-residual-no-release", "strips of the residual are not handed back", r"residual_empty", (RREL, ""))
m("cutlass-residual-release-twice", "strips of the residual are handed back twice", r"residual_empty|TM7|TM5|MB5|TM11", (RREL, RREL + RREL))
m("cutlass-residual-release-first", "strips of the residual are handed back before they are read", r"TM7|TM5|TM11|residual_",
  (RREL, ""), ("    AccumulatorFragments<R> residual;\n", RREL + "    AccumulatorFragments<R> residual;\n"))
m("cutlass-residual-no-step", "the epilogue stays at a strip", r"residual_|MB8", ("    residual_.consumer_step();\n", ""))

of("kernels/cutlass_block_scaled/config.h")
m("cutlass-forward", "strips go from left to right in both accumulators", r"TC3|TC1[57]",
  ("overlaps(c) && c.strip_order == StripOrder::shared_first && !second", "false"))
m("cutlass-backwards", "strips go from right to left in both accumulators", r"TC3|TC1[57]",
  ("c.strip_order == StripOrder::shared_first && !second", "c.strip_order == StripOrder::shared_first"))

of("kernels/cutlass_block_scaled/overlapped_ring.h")
m("cutlass-swapped", "the MMA warp begins with the second accumulator", r"TC|mismatch",
  ("this->producer_parity() ^ 1)", "this->producer_parity())"))
m("cutlass-one-accumulator", "the second accumulator lies where the first does", r"TC|mismatch",
  ("plus_columns(uint32_t(stride_))", "plus_columns(uint32_t(0 * stride_))"))

of("kernels/cutlass_block_scaled/mma_input_ring.h")
m("cutlass-awaited-forever", "the MMA warp waits for the first stage of all alone", r"input_full|TC7|TM5|MB8",
  ("    awaited_ = false;\n", ""))

of("kernels/cutlass_block_scaled/ordered_loader.h")
m("cutlass-no-order", "the load warp does not tell the epilogue load warp to begin", r"load_order",
  ("isa.mbarrier_arrive(load_order_, Scope::cta)", "(void)load_order_"))
m("cutlass-order-every-tile", "it tells it at every tile", r"load_order|MB\d",
  ("begun_ ? -1 : tile.k_begin", "false ? -1 : tile.k_begin"),
  survives="later phases have nobody who waits; the one wait would have to begin two tiles late to miss its phase")

of("kernels/cutlass_block_scaled/epilogue_load_warp.h")
m("cutlass-load-no-order-wait", "the epilogue load warp does not wait for the signal", r"load_order|MB16",
  ("  mbarrier_wait_once(isa, smem.tiles.load_order);\n", ""))
m("cutlass-load-no-arm", "the residual's bytes are not announced", r"residual_full|expect_tx", ("        ring.arm(stage);\n", ""))
m("cutlass-load-no-acquire", "the epilogue load warp does not wait for an empty strip", r"residual_empty|TM7|TM5|MB5|residual_full",
  ("ring.producer_acquire()", "ring.at(ring.producer_stage())"))
m("cutlass-load-no-step", "the epilogue load warp stays at a strip", r"residual_|MB8", ("      ring.producer_step();\n", ""))
m("cutlass-load-no-drain", "the epilogue load warp exits without draining", r"MB12|MB10|EX1", ("  ring.producer_drain();\n", ""),
  equivalent="the epilogue's arrivals are those of its own CTA, which stays until its warps have exited")
m("cutlass-load-one-accumulator", "the epilogue load warp does not alternate between accumulators", r"PV2.*terms of the epilogue.*residual",
  ("    second = !second;\n", ""))

of("kernels/cutlass_block_scaled/cutlass_epilogue_warp.h")
m("cutlass-no-dealloc-arrive", "the epilogue does not tell that its last loads are done", r"tmem_dealloc",
  ("  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);\n", ""))
m("cutlass-no-full-wait", "the epilogue does not wait for the accumulator", r"TC3|TC12|accum_full",
  ("ring.consumer_wait()", "OverlappedStage{ring.at(0)}"))

of("kernels/cutlass_block_scaled/tiles.h")
CUTLASS_TILES = "kernels/cutlass_block_scaled/tiles.h"
EPILOGUE = "uint32_t(cutlass_epilogue_group().threads())"
for array, old, new, what in (("residual_empty", EPILOGUE, "4", "warps instead of threads"),
                              ("residual_empty", EPILOGUE, EPILOGUE + " + 32", "one warp too many"),
                              ("residual_full", "1", "2", "2 instead of 1"),
                              ("load_order", "1", "32", "32 instead of 1")):
    n = 1 + sum(x.id.startswith(f"cutlass-count-{array}") for x in MUTANTS)
    m(f"cutlass-count-{array}-{n}", f"count of {array}: {what}", rf"{array}|MB17|MB5|TM7|TM5",
      altered(array, "count", old, new, CUTLASS_TILES))

# blockwise: ids begin with "blockwise-"
of("kernels/blockwise/blockwise_epilogue_warp.h")
m("blockwise-no-fence", "no proxy fence between the reads of row scales and their release", r"TM11",
  ("  isa.fence_proxy_async_shared_cta();  // TMA fills the tile again\n", ""))
m("blockwise-no-warp-sync", "lanes release a stage before their warp has met", r"TM7|TM5|LN\d",
  ("  isa.bar_warp_sync();                 // few lanes arrive for all that have read\n", ""))
m("blockwise-release-one-lane", "clusters: one lane releases instead of one for each CTA", r"input_empty",
  ("isa.lanes_below(cluster_size(cfg), [&]", "isa.lanes_below(1, [&]"))
m("blockwise-release-first", "the stage is released before its scales are read", r"TM7|TM5|input_empty",
  ("    release_row_scales(isa, cfg, stage);\n", ""),
  ("    RowScales rows =", "    release_row_scales(isa, cfg, stage);\n    RowScales rows ="))
m("blockwise-no-release", "row scales are not released", r"arrive.*input_empty|input_empty.*arrive",
  ("    release_row_scales(isa, cfg, stage);\n", ""))
m("blockwise-release-twice", "row scales are released twice", r"input_empty|TM7|MB5",
  ("    release_row_scales(isa, cfg, stage);\n", "    release_row_scales(isa, cfg, stage);\n    release_row_scales(isa, cfg, stage);\n"))
m("blockwise-no-input-step", "the epilogue stays at a stage of the input ring", r"input_empty|TM7|TM5|MB5",
  ("    input.consumer_step();\n", ""))
m("blockwise-no-accum-wait", "a product is added before it is complete", r"accum_full|TC3|TC15|TM5|TC7|MB5",
  ("accumulators.consumer_wait();", "accumulators.at(accumulators.consumer_stage());"))
m("blockwise-accum-released-first", "an accumulator is released before it is loaded", r"TC15|TC3",
  ("    accumulators.consumer_release(accumulator);\n", ""),
  ("    sums.add(isa,", "    accumulators.consumer_release(accumulator);\n    sums.add(isa,"))
m("blockwise-accum-not-released", "an accumulator is not released", r"accum_empty",
  ("    accumulators.consumer_release(accumulator);\n", ""))
m("blockwise-sums-not-cleared", "sums of the tile before are kept", r"PV2.*adds up the partial sums", ("  sums.clear(isa, cfg);\n", ""))
m("blockwise-last-k-left-out", "the last k tile is not added", r"accum_|input_empty|mismatch",
  ("k < tile.k_end(); ++k", "k + 1 < tile.k_end(); ++k"))
of("kernels/blockwise/tile_sums.h")
m("blockwise-first-n-block", "every strip takes the scale of the tile's first block of columns", r"PV2.*scales of blocks",
  ("second ? columns.of[1](lane) : columns.of[0](lane)", "second ? columns.of[0](lane) : columns.of[0](lane)"))
m("blockwise-rows-swapped", "rows 8 to 15 of a fragment take the scales of rows 0 to 7", r"PV2.*scales of blocks",
  ("scale[r / 2 % 2]", "scale[r / 4 % 2]"))
m("blockwise-half-forgotten", "both halves of the rows read the same scales", r"PV2.*scales of blocks",
  ("first_row + 16 * fragment + 8 * half + lane / 4", "first_row + 16 * fragment + lane / 4"))
m("blockwise-scales-transposed", "B's scales are read as if they were blocks of K x blocks of N", (r"PV2.*scales of blocks", r"GM1"),
  ("(uint64_t(block) * uint64_t(table.k_blocks) + uint64_t(k_block_of(cfg, k_tile)))",
   "(uint64_t(k_block_of(cfg, k_tile)) * uint64_t(table.n_blocks) + uint64_t(block))"))
m("blockwise-no-block-guard", "scales behind the last block of columns are read", r"GM1|mismatch",
  ("inside(lane) = block < table.n_blocks;", "inside(lane) = true;"))
of("kernels/blockwise/blockwise_loader.h")
m("blockwise-k-tile-for-block", "k tiles of 64: the scales of the k tile's number, not of its block", r"mismatch",
  ("k_block_of(cfg_, k_tile)}", "k_tile}"))
m("blockwise-scales-own-barrier", "pairs: the scales of the odd CTA count on its own barrier", r"input_full|MB15|MB5|TM5",
  ("leader_address(cfg_, stage.full())", "stage.full()"))
m("blockwise-scales-of-pair", "pairs: both CTAs load the scales of the even one's rows", r"mismatch",
  ("tile.m * block_m(cfg_), k_block_of", "tile.m / cfg_.cta_group * cfg_.cta_group * block_m(cfg_), k_block_of"))

# ---------------------------------------------------------------------------------------------------------------------
# grouped_1d1d: ids begin with "moe-"
of("kernels/grouped_1d1d/group_walk.h")
m("moe-walk-from-zero", "every worker begins at tile 0", r"mismatch|GM",
  ("next_(int(isa.ctaid().x) / cfg.cta_group)", "next_(0)"))
m("moe-walk-strides-one", "workers take tiles one by one", r"mismatch|GM",
  ("      next_ += workers_;\n      return tile;", "      next_ += 1;\n      return tile;"))
m("moe-end-of-group", "a group ends at its own first row", r"mismatch|GM4",
  ("word(p.offsets, g + 1)", "word(p.offsets, g)"))
m("moe-skips-nothing", "groups without an expert have tiles", r"GM5|GM1|TM\d",
  ("tiles_ = group_.has_work() ? tiles_m() * tiles_n() : 0;", "tiles_ = tiles_m() * tiles_n();"))
m("moe-tiles-before", "tiles of the groups before are forgotten", r"mismatch|GM4|GM",
  ("      tiles_before_ += tiles_;\n", "      tiles_before_ = tiles_;\n"))
m("moe-tiles-rounded-down", "a tail has no tile", r"GM4|mismatch",
  ("    return ceil_div(cfg_.ab_swapped ? columns_ : group_.end_row - group_.first_row, cfg_.mma_m);",
   "    return (cfg_.ab_swapped ? columns_ : group_.end_row - group_.first_row) / cfg_.mma_m;"))
m("moe-narrow-block", "the last block of a swizzle is as wide as the others", r"mismatch|GM",
  ("const int width = fast - first < block ? fast - first : block;", "const int width = block;"))
m("moe-no-scale-offset", "scales of a group without the padding before it", r"PV1.*SFA.*moe_loader\.h",
  ("first / rows_per_scale_group(cfg_) + scale_offset", "first / rows_per_scale_group(cfg_)"))
of("kernels/grouped_1d1d/moe_loader.h")
m("moe-other-expert", "weights of another expert", r"B of group .*moe_loader\.h",
  ("const int weight = tile.group.expert * params_.n,", "const int weight = (tile.group.expert + 1) % 2 * params_.n,"))
m("moe-scales-of-n", "the scales of experts lie N rows apart, not whole atoms", r"PV1.*SFB.*moe_loader\.h",
  ("tile.group.expert * ceil_div(params_.n, kScaleAtomRows)", "tile.group.expert * params_.n / kScaleAtomRows"))
m("moe-half-forgotten", "pairs: both CTAs load the same rows of B", r"B of group .*moe_loader\.h",
  (" + tile.n * cfg_.mma_n + place_.half * block_n(cfg_);", " + tile.n * cfg_.mma_n;"))
of("kernels/grouped_1d1d/token_rows_of_tile.h")
m("moe-end-of-all", "a tile ends at its own last row, whatever group that is of", r"mismatch|GM5",
  ("const int end = first + rows < tile.group.end_row ? first + rows : tile.group.end_row;", "const int end = first + rows;"))
m("moe-search-low", "the search for the end of a group is one short", r"GM5|GM4|mismatch",
  ("low = middle + 1;", "low = middle;"))
m("moe-factor-of-group", "the factor of expert 0", r"PV2.*factor.*guarded_writer\.h", ("4 * uint64_t(tile.group.expert)", "0 * uint64_t(tile.group.expert)"))
of("kernels/grouped_1d1d/work_ring.h")
m("moe-ring-no-acquire", "a slot is overwritten before it is read", r"SM3|work_empty|MB5|MB8",
  ("const int stage = ring.producer_acquire(loc);", "const int stage = ring.producer_stage();"))
m("moe-ring-no-sync", "a slot is released before all lanes have read it", r"SM3|work_empty",
  ("    isa_.bar_warp_sync();  // all lanes have read\n", ""),
  survives="the lane that arrives is elected by all lanes, which the checker takes for a meeting of them")
m("moe-ring-half-slot", "the second half of a slot is written behind the arrival", r"SM3",
  ("        isa_.st_shared_b128(slot(stage) + 16, value.group, loc);\n        isa_.mbarrier_arrive(ring.full(stage), Scope::cta, loc);\n",
   "        isa_.mbarrier_arrive(ring.full(stage), Scope::cta, loc);\n        isa_.st_shared_b128(slot(stage) + 16, value.group, loc);\n"))
m("moe-ring-no-end", "the slot without work is not published", r"work_full",
  ("      ring.producer_step(loc);\n      more = tile.valid;", "      ring.producer_step(loc);\n      more = tile.valid && tile.k_count > 0 && ++published < 2;"),
  ("    bool more = true;\n", "    bool more = true;\n    int published = 0;\n"))

# ---------------------------------------------------------------------------------------------------------------------
# grouped_1d2d: ids begin with "moefp8-"
of("kernels/grouped_1d2d/token_loader.h")
m("moefp8-scale-at-token", "scales are taken where the token is, without padding between groups", r"TM10|mismatch",
  ("TensorCoords{scale, k_block_of", "TensorCoords{token, k_block_of"))
m("moefp8-scale-of-group", "every tile of a group takes its first scales", r"mismatch",
  ("tile.group.scale_group + (token - tile.group.first_row)", "tile.group.scale_group + 0 * (token - tile.group.first_row)"))
m("moefp8-no-scales", "scales of tokens are not loaded", r"input_full",
  ("    isa.cp_async_bulk_tensor_shared_global(stage.a_scales.base,", "    if (false) isa.cp_async_bulk_tensor_shared_global(stage.a_scales.base,"))
m("moefp8-weights-of-tile", "an expert's weights begin a tile too late", r"B of group .*token_loader\.h",
  ("tile.group.expert * params_.n + tile.n * cfg_.mma_n", "tile.group.expert * params_.n + (tile.n + 1) * cfg_.mma_n"))
m("moefp8-own-barrier", "pairs: the odd CTA's bytes count on its own barrier", r"input_full|MB15|MB5",
  ("leader_address(cfg_, stage.full())", "stage.full()"))
m("moefp8-half-forgotten", "pairs: both CTAs load the same rows of B", r"B of group .*token_loader\.h", (" + place_.half * block_n(cfg_);", ";"))
of("kernels/grouped_1d2d/params.h")
m("moefp8-scales-of-expert-0", "all experts' products take the first one's block scales", r"mismatch",
  ("b_scales + uint64_t(expert) *", "b_scales + 0 * uint64_t(expert) *"))
m("moefp8-scales-apart", "block scales of experts lie N rows apart, not N / 128", r"mismatch|GM1",
  ("uint64_t(expert) * uint64_t(n_blocks)", "uint64_t(expert) * uint64_t(n)"))
of("kernels/grouped_1d2d/grouped_sums_epilogue.h")
m("moefp8-whole", "every tile is stored as a whole one", r"GM5|mismatch", ("  if (tokens.whole())\n", "  if (true)\n"))
m("moefp8-guard-all", "stores are guarded by all rows, not by the group's", r"GM5|mismatch",
  ("GlobalMatrix{params.groups.c, tokens.end, params.n}", "GlobalMatrix{params.groups.c, params.m, params.n}"))
m("moefp8-row-of-group", "a tail is stored at the group's first row", r"mismatch|GM",
  ("tokens.end, params.n}, tokens.first, column)", "tokens.end, params.n}, tile.group.first_row, column)"))
m("moefp8-no-rows-no-sums", "a CTA without rows of a short group passes its k tiles over", r"input_empty|accum_empty",
  ("    sum_k_tiles(isa, cfg,", "    if (tokens.end > tokens.first) sum_k_tiles(isa, cfg,"))
m("moefp8-tail-not-summed", "tails are stored before their products are in", r"input_empty|accum_empty|mismatch",
  ("    sum_k_tiles(isa, cfg,", "    if (tokens.whole()) sum_k_tiles(isa, cfg,"))
m("moefp8-tile-kept", "the expert of the first tile is used for all", r"PV2.*scales of blocks",
  ("params.scales_of(cfg, tile.group.expert)", "params.scales_of(cfg, tile.group.expert / 2)"))
of("kernels/grouped_1d2d/grouped_1d2d_kernel.h")
m("moefp8-work-tiles", "the MMA warp adds all k tiles of a tile in one accumulator", r"accum_full|input_empty|mismatch",
  ("return KTileScheduler<Scheduler>{scheduler};", "return scheduler;"),
  ("SM100_HD static KTileScheduler<Scheduler> work(", "SM100_HD static Scheduler& work("))

# ---------------------------------------------------------------------------------------------------------------------
# grouped_block_scaled: ids begin with "maps-"
of("kernels/grouped_block_scaled/map_editor.h")
m("maps-no-acquire", "maps are not acquired", r"TP2",
  ("  for (int i = 0; i < count; ++i)\n    isa.fence_proxy_tensormap_acquire(maps + uint64_t(i) * kTensorMapBytes, MemoryScope::gpu, loc);\n", ""))
m("maps-acquire-first", "the first map of a set is acquired, the others are not", r"TP2",
  ("  for (int i = 0; i < count; ++i)\n    isa.fence_proxy_tensormap_acquire(", "  for (int i = 0; i < 1; ++i)\n    isa.fence_proxy_tensormap_acquire("))
m("maps-no-warp-sync", "a copy of a template is taken before its edit", r"TP\d|SM3|LN\d",
  ("    isa.bar_warp_sync();  // the lanes copy what one of them has edited\n", ""),
  survives="the simulator's warps run in step: what one lane edits the others copy behind it")
m("maps-no-release", "maps edited in place are not released", r"TP3",
  ("    isa.fence_proxy_tensormap_release(MemoryScope::gpu, loc);\n", ""))
m("maps-address-kept", "the address of a matrix is the group's before", r"TM1\].*no allocation|A of group|B of group|TP",
  ("  isa.tensormap_replace_global_address(map, matrix.address, loc);\n", ""))
m("maps-rows-kept", "the rows of a matrix are the group's before", r"PV1.*zeros from beyond the tensor's end|GM",
  ("  isa.template tensormap_replace_global_dim<1>(map, matrix.rows, loc);\n", ""))
m("maps-stride-kept", "the row pitch of a matrix is the group's before", r"mismatch|GM",
  ("  isa.template tensormap_replace_global_stride<0>(map, matrix.row_bytes, loc);\n", ""))
m("maps-scale-stride-kept", "the pitch of the scale atoms is the group's before", r"PV1.*SF[AB].*scaled_loader\.h",
  ("  isa.template tensormap_replace_global_stride<1>(map, uint64_t(scales.k_atoms) * kScaleAtomBytes, loc);\n", ""))
of("kernels/grouped_block_scaled/grouped_loader.h")
m("maps-one-slot", "a set of maps is edited while copies read it", r"TP1",
  ("slot = slot + 1 == slots ? 0 : slot + 1;", "slot = 0;"))
m("maps-group-of-first", "maps are edited for the first group alone", r"A of group 0 .* belong|GM",
  ("if (tile.group == group || tile.k_count == 0) return false;", "if (group >= 0 || tile.k_count == 0) return false;"))
m("maps-sfb-of-m", "the scales of B have as many rows as A", r"PV1.*SFB.*scaled_loader\.h",
  ("const int rows = i % 2 == 0 ? problem.m : problem.n;", "const int rows = i != 1 ? problem.m : problem.n;"))
m("maps-pointers-off", "pointers of the next group", r"mismatch|GM|TM",
  ("load_pointer(isa, params_.pointers, tile.group, GroupPointer(i), loc)", "load_pointer(isa, params_.pointers, tile.group + 1, GroupPointer(i), loc)"))
of("kernels/grouped_block_scaled/group_scheduler.h")
m("maps-walk-from-zero", "every worker begins at tile 0", r"mismatch|GM",
  ("index_(int(scheduler.isa_.ctaid().x) / scheduler.cfg_.cluster_m)", "index_(0)"))
m("maps-half-forgotten", "pairs: both CTAs compute the same rows", r"mismatch|GM4",
  (".m = (local - n * tiles_.along_m) * cfg.cta_group + half,", ".m = (local - n * tiles_.along_m) * cfg.cta_group,"))
m("maps-along-n", "tiles are counted along N, and placed along M", r"mismatch|GM4",
  ("div_u32(uint32_t(local), uint32_t(tiles_.along_m))", "div_u32(uint32_t(local), uint32_t(tiles_.along_n))"))
of("kernels/grouped_block_scaled/grouped_epilogue.h")
m("maps-output-of-first", "the map of C is edited for the first group alone", r"mismatch|GM",
  ("if (tile.group != group_ && group.is_first(isa))", "if (group_ < 0 && group.is_first(isa))"))
m("maps-no-zeros", "a group with K = 0 is left out", r"GM4", ("      write_zero_tile(isa, cfg, group, output);\n", ""))
m("maps-no-template", "the template of C is not copied to shared memory", r"SM\d|TP|TM",
  ("isa.elected([&] { copy_template(isa, params_.c, copy_, loc); });", ";"))

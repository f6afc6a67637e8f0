// SPDX-License-Identifier: Apache-2.0
/// Every check of the simulator: what `sm100sim list checks` and `sm100sim explain` print.  Data only; tests keep
/// docs/checks.md equal to it, and every id that the sources report in it.
#pragma once

#include <string_view>

namespace sm100::sim {

enum class Severity {
  error,    ///< hardware traps, PTX leaves it undefined, or the kernel contradicts itself: the run ends
  warning,  ///< legal, but hardly meant: the run goes on
};

constexpr std::string_view name(Severity severity) { return severity == Severity::error ? "error" : "warning"; }

struct Check {
  std::string_view id;
  Severity severity;
  std::string_view title;
  std::string_view meaning;
  std::string_view symptom;  ///< why hardware misbehaves, and what one sees there
  std::string_view mend;
  std::string_view source;     ///< sections of the PTX ISA, or where else the rule comes from
  std::string_view catalogue;  ///< entries of the bug catalogue (sim/bug_catalogue.h); empty: none
};

inline constexpr Check kChecks[] = {
    // ---- mbarrier
    {"MB1", Severity::error, "mbarrier operation where no mbarrier has been initialised",
     "An arrive, expect_tx, complete_tx or wait names a shared-memory word that holds no valid mbarrier in this "
     "CTA, or one that mbarrier.inval has ended; or inval comes while warps still wait. A tcgen05.commit that "
     "arrives "
     "behind inval, where nothing else has been written, is a warning: Triton's warp-specialised kernels end so.",
     "Undefined. The operation changes whatever bytes lie there: arrivals are lost and somebody waits for ever, "
     "at the start of the kernel and depending on launch skew.",
     "Initialise every barrier in one thread, then fence.mbarrier_init, then a CTA barrier (a cluster barrier "
     "where other CTAs arrive) before the first use. Check the address and the stage index.",
     "PTX 9.7.13.15", "KB-26"},
    {"MB2", Severity::error, "mbarrier word initialised again or overwritten",
     "mbarrier.init hits a word that holds a valid mbarrier, or something that is no mbarrier operation has "
     "changed the word.",
     "Undefined. The phase and its counts jump: waiters pass early or never. 32 lanes that all run init show as "
     "this too.",
     "Run init in one lane, once; lay buffers out so that no tile or response overlaps the barriers; use "
     "mbarrier.inval before the memory serves another purpose.",
     "PTX 9.7.13.15", "KB-22, KB-33"},
    {"MB3", Severity::error, "mbarrier address misaligned or in the wrong CTA",
     "The address is not 8-byte aligned, lies outside the CTA's shared memory, or a .shared::cta form (init, "
     "wait, local arrive, ld.shared) carries the rank of another CTA.",
     "Undefined, or a fault. With a mapped address the local form touches the wrong CTA's word.",
     "Use mapa and the .shared::cluster form for other CTAs; wait only on the own CTA's barriers. A tensor "
     "load's mbarrier is in the destination CTA, or its peer with .cta_group::2.",
     "PTX 9.7.13.15, 9.7.9.25", "KB-05, KB-35"},
    {"MB4", Severity::error, "mbarrier count out of range", "The count of init or arrive is not in 1 to 2^20 - 1.",
     "Hardware traps on the first use of a barrier initialised with 0 or 2^20.",
     "Compute the count from the participants: threads that arrive, commits of the cluster, one per armed "
     "stage.",
     "PTX 9.7.13.15", "KB-04"},
    {"MB5", Severity::error, "arrival on a phase that has no pending arrivals left",
     "More arrivals than the barrier counts: all have arrived and the phase is still open for bytes. Or the lanes "
     "of one instruction arrive so often that they complete a phase and the next one, too.",
     "Outside the documented range; an H200 traps (launch failure). Of many lanes the phases complete one after "
     "the other: waiters pass early, or sleep through.",
     "Arrive once per expected participant: usually 32 lanes ran what one elected lane should, or the count "
     "forgets somebody.",
     "PTX 9.7.13.15", "KB-03, KB-04"},
    {"MB6", Severity::error, "tx-count leaves its range",
     "expect_tx or complete_tx moves the tx-count beyond +-(2^20 - 1) bytes.",
     "Undefined; an H200 traps. Seen with one stage above 1 MiB, or when a barrier is armed again and again.",
     "Arm each phase once with the bytes of its copies; split larger stages over several barriers.",
     "PTX 9.7.13.15", "KB-03, KB-10, KB-11"},
    {"MB7", Severity::error, ".noComplete arrival that completes, or a pending_count of another state",
     "An arrival with .noComplete takes the last pending arrival of a phase whose bytes are in, or "
     "mbarrier.pending_count gets a state that no .noComplete form has returned.",
     "Undefined: the phase may not complete, and its waiters sleep for ever.",
     "Use .noComplete only where other arrivals are sure to follow; else mbarrier.arrive without it.",
     "PTX 9.7.13.15", ""},
    {"MB8", Severity::error, "wait for a parity that no longer, or already, names the phase that is meant",
     "A warp waits on a barrier whose phase it should see next has completed two or more phases ago, and nothing "
     "orders the phases in between before its wait (it was lapped); or with a parity other than 0 and 1. As a "
     "warning: two waits in a row by one warp use the same parity and the second passes on the phase that the "
     "first has seen. After test_waits that were true the same phase may be tested again, and waited for once.",
     "A parity names the open phase or the one before, nothing older: a lapped waiter sleeps through a phase "
     "that has long completed, a stale one passes at once and reads a stage that is not filled. Right when the "
     "producer leads, wrong numbers when it lags, a hang one lap later.",
     "Let one cursor own index and parity and step both together, once per use; drain with the running parity; "
     "keep arrivals from running ahead of a role that has to see every phase.",
     "PTX 9.7.13.15.16", "KB-02, KB-09"},
    {"MB10", Severity::error, "CTA exits with a barrier in the middle of a phase",
     "At exit a barrier of the kernel's table still misses bytes (error) or arrivals (warning).",
     "Bytes: a copy may land in memory of the next CTA. Arrivals: legal, but a count was wrong or somebody's "
     "last arrival is still missing, and if it comes late it hits the next CTA.",
     "Compare expect_tx with the bytes of the copies and the init count with the arrivers; wait for what is "
     "outstanding before exit.",
     "PTX 9.7.13.15; convention of this kernel family", "KB-10, KB-11, KB-19, KB-28, KB-33"},
    {"MB11", Severity::error, "phase completes before its copies have landed",
     "An mbarrier's phase completes while a copy that signals it is on its way: expect_tx counted fewer bytes than "
     "the "
     "copies bring.",
     "The consumer reads a stage that is not filled; the late bytes count towards the next phase, which completes "
     "earlier still.",
     "Expect the bytes of all copies of the phase: A and B, every k tile of a group, both CTAs of a pair.",
     "PTX 9.7.13.15", "KB-10"},
    {"MB12", Severity::error, "operation reaches a CTA after its exit",
     "A remote arrive, a multicast copy, a commit, a CLC response, a load, a store or a copy of another CTA "
     "reaches "
     "a CTA of the cluster that has exited.",
     "Undefined: a fault (\"cluster target block not present\"), a hang at the end, or bytes in the next CTA's "
     "memory. Sporadic.",
     "Drain before exit: wait until every stage has been released by all CTAs that signal it, or end with a "
     "cluster barrier.",
     "PTX 9.7.9.25, 9.7.13.15; CUDA programming guide, distributed shared memory", "KB-28, KB-33"},
    {"MB13", Severity::warning, "arrive_drop leaves no arrival",
     "arrive_drop takes the last expected arrival out of all later phases.",
     "The barrier does not complete by itself any more: the next phase ends when an expect_tx and its bytes come "
     "(H200), which nobody may have meant.",
     "End the barrier with mbarrier.inval once all have dropped, or let one participant stay.", "PTX 9.7.13.15",
     ""},
    {"MB14", Severity::error, "barrier used by others without a happens-before from its init",
     "A thread or an asynchronous unit uses a barrier whose init does not happen before the use. Two cases are "
     "warnings, because published kernels have them and work: a unit uses the barrier, a barrier of threads lies "
     "between, but neither fence.mbarrier_init nor fence.proxy.async follows the init (ThunderKittens); or the "
     "init "
     "comes after the last fence.mbarrier_init and what lies between is a cluster barrier with .relaxed arrival, "
     "or a "
     "tcgen05.commit (CUTLASS 70). For threads release and acquire are enough, in other CTAs too.",
     "The arrival may come before the init and be lost. It depends on launch skew: a hang at start, now and "
     "then.",
     "init, fence.mbarrier_init.release.cluster, then barrier.cluster.arrive and wait by all CTAs (a CTA "
     "barrier is enough for one CTA alone).",
     "PTX 9.7.13 (fence), 9.7.13.15", "KB-26"},
    {"MB15", Severity::error, "arrival by a role that the barrier table does not list",
     "A warp arrives on a barrier whose row in the kernel's table names other roles as arrivers.",
     "The phase completes too early by that arrival; the barrier's waiters pass before the work is done, and "
     "later phases are offset.",
     "Look at the address: a ring of zero stages aliases the next array, a stage index runs over the end. If "
     "the arrival is meant, add the role to the table.",
     "the kernel's barrier table", "KB-05, KB-33"},
    {"MB16", Severity::warning, "barrier that nobody waits for collects arrivals",
     "At CTA exit a barrier of the kernel's table has got arrivals and no warp has ever waited on it.",
     "Usually the barrier of the wrong CTA: the one that should have got the arrivals belongs to the pair's "
     "leader or to the cluster's first CTA, which hangs.",
     "Map the address to the CTA that waits (mapa, or clear the pair bit); leave the arrive out if nobody "
     "waits.",
     "the kernel's barrier table", "KB-05"},
    {"MB17", Severity::warning, "initialised for other arrivals than the table's",
     "A barrier of the kernel's table is initialised with a count that is not the table's.",
     "Too small: phases complete before all have arrived, and a stage or tensor memory is reused under a reader; "
     "too large: the first wait hangs.",
     "Initialise from the table; count every arrival of every CTA: CM/G + CN - 1 commits for a stage of a cluster.",
     "the kernel's barrier table", "KB-04, KB-19"},
    {"MB18", Severity::error, "wait by a role that the barrier table does not list",
     "A warp waits on a barrier whose row in the kernel's table names other roles as waiters.",
     "It hangs, as nothing comes for it, or passes at once, before what it needs is there.",
     "Look at the address: the other barrier of the ring, a stage index that runs over the end into the next "
     "array. "
     "If the wait is meant, add the role to the table.",
     "the kernel's barrier table", ""},
    {"MB19", Severity::warning, "a wait whose answer decides nothing",
     "Said as a note. In PTX: an mbarrier.try_wait or test_wait whose predicate no branch, no guard and no store "
     "depends on. It "
     "gives up "
     "after a while, and the code goes on as if the phase had completed. It orders nothing, so whatever it should "
     "have "
     "protected is found besides (TC3, TC7 and others); by itself it may be a look ahead that nobody needed.",
     "Data of the phase before, or none, whenever the wait lasts longer than usual.",
     "Ask again until the answer is true: while (!try_wait(...));", "the kernel itself", ""},
    {"SC1", Severity::error, "scope .cta across CTAs",
     "An arrive on an mbarrier of another CTA, or a wait on one where threads of other CTAs arrive, has the scope "
     ".cta: it orders "
     "nothing for them. A warning where an arrive states .cta; with run.scopes = \"strict\" a finding, and "
     "also where it "
     "states no scope, which is .cta by the letter. Published kernels leave the scope out, and work.",
     "Nothing on most runs; bytes that were written before the arrive are seen late, by another CTA.",
     "mbarrier.arrive.release.cluster and mbarrier.try_wait.acquire.cluster. A release at cluster scope waits for "
     "the warp's "
     "writes.",
     "PTX 9.7.13.15; memory consistency model, scope", "KB-35"},

    // ---- TMA
    {"TM1", Severity::error, "tensor map invalid, or not of this copy",
     "The map was never encoded, breaks an encoding rule, has another rank than the instruction, is not for loads "
     "or not for stores, or describes "
     "memory outside its allocation.",
     "An illegal instruction or address, or bytes from anywhere.",
     "Encode with cuTensorMapEncodeTiled and check its result; use the form of the map's rank; check base, "
     "dimensions and strides.",
     "PTX 9.7.9.25, 5.5", "KB-24, KB-25"},
    {"TM2", Severity::error, "shared-memory side of a copy misaligned or out of range",
     "The shared address is not 128-byte aligned (a bulk copy without a tensor: 16) or the bytes leave the CTA's "
     "shared memory.",
     "Misplaced bytes, an overwritten neighbour or a fault.",
     "Align tiles to 128 bytes (to the swizzle atom with swizzle), and count the bytes of the layout.",
     "PTX 9.7.9.25, 5.5", "KB-38"},
    {"TM4", Severity::error, "multicast mask selects no CTA of the cluster",
     "ctaMask is empty or has bits at ranks that the cluster does not have.",
     "Undefined; a fault or a barrier that is never completed.",
     "Bit r is CTA rank r: build masks from cluster dimensions, not from block indices.", "PTX 9.7.9.25, 9.7.16",
     "KB-32"},
    {"TM5", Severity::error, "copied bytes read or overwritten before their complete_tx was observed",
     "Shared memory that a tensor copy writes is read, or written by another copy, with no happens-before chain "
     "from the copy's complete_tx.",
     "Old bytes, or half of a tile: right as long as the copy is fast, wrong numbers under load.",
     "Wait on the copy's mbarrier (right stage, right parity) before the first read, in every role that reads, "
     "or be ordered behind a warp that has waited.",
     "PTX 8 (memory consistency model), 9.7.9.25, 9.7.13.15.16", "KB-01, KB-02, KB-08, KB-18"},
    {"TM6", Severity::error, "generic write not fenced before an asynchronous read",
     "Shared memory is written by threads and then read through the async proxy (TMA store, UMMA operand, source "
     "of tcgen05.cp) "
     "without fence.proxy.async after the write and a barrier to the issuing thread. PTX counts cp.async to the "
     "generic "
     "proxy, so it needs the fence as well; where only the fence is missing behind cp.async it is a warning, "
     "because "
     "published kernels work without it (CUTLASS 92), also of bytes that the same thread has stored ahead of its "
     "cp.async.mbarrier.arrive. So it is where a copy overwrites the address that "
     "tcgen05.alloc "
     "wrote, behind a barrier (Triton).",
     "The unit may read the bytes from before: an old output strip, wrong products, rare and not reproducible.",
     "Every writing thread runs fence.proxy.async.shared::cta after its writes, then the barrier, then one "
     "thread issues.",
     "PTX 8 (memory consistency model), 9.7.13 (fence)", "KB-14"},
    {"TM7", Severity::error, "stage overwritten while the tensor core may still read it",
     "A copy writes a stage that an MMA or tcgen05.cp reads, and nothing that was observed before the copy says "
     "that it has finished: no tcgen05.commit of it completed the stage's empty barrier. The same of a stage that "
     "threads read. If those threads have told the MMA's thread, whose later commit hands the stage back, it is a "
     "warning: a commit promises nothing but its own MMAs, yet it comes after what its thread waited for.",
     "Wrong products in some tiles, only when copies run ahead of MMAs; with multicast in a neighbour CTA.",
     "Release a stage with tcgen05.commit after its last MMA, to all CTAs that fill it, with the count of all "
     "that read it; let the producer wait for it.",
     "PTX 9.7.16", "KB-04, KB-17, KB-32"},
    {"TM8", Severity::error, "source of a store modified before the store has read it",
     "Shared memory that a TMA store reads is written before wait_group.read in the storing thread and a "
     "barrier from it to the writer.",
     "One strip of a tile contains pieces of the strip two later; likelier with many tiles per CTA.",
     "cp.async.bulk.wait_group.read N in the thread that committed the groups, N below the number of buffers, "
     "then a barrier of all writers; 0 before the buffers change their meaning.",
     "PTX 9.7.9.27", "KB-15"},
    {"TM9", Severity::error, "CTA exits with copies in flight",
     "A load into the CTA's shared memory has not landed at its exit (error), or its bulk groups still read its "
     "shared memory (a note: common practice that nothing forbids).",
     "The bytes land in the next CTA's memory. For stores hardware keeps the shared memory until it has been read.",
     "Wait for every stage that was requested; cp.async.bulk.wait_group.read 0 in the storing thread before "
     "exit.",
     "PTX 9.7.9.25, 9.7.9.27", "KB-15, KB-28"},
    {"TM10", Severity::error, "coordinates that the copy does not take",
     "Coordinate 0 times the element size is no multiple of 16 bytes (of the packed ALIGN16B types: coordinate 0 "
     "no multiple of 128), or a store starts at a negative "
     "coordinate. Of an im2col copy: its first pixel lies outside of the map's bounding box, or a store's pixels "
     "leave "
     "the tensor.",
     "A fault, or bytes that are shifted.",
     "Choose tile widths whose rows are multiples of 16 bytes; guard edge tiles instead of moving them.",
     "PTX 5.5, 9.7.9.25", "KB-24"},
    {"TM14", Severity::error, "reduction that the instruction does not have",
     "cp.reduce.async.bulk, red.async, atom or red with a pair of operation and type that PTX does not have; of a "
     "tensor reduction the tensor map's data type decides.",
     "ptxas refuses it, but for tensor reductions, where the result is undefined.",
     "Take another type of the same width (a tensor map of INT32 for s32), or another instruction.",
     "PTX 9.7.9.25, 9.7.13.3, .4, .7", ""},
    {"TM15", Severity::error, "bulk copy of a size or from an address that is no multiple of 16",
     "cp.async.bulk without a tensor moves whole 16 bytes between addresses that are multiples of 16.",
     "An H200 moves something else without a fault; the mbarrier then waits for ever.",
     "Round sizes up to 16 bytes and allocate accordingly; load odd tails with ld.global or cp.async.",
     "PTX 9.7.9.25", ""},
    {"TM16", Severity::warning, "bulk copy between CTAs names its own CTA",
     "cp.async.bulk from shared::cta to shared::cluster with an address of the CTA that issues it.",
     "PTX asks for another CTA; an H200 copies all the same.",
     "Copy within a CTA by loads and stores, or check the rank that mapa got.", "PTX 9.7.9.25", "KB-05"},

    // ---- tcgen05
    {"TM11", Severity::warning, "stage read and filled again without a proxy fence",
     "Threads read what a copy has brought through the generic proxy, the next copy writes there through the async "
     "proxy, and no fence.proxy.async lies between. It is asked of kernels whose table of mbarriers has the "
     "arrive as fenced: published kernels hand stages back by an arrive alone, and work (CUTLASS).",
     "Stale or mixed values, extremely rare; seen at scale.",
     "fence.proxy.async.shared::cta after the loads, before the arrive that hands the stage back.",
     "PTX 8 (memory consistency model)", "KB-13"},
    {"TC1", Severity::error, "tensor memory outside a live allocation",
     "ld, st, cp or mma names columns that this CTA (or its peer, with cta_group::2) has not allocated or has "
     "freed.",
     "Launch failure, or another CTA's data in the last tile.",
     "Free after the last reader: a barrier from all readers to the freeing warp. Publish the allocated address "
     "before it is used.",
     "PTX 9.7.16", "KB-19, KB-20, KB-22"},
    {"TC2", Severity::error, "tensor-memory lanes or convergence wrong",
     "A .sync.aligned instruction runs with fewer than 32 lanes, or the lane of a tensor-memory address does "
     "not fit the shape of tcgen05.ld and .st or the layout of D and A; or the lane or the first column of a "
     "tcgen05.cp is not allowed. As a warning: tcgen05.ld or .st names "
     "another warp's quarter. PTX gives a warp its own quarter only; hardware ignores these two bits of the "
     "address, "
     "and DeepGEMM relies on it.",
     "Undefined: a hang, or registers of other rows.",
     "Keep alloc, ld, st, elect and barriers outside of elected branches; warp w of a group reads lanes 32 (w "
     "mod 4) on.",
     "PTX 9.7.16", ""},
    {"TC3", Severity::error, "accumulator read before the commit of its MMAs was observed",
     "tcgen05.ld reads columns that an MMA or a tcgen05.cp writes, and no completed commit of it happens before.",
     "Partial sums, right as long as the epilogue is late.",
     "Commit to an mbarrier after the last MMA of the tile, from the thread that issued it, and wait on it "
     "before the first ld.",
     "PTX 9.7.16", "KB-17"},
    {"TC4", Severity::error, "tcgen05.st not waited for",
     "Columns written by tcgen05.st are loaded or used by an MMA before tcgen05.wait::st of the storing warp. A "
     "load "
     "by the same warp, or by another one behind a barrier, is a warning: CUTLASS's stream-K and FMHA do it, so "
     "tensor "
     "memory seems to carry out such accesses in order; nobody has measured it. Without a barrier, or before an "
     "MMA, "
     "it is an error; before an MMA a warning, if the storing warp has loaded since and waited for that (stream-K "
     "again).",
     "The old columns are read.",
     "tcgen05.wait::st.sync.aligned after the last st, then tcgen05.fence::before_thread_sync and the barrier.",
     "PTX 9.7.16", ""},
    {"TC5", Severity::error, "instruction descriptor not allowed",
     "Shape, types or reserved bits of the instruction descriptor are not in the tables of the MMA's kind and "
     "cta_group.",
     "Illegal instruction, or products of another shape.",
     "Build the descriptor from M, N and types (M 64 or 128, with cta_group::2 128 or 256; N in steps of 8 or "
     "16).",
     "PTX 9.7.16", ""},
    {"TC6", Severity::error, "shared-memory descriptor not allowed",
     "The constant bits, the swizzle code, the base offset or a reserved bit of a matrix descriptor are wrong.",
     "Operands are read from other addresses: all products wrong.",
     "Encode address, leading and stride byte offsets in units of 16 bytes; bits 46 to 48 are 0b001.", "PTX 9.7.16",
     "KB-38"},
    {"TC7", Severity::error, "MMA operand that has not landed, or outside shared memory",
     "The tensor core reads an operand, or the source of a tcgen05.cp, whose copy was not observed before the MMA "
     "was issued, or a range that "
     "leaves shared memory.",
     "Products of old bytes: usually correct because the copy is fast, wrong under load.",
     "Wait on the full barrier of each operand's stage in the warp that issues the MMA, before it; count both "
     "operands' bytes in expect_tx. Where the report says that an operand reaches beyond its stage: mend its "
     "descriptor.",
     "PTX 9.7.16, 9.7.13.15.16", "KB-02, KB-10, KB-18"},
    {"TC8", Severity::error, "cta_group mixed, or a pair without its peer",
     "tcgen05 instructions of one kernel use different cta_group values, or cta_group::2 in a CTA that has no "
     "peer or whose peer has exited. A tensor load with .cta_group::2 signals a peer that the cluster does not "
     "have.",
     "Undefined; launch failure.",
     "Use one cta_group everywhere; clusters of pairs have an even number of CTAs; neither CTA exits before "
     "both are done.",
     "PTX 9.7.16", "KB-17, KB-21"},
    {"TC9", Severity::error, "tensor-memory allocation out of step",
     "alloc with a wrong number of columns or after relinquish_alloc_permit, dealloc of something else or while "
     "MMAs run, or exit with columns still allocated. With cta_group::2 also a dealloc that nothing orders behind "
     "the peer's alloc.",
     "The next CTA on that SM blocks in alloc, or a launch failure.",
     "Powers of two from 32 to 512; dealloc what was allocated, by one warp, after everybody has read; "
     "relinquish last.",
     "PTX 9.7.16", "KB-19, KB-20, KB-21, KB-23"},
    {"TC12", Severity::warning, "commit by a thread without MMAs, or an MMA by several lanes",
     "tcgen05.commit tracks the operations of its own thread: by a thread that issued none it arrives at once. "
     "An MMA or tcgen05.cp that several lanes execute is issued once per lane.",
     "The barrier fires early: a stage is overwritten or an accumulator read too soon. An MMA per lane adds its "
     "product that often.",
     "Issue MMA and commit in one elected branch of one warp, with one election.", "PTX 9.7.16", "KB-17, KB-25"},
    {"TC13", Severity::error, "tensor memory read that nobody has written",
     "tcgen05.ld loads columns, or tcgen05.mma adds to a D or reads an A or scale factors, that neither an MMA nor "
     "tcgen05.cp or .st has written since tcgen05.alloc. The read alone is legal, and registers may be dropped: it "
     "is a finding when the "
     "result holds NaN, a warning when the result is wrong otherwise. In a run without data it is a warning if "
     "none of "
     "the columns was written.",
     "The values of whoever had the columns before: right with a fresh chip's zeros, wrong from the second tile or "
     "the "
     "second kernel on.",
     "The first MMA of a tile takes enable-input-d false; load the columns that the MMA writes (N, the layout of "
     "M), and "
     "no tile that had no MMAs.",
     "PTX 9.7.16", "KB-25"},
    {"TC14", Severity::error, "scale factors whose copies in tensor memory differ",
     "A block-scaled MMA finds different scale factors of a row in the quarters of the lanes (SFB of a pair's M = "
     "128: "
     "in the quarters of one half). PTX wants the same in all of them. Here the factor is NaN: it is a finding "
     "when "
     "the "
     "result holds NaN, a warning when the result is wrong otherwise.",
     "Each quarter of the tensor core multiplies by what it finds: rows of some quarters come out wrong.",
     "Copy with tcgen05.cp.32x128b.warpx4, or let each of four warps store its quarter.", "PTX 9.7.16", ""},
    {"TC15", Severity::error, "accumulator overwritten while tcgen05.ld of it may be outstanding",
     "An MMA writes columns that a warp has loaded, and the warp released them before wait::ld, or before its "
     "last load. A load is over once wait::ld has covered it or a register of it has been read (TC18).",
     "A few columns of some tiles contain partial sums of the tile that uses the stage next; likelier with one "
     "accumulator stage.",
     "Release an accumulator after tcgen05.wait::ld of its last load, in every epilogue warp.", "PTX 9.7.16",
     "KB-12"},
    {"TC16", Severity::warning, "tcgen05.fence missing around a hand-off",
     "Tensor memory passes from one thread to another through a barrier without "
     "tcgen05.fence::before_thread_sync before it or ::after_thread_sync behind it. Told once for each pair of "
     "lines; "
     "not for a dealloc behind what is over, because the fences order asynchronous operations only.",
     "The compiler or the hardware may move the tcgen05 operation across the barrier. No case is known on B200 "
     "hardware.",
     "before_thread_sync before the arrive, after_thread_sync behind the wait; a commit implies the former.",
     "PTX 9.7.16", "KB-12"},
    {"TC17", Severity::error, "tensor memory of one tile read or overwritten without order",
     "Columns that the MMAs of one tile or commit group wrote, or a tcgen05.cp, are read or overwritten by another "
     "with no happens-before chain between them. A tcgen05.cp behind MMAs of its own thread that use the columns "
     "is a note: PTX does not list the two as ordered, but CUTLASS and DeepGEMM copy the next scale factors so. Or "
     "an MMA whose accumulator lies over its own scale factors, or over its A.",
     "Sums of two tiles mixed, or a tile that shows the one before.",
     "One ring of accumulators with full and empty barriers; nobody touches a stage outside its turn, and a "
     "tile without MMAs must not be read.",
     "PTX 9.7.16", "KB-12, KB-25, KB-39"},
    {"TC18", Severity::warning, "register of tcgen05.ld read before tcgen05.wait::ld",
     "An instruction reads a register that a tcgen05.ld writes, and no wait::ld of the warp lies between. The load "
     "counts as over from there on, and so do the warp's earlier ones. Role code does not say which registers its "
     "arithmetic reads, so this is an approximation: per-lane arithmetic (for_each_lane) is taken to read the "
     "loads that "
     "no wait::ld has covered, except a load that was issued while registers of an earlier, awaited one had not "
     "been "
     "used yet (a prefetch: only wait::ld ends it). \"May read\" says so. An instruction that is handed the "
     "registers "
     "themselves reads them for certain.",
     "PTX promises the register dependency and nothing else. It works as far as known, because an instruction "
     "waits for "
     "the registers that it reads; inline assembly without a dependency may be moved in front of it.",
     "tcgen05.wait::ld between the load and the first use.", "PTX 9.7.16", "KB-12"},
    {"TC19", Severity::error, "sparsity metadata that PTX does not define",
     "A tcgen05.mma.sp finds a chunk of K whose 4 bits name an element twice or in descending order (kind::tf32: "
     "neither 0b0100 nor 0b1110), and whose elements are not all zero. It is a "
     "finding when the result holds NaN, a warning when the result is wrong otherwise.",
     "Elements of A are multiplied with the wrong rows of B.",
     "Copy the metadata to the columns that the instruction names, in the layout of its kind (umma_sparsity.h), "
     "and "
     "compare the sparsity selector.",
     "PTX 9.7.16.10.8", ""},

    // ---- registers
    {"RG1", Severity::error, "setmaxnreg with a number or a direction that it does not take",
     "The number is not a multiple of 8 from 24 to 256, or dec would add registers, or inc would take some away.",
     "Undefined; ptxas refuses the numbers, nobody looks at the direction.",
     "Compare with the registers at launch that ptxas -v prints: launch bounds change them.",
     "PTX, Miscellaneous Instructions: setmaxnreg", ""},
    {"RG2", Severity::warning, "warps of a warpgroup execute different setmaxnreg",
     "All four warps of a warpgroup must execute the same setmaxnreg; one executes another number or direction.",
     "PTX promises nothing. It works as far as known: CUTLASS's FMHA does it, and registers are a warp's.",
     "Branch by warpgroup (four warps from a multiple of four on), not by warp.",
     "PTX, Miscellaneous Instructions: setmaxnreg", ""},
    // ---- wgmma (sm_90a)
    {"WG1", Severity::warning, "register of a wgmma that is on its way",
     "An instruction reads or writes a register of D, or writes one of A, between a wgmma.mma_async and the "
     "wgmma.wait_group that covers it.",
     "Undefined in PTX. ptxas sees it and waits there, behind every instruction of the chain (C7514): right "
     "numbers, "
     "a fraction of the speed.",
     "Touch accumulators behind wgmma.wait_group only; in C++ pin them with an empty asm volatile(\"\" : "
     "\"+f\"(d)) "
     "behind it.",
     "PTX, wgmma.mma_async; wgmma.wait_group", ""},
    {"WG2", Severity::error, "warps of a warpgroup execute different wgmma",
     "The n-th wgmma.mma_async of one of four neighbouring warps has another form, other descriptors or another "
     "scale-d than that of another, or the warp's four are not complete.",
     "Undefined: each warp drives a quarter of the tensor core with its own operands.",
     "Compute descriptors and scale-d from what all 128 threads share; warpgroups begin at multiples of four "
     "warps.",
     "PTX, wgmma.mma_async", ""},
    {"WG3", Severity::warning, "wgmma without wgmma.fence",
     "A warp executes its first wgmma.mma_async and has executed no wgmma.fence. Later fences, which what the warp "
     "does with the registers in between may need, are not looked at.",
     "Undefined in PTX; ptxas inserts the fence (C7519).",
     "wgmma.fence.sync.aligned before the first wgmma.mma_async, and wherever its registers have been touched.",
     "PTX, wgmma.fence", ""},

    // ---- cluster launch control
    {"CL1", Severity::error, "CLC response misaligned or out of range",
     "try_cancel writes 16 bytes to an address that is not 16-byte aligned or outside shared memory.",
     "Undefined, or a fault.", "Align the responses to 16 bytes.", "PTX 9.7.13.17", ""},
    {"CL3", Severity::error, "CTA id taken from a failed response",
     "query_cancel.get_first_ctaid of a response whose is_canceled is false.",
     "The id is undefined: a tile that does not exist or that another cluster computes.",
     "Decode the id under the predicate of is_canceled.", "PTX 9.7.13.18", "KB-08"},
    {"CL4", Severity::error, "request after a failed response was observed",
     "A CTA asks for another cluster after it has decoded a failure.", "Undefined.",
     "End the scheduler's walk at the first failure.", "PTX 9.7.13.17", ""},
    {"CL6", Severity::error, "response slot re-used or read too early",
     "A slot is requested again before all readers of the last response have released it, or read before the "
     "response has arrived.",
     "Roles disagree about the tile or about the end of work: some exit, others wait for them.",
     "Arrive on the slot's empty barrier after the load of the response, from every reader; count all of them; "
     "wait on the full barrier before the load.",
     "PTX 9.7.13.17, 9.7.13.15.16", "KB-08"},
    {"CL8", Severity::warning, "response read and overwritten without a proxy fence",
     "Threads read the response through the generic proxy, the CLC unit writes the next one through the async "
     "proxy, and no fence.proxy.async lies between.",
     "Stale or mixed responses, extremely rare; seen at scale.",
     "fence.proxy.async.shared::cta after the load, before the release of the slot.",
     "PTX 8 (memory consistency model), 9.7.13.17", "KB-13"},
    {"CL9", Severity::error, "roles of a cluster disagree about a CLC grant",
     "Two warps of one cluster have decoded their n-th response to different results.",
     "They compute different tiles, or one stops while the other goes on: a deadlock on input or accumulator "
     "barriers with some roles already gone.",
     "Every role decodes every response once, in order, after its full barrier and before its release; look for "
     "a stale stage or parity in the role that is off.",
     "follows from 9.7.13.17; convention of this kernel family", "KB-02, KB-08, KB-31"},

    // ---- barriers, clusters, exit
    {"CB1", Severity::error, "two arrivals of one thread at the cluster barrier",
     "barrier.cluster.arrive twice by a lane or a warp without the wait between them.",
     "Undefined; a warp too few holds everybody, or a phase opens early.", "Pair every arrive with a wait.",
     "PTX 9.7.13 (barrier.cluster)", "KB-36"},
    {"CB2", Severity::error, "cluster wait without an arrive",
     "barrier.cluster.wait by lanes that have not arrived before.", "Undefined.", "Pair every wait with an arrive.",
     "PTX 9.7.13 (barrier.cluster)", "KB-36"},
    {"NB1", Severity::error, "named barrier: id or thread count not allowed",
     "Ids are 0 to 15, counts are multiples of 32 above 0.", "Illegal instruction, or undefined.",
     "Count whole warps; give each group an id of its own.", "PTX 9.7.13.1", "KB-06"},
    {"NB2", Severity::error, "named barrier: two thread counts in one generation",
     "A warp comes with another thread count than those that are already there.",
     "Undefined: the barrier opens early, or never.",
     "Name the count once and use the constant on every side, bar.arrive included.", "PTX 9.7.13.1",
     "KB-06, KB-07"},
    {"NB3", Severity::error, "named barrier: one warp arrives twice in a generation",
     "A warp that has run bar.arrive comes again before the generation is complete, or with nothing that tells it "
     "so.",
     "A warp that is counted too often stands in for one that is missing: the generation completes early.",
     "One bar.arrive for each generation; look for an arrive in a loop whose sync is outside.", "PTX 9.7.13.1",
     "KB-06"},
    {"NB4", Severity::warning, "named barrier: participants change between generations",
     "Two generations of one id count the same number of threads, but other warps came.",
     "Two groups share an id. As long as they take turns it works; when they meet, warps of both make up one "
     "generation, and the rest hangs. The rate depends on load.",
     "Give each group an id of its own; id 0 is also __syncthreads.", "PTX 9.7.13.1", "KB-07"},
    {"NB5", Severity::error, "named barrier: a role that the kernel's table does not list there",
     "A warp comes to a named barrier whose row in the kernel's table names other roles, or that has no row.",
     "The warp stands in for one of the group, whose generation completes early; the group that it belongs to "
     "misses "
     "it, and hangs.",
     "Use the constant of the right barrier; give each group an id of its own.", "PTX 9.7.13.1; the kernel's table",
     "KB-06, KB-07"},
    {"CR1", Severity::error, "CTA rank outside the cluster",
     "mapa or a remote operation names a rank that the cluster does not have.", "Undefined, or a fault.",
     "Ranks are 0 to %cluster_nctarank - 1; do not use block indices.", "PTX 9.7.9 (mapa), 9.7.13.15", "KB-05"},
    {"CR2", Severity::error, "access to shared memory of a CTA that may not have started",
     "A load, store, st.async or bulk copy names shared memory of another CTA of the cluster, and nothing that "
     "this "
     "CTA has done happens before.",
     "The CTAs of a cluster are scheduled together, but they do not begin at one instant: a fault, or bytes of the "
     "CTA that was there before.",
     "barrier.cluster.arrive and .wait by all CTAs before the first access.",
     "CUDA programming guide, distributed shared memory; PTX 9.7.13.4", "KB-26"},
    {"CR3", Severity::error, "CTA exits before what others do to its shared memory is over",
     "The last warp of a CTA exits, and nothing orders an access of another CTA of its cluster to its shared memory, or "
     "an arrival on one of its mbarriers (of another CTA's thread, commit or copy), before. In every schedule: MB12 "
     "tells of what has come too late in this one.",
     "Right on most runs. Else a fault (\"cluster target block not present\"), or bytes of the CTA that comes "
     "next.",
     "End with a cluster barrier, or with an arrive of the other CTA behind its last access and a wait for it. A producer "
     "whose stages peers hand back waits for each of them once more (producer_tail).",
     "CUDA programming guide, distributed shared memory; PTX 9.7.13.4", "KB-28, KB-33"},
    {"LN1", Severity::error, "ring state stepped by some lanes of a warp, used by others",
     "A ring's stage and parity were stepped inside elected or lanes_below, and lanes that were not there wait "
     "with them.",
     "Stage and parity are registers of each lane: the others still wait for the phase before. They pass a stage "
     "that is not theirs, or wait for ever.",
     "Step where all lanes are that use the ring: outside of the branch, or keep its waits and steps in one lane.",
     "PTX 5.1.1 (registers belong to a thread)", ""},
    {"LN2", Severity::warning, "lanes wait for a phase, and the next one completes without them",
     "Several lanes of a warp wait for a phase of an mbarrier. Some go on, signal (arrive, copy, commit), and the "
     "next "
     "phase completes behind that, while nothing says that the others have passed their wait.",
     "PTX lets each lane come to its wait when it likes: one that comes after the next phase is over asks for the "
     "parity of the open phase, and waits for ever. Works on hardware as long as the lanes of the warp stay "
     "together, "
     "and published kernels do it.",
     "__syncwarp() (bar.warp.sync) or elect.sync between the wait and what the one lane does, or one lane that "
     "waits.",
     "PTX 9.7.13.15 (phases), 3.1 (threads of a warp make progress by themselves)", ""},
    {"EX1", Severity::error, "CTA exits while commits to its barriers are on their way",
     "tcgen05.commit arrivals at barriers of the CTA have not landed at its exit.",
     "They hit memory of the next CTA: a sporadic fault, or a barrier there that is one arrival ahead.",
     "Drain: wait with the running parity until every stage has been released, then exit.",
     "PTX 9.7.16; CUDA programming guide, distributed shared memory", "KB-28, KB-09"},
    {"EX2", Severity::error, "CTA exits while a CLC response is on its way",
     "A request of the CTA has not been answered at its exit.",
     "The response and its complete_tx hit memory of the next CTA; with multicast the request itself is "
     "undefined once a CTA of the cluster has exited.",
     "Wait for every response before exit, also for one that nobody wants any more.", "PTX 9.7.13.17", "KB-28"},

    // ---- memory
    {"SM1", Severity::error, "shared access outside the CTA's shared memory",
     "A load or store leaves the CTA's window.", "Launch failure.",
     "Check the layout's size against the launch, and stage indices.", "PTX 5.1 (state spaces)", ""},
    {"SM2", Severity::error, "shared access misaligned", "The address is no multiple of the access's size.",
     "Launch failure (misaligned address).", "Align buffers and pitches to the widest access.",
     "PTX 6.4 (operands)", ""},
    {"SM3", Severity::error, "two warps access the same shared memory without order",
     "Two warps access the same bytes through the generic proxy, one of them writes, and neither happens before "
     "the other. If a tcgen05.commit or a cluster barrier with .relaxed arrival lies between, it is a warning: PTX "
     "promises nothing of it, but the first access was over (the address of tensor memory in CUTLASS's FMHA and in "
     "DeepGEMM's pairs). A store of the bytes that are there already is one, too (Triton's warps all store what is "
     "the "
     "same for all of them; looked at where PTX is executed).",
     "The reader may see old bytes; right on most runs.",
     "A barrier between writer and reader (bar.sync, bar.arrive and bar.sync, or an mbarrier), also before the "
     "next write.",
     "PTX 8 (memory consistency model)", "KB-08, KB-15, KB-22"},
    {"SM4", Severity::error, "shared memory read that nobody has written",
     "A thread, an MMA, a tcgen05.cp or a store of the copy engine reads bytes of its CTA's shared memory that "
     "neither "
     "a thread nor a copy has written since the CTA started. The "
     "read alone is legal, and its value may be dropped or multiplied by zero: it is a finding when the output "
     "holds NaN, "
     "and a warning when it is wrong otherwise. Where nothing compares the output, the run lists it (sm100sim "
     "exec: when "
     "the program says that its results are wrong).",
     "The bytes are those that an earlier CTA has left, of this kernel or of another: right as long as these are "
     "finite and "
     "are multiplied by zero, NaN otherwise, and not reproducible.",
     "Write the bytes in every case (zeros where there is nothing to load: cp.async with fewer source bytes, or a "
     "store), or do "
     "not use them.",
     "PTX 5.1.5 (shared state space): nothing initialises it", "KB-25"},
    {"GM1", Severity::error, "global access outside every allocation",
     "A lane's address lies in no tensor of the problem.", "Illegal address, or bytes of another tensor.",
     "Predicate the lanes beyond the edge; take coordinates from the mapped tile.", "PTX 5.1 (state spaces)",
     "KB-24, KB-30"},
    {"GM2", Severity::error, "global access misaligned", "A lane's address is no multiple of the access's size.",
     "Launch failure (misaligned address).", "Use narrower accesses where rows have odd pitches.",
     "PTX 6.4 (operands)", ""},
    {"GM3", Severity::error, "global memory shared by CTAs without order",
     "Two CTAs, or two warps of one, access the same workspace or output, one writes, and no lock (release, "
     "acquire), "
     "barrier or launch orders them. Two stores are compared lane by lane, guarded ones too; loads by the first "
     "lane's address, if they have no predicate. A warning where the second stores what is there already, as a flag "
     "that whoever comes sets, and where the writer has fenced, a relaxed atomic came behind it and has been read, "
     "and only the "
     "reader's fence is missing: CUTLASS's reductions do so.",
     "Lost partial sums or an old workspace; with unchanged inputs the numbers may even be right.",
     "fence, barrier, then st.release by one thread; ld.acquire and a barrier on the other side; zero locks "
     "before each launch.",
     "PTX 8 (memory consistency model)", "KB-30, KB-34, KB-37"},
    {"GM4", Severity::error, "output that nobody has written",
     "The kernel has ended and elements of its output hold the pattern that was there before. A run without data "
     "cannot see it.",
     "Old bytes in the result: right if the buffer happens to hold the last result.",
     "Look for tiles that no CTA takes (grid, rasterisation, the end of the scheduler's walk), stores that were "
     "not "
     "issued or committed, and predicates that cut off too much.",
     "the problem: every element of the output is a result", "KB-24"},
    {"GM5", Severity::error, "output written that is not the kernel's",
     "The kernel has ended and rows of its output that it has no result for do not hold what was there before. A "
     "run "
     "without data cannot see it.",
     "Other data overwritten: the next expert's first rows, or what a skipped group held.",
     "Guard the stores of tiles that cross the end of a group row by row; TMA stores whole boxes.",
     "the problem: rows of groups without an expert, and rows between groups", "KB-30"},
    {"GM6", Severity::warning, "bulk copy of what threads have written to global memory, without a proxy fence",
     "cp.async.bulk reads, through the async proxy, global memory that a thread of this launch has stored. A "
     "release "
     "and an acquire order the two, and neither the writer before its release nor the reader behind its acquire "
     "has "
     "executed fence.proxy.async.",
     "Old bytes now and then: the copy may overtake the stores. Data of a dispatch are those of the one before.",
     "fence.proxy.async between the acquire and the copy, in the thread that copies.",
     "PTX 8 (memory consistency model: proxies)", ""},
    {"GM7", Severity::error, "global memory read that a bulk or tensor store may still write",
     "A load, of a thread or of the copy engine, reads what a cp.async.bulk or a cp.async.bulk.tensor of the same "
     "launch writes, and nothing orders it behind a cp.async.bulk.wait_group without .read of the storing thread: "
     "with .read the store has only read its source. Of a load by threads the first lane's address is looked at, "
     "of "
     "a box three of its rows.",
     "Old bytes now and then.",
     "cp.async.bulk.wait_group 0 by the thread that has stored; then a barrier, or release and acquire, to whoever "
     "reads.",
     "PTX: cp.async.bulk.wait_group", ""},
    {"TR1", Severity::error, "trap executed",
     "A thread has come to a trap instruction: an assertion of the kernel's own.",
     "The launch ends with an error; nothing of its results may be used.",
     "The line says which assertion; what it compares is wrong.", "what the kernel itself demands", ""},
    {"TR2", Severity::error, "assertion of the kernel failed",
     "A thread has called __assertfail: an assert() of the kernel's source does not hold.",
     "The launch ends with cudaErrorAssert; nothing of its results may be used.",
     "The message names the expression, the file and the line.", "what the kernel itself demands", ""},
    {"TP1", Severity::error, "tensor map edited while a copy may still read it",
     "A thread edits a tensor map in global memory, and nothing orders the edit behind the copies that use the "
     "map; or "
     "a copy uses a map, and nothing orders it behind the edit. A warning where the thread that edits has issued "
     "the "
     "loads itself and has waited for its bulk groups since, as CUTLASS does: they hold no loads.",
     "A block of the output belongs to another group, or half of the map is new: an illegal address. Rare, and "
     "only "
     "where copies are slow.",
     "Wait for the copies before the edit (their mbarrier, or one behind it; cp.async.bulk.wait_group.read for "
     "stores), "
     "or edit another map of a ring.",
     "PTX 8 (memory consistency model), 9.7.9 (tensormap.replace)", "KB-27"},
    {"TP2", Severity::error, "tensor map used without an acquire of its last edit",
     "A copy uses a tensor map in global memory that was edited, and this CTA has not executed "
     "fence.proxy.tensormap::generic.acquire on it since the release.",
     "The copy engine keeps maps that it has read: it copies with the map as it was, another group's tile, or as "
     "many "
     "bytes as another box has, and a barrier hangs.",
     "fence.proxy.tensormap::generic.acquire.gpu [map], 128 behind the release, before the first copy, in every "
     "CTA that "
     "uses the map.",
     "PTX 9.7.13 (fence.proxy.tensormap)", "KB-27"},
    {"TP3", Severity::error, "edit of a tensor map that was not released",
     "A tensor map in global memory was edited by tensormap.replace, and no fence.proxy.tensormap release follows "
     "the "
     "edit before a copy uses the map.",
     "The copy engine may see the map as it was, whatever it acquires.",
     "fence.proxy.tensormap::generic.release.gpu by the thread that edits, or edit a copy in shared memory and "
     "bring it "
     "with tensormap.cp_fenceproxy, which releases.",
     "PTX 9.7.13 (fence.proxy.tensormap)", "KB-27"},
    {"GD1", Severity::error, "output of the launch ahead read before it has completed",
     "A CTA of a dependent launch reads what a launch ahead of it writes, and that launch has not completed.",
     "Old bytes under load; of scheduling data, a hang.",
     "griddepcontrol.wait in every warp that reads what the launch ahead writes, or order the warp behind one that "
     "has "
     "waited.",
     "PTX 9.7.13 (griddepcontrol)", "KB-34"},
    {"GD2", Severity::error, "output of a launch of another stream read, and no event orders the two",
     "A launch reads what a launch of another stream writes. Streams run side by side; only an event that the "
     "reader's stream waits for puts the one behind the other. Of a program (sm100sim exec) all work is looked at: "
     "launches, copies and memsets, reads behind writes, writes behind reads, and writes of both.",
     "Old, new or half-written bytes, as the streams happen to run.",
     "cudaEventRecord behind the writer and cudaStreamWaitEvent before the reader (after = [...] of a [[launch]]), "
     "or "
     "both in one stream.",
     "CUDA programming guide (streams, events)", ""},

    // ---- where numbers come from (run.provenance)
    {"PV1", Severity::error, "multiplied with what does not belong there",
     "Rows of an operand, a step along K or scale factors are not those of the place where the sum is stored: "
     "another "
     "row, another tensor or group, a step left out, doubled or of another tile, 16-byte pieces in another order, "
     "a sum that adds to what was left in tensor memory; or all of them are, and the sum that is stored as it was "
     "made is wrong. The finding names who loaded or multiplied it.",
     "Wrong numbers; right ones only where the values happen to be alike.",
     "Compare what was used with what belongs there: coordinates of the load, the descriptor's start, stride and "
     "swizzle, the accumulate flag of the tile's first MMA, types and negation in the instruction descriptor.",
     "what the kernel says that it multiplies", "KB-24, KB-29, KB-30"},
    {"PV2", Severity::error, "the right sum in the wrong place, or changed on its way",
     "What was multiplied is right. Between the load from tensor memory and the store it went to other rows or "
     "columns, "
     "or became another value.",
     "Wrong numbers.",
     "Look at the lines that the finding names: columns and lanes of the load, order of registers, the strip and "
     "its "
     "swizzle, coordinates of the store, terms of the epilogue.",
     "what the kernel says that it multiplies", "KB-38, KB-39"},
    {"PV3", Severity::warning, "a tile computed or stored twice, or outside of the output",
     "Two accumulators hold the same product, or two stores have written the same elements. Or a CTA has had a tile "
     "that lies outside of the output.",
     "Nothing but time where the numbers agree; whichever store comes last where they do not.",
     "Look at how tiles are numbered: two CTAs, or two turns of one, come to the same. Or the bound of a walk over "
     "them is too high.",
     "what the kernel says that it multiplies", ""},
    {"PV4", Severity::error, "output that nobody has stored",
     "No store has written elements of the output. The finding says how far they came: not multiplied, not loaded "
     "from "
     "tensor memory, or not stored.",
     "Whatever lay there before.", "Look at bounds and at the number of tiles, columns and stores.",
     "what the kernel says that it multiplies", "KB-30"},

    // ---- what roles say that they work on (trace points)
    {"WK1", Severity::warning, "a stage filled with one tile or k step and consumed as another",
     "By their trace points the role that fills a stage and the one that consumes it name different tiles or k "
     "steps for it. Code without trace points is not looked at.",
     "Wrong numbers where the two really differ, or a hang at the end when one has a step left.",
     "Compare the loops of the two roles: bounds, order of tiles, and what each reads to find its next tile. If "
     "only "
     "the labels differ, correct the trace points.",
     "the kernel itself", "KB-31"},
    {"WK2", Severity::warning, "a role goes through other tiles than the others",
     "By their trace points one role of a CTA has skipped a tile that the others have, has one that they have not, "
     "or has another order. Roles that take turns, and roles that end early, are not meant.",
     "Wrong numbers: a tile gets the sums of another.",
     "Look at what the role reads to find its next tile, and at its conditions for leaving a tile out.",
     "the kernel itself", "KB-31"},
    {"WK3", Severity::warning, "a filled stage that nobody has consumed",
     "A CTA exits, and by the trace points of its roles a stage was filled that no role has consumed. Where the "
     "result is compared and right nothing is said: kernels that stop early end so.",
     "A step along K is missing in the sums.", "Compare the bounds of the loops that fill and consume.",
     "the kernel itself", ""},

    // ---- the run as a whole
    {"hang", Severity::error, "warps that can never wake", "Nothing is left to happen and warps are still waiting.",
     "The kernel never ends; a watchdog or a time-out kills it.",
     "Read the report from the top: the first wait explains the others; see \"Read a hang\" in the user guide.", "",
     "KB-01, KB-03, KB-04, KB-05, KB-06, KB-09, KB-10, KB-11, KB-36, KB-40"},
    {"cycle-budget", Severity::error, "the budget of cycles is used up",
     "run.max_cycles ended the run before the kernel did: it hangs, runs in circles or needs more.",
     "Nothing by itself.", "Raise run.max_cycles, or read where the warps are.", "the scenario", ""},
    {"mismatch", Severity::error, "the result is wrong",
     "The output differs from the float64 product (a copy: from its source) by more than the limit.",
     "Wrong numbers.",
     "Look for warnings first; then for wrong coordinates, descriptors and edge tiles, which break no protocol.",
     "", "KB-24, KB-29, KB-30, KB-38, KB-39"},
    {"not-implemented", Severity::error, "the simulator does not have this",
     "An instruction or an operand that is not modelled. It says nothing about the kernel.",
     "Nothing: it may be perfectly right.", "sm100sim list isa shows what there is.", "", ""},
};

/// The check of that id, or nullptr.
constexpr const Check* find_check(std::string_view id) {
  for (const Check& check : kChecks)
    if (check.id == id) return &check;
  return nullptr;
}

}  // namespace sm100::sim

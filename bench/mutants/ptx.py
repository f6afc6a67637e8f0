# SPDX-License-Identifier: Apache-2.0
"""Mistakes that people make in PTX: coordinates, strides, a stage's offset, bounds along K, where a descriptor starts, lanes.

`run.py --list ptx`; the files are those of scenarios/, and nothing is compiled.  Lines of PTX are the places: of two lines
where the mistake may lie, as of a bound and what it bounds, either is right.  The format is that of mutants.py.
"""

from mutants import mutant_list

MUTANTS, of, m = mutant_list()

# ---------------------------------------------------------------------------------------------------------------------
# Lines: copies 92 and 93, MMAs 126 to 136, tcgen05.ld 164, st.global 170.
of("scenarios/ptx/gemm.ptx")
m("ptx-a-row-step", "A's tiles are 64 rows apart", r"A rows .*gemm\.ptx:92", ("shl.b32 %r23, %r4, 7;", "shl.b32 %r23, %r4, 6;"))
m("ptx-b-row-step", "B's tiles are 128 rows apart", r"B rows .*gemm\.ptx:93", ("shl.b32 %r24, %r3, 6;", "shl.b32 %r24, %r3, 7;"))
m("ptx-a-of-b-tile", "A is loaded at the tile of N", r"A rows .*gemm\.ptx:92", ("shl.b32 %r23, %r4, 7;", "shl.b32 %r23, %r3, 7;"))
m("ptx-k-step-half", "k steps are 32 elements apart", r"k .*gemm\.ptx:9[2-4]", ("shl.b32 %r22, %r14, 6;", "shl.b32 %r22, %r14, 5;"))
m("ptx-load-k-of-next", "the loads begin at the second k step", r"(k |K ).*gemm\.ptx:9[2-4]",
  ("shl.b32 %r22, %r14, 6;          // first element of K", "add.u32 %r22, %r14, 1;\n\tshl.b32 %r22, %r22, 6;"))
m("ptx-k-bound-half", "half of the k steps", r"(k |K ).*never multiplied", ("shr.u32 %r6, %r5, 6;", "shr.u32 %r6, %r5, 7;"))
m("ptx-mma-step-more", "the MMA warp takes one step too many", r"fill 5|too many|more steps",
  ("setp.lt.u32 %p6, %r14, %r6;\n\t@%p6 bra MMA;", "setp.le.u32 %p6, %r14, %r6;\n\t@%p6 bra MMA;"))
m("ptx-load-step-more", "the load warp fills one stage too many", r"too many",
  ("setp.lt.u32 %p6, %r14, %r6;\n\t@%p6 bra LOAD;", "setp.le.u32 %p6, %r14, %r6;\n\t@%p6 bra LOAD;"),
  equivalent="the stage lies beyond K, nobody takes it, and its zeros land long before the CTA exits")
m("ptx-stage-offset-mma", "the MMA warp's stages are 16 KiB apart", r"gemm\.ptx:1[23]\d",
  ("mad.lo.u32 %r20, %r15, 24576, %r11;\n\tshr.u32 %r25", "mad.lo.u32 %r20, %r15, 16384, %r11;\n\tshr.u32 %r25"))
m("ptx-stage-offset-load", "the load warp's stages are 16 KiB apart", r"overlap|TM5|TM7",
  ("mad.lo.u32 %r20, %r15, 24576, %r11;\n\tadd.u32 %r21", "mad.lo.u32 %r20, %r15, 16384, %r11;\n\tadd.u32 %r21"))
m("ptx-b-start", "B's descriptor starts in A", r"B.*gemm\.ptx:1[23]\d", ("add.u32 %r26, %r25, 1024;", "add.u32 %r26, %r25, 512;"))
m("ptx-b-place", "B is loaded over A's second half", r"overlap|gemm\.ptx:93", ("add.u32 %r21, %r20, 16384;", "add.u32 %r21, %r20, 8192;"))
m("ptx-sbo-half", "B's groups of 8 rows are 512 bytes apart", r"B.*gemm\.ptx:1[23]\d",
  ("or.b64 %rd6, %rd6, 0x4000404000010000;", "or.b64 %rd6, %rd6, 0x4000402000010000;"))
m("ptx-swizzle-64", "A's descriptor has the swizzle of 64 bytes", r"A.*gemm\.ptx:1[23]\d",
  ("or.b64 %rd5, %rd5, 0x4000404000010000;", "or.b64 %rd5, %rd5, 0x8000404000010000;"))
m("ptx-advance-double", "A's descriptor steps 32 elements of K", r"(A's k|k |A rows ).*gemm\.ptx:1[23]\d",
  ("add.u64 %rd5, %rd5, 2;          // 16 elements of K on", "add.u64 %rd5, %rd5, 4;"))
m("ptx-first-of-second", "the second step's first MMA overwrites the sum", r"TC13|overwr.*gemm\.ptx:126",
  ("setp.ne.u32 %p7, %r14, 0;", "setp.ne.u32 %p7, %r14, 1;"))
m("ptx-idesc-n", "the MMA has half of N", r"TC3|TC13|column|B rows", ("0x08100490", "0x08080490"))
m("ptx-lane-quarter", "a warp's lanes are half as far apart", r"TC2\].*lane|row.*gemm\.ptx:164", ("shl.b32 %r33, %r2, 21;", "shl.b32 %r33, %r2, 20;"))
m("ptx-column-step", "the epilogue's loads step 4 columns", r"column.*gemm\.ptx:164", ("add.u32 %r34, %r34, 8;", "add.u32 %r34, %r34, 4;"))
m("ptx-store-step", "the epilogue's stores step 16 elements", r"GM[13].*gemm\.ptx:170|(column|stored|written).*gemm\.ptx:1[67]\d", ("add.u64 %rd13, %rd13, 16;", "add.u64 %rd13, %rd13, 32;"))
m("ptx-row-of-warp", "a lane's row is its warp", r"row|stored|written|GM3|GM4", ("add.u32 %r31, %r31, %r1;        // row", "add.u32 %r31, %r31, %r2;"))
m("ptx-row-pitch", "C's rows are as far apart as A's", r"GM\d|row|written", ("mul.wide.u32 %rd11, %r31, %r30;", "mul.wide.u32 %rd11, %r31, %r5;"))
m("ptx-columns-bound", "the last 8 columns are not stored", r"nobody has (written|stored).*column", ("setp.lt.u32 %p6, %r35, 64;", "setp.lt.u32 %p6, %r35, 56;"))
m("ptx-pair-order", "the two halves of a word change places", r"column.*pairs.*gemm\.ptx:1[67]\d", ("cvt.rn.bf16x2.f32 %v8, %v1, %v0;", "cvt.rn.bf16x2.f32 %v8, %v0, %v1;"))
m("ptx-store-guard", "one lane of each warp does not store", r"nobody has (written|stored).*row",
  ("\tst.global.v4.b32 [%rd13]", "\tand.b32 %r36, %r1, 31;\n\tsetp.lt.u32 %p9, %r36, 31;\n\t@%p9 st.global.v4.b32 [%rd13]"))
m("ptx-alloc-half", "half of the columns are allocated", r"TC\d", ("shared::cta.b32 [%r10], 64;", "shared::cta.b32 [%r10], 32;"),
  ("b32 %r12, 64;", "b32 %r12, 32;"))
m("ptx-expect-less", "expect_tx counts three quarters of B", r"MB11|expect_tx|bytes", ("_, [%r19], 24576;", "_, [%r19], 22528;"))
m("ptx-commit-early", "an accumulator is committed before the last MMAs", r"TC3|done|commit",
  ("\tadd.u64 %rd5, %rd5, 2;          // 16 elements of K on",
   "\ttcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];\n\tadd.u64 %rd5, %rd5, 2;"),
  ("@%p6 bra MMA;\n\ttcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];\n", "@%p6 bra MMA;\n"))

# ---------------------------------------------------------------------------------------------------------------------
of("scenarios/hopper/gemm.ptx")
m("ptx-hopper-b-rows", "B's rows are 64 apart", r"B rows .*(gemm\.cu:10[0-9]|gemm\.ptx)", ("shl.b32 	%r356, %r366, 7;", "shl.b32 	%r356, %r366, 6;"))
m("ptx-hopper-a-rows", "A's rows are 64 apart", r"A rows .*(gemm\.cu:10[0-9]|gemm\.ptx)", ("shl.b32 	%r352, %r363, 7;", "shl.b32 	%r352, %r363, 6;"))
m("ptx-hopper-k", "the second step of four begins 32 elements behind the first", r"(k |K ).*(gemm\.cu:10[0-9]|gemm\.ptx)",
  ("add.s32 	%r331, %r319, 64;", "add.s32 	%r331, %r319, 32;"))
m("ptx-hopper-b-start", "B's descriptor starts in A", r"B.*(gemm\.cu|gemm\.ptx)", ("add.s32 	%r122, %r121, 16384;", "add.s32 	%r122, %r121, 8192;"))
m("ptx-hopper-a-advance", "A's descriptor stays at the tile's first 32 bytes", r"(A's k|k ).*(gemm\.cu|gemm\.ptx)",
  ("add.s32 	%r132, %r126, 253984;", "add.s32 	%r132, %r126, 253952;"))
m("ptx-hopper-empty-count", "a stage comes back when one consumer has released it", r"_ZZ4gemmE5empty|empty|TM7", ("mov.u32 	%r89, 2;", "mov.u32 	%r89, 1;"))
m("ptx-hopper-store-columns", "a store 8 elements to the right", r"GM3|column|stored|written", ("st.global.u32 	[%rd61+16], %r254;", "st.global.u32 	[%rd61+32], %r254;"))

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

# Written by a reader who did not know the checks, as readers.py.
of("scenarios/ptx/gemm.ptx")
m("ptx-reader-full-parity-of-four", "the MMA warp's parity flips every fourth step, copied from a ring of four. Ideal: at k step 2 the MMA warp waits for full[0] with the parity of the phase that is over, and reads the stage before it is filled", r"\[MB8\] .*full\[0\] passes at once on phase 0",
  ("shr.u32 %r16, %r14, 1;\n\tand.b32 %r16, %r16, 1;\n\tshl.b32 %r17, %r15, 3;", "shr.u32 %r16, %r14, 2;\n\tand.b32 %r16, %r16, 1;\n\tshl.b32 %r17, %r15, 3;"))
m("ptx-reader-b-transposed", "the instruction descriptor says that B is MN-major. Ideal: the transpose bit of B in the instruction descriptor: the MMAs take B's tile, K-major, as MN-major", r"reads it along N as operand B: the transpose bit",
  ("mov.u32 %r27, 0x08100490;", "mov.u32 %r27, 0x08110490;"))
m("ptx-reader-done-parity", "the epilogue waits for done with parity 1. Ideal: the wait for done passes on the fresh barrier (parity 1): the epilogue reads the accumulator before the MMAs", r"\[TC3\] epilogue reads tensor memory before the first fill: its wait for done passed at once",
  ("[%r9], 0;\n\t@!%p5 bra WAIT_DONE;", "[%r9], 1;\n\t@!%p5 bra WAIT_DONE;"))
m("ptx-reader-commit-to-full", "the commit that releases a stage goes to full[stage]. Ideal: MMA commits on full, not on empty: the load warp waits for empty, on which nobody arrives", r"arrives on empty: mma, which waits for full, has none to hand it back",
  ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r18];", "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r19];"))
m("ptx-reader-empty-1-count", "empty[1] is initialised with a count of 2. Ideal: empty[1] counts 2 arrivals and gets one commit of the MMA warp in each phase (line of its init)", r"empty\[1\] was initialised for 2 arrivals",
  ("mbarrier.init.shared::cta.b64 [%r8+8], 1;", "mbarrier.init.shared::cta.b64 [%r8+8], 2;"))
m("ptx-reader-b-advance-bytes", "B's descriptor advances by 32 units of 16 bytes, not by 32 bytes. Ideal: the second and later MMAs of a k step take B from 512 bytes (4 rows) further: rows and k of B", r"\[TC7\] mma reads beyond its stage: .*gemm\.ptx:130",
  ("// 16 elements of K on\n\tadd.u64 %rd6, %rd6, 2;", "// 16 elements of K on\n\tadd.u64 %rd6, %rd6, 32;"))
m("ptx-reader-second-overwrites", "the second MMA has the first one's predicate. Ideal: in the first k step the second MMA overwrites the sum: k 0-15 is lost", r"k 0-15 .*overwrites the sum instead of adding to it.*gemm\.ptx:130",
  ("// 16 elements of K on\n\tadd.u64 %rd6, %rd6, 2;\n\ttcgen05.mma.cta_group::1.kind::f16 [%r12], %rd5, %rd6, %r27, %p8;",
   "// 16 elements of K on\n\tadd.u64 %rd6, %rd6, 2;\n\ttcgen05.mma.cta_group::1.kind::f16 [%r12], %rd5, %rd6, %r27, %p7;"))

of("scenarios/hopper/gemm.ptx")
m("ptx-reader-hopper-expect-a", "expect_tx counts A alone. Ideal: full is armed for 16384 bytes, the copies of a stage bring 32768 (expect_tx at gemm.cu:100)", r"\[MB11\] full\[0\] .*expect_tx counts too few bytes",
  ("mov.u32 \t%r349, 32768;", "mov.u32 \t%r349, 16384;"))
m("ptx-reader-hopper-b-slot", "B of the second of four unrolled steps goes to the first one's stage. Ideal: the copy of B is written to stage s, where step s + 1's full is signalled: over B of the step before (gemm.cu:102)", r"\[TM5\] two copies of producer overlap .*gemm\.ptx:1171",
  ("add.s32 \t%r330, %r371, %r364;", "add.s32 \t%r330, %r360, %r364;"))
m("ptx-reader-hopper-no-flip", "the producer's parity does not flip when the ring wraps. Ideal: the producer waits for empty with parity 1 in the second lap as in the first: passes before consumers have released the stage, and overwrites it", r"\[MB8\] .*empty\[0\] passes at once on phase -1",
  ("xor.b32  \t%r475, %r347, %r383;", "mov.u32 \t%r475, %r347;"))
m("ptx-reader-hopper-release-current", "consumers release the stage whose wgmma still run, not the one before. Ideal: a consumer arrives on empty of the stage that its wgmma still read (gemm.cu:124)", r"mbarrier\.arrive on empty\[0\] is missing.*gemm\.ptx:446",
  ("add.s32 \t%r196, %r198, %r117;", "add.s32 \t%r196, %r198, %r164;"))
m("ptx-reader-hopper-row-16", "the second row of a lane's pairs is 16 further, not 8. Ideal: rows 8-15 of each 16 are stored 8 rows too far down", r"rows? .*(8|16).*gemm\.ptx:822|sums of rows .*stored in rows",
  ("add.s32 \t%r303, %r301, -56;", "add.s32 \t%r303, %r301, -48;"))
m("ptx-reader-hopper-a-half", "a consumer's A begins by pairs of warpgroups, in the unrolled part. Ideal: consumer 0's A descriptor begins 8192 bytes before its stage's A, in rows of the stage before", r"\[TC7\] wgmma\.mma_async reads A at .*outside the CTA's shared memory",
  ("and.b32  \t%r124, %r123, -8192;", "and.b32  \t%r124, %r123, -16384;"))
m("ptx-reader-hopper-b-third", "the third wgmma of a step has the second's B descriptor. Ideal: A's k 32-47 is multiplied by B's k 16-31 (gemm.cu:120)", r"A's k 32-47 was multiplied by B's k 0-15",
  ("add.s32 \t%r141, %r121, 16448;", "add.s32 \t%r141, %r121, 16416;"))

# The third reader's.
of("scenarios/ptx/gemm.ptx")
m("ptx-third-c-column", "the column of a tile of C is counted in tiles of 128. Ideal: column of st.global (line 170; set at 155): tile n = 1 begins at 128, in the next row", r"\[GM3\].*\(C, row \d+, column 0\).*gemm\.ptx:170",
  ("shl.b32 %r32, %r3, 6;", "shl.b32 %r32, %r3, 7;"))
m("ptx-third-empty-parity", "the load warp begins with parity 0. Ideal: the load warp's first wait for empty[0] (line 84) is for a phase that nobody completes: parity 0 instead of 1", r"producer's first lap must wait for parity 1, .*empty\[0\] \(at fault: load gemm\.ptx:83",
  ("xor.b32 %r16, %r16, 1;          // a fresh barrier has completed the phase before its first\n", ""))
m("ptx-third-idesc-m", "M of the instruction is 64. Ideal: instruction descriptor's M (64 instead of 128): rows 64-127 of the accumulator are not as the epilogue reads them", r"\[TC13\].*M = 64, N = 64 has written",
  ("0x08100490", "0x04100490"))
m("ptx-third-b-advance-register", "before a stage's last MMA A's descriptor is advanced twice, B's not at all. Ideal: last MMA (line 136): A's k is 16 too far (beyond the row), B's k that of the MMA before", r"MMAs of an accumulator of A rows 128-254 multiply A rows 129-255.*gemm\.ptx:136",
  ("add.u64 %rd5, %rd5, 2;\n\tadd.u64 %rd6, %rd6, 2;\n\ttcgen05.mma.cta_group::1.kind::f16 [%r12], %rd5, %rd6, %r27, %p8;\n\ttcgen05.commit",
   "add.u64 %rd5, %rd5, 2;\n\tadd.u64 %rd5, %rd5, 2;\n\ttcgen05.mma.cta_group::1.kind::f16 [%r12], %rd5, %rd6, %r27, %p8;\n\ttcgen05.commit"))

of("scenarios/hopper/gemm.ptx")
m("ptx-third-hopper-wait-current", "the second wait of the unrolled pair is for the first one's barrier. Ideal: the wgmmas behind the wait of line 330 read a stage whose full barrier was not waited for: full of the stage before is asked", r"\[TM5\] consumer 1 reads the stage of full\[1\], and has waited for full\[0\]",
  ("add.s32 \t%r153, %r118, %r164;", "add.s32 \t%r153, %r118, %r117;"))
m("ptx-third-hopper-full-is-empty", "the third fill of the unrolled four arms and completes the empty barrier. Ideal: arrive.expect_tx (line 1198) and the copies of stage 2 complete on empty[2] instead of full[2], for which the consumers wait", r"producer arms empty\[2\] and lets its copies complete there, where full\[2\] lacks them.*gemm\.ptx:1198",
  ("add.s32 \t%r345, %r359, %r375;", "add.s32 \t%r345, %r362, %r375;"))
m("ptx-third-hopper-tile-by-m", "the producer divides the tile's number by the tiles along M. Ideal: A's row (and with it B's) of tiles: coordinates of the producer's copies (lines 1121, 1132), made with the number of tiles along M instead of N", r"A rows 192-255 were used where A rows 64-127 belong.*gemm\.ptx:1121",
  ("div.s32 \t%r363, %r462, %r3;", "div.s32 \t%r363, %r462, %r93;"))
m("ptx-third-hopper-warp-rows", "the mask of a warp's first row loses a bit: warps 1 and 3 store to the rows of 0 and 2. Ideal: row of st.global of warps 1 and 3 of each consumer: 16 too low; two warps write the same rows", r"\[GM3\] consumer 0 of CTA 1 and consumer 0 of CTA 1 write the same global memory.*gemm\.ptx:809",
  ("and.b32  \t%r299, %r298, 48;", "and.b32  \t%r299, %r298, 32;"))

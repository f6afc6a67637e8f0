// SPDX-License-Identifier: Apache-2.0
// .im2col and .im2col_no_offs of PTX, with maps that a launch file describes; st.bulk, which clears the box.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "kernels/isa/tensor_map.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

// Two images of 4 x 8 pixels with 16 channels of 32 bits; boxes of 4 channels and 8 pixels.
constexpr int kChannels = 16, kWidth = 8, kHeight = 4, kImages = 2, kBoxChannels = 4, kPixels = 8;

struct Copy {
  std::string load =
      "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes "
      "[%r2], [%rd3, {4, 6, -1, 0}], [%r3], {1, 2}";
  std::string store =
      "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rd4, {8, 7, 3, 0}], [%r2]";
  std::string map = "box = [4, 8]\npixel_box_lower = [-1, -1]\npixel_box_upper = [-1, -1]\n";
  std::string store_map = "box = [4, 8]\npixel_box_lower = [0, 0]\npixel_box_upper = [0, 0]\n";
  std::string bulk = "st.bulk.weak.shared::cta [%r2], %rd7, 0";
  int bytes = 128;

  /// The words that the load brings, and those of the other tensor after the store, by hand.
  static std::vector<uint32_t> loaded() {
    std::vector<uint32_t> words(kPixels * kBoxChannels);
    // From (6, -1) on in a bounding box of -1 ... 6 and -1 ... 2: (6, -1), (-1, 0), ... (5, 0); then offsets 1
    // and 2.
    for (int p = 0; p < kPixels; ++p) {
      const int w = p == 0 ? 7 : p - 1, h = p == 0 ? 1 : 2;
      for (int c = 0; c < kBoxChannels; ++c)
        words[size_t(p * kBoxChannels + c)] = uint32_t((h * kWidth + w) * kChannels + 4 + c + 1);
    }
    return words;
  }
  static std::vector<uint32_t> stored() {
    std::vector<uint32_t> words(kImages * kHeight * kWidth * kChannels);
    const std::vector<uint32_t> box = loaded();
    // (7, 3) of image 0, then image 1 from its first pixel on.
    for (int p = 0; p < kPixels; ++p)
      for (int c = 0; c < kBoxChannels; ++c)
        words[size_t((31 + p) * kChannels + 8 + c)] = box[size_t(p * kBoxChannels + c)];
    return words;
  }

  std::string text() const {
    return fmt::format(R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry images(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 words,
                       .param .u64 expected)
.reqntid 32
{{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .b64 %rd<16>;
	.shared .align 128 .b8 buffer[128];
	.shared .align 8 .b64 bar;
	ld.param.u64 %rd1, [words];
	ld.param.u64 %rd2, [expected];
	mov.b64 %rd3, from;
	cvta.param.u64 %rd3, %rd3;
	mov.b64 %rd4, to;
	cvta.param.u64 %rd4, %rd4;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, buffer;
	mov.u32 %r3, bar;
	mul.wide.u32 %rd5, %r1, 4;
	add.u64 %rd6, %rd1, %rd5;
	add.u32 %r5, %r1, 1;
	mov.u32 %r4, 0;
FILL:
	st.global.u32 [%rd6], %r5;
	add.u64 %rd6, %rd6, 128;
	add.u32 %r5, %r5, 32;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p1, %r4, 32;
	@%p1 bra FILL;
	mov.u64 %rd7, 128;
	setp.eq.u32 %p2, %r1, 0;
	@%p2 {bulk};
	bar.warp.sync -1;
	shl.b32 %r6, %r1, 2;
	add.u32 %r7, %r2, %r6;
	ld.shared.u32 %r8, [%r7];
	setp.ne.u32 %p4, %r8, 0;
	@%p4 trap;
	fence.proxy.async;
	@%p2 mbarrier.init.shared::cta.b64 [%r3], 1;
	fence.mbarrier_init.release.cluster;
	bar.warp.sync -1;
	@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], {bytes};
	@%p2 {load};
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
	@!%p3 bra WAIT;
	ld.shared.u32 %r8, [%r7];
	add.u64 %rd8, %rd2, %rd5;
	ld.global.u32 %r9, [%rd8];
	setp.ne.u32 %p4, %r8, %r9;
	@%p4 trap;
	bar.warp.sync -1;
	@%p2 {store};
	@%p2 cp.async.bulk.commit_group;
	@%p2 cp.async.bulk.wait_group 0;
	ret;
}}
)",
                       fmt::arg("load", load), fmt::arg("store", store), fmt::arg("bulk", bulk),
                       fmt::arg("bytes", bytes));
  }

  RunResult run() const {
    const ScratchDirectory folder;
    folder.write("k.ptx", text());
    const auto file = [&](const char* name, const std::vector<uint32_t>& words) {
      std::string bytes(words.size() * 4, '\0');
      std::memcpy(bytes.data(), words.data(), bytes.size());
      folder.write(name, bytes);
    };
    file("loaded.bin", loaded()), file("stored.bin", stored());
    return run_in_child(host::load_scenario(folder.write(
        "k.toml",
        "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n"
        "[[problem.tensor]]\nname = \"words\"\ntype = \"u32\"\nshape = [2, 4, 8, 16]\ncontents = \"zeros\"\n"
        "[[problem.tensor]]\nname = \"stored\"\ntype = \"u32\"\nshape = [2, 4, 8, 16]\ncontents = \"zeros\"\n"
        "[[problem.tensor]]\nname = \"expected\"\ntype = \"u32\"\nshape = [32]\n"
        "file = \"loaded.bin\"\n"
        "[[problem.tensor]]\nname = \"after\"\ntype = \"u32\"\nshape = [2, 4, 8, 16]\n"
        "file = \"stored.bin\"\n"
        "[[problem.argument]]\ntensor_map = \"words\"\n" +
            map + "[[problem.argument]]\ntensor_map = \"stored\"\n" + store_map +
            "[[problem.argument]]\naddress = \"words\"\n[[problem.argument]]\naddress = \"expected\"\n"
            "[problem.check]\ncopy = [\"after\", \"stored\"]\n"
            "[run]\nsms = 1\n")));
  }
};

/// The one finding of a copy.
Finding finding_of(const Copy& copy) {
  const RunResult ran = copy.run();
  INFO(ran.report);
  REQUIRE(ran.findings.size() == 1);
  return ran.findings[0];
}

}  // namespace

TEST_CASE("im2col: pixels of a bounding box with offsets, and a store across images") {
  const RunResult ran = Copy{}.run();
  INFO(ran.report);
  CHECK(ran.outcome == Outcome::pass);
  CHECK(ran.findings.empty());
}

TEST_CASE("im2col: another offset, and another first pixel, are noticed by the test") {
  Copy copy;
  copy.load.replace(copy.load.find("{1, 2}"), 6, "{2, 2}");
  CHECK(copy.run().outcome != Outcome::pass);
  Copy stores;
  stores.store.replace(stores.store.find("{8, 7, 3, 0}"), 12, "{8, 6, 3, 0}");
  CHECK(stores.run().outcome != Outcome::pass);
}

TEST_CASE("im2col: a copy in the other mode than its map's, as an H200 stops at it") {
  Copy tile;
  tile.load =
      "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
      "[%r2], [%rd3, {4, 6, -1, 0}], [%r3]";
  CHECK(finding_of(tile).message.find("in .tile mode with an im2col tensor map") != std::string::npos);
  Copy tiled;
  tiled.map = "box = [4, 8, 1, 1]\n";
  CHECK(finding_of(tiled).message.find("in .im2col mode with a tiled tensor map") != std::string::npos);
}

TEST_CASE("im2col: the first pixel lies in the bounding box, a store's box in the tensor") {
  Copy outside;
  outside.load.replace(outside.load.find("6, -1"), 5, "7, -1");
  CHECK(finding_of(outside).id == "TM10");
  Copy store;
  store.store_map = store.map;
  CHECK(finding_of(store).message.find("must not reach beyond the tensor") != std::string::npos);
}

TEST_CASE("st.bulk: sizes are multiples of 8, addresses too, and the region is the CTA's") {
  Copy size;
  size.bulk = "st.bulk.weak.shared::cta [%r2], 124, 0";
  CHECK(finding_of(size).message.find("st.bulk of 124 bytes: allowed are multiples of 8") != std::string::npos);
  Copy address;
  address.bulk = "st.bulk.weak.shared::cta [%r2+4], 64, 0";
  CHECK(finding_of(address).id == "SM2");
  Copy global;
  global.bulk = "st.bulk.weak [%rd1], 64, 0";
  CHECK(finding_of(global).message.find("which is not in shared memory") != std::string::npos);
  Copy beyond;
  beyond.bulk = "st.bulk.weak.shared::cta [%r2], 1048576, 0";
  CHECK(finding_of(beyond).id == "SM1");
}

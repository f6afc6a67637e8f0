// SPDX-License-Identifier: Apache-2.0
// What L2 holds: two halves, the last used stay, written lines go back to memory.
#include "models/l2_cache.h"

#include <vector>

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;
using Where = L2Cache::Place;

namespace {

/// An L2 of 2 MiB: 8,192 lines in each half, of which 4,096 may be dirty.
struct Bench {
  static DeviceProfile small(double early_share) {
    DeviceProfile p = b200();
    p.memory.l2_mib = 2, p.memory.l2_dirty_mib = 1, p.memory.l2_early_share = early_share;
    return p;
  }
  explicit Bench(double early_share = 0) : profile(small(early_share)) {}
  Where read(size_t i, int half, int home) { return l2.read(lines[i], i * 128, half, home); }
  bool write(size_t i, int home) { return l2.write(lines[i], i * 128, home); }
  /// Misses of a walk over the first `n` lines by an SM of this half; every second line's home is the other one, or
  /// none's.
  int walk(size_t n, int half, bool all_home = false) {
    int misses = 0;
    for (size_t i = 0; i < n; ++i) misses += read(i, half, all_home ? half : int(i & 1)) == Where::memory;
    return misses;
  }
  DeviceProfile profile;
  L2Cache l2{profile};
  std::vector<L2Line> lines = std::vector<L2Line>(32768);
};

}  // namespace

TEST_CASE("what one half reads again and again hits as long as that half holds it", "[l2]") {
  Bench b;
  CHECK(b.walk(8000, 0) == 8000);
  CHECK(b.walk(8000, 0) == 0);
  CHECK(b.walk(8000, 0) == 0);
}

TEST_CASE("a walk over a little more than a half holds finds nothing: the last used stay", "[l2]") {
  Bench b;
  b.walk(9000, 0, true);
  CHECK(b.walk(9000, 0, true) > 8900);
  Bench both;  // lines whose home is the other half are found there
  both.walk(9000, 0);
  CHECK(both.walk(9000, 0) == 4500);
}

TEST_CASE("lines that go early: a walk over more than a half holds finds some of them, the same again", "[l2]") {
  // A half has 8,192 lines; every line goes 0.15 of a half early in the mean.
  Bench fits(0.15), little(0.15), more(0.15), twice(0.15);
  for (Bench* b : {&fits, &little, &more, &twice})
    for (int walk = 0; walk < 12; ++walk)
      b->walk(b == &fits ? 8000 : b == &little ? 8500 : b == &more ? 9500 : 16000, 0, true);
  CHECK(fits.walk(8000, 0, true) == 0);  // nothing has to go
  const int few = little.walk(8500, 0, true), many = more.walk(9500, 0, true);
  CHECK(few > 308);
  CHECK(few < 8500 * 0.9);
  CHECK(many > few * 9500 / 8500);
  CHECK(many <= 9500);
  CHECK(twice.walk(16000, 0, true) > 15500);
}

TEST_CASE("a generation is there in whole as long as none of its lines has gone", "[l2]") {
  Bench b(0.15);
  const uint32_t first = b.l2.generation(0);
  b.walk(200, 0, true);
  CHECK(b.l2.generation(0) == first);
  size_t i = 200;
  for (; b.l2.has_all_of(first, 0) && i < 20000; ++i) b.read(i, 0, 0);
  CHECK(i > 8192);            // all have found room until now
  CHECK(i < 8192 + 2 * 256);  // and then the first that must go are of the first
  int misses = 0;
  for (size_t at = 0; at < 200; ++at) misses += b.read(at, 0, 0) == Where::memory;
  CHECK(misses > 0);
  CHECK(misses < 200);
}

TEST_CASE("a line is found in the other half, and then held in both", "[l2]") {
  Bench b;
  CHECK(b.read(0, 0, 0) == Where::memory);
  CHECK(b.read(0, 1, 0) == Where::other_half);
  CHECK(b.read(0, 1, 0) == Where::own_half);
  CHECK(b.read(1, 0, 1) == Where::memory);  // through its home
  CHECK(b.read(1, 1, 1) == Where::own_half);
}

TEST_CASE("a written line leaves the other half, and is written back once", "[l2]") {
  Bench b;
  b.read(0, 1, 0);
  CHECK_FALSE(b.write(0, 0));  // it was in its home
  CHECK(b.read(0, 1, 0) == Where::other_half);
  CHECK(b.l2.take_written_back(100) == 0);
  // A half keeps 4,096 written lines: what is more goes to memory, the oldest first.
  for (size_t i = 2; i < 2 * 6000; i += 2) b.write(i, 0);
  const uint64_t back = b.l2.take_written_back(~uint64_t{0});
  CHECK(back >= 6000 - 4096 - 256);
  CHECK(back <= 6000 - 4096 + 256);
  CHECK(b.l2.take_written_back(1) == 0);
}

TEST_CASE("lines written again and again are written back only when they no longer fit", "[l2]") {
  Bench few, many;
  for (int pass = 0; pass < 4; ++pass) {
    for (size_t i = 0; i < 2 * 3000; i += 2) few.write(i, 0);
    for (size_t i = 0; i < 2 * 6000; i += 2) many.write(i, 0);
  }
  CHECK(few.l2.take_written_back(~uint64_t{0}) == 0);
  CHECK(many.l2.take_written_back(~uint64_t{0}) >= 3 * 6000);
}

TEST_CASE("lines that go early are written back as often as others", "[l2]") {
  // Distinct lines, then the same few again, in halves that keep 4,096 and 512 written lines.
  for (const int dirty_kib : {1024, 128}) {
    std::vector<uint64_t> distinct, again;
    for (const double share : {0.0, 0.25}) {
      DeviceProfile p = Bench::small(share);
      p.memory.l2_dirty_mib = 1;
      p.memory.line_bytes = 128 * 1024 / dirty_kib;  // a larger line: fewer of them may be dirty
      L2Cache l2{p};
      std::vector<L2Line> lines(32768);
      for (size_t i = 0; i < lines.size(); ++i) l2.write(lines[i], i * 128, 0);
      distinct.push_back(l2.take_written_back(~uint64_t{0}));
      const size_t few = size_t(dirty_kib) * 3;  // three quarters of what may be dirty
      for (int pass = 0; pass < 40; ++pass)
        for (size_t i = 0; i < few; ++i) l2.write(lines[i], i * 128, 0);
      again.push_back(l2.take_written_back(~uint64_t{0}));
    }
    CHECK(distinct[1] == Approx(double(distinct[0])).epsilon(0.02));
    CHECK(distinct[1] <= 32768);
    CHECK(again[1] <= again[0] + again[0] / 4);
  }
}

TEST_CASE("generations can be counted for ever", "[l2]") {
  Bench b;
  b.l2.watch(&b.lines);
  for (int walks = 0; walks < 200; ++walks) b.walk(20000, walks & 1);  // 15,000 generations
  b.walk(4000, 0);
  CHECK(b.walk(4000, 0) == 0);
  for (int walks = 0; walks < 2000; ++walks) b.walk(4000, 0);  // none of them goes
  CHECK(b.walk(4000, 0) == 0);
}

// SPDX-License-Identifier: Apache-2.0
// The tensor pipe alone: timing against the laws measured on B200, numerics against hand-worked values.
#include "models/umma.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "catch.h"
#include "kernels/isa/number_formats.h"
#include "models/fixture.h"
#include "paths.h"

using namespace sm100;
using namespace sm100::models;

namespace {

constexpr uint32_t kBar = 0x400, kTileA = 0x800, kTileB = 0x8800;

struct Bench {
  explicit Bench(bool with_data, Accumulation accumulation = Accumulation::fast)
      : sm(sc_core::sc_gen_unique_name("sm"), 0, with_data),
        tmem(0, sm.tensor_memory, observer),
        umma(0, sm, accumulation, smem, tmem, barrier, profile, jitter, observer),
        peer_sm(sc_core::sc_gen_unique_name("sm"), 1, with_data),
        peer_tmem(1, peer_sm.tensor_memory, observer),
        peer(1, peer_sm, accumulation, peer_smem, peer_tmem, peer_barrier, profile, jitter, observer) {
    smem.start_cta(200 * 1024, true);
    peer_smem.start_cta(200 * 1024, true);
    tmem.alloc(512, alloc_waiter, {});
    peer_tmem.alloc(512, alloc_waiter, {});
    barrier.init(kBar, 1, {});
    Umma::start_pair(umma, peer);
  }

  MmaCommand command(MmaKind kind, DataType type, int m, int n, bool a_in_tmem, int cta_group = 1) {
    const Swizzle none = Swizzle::none;
    return {.kind = kind,
            .cta_group = cta_group,
            .d = TmemAddr::at(0, 0),
            .a_in_tmem = a_in_tmem,
            .a = make_smem_descriptor({kTileA}, 2048, 128, none),
            .a_tmem = TmemAddr::at(0, 256),
            .b = make_smem_descriptor({kTileB}, uint32_t(n) * 16, 128, none),
            .idesc = make_instr_descriptor(kind, type, type, DataType::f32, m, n)};
  }

  /// Issues `depth` MMAs and a commit as a thread does that starts now, returns the cycles until a waiter is awake.
  Cycles run_batch(const MmaCommand& c, int depth) {
    const Cycles start = now(), issued = start + Cycles(profile.issue.elect + profile.issue.tcgen05_mma);
    for (int i = 0; i < depth; ++i) umma.mma(c, issued);
    umma.commit(kBar, issued, {});
    barrier.wait_parity(kBar, parity, waiter);
    sc_core::wait(waiter.wake);
    parity ^= 1;
    const Cycles took = now() - start;
    sc_core::wait(cycles(10000));  // the pipe is idle again
    return took;
  }

  DeviceProfile profile = b200();
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  Sm sm;
  SharedMemory smem;
  Mbarrier barrier{0, smem, profile, jitter, observer};
  TensorMemory tmem;
  Umma umma;
  // the odd CTA of the pair
  Sm peer_sm;
  SharedMemory peer_smem;
  Mbarrier peer_barrier{1, peer_smem, profile, jitter, observer};
  TensorMemory peer_tmem;
  Umma peer;
  Waiter waiter, alloc_waiter;
  uint32_t parity = 0;
};

struct Shape {
  std::string format, layout;
  int m, n;
  double latency, interval;
  int cta_group = 1;
};

/// Rows of a measured CSV as maps; lines that start with # are comments.
std::vector<std::map<std::string, std::string>> read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> header;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    if (header.empty()) {
      header = cells;
      continue;
    }
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < cells.size() && i < header.size(); ++i) row[header[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("single-MMA latency and initiation interval follow the laws worked by hand", "[umma][timing]") {
  // docs/measurements.md, law 4.1: latency 104 + N/2 + [SS] M/4; interval max(N/2, [SS] (M+N)/4).
  const Shape shapes[] = {{"BF16", "SS", 64, 64, 152, 32},
                          {"BF16", "SS", 128, 128, 200, 64},
                          {"BF16", "SS", 128, 112, 192, 60},
                          {"BF16", "SS", 128, 256, 264, 128},
                          {"BF16", "TS", 128, 64, 136, 32},
                          {"BF16", "TS", 64, 256, 232, 128},
                          // Pairs: 138 + N/2 + [SS] 32 for M = 256, 146 + N/4 + [SS] 3 + N/8 for M = 128; interval
                          // max(N/2 or N/4, [SS] (M/2 + N/2)/4, and 3 or 1 more up to N = 96).
                          {"BF16", "SS", 256, 256, 298, 128, 2},
                          {"BF16", "SS", 256, 64, 202, 43, 2},
                          {"BF16", "TS", 256, 112, 194, 56, 2},
                          {"BF16", "SS", 128, 128, 197, 32, 2},
                          {"BF16", "SS", 128, 64, 173, 25, 2},
                          {"BF16", "TS", 128, 64, 162, 18, 2}};
  Bench b(false);
  Stimulus stimulus("stimulus", [&] {
    for (const Shape& s : shapes) {
      const MmaCommand c = b.command(MmaKind::f16, DataType::bf16, s.m, s.n, s.layout == "TS", s.cta_group);
      const Cycles one = b.run_batch(c, 1), many = b.run_batch(c, 65);
      INFO(s.layout << " cta_group " << s.cta_group << " M " << s.m << " N " << s.n);
      CHECK(double(one) == s.latency);
      CHECK(double(many - one) / 64 == s.interval);
    }
  });
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("every BF16 and E4M3 row measured on B200, one SM and two, is reproduced", "[umma][measured]") {
  const std::filesystem::path data = measured_dir();
  if (!std::filesystem::exists(data / "b200" / "umma_latency.csv")) {
    if (std::getenv("SM100_REQUIRE_MEASURED")) FAIL("measured data not found in " << data);
    SM100_SKIP("no measured data in \'" << data << "\': see docs/architecture.md section 8");
  }
  std::map<std::string, double> interval;
  auto key = [](auto& r) { return r["Format"] + r["ABLayout"] + r["CTAGroup"] + "/" + r["M"] + "/" + r["N"]; };
  for (auto& r : read_csv(data / "b200" / "umma_batch_fit.csv")) interval[key(r)] = std::stod(r["a (II)"]);
  std::vector<Shape> shapes;
  for (auto& r : read_csv(data / "b200" / "umma_latency.csv"))
    if (r["Format"] == "BF16" || r["Format"] == "E4M3")
      shapes.push_back({r["Format"], r["ABLayout"], std::stoi(r["M"]), std::stoi(r["N"]),
                        std::stod(r["MedianCycles"]), interval.at(key(r)), std::stoi(r["CTAGroup"])});
  REQUIRE(shapes.size() == 96);

  Bench b(false);
  double worst_latency = 0, worst_interval = 0;
  Stimulus stimulus("stimulus", [&] {
    for (const Shape& s : shapes) {
      const bool bf16 = s.format == "BF16";
      const MmaCommand c = b.command(bf16 ? MmaKind::f16 : MmaKind::f8f6f4, bf16 ? DataType::bf16 : DataType::e4m3,
                                     s.m, s.n, s.layout == "TS", s.cta_group);
      const double one = double(b.run_batch(c, 1)), ii = (double(b.run_batch(c, 1025)) - one) / 1024;
      INFO(s.format << " " << s.layout << " cta_group " << s.cta_group << " M " << s.m << " N " << s.n);
      CHECK(std::abs(one - s.latency) <= 1);
      CHECK(std::abs(ii / s.interval - 1) <= (s.cta_group == 1 ? 0.01 : 0.03));
      worst_latency = std::max(worst_latency, std::abs(one - s.latency));
      worst_interval = std::max(worst_interval, std::abs(ii / s.interval - 1));
    }
  });
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
  WARN("96 rows: latency within " << worst_latency << " cycles, initiation interval within " << 100 * worst_interval
                                  << " %");
}

TEST_CASE("D = A B from shared memory, and accumulation only when enable-input-d says so", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  SharedMemory smem;
  RecordingObserver observer;
  smem.start_cta(200 * 1024, true);
  TensorMemoryBank bank(true);
  TensorMemory tmem(0, bank, observer);
  Waiter waiter;
  tmem.alloc(512, waiter, {});
  UmmaNumerics numerics(accumulation, smem, tmem);
  const int m = GENERATE(64, 128), n = 16;
  // No-swizzle K-major layout: 8-row groups 128 bytes apart, 16-byte chunks of K `lbo` apart (PTX
  // 9.7.16).
  auto put = [&](uint32_t base, uint32_t lbo, int i, int k, float v) {
    smem.store(
        base + uint32_t(i / 8) * 128 + uint32_t(i % 8) * 16 + uint32_t(2 * k / 16) * lbo + uint32_t(2 * k % 16),
        cvt_rn_bf16_f32(v));
  };
  for (int i = 0; i < m; ++i)
    for (int k = 0; k < 16; ++k) put(kTileA, 2048, i, k, float(i % 7 - 3) + float(k % 3));
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < 16; ++k) put(kTileB, 256, j, k, float(j % 5) - float(k % 4));
  MmaOperation op{
      .kind = MmaKind::f16,
      .idesc = decode(make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, m, n)),
      .m = m,
      .n = n,
      .d = TmemAddr::at(0, 32),
      .a_in_tmem = false,
      .a_tmem = {},
      .a = decode(make_smem_descriptor({kTileA}, 2048, 128, Swizzle::none)),
      .b = decode(make_smem_descriptor({kTileB}, 256, 128, Swizzle::none)),
      .enable_input_d = false};
  const MmaOperation accumulate = [&] {
    auto o = op;
    o.enable_input_d = true;
    return o;
  }();
  const MmaOperation both[] = {op, accumulate};
  numerics.execute(both);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float expected = 0;  // small integers: exact in every mode
      for (int k = 0; k < 16; ++k)
        expected += 2 * (float(i % 7 - 3) + float(k % 3)) * (float(j % 5) - float(k % 4));
      const uint32_t lane =
          m == 64 ? uint32_t(i % 16 + 32 * (i / 16)) : uint32_t(i);  // layouts F and D (PTX 9.7.16)
      REQUIRE(tmem.lane(lane)[32 + j] == expected);
    }
}

namespace {
void check_pair_product(int m) {
  const int n = 32;
  Bench b(true);
  const int rows = m / 2, columns = n / 2;
  const auto put = [&](SharedMemory& smem, uint32_t base, uint32_t lbo, int i, int k, float v) {
    smem.store(
        base + uint32_t(i / 8) * 128 + uint32_t(i % 8) * 16 + uint32_t(2 * k / 16) * lbo + uint32_t(2 * k % 16),
        cvt_rn_bf16_f32(v));
  };
  const auto a = [](int i, int k) { return float(i % 7 - 3) + float(k % 3); };
  const auto bt = [](int j, int k) { return float(j % 5) - float(k % 4); };
  for (int cta = 0; cta < 2; ++cta) {
    SharedMemory& smem = cta == 0 ? b.smem : b.peer_smem;
    for (int k = 0; k < 16; ++k) {
      for (int i = 0; i < rows; ++i) put(smem, kTileA, 2048, i, k, a(cta * rows + i, k));
      for (int j = 0; j < columns; ++j) put(smem, kTileB, uint32_t(n) * 16, j, k, bt(cta * columns + j, k));
    }
  }
  Stimulus stimulus("stimulus", [&] { b.run_batch(b.command(MmaKind::f16, DataType::bf16, m, n, false, 2), 1); });
  sc_core::sc_start();
  REQUIRE(b.observer.violation_id() == "");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float expected = 0;
      for (int k = 0; k < 16; ++k) expected += a(i, k) * bt(j, k);
      // PTX 9.7.16: A is one row a lane; B puts columns N/2 ... into lanes 64-127.
      TensorMemory& tmem = i / rows == 0 ? b.tmem : b.peer_tmem;
      const int lane = m == 256 ? i % 128 : i % 64 + 64 * (j / columns), column = m == 256 ? j : j % columns;
      REQUIRE(tmem.lane(uint32_t(lane))[column] == expected);
    }
}
}  // namespace

TEST_CASE("a pair's MMA reads half of A and B from each CTA and writes both tensor memories: M = 128", "[umma]") {
  check_pair_product(128);
}
TEST_CASE("a pair's MMA reads half of A and B from each CTA and writes both tensor memories: M = 256", "[umma]") {
  check_pair_product(256);
}

TEST_CASE("TC13: an MMA that adds to a D, or reads an A, that nobody has written", "[umma]") {
  Bench b(true);
  auto c = b.command(MmaKind::f16, DataType::bf16, 128, 128, false);
  SECTION("the first MMA of a tile does not read D, the next finds it written") {
    b.umma.mma(c, 0);
    c.enable_input_d = true;
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "");
    c.idesc = make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, 128, 144);
    b.umma.mma(c, 0);
    REQUIRE(b.observer.violation_id() == "TC13");
    CHECK(b.observer.violations[0].message ==
          "tcgen05.mma adds to columns 0 to 143, of which nobody has written all lanes of columns 128 to 143 since "
          "tcgen05.alloc");
    CHECK(b.observer.violations[0].suspect);
    b.umma.mma(c, 0);  // once: D counts as written
    CHECK(b.observer.violations.size() == 1);
  }
  SECTION("added to at once") {
    c.enable_input_d = true;
    b.umma.mma(c, 0);
    REQUIRE(b.observer.violation_id() == "TC13");
    CHECK(b.observer.violations[0].message ==
          "tcgen05.mma adds to columns 0 to 127, which nobody has written since tcgen05.alloc");
  }
  SECTION("M = 64 writes the first 16 lanes of each quarter") {
    c.idesc = make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, 64, 128);
    b.umma.mma(c, 0);
    CHECK(b.tmem.written(0, 128, 0b01010101));
    CHECK_FALSE(b.tmem.written(0, 128, 0b10));
  }
  SECTION("a pair writes in both CTAs") {
    c = b.command(MmaKind::f16, DataType::bf16, 128, 128, false, 2);
    b.umma.mma(c, 0);
    CHECK(b.tmem.written(0, 64, 0xff));
    CHECK(b.peer_tmem.written(0, 64, 0xff));
    CHECK_FALSE(b.tmem.written(64, 1, 0xff));
  }
  SECTION("A") {
    c = b.command(MmaKind::f16, DataType::bf16, 128, 128, true);
    b.umma.mma(c, 0);
    REQUIRE(b.observer.violation_id() == "TC13");
    CHECK(b.observer.violations[0].message ==
          "tcgen05.mma reads A from columns 256 to 263, which nobody has written since tcgen05.alloc");
  }
}

TEST_CASE("descriptor and shape errors are named", "[umma]") {
  Bench b(false);
  auto c = b.command(MmaKind::f16, DataType::bf16, 128, 128, false);
  SECTION("TC5: M = 96") {
    c.idesc.bits = (c.idesc.bits & ~(31u << 24)) | (96u >> 4) << 24;
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC5");
  }
  SECTION("TC5: reserved bit") {
    c.idesc.bits |= 1u << 29;
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC5");
  }
  SECTION("TC6: Hopper descriptor") {
    c.a.bits &= ~(7ull << 46);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC6");
  }
  SECTION("TC1: D outside the allocation") {
    c.d = TmemAddr::at(0, 448);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC1");
  }
  SECTION("TC2: D at a lane that M = 128 cannot have") {
    c.d = TmemAddr::at(16, 0);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC2");
  }
  SECTION("TC8: cta_group 2 without a peer") {
    b.umma.start_cta();
    c.cta_group = 2;
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC8");
  }
  SECTION("TC5: M = 64 of a pair") {
    b.umma.mma(b.command(MmaKind::f16, DataType::bf16, 64, 128, false, 2), 0);
    CHECK(b.observer.violation_id() == "TC5");
  }
  SECTION("TC1: D not allocated in the peer") {
    b.peer_tmem.dealloc(TmemAddr::at(0, 0), 512, {});
    b.umma.mma(b.command(MmaKind::f16, DataType::bf16, 256, 128, false, 2), 0);
    CHECK(b.observer.violation_id() == "TC1");
  }
}

TEST_CASE("operands outside shared or tensor memory are named", "[umma]") {
  Bench b(true);
  auto c = b.command(MmaKind::f16, DataType::bf16, 128, 128, false);
  SECTION("TC7: A runs past the 228 KiB") {
    c.a = make_smem_descriptor({0x39000 - 1024}, 2048, 128, Swizzle::none);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC7");
  }
  SECTION("TC7: A runs past the CTA's end, also in a CTA that is smaller than the one before") {
    const uint32_t end = kTileA + 2 * 128 * 16;  // two columns of 128 x 16 bytes
    c.a = make_smem_descriptor({end - 2 * 128 * 16}, 2048, 128, Swizzle::none);
    c.b = make_smem_descriptor({kTileA}, 2048, 128, Swizzle::none);
    b.smem.start_cta(end - kSmemUserBase, true);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "");
    b.smem.start_cta(end - 16 - kSmemUserBase, true);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC7");
    CHECK(b.observer.violations[0].message ==
          "tcgen05.mma reads part of operand A outside the CTA's shared memory (0x400 to 0x17f0)");
  }
  SECTION("TC1: A past the last column") {
    c.a_in_tmem = true;
    c.a_tmem = TmemAddr::at(0, 508);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC1");
  }
  SECTION("TC2: A and D at different lanes") {
    c.a_in_tmem = true;
    c.a_tmem = TmemAddr::at(32, 0);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC2");
  }
}

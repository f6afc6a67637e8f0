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
            .scale_vec = usual_scale_vec(kind),
            .d = TmemAddr::at(0, 0),
            .a_in_tmem = a_in_tmem,
            .a = make_smem_descriptor({kTileA}, 2048, 128, none),
            .a_tmem = TmemAddr::at(0, 256),
            .b = make_smem_descriptor({kTileB}, uint32_t(n) * 16, 128, none),
            .idesc = make_instr_descriptor(kind, type, type, DataType::f32, m, n),
            .sfa = TmemAddr::at(0, 288),
            .sfb = TmemAddr::at(0, 320)};
  }

  /// Issues `depth` MMAs and a commit as a thread does that starts now, returns the cycles until a waiter is awake.
  Cycles run_batch(const MmaCommand& c, int depth) {
    const Cycles start = now(), issued = start + Cycles(profile.issue.elect + profile.issue.tcgen05_mma);
    for (int i = 0; i < depth; ++i) umma.mma(c, issued);
    umma.commit(kBar, issued, {});
    barrier.wait_parity(kBar, parity, waiter);
    models::wait(waiter.wake);
    parity ^= 1;
    const Cycles took = now() - start;
    models::wait(10000);  // the pipe is idle again
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

/// What the rows' formats are: F4 and MXF4 were run as kind::f8f6f4 and kind::mxf8f6f4 (docs/measurements.md).
const std::map<std::string, std::pair<MmaKind, DataType>>& measured_formats() {
  static const std::map<std::string, std::pair<MmaKind, DataType>> formats = {
      {"BF16", {MmaKind::f16, DataType::bf16}},      {"E4M3", {MmaKind::f8f6f4, DataType::e4m3}},
      {"F4", {MmaKind::f8f6f4, DataType::e2m1}},     {"S8", {MmaKind::i8, DataType::s8}},
      {"MXF8", {MmaKind::mxf8f6f4, DataType::e4m3}}, {"MXF4", {MmaKind::mxf8f6f4, DataType::e2m1}}};
  return formats;
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
  Stimulus stimulus([&] {
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

TEST_CASE("block-scaled and integer MMAs follow the laws worked by hand", "[umma][timing]") {
  // docs/measurements.md, law 4.1: beyond the dense latency, block scaling takes 3 cycles, 1 on one SM with A in
  // shared memory, and 2 more with A in tensor memory, N = 256 and 128 rows per CTA; i8 takes 1 less, a pair 3
  // less.  The interval is that of all kinds.  mxf4 and mxf4nvf4 are taken to be as mxf8f6f4: 32 bytes of each row
  // are K = 64.
  const struct {
    MmaKind kind;
    DataType type;
    Shape shape;
  } rows[] = {{MmaKind::mxf8f6f4, DataType::e4m3, {"", "SS", 128, 128, 201, 64}},
              {MmaKind::mxf8f6f4, DataType::e2m1, {"", "TS", 128, 128, 171, 64}},
              {MmaKind::mxf8f6f4, DataType::e3m2, {"", "TS", 128, 256, 237, 128}},
              {MmaKind::mxf8f6f4, DataType::e4m3, {"", "SS", 256, 256, 301, 128, 2}},
              {MmaKind::mxf8f6f4, DataType::e4m3, {"", "TS", 256, 256, 271, 128, 2}},
              {MmaKind::mxf8f6f4, DataType::e4m3, {"", "TS", 128, 256, 213, 64, 2}},
              {MmaKind::mxf4, DataType::e2m1, {"", "SS", 128, 128, 201, 64}},
              {MmaKind::mxf4nvf4, DataType::e2m1, {"", "SS", 128, 256, 265, 128}},
              {MmaKind::mxf4nvf4, DataType::e2m1, {"", "TS", 256, 256, 271, 128, 2}},
              {MmaKind::f8f6f4, DataType::e2m1, {"", "SS", 128, 128, 200, 64}},
              {MmaKind::f8f6f4, DataType::e2m3, {"", "TS", 64, 256, 232, 128}},
              {MmaKind::i8, DataType::s8, {"", "SS", 128, 128, 199, 64}},
              {MmaKind::i8, DataType::u8, {"", "TS", 256, 256, 263, 128, 2}}};
  Bench b(false);
  Stimulus stimulus([&] {
    for (const auto& [kind, type, s] : rows) {
      const MmaCommand c = b.command(kind, type, s.m, s.n, s.layout == "TS", s.cta_group);
      const Cycles one = b.run_batch(c, 1), many = b.run_batch(c, 65);
      INFO(name(kind) << " " << s.layout << " cta_group " << s.cta_group << " M " << s.m << " N " << s.n);
      CHECK(double(one) == s.latency);
      CHECK(double(many - one) / 64 == s.interval);
    }
  });
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("every row measured on B200, of every format, on one SM and two, is reproduced", "[umma][measured]") {
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
    shapes.push_back({r["Format"], r["ABLayout"], std::stoi(r["M"]), std::stoi(r["N"]),
                      std::stod(r["MedianCycles"]), interval.at(key(r)), std::stoi(r["CTAGroup"])});
  REQUIRE(shapes.size() == 264);
  Bench b(false);
  double worst_latency = 0, worst_interval = 0;
  Stimulus stimulus([&] {
    for (const Shape& s : shapes) {
      const auto& [kind, type] = measured_formats().at(s.format);
      const MmaCommand c = b.command(kind, type, s.m, s.n, s.layout == "TS", s.cta_group);
      const double one = double(b.run_batch(c, 1)), ii = (double(b.run_batch(c, 1025)) - one) / 1024;
      INFO(s.format << " " << s.layout << " cta_group " << s.cta_group << " M " << s.m << " N " << s.n);
      CHECK(one == s.latency);
      CHECK(std::abs(ii / s.interval - 1) <= (s.cta_group == 1 ? 0.01 : 0.03));
      worst_latency = std::max(worst_latency, std::abs(one - s.latency));
      worst_interval = std::max(worst_interval, std::abs(ii / s.interval - 1));
    }
  });
  sc_core::sc_start();
  for (const Violation& v : b.observer.violations) CHECK(v.warning);  // N of i8 pairs that PTX does not have
  WARN("264 rows: latency within " << worst_latency << " cycles, initiation interval within "
                                   << 100 * worst_interval << " %");
}

TEST_CASE("every batch measured on B200, of every format, is reproduced", "[umma][measured]") {
  const std::filesystem::path data = std::filesystem::path(measured_dir()) / "b200";
  if (!std::filesystem::exists(data / "umma_throughput_depth_sweep.csv")) {
    if (std::getenv("SM100_REQUIRE_MEASURED")) FAIL("measured data not found in " << data);
    SM100_SKIP("no measured data in \'" << data << "\': see docs/architecture.md section 8");
  }
  constexpr double kBatches = 1000;  // of a measured row
  struct Errors {
    int rows = 0;
    double worst = 0, sum = 0;
  };
  std::map<std::string, Errors> errors;  // by table and format
  Bench b(false);
  Stimulus stimulus([&] {
    for (const char* table : {"umma_throughput_depth_sweep.csv", "umma_throughput_ts_depth1to10.csv"})
      for (auto& r : read_csv(data / table)) {
        const auto& [kind, type] = measured_formats().at(r["Format"]);
        const MmaCommand c = b.command(kind, type, std::stoi(r["M"]), std::stoi(r["N"]), r["ABLayout"] == "TS",
                                       std::stoi(r["CTAGroup"]));
        // From one batch to the next a loop of the issuing thread passes as well.
        const double batch = double(b.run_batch(c, std::stoi(r["PipelineDepth"]))) + b.profile.issue.control;
        const double error = std::abs(batch / (std::stod(r["Cycles"]) / kBatches) - 1);
        Errors& of = errors[std::string(table) + ", " + r["Format"]];
        ++of.rows, of.worst = std::max(of.worst, error), of.sum += error;
      }
  });
  sc_core::sc_start();
  for (const Violation& v : b.observer.violations) CHECK(v.warning);  // N of i8 pairs that PTX does not have
  REQUIRE(errors.size() == 12);
  for (const auto& [what, of] : errors) {
    INFO(what);
    const bool scaled = what.find("MXF") != std::string::npos, small = what.find("depth1to10") != std::string::npos;
    CHECK(of.rows == (scaled ? 180 : 240));
    CHECK(of.worst <= 0.03);
    // Why the scaled formats' mean is 0.2 % where the others' is 0.12 % is not known: their largest error alone is
    // held.
    if (!scaled) CHECK(of.sum / of.rows <= (small ? 0.005 : 0.002));
    WARN(what << ": mean " << 100 * of.sum / of.rows << " %, at most " << 100 * of.worst << " %");
  }
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
  Stimulus stimulus([&] { b.run_batch(b.command(MmaKind::f16, DataType::bf16, m, n, false, 2), 1); });
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
          "tcgen05.alloc; a tcgen05.mma with M = 128, N = 128 has written columns 0 to 127");
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
          "tcgen05.mma reads part of operand A outside the CTA's shared memory (0x400 to 0x17f0): M 128, N 128; "
          "start "
          "address 0x800, leading byte offset 2048, stride byte offset 128");
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

namespace {

/// Writes the columns as tcgen05.st does, in all lanes.
void write_columns(TensorMemory& tmem, uint32_t column, uint32_t columns, uint32_t value) {
  for (uint32_t lane = 0; lane < kTmemLanes; ++lane)
    for (uint32_t c = column; c < column + columns; ++c) tmem.cell(lane, c) = value;
  tmem.wrote(column, columns, 0xff);
}

}  // namespace

TEST_CASE("block-scaled MMAs that PTX does not have are named", "[umma]") {
  Bench b(false);
  MmaCommand c = b.command(MmaKind::mxf8f6f4, DataType::e4m3, 128, 128, false);
  const auto said = [&] {
    REQUIRE(b.observer.violations.size() == 1);
    return b.observer.violations[0].id + ": " + b.observer.violations[0].message;
  };
  const std::string scale_vec =
      ": scale_vec: mxf8f6f4 has 1X (block32), mxf4 2X (block32), mxf4nvf4 2X (block32) or 4X (block16); the other "
      "kinds "
      "have no scale factors";
  SECTION("2X of mxf8f6f4") {
    c.scale_vec = ScaleVec::x2;
    b.umma.mma(c, 0);
    CHECK(said() == "TC5: tcgen05.mma.kind::mxf8f6f4.block_scale.scale_vec::2X" + scale_vec);
  }
  SECTION("4X of mxf4, after 2X of the same descriptors") {
    c = b.command(MmaKind::mxf4, DataType::e2m1, 128, 128, false);
    b.umma.mma(c, 0);
    c.scale_vec = ScaleVec::x4;
    b.umma.mma(c, 0);
    CHECK(said() == "TC5: tcgen05.mma.kind::mxf4.block_scale.scale_vec::4X" + scale_vec);
  }
  SECTION("a block-scaled kind without .block_scale") {
    c.scale_vec = ScaleVec::none;
    b.umma.mma(c, 0);
    CHECK(said() == "TC5: tcgen05.mma.kind::mxf8f6f4 without .block_scale" + scale_vec);
  }
  SECTION("a dense kind with .block_scale") {
    c = b.command(MmaKind::f16, DataType::bf16, 128, 128, false);
    c.scale_vec = ScaleVec::x1;
    b.umma.mma(c, 0);
    CHECK(said() == "TC5: tcgen05.mma.kind::f16.block_scale.scale_vec::1X" + scale_vec);
  }
  SECTION("ue4m3 with 2X") {
    c = b.command(MmaKind::mxf4nvf4, DataType::e2m1, 128, 128, false);
    b.umma.mma(c, 0);
    c.scale_vec = ScaleVec::x2;
    b.umma.mma(c, 0);
    CHECK(said() ==
          "TC5: instruction descriptor 0x08200480 (M 128, N 128, 2X ue4m3, ids 0 and 0): scale factors: 1X ue8m0, "
          "ids 0 ... 3; 2X ue8m0, "
          "ids 0 "
          "and 2; 4X ue8m0 or ue4m3, id 0");
  }
  SECTION("an id of 1 with 2X") {
    c = b.command(MmaKind::mxf4, DataType::e2m1, 128, 128, false);
    c.idesc.bits |= 1u << 29;
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC5");
  }
  SECTION("M = 64") {
    c.idesc.bits &= ~(3u << 27);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC5");
  }
  SECTION("MN-major e2m1 of mxf4") {
    c = b.command(MmaKind::mxf4, DataType::e2m1, 128, 128, false);
    c.idesc.bits |= 1u << 16;
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "TC5");
  }
  SECTION("SFA past the last column") {
    c.sfa = TmemAddr::at(0, 509);
    b.umma.mma(c, 0);
    CHECK(said() == "TC1: tcgen05.mma reads SFA from columns 509 to 512: not inside a live allocation");
  }
  SECTION("SFB of N = 136 are five columns; bits above the address do not count") {
    c = b.command(MmaKind::mxf8f6f4, DataType::e4m3, 128, 136, false);
    c.sfb.value = 507 | 0xc0000000;
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "");
    c.sfb.value = 508 | 0xc0000000;
    b.umma.mma(c, 0);
    CHECK(said() == "TC1: tcgen05.mma reads SFB from columns 508 to 512: not inside a live allocation");
  }
  SECTION("a pair's M = 128 has two columns of SFA and half of SFB's") {
    c = b.command(MmaKind::mxf8f6f4, DataType::e4m3, 128, 256, false, 2);
    c.sfa = TmemAddr::at(0, 510), c.sfb = TmemAddr::at(0, 508);
    b.umma.mma(c, 0);
    CHECK(b.observer.violation_id() == "");
    c.sfa = TmemAddr::at(0, 511);
    b.umma.mma(c, 0);
    CHECK(said() == "TC1: tcgen05.mma reads SFA from columns 511 to 512: not inside a live allocation");
  }
  SECTION("scale factors at a lane") {
    c.sfb = TmemAddr::at(32, 320);
    b.umma.mma(c, 0);
    CHECK(said() == "TC2: tcgen05.mma with SFB at lane 32: scale factors are in all lanes, allowed is 0");
  }
}

TEST_CASE("TC13: scale factors that nobody has written", "[umma]") {
  Bench b(true);
  const bool pair = GENERATE(false, true);
  const MmaCommand c = b.command(MmaKind::mxf4nvf4, DataType::e2m1, pair ? 256 : 128, 64, false, pair ? 2 : 1);
  SECTION("SFA not written") {
    write_columns(b.tmem, 320, 2, 0x38383838);
    write_columns(b.peer_tmem, 320, 2, 0x38383838);
    b.umma.mma(c, 0);
    REQUIRE(b.observer.violations.size() == (pair ? 2 : 1));
    CHECK(b.observer.violations[0].id == "TC13");
    CHECK(b.observer.violations[0].suspect);
    CHECK(b.observer.violations[0].message ==
          "tcgen05.mma reads SFA from columns 288 to 291, which nobody has written since tcgen05.alloc");
  }
  SECTION("SFB written in part") {
    for (TensorMemory* tmem : {&b.tmem, &b.peer_tmem}) {
      write_columns(*tmem, 288, 4, 0x38383838);
      write_columns(*tmem, 320, 1, 0x38383838);
    }
    b.umma.mma(c, 0);
    REQUIRE(!b.observer.violations.empty());
    CHECK(b.observer.violations[0].message ==
          "tcgen05.mma reads SFB from columns 320 to 321, of which nobody has written all lanes of columns 321 to "
          "321 "
          "since tcgen05.alloc");
  }
}

namespace {
void check_differing_copies(bool pair) {
  Bench b(true);
  MmaCommand c = b.command(MmaKind::mxf4nvf4, DataType::e2m1, pair ? 256 : 128, 64, false, pair ? 2 : 1);
  c.source.op = 77;
  SharedMemory* const smems[] = {&b.smem, &b.peer_smem};
  TensorMemory* const tmems[] = {&b.tmem, &b.peer_tmem};
  for (SharedMemory* smem : smems) std::fill_n(smem->data(kTileA), 0x10000, uint8_t(0x22));  // elements of 1
  for (TensorMemory* tmem : tmems) {
    write_columns(*tmem, 288, 4, 0x38383838);
    write_columns(*tmem, 320, 2, 0x38383838);
  }
  TensorMemory& last = *tmems[pair];
  last.cell(64 + 7, 289) = 0x38383039;
  Stimulus stimulus([&] { b.run_batch(c, 1); });
  sc_core::sc_start();
  REQUIRE(b.observer.violation_id() == "TC14");
  CHECK(b.observer.violations[0].suspect);
  CHECK(b.observer.violations[0].source.op == 77);  // the MMA's, not its commit's
  CHECK(b.observer.violations[0].message ==
        std::string(
            "tcgen05.mma reads scale factors whose copies differ: SFA in column 289: 0x38383838 in lane 7 and "
            "0x38383039 in lane 71") +
            (pair ? " of the pair's odd CTA" : ""));
  CHECK(std::isnan(last.lane(32 + 7)[0]));  // row 39
  CHECK(last.lane(7)[0] == 64);
}
}  // namespace

TEST_CASE("TC14: scale factors whose copies differ", "[umma]") { check_differing_copies(false); }
TEST_CASE("TC14: scale factors whose copies differ, in the odd CTA of a pair", "[umma]") {
  check_differing_copies(true);
}

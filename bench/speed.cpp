// SPDX-License-Identifier: Apache-2.0
// How fast the simulator is.  Runs of the program, with all checks on unless said otherwise:
//   - square products on the whole chip, without data and with it: seconds, simulated chip cycles and mbarrier
//     events per second, memory; with data the ratio to a single-thread Eigen float product of the same size in
//     this process, which is compiled for this machine;
//   - one cluster of 16 CTAs with data;
//   - what a tile-k-step costs (one k tile of one output tile: two copies, four MMAs, a commit) while one of M, N,
//     K, SMs and stages is doubled: the same everywhere would be linear;
//   - recording a trace against not recording.
// `--quick` leaves out 8192^3 with data.  Times are processor time (of the program with all that it does), medians
// of a few runs, of one run where that takes long.
#include <fmt/format.h>
#include <sys/resource.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

/// Processor time of this process, or of the children that have ended.
double seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto of = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

struct Shape {
  int m, n, k;
};

nlohmann::json simulate(Shape shape, const std::string& options) {
  const std::string command = fmt::format(
      "'{}' run '{}/bench/square.toml' --set problem.m={} --set problem.n={} --set problem.k={} {} --json -",
      SM100SIM_BINARY, SM100_SOURCE_DIR, shape.m, shape.n, shape.k, options);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (char buffer[4096]; const size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get());)
    text.append(buffer, n);
  const nlohmann::json result = nlohmann::json::parse(text, nullptr, false);
  if (result.is_discarded() || result["outcome"] != "pass") {
    fmt::print(stderr, "the run did not pass: {}\n{}\n", command, text);
    std::exit(1);
  }
  return result;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Measured {
  double seconds, rss_mib, cycles, events;
};
Measured measure(Shape shape, const std::string& options, int runs) {
  std::vector<double> taken;
  nlohmann::json last;
  for (int i = 0; i < runs; ++i) {
    const double start = seconds(RUSAGE_CHILDREN);
    last = simulate(shape, options);
    taken.push_back(seconds(RUSAGE_CHILDREN) - start);
  }
  return {median(taken), double(last["host"]["peak_rss_bytes"]) / (1 << 20), double(last["cycles"]),
          double(last["barrier_events"])};
}

double eigen_seconds(int size, int runs) {
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(size, size), b = Eigen::MatrixXf::Random(size, size);
  Eigen::MatrixXf c(size, size);
  std::vector<double> taken;
  for (int i = 0; i < runs; ++i) {
    const double start = seconds(RUSAGE_SELF);
    c.noalias() = a * b.transpose();
    taken.push_back(seconds(RUSAGE_SELF) - start);
  }
  return median(taken) + 0 * double(c(0, 0));
}

void print(const std::string& what, const Measured& m, const std::string& more = {}) {
  fmt::print("{:<32} {:7.2f} s {:6.0f} MiB {:10.0f} cycles/s {:10.0f} barrier events/s{}\n", what, m.seconds,
             m.rss_mib, m.cycles / m.seconds, m.events / m.seconds, more);
  std::fflush(stdout);
}

void whole_chip(int size, bool with_data) {
  const Shape cube{size, size, size};
  const int runs = size > 4096 ? 1 : 3;
  print(fmt::format("{}^3 on 148 SMs, data none", size), measure(cube, "--data none", runs));
  if (!with_data) return;
  const double eigen = eigen_seconds(size, runs);
  const Measured m = measure(cube, "--data full", runs);
  print(fmt::format("{}^3 on 148 SMs, data full", size), m,
        fmt::format("; {:.2f} of Eigen's {:.2f} s, one thread", m.seconds / eigen, eigen));
}

void growth() {
  const Shape base{4096, 4096, 1024};
  const auto step = [](const std::string& what, Shape shape, const std::string& options) {
    const Measured m = measure(shape, "--data none " + options, 3);
    const double steps = double(shape.m / 128) * (shape.n / 256) * (double(shape.k) / 64);
    fmt::print("  {:<12} {:7.2f} s {:8.2f} us per tile-k-step\n", what, m.seconds, m.seconds / steps * 1e6);
    std::fflush(stdout);
  };
  const std::string half_chip = "--set run.sms=72 --set config.stages=2";
  fmt::print("4096 x 4096 x 1024 on 72 SMs, 2 stages, data none; one of them doubled\n");
  step("base", base, half_chip);
  step("M", {2 * base.m, base.n, base.k}, half_chip);
  step("N", {base.m, 2 * base.n, base.k}, half_chip);
  step("K", {base.m, base.n, 2 * base.k}, half_chip);
  step("SMs", base, "--set run.sms=144 --set config.stages=2");
  step("stages", base, "--set run.sms=72 --set config.stages=4");
}

void recording() {
  const char* file = "/dev/shm/sm100sim_bench.pftrace";
  const Shape cube{2048, 2048, 2048};
  const Measured without = measure(cube, "--data none", 5),
                 with = measure(cube, fmt::format("--data none --trace {}", file), 5);
  std::remove(file);
  fmt::print(
      "2048^3 recording a trace         {:.2f} s against {:.2f} s without (ratio {:.1f}; writing the file comes on "
      "top)\n",
      with.seconds, without.seconds, with.seconds / without.seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 && !quick) {
    fmt::print(stderr, "usage: bench_speed [--quick]\n");
    return 2;
  }
  whole_chip(4096, true);
  whole_chip(8192, !quick);
  print("one cluster of 16, data full",
        measure({512, 1024, 4096}, "--data full --set run.sms=16 --set config.cluster=[4,4,1]", 3));
  growth();
  recording();
}

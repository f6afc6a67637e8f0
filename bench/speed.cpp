// How fast the simulator is, as ratios where there is something to compare with: simulated runs of the
// program against a single-thread Eigen float product of the same size on the same machine, and recording
// against not recording.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

constexpr int kRuns = 5;

nlohmann::json simulate(int size, const std::string& options) {
  const std::string command = fmt::format(
      "'{}' run '{}/bench/square.toml' --set problem.m={} --set problem.n={} --set problem.k={} {} --json -",
      SM100SIM_BINARY, SM100_SOURCE_DIR, size, size, size, options);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (char buffer[4096]; const size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get());)
    text.append(buffer, n);
  return nlohmann::json::parse(text);
}

struct Median {
  double wall, rss_mib, cycles;
};
Median measure(int size, const std::string& options, int runs = kRuns) {
  std::vector<double> wall;
  nlohmann::json last;
  for (int i = 0; i < runs; ++i) {
    last = simulate(size, options);
    if (last["outcome"] != "pass") fmt::print(stderr, "the run did not pass\n"), std::exit(1);
    wall.push_back(last["wall_seconds"]);
  }
  std::sort(wall.begin(), wall.end());
  return {wall[wall.size() / 2], double(last["peak_rss_bytes"]) / (1 << 20), double(last["cycles"])};
}

double eigen_seconds(int size) {
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(size, size), b = Eigen::MatrixXf::Random(size, size);
  Eigen::MatrixXf c(size, size);
  std::vector<double> wall;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    c.noalias() = a * b.transpose();
    wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(wall.begin(), wall.end());
  return wall[wall.size() / 2] + 0 * double(c(0, 0));
}

}  // namespace

int main() {
  for (int size : {4096, 8192}) {
    const Median m = measure(size, "--data none", size == 4096 ? kRuns : 3);
    fmt::print("{0}^3 on 148 SMs, data none     {1:.2f} s, {2:.0f} MiB, {3:.0f} chip cycles per second\n", size,
               m.wall, m.rss_mib, m.cycles / m.wall);
  }
  for (int size : {1024, 2048}) {
    const Median m = measure(size, "--data full", 3);
    const double eigen = eigen_seconds(size);
    fmt::print(
        "{0}^3 with data and float64 check  {1:.2f} s; Eigen float product, one thread, {2:.3f} s; ratio "
        "{3:.1f}\n",
        size, m.wall, eigen, m.wall / eigen);
  }
  const Median without = measure(2048, "--data none"),
               with = measure(2048, "--data none --trace /dev/shm/sm100sim_bench.pftrace");
  std::remove("/dev/shm/sm100sim_bench.pftrace");
  fmt::print(
      "2048^3 recording a trace        {:.2f} s against {:.2f} s without (ratio {:.1f}; writing the file "
      "comes on top)\n",
      with.wall, without.wall, with.wall / without.wall);
}

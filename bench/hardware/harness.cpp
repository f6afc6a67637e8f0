// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <stdexcept>

namespace hw {
namespace {

std::vector<Test>& tests() {
  static std::vector<Test> list;
  return list;
}
bool poisoned = false;

// Child to parent: one record a line, fields separated by tabs.  H = header, T = test begins, S = samples, V =
// value, X = text, A = answer, O = open question, E = error.
void record(std::vector<std::string> fields) {
  std::string line;
  for (auto& f : fields) {
    std::replace(f.begin(), f.end(), '\t', ' ');
    std::replace(f.begin(), f.end(), '\n', ' ');
    line += (line.empty() ? "" : "\t") + f;
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}
std::string num(double v) { return format("%.6g", v); }

void headers() {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, 0), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0, clock_khz = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0);
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  record({"H", "device", p.name});
  record({"H", "compute_capability", format("%d.%d", p.major, p.minor)});
  record({"H", "cuda_driver_version", num(driver)});
  record({"H", "cuda_runtime_version", num(runtime)});
  record({"H", "date", date});
  record({"H", "sms", num(p.multiProcessorCount)});
  record({"H", "l2_bytes", format("%d", p.l2CacheSize)});
  record({"H", "max_clock_mhz", num(clock_khz / 1000)});
  if (std::FILE* f = std::fopen("/proc/driver/nvidia/version", "r")) {
    char line[256] = {};
    if (std::fgets(line, sizeof line, f)) record({"H", "driver", line});
    std::fclose(f);
  }
}

int child(std::size_t first, const std::string& only) {
  if (cudaSetDevice(0) != cudaSuccess || cudaFree(nullptr) != cudaSuccess) {
    record({"E", "device", "no CUDA device"});
    return 4;
  }
  headers();
  for (std::size_t i = first; i < tests().size(); ++i) {
    if (std::string(tests()[i].name).compare(0, only.size(), only) != 0) continue;
    record({"T", format("%zu", i)});
    Out out;
    try {
      tests()[i].run(out);
    } catch (const std::exception& e) { record({"E", tests()[i].name, e.what()}); }
    if (poisoned || cudaPeekAtLastError() != cudaSuccess) return 3;
  }
  return 0;
}

std::string json_string(const std::string& s) {
  std::string r = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) r += c;
  }
  return r + "\"";
}

struct Collected {
  std::map<std::string, std::string> header;
  std::vector<std::string> json;
  int pass = 0, fail = 0, open = 0, errors = 0;
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> f(1);
  for (const char c : line) {
    if (c == '\t')
      f.emplace_back();
    else
      f.back() += c;
  }
  return f;
}

void take(Collected& all, std::vector<std::string> f) {
  f.resize(9);
  const std::string& kind = f[0];
  auto row = [&](std::vector<std::pair<const char*, std::string>> members) {
    std::string j = "{";
    for (auto& [k, v] : members) j += (j.size() > 1 ? ", " : "") + json_string(k) + ": " + v;
    all.json.push_back(j + "}");
  };
  if (kind == "H") {
    if (all.header.emplace(f[1], f[2]).second) std::printf("# %s: %s\n", f[1].c_str(), f[2].c_str());
  } else if (kind == "S") {  // id what unit min median p90 n note
    std::printf("%-30s %-62s %10s %10s %10s  %-6s %s\n", f[1].c_str(), f[2].c_str(), f[4].c_str(), f[5].c_str(),
                f[6].c_str(), f[3].c_str(), f[8].c_str());
    row({{"id", json_string(f[1])},
         {"what", json_string(f[2])},
         {"unit", json_string(f[3])},
         {"min", f[4]},
         {"median", f[5]},
         {"p90", f[6]},
         {"samples", f[7]},
         {"note", json_string(f[8])}});
  } else if (kind == "X") {
    std::printf("%-30s %-62s %s\n", f[1].c_str(), f[2].c_str(), f[3].c_str());
    row({{"id", json_string(f[1])}, {"what", json_string(f[2])}, {"text", json_string(f[3])}});
  } else if (kind == "A" || kind == "O") {  // id question expected seen
    const bool ok = f[3] == f[4];
    const char* verdict = kind == "O" ? "open" : ok ? "PASS" : "FAIL";
    (kind == "O" ? all.open : ok ? all.pass : all.fail)++;
    std::printf("%-4s %-26s %s\n", verdict, f[1].c_str(), f[2].c_str());
    if (kind == "A" && !ok) std::printf("     expected: %s\n", f[3].c_str());
    if (kind == "O" || !ok) std::printf("     seen:     %s\n", f[4].c_str());
    row({{"id", json_string(f[1])},
         {"question", json_string(f[2])},
         {"verdict", json_string(verdict)},
         {"expected", json_string(f[3])},
         {"seen", json_string(f[4])}});
  } else if (kind == "E") {
    ++all.errors;
    std::printf("ERROR %s: %s\n", f[1].c_str(), f[2].c_str());
    row({{"id", json_string(f[1])}, {"error", json_string(f[2])}});
  }
  std::fflush(stdout);
}

/// Runs one child from test `first` on; the index of the next test to run (tests().size() when done).
std::size_t run_child(Collected& all, std::size_t first, const std::string& only, double seconds_left,
                      int seconds_silent) {
  int fd[2];
  if (pipe(fd) != 0) std::exit(1);
  const std::string index = format("%zu", first);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(fd[1], STDOUT_FILENO);
    close(fd[0]);
    close(fd[1]);
    execl("/proc/self/exe", "hw", "--child", index.c_str(), only.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(fd[1]);
  std::size_t current = first;
  bool started = false, error_seen = false, killed = false;
  const auto begin = std::chrono::steady_clock::now();
  std::string pending;
  char buffer[4096];
  for (;;) {
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const int budget =
        static_cast<int>(std::min<double>(seconds_silent, std::max(0.0, seconds_left - spent)) * 1000);
    pollfd p{fd[0], POLLIN, 0};
    if (poll(&p, 1, budget) == 0) {
      kill(pid, SIGKILL);
      killed = true;
      break;
    }
    const ssize_t n = read(fd[0], buffer, sizeof buffer);
    if (n <= 0) break;
    pending.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t eol; (eol = pending.find('\n')) != std::string::npos; pending.erase(0, eol + 1)) {
      auto fields = split(pending.substr(0, eol));
      if (fields[0] == "T") {
        current = std::strtoul(fields[1].c_str(), nullptr, 10);
        started = true;
        error_seen = false;
      } else {
        error_seen |= fields[0] == "E" || fields[0] == "A" || fields[0] == "O" || fields[0] == "S";
        take(all, fields);
      }
    }
  }
  close(fd[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!killed && WIFEXITED(status) && WEXITSTATUS(status) == 0) return tests().size();
  if (!started) {
    take(all, {"E", "child",
               killed ? "no test began in time; the rest is not run"
                      : "ended before its first test; the rest is not run"});
    return tests().size();
  }
  if (killed)
    take(all, {"E", tests()[current].name, "killed: silent for too long, or out of time"});
  else if (!error_seen)
    take(all, {"E", tests()[current].name, "child process ended without a result"});
  return current + 1;
}

}  // namespace

Register::Register(const char* name, std::function<void(Out&)> run) { tests().push_back({name, std::move(run)}); }

void Out::samples(const std::string& id, const std::string& what, const std::string& unit, std::vector<double> v,
                  const std::string& note) {
  if (v.empty()) v.push_back(NAN);
  std::sort(v.begin(), v.end());
  auto at = [&](double q) { return num(v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1))]); };
  if (std::isnan(v[0])) return record({"E", id, "no samples"});
  record({"S", id, what, unit, at(0), at(0.5), at(0.9), format("%zu", v.size()), note});
}
void Out::value(const std::string& id, const std::string& what, const std::string& unit, double v,
                const std::string& note) {
  samples(id, what, unit, {v}, note);
}
void Out::text(const std::string& id, const std::string& what, const std::string& t) { record({"X", id, what, t}); }
void Out::answer(const std::string& id, const std::string& q, const std::string& expected,
                 const std::string& seen) {
  record({"A", id, q, expected, seen});
}
void Out::open(const std::string& id, const std::string& q, const std::string& seen) {
  record({"O", id, q, "", seen});
}

std::string finish() {
  cudaError_t e = cudaDeviceSynchronize();
  if (e == cudaSuccess) e = cudaGetLastError();
  if (e == cudaSuccess) return "completed";
  poisoned = true;
  return cudaGetErrorName(e);
}
void must_finish(const char* what) {
  const std::string s = finish();
  if (s != "completed") throw std::runtime_error(std::string(what) + ": " + s);
}
void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(e));
}

bool encode(const MapSpec& s, const void* address, CUtensorMap& map) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode function = [] {
    void* f = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found),
          "entry point");
    if (f == nullptr) throw std::runtime_error("cuTensorMapEncodeTiled not found in the driver");
    return reinterpret_cast<Encode>(f);
  }();
  std::vector<cuuint32_t> steps = s.element_strides;
  steps.resize(s.dims.size(), 1);
  return function(&map, s.type, static_cast<cuuint32_t>(s.dims.size()), const_cast<void*>(address), s.dims.data(),
                  s.strides.data(), s.box.data(), steps.data(), s.interleave, s.swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, s.fill) == CUDA_SUCCESS;
}
CUtensorMap must_encode(const MapSpec& s, const void* address) {
  CUtensorMap map{};
  if (!encode(s, address, map)) throw std::runtime_error("the driver refuses the tensor map");
  return map;
}

std::vector<double> to_double(const std::vector<long long>& v, double scale, double minus) {
  std::vector<double> r;
  for (const long long x : v) r.push_back(static_cast<double>(x) * scale - minus);
  return r;
}
double median(std::vector<double> v) {
  if (v.empty()) return NAN;
  std::sort(v.begin(), v.end());
  return v[(v.size() - 1) / 2];
}
int sm_count() {
  int n = 0;
  check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0), "sm count");
  return n;
}
std::string format(const char* f, ...) {
  char text[2048];
  va_list args;
  va_start(args, f);
  std::vsnprintf(text, sizeof text, f, args);
  va_end(args);
  return text;
}

}  // namespace hw

/// --json FILE, --only PREFIX (tests whose name begins so), --list, --limit SECONDS (whole run, default 110).
int main(int argc, char** argv) {
  using namespace hw;
  if (argc >= 3 && std::strcmp(argv[1], "--child") == 0)
    return child(std::strtoul(argv[2], nullptr, 10), argc > 3 ? argv[3] : "");
  std::string json, only;
  double limit = 110;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--list") {
      for (const Test& t : tests()) std::printf("%s\n", t.name);
      return 0;
    }
    const bool takes_value = a == "--json" || a == "--only" || a == "--limit";
    if (!takes_value || i + 1 == argc) {
      std::fprintf(stderr, "%s: allowed are --json FILE, --only PREFIX, --limit SECONDS, --list\n", a.c_str());
      return 2;
    }
    const char* v = argv[++i];
    if (a == "--json")
      json = v;
    else if (a == "--only")
      only = v;
    else
      limit = std::atof(v);
  }
  const auto begin = std::chrono::steady_clock::now();
  auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  Collected all;
  for (std::size_t next = 0; next < tests().size();) {
    if (spent() > limit) {
      take(all, {"E", tests()[next].name, "not run: out of time, and so are all tests after it"});
      break;
    }
    next = run_child(all, next, only, limit - spent(), 40);
    bool more = false;
    for (std::size_t i = next; i < tests().size(); ++i)
      more |= std::string(tests()[i].name).compare(0, only.size(), only) == 0;
    if (!more) break;
  }
  std::printf("# %d passed, %d failed, %d open, %d errors, %.1f s\n", all.pass, all.fail, all.open, all.errors,
              spent());
  if (!json.empty()) {
    std::FILE* f = std::fopen(json.c_str(), "w");
    if (f == nullptr) {
      std::fprintf(stderr, "%s: cannot be written\n", json.c_str());
      return 2;
    }
    std::fprintf(f, "{\"header\": {");
    const char* comma = "";
    for (auto& [k, v] : all.header) {
      std::fprintf(f, "%s%s: %s", comma, json_string(k).c_str(), json_string(v).c_str());
      comma = ", ";
    }
    std::fprintf(f, "},\n\"rows\": [\n");
    for (std::size_t i = 0; i < all.json.size(); ++i)
      std::fprintf(f, "%s%s\n", all.json[i].c_str(), i + 1 < all.json.size() ? "," : "");
    std::fprintf(f, "]}\n");
    std::fclose(f);
  }
  return all.fail != 0 || all.errors != 0 ? 1 : 0;
}

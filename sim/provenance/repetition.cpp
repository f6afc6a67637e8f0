// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/repetition.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "sim/run_json.h"

namespace sm100::sim::provenance {
namespace {

void write_all(int to, const void* bytes, size_t size) {
  for (size_t sent = 0; sent < size;) {
    const ssize_t n = write(to, static_cast<const char*>(bytes) + sent, size - sent);
    if (n <= 0) return;
    sent += size_t(n);
  }
}

[[noreturn]] void serve(int ask, int answer, const std::function<RunResult()>& run) {
  char byte;
  if (read(ask, &byte, 1) != 1) _exit(0);  // nobody wants to know
  // Warnings and crash reports are those of the run that counts.
  if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) dup2(nowhere, 1), dup2(nowhere, 2);
  std::vector<uint8_t> bytes;
  try {
    bytes = Json::to_cbor(Json(run()));  // as text there is no infinity
  } catch (...) {}                       // then there is no explanation
  write_all(answer, bytes.data(), bytes.size());
  _exit(0);
}

}  // namespace

Repetition::Repetition(const std::function<RunResult()>& run) {
  int ask[2], answer[2];
  if (pipe2(ask, O_CLOEXEC) != 0) return;
  if (pipe2(answer, O_CLOEXEC) != 0) {
    close(ask[0]), close(ask[1]);
    return;
  }
  std::fflush(nullptr);
  [[maybe_unused]] const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
#endif
    close(ask[1]), close(answer[0]);
    serve(ask[0], answer[1], run);
  }
  close(ask[0]), close(answer[1]);
  ask_ = ask[1], answer_ = answer[0];
  if (process_ < 0) end();
}

Repetition::~Repetition() { end(); }

void Repetition::end() {
  for (int* end : {&ask_, &answer_})
    if (*end >= 0) close(std::exchange(*end, -1));
  if (process_ > 0) waitpid(std::exchange(process_, -1), nullptr, 0);
}

std::optional<RunResult> Repetition::result() {
  if (process_ <= 0) return std::nullopt;
  write_all(ask_, "?", 1);
  std::vector<uint8_t> bytes;
  uint8_t buffer[4096];
  for (ssize_t n; (n = read(answer_, buffer, sizeof buffer)) > 0;) bytes.insert(bytes.end(), buffer, buffer + n);
  end();
  const Json sent = Json::from_cbor(bytes, /*strict=*/true, /*allow_exceptions=*/false);
  if (!sent.is_object()) return std::nullopt;
  RunResult result;
  from_json(sent, result);
  return result;
}

}  // namespace sm100::sim::provenance

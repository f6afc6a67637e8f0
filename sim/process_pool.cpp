// SPDX-License-Identifier: Apache-2.0
#include "sim/process_pool.h"

#include <fmt/format.h>
#include <poll.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace sm100::sim {

namespace {

bool write_all(int pipe, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(pipe, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += size_t(n);
  }
  return true;
}

/// In a child: a parent that is killed takes it along.
void end_with([[maybe_unused]] pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it was killed in between
#endif
}

}  // namespace

void ProcessPool::start(uint64_t id, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  std::fflush(nullptr);  // or the child would have a copy of what waits there
  const pid_t parent = getpid(), process = fork();
  if (process < 0) {
    close(ends[0]), close(ends[1]);
    throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (process == 0) {
    end_with(parent);
    close(ends[0]);
    for (const Child& other : children_) close(other.pipe);
    int status = 1;
    try {
      if (write_all(ends[1], work())) status = 0;
    } catch (...) {}
    _exit(status);
  }
  close(ends[1]);
  children_.push_back({id, process, ends[0], {}});
}

ProcessPool::Finished ProcessPool::reap(size_t index) {
  Child child = std::move(children_[index]);
  children_.erase(children_.begin() + std::ptrdiff_t(index));
  close(child.pipe);
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {}
  Finished finished{child.id, std::move(child.bytes), {}};
  if (WIFSIGNALED(status))
    finished.died = fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    finished.died = fmt::format("exit code {}", WEXITSTATUS(status));
  return finished;
}

std::optional<ProcessPool::Finished> ProcessPool::wait(Clock::time_point deadline) {
  while (!children_.empty()) {
    std::vector<pollfd> pipes;
    for (const Child& child : children_) pipes.push_back({child.pipe, POLLIN, 0});
    int timeout = -1;
    if (deadline != Clock::time_point::max()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return std::nullopt;
      timeout = int(std::min<int64_t>(left + 1, 60'000));
    }
    if (poll(pipes.data(), pipes.size(), timeout) <= 0) continue;  // interrupted, or the deadline
    for (size_t i = 0; i < pipes.size(); ++i) {
      if (pipes[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = ::read(pipes[i].fd, buffer, sizeof buffer);
      if (n > 0) children_[i].bytes.append(buffer, size_t(n));
      if (n == 0 || (n < 0 && errno != EINTR)) return reap(i);
    }
  }
  return std::nullopt;
}

void ProcessPool::stop(uint64_t id) {
  for (const Child& child : children_)
    if (child.id == id) kill(child.process, SIGKILL);
}

void ProcessPool::end() {
  for (const Child& child : children_) kill(child.process, SIGKILL);
  while (!children_.empty()) reap(0);
}

}  // namespace sm100::sim

// SPDX-License-Identifier: Apache-2.0
#include "traces/format/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

namespace sm100::traces {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_write(const fs::path& path, std::string_view why) {
  throw std::runtime_error(
      fmt::format("cannot write {}: {}", is_standard_stream(path) ? "to standard output" : path.string(), why));
}

// ---- temporary files of this process, for a signal's handler

/// Filled and emptied by ordinary code, read by a signal handler: no memory is allocated, `process` is written
/// last.
struct Temporary {
  std::atomic<pid_t> process{0};  ///< 0: free.  A forked child inherits the entries, but not the files.
  std::array<char, 4096> path{};
};
std::array<Temporary, 8> temporaries;

void remember(const fs::path& path) {
  for (Temporary& entry : temporaries) {
    if (entry.process != 0 || path.native().size() >= entry.path.size()) continue;
    std::memcpy(entry.path.data(), path.c_str(), path.native().size() + 1);
    entry.process = ::getpid();
    return;
  }
}

void forget(const fs::path& path) {
  for (Temporary& entry : temporaries)
    if (entry.process != 0 && path == entry.path.data()) entry.process = 0;
}

void remove_and_die(int signal) {
  for (const Temporary& entry : temporaries)
    if (entry.process == ::getpid()) ::unlink(entry.path.data());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// ---- temporary files of others

/// "NAME.123.tmp"
bool is_temporary_of(const fs::path& path, std::string_view file) {
  const std::string name = path.filename().string();
  constexpr std::string_view kEnd = ".tmp";
  if (!file.starts_with(name + ".") || !file.ends_with(kEnd) || file.size() < name.size() + 2 + kEnd.size())
    return false;
  const std::string_view digits = file.substr(name.size() + 1, file.size() - name.size() - 1 - kEnd.size());
  constexpr size_t kDigitsOfProcess = 7;  // Linux has at most 4,194,304; a date is longer
  return digits.size() <= kDigitsOfProcess &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whoever writes a temporary file holds its lock; the system drops the lock when that process ends in whatever
/// way.
void remove_abandoned(const fs::path& path) {
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_temporary_of(path, entry->path().filename().string())) continue;
    const int file = ::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
    ::close(file);
  }
}

bool same_file(int file, const fs::path& path) {
  struct stat open {
  }, named{};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  if (is_standard_stream(path)) {
    stream_.rdbuf(std::cout.rdbuf());
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) cannot_write(path, "it is a directory");
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    path_ = fs::weakly_canonical(path, error);  // replace the file that the link means, not the link
    if (error) cannot_write(path, error.message());
  }
  const bool direct = fs::exists(status) && !fs::is_regular_file(status);
  if (!direct) open_temporary(path);
  errno = 0;
  if (!file_.open(direct ? path_ : temporary_, std::ios::out | std::ios::binary | std::ios::trunc)) {
    const int reason = errno;
    release();
    cannot_write(path, reason != 0 ? std::strerror(reason) : "cannot open it");
  }
  if (path.extension() == ".gz") gzip_ = std::make_unique<GzipBuffer>(file_);
  stream_.rdbuf(gzip_ ? static_cast<std::streambuf*>(gzip_.get()) : &file_);
}

void AtomicFile::open_temporary(const fs::path& shown) {
  remove_abandoned(path_);
  temporary_ = fs::path(path_).concat(fmt::format(".{}.tmp", ::getpid()));
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    lock_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) {
      const int reason = errno;
      temporary_.clear();
      cannot_write(shown, std::strerror(reason));
    }
    const bool locked = ::flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && same_file(lock_, temporary_)) return remember(temporary_);
    ::close(lock_);  // another run has taken it for abandoned before it was locked
    lock_ = -1;
    ::sched_yield();
  }
  temporary_.clear();
  cannot_write(shown, "this process writes it already");
}

void AtomicFile::release() {
  if (!temporary_.empty()) {
    std::error_code ignored;
    fs::remove(temporary_, ignored);
    forget(temporary_);
    temporary_.clear();
  }
  if (lock_ >= 0) ::close(lock_);
  lock_ = -1;
}

AtomicFile::~AtomicFile() {
  file_.close();
  release();
}

void AtomicFile::commit() {
  errno = 0;
  if (gzip_ && stream_ && !gzip_->finish()) stream_.setstate(std::ios::badbit);
  stream_.flush();
  if (is_standard_stream(path_)) {
    if (!stream_ || std::fflush(stdout) != 0) cannot_write(path_, errno != 0 ? std::strerror(errno) : "it takes nothing");
    return;
  }
  if (!file_.close() || !stream_)
    cannot_write(path_, errno != 0 ? std::strerror(errno) : "not everything could be written");
  if (temporary_.empty()) return;
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) cannot_write(path_, error.message());
  forget(temporary_);
  temporary_.clear();
  release();
}

void check_output(const fs::path& path, const fs::path& input) {
  if (is_standard_stream(path)) return;
  std::error_code ignored;
  if (fs::equivalent(path, input, ignored)) cannot_write(path, "it is the input file");
  if (fs::exists(path, ignored) && access(path.c_str(), W_OK) != 0)
    cannot_write(path, "the file exists and is write-protected");
  AtomicFile probe(path);  // its destructor removes the temporary file
}

void remove_temporaries_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;  // nohup
    action = {};
    action.sa_handler = remove_and_die;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace sm100::traces

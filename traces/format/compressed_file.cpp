// SPDX-License-Identifier: Apache-2.0
#include "traces/format/compressed_file.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace sm100::traces {

namespace fs = std::filesystem;

bool is_standard_stream(const fs::path& path) { return path == "-"; }

std::string input_name(const fs::path& path) { return is_standard_stream(path) ? "standard input" : path.string(); }

// ---------------------------------------------------------------- in

CompressedInput::CompressedInput(const fs::path& path) : name_(input_name(path)), file_(nullptr, gzclose) {
  std::error_code ignored;
  if (!is_standard_stream(path) && fs::is_directory(path, ignored)) fail("it is a directory");
  errno = 0;
  if (is_standard_stream(path)) {
    const int copy = ::dup(STDIN_FILENO);  // gzclose closes what it was given
    if (copy < 0) fail(std::strerror(errno));
    file_.reset(gzdopen(copy, "rb"));
    if (!file_) ::close(copy);
  } else {
    file_.reset(gzopen(path.c_str(), "rb"));
  }
  if (!file_) fail(errno != 0 ? std::strerror(errno) : "out of memory");
  gzbuffer(file_.get(), 1 << 18);
}

void CompressedInput::fail(std::string_view why) const {
  throw std::runtime_error(fmt::format("cannot read {}: {}", name_, why));
}

void CompressedInput::fail_as_zlib_says() {
  int status = Z_OK;
  const char* what = gzerror(file_.get(), &status);
  if (status == Z_ERRNO) fail(std::strerror(errno));
  if (status == Z_BUF_ERROR) fail("the gzip file is cut");
  fail(fmt::format("the gzip file is damaged ({})", what));
}

size_t CompressedInput::read(char* bytes, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    const auto piece = static_cast<unsigned>(std::min<size_t>(size - filled, size_t{1} << 30));
    const int got = gzread(file_.get(), bytes + filled, piece);
    if (got > 0) {
      filled += static_cast<size_t>(got);
      continue;
    }
    int status = Z_OK;
    gzerror(file_.get(), &status);  // also for a file that ends too early, which gzread returns
    if (status != Z_OK) fail_as_zlib_says();
    break;
  }
  return filled;
}

std::string read_compressed_file(const fs::path& path, size_t largest) {
  CompressedInput input(path);
  constexpr size_t kBlock = size_t{1} << 22;
  std::string text;
  while (true) {
    const size_t at = text.size(), wanted = std::min(kBlock, largest + 1 - at);
    text.resize(at + wanted);
    const size_t got = input.read(text.data() + at, wanted);
    text.resize(at + got);
    if (text.size() > largest)
      throw std::runtime_error(
          fmt::format("cannot read {}: it holds more than {} MiB", input_name(path), largest >> 20));
    if (got < wanted) return text;
  }
}

// ---------------------------------------------------------------- out

struct GzipBuffer::Stream {
  z_stream z{};
};

GzipBuffer::GzipBuffer(std::streambuf& target)
    : target_(target), stream_(std::make_unique<Stream>()), pending_(1 << 16), packed_(1 << 16) {
  constexpr int kGzip = 16, kLargestWindow = 15, kMemory = 8;
  if (deflateInit2(&stream_->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip + kLargestWindow, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib: cannot start to compress");
  setp(pending_.data(), pending_.data() + pending_.size());
}

GzipBuffer::~GzipBuffer() { deflateEnd(&stream_->z); }

bool GzipBuffer::put(const char* bytes, size_t size, int flush) {
  z_stream& z = stream_->z;
  do {
    const size_t piece = std::min<size_t>(size, size_t{1} << 30);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes));  // zlib 1.2 has no const here
    z.avail_in = static_cast<uInt>(piece);
    bytes += piece;
    size -= piece;
    do {
      z.next_out = reinterpret_cast<Bytef*>(packed_.data());
      z.avail_out = static_cast<uInt>(packed_.size());
      deflate(&z, size == 0 ? flush : Z_NO_FLUSH);
      const auto made = static_cast<std::streamsize>(packed_.size() - z.avail_out);
      if (target_.sputn(packed_.data(), made) != made) return false;
    } while (z.avail_out == 0);
  } while (size > 0);
  return true;
}

GzipBuffer::int_type GzipBuffer::overflow(int_type character) {
  if (sync() != 0) return traits_type::eof();
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  *pptr() = traits_type::to_char_type(character);
  pbump(1);
  return character;
}

std::streamsize GzipBuffer::xsputn(const char* text, std::streamsize size) {
  if (size < epptr() - pptr()) {
    std::copy_n(text, size, pptr());
    pbump(static_cast<int>(size));
    return size;
  }
  return sync() == 0 && put(text, static_cast<size_t>(size), Z_NO_FLUSH) ? size : 0;
}

int GzipBuffer::sync() {
  const auto size = static_cast<size_t>(pptr() - pbase());
  setp(pending_.data(), pending_.data() + pending_.size());
  return size == 0 || put(pending_.data(), size, Z_NO_FLUSH) ? 0 : -1;
}

bool GzipBuffer::finish() { return sync() == 0 && put(nullptr, 0, Z_FINISH); }

}  // namespace sm100::traces

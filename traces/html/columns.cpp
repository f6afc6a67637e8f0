// SPDX-License-Identifier: Apache-2.0
#include "traces/html/columns.h"

#include <zlib.h>

#include <stdexcept>

namespace sm100::traces {
namespace {

std::string deflated(const std::string& bytes) {
  uLongf length = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(length, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &length, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), 6) != Z_OK)
    throw std::runtime_error("out of memory while compressing the trace");
  packed.resize(length);
  return packed;
}

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t j) { return j < bytes.size() ? uint32_t(uint8_t(bytes[j])) : 0u; };
    const uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
  return text;
}

}  // namespace

void ColumnWriter::begin_column() {
  column_begin_ = bytes_.size();
  previous_ = 0;
}

void ColumnWriter::put(int64_t value) {
  const int64_t difference = value - previous_;
  previous_ = value;
  uint64_t rest = static_cast<uint64_t>(difference) << 1 ^ static_cast<uint64_t>(difference >> 63);
  for (; rest >= 128; rest >>= 7) bytes_ += static_cast<char>(rest | 128);
  bytes_ += static_cast<char>(rest);
}

void ColumnWriter::end_column(std::string_view name, size_t count) {
  columns_.push_back({name, count, bytes_.size() - column_begin_});
}

std::string ColumnWriter::base64(nlohmann::json header) const {
  header["columns"] = columns_;
  // Names of a scenario or a barrier come from files: what is no UTF-8 is replaced, not refused.
  const std::string text = header.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string container;
  for (int shift = 0; shift < 32; shift += 8) container += static_cast<char>(text.size() >> shift & 255);
  container += text;
  container += bytes_;
  return base64_of(deflated(container));
}

}  // namespace sm100::traces

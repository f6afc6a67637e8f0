// SPDX-License-Identifier: Apache-2.0
#include "sim/xml_text.h"

#include <algorithm>
#include <cstdint>

namespace sm100::sim {

namespace {

/// Bytes of the UTF-8 sequence at the front of `text`; 0: it is none that XML can hold.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  uint32_t code = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (first < 0xc2 || first > 0xf4 || code < kSmallest[length] || code > 0x10ffff || surrogate || code == 0xfffe ||
      code == 0xffff)
    return 0;
  return length;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view piece = text.substr(0, std::max<size_t>(1, length));
    text.remove_prefix(piece.size());
    if (length == 0)
      escaped += "\xef\xbf\xbd";
    else if (piece == "&")
      escaped += "&amp;";
    else if (piece == "<")
      escaped += "&lt;";
    else if (piece == ">")
      escaped += "&gt;";
    else if (piece == "\"")
      escaped += "&quot;";
    else
      escaped += piece;
  }
  return escaped;
}

}  // namespace sm100::sim

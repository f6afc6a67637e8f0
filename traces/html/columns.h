// SPDX-License-Identifier: Apache-2.0
/// Columns of integers, packed: the form in which a trace lies in an HTML report.
///
/// A container is a length (uint32, little-endian), a JSON header of that many bytes, and the columns one after the
/// other.  The header's "columns" lists them as [name, values, bytes].  A column holds, for each value, the
/// difference from the value before (the first one's from 0) as a zigzag varint: low seven bits first, the eighth
/// says that more follow.  In the page the container is deflated (zlib) and then written as base64.
/// report/src/data/container.ts reads it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sm100::traces {

class ColumnWriter {
 public:
  /// Appends a column of `count` values; value(i) gives the i-th.
  template <class Value>
  void column(std::string_view name, size_t count, Value&& value) {
    begin_column();
    for (size_t i = 0; i < count; ++i) put(static_cast<int64_t>(value(i)));
    end_column(name, count);
  }

  /// The container as it stands in the page.  Adds "columns" to the header.
  std::string base64(nlohmann::json header) const;

 private:
  void begin_column();
  void put(int64_t value);
  void end_column(std::string_view name, size_t count);

  std::string bytes_;
  size_t column_begin_ = 0;
  int64_t previous_ = 0;
  nlohmann::json columns_ = nlohmann::json::array();
};

}  // namespace sm100::traces

// SPDX-License-Identifier: Apache-2.0
/// Tables of measured values: comma-separated, a header line, lines that start with # are comments.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::sim {

class CsvTable {
 public:
  /// Throws InputError when the file cannot be read or a row has another number of cells than the header.
  explicit CsvTable(const std::filesystem::path& path);

  size_t rows() const { return rows_.size(); }
  /// Throw InputError with file, line and column when there is no such column, or no number in it.
  const std::string& text(size_t row, std::string_view column) const;
  double number(size_t row, std::string_view column) const;
  int integer(size_t row, std::string_view column) const { return int(number(row, column)); }

 private:
  struct Row {
    int line;
    std::vector<std::string> cells;
  };
  std::filesystem::path path_;
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

/// Of at least one value; of an even number the lower of the two in the middle.
double median(std::vector<double> values);

}  // namespace sm100::sim

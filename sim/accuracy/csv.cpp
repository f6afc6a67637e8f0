// SPDX-License-Identifier: Apache-2.0
#include "sim/accuracy/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "kernels/host/scenario.h"

namespace sm100::sim {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

}  // namespace

CsvTable::CsvTable(const std::filesystem::path& path) : path_(path) {
  std::ifstream file(path);
  if (!file) throw host::InputError(fmt::format("{}: cannot be read", path.string()));
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells = cells_of(line);
    if (header_.empty()) {
      header_ = std::move(cells);
      continue;
    }
    if (cells.size() != header_.size())
      throw host::InputError(
          fmt::format("{}:{}: {} cells, the header has {}", path.string(), number, cells.size(), header_.size()));
    rows_.push_back({number, std::move(cells)});
  }
  if (rows_.empty()) throw host::InputError(fmt::format("{}: no rows", path.string()));
}

const std::string& CsvTable::text(size_t row, std::string_view column) const {
  const auto at = std::find(header_.begin(), header_.end(), column);
  if (at == header_.end())
    throw host::InputError(
        fmt::format("{}: no column '{}'; there are {}", path_.string(), column, fmt::join(header_, ", ")));
  return rows_[row].cells[size_t(at - header_.begin())];
}

double CsvTable::number(size_t row, std::string_view column) const {
  const std::string& cell = text(row, column);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size())
    throw host::InputError(fmt::format("{}:{}: column '{}' = \"{}\": must be a number", path_.string(),
                                       rows_[row].line, column, cell));
  return value;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace sm100::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/matrices.h"

#include <algorithm>

namespace sm100::sim::provenance {

Matrices::Matrices(const std::vector<host::ExpectedProduct>& products) {
  for (const host::ExpectedProduct& product : products) {
    a_.push_back(add(product.a, product.k, product.name));
    b_.push_back(add(product.b, product.k, product.name));
  }
  for (int i = 0; i < int(all_.size()); ++i) by_address_.push_back(i);
  std::sort(by_address_.begin(), by_address_.end(),
            [&](int x, int y) { return all_[size_t(x)].address < all_[size_t(y)].address; });
}

int Matrices::add(const host::ExpectedMatrix& matrix, int64_t k, const std::string& product) {
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const host::ExpectedMatrix& m) {
    return m.address == matrix.address && m.rows == matrix.rows && m.pitch == matrix.pitch &&
           m.k_pitch == matrix.k_pitch;
  });
  if (same != all_.end()) return int(same - all_.begin());
  all_.push_back(matrix), k_.push_back(k);
  products_.push_back(product);
  return int(all_.size()) - 1;
}

std::optional<Matrices::Place> Matrices::at(uint64_t address, bool along_k) const {
  const auto place_in = [&](int matrix) -> std::optional<Place> {
    const host::ExpectedMatrix& m = all_[size_t(matrix)];
    const uint64_t offset = address - m.address;
    const uint64_t bytes = m.along_k() ? uint64_t(m.rows) * m.pitch : uint64_t(k_of(matrix)) * m.k_pitch;
    if (address < m.address || offset >= bytes) return std::nullopt;
    if (m.along_k()) return Place{matrix, int64_t(offset / m.pitch), int64_t(offset % m.pitch) * 8 / m.bits};
    return Place{matrix, int64_t(offset % m.k_pitch / m.pitch), int64_t(offset / m.k_pitch)};
  };
  if (last_ < all_.size() && all_[last_].along_k() == along_k)
    if (const auto place = place_in(int(last_))) return place;
  const auto behind = std::upper_bound(by_address_.begin(), by_address_.end(), address,
                                       [&](uint64_t a, int matrix) { return a < all_[size_t(matrix)].address; });
  if (behind == by_address_.begin()) return std::nullopt;
  auto place = place_in(*(behind - 1));
  for (auto other = behind - 1;
       place && all_[size_t(place->matrix)].along_k() != along_k && other != by_address_.begin();) {
    --other;
    if (all_[size_t(*other)].address != all_[size_t(place->matrix)].address) break;
    if (const auto turned = place_in(*other); turned && all_[size_t(*other)].along_k() == along_k) place = turned;
  }
  if (place) last_ = size_t(place->matrix);
  return place;
}

bool Matrices::is_a(int matrix) const { return std::find(a_.begin(), a_.end(), matrix) != a_.end(); }

std::string Matrices::name(int matrix) const {
  const std::string& product = products_[size_t(matrix)];
  return all_[size_t(matrix)].name + (product.empty() ? "" : " of " + product);
}

}  // namespace sm100::sim::provenance

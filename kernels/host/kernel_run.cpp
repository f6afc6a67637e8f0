// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/kernel_run.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/host/scenario.h"
#include "kernels/host/tensor_maps.h"

namespace sm100::host {

std::unique_ptr<KernelRun> make_run(const Scenario& scenario) { return scenario.kernel->run(scenario); }

std::vector<std::string_view> barrier_names(const std::vector<BarrierArray>& arrays) {
  std::vector<std::string_view> names;
  for (const BarrierArray& array : arrays) names.emplace_back(array.name);
  return names;
}

namespace {

void require_valid(const TensorMapFields& f) {
  if (const TensorMapError error = validate(f); error != TensorMapError::none)
    throw InputError(std::string("the problem has no valid tensor map: ") + message(error));
}

}  // namespace

TensorMapFields matrix_fields(const MatrixMap& m) {
  TensorMapFields f{};
  const uint64_t row_bytes = global_bytes(m.type, uint64_t(m.columns));
  f.data_type = m.type;
  f.rank = m.copies > 0 ? 3 : 2;
  f.global_address = m.address.value;
  f.global_dim[0] = uint64_t(m.columns);
  f.global_dim[1] = uint64_t(m.rows);
  f.global_stride[0] = row_bytes;
  f.box_dim[0] = uint32_t(m.box_columns);
  f.box_dim[1] = uint32_t(m.box_rows);
  if (m.copies > 0) {
    f.global_dim[2] = uint64_t(m.copies);
    f.global_stride[1] = row_bytes * uint64_t(m.rows);
    f.box_dim[2] = 1;
  }
  for (uint32_t i = 0; i < f.rank; ++i) f.element_stride[i] = 1;
  switch (m.swizzle) {
    case Swizzle::b32: f.swizzle = TensorMapSwizzle::b32; break;
    case Swizzle::b64: f.swizzle = TensorMapSwizzle::b64; break;
    case Swizzle::b128: f.swizzle = TensorMapSwizzle::b128; break;
    default: f.swizzle = TensorMapSwizzle::none;
  }
  require_valid(f);
  return f;
}

TensorMapFields slab_fields(const SlabMap& m) {
  TensorMapFields f = matrix_fields({.address = m.address,
                                     .type = m.type,
                                     .rows = m.rows,
                                     .columns = m.columns,
                                     .box_rows = m.box_rows,
                                     .box_columns = m.slab_columns,
                                     .swizzle = m.swizzle});
  if (m.box_slabs == 0) return f;
  f.rank = 3;
  f.global_dim[0] = uint64_t(m.slab_columns);
  f.global_dim[2] = uint64_t(m.columns / m.slab_columns);
  f.global_stride[1] = global_bytes(m.type, uint64_t(m.slab_columns));
  f.box_dim[2] = uint32_t(m.box_slabs);
  f.element_stride[2] = 1;
  require_valid(f);
  return f;
}

uint64_t hash_of(const uint8_t* bytes, uint64_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

std::string Unwritten::text() const {
  std::string number = fmt::format("{}", elements), all = fmt::format("{}", of);
  for (std::string* digits : {&number, &all})
    for (int at = int(digits->size()) - 3; at > 0; at -= 3) digits->insert(size_t(at), ",");
  return fmt::format("{} of {} elements of the output, in rows {} to {} and columns {} to {}", number, all,
                     first_row, last_row, first_column, last_column);
}

uint64_t hash_of_outputs(const std::vector<Tensor>& tensors, const std::vector<const uint8_t*>& bytes,
                         uint64_t before) {
  uint64_t hash = before;
  const auto add = [&](size_t i) { hash = hash_of(bytes[i], tensors[i].bytes) ^ hash * 0x100000001b3u; };
  add(tensors.size() - 1);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].written) add(i);
  return hash;
}

std::string Check::text() const {
  if (!compared()) return "there is nothing to compare the output with";
  std::string text =
      limit > 0 ? fmt::format("relative error {:.1e} against {} (limit {:.0e})", relative_error, reference, limit)
      : ok      ? "every byte"
                : fmt::format("{:.2g} % of the bytes differ", 100 * relative_error);
  if (wrong_element) {
    const double value = wrong_element->value;  // a NaN's sign says nothing
    text += fmt::format("; element ({}, {}) is {}, expected {:.6g}", wrong_element->row, wrong_element->column,
                        std::isnan(value) ? "nan" : fmt::format("{:.6g}", value), wrong_element->expected);
  }
  if (unwritten) text += fmt::format("; nobody has written {}", unwritten->text());
  if (foreign) text += fmt::format("; written, and not the kernel's: {}", foreign->text());
  return text;
}

}  // namespace sm100::host

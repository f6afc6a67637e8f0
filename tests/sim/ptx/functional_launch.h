// SPDX-License-Identifier: Apache-2.0
/// Launches without models for tests: memory of some allocations, parameters one after the other.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "ptx/module.h"
#include "sim/ptx/functional_grid.h"

namespace sm100::sim {

/// Allocations of a megabyte's distance, so that a run past the end is outside.
class Allocations : public DeviceMemory {
 public:
  uint64_t allocate(size_t bytes) {
    const uint64_t address = next_;
    all_[address].resize(bytes);
    next_ += (bytes + (1 << 20)) >> 20 << 20;
    return address;
  }
  Range range_of(uint64_t address) const override {
    auto after = all_.upper_bound(address);
    if (after == all_.begin()) return {};
    const auto& [first, bytes] = *--after;
    if (address - first >= bytes.size()) return {};
    return {first, bytes.size(), const_cast<uint8_t*>(bytes.data())};
  }
  models::AccessMap* accesses() const override { return watch; }
  models::AccessMap* watch = nullptr;
  template <class T>
  T& at(uint64_t address, size_t i = 0) {
    const Range range = range_of(address);
    return reinterpret_cast<T*>(range.host + (address - range.first))[i];
  }

 private:
  std::map<uint64_t, std::vector<uint8_t>> all_;
  uint64_t next_ = 0x4000'0000;
};

/// A parameter window: each argument at its alignment.
struct Arguments {
  std::vector<uint8_t> window;
  template <class T>
  Arguments& operator<<(const T& value) {
    const size_t at = (window.size() + sizeof value - 1) / sizeof value * sizeof value;
    window.resize(at + sizeof value);
    std::memcpy(window.data() + at, &value, sizeof value);
    return *this;
  }
};

/// A module of PTX text, with what every module begins with, and its memory.
struct FunctionalProgram {
  explicit FunctionalProgram(const std::string& text)
      : module(ptx::parse(".version 9.0\n.target sm_100a\n.address_size 64\n" + text, "test.ptx")) {}

  FunctionalResult run(Dim3 grid, Dim3 block, const Arguments& arguments, Dim3 cluster = {1, 1, 1},
                       int threads = 2) {
    FunctionalLaunch launch;
    launch.module = &module;
    launch.entry = &module.entries.front();
    launch.grid = grid, launch.block = block, launch.cluster = cluster;
    launch.parameters = arguments.window;
    launch.memory = &memory;
    launch.variables = variables;
    launch.threads = threads;
    launch.max_warp_instructions = limit;
    launch.print = [this](std::string_view text) { printed += text; };
    return run_functional(launch);
  }

  ptx::Module module;
  Allocations memory;
  std::vector<uint64_t> variables;
  uint64_t limit = 0;
  std::string printed;
};

}  // namespace sm100::sim

// SPDX-License-Identifier: Apache-2.0
#include "exec/save_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "traces/format/atomic_file.h"

namespace sm100::exec {
namespace {

namespace fs = std::filesystem;

void write_bytes(const fs::path& path, const char* bytes, size_t count) {
  traces::AtomicFile file(path);
  file.stream().write(bytes, std::streamsize(count));
  file.commit();
}

std::string triple(const uint32_t (&d)[3]) { return fmt::format("[{}, {}, {}]", d[0], d[1], d[2]); }

std::string hex(const uint8_t* bytes, size_t count) {
  std::string text = "\"\"\"\n";
  for (size_t i = 0; i < count; ++i)
    text += fmt::format("{:02x}{}", bytes[i], i + 1 == count || i % 32 == 31 ? "\n" : i % 4 == 3 ? " " : "");
  return text + "\"\"\"";
}

/// "address" of a pointer into an allocation, "value" of another number, "hex" of everything else.
std::string argument(const Launch& launch, const uint8_t* bytes, size_t count) {
  uint64_t number = 0;
  if (count > 8) return fmt::format("hex = {}", hex(bytes, count));
  std::memcpy(&number, bytes, count);
  for (size_t i = 0; count == 8 && i < launch.memory.size(); ++i) {
    const Block& block = launch.memory[i];
    if (number < block.address || number - block.address > block.bytes) continue;
    const uint64_t offset = number - block.address;
    return fmt::format("address = \"memory_{}\"{}", i, offset > 0 ? fmt::format("\nbytes = {}", offset) : "");
  }
  if (count != 1 && count != 2 && count != 4 && count != 8) return fmt::format("hex = {}", hex(bytes, count));
  return count == 8 ? fmt::format("value = {}\ntype = \"s64\"", int64_t(number))
                    : fmt::format("value = {}\ntype = \"u{}\"", number, 8 * count);
}

std::string launch_file(const Launch& launch, const host::Scenario& device, const std::string& stem) {
  const ptx::Entry& entry = launch.code();
  std::string text = fmt::format("# {} of a program, written by sm100sim exec --save.\n", launch.name());
  text +=
      fmt::format("description = \"{}\"\nkernel = \"ptx\"\nprofile = \"{}\"\n\n", launch.title(), device.profile);
  text +=
      fmt::format("[problem]\nptx = \"{}.ptx\"\nentry = \"{}\"\ngrid = {}\nblock = {}\ncluster = {}\n", stem,
                  entry.name, triple(launch.shape.grid), triple(launch.shape.block), triple(launch.shape.cluster));
  text += fmt::format("dynamic_smem_bytes = {}\n", launch.shape.dynamic_smem_bytes);
  if (const int registers = launch.registers > 0 ? launch.registers : device.registers; registers > 0)
    text += fmt::format("registers_per_thread = {}\n", registers);
  if (launch.shape.grid_workspace != 0)
    text += fmt::format("grid_workspace = {:#x}\n", launch.shape.grid_workspace);
  if (!launch.variables.empty()) {
    text += "variables = [";  // addresses of the module's variables, in their order
    for (const Block& variable : launch.variables) text += fmt::format("{:#x}, ", variable.address);
    text += "]\n";
  }
  for (size_t i = 0; i < launch.memory.size(); ++i)
    text += fmt::format(
        "\n[[problem.tensor]]\nname = \"memory_{0}\"\ntype = \"u8\"\nshape = [{1}]\naddress = {2:#x}\n"
        "file = \"{3}.memory_{0}.bin\"\nmetadata = true\n",
        i, launch.memory[i].bytes, launch.memory[i].address, stem);
  for (size_t i = 0; i < entry.params.size(); ++i) {
    const ptx::Param& param = entry.params[i];
    if (param.offset + param.bytes > launch.parameters.size()) continue;
    text += fmt::format("\n[[problem.argument]]\nparameter = {}\n{}\n", i,
                        argument(launch, launch.parameters.data() + param.offset, param.bytes));
  }
  return text + fmt::format("\n[run]\nsms = {}\nctas_per_sm = {}\n", device.sms_in_run(),
                            device.ctas_per_sm == 0 ? "\"hardware\"" : fmt::format("{}", device.ctas_per_sm));
}

}  // namespace

void save_launch(const fs::path& folder, const Launch& launch, const host::Scenario& device) {
  const std::string stem = fmt::format("launch_{}", launch.number);
  try {
    fs::create_directories(folder);
    const std::string& ptx = *launch.module->text;
    write_bytes(folder / (stem + ".ptx"), ptx.data(), ptx.size());
    for (size_t i = 0; i < launch.memory.size(); ++i)
      write_bytes(folder / fmt::format("{}.memory_{}.bin", stem, i),
            reinterpret_cast<const char*>(launch.memory[i].address), launch.memory[i].bytes);
    const std::string text = launch_file(launch, device, stem);
    write_bytes(folder / (stem + ".toml"), text.data(), text.size());
  } catch (const std::exception& error) {
    throw host::InputError(fmt::format("--save {}: {}", folder.string(), error.what()));
  }
}

}  // namespace sm100::exec

// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/ptx_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ptx/parameter_uses.h"
#include "ptx/program.h"

namespace sm100::sim::cli {
namespace {

using ptx::ParameterUse;
using As = ParameterUse::As;

constexpr uint64_t kTensorMapBytes = 128, kTensorMapAlign = 64;

std::string triple(const ptx::Dim3& d) { return fmt::format("[{}, {}, {}]", d[0], d[1], d[2]); }

/// "map_a" of a parameter that has a name of its own, else "p2".
std::string short_name(const ptx::Entry& entry, size_t index) {
  const std::string_view name = entry.params[index].name;
  const bool made = name.starts_with(entry.name) || name.find("_param_") != std::string_view::npos;
  return made ? fmt::format("p{}", index) : std::string(name);
}

std::string_view number_type(ptx::Type type) {
  switch (type) {
    case ptx::Type::f32: return "f32";
    case ptx::Type::f64: return "f64";
    case ptx::Type::b8: return "u8";
    case ptx::Type::b16: return "u16";
    case ptx::Type::b32: return "u32";
    case ptx::Type::b64: return "u64";
    default: return ptx::name(type);
  }
}

/// One argument of the file.
struct Argument {
  size_t parameter = 0;
  uint64_t offset = 0;  ///< in the parameter
  As as = As::number;
  std::string type, tensor;  ///< of a number; that an address or a tensor map is of
  int rank = 0;
  std::string comment;
};

class Description {
 public:
  Description(const ptx::Module& module, const ptx::Entry& entry, const std::string& file)
      : module_(module),
        entry_(entry),
        file_(file),
        program_(ptx::decode(module, entry)),
        uses_(parameter_uses(program_)) {
    for (size_t i = 0; i < entry.params.size(); ++i) add_parameter(i);
  }

  std::string text() {
    add_head();
    add_shape();
    add_tensors();
    for (const Argument& argument : arguments_) add(argument);
    text_ +=
        "# What the result is compared with: one of\n"
        "#   product = [\"A\", \"B\", \"C\"]   (C[m][n] = sum of A[m][k] B[n][k]; b = \"k_n\" where B lies as "
        "[k][n],\n"
        "#             a = \"k_m\" where A lies as [k][m])\n"
        "#   copy = [\"FROM\", \"TO\"]\n"
        "# [problem.check]\n";
    return std::move(text_);
  }

 private:
  // ---- what the program reads of a parameter

  std::vector<const ParameterUse*> uses_in(const ptx::Param& param) const {
    std::vector<const ParameterUse*> found;
    for (const ParameterUse& use : uses_)
      if (use.offset >= param.offset && use.offset < param.offset + param.bytes) found.push_back(&use);
    return found;
  }

  void add_parameter(size_t index) {
    const ptx::Param& param = entry_.params[index];
    const std::vector<const ParameterUse*> uses = uses_in(param);
    const bool whole_map = param.array && param.bytes == kTensorMapBytes && param.align >= kTensorMapAlign;
    for (const ParameterUse* use : uses) {
      const uint64_t offset = use->offset - param.offset;
      Argument a{.parameter = index, .offset = offset, .as = use->as};
      const ptx::Instr& shown_by = program_.code[use->instruction];
      a.comment = fmt::format(
          "{} at {}",
          shown_by.kind == ptx::Kind::service ? program_.services[shown_by.detail].base : program_.text(shown_by),
          program_.place(shown_by));
      if (use->as == As::number && !param.array && offset == 0 && param.pointer) a.as = As::address;
      const std::string name = short_name(entry_, index);
      a.tensor = !param.array || whole_map ? name : fmt::format("{}_{}", name, offset);
      a.rank = use->rank;
      a.type = number_type(!param.array && offset == 0 ? param.type : use->type);
      arguments_.push_back(a);
    }
    if (!uses.empty()) return;
    Argument none{.parameter = index, .tensor = short_name(entry_, index), .comment = "the entry does not read it"};
    if (whole_map) none.as = As::tensor_map;
    none.type = param.array ? "u8" : std::string(number_type(param.type));
    arguments_.push_back(none);
  }

  // ---- the file

  void add_head() {
    text_ = fmt::format(
        "# How {} of {} is launched.  Fill in what is marked FILL IN, then\n"
        "#   sm100sim ptx {} --launch THIS_FILE\n"
        "# docs/ptx.md has the keys.\n"
        "kernel  = \"ptx\"\nprofile = \"b200\"\n\n[problem]\nptx   = \"{}\"\nentry = \"{}\"\n",
        entry_.name, module_.name, file_, file_, entry_.name);
  }

  void add_shape() {
    const ptx::Directives& d = entry_.directives;
    text_ += "grid  = []  # FILL IN: CTAs of the launch, [x, y, z]";
    if (d.reqnctapercluster) text_ += ", a multiple of the cluster";
    text_ += "\n";
    if (d.reqntid)
      text_ += fmt::format("block = {}  # .reqntid\n", triple(*d.reqntid));
    else if (d.maxntid)
      text_ += fmt::format("block = {}  # .maxntid: at most so many threads\n", triple(*d.maxntid));
    else
      text_ += "block = []  # FILL IN: threads of a CTA, [x, y, z]\n";
    if (d.reqnctapercluster)
      text_ += fmt::format("cluster = {}  # .reqnctapercluster\n", triple(*d.reqnctapercluster));
    else
      text_ += "# cluster = [1, 1, 1]  # the entry has no .reqnctapercluster; the launch may say it\n";
    const auto dynamic = std::find_if(program_.symbols.begin(), program_.symbols.end(), [](const ptx::Symbol& s) {
      return s.space == ptx::Space::shared && s.dynamic && s.used;
    });
    if (dynamic != program_.symbols.end())
      text_ += fmt::format("dynamic_smem_bytes =  # FILL IN: {}[], aligned to {}, behind {} static bytes\n",
                           dynamic->name, program_.dynamic_shared_align, program_.static_shared_bytes);
    text_ += "\n";
  }

  void add_tensors() {
    std::vector<std::string> done;
    for (const Argument& a : arguments_) {
      if (a.as == As::number || std::find(done.begin(), done.end(), a.tensor) != done.end()) continue;
      done.push_back(a.tensor);
      text_ += fmt::format(
          "[[problem.tensor]]\nname  = \"{}\"\ntype  = \"\"  # FILL IN: bf16, f16, tf32, f32, e4m3, e5m2, s8 ... "
          "u64\n"
          "shape = []  # FILL IN: outermost dimension first\n# contents = \"unwritten\"  # of outputs\n\n",
          a.tensor);
    }
    if (done.empty())
      text_ +=
          "# The entry is given no address and no tensor map that its text shows.\n"
          "[[problem.tensor]]\nname  = \"\"  # FILL IN\ntype  = \"\"  # FILL IN\nshape = []  # FILL IN\n\n";
  }

  void add(const Argument& a) {
    const ptx::Param& param = entry_.params[a.parameter];
    text_ += fmt::format(
        "# parameter {}, {}: .align {} {}, at {} of the window\n[[problem.argument]]  # {}\nparameter = {}\n",
        a.parameter, param.name, param.align,
        param.array ? fmt::format(".b8[{}]", param.bytes) : fmt::format(".{}", ptx::name(param.type)), param.offset,
        a.comment, a.parameter);
    if (param.array && (a.offset > 0 || param.bytes > kTensorMapBytes))
      text_ += fmt::format("offset    = {}\n", a.offset);
    switch (a.as) {
      case As::tensor_map:
        text_ += fmt::format(
            "tensor_map = \"{}\"\nbox        = []  # FILL IN: elements{}, innermost dimension first\n"
            "# swizzle  = \"128B\"\n# dims, strides, data_type, oob_fill: where they differ from a row-major "
            "tensor\n\n",
            a.tensor, a.rank > 0 ? fmt::format(" in each of {} dimensions", a.rank) : "");
        return;
      case As::address: text_ += fmt::format("address   = \"{}\"\n\n", a.tensor); return;
      case As::number:
        text_ += a.comment == "the entry does not read it"
                     ? fmt::format("value     = 0\ntype      = \"{}\"\n\n", a.type)
                     : fmt::format("value     =  # FILL IN\ntype      = \"{}\"\n\n", a.type);
    }
  }

  const ptx::Module& module_;
  const ptx::Entry& entry_;
  const std::string file_;
  const ptx::Program program_;
  const std::vector<ParameterUse> uses_;
  std::vector<Argument> arguments_;
  std::string text_;
};

}  // namespace

std::string launch_description(const ptx::Module& module, const ptx::Entry& entry, const std::string& file) {
  return Description(module, entry, file).text();
}

}  // namespace sm100::sim::cli

// SPDX-License-Identifier: Apache-2.0
/// A kernel that is given as PTX: how its [problem] is read.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>

#include "kernels/host/read_config.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/ptx_launch/host/ptx_names.h"
#include "kernels/ptx_launch/host/ptx_run.h"

namespace sm100::host {
namespace {

const TomlTable::Words<PtxContents> kContents = {{"random", PtxContents::random},
                                                 {"zeros", PtxContents::zeros},
                                                 {"ones", PtxContents::ones},
                                                 {"unwritten", PtxContents::unwritten}};

const TomlTable::Words<TensorMapDataType> kMapTypes = {{"uint8", TensorMapDataType::uint8},
                                                       {"uint16", TensorMapDataType::uint16},
                                                       {"uint32", TensorMapDataType::uint32},
                                                       {"int32", TensorMapDataType::int32},
                                                       {"uint64", TensorMapDataType::uint64},
                                                       {"int64", TensorMapDataType::int64},
                                                       {"float16", TensorMapDataType::float16},
                                                       {"float32", TensorMapDataType::float32},
                                                       {"bfloat16", TensorMapDataType::bfloat16},
                                                       {"tfloat32", TensorMapDataType::tfloat32},
                                                       {"16u4_align8b", TensorMapDataType::packed_16u4_align8b},
                                                       {"16u4_align16b", TensorMapDataType::packed_16u4_align16b},
                                                       {"16u6_align16b", TensorMapDataType::packed_16u6_align16b}};
const TomlTable::Words<TensorMapSwizzle> kSwizzles = {
    {"none", TensorMapSwizzle::none},
    {"32B", TensorMapSwizzle::b32},
    {"64B", TensorMapSwizzle::b64},
    {"128B", TensorMapSwizzle::b128},
    {"128B_atom_32B", TensorMapSwizzle::b128_atom_32b},
    {"128B_atom_32B_flip_8B", TensorMapSwizzle::b128_atom_32b_flip_8b},
    {"128B_atom_64B", TensorMapSwizzle::b128_atom_64b}};
const TomlTable::Words<TensorMapL2Promotion> kPromotions = {{"none", TensorMapL2Promotion::none},
                                                            {"64B", TensorMapL2Promotion::b64},
                                                            {"128B", TensorMapL2Promotion::b128},
                                                            {"256B", TensorMapL2Promotion::b256}};
const TomlTable::Words<TensorMapOobFill> kFills = {{"none", TensorMapOobFill::none},
                                                   {"nan", TensorMapOobFill::nan_request_zero_fma}};

const std::vector<std::string> kProblemKeys = {
    "ptx",   "entry", "grid",   "block",    "cluster", "dynamic_smem_bytes", "registers_per_thread", "pdl",
    "roles", "names", "tensor", "argument", "check",   "variables",          "grid_workspace"};
const std::vector<std::string> kArgumentKeys = {"parameter",
                                                "offset",
                                                "address",
                                                "bytes",
                                                "tensor_map",
                                                "data_type",
                                                "dims",
                                                "strides",
                                                "box",
                                                "pixel_box_lower",
                                                "pixel_box_upper",
                                                "element_strides",
                                                "swizzle",
                                                "l2_promotion",
                                                "oob_fill",
                                                "value",
                                                "type",
                                                "hex"};

/// Reads [problem]; a function for each part.
class Reader {
 public:
  Reader(const TomlDocument& document, const TomlTable& root, const Scenario& scenario)
      : document_(document), table_(root.table("problem", kProblemKeys)), scenario_(scenario) {}

  /// Of a thread, by the launch file or the entry; 0: neither says.
  int registers() const { return registers_; }

  PtxProblem read() {
    read_file();
    read_shape();
    read_tensors();
    read_arguments();
    read_check(table_, problem_);
    if (table_.has("grid_workspace"))
      problem_.grid_workspace = uint64_t(table_.integer("grid_workspace", 0, int64_t{1} << 46));
    if (table_.has("variables"))
      for (const int64_t address : table_.integer_list("variables", 0, int64_t{1} << 46))
        problem_.variables.push_back(uint64_t(address));
    return problem_;
  }

 private:
  const ptx::Entry& entry() const { return problem_.file.entry(); }
  InputError error(const std::string& key, const std::string& text) const {
    return document_.error("problem." + key, text);
  }

  void read_file() {
    problem_.file = read_ptx_file(table_, "ptx", "entry", scenario_.path.parent_path());
    problem_.parameter_bytes = uint32_t(entry().param_bytes);
  }

  Dim3 read_dim3(std::string_view key, Dim3 otherwise, int64_t most) const {
    if (!table_.has(key)) return otherwise;
    const std::vector<int64_t> v = table_.integers(key, 3, 1, most);
    return {uint32_t(v[0]), uint32_t(v[1]), uint32_t(v[2])};
  }

  void read_shape() {
    const auto& directives = entry().directives;
    const auto stated = [](const std::optional<ptx::Dim3>& d) {
      return d ? Dim3{(*d)[0], (*d)[1], (*d)[2]} : Dim3{1, 1, 1};
    };
    if (!table_.has("grid")) throw error("grid", "the CTAs of the launch, [x, y, z]");
    problem_.grid = read_dim3("grid", {}, INT32_MAX);
    if (!table_.has("block") && !directives.reqntid)
      throw error("block",
                  directives.maxntid
                      ? fmt::format("the threads of a CTA, [x, y, z]; the entry has no .reqntid, and its .maxntid "
                                    "allows {}",
                                    (*directives.maxntid)[0] * (*directives.maxntid)[1] * (*directives.maxntid)[2])
                      : "the threads of a CTA, [x, y, z]; the entry has no .reqntid");
    problem_.block = read_dim3("block", stated(directives.reqntid), 1024);
    problem_.cluster = read_dim3("cluster", stated(directives.reqnctapercluster), 16);
    if (problem_.threads() > 1024) throw error("block", "a CTA has at most 1,024 threads");
    const Dim3 allowed = stated(directives.maxntid);
    const uint32_t most = directives.maxntid ? allowed.x * allowed.y * allowed.z : 0;
    if (most > 0 && uint32_t(problem_.threads()) > most)
      throw error("block", fmt::format("{} threads; the entry's .maxntid allows {}", problem_.threads(), most));
    for (const auto& [grid, cluster] :
         {std::pair{problem_.grid.x, problem_.cluster.x}, std::pair{problem_.grid.y, problem_.cluster.y},
          std::pair{problem_.grid.z, problem_.cluster.z}})
      if (grid % cluster != 0) throw error("grid", "must be a multiple of the cluster in each dimension");
    problem_.dynamic_smem_bytes =
        table_.has("dynamic_smem_bytes") ? uint32_t(table_.integer("dynamic_smem_bytes", 0, 1 << 20)) : 0;
    describe_shared_memory(problem_);
    registers_ = table_.has("registers_per_thread") ? int(table_.integer("registers_per_thread", 1, 255))
                                                    : stated_registers(*problem_.file.module, entry());
    problem_.pdl = table_.has("pdl") && table_.boolean("pdl");
    read_roles();
    if (!table_.has("names")) return;
    std::filesystem::path file = table_.string("names");
    if (file.is_relative()) file = scenario_.path.parent_path() / file;
    read_ptx_names(file, problem_);
  }

  void read_roles() {
    if (!table_.has("roles")) return;
    const std::vector<std::string> stated = table_.strings("roles");
    if (int(stated.size()) > problem_.warps())
      throw error("roles", fmt::format("a name for each of the {} warps, at most", problem_.warps()));
    std::copy(stated.begin(), stated.end(), problem_.roles.begin());
  }

  static std::string element_words() {
    std::vector<std::string_view> words;
    for (const PtxElement& e : ptx_elements()) words.push_back(e.name);
    return fmt::format("{}", fmt::join(words, ", "));
  }

  void read_tensors() {
    if (!table_.has("tensor"))
      throw error("tensor", "[[problem.tensor]] describes each tensor in global memory; there is none");
    for (const TomlTable& t :
         table_.tables("tensor", {"name", "type", "shape", "contents", "file", "address", "metadata"})) {
      PtxTensor tensor{.name = t.string("name")};
      const std::string type = t.string("type");
      const auto all = ptx_elements();
      const auto element =
          std::find_if(all.begin(), all.end(), [&](const PtxElement& e) { return e.name == type; });
      if (element == all.end()) throw t.wrong("type", "allowed are " + element_words());
      tensor.element = *element;
      tensor.shape = t.integer_list("shape", 1, INT32_MAX);
      if (tensor.elements() * tensor.element.bits % 8 != 0) throw t.wrong("shape", "must be whole bytes");
      if (t.has("contents")) tensor.contents = t.choice("contents", kContents);
      if (t.has("file")) read_contents(t, tensor);
      if (t.has("address")) read_address(t, tensor);
      // Counts, offsets and the like: control flow follows from them.
      tensor.metadata =
          t.has("metadata") ? t.boolean("metadata") : tensor.element.is_integer() && !tensor.element.format;
      for (const PtxTensor& other : problem_.tensors)
        if (other.name == tensor.name) throw t.wrong("name", "two tensors have this name");
      problem_.tensors.push_back(tensor);
    }
  }

  void read_contents(const TomlTable& t, PtxTensor& tensor) const {
    if (t.has("contents")) throw t.wrong("file", "a tensor has contents or a file");
    tensor.contents = PtxContents::file;
    tensor.file = scenario_.path.parent_path() / t.string("file");
    std::error_code failed;
    const uint64_t bytes = std::filesystem::file_size(tensor.file, failed);
    if (failed) throw t.wrong("file", "cannot be read: " + failed.message());
    if (bytes != tensor.bytes())
      throw t.wrong("file", fmt::format("has {} bytes, the tensor {}", bytes, tensor.bytes()));
  }

  void read_address(const TomlTable& t, PtxTensor& tensor) const {
    tensor.address = uint64_t(t.integer("address", 256, int64_t{1} << 46));
    for (const PtxTensor& other : problem_.tensors)
      if (other.address && *tensor.address < *other.address + other.bytes() &&
          *other.address < *tensor.address + tensor.bytes())
        throw t.wrong("address", fmt::format("{} lies there, too", other.name));
  }

  size_t tensor(const TomlTable& t, std::string_view key) const {
    std::vector<std::string_view> names;
    for (const PtxTensor& tensor : problem_.tensors) names.push_back(tensor.name);
    const std::string name = t.word(key, names);
    return size_t(std::find(names.begin(), names.end(), name) - names.begin());
  }

  // ---- arguments

  void read_arguments() {
    size_t next = 0;
    if (table_.has("argument"))
      for (const TomlTable& t : table_.tables("argument", kArgumentKeys)) read_argument(t, next);
    check_all_given();
  }

  void read_argument(const TomlTable& t, size_t& next) {
    const auto& params = entry().params;
    const size_t index = t.has("parameter") ? size_t(t.integer("parameter", 0, int64_t(params.size()) - 1)) : next;
    if (index >= params.size())
      throw document_.error(t.path("parameter"), fmt::format("{} has {} parameters", entry().name, params.size()));
    next = index + 1;
    const ptx::Param& param = params[index];
    const int64_t offset = t.has("offset") ? t.integer("offset", 0, int64_t(param.bytes) - 1) : 0;
    PtxArgument argument = argument_of(t, param, offset);
    argument.offset = uint32_t(param.offset) + uint32_t(offset);
    const uint32_t bytes = argument.kind == PtxArgument::Kind::tensor_map ? 128
                           : argument.kind == PtxArgument::Kind::address  ? 8
                           : argument.kind == PtxArgument::Kind::image    ? uint32_t(argument.image.size())
                                                                          : argument.size;
    if (uint64_t(offset) + bytes > param.bytes)
      throw document_.error(t.path(argument_key(t)),
                            fmt::format("{} bytes at offset {} of parameter {} of {}, which has {} bytes", bytes,
                                        offset, index, entry().name, param.bytes));
    given_.push_back(index);
    problem_.arguments.push_back(argument);
  }

  static std::string_view argument_key(const TomlTable& t) {
    return t.has("tensor_map") ? "tensor_map" : t.has("address") ? "address" : t.has("hex") ? "hex" : "value";
  }

  PtxArgument argument_of(const TomlTable& t, const ptx::Param& param, int64_t offset) const {
    if (int(t.has("address")) + int(t.has("tensor_map")) + int(t.has("value")) + int(t.has("hex")) != 1)
      throw document_.error(t.path("value"),
                            "an argument is one of address = \"TENSOR\", tensor_map = \"TENSOR\", value = NUMBER "
                            "and hex = \"BYTES\"");
    if (t.has("address")) {
      const size_t of = tensor(t, "address");
      const uint64_t bytes = t.has("bytes") ? uint64_t(t.integer("bytes", 0, INT64_MAX)) : 0;
      return {.kind = PtxArgument::Kind::address, .tensor = of, .bytes = bytes};
    }
    if (t.has("tensor_map")) return tensor_map_of(t);
    if (t.has("hex")) return image_of(t);
    return value_of(t, param, offset);
  }

  /// Two hexadecimal digits for each byte, with spaces and line ends between them as one likes.
  static PtxArgument image_of(const TomlTable& t) {
    PtxArgument argument{.kind = PtxArgument::Kind::image};
    int digits = 0, byte = 0;
    for (const char c : t.string("hex")) {
      if (std::isspace(static_cast<unsigned char>(c))) continue;
      if (!std::isxdigit(static_cast<unsigned char>(c)))
        throw t.wrong("hex", "has two hexadecimal digits for each byte");
      byte = byte * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
      if (++digits % 2 == 0) argument.image.push_back(uint8_t(byte)), byte = 0;
    }
    if (digits % 2 != 0) throw t.wrong("hex", "has an odd number of digits");
    return argument;
  }

  PtxArgument value_of(const TomlTable& t, const ptx::Param& param, int64_t offset) const {
    static const std::vector<std::string_view> words = {"u8",  "s8",  "u16", "s16", "u32",
                                                        "s32", "u64", "s64", "f32", "f64"};
    std::string type = t.has("type") ? t.word("type", words) : "";
    if (type.empty()) {
      const uint32_t size = offset == 0 && !param.array ? uint32_t(param.bytes) : 4;
      type = ptx::is_float(param.type) && offset == 0 ? (size == 8 ? "f64" : "f32")
             : size == 8                              ? "s64"
             : size == 2                              ? "s16"
             : size == 1                              ? "s8"
                                                      : "s32";
    }
    PtxArgument argument{.kind = PtxArgument::Kind::value};
    if (type == "f32") {
      const float value = float(t.number("value", -3.5e38, 3.5e38));
      return argument.value = as_bits(value), argument.size = 4, argument;
    }
    if (type == "f64") {
      const double value = t.number("value", -1.7e308, 1.7e308);
      return argument.value = std::bit_cast<uint64_t>(value), argument.size = 8, argument;
    }
    const int bits = std::stoi(type.substr(1));
    const int64_t low = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1)),
                  high = bits == 64 ? INT64_MAX : (int64_t{1} << bits) - 1;
    argument.value = uint64_t(t.integer("value", low, high)), argument.size = uint32_t(bits / 8);
    return argument;
  }

  PtxArgument tensor_map_of(const TomlTable& t) const {
    PtxArgument argument{.kind = PtxArgument::Kind::tensor_map, .tensor = tensor(t, "tensor_map")};
    const PtxTensor& of = problem_.tensors[argument.tensor];
    TensorMapFields& map = argument.map;
    map.data_type = t.has("data_type") ? t.choice("data_type", kMapTypes) : default_map_type(t, of);
    std::vector<int64_t> dims(of.shape.rbegin(), of.shape.rend());
    if (t.has("dims")) dims = t.integer_list("dims", 1, int64_t{1} << 32);
    if (dims.size() > kTensorMapMaxRank)
      throw document_.error(t.path("dims"),
                            fmt::format("a tensor map has at most {} dimensions", kTensorMapMaxRank));
    map.rank = uint32_t(dims.size());
    map.im2col = t.has("pixel_box_lower") || t.has("pixel_box_upper");
    if (map.im2col && dims.size() < 3)
      throw document_.error(t.path("pixel_box_lower"), "an im2col map has 3 to 5 dimensions: C, W, H, D, N");
    std::vector<int64_t> box = map.im2col ? t.integers("box", 2, 1, 1024) : t.integers("box", dims.size(), 1, 256);
    box.resize(dims.size(), 1);
    if (map.im2col) corners_of(t, map);
    std::vector<int64_t> steps(dims.size(), 1), strides(dims.size() - 1);
    if (t.has("element_strides")) steps = t.integers("element_strides", dims.size(), 1, 8);
    uint64_t stride = uint64_t(dims[0]) * uint64_t(of.element.bits) / 8;
    for (size_t i = 0; i + 1 < dims.size(); ++i) strides[i] = int64_t(stride), stride *= uint64_t(dims[i + 1]);
    if (t.has("strides")) strides = t.integers("strides", dims.size() - 1, 0, int64_t{1} << 40);
    for (size_t i = 0; i < dims.size(); ++i) {
      map.global_dim[i] = uint64_t(dims[i]), map.box_dim[i] = uint32_t(box[i]),
      map.element_stride[i] = uint32_t(steps[i]);
      if (i + 1 < dims.size()) map.global_stride[i] = uint64_t(strides[i]);
    }
    if (t.has("swizzle")) map.swizzle = t.choice("swizzle", kSwizzles);
    if (t.has("l2_promotion")) map.l2_promotion = t.choice("l2_promotion", kPromotions);
    if (t.has("oob_fill")) map.oob_fill = t.choice("oob_fill", kFills);
    if (const TensorMapError wrong = validate(map); wrong != TensorMapError::none)
      throw document_.error(
          t.path("tensor_map"),
          fmt::format("{} would refuse this map: {}",
                      map.im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled", message(wrong)));
    return argument;
  }

  /// The pixel box of an im2col map: where it begins in W, H and D, and where it ends beside the last pixel.
  static void corners_of(const TomlTable& t, TensorMapFields& map) {
    const auto corner = [&](const char* key, int32_t(&to)[kImageMaxRank]) {
      if (!t.has(key)) return;
      const std::vector<int64_t> values = t.integers(key, image_rank(map), -32768, 32767);
      std::copy(values.begin(), values.end(), to);
    };
    corner("pixel_box_lower", map.pixel_box_lower), corner("pixel_box_upper", map.pixel_box_upper);
  }

  TensorMapDataType default_map_type(const TomlTable& t, const PtxTensor& of) const {
    if (of.element.format && *of.element.format != DataType::tf32 && of.element.bits >= 8)
      return tensor_map_type(*of.element.format);
    switch (of.element.bits) {
      case 8: return TensorMapDataType::uint8;
      case 16: return TensorMapDataType::uint16;
      case 32: return of.element.format ? TensorMapDataType::tfloat32 : TensorMapDataType::uint32;
      case 64: return TensorMapDataType::uint64;
      default: throw document_.error(t.path("data_type"), "must be given for this type");
    }
  }

  /// What no argument names would be zero without anybody having said so.
  void check_all_given() const {
    const auto& params = entry().params;
    for (size_t i = 0; i < params.size(); ++i)
      if (std::find(given_.begin(), given_.end(), i) == given_.end() && params[i].bytes > 1)
        throw error("argument", fmt::format("parameter {} of {} ({} bytes at offset {}) has no argument", i,
                                            entry().name, params[i].bytes, params[i].offset));
  }

  const TomlDocument& document_;
  const TomlTable table_;
  const Scenario& scenario_;
  int registers_ = 0;
  PtxProblem problem_;
  std::vector<size_t> given_;  ///< parameters that arguments name
};

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  Reader reader(document, root, scenario);
  PtxProblem problem = reader.read();
  if (scenario.registers == 0) scenario.registers = reader.registers();  // run.registers comes first
  return problem;
}

}  // namespace

const KernelDefinition& ptx_definition() {
  static const KernelDefinition definition = {
      .name = "ptx",
      .description = "a kernel that is given as PTX, with its launch (docs/ptx.md)",
      .tensor_core = false,
      .trace_points = false,
      .read = read,
      .run = run_of<PtxRun>};
  return definition;
}

const PtxFile* ptx_of(const Scenario& scenario) {
  if (scenario.ptx) return &*scenario.ptx;
  return scenario.kernel == &ptx_definition() ? &scenario.problem_as<PtxProblem>().file : nullptr;
}

const PtxFile* ptx_of(const Scenario& scenario, const KernelRun& launch) {
  if (scenario.ptx) return &*scenario.ptx;
  const auto* run = dynamic_cast<const PtxRun*>(&launch);
  return run ? &run->problem().file : nullptr;
}

}  // namespace sm100::host

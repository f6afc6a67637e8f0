// SPDX-License-Identifier: Apache-2.0
/// An entry, ready to be executed: a flat list of instructions whose registers are rows and whose opcodes are
/// functions.
///
///   Module module = parse(text, "gemm.ptx");
///   Program program = decode(module, module.entries[0]);
///   auto constants = program.constants;                        // one copy for each launch
///   program.set_address(constants, symbol, address);           // for each of program.symbols
///   RegisterFile file(program.register_bytes, constants, windows);
///   for (const Special& s : program.specials) ...              // fill the rows of those that do not change
///
///   const Instr& i = program.code[pc];
///   LaneMask lanes = active & i.guard_of(file);
///   if (i.kind == Kind::alu) i.alu(file, i, lanes);
///
/// The executor has the lanes, the memory and the units; this library has neither.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"
#include "ptx/register_file.h"

namespace sm100::ptx {

enum class Kind : uint8_t {
  alu,      ///< Instr::alu does all of it
  special,  ///< the same, but it reads special registers that change: fill the rows of Program::specials that are
            ///< marked so, then call Instr::alu
  branch,   ///< Instr::target; under its guard
  branch_index,  ///< brx.idx: Instr::detail is an index into Program::indexed_branches
  exit,          ///< exit, and ret of an entry
  ret,           ///< ret of a device function
  call,          ///< Instr::detail: Program::calls
  trap,          ///< trap
  memory,        ///< ld and st: Instr::detail: Program::accesses
  service,       ///< everything else: Instr::detail: Program::services
  nop,           ///< without effect: pragma-like hints, brkpt, pmevent
  unsupported,   ///< a form that this library does not know: executing it is an error
};
std::string_view name(Kind kind);

/// What an ALU instruction costs, as far as the profile tells it apart ([issue]).
enum class Cost : uint8_t {
  free,              ///< ptxas makes none of it
  alu,               ///< additions and multiplications of f32 and of halves
  integer,           ///< integers, logic, comparisons, choices, conversions
  special_function,  ///< ex2, rcp, tanh …, and what else its unit computes: popc, floating point to integers
  division,
  wide_division,
  branch,  ///< under a guard
};
inline constexpr size_t kCosts = 7;

struct Instr;
using AluFunction = void (*)(RegisterFile&, const Instr&, LaneMask);

inline constexpr int kMaxRows = 7;

struct Instr {
  AluFunction alu = nullptr;
  std::array<Row, kMaxRows>
      rows{};               ///< of an ALU instruction: what it writes, then what it reads, in the order of PTX
  Row guard{};              ///< a mask; of all lanes where nothing guards
  LaneMask guard_flip = 0;  ///< all ones: @!p
  uint32_t target = 0;      ///< branch: index into Program::code (its size: behind the end)
  uint32_t detail = 0;      ///< index into the table that `kind` names
  uint32_t aux = 0;         ///< of some ALU instructions: a table (lop3), a mode (prmt)
  uint32_t opcode = 0;      ///< Program::opcodes: the text as it is written
  uint32_t line = 0;        ///< in the PTX
  uint32_t loc = 0;         ///< Module::locs
  uint16_t negated = 0;     ///< bit i: predicate rows[i] is read negated
  uint8_t written = 0;      ///< of an ALU instruction, bit i: rows[i] is a result
  Kind kind = Kind::unsupported;
  Cost cost = Cost::integer;
  bool uniform = false;  ///< branch: .uni

  LaneMask guard_of(const RegisterFile& file) const { return file.predicate(guard) ^ guard_flip; }
  LaneMask predicate(const RegisterFile& file, int i) const {
    return file.predicate(rows[static_cast<size_t>(i)]) ^ ((negated >> i) & 1 ? kAllLanes : 0u);
  }
};

/// An operand of a memory instruction, a service or a call.
struct Operand {
  enum class Kind : uint8_t {
    sink,       ///< _: written nowhere (`row` may be written), read as nothing
    reg,        ///< row
    predicate,  ///< row is a mask; `negated`
    immediate,  ///< value; row (of constants) holds it, too: 8 bytes for each lane
    symbol,     ///< a symbol's address: row (of constants) holds it, symbol names it; offset is included in the row
    address,  ///< [base + offset]: row and width are the base's (a register or a constant row), offset in bytes to
              ///< be added; elements: what follows the base after a comma
    vector,   ///< elements
    pair,     ///< a|b: two elements
    label,    ///< value: index into Program::code
    text,     ///< text
  };
  Kind kind = Kind::sink;
  Type type = Type::none;  ///< of the register as it was declared: b32, b64, pred…
  uint8_t width = 4;       ///< bytes of the row for each lane: 4, 8; 16 for a .b128: `row` and `row.next_half()`
  bool negated = false;
  Row row{};
  int64_t value = 0;
  int64_t offset = 0;
  int32_t symbol = -1;    ///< Program::symbols
  std::string_view text;  ///< as far as it has a name
  std::vector<Operand> elements;

  /// Operand as a 64-bit number (zero-extended), in one lane.  Not for predicates and vectors; without `offset`.
  uint64_t lane_value(const RegisterFile& file, int lane) const {
    return width == 4 ? file.read<uint32_t>(row)[lane] : file.read<uint64_t>(row)[lane];
  }
  /// Address in one lane: base + offset; 32 bits where the base has 32.
  uint64_t lane_address(const RegisterFile& file, int lane) const {
    return width == 4 ? static_cast<uint32_t>(file.read<uint32_t>(row)[lane] + static_cast<uint32_t>(offset))
                      : file.read<uint64_t>(row)[lane] + static_cast<uint64_t>(offset);
  }
  /// Writes an integer or the bits of a number, zero-extended to the register's width.
  void set_lane(RegisterFile& file, int lane, uint64_t bits) const {
    if (width == 4)
      file.write<uint32_t>(row)[lane] = static_cast<uint32_t>(bits);
    else
      file.write<uint64_t>(row)[lane] = bits;
  }
  bool is_immediate() const { return kind == Kind::immediate; }
};

/// What stands behind an opcode's name, with dots, in the order of the text: ".shared::cta", ".b64".
class Modifiers {
 public:
  std::vector<std::string_view> list;
  bool has(std::string_view modifier) const;  ///< has(".multicast::cluster")
  /// The first that starts so, without that part: value(".cta_group::") is "2"; empty: none.
  std::string_view value(std::string_view start) const;
  Type type() const;  ///< the last modifier that is a type
};

enum class Order : uint8_t { weak, relaxed, acquire, release, acq_rel, volatile_, mmio };
enum class Scope : uint8_t { none, cta, cluster, gpu, sys };

/// ld, ldu, st.
struct Access {
  bool store = false;
  Space space = Space::generic;  ///< param: the entry's; call_param: of a .param local
  bool cluster = false;          ///< .shared::cluster
  Type type = Type::none;        ///< of an element in memory: s8 is sign-extended to its register
  uint8_t vector = 1;
  Order order = Order::weak;
  Scope scope = Scope::none;
  bool read_only = false;     ///< ld.global.nc, ldu
  Operand address;            ///< Kind::address
  std::vector<Operand> data;  ///< `vector` registers (or, of a store, immediates)
  Operand policy;             ///< .L2::cache_hint; Kind::sink: none
  Modifiers modifiers;        ///< all, also .L1::no_allocate and the like
};

/// An instruction of a unit, of the warp's lanes among each other, or of memory beyond ld and st.
struct Service {
  std::string_view base;  ///< the name up to where the order of modifiers is free: "mbarrier.try_wait",
                          ///< "tcgen05.mma", "cp.async.bulk.tensor", "shfl.sync", "atom"
  Modifiers modifiers;
  std::vector<Operand> operands;
};

struct Call {
  std::string_view callee;  ///< empty: through a register
  Operand pointer;
  std::vector<Operand> results, arguments;  ///< call_param symbols or registers, in order
  int32_t function = -1;                    ///< Module::functions, if it has a body
};

struct IndexedBranch {
  Operand index;
  std::vector<uint32_t> targets;
};

/// A name that stands for an address.  Of shared memory `offset` is from the base that the executor chooses for
/// static symbols; a dynamic symbol begins behind them (Program::dynamic_shared).  Of parameters, locals and
/// parameters of calls the address is `offset` itself, which the constants have from the start; of other spaces the
/// executor sets it.
struct Symbol {
  std::string_view name;
  Space space = Space::none;
  uint64_t offset = 0, bytes = 0, align = 1;
  bool dynamic = false;
  int32_t variable = -1;  ///< Module::variables (-1: of the function)
  bool used = false;
  std::vector<std::pair<Row, int64_t>> rows32, rows64;  ///< rows of constants that hold its address + addend
};

/// A special register: `row` is the warp's own.
struct Special {
  std::string_view name;  ///< "%tid.x"
  Row row{};
  uint8_t width = 4;     ///< 4, 8: bytes for each lane; 1: a predicate
  bool changes = false;  ///< %clock, %globaltimer: fill before each instruction of Kind::special
};

/// A loop that waits and does nothing else.  Instructions [first, last] belong to it; only `exit` is reached from
/// it.
struct Wait {
  uint32_t first = 0, last = 0;
  uint32_t poll = 0;     ///< the mbarrier.try_wait or test_wait, or the load
  uint32_t exit = 0;     ///< where it goes on
  bool load = false;     ///< spins on memory
  bool backoff = false;  ///< has a nanosleep
};

struct UnsupportedForm {
  std::string opcode;  ///< as written
  std::string why;
  uint32_t line = 0, loc = 0, count = 0;  ///< of the first one
};

/// A row of a warp's own.
struct OwnRow {
  Row row{};
  uint32_t bytes = 0;        ///< sizeof(LaneMask): a predicate
  bool is_register = false;  ///< false: a special register, or what is written nowhere
};

struct Program {
  const Module* module = nullptr;  ///< must outlive the program
  const Entry* entry = nullptr;
  std::vector<Instr> code;
  std::vector<uint32_t> starts;  ///< by statement of the entry's body, and one more: where its instructions begin
  std::vector<std::string_view> opcodes;
  std::vector<Access> accesses;
  std::vector<Service> services;
  std::vector<Call> calls;
  std::vector<IndexedBranch> indexed_branches;
  std::vector<Symbol> symbols;
  std::vector<Special> specials;
  std::vector<Wait> waits;                ///< in the order of `first`
  std::vector<uint32_t> ignored_answers;  ///< polls of mbarriers whose answer decides nothing
  std::vector<std::string> reasons;       ///< of unsupported instructions: Instr::detail

  std::vector<std::byte> constants;  ///< the area of rows that all warps share
  size_t register_bytes = 0;         ///< of a warp's own rows
  std::vector<OwnRow> own_rows;      ///< in the order of rows; none once rows are shared (row_sharing.h)
  uint32_t predicate_bytes = 0;      ///< where rows are shared: predicates lie in front of all others
  uint64_t param_bytes = 0, local_bytes = 0, call_param_bytes = 0;  ///< local and call_param: of each lane
  uint64_t static_shared_bytes =
      0;  ///< layout of static symbols: offsets from a base that is aligned to `shared_align`
  uint64_t shared_align = 1;
  int32_t dynamic_shared = -1;  ///< symbols: the first of the dynamic ones
  uint64_t dynamic_shared_align = 1;

  std::string_view text(const Instr& i) const { return opcodes[i.opcode]; }
  /// "gemm.cu:143 (gemm.ptx:547)", or "gemm.ptx:547".
  std::string place(const Instr& i, bool chain = false) const;
  /// Writes a symbol's address into the rows that hold it.
  void set_address(std::span<std::byte> constants_of_launch, const Symbol& symbol, uint64_t address) const;
  const Symbol* symbol(std::string_view symbol_name) const;
  /// The wait that has this instruction as its poll; nullptr: none (then a try_wait is a peek).
  const Wait* wait_of_poll(uint32_t index) const;
  /// Of a program whose rows are shared: a number for each of a warp's own rows, for marks on them.  Rows of 8
  /// bytes for each lane take two.
  uint32_t row_number(Row row) const {
    return row.at < predicate_bytes
               ? row.at / uint32_t{sizeof(LaneMask)}
               : predicate_bytes / uint32_t{sizeof(LaneMask)} + (row.at - predicate_bytes) / (4 * kLanes);
  }
  size_t row_numbers() const { return row_number({static_cast<uint32_t>(register_bytes)}) + 1; }
  /// Name of a row, for messages: "%r12"; empty: none.
  std::string register_name(Row row) const;
  std::vector<std::pair<Row, uint32_t>> register_rows;  ///< row, Body::registers; in the order of rows
};

/// Never fails: what it does not know is Kind::unsupported.
Program decode(const Module& module, const Entry& entry);

/// What the program holds that cannot be executed, each opcode once, in the order of lines.
std::vector<UnsupportedForm> unsupported(const Program& program);

}  // namespace sm100::ptx

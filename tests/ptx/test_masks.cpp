// SPDX-License-Identifier: Apache-2.0
/// Every scalar form on whole warps and on some lanes: functions take other ways for all 32 lanes than for some of
/// them, and others on each instruction set of the host (the test runs on each), and the bits are the same.

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "catch.h"
#include "ptx/alu.h"
#include "ptx/scalar_machine.h"

using namespace sm100::ptx;

namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

 private:
  uint64_t state_;
};

/// Bits of an operand: any, where formats begin and end, few bits of fraction (ties), small integers.
uint64_t operand_bits(Random& random, Type type) {
  constexpr uint64_t kEdges[] = {0,          1,          0x7fff,     0x8000,     0xffff,     0x7c00,     0xfc01,
                                 0x7f80,     0xff81,     0x7fffffff, 0x80000000, 0xffffffff, 0x7f800000, 0xff800000,
                                 0x7f800001, 0xffc12345, 0x007fffff, 0x00800000, 0x80000001, 0x3f800000, 0x477fefff,
                                 0x477ff000, 0x33000000, 0x33000001, 0x387fffff, 0x38800000, 0x4effffff, 0x4f000000,
                                 0x4f800000, 0xcf000000, 0xcf000001, 0x3effffff, 0xbf000000, 0x7f7fffff};
  constexpr uint64_t kWideEdges[] = {uint64_t{1} << 63,   ~uint64_t{0},        0x7ff0000000000000u,
                                     0xfff0000000000001u, 0x7ff8000012345678u, 0x000fffffffffffffu,
                                     0x3ff0000000000000u, 0x41dfffffffc00000u, 0x43e0000000000000u,
                                     0xc3e0000000000000u, 0x47efffffe0000000u, 0x36a0000000000000u};
  const uint64_t any = random.next(), choice = random.next();
  const uint64_t pick = choice >> 8;
  switch (choice % 5) {
    case 0: return any;
    case 1:
      if (bits(type) == 64) return kWideEdges[pick % std::size(kWideEdges)];
      return kEdges[pick % std::size(kEdges)] | kEdges[(pick >> 16) % std::size(kEdges)] << 32;
    case 2: {  // an exponent near 1, and a fraction that ends in zeros
      const uint64_t kept = ~uint64_t{0} << pick % 40;
      if (bits(type) == 64) return (any & (uint64_t{1} << 63)) | (1023 - 40 + any % 128) << 52 | (any >> 12 & kept);
      const auto single = [](uint64_t x) {
        return (x & 0x80000000u) | (96 + (x >> 8) % 64) << 23 | ((x >> 8 & 0x7fffff) & ~uint64_t{0} << x % 24);
      };
      return single(any & 0xffffffffu) | single(any >> 32) << 32;
    }
    case 3: return static_cast<uint64_t>(static_cast<int64_t>(any % 129) - 64);
    default: return bits(type) == 64 ? static_cast<uint64_t>(static_cast<int64_t>(any) >> pick % 64) : any;
  }
}

constexpr uint32_t kRowBytes = 16 * kLanes;

/// A form with rows of its own for each operand, in a file that holds nothing else.
class FormRows {
 public:
  explicit FormRows(const AluForm& form)
      : form_(form),
        constants_(new (std::align_val_t{64}) std::byte[kRowBytes]),
        file_(kRowBytes * form.operands.size(), {constants_.get(), kRowBytes}, ScalarMachine::windows()) {
    in_.kind = Kind::alu;
    in_.alu = form.function;
    in_.aux = form.aux;
    for (uint32_t i = 0; i < form.operands.size(); ++i) in_.rows[i] = {i * kRowBytes};
  }
  void fill(uint64_t seed) {
    Random random(seed);
    for (const AluOperand& operand : form_.operands) {
      const Row row = in_.rows[static_cast<size_t>(&operand - form_.operands.data())];
      if (operand.type == Type::pred)
        *file_.write<LaneMask>(row) = static_cast<LaneMask>(random.next());
      else if (bits(operand.type) > 32)
        for (int i = 0; i < 2 * kLanes; ++i) file_.write<uint64_t>(row)[i] = operand_bits(random, operand.type);
      else
        for (int i = 0; i < kLanes; ++i)
          file_.write<uint32_t>(row)[i] = static_cast<uint32_t>(operand_bits(random, operand.type));
    }
    file_.carry = static_cast<LaneMask>(random.next());
  }
  void run(LaneMask lanes) { form_.function(file_, in_, lanes); }

  /// A source that is the first lane's value in all lanes: in its row, or where constants lie.
  void make_uniform(size_t operand, bool constant) {
    const Row row = in_.rows[operand];
    const bool wide_row = bits(form_.operands[operand].type) > 32;
    for (int i = 1; i < kLanes; ++i)
      if (wide_row)
        file_.write<uint64_t>(row)[i] = *file_.write<uint64_t>(row);
      else
        file_.write<uint32_t>(row)[i] = *file_.write<uint32_t>(row);
    if (!constant) return;
    std::memcpy(constants_.get(), file_.read<std::byte>(row), kRowBytes);
    in_.rows[operand] = {Row::kShared};
  }

  /// Of an operand in one lane; the high half of a .b128 is `part` 1.
  uint64_t value(size_t operand, int lane, int part = 0) const {
    const Type type = form_.operands[operand].type;
    if (type == Type::pred) return file_.predicate(in_.rows[operand]) >> lane & 1;
    if (bits(type) > 32) return file_.read<uint64_t>(in_.rows[operand])[lane + part * kLanes];
    return file_.read<uint32_t>(in_.rows[operand])[lane] & (bits(type) < 32 ? (1u << bits(type)) - 1 : 0xffffffffu);
  }
  /// All that the form may have changed in a lane: its operands and the carry.
  std::vector<uint64_t> lane(int lane) const {
    std::vector<uint64_t> all{file_.carry >> lane & 1};
    for (size_t i = 0; i < form_.operands.size(); ++i) {
      all.push_back(value(i, lane));
      if (bits(form_.operands[i].type) == 128) all.push_back(value(i, lane, 1));
    }
    return all;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  const AluForm& form_;
  Instr in_;
  std::unique_ptr<std::byte, Free> constants_;
  RegisterFile file_;
};

}  // namespace

TEST_CASE("A form computes the same in some lanes as in all, and leaves the others alone", "[instruction sets]") {
  for (const AluForm& form : alu_forms()) {
    FormRows before(form), all(form), some(form);
    for (uint64_t round = 0; round < 4; ++round) {
      const auto lanes = static_cast<LaneMask>(Random(round + 100).next());
      before.fill(round), all.fill(round), some.fill(round);
      all.run(kAllLanes);
      some.run(lanes);
      for (int lane = 0; lane < kLanes; ++lane)
        if (some.lane(lane) != (lanes >> lane & 1 ? all : before).lane(lane)) {
          INFO(form.name << ", lane " << lane << " of mask " << std::hex << lanes);
          REQUIRE(some.lane(lane) == (lanes >> lane & 1 ? all : before).lane(lane));
        }
    }
  }
}

TEST_CASE("A form computes the same of a number as of a register that holds it", "[instruction sets]") {
  for (const AluForm& form : alu_forms())
    for (size_t operand = 1; operand < form.operands.size(); ++operand) {
      if (form.operands[operand].written || bits(form.operands[operand].type) > 64) continue;
      if (form.operands[operand].type == Type::pred) continue;
      for (uint64_t round = 0; round < 4; ++round) {
        FormRows of_register(form), of_number(form);
        of_register.fill(round), of_number.fill(round);
        of_register.make_uniform(operand, false), of_number.make_uniform(operand, true);
        const LaneMask lanes = round == 0 ? kAllLanes : static_cast<LaneMask>(Random(round).next());
        of_register.run(lanes), of_number.run(lanes);
        for (int lane = 0; lane < kLanes; ++lane)
          if (of_number.lane(lane) != of_register.lane(lane)) {
            INFO(form.name << ", operand " << operand << ", lane " << lane << " of mask " << std::hex << lanes);
            REQUIRE(of_number.lane(lane) == of_register.lane(lane));
          }
      }
    }
}

TEST_CASE("Forms that are exact compute the bits that they always have, on every instruction set",
          "[instruction sets]") {
  uint64_t sum = 0;
  for (const AluForm& form : alu_forms()) {
    if (form.max_ulps > 0) continue;  // those ask the host's library
    FormRows rows(form);
    for (uint64_t round = 0; round < 16; ++round) {
      rows.fill(round);
      rows.run(kAllLanes);
      uint64_t of_form = 0;
      for (int lane = 0; lane < kLanes; ++lane)
        for (const uint64_t value : rows.lane(lane)) of_form = (of_form ^ value) * 0x9e3779b97f4a7c15u;
      for (const char c : form.name) of_form = (of_form ^ static_cast<uint64_t>(c)) * 0x9e3779b97f4a7c15u;
      sum += of_form ^ of_form >> 29;  // in any order of forms
    }
  }
  CHECK(sum == 0x75b59de76435507fu);
}

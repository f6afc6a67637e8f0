// SPDX-License-Identifier: Apache-2.0
#include "ptx/row_sharing.h"

#include <algorithm>
#include <array>
#include <bit>

#include "ptx/row_uses.h"

namespace sm100::ptx {

namespace {

constexpr uint32_t kNoRow = UINT32_MAX;

/// A set of registers.
class Bits {
 public:
  explicit Bits(size_t n) : words_((n + 63) / 64) {}
  void set(uint32_t i) { words_[i / 64] |= uint64_t{1} << i % 64; }
  bool has(uint32_t i) const { return words_[i / 64] >> i % 64 & 1; }
  /// this |= all - without.  @return it has changed
  bool add(const Bits& all, const Bits& without) {
    uint64_t grown = 0;
    for (size_t w = 0; w < words_.size(); ++w) {
      const uint64_t now = words_[w] | (all.words_[w] & ~without.words_[w]);
      grown |= now ^ words_[w];
      words_[w] = now;
    }
    return grown != 0;
  }
  template <class F>
  void for_each(F&& f) const {
    for (size_t w = 0; w < words_.size(); ++w)
      for (uint64_t left = words_[w]; left != 0; left &= left - 1)
        f(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(left))));
  }

 private:
  std::vector<uint64_t> words_;
};

class Sharing {
 public:
  explicit Sharing(Program& p) : p_(p), index_(p.register_bytes / 4 + 1, kNoRow), needed_(p.own_rows.size()) {
    for (uint32_t i = 0; i < p.own_rows.size(); ++i) index_[p.own_rows[i].row.offset() / 4] = i;
  }

  void run() {
    pin();
    find_blocks();
    find_what_is_needed();
    lay_out();
    move();
  }

 private:
  struct Block {
    uint32_t begin = 0, end = 0;  ///< instructions
    std::array<uint32_t, 2> next{kNoRow, kNoRow};
    const IndexedBranch* table = nullptr;
  };
  /// From the first instruction to the last one, in the order of the text, at which its value is needed.
  struct Needed {
    uint32_t first = kNoRow, last = 0;
    bool own_row = false;
    void at(uint32_t instruction) {
      first = std::min(first, instruction);
      last = std::max(last, instruction);
    }
  };

  uint32_t index(Row row) const { return index_[row.offset() / 4]; }

  void pin() {
    for (uint32_t i = 0; i < p_.own_rows.size(); ++i) {
      const OwnRow& own = p_.own_rows[i];
      needed_[i].own_row = !own.is_register || (own.bytes != 4 * kLanes && own.bytes != 8 * kLanes);
    }
    const auto pin_row = [&](Row row, RowUse) { needed_[index(row)].own_row = true; };
    for (const Service& s : p_.services) {
      const bool wgmma = s.base.starts_with("wgmma.mma_async");
      if (!wgmma && !s.base.starts_with("tcgen05.ld")) continue;
      for (const Operand& o : s.operands) row_uses::of_operand(o, RowUse::reads, pin_row);
    }
  }

  void find_blocks() {
    const auto size = static_cast<uint32_t>(p_.code.size());
    std::vector<bool> begins(size + 1);
    begins[0] = true;
    for (uint32_t at = 0; at < size; ++at) {
      const Instr& in = p_.code[at];
      if (in.kind == Kind::branch) begins[std::min(in.target, size)] = true;
      if (in.kind == Kind::branch_index)
        for (const uint32_t target : p_.indexed_branches[in.detail].targets) begins[std::min(target, size)] = true;
      if (ends_block(in)) begins[at + 1] = true;
    }
    block_of_.resize(size + 1, kNoRow);
    for (uint32_t at = 0; at < size; ++at) {
      if (begins[at]) blocks_.push_back({.begin = at});
      blocks_.back().end = at + 1;
      if (begins[at]) block_of_[at] = static_cast<uint32_t>(blocks_.size() - 1);
    }
    for (Block& block : blocks_) {
      const Instr& last = p_.code[block.end - 1];
      const bool always = last.guard.area() != 0 && last.guard_flip == 0;
      if (!ends_block(last) || !always) block.next[0] = block_of_[block.end];
      if (last.kind == Kind::branch) block.next[1] = block_of_[std::min(last.target, size)];
      if (last.kind == Kind::branch_index) block.table = &p_.indexed_branches[last.detail];
    }
  }
  static bool ends_block(const Instr& in) {
    return in.kind == Kind::branch || in.kind == Kind::branch_index || in.kind == Kind::exit ||
           in.kind == Kind::ret || in.kind == Kind::trap;
  }

  template <class F>
  void for_each_next(const Block& block, F&& f) const {
    for (const uint32_t next : block.next)
      if (next != kNoRow) f(next);
    if (block.table)
      for (const uint32_t target : block.table->targets)
        if (block_of_[target] != kNoRow) f(block_of_[target]);
  }

  void find_what_is_needed() {
    const size_t n = p_.own_rows.size();
    std::vector<Bits> in(blocks_.size(), Bits(n)), written(blocks_.size(), Bits(n));
    for (size_t b = 0; b < blocks_.size(); ++b)
      for (uint32_t at = blocks_[b].begin; at < blocks_[b].end; ++at) {
        const Instr& instr = p_.code[at];
        for_each_row(p_, instr, [&](Row row, RowUse use) {
          if (use == RowUse::reads && !written[b].has(index(row))) in[b].set(index(row));
          needed_[index(row)].at(at);
        });
        const bool always = instr.guard.area() != 0 && instr.guard_flip == 0;
        for_each_row(p_, instr, [&](Row row, RowUse use) {
          if (use == RowUse::writes && always) written[b].set(index(row));
        });
      }
    for (bool again = true; again;) {
      again = false;
      for (size_t b = blocks_.size(); b-- > 0;)
        for_each_next(blocks_[b], [&](uint32_t next) { again |= in[b].add(in[next], written[b]); });
    }
    for (size_t b = 0; b < blocks_.size(); ++b) {
      in[b].for_each([&](uint32_t i) { needed_[i].at(blocks_[b].begin); });
      for_each_next(blocks_[b], [&](uint32_t next) {
        in[next].for_each([&](uint32_t i) { needed_[i].at(blocks_[b].end - 1); });
      });
    }
  }

  /// Predicates first; then what has a row of its own; then rows that are shared.
  void lay_out() {
    to_.resize(p_.own_rows.size());
    size_t end = 0;
    const auto place = [&](uint32_t i) {
      to_[i] = {static_cast<uint32_t>(end)};
      end += p_.own_rows[i].bytes;
    };
    for (uint32_t i = 0; i < to_.size(); ++i)
      if (p_.own_rows[i].bytes == sizeof(LaneMask)) place(i);
    end = (end + 63) / 64 * 64;
    p_.predicate_bytes = static_cast<uint32_t>(end);
    std::vector<uint32_t> shared;
    for (uint32_t i = 0; i < to_.size(); ++i) {
      if (p_.own_rows[i].bytes == sizeof(LaneMask)) continue;
      if (p_.own_rows[i].is_register && needed_[i].first == kNoRow) continue;  // no instruction names it
      if (needed_[i].own_row)
        place(i);
      else
        shared.push_back(i);
    }
    std::stable_sort(shared.begin(), shared.end(),
                     [&](uint32_t a, uint32_t b) { return needed_[a].first < needed_[b].first; });
    for (const uint32_t bytes : {4u * kLanes, 8u * kLanes}) {
      std::vector<Row> free;
      std::vector<std::pair<uint32_t, Row>> used;  // last instruction; the earliest in front
      const auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
      for (const uint32_t i : shared) {
        if (p_.own_rows[i].bytes != bytes) continue;
        while (!used.empty() && used.front().first < needed_[i].first) {
          free.push_back(used.front().second);
          std::pop_heap(used.begin(), used.end(), later);
          used.pop_back();
        }
        if (free.empty()) {
          place(i);
        } else {
          to_[i] = free.back();
          free.pop_back();
        }
        used.emplace_back(needed_[i].last, to_[i]);
        std::push_heap(used.begin(), used.end(), later);
      }
    }
    p_.register_bytes = end;
  }

  void move() {
    const auto moved = [&](Row row) { return to_[index(row)]; };
    for (Instr& in : p_.code) {
      if (in.guard.area() == 0 && in.guard.at != 0) in.guard = moved(in.guard);
      for (Row& row : in.rows)
        if (row.area() == 0 && row.at != 0) row = moved(row);
    }
    for (Access& a : p_.accesses) {
      move(a.address), move(a.policy);
      for (Operand& o : a.data) move(o);
    }
    for (Service& s : p_.services)
      for (Operand& o : s.operands) move(o);
    for (Call& c : p_.calls) {
      move(c.pointer);
      for (auto* list : {&c.arguments, &c.results})
        for (Operand& o : *list) move(o);
    }
    for (IndexedBranch& b : p_.indexed_branches) move(b.index);
    for (Special& s : p_.specials) s.row = moved(s.row);
    p_.register_rows.clear();
    p_.own_rows.clear();
  }
  void move(Operand& o) {
    if (o.row.area() == 0 && o.row.at != 0) o.row = to_[index(o.row)];
    for (Operand& element : o.elements) move(element);
  }

  Program& p_;
  std::vector<uint32_t> index_;  ///< Program::own_rows, by the word that a row starts at
  std::vector<Needed> needed_;   ///< by Program::own_rows, as to_ is
  std::vector<Row> to_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> block_of_;  ///< by the instruction that it begins with
};

}  // namespace

void share_rows(Program& program) { Sharing(program).run(); }

}  // namespace sm100::ptx

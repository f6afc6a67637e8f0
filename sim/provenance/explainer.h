// SPDX-License-Identifier: Apache-2.0
/// Holds what a launch has multiplied and stored (sim/provenance/record.h) against what it should have
/// (kernels/host/expected_product.h), and says what differs, where and by whom.
///
/// Accumulators are compared by what they consist of: rows of A, rows of B, steps along K.  Where they should go is
/// what the stores say that their warps' fragments went to.  What belongs to a place and was used nowhere points at
/// the loads or the MMAs; what was computed and lies elsewhere points at the epilogue.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/provenance/accumulators.h"
#include "sim/provenance/guesses.h"
#include "sim/provenance/tiles.h"

namespace sm100::sim::provenance {

/// Rows and columns of the output.
struct Region {
  int64_t first_row = 0, last_row = -1, first_column = 0, last_column = -1;

  void add(int64_t row, int64_t column);
  std::string text() const;  ///< "rows 0-127, columns 128-255"
};

struct Cause {
  std::string id;
  bool warning = false;
  std::string what;  ///< one sentence, without where
  models::Source at;
  std::vector<std::string> details;
  std::string example{};  ///< "rows 0-127, columns 128-255"
  int tiles = 0, of_tiles = 0;
  bool lacks = false;  ///< what belongs there has not come: it is left out, or zeros stand in for it
};

/// Of the products and copies, for Tiles.
std::vector<Tiles::Size> output_sizes(const host::ExpectedResult& expected);

/// "load (warp 5) of CTA 1, load_warp.h:38"
using Who = std::function<std::string(const models::Source&)>;

class Explainer {
 public:
  /// @param in_launch  of a CTA: it is of the launch that is explained
  /// @param bytes      of global memory; nullptr where there are none
  /// @param tiles      of the launch
  Explainer(const Record& record, const host::ExpectedResult& expected, std::function<bool(int cta)> in_launch,
            std::function<const uint8_t*(uint64_t address, uint64_t bytes)> bytes, Tiles tiles, Who who);

  /// The causes, those that explain most first.
  /// @param with_data  else nobody knows what warps have stored
  /// @param right      the results are: what threads bring is known by its values only, and is not doubted then
  std::vector<Cause> causes(bool with_data, bool right);
  /// What could not be followed, one phrase each.
  const std::set<std::string>& not_looked_at() const { return not_looked_at_; }
  int tiles() const { return tiles_; }
  /// What is known of an element of the output that is wrong for no other reason.
  /// @param address  of the element
  std::optional<Cause> what_became_of(uint64_t address);

 private:
  using Place = std::pair<int64_t, int64_t>;  ///< row and column of C

  /// Where the stores have put what a set of fragments holds.
  struct SetPlace {
    int product = -1;
    Region region;
    uint32_t delivery = 0;
  };
  /// Of an accumulator: rows and columns of D that one set of fragments holds.
  struct Cells {
    int first_row = -1, last_row = -1, first_column = -1, last_column = -1;
  };
  /// Rows or columns of an accumulator that a set of fragments has taken to C, and the rows of the operand that
  /// belong there.
  struct Placed {
    uint32_t set = 0;
    bool of_a = true;
    int first = 0, last = 0;  ///< of the accumulator
    RowOf begins;             ///< what belongs to `first`

    RowOf wanted(int i) const { return {begins.matrix, begins.row + (i - first)}; }
  };
  /// Rows of D, or columns, which hold another row of the operand than belongs to their place.
  struct Misfit {
    uint32_t set = 0;
    bool of_a = true;
    int first = 0, count = 0;
    RowOf used, wanted;
  };

  // explainer.cpp
  void find_accumulators();
  void drop_tiles_without_stores();
  void find_places();
  Cells cells_in(const Accumulator& acc, uint32_t set) const;
  /// The set holds one tile, and all of it went to a place of the same size: which cell went where is known.
  /// "loaded from tensor memory by epilogue (warp 0) of CTA 0, tile_writer.h:52", or in whose registers sums of
  /// wgmma are.
  std::string loaded_by(const Fragment& fragment) const;
  bool goes_together(const Accumulator& acc, uint32_t set, const Cells& cells) const;
  /// Its fragments are what was stored there.
  bool says_where(const SetPlace& place) const {
    return place.product >= 0 && !expected_.products[size_t(place.product)].by_other_warps;
  }
  bool swapped(const Accumulator& acc) const;
  /// D's rows were stored as columns of C, as far as the places of its sets tell.
  bool turned_by_stores(const Accumulator& acc) const;
  /// By row of D, then column: somebody has loaded the cell.
  std::vector<bool> loaded_cells(const Accumulator& acc) const;
  int product_of(const Accumulator& acc) const;
  bool is_stored(const Accumulator& acc) const;
  /// The same, or it was, and another store has overwritten it.
  bool was_stored(const Accumulator& acc) const;
  Region region_of(const Accumulator& acc) const;
  void add(Cause cause, const Accumulator& acc);
  void add(Cause cause, const std::string& region);
  bool has_cause(const Accumulator& acc) const { return explained_.count(acc.history) > 0; }

  // place_causes.cpp
  void compare_places();
  std::vector<Placed> placed(const Accumulator& acc) const;
  std::vector<Misfit> misfits(const Accumulator& acc) const;
  void explain_misfit(const Accumulator& acc, const Misfit& misfit);
  /// ": its tensor map begins at SFB of group 1", where it is of no operand; empty: of what is not known.
  std::string other_tensor_text(const Box& box) const;
  void explain_exchanged(const Accumulator& acc, const Misfit& misfit);
  void explain_misplaced(const Accumulator& acc, const Misfit& misfit, const Accumulator& right);
  /// D has rows of the operand in another order than its sets have places, which follow each other.
  bool loaded_out_of_order(const Accumulator& acc, bool a) const;
  /// Some accumulator has multiplied rows of that box, and all its rows belong where they are.
  bool is_right_elsewhere(const Box& box);

  // operand_causes.cpp
  void compare_steps(const Accumulator& acc);
  bool explain_same_tensor(const Accumulator& acc);
  bool explain_swizzle(const Accumulator& acc);
  bool explain_major(const Accumulator& acc);
  bool explain_old_sum(const Accumulator& acc);
  std::optional<RowOf> wanted_row(const Accumulator& acc, bool a, int i) const;
  void explain_majority(const Accumulator& acc, bool a, const Deviation& first, const std::set<int>& right);
  const Accumulator* of_row(size_t p, int64_t row) const;
  const Accumulator* multiplied(const RowOf& a, const RowOf& b) const;
  /// Whatever belongs into C was multiplied by somebody, for this place or for another.
  bool all_multiplied(size_t product);
  /// A load of these bytes into the shared memory that the MMA reads; nullptr: there was none.
  /// @param beside  of the same stage: it counts on the same mbarrier; nullptr: of any
  const Box* load_of(const Mma& mma, uint64_t address, const Box* beside = nullptr) const {
    return load_before(mma, mma.time, address, beside);
  }
  /// The same, of what lies there at an earlier time.
  const Box* load_before(const Mma& mma, models::Cycles time, uint64_t address, const Box* beside = nullptr) const;
  const Box* box_used(const Mma& mma, bool a, int row) const;
  /// Who has stored an operand's bytes that are no copies; nullptr: nobody.
  const models::Source* stored_operand(const Accumulator& acc, bool a) const;
  /// Threads have brought some of the operands.
  bool by_threads(const Accumulator& acc) const;

  // scale_causes.cpp
  void compare_scales(const Accumulator& acc);
  /// "SFA of group 1, row 3, k block 5", or where else the byte lies.
  std::string scale_text(const host::ExpectedMatrix& scales, uint64_t address) const;
  /// What is wrong with the copied scale factors of an operand whose rows are right; empty: nothing.
  std::string other_scales_text(const Accumulator& acc, bool a) const;
  bool explain_stored_scale(const Accumulator& acc, size_t step, bool a, size_t i,
                            const host::ExpectedMatrix& scales, int scale_block);

  // map_causes.cpp
  /// Tensor maps that say other strides or dimensions than their tensors have: what else is wrong follows from it.
  void explain_maps();

  // k_causes.cpp
  void compare_k();
  void explain_k_pairs(const Accumulator& acc);
  std::optional<int64_t> first_k(const Box& box) const;
  void explain_coverage(const std::vector<const Accumulator*>& of_tile, const std::vector<const Accumulator*>& lost,
                        int64_t k);

  // output_causes.cpp
  void compare_output();
  void explain_unwritten(size_t product, const Watched& output);
  /// @param packed  elements of `output.grain` bytes
  void explain_stored_twice(const Watched& output, const std::string& name, uint64_t row_bytes, int64_t packed = 1);
  std::string parts_of_k(const Accumulator& acc, int64_t k) const;
  /// Some of K is in no accumulator with the same rows.
  bool is_part_of_k(const Accumulator& acc, int64_t k) const;
  /// What CTAs have had instead of the tile of this element.
  void explain_tile(int64_t row, int64_t column, Cause& cause) const;
  void compare_cells(size_t product, const Watched& output);
  void compare_values(size_t product, const Watched& output);
  /// All cells of the accumulator that were loaded and whose operands are known: where they belong in C, and their
  /// bits, converted to its type.  Empty where nobody knows the values, or the type cannot be converted to.
  /// What the accumulator's cells hold is what should be stored.
  bool has_plain_sums(const Accumulator& acc, const host::ExpectedProduct& product) const;
  std::map<Place, uint32_t> loaded_values(const Accumulator& acc, const host::ExpectedProduct& product) const;
  /// An element of C that is nothing but sums holds what the tensor core made of its row and column, over all of K.
  bool is_stored_as_summed(const Accumulator& acc, const host::ExpectedProduct& product, uint64_t address,
                           uint32_t bytes) const;
  void compare_copies();

  // element_sums.cpp
  /// What was loaded from tensor memory of the elements of C, of each in parts of `part_k` elements of K; only of
  /// elements of which all of K was loaded.
  ElementSums sums_of(size_t product, const Watched& output, int64_t part_k) const;

  // term_causes.cpp
  /// Which term of the epilogue makes elements wrong whose sums are right, and how; nothing: no guess fits nearly
  /// all of them.
  /// @param by  who has stored the worst element
  std::optional<Cause> explain_terms(size_t product, const Watched& output, const models::Source& by) const;
  /// The claim that a guess makes, with the line that reads its term.
  /// @param all  elements were looked at
  /// @param by   who has stored the worst element: the place where nobody reads the term
  Cause cause_of(const Guess& guess, const WrongElements& wrong, int64_t explained, bool all,
                 const models::Source& by) const;

  // partial_causes.cpp
  /// Elements of K that the sums of an accumulator have, where an element of C is added up of several; nothing: it
  /// is not, or they differ.
  std::optional<int64_t> length_of_parts(size_t product) const;
  std::optional<Cause> explain_partials(size_t product, const Watched& output, const models::Source& by) const;

  // block_scale_causes.cpp
  std::optional<Cause> explain_block_scales(size_t product, const Watched& output, const models::Source& by) const;

  // output_scale_causes.cpp
  std::optional<Cause> explain_output_scales(size_t product, const Watched& output) const;

  std::string place_of(const Box& box) const;      ///< "box {k 0, row 128}"
  std::string place_of(const Store& store) const;  ///< "to {128, 0}"; empty: a warp's store
  /// " that begins beyond the 256 elements of its tensor map in dimension 1"; empty: it begins inside.
  std::string beyond_text(const Box& box) const;
  std::string rows_text(const RowOf& first, int64_t count) const;

  const Record& record_;
  const host::ExpectedResult& expected_;
  const std::function<bool(int)> in_launch_;
  const std::function<const uint8_t*(uint64_t, uint64_t)> bytes_;
  const Who who_;
  const Matrices matrices_;
  Tiles work_tiles_;

  std::map<uint32_t, Accumulator> accumulators_;  ///< by history
  std::vector<SetPlace> places_;                  ///< by set of fragments
  std::vector<bool> stored_sets_;  ///< the same: some of it was stored to an output, and not added to it
  std::map<std::pair<int, int64_t>, std::vector<const Accumulator*>> by_row_;  ///< of D: matrix and row
  std::set<int> copied_;  ///< matrices of which some accumulator has rows that tensor copies have brought
  bool with_data_ = true, right_ = false;
  int tiles_ = 0;
  std::map<size_t, bool> all_multiplied_;            ///< by product, once it was asked for
  std::optional<std::set<const Box*>> right_boxes_;  ///< the same: those of accumulators without a misfit

  struct Group {
    Cause cause;
    std::set<std::string> regions;
  };
  std::vector<Group> groups_;
  std::set<uint32_t> explained_;
  static constexpr const char* kUnfollowed = "MMAs with A in tensor memory or registers, or with sparse A";
  bool unfollowed_ = false;  ///< there are some
  std::set<std::string> not_looked_at_;
};

/// "16-31", "5"
std::string range_text(int64_t first, int64_t last);

}  // namespace sm100::sim::provenance

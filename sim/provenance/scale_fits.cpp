// SPDX-License-Identifier: Apache-2.0
// Scales of blocks that fit what is stored, found by least squares: each row's of A, or each block of columns' of
// B, one for each part of K.  Then where such scales lie in memory.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kernels/host/product.h"
#include "sim/provenance/block_scale_guesses.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// One operand's scales.
class FittedScales {
 public:
  FittedScales(const ScaledSums& sums, const WrongElements& wrong, const std::vector<OtherScales>& others,
               bool of_a);

  /// Some scales were found, and what is stored follows from them.
  bool explain() const;
  bool tell(const Told& told) const;

 private:
  /// Of a row or a block of columns: by part.
  struct Scales {
    std::vector<double> of;
    double error = 0;  ///< that roundings may have left in them, relative
  };
  struct Other {
    int64_t group = 0, part = 0;
    double is = 0, wanted = 0, error = 0;
    bool is_near(double value) const { return std::abs(is - value) <= error * std::abs(value); }
  };

  int64_t group_of(const WrongValue& w) const { return of_a_ ? w.row : w.column / sums_.size(); }
  const ScaleValues& values() const { return of_a_ ? sums_.a() : sums_.b(); }
  int64_t index(int64_t group, int64_t part) const { return values().index(group, sums_.block_of(part)); }
  std::vector<double> fitted(const std::vector<const WrongValue*>& elements) const;
  void fit();
  /// Scales that are others than the right ones.
  void find_others();

  /// A guess at other scales of this operand.
  /// @param scale  of a group and a part
  template <class F>
  Guess guess(std::string what, F scale, double times) const;
  Guess fitted_guess() const;
  bool tell_zero(const Told& told) const;
  bool tell_distance(const Told& told) const;
  bool tell_places(const Told& told) const;

  std::string name() const { return of_a_ ? "A's scales" : "B's scales"; }
  std::string group_text(int64_t group) const {
    return of_a_ ? fmt::format("row {}", group) : fmt::format("block {} of columns", group);
  }
  /// "in block 3 of K, "
  std::string parts_text() const;
  /// "row r + 8", "row r and block k + 1 of K"
  std::string distance_text(int64_t distance) const;

  /// ", which are of group 3": whose scales lie so far from those of a row or a block of columns; empty: its own.
  std::string owner_text(int64_t group, int64_t distance) const;
  /// Of scales that all lie so far from the right ones: the table of these scales was taken to begin in another
  /// product's; empty: it was not.
  std::string other_table_text(int64_t distance) const;

  const ScaledSums& sums_;
  const std::vector<OtherScales>& other_products_;
  const bool of_a_;
  WrongElements wrong_;  ///< of the groups that are looked at
  bool all_ = true;      ///< groups are
  std::map<int64_t, Scales> groups_;
  std::vector<Other> others_;
  std::set<int64_t> parts_;  ///< that they are of
};

FittedScales::FittedScales(const ScaledSums& sums, const WrongElements& wrong,
                           const std::vector<OtherScales>& others, bool of_a)
    : sums_(sums), other_products_(others), of_a_(of_a), wrong_(wrong) {
  constexpr size_t kMostGroups = 128;
  std::set<int64_t> groups;
  for (const WrongValue& w : wrong.values()) groups.insert(group_of(w));
  if (groups.size() > kMostGroups) {
    all_ = false;
    const size_t step = (groups.size() + kMostGroups - 1) / kMostGroups;
    std::set<int64_t> chosen;
    size_t next = 0;
    for (const int64_t group : groups)
      if (next++ % step == 0) chosen.insert(group);
    std::vector<WrongValue> of_chosen;
    for (const WrongValue& w : wrong.values())
      if (chosen.contains(group_of(w))) of_chosen.push_back(w);
    wrong_ = WrongElements(wrong.output(), std::move(of_chosen));
  }
  fit();
  find_others();
}

std::vector<double> FittedScales::fitted(const std::vector<const WrongValue*>& elements) const {
  const auto n = size_t(sums_.parts());
  const ScaleOf other = of_a_ ? sums_.right_b() : sums_.right_a();
  const auto size_of_system = Eigen::Index(n);
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size_of_system, size_of_system);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(size_of_system), x(size_of_system);
  for (const WrongValue* w : elements) {
    for (size_t part = 0; part < n; ++part)
      x[Eigen::Index(part)] = sums_.factor() * sums_.x(*w, int64_t(part)) * other(*w, int64_t(part)).value_or(0);
    const double size = x.cwiseAbs().sum();
    if (!std::isfinite(w->stored) || !(size > 0)) continue;
    const double weight = 1 / std::pow(std::abs(w->stored) + size / 1024, 2);  // it is rounded relative to itself
    right += weight * w->stored * x;
    m += weight * x * x.transpose();
  }
  const Eigen::FullPivLU<Eigen::MatrixXd> system(m);
  if (!system.isInvertible()) return {};
  const Eigen::VectorXd scales = system.solve(right);
  return {scales.data(), scales.data() + scales.size()};
}

void FittedScales::fit() {
  constexpr int64_t kMostParts = 64;
  const int64_t parts = sums_.parts();
  if (parts > kMostParts) return;
  const auto fewest = size_t(4 * parts), most = size_t(std::max<int64_t>(16 * parts, 512));
  std::map<int64_t, std::vector<const WrongValue*>> elements;
  for (const WrongValue& w : wrong_.values())
    if (auto& of_group = elements[group_of(w)]; of_group.size() < most) of_group.push_back(&w);
  const double rounding = host::unit_roundoff(wrong_.output());
  for (const auto& [group, of_group] : elements) {
    if (of_group.size() < fewest) continue;
    const double error = std::max(0.01, 3 * rounding * double(parts) / std::sqrt(double(of_group.size())));
    if (std::vector<double> scales = fitted(of_group); !scales.empty()) groups_[group] = {std::move(scales), error};
  }
}

void FittedScales::find_others() {
  std::vector<Other> all;
  std::map<int64_t, size_t> by_part;
  for (const auto& [group, scales] : groups_)
    for (int64_t part = 0; part < sums_.parts(); ++part) {
      const std::optional<double> wanted = values().at(index(group, part));
      if (!wanted) continue;
      const Other other{group, part, scales.of[size_t(part)], *wanted, scales.error};
      if (other.is_near(*wanted)) continue;
      all.push_back(other), ++by_part[part];
    }
  size_t most = 0;
  for (const auto& [part, count] : by_part) most = std::max(most, count);
  for (const auto& [part, count] : by_part)
    if (count * 8 >= most) parts_.insert(part);
  for (const Other& other : all)
    if (parts_.contains(other.part)) others_.push_back(other);
}

template <class F>
Guess FittedScales::guess(std::string what, F scale, double times) const {
  const ScaleOf own = [this, scale](const WrongValue& w, int64_t part) { return scale(group_of(w), part); };
  const ScaleOf a = of_a_ ? own : sums_.right_a(), b = of_a_ ? sums_.right_b() : own;
  return {std::move(what), [this, a, b](const WrongValue& w) { return sums_.of(w, a, b); }, values().address(),
          times};
}

Guess FittedScales::fitted_guess() const {
  constexpr double kRoundings = 2;
  std::string what;
  if (!others_.empty()) {
    std::set<int64_t> groups;
    for (const Other& other : others_) groups.insert(other.group);
    const Other& first = others_.front();
    what = fmt::format(
        "{}{} of {} are wrong values, which lie nowhere among them: {} has {:.4g} in {} {} of K, where "
        "{:.4g} belongs",
        parts_text(), name(), numbers_text(groups, of_a_ ? "row" : "column block"), group_text(first.group),
        first.is, sums_.parts_per_block() > 1 ? "piece" : "block", first.part, first.wanted);
  }
  return guess(
      std::move(what),
      [this](int64_t group, int64_t part) -> std::optional<double> {
        const auto found = groups_.find(group);
        return found != groups_.end() ? std::optional(found->second.of[size_t(part)]) : std::nullopt;
      },
      kRoundings);
}

bool FittedScales::explain() const { return !others_.empty() && wrong_.explained(fitted_guess()) > 0; }

bool FittedScales::tell(const Told& told) const {
  return tell_zero(told) || tell_distance(told) || tell_places(told) || (all_ && told(fitted_guess()));
}

std::string FittedScales::parts_text() const {
  const std::string unit = sums_.parts_per_block() > 1 ? "piece" : "block";
  return int64_t(parts_.size()) == sums_.parts() ? "" : "in " + numbers_text(parts_, unit) + " of K, ";
}

std::string FittedScales::distance_text(int64_t distance) const {
  const int64_t pitch = of_a_ ? values().block_pitch() : values().row_pitch();  // of the slower of both
  int64_t slow = distance / pitch, fast = distance - slow * pitch;
  if (2 * std::abs(fast) > pitch) slow += fast > 0 ? 1 : -1, fast = distance - slow * pitch;
  const auto plus = [](const char* letter, int64_t by) {
    return by == 0 ? std::string(letter)
                   : fmt::format("{} {} {}", letter, by < 0 ? '-' : '+', grouped(std::abs(by)));
  };
  const int64_t block = of_a_ ? slow : fast;
  const std::string of_group = of_a_ ? "row " + plus("r", fast) : "block " + plus("j", slow) + " of columns";
  return block == 0 ? of_group : fmt::format("{} and block {} of K", of_group, plus("k", block));
}

/// Some rows' or blocks' in one part of K, others' in another: else the part's product is not in the sum.
bool FittedScales::tell_zero(const Told& told) const {
  const auto is_zero = [](const Other& other) { return std::abs(other.is) < other.error * std::abs(other.wanted); };
  if (!all_ || !std::all_of(others_.begin(), others_.end(), is_zero)) return false;
  std::set<std::pair<int64_t, int64_t>> zeros;
  for (const Other& other : others_) zeros.emplace(other.group, other.part);
  return told(guess(
      fmt::format("{}{} were taken as zero", parts_text(), name()),
      [this, zeros](int64_t group, int64_t part) {
        return zeros.contains({group, part}) ? std::optional(0.0) : values().at(index(group, part));
      },
      1));
}

std::string FittedScales::owner_text(int64_t group, int64_t distance) const {
  const int64_t at = values().index(group, 0) + distance;
  int64_t begins = at >= 0 ? 0 : INT64_MIN;  // of the product's own
  const OtherScales* in = nullptr;
  for (const OtherScales& other : other_products_)
    if (const int64_t first = of_a_ ? other.a : other.b; first <= at && first > begins) in = &other, begins = first;
  return in ? fmt::format(", which are of {}", in->of) : "";
}

std::string FittedScales::other_table_text(int64_t distance) const {
  const ScaleValues& all = values();
  // Of all products that share the tensor: how far ahead of this one's they begin.
  const OtherScales* in = nullptr;
  for (const OtherScales& other : other_products_)
    if (const int64_t begins = of_a_ ? other.a : other.b;
        begins <= distance && (!in || begins > (of_a_ ? in->a : in->b)))
      in = &other;
  const int64_t first = all.first(), taken = distance - first;  // from the tensor's beginning
  if (!in || distance >= 0 || taken < 0) return {};
  std::string factor;
  const int64_t right = -first;
  if (taken > 0 && right % taken == 0)
    for (const auto& [count, what] :
         {std::pair(all.blocks(), "the number of blocks of K"),
          std::pair(all.rows(), of_a_ ? "the number of rows" : "the number of column blocks")})
      if (right / taken == count && count > 1 && factor.empty())
        factor = fmt::format(": {} lacks as a factor", what);
  return fmt::format(
      "; the table of these scales was taken to begin {} scales into the tensor, inside that of {}, and begins {} "
      "into "
      "it{}",
      grouped(taken), in->of, grouped(right), factor);
}

/// All of them lie equally far from the right ones.
bool FittedScales::tell_distance(const Told& told) const {
  constexpr size_t kFewest = 4;
  constexpr int64_t kFarthest = 1 << 16;
  if (others_.size() < kFewest) return false;
  const ScaleValues& all = values();
  const auto fits = [&](int64_t distance) {
    size_t found = 0, missed = 0;
    for (const Other& other : others_) {
      const std::optional<double> there = all.at(index(other.group, other.part) + distance);
      ++(there && other.is_near(*there) ? found : missed);
      if (missed > 1 && missed * 16 > found) return false;
    }
    return found >= kFewest && missed * 16 <= found;
  };
  const int64_t farthest = std::min(kFarthest, all.last() - all.first());
  for (int64_t distance = 1; distance <= farthest; ++distance)
    for (const int64_t by : {-distance, distance})
      if (fits(by) &&
          told(guess(
              fmt::format("{}{} of another place were taken: {} those of {}{}", parts_text(), name(),
                          of_a_ ? "row r and block k of K take" : "block j of columns and block k of K take",
                          distance_text(by), other_table_text(by)),
              [this, by](int64_t group, int64_t part) {
                return values().at(index(group, part) + (parts_.contains(part) ? by : 0));
              },
              1)))
        return true;
  return false;
}

/// Each row's, or block's, lie somewhere else, all parts of it.
bool FittedScales::tell_places(const Told& told) const {
  constexpr size_t kFewest = 3;
  if (!all_) return false;
  std::map<int64_t, std::vector<Other>> by_group;
  for (const Other& other : others_) by_group[other.group].push_back(other);
  std::map<int64_t, int64_t> distances;
  const ScaleValues& all = values();
  for (const auto& [group, of_group] : by_group) {
    if (of_group.size() < kFewest) continue;
    const int64_t begin = index(group, of_group.front().part);
    for (int64_t i = all.first(); i <= all.last() && !distances.contains(group); ++i)
      if (std::all_of(of_group.begin(), of_group.end(), [&, by = i - begin](const Other& other) {
            const std::optional<double> there = all.at(index(other.group, other.part) + by);
            return there && other.is_near(*there);
          }))
        distances[group] = i - begin;
  }
  if (distances.empty() || distances.size() < by_group.size()) return false;
  const int64_t first = distances.begin()->first;
  return told(guess(
      fmt::format("{}{} of other places were taken: {} takes those of {}{}", parts_text(), name(),
                  group_text(first), distance_text(distances.begin()->second),
                  owner_text(first, distances.begin()->second)),
      [this, distances](int64_t group, int64_t part) {
        const auto found = distances.find(group);
        return values().at(index(group, part) +
                           (found != distances.end() && parts_.contains(part) ? found->second : 0));
      },
      1));
}

}  // namespace

bool tell_fitted_scales(const ScaledSums& sums, const WrongElements& wrong, const std::vector<OtherScales>& others,
                        const Told& told) {
  for (const bool of_a : {false, true})
    if (const FittedScales scales(sums, wrong, others, of_a); scales.explain() && scales.tell(told)) return true;
  return false;
}

}  // namespace sm100::sim::provenance

// SPDX-License-Identifier: Apache-2.0
/// Comparison and selection (PTX 9.7.5, 9.7.6): setp, set, selp, slct.

#include "ptx/alu/form_table.h"
#include "ptx/alu/half.h"

namespace sm100::ptx {

namespace {

enum class Combine : uint32_t { none, and_, or_, xor_ };

// AluForm::aux: how the result is combined with a predicate, and above it what the numbers may be to each other.
constexpr uint32_t aux_of(uint32_t how, int relations) { return how | static_cast<uint32_t>(relations) << 2; }
Combine combine_of(const Instr& in) { return static_cast<Combine>(in.aux & 3); }
int relations_of(const Instr& in) { return static_cast<int>(in.aux >> 2); }
bool is_combined(const Instr& in) { return combine_of(in) != Combine::none; }

LaneMask combine(Combine how, LaneMask value, LaneMask with) {
  switch (how) {
    case Combine::and_: return value & with;
    case Combine::or_: return value | with;
    case Combine::xor_: return value ^ with;
    case Combine::none: break;
  }
  return value;
}

// What two numbers may be to each other; a comparison is the set of those that make it true.
constexpr int kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;

template <class T>
bool holds(int relations, T a, T b) {
  if constexpr (std::is_same_v<T, float>) {  // one bit each, without branches
    return (((relations & kLess) != 0) & (a < b)) | (((relations & kEqual) != 0) & (a == b)) |
           (((relations & kGreater) != 0) & (a > b)) | (((relations & kUnordered) != 0) & ((a != a) | (b != b)));
  } else if constexpr (std::is_integral_v<T>) {
    return relations & (a < b ? kLess : a == b ? kEqual : kGreater);
  } else {
    const auto x = to_double(a), y = to_double(b);
    return relations & (x < y ? kLess : x == y ? kEqual : x > y ? kGreater : kUnordered);
  }
}

/// Most comparisons are of these: each has functions of its own, which the host's vectors compute.
template <class T>
constexpr bool kOften = (std::is_integral_v<T> && sizeof(T) >= 4) || std::is_same_v<T, float>;

/// Lanes in which the comparison holds.
template <class T, bool kFlush>
LaneMask compare(const RegisterFile& file, const Instr& in, int first, LaneMask mask, int relations) {
  const Source<T> a(file, in, first), b(file, in, first + 1);
  const auto holds_in = [&](int lane) {
    return holds(relations, flush_if<kFlush>(a[lane]), flush_if<kFlush>(b[lane]));
  };
  if constexpr (kOften<T>) {
    // Of all lanes, each with a bit of its own, which compilers keep in vectors; what lanes outside of the mask
    // hold is not looked at.
    Container<T> bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) bits |= holds_in(lane) ? Container<T>{1} << lane : Container<T>{0};
    return static_cast<LaneMask>(bits);
  } else {
    LaneFlags result;
    for_each_lane(mask, [&](int lane) { result.set(lane, holds_in(lane)); });
    return result.mask();
  }
}

/// kRelations: a constant where comparisons are many, else 0.
template <class T, int kRelations, bool kFlush>
void setp(RegisterFile& file, const Instr& in, LaneMask mask) {
  const LaneMask holds_in = compare<T, kFlush>(file, in, 2, mask, kRelations != 0 ? kRelations : relations_of(in));
  const LaneMask with = is_combined(in) ? in.predicate(file, 4) : 0;
  file.set_predicate(in.rows[0], combine(combine_of(in), holds_in, with), mask);
  file.set_predicate(in.rows[1], combine(combine_of(in), ~holds_in, with), mask);
}

template <class T, int kRelations, bool kFlush>
AluFunction setp_function() {
  if constexpr (kOften<T>)
    return wide<&setp<T, kRelations, kFlush>>();
  else
    return &setp<T, 0, kFlush>;
}

/// The two halves: p is the low one's, q the high one's.
template <class T, bool kFlush>
void setp_pair(RegisterFile& file, const Instr& in, LaneMask mask) {
  const Source<Pair<T>> a(file, in, 2), b(file, in, 3);
  const int relations = relations_of(in);
  LaneMask low = 0, high = 0;
  for_each_lane(mask, [&](int lane) {
    const Pair<T> x = a[lane], y = b[lane];
    low |= static_cast<LaneMask>(holds(relations, flush_if<kFlush>(x.low), flush_if<kFlush>(y.low))) << lane;
    high |= static_cast<LaneMask>(holds(relations, flush_if<kFlush>(x.high), flush_if<kFlush>(y.high))) << lane;
  });
  const LaneMask with = is_combined(in) ? in.predicate(file, 4) : 0;
  file.set_predicate(in.rows[0], combine(combine_of(in), low, with), mask);
  file.set_predicate(in.rows[1], combine(combine_of(in), high, with), mask);
}

template <class D>
constexpr Bits<D> kTrue = static_cast<Bits<D>>(~Bits<D>{0});
template <>
inline constexpr uint32_t kTrue<float> = 0x3f800000u;
template <>
inline constexpr uint16_t kTrue<F16> = 0x3c00;
template <>
inline constexpr uint16_t kTrue<Bf16> = 0x3f80;

template <class D, class T, bool kFlush>
void set(RegisterFile& file, const Instr& in, LaneMask mask) {
  const LaneMask holds_in = compare<T, kFlush>(file, in, 1, mask, relations_of(in));
  const LaneMask value = combine(combine_of(in), holds_in, is_combined(in) ? in.predicate(file, 3) : 0);
  Destination<D> d(file, in, 0);
  for_each_lane(mask, [&](int lane) { d.set(lane, from_bits<D>(value >> lane & 1 ? kTrue<D> : Bits<D>{0})); });
}

/// D: what a half of the result is (uint16_t: 0xffff).
template <class D, class T, bool kFlush>
void set_pair(RegisterFile& file, const Instr& in, LaneMask mask) {
  const Source<Pair<T>> a(file, in, 1), b(file, in, 2);
  Destination<Pair<D>> d(file, in, 0);
  const LaneMask with = is_combined(in) ? in.predicate(file, 3) : 0;
  const int relations = relations_of(in);
  const auto half = [&](int lane, T x, T y) {
    const LaneMask holds_here = holds(relations, flush_if<kFlush>(x), flush_if<kFlush>(y));
    return from_bits<D>(combine(combine_of(in), holds_here, with >> lane & 1) & 1 ? kTrue<D> : Bits<D>{0});
  };
  for_each_lane(mask, [&](int lane) {
    const Pair<T> x = a[lane], y = b[lane];
    d.set(lane, {half(lane, x.low, y.low), half(lane, x.high, y.high)});
  });
}

/// f(name, relations) for each comparison of a type.
template <class F>
void for_each_integer_comparison(bool ordered, F&& f) {
  f("eq", std::integral_constant<int, kEqual>{});
  f("ne", std::integral_constant<int, kLess | kGreater>{});
  if (!ordered) return;
  f("lt", std::integral_constant<int, kLess>{});
  f("le", std::integral_constant<int, kLess | kEqual>{});
  f("gt", std::integral_constant<int, kGreater>{});
  f("ge", std::integral_constant<int, kGreater | kEqual>{});
}
template <class F>
void for_each_unsigned_comparison(F&& f) {
  f("lo", std::integral_constant<int, kLess>{});
  f("ls", std::integral_constant<int, kLess | kEqual>{});
  f("hi", std::integral_constant<int, kGreater>{});
  f("hs", std::integral_constant<int, kGreater | kEqual>{});
}
template <class F>
void for_each_float_comparison(F&& f) {
  for_each_integer_comparison(true, f);
  f("equ", std::integral_constant<int, kEqual | kUnordered>{});
  f("neu", std::integral_constant<int, kLess | kGreater | kUnordered>{});
  f("ltu", std::integral_constant<int, kLess | kUnordered>{});
  f("leu", std::integral_constant<int, kLess | kEqual | kUnordered>{});
  f("gtu", std::integral_constant<int, kGreater | kUnordered>{});
  f("geu", std::integral_constant<int, kGreater | kEqual | kUnordered>{});
  f("num", std::integral_constant<int, kLess | kEqual | kGreater>{});
  f("nan", std::integral_constant<int, kUnordered>{});
}

constexpr std::string_view kCombineNames[] = {"", ".and", ".or", ".xor"};

/// With each of the ways to combine it with a predicate.
void add_combined(FormTable& table, const std::string& start, const std::string& types, AluFunction function,
                  int relations, const std::vector<Type>& written, const std::vector<Type>& read) {
  for (uint32_t how = 0; how < 4; ++how) {
    std::vector<Type> operands = read;
    if (how != 0) operands.push_back(Type::pred);
    table.add(start + std::string(kCombineNames[how]) + types, function, written, operands).aux =
        aux_of(how, relations);
  }
}

template <class T, class D, bool kFlush>
void add_set_to(FormTable& table, const std::string& op, int relations, Type type, Type result) {
  add_combined(table, "set." + op + (kFlush ? ".ftz" : ""),
               "." + std::string(name(result)) + "." + std::string(name(type)), &set<D, T, kFlush>, relations,
               {result}, {type, type});
}

template <class T, bool kFlush, int kRelations>
void add_comparison(FormTable& table, const std::string& op, Type type) {
  add_combined(table, "setp." + op + (kFlush ? ".ftz" : ""), "." + std::string(name(type)),
               setp_function<T, kRelations, kFlush>(), kRelations, {Type::pred, Type::pred}, {type, type});
  add_set_to<T, uint32_t, kFlush>(table, op, kRelations, type, Type::u32);
  add_set_to<T, uint32_t, kFlush>(table, op, kRelations, type, Type::s32);
  if constexpr (!std::is_same_v<T, F16> && !std::is_same_v<T, Bf16>) {
    add_set_to<T, float, kFlush>(table, op, kRelations, type, Type::f32);
  } else {
    add_set_to<T, uint16_t, kFlush>(table, op, kRelations, type, Type::u16);
    add_set_to<T, uint16_t, kFlush>(table, op, kRelations, type, Type::s16);
  }
  add_set_to<T, F16, kFlush>(table, op, kRelations, type, Type::f16);
  add_set_to<T, Bf16, kFlush>(table, op, kRelations, type, Type::bf16);
}

template <class T>
void add_integer_type(FormTable& table, Type type, bool ordered) {
  for_each_integer_comparison(
      ordered, [&](const std::string& op, auto r) { add_comparison<T, false, r.value>(table, op, type); });
  if constexpr (std::is_unsigned_v<T>)
    if (ordered)
      for_each_unsigned_comparison(
          [&](const std::string& op, auto r) { add_comparison<T, false, r.value>(table, op, type); });
}
template <class T, bool kFlush>
void add_float_type(FormTable& table) {
  for_each_float_comparison(
      [&](const std::string& op, auto r) { add_comparison<T, kFlush, r.value>(table, op, TypeOf<T>::value); });
}
template <class T, bool kFlush>
void add_pair_type(FormTable& table) {
  const Type type = TypeOf<Pair<T>>::value;
  const std::string t = "." + std::string(name(type));
  for_each_float_comparison([&](const std::string& op, auto r) {
    constexpr int kRelations = r.value;
    const std::string how = op + (kFlush ? ".ftz" : "");
    add_combined(table, "setp." + how, t, &setp_pair<T, kFlush>, kRelations, {Type::pred, Type::pred},
                 {type, type});
    add_combined(table, "set." + how, t + t, &set_pair<T, T, kFlush>, kRelations, {type}, {type, type});
    add_combined(table, "set." + how, ".u32" + t, &set_pair<uint16_t, T, kFlush>, kRelations, {Type::u32},
                 {type, type});
    add_combined(table, "set." + how, ".s32" + t, &set_pair<uint16_t, T, kFlush>, kRelations, {Type::s32},
                 {type, type});
  });
}

struct Selp {
  template <class T>
  T operator()(T a, T b, bool p) const {
    return p ? a : b;
  }
};
struct SlctS32 {
  template <class T>
  T operator()(T a, T b, int32_t c) const {
    return c >= 0 ? a : b;
  }
};
template <bool kFlush>
struct SlctF32 {
  template <class T>
  T operator()(T a, T b, float c) const {
    return flush_if<kFlush>(c) >= 0 ? a : b;
  }
};

template <class T>
void add_selections(FormTable& table, std::initializer_list<const char*> types) {
  for (const char* type : types) {
    const std::string t = std::string(".") + type;
    table.add_wide<Selp, T, T, T, bool>("selp" + t);
    table.add<SlctS32, T, T, T, int32_t>("slct" + t + ".s32");
    table.add<SlctF32<false>, T, T, T, float>("slct" + t + ".f32");
    table.add<SlctF32<true>, T, T, T, float>("slct.ftz" + t + ".f32");
  }
}

}  // namespace

void add_comparison_forms(FormTable& table) {
  add_integer_type<uint16_t>(table, Type::b16, false), add_integer_type<uint32_t>(table, Type::b32, false);
  add_integer_type<uint64_t>(table, Type::b64, false);
  add_integer_type<uint16_t>(table, Type::u16, true), add_integer_type<uint32_t>(table, Type::u32, true);
  add_integer_type<uint64_t>(table, Type::u64, true);
  add_integer_type<int16_t>(table, Type::s16, true), add_integer_type<int32_t>(table, Type::s32, true);
  add_integer_type<int64_t>(table, Type::s64, true);
  add_float_type<float, false>(table), add_float_type<float, true>(table);
  add_float_type<double, false>(table);
  add_float_type<F16, false>(table), add_float_type<F16, true>(table);
  add_float_type<Bf16, false>(table);
  add_pair_type<F16, false>(table), add_pair_type<F16, true>(table);
  add_pair_type<Bf16, false>(table);
  add_selections<uint16_t>(table, {"b16", "u16", "s16"});
  add_selections<uint32_t>(table, {"b32", "u32", "s32"});
  add_selections<float>(table, {"f32"});
  add_selections<uint64_t>(table, {"b64", "u64", "s64"});
  add_selections<double>(table, {"f64"});
}

}  // namespace sm100::ptx

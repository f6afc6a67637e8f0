// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/device_calls.h"

#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace sm100::sim {

namespace {

constexpr uint32_t kLongestString = 65536;

/// The arguments of a call, one after the other.
class Arguments {
 public:
  Arguments(const ReadGeneric& read, uint64_t address) : read_(read), address_(address) {}

  /// Of `bytes` bytes; nullopt: it may not be read.
  std::optional<uint64_t> next(uint32_t bytes) {
    address_ = (address_ + bytes - 1) / bytes * bytes;
    const uint8_t* at = read_(address_, bytes);
    address_ += bytes;
    ++count_;
    if (!at) return std::nullopt;
    uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    return value;
  }
  int count() const { return count_; }

 private:
  const ReadGeneric& read_;
  uint64_t address_;
  int count_ = 0;
};

/// "%-08.3ld": flags, width and precision as C has them, without the size, which follows from the value's type.
struct Conversion {
  std::string how = "%";
  int longs = 0;  ///< l, ll
  char letter = 0;
};

class Formatter {
 public:
  Formatter(const ReadGeneric& read, std::string_view format, uint64_t arguments)
      : read_(read), rest_(format), arguments_(read, arguments) {}

  std::optional<Printed> run() {
    while (!rest_.empty()) {
      const size_t percent = rest_.find('%');
      text_ += rest_.substr(0, percent);
      if (percent == std::string_view::npos) break;
      rest_.remove_prefix(percent + 1);
      if (!conversion()) return std::nullopt;
    }
    return Printed{std::move(text_), arguments_.count()};
  }

 private:
  char take() {
    const char c = rest_.empty() ? '\0' : rest_.front();
    if (!rest_.empty()) rest_.remove_prefix(1);
    return c;
  }
  bool next_is(std::string_view any) const { return !rest_.empty() && any.find(rest_.front()) != any.npos; }

  /// Digits, or a star: the next argument says it.
  bool number(Conversion& c) {
    if (next_is("*")) {
      take();
      const auto value = arguments_.next(4);
      if (!value) return false;
      c.how += std::to_string(int32_t(*value));
    }
    while (next_is("0123456789")) c.how += take();
    return true;
  }

  bool conversion() {
    Conversion c;
    while (next_is("-+ #0")) c.how += take();
    if (!number(c)) return false;
    if (next_is(".")) {
      c.how += take();
      if (!number(c)) return false;
    }
    while (next_is("hlLzjt")) c.longs += take() != 'h';
    c.letter = take();
    return print(c);
  }

  bool print(const Conversion& c) {
    if (c.letter == '%') return text_ += '%', true;
    const bool wide = c.longs > 0;
    switch (c.letter) {
      case 'd':
      case 'i': {
        const auto v = arguments_.next(wide ? 8 : 4);
        if (v) text_ += fmt::sprintf(c.how + "lld", wide ? (long long)(*v) : (long long)(int32_t(*v)));
        return v.has_value();
      }
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        const auto v = arguments_.next(wide ? 8 : 4);
        if (v) text_ += fmt::sprintf(c.how + "ll" + c.letter, (unsigned long long)(*v));
        return v.has_value();
      }
      case 'c': {
        const auto v = arguments_.next(4);
        if (v) text_ += fmt::sprintf(c.how + "c", char(*v));
        return v.has_value();
      }
      case 'p': {
        const auto v = arguments_.next(8);
        if (v) text_ += fmt::sprintf(c.how + "s", fmt::format("{:#x}", *v));
        return v.has_value();
      }
      case 's': {
        const auto v = arguments_.next(8);
        if (!v) return false;
        const auto s = *v == 0 ? std::string("(null)") : read_string(read_, *v);
        if (s) text_ += fmt::sprintf(c.how + "s", *s);
        return s.has_value();
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        const auto v = arguments_.next(8);
        if (v) text_ += fmt::sprintf(c.how + c.letter, std::bit_cast<double>(*v));
        return v.has_value();
      }
      default:  // as it stands
        text_ += c.how;
        if (c.letter) text_ += c.letter;
        return true;
    }
  }

  const ReadGeneric& read_;
  std::string_view rest_;
  Arguments arguments_;
  std::string text_;
};

}  // namespace

DeviceFunction device_function(std::string_view name) {
  if (name == "vprintf") return DeviceFunction::printf;
  return name == "__assertfail" ? DeviceFunction::assertion : DeviceFunction::none;
}

std::string call_missing(const ptx::Call& call) {
  const size_t arguments = call.arguments.size();
  switch (device_function(call.callee)) {
    case DeviceFunction::printf: return arguments == 2 ? "" : "vprintf of other than two arguments";
    case DeviceFunction::assertion: return arguments == 5 ? "" : "__assertfail of other than five arguments";
    default: return fmt::format("a call of {}, which the module has no body of", call.callee);
  }
}

std::optional<std::string> read_string(const ReadGeneric& read, uint64_t address) {
  std::string text;
  for (uint32_t i = 0; i < kLongestString; ++i) {
    const uint8_t* c = read(address + i, 1);
    if (!c) return std::nullopt;
    if (*c == 0) return text;
    text += char(*c);
  }
  return text;
}

std::optional<Printed> format_printf(const ReadGeneric& read, uint64_t format, uint64_t arguments) {
  const auto text = read_string(read, format);
  if (!text) return std::nullopt;
  return Formatter(read, *text, arguments).run();
}

DeviceCall::DeviceCall(const ptx::Call& call, ptx::RegisterFile& file, int lane, uint8_t* own, uint64_t own_bytes)
    : call_(call), file_(file), lane_(lane), own_(own), own_bytes_(own ? own_bytes : 0) {}

std::optional<std::string> DeviceCall::print(const ReadGeneric& read) const {
  const auto printed = format_printf(read, argument(0), argument(1));
  if (!printed) return std::nullopt;
  set_result(uint32_t(printed->arguments));
  return printed->text;
}

std::string DeviceCall::assertion(const ReadGeneric& read) const {
  const auto text = [&](size_t i) { return read_string(read, argument(i)).value_or("?"); };
  return fmt::format("assertion '{}' failed: {}:{}, {}", text(0), text(1), uint32_t(argument(2)), text(3));
}

/// The symbol's row holds its offset among the .param variables.
uint64_t DeviceCall::argument(size_t i) const {
  const ptx::Operand& o = call_.arguments[i];
  uint64_t value = o.lane_value(file_, lane_);
  if (o.kind != ptx::Operand::Kind::symbol) return value;
  const uint64_t offset = std::exchange(value, 0);
  if (offset < own_bytes_) std::memcpy(&value, own_ + offset, size_t(std::min<uint64_t>(8, own_bytes_ - offset)));
  return value;
}

void DeviceCall::set_result(uint32_t value) const {
  if (call_.results.empty()) return;
  const ptx::Operand& o = call_.results[0];
  if (o.kind == ptx::Operand::Kind::reg) return o.set_lane(file_, lane_, value);
  const uint64_t offset = o.lane_value(file_, lane_);
  if (o.kind == ptx::Operand::Kind::symbol && offset + 4 <= own_bytes_) std::memcpy(own_ + offset, &value, 4);
}

}  // namespace sm100::sim

// SPDX-License-Identifier: Apache-2.0
// What the instructions say of themselves, against each other and against the PTX of the device side.
#include "kernels/isa/instructions/catalogue.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "paths.h"

namespace sm100::instructions {
namespace {

/// The device side's sources with the pieces of string literals put together.
std::string device_side() {
  std::string text;
  for (const char* folder : {"/kernels/isa/sm100", "/kernels/isa/sm90"})
    for (const auto& entry : std::filesystem::directory_iterator(source_dir() + folder)) {
      std::ifstream file(entry.path());
      text.append(std::istreambuf_iterator<char>(file), {});
    }
  REQUIRE(!text.empty());
  text = std::regex_replace(text, std::regex("//[^\n]*"), "");
  text = std::regex_replace(text, std::regex(R"(\\[nt])"), " ");
  text = std::regex_replace(text, std::regex(R"(" *#(rank|repetitions|shape) *")"), "N");
  return std::regex_replace(text, std::regex("\"[ \\\\\n]*\""), "");
}

/// Every opcode of the text that begins so, with all its modifiers.
std::set<std::string> spellings(const std::string& text, std::string_view opcode) {
  const auto part_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == ':';
  };
  std::set<std::string> all;
  for (size_t at = text.find(opcode); at != std::string::npos; at = text.find(opcode, at + 1)) {
    const char after = text[at + opcode.size()];
    if (part_of_word(text[at - 1]) || std::isalnum(static_cast<unsigned char>(after)) || after == '_') continue;
    size_t end = at;
    while (part_of_word(text[end])) ++end;
    all.insert(text.substr(at, end - at));
  }
  return all;
}

/// PTX: .sync and .aligned; bar.sync and bar.arrive are barrier.sync.aligned and barrier.arrive.aligned.
bool all_lanes_together(const std::string& spelling) {
  return spelling.find(".sync") != std::string::npos || spelling.find(".aligned") != std::string::npos ||
         spelling.rfind("bar.", 0) == 0;
}

TEST_CASE("an instruction wants all lanes together where the device side emits .sync or .aligned",
          "[instructions]") {
  const std::string device = device_side();
  for_each_instruction([&]<class I>(Type<I>) {
    CAPTURE(I::kIs.function, I::kIs.opcode);
    const std::set<std::string> found = spellings(device, I::kIs.opcode);
    CHECK(!found.empty());
    for (const std::string& spelling : found) {
      CAPTURE(spelling);
      CHECK(all_lanes_together(spelling) == I::kIs.aligned);
    }
  });
}

TEST_CASE("what a fault may add to is an operand of the instruction, or the value that it returns",
          "[instructions]") {
  for_each_instruction([&]<class I>(Type<I>) {
    for (const std::string_view operand : I::kIs.add) {
      CAPTURE(I::kIs.function, operand);
      const bool result =
          operand == "value" && (I::kIs.faults == Alterable::poll || I::kIs.faults == Alterable::read);
      CHECK((operand.empty() || result || has_operand<I>(operand)));
    }
  });
}

TEST_CASE("overloads of an Isa function are altered alike", "[instructions]") {
  std::map<std::string_view, Description> known;
  for_each_instruction([&]<class I>(Type<I>) {
    CAPTURE(I::kIs.function);
    const Description& first = known.try_emplace(I::kIs.function, I::kIs).first->second;
    CHECK(first.faults == I::kIs.faults);
    CHECK(first.add == I::kIs.add);
    CHECK(first.each_lane == I::kIs.each_lane);
    CHECK(I::kIs.function.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos);
  });
}

TEST_CASE("every instruction has a line in the list of what is modelled", "[instructions]") {
  for_each_instruction([&]<class I>(Type<I>) {
    CAPTURE(I::kIs.function);
    CHECK(std::size(I::kSupport) > 0);
    for (const SupportLine& line : I::kSupport) CHECK(line.support != Support::rejected);
  });
}

}  // namespace
}  // namespace sm100::instructions

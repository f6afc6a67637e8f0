// SPDX-License-Identifier: Apache-2.0
// Sources that are compiled as one (cmake/Units.cmake): a name in an anonymous namespace of one may not be in
// another's, where the compiler would take whichever fits.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "catch.h"
#include "paths.h"

using namespace sm100;

namespace {

namespace fs = std::filesystem;

/// What a source defines in its anonymous namespaces, in lines that begin with it.
std::set<std::string> own_names(const fs::path& file) {
  static const std::regex function(R"((?:template <.*> )?(?:\[\[\w+\]\] )?[A-Za-z_][\w:<>,&* ]*[ *&](\w+)\(.*)"),
      type(R"((?:struct|class|enum|enum class) (\w+)\b.*|using (\w+) = .*)"),
      constant(R"((?:static |inline )?(?:constexpr|const) [\w:<>,* ]+ (\w+)(?:\[.*\])?(?: =|\{).*)");
  std::set<std::string> names;
  std::ifstream in(file);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("namespace {", 0) == 0) inside = true;
    if (line.rfind("}  // namespace", 0) == 0) inside = false;
    std::smatch found;
    if (!inside || line.rfind("namespace", 0) == 0 || line.rfind("using namespace", 0) == 0) continue;
    for (const std::regex* kind : {&type, &constant, &function})
      if (std::regex_match(line, found, *kind)) {
        names.insert(found[1].matched ? found[1] : found[2]);
        break;
      }
  }
  return names;
}

}  // namespace

TEST_CASE("No two sources that are compiled as one have a name of their own in common") {
  int units = 0;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(fs::path(sm100sim_binary()).parent_path())) {
    if (entry.path().extension() != ".cxx" || entry.path().parent_path().filename() != "Unity") continue;
    ++units;
    std::map<std::string, fs::path> by;
    std::ifstream unit(entry.path());
    for (std::string line; std::getline(unit, line);) {
      if (line.rfind("#include \"", 0) != 0) continue;
      const fs::path source = line.substr(10, line.size() - 11);
      for (const std::string& own : own_names(source)) {
        const auto [other, fresh] = by.emplace(own, source);
        INFO(own << " is in " << other->second << " and in " << source);
        CHECK(fresh);
      }
    }
  }
  if (units == 0) SM100_SKIP("each source is compiled alone");
}

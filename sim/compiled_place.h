// SPDX-License-Identifier: Apache-2.0
/// Places of code that a compiler has made: a line of PTX, and the line of the source that it comes from.  A Loc
/// has room for one place; that of PTX with line information is the source's, its column the line of the PTX, and
/// its function is one of the texts that are kept here, which know the rest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa/portability.h"

namespace sm100::sim {

/// A line of a source; the file with its folders.
struct SourceLine {
  std::string file{};
  unsigned line = 0;
  bool operator==(const SourceLine&) const = default;
};

/// Where an instruction of a PTX file comes from.
struct CompiledPlace {
  SourceLine source{};                   ///< line 0: the file has no line information
  SourceLine ptx{};                      ///< line 0: it is no instruction of a PTX file
  std::vector<SourceLine> inlined_at{};  ///< the calls that it was inlined at, the innermost first
  /// How many calls further out the line is that tells the instruction from others: the outermost that has no other
  /// instruction with an effect, so of a function that wraps one the line that calls it. 0: the source itself does.
  size_t telling = 0;

  const SourceLine& telling_line() const { return telling == 0 ? source : inlined_at[telling - 1]; }
  bool operator==(const CompiledPlace&) const = default;
};

/// The text that a Loc of PTX has as its function: it lives as long as the process.
const char* compiled_function(std::string_view function, std::string_view ptx_file,
                              std::vector<SourceLine> inlined_at = {});

/// Says that an instruction has this place, whose function is such a text.
void note_compiled(const Loc& loc);

/// The Loc is of PTX.
bool is_compiled(const Loc& loc);
/// Of a Loc that no front end for compilers has made: the source alone.
CompiledPlace place_of(const Loc& loc);

/// "gemm.cu:143"
std::string source_text(const SourceLine& at);

/// The line's text without the blanks around it, where the source file is there; files are read once.
std::string text_at(const SourceLine& at);

/// From now on line_of names the calls that a place was inlined at.
void name_inlining(bool named);
bool names_inlining();

}  // namespace sm100::sim

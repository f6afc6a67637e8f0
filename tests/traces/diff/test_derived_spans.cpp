// SPDX-License-Identifier: Apache-2.0
// A story that trace points have recorded beside the same one with spans that were derived: what PTX cannot know is
// no difference, what both know is.

#include <algorithm>

#include "catch.h"
#include "traces/diff/diff.h"
#include "traces/diff_story.h"

namespace sm100::traces {
namespace {

/// As derived spans would tell it: no set-up, no tiles, no k steps, work without its stage.
Story derived(Story s) {
  s.metadata.configuration = R"({"kernel":"matmul","stages":3,"swizzle":128,"spans":"derived"})";
  for (StoryRole& role : s.roles) {
    std::erase_if(role.events,
                  [](const StoryEvent& e) { return e.kind == SpanKind::setup || e.kind == SpanKind::tile; });
    for (StoryEvent& e : role.events) {
      e.args.tile_m = e.args.tile_n = e.args.tile_k = -1;
      if (e.kind != SpanKind::wait) e.args.stage = -1, e.args.phase = -1, e.pipeline.clear();
    }
  }
  return s;
}

bool mentions(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& l) { return l.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("Derived spans beside recorded ones of the same run are the same story", "[diff]") {
  for (const bool first : {true, false}) {
    const Trace a = first ? derived(story()).record() : story().record();
    const Trace b = first ? story().record() : derived(story()).record();
    const TraceDiff diff = diff_traces(a, b);
    CHECK(diff.structure.identical());
    CHECK(diff.structure.events_compared > 0);
    CHECK(mentions(diff.structure.not_compared, "setup of"));
    CHECK(mentions(diff.structure.not_compared, "tiles, of which derived spans know nothing"));
    CHECK(mentions(diff.notes, first ? "the spans of A are derived" : "the spans of B are derived"));
  }
}

TEST_CASE("A wait that is missing beside recorded spans is a difference", "[diff]") {
  Story s = derived(story());
  std::vector<StoryEvent>& load = s.load(1);
  const auto wait =
      std::find_if(load.begin() + 4, load.end(), [](const StoryEvent& e) { return e.kind == SpanKind::wait; });
  REQUIRE(wait != load.end());
  load.erase(wait);
  const TraceDiff diff = diff_traces(s.record(), story().record());
  REQUIRE(diff.structure.divergences.size() == 1);
  CHECK(diff.structure.divergences[0].role == "load");
}

TEST_CASE("Two traces of derived spans are compared as they are", "[diff]") {
  const TraceDiff diff = diff_traces(derived(story()).record(), derived(story()).record());
  CHECK(diff.structure.identical());
  CHECK(mentions(diff.notes, "the spans of both are derived"));
  CHECK_FALSE(mentions(diff.structure.not_compared, "tiles"));
}

}  // namespace sm100::traces

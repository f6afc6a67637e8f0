// SPDX-License-Identifier: Apache-2.0
// A fault in the text of PTX does what the simulator does to the instruction: a launch with the fault, and the
// edited text without it, end alike.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// What a run says, as far as both must say it.
struct Verdict {
  std::string outcome;
  std::set<std::string> ids;       ///< of findings
  std::set<std::string> barriers;  ///< that they name
  bool operator==(const Verdict&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Verdict& v) {
  out << v.outcome;
  for (const auto& id : v.ids) out << ' ' << id;
  for (const auto& barrier : v.barriers) out << ' ' << barrier;
  return out;
}

Verdict verdict_of(const Ran& ran) {
  INFO(ran.err);
  const auto json = nlohmann::json::parse(ran.out);
  Verdict v{.outcome = json["outcome"], .ids = {}, .barriers = {}};
  for (const auto& finding : json["findings"]) {
    v.ids.insert(finding["id"]);
    if (finding.contains("barrier") && finding["barrier"].is_string()) v.barriers.insert(finding["barrier"]);
  }
  return v;
}

/// A launch file of the Hopper GEMM, and faults in it.
class Launch {
 public:
  explicit Launch(std::string file) : source_(scenario_dir() + "/" + file) {
    where_.write("gemm.ptx", read_whole(source_.substr(0, source_.rfind('.')) + ".ptx"));
  }
  Ran with(const std::string& faults, const std::string& options) {
    where_.write("faulty.toml", read_whole(source_) + faults);
    return run(where_, "run faulty.toml --provenance off " + options);
  }
  /// In front of the block that waits for the barrier at that address.
  void put_before_wait(const std::string& address, const std::string& text) {
    std::string ptx = read_whole(where_ / "gemm.ptx");
    const size_t wait = ptx.find("done, " + address);
    REQUIRE(wait != std::string::npos);
    ptx.insert(ptx.rfind("{\n.reg .pred done;", wait), text);
    where_.write("gemm.ptx", ptx);
  }
  Ran edited(const std::string& faults) {
    const Ran written = with(faults, "--write-ptx edited.ptx");
    INFO(written.err);
    REQUIRE(written.exit_code == 0);
    where_.write("edited.toml", read_whole(source_));
    return run(where_, "run edited.toml --provenance off --set problem.ptx=edited.ptx --json -");
  }

 private:
  std::string source_;
  ScratchDirectory where_;
};

std::string fault(const std::string& lines) { return "\n[[fault]]\n" + lines + "\n"; }

}  // namespace

TEST_CASE("PTX with a fault in its text ends as PTX with the fault") {
  const std::string of = GENERATE(
      "instruction = \"mbarrier_try_wait_parity\"\nrole = \"consumer 0\"\naction = \"flip_parity\"",
      "instruction = \"mbarrier_try_wait_parity\"\nrole = \"producer\"\noccurrence = 5\naction = \"flip_parity\"",
      "instruction = \"mbarrier_try_wait_parity\"\nrole = \"producer\"\nfrom = 6\naction = \"drop\"",
      "instruction = \"mbarrier_init\"\noccurrence = 1\naction = \"add\"\nvalue = 1",
      "instruction = \"mbarrier_init\"\noccurrence = 2\naction = \"drop\"",
      "instruction = \"mbarrier_arrive_expect_tx\"\noccurrence = 3\naction = \"add\"\noperand = \"bytes\"\nvalue = "
      "16",
      "instruction = \"mbarrier_arrive_expect_tx\"\noccurrence = 3\naction = \"drop\"",
      "instruction = \"mbarrier_arrive_expect_tx\"\noccurrence = 3\naction = \"duplicate\"\nvalue = 2",
      "instruction = \"mbarrier_arrive\"\nrole = \"consumer 0\"\nwarp = 4\noccurrence = 2\naction = \"drop\"",
      "instruction = \"mbarrier_arrive\"\nrole = \"consumer 0\"\naction = \"duplicate\"\nvalue = 2",
      "instruction = \"mbarrier_arrive\"\nrole = \"consumer 1\"\noccurrence = 1\naction = \"add\"\noperand = "
      "\"barrier\"\nvalue = 8",
      "instruction = \"cp_async_bulk_tensor_shared_global\"\noccurrence = 4\naction = \"drop\"",
      "instruction = \"cp_async_bulk_tensor_shared_global\"\noccurrence = 4\naction = \"add\"\noperand = "
      "\"x\"\nvalue = 64",
      "instruction = \"cp_async_bulk_tensor_shared_global\"\ncta = 2\noccurrence = 4\naction = \"add\"\noperand = "
      "\"y\"\nvalue = 64",
      "instruction = \"cp_async_bulk_tensor_shared_global\"\noccurrence = 4\naction = \"add\"\noperand = "
      "\"smem\"\nvalue = 1024",
      "instruction = \"wgmma_mma_async\"\nrole = \"consumer 0\"\noccurrence = 5\naction = \"add\"\noperand = "
      "\"b\"\nvalue = 32",
      "instruction = \"wgmma_wait_group\"\naction = \"drop\"",
      "instruction = \"wgmma_commit_group\"\noccurrence = 2\naction = \"drop\"",
      "instruction = \"mbarrier_arrive\"\nrole = \"consumer 0\"\noccurrence = 2\naction = \"delay\"\nvalue = 3000",
      "line = 310\nwarp = 5\naction = \"drop\"");
  INFO(of);
  Launch launch("hopper/gemm.toml");
  const Ran altered = launch.with(fault(of), "--json -");
  CHECK(verdict_of(launch.edited(fault(of))) == verdict_of(altered));
}

// The text holds no wait, so a finding cannot name its barrier.
TEST_CASE("A wait that is dropped from the text of PTX is missed alike") {
  const std::string of =
      fault("instruction = \"mbarrier_try_wait_parity\"\nrole = \"consumer 1\"\noccurrence = 3\naction = \"drop\"");
  Launch launch("hopper/gemm.toml");
  CHECK(verdict_of(launch.with(of, "--json -")).ids == std::set<std::string>{"TM5"});
  CHECK(verdict_of(launch.edited(of)).ids == std::set<std::string>{"TM5"});
}

// A look is a try_wait outside of a loop; the simulator's faults mean waits.
TEST_CASE("A look at a barrier is no wait that a fault means") {
  Launch launch("hopper/gemm.toml");
  launch.put_before_wait(
      "[%r310]", "{\n.reg .pred looked;\nmbarrier.try_wait.parity.shared::cta.b64 looked, [%r310], %r475;\n}\n");
  const std::string of =
      fault("instruction = \"mbarrier_try_wait_parity\"\nrole = \"producer\"\nfrom = 6\naction = \"drop\"");
  CHECK(verdict_of(launch.edited(of)).ids == verdict_of(launch.with(of, "--json -")).ids);
}

TEST_CASE("Two faults stand in one text") {
  const std::string both =
      fault("instruction = \"mbarrier_arrive_expect_tx\"\noccurrence = 3\naction = \"add\"\nvalue = 16") +
      fault("instruction = \"mbarrier_arrive_expect_tx\"\noccurrence = 3\naction = \"add\"\nvalue = -16");
  Launch launch("hopper/gemm.toml");
  CHECK(verdict_of(launch.edited(both)).outcome == "pass");
}

TEST_CASE("Without faults --write-ptx writes the text as it is") {
  ScratchDirectory where;
  const std::string launch = scenario_dir() + "/hopper/gemm.toml";
  const Ran ran = run(where, "run " + launch + " --write-ptx -");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out == read_whole(scenario_dir() + "/hopper/gemm.ptx"));
}

TEST_CASE("The option --write-ptx says what has no PTX, and what cannot be written as PTX") {
  ScratchDirectory where;
  const Ran role_code = run(where, "run " + scenario_dir() + "/hopper/cooperative.toml --write-ptx x.ptx");
  CHECK(role_code.exit_code == 2);
  CHECK_THAT(role_code.err,
             Catch::Contains("its warps execute role code, not PTX; run.ptx and run.ptx_entry name"));
  Launch launch("hopper/gemm.toml");
  const Ran lanes =
      launch.with(fault("instruction = \"mbarrier_arrive\"\nrole = \"consumer 0\"\naction = \"all_lanes\""),
                  "--write-ptx x.ptx");
  CHECK(lanes.exit_code == 2);
  CHECK_THAT(lanes.err, Catch::Contains("not implemented: ") &&
                            Catch::Contains("fault all_lanes of mbarrier_arrive in the text of PTX"));
}

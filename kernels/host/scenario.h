// SPDX-License-Identifier: Apache-2.0
/// A scenario: which kernel on which problem, configuration and device, and what is expected of it.
/// The same file drives `sm100sim run` and `sm100-run`.  Format: docs/user-guide.md.
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/host/delay.h"
#include "kernels/host/fault.h"
#include "kernels/host/kernel_definition.h"
#include "models/profiles/profile.h"

namespace sm100::host {

/// Bad input: a line for each thing that is wrong, most often one, with file, line, key, value and what is allowed.
/// The program exits with 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& line) : InputError(std::vector{line}) {}
  explicit InputError(const std::vector<std::string>& lines);
  const std::vector<std::string>& lines() const { return *lines_; }  ///< what() is all of them

 private:
  std::shared_ptr<const std::vector<std::string>> lines_;  // shared: copying an exception must not throw
};

enum class DataMode { full, none };
/// What L2 holds when the kernel starts: nothing, all of the input, or lines of others that must be written back
/// first (then no address translation is at hand either).
enum class L2State { cold, warm, dirty };
/// Which scopes of mbarrier arrives and waits are looked at: those that an instruction states, or, as PTX has it to
/// the letter, also `.cta` where it states none.
enum class Scopes { stated, strict };
/// Whether a run keeps where its numbers come from: when a result is wrong the run is repeated to find out, never,
/// always.
enum class ProvenanceMode { automatic, off, on };
/// The SM clock of a run: a number of GHz; what the chip holds when the run is repeated for seconds (`power`) or
/// once on a chip that was idle (`single`), both from what the run does (models/sm_clock.h).
enum class ClockMode { fixed, power, single };
/// How the tensor core adds: `fast` sums in f32 through Eigen, `b200` is the bit-exact model (reference 4.4).
enum class Numerics { fast, b200 };

/// What a scenario states about its own outcome (bug scenarios name their diagnosis).
struct Expectation {
  bool stated = false;           ///< the scenario has an [expect] table
  std::string outcome = "pass";  ///< pass, mismatch, hang, findings
  std::optional<std::string> id, barrier, role;
  std::optional<std::string> warning;  ///< id of one of the run's warnings
  std::optional<int> stage, phase;
  std::string slow;  ///< why `sm100sim check` leaves it out unless it is told otherwise; empty: it does not
};

/// A tensor that a launch reads as another launch's output.
struct LaunchInput {
  std::string tensor;  ///< "A"
  int launch = 0;      ///< position of the one that writes it
};

/// A [[launch]] of a scenario that launches several kernels.
struct LaunchSpec {
  std::string name;
  const KernelDefinition* kernel = nullptr;
  std::any problem;  ///< [launch.problem] and [launch.config], as the kernel has read them
  int stream = 0;
  std::vector<int> after;   ///< launches behind which events are recorded that its stream waits for before it
  std::optional<bool> pdl;  ///< programmatic stream serialization; absent: as the kernel's configuration says
  int registers = 0;        ///< of a thread; 0: not known
  std::vector<LaunchInput> inputs;
};

struct PtxFile;

struct Scenario {
  std::filesystem::path path;
  std::vector<std::string> overrides;  ///< "table.key=value" strings it was loaded with
  std::string name;                    ///< file name without extension
  std::string description;             ///< one line; empty: none
  std::string sound;                   ///< a bug's twin without its faults: path beside this file, without .toml
  std::vector<LaunchSpec>
      launch_list;  ///< the [[launch]] tables, in the order of the host's calls; empty: one kernel
  const KernelDefinition* kernel = nullptr;  ///< of the first launch
  std::string profile;                       ///< "b200"
  std::any problem;  ///< [problem] and [config], as the kernel has read them; of the first launch
  DataMode data = DataMode::full;
  Numerics numerics = Numerics::fast;
  L2State l2 = L2State::cold;
  ClockMode clock = ClockMode::fixed;  ///< fixed: device.device.sm_clock_ghz
  int sms = 0;                         ///< 0: all of the profile's
  int launches = 1;                    ///< of the kernel, in stream order, or in the list
  std::string feed;     ///< what each launch reads the output of the one before as; empty: it does not
  int ctas_per_sm = 1;  ///< CTAs that an SM holds at most; 0: as many as fit
  int registers = 0;    ///< of a thread, as ptxas reports; 0: not known, they limit nothing
  std::shared_ptr<const PtxFile> ptx;  ///< compiled PTX of the kernel, executed in place of its role code
  bool hand_out_descending = false;    ///< clusters are launched and cancelled from the grid's last to its first
  uint64_t seed = 1;                   ///< of the operand values
  std::optional<uint64_t> jitter;      ///< seed of perturbed latencies; absent: none
  uint64_t max_cycles = 0;             ///< 0: no budget
  bool hazards = true;                 ///< check that something orders conflicting accesses
  Scopes scopes = Scopes::stated;
  ProvenanceMode provenance = ProvenanceMode::automatic;
  bool recorder = false;             ///< charge the trace points with what the device recorder costs
  double recorder_first_cycles = 0;  ///< and a warp's first event with so much more
  std::vector<FaultSpec> faults;
  std::vector<DelaySpec> delays;
  Expectation expect;
  std::vector<std::string> warnings;  ///< legal, but hardly meant; lines as InputError's
  models::DeviceProfile device;       ///< the loaded profile, with overrides applied

  /// [problem] and [config] as the type that the scenario's kernel reads; throws std::bad_any_cast if it is
  /// another's.
  template <class Problem>
  const Problem& problem_as() const {
    return std::any_cast<const Problem&>(problem);
  }
  template <class Problem>
  Problem& problem_as() {
    return std::any_cast<Problem&>(problem);
  }
  int sms_in_run() const { return sms > 0 ? sms : device.device.sms; }
  /// CTAs that a persistent kernel launches: as many as are to run at once.  With ctas_per_sm = "hardware" one per
  /// SM.
  int persistent_ctas() const { return sms_in_run() * std::max(1, ctas_per_sm); }

  /// JSON text of kernel, problem and configuration, for --json.
  std::string configuration_json() const;
  /// The same and the values of [run] that timing depends on, for trace metadata.
  std::string trace_configuration_json() const;
};

/// Reads and checks a scenario. `overrides` are "table.key=value" strings from --set, applied before
/// checking. Throws InputError.
Scenario load_scenario(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});

/// Reads a device profile by name ("b200") from the profile directory, or from a path ending in .toml.
models::DeviceProfile load_profile(const std::string& name);

/// Names of the profiles that load_profile accepts.
std::vector<std::string> list_profiles();

}  // namespace sm100::host

// SPDX-License-Identifier: Apache-2.0
#include "exec/session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "exec/device_memory.h"
#include "exec/given_ptx.h"
#include "exec/library_folder.h"
#include "exec/modules.h"
#include "exec/program_file.h"
#include "exec/protocol.h"
#include "exec/save_launch.h"
#include "exec/worker.h"
#include "models/gpu.h"
#include "models/occupancy.h"
#include "ptx/cpp_names.h"
#include "sim/ptx/module_image.h"
#include "sim/text.h"

namespace sm100::exec {
namespace {

using host::InputError;

constexpr int kPollMilliseconds = 200;

class Session {
 public:
  explicit Session(const SessionOptions& options)
      : options_(options),
        memory_(uint64_t{180} << 30),
        given_(options.ptx),
        program_(find_program(options.command.front())) {}
  ~Session();

  SessionResult run();

 private:
  void start();
  [[noreturn]] void become_program(int socket, pid_t parent);
  /// False: the program has ended, or is nobody's that we know.
  bool wait_for_request();
  bool program_ended();
  bool answer();

  /// The program's library is the program's: it may say anything.
  void check_in_device(const Block& block) const {
    if (block.address < kDeviceBase || block.address - kDeviceBase > memory_.bytes() ||
        block.bytes > memory_.bytes() - (block.address - kDeviceBase))
      throw std::runtime_error("an allocation is not in device memory");
  }
  Writer hello(Reader& request);
  Writer add_module(Reader& request);
  Writer place_variables(Reader& request);
  Writer describe_entry(Reader& request);
  Writer list_entries(Reader& request);
  Writer occupancy(Reader& request);
  Writer launch(Reader& request);
  void moved(Reader& request);
  /// A piece of work is over that may have run beside others.
  /// @param launch  its name, "launch 3"; empty: it is none
  /// @param what    the kernel, "a copy to the host"
  void look_for_races(const std::string& launch, const std::string& what, const WorkOrder& order,
                      Footprint footprint);
  /// The entry that a request names; nullptr: there is none.
  const ptx::Entry* read_entry(Reader& request, Launch& launch);
  LaunchOutcome carry_out_launch(const Launch& launch);

  const SessionOptions& options_;
  const DeviceMemory memory_;
  GivenPtx given_;
  const std::filesystem::path program_;
  Modules modules_;
  SessionResult result_;
  int socket_ = -1, numbered_ = 0;
  std::map<uint64_t, std::string> last_of_stream_;  ///< names of launches
  StreamHistory history_;
  std::map<uint64_t, uint64_t> allocations_;  ///< address -> bytes, those that the program's library has told of
  std::set<std::string> raced_;               ///< kinds of work that have been told, each pair once
  bool said_incomplete_ = false;
  pid_t process_ = -1;
  std::optional<int> status_;  ///< of the program, once it has ended
};

Session::~Session() {
  if (process_ > 0 && !status_) kill(process_, SIGKILL), waitpid(process_, nullptr, 0);
  if (socket_ >= 0) close(socket_);
}

// ---------------------------------------------------------------- the program

void Session::start() {
  check_program(program_);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw InputError(fmt::format("exec: no socket can be made: {}", std::strerror(errno)));
  std::fflush(nullptr);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw InputError(fmt::format("exec: no process can be started: {}", std::strerror(errno)));
  if (process_ == 0) become_program(ends[1], parent);
  close(ends[1]);
  socket_ = ends[0];
}

void Session::become_program(int socket, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGFPE, SIGBUS, SIGPIPE}) std::signal(signal, SIG_DFL);
  const int own_socket = dup(socket), own_memory = dup(memory_.file());  // without the flag that closes them
  setenv(kVariable, fmt::format("{},{},{}", own_socket, own_memory, memory_.bytes()).c_str(), 1);
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  const std::string folder = library_folder().string();
  setenv("LD_LIBRARY_PATH", before && *before ? fmt::format("{}:{}", folder, before).c_str() : folder.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : options_.command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(program_.c_str(), arguments.data());
  const std::string line = fmt::format("exec: {}: {}\n", program_.string(), std::strerror(errno));
  [[maybe_unused]] const ssize_t n = write(2, line.data(), line.size());
  _exit(127);
}

bool Session::program_ended() {
  int status = 0;
  if (!status_ && waitpid(process_, &status, WNOHANG) == process_) status_ = status;
  return status_.has_value();
}

bool Session::wait_for_request() {
  for (;;) {
    pollfd one{socket_, POLLIN, 0};
    const int ready = poll(&one, 1, kPollMilliseconds);
    if (ready > 0) return (one.revents & POLLIN) != 0;
    if (ready < 0 && errno != EINTR) return false;
    if (program_ended()) return false;
  }
}

SessionResult Session::run() {
  start();
  while (wait_for_request() && answer()) {}
  if (!status_) {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
    status_ = status;
  }
  for (const std::filesystem::path& path : given_.unused()) {
    result_.refused = true;
    options_.say(fmt::format("--ptx {}: the program has loaded no module with an entry of it", path.string()));
  }
  result_.program_exit = WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_);
  return result_;
}

// ---------------------------------------------------------------- what its library asks

bool Session::answer() {
  Header header;
  std::string body;
  if (!receive_message(socket_, header, body)) return false;
  Reader request(std::move(body));
  Writer reply;
  try {
    switch (Request(header.request)) {
      case Request::hello: reply = hello(request); break;
      case Request::module: reply = add_module(request); break;
      case Request::variables: reply = place_variables(request); break;
      case Request::entry: reply = describe_entry(request); break;
      case Request::entries: reply = list_entries(request); break;
      case Request::occupancy: reply = occupancy(request); break;
      case Request::launch: reply = launch(request); break;
      case Request::calls:
        for (uint32_t left = request.get<uint32_t>(); left > 0; --left) options_.called(request.text());
        break;
      case Request::moved: moved(request); break;
      case Request::freed: {
        const Block block = request.get<Block>();
        history_.forget(block), allocations_.erase(block.address);
        break;
      }
      case Request::measured: options_.measured(request.get<double>()); break;
      case Request::note: options_.say(request.text()); break;
      case Request::refusal:
        result_.refused = true;
        options_.say(fmt::format("{}: {}", program_.string(), request.text()));
        break;
      default: throw std::runtime_error(fmt::format("request {} is unknown", header.request));
    }
  } catch (const std::runtime_error& error) {
    result_.refused = true;
    options_.say(
        fmt::format("{}: its runtime library is not that of this sm100sim: {}", program_.string(), error.what()));
    return false;
  }
  return send_message(socket_, Request(0), reply);
}

Writer Session::hello(Reader& request) {
  if (request.get<uint32_t>() != kProtocolVersion) throw std::runtime_error("it is of another version");
  result_.connected = true;
  const models::DeviceProfile& profile = options_.device.device;
  DeviceFacts facts;
  const std::string name = fmt::format("sm100sim model of {}", profile.name);
  std::memcpy(facts.name, name.data(), std::min(name.size(), sizeof facts.name - 1));
  facts.memory_bytes = memory_.bytes(), facts.l2_bytes = uint64_t(profile.memory.l2_mib) << 20;
  facts.compute_capability = uint32_t(profile.device.compute_capability);
  facts.sms = uint32_t(options_.device.sms_in_run());
  facts.clock_khz = uint32_t(profile.device.sm_clock_ghz * 1e6);
  facts.smem_bytes_per_sm = uint32_t(profile.device.smem_bytes_per_sm);
  facts.smem_bytes_per_cta = uint32_t(profile.device.smem_bytes_per_cta_max);
  facts.registers_per_sm = uint32_t(profile.device.registers_per_sm);
  facts.threads_per_sm = uint32_t(profile.device.threads_per_sm);
  facts.ctas_per_sm = uint32_t(profile.device.ctas_per_sm);
  facts.fresh_byte = options_.fresh_zeros ? 0 : 0xff;
  facts.records_calls = options_.recorded, facts.has_ptx = !given_.empty();
  facts.names_streams = names_streams(program_);
  return Writer().put(facts);
}

Writer Session::add_module(Reader& request) {
  Writer reply;
  try {
    const std::string own = request.text();
    const GivenPtx::File* const given = given_.for_module(own);
    if (own.empty() && !given) throw std::runtime_error("a module has no PTX");
    const uint32_t number = given ? modules_.add(given->text, given->path.string(), true)
                                  : modules_.add(own, program_.filename().string());
    for (uint32_t left = request.get<uint32_t>(); left > 0; --left) {
      const std::string entry = request.text();
      modules_.set_registers(number, entry, request.get<uint32_t>());
    }
    const auto module = modules_.module(number);
    reply.put(uint8_t{1}).put(number).put(uint64_t{sim::lay_out_variables(*module, kDeviceBase).bytes});
  } catch (const ptx::PtxError& error) {
    result_.refused = true;
    options_.say(fmt::format("the PTX of {} cannot be read: {}", program_.string(), error.what()));
    reply.put(uint8_t{0});
  }
  return reply;
}

Writer Session::place_variables(Reader& request) {
  const auto module = modules_.module(request.get<uint32_t>());
  const uint64_t base = request.get<uint64_t>();
  if (!module) throw std::runtime_error("variables of no module");
  const sim::VariableLayout layout = sim::lay_out_variables(*module, base);
  check_in_device({base, layout.bytes});
  const std::vector<const ptx::Variable*> all = sim::variables_with_address(*module);
  Writer reply;
  reply.put(uint32_t(all.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<uint8_t> bytes = sim::initial_bytes(*module, *all[i], layout.addresses);
    if (!bytes.empty()) std::memcpy(reinterpret_cast<void*>(layout.addresses[i]), bytes.data(), bytes.size());
    reply.text(all[i]->name).put(layout.addresses[i]).put(uint64_t{all[i]->bytes});
  }
  return reply;
}

const ptx::Entry* Session::read_entry(Reader& request, Launch& launch) {
  const uint32_t number = request.get<uint32_t>();
  launch.module = modules_.module(number);
  const std::string name = request.text();
  launch.registers = modules_.registers(number, name);
  const int entry = launch.module ? find_entry(*launch.module, name) : -1;
  if (entry < 0) return nullptr;
  launch.entry = size_t(entry);
  return &launch.code();
}

namespace {
/// Of a thread, by the machine code, else by the entry's directives; 0: not known.
int registers_of(const Launch& launch) {
  return launch.registers > 0 ? launch.registers : host::stated_registers(*launch.module, launch.code());
}
}  // namespace

Writer Session::describe_entry(Reader& request) {
  Launch launch;
  const ptx::Entry* const entry = read_entry(request, launch);
  if (!entry) return Writer().put(uint8_t{0});
  EntryFacts facts = facts_of(*launch.module, *entry);
  facts.registers = uint32_t(registers_of(launch));
  return Writer().put(uint8_t{1}).put(facts).list(parameters_of(*entry));
}

Writer Session::list_entries(Reader& request) {
  const auto module = modules_.module(request.get<uint32_t>());
  if (!module) throw std::runtime_error("entries of no module");
  std::vector<std::string_view> names;
  for (const ptx::Entry& entry : module->entries)
    if (!entry.external) names.push_back(entry.name);
  Writer reply;
  reply.put(uint32_t(names.size()));
  for (const std::string_view name : names) reply.text(name);
  return reply;
}

Writer Session::occupancy(Reader& request) {
  Launch launch;
  const ptx::Entry* const entry = read_entry(request, launch);
  const Shape shape = request.get<Shape>();
  int ctas = 0, clusters = 0;
  if (entry) {
    const EntryFacts facts = facts_of(*launch.module, *entry);
    const uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
    const models::CtaResources cta{int((threads + 31) / 32), facts.static_smem_bytes + shape.dynamic_smem_bytes,
                                   registers_of(launch)};
    ctas = models::occupancy(cta, options_.device.device).ctas;
    const int of_cluster = int(std::max(1u, shape.cluster[0] * shape.cluster[1] * shape.cluster[2]));
    const int sms = options_.device.sms_in_run(), of_gpc = options_.device.device.device.gpc_sms;
    clusters = ctas * (sms / of_gpc * (of_gpc / of_cluster) + sms % of_gpc / of_cluster);  // each within a GPC
  }
  return Writer().put(ctas).put(clusters);
}

// ---------------------------------------------------------------- launches

namespace {
/// By the check that has ended the launch, the last one.
LaunchFault fault_of(const sim::RunResult& result) {
  if (result.findings.empty()) return LaunchFault::other;
  const std::string& id = result.findings.back().id;
  return id == "TR2"   ? LaunchFault::assertion
         : id == "GM1" ? LaunchFault::illegal_address
         : id == "GM2" ? LaunchFault::misaligned_address
                       : LaunchFault::other;
}
}  // namespace

Writer Session::launch(Reader& request) {
  Launch launch;
  if (!read_entry(request, launch)) throw std::runtime_error("a launch names no entry");
  launch.number = ++numbered_;
  launch.shape = request.get<Shape>();
  launch.parameters = request.list<uint8_t>();
  launch.memory = request.list<Block>();
  launch.variables = request.list<Block>();
  launch.order = request.order();
  for (const Block& block : launch.memory) check_in_device(block);
  std::string& last = last_of_stream_[launch.shape.stream];
  if (launch.shape.programmatic) launch.ahead = last;
  last = launch.name();
  if (launch.order.watched)
    for (const Block& block : launch.memory) allocations_[block.address] = block.bytes;
  LaunchOutcome outcome = carry_out_launch(launch);
  if (launch.order.watched)
    look_for_races(launch.name(), ptx::function_name(std::string(launch.code().name)), launch.order,
                   std::move(outcome.footprint));
  LaunchReply reply;
  reply.refused = outcome.bad_launch, reply.carried_out = outcome.carried_out;
  if (!outcome.carried_out) reply.fault = uint8_t(fault_of(outcome.result));
  reply.nanoseconds = outcome.result.microseconds * 1e3;
  result_.launches += outcome.carried_out;
  return Writer().put(reply);
}

void Session::moved(Reader& request) {
  const std::string what = request.text();
  const WorkOrder order = request.order();
  Footprint footprint;
  for (const Block& block : request.list<Block>()) footprint.add(block, false);
  for (const Block& block : request.list<Block>()) footprint.add(block, true);
  for (const Block& block : request.list<Block>()) allocations_[block.address] = block.bytes;
  look_for_races("", what, order, std::move(footprint));
}

namespace {
std::string stream_name(uint64_t stream) {
  return stream == 0 ? "the default stream" : fmt::format("stream {}", stream);
}
/// "bytes 0 to 4,095 of the allocation of 8,192 at 0x2000..."
std::string place_of(const Race& race, const std::map<uint64_t, uint64_t>& allocations) {
  const auto behind = allocations.upper_bound(race.address);
  if (behind == allocations.begin() || race.address - std::prev(behind)->first >= std::prev(behind)->second)
    return fmt::format("at {:#x}", race.address);
  const auto& [address, bytes] = *std::prev(behind);
  const uint64_t first = race.address - address;
  return fmt::format("bytes {} to {} of the allocation of {} at {:#x}", sim::grouped(int64_t(first)),
                     sim::grouped(int64_t(first + race.bytes - 1)), sim::grouped(int64_t(bytes)), address);
}
}  // namespace

void Session::look_for_races(const std::string& launch, const std::string& what, const WorkOrder& order,
                             Footprint footprint) {
  const std::string name = launch.empty() ? fmt::format("{} ({})", what, stream_name(order.stream))
                                          : fmt::format("{} ({}, {})", launch, what, stream_name(order.stream));
  const std::vector<Race> races = history_.add(name, what, order, std::move(footprint));
  if (history_.incomplete() && !std::exchange(said_incomplete_, true))
    options_.say(
        "the program's streams have too much work that nobody has waited for: whether all of it is ordered "
        "was not looked at");
  for (const Race& race : races) {
    if (!raced_.insert(race.kinds).second) continue;  // launches of a loop
    sim::Finding finding;
    finding.id = "GD2", finding.message = race.text(place_of(race, allocations_));
    finding.cause = "nothing orders work of two streams";
    options_.raced(finding);
  }
}

LaunchOutcome Session::carry_out_launch(const Launch& launch) {
  host::Scenario scenario = options_.device;
  LaunchOutcome outcome;
  try {
    if (!options_.save.empty()) save_launch(options_.save, launch, options_.device);
    scenario = scenario_of(launch, options_.device, memory_);
    outcome = carry_out(launch, scenario, options_.recorded, [&](const LaunchProgress& progress) {
      options_.running(launch, progress);
      return !program_ended();
    });
  } catch (const InputError& error) { outcome.error = error.what(), outcome.bad_launch = true; }
  options_.launched(launch, outcome, scenario);
  return outcome;
}

}  // namespace

SessionResult run_program(const SessionOptions& options) { return Session(options).run(); }

}  // namespace sm100::exec

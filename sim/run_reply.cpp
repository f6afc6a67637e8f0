// SPDX-License-Identifier: Apache-2.0
#include "sim/run_reply.h"

#include <exception>
#include <vector>

#include "kernels/host/scenario.h"

namespace sm100::sim {
namespace {

Json reply_json(const std::function<RunResult(Json& beside)>& run) {
  try {
    Json beside;
    const RunResult result = run(beside);
    return {{"result", result}, {"beside", beside}};
  } catch (const host::InputError& error) {
    return {{"input_error", error.what()}};
  } catch (const std::exception& error) { return {{"internal_error", error.what()}}; }
}

}  // namespace

std::string RunReply::error(const std::string& process) const {
  if (!died.empty()) return process + " " + died;
  return input_error.empty() ? internal_error : input_error;
}

/// CBOR, not text: numbers that are none and any bytes of a text arrive as they are.
std::string bytes_of_run(const std::function<RunResult(Json& beside)>& run) {
  const std::vector<uint8_t> cbor = Json::to_cbor(reply_json(run));
  return {cbor.begin(), cbor.end()};
}

RunReply reply_of(const ProcessPool::Finished& finished) {
  RunReply reply;
  const Json json = finished.died.empty() ? Json::from_cbor(finished.bytes, true, false) : Json();
  if (!finished.died.empty())
    reply.died = "ended with " + finished.died;
  else if (!json.is_object())
    reply.died = "sent no result";
  else if (json.contains("result"))
    json.at("result").get_to(reply.result), reply.beside = json.at("beside");
  else
    reply.input_error = json.value("input_error", ""), reply.internal_error = json.value("internal_error", "");
  return reply;
}

}  // namespace sm100::sim

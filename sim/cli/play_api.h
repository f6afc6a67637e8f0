// SPDX-License-Identifier: Apache-2.0
/// The requests that `sm100sim play` answers, as functions of a request: who may ask, and what for.
///
///   GET  /              the page; the token is in the query
///   GET  /report        the page of `sm100sim export` for the states in the query
///   GET  /api/menu      the scenarios
///   POST /api/run       a run of a state (sim/cli/play_session.h)
///
/// Everything else, and everybody without the token, is refused before anything else is looked at.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "sim/cli/json_output.h"

namespace sm100::sim::cli {

struct PlayRequest {
  std::string method, path;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::map<std::string, std::string> query;
  std::string body;

  std::string header(const std::string& name) const;
};

struct PlayResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::map<std::string, std::string> headers{};
};

/// Asks the process that has the session: "menu", "run" or "report", and the request's JSON.  Returns a response.
using PlayAsk = std::function<PlayResponse(const std::string& what, const std::string& body)>;

class PlayApi {
 public:
  /// @param token   that a request must have
  /// @param ticket  opens the page once and is worth nothing afterwards: what the browser's command line shows
  PlayApi(std::string token, std::string ticket, int port, std::string page, PlayAsk ask);

  PlayResponse answer(const PlayRequest& request);
  /// Whether it comes from our page and has the token; its body is not looked at.
  bool admits(const PlayRequest& request) const;

 private:
  bool is_ours(const PlayRequest& request) const;
  bool redeem(const PlayRequest& request);
  PlayResponse route(const PlayRequest& request);

  const std::string token_;
  std::string ticket_;  ///< empty: it has been used
  std::mutex ticket_mutex_;
  const int port_;
  const std::string page_;
  const PlayAsk ask_;
};

constexpr size_t kPlayLargestBody = 64 * 1024;

/// Takes as long for any text of the same length.
bool same_secret(std::string_view a, std::string_view b);
/// 32 hexadecimal digits of the system's random numbers.
std::string new_secret();

}  // namespace sm100::sim::cli

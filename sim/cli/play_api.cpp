// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play_api.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <stdexcept>

namespace sm100::sim::cli {
namespace {

constexpr const char* kTokenHeader = "x-sm100sim-token";

PlayResponse refusal(int status, const std::string& sentence) {
  return {.status = status, .body = sentence + "\n"};
}

std::string of_query(const PlayRequest& request, const std::string& key) {
  const auto found = request.query.find(key);
  return found == request.query.end() ? "" : found->second;
}

bool is_known(const std::string& path) {
  return path == "/" || path == "/report" || path == "/api/menu" || path == "/api/run";
}

}  // namespace

std::string PlayRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = difference | unsigned(uint8_t(a[i]) ^ uint8_t(b[i]));
  return difference == 0;
}

std::string new_secret() {
  std::array<uint8_t, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != ssize_t(bytes.size()))
    throw std::runtime_error("the system has no random numbers");
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

PlayApi::PlayApi(std::string token, std::string ticket, int port, std::string page, PlayAsk ask)
    : token_(std::move(token)),
      ticket_(std::move(ticket)),
      port_(port),
      page_(std::move(page)),
      ask_(std::move(ask)) {}

/// Names other than the loopback's are somebody's DNS entry, other origins somebody's page.
bool PlayApi::is_ours(const PlayRequest& request) const {
  const std::string names[] = {fmt::format("127.0.0.1:{}", port_), fmt::format("localhost:{}", port_)};
  const auto is_one = [&](const std::string& text, const std::string& before) {
    return text == before + names[0] || text == before + names[1];
  };
  if (!is_one(request.header("host"), "")) return false;
  if (request.headers.contains("origin") && !is_one(request.header("origin"), "http://")) return false;
  const std::string site = request.header("sec-fetch-site");
  return site.empty() || site == "same-origin" || site == "none";
}

bool PlayApi::redeem(const PlayRequest& request) {
  const std::scoped_lock lock(ticket_mutex_);
  if (ticket_.empty() || !same_secret(of_query(request, "ticket"), ticket_)) return false;
  ticket_.clear();
  return true;
}

bool PlayApi::admits(const PlayRequest& request) const {
  // Pages are opened by their address; all else is asked by the page, whose header no other page can send.
  const bool is_page = request.method == "GET" && (request.path == "/" || request.path == "/report");
  const std::string secret = is_page ? of_query(request, "token") : request.header(kTokenHeader);
  return is_ours(request) && same_secret(secret, token_);
}

PlayResponse PlayApi::answer(const PlayRequest& request) {
  if (!is_ours(request))
    return refusal(403,
                   fmt::format("Refused: this server answers its own page only, at http://127.0.0.1:{}.", port_));
  if (request.method == "GET" && request.path == "/" && request.query.contains("ticket")) {
    if (!redeem(request))
      return refusal(403, "Refused: this address opens the page once; sm100sim play has printed another.");
    PlayResponse there{.status = 303};
    there.headers["Location"] = "/?token=" + token_;
    return there;
  }
  if (!admits(request))
    return refusal(403, "Refused: this needs the token of the address that sm100sim play has printed.");
  if (!is_known(request.path)) return refusal(404, "There is nothing here.");
  return route(request);
}

PlayResponse PlayApi::route(const PlayRequest& request) {
  const std::string wanted = request.path == "/api/run" ? "POST" : "GET";
  if (request.method != wanted) {
    PlayResponse response = refusal(405, fmt::format("{} takes {}.", request.path, wanted));
    response.headers["Allow"] = wanted;
    return response;
  }
  if (request.path == "/") {
    PlayResponse page{.type = "text/html; charset=utf-8", .body = page_};
    page.headers["Content-Security-Policy"] =
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src "
        "'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    return page;
  }
  if (request.path == "/api/menu") return ask_("menu", "{}");
  if (request.path == "/report") {
    PlayResponse page = ask_("report", of_query(request, "request"));
    page.headers["Content-Security-Policy"] =
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri "
        "'none'; "
        "form-action 'none'; frame-ancestors 'none'";
    return page;
  }
  if (!request.header("content-type").starts_with("application/json"))
    return refusal(415, "A run is asked for as application/json.");
  if (request.body.size() > kPlayLargestBody) return refusal(413, "A request has at most 64 KiB.");
  return ask_("run", request.body);
}

}  // namespace sm100::sim::cli

// SPDX-License-Identifier: Apache-2.0
// Who gets an answer from `sm100sim play`, and what everybody else gets: requests as values, without a socket.
#include <map>
#include <string>
#include <vector>

#include "catch.h"
#include "sim/cli/play_api.h"

using namespace sm100::sim::cli;

namespace {

constexpr int kPort = 40123;
const std::string kToken = "0123456789abcdef0123456789abcdef", kTicket = "fedcba9876543210fedcba9876543210";

struct Api {
  std::vector<std::string> asked;
  PlayApi api{kToken, kTicket, kPort, "<html>the page</html>",
              [this](const std::string& what, const std::string& body) {
                asked.push_back(what + " " + body);
                return PlayResponse{.type = "application/json", .body = "{}"};
              }};
};

PlayRequest get(const std::string& path, std::map<std::string, std::string> query = {}) {
  return {.method = "GET", .path = path, .headers = {{"host", "127.0.0.1:40123"}}, .query = query, .body = ""};
}
PlayRequest post(const std::string& body, const std::string& token = kToken) {
  return {
      .method = "POST",
      .path = "/api/run",
      .headers = {{"host", "127.0.0.1:40123"}, {"x-sm100sim-token", token}, {"content-type", "application/json"}},
      .query = {},
      .body = body};
}

}  // namespace

TEST_CASE("play: with the token the page, the menu, the report and a run are there", "[play]") {
  Api here;
  const PlayResponse page = here.api.answer(get("/", {{"token", kToken}}));
  CHECK(page.status == 200);
  CHECK(page.body == "<html>the page</html>");
  CHECK_THAT(page.headers.at("Content-Security-Policy"), Catch::Contains("default-src 'none'"));
  CHECK_THAT(page.headers.at("Content-Security-Policy"), Catch::Contains("connect-src 'self'"));
  const PlayResponse report = here.api.answer(get("/report", {{"token", kToken}, {"request", "{\"a\":1}"}}));
  CHECK(report.status == 200);
  CHECK_THAT(report.headers.at("Content-Security-Policy"), !Catch::Contains("connect-src"));
  PlayRequest menu = get("/api/menu");
  menu.headers["x-sm100sim-token"] = kToken;
  CHECK(here.api.answer(menu).status == 200);
  CHECK(here.api.answer(post("{\"state\":1}")).status == 200);
  CHECK(here.asked == std::vector<std::string>{"report {\"a\":1}", "menu {}", "run {\"state\":1}"});
}

TEST_CASE("play: nobody without the token learns anything", "[play]") {
  Api here;
  const std::string sentence = "Refused: this needs the token of the address that sm100sim play has printed.\n";
  std::vector<PlayRequest> requests = {get("/"),
                                       get("/", {{"token", ""}}),
                                       get("/", {{"token", kToken + "0"}}),
                                       get("/", {{"token", "0123456789abcdef0123456789abcdee"}}),
                                       get("/report"),
                                       get("/api/menu"),
                                       get("/api/menu", {{"token", kToken}}),
                                       get("/etc/passwd"),
                                       get("/../../etc/passwd"),
                                       post("{}", ""),
                                       post("{}", "x")};
  for (const PlayRequest& request : requests) {
    CAPTURE(request.method, request.path);
    const PlayResponse response = here.api.answer(request);
    CHECK(response.status == 403);
    CHECK(response.body == sentence);
    CHECK(response.headers.empty());
    CHECK_FALSE(here.api.admits(request));
  }
  CHECK(here.asked.empty());
}

TEST_CASE("play: other hosts and other pages are refused, token or not", "[play]") {
  Api here;
  const auto with = [&](const std::string& header, const std::string& value) {
    PlayRequest request = post("{}");
    request.headers[header] = value;
    return here.api.answer(request).status;
  };
  CHECK(with("host", "127.0.0.1:40123") == 200);
  CHECK(with("host", "localhost:40123") == 200);
  for (const char* host : {"", "evil.example", "evil.example:40123", "127.0.0.1", "127.0.0.1:40124",
                           "127.0.0.1:401234", "127.0.0.1.evil.example:40123", "[::1]:40123"}) {
    CAPTURE(host);
    CHECK(with("host", host) == 403);
  }
  CHECK(with("origin", "http://127.0.0.1:40123") == 200);
  for (const char* origin :
       {"null", "", "http://evil.example", "https://127.0.0.1:40123", "http://127.0.0.1:40124"}) {
    CAPTURE(origin);
    CHECK(with("origin", origin) == 403);
  }
  CHECK(with("sec-fetch-site", "same-origin") == 200);
  CHECK(with("sec-fetch-site", "none") == 200);
  CHECK(with("sec-fetch-site", "cross-site") == 403);
  CHECK(with("sec-fetch-site", "same-site") == 403);
}

TEST_CASE("play: the ticket on the browser's command line opens the page once", "[play]") {
  Api here;
  CHECK(here.api.answer(get("/", {{"ticket", kToken}})).status == 403);
  const PlayResponse first = here.api.answer(get("/", {{"ticket", kTicket}}));
  CHECK(first.status == 303);
  CHECK(first.headers.at("Location") == "/?token=" + kToken);
  CHECK(here.api.answer(get("/", {{"ticket", kTicket}})).status == 403);
  CHECK(here.api.answer(get("/", {{"ticket", ""}})).status == 403);
  CHECK(here.api.answer(get("/", {{"token", kTicket}})).status == 403);
}

TEST_CASE("play: with the token, what is not there says what is", "[play]") {
  Api here;
  const auto status = [&](PlayRequest request, const std::string& method, const std::string& path) {
    request.method = method, request.path = path;
    request.headers["x-sm100sim-token"] = kToken;
    return here.api.answer(request).status;
  };
  CHECK(status(get("/"), "GET", "/nowhere") == 404);
  CHECK(status(get("/"), "GET", "/api/run") == 405);
  CHECK(status(get("/"), "DELETE", "/") == 405);
  CHECK(status(get("/"), "HEAD", "/api/menu") == 405);
  PlayRequest form = post("{}");
  form.headers["content-type"] = "text/plain";
  CHECK(here.api.answer(form).status == 415);
  CHECK(here.api.answer(post(std::string(kPlayLargestBody + 1, ' '))).status == 413);
  CHECK(here.asked.empty());
}

TEST_CASE("play: secrets are long, new each time, and compared whole", "[play]") {
  CHECK(new_secret().size() == 32);
  CHECK(new_secret() != new_secret());
  CHECK(same_secret("ab", "ab"));
  CHECK_FALSE(same_secret("ab", "ac"));
  CHECK_FALSE(same_secret("ab", "a"));
  CHECK_FALSE(same_secret("", "a"));
}

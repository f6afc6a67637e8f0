// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <cctype>
#include <thread>

#include "kernels/host/scenario.h"

namespace sm100::sim::cli {
namespace {

PlayRequest request_of(const httplib::Request& from) {
  PlayRequest request{.method = from.method, .path = from.path, .headers = {}, .query = {}, .body = from.body};
  for (const auto& [name, value] : from.headers) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    // Of a header that is there twice neither is believed.
    const auto [place, is_new] = request.headers.emplace(lower, value);
    if (!is_new) place->second = "";
  }
  for (const auto& [name, value] : from.params) request.query.emplace(name, value);
  return request;
}

void fill(httplib::Response& to, const PlayResponse& response) {
  to.status = response.status;
  to.set_content(response.body, response.type);
  for (const auto& [name, value] : response.headers) to.set_header(name, value);
}

}  // namespace

struct PlayServer::Http {
  httplib::Server server;
  int port = 0;
  std::thread thread;
};

PlayServer::PlayServer(int port) : http_(std::make_unique<Http>()) {
  const char* const kHere = "127.0.0.1";
  httplib::Server& server = http_->server;
  // Without SO_REUSEPORT, which the library would set: no other process can listen beside us.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (port == 0)
    http_->port = server.bind_to_any_port(kHere);
  else
    http_->port = server.bind_to_port(kHere, port) ? port : -1;
  if (http_->port <= 0)
    throw host::InputError(port == 0
                               ? std::string("play: there is no free port on 127.0.0.1")
                               : fmt::format("--port {}: is taken; without --port any free one is used", port));
}

PlayServer::~PlayServer() { stop(); }

int PlayServer::port() const { return http_->port; }

void PlayServer::start(PlayApi& api) {
  httplib::Server& server = http_->server;
  server.set_payload_max_length(kPlayLargestBody);
  server.set_read_timeout(5);
  server.set_write_timeout(10);
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Cross-Origin-Opener-Policy", "same-origin"}});
  server.set_keep_alive_timeout(1);  // stop() waits for connections
  // All requests, whatever their method and path, are PlayApi's.  Of those that are admitted and have a body, it
  // has been read where the handler runs; nothing is read of others.
  const auto handler = [&api](const httplib::Request& from, httplib::Response& to) {
    fill(to, api.answer(request_of(from)));
  };
  server.Post("/api/run", handler);
  server.set_pre_routing_handler([&api, handler](const httplib::Request& from, httplib::Response& to) {
    if (from.method == "POST" && from.path == "/api/run" && api.admits(request_of(from)))
      return httplib::Server::HandlerResponse::Unhandled;
    handler(from, to);
    return httplib::Server::HandlerResponse::Handled;
  });
  http_->thread = std::thread([&server] { server.listen_after_bind(); });
}

void PlayServer::stop() {
  if (!http_->thread.joinable()) return;
  while (!http_->server.is_running()) std::this_thread::yield();  // stop() would be lost before
  http_->server.stop();
  http_->thread.join();
}

}  // namespace sm100::sim::cli

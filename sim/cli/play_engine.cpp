// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play_engine.h"

#include <fmt/format.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "kernels/host/toml_reader.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

bool send_all(int socket, const void* data, size_t size) {
  for (size_t at = 0; at < size;) {
    const ssize_t n = ::send(socket, static_cast<const char*>(data) + at, size - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += size_t(n);
  }
  return true;
}

bool receive_all(int socket, void* data, size_t size) {
  for (size_t at = 0; at < size;) {
    const ssize_t n = ::recv(socket, static_cast<char*>(data) + at, size - at, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += size_t(n);
  }
  return true;
}

/// A message is its length and a CBOR value.
bool send_message(int socket, const Json& json) {
  const std::vector<uint8_t> bytes = Json::to_cbor(json);
  const uint64_t size = bytes.size();
  return send_all(socket, &size, sizeof size) && send_all(socket, bytes.data(), bytes.size());
}
bool receive_message(int socket, Json& json) {
  uint64_t size = 0;
  if (!receive_all(socket, &size, sizeof size)) return false;
  std::string bytes(size, '\0');
  if (!receive_all(socket, bytes.data(), bytes.size())) return false;
  json = Json::from_cbor(bytes, true, false);
  return json.is_object();
}

PlayResponse json_response(const Json& json) {
  return {.type = "application/json", .body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

[[noreturn]] void serve(PlaySession& session, int socket) {
  Json question;
  while (receive_message(socket, question)) {
    const PlayResponse response =
        answer_of(session, question["what"].get<std::string>(), question["body"].get<std::string>());
    if (!send_message(socket, {{"status", response.status}, {"type", response.type}, {"body", response.body}}))
      break;
  }
  _exit(0);
}

}  // namespace

PlayResponse answer_of(PlaySession& session, const std::string& what, const std::string& body) {
  try {
    if (what == "menu") return json_response(session.menu());
    const Json request = Json::parse(body, nullptr, false);
    if (request.is_discarded()) return {.status = 400, .body = "A request is JSON.\n"};
    if (what == "run") return json_response(session.run(request));
    return {.type = "text/html; charset=utf-8", .body = session.report(request)};
  } catch (const InputError& error) {
    return {.status = 400, .body = one_line(error.lines().front()) + "\n"};
  } catch (const std::exception& error) {
    return {.status = 500,
            .body = one_line(fmt::format("internal error: {}; please report it", error.what())) + "\n"};
  }
}

PlayEngine::PlayEngine(PlaySession& session) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(fmt::format("cannot make a socket: {}", std::strerror(errno)));
  std::fflush(nullptr);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (process_ == 0) {
    close(ends[0]);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
#endif
    serve(session, ends[1]);
  }
  close(ends[1]);
  socket_ = ends[0];
}

PlayEngine::~PlayEngine() {
  close(socket_);
  kill(process_, SIGKILL);  // its runs end with it
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {}
}

PlayResponse PlayEngine::ask(const std::string& what, const std::string& body) {
  const std::scoped_lock lock(mutex_);
  Json answer;
  if (!send_message(socket_, {{"what", what}, {"body", body}}) || !receive_message(socket_, answer))
    return {.status = 500, .body = "The process that runs scenarios has ended; start sm100sim play again.\n"};
  return {.status = answer["status"], .type = answer["type"], .body = answer["body"]};
}

}  // namespace sm100::sim::cli

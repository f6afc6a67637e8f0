// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "sim/cli/play_api.h"
#include "sim/cli/play_engine.h"
#include "sim/cli/play_page.h"
#include "sim/cli/play_server.h"
#include "sim/cli/play_session.h"
#include "sim/cli/streams.h"
#include "sim/verdict.h"

extern char** environ;

namespace sm100::sim::cli {
namespace {

/// Starts the desktop's browser; false where there is none.
bool open_browser(const std::string& address) {
#ifdef __APPLE__
  const char* const opener = "open";
#else
  const char* const opener = "xdg-open";
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return false;
#endif
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  std::string words[] = {opener, address};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  pid_t process = -1;
  const bool started = posix_spawnp(&process, opener, &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  return started;
}

/// Signals that end the program wait for sigwait, in all threads that are started from now on.
sigset_t hold_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

}  // namespace

int play(const PlayOptions& options) {
  PlaySession session(options.scenario);
  PlayEngine engine(session);  // before there are threads
  const sigset_t signals = hold_signals();
  PlayServer server(options.port);
  const std::string token = new_secret(), ticket = new_secret();
  PlayApi api(token, ticket, server.port(), std::string(play_page()),
              [&](const std::string& what, const std::string& body) { return engine.ask(what, body); });
  server.start(api);
  const std::string here = fmt::format("http://127.0.0.1:{}/", server.port());
  fmt::print("{}?token={}\n", here, token);
  fmt::print("Ctrl-C ends it.  From another machine: ssh -L {0}:127.0.0.1:{0} HERE, and the same address.\n",
             server.port());
  std::fflush(stdout);
  if (!options.no_browser && !open_browser(here + "?ticket=" + ticket))
    say("play: no browser found to open; open the address above in one");
  int signal = 0;
  sigwait(&signals, &signal);
  server.stop();
  return kOk;
}

}  // namespace sm100::sim::cli

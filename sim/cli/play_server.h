// SPDX-License-Identifier: Apache-2.0
/// HTTP for `sm100sim play`: cpp-httplib on the loopback interface, and nothing else.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/cli/play_api.h"

namespace sm100::sim::cli {

class PlayServer {
 public:
  /// Takes a port of 127.0.0.1; 0: any that is free.  Throws InputError when it cannot be had.
  explicit PlayServer(int port);
  ~PlayServer();

  int port() const;
  /// Answers requests in threads of its own until stop().
  void start(PlayApi& api);
  void stop();

 private:
  struct Http;
  std::unique_ptr<Http> http_;
};

}  // namespace sm100::sim::cli

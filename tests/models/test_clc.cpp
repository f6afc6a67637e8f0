// SPDX-License-Identifier: Apache-2.0
// Cluster launch control alone (PTX 9.7.13.17).
#include "models/clc.h"

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {
constexpr uint32_t kBar = 0x400, kResponse = 0x410;

struct Bench {
  Bench() {
    smem.start_cta(4096, true);
    barrier.init(kBar, 1, {});
  }
  void cancel(uint32_t at = kResponse) {
    clc.try_cancel(requests, smem, at, kBar, now(), {}, [this](const ClcResponse& answer, const Source& by) {
      smem.store(kResponse, answer);
      barrier.complete_tx(kBar, sizeof answer, by);
    });
  }
  ClcResponse response() { return smem.load<ClcResponse>(kResponse); }

  DeviceProfile profile = b200();
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  SharedMemory smem;
  Mbarrier barrier{0, smem, profile, jitter, observer};
  Clc clc{sc_core::sc_gen_unique_name("clc"), profile, jitter, observer};
  ClcRequests requests;
};
}  // namespace

TEST_CASE("launch and cancel take from one set, each CTA once, x fastest, and then requests fail", "[clc]") {
  Bench b;
  b.clc.start_grid({2, 2, 1});
  CHECK(b.clc.take() == Dim3{0, 0, 0});
  std::vector<ClcResponse> responses;
  Stimulus requests([&] {
    for (int i = 0; i < 4; ++i) {
      b.barrier.arrive_expect_tx(kBar, 16, {});
      b.cancel();
      models::wait(5000);
      responses.push_back(b.response());
    }
  });
  sc_core::sc_start();
  REQUIRE(responses.size() == 4);
  CHECK(first_ctaid(responses[0]) == Dim3{1, 0, 0});
  CHECK(first_ctaid(responses[1]) == Dim3{0, 1, 0});
  CHECK(first_ctaid(responses[2]) == Dim3{1, 1, 0});
  CHECK(is_canceled(responses[2]));
  CHECK_FALSE(is_canceled(responses[3]));
  CHECK(b.barrier.find(kBar)->phase == 4);
  CHECK(b.clc.cancelled() == 3);
  CHECK_FALSE(b.clc.take().has_value());
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("a request after an observed failure is CL4, a misaligned response CL1", "[clc]") {
  Bench b;
  b.clc.start_grid({1, 1, 1});
  SECTION("CL4") {
    Clc::failure_observed(b.requests);
    b.cancel();
    CHECK(b.observer.violation_id() == "CL4");
  }
  SECTION("not after another CTA of the cluster has seen it: PTX names the executing CTA") {
    ClcRequests other{.slot = 1};
    Clc::failure_observed(other);
    b.cancel();
    CHECK(b.observer.violation_id() == "");
  }
  SECTION("CL1") {
    b.cancel(kResponse + 8);
    CHECK(b.observer.violation_id() == "CL1");
  }
}

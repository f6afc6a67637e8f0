// SPDX-License-Identifier: Apache-2.0
// The response of clusterlaunchcontrol.try_cancel (PTX 9.7.13.17).
#include "kernels/isa/clc_response.h"

#include "catch.h"

using namespace sm100;

TEST_CASE("Does a response carry the first CTA of the cancelled cluster? (PTX 9.7.13.17)", "[clc]") {
  for (uint32_t x : {2u, 4u}) {
    const ClcResponse success = make_clc_response(true, {x, 0, 0});
    CHECK(is_canceled(success));
    CHECK(first_ctaid(success) == Dim3{x, 0, 0});
  }
  CHECK_FALSE(is_canceled(make_clc_response(false, {6, 0, 0})));
}

TEST_CASE("Are the bits where the code of ptxas reads them? (PTX 9.7.13.17)", "[clc]") {
  const ClcResponse r = make_clc_response(true, {0x12345678, 0x9abc, 0xdef0});
  CHECK(r.lo == 0xdef09abc12345678);
  CHECK(r.hi == 1);
  CHECK(first_ctaid(r) == Dim3{0x12345678, 0x9abc, 0xdef0});
  CHECK(is_canceled(ClcResponse{0, 0xffffffffffffffff}));  // other bits are not looked at
  CHECK_FALSE(is_canceled(ClcResponse{0xffffffffffffffff, 0xfffffffffffffffe}));
  STATIC_REQUIRE(sizeof(ClcResponse) == 16);
  STATIC_REQUIRE(alignof(ClcResponse) == 16);
}

// SPDX-License-Identifier: Apache-2.0
#include "ptx/row_uses.h"

#include <algorithm>

namespace sm100::ptx {

bool has_result(std::string_view base) {
  constexpr std::string_view kWithResult[] = {
      "activemask",
      "alloca",
      "atom",
      "bar.cta.red",
      "bar.red",
      "barrier.cta.red",
      "barrier.red",
      "clusterlaunchcontrol.query_cancel",
      "createpolicy",
      "elect.sync",
      "getctarank",
      "istypep",
      "ldmatrix",
      "mapa",
      "match.all.sync",
      "match.any.sync",
      "match.sync",
      "mbarrier.arrive",
      "mbarrier.arrive_drop",
      "mbarrier.pending_count",
      "mbarrier.test_wait",
      "mbarrier.try_wait",
      "mma",
      "movmatrix",
      "multimem.ld_reduce",
      "redux.sync",
      "shfl",
      "shfl.sync",
      "stacksave",
      "tcgen05.ld",
      "vote",
      "vote.sync",
      "wmma.load",
      "wmma.mma",
  };
  return std::find(std::begin(kWithResult), std::end(kWithResult), base) != std::end(kWithResult);
}

}  // namespace sm100::ptx

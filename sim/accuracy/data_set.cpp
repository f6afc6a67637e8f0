// SPDX-License-Identifier: Apache-2.0
#include "sim/accuracy/data_set.h"

namespace sm100::sim {
namespace {

struct Replay {
  const char* id;
  std::vector<DataSet> (*run)(const AccuracyInputs&);
};
constexpr Replay kReplays[] = {{"umma", replay_umma},
                               {"tma", replay_tma},
                               {"multicast", replay_multicast},
                               {"mainloop", replay_mainloop},
                               {"matmul_v5", replay_matmul_v5}};

}  // namespace

std::vector<std::string> data_set_ids() {
  std::vector<std::string> ids;
  for (const Replay& r : kReplays) ids.emplace_back(r.id);
  return ids;
}

std::vector<DataSet> replay(const std::string& id, const AccuracyInputs& inputs) {
  for (const Replay& r : kReplays)
    if (id == r.id) return r.run(inputs);
  return {};
}

void predict(DataSet& set, const std::vector<RowFigures>& figures, double scale) {
  for (size_t i = 0; i < set.points.size(); ++i) {
    set.points[i].error = figures[i].error;
    if (figures[i].error.empty()) set.points[i].predicted = figures[i].figures[0] * scale;
  }
}

double error_of(const DataSet& set, const Point& point) {
  return set.absolute ? point.predicted - point.measured : point.predicted / point.measured - 1;
}

}  // namespace sm100::sim

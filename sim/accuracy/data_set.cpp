// SPDX-License-Identifier: Apache-2.0
#include "sim/accuracy/data_set.h"

namespace sm100::sim {
namespace {

struct Replay {
  const char* id;
  const char* device;
  std::vector<DataSet> (*run)(const AccuracyInputs&);
};
constexpr Replay kReplays[] = {{"umma", "b200", replay_umma},
                               {"tma", "b200", replay_tma},
                               {"multicast", "b200", replay_multicast},
                               {"mainloop", "b200", replay_mainloop},
                               {"matmul_v5", "b200", replay_matmul_v5},
                               {"h200_memory", "h200", replay_h200_memory},
                               {"h200_wgmma", "h200", replay_h200_wgmma}};

}  // namespace

std::vector<std::string> data_set_ids(const std::string& device) {
  std::vector<std::string> ids;
  for (const Replay& r : kReplays)
    if (device == r.device) ids.emplace_back(r.id);
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

// SPDX-License-Identifier: Apache-2.0
/// The measurements that the model is compared with, one data set per published table, and the runs that replay
/// them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/accuracy/row_replay.h"

namespace sm100::sim {

struct Point {
  std::string name;   ///< "BF16 SS 1 SM 128 x 256"
  std::string group;  ///< rows of a group are summed up together; empty: no groups
  double measured = 0, predicted = 0;
  double x = 0;       ///< where it stands in the plot
  std::string error;  ///< no prediction, because ...
};

struct DataSet {
  std::string id;       ///< "umma-latency"
  std::string title;    ///< "UMMA latency"
  std::string unit;     ///< of measured and predicted: "cycles"
  std::string source;   ///< file, and the scenario that replays it
  std::string replays;  ///< what is simulated and what of it is the figure
  std::string fitted;   ///< which constants of the profile were chosen with these rows in view; empty: none, all is
                        ///< predicted
  std::string x_label;  ///< of the plot
  bool log_axes = false;
  bool plot_ratio = false;  ///< simulated / measured over x, not both
  bool absolute = false;    ///< errors are differences in `unit`, not ratios
  std::vector<Point> points{};
};

/// Where measurements and scenarios are.
struct AccuracyInputs {
  std::filesystem::path measured;   ///< folder with b200/ and h200/
  std::filesystem::path scenarios;  ///< folder with accuracy/
  int jobs = 1;
  std::function<void(double, const std::string&)> progress = [](double, const std::string&) {};
};

/// Names of the data sets of a device, "b200" or "h200", in the order of the report.
std::vector<std::string> data_set_ids(const std::string& device);
/// Replays one; some ids give several tables.  Throws InputError when the measurements cannot be read.
std::vector<DataSet> replay(const std::string& id, const AccuracyInputs& inputs);

/// Gives each point the first figure of its replay, in the order of both, or the reason why there is none.
/// @param scale  from the figure's unit to the set's
void predict(DataSet& set, const std::vector<RowFigures>& figures, double scale = 1);

/// Error of one point: predicted / measured - 1, or the difference.
double error_of(const DataSet& set, const Point& point);

// One file for each unit.
std::vector<DataSet> replay_umma(const AccuracyInputs& inputs);
std::vector<DataSet> replay_tma(const AccuracyInputs& inputs);
std::vector<DataSet> replay_multicast(const AccuracyInputs& inputs);
std::vector<DataSet> replay_mainloop(const AccuracyInputs& inputs);
std::vector<DataSet> replay_matmul_v5(const AccuracyInputs& inputs);
std::vector<DataSet> replay_h200_memory(const AccuracyInputs& inputs);
std::vector<DataSet> replay_h200_wgmma(const AccuracyInputs& inputs);

}  // namespace sm100::sim

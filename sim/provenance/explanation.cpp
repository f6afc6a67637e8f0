// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/provenance/explainer.h"
#include "sim/provenance/map_differences.h"
#include "sim/provenance/scaled_sums.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// Elements of an output beyond which its stores are not kept.
constexpr uint64_t kMostElements = uint64_t{1} << 27;

/// "load (warp 5) of CTA 1, load_warp.h:38"
std::string who(const LaunchList& launches, const models::Source& source) {
  if (source.cta < 0) return "nobody known";
  std::string text = launches.cta_name(source.cta);
  if (source.warp >= 0)
    text =
        fmt::format("{} (warp {}) of {}", launches.kernel_of_cta(source.cta).role(source.warp), source.warp, text);
  const std::string line = line_of(source.loc);
  return line.empty() ? text : text + ", " + line;
}

/// Of the worst element, which the check names by its row in the output, or in that of the product that it names.
uint64_t address_of_wrong(const host::ExpectedResult& expected, GlobalAddr output, const host::Check& check) {
  if (expected.products.empty()) return 0;
  const host::ExpectedMatrix* c = &expected.products.front().c;
  uint64_t base = output.value;
  for (const host::ExpectedProduct& p : expected.products)
    if (!p.name.empty() && check.reference.ends_with(" of " + p.name)) c = &p.c, base = p.c.address;
  return base + uint64_t(check.wrong_element->row) * c->pitch +
         uint64_t(check.wrong_element->column) * uint64_t(c->bits) / 8;
}

int cluster_ctas(const Kernel& kernel) { return int(kernel.cluster.x * kernel.cluster.y * kernel.cluster.z); }

std::string message_of(const Cause& cause) {
  std::string text = cause.what;
  if (cause.tiles > 1)
    text += fmt::format(", in {} of {} tiles, the first {}", cause.tiles, std::max(cause.tiles, cause.of_tiles),
                        cause.example);
  else if (!cause.example.empty())
    text += fmt::format(", in {}", cause.example);
  return text;
}

Finding finding_of(const Cause& cause, const LaunchList& launches) {
  Finding f{.id = cause.id, .cause = cause.what, .message = message_of(cause)};
  if (cause.at.cta >= 0) {
    f.cta = cause.at.cta;
    if (cause.at.warp >= 0) f.role = launches.kernel_of_cta(cause.at.cta).role(cause.at.warp);
  }
  f.location = line_of(cause.at.loc), f.place = place_of(cause.at.loc);
  return f;
}

std::string report_of(const Cause& cause, const LaunchList& launches, bool wrong) {
  std::string text = fmt::format("{} {}: {}\n",
                                 cause.warning ? "WARNING"
                                 : wrong       ? "MISMATCH"
                                               : "FINDING",
                                 cause.id, message_of(cause));
  if (cause.at.cta >= 0) text += fmt::format("  where: {}\n", who(launches, cause.at));
  for (const std::string& detail : cause.details) text += "  " + detail + "\n";
  return text;
}

}  // namespace

void watch_outputs(const host::RunPlan& plan, const std::vector<std::vector<GlobalAddr>>& tensors, Record& record) {
  for (size_t launch = 0; launch < tensors.size(); ++launch) {
    const host::ExpectedResult expected = plan.run_of(int(launch)).expected_result(tensors[launch]);
    const auto watch = [&](uint64_t address, uint64_t bytes, int bits) {
      const uint32_t grain = uint32_t(std::max(1, bits / 8));
      if (bytes / grain <= kMostElements) record.watch(address, bytes, grain);
    };
    std::map<std::string, ScaleValues::Range> scale_tensors;  // by name: groups have parts of them
    for (const host::ExpectedProduct& p : expected.products) {
      watch(p.c.address, uint64_t(p.c.rows) * p.c.pitch, p.c.bits);
      if (p.output_scales) watch(p.output_scales->address, p.output_scales->bytes, 8);
      const auto watch_reads = [&](const host::ExpectedMatrix& m) {
        record.watch_reads(m.address, uint64_t(m.rows) * m.pitch);
      };
      if (p.terms && p.terms->bias) watch_reads(*p.terms->bias);
      if (p.terms && p.terms->residual) watch_reads(*p.terms->residual);
      if (!p.block_scales) continue;
      const int64_t blocks = (p.k + p.block_scales->size - 1) / p.block_scales->size;
      for (const host::ExpectedMatrix* m : {&p.block_scales->a, &p.block_scales->b}) {
        const ScaleValues::Range range = ScaleValues::range_of(*m, blocks);
        auto& all = scale_tensors.try_emplace(m->name, range).first->second;
        all = {std::min(all.begin, range.begin), std::max(all.end, range.end)};
      }
    }
    for (const auto& [name, range] : scale_tensors) record.watch_reads(range.begin, range.end - range.begin);
    for (const host::ExpectedCopy& c : expected.copies) watch(c.to, c.bytes, c.bits);
  }
}

namespace {

/// Of a launch, with the sizes of its outputs.
Tiles tiles_of(const EndedRun& run, int launch, const host::ExpectedResult& expected) {
  Tiles tiles(run.plan.run_of(launch).work_tiles(), tiles_taken(run.device.slots(), run.launches(), launch),
              cluster_ctas(*run.launches()[launch].kernel));
  tiles.set_outputs(output_sizes(expected));
  return tiles;
}

host::ExpectedResult expected_of(const EndedRun& run, int launch) {
  return run.plan.run_of(launch).expected_result(run.tensors[size_t(launch)]);
}

}  // namespace

std::vector<std::string> stray_tiles(const EndedRun& run, int cta) {
  const int launch = run.launches().of_cta(cta);
  const Tiles tiles = tiles_of(run, launch, expected_of(run, launch));
  models::Source by;
  if (!tiles.known() || !tiles.has_strayed(cta)) return {};
  return tiles.strays([&](const models::Source& source) { return who(run.launches(), source); }, by);
}

std::vector<std::string> tiles_of_race(const EndedRun& run, uint64_t address, int first_cta, int second_cta,
                                       bool both_write) {
  const int launch = run.launches().of_cta(second_cta);
  if (run.launches().of_cta(first_cta) != launch) return {};
  const host::ExpectedResult expected = expected_of(run, launch);
  const Tiles tiles = tiles_of(run, launch, expected);
  if (!tiles.known()) return {};
  const auto name = [&](const models::Source& source) { return who(run.launches(), source); };
  for (const host::ExpectedProduct& p : expected.products) {
    if (address < p.c.address || address - p.c.address >= uint64_t(p.c.rows) * p.c.pitch) continue;
    const uint64_t at = address - p.c.address;
    const Tiles::Place tile = tiles.at(int64_t(at / p.c.pitch), int64_t(at % p.c.pitch) * 8 / p.c.bits);
    const bool first = tiles.has_had(first_cta, tile), second = tiles.has_had(second_cta, tile);
    if (first != second)
      return {fmt::format(
          "the element is of tile ({}, {}), which {} has not had: its store reaches beyond its tile, by "
          "a coordinate, a pitch or a bound",
          tile.first, tile.second, name({.cta = first ? second_cta : first_cta}))};
    models::Source by;
    return tiles.strays(name, by);
  }
  // Memory that CTAs share for a tile: they have had none in common.
  const std::vector<Tiles::Place> first = tiles.of_cta(first_cta), second = tiles.of_cta(second_cta);
  if (first_cta == second_cta || first.empty() || second.empty()) return {};
  for (const Tiles::Place& tile : first)
    if (std::find(second.begin(), second.end(), tile) != second.end()) {
      if (!both_write) return {};
      return {fmt::format(
          "both have had tile ({}, {}), of which each has a part: nothing has made the second wait for the "
          "first (its lock or flag), or it stores where it should add",
          tile.first, tile.second)};
    }
  return {
      fmt::format("{} has had tile{} {}, and {} tile{} {}, none of them both: where in that memory a tile has its "
                  "part is wrong",
                  name({.cta = first_cta}), first.size() == 1 ? "" : "s", Tiles::text(first),
                  name({.cta = second_cta}), second.size() == 1 ? "" : "s", Tiles::text(second))};
}

std::string one_operand_alone(const EndedRun& run, int cta, uint64_t tensor) {
  const host::ExpectedResult expected = expected_of(run, run.launches().of_cta(cta));
  if (expected.products.size() != 1) return {};
  const host::ExpectedMatrix &a = expected.products.front().a, &b = expected.products.front().b;
  if (a.address == b.address || (tensor != a.address && tensor != b.address)) return {};
  const host::ExpectedMatrix &all = tensor == a.address ? a : b, &none = tensor == a.address ? b : a;
  return fmt::format("all its copies so far read {}, and none reads {}: one of them names the other's tensor map",
                     all.name, none.name);
}

std::vector<std::string> maps_that_differ(const EndedRun& run, int cta) {
  const int launch = run.launches().of_cta(cta);
  const host::ExpectedResult expected = expected_of(run, launch);
  if (expected.products.empty()) return {};
  std::vector<std::string> lines;
  const std::vector<host::Tensor> tensors = run.plan.run_of(launch).tensors();
  constexpr uint64_t kMostBytes = uint64_t{1} << 22;  // maps are few
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].bytes > kMostBytes) continue;
    const GlobalAddr begin = run.tensors[size_t(launch)][i];
    const uint8_t* const bytes = run.device.gpu.memory().data(begin, tensors[i].bytes);
    for (uint64_t at = 0; bytes && at + sizeof(TensorMap) <= tensors[i].bytes; at += sizeof(TensorMap)) {
      TensorMap map;
      std::copy_n(bytes + at, sizeof map.bytes, map.bytes);
      TensorMapFields fields;
      if (!decode(map, fields)) continue;
      const std::optional<MapDifference> difference = map_difference(expected.products, fields);
      if (difference && std::find(lines.begin(), lines.end(), difference->text) == lines.end())
        lines.push_back(difference->text);
    }
  }
  return lines;
}

std::vector<std::string> read_of_output(const EndedRun& run, int cta, uint64_t address) {
  const host::ExpectedResult expected = expected_of(run, run.launches().of_cta(cta));
  const auto lies_in = [&](const host::ExpectedMatrix& m) {
    return address >= m.address && address - m.address < uint64_t(m.rows) * m.pitch;
  };
  for (const host::ExpectedProduct& p : expected.products) {
    if (lies_in(p.a) || lies_in(p.b)) return {};
    for (const auto* scales : {&p.sfa, &p.sfb})  // rows come in groups of 128
      if (*scales && address >= (*scales)->address &&
          address - (*scales)->address < uint64_t(((*scales)->rows + 127) / 128) * (*scales)->pitch)
        return {};
    if (p.terms && p.terms->residual && lies_in(*p.terms->residual)) return {};
  }
  for (const host::ExpectedProduct& p : expected.products)
    if (lies_in(p.c))
      return {
          fmt::format("what it reads is {}{}, which nothing multiplies: its tensor map, or the address in it, is "
                      "another tensor's",
                      p.c.name, p.name.empty() ? "" : " of " + p.name)};
  return {};
}

std::vector<Finding> tiles_outside(const EndedRun& run) {
  std::vector<Finding> all;
  for (int launch = 0; launch < run.launches().size(); ++launch) {
    const std::optional<host::WorkTiles> work = run.plan.run_of(launch).work_tiles();
    if (!work) continue;
    const host::ExpectedResult expected = expected_of(run, launch);
    // Of groups without K nothing is expected, and they have tiles.
    const bool one_of_all = expected.products.size() == 1 && expected.products.front().name.empty();
    if (!one_of_all) continue;
    const Tiles tiles = tiles_of(run, launch, expected);
    if (!tiles.known()) continue;
    const std::vector<TileTaken> taken = tiles_taken(run.device.slots(), run.launches(), launch);
    const auto stray =
        std::find_if(taken.begin(), taken.end(), [&](const TileTaken& t) { return tiles.has_strayed(t.by.cta); });
    if (stray == taken.end()) continue;
    models::Source by;
    std::string text;
    for (const std::string& line :
         tiles.strays([&](const models::Source& source) { return who(run.launches(), source); }, by))
      if (line.find("outside of C") != std::string::npos) text = line;
    if (text.empty()) continue;
    Finding f{.id = "PV3", .cause = text, .message = text + ": the bound of the walk over the tiles is too high"};
    f.cta = by.cta;
    if (by.warp >= 0) f.role = run.launches().kernel_of_cta(by.cta).role(by.warp);
    all.push_back(std::move(f));
  }
  return all;
}

void explain(const EndedRun& run, const Record& record, RunResult& result) {
  ProvenanceResult& provenance = result.provenance;
  provenance.kept = true;
  if (run.end != RunEnd::completed) return;
  const bool wrong = run.with_data() && !result.verified;
  std::string report;
  for (int launch = 0; launch < run.launches().size(); ++launch) {
    const host::ExpectedResult expected = run.plan.run_of(launch).expected_result(run.tensors[size_t(launch)]);
    if (expected.empty()) {
      provenance.not_looked_at.push_back("a kernel that does not say what it multiplies");
      continue;
    }
    Explainer explainer(
        record, expected, [&](int cta) { return cta >= 0 && run.launches().of_cta(cta) == launch; },
        [&](uint64_t address, uint64_t bytes) { return run.device.gpu.memory().data({address}, bytes); },
        Tiles(run.plan.run_of(launch).work_tiles(), tiles_taken(run.device.slots(), run.launches(), launch),
              cluster_ctas(*run.launches()[launch].kernel)),
        [&](const models::Source& source) { return who(run.launches(), source); });
    std::vector<Cause> causes = explainer.causes(run.with_data(), run.with_data() && result.verified);
    const bool all_warn = std::all_of(causes.begin(), causes.end(), [](const Cause& c) { return c.warning; });
    if (wrong && all_warn && result.checked_launch == launch && result.check.wrong_element)
      if (const auto cause = explainer.what_became_of(
              address_of_wrong(expected, run.tensors[size_t(launch)].back(), result.check)))
        causes.push_back(*cause);
    for (const Cause& cause : causes) {
      const Finding finding = finding_of(cause, run.launches());
      (cause.warning ? result.warnings : result.findings).push_back(finding);
      provenance.causes.push_back(finding);
      report += report_of(cause, run.launches(), wrong);
    }
    provenance.tiles += explainer.tiles();
    for (const std::string& part : explainer.not_looked_at()) {
      provenance.not_looked_at.push_back(part);
      if (wrong && !report.empty()) report += fmt::format("  not looked at: {}\n", part);
    }
  }
  provenance.report = report;
}

void complete_findings(RunResult& result) {
  const ProvenanceResult& provenance = result.provenance;
  if (provenance.report.empty()) return;
  const auto error = std::find_if(provenance.causes.begin(), provenance.causes.end(),
                                  [](const Finding& f) { return f.id != "PV3"; });
  for (Finding& f : result.findings) {
    // What nobody has written was read, because something else was written or read in its place.
    if ((f.id == "TC13" || f.id == "SM4") && error != provenance.causes.end())
      f.message += "; what follows from it, or has led to it: " + error->message;
    if ((f.id != "GM4" && f.id != "GM5") || !f.location.empty() || error == provenance.causes.end()) continue;
    f.message += ": " + error->message;
    f.role = error->role, f.cta = error->cta, f.location = error->location, f.place = error->place;
  }
  // Below the first line of what there is, which says what was seen.
  const size_t first_line = result.report.find('\n');
  if (first_line == std::string::npos)
    result.report = provenance.report;
  else
    result.report.insert(first_line + 1, provenance.report);
}

void adopt(const RunResult& repetition, RunResult& result) {
  result.provenance = repetition.provenance;
  result.provenance.repeated = true;
  for (const auto& [from, to] :
       {std::pair(&repetition.findings, &result.findings), {&repetition.warnings, &result.warnings}})
    for (const Finding& f : *from)
      if (f.id.starts_with("PV")) to->push_back(f);
}

}  // namespace sm100::sim::provenance

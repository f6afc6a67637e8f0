// SPDX-License-Identifier: Apache-2.0
// `sm100sim accuracy` and the microbenchmarks that it runs, on tables written by hand from the laws of
// docs/measurements.md.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// Latencies and intervals of 4.1, of every format, layout and group.
void write_umma(const fs::path& folder, const std::string& first_latency = "152") {
  write(folder / "b200/umma_latency.csv",
        "Format,ABLayout,CTAGroup,M,N,K,MedianCycles\n"
        "BF16,SS,1,64,64,16," +
            first_latency +
            "\n"                            // 104 + 32 + 16
            "E4M3,TS,1,128,256,32,232\n"    // 104 + 128
            "F4,SS,2,256,128,64,234\n"      // 138 + 64 + 32
            "S8,SS,1,128,64,32,167\n"       // 104 + 32 + 32 - 1
            "S8,TS,2,128,80,32,163\n"       // 146 + 20 - 3; N = 80 is not in PTX's table
            "MXF8,SS,1,128,128,32,201\n"    // 104 + 64 + 32 + 1
            "MXF4,TS,2,256,256,64,271\n");  // 138 + 128 + 3 + 2
  write(folder / "b200/umma_batch_fit.csv",
        "Format,ABLayout,CTAGroup,M,N,K,Latency,a (II),b,Overhead\n"
        "BF16,SS,1,128,64,16,168,48,0,12\n"    // operand reads, 192 rows of 32 bytes
        "BF16,TS,1,128,64,16,136,32,0,12\n");  // N / 2
  const char* header = "Format,ABLayout,CTAGroup,M,N,K,PipelineDepth,Cycles,CyclesPerMMA,FLOPsPerCycle\n";
  // latency + (D - 1) interval + 12, a thousand times
  write(folder / "b200/umma_throughput_depth_sweep.csv",
        header + std::string("BF16,SS,1,128,128,16,16,1172000,0,0\n"));  // 200 + 15 * 64 + 12
  write(folder / "b200/umma_throughput_ts_depth1to10.csv",
        header + std::string("BF16,TS,1,128,128,16,4,372000,0,0\n"));  // 168 + 3 * 64 + 12
}

}  // namespace

TEST_CASE("every kind of MMA takes the time of the laws, single and in batches", "[accuracy]") {
  const ScratchDirectory here;
  write_umma(here.path());
  const Ran ran = run(here, "accuracy --measured . --only umma --rows rows.csv");
  INFO(ran.out << ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::Contains("max 0.00 cycles of 7 rows\n"));
  CHECK_THAT(ran.out, Catch::Contains("UMMA initiation interval") && Catch::Contains("max 0.00 % of 2 rows"));
  CHECK_THAT(ran.out, Catch::Contains("max 0.00 % of 1 rows"));
  CHECK_THAT(read_whole(here / "rows.csv"), Catch::Contains("umma-latency,\"S8 TS 2 SM 128 x 80\",163,163,cycles"));
}

TEST_CASE("the page names what is off, and by how much", "[accuracy]") {
  const ScratchDirectory here;
  write_umma(here.path(), "162");
  const Ran ran = run(here, "accuracy --measured . --only umma -o page.md");
  INFO(ran.out << ran.err);
  REQUIRE(ran.exit_code == 0);
  const std::string page = read_whole(here / "page.md");
  CHECK_THAT(page, Catch::Contains("| BF16 SS 1 SM 64 x 64 | 162 | 152 | -10.0 cycles |"));
  CHECK_THAT(page, Catch::Contains("Fitted:"));
}

TEST_CASE("measurements that are missing or broken end in one line", "[accuracy][bad-input]") {
  const ScratchDirectory here;
  const auto refused = [&](const std::string& arguments, const std::string& expected) {
    const Ran ran = run(here, "accuracy " + arguments);
    INFO(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK_THAT(ran.err, Catch::Contains(expected));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  };
  refused("--measured nowhere", "--measured nowhere: must be a folder with the measurements in b200/");
  write_umma(here.path());
  write(here / "b200/umma_latency.csv", "Format,ABLayout\nBF16\n");
  refused("--measured . --only umma", "umma_latency.csv:2: 1 cells, the header has 2");
  write_umma(here.path(), "soon");
  refused("--measured . --only umma", "umma_latency.csv:2: column 'MedianCycles' = \"soon\": must be a number");
  refused("--measured . --only tma", "tma2d_throughput_cal.csv: cannot be read");
  refused("--measured . --only everything", "--only: everything not in");
}

TEST_CASE("microbenchmarks compute nothing: data and faults are refused", "[accuracy][bad-input]") {
  const ScratchDirectory here;
  const std::string umma = "run '" + scenario_dir() + "/accuracy/umma_batches.toml' ",
                    tma = "run '" + scenario_dir() + "/accuracy/tma_multicast.toml' ";
  const auto refused = [&](const std::string& arguments, const std::string& expected) {
    const Ran ran = run(here, arguments);
    INFO(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK_THAT(ran.err, Catch::Contains(expected));
  };
  refused(umma + "--set 'run.data=\"full\"'", "kernel umma_batches computes nothing; allowed is \"none\"");
  refused(umma + "--set config.n=20", "no tcgen05.mma of kind::f16 and cta_group::1 has M = 128, N = 20");
  refused(umma + "--set config.m=96", "has M = 96");
  refused(tma + "--set config.sync=false", "needs sync = true and stages = 1");
  refused(tma + "--set config.box_width=30", "allowed are multiples of 4");
  refused(tma + "--set config.stages=400", "needs");
}

TEST_CASE("a multicast reads L2 once for the cluster, and loads of the same tiles are coalesced", "[accuracy]") {
  const ScratchDirectory here;
  const std::string scenario = "run '" + scenario_dir() + "/accuracy/tma_multicast.toml' --set config.tiles=8 ";
  const Ran explicitly = run(here, scenario),
            alone = run(here, scenario + "--set config.multicast=false --set config.sharers=1"),
            implicitly = run(here, scenario + "--set config.multicast=false --set config.sharers=2");
  CHECK_THAT(explicitly.out, Catch::Contains("38.8 MB into shared memory: 19.4 MB out of L2, 19.4 MB out of HBM"));
  CHECK_THAT(implicitly.out, Catch::Contains("38.8 MB into shared memory: 19.4 MB out of L2, 19.4 MB out of HBM"));
  CHECK_THAT(alone.out, Catch::Contains("38.8 MB into shared memory: 38.8 MB out of L2, 38.8 MB out of HBM"));
}

TEST_CASE("published tables are laid out by bench/measured.py, without the rows that are reserved",
          "[accuracy][docs]") {
  if (std::system("python3 -c 'import csv, gzip, json' 2> /dev/null") != 0) SM100_SKIP("python3 is not installed");
  const ScratchDirectory here;
  write_umma(here / "made");
  const fs::path from = here / "published";
  const auto published = [&](const char* name, const char* table) {
    write(from / name, read_whole(here / "made/b200" / table));
  };
  published("umma_latency/lat_results_full.csv", "umma_latency.csv");
  published("umma_latency/fit_results.csv", "umma_batch_fit.csv");
  published("umma_throughput/tput_results_full.csv", "umma_throughput_depth_sweep.csv");
  published("umma_saturated_depth/tput_ts_small_depth.csv", "umma_throughput_ts_depth1to10.csv");
  write(from / "tma2d_latency/tma2d_lat_results.csv", "SmemHeight,LatencyCyclesMedian\n2,1413\n");
  write(from / "tma2d_throughput/tma2d_tput_results.csv", "NumStages,SmemHeight\n1,8\n2,8\n4,8\n");
  for (const char* sweep : {"full", "results"})
    write(from / fmt::format("tma2dmcast_throughput/tma2dmcast_sweep_{}.csv", sweep),
          "mode,cluster_size,sharing_group\n0,2,1\n0,4,1\n3,1,2\n3,1,4\n");
  write(from / "cutlass_gemm_mainloop/results.csv", "TILE_K,STAGES\n64,0\n# BUILD_FAILED: 1\n128,0\n256,0\n");
  const std::string script = source_dir() + "/bench/measured.py";
  const std::string quiet = " > " + (here / "out").string() + " 2>&1";
  const std::string command = "'" + script + "' " + from.string() + " - " + (here / "laid_out").string() + quiet;
  INFO(read_whole(here / "out"));
  REQUIRE(std::system(command.c_str()) == 0);
  const auto laid_out = [&](const char* name) { return read_whole(here / "laid_out/b200" / name); };
  CHECK(laid_out("tma2d_throughput_cal.csv") == "NumStages,SmemHeight\n1,8\n4,8\n");
  CHECK(laid_out("gemm_mainloop_cal.csv") == "TILE_K,STAGES\n64,0\n256,0\n");
  CHECK(laid_out("tma2d_multicast_cal.csv") ==
        "source_run,mode,cluster_size,sharing_group\nfull,0,2,1\nfull,3,1,2\nresults,0,2,1\nresults,3,1,2\n");
  const Ran ran = run(here, "accuracy --measured laid_out --only umma");
  INFO(ran.out << ran.err);
  CHECK(ran.exit_code == 0);
}

TEST_CASE("mechanisms of an H200's memory: one SM, one GPC, a short box, a mix, as they were measured",
          "[accuracy]") {
  const ScratchDirectory here;
  const fs::path folder = here / "h200";
  write(folder / "1_l2_capacity.csv", "order,footprint_mib,clk_per_box_per_sm\nown_seq,99.0000,871.2\n");
  write(folder / "2_gpc_rate.csv",
        "data,order,gpc,streaming_sms,tb_per_s\nl2,tpc_by_tpc,1,1,0.21\nl2,tpc_by_tpc,1,8,1.28\n");
  write(folder / "5_write_sms.csv", "placement,gpc,sms,tb_per_s\none_gpc,1,1,0.0632\n");
  write(folder / "2_latency_under_load.csv",
        "stream,observer,observer_rows,who,interval_cycles,streaming_sms,p50\nl2,l2,1,all,0,0,352\n");
  write(folder / "4_coalescing_counters.csv",
        "placement,group_size,same_data,burst,depth,l2_bytes_per_filled\ncluster,2,1,1,1,0.5\n");
  write(folder / "5_writes.csv",
        "reads,writes,read_footprint_mib,write_footprint_mib,tb_per_s\n1,1,8.25,8.25,7.16\n");
  write(folder / "6_short_rows.csv",
        "row_bytes,rows,layout,sms,depth,cycles_per_box\n32,128,dense,1,8,127.95\n128,128,dense,1,8,153.5\n");
  write(folder / "7_fill_rows.csv", "where,rows,p50\nl2,1,374\nl2,128,516\nhbm_dense,1,799\n");
  write(folder / "5_copies_in_a_row.csv", "cluster,slots,read_mb,written_mb,us_per_launch\n2,4,33.55,67.11,32.6\n");
  const Ran ran = run(here, "accuracy --device h200 --only h200_memory --measured . --rows rows.csv");
  INFO(ran.out << ran.err);
  REQUIRE(ran.exit_code == 0);
  std::ifstream rows(here / "rows.csv");
  int seen = 0;
  for (std::string line; std::getline(rows, line); ++seen) {
    if (seen == 0) continue;
    INFO(line);
    const size_t at = line.rfind("\",");
    double measured = 0, simulated = 0;
    REQUIRE(std::sscanf(line.c_str() + at + 2, "%lf,%lf", &measured, &simulated) == 2);
    CHECK(simulated / measured == Approx(1).margin(0.08));
  }
  CHECK(seen == 1 + 13);

  const Ran other = run(here, "accuracy --device h200 --only umma --measured .");
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, Catch::Contains("--only umma: no data set of --device h200; allowed are h200_memory"));

  const Ran none = run(here, "accuracy --device b200 --measured .");
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Catch::Contains("must be a folder with the measurements in b200/"));
}

TEST_CASE("wgmma as measured on an H200: intervals and chains, executed as PTX", "[accuracy]") {
  const ScratchDirectory here;
  write(here / "h200" / "wgmma_throughput.csv",
        "type,N,a_src,layout_a,layout_b,warpgroups,cycles_per_mma_sm\nbf16,8,S,K128,K128,1,17.996\n"
        "e4m3,64,S,K128,K128,2,32.0\ns8,128,R,K128,K128,1,64.1\nf16(D f16),256,S,K128,K128,1,128.0\n"
        "b1,128,S,K128,K128,1,64\n");
  write(here / "h200" / "wgmma_latency.csv",
        "type,N,a_src,warpgroups,stagger,chain,done_min\nbf16,8,S,1,0,1,59\ntf32,256,S,1,0,4,567\n"
        "bf16,64,S,2,0,1,99\n");
  const Ran ran = run(here, "accuracy --device h200 --only h200_wgmma --measured . --rows rows.csv");
  INFO(ran.out << ran.err);
  REQUIRE(ran.exit_code == 0);
  const std::string rows = read_whole(here / "rows.csv");
  INFO(rows);
  for (const char* row : {"\"bf16, N = 8, A in shared memory, 1 warpgroup, K128 x K128\",17.996,18,",
                          "\"e4m3, N = 64, A in shared memory, 2 warpgroups, K128 x K128\",32,32,",
                          "\"s8, N = 128, A in registers, 1 warpgroup, K128 x K128\",64.1,64,",
                          "\"f16(D f16), N = 256, A in shared memory, 1 warpgroup, K128 x K128\",128,128,",
                          "\"bf16, N = 8, A in shared memory, 1 warpgroup, chain of 1\",59,59,",
                          "\"tf32, N = 256, A in shared memory, 1 warpgroup, chain of 4\",567,567,"})
    CHECK_THAT(rows, Catch::Contains(row));
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 7);
}

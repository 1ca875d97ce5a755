#include "cli/command/format.h"
#include "cli/report/diff_report.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("csv names the hardware, and has a row per figure and a column per plan, in seconds, bytes and counts") {
    Plan first, second;
    first.report.time.step_seconds = 0.5;
    first.report.memory.peak = i64{1} << 40;
    second.report.time.step_seconds = 1.0 / 3;
    first.report.hardware = "uniform";
    second.report.hardware = "lab, old";
    CollectiveReport gather;
    gather.kind = "all_gather";
    gather.count = 2;
    gather.wire_bytes_total = 48;
    second.report.collectives = {gather};
    CHECK(find_format("csv")->diff({{"tensor", &first}, {"a \"b\", c", &second}}, false, {}) ==
          "figure,tensor,\"a \"\"b\"\", c\"\n"
          "hardware,uniform,\"lab, old\"\n"
          "step_seconds,0.5,0.3333333333333333\n"
          "compute_seconds,0,0\n"
          "communication_seconds,0,0\n"
          "exposed_communication_seconds,0,0\n"
          "peak_bytes,1099511627776,0\n"
          "params_bytes,0,0\n"
          "wire_bytes_per_device,0,0\n"
          "wire_bytes_total,0,48\n"
          "collectives,0,2\n"
          "all_gather,0,2\n");
}

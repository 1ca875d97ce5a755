#include "cli/report/report.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

DimSharding dim(std::vector<AxisRef> axes) { return {std::move(axes), false, 0}; }

// Mesh data 2, model 4, and an axis of size 1 that reports do not show.
Plan sample() {
    Plan plan;
    plan.model = "two_layers";
    plan.mode = "forward";
    plan.mesh = {{{"data", 2, ""}, {"one", 1, ""}, {"model", 4, ""}}, {}};
    AxisRef data = plan.mesh.whole(0), one = plan.mesh.whole(1), model = plan.mesh.whole(2);
    Report& report = plan.report;
    report.hardware = "tpu-v5e";
    report.tensors = {
        {"x",
         Role::input,
         DType::f32,
         {8, 1024},
         {"batch", "embed"},
         {{dim({data, one}), dim({})}, {}, {}},
         {4, 1024},
         16384,
         {"model.yaml", 3, 3}},
        {"block.0.w",
         Role::param,
         DType::f32,
         {1024, 1024},
         {"embed", ""},
         {{dim({}), dim({model})}, {}, {}},
         {1024, 256},
         1048576,
         {"model.yaml", 5, 3}},
        {"block.1.w",
         Role::param,
         DType::f32,
         {1024, 1024},
         {"embed", ""},
         {{dim({}), dim({model})}, {}, {}},
         {1024, 256},
         1048576,
         {"model.yaml", 5, 3}},
        {"block.0.h",
         Role::value,
         DType::f32,
         {8, 1024},
         {"", ""},
         {{dim({data}), dim({})}, {}, {}},
         {4, 1024},
         16384,
         {"model.yaml", 7, 5}},
        {"z",
         Role::output,
         DType::f32,
         {8, 1024},
         {"batch", "embed"},
         {{dim({data}), dim({})}, {}, {}},
         {4, 1024},
         16384,
         {"model.yaml", 9, 3}},
    };
    for (int layer : {0, 1})
        report.collectives.push_back({"all_reduce",
                                      {one, model},
                                      "sum",
                                      -1,
                                      fmt::format("block.{}.h", layer),
                                      "dot",
                                      1,
                                      24576,
                                      196608,
                                      1.25e-6,
                                      fmt::format("dot sums over hidden, which block.{}.w splits over model", layer),
                                      "",
                                      {"model.yaml", 7, 5}});
    report.flops_per_device = 4194304;
    report.memory = {2097152, 0, 0, 16384, 0, 16384, 2129920, i64{16} << 30};
    report.time = {1e-6, 2.5e-6, 2.5e-6, 3.5e-6};
    return plan;
}

} // namespace

TEST_CASE("the report reads from the title to the time, layers folded and trivial axes hidden") {
    CHECK(report_text(sample(), {}, {}) == R"(two_layers, forward, on data 2 x model 4 = 8 devices, tpu-v5e

Shardings
  role    name           type                       sharding     on a device         bytes  source
  input   x              f32 (batch 8, embed 1024)  [data | -]   (4, 1024)        16.0 KiB  model.yaml:3
  param   block.{0,1}.w  f32 (embed 1024, 1024)     [- | model]  (1024, 256)  2 x 1.00 MiB  model.yaml:5
  output  z              f32 (batch 8, embed 1024)  [data | -]   (4, 1024)        16.0 KiB  model.yaml:9

2 collectives: a device sends 48.0 KiB (49,152 B), all together 393,216 B
  collective  over   of             times  sent by a device     time  source
  all_reduce  model  block.{0,1}.h    2 x          48.0 KiB  2.50 us  model.yaml:7
      dot sums over hidden, which block.{0,1}.w splits over model

  memory per device     bytes
  inputs             16.0 KiB         [#.......................]
  params             2.00 MiB         [########################]
  activations        16.0 KiB         [#.......................]
  peak               2.03 MiB
  of the device's    16.0 GiB  <0.1%  [#.......................]

  time per step
  compute        1.00 us  4.19 MFLOP per device
  communication  2.50 us  71.4% of the step
  step           3.50 us
)");
}

TEST_CASE("--all shows intermediate values, and layers one by one") {
    std::string text = report_text(sample(), {true}, {});
    CHECK(text.find("  value   block.0.h  f32 (8, 1024)") != std::string::npos);
    CHECK(text.find("block.{") == std::string::npos);
    CHECK(text.find("which block.1.w splits") != std::string::npos);
}

TEST_CASE("colour changes nothing but colour") {
    std::string colored = report_text(sample(), {}, Paint{true}), plain;
    for (size_t i = 0; i < colored.size(); ++i) {
        if (colored[i] == '\x1b')
            i = colored.find('m', i);
        else
            plain += colored[i];
    }
    CHECK(plain == report_text(sample(), {}, {}));
    CHECK(colored.find("\x1b[35mmodel\x1b[0m") != std::string::npos);
}

TEST_CASE("a peak beyond the device is marked, and findings are listed") {
    Plan plan = sample();
    plan.report.memory.capacity = 1 << 20;
    Diagnostics diagnostics;
    diagnostics.finding("P0101", {}, "too much memory");
    plan.report.diagnostics = diagnostics.all();
    std::string text = report_text(plan, {}, {});
    CHECK(text.find("203.1%  [########################] does not fit\n") != std::string::npos);
    CHECK(report_markdown(plan, {}).find("#### Findings and warnings\n") != std::string::npos);
}

TEST_CASE("the summary fits a line, and Markdown holds the same tables") {
    CHECK(summary_line(sample()) == "2 collectives, 48.0 KiB sent per device; peak 2.03 MiB of 16.0 GiB; step 3.50 us");
    std::string markdown = report_markdown(sample(), {});
    CHECK(markdown.find("### two_layers, forward, on data 2 x model 4 = 8 devices, tpu-v5e\n") == 0);
    CHECK(
        markdown.find("| all\\_reduce | model | block.{0,1}.h | 2 x | 48.0 KiB | 2.50 us | model.yaml:7 | dot sums") !=
        std::string::npos);
    Plan none = sample();
    none.report.collectives.clear();
    CHECK(summary_line(none) == "no collectives; peak 2.03 MiB of 16.0 GiB; step 3.50 us");
    CHECK(report_text(none, {}, {}).find("\nNo collectives\n\n") != std::string::npos);
}

#include "cli/report/report.h"

#include <algorithm>
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
                                      {},
                                      fmt::format("dot sums over hidden, which block.{}.w splits over model", layer),
                                      "",
                                      {"model.yaml", 7, 5}});
    report.flops_per_device = 4194304;
    report.memory = {2097152, 0, 0, 16384, 0, 16384, 2129920, i64{16} << 30};
    report.time = {1e-6, 2.5e-6, 2.5e-6, 3.5e-6};
    return plan;
}

PlanPayload payload_of(const Plan& plan, const ReportOptions& options = {}, const Paint& paint = {}) {
    const When now{Phase::forward, 1.25e-6};
    return {&plan, {now, now}, options, paint, ""};
}
std::string text_of(const Plan& plan, const ReportOptions& options = {}, const Paint& paint = {}) {
    return report_text(payload_of(plan, options, paint));
}

} // namespace

TEST_CASE("the report reads from the verdict to the shardings, layers folded and trivial axes hidden") {
    CHECK(text_of(sample()) == R"(two_layers, forward, on data 2 x model 4 = 8 devices, tpu-v5e

  memory  fits: 2.03 MiB of 16.0 GiB on a device (<0.1%); at the peak params 2.00 MiB, inputs 16.0 KiB, activations 16.0 KiB
  time    3.50 us a step, bound by communication: communication 2.50 us, all exposed (71.4% of the step); compute 1.00 us (4.19 MFLOP)
  params  2,097,152 (8.00 MiB), 2.00 MiB on a device

2 collectives: a device sends 48.0 KiB (49,152 B), all together 393,216 B
  collective  over   of             times  sent by a device     time  source
  all_reduce  model  block.{0,1}.h    2 x          48.0 KiB  2.50 us  model.yaml:7
      dot sums over hidden, which block.{0,1}.w splits over model

Shardings
  role    name           type                       sharding     on a device         bytes  source
  input   x              f32 (batch 8, embed 1024)  [data | -]   (4, 1024)        16.0 KiB  model.yaml:3
  param   block.{0,1}.w  f32 (embed 1024, 1024)     [- | model]  (1024, 256)  2 x 1.00 MiB  model.yaml:5
  output  z              f32 (batch 8, embed 1024)  [data | -]   (4, 1024)        16.0 KiB  model.yaml:9
)");
}

TEST_CASE("--all shows intermediate values, and layers one by one") {
    std::string text = text_of(sample(), {true, {}});
    CHECK(text.find("  value   block.0.h  f32 (8, 1024)") != std::string::npos);
    CHECK(text.find("block.{") == std::string::npos);
    CHECK(text.find("which block.1.w splits") != std::string::npos);
    CHECK(text.find("  memory per device") != std::string::npos);
    CHECK(text.find("  time per step") != std::string::npos);
}

TEST_CASE("one part of the report is that part alone") {
    ReportOptions options;
    options.only = ReportPart::memory;
    CHECK(text_of(sample(), options, {}) == R"(two_layers, forward, on data 2 x model 4 = 8 devices, tpu-v5e

  memory per device     bytes
  params             2.00 MiB         [########################]
  inputs             16.0 KiB         [#.......................]
  activations        16.0 KiB         [#.......................]
  peak               2.03 MiB
  of the device's    16.0 GiB  <0.1%  [#.......................]
)");
    options.only = ReportPart::time;
    CHECK(text_of(sample(), options, {}) == R"(two_layers, forward, on data 2 x model 4 = 8 devices, tpu-v5e

  time per step
  compute                1.00 us  28.6%  4.19 MFLOP per device
  communication          2.50 us         none of it while the device computes
  exposed communication  2.50 us  71.4%
  step                   3.50 us
)");
    const Plan plan = sample();
    for (size_t part = 0; part < std::size(report_parts); ++part) {
        options.only = static_cast<ReportPart>(part);
        CHECK(report_markdown(payload_of(plan, options)).find("#### Findings") == std::string::npos);
        CHECK(report_markdown(payload_of(plan, options)).starts_with("### two_layers"));
    }
}

TEST_CASE("no line of a report is wider than the terminal, which is used") {
    for (size_t width : {80, 120, 200}) {
        CAPTURE(width);
        const std::string text = text_of(sample(), {}, {false, width});
        size_t widest = 0;
        for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
            widest = std::max(widest, text.find('\n', begin) - begin);
        CHECK(widest <= width);
        CHECK(widest > (width == 200 ? 120 : width - 20));
    }
    // What can be spared is gone first, and a column that is there is whole.
    const std::string narrow = text_of(sample(), {}, {false, 80});
    CHECK(narrow.find("sharding     on a device") == std::string::npos);
    CHECK(narrow.find("  param   block.{0,1}.w  f32 (embed 1024, 1024)     [- | model]  2 x 1.00 MiB\n") !=
          std::string::npos);
    CHECK(narrow.find("\n          ") != std::string::npos); // a fact goes on under its text
}

TEST_CASE("colour changes nothing but colour") {
    std::string colored = text_of(sample(), {}, Paint{true}), plain;
    for (size_t i = 0; i < colored.size(); ++i) {
        if (colored[i] == '\x1b')
            i = colored.find('m', i);
        else
            plain += colored[i];
    }
    CHECK(plain == text_of(sample()));
    CHECK(colored.find("\x1b[35mmodel\x1b[0m") != std::string::npos);
}

TEST_CASE("a peak beyond the device is marked, and findings are listed") {
    Plan plan = sample();
    plan.report.memory.capacity = 1 << 20;
    Diagnostics diagnostics;
    diagnostics.finding("P0101", {}, "too much memory");
    plan.report.diagnostics = diagnostics.all();
    ReportOptions memory;
    memory.only = ReportPart::memory;
    CHECK(text_of(plan, memory, {}).find("203.1%  [########################] does not fit\n") != std::string::npos);
    CHECK(text_of(plan, {}, {}).find("  memory  does not fit: 2.03 MiB of 1.00 MiB on a device (203.1%)") !=
          std::string::npos);
    CHECK(text_of(plan, {}, Paint{true}).find("\x1b[1;31mdoes not fit\x1b[0m: 2.03 MiB") != std::string::npos);
    CHECK(report_markdown(payload_of(plan)).find("#### Findings and warnings\n") != std::string::npos);
}

TEST_CASE("the summary fits a line, and Markdown holds the same tables") {
    CHECK(summary_line(sample()) == "2 collectives, 48.0 KiB sent per device; peak 2.03 MiB of 16.0 GiB; step 3.50 us");
    const Plan plan = sample();
    std::string markdown = report_markdown(payload_of(plan));
    CHECK(markdown.find("### two_layers, forward, on data 2 x model 4 = 8 devices, tpu-v5e\n") == 0);
    CHECK(
        markdown.find("| all\\_reduce | model | block.{0,1}.h | 2 x | 48.0 KiB | 2.50 us | model.yaml:7 | dot sums") !=
        std::string::npos);
    Plan none = sample();
    none.report.collectives.clear();
    CHECK(summary_line(none) == "no collectives; peak 2.03 MiB of 16.0 GiB; step 3.50 us");
    CHECK(text_of(none, {}, {}).find("\nNo collectives\n\nShardings\n") != std::string::npos);
}

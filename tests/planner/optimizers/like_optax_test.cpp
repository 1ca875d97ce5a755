// Five steps of a small network under every layout, beside what optax makes of the same numbers. The answers were printed
// by JAX 0.10.2 and optax 0.2.8 with highest matmul precision, op by op where bf16 is rounded: a jitted step may leave
// roundings out.
#include "cli/command/command.h"
#include "test_paths.h"
#include "tests/support/memory_files.h"
#include "tests/support/plan_builder.h"
#include "tests/support/steps.h"
#include "tests/support/tensors.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include <unistd.h>

namespace shard {
namespace {

std::string network(const std::string& optimizer, const std::string& more = "") {
    return fmt::format(R"(model: mlp
axes: {{batch: 32, in: 12, hidden: 16, out: 4}}
inputs: {{x: {{axes: [batch, in], init: normal}}}}
params:
  w1: {{axes: [in, hidden], init: normal}}
  b1: {{axes: [hidden], init: normal}}
  w2: {{axes: [hidden, out], init: normal}}
graph: [{{a: {{tanh: {{add: [{{dot: [x, w1]}}, b1]}}}}}}, {{y: {{dot: [a, w2]}}}}]
outputs: [y]
train:
  targets: {{t: {{axes: [batch, out], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {0}
{1})",
                       optimizer, more);
}

const std::vector<std::string> layouts = {
    "mesh: {data: 1}\n", "mesh: {data: 4}\nrules: [{batch: data}]\n",
    "mesh: {data: 4}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 16}\n",
    "mesh: {model: 4}\nrules: [{hidden: model}]\n",
    "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\nfsdp: {axis: data, min_size: 16}\n"};

// sin(0.7 i^2 + seed) / 2
Tensor numbers(Shape shape, double seed) {
    return make_tensor(DType::f32, std::move(shape), [seed](i64 i) {
        const double n = static_cast<double>(i);
        return 0.5 * std::sin(n * n * 0.7 + seed);
    });
}

struct Answers {
    Numbers losses, w1;
    double b1, w2; // elements 5 and 13
};

void check_like_optax(const std::string& optimizer, const Answers& want, double relative) {
    CAPTURE(optimizer);
    for (const std::string& layout : layouts) {
        CAPTURE(layout);
        const Plan plan = train_plan(network(optimizer), layout);
        RunOptions options;
        options.steps = 5;
        options.inputs = {{"w1", numbers({12, 16}, 1)},
                          {"b1", numbers({16}, 2)},
                          {"w2", numbers({16, 4}, 3)},
                          {"x", numbers({32, 12}, 4)},
                          {"t", numbers({32, 4}, 5)}};
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
        REQUIRE(result);
        CHECK(result->touched_peak_bytes == plan.peak_bytes);
        const Numbers& losses = result->scalars.at("loss");
        for (size_t n = 0; n < want.losses.size(); ++n)
            CHECK(std::fabs(losses[n] - want.losses[n]) <= relative * want.losses[n]);
        const Numbers w1 = values(result->outputs.at("w1"));
        for (size_t n = 0; n < want.w1.size(); ++n) CHECK(std::fabs(w1[n] - want.w1[n]) <= 10 * relative);
        CHECK(std::fabs(values(result->outputs.at("b1"))[5] - want.b1) <= 10 * relative);
        CHECK(std::fabs(values(result->outputs.at("w2"))[13] - want.w2) <= 10 * relative);
    }
}

} // namespace

TEST_CASE("muon is optax's: matrices orthogonalized, the rest by Adam that looks one step ahead") {
    check_like_optax("{muon: {learning_rate: 0.05}}",
                     {{0.45838657, 0.35381132, 0.3078455, 0.27489674, 0.24511853},
                      {0.3840422, 0.52226818, -0.35782814},
                      0.1958421,
                      0.43582499},
                     2e-6);
    check_like_optax("{muon: {learning_rate: 0.05, consistent_rms: 0.2, weight_decay: 0.1, adam_weight_decay: 0.01, "
                     "nesterov: false, beta: 0.9, ns_steps: 3}}",
                     {{0.45838657, 0.37122524, 0.31973612, 0.29379323, 0.27451015},
                      {0.38611239, 0.49575856, -0.33320928},
                      0.16883053,
                      0.43044925},
                     2e-6);
    check_like_optax("{muon: {learning_rate: 0.05, adam: [w2]}}",
                     {{0.45838657, 0.31129199, 0.24176016, 0.19701344, 0.16479348},
                      {0.35896346, 0.50782281, -0.32516611},
                      0.20743133,
                      0.24690685},
                     2e-6);
}

TEST_CASE("muon's learning rate for what Adam takes is its own: a number or a schedule, as optax's") {
    check_like_optax("{muon: {learning_rate: 0.05, adam_learning_rate: 0.2}}",
                     {{0.45838657, 0.53086507, 0.30963367, 0.27386045, 0.24045362},
                      {0.38103366, 0.51899201, -0.34688154},
                      0.20923159,
                      0.44249898},
                     2e-6);
    const std::string schedule = "{warmup_cosine: {peak: 0.2, warmup_steps: 2, decay_steps: 6, end: 0.01}}";
    check_like_optax("{muon: {learning_rate: 0.05, adam_learning_rate: " + schedule + "}}",
                     {{0.45838657, 0.40073621, 0.31134823, 0.31246611, 0.25572377},
                      {0.38448864, 0.52372247, -0.36435688},
                      0.19551046,
                      0.43828392},
                     4e-6);
    check_like_optax("{muon: {learning_rate: " + schedule + ", adam_learning_rate: 0.01}}",
                     {{0.45838657, 0.44311702, 0.32626668, 0.190844, 0.1538623},
                      {0.30556789, 0.49943545, -0.44023409},
                      0.25623626,
                      0.40243754},
                     4e-6);
}

TEST_CASE("states on the host: the same numbers to the last bit, and less of the device's memory") {
    for (const char* of : {"adam", "muon", "adafactor"}) {
        CAPTURE(of);
        const std::string rate = fmt::format("{{{}: {{learning_rate: 0.05", of);
        for (const std::string& layout : layouts) {
            CAPTURE(layout);
            for (const char* more : {"", "precision: {params: bf16, compute: bf16}\n"}) {
                const Plan here = train_plan(more + network(rate + "}}"), layout),
                           there = train_plan(more + network(rate + ", offload: true}}"), layout);
                CHECK(here.host_peak_bytes == 0);
                CHECK(there.host_peak_bytes > 0);
                CHECK(there.peak_bytes < here.peak_bytes);
                CHECK(there.report.time.host_seconds > 0);
                RunOptions options;
                options.steps = 3;
                const RunResult a = run_clean(here, options), b = run_clean(there, options);
                CHECK(a.scalars == b.scalars);
                CHECK(b.touched_peak_bytes == there.peak_bytes);
                CHECK(b.touched_host_peak_bytes == there.host_peak_bytes);
                for (const auto& [name, tensor] : a.outputs) CHECK(tensor.bytes == b.outputs.at(name).bytes);
            }
        }
    }
}

TEST_CASE("adafactor is optax's, factored and not") {
    check_like_optax("{adafactor: {learning_rate: 0.1, min_dim_size_to_factor: 4}}",
                     {{0.45838657, 0.27328128, 0.19419202, 0.15400794, 0.12980437},
                      {0.28186116, 0.58215803, -0.35341007},
                      0.22770232,
                      0.44268677},
                     2e-6);
    check_like_optax("{adafactor: {learning_rate: 0.1}}",
                     {{0.45838657, 0.29178536, 0.21573991, 0.17252719, 0.14564902},
                      {0.26807392, 0.59331399, -0.36975864},
                      0.21656582,
                      0.44551903},
                     2e-6);
    check_like_optax("{adafactor: {learning_rate: 0.1, min_dim_size_to_factor: 4, momentum: 0.9, "
                     "weight_decay_rate: 0.01, decay_rate: 0.7, clipping_threshold: 0, "
                     "multiply_by_parameter_scale: false}}",
                     {{0.45838657, 0.38377845, 0.28443092, 0.203668, 0.16025436},
                      {0.29739156, 0.58028144, -0.37970322},
                      0.19589177,
                      0.41395649},
                     2e-6);
}

// A number of bf16 may be rounded the other way where another order of a sum changed its last bit in f32.
TEST_CASE("means are stored as mu_dtype says") {
    check_like_optax("{adam: {learning_rate: 0.01, mu_dtype: bf16}}",
                     {{0.45838657, 0.40031227, 0.35116118, 0.31037167, 0.27702749},
                      {0.37115172, 0.54477131, -0.35381398},
                      0.25567791,
                      0.4200505},
                     1e-5);
    check_like_optax("{adamw: {learning_rate: 0.01, weight_decay: 0.1, mu_dtype: bf16}}",
                     {{0.45838657, 0.39942777, 0.34966853, 0.30848438, 0.27489299},
                      {0.36911833, 0.54221946, -0.35220906},
                      0.25424936,
                      0.41795841},
                     1e-5);
    check_like_optax("{lion: {learning_rate: 0.01, weight_decay: 1.0e-3, mu_dtype: bf16}}",
                     {{0.45838657, 0.40030301, 0.35070693, 0.30883005, 0.27382302},
                      {0.37071547, 0.54580659, -0.35591266},
                      0.25275579,
                      0.41988927},
                     1e-5);
    check_like_optax("{adafactor: {learning_rate: 0.1, min_dim_size_to_factor: 4, momentum: 0.9, mu_dtype: bf16}}",
                     {{0.45838657, 0.43468922, 0.39306974, 0.34149718, 0.28871238},
                      {0.38535824, 0.54238212, -0.35025632},
                      0.25714114,
                      0.46014053},
                     1e-5);
    const Plan plan = train_plan(network("{adam: {learning_rate: 0.01, mu_dtype: bf16}}"), layouts[0]);
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.name == "w1.mu") CHECK(buffer.dtype == DType::bf16);
        if (buffer.name == "w1.nu") CHECK(buffer.dtype == DType::f32);
    }
}

TEST_CASE("states that are means over a dim are split over the others as the parameter is") {
    const Plan plan = train_plan(network("{adafactor: {learning_rate: 0.1, min_dim_size_to_factor: 4}}"),
                                 "mesh: {a: 2, b: 2}\nrules: [{in: a}, {hidden: b}]\n");
    std::map<std::string, Shape> local;
    for (const Buffer& buffer : plan.buffers) local[buffer.name] = buffer.shape;
    CHECK(local.at("w1") == Shape{6, 8});
    CHECK(local.at("w1.nu_row") == Shape{6, 1});
    CHECK(local.at("w1.nu_col") == Shape{1, 8});
    CHECK(local.at("w2.nu_row") == Shape{1, 4}); // hidden is the larger dim of w2
    CHECK(local.at("w2.nu_col") == Shape{8, 1});
    CHECK(local.at("b1.nu") == Shape{8});
}

TEST_CASE("layers of a stack are updated as parameters of their own") {
    const auto model = [](bool scan, const std::string& optimizer) {
        return fmt::format(R"(model: deep
axes: {{batch: 16, width: 8, wide: 16, layers: 3}}
inputs: {{x: {{axes: [batch, width], init: normal}}}}
modules:
  block:
    inputs: [h]
    params: {{up: {{axes: [width, wide], init: lecun_normal}}, b: {{axes: [wide]}}, down: {{axes: [wide, width], init: lecun_normal}}}}
    graph: [{{u: {{tanh: {{add: [{{dot: [h, up]}}, b]}}}}}}, {{d: {{dot: [u, down]}}}}, {{h: {{add: [h, d]}}}}]
    outputs: [h]
graph: [{{y: {{repeat: block, times: 3, in: x{0}}}}}]
outputs: [y]
train:
  targets: {{t: {{axes: [batch, width], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {1}
)",
                           scan ? ", scan: true, axis: layers" : "", optimizer);
    };
    for (const char* optimizer : {"{muon: {learning_rate: 0.02}}",
                                  "{adafactor: {learning_rate: 0.1, min_dim_size_to_factor: 4, momentum: 0.9}}"}) {
        CAPTURE(optimizer);
        const std::string layout = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {wide: model}]\n";
        const Numbers scanned = series(run_steps(train_plan(model(true, optimizer), layout), 4), "loss"),
                      written = series(run_steps(train_plan(model(false, optimizer), layout), 4), "loss");
        for (size_t n = 0; n < written.size(); ++n) CHECK(scanned[n] == doctest::Approx(written[n]).epsilon(5e-6));
        CHECK(std::fabs(written[3] - written[0]) > 1e-4);
    }
}

TEST_CASE("what an optimizer keeps is saved under one layout, and goes on under another") {
    const std::string folder = std::string(SHARDC_TEST_DIR) + "/like_optax_" + std::to_string(::getpid());
    const auto steps = [&](MemoryFiles& files, const std::string& line) {
        const CommandResult result = run_command(files, "run model.yaml " + line + " --mode train --quiet");
        CHECK_MESSAGE(result.code == 0, result.err);
        Numbers losses;
        for (size_t at = 0; (at = result.out.find("  loss ", at)) != std::string::npos;)
            losses.push_back(std::stod(result.out.substr(at += 7)));
        return losses;
    };
    for (const char* optimizer :
         {"{muon: {learning_rate: 0.05}}", "{adafactor: {learning_rate: 0.1, min_dim_size_to_factor: 4}}",
          "{adamw: {learning_rate: 0.01, mu_dtype: bf16}}", "{adam: {learning_rate: 0.01, offload: true}}"}) {
        CAPTURE(optimizer);
        MemoryFiles files;
        files.files = {{"model.yaml", network(optimizer)}, {"one.yaml", layouts[2]}, {"other.yaml", layouts[4]}};
        const Numbers whole = steps(files, "other.yaml --steps 5");
        REQUIRE(whole.size() == 5);
        steps(files, "one.yaml --steps 2 --save " + folder);
        const Numbers rest = steps(files, "other.yaml --steps 5 --restore " + folder);
        REQUIRE(rest.size() == 3);
        for (size_t n = 0; n < 3; ++n) CHECK(rest[n] == doctest::Approx(whole[n + 2]).epsilon(1e-5));
        std::filesystem::remove_all(folder);
    }
}

TEST_CASE("a mean is stored as a floating-point number, and muon has a bounded number of iterations") {
    const auto message = [](const std::string& optimizer) {
        Sources sources;
        PlanRequest request;
        request.model_file = sources.add("model.yaml", network(optimizer));
        request.layout_file = sources.add("layout.yaml", layouts[0]);
        request.mode = "train";
        const Compilation compilation = compile(sources, request);
        REQUIRE(compilation.diagnostics.all().size() == 1);
        CHECK(compilation.diagnostics.all()[0].code == "E0226");
        return compilation.diagnostics.all()[0].message;
    };
    CHECK(message("{adam: {learning_rate: 0.01, mu_dtype: i32}}") == "a mean cannot be stored as i32");
    CHECK(message("{muon: {learning_rate: 0.01, ns_steps: 2147483647}}") ==
          "`ns_steps` is 2147483647, not from 1 to 100");
}

} // namespace shard

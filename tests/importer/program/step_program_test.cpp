// What a program is taken for: a loss that shardc trains, or a step as it is.
#include "executor/run/run.h"
#include "importer/program/import_program.h"
#include "planner/pipeline/pipeline.h"
#include "plans/disk/file.h"
#include "tests/support/tensors.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "test_paths.h"

using namespace shard;

namespace {

struct Outcome {
    std::string model;                         // empty: none
    std::vector<std::string> paths, arguments; // of the program, and what the model calls them
    std::string codes;                         // of what was said
};

Outcome import(const std::string& text, const ImportRequest& request) {
    Sources sources;
    const int file = sources.add("program.mlir", text);
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    Outcome outcome;
    if (program) outcome.model = program->model;
    if (program)
        for (const auto& [path, name] : program->names) {
            outcome.paths.push_back(path);
            outcome.arguments.push_back(name);
        }
    for (const Diagnostic& diagnostic : diagnostics.all()) outcome.codes += diagnostic.code;
    return outcome;
}

ImportRequest asked(ImportAs as = ImportAs::unsaid) {
    ImportRequest request;
    request.is_param = [](const std::string& path) { return path.starts_with("params"); };
    request.as = as;
    return request;
}

// A step of two arrays of one type, given back in the other order; `mark` is what says that they are donated.
std::string exchanged(const std::string& mark, const std::string& other) {
    return fmt::format(
        R"(func.func @main(%p: tensor<4xf32> {{{0}}} loc("params['w']"),
    %m: tensor<4xf32> {{{1}}} loc("state['w']")) ->
    (tensor<4xf32> {{jax.result_info = "result[0]['state']"}}, tensor<f32> {{jax.result_info = "result[1]"}},
     tensor<4xf32> {{jax.result_info = "result[2]['w']"}}) {{
  %0 = stablehlo.add %p, %m : tensor<4xf32>
  %1 = stablehlo.multiply %p, %m : tensor<4xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0] :
    (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0, %2, %1 : tensor<4xf32>, tensor<f32>, tensor<4xf32>
}}
)",
        mark, other);
}

std::string loss_of(const std::string& argument) {
    return "func.func @main(%p: tensor<f32> loc(\"" + argument + "\")) -> tensor<f32> {\n" +
           "  %0 = stablehlo.multiply %p, %p : tensor<f32>\n  return %0 : tensor<f32>\n}\n";
}

} // namespace

TEST_CASE("an op is at the innermost line that is the user's own, and places in a circle end") {
    const auto line_at = [](const std::string& places) {
        const std::string text = "func.func @main(%p: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.tanh %p : "
                                 "tensor<f32> loc(#loc1)\n  return %0 : tensor<f32>\n}\n" +
                                 places;
        ImportRequest request = asked();
        request.folder = "/home/me";
        const std::string model = import(text, request).model;
        const size_t at = model.find(", at: ");
        return at == std::string::npos ? std::string() : model.substr(at + 6, model.find('}', at) - at - 6);
    };
    CHECK(line_at("#loc1 = loc(\"f\"(\"model.py\":3:1))\n") == "\"model.py:3\"");
    CHECK(line_at("#loc1 = loc(callsite(\"/home/me/a/b.py\":7:1 at \"/home/me/main.py\":9:1))\n") == "\"a/b.py:7\"");
    CHECK(line_at("#loc1 = loc(callsite(\"x/site-packages/flax/linear.py\":7:1 at \"/home/mel/main.py\":9:1))\n") ==
          "\"/home/mel/main.py:9\"");
    CHECK(line_at("#loc1 = loc(fused[\"x/site-packages/a.py\":7:1, unknown])\n").empty());
    CHECK(line_at("#loc1 = loc(\"f\"(#loc2))\n#loc2 = loc(callsite(#loc1 at #loc2))\n").empty());
    CHECK(line_at("#loc1 = loc(\"$home/a\\0A.py\":7:1)\n").empty());
}

TEST_CASE("a program whose first result is a number is a loss, if it has parameters") {
    CHECK(import(loss_of("params['w']"), asked())
              .model.ends_with("\ntrain:\n  loss: loss\n  optimizer: {adamw: {learning_rate: 0.001}}\n"));
    CHECK(import(loss_of("x"), asked()).model.ends_with("outputs: [loss]\n"));
    CHECK(import(loss_of("p['w']"), asked()).model.ends_with("outputs: [loss]\n"));
    CHECK(import(loss_of("x"), asked(ImportAs::loss)).codes == "E0809");
    const std::string vector = "func.func @main(%p: tensor<4xf32> loc(\"params\")) -> tensor<4xf32> {\n"
                               "  %0 = stablehlo.tanh %p : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
    CHECK(import(vector, asked(ImportAs::loss)).codes == "E0809");
    CHECK(import(vector, asked()).model.ends_with("outputs: [result]\n"));
    CHECK(import(vector, asked(ImportAs::step)).codes == "W0803");
}

TEST_CASE("an argument that is donated is updated by the result of its path, and without one by that of its bytes") {
    // The bytes of params go to the first result of their size; what they hold next is the third.
    const std::string model =
        import(exchanged("tf.aliasing_output = 0 : i32", "jax.buffer_donor = true"), asked()).model;
    CHECK_MESSAGE(model.ends_with("outputs: [loss]\nupdates:\n  state_w: state_w_new\n  w: w_new\n"), model);
    CHECK(model.find("w_new: {mul: [w, state_w]") != std::string::npos);
}

TEST_CASE(
    "of a step that is imported as a loss, the number that it returns is left, and what is no argument's next value") {
    const Outcome made =
        import(exchanged("tf.aliasing_output = 0 : i32", "jax.buffer_donor = true"), asked(ImportAs::loss));
    CHECK(made.codes == "W0807");
    CHECK_MESSAGE(made.model.find("outputs: [loss, result_0_state]\n# ") != std::string::npos, made.model);
    CHECK(made.model.find("{mul: ") == std::string::npos); // the new parameter
    // Of several numbers the one that is called so.
    const auto of_two = [](const std::string& first, const std::string& second) {
        return import(fmt::format(R"(func.func @main(%p: tensor<f32> loc("params['w']")) ->
    (tensor<f32> {{jax.result_info = "{}"}}, tensor<f32> {{jax.result_info = "{}"}}) {{
  %0 = stablehlo.tanh %p : tensor<f32>
  %1 = stablehlo.exponential %p : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}}
)",
                                  first, second),
                      asked(ImportAs::loss));
    };
    CHECK(of_two("result['accuracy']", "result['loss']").model.find("- loss: {exp: w}") != std::string::npos);
    CHECK(of_two("result['loss']", "result['aux']['loss']").model.find("- loss: {tanh: w}") != std::string::npos);
    // Gradients of what is no tree have its type.
    const Outcome gradient = of_two("result[0]", "result[1]");
    CHECK(gradient.codes == "W0807");
    CHECK(gradient.model.find("{exp: ") == std::string::npos);
}

TEST_CASE("a loss that comes with gradients, or their norm, is left alone") {
    const auto with_norm = [](const std::string& first, const std::string& second) {
        return fmt::format(R"(func.func @main(%p: tensor<4xf32> loc("params['w']")) ->
    (tensor<f32> {{jax.result_info = "result[0]"}}, tensor<f32> {{jax.result_info = "result[1]"}},
     tensor<4xf32> {{jax.result_info = "result[2]['w']"}}) {{
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.multiply %p, %p : tensor<4xf32>
  %loss = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0] :
    (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.multiply %two, %p : tensor<4xf32> loc("jit(step)/transpose(jvp(model))/mul")
  %1 = stablehlo.multiply %g, %g : tensor<4xf32>
  %norm = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [0] :
    (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return {}, {}, %g : tensor<f32>, tensor<f32>, tensor<4xf32>
}}
)",
                           first, second);
    };
    const Outcome said = import(with_norm("%loss", "%norm"), asked(ImportAs::loss)),
                  other_order = import(with_norm("%norm", "%loss"), asked(ImportAs::loss)),
                  unsaid = import(with_norm("%loss", "%norm"), asked());
    for (const Outcome& outcome : {said, other_order, unsaid}) {
        CHECK(outcome.codes == "W0807");
        CHECK_MESSAGE(outcome.model.find("outputs: [loss]\n") != std::string::npos, outcome.model);
        CHECK(outcome.model.find("{mul: [2, ") == std::string::npos);
    }
    // Of nothing but gradients, they are the loss.
    const Outcome norms = import(with_norm("%norm", "%norm"), asked(ImportAs::loss));
    CHECK(norms.model.find("{mul: [2, ") != std::string::npos);
}

TEST_CASE("a loss of Flax, trained by shardc, has the losses that optax's Adam has") {
    const std::string programs = SHARDC_SOURCE_DIR "/tests/importer/program/programs/";
    std::string problem;
    const std::string text = read_file(programs + "flax_gpt.mlir", problem).value_or("");
    const nlohmann::ordered_json recorded =
        nlohmann::ordered_json::parse(read_file(programs + "flax_gpt.json", problem).value_or("{}"));
    ImportRequest request = asked(ImportAs::loss);
    request.optimizer = "adam: {learning_rate: 0.01}";
    const Outcome outcome = import(text, request);
    const std::string& model = outcome.model;
    REQUIRE(!model.empty());
    CHECK(model.find("{repeat: block, times: 2, in: ") != std::string::npos);
    const std::string batch = "inputs: {batch_tokens: [data, ~], batch_labels: [data, ~]}\n";
    for (const std::string& layout :
         {"mesh: {data: 4}\n" + batch, "mesh: {data: 4}\nfsdp: {axis: data, min_size: 1}\n" + batch,
          "mesh: {data: 2, model: 2}\n" + batch +
              "params: {'**up_kernel': [~, model], '**up_bias': [model], '**down_kernel': [model, ~], "
              "'**query_kernel': [~, model, ~], '**key_kernel': [~, model, ~], '**value_kernel': [~, model, ~], "
              "'**out_kernel': [model, ~, ~]}\n"}) {
        CAPTURE(layout);
        Sources sources;
        PlanRequest plan_request;
        plan_request.model_file = sources.add("model.yaml", model);
        plan_request.layout_file = sources.add("layout.yaml", layout);
        plan_request.mode = "train";
        const Compilation compilation = compile(sources, plan_request);
        for (const Diagnostic& diagnostic : compilation.diagnostics.all()) MESSAGE(diagnostic.message);
        REQUIRE(compilation.plan.has_value());
        RunOptions options;
        options.steps = 5;
        i64 count = 0;
        for (const auto& [recorded_name, kind] : recorded.at("arguments").items()) {
            const std::string name = outcome.arguments.at(static_cast<size_t>(count++));
            for (const PlanInput& input : compilation.plan->inputs) {
                const Buffer& buffer = compilation.plan->buffers[static_cast<size_t>(input.buffer)];
                if (buffer.name != name) continue;
                options.inputs[name] = make_tensor(buffer.dtype, buffer.global_shape, [&](i64 i) {
                    if (kind.is_number()) return static_cast<double>((7 * i + count) % kind.get<i64>());
                    const double wave = 0.4 * std::sin(0.7 * static_cast<double>(i) + static_cast<double>(count));
                    return static_cast<double>(static_cast<float>(wave));
                });
            }
        }
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(*compilation.plan, options, diagnostics);
        REQUIRE(result.has_value());
        const std::vector<double>& losses = result->scalars.at("loss");
        const std::vector<double> expected = recorded.at("adam_losses").get<std::vector<double>>();
        REQUIRE(losses.size() == expected.size());
        for (size_t step = 0; step < losses.size(); ++step)
            CHECK_MESSAGE(std::fabs(losses[step] - expected[step]) <= 1e-6 * std::fabs(expected[step]), "step ", step,
                          ": ", losses[step], " and ", expected[step]);
    }
}

TEST_CASE("the loss within a step of Flax and optax is the one that the step returns, without the optimizer's states") {
    const std::string programs = SHARDC_SOURCE_DIR "/tests/importer/program/programs/";
    std::string problem;
    const nlohmann::ordered_json recorded =
        nlohmann::ordered_json::parse(read_file(programs + "flax_step.json", problem).value_or(""));
    const Outcome outcome = import(read_file(programs + "flax_step.mlir", problem).value_or(""), asked(ImportAs::loss));
    CHECK(outcome.codes == "W0807");
    CHECK(outcome.model.find("{attention: [") != std::string::npos);
    CHECK(outcome.arguments.size() < recorded.at("arguments").size() / 2);
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", outcome.model);
    request.layout_file = sources.add("layout.yaml", "mesh: {data: 2, model: 4}\ninputs: {batch_tokens: [data, ~]}\n"
                                                     "params: {'**up_kernel': [~, model]}\n");
    const Compilation compilation = compile(sources, request);
    for (const Diagnostic& diagnostic : compilation.diagnostics.all()) MESSAGE(diagnostic.message);
    REQUIRE(compilation.plan.has_value());
    RunOptions options;
    i64 count = 0;
    for (const auto& [recorded_name, kind] : recorded.at("arguments").items()) {
        ++count;
        for (const PlanInput& input : compilation.plan->inputs) {
            const Buffer& buffer = compilation.plan->buffers[static_cast<size_t>(input.buffer)];
            const auto at = std::find(outcome.arguments.begin(), outcome.arguments.end(), buffer.name);
            REQUIRE(at != outcome.arguments.end());
            std::string path = outcome.paths[static_cast<size_t>(at - outcome.arguments.begin())];
            std::replace(path.begin(), path.end(), '.', '_');
            while (path.starts_with("params_")) path = path.substr(7);
            if (path != recorded_name) continue;
            options.inputs[buffer.name] = make_tensor(buffer.dtype, buffer.global_shape, [&](i64 i) {
                if (kind.is_number()) return static_cast<double>((7 * i + count) % kind.get<i64>());
                const double wave = 0.4 * std::sin(0.7 * static_cast<double>(i) + static_cast<double>(count));
                return static_cast<double>(static_cast<float>(wave));
            });
        }
    }
    CHECK(options.inputs.size() == compilation.plan->inputs.size());
    Diagnostics diagnostics;
    const std::optional<RunResult> result = run_plan(*compilation.plan, options, diagnostics);
    REQUIRE(result.has_value());
    const double expected = recorded.at("results").at(0).at(0).get<double>();
    CHECK(std::fabs(values(result->outputs.at("loss")).at(0) - expected) <= 5e-6 * std::fabs(expected));
}

// Programs that JAX traced, with what it computed (tests/oracle/import_check.py --record writes them): imported,
// planned on an awkward layout, run on eight emulated devices, and equal.
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
#include <filesystem>

#include "test_paths.h"

using namespace shard;

namespace {

const std::string programs = SHARDC_SOURCE_DIR "/tests/importer/program/programs/";

ImportedProgram imported(const std::string& text, ImportAs as = ImportAs::unsaid) {
    Sources sources;
    const int file = sources.add("program.mlir", text);
    Diagnostics diagnostics;
    ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }};
    request.as = as;
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    REQUIRE_MESSAGE(program.has_value(), diagnostics.all().at(0).message);
    for (const Diagnostic& diagnostic : diagnostics.all()) // tables, and that nothing is donated
        CHECK((diagnostic.code == "W0808" || (as == ImportAs::step && diagnostic.code == "W0803")));
    return *program;
}

std::string program_text(const std::string& name) {
    std::string problem;
    return read_file(programs + name, problem).value_or("");
}

// The last dim that 4 divides over one axis, and the first other one that 2 divides over the other.
std::string split(const Shape& shape) {
    std::vector<std::string> entries(shape.size(), "~");
    for (size_t d = shape.size(); d-- > 0;)
        if (shape[d] % 4 == 0) {
            entries[d] = "model";
            break;
        }
    for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] % 2 == 0 && entries[d] == "~") {
            entries[d] = "data";
            break;
        }
    std::string text;
    for (const std::string& entry : entries) text += (text.empty() ? "" : ", ") + entry;
    return "[" + text + "]";
}

std::optional<Plan> plan_on(const std::string& model, const std::string& layout) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    Compilation compilation = compile(sources, request);
    for (const Diagnostic& diagnostic : compilation.diagnostics.all()) MESSAGE(diagnostic.message);
    return std::move(compilation.plan);
}

std::string awkward_layout(const Plan& plan, const std::string& model) {
    std::string inputs, params;
    const size_t begin_params = model.find("\nparams:\n");
    for (const PlanInput& input : plan.inputs) {
        const Buffer& buffer = plan.buffers[static_cast<size_t>(input.buffer)];
        // A module's own has the module before a dot.
        const bool is_param = buffer.name.find('.') != std::string::npos ||
                              model.find(fmt::format("\n  {}: ", buffer.name)) > begin_params;
        (is_param ? params : inputs) += fmt::format("  {}: {}\n", buffer.name, split(buffer.global_shape));
    }
    return "mesh: {data: 2, model: 4}\n" + (inputs.empty() ? inputs : "inputs:\n" + inputs) +
           (params.empty() ? params : "params:\n" + params);
}

// What the script gives to the n-th argument: 0.4 sin(0.7 i + n), its magnitude, or (7 i + n) % bound.
Tensor argument(const Buffer& buffer, const nlohmann::json& kind, i64 n) {
    return make_tensor(buffer.dtype, buffer.global_shape, [&](i64 i) {
        if (kind.is_number()) return static_cast<double>((7 * i + n) % kind.get<i64>());
        const double wave = 0.4 * std::sin(0.7 * static_cast<double>(i) + static_cast<double>(n));
        return static_cast<double>(static_cast<float>(kind == "positive" ? std::fabs(wave) : wave));
    });
}

} // namespace

TEST_CASE("programs that JAX traced give what JAX computed, planned on eight devices") {
    size_t count = 0;
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(programs)) {
        if (entry.path().extension() != ".json") continue;
        const std::string name = entry.path().stem();
        CAPTURE(name);
        ++count;
        const nlohmann::ordered_json recorded = nlohmann::ordered_json::parse(program_text(name + ".json"));
        const bool is_loss = recorded.at("results").size() == 1; // else with gradients, as JAX makes them
        const ImportedProgram program =
            imported(program_text(name + ".mlir"), is_loss ? ImportAs::unsaid : ImportAs::step);
        const std::string& model = program.model;
        std::vector<nlohmann::json> kinds; // by argument
        for (const auto& [argument, kind] : recorded.at("arguments").items()) kinds.push_back(kind);
        std::vector<std::string> arguments;
        for (const auto& [path, argument] : program.names) arguments.push_back(argument);
        REQUIRE(arguments.size() == kinds.size());
        const std::optional<Plan> single = plan_on(model, "mesh: {data: 2, model: 4}");
        REQUIRE(single.has_value());
        const std::optional<Plan> plan = plan_on(model, awkward_layout(*single, model));
        REQUIRE(plan.has_value());

        RunOptions options;
        for (const PlanInput& input : plan->inputs) {
            const Buffer& buffer = plan->buffers[static_cast<size_t>(input.buffer)];
            const std::ptrdiff_t at = std::find(arguments.begin(), arguments.end(), buffer.name) - arguments.begin();
            REQUIRE(at < std::ssize(arguments));
            options.inputs[buffer.name] = argument(buffer, kinds[static_cast<size_t>(at)], at + 1);
        }
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(*plan, options, diagnostics);
        REQUIRE(result.has_value());
        const nlohmann::ordered_json& results = recorded.at("results");
        REQUIRE(results.size() == plan->outputs.size());
        for (size_t i = 0; i < results.size(); ++i) {
            const std::vector<double> expected = results[i].get<std::vector<double>>();
            const std::vector<double> got = values(result->outputs.at(plan->outputs[i].name));
            REQUIRE(got.size() == expected.size());
            double largest = 0, difference = 0;
            for (size_t e = 0; e < got.size(); ++e) {
                largest = std::max(largest, std::fabs(expected[e]));
                difference = std::max(difference, std::fabs(got[e] - expected[e]));
            }
            CHECK_MESSAGE(difference <= 5e-6 * largest, "output ", i, ": ", difference, " of ", largest);
        }
    }
    CHECK(count == 83);
}

TEST_CASE("element types have their own names here, and numbers that are written as bits are of their type") {
    const std::string model = imported(R"(func.func @main(%x: tensor<4xf16>, %n: tensor<4xui8>, %w: tensor<2xui32>,
    %e: tensor<2xf8E4M3FN>) -> (tensor<4xf16>, tensor<4xui8>, tensor<4xf16>, tensor<2xui32>, tensor<2xf8E4M3FN>) {
  %large = stablehlo.constant dense<0x7BFF> : tensor<4xf16>
  %least = stablehlo.minimum %x, %large : tensor<4xf16>
  %k = stablehlo.constant dense<[1, 2, 255, 0]> : tensor<4xui8>
  %added = stablehlo.add %n, %k : tensor<4xui8>
  %held = stablehlo.constant dense<"0x003C00C0017C0000"> : tensor<4xf16>
  %both = stablehlo.maximum %x, %held : tensor<4xf16>
  %words = stablehlo.add %w, %w : tensor<2xui32>
  %squares = stablehlo.multiply %e, %e : tensor<2xf8E4M3FN>
  return %least, %added, %both, %words, %squares : tensor<4xf16>, tensor<4xui8>, tensor<4xf16>, tensor<2xui32>, tensor<2xf8E4M3FN>
})")
                                  .model;
    for (const char* part :
         {"dtype: f16", "dtype: u8", "dtype: u32", "dtype: f8e4m3fn", "65504", "[1, 2, 255, 0]", "[1, -2, .nan, 0]"}) {
        CAPTURE(model);
        CHECK_MESSAGE(model.find(part) != std::string::npos, part);
    }
}

TEST_CASE("one number is all elements, and a list of one number is one element") {
    const auto problem_of = [](const std::string& elements) {
        Sources sources;
        const int file =
            sources.add("program.mlir",
                        fmt::format("func.func @main() -> tensor<2x2xf32> {{\n  %0 = stablehlo.constant dense<{}> : "
                                    "tensor<2x2xf32>\n  return %0 : tensor<2x2xf32>\n}}\n",
                                    elements));
        Diagnostics diagnostics;
        import_program(sources, file, {}, diagnostics);
        return diagnostics.all().empty() ? "" : diagnostics.all().front().message;
    };
    CHECK(problem_of("1.0") == "");
    CHECK(problem_of("[[1.0, 2.0], [3.0, 4.0]]") == "");
    CHECK(problem_of("[[1.0]]").find("has another number of elements than its type says") != std::string::npos);
}

TEST_CASE("arguments and results without elements are none of the model's") {
    const std::string text =
        "func.func public @main(%x: tensor<4x8xf32> loc(\"x\"), %n: tensor<4x0xf32> loc(\"n\")) -> "
        "(tensor<4x0xf32>, tensor<4x8xf32>, tensor<4xf32>) {\n"
        "  %z = stablehlo.constant dense<2.0> : tensor<f32>\n"
        "  %0 = stablehlo.tanh %n : tensor<4x0xf32>\n"
        "  %1 = stablehlo.concatenate %0, %x, dim = 1 : (tensor<4x0xf32>, tensor<4x8xf32>) -> "
        "tensor<4x8xf32>\n"
        "  %2 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : "
        "(tensor<4x0xf32>, tensor<f32>) -> tensor<4xf32>\n"
        "  return %0, %1, %2 : tensor<4x0xf32>, tensor<4x8xf32>, tensor<4xf32>\n}\n";
    const ImportedProgram program = imported(text);
    CHECK(program.model ==
          "model: program\ninputs:\n  x: {shape: [4, 8]}\ngraph:\n  - result: {reshape: x, shape: [4, 8]}\n"
          "  - result_2: {constant: 2, shape: [4]}\noutputs: [result, result_2]\n");
    CHECK(program.names == std::vector<std::pair<std::string, std::string>>{{"x", "x"}});
    Sources sources;
    const int file = sources.add("program.mlir", "func.func @main(%n: tensor<0xf32>) -> tensor<0xf32> {\n"
                                                 "  return %n : tensor<0xf32>\n}\n");
    Diagnostics diagnostics;
    CHECK(!import_program(sources, file, {}, diagnostics).has_value());
    CHECK(diagnostics.all().at(0).code == "E0806");
}

TEST_CASE("a step's loss is what the program calls so, or its first result where that is a number without a name") {
    const auto outputs = [](const std::string& first, const std::string& second,
                            const std::string& type = "tensor<f32>") {
        const std::string model =
            imported(fmt::format("func.func @main(%x: {2}, %y: tensor<f32>) -> ({2} {{jax.result_info = \"{0}\"}}, "
                                 "tensor<f32> {{jax.result_info = \"{1}\"}}) {{\n  %0 = stablehlo.negate %x : {2}\n"
                                 "  %1 = stablehlo.tanh %y : tensor<f32>\n  return %0, %1 : {2}, tensor<f32>\n}}\n",
                                 first, second, type))
                .model;
        return model.substr(model.find("outputs: "));
    };
    CHECK(outputs("result[0]", "result[1]") == "outputs: [loss, result_1]\n");
    CHECK(outputs("result[1]['grad_norm']", "result[1]['loss']") == "outputs: [result_1_grad_norm, loss]\n");
    CHECK(outputs("result['accuracy']", "result[1]") == "outputs: [result_accuracy, result_1]\n");
    CHECK(outputs("result['top5']", "result['top1']") == "outputs: [result_top5, result_top1]\n");
    CHECK(outputs("result[0]", "result[1]", "tensor<4xf32>") == "outputs: [result_0, result_1]\n");
}

TEST_CASE("functions call each other 64 deep, main counted, and no deeper") {
    const auto chain = [](int functions) {
        const std::string type = "tensor<4xf32>";
        std::string text;
        for (int i = 0; i < functions; ++i) {
            const std::string does = i + 1 < functions ? fmt::format("call @f{}(%a) : ({}) -> {}", i + 1, type, type)
                                                       : "stablehlo.negate %a : " + type;
            const std::string name = i == 0 ? "public @main" : fmt::format("private @f{}", i);
            text += fmt::format("func.func {}(%a: {}) -> {} {{\n  %0 = {}\n  return %0 : {}\n}}\n", name, type, type,
                                does, type);
        }
        Sources sources;
        const int file = sources.add("program.mlir", text);
        Diagnostics diagnostics;
        const bool read = import_program(sources, file, {}, diagnostics).has_value();
        return read ? std::string("read") : diagnostics.all().at(0).code;
    };
    CHECK(chain(64) == "read");
    CHECK(chain(65) == "E0802");
}

TEST_CASE("the generic form of a program is the same model") {
    for (const std::string name : {"mlp_loss", "order"})
        CHECK(imported(program_text(name + ".generic.mlir")).model == imported(program_text(name + ".mlir")).model);
}

TEST_CASE("ops that no recorded program has become what their names say") {
    const auto one = [](const std::string& op, const std::string& type) {
        return imported("func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> " + type + " {\n  %0 = " + op +
                        "\n  return %0 : " + type + "\n}\n")
            .model;
    };
    CHECK(one("stablehlo.remainder %a, %b : tensor<4xf32>", "tensor<4xf32>").find("{rem: [arg0, arg1]}") !=
          std::string::npos);
    CHECK(one("stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<4xi1>", "tensor<4xi1>").find("{is_finite: arg0}") !=
          std::string::npos);
    CHECK(one("chlo.erfc %a : tensor<4xf32> -> tensor<4xf32>", "tensor<4xf32>").find("{erfc: arg0}") !=
          std::string::npos);
    // An array without elements stands beside it.
    CHECK(one("stablehlo.tanh %a : tensor<4xf32>\n  %1 = stablehlo.constant dense<> : tensor<0xi32>", "tensor<4xf32>")
              .find("{tanh: arg0}") != std::string::npos);
    CHECK(one("stablehlo.optimization_barrier %a : tensor<4xf32>", "tensor<4xf32>").find("reshape: arg0") !=
          std::string::npos);
}

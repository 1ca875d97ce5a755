// Programs that JAX traced with their gradients, beside a step of their imported loss.
#include "cli/run/own_gradients.h"
#include "plans/disk/file.h"

#include <doctest/doctest.h>

#include "test_paths.h"

namespace shard {

namespace {

std::string recorded(const std::string& name) {
    std::string problem;
    return read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/" + name + ".mlir", problem).value_or("");
}

ImportedProgram imported(const std::string& text, ImportAs as) {
    Sources sources;
    Diagnostics diagnostics;
    ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }, as,
                             "sgd: {learning_rate: 1}"};
    const std::optional<ImportedProgram> program =
        import_program(sources, sources.add("program.mlir", text), request, diagnostics);
    REQUIRE(program.has_value());
    return *program;
}

GradientComparison compared(const std::string& text) {
    Diagnostics diagnostics;
    const std::optional<GradientComparison> made =
        compare_gradients(imported(text, ImportAs::loss), imported(text, ImportAs::step), diagnostics);
    REQUIRE_MESSAGE(made.has_value(), diagnostics.all().at(0).message);
    return *made;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("gradients of recorded programs are those of their losses, but for the rounding of their constants") {
    for (const auto& [name, count] :
         {std::pair("mlp_gradients", 4), std::pair("convnet_gradients", 2), std::pair("lstm_gradients", 4),
          std::pair("empty_gradients", 1), std::pair("manual_gradients", 2)}) {
        CAPTURE(name);
        const GradientComparison made = compared(recorded(name));
        CHECK(std::ssize(made.parameters) == count);
        CHECK(made.without.empty());
        for (const GradientComparison::Parameter& parameter : made.parameters) {
            CAPTURE(parameter.name);
            CHECK(made.is_same(parameter));
            CHECK(parameter.difference < 1e-7);
        }
    }
}

TEST_CASE("constraints of the program's mesh are none on one device, and in bf16 more is rounding") {
    std::string text = recorded("mlp_gradients");
    const size_t module = text.find("module @"), body = text.find("{\n", text.find("func.func", module));
    const size_t product = text.find("stablehlo.dot_general", body);
    REQUIRE(product != std::string::npos);
    const size_t line = text.rfind('\n', product) + 1, end = text.find('\n', product);
    const std::string value = text.substr(text.find('%', line), text.find(" =", line) - text.find('%', line));
    const std::string arrow = text.substr(text.rfind("-> ", end) + 3, end - text.rfind("-> ", end) - 3);
    const std::string type = arrow.substr(0, arrow.find('>') + 1);
    text.insert(end + 1, "    %constrained = sdy.sharding_constraint " + value +
                             " <@mesh, [{\"data\"}, {\"model\"}]> : " + type + "\n");
    text.insert(text.find('\n', module) + 1, "  sdy.mesh @mesh = <[\"data\"=2, \"model\"=4]>\n");
    const size_t behind = text.find(value, text.find("%constrained =") + 60);
    REQUIRE(behind != std::string::npos);
    text.replace(behind, value.size(), "%constrained");
    const GradientComparison made = compared(text);
    CHECK(made.parameters.size() == 4);
    CHECK(made.allowed == 1e-5);
    for (const GradientComparison::Parameter& parameter : made.parameters) CHECK(made.is_same(parameter));
}

TEST_CASE("a gradient that the program makes otherwise is another") {
    const std::string changed = with(recorded("empty_gradients"), "stablehlo.transpose %30, dims = [1, 0]",
                                     "stablehlo.transpose %30, dims = [0, 1]");
    const GradientComparison made = compared(changed);
    REQUIRE(made.parameters.size() == 1);
    CHECK(!made.is_same(made.parameters[0]));
    CHECK(made.parameters[0].difference > 0.1);
}

} // namespace shard

// What updates and lookups of a batch become. That the numbers are JAX's is proved by the recorded programs
// (tests/importer/program).
#include "importer/program/import_program.h"
#include "plans/disk/file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "test_paths.h"

using namespace shard;

namespace {

// The graph, or the first problem.
std::string imported(const std::string& text) {
    Sources sources;
    const int file = sources.add("p.mlir", text);
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program =
        import_program(sources, file, {[](const std::string&) { return false; }}, diagnostics);
    if (!program) return diagnostics.all().at(0).code + " " + diagnostics.all().at(0).message;
    const size_t begin = program->model.find("graph:\n");
    return program->model.substr(begin, program->model.find("outputs:") - begin);
}

// c.at[...].set(u) of a cache (8, 16, 4), by places `dims` of (8,) that the batch goes along.
std::string written(const std::string& cache, const std::string& updates, const std::string& dims,
                    const std::string& applied = "stablehlo.return %b : tensor<f32>") {
    return imported(fmt::format(
        R"(func.func @main(%c: tensor<{0}xf32>, %p: tensor<8x1xi32>, %u: tensor<{1}xf32>) -> tensor<{0}xf32> {{
  %r = "stablehlo.scatter"(%c, %p, %u) <{{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<{2}, index_vector_dim = 1>, unique_indices = false}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    {3}
  }}) : (tensor<{0}xf32>, tensor<8x1xi32>, tensor<{1}xf32>) -> tensor<{0}xf32>
  return %r : tensor<{0}xf32>
}}
)",
        cache, updates, dims, applied));
}

const std::string along_batch = "input_batching_dims = [0], scatter_indices_batching_dims = [0], "
                                "scatter_dims_to_operand_dims = [1]";

std::string recorded(const std::string& name) {
    std::string problem;
    return imported(
        read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/" + name + ".mlir", problem).value_or(""));
}

size_t count(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

} // namespace

TEST_CASE("one place of each of a batch is chosen where it is") {
    CHECK(written("8x16x4", "8x4", "update_window_dims = [1], inserted_window_dims = [1], " + along_batch) ==
          "graph:\n"
          "  - reshape: {reshape: arg1, shape: [8]}\n"
          "  - iota: {iota: [16]}\n"
          "  - reshape_2: {reshape: iota, shape: [16, 1]}\n"
          "  - reshape_3: {reshape: reshape, shape: [8, 1, 1]}\n"
          "  - eq: {eq: [reshape_2, reshape_3]}\n"
          "  - reshape_4: {reshape: arg2, shape: [8, 1, 4]}\n"
          "  - result: {select: [eq, reshape_4, arg0]}\n");
    const std::string product =
        written("8x16x4", "8x4", "update_window_dims = [1], inserted_window_dims = [1], " + along_batch,
                "%m = stablehlo.multiply %a, %b : tensor<f32>\n    stablehlo.return %m : tensor<f32>");
    CHECK_MESSAGE(product.find("  - mul: {mul: [arg0, reshape_4]}\n  - result: {select: [eq, mul, arg0]}\n") !=
                      std::string::npos,
                  product);
}

TEST_CASE("a window of several places is looked up at its own, and left out where it does not fit") {
    const std::string graph = written("8x16x4", "8x3x4", "update_window_dims = [1, 2], " + along_batch);
    CHECK(graph.find("{gather: [arg2, ") != std::string::npos);
    CHECK(graph.find(", dim: 1, batch: [[0, 0]]}") != std::string::npos);
    CHECK(graph.find(", 13]}") != std::string::npos); // where it begins at most
    CHECK(graph.find("scatter") == std::string::npos);
}

TEST_CASE("programs of batches keep them: nothing of the cache is put together") {
    const std::string updates = recorded("batched_updates");
    CAPTURE(updates);
    CHECK(count(updates, "{scatter_max: ") == 3); // one is .max, two have several updates
    CHECK(count(updates, "{scatter_add: ") == 2);
    CHECK(count(updates, "{reduce_prod: ") == 1);
    CHECK(count(updates, "{reshape: c, ") == 3); // as one of a stack, twice, and as a wider one
    const std::string lookups = recorded("batched_lookups");
    CAPTURE(lookups);
    CHECK(count(lookups, "transpose: c,") == 0); // the program's own is turned back
    CHECK(count(lookups, "batch: [[0, 0]]") == 7);
    CHECK(count(lookups, "{slice: c, dim: [0], start: [1], limit: [2]") == 1);
}

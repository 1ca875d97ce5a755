// What is found inside of manual regions, and among layers that hold one. That the numbers stay is proved by the same
// programs (tests/importer/program).
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

std::string loss_of(const std::string& name) { return imported_program(recorded_program(name)).model; }
bool has(const std::string& model, const std::string& part) { return model.find(part) != std::string::npos; }

} // namespace

TEST_CASE("loops and layers in the program of one device are written once") {
    const std::string model = loss_of("region_of_layers");
    CAPTURE(model);
    CHECK(has(model, "        body:\n"
                     "          - add, dynamic_update_slice: {repeat: block, in: x, over: stack, stack: reduce_sum, "
                     "scan: true}\n"
                     "          - mul: {block_2: [rows_0, add], name: rows_0_2}\n"));
    CHECK(has(model, "  block_2:\n    inputs: [rows_0, x]\n    graph:\n"));
}

TEST_CASE("a region that is given constants alone is made once for all layers") {
    const std::string model = loss_of("regions_of_constants");
    CAPTURE(model);
    CHECK(has(model, "        in: {x: {of: cast, mesh: [model]}}\n"));
    CHECK(model.find("manual:") == model.rfind("manual:"));
    CHECK(has(model, "{repeat: block, times: 4, in: [x, reduce_sum], name: stack, scan: true}\n"));
}

TEST_CASE("what devices make together once is made once") {
    const std::string model = loss_of("shared_sum");
    CAPTURE(model);
    const size_t made = model.find("{psum: ");
    CHECK(made > model.find("        body:\n"));
    CHECK(model.find("{psum: ", made + 1) == std::string::npos);
    CHECK(has(model, "- sub_2: {block: [x, rows_0, psum], name: rows_0_2}\n"));
}

TEST_CASE("layers that each hold the program of one device are one, and only what is read leaves it") {
    const std::string model = loss_of("layers_of_regions");
    CAPTURE(model);
    CHECK(has(model, "      - tanh:\n"
                     "          manual:\n"
                     "            in: {x: [data, ~], x_2: {of: stack, mesh: [~, model]}}\n"
                     "            out: {tanh: [data, ~]}\n"));
    CHECK(has(model, "  - mul: {repeat: block, times: 3, in: x, name: stack, scan: true}\n"
                     "  - mul_2: {repeat: block_2, times: 3, in: mul, name: rows}\n"));
}

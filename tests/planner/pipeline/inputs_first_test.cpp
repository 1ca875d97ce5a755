// What inputs split leads where parameters are split over the same axes, where that is faster.
#include "planner/pipeline/inputs_first.h"
#include "tests/support/planned_case.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {
namespace {

// Patches of an image, and a block: the convolution's channels and all parameters lie over the axis of the images.
constexpr const char* patches = R"(model: patches
axes: {batch: 4, embed: 32, mlp: 64}
inputs: {image: {shape: [4, 3, 32, 32]}}
params:
  patch: {shape: [32, 3, 8, 8]}
  offset: {axes: [embed]}
  up: {axes: [mlp, embed]}
  down: {axes: [embed, mlp]}
graph:
  - x: {conv: [image, patch], dims: "nihw,oihw->nohw", strides: [8, 8]}
  - x: {reshape: x, shape: [4, 32, 16]}
  - x: {transpose: x, permutation: [0, 2, 1]}
  - x: {add: [x, offset]}
  - h: {gelu: {einsum: "btd,fd->btf", in: [x, up]}}
  - y: {einsum: "btf,df->btd", in: [h, down]}
  - y: {add: [x, y]}
outputs: [y]
train: {loss: {mean: y}, optimizer: {sgd: {learning_rate: 0.1}}}
)";
constexpr const char* mesh = "mesh: {data: 2, model: 4}\n";
constexpr const char* params =
    "params: {patch: [model, ~, ~, data], offset: [model], up: [model, data], down: [model, data]}\n";
constexpr const char* images = "inputs: {image: [model, ~, ~, data]}\n";

struct Planned : PlannedCase {
    explicit Planned(const std::string& layout, const std::string& mode = "forward", bool unimproved = false)
        : PlannedCase(patches, layout, mode, unimproved) {}

    // Whether there is another order to try.
    bool has_other_order() const { return seed_inputs_first(*compilation.graph, *compilation.seeds).has_value(); }
};

std::string together(const std::string& a, const std::string& b) { return mesh + a + b; }

} // namespace

TEST_CASE("images stay where the input has them, and parameters over the same axis come to them") {
    for (const char* mode : {"forward", "train"}) {
        CAPTURE(mode);
        Planned made(together(images, params), mode);
        CHECK(10 * made.sent < 9 * Planned(together(images, params), mode, true).sent);
        made.check_proof();
    }
}

TEST_CASE("there is no other order where nothing is split twice, or where the layout says which comes first") {
    CHECK(Planned(together(images, params), "forward", true).has_other_order());
    CHECK(!Planned(together("inputs: {image: [data, ~, ~, ~]}\n",
                            "params: {patch: [model, ~, ~, ~], offset: [model], up: [model, ~], down: [~, model]}\n"))
               .has_other_order());
    CHECK(
        !Planned(together(images, "params: {patch: [\"model@1\", ~, ~, data], offset: [model]}\n")).has_other_order());
    // Stored over the batch's axis, and gathered wherever it is read.
    CHECK(!Planned(together("inputs: {image: [data, ~, ~, ~]}\n", "fsdp: {axis: data, min_size: 1}\n"))
               .has_other_order());
}

// Its priority is none of the user's, before which the pass `weights` stops (planner/pipeline/products_as_weights.h).
TEST_CASE("products lie as their weights where inputs lead, too") {
    std::string text = patches;
    const auto add_behind = [&](const std::string& what, const std::string& more) {
        text.insert(text.find(what) + what.size(), more);
    };
    add_behind("image: {shape: [4, 3, 32, 32]}", ", tokens: {shape: [8, 20, 32]}");
    add_behind("down: {axes: [embed, mlp]}\n", "  gate: {shape: [32, 128]}\n  back: {shape: [128, 32]}\n");
    add_behind("- y: {add: [x, y]}\n",
               "  - g: {silu: {dot: [tokens, gate]}}\n  - z: {add: [tokens, {dot: [g, back]}]}\n");
    add_behind("outputs: [y", ", z");
    PlannedCase made(text, std::string(mesh) +
                               "params: {patch: [model, ~, ~, data], offset: [model], up: [model, data], down: [model, "
                               "data], gate: [~, model], back: [model, ~]}\n"
                               "inputs: {image: [model, ~, ~, data], tokens: [data, model, ~]}\n");
    const Compilation& c = made.compilation;
    const auto is_put_behind = [](const std::optional<Sharding>& seed) {
        return seed && std::any_of(seed->dims.begin(), seed->dims.end(),
                                   [](const DimSharding& dim) { return dim.priority == after_inputs; });
    };
    CHECK(std::any_of(c.seeds->values.begin(), c.seeds->values.end(), is_put_behind));
    CHECK(std::any_of(c.propagation->log.begin(), c.propagation->log.end(),
                      [](const Decision& why) { return why.cause == Decision::Cause::weight; }));
    made.check_proof();
}

} // namespace shard

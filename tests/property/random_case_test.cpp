// What random models are made of.
#include "planner/graph/op_def.h"
#include "tests/support/model_harness.h"
#include "tests/support/random_case.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace shard {

TEST_CASE("property: every op comes in random models") {
    std::map<std::string_view, int> seen;
    std::mt19937 numbers(7);
    for (int n = 0; n < 4000; ++n) {
        std::vector<std::uint32_t> tape(90);
        for (std::uint32_t& number : tape) number = numbers() % 1000;
        RandomCaseOptions options;
        options.integers_only = n % 2 == 1;
        Built built = build_text(random_case(tape, options).model);
        INFO(built.problems());
        REQUIRE(built.graph.has_value());
        for (const Node& node : built.graph->nodes)
            if (node.op() != nullptr) ++seen[node.op()->name];
    }
    // But what reverse mode makes (gradients_prove_test), what devices say to each other in regions (device_ops_test),
    // and fold_in, which is written as fold_in_word.
    for (const OpDef* op : all_ops()) {
        const std::string_view name = op->name;
        const bool is_made = op->internal || op->device != nullptr || name == "axis_size" || name == "fold_in" ||
                             name.ends_with("_gradient") || name.starts_with("attention_");
        INFO(name);
        CHECK((is_made || seen.contains(name)));
    }
}

} // namespace shard

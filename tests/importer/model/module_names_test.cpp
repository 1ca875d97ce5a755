// What parameters of layers that are one module are called.
#include "importer/model/module_names.h"
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

// By parameter and repetition, what the model calls what the program calls so.
std::vector<std::vector<std::string>> renamed(const std::vector<std::vector<std::string>>& program) {
    Draft draft;
    DraftBlock block;
    for (const std::vector<std::string>& names : program) {
        block.params.emplace_back();
        for (const std::string& name : names) block.params.back().push_back(draft.input(name, {DType::f32, {4}}, true));
    }
    block.entries.assign(program[0].size(), {});
    NameGiver modules, names;
    module_names(draft, block, modules, names);
    std::vector<std::vector<std::string>> model;
    for (const std::vector<DraftId>& param : block.params) {
        model.emplace_back();
        for (const DraftId id : param) model.back().push_back(draft.name_of(id));
    }
    return model;
}

using Names = std::vector<std::vector<std::string>>;

} // namespace

TEST_CASE("parameters that count their layers keep the number, by a dot") {
    CHECK(renamed({{"h_0_w", "h_1_w", "h_2_w"}, {"ln_0_b", "ln_1_b", "ln_2_b"}, {"h_0_v", "h_1_v", "h_2_v"}}) ==
          Names{{"h.0.w", "h.1.w", "h.2.w"}, {"h.0.ln_b", "h.1.ln_b", "h.2.ln_b"}, {"h.0.v", "h.1.v", "h.2.v"}});
}

TEST_CASE("a number of the model is never that of another layer of the program") {
    CHECK(renamed({{"h_2_w", "h_3_w"}}) == Names{{"h_from_2.0.w", "h_from_2.1.w"}});
    // Two of them in each layer, as flax numbers them.
    CHECK(renamed({{"Dense_0_w", "Dense_2_w"}, {"Dense_1_w", "Dense_3_w"}, {"LN_0_b", "LN_1_b"}}) ==
          Names{{"block.0.Dense_0_w", "block.1.Dense_0_w"},
                {"block.0.Dense_1_w", "block.1.Dense_1_w"},
                {"block.0.LN_0_b", "block.1.LN_0_b"}});
    CHECK(renamed({{"h_2_w", "h_1_w", "h_0_w"}}) == Names{{"block.0.h_2_w", "block.1.h_2_w", "block.2.h_2_w"}});
    CHECK(renamed({{"first", "second"}}) == Names{{"block.0.first", "block.1.first"}});
}

TEST_CASE("what a module takes of stacks is called after them, without what all of their names begin with") {
    const std::string model = imported_program(recorded_program("stacked_layers")).model;
    CAPTURE(model);
    CHECK(model.find(
              "inputs: [x, positions, reshape, reshape_2, attention_norm_entry, down_entry, gate_entry, key_entry, "
              "mlp_norm_entry, out_entry, query_entry, up_entry, value_entry]") != std::string::npos);
    CHECK(model.find("checkpoint") == std::string::npos); // what JAX calls a layer that is computed again
}

} // namespace shard

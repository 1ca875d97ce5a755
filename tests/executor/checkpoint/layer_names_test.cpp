// Blocks that are scanned or written out: a checkpoint of one serves the other, if it holds just these layers.
#include "executor/checkpoint/layer_names.h"
#include "plans/disk/file.h"
#include "tests/executor/checkpoint/kept_tensors.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

const Mesh mesh_2x4 = make_mesh({{"data", 2}, {"model", 4}}), mesh_8x1 = make_mesh({{"data", 8}, {"model", 1}}),
           one_device = make_mesh({{"data", 1}, {"model", 1}});

// w is (8, 16), b (4,); 4 layers. A layer's tensor has the values of its part of the stack.
double layered_value(const std::string& name, i64 index) {
    for (i64 layer = 0; layer < 4; ++layer)
        if (name.starts_with("block." + std::to_string(layer) + "."))
            return static_cast<double>((index + layer * (name.ends_with("b") ? 4 : 128)) % 1000);
    return static_cast<double>(index % 1000);
}

Plan scanned(const Mesh& mesh, const std::string& w, const std::string& mu, const std::string& b) {
    return keeping_plan(mesh, {{"block.w", DType::f32, {4, 8, 16}, w, Role::param, {1}},
                               {"block.b", DType::f32, {4, 4}, b, Role::param, {1}},
                               {"head", DType::f32, {4, 4}, ""},
                               {"block.w.mu", DType::f32, {4, 8, 16}, mu, Role::state, {1}}});
}

Plan written_out(const Mesh& mesh, const std::string& w, const std::string& mu, const std::string& b) {
    std::vector<Kept> tensors = {{"head", DType::f32, {4, 4}, ""}};
    for (int layer = 0; layer < 4; ++layer) {
        const std::string block = "block." + std::to_string(layer) + ".";
        tensors.push_back({block + "w", DType::f32, {8, 16}, w});
        tensors.push_back({block + "b", DType::f32, {4}, b});
        tensors.push_back({block + "w.mu", DType::f32, {8, 16}, mu, Role::state});
    }
    return keeping_plan(mesh, tensors);
}

using Found = std::vector<LayerSource>;

Found found(const std::vector<std::string>& stored, const std::vector<std::string>& planned, const Shape& shape,
            const std::vector<i64>& stacked = {}) {
    LayerNames names;
    for (const std::string& name : stored) names.add_stored(name);
    for (const std::string& name : planned) names.add_planned(name);
    return names.find(planned.front(), shape, stacked);
}

} // namespace

TEST_CASE("layers: a stack is all its layers, a layer a part of the stack, and a name that is there is itself") {
    CHECK(found({"block.0.w", "block.1.w"}, {"block.w"}, {2, 8}, {1}) ==
          Found{{"block.0.w", {}, {0}, {}}, {"block.1.w", {}, {1}, {}}});
    CHECK(found({"block.w"}, {"block.1.w", "block.0.w"}, {8}) == Found{{"block.w", {1}, {}, {2}}});
    CHECK(found({"block.w", "block.0.w", "block.1.w"}, {"block.w"}, {2, 8}, {1}) == Found{{"block.w", {}, {}, {}}});
    CHECK(found({"w"}, {"w"}, {}) == Found{{"w", {}, {}, {}}});
    // More than nine layers are in order, not in the order of their texts.
    std::vector<std::string> many;
    for (int layer = 0; layer < 12; ++layer) many.push_back("block." + std::to_string(layer) + ".w");
    CHECK(found(many, {"block.w"}, {12}, {1})[2].stored == "block.2.w");
}

TEST_CASE("layers: repeats in repeats") {
    // Both written out, and the inner one or the outer one scanned.
    const std::vector<std::string> both = {"a.0.b.0.w", "a.0.b.1.w", "a.0.b.2.w",
                                           "a.1.b.0.w", "a.1.b.1.w", "a.1.b.2.w"};
    const std::vector<std::string> inner = {"a.0.b.w", "a.1.b.w"}, outer = {"a.b.0.w", "a.b.1.w", "a.b.2.w"};
    CHECK(found(both, {"a.1.b.w", "a.0.b.w"}, {3, 8}, {2}) ==
          Found{{"a.1.b.0.w", {}, {0}, {}}, {"a.1.b.1.w", {}, {1}, {}}, {"a.1.b.2.w", {}, {2}, {}}});
    CHECK(found(both, {"a.b.2.w", "a.b.0.w", "a.b.1.w"}, {2, 8}, {1}) ==
          Found{{"a.0.b.2.w", {}, {0}, {}}, {"a.1.b.2.w", {}, {1}, {}}});
    CHECK(found(inner, {"a.b.2.w", "a.b.0.w", "a.b.1.w"}, {2, 8}, {1}) ==
          Found{{"a.0.b.w", {2}, {0}, {3}}, {"a.1.b.w", {2}, {1}, {3}}});
    CHECK(found(outer, {"a.1.b.w", "a.0.b.w"}, {3, 8}, {2}) ==
          Found{{"a.b.0.w", {1}, {0}, {2}}, {"a.b.1.w", {1}, {1}, {2}}, {"a.b.2.w", {1}, {2}, {2}}});
    // Every layer of all, outer first.
    CHECK(found({"a.b.w"}, {"a.1.b.0.w", "a.0.b.0.w"}, {8}) == Found{{"a.b.w", {1, 0}, {}, {2, 1}}});
    // Both scanned. Of the stack of stacks the name alone does not say which of two equal dims a number is for.
    const i64 every = LayerSource::every;
    CHECK(found({"a.0.b.w", "a.1.b.w"}, {"a.b.w"}, {2, 2, 8}, {1, 2}) ==
          Found{{"a.0.b.w", {every}, {0, every}, {2}}, {"a.1.b.w", {every}, {1, every}, {2}}});
    CHECK(found({"a.b.0.w", "a.b.1.w"}, {"a.b.w"}, {2, 2, 8}, {1, 2}) ==
          Found{{"a.b.0.w", {every}, {every, 0}, {2}}, {"a.b.1.w", {every}, {every, 1}, {2}}});
    CHECK(found({"a.b.w"}, {"a.b.1.w", "a.b.0.w"}, {2, 8}, {1}) == Found{{"a.b.w", {every, 1}, {every}, {2, 2}}});
    CHECK(found({"a.b.w"}, {"a.1.b.w", "a.0.b.w"}, {2, 8}, {2}) == Found{{"a.b.w", {1, every}, {every}, {2, 2}}});
    CHECK(found(both, {"a.b.w"}, {2, 3, 8}, {1, 2})[4] == LayerSource{"a.1.b.1.w", {}, {1, 1}, {}});
    // A module around a scanned block is no loop, whatever its parameters' sizes.
    CHECK(found({"a.b.0.w", "a.b.1.w"}, {"a.b.w"}, {2, 2, 8}, {2}) ==
          Found{{"a.b.0.w", {}, {0}, {}}, {"a.b.1.w", {}, {1}, {}}});
    // Two ways to read it are none.
    std::vector<std::string> two = inner;
    two.insert(two.end(), outer.begin(), outer.end());
    CHECK(found(two, {"a.1.b.2.w", "a.0.b.0.w", "a.0.b.1.w", "a.0.b.2.w", "a.1.b.0.w", "a.1.b.1.w"}, {8}).empty());
}

TEST_CASE("layers: what is no layer, too few of them or too many are not taken") {
    const auto refused = [](const std::vector<std::string>& stored, const std::vector<std::string>& planned) {
        const bool is_stack = planned.front() == "block.w" || planned.front() == "block.v";
        return found(stored, planned, {2, 8}, is_stack ? std::vector<i64>{1} : std::vector<i64>()).empty();
    };
    CHECK(refused({"block.0.w"}, {"block.w"}));
    CHECK(refused({"block.0.w", "block.2.w"}, {"block.w"}));
    CHECK(refused({"block.0.w", "block.1.w", "block.2.w"}, {"block.w"}));
    CHECK(refused({"block_0.w", "block_1.w"}, {"block.w"})); // two blocks of these names
    CHECK(refused({"block.w"}, {"block_0.w", "block_1.w"}));
    CHECK(refused({"block.00.w", "block.01.w"}, {"block.w"}));
    CHECK(refused({"block.0.w", "block.1.w"}, {"block.v"}));
    CHECK(refused({"block.0.w", "block.1.w"}, {"block.2.w"})); // of a deeper model
    CHECK(refused({"block.w"}, {"block.1.w"}));                // the plan has no layer 0
    CHECK(refused({".w"}, {"w"}));
    CHECK(refused({"block.0.1.w", "block.0.0.w"}, {"block.1.w"}));
    CHECK(found({"block.0.w"}, {"block.w"}, {}, {1}).empty());
    CHECK(found({"block.0.w", "block.1.w"}, {"block.w"}, {2, 8}).empty()); // a parameter that is no stack
}

TEST_CASE("checkpoint: scanned blocks are restored into blocks written out, and back, on any mesh") {
    const std::vector<Plan> plans = {
        scanned(mesh_2x4, "[- | data | model]", "[model | - | data]", "[- | model]"),
        scanned(mesh_8x1, "[- | data | -]", "[- | data | -]", "[- | -]"),
        scanned(one_device, "[- | - | -]", "[- | - | -]", "[- | -]"),
        written_out(mesh_2x4, "[model | data]", "[data,model | -]", "[model]"),
        written_out(mesh_8x1, "[- | data]", "[data | -]", "[-]"),
        written_out(one_device, "[- | -]", "[- | -]", "[-]"),
    };
    for (size_t from = 0; from < plans.size(); ++from) {
        const std::string folder = fresh_folder("layers");
        save(plans[from], folder, 3, layered_value);
        for (size_t to = 0; to < plans.size(); ++to) {
            CAPTURE(from);
            CAPTURE(to);
            check_restored(plans[to], folder, layered_value);
        }
    }
}

TEST_CASE("checkpoint: stacks of stacks, written out in part or in full") {
    // a.b.w is (2, 2, 8): layers of a, layers of b.
    const auto value = [](const std::string& name, i64 index) {
        const auto number_after = [&name](const std::string& word) -> i64 {
            const size_t at = name.find(word + ".");
            const char next = at == std::string::npos ? 'x' : name[at + word.size() + 1];
            return next >= '0' && next <= '9' ? next - '0' : -1;
        };
        const i64 a = number_after("a"), b = number_after("b"), rest = index % 8, first = index / 8;
        // What the name does not say, the index does: of two stacked dims a is the outer one.
        const i64 layer_a = a >= 0 ? a : b >= 0 ? first : first / 2, layer_b = b >= 0 ? b : first % 2;
        return static_cast<double>(100 * layer_a + 10 * layer_b + rest);
    };
    const auto plan = [](const Mesh& mesh, const std::string& split, const std::vector<Kept>& tensors) {
        std::vector<Kept> all = tensors;
        for (Kept& kept : all) {
            kept.dtype = DType::f32;
            kept.shape.assign(kept.layers.size(), 2);
            kept.shape.push_back(8);
            kept.sharding = "[" + std::string(kept.layers.size() > 0 ? "- | " : "") +
                            std::string(kept.layers.size() > 1 ? "model | " : "") + split + "]";
        }
        return keeping_plan(mesh, all);
    };
    const auto named = [](const std::vector<std::string>& names, const std::vector<i64>& layers) {
        std::vector<Kept> tensors;
        for (const std::string& name : names) tensors.push_back({name, DType::f32, {}, "", Role::param, layers});
        return tensors;
    };
    const Mesh mesh_4x2 = make_mesh({{"data", 4}, {"model", 2}});
    std::vector<Plan> plans;
    for (const std::vector<Kept>& tensors :
         {named({"a.b.w"}, {1, 2}), named({"a.0.b.w", "a.1.b.w"}, {2}), named({"a.b.0.w", "a.b.1.w"}, {1}),
          named({"a.0.b.0.w", "a.0.b.1.w", "a.1.b.0.w", "a.1.b.1.w"}, {})}) {
        plans.push_back(plan(mesh_4x2, "data", tensors));
        plans.push_back(plan(make_mesh({{"data", 1}, {"model", 1}}), "-", tensors));
    }
    for (size_t from = 0; from < plans.size(); ++from) {
        const std::string folder = fresh_folder("stacks");
        save(plans[from], folder, 3, value);
        for (size_t to = 0; to < plans.size(); ++to) {
            CAPTURE(from);
            CAPTURE(to);
            check_restored(plans[to], folder, value);
        }
    }
}

TEST_CASE("checkpoint: of a stack a device reads its layer's bytes, of layers its part of each") {
    if (bytes_read() < 0) return; // another operating system
    const auto check = [](const Plan& from, const Plan& to, const std::vector<i64>& start) {
        const std::string folder = fresh_folder("layer_ranges");
        save(from, folder, 1);
        Diagnostics diagnostics;
        std::optional<Checkpoint> checkpoint = Checkpoint::open(folder, diagnostics);
        REQUIRE(checkpoint);
        REQUIRE(checkpoint->select(to, SaveWhat::all, {}, diagnostics));
        const Buffer& w = to.buffers[1];
        std::vector<std::byte> block(static_cast<size_t>(w.bytes));
        const i64 before = bytes_read();
        std::string problem;
        REQUIRE(checkpoint->read(w, start, block.data(), problem));
        CHECK(bytes_read() - before >= w.bytes);
        CHECK(bytes_read() - before < w.bytes + 4096);
    };
    const Mesh mesh = make_mesh({{"x", 4}});
    const std::vector<Kept> stack = {{"other", DType::f32, {1024}, ""},
                                     {"block.w", DType::f32, {2, 64, 8192}, "[- | - | x]", Role::param, {1}}};
    const std::vector<Kept> layers = {{"block.0.w", DType::f32, {64, 8192}, "[x | -]"},
                                      {"block.1.w", DType::f32, {64, 8192}, "[- | x]"},
                                      {"other", DType::f32, {1024}, ""}};
    check(keeping_plan(mesh, stack), keeping_plan(mesh, layers), {0, 2048});
    check(keeping_plan(mesh, layers), keeping_plan(mesh, stack), {0, 0, 4096});
}

TEST_CASE("checkpoint: layers that do not fit the stack are refused as if they were not there") {
    const std::string folder = fresh_folder("layer_misfits");
    const auto keeping = [](const std::vector<Kept>& tensors) { return keeping_plan(one_device, tensors); };
    const auto f32 = [](const std::string& name, const Shape& shape) {
        return Kept{name, DType::f32,  shape,
                    "",   Role::param, shape.size() == 2 ? std::vector<i64>{1} : std::vector<i64>()};
    };
    const auto last_note = [](const Plan& plan, const std::string& path) {
        Diagnostics diagnostics;
        std::optional<Checkpoint> checkpoint = Checkpoint::open(path, diagnostics);
        REQUIRE(checkpoint);
        CHECK_FALSE(checkpoint->select(plan, SaveWhat::all, {}, diagnostics));
        CHECK(diagnostics.error_count() == 1); // not one a layer
        const std::vector<std::string>& notes = diagnostics.all().back().notes;
        return notes.empty() ? "" : notes.back();
    };
    std::string step = save(keeping({f32("block.0.w", {8}), f32("block.1.w", {4}), f32("a_0.w", {8})}), folder, 1);
    CHECK(refusal(keeping({f32("block.w", {2, 8})}), folder) == "E0613 " + step + " does not hold 'block.w'");
    CHECK(last_note(keeping({f32("block.w", {2, 8})}), folder) ==
          "'block.1.w' is f32 (4,) there, which does not fit f32 (2, 8)");
    CHECK(refusal(keeping({f32("block.w", {3, 8})}), folder) == "E0613 " + step + " does not hold 'block.w'");
    CHECK(refusal(keeping({f32("a.w", {1, 8})}), folder) == "E0613 " + step + " does not hold 'a.w'");
    CHECK(refusal(keeping({{"block.w", DType::i32, {2, 8}, "", Role::param, {1}}}), folder) ==
          "E0613 " + step + " does not hold 'block.w'");
    step = save(keeping({f32("block.w", {3, 8})}), folder, 2);
    const Plan two = keeping({f32("block.0.w", {8}), f32("block.1.w", {8})});
    CHECK(refusal(two, folder) == "E0613 " + step + " does not hold 'block.0.w'");
    CHECK(last_note(two, folder) == "'block.w' is f32 (3, 8) there, which does not fit f32 (8,)");
    // What is given otherwise is not missed, and what was taken is not left over.
    Diagnostics diagnostics;
    std::optional<Checkpoint> checkpoint = Checkpoint::open(folder, diagnostics);
    REQUIRE(checkpoint);
    const Plan three = keeping({f32("block.0.w", {8}), f32("block.1.w", {8}), f32("block.2.w", {8})});
    CHECK(checkpoint->select(three, SaveWhat::all, {"block.1.w"}, diagnostics));
    CHECK(diagnostics.all().empty());
    CHECK(checkpoint->selected("block.2.w"));
    CHECK_FALSE(checkpoint->selected("block.1.w"));
}

TEST_CASE("checkpoint: layers of two element types are each converted") {
    const std::string folder = fresh_folder("layer_types");
    save(keeping_plan(one_device, {{"block.0.w", DType::bf16, {4}, ""}, {"block.1.w", DType::f32, {4}, ""}}), folder, 1,
         [](const std::string& name, i64 index) { return static_cast<double>(index + (name == "block.1.w" ? 4 : 0)); });
    check_restored(keeping_plan(one_device, {{"block.w", DType::f32, {2, 4}, "", Role::param, {1}}}), folder,
                   count_to_200, {"W0603 'block.w' of " + folder + "/step-1: bf16 there, converted to f32 here"});
}

} // namespace shard

#include "importer/model/draft.h"
#include "importer/model/fold.h"
#include "importer/model/model_text.h"
#include "importer/shape/blocks.h"
#include "planner/read/model_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

using namespace shard;

namespace {

std::string graph_of(Draft& draft, DraftId output) {
    const std::vector<DraftId> outputs = {draft.output(output, "z")};
    const std::string text = model_text(draft, "m", ordered(draft, outputs), outputs).text;
    return text.substr(text.find("graph:\n") + 7);
}

} // namespace

TEST_CASE("numbers are written short, and are the same when they are read") {
    CHECK(number_text(DType::f32, {0.1f, 0}) == "0.1");
    CHECK(number_text(DType::f64, {0.1f, 0}) == "0.10000000149011612");
    CHECK(number_text(DType::f32, {1e-6f, 0}) == "1.0e-06");
    CHECK(number_text(DType::f32, {-std::numeric_limits<double>::infinity(), 0}) == "-.inf");
    CHECK(number_text(DType::f32, {std::numeric_limits<double>::quiet_NaN(), 0}) == ".nan");
    CHECK(number_text(DType::boolean, {0, 1}) == "true");
    CHECK(number_text(DType::i64, {0, -7}) == "-7");
}

TEST_CASE("an entry of more results than YAML has in a key is marked, and read") {
    CHECK(entry_key("  ", {"a", "b"}) == "  - a, b: ");
    std::vector<std::string> results;
    for (int i = 0; i < 128; ++i) results.push_back(fmt::format("part_{}", i));
    Sources sources;
    Diagnostics diagnostics;
    const int file = sources.add(
        "m.yaml",
        fmt::format(
            "model: m\ninputs: {{x: {{shape: [2]}}}}\nmodules:\n  parts: {{inputs: [x], graph: [{{y: {{neg: x}}}}], "
            "outputs: [{}]}}\ngraph:\n{}{{parts: x}}\noutputs: [part_127]\n",
            fmt::join(std::vector<std::string>(results.size(), "y"), ", "), entry_key("  ", results)));
    const std::optional<Model> model = read_model(sources, file, diagnostics);
    REQUIRE(model);
    CHECK(diagnostics.all().empty());
    CHECK(model->graph.at(0).results.size() == results.size());
}

TEST_CASE("an op that goes element by element takes broadcasts as they are") {
    Draft draft;
    const DraftId x = draft.input("x", {DType::f32, {4, 8}}, false), b = draft.input("b", {DType::f32, {8}}, false),
                  r = draft.input("r", {DType::f32, {4}}, false);
    const DraftType type{DType::f32, {4, 8}};
    SUBCASE("aligned at the last dim, as numpy does") {
        const DraftId wide = draft.broadcast(draft.broadcast(b, {1, 8}, {1}), {4, 8}, {0, 1});
        CHECK(graph_of(draft, draft.pointwise("add", {x, wide}, type)) == "  - z: {add: [x, b]}\noutputs: [z]\n");
    }
    SUBCASE("with dims of size 1 where numpy would align them otherwise") {
        const DraftId wide = draft.broadcast(r, {4, 8}, {0});
        CHECK(graph_of(draft, draft.pointwise("add", {x, wide}, type)) ==
              "  - reshape: {reshape: r, shape: [4, 1]}\n  - z: {add: [x, reshape]}\noutputs: [z]\n");
    }
    SUBCASE("with a transpose where its dims are in another order") {
        const DraftId square = draft.input("s", {DType::f32, {8, 4}}, false);
        const DraftId wide = draft.broadcast(square, {4, 8}, {1, 0});
        CHECK(graph_of(draft, draft.pointwise("add", {x, wide}, type)) ==
              "  - transpose: {transpose: s, permutation: [1, 0]}\n  - z: {add: [x, transpose]}\noutputs: [z]\n");
    }
    SUBCASE("one operand has the result's shape") {
        const DraftId wide = draft.broadcast(b, {4, 8}, {1});
        CHECK(graph_of(draft, draft.pointwise("mul", {wide, wide}, type)) ==
              "  - broadcast: {broadcast: b, shape: [4, 8], dims: [1]}\n  - z: {mul: [broadcast, b]}\noutputs: [z]\n");
    }
    SUBCASE("a number has the result's shape where no value has it") {
        const DraftId p = draft.input("p", {DType::boolean, {}}, false);
        const DraftType truths{DType::boolean, {4, 8}};
        const DraftId no = draft.number(truths, {0, 0}), yes = draft.number(truths, {1, 1});
        const DraftId chosen = draft.pointwise("select", {p, yes, no}, truths);
        CHECK(draft.type(chosen) == truths);
        CHECK(graph_of(draft, chosen) == "  - constant: {constant: true, shape: [4, 8], dtype: bool}\n"
                                         "  - z: {select: [p, constant, false]}\noutputs: [z]\n");
    }
    SUBCASE("a number stands beside a value of its type") {
        const DraftId two = draft.number(type, {2, 0});
        CHECK(graph_of(draft, draft.pointwise("mul", {x, two}, type)) == "  - z: {mul: [x, 2]}\noutputs: [z]\n");
    }
}

TEST_CASE("what no output needs is not written, and names are those that are left") {
    Draft draft;
    const DraftId x = draft.input("add", {DType::f32, {4}}, false);
    const DraftType type{DType::f32, {4}};
    draft.pointwise("add", {x, x}, type);
    const DraftId used = draft.pointwise("add", {x, x}, type);
    CHECK(graph_of(draft, draft.pointwise("neg", {used}, type)) ==
          "  - add_2: {add: [add, add]}\n  - z: {neg: add_2}\noutputs: [z]\n");
}

TEST_CASE("what is known is computed as the devices would") {
    Draft draft;
    const auto folded = [&](std::string_view op, DType dtype, DraftNumber a, DraftNumber b) {
        const DraftType type{dtype, {}};
        const std::optional<DraftId> value = fold(draft, op, {draft.number(type, a), draft.number(type, b)}, type);
        return value ? number_text(draft.type(*value).dtype, *draft[*value].number) : std::string("left");
    };
    CHECK(folded("add", DType::i32, {0, 3}, {0, 4}) == "7");
    CHECK(folded("add", DType::i32, {0, 2147483647}, {0, 1}) == "left");
    CHECK(folded("sub", DType::i8, {0, -100}, {0, 28}) == "-128");
    CHECK(folded("sub", DType::i8, {0, -100}, {0, 29}) == "left");
    CHECK(folded("sub", DType::u32, {0, 3}, {0, 4}) == "left");
    CHECK(folded("mul", DType::i64, {0, std::numeric_limits<i64>::max()}, {0, 2}) == "left");
    CHECK(folded("div", DType::f32, {1, 0}, {3, 0}) == "0.33333334");
    CHECK(folded("div", DType::bf16, {1, 0}, {4, 0}) == "0.25");
    CHECK(folded("mul", DType::bf16, {1.0078125, 0}, {1.0078125, 0}) == "1.015625"); // rounded
    CHECK(folded("exp", DType::f32, {1, 0}, {4, 0}) == "left");
}

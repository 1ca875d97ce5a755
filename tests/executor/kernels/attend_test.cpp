// Attention by blocks against the interpreter's pairs, over lengths that take several blocks and end within one.
#include "planner/graph/op_def.h"
#include "tests/executor/kernels/run_alone.h"
#include "tests/support/attention_interpreter.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {

namespace {

constexpr std::string_view ops[] = {"attention",
                                    "attention_logsumexp",
                                    "attention_query_gradient",
                                    "attention_key_gradient",
                                    "attention_value_gradient",
                                    "attention_with_logsumexp",
                                    "attention_bias_gradient"};

struct Case {
    AttendSizes sizes;
    bool causal = false;
    i64 window = 0;
    double soft_cap = 0;
    i64 start = 0;
    DType dtype = DType::f32;
    double allowed = 2e-5;
    Shape bias = {}, mask = {}; // if any
    bool segments = false;
    double dropout = 0; // if any: of weights that begin at (1, 2, 3, 4) of all
    std::vector<i64> blocks = {};
};

Tensor waves(DType dtype, const Shape& shape, double phase) {
    return make_tensor(dtype, shape, [&](i64 i) { return std::sin(0.37 * static_cast<double>(i) + phase); });
}

// The largest difference of a part; operands are rounded to their type first.
double difference(const Case& one, AttendPart part) {
    const AttendSizes& s = one.sizes;
    const AttendInputs at = attend_inputs(part);
    const DType wide = computed_as(one.dtype);
    const Shape q = {s.batch, s.queries, s.heads, s.width}, k = {s.batch, s.keys, s.kv_heads, s.width},
                v = {s.batch, s.keys, s.kv_heads, s.value_width}, o = {s.batch, s.queries, s.heads, s.value_width},
                rows = {s.batch, s.queries, s.heads};
    std::vector<Tensor> inputs(static_cast<size_t>(at.count));
    const auto set = [&](int input, DType dtype, const Shape& shape, double phase) {
        if (input >= 0) inputs[static_cast<size_t>(input)] = waves(dtype, shape, phase);
    };
    set(0, one.dtype, q, 0);
    set(1, one.dtype, k, 1);
    set(at.v, one.dtype, v, 2);
    set(at.given, one.dtype, o, 3);
    set(at.logsumexp, wide, rows, 4); // any numbers: a part has no need of them to belong together
    set(at.mean, wide, rows, 5);
    if (!one.bias.empty()) inputs.push_back(waves(one.dtype, one.bias, 6));
    // No row is hidden as a whole: the first two keys are not both of a multiple of 3.
    if (!one.mask.empty()) inputs.push_back(make_tensor(DType::boolean, one.mask, [](i64 i) { return i % 3 != 0; }));
    const auto thirds = [](i64 i) { return i % 3; };
    if (one.segments) inputs.push_back(make_tensor(DType::i32, {s.batch, s.queries}, thirds));
    if (one.segments) inputs.push_back(make_tensor(DType::i64, {s.batch, s.keys}, thirds));
    Shape with_logsumexp = o;
    ++with_logsumexp.back();
    const Shape results[] = {o, rows, q, k, v, with_logsumexp, one.bias};
    const Shape& result = results[static_cast<size_t>(part)];
    const bool is_wide = part == AttendPart::logsumexp || part == AttendPart::with_logsumexp;

    Attend attend = {part, 0.5, one.causal, one.window, one.soft_cap, constant(one.start)};
    const bool drops = one.dropout > 0 && part != AttendPart::logsumexp;
    const std::vector<i64> first = {1, 2, 3, 4}, drawn = {s.batch + 3, s.heads + 2, s.queries + 3, s.keys + 6};
    if (drops) {
        Random random;
        random.distribution.kind = DistributionKind::bernoulli;
        random.distribution.probability = 1 - one.dropout;
        random.key = {3, 4};
        random.folds = {constant(6), constant(7)};
        random.blocks = one.blocks;
        attend.kept = Generate{random, drawn, {}};
        for (const i64 at_dim : first) attend.kept->start.push_back(constant(at_dim));
    }
    const std::vector<double> got = run_alone(attend, inputs, is_wide ? wide : one.dtype, result);

    Apply apply;
    apply.op = find_op(ops[static_cast<size_t>(part)]);
    apply.attributes.set("scale", 0.5);
    apply.attributes.set("causal", one.causal);
    if (one.window > 0) apply.attributes.set("window", one.window);
    if (one.soft_cap > 0) apply.attributes.set("soft_cap", one.soft_cap);
    Node node;
    node.does = apply;
    std::vector<Array> arrays;
    for (const Tensor& input : inputs) arrays.push_back({input.type.shape, values(input)});
    arrays.push_back({{}, {static_cast<double>(one.start)}});
    if (drops) {
        Attributes& attributes = node.apply().attributes;
        attributes.set("dropout", one.dropout);
        attributes.set("counted", true);
        attributes.set("key", std::vector<i64>{3, 4});
        attributes.set("place", std::vector<i64>{7});
        attributes.set("drawn", drawn);
        if (!one.blocks.empty()) attributes.set("blocks", one.blocks);
        arrays.push_back({{}, {6}}); // steps
        for (const i64 at_dim : first) arrays.push_back({{}, {static_cast<double>(at_dim)}});
    }
    std::vector<const Array*> operands;
    for (const Array& array : arrays) operands.push_back(&array);
    const Array want = find_attention_op(apply.op->name)(operands, node, {one.dtype, result, {}},
                                                         {!one.bias.empty(), !one.mask.empty(), one.segments});
    double most = 0, largest = 0;
    for (size_t n = 0; n < got.size(); ++n) {
        most = std::max(most, std::isfinite(got[n]) ? std::fabs(got[n] - want.values[n]) : INFINITY);
        largest = std::max(largest, std::fabs(want.values[n]));
    }
    return most / largest;
}

void check(const Case& one) {
    for (const AttendPart part :
         {AttendPart::values, AttendPart::logsumexp, AttendPart::query_gradient, AttendPart::key_gradient,
          AttendPart::value_gradient, AttendPart::with_logsumexp, AttendPart::bias_gradient}) {
        if (part == AttendPart::bias_gradient && one.bias.empty()) continue;
        CAPTURE(name(part));
        CHECK(difference(one, part) < one.allowed);
    }
}

} // namespace

TEST_CASE("attention by blocks is attention, over lengths of several blocks and with groups of heads") {
    check({{2, 3, 4, 5, 7, 2, 3}});
    check({{1, 150, 2, 4, 300, 1, 3}});
    check({{1, 150, 1, 4, 300, 1, 4}, false, 0, 0, 0, DType::f64, 1e-12});
    check({{1, 140, 2, 4, 270, 2, 3}, false, 0, 0, 0, DType::bf16, 1e-2});
}

TEST_CASE("attention by blocks leaves out what a query does not see, wherever queries begin") {
    check({{1, 260, 2, 4, 260, 1, 4}, true});
    check({{1, 20, 1, 4, 300, 1, 4}, true, 0, 0, 280});
    check({{1, 280, 1, 4, 280, 1, 4}, true, 30});
    check({{1, 280, 1, 4, 300, 1, 4}, false, 150, 0, 7});
    check({{1, 30, 1, 4, 40, 1, 4}, true, 6, 1.5, 4});
    check({{1, 140, 1, 4, 30, 1, 4}, false, 0, 0.7});
}

TEST_CASE("attention by blocks adds a bias and hides what a mask or segments hide, in whole and where all are alike") {
    check({{2, 150, 2, 4, 300, 1, 3}, false, 0, 0, 0, DType::f32, 2e-5, {2, 2, 150, 300}, {1, 2, 1, 300}});
    check({{2, 140, 2, 4, 270, 2, 3}, true, 0, 1.5, 140, DType::f32, 2e-5, {1, 1, 140, 1}, {2, 1, 140, 270}});
    check({{2, 140, 1, 4, 270, 1, 3}, false, 0, 0, 0, DType::f64, 1e-12, {}, {}, true});
    check({{2, 140, 4, 4, 270, 2, 3}, true, 0, 0.9, 130, DType::f64, 1e-12, {2, 1, 1, 270}});
    check({{1, 140, 4, 4, 270, 2, 3}, true, 0, 0, 130, DType::f64, 1e-12, {1, 4, 140, 1}});
    check({{1, 20, 2, 4, 30, 2, 3}, false, 0, 0, 0, DType::bf16, 2e-2, {1, 2, 20, 30}, {}, true});
}

TEST_CASE("attention by blocks drops the weights that a mask of all would, of which these are a part") {
    Case one = {{2, 150, 4, 5, 300, 2, 3}};
    one.dropout = 0.3;
    check(one);
    one.blocks = {1, 3, 3, 2};
    check(one);
    Case narrow = {{1, 140, 2, 4, 270, 2, 3}, true, 200, 0.9, 130, DType::bf16, 2e-2, {1, 2, 140, 270}};
    narrow.dropout = 0.6;
    check(narrow);
    Case wide = {{1, 140, 2, 4, 270, 1, 4}, true, 0, 0.9, 100, DType::f64, 1e-12, {1, 1, 140, 1}, {1, 1, 1, 270}};
    wide.dropout = 0.5;
    check(wide);
}

TEST_CASE("padding behind the weights that are drawn has none") {
    const Tensor q = make_tensor(DType::f32, {2, 1, 1, 1}, [](i64) { return 1; }),
                 v = make_tensor(DType::f32, {2, 3, 1, 1}, [](i64 i) { return 1.0 + static_cast<double>(i); });
    Attend attend;
    Random all;
    all.distribution.kind = DistributionKind::bernoulli;
    all.distribution.probability = 1;
    attend.kept = Generate{all, {3, 1, 1, 3}, {constant(2), {}, {}, {}}};
    CHECK(run_alone(attend, {q, v, v}, DType::f32, {2, 1, 1, 1})[1] == 0);
}

TEST_CASE("a query that sees no key has values 0, and the logarithm of 0") {
    const Tensor q = make_tensor(DType::f32, {1, 2, 1, 1}, [](i64) { return 1; }),
                 k = make_tensor(DType::f32, {1, 3, 1, 1}, [](i64 i) { return static_cast<double>(i); }),
                 mask = make_tensor(DType::boolean, {1, 1, 2, 3}, [](i64 i) { return i == 4; });
    CHECK(run_alone(Attend{}, {q, k, k, mask}, DType::f32, {1, 2, 1, 1}) == std::vector<double>{0, 1});
    Attend attend;
    attend.part = AttendPart::logsumexp;
    CHECK(run_alone(attend, {q, k, mask}, DType::f32, {1, 2, 1}) == std::vector<double>{-INFINITY, 1});
    attend.part = AttendPart::with_logsumexp;
    CHECK(run_alone(attend, {q, k, k, mask}, DType::f32, {1, 2, 1, 2}) == std::vector<double>{0, -INFINITY, 1, 1});
    const Tensor rows = make_tensor(DType::f32, {1, 2, 1}, [](i64 i) { return i == 0 ? -INFINITY : 1; }),
                 given = make_tensor(DType::f32, {1, 2, 1, 1}, [](i64) { return 1; });
    attend.part = AttendPart::value_gradient;
    CHECK(run_alone(attend, {q, k, given, rows, mask}, DType::f32, {1, 3, 1, 1}) == std::vector<double>{0, 1, 0});
}

TEST_CASE("queries that begin at a scalar may lie where they see no key") {
    // The first query stands 2 before the first key, the last one at it.
    PlanBuilder b(make_mesh({}));
    const int q = b.input("q", DType::f32, {1, 3, 1, 1}), k = b.input("k", DType::f32, {1, 2, 1, 1}),
              start = b.input("start", DType::i32, {}), y = b.buffer("y", DType::f32, {1, 3, 1, 1}),
              logs = b.buffer("logs", DType::f32, {1, 3, 1}), given = b.buffer("given", DType::f32, {1, 2, 1, 1});
    Attend attend;
    attend.causal = true;
    attend.start = Affine{0, {{AffineTerm::Kind::scalar, {}, start, 1, -3, 2}}};
    b.compute(attend, {q, k, k}, y);
    attend.part = AttendPart::logsumexp;
    b.compute(attend, {q, k}, logs);
    attend.part = AttendPart::value_gradient;
    b.compute(attend, {q, k, q, logs}, given);
    b.output("y", y);
    b.output("logs", logs);
    b.output("given", given);
    RunOptions options;
    options.inputs["q"] = make_tensor(DType::f32, {1, 3, 1, 1}, [](i64) { return 1; });
    options.inputs["k"] = make_tensor(DType::f32, {1, 2, 1, 1}, [](i64 i) { return 3.0 + static_cast<double>(i); });
    options.inputs["start"] = make_tensor(DType::i32, {}, [](i64) { return -2; });
    const RunResult result = run_clean(b.plan(), options);
    CHECK(values(result.outputs.at("y")) == std::vector<double>{0, 0, 3});
    CHECK(values(result.outputs.at("logs")) == std::vector<double>{-INFINITY, -INFINITY, 3});
    CHECK(values(result.outputs.at("given")) == std::vector<double>{1, 0});
}

TEST_CASE("a score of infinity in another block than the rest is a score of infinity") {
    // One query, 300 keys: the scores of the first block are -inf, the last two are equal.
    const Tensor q = make_tensor(DType::f32, {1, 1, 1, 1}, [](i64) { return 1; }),
                 k = make_tensor(DType::f32, {1, 300, 1, 1}, [](i64 i) { return i < 298 ? -INFINITY : 3; }),
                 v = make_tensor(DType::f32, {1, 300, 1, 1}, [](i64 i) { return static_cast<double>(i); });
    CHECK(run_alone(Attend{}, {q, k, v}, DType::f32, {1, 1, 1, 1}) == std::vector<double>{298.5});
    const Tensor none = make_tensor(DType::f32, {1, 300, 1, 1}, [](i64) { return -INFINITY; });
    CHECK(std::isnan(run_alone(Attend{}, {q, none, v}, DType::f32, {1, 1, 1, 1})[0]));
    const Tensor lost = make_tensor(DType::f32, {1, 300, 1, 1}, [](i64 i) { return i == 7 ? NAN : 1; });
    CHECK(std::isnan(run_alone(Attend{}, {q, lost, v}, DType::f32, {1, 1, 1, 1})[0]));
}

} // namespace shard

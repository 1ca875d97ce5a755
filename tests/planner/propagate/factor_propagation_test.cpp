// The pure parts: projection, agreement of axes, what fits.
#include "planner/propagate/factor_propagation.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const Mesh mesh = {{{"a", 8, ""}, {"b", 2, ""}, {"c", 3, ""}}, {}};

std::vector<AxisRef> axes(const char* text) {
    const std::optional<Sharding> sharding = parse_sharding(mesh, "[" + std::string(text) + "]");
    REQUIRE_MESSAGE(sharding, text);
    return sharding->dims[0].axes;
}
std::string show(const std::vector<AxisRef>& list) { return list.empty() ? "-" : text(mesh, list); }

TensorType tensor(Shape shape) {
    TensorType type;
    type.logical.resize(shape.size());
    type.shape = std::move(shape);
    return type;
}

// One factor, given as the axes of an operand and of a result.
std::string agreed(const char* operand, const char* result, Direction direction) {
    Projection projection;
    projection.operands.resize(1);
    projection.results.resize(1);
    FactorSharding sharding;
    sharding.factor = 0;
    sharding.axes = axes(operand);
    projection.operands[0].factors = {sharding};
    sharding.axes = axes(result);
    projection.results[0].factors = {sharding};
    return show(candidate_axes(projection, 0, direction));
}

} // namespace

TEST_CASE("which axes two tensors agree on, by direction") {
    struct Row {
        const char *operand, *result, *both, *forward, *backward;
    };
    const Row rows[] = {
        {"a", "-", "a", "a", "-"},
        {"-", "a", "a", "-", "a"},
        {"a", "a,b", "a,b", "a", "a,b"},
        {"a,b", "a", "a,b", "a,b", "a"},
        {"a,b", "a,c", "a", "a", "a"},
        {"a", "b", "-", "-", "-"},
        {"a:(1)2", "a:(1)4", "a:(1)4", "a:(1)2", "a:(1)4"},
        {"a:(1)4", "a:(1)2", "a:(1)4", "a:(1)4", "a:(1)2"},
        {"a:(1)2,b", "a,b", "a:(1)2", "a:(1)2", "a:(1)2"},
        {"a,b", "a:(1)2,b", "a:(1)2", "a:(1)2", "a:(1)2"},
        {"a:(1)2", "a:(2)2", "-", "-", "-"},
        {"a:(1)2", "a", "a", "a:(1)2", "a"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.operand);
        CAPTURE(row.result);
        CHECK(agreed(row.operand, row.result, Direction::both) == row.both);
        CHECK(agreed(row.operand, row.result, Direction::forward) == row.forward);
        CHECK(agreed(row.operand, row.result, Direction::backward) == row.backward);
        CHECK(agreed(row.operand, row.result, Direction::none) == "-");
    }
}

TEST_CASE("nothing is added behind a conflict, whatever comes later") {
    Projection projection;
    projection.operands.resize(3);
    const char* lists[] = {"a,b", "a,c", "a,b"};
    for (size_t t = 0; t < 3; ++t) {
        FactorSharding sharding;
        sharding.factor = 0;
        sharding.axes = axes(lists[t]);
        projection.operands[t].factors = {sharding};
    }
    CHECK(show(candidate_axes(projection, 0, Direction::both)) == "a");
}

TEST_CASE("prefixes of lists of axes") {
    CHECK(prefix_status(axes("-"), axes("-")) == PrefixStatus::equal);
    CHECK(prefix_status(axes("-"), axes("a")) == PrefixStatus::strict);
    CHECK(prefix_status(axes("a"), axes("-")) == PrefixStatus::none);
    CHECK(prefix_status(axes("a"), axes("a,b")) == PrefixStatus::strict);
    CHECK(prefix_status(axes("a:(1)2"), axes("a,b")) == PrefixStatus::strict);
    CHECK(prefix_status(axes("a:(1)2"), axes("a")) == PrefixStatus::strict);
    CHECK(prefix_status(axes("a"), axes("a:(1)2")) == PrefixStatus::none);
    CHECK(prefix_status(axes("b"), axes("a,b")) == PrefixStatus::none);
    CHECK(prefix_status(axes("a,b"), axes("a,b")) == PrefixStatus::equal);
}

TEST_CASE("a dim's axes are dealt out to its factors, and come back as they were") {
    struct Row {
        Shape shape; // of the split dims; merged is their product
        const char* merged;
        const char* factors; // of the merged tensor's: "axes+overflow"
    };
    const Row rows[] = {
        {{2, 4}, "a", "a:(1)2 / a:(2)4"},
        {{2, 4}, "b,a:(1)2", "b / a:(1)2"},
        {{4, 4}, "b,a", "b,a:(1)2 / a:(2)4"},
        {{2, 4}, "c", "-+c / -"},
        {{8, 4}, "b,c", "b+c / -"},
        {{3, 8}, "c,b", "c / b"},
        {{6, 4}, "b,c,a:(1)2", "b,c / a:(1)2"},
        {{16, 2}, "a", "a / -"},
        {{1, 8}, "a", "- / a"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.merged);
        const std::vector<TensorType> split = {tensor(row.shape)}, merged = {tensor({row.shape[0] * row.shape[1]})};
        const IndexRule rule = make_rule("ij->(ij)", split, merged);
        Sharding sharding = replicated_sharding(1);
        sharding.dims[0].axes = axes(row.merged);
        const TensorProjection projection = project(rule, rule.results[0], sharding);
        std::string text;
        for (const FactorSharding& factor : projection.factors) {
            if (!text.empty()) text += " / ";
            text += show(factor.axes) + (factor.overflow.empty() ? "" : "+" + show(factor.overflow));
        }
        CHECK(text == row.factors);
        CHECK(unproject(rule, rule.results[0], projection, ReduceOp::sum) == sharding);
    }
}

TEST_CASE("what a factor can take of an axis") {
    TensorProjection tensor;
    tensor.factors.resize(2);
    FactorSharding& own = tensor.factors[0];
    own.factor = 0;
    tensor.factors[1].factor = 1;
    const AxisRef a = mesh.whole(0), b = mesh.whole(1);
    // Not minor-most: only what divides the factor.
    CHECK(fit_within(a, tensor, own, 1, 8) == a);
    CHECK(fit_within(a, tensor, own, 1, 4) == AxisRef{0, 1, 4});
    CHECK(fit_within(a, tensor, own, 2, 4) == AxisRef{0, 1, 2});
    CHECK(fit_within(a, tensor, own, 1, 3) == std::nullopt);
    own.minor_most = true;
    CHECK(fit_within(a, tensor, own, 1, 3) == a);
    tensor.partial = {AxisRef{0, 4, 2}};
    CHECK(fit_within(a, tensor, own, 1, 8) == AxisRef{0, 1, 4});
    tensor.partial.clear();
    tensor.replicated = {a};
    CHECK(fit_within(a, tensor, own, 1, 8) == std::nullopt);
    tensor.replicated.clear();
    own.closed = true;
    CHECK(fit_within(a, tensor, own, 1, 8) == std::nullopt);
    own.axes = {AxisRef{0, 1, 2}};
    CHECK(fit_within(a, tensor, own, 1, 8) == AxisRef{0, 1, 2});
    own.axes = {a};
    CHECK(fit_within(a, tensor, own, 1, 8) == a);

    CHECK(fit_across(b, tensor, 0) == b);
    tensor.factors[1].axes = {AxisRef{0, 2, 4}};
    CHECK(fit_across(a, tensor, 0) == AxisRef{0, 1, 2});
    tensor.factors[1].overflow = {b};
    CHECK(fit_across(b, tensor, 0) == std::nullopt);
}

// Random local graphs through the schedule: the plan is safe, extents that are alive together never overlap, and the
// file says it all.
#include "planner/price/price.h"
#include "plans/file/plan_json.h"
#include "plans/plan/plan_check_types.h"
#include "tests/support/local_graph.h"
#include "tests/support/plan_verdict.h"
#include "tests/support/property.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <map>

using namespace shard;

namespace {

i64 draw(i64 low, i64 high) { return *rc::gen::inRange<i64>(low, high + 1); }
template<class T>
const T& pick(const std::vector<T>& from) {
    return from[draw(0, static_cast<i64>(from.size()) - 1)];
}

double any_double() {
    const std::uint64_t bits = *rc::gen::arbitrary<std::uint64_t>();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return std::isnan(value) ? 0 : value; // nan is printed too, but does not equal itself
}

std::string any_of(const std::vector<std::string>& parts) {
    std::string text;
    for (i64 i = draw(0, 6); i > 0; --i) text += pick(parts);
    return text;
}

// What is printed holds only what can be seen; the texts that a plan came from hold anything.
std::string any_text() { return any_of({"a", "\"", "\\", "\xc3\xa9", "\xf0\x9f\x98\x80", "]", "{"}); }
std::string any_source() { return any_of({"a", "\"", "\\", "\n", "\t", "\x01", "\xc3\xa9", "]", "{"}); }

// As the planner makes them.
std::string any_name() {
    std::string name = "n";
    for (i64 i = draw(0, 4); i > 0; --i) name += pick<std::string>({"a", "_", "-", "7", ".w", ".0", "#2"});
    return name;
}

Affine any_affine(const LocalGraph& g) {
    Affine affine = constant(draw(-9, 9));
    for (i64 i = draw(0, 2); i > 0; --i) {
        AffineTerm term;
        term.axis = g.mesh().whole(static_cast<int>(draw(0, 1)));
        term.coefficient = draw(-5, 5);
        affine.terms.push_back(term);
    }
    return affine;
}

// A value of the graph, of 2 dims.
ValueId any_node(LocalGraph& g, const std::vector<ValueId>& values, const std::string& name) {
    const ValueId of = pick(values);
    const Shape shape = g.value(of).type.shape;
    const std::string layout = text(g.mesh(), g.value(of).part->sharding);
    switch (draw(0, 13)) {
    case 0:
        return g.pointwise(name, ScalarOp::exp, {of});
    case 7:
        return g.node(name, Scan{static_cast<int>(draw(0, 1)), static_cast<ScanOp>(draw(0, 4)), draw(0, 1) == 1}, {of},
                      shape, layout);
    case 8: {
        const ValueId order = g.node(name + ".order", Sort{1, draw(0, 1) == 1}, {of}, shape, layout, DType::i32);
        return g.node(name, Gather{1, shape[1], any_affine(g), {{0, 0}}}, {of, order}, shape, layout);
    }
    case 10: {
        const ValueId heads = g.reshape(name + ".heads", of, {1, shape[0], 1, shape[1]});
        Attend attend;
        attend.part = AttendPart::values;
        attend.scale = 0.25 * static_cast<double>(draw(-4, 4));
        attend.causal = draw(0, 1) == 1;
        attend.window = draw(0, 3);
        attend.start = any_affine(g);
        const ValueId made = g.node(name + ".attend", attend, {heads, heads, heads}, {1, shape[0], 1, shape[1]});
        return g.reshape(name, made, {shape[0], shape[1]});
    }
    case 13: {
        const ValueId sizes = g.node(name + ".sizes", Sort{0, false}, {of}, shape, layout, DType::i32);
        const ValueId counts = g.reshape(name + ".counts", sizes, {shape[0] * shape[1]});
        RaggedContract ragged;
        ragged.row = any_affine(g);
        ragged.group = any_affine(g);
        ragged.transposed = draw(0, 1) == 1;
        const ValueId matrices = g.reshape(name + ".matrices", of, {shape[0], 1, shape[1]});
        if (ragged.transposed) return g.node(name, ragged, {of, matrices, counts}, {shape[0], 1});
        ragged.part = RaggedPart::groups;
        return g.reshape(name, g.node(name + ".sums", ragged, {of, of, counts}, {1, shape[1], shape[1]}),
                         {shape[1], shape[1]});
    }
    case 11: {
        const ValueId rows = g.reshape(name + ".rows", of, {1, shape[0], shape[1]}),
                      window = g.reshape(name + ".window", of, {shape[0], shape[1], 1});
        const Slide slide = {draw(1, 3), draw(-2, 4), draw(1, 3), draw(1, 3), draw(0, 1) == 1};
        const ValueId made =
            g.node(name + ".convolved", Convolve{"nwi,wio->nwo", 1, {slide}}, {rows, window}, {1, shape[0], 1});
        return g.reshape(name, made, {shape[0], 1});
    }
    case 12: {
        const Slide slide = {draw(1, 3), draw(-2, 4), draw(1, 3), 1, false};
        const std::vector<i64> window = {draw(1, 4), 1};
        if (draw(0, 1) == 1)
            return g.node(name, ReduceWindows{static_cast<ReduceOp>(draw(0, 3)), window, {slide, Slide{}}}, {of}, shape,
                          layout);
        return g.node(name, SelectWindows{draw(0, 1) == 1, window, {slide, Slide{}}, {0, 0}}, {of, of}, shape, layout);
    }
    case 9: {
        const ValueId order = g.node(name + ".order", Sort{0, false}, {of, of}, shape, layout, DType::i32);
        const ReduceOp op = static_cast<ReduceOp>(draw(0, 3));
        return g.node(name, Scatter{0, shape[0], any_affine(g), op, {{1, 1}}}, {order, of}, shape, layout);
    }
    case 1: {
        std::vector<ValueId> same;
        for (ValueId id : values)
            if (g.value(id).type == g.value(of).type) same.push_back(id);
        return g.pointwise(name, ScalarOp::add, {of, pick(same)});
    }
    case 2:
        return g.reshape(name, of, {shape[0] * shape[1], 1});
    case 3: {
        Collective all_reduce;
        all_reduce.axes = g.axes({pick<std::string>({"a", "b", "a:(2)2"})});
        all_reduce.reduce = pick<ReduceOp>({ReduceOp::sum, ReduceOp::max});
        return g.collective(name, "all_reduce", all_reduce, of);
    }
    case 4:
        return g.node(name, Contract{{0, 1}, {2, 1}, {0, 2}}, {of, of}, {shape[0], shape[0]});
    case 5: {
        Move move;
        move.permutation = pick<std::vector<int>>({{}, {0, 1}});
        move.pieces.push_back({0,
                               {any_affine(g), any_affine(g)},
                               {1, pick<i64>({1, -1, 2})},
                               {any_affine(g), constant(0)},
                               {1, 3},
                               {draw(0, 4), draw(0, 4)}});
        move.fill = any_double();
        move.covers = false;
        return g.node(name, move, {of}, shape, layout);
    }
    default: {
        const Random random{{DistributionKind::uniform, 0, draw(-3, 0) * 0.1, 1, 0, 0.3, 0},
                            {*rc::gen::arbitrary<std::uint32_t>(), 7},
                            BitLayout::partitionable};
        return g.node(name, Generate{random, shape, {constant(0), constant(0)}}, {}, shape);
    }
    }
}

LocalGraph any_graph() {
    LocalGraph g(mesh_of({{"a", 4}, {"b", 3}}));
    std::vector<ValueId> values;
    for (i64 i = draw(1, 3); i > 0; --i)
        values.push_back(g.input("x" + std::to_string(i), {draw(1, 5), draw(1, 5)},
                                 pick<std::string>({"", "[a | b]", "[- | b,a]"}),
                                 pick<Role>({Role::input, Role::param})));
    for (i64 i = draw(0, 14); i > 0; --i) values.push_back(any_node(g, values, "v" + std::to_string(i) + any_name()));
    for (i64 i = draw(1, 3); i > 0; --i) {
        const ValueId id = pick(values);
        const std::vector<ValueId>& outputs = g.local().graph.outputs;
        if (std::find(outputs.begin(), outputs.end(), id) == outputs.end()) g.output(id);
    }
    return g;
}

void decorate(Plan& plan) {
    plan.tool = any_text();
    plan.model = plan.report.model = any_name();
    plan.mode = pick<std::string>({"forward", "train"});
    const std::string source = any_source();
    plan.sources = {{any_text(), source, digest_of(source)}};
    plan.report.compute_seconds = any_double();
    plan.report.time = {any_double(), any_double(), any_double(), any_double()};
    plan.report.flops_per_device = *rc::gen::arbitrary<i64>();
    TensorReport tensor;
    tensor.name = any_name();
    tensor.logical = {any_text()};
    tensor.sharding = plan.buffers[0].sharding;
    plan.report.tensors.push_back(tensor);
    CollectiveReport collective;
    collective.kind = "all_to_all";
    collective.tensor = any_name();
    collective.seconds = any_double();
    collective.cause = any_text();
    plan.report.collectives.push_back(collective);
    plan.report.diagnostics.push_back(
        {"W0401", Severity::warning, any_text(), {{{0, 1, 2, 3}, any_text()}}, {any_text()}, any_text(), true});
}

// Independent of the check of a plan: the steps at which each root's bytes are in use, compared pair by pair.
void check_disjoint(const Plan& plan) {
    const int count = static_cast<int>(plan.buffers.size()), steps = static_cast<int>(plan.steps.size());
    std::vector<int> first(plan.buffers.size(), steps), last(plan.buffers.size(), -1);
    const auto use = [&](int buffer, int step) {
        const size_t root = static_cast<size_t>(root_of(plan.buffers, buffer));
        first[root] = std::min(first[root], step);
        last[root] = std::max(last[root], step);
    };
    for (const PlanInput& input : plan.inputs) use(input.buffer, -1), use(input.buffer, steps);
    for (const PlanOutput& output : plan.outputs) use(output.buffer, steps);
    std::map<int, const Start*> tokens;
    for (int i = 0; i < steps; ++i) {
        const Step& step = plan.steps[i];
        if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) {
            use(compute->output, i);
            for (int input : compute->inputs) use(input, i);
        }
        if (const Start* start = std::get_if<Start>(&step.variant_ref()))
            tokens[start->token] = start, use(start->input, i), use(start->output, i);
        if (const Wait* wait = std::get_if<Wait>(&step.variant_ref()))
            use(tokens[wait->token]->input, i), use(tokens[wait->token]->output, i);
    }
    for (int a = 0; a < count; ++a)
        for (int b = 0; b < a; ++b) {
            const Buffer &x = plan.buffers[a], &y = plan.buffers[b];
            if (x.alias_of >= 0 || y.alias_of >= 0) continue;
            const size_t i = static_cast<size_t>(a), j = static_cast<size_t>(b);
            const bool together = first[i] <= last[j] && first[j] <= last[i];
            RC_ASSERT(!together || x.offset + x.bytes <= y.offset || y.offset + y.bytes <= x.offset);
        }
}

} // namespace

TEST_CASE("property: scheduled plans are safe, and a plan file says everything") {
    CHECK(holds([] {
        const LocalGraph g = any_graph();
        Plan plan = schedule(g.local(), g.mesh());
        RC_ASSERT(plan_verdict(plan) == "fine");
        Diagnostics diagnostics;
        check_disjoint(plan);
        decorate(plan);
        const std::string text = print_plan(plan);
        const std::optional<Plan> parsed = parse_plan(text, diagnostics);
        if (!parsed) RC_FAIL(words(diagnostics)[0]);
        RC_ASSERT(*parsed == plan);
        RC_ASSERT(print_plan(*parsed) == text);
    }));
}

TEST_CASE("property: a plan file with anything cut out or changed is refused or is a safe plan") {
    CHECK(holds([] {
        const LocalGraph g = any_graph();
        Plan plan = schedule(g.local(), g.mesh());
        decorate(plan);
        std::string body = print_plan(plan);
        body.erase(body.rfind(",\n\"checksum\""));
        for (i64 i = draw(1, 4); i > 0; --i) {
            const size_t at = static_cast<size_t>(draw(0, static_cast<i64>(body.size()) - 1));
            if (draw(0, 2) == 0)
                body.erase(at, static_cast<size_t>(draw(1, 30)));
            else
                body[at] = pick<char>({'0', '9', '-', '"', ',', '[', ']', '{', '}', 'e', '.'});
        }
        Diagnostics diagnostics;
        const std::optional<Plan> parsed = parse_plan(seal_plan(body), diagnostics);
        RC_ASSERT(parsed.has_value() != diagnostics.has_error());
    }));
}

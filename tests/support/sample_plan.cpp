#include "tests/support/sample_plan.h"

#include "planner/optimize/in_place.h"
#include "planner/partition/local_builder.h"
#include "planner/schedule/schedule.h"
#include "tests/support/local_graph.h"

#include <limits>

namespace shard {

namespace {

Plan named(Plan plan, const std::string& model) {
    plan.model = plan.report.model = model;
    plan.mode = plan.report.mode = "forward";
    return plan;
}

Report sample_report(const Plan& plan, const std::vector<AxisRef>& axes) {
    Report report;
    report.model = "sample";
    report.mode = "forward";
    report.hardware = "uniform";
    report.tensors.push_back({"w",
                              Role::param,
                              DType::bf16,
                              {8, 16},
                              {"embed", ""},
                              *parse_sharding(plan.mesh, "[- | data,model]"),
                              {8, 2},
                              32,
                              {"model.yaml", 3, 5}});
    CollectiveReport collective;
    collective.kind = "all_gather";
    collective.axes = axes;
    collective.dim = 0;
    collective.tensor = "w";
    collective.op = "dot";
    collective.count = 3;
    collective.wire_bytes_per_device = 12;
    collective.wire_bytes_total = 96;
    collective.seconds = 0.1 + 0.2;
    collective.cause = "h needs \"w\" whole along embed";
    report.collectives.push_back(collective);
    report.flops_per_device = 123456789012345;
    report.compute_seconds = 1e-300;
    report.memory = {1, 2, 3, 4, 5, 6, 21, 0};
    report.time = {1.5, std::numeric_limits<double>::infinity(), -0.0, 3};
    report.diagnostics.push_back(
        {"W0401", Severity::warning, "much", {{{1, 4, 2, 9}, "here"}}, {"a note"}, "help", false});
    return report;
}

} // namespace

Plan sample_plan() {
    LocalGraph g(mesh_of({{"data", 2}, {"model", 4}}));
    const ValueId x = g.input("x", {4, 8}, "[data | -]");
    const ValueId w = g.input("w", {8, 2}, "[- | model]", Role::param);
    const ValueId h = g.node("h", Contract{{0, 1}, {1, 2}, {0, 2}}, {x, w}, {4, 2}, "[data | model]");
    const ValueId a = g.pointwise("a", ScalarOp::tanh, {h});
    const ValueId whole = g.all_gather("whole", {"model"}, 1, a);
    Generate iota{Iota{1}, {8, 8}, {block_start(8, g.axes({"data"})), constant(0)}};
    const ValueId i = g.node("i", iota, {}, {4, 8}, "[data | -]");
    const ValueId sum = g.pointwise("sum", ScalarOp::add, {i, whole});
    Move shift;
    shift.pieces.push_back({0, {constant(0), constant(1)}, {1, -1}, {constant(0), constant(0)}, {1, 1}, {4, 7}});
    shift.fill = -std::numeric_limits<double>::infinity();
    shift.covers = false;
    const ValueId moved = g.node("moved", shift, {sum}, {4, 8}, "[data | -]");
    const ValueId total = g.node("total", Reduce{{0, 1}, ReduceOp::max}, {moved}, {}, "[] U{data:max}");
    Collective fields;
    fields.axes = g.axes({"data"});
    fields.reduce = ReduceOp::max;
    g.output(g.collective("z", "all_reduce", fields, total));
    g.local().graph.value(w).init = Generate{
        Random{{DistributionKind::truncated_normal, 0, -2, 2, 0, 0.1, 0}, {1797259609, 2579123966}, BitLayout::legacy},
        {8, 8},
        {}};

    Plan plan = schedule(g.local(), g.mesh());
    plan.tool = "shardc 0.1.0";
    plan.model = "sample";
    plan.mode = "forward";
    for (Step& step : plan.steps)
        if (Compute* compute = std::get_if<Compute>(&step.variant_ref()))
            compute->op = "op", compute->source = {"m.yaml", 7, 3};
    plan.sources = {{"model.yaml", "model: sample # \xc3\xa9\n", digest_of("model: sample # \xc3\xa9\n")}};
    plan.report = sample_report(plan, g.axes({"model:(1)2", "data"}));
    return plan;
}

Plan looping_plan() {
    LocalGraph g(mesh_of({{"data", 2}}));
    const ValueId x = g.input("x", {8});
    const ValueId at = g.input("at", {}, "", Role::input, DType::i32);
    Plan plan = schedule(g.local(), g.mesh());
    const auto add = [&plan](const std::string& name, Shape shape) {
        Buffer buffer;
        buffer.id = static_cast<int>(plan.buffers.size());
        buffer.name = name;
        buffer.global_shape = buffer.shape = shape;
        buffer.sharding = replicated_sharding(static_cast<int>(shape.size()));
        buffer.offset = 64 * buffer.id;
        buffer.bytes = element_count(shape) * 4;
        plan.buffers.push_back(buffer);
        return buffer.id;
    };
    const int out = add("out", {4}), piece = add("piece", {4});
    Move slice;
    Affine start{-1,
                 {{AffineTerm::Kind::loop, {}, 5, 2},
                  {AffineTerm::Kind::scalar, {}, at, 1},
                  {AffineTerm::Kind::coordinate, {0, 1, 2}, -1, 4}}};
    slice.pieces.push_back({0, {start}, {1}, {constant(0)}, {1}, {4}});
    slice.covers = false;
    Compute read;
    read.kernel = slice;
    read.inputs = {x};
    read.output = piece;
    Compute keep;
    keep.kernel = Pointwise{{{0}}, {ScalarStep{ScalarOp::input, {0, -1, -1}, DType::f32, 0, {}}}};
    keep.inputs = {piece};
    keep.output = out;
    Loop loop;
    loop.index = 5;
    loop.trips = 3;
    loop.body = {read, keep, Release{piece}};
    // `out` is written before the loop too, so that every trip finds it alive.
    plan.steps = {read, keep, loop};
    std::get<Compute>(plan.steps[0].variant_ref()).kernel = [&slice] {
        Move first = slice;
        first.pieces[0].in_start = {constant(0)};
        return first;
    }();
    plan.steps.insert(plan.steps.begin() + 2, Release{piece});
    plan.outputs = {{"out", out}};
    plan.peak_bytes = plan.buffers.back().offset + plan.buffers.back().bytes;
    plan.arena_bytes = 256;
    return named(std::move(plan), "looping");
}

Plan updating_plan() {
    LocalGraph g(mesh_of({{"data", 2}}));
    const std::vector<AxisRef> data = g.axes({"data"});
    const ValueId x = g.input("x", {2, 4}, "[data | -]");
    const ValueId w = g.input("w", {4}, "", Role::param), u = g.input("u", {4}, "", Role::param);
    const ValueId m = g.input("m", {2}, "[data]", Role::state);
    const ValueId count = g.input("count", {}, "", Role::state, DType::i32);
    const ValueId a = g.input("a", {4}, "", Role::state), b = g.input("b", {4}, "", Role::state);
    const ValueId rows = g.node("rows", Reduce{{0}, ReduceOp::sum}, {x}, {4}, "[-] U{data}");
    Collective scatter;
    scatter.axes = data;
    scatter.moves = {{-1, 0, data}};
    const ValueId grad = g.collective("w.grad", "reduce_scatter", scatter, rows);
    g.local().graph.value(grad).role = Role::gradient;
    const ValueId m_new = g.pointwise("m.next", ScalarOp::add, {m, grad});
    const AxisMove own{-1, 0, data};
    const ValueId mine = g.node("w.sliced", slice_kernel({4}, std::span(&own, 1)), {w}, {2}, "[data]");
    const ValueId u_new = g.pointwise("u.next", ScalarOp::add, {u, w});
    const ValueId part = g.pointwise("w.part.next", ScalarOp::sub, {mine, m_new});
    const ValueId w_new = g.all_gather("w.next", {"data"}, 0, part);
    const ValueId late = g.pointwise("late", ScalarOp::add, {u, u_new});
    g.output(late);
    g.update(w, w_new);
    g.update(u, u_new);
    g.update(m, m_new);
    g.update(count, g.pointwise("count.next", ScalarOp::add, {count, count}));
    g.update(a, b);
    g.update(b, a);
    land_updates(g.local());
    return named(schedule(g.local(), g.mesh()), "updating");
}

} // namespace shard

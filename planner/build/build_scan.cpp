#include "planner/build/build_scan.h"

#include "planner/graph/local_use.h"
#include "planner/model/type_limits.h"
#include "plans/base/saturating.h"
#include "plans/plan/plan_check_steps.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

namespace shard {

namespace {

// E0231: what a trip makes is not what the next one begins with.
bool check_carried(const ScanBuild& build, const std::vector<size_t>& carried, const std::vector<ValueId>& inits,
                   const std::vector<ValueId>& yields) {
    const Graph& graph = build.builder.graph();
    for (size_t n = 0; n < inits.size(); ++n) {
        const Value &before = graph.value(inits[n]), &after = graph.value(yields[n]);
        if (before.type.dtype != after.type.dtype || before.type.shape != after.type.shape) {
            build.builder.diagnostics()
                .error("E0231", build.entry.op.span,
                       fmt::format("module '{}' cannot be scanned: '{}' goes in as {} {} and comes out as {} {}",
                                   build.module.name.text, build.module.inputs[n].text, name(before.type.dtype),
                                   shape_text(before.type.shape), name(after.type.dtype), shape_text(after.type.shape)))
                .label(build.module.outputs[carried[n]].span, "comes out here");
            return false;
        }
    }
    return true;
}

// E0227: a plan has no room for it.
bool check_depth(const ScanBuild& build) {
    const Graph& graph = build.builder.graph();
    int depth = 0;
    for (int loop = build.builder.loop(); loop >= 0; loop = graph.loops[loop].parent) ++depth;
    if (depth < deepest_loops) return true;
    build.builder.diagnostics()
        .error("E0227", build.entry.op.span,
               fmt::format("loops are nested more than {} deep, microbatches counted", deepest_loops))
        .help("leave `scan: true` away here: the repeat is then written out, which computes the same");
    return false;
}

// E0227: what all trips make could not be kept, as a backward pass keeps it. `first`: the first value of the loop.
bool check_kept(const ScanBuild& build, int loop, size_t first) {
    const Graph& graph = build.builder.graph();
    i64 trips = 1;
    for (int l = loop; l >= 0; l = graph.loops[l].parent) trips = multiply_saturating(trips, graph.loops[l].trips);
    for (size_t id = first; id < graph.values.size(); ++id) {
        const Value& value = graph.values[id];
        if (value.loop != loop || multiply_saturating(trips, value.type.bytes()) <= most_value_bytes) continue;
        build.builder.diagnostics()
            .error("E0227", build.entry.op.span,
                   fmt::format("'{}' {} in {} trips has more than 2^60 bytes", value.name, shape_text(value.type.shape),
                               trips))
            .help("look for a count with too many digits");
        return false;
    }
    return true;
}

// The outputs of the block that are carried, or those that are stacked.
std::vector<size_t> outputs_of(const ScanBuild& build, bool stacked) {
    std::vector<size_t> found;
    for (size_t n = 0; n < build.module.outputs.size(); ++n)
        if ((n < build.stacked_outputs.size() && build.stacked_outputs[n]) == stacked) found.push_back(n);
    return found;
}

} // namespace

BuiltValues build_scan(const ScanBuild& build, std::vector<ValueId> operands, CarriedVarying& varying) {
    if (!check_depth(build)) return std::nullopt;
    Builder& builder = build.builder;
    const std::vector<size_t> carried = outputs_of(build, false), stacked = outputs_of(build, true);
    const size_t first = builder.graph().values.size(), per_trip = operands.size() - build.over;
    const std::vector<ValueId> inits(operands.begin(), operands.begin() + std::ssize(carried));
    const std::string axis =
        !build.axis.empty() || build.over == 0 ? build.axis : builder.type(operands[per_trip]).logical[0];
    for (ValueId id : operands) builder.mark_used(id);
    Builder::Place place = {build.instance, build.instance, build.entry.op.span, {}, {}};
    GraphLoop header;
    header.trips = build.trips;
    header.reverse = build.reverse;
    header.scope = build.instance;
    header.span = build.entry.op.span;
    builder.set_place(place);
    LoopBuilder loop(builder, header, inits, varying);
    for (size_t n = 0; n < operands.size(); ++n) {
        if (n >= carried.size() && n < per_trip) continue;
        operands[n] = n < carried.size() ? loop.argument(n) : loop.entry(operands[n]);
        const std::string name =
            builder.unique_name(fmt::format("{}.{}", build.instance, build.module.inputs[n].text), "#");
        builder.rename(operands[n], name, build.module.inputs[n].span);
    }
    const BuiltValues made_outputs = build.run(loop, operands);
    std::vector<ValueId> yields, slices;
    if (made_outputs) {
        for (const size_t n : carried) yields.push_back((*made_outputs)[n]);
        for (const size_t n : stacked) slices.push_back((*made_outputs)[n]);
    }
    bool fits = made_outputs && check_carried(build, carried, inits, yields) && check_kept(build, loop.loop(), first);
    for (size_t n = 0; fits && n < carried.size(); ++n) {
        std::vector<int> made = builder.graph().value(loop.argument(n)).varying;
        join(made, builder.graph().value(yields[n]).varying);
        fits = made == builder.graph().value(loop.argument(n)).varying;
        varying[n] = std::move(made);
    }
    if (!fits) {
        builder.set_loop(builder.graph().loops[loop.loop()].parent);
        return std::nullopt;
    }
    builder.set_place(std::move(place));
    if (build.leaves)
        for (const ValueId left : build.leaves()) slices.push_back(left);
    const LoopBuilder::Results made = loop.close(yields, {}, slices, build.axis);
    const std::vector<ValueId>::const_iterator left = made.stacks.begin() + std::ssize(stacked);
    if (build.stacked) build.stacked({left, made.stacks.end()});
    std::vector<ValueId> results(build.module.outputs.size());
    for (size_t n = 0; n < carried.size(); ++n) results[carried[n]] = made.carried[n];
    for (size_t n = 0; n < stacked.size(); ++n) {
        results[stacked[n]] = made.stacks[n];
        builder.graph().value(made.stacks[n]).type.logical[0] = axis;
    }
    return results;
}

} // namespace shard

// Loops of a local graph as a model file has them: a module that is scanned in the body. It carries the running index
// besides what the loop carries, reads the rest of its inputs from outside, and takes and writes entries of stacks by
// the index.
#include "planner/graph/loop_index.h"
#include "planner/graph/verify_loops.h"
#include "planner/lower/lowered_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

} // namespace

std::string LoweredBody::step(const std::string& name, const std::string& text) {
    const std::string made = fresh_name(name);
    lines_.push_back(fmt::format("- {}: {{{}}}", made, text));
    return made;
}

void LoweredBody::open_loop(const Node& node) {
    OpenLoop open;
    open.outer_lines = std::move(lines_);
    lines_.clear();
    open.index = fresh_name("trip");
    for (ValueId argument : node.outputs) names_[argument] = fresh_name(local_.value(argument).name);
    open_loops_.emplace(node.opens(), std::move(open));
}

// What the body reads that is made outside, inner loops included; by name, as several values may be one.
std::vector<std::string> LoweredBody::read_from_outside(const GraphLoop& loop, int number) const {
    std::vector<std::string> names;
    for (NodeId n = loop.opens + 1; n <= loop.closes; ++n)
        for (ValueId id : local_.node(n).inputs)
            if (!is_within(local_, local_.value(id).loop, number) &&
                std::find(names.begin(), names.end(), name(id)) == names.end())
                names.push_back(name(id));
    return names;
}

// Loops between the one that an entry is taken by and the one in which it is taken hand the index on.
const std::string& LoweredBody::index_of(const Node& node) {
    const int of = static_cast<int>(node.attributes().integer("loop"));
    const std::string& index = open_loops_.at(of).index;
    for (int inner = node.loop; inner != of; inner = local_.loops[inner].parent)
        open_loops_.at(inner).handed_on.insert(index);
    return index;
}

void LoweredBody::close_loop(const Node& node) {
    const GraphLoop& loop = local_.loops[node.closes()];
    OpenLoop open = std::move(open_loops_.at(node.closes()));
    open_loops_.erase(node.closes());
    const std::string next =
        step(open.index + ".next", fmt::format("{}: [{}, 1]", loop.reverse ? "sub" : "add", open.index));
    std::vector<std::string> arguments, yields, inits, results;
    for (const GraphLoop::Carried& carried : loop.carried) {
        arguments.push_back(name(carried.argument));
        yields.push_back(name(carried.yield));
        inits.push_back(name(carried.init));
    }
    std::vector<std::string> outside = read_from_outside(loop, node.closes());
    outside.insert(outside.end(), open.handed_on.begin(), open.handed_on.end());
    arguments.push_back(open.index);
    arguments.insert(arguments.end(), outside.begin(), outside.end());
    const std::string module = fresh_name((loop.scope.empty() ? "microbatch" : loop.scope) + ".trip");
    modules_ += fmt::format("  {}:\n    inputs: [{}]\n    graph:\n", module, listed(arguments));
    for (const std::string& line : lines_) modules_ += fmt::format("      {}\n", line);
    yields.push_back(next);
    modules_ += fmt::format("    outputs: [{}]\n", listed(yields));

    lines_ = std::move(open.outer_lines);
    inits.push_back(
        step(open.index + ".first", fmt::format("constant: {}, dtype: i32", loop.reverse ? loop.trips - 1 : 0)));
    inits.insert(inits.end(), outside.begin(), outside.end());
    for (ValueId result : node.outputs) {
        results.push_back(fresh_name(local_.value(result).name));
        names_[result] = results.back();
    }
    results.push_back(fresh_name(open.index + ".end"));
    const std::string call = fmt::format("{{repeat: {}, times: {}, in: [{}], scan: true{}}}", module, loop.trips,
                                         listed(inits), loop.reverse ? ", reverse: true" : "");
    for (std::string& line : entry_lines(listed(results), call)) lines_.push_back(std::move(line));
}

// Where the entries of a stack are split over devices: its index there, clamped, and whether it is one of theirs.
LoweredBody::OwnRows LoweredBody::own_entry(const Value& stack, const std::string& index, size_t dim) {
    const std::vector<AxisRef>& axes = stack.part->sharding.dims[dim].axes;
    if (axes.empty()) return {index, ""};
    const i64 rows = stack.type.shape[dim];
    const std::string start = step("start", fmt::format("mul: [{}, {}]", index_text(axes), rows));
    const std::string local = step("row", fmt::format("sub: [{}, {}]", index, start));
    return among_own("", local, rows);
}

void LoweredBody::write_loop_slice(const Node& node) {
    const Value &stack = local_.value(node.inputs[0]), &value = local_.value(node.outputs[0]);
    const size_t dim = node.attributes().integer("dim");
    const i64 trips = loop_trips(node.attributes());
    const std::string& index = index_of(node);
    const i64 rows = value.type.shape[dim];
    if (value.part->global_shape[dim] > 1) { // every trips-th row
        Shape parts = stack.type.shape;
        parts[dim] = rows;
        parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(dim) + 1, trips);
        const std::string split =
            step(value.name + ".rows", fmt::format("reshape: {}, shape: {}", name(node.inputs[0]), list_text(parts)));
        const std::string part =
            step(value.name + ".part", fmt::format("dynamic_slice: [{}, {}], dim: {}, size: 1", split, index, dim + 1));
        return entry(node.outputs[0], fmt::format("reshape: {}, shape: {}", part, list_text(value.type.shape)));
    }
    const OwnRows own = own_entry(stack, index, dim);
    const std::string taken =
        fmt::format("dynamic_slice: [{}, {}], dim: {}, size: 1", name(node.inputs[0]), own.row, dim);
    if (own.is_here.empty()) return entry(node.outputs[0], taken);
    const std::string found = step(value.name + ".found", taken);
    const std::string mask =
        step("mask", fmt::format("broadcast: {}, shape: {}", own.is_here, list_text(value.type.shape)));
    entry(node.outputs[0], masked_text(mask, found, value.type.dtype));
}

void LoweredBody::write_loop_update(const Node& node) {
    const Value &stack = local_.value(node.inputs[0]), &slice = local_.value(node.inputs[1]);
    const std::string& index = index_of(node);
    const OwnRows own = own_entry(stack, index, 0);
    std::string written = name(node.inputs[1]);
    if (!own.is_here.empty()) {
        const std::string before = step(slice.name + ".before", fmt::format("dynamic_slice: [{}, {}], dim: 0, size: 1",
                                                                            name(node.inputs[0]), own.row));
        const std::string mask =
            step("mask", fmt::format("broadcast: {}, shape: {}", own.is_here, list_text(slice.type.shape)));
        written = step(slice.name + ".written", fmt::format("select: [{}, {}, {}]", mask, written, before));
    }
    entry(node.outputs[0],
          fmt::format("dynamic_update_slice: [{}, {}, {}], dim: 0", name(node.inputs[0]), written, own.row));
}

} // namespace shard

#include "planner/redistribute/manual_form.h"

#include "planner/graph/device_op.h"
#include "planner/graph/op_def.h"
#include "planner/redistribute/redistribute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

std::optional<std::string> over_form(const Mesh& mesh, std::span<const AxisRef> axes) {
    std::vector<std::string> names;
    for (const AxisRef& axis : axes) {
        if (axis != mesh.whole(axis.axis)) return std::nullopt;
        names.push_back(mesh.axes[axis.axis].name);
    }
    return names.size() == 1 ? names[0] : fmt::format("[{}]", fmt::join(names, ", "));
}

namespace {

// Of a collective of at most one move: the op that it carries out.
std::optional<std::string> one_form(const Mesh& mesh, const Collective& collective) {
    const std::optional<std::string> over = over_form(mesh, collective.axes);
    if (!over) return std::nullopt;
    for (const OpDef* op : all_ops()) {
        if (op->device == nullptr || op->device->written == nullptr) continue;
        const std::optional<std::string> rest = op->device->written(collective);
        if (rest) return fmt::format("{}: {{}}, over: {}{}{}", op->name, *over, rest->empty() ? "" : ", ", *rest);
    }
    return std::nullopt;
}

} // namespace

std::optional<std::vector<std::string>> manual_form(const Mesh& mesh, const Collective& collective) {
    std::vector<Collective> parts;
    for (const AxisMove& move : collective.moves) {
        parts.push_back(collective);
        parts.back().axes = move.axes;
        parts.back().moves = {move};
    }
    if (parts.empty()) parts.push_back(collective);
    std::vector<std::string> ops;
    for (const Collective& part : parts) {
        const std::optional<std::string> op = one_form(mesh, part);
        if (!op) return std::nullopt;
        ops.push_back(*op);
    }
    return ops;
}

std::optional<std::vector<std::string>> manual_form(const Mesh& mesh, const RedistributionStep& step) {
    if (step.collective) return manual_form(mesh, *step.collective);
    const std::optional<std::string> over = over_form(mesh, step.slice.axes);
    if (!over || step.slice.from >= 0) return std::nullopt;
    return std::vector{fmt::format("own_block: {{}}, over: {}, dim: {}", *over, step.slice.to)};
}

} // namespace shard

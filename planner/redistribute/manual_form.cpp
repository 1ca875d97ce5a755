#include "planner/redistribute/manual_form.h"

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

std::optional<std::vector<std::string>> manual_form(const Mesh& mesh, const Collective& collective) {
    const std::string_view kind = collective.def->name;
    std::vector<std::string> ops;
    if (kind == "all_reduce") {
        const std::optional<std::string> over = over_form(mesh, collective.axes);
        if (!over || collective.reduce == ReduceOp::prod) return std::nullopt;
        const std::string_view op = collective.reduce == ReduceOp::max   ? "pmax"
                                    : collective.reduce == ReduceOp::min ? "pmin"
                                                                         : "psum";
        ops.push_back(fmt::format("{}: {{}}, over: {}", op, *over));
    }
    for (const AxisMove& move : collective.moves) {
        const std::optional<std::string> over = over_form(mesh, move.axes);
        if (!over) return std::nullopt;
        if (kind == "all_gather")
            ops.push_back(fmt::format("all_gather: {{}}, over: {}, dim: {}, tiled: true", *over, move.from));
        else if (kind == "all_to_all")
            ops.push_back(fmt::format("all_to_all: {{}}, over: {}, split: {}, concat: {}, tiled: true", *over, move.to,
                                      move.from));
        else if (kind == "reduce_scatter" && collective.reduce == ReduceOp::sum)
            ops.push_back(fmt::format("psum_scatter: {{}}, over: {}, dim: {}, tiled: true", *over, move.to));
        else
            return std::nullopt;
    }
    return ops.empty() ? std::nullopt : std::optional(ops);
}

std::optional<std::vector<std::string>> manual_form(const Mesh& mesh, const RedistributionStep& step) {
    if (step.collective) return manual_form(mesh, *step.collective);
    const std::optional<std::string> over = over_form(mesh, step.slice.axes);
    if (!over) return std::nullopt;
    return std::vector{fmt::format("own_block: {{}}, over: {}, dim: {}", *over, step.slice.to)};
}

} // namespace shard

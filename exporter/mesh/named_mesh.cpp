#include "exporter/mesh/named_mesh.h"

#include "plans/sharding/axis_lists.h"
#include "plans/sharding/axis_stride.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

void add_axes(const std::vector<Step>& steps, std::vector<AxisRef>& used) {
    const auto add = [&used](std::span<const AxisRef> refs) { used.insert(used.end(), refs.begin(), refs.end()); };
    for (const Step& step : steps) {
        if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) add_axes(loop->body, used);
        if (const Start* start = std::get_if<Start>(&step.variant_ref())) {
            add(start->collective.axes);
            add(start->collective.source_order);
            add(start->collective.target_order);
            for (const AxisMove& move : start->collective.moves) add(move.axes);
        }
        if (const Compute* compute = std::get_if<Compute>(&step.variant_ref()))
            for_each_affine(*compute->kernel, [&used](const Affine& affine) {
                for (const AffineTerm& term : affine.terms)
                    if (term.kind == AffineTerm::Kind::coordinate) used.push_back(term.axis);
            });
    }
}

// Everything that the plan names of its mesh.
std::vector<AxisRef> axes_used(const Plan& plan) {
    std::vector<AxisRef> used;
    for (const Buffer& buffer : plan.buffers)
        for (const DimSharding& dim : buffer.sharding.dims) used.insert(used.end(), dim.axes.begin(), dim.axes.end());
    add_axes(plan.steps, used);
    return used;
}

// Where an axis is cut: between 1 and its size, in order.
std::set<i64> cuts_of(int axis, i64 size, std::span<const AxisRef> used) {
    std::set<i64> cuts;
    for (const AxisRef& ref : used)
        for (i64 place : {ref.pre, end_of(ref)})
            if (ref.axis == axis && place > 1 && place < size) cuts.insert(place);
    return cuts;
}

} // namespace

std::optional<NamedMesh> NamedMesh::of(const Plan& plan, Diagnostics& diagnostics) {
    NamedMesh named;
    const std::vector<AxisRef> used = axes_used(plan);
    for (int axis = 0; axis < static_cast<int>(plan.mesh.axes.size()); ++axis) {
        const MeshAxis& whole = plan.mesh.axes[axis];
        const std::set<i64> cuts = cuts_of(axis, whole.size, used);
        i64 pre = 1;
        for (i64 cut : cuts) {
            if (cut % pre != 0) {
                diagnostics
                    .error("E0509", {},
                           fmt::format("the plan splits over parts of the mesh axis {} that lie across each other",
                                       whole.name))
                    .help("write the axis as several in the layout's mesh");
                return std::nullopt;
            }
            named.parts_.push_back({axis, pre, cut / pre});
            pre = cut;
        }
        named.parts_.push_back({axis, pre, whole.size / pre});
        const size_t first = named.parts_.size() - cuts.size() - 1;
        for (size_t part = first; part < named.parts_.size(); ++part) {
            std::string name = cuts.empty() ? whole.name : fmt::format("{}_{}", whole.name, part - first);
            while (!cuts.empty() && plan.mesh.find(name)) name += "_";
            named.axes_.push_back({std::move(name), named.parts_[part].size, whole.link});
        }
    }
    return named;
}

std::vector<std::string> NamedMesh::names(const AxisRef& ref) const {
    std::vector<std::string> found;
    for (size_t part = 0; part < parts_.size(); ++part)
        if (contains(ref, parts_[part])) found.push_back(axes_[part].name);
    return found;
}

std::vector<std::string> NamedMesh::names(std::span<const AxisRef> refs) const {
    std::vector<std::string> found;
    for (const AxisRef& ref : refs)
        for (std::string& name : names(ref)) found.push_back(std::move(name));
    return found;
}

} // namespace shard

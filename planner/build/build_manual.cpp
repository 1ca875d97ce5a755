#include "planner/build/build_manual.h"

#include "planner/graph/region_ops.h"
#include "planner/graph/varying.h"
#include "planner/model/names.h"
#include "planner/model/rules.h"
#include "planner/model/sharding_checks.h"
#include "planner/read/manual_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

class RegionBuilder {
public:
    RegionBuilder(const ManualBuild& build, ManualDecl decl)
        : build_(build), builder_(build.builder), graph_(build.builder.graph()),
          diagnostics_(build.builder.diagnostics()), decl_(std::move(decl)) {}

    BuiltValues run() {
        if (!open_region()) return std::nullopt;
        Scope body(build_.path, decl_.body, region_);
        if (!enter_all(body)) return std::nullopt;
        const bool built = build_.run(body, decl_.body, region_);
        const BuiltValues results = leave_all(body);
        builder_.set_place({build_.scope.path(), build_.path, build_.entry.op.span, {}, {}});
        return built ? results : std::nullopt;
    }

private:
    const GraphRegion& region() const { return graph_.regions[region_]; }

    bool open_region() {
        if (build_.around >= 0) {
            diagnostics_.error("E0271", build_.entry.op.span, "a manual region stands inside another")
                .label(graph_.regions[build_.around].span, "the outer one")
                .help("let the outer one be manual over all the axes, and write its body out");
            return false;
        }
        internal_check(build_.mesh != nullptr, "a manual region is built for a mesh");
        const Mesh& mesh = *build_.mesh;
        GraphRegion region;
        std::vector<int> axes;
        bool good = true;
        if (decl_.mesh) {
            for (const Name& name : *decl_.mesh) {
                const std::optional<int> axis = known_axis(name.text, name.span);
                good = good && axis;
                if (axis) axes.push_back(*axis);
            }
        } else {
            for (size_t a = 0; a < mesh.axes.size(); ++a) axes.push_back(static_cast<int>(a));
        }
        std::sort(axes.begin(), axes.end());
        axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
        for (int axis : axes) {
            region.axes.push_back(mesh.whole(axis));
            region.names.push_back(mesh.axes[axis].name);
        }
        region.check = decl_.check;
        region.scope = build_.path;
        region.span = build_.entry.op.span;
        region_ = static_cast<int>(graph_.regions.size());
        graph_.regions.push_back(std::move(region));
        return good;
    }

    std::optional<int> known_axis(std::string_view name, Span span) {
        const std::optional<int> axis = build_.mesh->find(name);
        if (axis) return axis;
        DiagnosticBuilder error = diagnostics_.error("E0316", span, fmt::format("unknown mesh axis '{}'", name));
        suggest_axis(error, name, *build_.mesh);
        return std::nullopt;
    }

    // The sharding of a value at the border, checked: its axes are the region's, each at most once.
    std::optional<ShardingSpec> checked_spec(const ManualPort& port, int rank) {
        ShardingSpec spec;
        spec.span = port.name.span;
        if (!port.spec) {
            spec.dims.resize(rank);
            for (DimSpec& dim : spec.dims) dim.span = port.name.span;
            return spec;
        }
        spec = *port.spec;
        bool good = true;
        for (DimSpec& dim : spec.dims)
            for (const std::string& axis : dim.axes) {
                if (!known_axis(axis, dim.span)) {
                    good = false;
                } else if (std::find(region().names.begin(), region().names.end(), axis) == region().names.end()) {
                    diagnostics_
                        .error("E0272", dim.span, fmt::format("the region is not manual over a mesh axis '{}'", axis))
                        .note(fmt::format("it is manual over {}", fmt::join(region().names, ", ")))
                        .help("leave the axis out here: shardings over it pass through the region");
                    good = false;
                }
            }
        return good ? std::optional(spec) : std::nullopt;
    }

    bool enter_all(Scope& body) {
        bool good = true;
        for (const ManualPort& port : decl_.in) {
            const ValueId local = enter(port).value_or(poisoned);
            good = good && local != poisoned;
            body.bind(port.name.text, local);
        }
        return good;
    }

    std::optional<ValueId> enter(const ManualPort& port) {
        const std::optional<ValueId> global = build_.scope.find(port.of.text, graph_);
        if (!global) build_.scope.report_unknown(port.of, graph_, diagnostics_);
        if (!global || *global == poisoned) return std::nullopt;
        const TensorType type = builder_.type(*global);
        const std::optional<ShardingSpec> spec = checked_spec(port, type.rank());
        if (!spec) return std::nullopt;
        const CheckedArray array = {port.of.text, &type, graph_.value(*global).span};
        const std::optional<Sharding> sharding = spec_sharding(*build_.mesh, *spec, array, diagnostics_);
        if (!sharding || !check_divides(*build_.mesh, *sharding, array, dim_spans(*spec), diagnostics_))
            return std::nullopt;
        const std::string path = fmt::format("{}.{}", build_.path, port.name.text);
        builder_.set_place({build_.scope.path(), path, port.name.span, {}, {}, region_});
        const ValueId local =
            enter_region(builder_, *global, region_, border_spec(graph_, region_, *spec, *build_.mesh));
        builder_.rename(local, builder_.unique_name(path, "#"), port.name.span);
        return local;
    }

    BuiltValues leave_all(const Scope& body) {
        if (decl_.out.size() != build_.entry.results.size()) {
            diagnostics_.error("E0231", build_.entry.span,
                               fmt::format("`out` names {} values, but the entry has {} result{}", decl_.out.size(),
                                           build_.entry.results.size(), build_.entry.results.size() == 1 ? "" : "s"));
            return std::nullopt;
        }
        std::vector<ValueId> results;
        for (size_t n = 0; n < decl_.out.size(); ++n) {
            const std::optional<ValueId> global = leave(body, decl_.out[n], build_.entry.results[n]);
            if (global) results.push_back(*global);
        }
        return results.size() == decl_.out.size() ? BuiltValues(results) : std::nullopt;
    }

    std::optional<ValueId> leave(const Scope& body, const ManualPort& port, const Name& result) {
        const std::optional<ValueId> local = body.find(port.name.text, graph_);
        if (!local) body.report_unknown(port.name, graph_, diagnostics_);
        if (!local || *local == poisoned) return std::nullopt;
        TensorType type = builder_.type(*local);
        const std::optional<ShardingSpec> spec = checked_spec(port, type.rank());
        if (!spec) return std::nullopt;
        const CheckedArray array = {port.name.text, &type, graph_.value(*local).span};
        const std::optional<Sharding> sharding = spec_sharding(*build_.mesh, *spec, array, diagnostics_);
        if (!sharding) return std::nullopt;
        if (region().check && !check_replicated(graph_, *local, port.name, *sharding, spec->span, diagnostics_))
            return std::nullopt;
        builder_.mark_used(*local);
        const std::string path = builder_.unique_name(build_.scope.full(result.text), "#");
        builder_.set_place({build_.scope.path(), path, result.span, {}, {}, region_});
        const std::optional<ValueId> global =
            leave_region(builder_, *local, region_, border_spec(graph_, region_, *spec, *build_.mesh));
        if (!global) return std::nullopt;
        builder_.rename(*global, path, result.span);
        return global;
    }

    const ManualBuild& build_;
    Builder& builder_;
    Graph& graph_;
    Diagnostics& diagnostics_;
    ManualDecl decl_;
    int region_ = -1;
};

} // namespace

BuiltValues build_manual(const ManualBuild& build) {
    std::optional<ManualDecl> decl = read_manual(build.entry.arguments.front().value,
                                                 {build.model.axes, build.model.heads}, build.builder.diagnostics());
    if (!decl) return std::nullopt;
    return RegionBuilder(build, std::move(*decl)).run();
}

std::optional<ValueId> enter_declared(Builder& builder, const Mesh& mesh, int region, ValueId whole,
                                      const TensorDecl& decl) {
    const TensorType type = builder.type(whole);
    const DimSpec whole_dim = {{}, false, 0, decl.array.name.span};
    ShardingSpec spec = decl.array.mesh.value_or(
        ShardingSpec{std::vector<DimSpec>(type.shape.size(), whole_dim), {}, decl.array.name.span});
    const std::vector<std::string> names = builder.graph().regions[region].names;
    for (DimSpec& dim : spec.dims)
        std::erase_if(dim.axes, [&](const std::string& axis) {
            return std::find(names.begin(), names.end(), axis) == names.end();
        });
    const CheckedArray array = {decl.array.name.text, &type, decl.array.name.span};
    const std::optional<Sharding> sharding = spec_sharding(mesh, spec, array, builder.diagnostics());
    if (!sharding || !check_divides(mesh, *sharding, array, dim_spans(spec), builder.diagnostics()))
        return std::nullopt;
    const ValueId local = enter_region(builder, whole, region, border_spec(builder.graph(), region, spec, mesh));
    const std::string path = builder.graph().value(whole).name + ".local";
    builder.rename(local, builder.unique_name(path, "_"), decl.array.name.span);
    return local;
}

} // namespace shard

#include "planner/redistribute/xla_reshard.h"

#include "planner/redistribute/xla_tiles.h"
#include "plans/base/saturating.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>

namespace shard {

namespace {

std::vector<AxisRef> all_of(const XlaTiles& tiles) {
    std::vector<AxisRef> axes;
    for (const std::vector<AxisRef>& dim : tiles.dims) axes.insert(axes.end(), dim.begin(), dim.end());
    axes.insert(axes.end(), tiles.copies.begin(), tiles.copies.end());
    return axes;
}

// Parts of an axis of which neither cuts the other, as x:(1)3 and x:(2)3 of 6, have no common pieces.
bool cross(std::span<const AxisRef> some, std::span<const AxisRef> others) {
    for (const AxisRef& a : some)
        for (const AxisRef& b : others) {
            if (a.axis != b.axis) continue;
            for (i64 x : {a.pre, a.pre * a.size})
                for (i64 y : {b.pre, b.pre * b.size})
                    if (x % y != 0 && y % x != 0) return true;
        }
    return false;
}

class Maker {
public:
    Maker(const Mesh& mesh, const Hardware& hardware, const TensorType& global)
        : mesh_(mesh), hardware_(hardware), global_(global) {}

    // False if a dim does not divide, or the axes do not.
    bool step(const XlaTiles& before, const XlaStep& step) {
        if (cross(all_of(before), all_of(step.after))) return false;
        const size_t rank = global_.shape.size();
        const Sharding held = sharding_of(before, rank), wanted = sharding_of(step.after, rank);
        if (!divides(global_.shape, wanted)) return false;
        made_.gathers_all = made_.gathers_all || step.gathers_all;
        switch (step.kind) {
        case XlaStepKind::permute:
            permute(before, step.after, held);
            return true;
        case XlaStepKind::all_to_all:
            return move_axes(held, wanted);
        case XlaStepKind::slice:
            for (size_t d = 0; d < rank; ++d)
                if (const std::vector<AxisRef> more = without(wanted.dims[d].axes, held.dims[d].axes); !more.empty())
                    made_.steps.push_back({std::nullopt, {-1, static_cast<int>(d), more}});
            return true;
        case XlaStepKind::all_gather:
            gather(held, wanted);
            return true;
        }
        return false;
    }

    // The sum; what of its axes the wanted sharding has on a dim first, so that each device takes its part before the
    // rest is summed.
    Sharding reduce_toward(const Sharding& from, const Sharding& to) {
        Sharding at = from;
        for (size_t d = 0; d < to.dims.size(); ++d) {
            std::vector<AxisRef> here;
            for (const AxisRef& ref : without(to.dims[d].axes, at.dims[d].axes))
                if (std::find(at.partial.begin(), at.partial.end(), ref) != at.partial.end()) here.push_back(ref);
            Sharding sliced = at;
            for (const AxisRef& ref : here) append_axis(sliced.dims[d].axes, ref);
            if (here.empty() || here.size() == at.partial.size() || !divides(global_.shape, sliced)) continue;
            reduce(at, here);
            made_.steps.push_back({std::nullopt, {-1, static_cast<int>(d), here}});
            sliced.partial = without(at.partial, here);
            at = std::move(sliced);
            break;
        }
        reduce(at, at.partial);
        at.partial.clear();
        at.reduce = ReduceOp::sum;
        return at;
    }

    // Over some of the axes.
    void reduce(const Sharding& held, const std::vector<AxisRef>& axes) {
        Collective all_reduce;
        all_reduce.def = collective_with({.reduce = true});
        all_reduce.axes = axes;
        all_reduce.reduce = held.reduce;
        add(std::move(all_reduce), held);
    }

    // From here on `redistribute` goes.
    void rest(const Sharding& from, const Sharding& to) {
        const Redistribution way = redistribute(mesh_, hardware_, global_, from, to);
        made_.steps.insert(made_.steps.end(), way.steps.begin(), way.steps.end());
        made_.seconds += way.seconds;
        made_.wire_bytes_total = add_saturating(made_.wire_bytes_total, way.wire_bytes_total);
        made_.collectives += way.collectives;
    }

    Redistribution take() { return std::move(made_); }

private:
    void add(Collective collective, const Sharding& held) {
        TensorType local = global_;
        local.shape = local_shape(global_.shape, held);
        made_.seconds += collective.def->seconds(collective, mesh_, hardware_, local.bytes());
        made_.wire_bytes_total =
            add_saturating(made_.wire_bytes_total, collective.def->wire_bytes_total(collective, mesh_, local.bytes()));
        ++made_.collectives;
        made_.steps.push_back({std::move(collective), {}});
    }

    void gather(const Sharding& held, const Sharding& wanted) {
        if (held.dims.size() == 1 && can_be_summed())
            return sum_up(held, without(held.dims[0].axes, wanted.dims[0].axes));
        Collective collective;
        collective.def = collective_with({.from = true});
        for (size_t d = 0; d < held.dims.size(); ++d) {
            const std::vector<AxisRef> axes = without(held.dims[d].axes, wanted.dims[d].axes);
            if (axes.empty()) continue;
            for (const AxisRef& ref : axes) append_axis(collective.axes, ref);
            collective.moves.push_back({static_cast<int>(d), -1, axes});
        }
        add(std::move(collective), held);
    }

    bool can_be_summed() const { return is_floating(global_.dtype) || is_integer(global_.dtype); }

    // A vector is gathered by an all-reduce: each device puts its block among zeros. XLA:TPU does so.
    void sum_up(const Sharding& held, const std::vector<AxisRef>& axes) {
        const RedistributionStep place{std::nullopt, {0, -1, axes}};
        made_.steps.push_back(place);
        const Sharding placed = sharding_after(place, held);
        reduce(placed, placed.partial);
    }

    // Of the one dim that has fewer blocks to the one that has more.
    bool move_axes(const Sharding& held, const Sharding& wanted) {
        AxisMove move;
        for (size_t d = 0; d < held.dims.size(); ++d) {
            if (std::vector<AxisRef> axes = without(held.dims[d].axes, wanted.dims[d].axes); !axes.empty()) {
                move.from = static_cast<int>(d);
                move.axes = std::move(axes);
            } else if (!without(wanted.dims[d].axes, held.dims[d].axes).empty()) {
                move.to = static_cast<int>(d);
            }
        }
        if (move.from < 0 || move.to < 0) return false;
        Collective collective;
        collective.def = collective_with({.from = true, .to = true});
        collective.axes = move.axes;
        collective.moves = {move};
        Sharding after = held;
        drop_suffix(after.dims[move.from].axes, move.axes);
        for (const AxisRef& ref : move.axes) append_axis(after.dims[move.to].axes, ref);
        add(std::move(collective), held);
        return same_layout(after, wanted);
    }

    // Axes that keep their place in the numbering of all blocks take no part.
    void permute(const XlaTiles& before, const XlaTiles& after, const Sharding& held) {
        const std::vector<AxisRef> from = all_of(before), to = all_of(after);
        std::vector<AxisRef> source = cut(from, to), target = cut(to, from);
        Collective collective;
        collective.def = collective_with({.orders = true});
        const std::vector<i64> source_places = places(source), target_places = places(target);
        std::vector<AxisRef> group;
        const auto stays = [](const AxisRef& ref, i64 place, const std::vector<AxisRef>& others,
                              const std::vector<i64>& other_places) {
            for (size_t i = 0; i < others.size(); ++i)
                if (others[i] == ref && other_places[i] == place) return true;
            return false;
        };
        for (size_t i = 0; i < source.size(); ++i) {
            if (stays(source[i], source_places[i], target, target_places)) continue;
            append_axis(collective.source_order, source[i]);
            group.push_back(source[i]);
        }
        for (size_t i = 0; i < target.size(); ++i)
            if (!stays(target[i], target_places[i], source, source_places))
                append_axis(collective.target_order, target[i]);
        std::sort(group.begin(), group.end());
        collective.axes = merged(group);
        add(std::move(collective), held);
    }

    // How many blocks the axes left of each one number.
    static std::vector<i64> places(std::span<const AxisRef> axes) {
        std::vector<i64> result;
        i64 blocks = 1;
        for (const AxisRef& ref : axes) {
            result.push_back(blocks);
            blocks *= ref.size;
        }
        return result;
    }

    const Mesh& mesh_;
    const Hardware& hardware_;
    const TensorType& global_;
    Redistribution made_;
};

// A sum over some of its axes; else it passes on as it is.
Redistribution partly_summed(const Mesh& mesh, const Hardware& hardware, const TensorType& global, const Sharding& from,
                             const Sharding& to) {
    Sharding summed = from;
    summed.partial = to.partial;
    if (!same_layout(summed, to)) return redistribute(mesh, hardware, global, from, to);
    Maker maker(mesh, hardware, global);
    maker.reduce(from, without(from.partial, to.partial));
    return maker.take();
}

} // namespace

Redistribution reshard_as_xla(const Mesh& mesh, const Hardware& hardware, const TensorType& global,
                              const Sharding& from, const Sharding& to) {
    if (same_layout(from, to)) return {};
    if (!to.partial.empty()) return partly_summed(mesh, hardware, global, from, to);
    const auto way = [&](bool padded) {
        Maker maker(mesh, hardware, global);
        const Sharding start = from.partial.empty() ? from : maker.reduce_toward(from, to);
        if (padded) {
            maker.rest(start, to);
            return std::optional(maker.take());
        }
        XlaTiles at = tiles_of(mesh, start);
        const std::optional<std::vector<XlaStep>> steps = xla_steps(mesh, at, tiles_of(mesh, to));
        bool good = steps.has_value();
        for (size_t i = 0; good && i < steps->size(); ++i) {
            good = maker.step(at, (*steps)[i]);
            at = (*steps)[i].after;
        }
        return good ? std::optional(maker.take()) : std::nullopt;
    };
    const std::optional<Redistribution> found = way(false);
    return found ? *found : *way(true);
}

} // namespace shard

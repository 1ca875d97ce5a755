#include "planner/redistribute/redistribution_space.h"

#include "plans/base/saturating.h"
#include "plans/collective/collective_cost.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shard {

namespace {

// More are searched if the ends have more, but none are added.
constexpr size_t most_pieces = 4;

void collect(std::vector<AxisRef>& marks, const Sharding& sharding) {
    for (const DimSharding& dim : sharding.dims) marks.insert(marks.end(), dim.axes.begin(), dim.axes.end());
    marks.insert(marks.end(), sharding.partial.begin(), sharding.partial.end());
}

// Cuts pieces until no size that shares a factor with another is larger than it, or there are too many to search.
void refine(std::vector<AxisRef>& pieces) {
    for (size_t i = 0; i < pieces.size() && pieces.size() < most_pieces; ++i) {
        for (size_t j = 0; j < pieces.size() && pieces.size() < most_pieces; ++j) {
            i64 common = std::gcd(pieces[i].size, pieces[j].size);
            if (common == 1 || common == pieces[i].size) continue;
            AxisRef rest{pieces[i].axis, pieces[i].pre * common, pieces[i].size / common};
            pieces[i].size = common;
            pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
            j = static_cast<size_t>(-1); // the shorter piece may cut others again
        }
    }
}

std::vector<int> numbers_of(std::span<const AxisRef> refs, const std::vector<AxisRef>& pieces) {
    std::vector<int> numbers;
    for (const AxisRef& ref : cut(refs, pieces)) {
        auto found = std::find(pieces.begin(), pieces.end(), ref);
        internal_check(found != pieces.end(), "the axes of both ends are cut into common pieces");
        numbers.push_back(static_cast<int>(found - pieces.begin()));
    }
    return numbers;
}

Placement placement_of(const Sharding& sharding, const std::vector<AxisRef>& pieces) {
    Placement placement;
    for (const DimSharding& dim : sharding.dims) placement.dims.push_back(numbers_of(dim.axes, pieces));
    placement.partial = numbers_of(sharding.partial, pieces);
    std::sort(placement.partial.begin(), placement.partial.end());
    return placement;
}

std::vector<AxisRef> cut_to_common(const Sharding& from, const Sharding& to) {
    std::vector<AxisRef> marks;
    collect(marks, from);
    collect(marks, to);
    std::vector<AxisRef> pieces = cut(marks, marks);
    std::sort(pieces.begin(), pieces.end());
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    return pieces;
}

} // namespace

RedistributionSpace::RedistributionSpace(const Mesh& mesh, const Hardware& hardware, const TensorType& global,
                                         const Sharding& from, const Sharding& to, bool idle)
    : mesh_(&mesh), hardware_(&hardware), reduce_(from.reduce), shape_(global.shape) {
    // Leading axes that stay are dropped first, so that they neither multiply the states nor cut others.
    Sharding source = from, target = to;
    std::vector<AxisRef> common = cut_to_common(from, to);
    for (size_t d = 0; d < source.dims.size(); ++d) {
        std::vector<AxisRef> a = cut(source.dims[d].axes, common), b = cut(target.dims[d].axes, common);
        size_t same = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
        shape_[d] /= total_size(std::span(a).first(same));
        source.dims[d].axes.assign(a.begin() + static_cast<std::ptrdiff_t>(same), a.end());
        target.dims[d].axes.assign(b.begin() + static_cast<std::ptrdiff_t>(same), b.end());
    }
    pieces_ = cut_to_common(source, target);
    // Cut pieces matter where one takes another's place, so not where all go or all come.
    auto splits = [](const DimSharding& dim) { return !dim.axes.empty(); };
    bool exchange = std::any_of(source.dims.begin(), source.dims.end(), splits) &&
                    std::any_of(target.dims.begin(), target.dims.end(), splits);
    if (exchange) refine(pieces_);
    first_idle_ = pieces_.size();
    if (idle) {
        std::vector<AxisRef> used = used_axes(from);
        for (const AxisRef& ref : used_axes(to)) used.push_back(ref);
        for (const AxisRef& ref : unused_axes(mesh, used)) {
            if (pieces_.size() < most_pieces && ref.size > 1) pieces_.push_back(ref);
        }
    }
    internal_check(pieces_.size() <= 64, "a set of pieces is a number");
    for (size_t piece = 0; piece < pieces_.size(); ++piece)
        if (pieces_[piece].size == 1) units_ |= Group{1} << piece;
    start_ = placement_of(source, pieces_);
    goal_ = placement_of(target, pieces_);
    bytes_ = element_count(shape_) * byte_size(global.dtype);
    internal_check(
        std::includes(start_.partial.begin(), start_.partial.end(), goal_.partial.begin(), goal_.partial.end()),
        "a redistribution makes no partial value");
    // The scale of one query: moving everything once.
    if (!pieces_.empty()) {
        std::vector<AxisRef> all = merged(pieces_);
        double scale = 0;
        for (const AxisRef& ref : all) {
            Collective gather{collective_with({.from = true}), {ref}, ReduceOp::sum, {}, {}, {}, 0};
            scale += gather.def->seconds(gather, mesh, hardware, bytes_);
        }
        if (scale > 0) grain_ = std::ldexp(1.0, std::ilogb(scale) - 30);
        const FastestCollective fastest = fastest_collective(mesh, hardware, all);
        hop_ = fastest.seconds;
        rate_ = fastest.bytes_per_second;
    }
}

// In each dim the blocks now and at the goal lie in each other or, if they are split differently, there are devices for which
// they lie apart: choose the indices along the two first pieces that differ so.
i64 RedistributionSpace::bytes_in_place(const Placement& placement) const {
    i64 bytes = local_bytes(goal_);
    for (size_t d = 0; d < goal_.dims.size(); ++d) {
        std::vector<int> now = placement.dims[d], goal = goal_.dims[d];
        const auto is_unit = [this](int piece) { return pieces_[piece].size == 1; };
        std::erase_if(now, is_unit);
        std::erase_if(goal, is_unit);
        const auto [from, to] = std::mismatch(now.begin(), now.end(), goal.begin(), goal.end());
        if (from != now.end() && to != goal.end()) return 0;
        for (std::vector<int>::const_iterator piece = from; piece != now.end(); ++piece) bytes /= pieces_[*piece].size;
    }
    return bytes;
}

MoveCost RedistributionSpace::at_least(const Placement& placement) const {
    std::vector<int> reducing;
    std::set_difference(placement.partial.begin(), placement.partial.end(), goal_.partial.begin(), goal_.partial.end(),
                        std::back_inserter(reducing));
    i64 parts = 1;
    for (int piece : reducing) parts *= pieces_[piece].size;
    bool slices_only = parts == 1;
    for (size_t d = 0; d < goal_.dims.size() && slices_only; ++d) {
        const std::vector<int>&now = placement.dims[d], &goal = goal_.dims[d];
        slices_only = now.size() <= goal.size() && std::equal(now.begin(), now.end(), goal.begin());
    }
    if (slices_only) return {};
    i64 now = local_bytes(placement), goal = local_bytes(goal_);
    const i64 reduced = std::min(now, goal) - std::min(now, goal) / parts;
    const i64 received = add_saturating(std::max<i64>(0, goal - now), multiply_saturating(2, reduced));
    const i64 received_by_one = std::max(received, goal - bytes_in_place(placement));
    double seconds = rate_ > 0 ? static_cast<double>(received_by_one) / rate_ : 0;
    seconds = std::max(seconds, hop_);
    if (parts > 1) { // however a sum is split into steps, its latencies add up to this
        std::vector<AxisRef> axes;
        for (int piece : reducing) axes.push_back(pieces_[piece]);
        seconds = std::max(seconds, gather_seconds(*mesh_, *hardware_, axes, 0));
    }
    return {seconds, multiply_saturating(received, mesh_->device_count()), 1, 1};
}

MoveCost RedistributionSpace::estimate(const MoveCost& paid, const MoveCost& rest) const {
    MoveCost whole = paid + rest;
    if (grain_ > 0) whole.seconds = std::round(whole.seconds / grain_) * grain_;
    return whole;
}

// Of each list the pieces, from 1 on, and a 0 behind each but the last: a list comes before those that begin with it.
std::string text_of(const Placement& placement) {
    std::string text;
    const auto add = [&text](const std::vector<int>& list) {
        for (int piece : list) text += static_cast<char>(piece + 1);
    };
    for (const std::vector<int>& dim : placement.dims) {
        add(dim);
        text += '\0';
    }
    add(placement.partial);
    return text;
}

Placement placement_of(std::string_view text) {
    Placement placement;
    std::vector<int> list;
    for (const char c : text) {
        if (c != '\0') {
            list.push_back(c - 1);
            continue;
        }
        placement.dims.push_back(std::move(list));
        list.clear();
    }
    placement.partial = std::move(list);
    return placement;
}

i64 RedistributionSpace::local_bytes(const Placement& placement) const {
    i64 bytes = bytes_;
    for (const std::vector<int>& dim : placement.dims) {
        for (int piece : dim) bytes /= pieces_[piece].size;
    }
    return bytes;
}

} // namespace shard

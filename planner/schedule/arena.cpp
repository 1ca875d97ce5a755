#include "planner/schedule/arena.h"

#include "plans/base/division.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

namespace shard {

namespace {

i64 rounded(i64 bytes) { return round_up(bytes, arena_alignment); }

// Intervals of time that answer "which meet [begin, end)?" in about as many steps as there are answers: those that hold
// `begin` lie on one path of a segment tree, the others begin inside.
class Timeline {
public:
    Timeline(i64 first, i64 last) : first_(first) {
        while (leaves_ < last - first + 1) leaves_ *= 2;
        tree_.resize(2 * leaves_);
    }

    void add(i64 begin, i64 end, int id) {
        by_begin_[begin].push_back(id);
        for (i64 low = begin - first_ + leaves_, high = end - first_ + leaves_; low < high; low /= 2, high /= 2) {
            if (low % 2 == 1) tree_[low++].push_back(id);
            if (high % 2 == 1) tree_[--high].push_back(id);
        }
    }

    void meeting(i64 begin, i64 end, std::vector<int>& ids) const {
        for (i64 node = begin - first_ + leaves_; node > 0; node /= 2) {
            const std::vector<int>& here = tree_[node];
            ids.insert(ids.end(), here.begin(), here.end());
        }
        for (std::map<i64, std::vector<int>>::const_iterator it = by_begin_.upper_bound(begin);
             it != by_begin_.end() && it->first < end; ++it)
            ids.insert(ids.end(), it->second.begin(), it->second.end());
    }

private:
    i64 first_ = 0, leaves_ = 1;
    std::vector<std::vector<int>> tree_;
    std::map<i64, std::vector<int>> by_begin_;
};

// The start of the smallest gap of at least `bytes` between taken extents (sorted), or the end of the last one.
i64 best_fit(const std::vector<std::pair<i64, i64>>& taken, i64 floor, i64 bytes) {
    i64 best = -1, best_size = 0, top = floor;
    for (const auto& [begin, end] : taken) {
        const i64 gap = begin - top;
        if (gap >= bytes && (best < 0 || gap < best_size)) best = top, best_size = gap;
        top = std::max(top, end);
    }
    return best >= 0 ? best : top;
}

std::vector<i64> place_in_order(std::span<const Extent> extents, const std::vector<int>& order, i64 first, i64 last) {
    std::vector<i64> offsets(extents.size(), 0);
    Timeline timeline(first, last);
    // What lives all the time meets everything: it is stacked at the bottom and forgotten.
    i64 floor = 0;
    std::vector<int> ids, by_offset; // what was placed: at first from the bottom up, as far as `sorted`
    std::ptrdiff_t sorted = 0;
    std::vector<std::pair<i64, i64>> taken;
    const auto extent_at = [&](int id) { return std::pair(offsets[id], offsets[id] + rounded(extents[id].bytes)); };
    for (size_t i = 0; i < extents.size(); ++i) {
        if (extents[i].begin > first || extents[i].end < last) continue;
        offsets[i] = floor;
        floor += rounded(extents[i].bytes);
    }
    for (int id : order) {
        const Extent& extent = extents[id];
        if (extent.begin == first && extent.end == last) continue;
        ids.clear();
        taken.clear();
        timeline.meeting(extent.begin, extent.end, ids);
        if (ids.size() * std::bit_width(ids.size()) < by_offset.size()) {
            for (int other : ids) taken.push_back(extent_at(other));
            std::sort(taken.begin(), taken.end());
        } else { // most of what was placed: all but the last of it is in order already
            const auto below = [&](int a, int b) { return offsets[a] < offsets[b]; };
            std::sort(by_offset.begin() + sorted, by_offset.end(), below);
            std::inplace_merge(by_offset.begin(), by_offset.begin() + sorted, by_offset.end(), below);
            sorted = std::ssize(by_offset);
            for (int other : by_offset)
                if (extents[other].begin < extent.end && extent.begin < extents[other].end)
                    taken.push_back(extent_at(other));
        }
        offsets[id] = best_fit(taken, floor, rounded(extent.bytes));
        timeline.add(extent.begin, extent.end, id);
        by_offset.push_back(id);
    }
    return offsets;
}

} // namespace

i64 most_alive(std::span<const Extent> extents) {
    std::map<i64, i64> change;
    for (const Extent& extent : extents) {
        change[extent.begin] += rounded(extent.bytes);
        change[extent.end] -= rounded(extent.bytes);
    }
    i64 alive = 0, most = 0;
    for (const auto& [time, bytes] : change) most = std::max(most, alive += bytes);
    return most;
}

i64 placed_end(std::span<const Extent> extents, std::span<const i64> offsets) {
    i64 end = 0;
    for (size_t i = 0; i < extents.size(); ++i) end = std::max(end, offsets[i] + extents[i].bytes);
    return end;
}

std::vector<i64> place(std::span<const Extent> extents) {
    if (extents.empty()) return {};
    i64 first = extents[0].begin, last = extents[0].end;
    for (const Extent& extent : extents) {
        internal_check(extent.begin < extent.end && extent.bytes >= 0, "an extent that is never alive");
        first = std::min(first, extent.begin);
        last = std::max(last, extent.end);
    }
    std::vector<int> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](int id) -> const Extent& { return extents[id]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return std::pair(-at(a).bytes, at(a).begin) < std::pair(-at(b).bytes, at(b).begin);
    });
    std::vector<i64> by_size = place_in_order(extents, order, first, last);
    const i64 end = placed_end(extents, by_size);
    if (rounded(end) <= most_alive(extents)) return by_size;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return std::pair(at(a).begin, -at(a).bytes) < std::pair(at(b).begin, -at(b).bytes);
    });
    std::vector<i64> by_birth = place_in_order(extents, order, first, last);
    return placed_end(extents, by_birth) < end ? by_birth : by_size;
}

void ArenaExtents::add(const Extent& extent, i64& offset) {
    extents_.push_back(extent);
    offsets_.push_back(&offset);
}

i64 ArenaExtents::place(std::vector<i64> (*places)(std::span<const Extent>)) {
    const std::vector<i64> made = places(extents_);
    for (size_t i = 0; i < made.size(); ++i) *offsets_[i] = made[i];
    return placed_end(extents_, made);
}

} // namespace shard

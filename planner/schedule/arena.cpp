#include "planner/schedule/arena.h"

#include "plans/base/division.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

namespace shard {

namespace {

// Placing by size looks at each of them.
constexpr i64 most_meetings = 50'000'000;

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

bool lives_always(const Extent& extent, i64 first, i64 last) { return extent.begin <= first && extent.end >= last; }

// What lives all the time meets everything: it is stacked at the bottom. Where the others begin.
i64 stack_at_bottom(std::span<const Extent> extents, i64 first, i64 last, std::vector<i64>& offsets) {
    i64 floor = 0;
    for (size_t i = 0; i < extents.size(); ++i) {
        if (!lives_always(extents[i], first, last)) continue;
        offsets[i] = floor;
        floor += rounded(extents[i].bytes);
    }
    return floor;
}

// How many pairs of extents are alive at one time.
i64 meetings(std::span<const Extent> extents) {
    std::vector<i64> begins, ends;
    for (const Extent& extent : extents) {
        begins.push_back(extent.begin);
        ends.push_back(extent.end);
    }
    std::sort(begins.begin(), begins.end());
    std::sort(ends.begin(), ends.end());
    i64 pairs = 0, ended = 0;
    for (i64 i = 0; i < std::ssize(begins); ++i) {
        while (ends[ended] <= begins[i]) ++ended;
        pairs += i - ended;
    }
    return pairs;
}

// The free bytes of an arena at one time: gaps, and all from `top` on.
class FreeBytes {
public:
    explicit FreeBytes(i64 floor) : top_(floor) {}

    // From the smallest gap that holds them, of several the lowest.
    i64 take(i64 bytes) {
        const std::set<std::pair<i64, i64>>::const_iterator fit = by_size_.lower_bound({bytes, 0});
        if (fit == by_size_.end()) return std::exchange(top_, top_ + bytes);
        const auto [size, begin] = *fit;
        remove(begin, size);
        if (size > bytes) add(begin + bytes, size - bytes);
        return begin;
    }

    void give(i64 begin, i64 bytes) {
        i64 end = begin + bytes;
        if (const std::map<i64, i64>::const_iterator after = gaps_.find(end); after != gaps_.end()) {
            end += after->second;
            remove(after->first, after->second);
        }
        if (std::map<i64, i64>::const_iterator before = gaps_.lower_bound(begin); before != gaps_.begin()) {
            --before;
            if (before->first + before->second == begin) {
                begin = before->first;
                remove(before->first, before->second);
            }
        }
        if (end == top_)
            top_ = begin;
        else
            add(begin, end - begin);
    }

private:
    void add(i64 begin, i64 size) {
        gaps_.emplace(begin, size);
        by_size_.emplace(size, begin);
    }
    void remove(i64 begin, i64 size) { // by value: they may be of the gap that goes
        gaps_.erase(begin);
        by_size_.erase({size, begin});
    }

    i64 top_;
    std::map<i64, i64> gaps_; // by where they begin: their sizes
    std::set<std::pair<i64, i64>> by_size_;
};

std::vector<i64> place_in_order(std::span<const Extent> extents, const std::vector<int>& order, i64 first, i64 last) {
    std::vector<i64> offsets(extents.size(), 0);
    Timeline timeline(first, last);
    const i64 floor = stack_at_bottom(extents, first, last, offsets);
    std::vector<int> ids, by_offset; // what was placed: at first from the bottom up, as far as `sorted`
    std::ptrdiff_t sorted = 0;
    std::vector<std::pair<i64, i64>> taken;
    const auto extent_at = [&](int id) { return std::pair(offsets[id], offsets[id] + rounded(extents[id].bytes)); };
    for (int id : order) {
        const Extent& extent = extents[id];
        if (lives_always(extent, first, last)) continue;
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

// From the first birth to the last death.
std::pair<i64, i64> whole_time(std::span<const Extent> extents) {
    i64 first = extents[0].begin, last = extents[0].end;
    for (const Extent& extent : extents) {
        internal_check(extent.begin < extent.end && extent.bytes >= 0, "an extent that is never alive");
        first = std::min(first, extent.begin);
        last = std::max(last, extent.end);
    }
    return {first, last};
}

template<class Before>
std::vector<int> ordered(std::span<const Extent> extents, const Before& before) {
    std::vector<int> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), before);
    return order;
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

std::vector<i64> place_by_birth(std::span<const Extent> extents) {
    std::vector<i64> offsets(extents.size(), 0);
    const auto [first, last] = whole_time(extents);
    FreeBytes free(stack_at_bottom(extents, first, last, offsets));
    using Death = std::pair<i64, int>; // when, of which extent
    std::priority_queue<Death, std::vector<Death>, std::greater<>> alive;
    for (const int id : ordered(extents, [&](int a, int b) {
             return std::pair(extents[a].begin, -extents[a].bytes) < std::pair(extents[b].begin, -extents[b].bytes);
         })) {
        if (lives_always(extents[id], first, last)) continue;
        for (; !alive.empty() && alive.top().first <= extents[id].begin; alive.pop())
            free.give(offsets[alive.top().second], rounded(extents[alive.top().second].bytes));
        if (extents[id].bytes == 0) continue; // anywhere
        offsets[id] = free.take(rounded(extents[id].bytes));
        alive.emplace(extents[id].end, id);
    }
    return offsets;
}

std::vector<i64> place(std::span<const Extent> extents) {
    if (extents.empty()) return {};
    if (meetings(extents) > most_meetings) return place_by_birth(extents);
    const auto [first, last] = whole_time(extents);
    std::vector<i64> by_size = place_in_order(extents,
                                              ordered(extents,
                                                      [&](int a, int b) {
                                                          return std::pair(-extents[a].bytes, extents[a].begin) <
                                                                 std::pair(-extents[b].bytes, extents[b].begin);
                                                      }),
                                              first, last);
    const i64 end = placed_end(extents, by_size);
    if (rounded(end) <= most_alive(extents)) return by_size;
    std::vector<i64> by_birth = place_by_birth(extents);
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

#include "planner/redistribute/greedy_reshard.h"

#include "plans/base/index_of.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

using List = std::vector<AxisRef>;
using Lists = std::vector<List>; // one a dim

bool holds(const List& list, const AxisRef& ref) { return std::find(list.begin(), list.end(), ref) != list.end(); }
bool holds(const Lists& lists, const AxisRef& ref) {
    return std::any_of(lists.begin(), lists.end(), [&](const List& list) { return holds(list, ref); });
}
// Sizes of which neither divides the other cannot stand for each other.
bool compatible(i64 a, i64 b) { return a % b == 0 || b % a == 0; }

class Greedy {
public:
    Greedy(const Shape& shape, const Sharding& from, const Sharding& to) : shape_(shape), fixed_(shape.size()) {
        List all;
        for (const Sharding* end : {&from, &to})
            for (const DimSharding& dim : end->dims) all.insert(all.end(), dim.axes.begin(), dim.axes.end());
        for (size_t d = 0; d < shape.size(); ++d) {
            in_.push_back(cut(from.dims[d].axes, all));
            out_.push_back(cut(to.dims[d].axes, all));
        }
        drop_common();
    }

    std::vector<GreedyStep> run() {
        for (int round = 0; round < 2 && !done(); ++round) {
            slice();
            permute();
            all_to_alls(true);
            all_to_alls(false);
            gather(false);
        }
        if (!done()) { // what is left has no slot anywhere: gather all of it
            gather(true);
            const double before = local();
            if (!done()) {
                in_ = out_;
                step(GreedyKind::slice, 0 * before);
            }
        }
        return std::move(steps_);
    }

private:
    bool done() const { return in_ == out_; }

    double local() const {
        double elements = 1;
        for (size_t d = 0; d < shape_.size(); ++d)
            elements *= static_cast<double>(shape_[d] / total_size(fixed_[d]) / total_size(in_[d]));
        return elements;
    }

    void drop_common() {
        for (size_t d = 0; d < in_.size(); ++d)
            while (!in_[d].empty() && !out_[d].empty() && in_[d][0] == out_[d][0]) {
                fixed_[d].push_back(in_[d][0]);
                in_[d].erase(in_[d].begin());
                out_[d].erase(out_[d].begin());
            }
    }

    void step(GreedyKind kind, double elements) {
        GreedyStep made{kind, replicated_sharding(static_cast<int>(shape_.size())), elements};
        for (size_t d = 0; d < shape_.size(); ++d) {
            List whole = fixed_[d];
            whole.insert(whole.end(), in_[d].begin(), in_[d].end());
            made.after.dims[d].axes = merged(whole);
        }
        steps_.push_back(std::move(made));
        drop_common();
    }

    // The leading part of `ref` that fits a capacity; everywhere a larger axis is then two. Nothing if the sizes do not
    // fit.
    std::optional<AxisRef> fit(AxisRef ref, i64 capacity) {
        if (capacity <= 1 || !compatible(ref.size, capacity)) return std::nullopt;
        if (ref.size <= capacity) return ref;
        const AxisRef lead{ref.axis, ref.pre, capacity}, rest{ref.axis, ref.pre * capacity, ref.size / capacity};
        for (Lists* lists : {&in_, &out_, &rebuilt_})
            for (List& list : *lists) {
                const List::iterator at = std::find(list.begin(), list.end(), ref);
                if (at != list.end()) list.insert(list.erase(at), {lead, rest});
            }
        return lead;
    }

    void slice() {
        std::vector<i64> room;
        for (size_t d = 0; d < in_.size(); ++d)
            room.push_back(total_size(out_[d]) / std::gcd(total_size(in_[d]), total_size(out_[d])));
        bool sliced = false;
        for (size_t source = 0; source < in_.size(); ++source)
            for (size_t target = 0; target < in_.size(); ++target)
                while (extend_future_move(source, target, room[target])) sliced = true;
        for (size_t d = 0; d < in_.size(); ++d) // on their own dim, then anywhere
            sliced = take_unused(d, d, room) || sliced;
        for (size_t d = 0; d < in_.size(); ++d)
            for (size_t wanted = 0; wanted < in_.size(); ++wanted) sliced = take_unused(d, wanted, room) || sliced;
        if (sliced) step(GreedyKind::slice, 0);
    }

    // [- | x | -] -> [- | - | x,y]: y is sliced beside x, and both move together.
    bool extend_future_move(size_t source, size_t target, i64& room) {
        if (source == target || in_[source].empty() || !out_[source].empty() || !in_[target].empty()) return false;
        const List& goal = out_[target];
        const List::const_iterator last = std::find(goal.begin(), goal.end(), in_[source].back());
        if (last == goal.end() || last + 1 == goal.end() || holds(in_, *(last + 1))) return false;
        const std::optional<AxisRef> next = fit(*(last + 1), room);
        if (!next || shape_[source] % (total_size(fixed_[source]) * total_size(in_[source]) * next->size) != 0)
            return false;
        in_[source].push_back(*next);
        room /= next->size;
        return true;
    }

    bool take_unused(size_t dim, size_t wanted, std::vector<i64>& room) {
        bool taken = false;
        for (size_t i = 0; i < out_[wanted].size(); ++i) {
            if (holds(in_, out_[wanted][i])) continue;
            const std::optional<AxisRef> part = fit(out_[wanted][i], room[dim]);
            if (!part) continue;
            in_[dim].push_back(*part);
            room[dim] /= part->size;
            taken = true;
        }
        return taken;
    }

    bool wants_permutation() const {
        for (size_t d = 0; d < in_.size(); ++d) {
            if (in_[d].empty()) continue;
            if (!out_[d].empty() && compatible(in_[d][0].size, out_[d][0].size)) return true;
            bool seen_wanted = false;
            for (const AxisRef& ref : in_[d]) {
                const bool wanted = holds(out_, ref);
                if (!wanted && seen_wanted && out_[d].empty()) return true;
                seen_wanted = seen_wanted || wanted;
                if (wanted) continue;
                for (const List& list : out_)
                    for (const AxisRef& other : list)
                        if (!holds(in_, other) && compatible(ref.size, other.size)) return true;
            }
            for (const List& list : out_) { // those that go to one dim: side by side and in order?
                size_t next = 0;
                bool left = false;
                for (const AxisRef& ref : in_[d]) {
                    const size_t place = index_of(list, ref);
                    if (place == list.size()) {
                        left = next > 0;
                        continue;
                    }
                    if (left || (next > 0 && place != next)) return true;
                    next = place + 1;
                }
            }
        }
        return false;
    }

    // Every dim keeps its number of blocks: what it wants first, then what others want, then what nobody wants.
    void permute() {
        if (!wants_permutation()) return;
        const Lists in_before = in_, out_before = out_;
        rebuilt_.assign(in_.size(), {});
        std::vector<i64> room;
        for (const List& list : in_) room.push_back(total_size(list));
        for (size_t d = 0; d < in_.size(); ++d)
            for (size_t i = 0; i < out_[d].size(); ++i) {
                const std::optional<AxisRef> part = fit(out_[d][i], room[d]);
                if (!part) break;
                rebuilt_[d].push_back(*part);
                room[d] /= part->size;
            }
        // (dim, where its axes come from, are they wanted): own ones come before those of other dims.
        const std::vector<size_t> prefix = lengths(rebuilt_);
        for (const bool wanted : {true, false})
            for (const bool own : {true, false})
                for (size_t d = 0; d < in_.size(); ++d)
                    for (size_t from = 0; from < in_.size(); ++from)
                        if ((from == d) == own) fill(d, from, wanted, prefix[d], room);
        const bool full = std::all_of(room.begin(), room.end(), [](i64 rest) { return rest == 1; });
        if (full)
            in_ = rebuilt_;
        else {
            in_ = in_before;
            out_ = out_before;
        }
        rebuilt_.clear();
        if (full && in_ != in_before) step(GreedyKind::permute, local());
    }

    static std::vector<size_t> lengths(const Lists& lists) {
        std::vector<size_t> result;
        for (const List& list : lists) result.push_back(list.size());
        return result;
    }

    void fill(size_t dim, size_t from, bool wanted, size_t prefix, std::vector<i64>& room) {
        const Lists pools = wanted ? Lists{in_[from], out_[from]} : Lists{in_[from]};
        for (const List& pool : pools)
            for (const AxisRef& ref : pool) {
                if (room[dim] == 1 || !(holds(in_, ref) || holds(out_, ref)) || holds(rebuilt_, ref) ||
                    holds(out_, ref) != wanted)
                    continue;
                const std::optional<AxisRef> part = fit(ref, room[dim]);
                if (!part) continue;
                List& list = rebuilt_[dim];
                if (wanted)
                    list.push_back(*part);
                else
                    list.insert(list.begin() + static_cast<std::ptrdiff_t>(prefix), *part);
                room[dim] /= part->size;
            }
    }

    void all_to_alls(bool in_order) {
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t source = 0; source < in_.size(); ++source)
                for (size_t target = 0; target < in_.size(); ++target)
                    if (source != target && move_suffix(source, target, in_order)) moved = true;
        }
    }

    bool move_suffix(size_t source, size_t target, bool in_order) {
        List& list = in_[source];
        size_t first = list.size();
        while (first > 0 && holds(out_[target], list[first - 1])) --first;
        List suffix(list.begin() + static_cast<std::ptrdiff_t>(first), list.end());
        if (suffix.empty()) return false;
        const bool lands = in_[target].empty() && suffix.size() <= out_[target].size() &&
                           std::equal(suffix.begin(), suffix.end(), out_[target].begin());
        const i64 parts = total_size(suffix);
        if ((in_order && !lands) ||
            shape_[target] % (total_size(fixed_[target]) * total_size(in_[target]) * parts) != 0)
            return false;
        const double before = local();
        list.resize(first);
        in_[target].insert(in_[target].end(), suffix.begin(), suffix.end());
        step(GreedyKind::all_to_all, before * static_cast<double>(parts - 1) / static_cast<double>(parts));
        return true;
    }

    void gather(bool all) {
        const double before = local();
        bool gathered = false;
        for (List& list : in_)
            while (!list.empty() && (all || !holds(out_, list.back()))) {
                list.pop_back();
                gathered = true;
            }
        if (gathered) step(GreedyKind::all_gather, local() - before);
    }

    Shape shape_;
    Lists in_, out_, fixed_, rebuilt_;
    std::vector<GreedyStep> steps_;
};

} // namespace

std::vector<GreedyStep> greedy_reshard(const Shape& shape, const Sharding& from, const Sharding& to) {
    return Greedy(shape, from, to).run();
}

double elements_sent(const std::vector<GreedyStep>& steps) {
    double sum = 0;
    for (const GreedyStep& step : steps) sum += step.elements;
    return sum;
}

} // namespace shard

#include "plans/sharding/axis_lists.h"

#include "plans/sharding/axis_stride.h"

#include <algorithm>

namespace shard {

namespace {

// Takes the part of `size` off the front of a piece.
AxisRef take_front(AxisRef& ref, i64 size) {
    AxisRef front{ref.axis, ref.pre, size};
    ref = AxisRef{ref.axis, ref.pre * size, ref.size / size};
    return front;
}

} // namespace

void drop_suffix(std::vector<AxisRef>& list, std::span<const AxisRef> suffix) {
    for (size_t i = suffix.size(); i-- > 0;) {
        internal_check(!list.empty(), "the axes to drop are the minor ones of the list");
        const AxisRef& piece = suffix[i];
        AxisRef& last = list.back();
        bool fits = last.axis == piece.axis && end_of(last) == end_of(piece) && last.size % piece.size == 0;
        internal_check(fits, "the axes to drop are the minor ones of the list");
        last.size /= piece.size;
        if (last.size == 1) list.pop_back();
    }
}

std::vector<AxisRef> without(std::span<const AxisRef> refs, std::span<const AxisRef> removed) {
    std::vector<AxisRef> result;
    for (const AxisRef& ref : cut(refs, removed)) {
        bool gone = std::any_of(removed.begin(), removed.end(), [&](const AxisRef& r) { return contains(r, ref); });
        if (!gone) append_axis(result, ref);
    }
    return result;
}

std::vector<AxisRef> cut(std::span<const AxisRef> refs, std::span<const AxisRef> marks) {
    std::vector<AxisRef> result;
    for (AxisRef rest : refs) {
        std::vector<i64> places;
        for (const AxisRef& mark : marks) {
            if (mark.axis != rest.axis) continue;
            for (i64 place : {mark.pre, end_of(mark)}) {
                if (place > rest.pre && place < end_of(rest)) places.push_back(place);
            }
        }
        std::sort(places.begin(), places.end());
        for (i64 place : places) {
            if (place == rest.pre) continue;
            internal_check(place % rest.pre == 0 && end_of(rest) % place == 0, "cuts of an axis divide each other");
            result.push_back(take_front(rest, place / rest.pre));
        }
        result.push_back(rest);
    }
    return result;
}

std::vector<AxisRef> merged(std::span<const AxisRef> refs) {
    std::vector<AxisRef> result;
    for (const AxisRef& ref : refs) append_axis(result, ref);
    return result;
}

bool lie_across(const Sharding& a, const Sharding& b) {
    for (size_t d = 0; d < a.dims.size(); ++d)
        for (size_t e = 0; e < b.dims.size(); ++e)
            for (const AxisRef& axis : a.dims[d].axes)
                if (d != e && overlaps_any(axis, b.dims[e].axes)) return true;
    return false;
}

std::vector<AlignedAxes> align_axes(std::span<const AxisRef> source, std::span<const AxisRef> target) {
    std::vector<AlignedAxes> result;
    std::vector<AxisRef> left(source.rbegin(), source.rend()), right(target.rbegin(), target.rend());
    for (std::vector<AxisRef>* list : {&left, &right}) // an axis of size 1 says nothing
        std::erase_if(*list, [](const AxisRef& ref) { return ref.size == 1; });
    auto next = [](std::vector<AxisRef>& list) {
        internal_check(!list.empty(), "aligned lists have the same size");
        AxisRef ref = list.back();
        list.pop_back();
        return ref;
    };
    while (!left.empty() || !right.empty()) {
        AxisRef s = next(left), t = next(right);
        if (s.size % t.size == 0) {
            AxisRef front = take_front(s, t.size);
            if (s.size > 1) left.push_back(s);
            result.push_back({{front}, {t}});
        } else if (t.size % s.size == 0) {
            AxisRef front = take_front(t, s.size);
            if (t.size > 1) right.push_back(t);
            result.push_back({{s}, {front}});
        } else {
            AlignedAxes pair{{s}, {t}};
            i64 a = s.size, b = t.size;
            while (a != b) {
                std::vector<AxisRef>& shorter = a < b ? pair.source : pair.target;
                AxisRef more = next(a < b ? left : right);
                shorter.push_back(more);
                (a < b ? a : b) *= more.size;
            }
            result.push_back(std::move(pair));
        }
    }
    return result;
}

std::vector<AxisRef> without_unit_axes(std::span<const AxisRef> axes) {
    std::vector<AxisRef> kept;
    std::copy_if(axes.begin(), axes.end(), std::back_inserter(kept), [](const AxisRef& axis) { return axis.size > 1; });
    return kept;
}

Sharding without_unit_axes(const Sharding& sharding) {
    Sharding result = sharding;
    for (DimSharding& dim : result.dims) dim.axes = without_unit_axes(dim.axes);
    result.replicated = without_unit_axes(result.replicated);
    result.partial = without_unit_axes(result.partial);
    return result;
}

} // namespace shard

#include "planner/redistribute/xla_tiles.h"

#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <map>
#include <utility>

namespace shard {

namespace {

using Axes = std::vector<AxisRef>;
using Steps = std::vector<XlaStep>;

void append(Axes& list, std::span<const AxisRef> more) {
    for (const AxisRef& ref : more) append_axis(list, ref);
}

// All axes that no dim uses, parts that lie side by side as one: an order that says nothing.
Axes copies_beside(const Mesh& mesh, const std::vector<Axes>& dims) {
    Axes used;
    for (const Axes& dim : dims) used.insert(used.end(), dim.begin(), dim.end());
    return unused_axes(mesh, used);
}

bool counts_equal(const XlaTiles& a, const XlaTiles& b) {
    for (size_t d = 0; d < a.dims.size(); ++d)
        if (a.count(d) != b.count(d)) return false;
    return true;
}

class Resharder {
public:
    explicit Resharder(const Mesh& mesh) : mesh_(mesh) {}

    // nullopt: none but gathering everything, where that is not allowed.
    std::optional<Steps> find(const XlaTiles& from, const XlaTiles& to, bool may_gather_all) {
        if (from == to) return Steps{};
        if (!from.is_whole() && !to.is_whole()) {
            if (counts_equal(from, to)) return Steps{{XlaStepKind::permute, to}};
            if (const auto pairs = exchanges(from, to)) return exchange(from, to, *pairs);
        }
        if (!to.is_whole() && from.copy_count() > 1)
            if (std::optional<Steps> found = slice(from, to)) return found;
        if (!from.is_whole() && to.copy_count() > 1)
            if (std::optional<Steps> found = gather(from, to)) return found;
        if (from.is_whole()) return slice(from, to);
        if (to.is_whole()) return Steps{{XlaStepKind::all_gather, to}};
        if (std::optional<Steps> found = in_parts(from, to)) return found;
        if (std::optional<Steps> found = without_equal_dims(from, to)) return found;
        if (!may_gather_all) return std::nullopt;
        XlaTiles whole = to;
        for (Axes& dim : whole.dims) dim.clear();
        whole.copies = copies_beside(mesh_, whole.dims);
        return Steps{{XlaStepKind::all_gather, whole, true}, {XlaStepKind::slice, to, true}};
    }

private:
    using Pairs = std::vector<std::pair<size_t, size_t>>; // dims that exchange their numbers of blocks: from, to

    // Dims whose numbers change, if the numbers of both ends are the same ones. The smallest number looks for its
    // place first, so that it is exchanged with a multiple of itself.
    std::optional<Pairs> exchanges(const XlaTiles& from, const XlaTiles& to) const {
        std::map<i64, std::vector<size_t>> source, target; // by number of blocks
        for (size_t d = 0; d < from.dims.size(); ++d) {
            if (from.count(d) == to.count(d)) continue;
            source[from.count(d)].push_back(d);
            target[to.count(d)].push_back(d);
        }
        if (source.size() != target.size()) return std::nullopt;
        for (const auto& [count, dims] : source)
            if (const auto other = target.find(count); other == target.end() || other->second.size() != dims.size())
                return std::nullopt;
        const auto remove = [](std::map<i64, std::vector<size_t>>& dims, i64 count, size_t dim) {
            std::erase(dims[count], dim);
            if (dims[count].empty()) dims.erase(count);
        };
        Pairs pairs;
        while (!source.empty()) {
            const i64 count = source.begin()->first;
            const size_t i = source.begin()->second.back();
            const i64 wanted = to.count(i);
            if (wanted == count) {
                remove(source, count, i);
                remove(target, count, i);
                continue;
            }
            if (count != 1 && wanted % count != 0) return std::nullopt;
            const std::vector<size_t>& holders = source[wanted];
            size_t j = holders[0];
            for (size_t k = 0; k < holders.size(); ++k) {
                j = holders[k];
                if (count == 1 ? to.count(j) != 1 : to.count(j) == count) break;
            }
            pairs.emplace_back(j, i);
            remove(target, wanted, i);
            source.begin()->second.back() = j;
            remove(source, wanted, j);
        }
        return pairs;
    }

    std::optional<Steps> exchange(const XlaTiles& from, const XlaTiles& to, const Pairs& pairs) const {
        Steps steps;
        XlaTiles at = from;
        for (const auto& [source, target] : pairs) {
            const std::optional<AxisCut> cut = cut_at(at.dims[source], at.count(target));
            if (!cut) return std::nullopt;
            at.dims[source] = cut->major;
            append(at.dims[target], cut->minor);
            steps.push_back({XlaStepKind::all_to_all, at});
        }
        if (at != to) steps.push_back({XlaStepKind::permute, to});
        return steps;
    }

    // `partial` with further axes on its dims, so that they have as many blocks as `of`: of what it has copies over,
    // in the order of the dims.
    std::optional<XlaTiles> split_like(const XlaTiles& partial, const XlaTiles& of) const {
        XlaTiles made = partial;
        Axes rest = partial.copies;
        for (size_t d = 0; d < made.dims.size(); ++d) {
            if (of.count(d) % made.count(d) != 0) return std::nullopt;
            const std::optional<AxisCut> cut = cut_at(rest, of.count(d) / made.count(d));
            if (!cut) return std::nullopt;
            append(made.dims[d], cut->major);
            rest = cut->minor;
        }
        made.copies = copies_beside(mesh_, made.dims);
        return made;
    }

    std::optional<Steps> slice(const XlaTiles& from, const XlaTiles& to) const {
        // Of a whole value each device takes the very part that is wanted.
        const std::optional<XlaTiles> sliced = from.is_whole() ? std::optional(to) : split_like(from, to);
        if (!sliced) return std::nullopt;
        Steps steps{{XlaStepKind::slice, *sliced}};
        if (*sliced != to) steps.push_back({XlaStepKind::permute, to});
        return steps;
    }

    std::optional<Steps> gather(const XlaTiles& from, const XlaTiles& to) const {
        if (to.is_whole()) return Steps{{XlaStepKind::all_gather, to}};
        const std::optional<XlaTiles> permuted = split_like(to, from);
        if (!permuted) return std::nullopt;
        Steps steps;
        if (*permuted != from) steps.push_back({XlaStepKind::permute, *permuted});
        steps.push_back({XlaStepKind::all_gather, to});
        return steps;
    }

    // --- what takes more than one of these ---

    // The dim seen as two, of which the first has `blocks` blocks.
    static std::optional<XlaTiles> split_dim(const XlaTiles& tiles, size_t dim, i64 blocks) {
        XlaTiles made = tiles;
        const std::optional<AxisCut> cut =
            tiles.count(dim) <= blocks ? AxisCut{tiles.dims[dim], {}} : cut_at(tiles.dims[dim], blocks);
        if (!cut || total_size(cut->major) != std::min(blocks, tiles.count(dim))) return std::nullopt;
        made.dims[dim] = cut->major;
        made.dims.insert(made.dims.begin() + static_cast<std::ptrdiff_t>(dim) + 1, cut->minor);
        made.of.insert(made.of.begin() + static_cast<std::ptrdiff_t>(dim) + 1, tiles.of[dim]);
        return made;
    }

    struct Split {
        size_t dim;
        i64 blocks;
    };
    // A dim that gives blocks to one that has none, or takes them from it; or one that has more than it should.
    static std::optional<Split> dim_to_split(const XlaTiles& from, const XlaTiles& to) {
        if (from.copy_count() != to.copy_count()) return std::nullopt;
        std::vector<size_t> between_one, both;
        for (size_t d = 0; d < from.dims.size(); ++d) {
            const auto [least, most] = std::minmax({from.count(d), to.count(d)});
            if (least == most) continue;
            if (least == 1)
                between_one.push_back(d);
            else if (most % least == 0)
                both.push_back(d);
        }
        for (size_t i : both)
            for (size_t j : between_one)
                if (from.count(i) * from.count(j) == to.count(i) * to.count(j))
                    return Split{i, std::min(from.count(i), to.count(i))};
        for (size_t i : both)
            if (from.count(i) > to.count(i)) return Split{i, to.count(i)};
        return std::nullopt;
    }

    std::optional<Steps> in_parts(const XlaTiles& from, const XlaTiles& to) {
        if (const std::optional<Split> split = dim_to_split(from, to)) {
            const std::optional<XlaTiles> source = split_dim(from, split->dim, split->blocks),
                                          target = split_dim(to, split->dim, split->blocks);
            if (!source || !target) return std::nullopt;
            return find(*source, *target, false);
        }
        if (const std::optional<XlaTiles> middle = with_copies_of_one_dim(from, to)) return through(*middle, from, to);
        if (from.copy_count() > 1 && to.copy_count() == 1) {
            const i64 copies = from.copy_count();
            for (size_t d = 0; d < to.dims.size(); ++d) {
                if (to.count(d) == from.count(d) || from.count(d) != 1 || to.count(d) % copies != 0) continue;
                XlaTiles middle = from;
                middle.dims[d] = from.copies;
                middle.copies.clear();
                return through(middle, from, to);
            }
        }
        return std::nullopt;
    }

    std::optional<Steps> through(const XlaTiles& middle, const XlaTiles& from, const XlaTiles& to) {
        if (middle == from || middle == to || nested_ > from.dims.size()) return std::nullopt; // no step nearer
        ++nested_;
        std::optional<Steps> first = find(from, middle, true), rest = find(middle, to, false);
        --nested_;
        if (!first || !rest) return std::nullopt;
        first->insert(first->end(), rest->begin(), rest->end());
        return first;
    }

    // `to` has as many copies as a dim of `from` has blocks, so that dim is gathered first.
    std::optional<XlaTiles> with_copies_of_one_dim(const XlaTiles& from, const XlaTiles& to) const {
        if (to.copy_count() == 1) return std::nullopt;
        for (size_t d = 0; d < from.dims.size(); ++d) {
            if (from.count(d) == 1 || from.count(d) * from.copy_count() != to.copy_count()) continue;
            XlaTiles middle = from;
            middle.dims[d].clear();
            middle.copies = copies_beside(mesh_, middle.dims);
            return middle;
        }
        return std::nullopt;
    }

    // Dims that have as many blocks at both ends are left out: devices that differ in the others go among themselves.
    std::optional<Steps> without_equal_dims(const XlaTiles& from, const XlaTiles& to) {
        XlaTiles source = from, target = to;
        Axes left_out;
        for (size_t d = from.dims.size(); d-- > 0;) {
            if (from.count(d) == 1 || from.count(d) != to.count(d)) continue;
            if (from.dims[d] != to.dims[d]) return std::nullopt; // other devices belong together
            left_out.insert(left_out.end(), from.dims[d].begin(), from.dims[d].end());
            for (XlaTiles* tiles : {&source, &target}) {
                tiles->dims.erase(tiles->dims.begin() + static_cast<std::ptrdiff_t>(d));
                tiles->of.erase(tiles->of.begin() + static_cast<std::ptrdiff_t>(d));
            }
        }
        if (left_out.empty()) return std::nullopt;
        Resharder inner(mesh_);
        std::optional<Steps> steps = inner.find_beside(source, target, left_out);
        if (!steps) return std::nullopt;
        for (XlaStep& step : *steps) { // the left out dims again, where they were
            XlaTiles whole = step.after;
            for (size_t d = 0; d < from.dims.size(); ++d) {
                if (from.count(d) == 1 || from.count(d) != to.count(d)) continue;
                whole.dims.insert(whole.dims.begin() + static_cast<std::ptrdiff_t>(d), from.dims[d]);
                whole.of.insert(whole.of.begin() + static_cast<std::ptrdiff_t>(d), from.of[d]);
            }
            step.after = std::move(whole);
        }
        return steps;
    }

    // Among devices that are alike along `held`, which stay out of everything.
    std::optional<Steps> find_beside(XlaTiles from, XlaTiles to, const Axes& held) {
        held_.insert(held_.end(), held.begin(), held.end());
        for (XlaTiles* tiles : {&from, &to}) tiles->copies = without_held(tiles->copies);
        return find(from, to, true);
    }

    Axes without_held(const Axes& axes) const { return without(axes, held_); }

    Axes copies_beside(const Mesh& mesh, std::vector<Axes> dims) const {
        dims.push_back(held_);
        return shard::copies_beside(mesh, dims);
    }

    const Mesh& mesh_;
    size_t nested_ = 0; // ways through a middle, within each other
    Axes held_;
};

} // namespace

bool XlaTiles::is_whole() const {
    return std::all_of(dims.begin(), dims.end(), [](const Axes& dim) { return dim.empty(); });
}

XlaTiles tiles_of(const Mesh& mesh, const Sharding& sharding) {
    XlaTiles tiles;
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
        tiles.dims.push_back(merged(without_unit_axes(sharding.dims[d].axes)));
        tiles.of.push_back(d);
    }
    tiles.copies = without_unit_axes(copies_beside(mesh, tiles.dims));
    return tiles;
}

Sharding sharding_of(const XlaTiles& tiles, size_t rank) {
    Sharding sharding = replicated_sharding(static_cast<int>(rank));
    for (size_t d = 0; d < tiles.dims.size(); ++d) append(sharding.dims[tiles.of[d]].axes, tiles.dims[d]);
    return sharding;
}

std::optional<AxisCut> cut_at(std::span<const AxisRef> axes, i64 blocks) {
    AxisCut cut;
    i64 left = blocks;
    for (const AxisRef& ref : axes) {
        if (left == 1) {
            cut.minor.push_back(ref);
        } else if (left % ref.size == 0) {
            cut.major.push_back(ref);
            left /= ref.size;
        } else if (ref.size % left == 0) {
            cut.major.push_back({ref.axis, ref.pre, left});
            cut.minor.push_back({ref.axis, ref.pre * left, ref.size / left});
            left = 1;
        } else {
            return std::nullopt;
        }
    }
    if (left != 1) return std::nullopt;
    return cut;
}

std::optional<std::vector<XlaStep>> xla_steps(const Mesh& mesh, const XlaTiles& from, const XlaTiles& to) {
    return Resharder(mesh).find(from, to, true);
}

} // namespace shard

#include "plans/plan/plan_check_types.h"

#include "plans/base/checked.h"
#include "plans/plan/plan_check_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

constexpr i64 affine_limit = i64{1} << 60;

bool valid_axis(const Mesh& mesh, const AxisRef& ref) {
    if (ref.axis < 0 || ref.axis >= static_cast<int>(mesh.axes.size()) || ref.pre < 1 || ref.size < 1) return false;
    const i64 whole = mesh.axes[ref.axis].size;
    return whole % ref.pre == 0 && whole / ref.pre % ref.size == 0;
}

} // namespace

bool valid_axes(const Mesh& mesh, std::span<const AxisRef> axes) {
    for (size_t i = 0; i < axes.size(); ++i)
        if (!valid_axis(mesh, axes[i]) || overlaps_any(axes[i], axes.first(i))) return false;
    return true;
}

std::string sharding_problem(const Mesh& mesh, const Shape& global_shape, const Shape& local,
                             const Sharding& sharding) {
    if (sharding.dims.size() != global_shape.size()) return "the sharding has another number of dims than the shape";
    if (used_axes(sharding).size() > 1000 || !valid_axes(mesh, used_axes(sharding)))
        return "the sharding names axes twice or that the mesh lacks";
    if (!divides(global_shape, sharding)) return "the sharding does not divide the shape";
    if (local_shape(global_shape, sharding) != local)
        return fmt::format("the local shape is {}, the sharding gives {}", shape_text(local),
                           shape_text(local_shape(global_shape, sharding)));
    return {};
}

std::string type_problem(const TensorType& type) {
    if (std::any_of(type.shape.begin(), type.shape.end(), [](i64 size) { return size < 1; }))
        return fmt::format("the shape {} has a dim without elements", shape_text(type.shape));
    const std::optional<i64> elements = checked_element_count(type.shape);
    if (!elements || !checked_multiply(*elements, byte_size(type.dtype))) return "the shape's bytes do not fit 64 bits";
    return {};
}

std::optional<Range> range_of(const AffineScope& scope, const Affine& affine) {
    // In wider steps than the limit, so that sums are checked before they can overflow.
    Range total = {affine.constant, affine.constant};
    const auto inside = [](i64 value) { return value >= -affine_limit && value <= affine_limit; };
    if (!inside(affine.constant)) return std::nullopt;
    for (const AffineTerm& term : affine.terms) {
        Range range;
        if (term.kind == AffineTerm::Kind::coordinate) {
            if (!valid_axis(*scope.mesh, term.axis)) return std::nullopt;
            range.high = term.axis.size - 1;
        } else if (term.kind == AffineTerm::Kind::loop) {
            const std::map<int, i64>::const_iterator it = scope.trips.find(term.index);
            if (it == scope.trips.end()) return std::nullopt;
            range.high = it->second - 1;
        } else {
            if (term.index < 0 || term.index >= static_cast<int>(scope.buffers.size())) return std::nullopt;
            const Buffer& buffer = scope.buffers[term.index];
            if (!buffer.shape.empty() || !is_integer(buffer.dtype) || term.low > term.high) return std::nullopt;
            // What the type holds; of i64 only what the clamp leaves.
            const bool wide = buffer.dtype == DType::i64;
            const i64 low = wide ? AffineTerm{}.low : -(i64{1} << 31),
                      high = wide ? AffineTerm{}.high : (i64{1} << 32) - 1;
            range = {std::clamp(low, term.low, term.high), std::clamp(high, term.low, term.high)};
        }
        const std::optional<i64> a = checked_multiply(range.low, term.coefficient),
                                 b = checked_multiply(range.high, term.coefficient);
        if (!a || !b || !inside(*a) || !inside(*b)) return std::nullopt;
        total = {total.low + std::min(*a, *b), total.high + std::max(*a, *b)};
        if (!inside(total.low) || !inside(total.high)) return std::nullopt;
    }
    return total;
}

void add_scalars(const Affine& affine, std::vector<int>& buffers) {
    for (const AffineTerm& term : affine.terms)
        if (term.kind == AffineTerm::Kind::scalar) buffers.push_back(term.index);
}

bool can_run_in_place(const Collective& collective) {
    return collective.def != nullptr && collective.def->uses.reduce && !collective.def->uses.from &&
           !collective.def->uses.to;
}

std::string collective_problem(const Mesh& mesh, const Collective& collective, const TensorType& before,
                               const TensorType& after) {
    if (collective.def == nullptr) return "a collective without a kind";
    const CollectiveDef::Uses& uses = collective.def->uses;
    const int rank = before.rank();
    if (!valid_axes(mesh, collective.axes)) return "the collective names axes twice or that the mesh lacks";
    const i64 group = total_size(collective.axes);

    // The moves together use exactly the group's axes, and every dim stays whole.
    std::vector<AxisRef> moved;
    Shape shape = before.shape;
    if (collective.moves.empty() == (uses.from || uses.to)) return "moves do not go with this kind of collective";
    for (const AxisMove& move : collective.moves) {
        if ((move.from >= 0) != uses.from || (move.to >= 0) != uses.to || move.from >= rank || move.to >= rank ||
            move.from < -1 || move.to < -1 || move.from == move.to)
            return "a collective's move names the wrong dims";
        if (move.axes.empty() || !valid_axes(mesh, move.axes))
            return "a collective's move names axes twice or that the mesh lacks";
        moved.insert(moved.end(), move.axes.begin(), move.axes.end());
        const i64 parts = total_size(move.axes);
        if (move.to >= 0) {
            i64& size = shape[move.to];
            if (size % parts != 0)
                return fmt::format("dim {} of size {} is not split evenly into {}", move.to, size, parts);
            size /= parts;
        }
        if (move.from >= 0) {
            i64& size = shape[move.from];
            const std::optional<i64> grown = checked_multiply(size, parts);
            if (!grown) return "a collective's result is too large";
            size = *grown;
        }
    }
    const auto in_group = [&](std::span<const AxisRef> axes) {
        return valid_axes(mesh, axes) && total_size(axes) == group &&
               std::all_of(axes.begin(), axes.end(), [&](const AxisRef& axis) {
                   return std::any_of(collective.axes.begin(), collective.axes.end(),
                                      [&](const AxisRef& outer) { return contains(outer, axis); });
               });
    };
    if (!collective.moves.empty() && !in_group(moved)) return "the moves use other axes than the collective's group";
    const bool has_orders = !collective.source_order.empty() || !collective.target_order.empty();
    if (has_orders && !uses.orders) return "orders of axes do not go with this kind of collective";
    if (!collective.pairs.empty() && !is_pairwise(collective))
        return "pairs of ranks do not go with this kind of collective";
    std::set<i64> sources, destinations;
    for (const auto& [source, destination] : collective.pairs) {
        if (source < 0 || source >= group || destination < 0 || destination >= group)
            return "a pair names a rank that the group lacks";
        if (!sources.insert(source).second || !destinations.insert(destination).second)
            return "two pairs name the same source or destination";
    }
    // Pairs stand for both orders.
    if (is_pairwise(collective)
            ? !collective.target_order.empty()
            : uses.orders && (!in_group(collective.source_order) || !in_group(collective.target_order)))
        return "an order of axes does not hold the collective's axes";
    if (collective.root < 0 || collective.root >= group || (collective.root != 0 && !uses.root))
        return "the root is not in the group";
    if (collective.reduce != ReduceOp::sum && !uses.reduce)
        return "a reduction does not go with this kind of collective";

    if (shape != after.shape || before.dtype != after.dtype)
        return fmt::format("the result is {} {}, the collective gives {} {}", name(after.dtype),
                           shape_text(after.shape), name(before.dtype), shape_text(shape));
    return type_problem(after);
}

int root_of(std::span<const Buffer> buffers, int buffer) {
    while (buffers[buffer].alias_of >= 0) buffer = buffers[buffer].alias_of;
    return buffer;
}

int contents_of(std::span<const Buffer> buffers, int buffer) {
    while (buffers[buffer].view) buffer = buffers[buffer].alias_of;
    return buffer;
}

TensorType local_type(const Buffer& buffer) { return {buffer.dtype, buffer.shape, {}}; }

} // namespace shard

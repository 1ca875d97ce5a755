// Ops that move elements from block to block: what a device cuts out for others, and the block that it makes of its own
// and what it has received. A box of which the ends depend on the device is looked up row by row: a row of the result is
// taken where it lies in the box, and left as it was elsewhere.
#include "planner/lower/lowered_body.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// The dim along which pieces are others from device to device, or from each other. Along the rest messages are cut already,
// and begin elsewhere than what is read of a device's own block.
size_t moved_dim(const Move& move) {
    const MovePiece& first = move.pieces.front();
    const auto found = [&](const auto& differs) -> std::optional<size_t> {
        for (size_t d = 0; d < first.extent.size(); ++d)
            if (std::any_of(move.pieces.begin(), move.pieces.end(),
                            [&](const MovePiece& piece) { return differs(piece, d); }))
                return d;
        return std::nullopt;
    };
    const std::optional<size_t> by_device = found([](const MovePiece& piece, size_t d) {
        return !piece.in_start[d].is_constant() || !piece.out_start[d].is_constant();
    });
    if (by_device) return *by_device;
    const std::optional<size_t> by_place = found([&](const MovePiece& piece, size_t d) {
        return piece.out_start[d] != first.out_start[d] || piece.extent[d] != first.extent[d];
    });
    if (by_place) return *by_place;
    return found([&](const MovePiece& piece, size_t d) { return piece.in_start[d] != first.in_start[d]; }).value_or(0);
}

// What the piece reads along all dims but one, in the order in which it does; nothing if that is all.
std::vector<std::string> box_steps(const MovePiece& piece, const Shape& operand, std::optional<size_t> but) {
    std::vector<i64> start, limit, stride, reversed;
    for (size_t d = 0; d < operand.size(); ++d) {
        const i64 first = piece.in_start[d].constant, last = first + piece.in_stride[d] * (piece.extent[d] - 1);
        start.push_back(d == but ? 0 : std::min(first, last));
        limit.push_back(d == but ? operand[d] : std::max(first, last) + 1);
        stride.push_back(d == but ? 1 : std::abs(piece.in_stride[d]));
        if (d != but && piece.in_stride[d] < 0) reversed.push_back(static_cast<i64>(d));
    }
    std::vector<std::string> steps;
    const std::vector<i64> from(operand.size(), 0), all(operand.size(), 1);
    if (start != from || limit != operand || stride != all)
        steps.push_back(fmt::format("slice: {{}}, start: {}, limit: {}, stride: {}", list_text(start), list_text(limit),
                                    list_text(stride)));
    if (!reversed.empty()) steps.push_back(fmt::format("rev: {{}}, dims: {}", list_text(reversed)));
    return steps;
}

} // namespace

void LoweredBody::check_fixed(const Node& node, const MovePiece& piece, std::optional<size_t> but) {
    for (size_t d = 0; d < piece.extent.size(); ++d)
        if (d != but && (!piece.in_start[d].is_constant() || !piece.out_start[d].is_constant()))
            fail(node.span, "a move between blocks along two dims has no form in a manual region");
}

void LoweredBody::write_cut(const Node& node) {
    const MovePiece& piece = std::get<Move>(*node.kernel()).pieces.front();
    check_fixed(node, piece, std::nullopt);
    chain(node.inputs[0], node.outputs[0], box_steps(piece, local_.value(node.inputs[0]).type.shape, std::nullopt));
}

std::string LoweredBody::affine_text(const Affine& affine) {
    std::string sum = std::to_string(affine.constant);
    for (const AffineTerm& term : affine.terms) {
        const std::string part =
            step("part", fmt::format("mul: [{}, {}]", index_text(std::span(&term.axis, 1)), term.coefficient));
        sum = step("start", fmt::format("add: [{}, {}]", part, sum));
    }
    return sum;
}

// `rows` times a factor and moved on.
std::string LoweredBody::moved_rows(std::string rows, i64 factor, const Affine& by) {
    if (factor != 1) rows = step("rows", fmt::format("mul: [{}, {}]", rows, factor));
    return by == Affine{} ? rows : step("rows", fmt::format("add: [{}, {}]", rows, affine_text(by)));
}

// The row of the operand for each row of the result, and whether the piece has one.
LoweredBody::OwnRows LoweredBody::rows_of(const MovePiece& piece, size_t dim, i64 held, i64 made) {
    const auto both = [this](const std::string& a, const std::string& b) {
        return step("here", fmt::format("and: [{}, {}]", a, b));
    };
    const std::string rows = step("rows", fmt::format("iota: ~, shape: [{}], dim: 0, dtype: i32", made));
    const std::string far = moved_rows(rows, 1, piece.out_start[dim] * -1);
    const i64 spread = piece.out_stride[dim];
    const std::string at = spread == 1 ? far : step("rows", fmt::format("trunc_div: [{}, {}]", far, spread));
    OwnRows own = among_own("", at, piece.extent[dim]);
    if (spread > 1) {
        const std::string between = step("between", fmt::format("rem: [{}, {}]", far, spread));
        own.is_here = both(own.is_here, step("here", fmt::format("eq: [{}, 0]", between)));
    }
    const std::string from = moved_rows(own.row, piece.in_stride[dim], piece.in_start[dim]);
    if (piece.in_start[dim].is_constant()) return {from, own.is_here}; // inside of what is held
    const OwnRows within = among_own("", from, held);
    return {within.row, both(own.is_here, within.is_here)};
}

void LoweredBody::write_assembly(const Node& node) {
    const Move& move = std::get<Move>(*node.kernel());
    const Value& value = local_.value(node.outputs[0]);
    const size_t dim = moved_dim(move);
    Shape shape = move.pieces.front().extent;
    shape[dim] = value.type.shape[dim];
    std::string made =
        step(value.name + ".fill", fmt::format("constant: {}, shape: {}, dtype: {}", number_text(move.fill.value),
                                               list_text(shape), shard::name(value.type.dtype)));
    for (const MovePiece& piece : move.pieces) {
        const ValueId from = node.inputs[static_cast<size_t>(piece.operand)];
        const Shape& held = local_.value(from).type.shape;
        std::string operand = name(from);
        check_fixed(node, piece, dim);
        for (const std::string& text : box_steps(piece, held, dim))
            operand = step(value.name + ".box", fmt::format(fmt::runtime(text), operand));
        const OwnRows own = rows_of(piece, dim, held[dim], shape[dim]);
        const std::string found =
            step(value.name + ".found", fmt::format("gather: [{}, {}], dim: {}", operand, own.row, dim));
        const std::string mask =
            step("mask", fmt::format("broadcast: {}, shape: {}, dims: [{}]", own.is_here, list_text(shape), dim));
        const std::string text = fmt::format("select: [{}, {}, {}]", mask, found, made);
        if (&piece == &move.pieces.back() && shape == value.type.shape) return entry(node.outputs[0], text);
        made = step(value.name + ".made", text);
    }
    // Along the other dims nothing depends on the device.
    const MovePiece& piece = move.pieces.front();
    std::vector<i64> low, high, interior;
    for (size_t d = 0; d < shape.size(); ++d) {
        low.push_back(d == dim ? 0 : piece.out_start[d].constant);
        interior.push_back(d == dim || shape[d] == 1 ? 0 : piece.out_stride[d] - 1);
        high.push_back(value.type.shape[d] - low[d] - shape[d] - interior[d] * (shape[d] - 1));
    }
    entry(node.outputs[0], fmt::format("pad: {}, low: {}, high: {}, interior: {}, value: {}", made, list_text(low),
                                       list_text(high), list_text(interior), number_text(move.fill.value)));
}

} // namespace shard

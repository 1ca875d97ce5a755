#include "exporter/stablehlo/hlo_move.h"

#include "exporter/program/move_form.h"
#include "exporter/stablehlo/hlo_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

class MoveOps {
public:
    MoveOps(const Move& move, const HloValues& inputs, const HloValue& output, HloBody& body)
        : move_(move), inputs_(inputs), output_(output), body_(body), ops_(body.ops()), rank_(output.shape.size()),
          form_(move, inputs, output.shape, body.scope()) {}

    HloValue write() {
        switch (form_.way()) {
        case MoveWay::reshape:
            return ops_.reshape(inputs_[0], output_.shape);
        case MoveWay::box:
            return box(move_.pieces[0]);
        case MoveWay::concatenation:
            return concatenation(*form_.concatenated());
        case MoveWay::padding:
            return padding(move_.pieces[0]);
        case MoveWay::one_by_one:
            break;
        }
        return one_after_the_other();
    }

private:
    const HloValue& operand(const MovePiece& piece) const { return inputs_[static_cast<size_t>(piece.operand)]; }

    std::vector<i64> permutation() const { // of the operand's dims
        std::vector<i64> dims;
        for (size_t d = 0; d < rank_; ++d) dims.push_back(static_cast<i64>(form_.operand_dim(d)));
        return dims;
    }

    // What a piece reads, with its dims as the result has them. Inside of the operand.
    HloValue box(const MovePiece& piece) {
        const MoveBox read = form_.box(piece);
        std::vector<i64> low(rank_, 0), steps, backwards;
        HloValue from = operand(piece);
        if (all_constant(read.low)) {
            for (size_t k = 0; k < rank_; ++k) low[k] = read.low[k].constant;
        } else if (from.shape != read.reach) {
            from = ops_.dynamic_slice(from, body_.affines(read.low), read.reach);
        }
        for (size_t k = 0; k < rank_; ++k) {
            steps.push_back(std::abs(piece.in_stride[k]));
            if (piece.in_stride[k] < 0 && read.extent[k] > 1) backwards.push_back(static_cast<i64>(k));
        }
        return ops_.transpose(ops_.reverse(ops_.slice(from, low, read.reach, steps), backwards), permutation());
    }

    HloValue concatenation(size_t dim) {
        HloValues boxes;
        for (const MovePiece& piece : move_.pieces) boxes.push_back(box(piece));
        return ops_.op("stablehlo.concatenate", boxes, fmt::format(", dim = {}", dim), output_.dtype, output_.shape);
    }

    HloValue padding(const MovePiece& piece) {
        std::vector<i64> low, high, interior;
        for (size_t d = 0; d < rank_; ++d) {
            const i64 stride = piece.out_stride[d];
            low.push_back(piece.out_start[d].constant);
            high.push_back(output_.shape[d] - low[d] - (stride * (piece.extent[d] - 1) + 1));
            interior.push_back(stride - 1);
        }
        const HloValue inner = box(piece);
        return ops_.pad(inner, ops_.constant(move_.fill, output_.dtype), low, high, interior);
    }

    HloValue one_after_the_other() {
        std::optional<HloValue> made;
        for (const MovePiece& piece : move_.pieces) {
            if (element_count(piece.extent) == 0) continue;
            if (!made && form_.is_whole(piece) && form_.reads_inside_operand(piece)) {
                made = box(piece);
                continue;
            }
            if (!made) made = ops_.constant(move_.fill, output_.dtype, output_.shape);
            made = written(*made, piece);
        }
        return made ? *made : ops_.constant(move_.fill, output_.dtype, output_.shape);
    }

    HloValue written(const HloValue& before, const MovePiece& piece) {
        if (form_.is_packed(piece) && form_.reads_inside_operand(piece) && form_.writes_inside_result(piece)) {
            const HloValue part = box(piece);
            return ops_.dynamic_update_slice(before, part, body_.affines(piece.out_start));
        }
        return chosen(before, piece);
    }

    // Every element of the result is asked whether the piece writes it: dim by dim, since a box is that.
    HloValue chosen(const HloValue& before, const MovePiece& piece) {
        HloValue from = ops_.transpose(operand(piece), permutation());
        std::optional<HloValue> is_written;
        for (size_t d = 0; d < rank_; ++d) {
            const Along along = written_along(piece, d, from.shape[d]);
            const HloValue here = ops_.broadcast(along.written, std::vector<i64>{static_cast<i64>(d)}, output_.shape);
            is_written = is_written ? ops_.pointwise("stablehlo.and", {*is_written, here}) : here;
            from = hlo_take(from, along.source, {.axis = static_cast<int>(d), .batch = {}}, ops_);
        }
        return is_written ? ops_.pointwise("stablehlo.select", {*is_written, from, before}) : from;
    }

    // Of each index of a dim of the result: whether the piece writes there, and what index of the operand (of `size`).
    struct Along {
        HloValue written, source;
    };
    Along written_along(const MovePiece& piece, size_t d, i64 size) {
        const Shape line = {output_.shape[d]};
        const auto number = [&](i64 value) { return ops_.constant(std::to_string(value), DType::i64, line); };
        const auto compared = [&](std::string_view how, const HloValue& a, i64 b) {
            return ops_.pointwise(fmt::format("stablehlo.compare {},", how), {a, number(b)}, DType::boolean);
        };
        const size_t k = form_.operand_dim(d);
        const HloValue first_out = ops_.filled(body_.affine(piece.out_start[d]), line);
        const HloValue first_in = ops_.filled(body_.affine(piece.in_start[k]), line);
        const HloValue distance = ops_.pointwise("stablehlo.subtract", {ops_.iota(0, DType::i64, line), first_out});
        const HloValue step = ops_.pointwise("stablehlo.divide", {distance, number(piece.out_stride[d])});
        const HloValue rest = ops_.pointwise("stablehlo.remainder", {distance, number(piece.out_stride[d])});
        const HloValue reached = ops_.pointwise("stablehlo.multiply", {step, number(piece.in_stride[k])});
        const HloValue source = ops_.pointwise("stablehlo.add", {first_in, reached});
        const HloValues conditions = {compared("EQ", rest, 0), compared("GE", step, 0),
                                      compared("LT", step, piece.extent[d]), compared("GE", source, 0),
                                      compared("LT", source, size)};
        HloValue written = conditions[0];
        for (size_t c = 1; c < conditions.size(); ++c)
            written = ops_.pointwise("stablehlo.and", {written, conditions[c]});
        return {written, source};
    }

    const Move& move_;
    const HloValues& inputs_;
    const HloValue& output_;
    HloBody& body_;
    HloOps& ops_;
    size_t rank_;
    MoveForm form_;
};

} // namespace

HloValue hlo_move(const Move& move, const HloValues& inputs, const HloValue& output, HloBody& body) {
    return MoveOps(move, inputs, output, body).write();
}

} // namespace shard

// Copies of boxes: as slices, transpositions, concatenations and paddings where they are that, and else as a loop over
// the box's dims that jnp's indexing does (copy_box).
#include "exporter/jax/jax_move.h"

#include "exporter/program/move_form.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

class MoveText {
public:
    MoveText(const Move& move, std::span<const JaxValue> inputs, const JaxValue& output, JaxBody& body)
        : move_(move), inputs_(inputs), output_(output), body_(body), rank_(output.shape.size()),
          form_(move, inputs, output.shape, body.scope()) {}

    PythonText write() {
        switch (form_.way()) {
        case MoveWay::reshape:
            return bracket("jnp.reshape(", {{inputs_[0].name}, {shape_tuple(output_.shape)}}, ")");
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
    const JaxValue& operand(const MovePiece& piece) const { return inputs_[static_cast<size_t>(piece.operand)]; }

    // What a piece reads, with its dims as the result has them. Inside of the operand.
    PythonText box(const MovePiece& piece) const {
        const JaxValue& from = operand(piece);
        PythonText text = {from.name};
        const MoveBox read = form_.box(piece);
        const bool fixed = all_constant(piece.in_start);
        if (!fixed && read.reach != from.shape) text = dynamic_slice(from, read.low, read.reach);
        std::vector<std::string> slices;
        bool all = true;
        for (size_t k = 0; k < rank_; ++k) {
            const i64 stride = piece.in_stride[k];
            const i64 first = fixed ? piece.in_start[k].constant : stride < 0 ? read.reach[k] - 1 : 0;
            const i64 size = fixed ? from.shape[k] : read.reach[k];
            slices.push_back(slice(first, stride, read.extent[k], size));
            all = all && slices.back() == ":";
        }
        if (!all) text = {fmt::format("{}[{}]", flat(text), fmt::join(slices, ", "))};
        if (form_.transposes())
            text = bracket("jnp.transpose(",
                           {text, {shape_tuple(Shape(move_.permutation.begin(), move_.permutation.end()))}}, ")");
        return text;
    }

    PythonText dynamic_slice(const JaxValue& from, std::span<const Affine> low, const Shape& reach) const {
        std::vector<size_t> moving;
        std::vector<PythonText> starts;
        for (size_t k = 0; k < rank_; ++k) {
            starts.push_back({body_.affine(low[k])});
            if (!low[k].is_constant() || reach[k] != from.shape[k]) moving.push_back(k);
        }
        if (moving.size() == 1)
            return bracket("lax.dynamic_slice_in_dim(",
                           {{from.name},
                            starts[moving[0]],
                            {std::to_string(reach[moving[0]])},
                            {fmt::format("axis={}", moving[0])}},
                           ")");
        return bracket("lax.dynamic_slice(", {{from.name}, tuple(std::move(starts)), {shape_tuple(reach)}}, ")");
    }

    static std::string slice(i64 first, i64 stride, i64 extent, i64 size) {
        if (extent == 1)
            return fmt::format("{}:{}", first, first + 1) == fmt::format("0:{}", size)
                       ? ":"
                       : fmt::format("{}:{}", first, first + 1);
        const i64 end = first + stride * (extent - 1) + (stride > 0 ? 1 : -1);
        const std::string from = first == (stride > 0 ? 0 : size - 1) ? "" : std::to_string(first);
        const std::string to = (stride > 0 && end >= size) || end < 0 ? "" : std::to_string(end);
        return stride == 1 ? fmt::format("{}:{}", from, to) : fmt::format("{}:{}:{}", from, to, stride);
    }

    PythonText concatenation(size_t dim) const {
        std::vector<PythonText> boxes;
        for (const MovePiece& piece : move_.pieces) boxes.push_back(box(piece));
        return bracket("jnp.concatenate(", {bracket("[", std::move(boxes), "]"), {fmt::format("axis={}", dim)}}, ")");
    }

    PythonText padding(const MovePiece& piece) const {
        std::vector<PythonText> dims;
        for (size_t d = 0; d < rank_; ++d) {
            const i64 low = piece.out_start[d].constant, stride = piece.out_stride[d];
            const i64 high = output_.shape[d] - low - (stride * (piece.extent[d] - 1) + 1);
            dims.push_back({fmt::format("({}, {}, {})", low, high, stride - 1)});
        }
        const std::string fill = fmt::format("{}({})", jax_dtype(output_.dtype), jax_number(move_.fill, output_.dtype));
        return bracket("lax.pad(", {box(piece), {fill}, bracket("[", std::move(dims), "]")}, ")");
    }

    PythonText one_after_the_other() const {
        PythonText at = bracket(
            "jnp.full(",
            {{shape_tuple(output_.shape)}, {jax_number(move_.fill, output_.dtype)}, {jax_dtype(output_.dtype)}}, ")");
        for (size_t p = 0; p < move_.pieces.size(); ++p) {
            const MovePiece& piece = move_.pieces[p];
            if (p == 0 && form_.is_whole(piece) && form_.reads_inside_operand(piece)) {
                at = box(piece);
                continue;
            }
            const std::string before = at.items.empty() && at.text.find_first_of(".[(") == std::string::npos
                                           ? at.text
                                           : body_.part(output_, at);
            at = written(before, piece);
        }
        return at;
    }

    PythonText written(const std::string& before, const MovePiece& piece) const {
        if (form_.is_packed(piece) && form_.reads_inside_operand(piece) && form_.writes_inside_result(piece)) {
            std::vector<PythonText> starts;
            for (const Affine& start : piece.out_start) starts.push_back({body_.affine(start)});
            return bracket("lax.dynamic_update_slice(", {{before}, box(piece), tuple(std::move(starts))}, ")");
        }
        const auto list = [this](std::span<const Affine> starts) {
            std::vector<PythonText> items;
            for (const Affine& start : starts) items.push_back({body_.affine(start)});
            return tuple(std::move(items));
        };
        Shape permutation;
        for (size_t d = 0; d < rank_; ++d) permutation.push_back(static_cast<i64>(form_.operand_dim(d)));
        return bracket("copy_box(",
                       {{before},
                        {operand(piece).name},
                        {shape_tuple(permutation)},
                        list(piece.in_start),
                        {shape_tuple(piece.in_stride)},
                        list(piece.out_start),
                        {shape_tuple(piece.out_stride)},
                        {shape_tuple(piece.extent)}},
                       ")");
    }

    const Move& move_;
    std::span<const JaxValue> inputs_;
    const JaxValue& output_;
    JaxBody& body_;
    size_t rank_;
    MoveForm form_;
};

} // namespace

PythonText jax_move(const Move& kernel, std::span<const JaxValue> inputs, const JaxValue& output, JaxBody& body) {
    return MoveText(kernel, inputs, output, body).write();
}

} // namespace shard

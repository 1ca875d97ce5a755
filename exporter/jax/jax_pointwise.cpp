// A pointwise kernel: its instructions as one expression, cut where it would become too long to read or where a step is
// used twice.
#include "exporter/jax/jax_pointwise.h"

#include "exporter/jax/jax_spelled.h"
#include "exporter/program/spelling_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

constexpr size_t longest = 44; // of an operand inside an expression

// An input with its dims where the output has them, as far as broadcasting does not do it by itself.
PythonText aligned(const JaxValue& input, const std::vector<int>& dims, size_t rank) {
    std::vector<size_t> order(dims.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&dims](size_t a, size_t b) { return dims[a] < dims[b]; });
    std::string text = input.name;
    if (!std::is_sorted(dims.begin(), dims.end())) text += fmt::format(".transpose({})", fmt::join(order, ", "));
    if (dims.empty()) return {text};
    std::vector<PythonText> index;
    bool plain = true;
    const int first = dims[order[0]];
    for (int d = first; d < static_cast<int>(rank); ++d) {
        const bool there = std::find(dims.begin(), dims.end(), d) != dims.end();
        index.push_back({there ? ":" : "None"});
        plain = plain && there;
    }
    if (plain) return {text};
    PythonText indexed = bracket(text + "[", index, "]");
    if (flat(indexed).size() <= longest) return indexed;
    std::vector<i64> added; // dims of size 1
    for (size_t d = 0; d < index.size(); ++d)
        if (index[d].text == "None") added.push_back(static_cast<i64>(d));
    return bracket("jnp.expand_dims(", {{text}, {shape_tuple(added)}}, ")");
}

bool is_name(const PythonText& text) {
    return text.items.empty() && text.text.find_first_of(" .([") == std::string::npos;
}

class PointwiseText {
public:
    PointwiseText(const Pointwise& kernel, std::span<const JaxValue> inputs, const JaxValue& output, JaxBody& body)
        : kernel_(kernel), inputs_(inputs), output_(output), body_(body), uses_(kernel.steps.size(), 0) {
        for (const ScalarStep& step : kernel.steps)
            for (int a = 0; a < arity(step.op); ++a) ++uses_[static_cast<size_t>(step.args[static_cast<size_t>(a)])];
    }

    PythonText write() {
        for (size_t s = 0; s < kernel_.steps.size(); ++s) made_.push_back(step(s));
        const Made& last = made_.back();
        if (last.constant)
            return bracket("jnp.full(",
                           {{shape_tuple(output_.shape)},
                            {jax_number(kernel_.steps.back().value, output_.dtype)},
                            {jax_dtype(output_.dtype)}},
                           ")");
        if (last.shape == output_.shape) return last.text;
        return bracket("jnp.broadcast_to(", {operand(last), {shape_tuple(output_.shape)}}, ")");
    }

private:
    struct Made {
        PythonText text;
        Shape shape;           // that the text has, if it is no constant
        bool constant = false; // a number: jnp takes the type of what it meets
        double value = 0;
        DType dtype = DType::f32;
    };

    Made step(size_t s) {
        const ScalarStep& step = kernel_.steps[s];
        if (step.op == ScalarOp::constant)
            return {{jax_number(step.value, step.dtype)}, {}, true, step.value, step.dtype};
        Made made = step.op == ScalarOp::input   ? input(step)
                    : step.op == ScalarOp::index ? index(step)
                                                 : instruction(step);
        made.dtype = step.dtype;
        if (uses_[s] > 1 && step.op != ScalarOp::input) made.text = {body_.part(output_, made.text)};
        return made;
    }

    Made input(const ScalarStep& step) {
        const size_t n = static_cast<size_t>(step.args[0]);
        const JaxValue& input = inputs_[n];
        Shape shape(output_.shape.size(), 1);
        for (size_t d = 0; d < kernel_.input_dims[n].size(); ++d)
            shape[static_cast<size_t>(kernel_.input_dims[n][d])] = input.shape[d];
        PythonText text = aligned(input, kernel_.input_dims[n], output_.shape.size());
        // Dims in front of the first are put there by broadcasting alone: the text has fewer, of size 1.
        size_t rank = kernel_.input_dims[n].empty()
                          ? 0
                          : output_.shape.size() - static_cast<size_t>(*std::min_element(kernel_.input_dims[n].begin(),
                                                                                         kernel_.input_dims[n].end()));
        if (rank < shape.size()) shape.erase(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(rank));
        return {std::move(text), std::move(shape), false, 0, step.dtype};
    }

    Made index(const ScalarStep& step) {
        const size_t dim = static_cast<size_t>(step.args[0]), behind = output_.shape.size() - dim - 1;
        const std::string range = fmt::format("jnp.arange({}, dtype={})", output_.shape[dim], jax_dtype(step.dtype));
        const bool from_zero = step.start.is_constant() && step.start.constant == 0;
        std::string text = range;
        if (!from_zero) text = body_.part(output_, infix(" + ", {range}, {body_.affine(step.start)}));
        if (!from_zero && step.dtype != DType::i32) text += fmt::format(".astype({})", jax_dtype(step.dtype));
        if (behind > 0) {
            std::vector<std::string> index = {":"};
            index.resize(behind + 1, "None");
            text = fmt::format("{}[{}]", text, fmt::join(index, ", "));
        }
        Shape shape(behind + 1, 1);
        shape[0] = output_.shape[dim];
        return {{std::move(text)}, std::move(shape), false, 0, step.dtype};
    }

    // As an operand: what is long gets a name of its own.
    PythonText operand(const Made& made) {
        if (flat(made.text).size() > longest && !is_name(made.text)) return {body_.part(output_, made.text)};
        return made.text;
    }

    // A constant among constants says its type.
    static PythonText constant(const Made& made) {
        return {fmt::format("{}({})", jax_dtype(made.dtype), flat(made.text))};
    }

    Made instruction(const ScalarStep& step) {
        std::vector<const Made*> args;
        for (int a = 0; a < arity(step.op); ++a)
            args.push_back(&made_[static_cast<size_t>(step.args[static_cast<size_t>(a)])]);
        Made made;
        std::vector<PythonText> operands;
        // The predicate of a choice says nothing of the type of what is chosen.
        const bool typed = std::any_of(args.begin(), args.end(), [&step, &args](const Made* arg) {
            return !arg->constant && (step.op != ScalarOp::select || arg != args[0]);
        });
        bool first = true;
        for (const Made* arg : args) {
            const bool predicate = step.op == ScalarOp::select && arg == args[0];
            operands.push_back(arg->constant && (predicate || (!typed && first)) ? constant(*arg) : operand(*arg));
            if (!predicate) first = false;
            made.shape = broadcast(made.shape, arg->shape);
        }
        if (step.op == ScalarOp::cast) {
            if (args[0]->constant) operands[0] = constant(*args[0]);
            const std::string plain = flat(operands[0]);
            const bool brackets = is_infix(operands[0]) || plain.starts_with('-');
            made.text = bracket((brackets ? "(" + plain + ")" : plain) + ".astype(", {{jax_dtype(step.dtype)}}, ")");
            return made;
        }
        if (step.op == ScalarOp::bitcast) {
            if (args[0]->constant) operands[0] = constant(*args[0]);
            made.text = bracket("lax.bitcast_convert_type(", {std::move(operands[0]), {jax_dtype(step.dtype)}}, ")");
            return made;
        }
        const Spelling& spelling = spelling_of(step.op);
        const bool whole = is_integer(args.back()->dtype) && !spelling.jax_of_integers.empty();
        made.text = jax_spelled(whole ? spelling.jax_of_integers : spelling.jax, operands);
        return made;
    }

    static Shape broadcast(const Shape& a, const Shape& b) {
        Shape shape(std::max(a.size(), b.size()), 1);
        for (size_t d = 0; d < shape.size(); ++d) {
            const size_t from_end = shape.size() - d;
            const i64 left = from_end <= a.size() ? a[a.size() - from_end] : 1,
                      right = from_end <= b.size() ? b[b.size() - from_end] : 1;
            shape[d] = left == 1 ? right : left;
        }
        return shape;
    }

    const Pointwise& kernel_;
    std::span<const JaxValue> inputs_;
    const JaxValue& output_;
    JaxBody& body_;
    std::vector<int> uses_;
    std::vector<Made> made_;
};

} // namespace

PythonText jax_pointwise(const Pointwise& kernel, std::span<const JaxValue> inputs, const JaxValue& output,
                         JaxBody& body) {
    return PointwiseText(kernel, inputs, output, body).write();
}

} // namespace shard

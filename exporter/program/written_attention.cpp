#include "exporter/program/written_attention.h"

#include "plans/kernel/attend_pairs.h"

#include <limits>

namespace shard {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The labels of contractions: of q by groups, of k, and of a width of k or v.
enum Label { batch, query, kv_head, of_group, key, width };
const std::vector<int> q_labels = {batch, query, kv_head, of_group, width}, k_labels = {batch, key, kv_head, width},
                       score_labels = {batch, kv_head, of_group, query, key};
const std::vector<int> all_dims = {0, 1, 2, 3, 4};
// Where the dims of a number for every query, by groups, lie in the scores.
const std::vector<int> rows_in_scores = {0, 3, 1, 2};

class PointwiseSteps {
public:
    int add(ScalarStep step) {
        steps.push_back(std::move(step));
        return static_cast<int>(steps.size()) - 1;
    }
    int input(int number, DType dtype) { return add({ScalarOp::input, {number, -1, -1}, dtype, 0, {}}); }
    int constant(double value, DType dtype) { return add({ScalarOp::constant, {-1, -1, -1}, dtype, value, {}}); }
    int index(int dim, const Affine& start) { return add({ScalarOp::index, {dim, -1, -1}, DType::i32, 0, start}); }
    int apply(ScalarOp op, DType dtype, int a, int b = -1, int c = -1) { return add({op, {a, b, c}, dtype, 0, {}}); }
    int cast(int step, DType dtype) {
        return steps[static_cast<size_t>(step)].dtype == dtype ? step : apply(ScalarOp::cast, dtype, step);
    }

    std::vector<ScalarStep> steps;
};

class Writer {
public:
    Writer(const Attend& attend, std::span<const TensorType> inputs, const TensorType& output)
        : attend_(attend), at_(attend_inputs(attend.part)), pairs_(attend_pairs(attend.part, inputs)),
          may_hide_all_(may_hide_all(attend, pairs_)), sizes_(attend_sizes(attend.part, inputs)), output_(output),
          dtype_(inputs[0].dtype), wide_(computed_as(dtype_)), types_(inputs.begin(), inputs.end()) {}

    std::vector<WrittenStep> write() {
        using enum AttendPart;
        const int q = by_groups(0, "queries");
        const int products = contract("products", q, q_labels, 1, k_labels, score_labels, wide_);
        // The slope of the cap is taken where nothing is added to it.
        if (attend_.soft_cap > 0 && pairs_.bias >= 0 && attend_.part != bias_gradient) capped_ = seen(products, false);
        const int scores = seen(products, true);
        if (attend_.soft_cap > 0 && pairs_.bias < 0) capped_ = scores;
        switch (attend_.part) {
        case values:
        case logsumexp:
        case with_logsumexp:
            softmax(scores);
            break;
        case bias_gradient:
            of_bias(gradients(scores));
            break;
        case query_gradient:
            finish(contract("by_group", gradients(scores), score_labels, 1, k_labels, q_labels, dtype_));
            break;
        case key_gradient:
            contract("gradient", gradients(scores), score_labels, q, q_labels, k_labels, dtype_);
            break;
        case value_gradient:
            contract("gradient", narrow(dropped(weights(scores))), score_labels, by_groups(at_.given, "given"),
                     q_labels, k_labels, dtype_);
            break;
        }
        return std::move(steps_);
    }

private:
    int add(std::string name, Kernel kernel, std::vector<int> inputs, DType dtype, Shape shape) {
        types_.push_back({dtype, shape, {}});
        steps_.push_back({std::move(kernel), std::move(inputs), types_.back(), std::move(name)});
        return static_cast<int>(types_.size()) - 1;
    }
    const TensorType& type(int value) const { return types_[static_cast<size_t>(value)]; }

    int reshape(std::string name, int value, const Shape& shape) {
        Move move;
        move.flat = true;
        return add(std::move(name), move, {value}, type(value).dtype, shape);
    }
    // (batch, queries, heads, ...) as (batch, queries, kv_heads, heads of a group, ...)
    int by_groups(int value, std::string name) {
        Shape shape = type(value).shape;
        shape[2] = sizes_.kv_heads;
        shape.insert(shape.begin() + 3, sizes_.group());
        return reshape(std::move(name), value, shape);
    }
    void finish(int by_group) { reshape("result", by_group, output_.shape); }

    int contract(std::string name, int lhs, const std::vector<int>& of_lhs, int rhs, const std::vector<int>& of_rhs,
                 const std::vector<int>& out, DType dtype) {
        Shape shape;
        for (int label : out)
            for (size_t n = 0; n < of_lhs.size() + of_rhs.size(); ++n) {
                const bool left = n < of_lhs.size();
                if ((left ? of_lhs[n] : of_rhs[n - of_lhs.size()]) != label) continue;
                shape.push_back(left ? type(lhs).shape[n] : type(rhs).shape[n - of_lhs.size()]);
                break;
            }
        return add(std::move(name), Contract{of_lhs, of_rhs, out}, {lhs, rhs}, dtype, shape);
    }

    // The first input has the result's dims.
    int pointwise(std::string name, std::vector<int> inputs, std::vector<std::vector<int>> dims, PointwiseSteps made) {
        const DType dtype = made.steps.back().dtype;
        const Shape shape = type(inputs[0]).shape;
        std::vector<int> all;
        for (size_t d = 0; d < shape.size(); ++d) all.push_back(static_cast<int>(d));
        dims.insert(dims.begin(), all);
        return add(std::move(name), Pointwise{std::move(dims), std::move(made.steps)}, std::move(inputs), dtype, shape);
    }

    // The scores of pairs that see each other; -infinity elsewhere. Capped only, unless `whole`.
    int seen(int products, bool whole) {
        PointwiseSteps made;
        int score = made.apply(ScalarOp::mul, wide_, made.input(0, wide_), made.constant(attend_.scale, wide_));
        if (attend_.soft_cap > 0) {
            const int cap = made.constant(attend_.soft_cap, wide_);
            const int part = made.apply(ScalarOp::tanh, wide_, made.apply(ScalarOp::div, wide_, score, cap));
            score = made.apply(ScalarOp::mul, wide_, part, cap);
        }
        if (!whole) return pointwise("capped", {products}, {}, std::move(made));
        std::vector<int> inputs = {products};
        std::vector<std::vector<int>> dims;
        const auto read = [&](int input, std::vector<int> of_scores) {
            inputs.push_back(input);
            dims.push_back(std::move(of_scores));
            return made.input(static_cast<int>(inputs.size()) - 1, type(input).dtype);
        };
        if (pairs_.bias >= 0) {
            const int bias = made.cast(read(pairs_by_groups(pairs_.bias, "bias"), all_dims), wide_);
            score = made.apply(ScalarOp::add, wide_, score, bias);
        }
        std::vector<int> conditions;
        if (pairs_.mask >= 0) conditions.push_back(read(pairs_by_groups(pairs_.mask, "mask"), all_dims));
        if (pairs_.query_segments >= 0) {
            const int of_query = read(pairs_.query_segments, {0, 3}), of_key = read(pairs_.key_segments, {0, 4});
            conditions.push_back(made.apply(ScalarOp::eq, DType::boolean, made.cast(of_query, DType::i64),
                                            made.cast(of_key, DType::i64)));
        }
        add_positions(made, conditions);
        if (!conditions.empty()) {
            int all = conditions[0];
            for (size_t n = 1; n < conditions.size(); ++n)
                all = made.apply(ScalarOp::logical_and, DType::boolean, all, conditions[n]);
            made.apply(ScalarOp::select, wide_, all, score, made.constant(-infinity, wide_));
        }
        return pointwise("scores", std::move(inputs), std::move(dims), std::move(made));
    }

    // Conditions on how far behind the query the key is.
    void add_positions(PointwiseSteps& made, std::vector<int>& conditions) const {
        if (!attend_.causal && attend_.window == 0) return;
        const int behind = made.apply(ScalarOp::sub, DType::i32, made.index(3, attend_.start), made.index(4, {}));
        const auto require = [&](ScalarOp op, i64 bound) {
            const int number = made.constant(static_cast<double>(bound), DType::i32);
            conditions.push_back(made.apply(op, DType::boolean, behind, number));
        };
        if (attend_.causal) require(ScalarOp::ge, 0);
        if (attend_.window > 0) require(ScalarOp::lt, attend_.window);
        if (attend_.window > 0 && !attend_.causal) require(ScalarOp::gt, -attend_.window);
    }

    // (batch, heads, queries, keys) as (batch, kv_heads, heads of a group, queries, keys); dims of 1 stay so.
    int pairs_by_groups(int value, std::string name) {
        Shape shape = type(value).shape;
        const bool alike = shape[1] == 1;
        if (!alike) shape[1] = sizes_.kv_heads;
        shape.insert(shape.begin() + 2, alike ? 1 : sizes_.group());
        return reshape(std::move(name), value, shape);
    }

    int reduce(std::string name, ReduceOp op, int scores) {
        Shape shape = type(scores).shape;
        shape.pop_back();
        return add(std::move(name), Reduce{{4}, op}, {scores}, wide_, shape);
    }

    void softmax(int scores) {
        int most = reduce("most", ReduceOp::max, scores);
        if (may_hide_all_) { // from -infinity nothing can be taken away
            PointwiseSteps made;
            const int number = made.input(0, wide_), none = made.constant(-infinity, wide_);
            const int is_none = made.apply(ScalarOp::eq, DType::boolean, number, none);
            made.apply(ScalarOp::select, wide_, is_none, made.constant(0, wide_), number);
            most = pointwise("most_seen", {most}, {}, std::move(made));
        }
        PointwiseSteps below;
        const int difference = below.apply(ScalarOp::sub, wide_, below.input(0, wide_), below.input(1, wide_));
        below.apply(ScalarOp::exp, wide_, difference);
        const int exponentials = pointwise("exp", {scores, most}, {{0, 1, 2, 3}}, std::move(below));
        const int sums = reduce("sums", ReduceOp::sum, exponentials);
        int logs = -1;
        if (attend_.part != AttendPart::values) {
            PointwiseSteps made;
            const int log = made.apply(ScalarOp::log, wide_, made.input(0, wide_));
            made.apply(ScalarOp::add, wide_, log, made.input(1, wide_));
            const int by_head = pointwise("logs", {sums, most}, {{0, 1, 2, 3}}, std::move(made));
            Move turned;
            turned.permutation = {0, 3, 1, 2};
            const Shape& from = type(by_head).shape;
            const Shape to = {from[0], from[3], from[1], from[2]};
            const std::vector<Affine> zeros(4);
            turned.pieces.push_back({0, zeros, {1, 1, 1, 1}, zeros, {1, 1, 1, 1}, to});
            logs = add("by_query", turned, {by_head}, wide_, to);
        }
        if (attend_.part == AttendPart::logsumexp) return finish(logs);
        PointwiseSteps shares;
        int sum = shares.input(1, wide_);
        if (may_hide_all_) {
            const int is_none = shares.apply(ScalarOp::eq, DType::boolean, sum, shares.constant(0, wide_));
            sum = shares.apply(ScalarOp::select, wide_, is_none, shares.constant(1, wide_), sum);
        }
        const int share = shares.apply(ScalarOp::div, wide_, shares.input(0, wide_), sum);
        const bool alone = attend_.part == AttendPart::values;
        if (alone && !attend_.kept) shares.cast(share, dtype_);
        int weights = dropped(pointwise("weights", {exponentials, sums}, {{0, 1, 2, 3}}, std::move(shares)));
        if (alone) weights = narrow(weights);
        const int v = alone ? at_.v : as(at_.v, wide_, "wide"),
                  made = contract("by_group", weights, score_labels, v, k_labels, q_labels, alone ? dtype_ : wide_);
        if (alone) return finish(made);
        Shape shape = output_.shape, one = shape;
        --shape.back();
        one.back() = 1;
        const std::vector<Affine> zeros(4);
        std::vector<Affine> behind(4);
        behind[3] = constant(sizes_.value_width);
        Move joined;
        joined.pieces.push_back({0, zeros, {1, 1, 1, 1}, zeros, {1, 1, 1, 1}, shape});
        joined.pieces.push_back({1, zeros, {1, 1, 1, 1}, behind, {1, 1, 1, 1}, one});
        add("result", joined, {reshape("values", made, shape), reshape("logsumexp", logs, one)}, wide_, output_.shape);
    }

    // 0 for pairs whose weight is dropped, the others as much larger.
    int dropped(int by_group) {
        if (!attend_.kept) return by_group;
        const int drawn = add("kept", *attend_.kept, {}, DType::boolean, drawn_pairs(attend_, sizes_));
        PointwiseSteps made;
        const DType dtype = type(by_group).dtype;
        const int share = made.constant(kept_share(attend_), dtype);
        const int grown = made.apply(ScalarOp::div, dtype, made.input(0, dtype), share);
        made.apply(ScalarOp::select, dtype, made.input(1, DType::boolean), grown, made.constant(0, dtype));
        return pointwise("dropped", {by_group, pairs_by_groups(drawn, "kept_by_group")}, {all_dims}, std::move(made));
    }

    // Sums over what the bias has one of.
    void of_bias(int by_group) {
        Shape shape = output_.shape, summed = {sizes_.batch, sizes_.heads, sizes_.queries, sizes_.keys};
        int made = reshape("by_head", by_group, summed);
        std::vector<int> dims;
        for (size_t d = shape.size(); d-- > 0;) {
            if (shape[d] != 1 || summed[d] == 1) continue;
            dims.insert(dims.begin(), static_cast<int>(d));
            summed.erase(summed.begin() + static_cast<std::ptrdiff_t>(d));
        }
        if (!dims.empty()) made = add("summed", Reduce{dims, ReduceOp::sum}, {made}, wide_, summed);
        finish(as(made, output_.dtype, "rounded"));
    }

    // e^(score - logsumexp)
    int weights(int scores) {
        PointwiseSteps made;
        const int logsumexp = made.input(1, wide_);
        const int difference = made.apply(ScalarOp::sub, wide_, made.input(0, wide_), logsumexp);
        const int weight = made.apply(ScalarOp::exp, wide_, difference);
        if (may_hide_all_) {
            const int is_none = made.apply(ScalarOp::eq, DType::boolean, logsumexp, made.constant(-infinity, wide_));
            made.apply(ScalarOp::select, wide_, is_none, made.constant(0, wide_), weight);
        }
        return pointwise("weights", {scores, by_groups(at_.logsumexp, "logsumexp")}, {rows_in_scores}, std::move(made));
    }
    int narrow(int value) { return as(value, dtype_, "rounded"); }
    int as(int value, DType dtype, std::string name) {
        if (type(value).dtype == dtype) return value;
        PointwiseSteps made;
        made.cast(made.input(0, type(value).dtype), dtype);
        return pointwise(std::move(name), {value}, {}, std::move(made));
    }

    // Of the products of q and k.
    int gradients(int scores) {
        const int given = dropped(
            contract("given_products", by_groups(at_.given, "given"), q_labels, at_.v, k_labels, score_labels, wide_));
        const int shares = weights(scores), mean = by_groups(at_.mean, "mean");
        PointwiseSteps made;
        const int weight = made.input(0, wide_);
        const int off = made.apply(ScalarOp::sub, wide_, made.input(1, wide_), made.input(2, wide_));
        int gradient = made.apply(ScalarOp::mul, wide_, weight, off);
        const bool of_bias = attend_.part == AttendPart::bias_gradient; // which is added to capped and scaled scores
        if (attend_.soft_cap > 0 &&
            !of_bias) { // of a score of -infinity the weight is 0, and the slope is taken there as well
            const int part =
                made.apply(ScalarOp::div, wide_, made.input(3, wide_), made.constant(attend_.soft_cap, wide_));
            const int hidden = made.apply(ScalarOp::eq, DType::boolean, weight, made.constant(0, wide_));
            const int slope =
                made.apply(ScalarOp::sub, wide_, made.constant(1, wide_), made.apply(ScalarOp::mul, wide_, part, part));
            const int product = made.apply(ScalarOp::mul, wide_, gradient, slope);
            gradient = made.apply(ScalarOp::select, wide_, hidden, made.constant(0, wide_), product);
        }
        if (!of_bias) {
            gradient = made.apply(ScalarOp::mul, wide_, gradient, made.constant(attend_.scale, wide_));
            made.cast(gradient, dtype_);
        }
        std::vector<int> inputs = {shares, given, mean};
        std::vector<std::vector<int>> dims = {all_dims, rows_in_scores};
        if (attend_.soft_cap > 0 && !of_bias) {
            inputs.push_back(capped_);
            dims.push_back(all_dims);
        }
        return pointwise("score_gradients", std::move(inputs), std::move(dims), std::move(made));
    }

    const Attend& attend_;
    AttendInputs at_;
    AttendPairs pairs_;
    bool may_hide_all_;
    AttendSizes sizes_;
    const TensorType& output_;
    DType dtype_, wide_;
    int capped_ = -1;               // scores before a bias, if they are capped
    std::vector<TensorType> types_; // of the inputs and of what the steps make
    std::vector<WrittenStep> steps_;
};

} // namespace

std::vector<WrittenStep> written_attention(const Attend& attend, std::span<const TensorType> inputs,
                                           const TensorType& output) {
    return Writer(attend, inputs, output).write();
}

} // namespace shard

#include "tests/support/attention_interpreter.h"

#include "tests/support/interpreter.h"

#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <map>

namespace shard {

namespace {

using Operands = std::vector<const Array*>;

template<typename Places>
double at(const Array& array, const Places& index) {
    i64 offset = 0;
    const i64* place = std::data(index);
    for (const i64 size : array.shape) offset = offset * size + *place++;
    return array.values[static_cast<size_t>(offset)];
}

double at(const Array& array, std::initializer_list<i64> index) { return at<std::initializer_list<i64>>(array, index); }

// By how much weights grow, 0 where they are dropped: by a bernoulli of all weights, of which these are a part.
class Dropped {
public:
    Dropped() = default;
    // Of an op whose last operands are the count of steps, or the words of its key, and, of a part, where it begins.
    Dropped(const Operands& in, size_t rest, const Node& node) {
        const Attributes& attributes = node.attributes();
        if (!attributes.has("dropout")) return;
        const bool is_part = rest > 4;
        for (size_t d = 0; is_part && d < 4; ++d) first_[d] = static_cast<i64>(in[in.size() - 4 + d]->values[0]);
        const Shape &q = in[0]->shape, &k = in[1]->shape;
        const Shape shape = attributes.has("drawn") ? attributes.integers("drawn") : Shape{q[0], q[2], q[1], k[1]};
        share_ = 1 - attributes.number("dropout");
        Attributes drawn;
        drawn.set("shape", shape);
        drawn.set("probability", share_);
        for (const auto& [name, value] : attributes.entries())
            if (name == "key" || name == "place" || name == "bits" || name == "blocks") drawn.set(name, value);
        const size_t end = in.size() - (is_part ? 4 : 0), count = attributes.flag("counted", false) ? 1 : 2;
        Node bernoulli;
        bernoulli.does = Apply{find_op("bernoulli"), std::move(drawn), {}, {}};
        kept_ = evaluate_node(bernoulli,
                              Operands(in.begin() + static_cast<std::ptrdiff_t>(end - count),
                                       in.begin() + static_cast<std::ptrdiff_t>(end)),
                              {DType::boolean, shape, {}});
    }

    double growth(i64 batch, i64 query, i64 head, i64 key) const {
        if (kept_.shape.empty()) return 1;
        std::array<i64, 4> index = {batch, head, query, key};
        for (size_t d = 0; d < 4; ++d)
            if (d < 2 && kept_.shape[d] == 1)
                index[d] = 0;
            else if ((index[d] += first_[d]) >= kept_.shape[d])
                return 0; // padding
        return at(kept_, index) / share_;
    }

private:
    Array kept_;
    double share_ = 1;
    std::array<i64, 4> first_ = {};
};

class Pairs {
public:
    // Of an op that takes `count` operands, and behind them a bias, a mask, segments, the start and what dropout reads.
    Pairs(const Operands& in, size_t count, const Node& node, const AttentionExtras& extras)
        : q_(*in[0]), k_(*in[1]), scale_(node.attributes().number("scale")),
          cap_(node.attributes().number("soft_cap", 0)), causal_(node.attributes().flag("causal", false)),
          window_(node.attributes().integer("window", 0)) {
        const auto next = [&](bool is_there) -> const Array* { return is_there ? in[count++] : nullptr; };
        bias_ = next(extras.bias);
        mask_ = next(extras.mask);
        of_queries_ = next(extras.segments);
        of_keys_ = next(extras.segments);
        const size_t rest = in.size() - count;
        const size_t of_drop = !node.attributes().has("dropout")          ? 0
                               : node.attributes().flag("counted", false) ? 1
                                                                          : 2,
                     of_part = rest > 4 ? 4 : 0;
        const bool starts = rest > of_drop + of_part;
        start_ = starts ? static_cast<i64>(in[count]->values[0]) : 0;
        dropped_ = Dropped(in, rest, node);
    }

    i64 batches() const { return q_.shape[0]; }
    i64 queries() const { return q_.shape[1]; }
    i64 heads() const { return q_.shape[2]; }
    i64 keys() const { return k_.shape[1]; }
    i64 group() const { return q_.shape[2] / k_.shape[2]; }

    bool sees(i64 batch, i64 query, i64 head, i64 key) const {
        const i64 behind = start_ + query - key;
        if (causal_ && behind < 0) return false;
        if (mask_ != nullptr && of_pair(*mask_, batch, query, head, key) == 0) return false;
        if (of_queries_ != nullptr && at(*of_queries_, {batch, query}) != at(*of_keys_, {batch, key})) return false;
        return window_ == 0 || std::abs(behind) < window_;
    }
    double product(i64 batch, i64 query, i64 head, i64 key) const {
        double sum = 0;
        for (i64 d = 0; d < q_.shape[3]; ++d)
            sum += at(q_, {batch, query, head, d}) * at(k_, {batch, key, head / group(), d});
        return scale_ * sum;
    }
    double score(i64 batch, i64 query, i64 head, i64 key) const {
        const double plain = product(batch, query, head, key),
                     capped = cap_ > 0 ? cap_ * std::tanh(plain / cap_) : plain;
        return bias_ == nullptr ? capped : capped + of_pair(*bias_, batch, query, head, key);
    }
    // Of the weight, by dropout.
    double growth(i64 batch, i64 query, i64 head, i64 key) const { return dropped_.growth(batch, query, head, key); }
    // How fast the score grows with the product of q and k.
    double slope(i64 batch, i64 query, i64 head, i64 key) const {
        if (cap_ == 0) return scale_;
        const double cosh = std::cosh(product(batch, query, head, key) / cap_);
        return scale_ / (cosh * cosh);
    }

private:
    static double of_pair(const Array& array, i64 batch, i64 query, i64 head, i64 key) {
        const i64 place[] = {batch, head, query, key};
        std::array<i64, 4> index;
        for (size_t d = 0; d < 4; ++d) index[d] = array.shape[d] == 1 ? 0 : place[d];
        return at(array, index);
    }

    const Array &q_, &k_;
    const Array *bias_ = nullptr, *mask_ = nullptr, *of_queries_ = nullptr, *of_keys_ = nullptr;
    double scale_, cap_;
    bool causal_;
    i64 window_, start_ = 0;
    Dropped dropped_;
};

// What `value` says of every batch, query, head and key, by its places in that order: asked for once, not by each
// element of a head.
template<typename Value>
Array of_pairs(const Pairs& pairs, const Value& value) {
    return make({pairs.batches(), pairs.queries(), pairs.heads(), pairs.keys()},
                [&](const Index& i) { return value(i[0], i[1], i[2], i[3]); });
}

// Of a row whose scores are all -infinity every weight is 0.
double weight(double score, double logsumexp) { return logsumexp == -INFINITY ? 0 : std::exp(score - logsumexp); }

// -infinity where a query does not see a key.
Array scores_of(const Pairs& pairs) {
    return of_pairs(pairs, [&](i64 batch, i64 query, i64 head, i64 key) {
        return pairs.sees(batch, query, head, key) ? pairs.score(batch, query, head, key) : -INFINITY;
    });
}

Array logsumexp(const Array& scores, const TensorType& type) {
    return make(type.shape, [&](const Index& i) {
        double most = -INFINITY, sum = 0;
        for (i64 key = 0; key < scores.shape[3]; ++key) most = std::max(most, at(scores, {i[0], i[1], i[2], key}));
        if (most == -INFINITY) return most;
        for (i64 key = 0; key < scores.shape[3]; ++key) sum += std::exp(at(scores, {i[0], i[1], i[2], key}) - most);
        return most + std::log(sum);
    });
}

Array logsumexp(const Operands& in, const Node& node, const TensorType& type, const AttentionExtras& extras) {
    return logsumexp(scores_of(Pairs(in, 2, node, extras)), type);
}

// What a value is multiplied by: its softmax weight, grown by dropout.
Array weights_of(const Pairs& pairs, const Array& scores, const Array& logs) {
    return of_pairs(pairs, [&](i64 batch, i64 query, i64 head, i64 key) {
        return weight(at(scores, {batch, query, head, key}), at(logs, {batch, query, head})) *
               pairs.growth(batch, query, head, key);
    });
}

Array values(const Operands& in, const Node& node, const TensorType& type, const AttentionExtras& extras) {
    const Pairs pairs(in, 3, node, extras);
    const Array scores = scores_of(pairs),
                logs = logsumexp(scores, {type.dtype, {type.shape[0], type.shape[1], type.shape[2]}, {}}),
                weights = weights_of(pairs, scores, logs);
    return make(type.shape, [&](const Index& i) {
        double sum = 0;
        for (i64 key = 0; key < pairs.keys(); ++key)
            if (pairs.sees(i[0], i[1], i[2], key))
                sum += at(weights, {i[0], i[1], i[2], key}) * at(*in[2], {i[0], key, i[2] / pairs.group(), i[3]});
        return sum;
    });
}

// The gradient of a score; operands are q, k, v, given, logsumexp, mean.
double gradient_of_score(const Pairs& pairs, const Operands& in, i64 batch, i64 query, i64 head, i64 key) {
    if (!pairs.sees(batch, query, head, key)) return 0;
    double mean = 0;
    for (i64 e = 0; e < in[2]->shape[3]; ++e)
        mean += at(*in[3], {batch, query, head, e}) * at(*in[2], {batch, key, head / pairs.group(), e});
    mean *= pairs.growth(batch, query, head, key);
    return weight(pairs.score(batch, query, head, key), at(*in[4], {batch, query, head})) *
           (mean - at(*in[5], {batch, query, head}));
}

Array gradients_of_products(const Pairs& pairs, const Operands& in) {
    return of_pairs(pairs, [&](i64 batch, i64 query, i64 head, i64 key) {
        return gradient_of_score(pairs, in, batch, query, head, key) * pairs.slope(batch, query, head, key);
    });
}

Array query_gradient(const Operands& in, const Node& node, const TensorType& type, const AttentionExtras& extras) {
    const Pairs pairs(in, 6, node, extras);
    const Array gradients = gradients_of_products(pairs, in);
    return make(type.shape, [&](const Index& i) {
        double sum = 0;
        for (i64 key = 0; key < pairs.keys(); ++key)
            sum += at(gradients, {i[0], i[1], i[2], key}) * at(*in[1], {i[0], key, i[2] / pairs.group(), i[3]});
        return sum;
    });
}

// The sum over the queries that see a key, of the heads that share it, of a factor of each pair times an operand of its
// query.
Array by_keys(const Pairs& pairs, const Array& factors, const Array& of_queries, const TensorType& type) {
    return make(type.shape, [&](const Index& i) {
        double sum = 0;
        for (i64 head = i[2] * pairs.group(); head < (i[2] + 1) * pairs.group(); ++head)
            for (i64 query = 0; query < pairs.queries(); ++query)
                if (pairs.sees(i[0], query, head, i[1]))
                    sum += at(factors, {i[0], query, head, i[1]}) * at(of_queries, {i[0], query, head, i[3]});
        return sum;
    });
}

Array key_gradient(const Operands& in, const Node& node, const TensorType& type, const AttentionExtras& extras) {
    const Pairs pairs(in, 6, node, extras);
    return by_keys(pairs, gradients_of_products(pairs, in), *in[0], type);
}

Array value_gradient(const Operands& in, const Node& node, const TensorType& type, const AttentionExtras& extras) {
    const Pairs pairs(in, 4, node, extras);
    return by_keys(pairs, weights_of(pairs, scores_of(pairs), *in[3]), *in[2], type);
}

Array bias_gradient(const Operands& in, const Node& node, const TensorType& type, const AttentionExtras& extras) {
    const Pairs pairs(in, 6, node, extras);
    Array sums = make(type.shape, [](const Index&) { return 0.0; });
    const Shape& q = in[0]->shape;
    for (i64 b = 0; b < q[0]; ++b)
        for (i64 h = 0; h < q[2]; ++h)
            for (i64 query = 0; query < q[1]; ++query)
                for (i64 key = 0; key < pairs.keys(); ++key) {
                    i64 offset = 0;
                    const i64 place[] = {b, h, query, key};
                    for (size_t d = 0; d < 4; ++d)
                        offset = offset * type.shape[d] + (type.shape[d] == 1 ? 0 : place[d]);
                    sums.values[static_cast<size_t>(offset)] += gradient_of_score(pairs, in, b, query, h, key);
                }
    return sums;
}

Array with_logsumexp(const Operands& in, const Node& node, const TensorType& type, const AttentionExtras& extras) {
    TensorType of_values = type;
    const i64 width = --of_values.shape.back();
    const Array of = values(in, node, of_values, extras),
                logs = logsumexp(scores_of(Pairs(in, 3, node, extras)),
                                 {type.dtype, {type.shape[0], type.shape[1], type.shape[2]}, {}});
    return make(type.shape, [&](const Index& i) { return i[3] < width ? at(of, i) : at(logs, {i[0], i[1], i[2]}); });
}

} // namespace

AttentionExtras attention_extras(std::string_view op, const std::vector<TensorType>& operands) {
    static const std::map<std::string_view, size_t> counts = {{"attention", 3},
                                                              {"attention_logsumexp", 2},
                                                              {"attention_query_gradient", 6},
                                                              {"attention_key_gradient", 6},
                                                              {"attention_value_gradient", 4},
                                                              {"attention_with_logsumexp", 3},
                                                              {"attention_bias_gradient", 6}};
    AttentionExtras extras;
    for (size_t n = counts.at(op); n < operands.size(); ++n) {
        const bool of_pairs = operands[n].rank() == 4, is_bool = operands[n].dtype == DType::boolean;
        extras.bias = extras.bias || (of_pairs && !is_bool);
        extras.mask = extras.mask || (of_pairs && is_bool);
        extras.segments = extras.segments || operands[n].rank() == 2;
    }
    return extras;
}

AttentionEvaluate find_attention_op(std::string_view name) {
    static const std::map<std::string_view, AttentionEvaluate> ops = {{"attention", values},
                                                                      {"attention_logsumexp", logsumexp},
                                                                      {"attention_query_gradient", query_gradient},
                                                                      {"attention_key_gradient", key_gradient},
                                                                      {"attention_value_gradient", value_gradient},
                                                                      {"attention_with_logsumexp", with_logsumexp},
                                                                      {"attention_bias_gradient", bias_gradient}};
    const std::map<std::string_view, AttentionEvaluate>::const_iterator found = ops.find(name);
    return found == ops.end() ? nullptr : found->second;
}

} // namespace shard

#include "tests/support/attention_interpreter.h"

#include <cmath>
#include <map>

namespace shard {

namespace {

using Operands = std::vector<const Array*>;

double at(const Array& array, const Index& index) {
    i64 offset = 0;
    for (size_t d = 0; d < array.shape.size(); ++d) offset = offset * array.shape[d] + index[d];
    return array.values[static_cast<size_t>(offset)];
}

class Pairs {
public:
    // Of an op that takes `count` operands, and the start behind them.
    Pairs(const Operands& in, size_t count, const Node& node)
        : q_(*in[0]), k_(*in[1]), scale_(node.attributes().number("scale")),
          cap_(node.attributes().number("soft_cap", 0)), causal_(node.attributes().flag("causal", false)),
          window_(node.attributes().integer("window", 0)),
          start_(in.size() > count ? static_cast<i64>(in[count]->values[0]) : 0) {}

    i64 queries() const { return q_.shape[1]; }
    i64 keys() const { return k_.shape[1]; }
    i64 group() const { return q_.shape[2] / k_.shape[2]; }

    bool sees(i64 query, i64 key) const {
        const i64 behind = start_ + query - key;
        if (causal_ && behind < 0) return false;
        return window_ == 0 || std::abs(behind) < window_;
    }
    double product(i64 batch, i64 query, i64 head, i64 key) const {
        double sum = 0;
        for (i64 d = 0; d < q_.shape[3]; ++d)
            sum += at(q_, {batch, query, head, d}) * at(k_, {batch, key, head / group(), d});
        return scale_ * sum;
    }
    double score(i64 batch, i64 query, i64 head, i64 key) const {
        const double plain = product(batch, query, head, key);
        return cap_ > 0 ? cap_ * std::tanh(plain / cap_) : plain;
    }
    // How fast the score grows with the product of q and k.
    double slope(i64 batch, i64 query, i64 head, i64 key) const {
        if (cap_ == 0) return scale_;
        const double cosh = std::cosh(product(batch, query, head, key) / cap_);
        return scale_ / (cosh * cosh);
    }

private:
    const Array &q_, &k_;
    double scale_, cap_;
    bool causal_;
    i64 window_, start_;
};

Array logsumexp(const Operands& in, const Node& node, const TensorType& type) {
    const Pairs pairs(in, 2, node);
    return make(type.shape, [&](const Index& i) {
        double most = -INFINITY, sum = 0;
        for (i64 key = 0; key < pairs.keys(); ++key)
            if (pairs.sees(i[1], key)) most = std::max(most, pairs.score(i[0], i[1], i[2], key));
        for (i64 key = 0; key < pairs.keys(); ++key)
            if (pairs.sees(i[1], key)) sum += std::exp(pairs.score(i[0], i[1], i[2], key) - most);
        return most + std::log(sum);
    });
}

Array values(const Operands& in, const Node& node, const TensorType& type) {
    const Pairs pairs(in, 3, node);
    const TensorType rows = {type.dtype, {type.shape[0], type.shape[1], type.shape[2]}, {}};
    Operands scored = {in[0], in[1]};
    scored.insert(scored.end(), in.begin() + 3, in.end());
    const Array logs = logsumexp(scored, node, rows);
    return make(type.shape, [&](const Index& i) {
        double sum = 0;
        for (i64 key = 0; key < pairs.keys(); ++key)
            if (pairs.sees(i[1], key))
                sum += std::exp(pairs.score(i[0], i[1], i[2], key) - at(logs, {i[0], i[1], i[2]})) *
                       at(*in[2], {i[0], key, i[2] / pairs.group(), i[3]});
        return sum;
    });
}

// The gradient of a product of q and k; operands are q, k, v, given, logsumexp, mean.
double gradient_of_product(const Pairs& pairs, const Operands& in, i64 batch, i64 query, i64 head, i64 key) {
    if (!pairs.sees(query, key)) return 0;
    const Index row = {batch, query, head};
    double weight = 0;
    for (i64 e = 0; e < in[2]->shape[3]; ++e)
        weight += at(*in[3], {batch, query, head, e}) * at(*in[2], {batch, key, head / pairs.group(), e});
    return std::exp(pairs.score(batch, query, head, key) - at(*in[4], row)) * (weight - at(*in[5], row)) *
           pairs.slope(batch, query, head, key);
}

Array query_gradient(const Operands& in, const Node& node, const TensorType& type) {
    const Pairs pairs(in, 6, node);
    return make(type.shape, [&](const Index& i) {
        double sum = 0;
        for (i64 key = 0; key < pairs.keys(); ++key)
            sum += gradient_of_product(pairs, in, i[0], i[1], i[2], key) *
                   at(*in[1], {i[0], key, i[2] / pairs.group(), i[3]});
        return sum;
    });
}

Array key_gradient(const Operands& in, const Node& node, const TensorType& type) {
    const Pairs pairs(in, 6, node);
    return make(type.shape, [&](const Index& i) {
        double sum = 0;
        for (i64 head = i[2] * pairs.group(); head < (i[2] + 1) * pairs.group(); ++head)
            for (i64 query = 0; query < pairs.queries(); ++query)
                sum += gradient_of_product(pairs, in, i[0], query, head, i[1]) * at(*in[0], {i[0], query, head, i[3]});
        return sum;
    });
}

Array value_gradient(const Operands& in, const Node& node, const TensorType& type) {
    const Pairs pairs(in, 4, node);
    return make(type.shape, [&](const Index& i) {
        double sum = 0;
        for (i64 head = i[2] * pairs.group(); head < (i[2] + 1) * pairs.group(); ++head)
            for (i64 query = 0; query < pairs.queries(); ++query)
                if (pairs.sees(query, i[1]))
                    sum += std::exp(pairs.score(i[0], query, head, i[1]) - at(*in[3], {i[0], query, head})) *
                           at(*in[2], {i[0], query, head, i[3]});
        return sum;
    });
}

} // namespace

AttentionEvaluate find_attention_op(std::string_view name) {
    static const std::map<std::string_view, AttentionEvaluate> ops = {{"attention", values},
                                                                      {"attention_logsumexp", logsumexp},
                                                                      {"attention_query_gradient", query_gradient},
                                                                      {"attention_key_gradient", key_gradient},
                                                                      {"attention_value_gradient", value_gradient}};
    const std::map<std::string_view, AttentionEvaluate>::const_iterator found = ops.find(name);
    return found == ops.end() ? nullptr : found->second;
}

} // namespace shard

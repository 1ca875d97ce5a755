#include "planner/propagate/projection.h"

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

// What is left of a dim's axes while they are dealt out to its factors.
class AxisQueue {
public:
    explicit AxisQueue(std::span<const AxisRef> axes) : axes_(axes) {
        if (!axes_.empty()) front_ = axes_[0];
    }
    bool empty() const { return next_ >= axes_.size(); }
    const AxisRef& front() const { return front_; }

    // Takes the leading part of `size` of the first axis.
    AxisRef take(i64 size) {
        const AxisRef part = {front_.axis, front_.pre, size};
        const std::optional<AxisRef> rest = rest_after(front_, part);
        if (rest)
            front_ = *rest;
        else if (++next_ < axes_.size())
            front_ = axes_[next_];
        return part;
    }
    std::vector<AxisRef> take_all() {
        std::vector<AxisRef> all;
        while (!empty()) append_axis(all, take(front_.size));
        return all;
    }

private:
    std::span<const AxisRef> axes_;
    AxisRef front_;
    size_t next_ = 0;
};

template<typename Tensor>
auto* find_factor(Tensor& tensor, int factor) {
    for (auto& sharding : tensor.factors)
        if (sharding.factor == factor) return &sharding;
    return static_cast<decltype(&tensor.factors[0])>(nullptr);
}

i64 size_of(const IndexRule& rule, int factor) { return rule.factors[factor].size; }

void project_dim(const IndexRule& rule, const DimFactors& factors, const DimSharding& dim,
                 std::vector<FactorSharding>& result) {
    AxisQueue queue(dim.axes);
    bool overflowed = false;
    for (int factor : factors) {
        FactorSharding sharding;
        sharding.factor = factor;
        sharding.minor_most = factor == factors.back();
        sharding.closed = !dim.open || overflowed;
        if (overflowed) {
            // Stays empty.
        } else if (sharding.minor_most) {
            sharding.axes = queue.take_all();
        } else {
            i64 left = size_of(rule, factor);
            while (!queue.empty()) {
                const i64 part = std::gcd(left, queue.front().size);
                if (part == 1 && queue.front().size > 1) break;
                sharding.axes.push_back(queue.take(part));
                left /= part;
            }
            if (left > 1 && !queue.empty()) {
                overflowed = true;
                sharding.overflow = queue.take_all();
            }
        }
        result.push_back(std::move(sharding));
    }
}

// Merges at the seam only: within a factor the axes are merged already.
void append_all(std::vector<AxisRef>& list, const std::vector<AxisRef>& axes) {
    for (const AxisRef& axis : axes) append_axis(list, axis);
}

} // namespace

const FactorSharding* TensorProjection::find(int factor) const { return find_factor(*this, factor); }
FactorSharding* TensorProjection::find(int factor) { return find_factor(*this, factor); }

TensorProjection project(const IndexRule& rule, const TensorFactors& dims, const Sharding& sharding) {
    internal_check(dims.size() == sharding.dims.size(), "projection of a sharding of another rank");
    TensorProjection projection;
    for (size_t d = 0; d < dims.size(); ++d) project_dim(rule, dims[d], sharding.dims[d], projection.factors);
    projection.replicated = sharding.replicated;
    projection.partial = sharding.partial;
    return projection;
}

Projection project(const IndexRule& rule, std::span<const Sharding> operands, std::span<const Sharding> results) {
    internal_check(operands.size() == rule.operands.size() && results.size() == rule.results.size(),
                   "projection of another number of tensors");
    Projection projection;
    for (size_t t = 0; t < operands.size(); ++t)
        projection.operands.push_back(project(rule, rule.operands[t], operands[t]));
    for (size_t t = 0; t < results.size(); ++t)
        projection.results.push_back(project(rule, rule.results[t], results[t]));
    return projection;
}

Sharding unproject(const IndexRule& rule, const TensorFactors& dims, const TensorProjection& projection,
                   ReduceOp reduce) {
    Sharding sharding;
    sharding.dims.reserve(dims.size());
    for (const DimFactors& factors : dims) {
        DimSharding dim;
        dim.open = true;
        for (int factor : factors) {
            const FactorSharding* part = projection.find(factor);
            internal_check(part != nullptr, "a factor of the rule is missing from the projection");
            dim.open = dim.open && !part->closed;
            append_all(dim.axes, part->axes);
            append_all(dim.axes, part->overflow);
            if (!part->overflow.empty() || total_size(part->axes) < size_of(rule, factor)) break;
        }
        sharding.dims.push_back(std::move(dim));
    }
    sharding.replicated = projection.replicated;
    sharding.partial = projection.partial;
    sharding.reduce = reduce;
    return sharding;
}

} // namespace shard

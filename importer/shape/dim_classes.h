// Which dims of a draft's values are one: they have one size, and an op takes them together.
#pragma once

#include "importer/model/draft.h"

#include <set>
#include <utility>

namespace shard {

class DimClasses {
public:
    DimClasses(const Draft& draft, const std::vector<bool>& needed);
    // The same number for dims of one class.
    int of(DraftId value, size_t dim) const;
    // Those that a product of the forward pass adds over, and that rows are looked up in.
    std::set<int> contracted() const;

private:
    void take(const DraftEntry& entry);
    void take_einsum(const DraftEntry& entry);
    void contract(const DraftEntry& entry, DraftId value, size_t dim);
    void take_reshape(DraftId from, DraftId to);
    void take_kept(DraftId from, DraftId to, const std::vector<i64>& dims); // all but `dims`
    void take_broadcasting(const DraftEntry& entry);
    void join(DraftId a, size_t a_dim, DraftId b, size_t b_dim);

    const Draft& draft_;
    std::vector<int> begin_; // by value, of its first dim
    mutable std::vector<int> parent_;
    std::vector<std::pair<DraftId, size_t>> contracted_; // a dim of each
};

} // namespace shard

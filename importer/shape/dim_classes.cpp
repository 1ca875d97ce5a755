#include "importer/shape/dim_classes.h"

#include "importer/model/arguments.h"

#include <algorithm>
#include <map>

namespace shard {

DimClasses::DimClasses(const Draft& draft, const std::vector<bool>& needed) : draft_(draft) {
    for (DraftId value = 0; value < draft.value_count(); ++value) {
        begin_.push_back(static_cast<int>(parent_.size()));
        for (size_t d = 0; d < draft.type(value).shape.size(); ++d) parent_.push_back(static_cast<int>(parent_.size()));
    }
    for (size_t i = 0; i < needed.size(); ++i)
        if (needed[i]) take(draft.entry(i));
}

int DimClasses::of(DraftId value, size_t dim) const {
    int node = begin_[static_cast<size_t>(value)] + static_cast<int>(dim);
    while (parent_[static_cast<size_t>(node)] != node) {
        int& above = parent_[static_cast<size_t>(node)];
        above = parent_[static_cast<size_t>(above)];
        node = above;
    }
    return node;
}

void DimClasses::join(DraftId a, size_t a_dim, DraftId b, size_t b_dim) {
    const Shape &left = draft_.type(a).shape, &right = draft_.type(b).shape;
    if (a_dim >= left.size() || b_dim >= right.size() || left[a_dim] != right[b_dim] || left[a_dim] == 1) return;
    parent_[static_cast<size_t>(of(b, b_dim))] = of(a, a_dim);
}

std::set<int> DimClasses::contracted() const {
    std::set<int> classes;
    for (const auto& [value, dim] : contracted_) classes.insert(of(value, dim));
    return classes;
}

// The gradient of a weight adds over examples.
void DimClasses::contract(const DraftEntry& entry, DraftId value, size_t dim) {
    if (!entry.is_backward) contracted_.emplace_back(value, dim);
}

void DimClasses::take_einsum(const DraftEntry& entry) {
    const size_t result = entry.literal.find('>');
    std::map<char, std::pair<DraftId, size_t>> first;
    size_t operand = 0, dim = 0;
    for (size_t i = 0; i < entry.literal.size(); ++i) {
        const char c = entry.literal[i];
        if (c == ',' || c == '>') ++operand, dim = 0;
        if (c < 'a' || c > 'z') continue;
        const DraftId value = operand < entry.operands.size() ? entry.operands[operand] : entry.results[0];
        const auto [it, is_new] = first.try_emplace(c, value, dim);
        if (!is_new) join(it->second.first, it->second.second, value, dim);
        if (is_new && entry.literal.find(c, result) == std::string::npos) contract(entry, value, dim);
        ++dim;
    }
}

// What is before and behind the dims that are put together or taken apart.
void DimClasses::take_reshape(DraftId from, DraftId to) {
    const Shape &a = draft_.type(from).shape, &b = draft_.type(to).shape;
    for (size_t d = 0; d < std::min(a.size(), b.size()) && a[d] == b[d]; ++d) join(from, d, to, d);
    for (size_t d = 1; d <= std::min(a.size(), b.size()) && a[a.size() - d] == b[b.size() - d]; ++d)
        join(from, a.size() - d, to, b.size() - d);
}

void DimClasses::take_kept(DraftId from, DraftId to, const std::vector<i64>& dims) {
    size_t next = 0;
    for (size_t d = 0; d < draft_.type(from).shape.size(); ++d)
        if (std::find(dims.begin(), dims.end(), static_cast<i64>(d)) == dims.end()) join(from, d, to, next++);
}

// Aligned at the last dim, if that is how the operands make the result.
void DimClasses::take_broadcasting(const DraftEntry& entry) {
    for (const DraftId result : entry.results) {
        const Shape& shape = draft_.type(result).shape;
        for (const DraftId operand : entry.operands) {
            if (draft_[operand].number) continue;
            const Shape& own = draft_.type(operand).shape;
            if (own.size() > shape.size()) return;
            for (size_t d = 0; d < own.size(); ++d)
                if (own[d] != 1 && own[d] != shape[shape.size() - own.size() + d]) return;
        }
        for (const DraftId operand : entry.operands) {
            const size_t rank = draft_.type(operand).shape.size();
            if (!draft_[operand].number)
                for (size_t d = 0; d < rank; ++d) join(operand, d, result, shape.size() - rank + d);
        }
    }
}

void DimClasses::take(const DraftEntry& entry) {
    if (entry.results.empty() || entry.operands.empty()) return;
    const DraftId from = entry.operands[0], to = entry.results[0];
    const size_t rank = draft_.type(from).shape.size();
    const auto along = [&](const std::vector<i64>& dims) { // dim i of the first is dim dims[i] of the second
        for (size_t i = 0; i < dims.size(); ++i)
            if (dims[i] >= 0) join(from, i, to, static_cast<size_t>(dims[i]));
    };
    if (entry.op == "einsum") {
        take_einsum(entry);
    } else if (entry.op == "attention") {
        const DraftId k = entry.operands[1], v = entry.operands[2];
        for (const size_t d : {size_t{0}, size_t{1}, size_t{2}}) join(from, d, to, d), join(k, d, v, d);
        for (const size_t d : {size_t{0}, size_t{2}, size_t{3}}) join(from, d, k, d);
        join(v, 3, to, 3);
    } else if (entry.op == "rope") {
        for (size_t d = 0; d < rank; ++d) join(from, d, to, d);
        if (entry.operands.size() == 1) return;
        const DraftId positions = entry.operands[1];
        const size_t of_positions = draft_.type(positions).shape.size(); // (length), (batch, length)
        for (size_t d = 0; d < of_positions; ++d) join(positions, d, to, 2 - of_positions + d);
    } else if (entry.op == "softmax_cross_entropy") {
        for (size_t d = 0; d + 1 < rank; ++d) join(from, d, entry.operands[1], d), join(from, d, to, d);
    } else if (entry.op == "dot") {
        for (size_t d = 0; d + 1 < rank; ++d) join(from, d, to, d);
        join(from, rank - 1, entry.operands[1], 0);
        contract(entry, from, rank - 1);
        join(entry.operands[1], 1, to, rank - 1);
    } else if (entry.op == "reshape") {
        take_reshape(from, to);
    } else if (entry.op == "transpose") {
        const std::vector<i64> permutation = listed(entry.arguments, "permutation");
        for (size_t i = 0; i < permutation.size(); ++i)
            if (permutation[i] >= 0) join(from, static_cast<size_t>(permutation[i]), to, i);
    } else if (entry.op == "broadcast") {
        along(listed(entry.arguments, "dims"));
    } else if (entry.op.starts_with("reduce_") || entry.op == "logsumexp") {
        take_kept(from, to, listed(entry.arguments, "dims"));
    } else if (entry.op == "one_hot") {
        for (size_t d = 0; d < rank; ++d) join(from, d, to, d);
    } else if (entry.op == "gather" && entry.operands.size() == 2 &&
               listed(entry.arguments, "dim") == std::vector<i64>{0} &&
               entry.arguments.find("batch") == std::string::npos) {
        const size_t places = draft_.type(entry.operands[1]).shape.size();
        for (size_t d = 0; d < places; ++d) join(entry.operands[1], d, to, d);
        for (size_t d = 1; d < rank; ++d) join(from, d, to, places + d - 1);
        contract(entry, from, 0);
    } else if (entry.op == "slice" || entry.op == "pad" || entry.op == "concatenate" || entry.op == "dynamic_slice" ||
               entry.op == "dynamic_update_slice" || entry.op == "rev") {
        for (size_t d = 0; d < rank; ++d) join(from, d, to, d);
    } else if (entry.op == "gather" || entry.op.starts_with("scatter") || entry.op == "conv" ||
               entry.op.ends_with("_pool") || entry.op == "sort" || entry.op == "iota") {
        return;
    } else {
        take_broadcasting(entry);
    }
}

} // namespace shard

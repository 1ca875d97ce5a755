#include "importer/model/slice_at.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

DraftId slice_at(Draft& draft, DraftId value, const Shape& sizes, const std::vector<DraftId>& starts) {
    const DraftType from = draft.type(value), type{from.dtype, sizes};
    std::vector<i64> dims, taken, begins, limits;
    std::vector<DraftId> operands = {value};
    bool known = true;
    for (size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == from.shape[i]) continue;
        const std::optional<DraftNumber> number = draft[starts[i]].number;
        known = known && number;
        const i64 start = number ? std::clamp<i64>(number->integer, 0, from.shape[i] - sizes[i]) : 0;
        dims.push_back(static_cast<i64>(i));
        taken.push_back(sizes[i]);
        begins.push_back(start);
        limits.push_back(start + sizes[i]);
        operands.push_back(starts[i]);
    }
    if (dims.empty()) return value;
    if (known)
        return draft.add(
            "slice", {value},
            fmt::format(", dim: {}, start: {}, limit: {}", list_text(dims), list_text(begins), list_text(limits)),
            type);
    return draft.add("dynamic_slice", operands, fmt::format(", dim: {}, size: {}", list_text(dims), list_text(taken)),
                     type);
}

} // namespace shard

// The elements of a draft's values, computed one by one, for inputs that are given: whether a part of a program computes
// what is thought of it. Ops that go element by element, of types up to f32 and 64 bits, and those that move elements.
#pragma once

#include "importer/model/draft.h"

#include <functional>

namespace shard {

class DraftNumbers {
public:
    // The element of an input that has this place, row-major.
    using Given = std::function<DraftNumber(DraftId input, i64 place)>;
    DraftNumbers(const Draft& draft, Given given) : draft_(draft), given_(std::move(given)) {}

    // nullopt where an op on the way is not one of these.
    std::optional<DraftNumber> at(DraftId value, const std::vector<i64>& index);

private:
    std::optional<DraftNumber> computed(DraftId value, const std::vector<i64>& index);
    std::optional<DraftNumber> random_bits(const DraftEntry& entry, const DraftType& type,
                                           const std::vector<i64>& index);
    std::optional<DraftNumber> pointwise(const DraftEntry& entry, const DraftType& type, const std::vector<i64>& index);

    const Draft& draft_;
    Given given_;
    std::map<std::pair<DraftId, i64>, std::optional<DraftNumber>> known_;
    int depth_ = 0;
};

// Row-major, of a shape, and back.
i64 place_of(const Shape& shape, const std::vector<i64>& index);
std::vector<i64> index_of(const Shape& shape, i64 place);

} // namespace shard

// What composites are recognised with: goes from an entry up to what it is made of, and keeps count of what it went
// through. Entries that something else reads too stay, so a composite is one only if nothing does.
#pragma once

#include "importer/model/draft.h"

#include <string_view>

namespace shard {

class Taking {
public:
    explicit Taking(const Draft& draft) : draft_(draft) {}

    const Draft& draft() const { return draft_; }
    const std::vector<int>& taken() const { return taken_; }

    // The entry that makes a value, if it is of this op.
    const DraftEntry* made_by(DraftId value, std::string_view op);
    bool is_number(DraftId value, double number) const; // rounded to f32
    std::optional<double> number(DraftId value) const;
    // The other operand, if one of the two is this number, or this value.
    std::optional<DraftId> beside_number(const DraftEntry& entry, double number) const;
    std::optional<DraftId> beside(const DraftEntry& entry, DraftId value) const;

    struct Reduced {
        DraftId of = -1;
        std::vector<i64> dims;
    };
    // op(x, dims), as it is or with the dims as 1: then it broadcasts against x.
    std::optional<Reduced> reduced(DraftId value, std::string_view op);
    std::optional<Reduced> mean(DraftId value); // a sum, over the number of elements
    bool broadcasts_against(DraftId value, const Reduced& reduced) const;

    // Goes back to how it was: what was taken after `mark` is not.
    size_t mark() const { return taken_.size(); }
    void back_to(size_t mark) { taken_.resize(mark); }

private:
    DraftId without_ones(DraftId value); // a reshape that only adds or leaves out dims of size 1: its operand
    const Draft& draft_;
    std::vector<int> taken_;
};

std::string dims_text(const std::vector<i64>& dims); // "2", "[0, 1]"

} // namespace shard

// What composites are recognised with: goes from an entry up to what it is made of, and keeps count of what it went
// through. Entries that something else reads too stay, so a composite is one only if nothing does.
#pragma once

#include "importer/shape/block_check.h"

#include <string_view>

namespace shard {

class Taking {
public:
    Taking(Draft& draft, const DraftReaders& readers) : draft_(draft), readers_(readers) {}

    const Draft& draft() const { return draft_; }
    const std::vector<int>& taken() const { return taken_; }

    // The entry that makes a value, or null; made_by: if it is of this op.
    const DraftEntry* made(DraftId value);
    const DraftEntry* made_by(DraftId value, std::string_view op);
    bool is_number(DraftId value, double number) const; // rounded to its type, f64 to f32
    std::optional<double> number(DraftId value) const;
    DraftId as_operand(DType dtype, DraftNumber number) { return draft_.number({dtype, {}}, number); }
    // The other operand, if one of the two is this number, or this value.
    std::optional<DraftId> beside_number(const DraftEntry& entry, double number) const;
    std::optional<DraftId> beside(const DraftEntry& entry, DraftId value) const;

    struct Reduced {
        DraftId of = -1;
        std::vector<i64> dims;
    };
    // op(x, dims), as it is or with the dims as 1: then it broadcasts against x.
    std::optional<Reduced> reduced(DraftId value, std::string_view op);
    // reduce_sum. Narrow numbers are summed up in f32, which models do without casts.
    std::optional<Reduced> sum(DraftId value);
    std::optional<Reduced> mean(DraftId value); // a sum, over the number of elements
    // One whose dims of size 1 may be added later on: who asks sees to it that what comes of it broadcasts against x.
    std::optional<Reduced> mean_that_gets_ones(DraftId value);
    bool broadcasts_against(DraftId value, const Reduced& reduced) const;
    DraftId without_ones(DraftId value); // a reshape that only adds or leaves out dims of size 1: its operand

    // Whether all that reads a value is one transpose or reshape.
    bool is_moved_on(DraftId value) const;

    // Goes back to how it was: what was taken after `mark` is not.
    size_t mark() const { return taken_.size(); }
    void back_to(size_t mark) { taken_.resize(mark); }

private:
    Draft& draft_;
    const DraftReaders& readers_;
    std::vector<int> taken_;
};

std::string dims_text(const std::vector<i64>& dims); // "2", "[0, 1]"

} // namespace shard

// What an element of a rotary position's result is the sum of: an element of x times the cosine of an angle, and another
// times the sine, each maybe subtracted.
#pragma once

#include "importer/shape/rope_angles.h"

#include <set>

namespace shard {

// An element, or what is left when it is subtracted.
struct SignedElement {
    Element element;
    bool is_negative = false;
};

// x there, times the sine or the cosine of an angle.
struct RopeTerm {
    bool is_sine = false, is_negative = false;
    Angle angle;
    double factor = 1;
    std::vector<SignedElement> x; // the nearest first, each moved from the next
    i64 place = 0;                // along the dim of x that is turned
    bool is_subtracted = false;
};

class RopeTermReader {
public:
    // Of results of a floating-point type.
    RopeTermReader(const Draft& draft, DType dtype)
        : draft_(draft), dtype_(dtype), angles_(draft, computed_as(dtype)) {}

    // The cosine's and the sine's; nullopt if it is no sum of one each.
    std::optional<std::vector<RopeTerm>> read(const Element& element);
    // What was gone through from the elements up to what terms are products of, without the elements themselves.
    const std::set<DraftId>& taken() const { return taken_; }

private:
    bool add_terms(SignedElement at, std::vector<RopeTerm>& terms, bool is_root = false);
    std::optional<SignedElement> take_sign(const SignedElement& at, const DraftEntry& product);
    bool take_turn(Element at, RopeTerm& term);
    bool take_factor(Element& at, const DraftEntry& product, RopeTerm& term);
    std::vector<SignedElement> sources(const Element& element);
    std::optional<Element> chosen_by_place(const Element& element);
    bool is_widened(const DraftEntry& entry) const;

    const Draft& draft_;
    DType dtype_;
    AngleReader angles_;
    int left_ = 0; // entries that are looked at
    std::set<DraftId> taken_;
};

} // namespace shard

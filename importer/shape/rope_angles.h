// Angles of a rotation, as a position times a frequency: read from how each is computed.
//
//     outer(cast(iota), 1 / theta ** (2 * iota / width))      positions that are counted
//     positions[..., None] / timescale                        an argument's
#pragma once

#include "importer/shape/element.h"

#include <map>

namespace shard {

struct Angle {
    double frequency = 1;
    Element position; // along dims of the result alone; a count (DraftValue::is_count), or any other value
};

class AngleReader {
public:
    // Angles are computed in this type.
    AngleReader(const Draft& draft, DType dtype) : draft_(draft), dtype_(dtype) {}

    std::optional<Angle> read(const Element& element);
    std::optional<double> read_number(const Element& element); // what is no angle, but computed of numbers alone

private:
    // A number, times a position if there is one.
    struct Product {
        double number = 1;
        std::optional<Element> position;
    };
    std::optional<Product> product(const Element& element);
    std::optional<Product> computed(const Element& element, const DraftEntry& entry);
    std::optional<Product> outer(const Element& element, const DraftEntry& entry);
    std::optional<Product> constant(const Element& element) const;
    std::optional<Product> as_position(const Element& element) const;
    bool is_exact(DType dtype) const; // numbers of it are those that are computed with

    const Draft& draft_;
    DType dtype_;
    int left_ = 0; // entries that are looked at
};

} // namespace shard

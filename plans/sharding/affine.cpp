#include "plans/sharding/affine.h"

#include <algorithm>

#include <fmt/format.h>

namespace shard {

namespace {

i64 term_value(const AffineTerm& term, const AffineContext& context) {
    switch (term.kind) {
    case AffineTerm::Kind::coordinate:
        return coordinate(*context.mesh, context.coordinates, term.axis);
    case AffineTerm::Kind::loop:
        return context.loops[term.index];
    case AffineTerm::Kind::scalar:
        internal_check(context.scalar != nullptr, "affine expression reads a scalar where there is none");
        return std::clamp(context.scalar(context.state, term.index), term.low, term.high);
    }
    internal_error("affine term of an unknown kind");
}

bool same_variable(const AffineTerm& a, const AffineTerm& b) {
    return a.kind == b.kind && a.axis == b.axis && a.index == b.index && a.low == b.low && a.high == b.high;
}

std::string variable_text(const Mesh& mesh, const AffineTerm& term) {
    switch (term.kind) {
    case AffineTerm::Kind::coordinate:
        return text(mesh, term.axis);
    case AffineTerm::Kind::loop:
        return fmt::format("loop{}", term.index);
    case AffineTerm::Kind::scalar:
        if (term.low == AffineTerm{}.low && term.high == AffineTerm{}.high) return fmt::format("scalar{}", term.index);
        return fmt::format("clamp(scalar{}, {}, {})", term.index, term.low, term.high);
    }
    internal_error("affine term of an unknown kind");
}

} // namespace

i64 evaluate(const Affine& affine, const AffineContext& context) {
    i64 value = affine.constant;
    for (const AffineTerm& term : affine.terms) value += term.coefficient * term_value(term, context);
    return value;
}

// Terms over one variable are merged and vanish at zero, so equal expressions built in one order compare equal.
Affine operator+(Affine a, const Affine& b) {
    a.constant += b.constant;
    for (const AffineTerm& term : b.terms) {
        const std::vector<AffineTerm>::iterator same = std::find_if(
            a.terms.begin(), a.terms.end(), [&](const AffineTerm& other) { return same_variable(term, other); });
        if (same == a.terms.end()) {
            a.terms.push_back(term);
        } else {
            same->coefficient += term.coefficient;
            if (same->coefficient == 0) a.terms.erase(same);
        }
    }
    return a;
}

Affine operator*(Affine a, i64 factor) {
    if (factor == 0) return {};
    a.constant *= factor;
    for (AffineTerm& term : a.terms) term.coefficient *= factor;
    return a;
}

Affine constant(i64 value) { return {value, {}}; }

Affine block_start(i64 size, std::span<const AxisRef> axes) {
    Affine start;
    i64 block = size;
    for (const AxisRef& axis : axes) {
        internal_check(block % axis.size == 0, "block start of a dim that does not divide");
        block /= axis.size;
        if (axis.size == 1 || block == 0) continue; // the coordinate, or what it counts, is always zero
        AffineTerm term;
        term.axis = axis;
        term.coefficient = block;
        start.terms.push_back(term);
    }
    return start;
}

std::string text(const Mesh& mesh, const Affine& affine) {
    std::string result;
    const auto append = [&](bool negative, const std::string& part) {
        if (result.empty())
            result = (negative ? "-" : "") + part;
        else
            result += (negative ? " - " : " + ") + part;
    };
    for (const AffineTerm& term : affine.terms) {
        const i64 size = term.coefficient < 0 ? -term.coefficient : term.coefficient;
        const std::string variable = variable_text(mesh, term);
        append(term.coefficient < 0, size == 1 ? variable : fmt::format("{}*{}", size, variable));
    }
    if (affine.constant != 0 || affine.terms.empty())
        append(affine.constant < 0, fmt::format("{}", affine.constant < 0 ? -affine.constant : affine.constant));
    return result;
}

} // namespace shard

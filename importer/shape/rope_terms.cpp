#include "importer/shape/rope_terms.h"

#include <utility>

namespace shard {

namespace {

constexpr size_t most_entries = 60; // that one element of the result is made of

} // namespace

std::optional<std::vector<RopeTerm>> RopeTermReader::read(const Element& element) {
    left_ = most_entries;
    std::vector<RopeTerm> terms;
    if (!add_terms({element, false}, terms, true) || terms.size() != 2) return std::nullopt;
    if (terms[0].is_sine) std::swap(terms[0], terms[1]);
    if (terms[0].is_sine || !terms[1].is_sine) return std::nullopt;
    return terms;
}

bool RopeTermReader::add_terms(SignedElement at, std::vector<RopeTerm>& terms, bool is_root) {
    while (--left_ >= 0) {
        const DraftEntry* const entry = draft_.entry_of(at.element.value);
        if (entry == nullptr || draft_.type(at.element.value).dtype != dtype_) return false;
        if (!is_root) taken_.insert(at.element.value);
        is_root = false;
        if (const std::optional<Element> from = moved_from(draft_, at.element)) {
            at.element = *from;
            continue;
        }
        const auto operand = [&](size_t i) { return of_operand(draft_, at.element, entry->operands[i]); };
        if (entry->op == "neg") {
            at = {operand(0), !at.is_negative};
            continue;
        }
        if (entry->op == "add" || entry->op == "sub")
            return add_terms({operand(0), at.is_negative}, terms) &&
                   add_terms({operand(1), at.is_negative != (entry->op == "sub")}, terms);
        if (entry->op != "mul") return false;
        if (const std::optional<SignedElement> rest = take_sign(at, *entry)) {
            at = *rest;
            continue;
        }
        for (const size_t i : {size_t{0}, size_t{1}}) {
            RopeTerm term;
            term.is_negative = at.is_negative;
            if (!take_turn(operand(i), term)) continue;
            term.x = sources(operand(1 - i));
            terms.push_back(std::move(term));
            return true;
        }
        return false;
    }
    return false;
}

// What 1 or -1 is multiplied by there.
std::optional<SignedElement> RopeTermReader::take_sign(const SignedElement& at, const DraftEntry& product) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const std::optional<double> sign = angles_.read_number(of_operand(draft_, at.element, product.operands[i]));
        if (sign && (*sign == 1 || *sign == -1))
            return SignedElement{of_operand(draft_, at.element, product.operands[1 - i]),
                                 at.is_negative != (*sign < 0)};
    }
    return std::nullopt;
}

// The sine or the cosine of an angle, in the type that it is computed in, and rounded once.
bool RopeTermReader::take_turn(Element at, RopeTerm& term) {
    while (--left_ >= 0) {
        if (const std::optional<Element> from = moved_from(draft_, at)) {
            at = *from;
            continue;
        }
        if (const std::optional<Element> in_table = looked_up(draft_, at)) {
            at = *in_table;
            continue;
        }
        const DraftEntry* const entry = draft_.entry_of(at.value);
        if (entry == nullptr) return false;
        const DType dtype = draft_.type(at.value).dtype, computed = computed_as(dtype_);
        if (entry->op == "cast" && dtype == dtype_ && dtype != computed) {
            at = of_operand(draft_, at, entry->operands[0]);
            if (draft_.type(at.value).dtype != computed) return false;
            continue;
        }
        if (entry->op == "mul" && take_factor(at, *entry, term)) continue;
        term.is_sine = entry->op == "sin";
        if ((!term.is_sine && entry->op != "cos") || dtype != computed) return false;
        const std::optional<Angle> angle = angles_.read(of_operand(draft_, at, entry->operands[0]));
        if (!angle) return false;
        term.angle = *angle;
        return true;
    }
    return false;
}

// A number that the sine or cosine is multiplied by, as YaRN has it.
bool RopeTermReader::take_factor(Element& at, const DraftEntry& product, RopeTerm& term) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const std::optional<double> number = angles_.read_number(of_operand(draft_, at, product.operands[i]));
        // Narrow numbers are rounded once more.
        if (!number || (*number != 1 && dtype_ != computed_as(dtype_))) continue;
        term.factor *= *number;
        at = of_operand(draft_, at, product.operands[1 - i]);
        return true;
    }
    return false;
}

// What the element was, as far as it was only moved, chosen by its place, negated, or cast from a type whose numbers
// all are numbers of its own.
std::vector<SignedElement> RopeTermReader::sources(const Element& element) {
    std::vector<SignedElement> found = {{element, false}};
    while (found.size() < most_entries) {
        const SignedElement& at = found.back();
        const DraftEntry* const entry = draft_.entry_of(at.element.value);
        if (std::optional<Element> from = moved_from(draft_, at.element)) {
            found.push_back({std::move(*from), at.is_negative});
        } else if (std::optional<Element> chosen = chosen_by_place(at.element)) {
            found.push_back({std::move(*chosen), at.is_negative});
        } else if (entry != nullptr && (entry->op == "neg" || is_widened(*entry))) {
            const bool is_negative = at.is_negative != (entry->op == "neg");
            found.push_back({of_operand(draft_, at.element, entry->operands[0]), is_negative});
        } else {
            break;
        }
    }
    return found;
}

std::optional<Element> RopeTermReader::chosen_by_place(const Element& element) {
    const DraftEntry* const entry = draft_.entry_of(element.value);
    if (entry == nullptr || entry->op != "select") return std::nullopt;
    const std::optional<double> chosen = angles_.read_number(of_operand(draft_, element, entry->operands[0]));
    if (!chosen) return std::nullopt;
    return of_operand(draft_, element, entry->operands[*chosen != 0 ? 1 : 2]);
}

bool RopeTermReader::is_widened(const DraftEntry& entry) const {
    if (entry.op != "cast") return false;
    const DType from = draft_.type(entry.operands[0]).dtype, to = draft_.type(entry.results[0]).dtype;
    return is_floating(from) && (to == DType::f32 || to == DType::f64) && byte_size(from) < byte_size(to);
}

} // namespace shard

#include "importer/shape/rope_angles.h"

#include "importer/model/fold.h"
#include "plans/base/parse_number.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shard {

namespace {

constexpr int most_entries = 300; // that one angle is made of

std::optional<double> of_one(std::string_view op, double a) {
    if (op == "neg") return -a;
    if (op == "abs") return std::fabs(a);
    if (op == "exp") return std::exp(a);
    if (op == "expm1") return std::expm1(a);
    if (op == "log") return std::log(a);
    if (op == "log1p") return std::log1p(a);
    if (op == "sqrt") return std::sqrt(a);
    if (op == "rsqrt") return 1 / std::sqrt(a);
    if (op == "not") return a == 0 ? 1 : 0;
    return std::nullopt;
}

std::optional<double> of_two(std::string_view op, double a, double b) {
    if (op == "add") return a + b;
    if (op == "sub") return a - b;
    if (op == "mul") return a * b;
    if (op == "div") return a / b;
    if (op == "pow") return std::pow(a, b);
    if (op == "rem" && a >= 0 && b > 0) return std::fmod(a, b);
    if (op == "max") return std::max(a, b);
    if (op == "min") return std::min(a, b);
    return std::nullopt;
}

// Where numbers are so near that rounding decides it is not known, unless they are whole.
std::optional<bool> surely_compared(std::string_view op, double a, double b) {
    const bool is_whole = a == std::nearbyint(a) && b == std::nearbyint(b) && std::fabs(a) < 1e7;
    if (!is_whole && std::fabs(a - b) <= 1e-6 * std::max(std::fabs(a), std::fabs(b))) return std::nullopt;
    return compared(op, a, b);
}

// Letters of the operands and of the result; those of a dot are an einsum's.
std::optional<std::array<std::string, 3>> letters_of(const Draft& draft, const DraftEntry& entry) {
    std::array<std::string, 3> letters;
    if (entry.op == "dot") {
        for (size_t d = 0; d < draft.type(entry.operands[0]).shape.size(); ++d)
            letters[0] += static_cast<char>('a' + d);
        if (letters[0].empty() || letters[0].size() > 20) return std::nullopt;
        letters[1] = {letters[0].back(), 'z'};
        letters[2] = letters[0];
        letters[2].back() = 'z';
        return letters;
    }
    size_t part = 0;
    for (const char c : entry.literal) {
        if (c == ',' || c == '>') ++part;
        if (part > 2) return std::nullopt;
        if (c >= 'a' && c <= 'z') letters[part] += c;
    }
    return letters;
}

} // namespace

bool AngleReader::is_exact(DType dtype) const {
    return dtype == DType::boolean || is_integer(dtype) ||
           (is_floating(dtype) && byte_size(dtype) >= byte_size(dtype_));
}

std::optional<AngleReader::Product> AngleReader::as_position(const Element& element) const {
    const DraftType& type = draft_.type(element.value);
    if (!is_integer(type.dtype) && !is_floating(type.dtype)) return std::nullopt;
    if (is_floating(type.dtype) && byte_size(type.dtype) > byte_size(dtype_)) return std::nullopt;
    for (size_t d = 0; d < element.index.size(); ++d) {
        const Place& place = element.index[d];
        if (type.shape[d] != 1 && (place.along < 0 || place.at != 0)) return std::nullopt;
    }
    return Product{1, element};
}

// The product of what each operand has there, if nothing is summed.
std::optional<AngleReader::Product> AngleReader::outer(const Element& element, const DraftEntry& entry) {
    const std::optional<std::array<std::string, 3>> letters = letters_of(draft_, entry);
    if (!letters || entry.operands.size() != 2 || (*letters)[2].size() != element.index.size()) return std::nullopt;
    Product found;
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const Shape& shape = draft_.type(entry.operands[i]).shape;
        const std::string& own = (*letters)[i];
        if (own.size() != shape.size()) return std::nullopt;
        Element operand{entry.operands[i], std::vector<Place>(shape.size())};
        for (size_t d = 0; d < shape.size(); ++d) {
            const size_t made = (*letters)[2].find(own[d]);
            if (shape[d] == 1) continue;
            if (made == std::string::npos || own.find(own[d]) != d) return std::nullopt;
            operand.index[d] = element.index[made];
        }
        const std::optional<Product> factor = product(operand);
        if (!factor || (factor->position && found.position)) return std::nullopt;
        found.number *= factor->number;
        if (factor->position) found.position = factor->position;
    }
    return found;
}

std::optional<AngleReader::Product> AngleReader::constant(const Element& element) const {
    const DraftValue& value = draft_[element.value];
    const Shape& shape = value.type.shape;
    const auto real = [&](const DraftNumber& number) {
        return is_floating(value.type.dtype) ? number.real : static_cast<double>(number.integer);
    };
    if (value.filled) return Product{real(*value.filled), {}};
    if (value.listed == nullptr) return std::nullopt;
    size_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (!element.index[d].is_number()) return std::nullopt;
        place = place * static_cast<size_t>(shape[d]) + static_cast<size_t>(element.index[d].at);
    }
    const double number = real((*value.listed)[place]);
    return std::isfinite(number) ? std::optional(Product{number, {}}) : std::nullopt;
}

std::optional<AngleReader::Product> AngleReader::computed(const Element& element, const DraftEntry& entry) {
    if (entry.op == "einsum" || entry.op == "dot") return outer(element, entry);
    if (entry.op == "constant") return constant(element);
    const DType dtype = draft_.type(element.value).dtype;
    const auto operand = [&](size_t i) { return of_operand(draft_, element, entry.operands[i]); };
    if (entry.op == "select") {
        const std::optional<Product> chosen = product(operand(0));
        if (!chosen || chosen->position) return std::nullopt;
        return product(operand(chosen->number != 0 ? 1 : 2));
    }
    std::vector<Product> operands;
    for (size_t i = 0; i < entry.operands.size(); ++i) {
        const std::optional<Product> factor = i < 2 ? product(operand(i)) : std::nullopt;
        if (!factor) return std::nullopt;
        operands.push_back(*factor);
    }
    if (operands.empty()) return std::nullopt;
    if (entry.op == "cast") {
        const DType from = draft_.type(entry.operands[0]).dtype;
        // What is rounded to fewer digits is another number; whole numbers are so small that they are not.
        const bool is_kept = is_integer(from) ? is_floating(dtype) || byte_size(dtype) >= byte_size(from)
                                              : is_floating(dtype) && byte_size(dtype) >= byte_size(from);
        return is_kept ? std::optional<Product>(operands[0]) : std::nullopt;
    }
    if (operands.size() == 1) {
        const std::optional<double> number = operands[0].position ? std::nullopt : of_one(entry.op, operands[0].number);
        return number ? std::optional<Product>({*number, {}}) : std::nullopt;
    }
    if (entry.op == "div" && is_integer(dtype)) return std::nullopt;
    const Product &a = operands[0], &b = operands[1];
    if (a.position && b.position) return std::nullopt;
    if (a.position || b.position) {
        const bool is_first = a.position.has_value();
        const std::optional<Element>& position = is_first ? a.position : b.position;
        if (entry.op == "add" && (is_first ? b : a).number == 0) return is_first ? a : b;
        if (entry.op != "mul" && !(entry.op == "div" && is_first)) return std::nullopt;
        return Product{entry.op == "mul" ? a.number * b.number : a.number / b.number, position};
    }
    const std::optional<double> number =
        dtype == DType::boolean ? surely_compared(entry.op, a.number, b.number) : of_two(entry.op, a.number, b.number);
    return number ? std::optional<Product>({*number, {}}) : std::nullopt;
}

std::optional<AngleReader::Product> AngleReader::product(const Element& element) {
    if (--left_ < 0) return std::nullopt;
    const DraftValue& value = draft_[element.value];
    const DType dtype = value.type.dtype;
    if (const std::optional<DraftNumber>& number = value.number ? value.number : value.filled)
        return Product{is_floating(dtype) ? number->real : static_cast<double>(number->integer), {}};
    if (value.is_count && element.index.size() == 1) {
        const Place& place = element.index[0];
        if (place.by) return place.at == 0 ? as_position(*place.by) : std::nullopt;
        if (place.is_number()) return Product{static_cast<double>(place.at), {}};
    }
    std::optional<Product> found;
    if (const std::optional<Element> from = moved_from(draft_, element))
        found = product(*from);
    else if (const std::optional<Element> in_table = looked_up(draft_, element))
        found = product(*in_table);
    else if (const DraftEntry* const entry = draft_.entry_of(element.value); entry != nullptr && is_exact(dtype))
        found = computed(element, *entry);
    // Numbers that the type does not hold are none that the program computes.
    if (found) {
        const double number = found->number, size = std::fabs(number);
        const bool fits = is_floating(dtype) ? size < 3e38 && (size == 0 || size > 1e-37)
                                             : number >= static_cast<double>(info(dtype).lowest) &&
                                                   number <= static_cast<double>(info(dtype).highest);
        if (!fits) found.reset();
    }
    return found ? found : as_position(element);
}

std::optional<Angle> AngleReader::read(const Element& element) {
    left_ = most_entries;
    const std::optional<Product> found = product(element);
    if (!found || !found->position) return std::nullopt;
    return Angle{found->number, *found->position};
}

std::optional<double> AngleReader::read_number(const Element& element) {
    left_ = most_entries;
    const std::optional<Product> found = product(element);
    return found && !found->position ? std::optional<double>(found->number) : std::nullopt;
}

} // namespace shard

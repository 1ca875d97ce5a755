#include "importer/shape/draft_numbers.h"

#include "importer/model/fold.h"
#include "importer/shape/element.h"
#include "plans/base/parse_number.h"
#include "plans/random/random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shard {

namespace {

constexpr int most_depth = 4'000; // of values that are made of each other

using Words = std::uint64_t;

int bits_of(DType dtype) { return dtype == DType::boolean ? 1 : static_cast<int>(8 * byte_size(dtype)); }

// The lowest bits of a whole number, as the type has them.
i64 wrapped(Words bits, DType dtype) {
    const int width = bits_of(dtype);
    if (width == 64) return static_cast<i64>(bits);
    bits &= (Words{1} << width) - 1;
    if (is_signed(dtype) && (bits >> (width - 1)) != 0) bits |= ~Words{0} << width;
    return static_cast<i64>(bits);
}

std::optional<i64> whole(std::string_view op, i64 a, i64 b, DType dtype) {
    const Words x = static_cast<Words>(a), y = static_cast<Words>(b);
    const bool beyond = y >= static_cast<Words>(bits_of(dtype));
    if (op == "add") return wrapped(x + y, dtype);
    if (op == "sub") return wrapped(x - y, dtype);
    if (op == "mul") return wrapped(x * y, dtype);
    if (op == "bit_and" || op == "and") return wrapped(x & y, dtype);
    if (op == "bit_or" || op == "or") return wrapped(x | y, dtype);
    if (op == "bit_xor") return wrapped(x ^ y, dtype);
    if (op == "shift_left") return beyond ? 0 : wrapped(x << y, dtype);
    if (dtype == DType::u64 && (a < 0 || b < 0)) return std::nullopt; // which as i64 are in another order
    if (op == "shift_right") return beyond ? (a < 0 ? -1 : 0) : wrapped(static_cast<Words>(a >> y), dtype);
    if (op == "max") return std::max(a, b);
    if (op == "min") return std::min(a, b);
    if (b == 0 || (a == std::numeric_limits<i64>::min() && b == -1)) return std::nullopt;
    if (op == "rem") return a % b;
    if (op == "div" || op == "trunc_div") return wrapped(static_cast<Words>(a / b), dtype);
    return std::nullopt;
}

std::optional<float> real(std::string_view op, float a, float b) {
    if (op == "add") return a + b;
    if (op == "sub") return a - b;
    if (op == "mul") return a * b;
    if (op == "div") return a / b;
    if (op == "max") return std::max(a, b);
    if (op == "min") return std::min(a, b);
    return std::nullopt;
}

std::optional<float> real(std::string_view op, float a) {
    if (op == "neg") return -a;
    if (op == "abs") return std::abs(a);
    if (op == "sqrt") return std::sqrt(a);
    if (op == "log") return std::log(a);
    if (op == "log1p") return std::log1p(a);
    if (op == "exp") return std::exp(a);
    if (op == "erf") return std::erf(a);
    return std::nullopt;
}

std::optional<DraftNumber> cast(const DraftNumber& number, DType from, DType to) {
    if (to == DType::f32) return DraftNumber{is_floating(from) ? number.real : static_cast<float>(number.integer), 0};
    if (is_floating(to)) return std::nullopt;
    if (!is_floating(from)) return DraftNumber{0, wrapped(static_cast<Words>(number.integer), to)};
    if (!(std::abs(number.real) < 2e9)) return std::nullopt;
    return DraftNumber{0, wrapped(static_cast<Words>(static_cast<i64>(number.real)), to)};
}

} // namespace

i64 place_of(const Shape& shape, const std::vector<i64>& index) {
    i64 place = 0;
    for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + index[d];
    return place;
}

std::vector<i64> index_of(const Shape& shape, i64 place) {
    std::vector<i64> index(shape.size());
    for (size_t d = shape.size(); d-- > 0; place /= shape[d]) index[d] = place % shape[d];
    return index;
}

std::optional<DraftNumber> DraftNumbers::at(DraftId value, const std::vector<i64>& index) {
    const DraftValue& of = draft_[value];
    if (of.number) return of.number;
    if (of.of >= 0) {
        const Shape& shape = draft_.type(of.of).shape;
        std::vector<i64> from(shape.size());
        for (size_t d = 0; d < shape.size(); ++d) from[d] = shape[d] == 1 ? 0 : index[static_cast<size_t>(of.dims[d])];
        return at(of.of, from);
    }
    const i64 place = place_of(of.type.shape, index);
    if (of.is_input) return given_(value, place);
    if (const auto it = known_.find({value, place}); it != known_.end()) return it->second;
    if (depth_ == most_depth) return std::nullopt;
    ++depth_;
    const std::optional<DraftNumber> made = computed(value, index);
    --depth_;
    known_[{value, place}] = made;
    return made;
}

std::optional<DraftNumber> DraftNumbers::computed(DraftId value, const std::vector<i64>& index) {
    const DraftEntry* const entry = draft_.entry_of(value);
    const DraftType& type = draft_.type(value);
    if (entry == nullptr || entry->region != nullptr || entry->results.size() != 1) return std::nullopt;
    if (entry->op == "iota") return DraftNumber{static_cast<double>(index[0]), index[0]};
    if (const auto& listed = draft_[value].listed) return (*listed)[static_cast<size_t>(place_of(type.shape, index))];
    if (entry->op == "constant") return draft_[value].filled;
    if (entry->op == "random_bits") return random_bits(*entry, type, index);
    Element element{value, std::vector<Place>(index.size())};
    for (size_t d = 0; d < index.size(); ++d) element.index[d].at = index[d];
    if (const std::optional<Element> moved = moved_from(draft_, element)) {
        std::vector<i64> from;
        for (const Place& place : moved->index) from.push_back(place.at);
        return at(moved->value, from);
    }
    return pointwise(*entry, type, index);
}

// Under a key of rbg, which is the one kind that a program draws under by an op of its own.
std::optional<DraftNumber> DraftNumbers::random_bits(const DraftEntry& entry, const DraftType& type,
                                                     const std::vector<i64>& index) {
    if (entry.operands.size() != 1 || draft_.type(entry.operands[0]) != DraftType{DType::u32, {4}}) return std::nullopt;
    std::uint32_t words[4];
    for (i64 n = 0; n < 4; ++n) {
        const std::optional<DraftNumber> word = at(entry.operands[0], {n});
        if (!word) return std::nullopt;
        words[n] = static_cast<std::uint32_t>(word->integer);
    }
    return DraftNumber{0, random_bits32({words[0], words[1], words[2], words[3]}, BitLayout::rbg,
                                        element_count(type.shape), place_of(type.shape, index))};
}

std::optional<DraftNumber> DraftNumbers::pointwise(const DraftEntry& entry, const DraftType& type,
                                                   const std::vector<i64>& index) {
    if (!entry.literal.empty() || entry.operands.empty() || entry.operands.size() > 3) return std::nullopt;
    std::vector<DraftNumber> in;
    for (const DraftId operand : entry.operands) {
        const Shape& shape = draft_.type(operand).shape;
        if (shape.size() > index.size()) return std::nullopt;
        std::vector<i64> own(shape.size());
        for (size_t back = 1; back <= shape.size(); ++back) {
            const i64 size = shape[shape.size() - back];
            if (size != 1 && size != type.shape[index.size() - back]) return std::nullopt; // no op of this kind
            own[shape.size() - back] = size == 1 ? 0 : index[index.size() - back];
        }
        const std::optional<DraftNumber> number = at(operand, own);
        if (!number) return std::nullopt;
        in.push_back(*number);
    }
    const DType from = draft_.type(entry.operands[0]).dtype;
    if (entry.op == "cast") return cast(in[0], from, type.dtype);
    if (entry.op == "select" && in.size() == 3) return in[0].integer != 0 ? in[1] : in[2];
    if (!entry.arguments.empty()) return std::nullopt;
    if (entry.op == "not" && in.size() == 1) return DraftNumber{0, in[0].integer == 0};
    if (entry.op == "bit_not" && in.size() == 1)
        return DraftNumber{0, wrapped(~static_cast<Words>(in[0].integer), from)};
    const auto as_whole = [](const auto& number) {
        return number ? std::optional(DraftNumber{0, *number}) : std::nullopt;
    };
    const auto as_real = [](const std::optional<float>& number) {
        return number ? std::optional(DraftNumber{*number, 0}) : std::nullopt;
    };
    const bool is_real = from == DType::f32;
    if (is_floating(from) && !is_real) return std::nullopt;
    if (in.size() == 1) return is_real ? as_real(real(entry.op, static_cast<float>(in[0].real))) : std::nullopt;
    if (in.size() != 2) return std::nullopt;
    if (type.dtype == DType::boolean && from != DType::boolean) {
        if (from == DType::u64 && (in[0].integer < 0 || in[1].integer < 0)) return std::nullopt;
        return as_whole(is_real ? compared(entry.op, in[0].real, in[1].real)
                                : compared(entry.op, in[0].integer, in[1].integer));
    }
    if (is_real) return as_real(real(entry.op, static_cast<float>(in[0].real), static_cast<float>(in[1].real)));
    if (const std::optional<bool> truth = compared(entry.op, in[0].integer, in[1].integer)) return as_whole(truth);
    return as_whole(whole(entry.op, in[0].integer, in[1].integer, from));
}

} // namespace shard

#include "importer/shape/random_functions.h"

#include "importer/shape/draft_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

namespace shard {

namespace {

constexpr Key keys_tried[] = {
    {0x9E3779B9, 0x7F4A7C15, 3, 0x27D4EB2F}, {7, 0xFFFFFFF0, 0xFFFFFFFF, 0xFFFFFFFF}, {0xC2B2AE35, 0, 1, 0}};
constexpr std::uint32_t data_tried[] = {0x85EBCA6B, 1, 0xFFFFFFFF};
constexpr i64 places_tried = 8; // of each array: the first, the last, and others

// Newton's method, from an approximation of S. Winitzki (2008).
double inverse_erf(double y) {
    if (!(std::abs(y) < 1)) return std::copysign(std::numeric_limits<double>::infinity(), y);
    const double log = std::log1p(-y * y), half = 2 / (M_PI * 0.147) + log / 2;
    double x = std::copysign(std::sqrt(std::sqrt(half * half - log / 0.147) - half), y);
    for (int n = 0; n < 4; ++n) {
        // Far out the difference to 1 counts, which erf has lost.
        const double over = y < 0 ? (y + 1) - std::erfc(-x) : std::erfc(x) - (1 - y);
        x += over / (2 / std::sqrt(M_PI) * std::exp(-x * x));
    }
    return x;
}

float uniform_of(std::uint32_t bits, float low, float high) {
    const float unit = std::bit_cast<float>((bits >> 9) | 0x3F800000U) - 1.0F;
    return std::max(low, unit * (high - low) + low);
}

double normal_of(std::uint32_t bits, float low, float high) {
    return std::sqrt(2.0) * inverse_erf(uniform_of(bits, low, high));
}

std::uint32_t below(std::array<std::uint32_t, 2> words, i64 low, i64 high) {
    const std::uint32_t span = high > low ? static_cast<std::uint32_t>(high - low) : 1;
    const std::uint32_t half = 65536 % span, square = half * half % span;
    return static_cast<std::uint32_t>(low) + (words[0] % span * square + words[1] % span) % span;
}

// Whole numbers of a value are not above it: of places, which are counted, and what is made of them.
std::optional<i64> largest(const Draft& draft, DraftId value) {
    if (const std::optional<DraftNumber>& number = draft[value].number)
        return number->integer >= 0 ? std::optional(number->integer) : std::nullopt;
    if (draft[value].of >= 0) return largest(draft, draft[value].of);
    const DraftEntry* const entry = draft.entry_of(value);
    if (entry == nullptr) return std::nullopt;
    if (entry->op == "iota") return draft.type(value).shape[0] - 1;
    if (entry->op == "reshape" || entry->op == "broadcast") return largest(draft, entry->operands[0]);
    if (entry->op != "mul" && entry->op != "add") return std::nullopt;
    const std::optional<i64> a = largest(draft, entry->operands[0]), b = largest(draft, entry->operands[1]);
    i64 both = 0;
    if (!a || !b ||
        (entry->op == "mul" ? __builtin_mul_overflow(*a, *b, &both) : __builtin_add_overflow(*a, *b, &both)))
        return std::nullopt;
    return both;
}

// The high words of places that 32 bits hold.
bool is_zero(const Draft& draft, DraftId value) {
    if (const std::optional<DraftNumber>& number = draft[value].number) return number->integer == 0;
    if (draft[value].filled) return draft[value].filled->integer == 0;
    if (draft[value].of >= 0) return is_zero(draft, draft[value].of);
    const DraftEntry* const cast = draft.entry_of(value);
    if (cast == nullptr || cast->op != "cast") return false;
    const DraftEntry* const shift = draft.entry_of(cast->operands[0]);
    if (shift == nullptr || shift->op != "shift_right") return false;
    const std::optional<DraftNumber>& by = draft[shift->operands[1]].number;
    const std::optional<i64> most = largest(draft, shift->operands[0]);
    return by && by->integer == 32 && most && *most < i64{1} << 32;
}

// How many there are of each op that does not go alike at every place, or by the value that it is given, of those that
// are needed for this one.
std::map<std::string_view, int> choices_in(const Draft& draft, DraftId value) {
    static const std::set<std::string_view> alike = {"add",     "sub",         "mul",         "neg",     "log1p",
                                                     "sqrt",    "erf",         "cast",        "bit_xor", "bit_or",
                                                     "bit_and", "shift_left",  "shift_right", "reshape", "broadcast",
                                                     "slice",   "concatenate", "constant",    "iota"};
    std::map<std::string_view, int> choices;
    const std::vector<bool> needed = draft.needed_for({value});
    for (size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        const DraftEntry& entry = draft.entry(i);
        const bool is_list = entry.op == "constant" && element_count(draft.type(entry.results[0]).shape) > 4 &&
                             !draft[entry.results[0]].filled; // the cipher has lists of 4
        if (is_list || !alike.contains(entry.op)) ++choices[entry.op];
    }
    return choices;
}

// Whether arrays are put together of others, or parts of them are taken: beyond those of a key or two.
bool takes_parts(const Draft& draft, DraftId value) {
    const std::vector<bool> needed = draft.needed_for({value});
    for (size_t i = 0; i < needed.size(); ++i) {
        const DraftEntry& entry = draft.entry(i);
        if (needed[i] && (entry.op == "slice" || entry.op == "concatenate") &&
            element_count(draft.type(entry.results[0]).shape) > 4)
            return true;
    }
    return false;
}

bool is_rbg_key(const DraftType& type) { return type == DraftType{DType::u32, {4}}; }
bool is_key(const DraftType& type) { return type == DraftType{DType::u32, {2}} || is_rbg_key(type); }

std::uint32_t word_of(const Key& key, i64 place) {
    const std::uint32_t words[] = {key.k0, key.k1, key.k2, key.k3};
    return words[place];
}

// Of two shapes that broadcast against each other, a scalar's among them, the one that both have then.
std::optional<Shape> together(const Shape& a, const Shape& b) {
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    if (a.size() != b.size()) return std::nullopt;
    Shape both;
    for (size_t d = 0; d < a.size(); ++d) {
        if (a[d] != b[d] && a[d] != 1 && b[d] != 1) return std::nullopt;
        both.push_back(std::max(a[d], b[d]));
    }
    return both;
}

// One that is known, as of key(0), is an array none the less.
DraftId as_array(Draft& draft, DraftId key) {
    const std::optional<DraftNumber> number = draft[key].number;
    const DraftType type = draft.type(key);
    return number ? draft.literal("constant", number_text(DType::u32, *number), {},
                                  fmt::format(", shape: {}, dtype: u32", list_text(type.shape)), type)
                  : key;
}

} // namespace

// What chooses between values: of these a draw has its own, and no other.
std::map<std::string_view, int> RandomFunctions::choices_of(Kind kind) {
    switch (kind) {
    case Kind::uniform:
        return {{"max", 1}};
    case Kind::bernoulli:
        return {{"lt", 1}, {"max", 1}};
    case Kind::normal: // of the inverse of erf
        return {{"abs", 1}, {"eq", 1}, {"lt", 1}, {"max", 1}, {"select", 2}};
    case Kind::truncated_normal:
        return {{"abs", 1}, {"eq", 1}, {"lt", 1}, {"max", 2}, {"min", 1}, {"select", 2}};
    case Kind::randint:
        return {{"rem", 3}}; // those of numbers are known
    case Kind::fold_in:
    case Kind::split:
    case Kind::bits:
        return {};
    }
    internal_error("unknown kind");
}

// Of f32 the last bits may be others, where functions of it are approximated.
double RandomFunctions::most_off(Kind kind) {
    if (kind == Kind::normal || kind == Kind::truncated_normal) return 2e-6;
    return kind == Kind::uniform ? 3e-7 : 0;
}

// Whether the op takes these numbers.
bool RandomFunctions::is_drawable(const Found& found, const std::vector<DraftNumber>& numbers) {
    if (numbers.size() < 2) {
        const bool is_bernoulli = found.kind == Kind::bernoulli;
        return !found.swapped && (!is_bernoulli || (numbers[0].real >= 0 && numbers[0].real <= 1));
    }
    if (found.swapped && found.kind == Kind::randint) return false;
    const double low = numbers[found.swapped ? 1 : 0].real, high = numbers[found.swapped ? 0 : 1].real;
    return low < high && std::isfinite(static_cast<float>(high) - static_cast<float>(low));
}

std::vector<RandomFunctions::Kind>
RandomFunctions::candidates(const Draft& draft, const std::vector<DraftId>& arguments, const DraftType& result) {
    if (element_count(result.shape) == 0 || element_count(result.shape) >= i64{1} << 31) return {};
    const auto all_are = [&](DType dtype) {
        return std::all_of(arguments.begin() + 1, arguments.end(), [&](DraftId argument) {
            return draft.type(argument) == DraftType{dtype, {}};
        });
    };
    const bool are_known = std::all_of(arguments.begin() + 1, arguments.end(), [&](DraftId argument) {
        return draft.type(argument).shape.empty() && draft[argument].number;
    });
    std::vector<Kind> kinds;
    const bool is_rbg = is_rbg_key(draft.type(arguments[0]));
    if (arguments.size() == 1 && result.dtype == DType::u32) {
        if (!is_rbg && result.shape.size() > 1 && result.shape.back() == 2) kinds.push_back(Kind::split);
        kinds.push_back(Kind::bits);
    }
    if (arguments.size() == 1 && result.dtype == DType::f32) kinds = {Kind::normal};
    if (!is_rbg && arguments.size() == 2 && result == DraftType{DType::u32, {2}} && all_are(DType::u32))
        kinds = {Kind::fold_in};
    if (arguments.size() == 2 && result.dtype == DType::boolean && all_are(DType::f32) && are_known)
        kinds = {Kind::bernoulli};
    if (arguments.size() == 3 && result.dtype == DType::f32 && are_known)
        kinds = {Kind::uniform, Kind::truncated_normal};
    if (!is_rbg && arguments.size() == 3 && result.dtype == DType::i32 && are_known && all_are(DType::i32))
        kinds = {Kind::randint};
    return kinds;
}

// Of two words as fold_in gives them, one.
double RandomFunctions::expected(const Found& found, Key key, const std::vector<DraftNumber>& numbers, i64 total,
                                 i64 place) {
    const auto word = [&](Key of) { return place % 2 == 0 ? of.k0 : of.k1; };
    const auto bits = [&](Key of) { return random_bits32(of, found.layout, total, place); };
    const auto real = [&](size_t n) { return static_cast<float>(numbers[found.swapped ? 1 - n : n].real); };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    switch (found.kind) {
    case Kind::fold_in:
        return word(fold_in(key, static_cast<std::uint32_t>(numbers[0].integer)));
    case Kind::split:
        return found.layout == BitLayout::legacy ? bits(key)
                                                 : word(fold_in(key, static_cast<std::uint32_t>(place / 2)));
    case Kind::bits:
        return bits(key);
    case Kind::uniform:
        return uniform_of(bits(key), real(0), real(1));
    case Kind::normal:
        return normal_of(bits(key), std::nextafterf(-1, 0), 1);
    case Kind::truncated_normal: {
        const float root = std::sqrt(2.0F);
        return std::clamp<double>(normal_of(bits(key), std::erf(real(0) / root), std::erf(real(1) / root)),
                                  std::nextafterf(real(0), infinity), std::nextafterf(real(1), -infinity));
    }
    case Kind::bernoulli:
        return uniform_of(bits(key), 0, 1) < real(0);
    case Kind::randint: {
        const std::vector<Key> halves = split(key, 2, found.layout);
        return static_cast<std::int32_t>(
            below({bits(halves[0]), bits(halves[1])}, numbers[0].integer, numbers[1].integer));
    }
    }
    internal_error("unknown kind");
}

std::optional<RandomFunctions::Found> RandomFunctions::find(ProgramWalk& walk, const MlirFunction& function,
                                                            const std::vector<DraftId>& arguments,
                                                            const DraftType& result, const std::vector<Kind>& kinds) {
    Draft body;
    std::vector<DraftId> given;
    std::vector<DraftNumber> numbers;
    const Draft& draft = walk.draft();
    for (const DraftId argument : arguments) {
        const std::optional<DraftNumber>& number = draft[argument].number;
        // A number that is folded in is another at each call.
        const bool is_known = number && !given.empty() && kinds[0] != Kind::fold_in;
        given.push_back(is_known ? body.number(draft.type(argument), *number)
                                 : body.input("given", draft.type(argument), false));
        if (!is_known) continue;
        numbers.push_back(*number);
        if (!is_floating(draft.type(argument).dtype)) numbers.back().real = static_cast<double>(number->integer);
    }
    const std::optional<std::vector<DraftId>> results = walk.tried(function.body, body, given);
    if (!results || results->size() != 1 || body.type(results->front()) != result) return std::nullopt;

    struct Sample {
        Key key;
        std::vector<DraftNumber> numbers;
        i64 place = 0;
        double value = 0;
    };
    std::vector<Sample> samples;
    const i64 total = element_count(result.shape);
    for (size_t n = 0; n < std::size(keys_tried); ++n) {
        const Key key = keys_tried[n];
        DraftNumbers computed(body, [&](DraftId input, i64 place) {
            return DraftNumber{0, input == given[0] ? word_of(key, place) : data_tried[n]};
        });
        for (i64 tried = 0; tried < std::min(places_tried, total); ++tried) {
            const i64 place = tried * (total - 1) / std::max<i64>(1, std::min(places_tried, total) - 1);
            const std::optional<DraftNumber> value = computed.at(results->front(), index_of(result.shape, place));
            if (!value) return std::nullopt;
            samples.push_back(
                {key, numbers, place, is_floating(result.dtype) ? value->real : static_cast<double>(value->integer)});
            if (!std::isfinite(samples.back().value)) return std::nullopt;
            if (kinds[0] == Kind::fold_in) samples.back().numbers = {{0, data_tried[n]}};
        }
    }
    std::map<std::string_view, int> choices = choices_in(body, results->front());
    const bool is_rbg = is_rbg_key(draft.type(arguments[0]));
    if (is_rbg && choices["random_bits"] == 1) choices.erase("random_bits");
    const bool parts = takes_parts(body, results->front());
    for (const Kind kind : kinds)
        for (const BitLayout layout : {BitLayout::partitionable, BitLayout::legacy, BitLayout::rbg})
            for (const bool swapped : {false, true}) {
                const Found found{kind, layout, swapped};
                if (choices != choices_of(kind) || !is_drawable(found, numbers)) continue;
                // Only where bits are laid out in halves.
                if (is_rbg != (layout == BitLayout::rbg)) continue;
                if (parts && layout == BitLayout::partitionable && kind != Kind::split) continue;
                if (std::all_of(samples.begin(), samples.end(), [&](const Sample& sample) {
                        const double value = expected(found, sample.key, sample.numbers, total, sample.place);
                        return std::abs(sample.value - value) <= most_off(kind) * std::abs(value);
                    }))
                    return found;
            }
    return std::nullopt;
}

bool RandomFunctions::is_cipher(ProgramWalk& walk, const MlirFunction& function,
                                const std::vector<DraftId>& arguments) {
    const Draft& draft = walk.draft();
    if (arguments.size() != 4 || function.body.ops.empty() || function.body.ops.back().operands.size() != 2)
        return false;
    for (size_t n = 0; n < 4; ++n)
        if (draft.type(arguments[n]) != DraftType{DType::u32, draft.type(arguments[n < 2 ? 1 : 3]).shape}) return false;
    const std::optional<Shape> shape = together(draft.type(arguments[1]).shape, draft.type(arguments[3]).shape);
    if (!shape || element_count(*shape) == 0 || !is_zero(draft, arguments[2])) return false;
    const auto [it, is_new] = ciphers_.try_emplace(function.name, false);
    if (!is_new) return it->second;
    Draft body;
    std::vector<DraftId> given;
    for (const DraftId argument : arguments) given.push_back(body.input("given", draft.type(argument), false));
    const std::optional<std::vector<DraftId>> results = walk.tried(function.body, body, given);
    if (!results || results->size() != 2) return false;
    for (const DraftId result : *results)
        if (!choices_in(body, result).empty() || takes_parts(body, result)) return false;
    const auto word = [&](size_t argument, i64 place) {
        return data_tried[argument % std::size(data_tried)] * static_cast<std::uint32_t>(2 * place + 3);
    };
    DraftNumbers computed(body, [&](DraftId input, i64 place) {
        const auto argument = std::find(given.begin(), given.end(), input) - given.begin();
        return DraftNumber{0, word(static_cast<size_t>(argument), place)};
    });
    const i64 total = element_count(*shape);
    for (i64 tried = 0; tried < std::min(places_tried, total); ++tried) {
        const i64 place = tried * (total - 1) / std::max<i64>(1, std::min(places_tried, total) - 1);
        const std::vector<i64> index = index_of(*shape, place);
        const auto own = [&](size_t argument) {
            const Shape& sizes = draft.type(arguments[argument]).shape;
            std::vector<i64> at(index.end() - std::ssize(sizes), index.end());
            for (size_t d = 0; d < sizes.size(); ++d)
                if (sizes[d] == 1) at[d] = 0;
            return word(argument, place_of(sizes, at));
        };
        const std::array<std::uint32_t, 2> block = threefry2x32({own(0), own(1)}, own(2), own(3));
        for (size_t n = 0; n < 2; ++n) {
            if (body.type((*results)[n]) != DraftType{DType::u32, *shape}) return false;
            const std::optional<DraftNumber> value = computed.at((*results)[n], index);
            if (!value || value->integer != block[n]) return false;
        }
    }
    return it->second = true;
}

std::optional<std::vector<DraftId>> RandomFunctions::in_place_of(ProgramWalk& walk, const MlirFunction& function,
                                                                 const std::vector<DraftId>& arguments) {
    Draft& draft = walk.draft();
    if (is_cipher(walk, function, arguments)) {
        std::vector<DraftId> words;
        for (const i64 word : {0, 1})
            words.push_back(draft.pointwise("fold_in_word", {arguments[0], arguments[1], arguments[3]},
                                            *walk.draft_type(function.body.ops.back().operands[0]),
                                            fmt::format(", word: {}", word)));
        return words;
    }
    if (arguments.empty() || arguments.size() > 3 || !is_key(draft.type(arguments[0])) || function.body.ops.empty() ||
        function.body.ops.back().operands.size() != 1)
        return std::nullopt;
    const std::optional<DraftType> result = walk.draft_type(function.body.ops.back().operands[0]);
    if (!result) return std::nullopt;
    const std::vector<Kind> kinds = candidates(draft, arguments, *result);
    if (kinds.empty()) return std::nullopt;
    std::vector<std::string> numbers;
    for (size_t i = 1; i < arguments.size() && kinds[0] != Kind::fold_in; ++i)
        numbers.push_back(number_text(draft.type(arguments[i]).dtype, *draft[arguments[i]].number));
    const auto [it, is_new] = found_.try_emplace(fmt::format("{} {}", function.name, fmt::join(numbers, " ")));
    if (is_new) it->second = find(walk, function, arguments, *result, kinds);
    if (!it->second) return std::nullopt;
    std::vector<DraftId> operands = arguments;
    operands[0] = as_array(draft, operands[0]);
    return std::vector<DraftId>{drawn(draft, *it->second, operands, *result, numbers)};
}

DraftId RandomFunctions::drawn(Draft& draft, const Found& found, const std::vector<DraftId>& arguments,
                               const DraftType& type, const std::vector<std::string>& numbers) {
    const auto draw = [&](std::string op, std::string of_distribution) {
        if (found.layout == BitLayout::legacy) of_distribution += ", bits: legacy";
        return draft.literal(std::move(op), list_text(type.shape), {arguments[0]}, std::move(of_distribution), type);
    };
    const std::string low = numbers.empty() ? "" : numbers[found.swapped ? 1 : 0];
    const auto between = [&] { return fmt::format(", low: {}, high: {}", low, numbers[found.swapped ? 0 : 1]); };
    switch (found.kind) {
    case Kind::fold_in:
        return draft.pointwise("fold_in", arguments, type);
    case Kind::split: {
        if (found.layout == BitLayout::legacy) return draw("random_bits", {});
        const i64 count = element_count(type.shape) / 2;
        const DraftId numbered = draft.literal("iota", list_text({count}), {}, ", dtype: u32", {DType::u32, {count}});
        return draft.reshape(draft.add("fold_in", {arguments[0], numbered}, {}, {DType::u32, {count, 2}}), type.shape);
    }
    case Kind::bits:
        return draw("random_bits", {});
    case Kind::uniform:
        return draw("uniform", low == "0" && numbers[found.swapped ? 0 : 1] == "1" ? std::string() : between());
    case Kind::normal:
        return draw("normal", {});
    case Kind::truncated_normal:
        return draw("truncated_normal", between());
    case Kind::bernoulli:
        return draw("bernoulli", fmt::format(", probability: {}", numbers[0]));
    case Kind::randint:
        return draw("randint", between());
    }
    internal_error("unknown kind");
}

} // namespace shard

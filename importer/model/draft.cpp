#include "importer/model/draft.h"

#include "importer/model/draft_region.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shard {

namespace {

constexpr size_t most_written = 1024;  // numbers of a constant one by one: longer lists nobody reads
constexpr size_t most_unmarked = 1024; // characters of a key in YAML
constexpr size_t most_letters = 100;   // of a name: YAML has keys of up to 1024, and names are made of names

// numpy's: dims are aligned at the last, and a size of 1 is repeated.
Shape broadcast_shape(const Shape& a, const Shape& b) {
    Shape result(std::max(a.size(), b.size()), 1);
    for (const Shape* const shape : {&a, &b})
        for (size_t i = 0; i < shape->size(); ++i) {
            i64& size = result[result.size() - shape->size() + i];
            size = std::max(size, (*shape)[i]);
        }
    return result;
}

// Where the dims of `from` go in `to`, if `to` has only dims of size 1 in addition.
std::optional<std::vector<i64>> inserted_ones(const Shape& from, const Shape& to) {
    std::vector<i64> dims;
    for (size_t i = 0; i < to.size(); ++i) {
        if (dims.size() < from.size() && from[dims.size()] == to[i])
            dims.push_back(static_cast<i64>(i));
        else if (to[i] != 1)
            return std::nullopt;
    }
    return dims.size() == from.size() ? std::optional<std::vector<i64>>(dims) : std::nullopt;
}

constexpr i64 low_bits = 0xFFFFFFFF;
i64 high_half(DType dtype, i64 number) { return is_signed(dtype) ? number >> 32 : (number >> 32) & low_bits; }

} // namespace

std::optional<NumberHalves> halves_of(DType dtype, const std::vector<i64>& numbers) {
    constexpr i64 most = i64{1} << 53;
    const auto is_exact = [](i64 number) { return number >= -most && number <= most; };
    if (is_floating(dtype) || std::all_of(numbers.begin(), numbers.end(), is_exact)) return std::nullopt;
    NumberHalves halves;
    for (const i64 number : numbers) {
        halves.high.push_back(high_half(dtype, number));
        halves.low.push_back(number & low_bits);
    }
    return halves;
}

std::optional<NumberHalves> halves_of(DType dtype, const std::vector<std::string>& written) {
    std::vector<i64> numbers;
    for (const std::string& text : written) {
        const std::optional<i64> number = parse_number<i64>(text);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
    }
    return halves_of(dtype, numbers);
}

std::string number_text(DType dtype, const DraftNumber& number) {
    if (dtype == DType::boolean) return number.integer != 0 ? "true" : "false";
    if (!is_floating(dtype)) return fmt::format("{}", number.integer);
    if (std::isnan(number.real)) return ".nan";
    if (std::isinf(number.real)) return number.real < 0 ? "-.inf" : ".inf";
    // The shortest decimal that is the same number once it is rounded to the element type.
    const float narrow = static_cast<float>(number.real);
    std::string text = fmt::format("{}", number.real);
    if (dtype != DType::f64 && static_cast<double>(narrow) == number.real)
        if (std::string brief = fmt::format("{}", narrow); static_cast<float>(std::stod(brief)) == narrow)
            text = std::move(brief);
    // YAML reads 1.0e-05 as a number, and leaves 1e-05 to taste.
    if (const size_t exponent = text.find('e');
        exponent != std::string::npos && text.substr(0, exponent).find('.') == std::string::npos)
        text.insert(exponent, ".0");
    return text;
}

std::string entry_key(const std::string& indent, const std::vector<std::string>& results) {
    const std::string key = fmt::format("{}", fmt::join(results, ", "));
    return key.size() < most_unmarked ? fmt::format("{}- {}: ", indent, key)
                                      : fmt::format("{0}- ? {1}\n{0}  : ", indent, key);
}

std::string list_text(const std::vector<i64>& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

std::string name_text(std::string_view text) {
    std::string name;
    for (const char c : text) {
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (fits)
            name += c;
        else if (!name.empty() && name.back() != '_')
            name += '_';
    }
    while (name.ends_with('_')) name.pop_back();
    if (!name.empty() && name.front() >= '0' && name.front() <= '9') name.insert(0, "_");
    if (name.size() > most_letters) name.resize(most_letters);
    for (const std::string_view word : {"true", "false", "null", "Null", "NULL"}) // which YAML takes for values
        if (name == word) name += "_";
    return name;
}

DraftId Draft::input(std::string name, DraftType type, bool is_param, Span place) {
    DraftValue value;
    value.type = std::move(type);
    value.place = place;
    value.name = std::move(name);
    value.is_input = true;
    value.is_param = is_param;
    values_.push_back(std::move(value));
    return static_cast<DraftId>(values_.size()) - 1;
}

DraftId Draft::number(DraftType type, DraftNumber number) {
    DraftValue value;
    value.type = std::move(type);
    value.number = number;
    values_.push_back(std::move(value));
    return static_cast<DraftId>(values_.size()) - 1;
}

DraftId Draft::broadcast(DraftId of, Shape shape, const std::vector<i64>& dims) {
    DraftValue value;
    value.type = {type(of).dtype, std::move(shape)};
    if (values_[of].number) return number(value.type, *values_[of].number);
    if (value.type == type(of) && std::is_sorted(dims.begin(), dims.end())) return of;
    value.of = of;
    value.dims = dims;
    if (values_[of].of >= 0) { // of a broadcast: one for both
        value.of = values_[of].of;
        value.dims.clear();
        for (const i64 dim : values_[of].dims) value.dims.push_back(dims[static_cast<size_t>(dim)]);
    }
    if (!std::is_sorted(value.dims.begin(), value.dims.end())) { // a broadcast of a model keeps the order of dims
        std::vector<size_t> order(value.dims.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return value.dims[a] < value.dims[b]; });
        std::vector<i64> permutation;
        Shape turned;
        for (const size_t dim : order) {
            permutation.push_back(static_cast<i64>(dim));
            turned.push_back(type(value.of).shape[dim]);
        }
        value.of = add("transpose", {value.of}, fmt::format(", permutation: {}", list_text(permutation)),
                       {value.type.dtype, turned});
        std::sort(value.dims.begin(), value.dims.end());
        if (turned == value.type.shape) return value.of;
    }
    values_.push_back(std::move(value));
    return static_cast<DraftId>(values_.size()) - 1;
}

bool Draft::counts_along(DraftId id, i64 dim) const {
    const DraftValue& value = values_[id];
    if (value.of < 0) return value.is_count && dim == 0;
    return values_[value.of].is_count && value.dims == std::vector<i64>{dim} &&
           type(value.of).shape[0] == value.type.shape[static_cast<size_t>(dim)]; // else one number is repeated
}

bool Draft::is_table(DraftId id) const {
    const DraftValue& value = values_[id];
    return value.listed != nullptr && value.listed->size() > most_written;
}

DraftId Draft::made(DraftId id) {
    const DraftValue value = values_[id];
    if (value.made >= 0) return value.made;
    if (!value.number && value.of < 0) return id;
    DraftId result = -1;
    if (value.number && halves_of(value.type.dtype, std::vector<i64>{value.number->integer})) {
        result = of_halves(value.type, static_cast<std::uint64_t>(value.number->integer));
        values_[result].filled = value.number;
    } else if (value.number) {
        std::string arguments =
            value.type.shape.empty() ? std::string() : fmt::format(", shape: {}", list_text(value.type.shape));
        if (value.type.dtype != DType::f32) arguments += fmt::format(", dtype: {}", name(value.type.dtype));
        result =
            literal("constant", number_text(value.type.dtype, *value.number), {}, std::move(arguments), value.type);
        values_[result].filled = value.number;
    } else if (element_count(value.type.shape) == element_count(type(value.of).shape) &&
               std::is_sorted(value.dims.begin(), value.dims.end())) {
        result = add("reshape", {value.of}, fmt::format(", shape: {}", list_text(value.type.shape)), value.type);
    } else {
        result =
            add("broadcast", {value.of},
                fmt::format(", shape: {}, dims: {}", list_text(value.type.shape), list_text(value.dims)), value.type);
    }
    values_[id].made = result;
    if (value.of >= 0) values_[result].from = id;
    return result;
}

DraftId Draft::of_halves(DraftType type, std::uint64_t bits) {
    const DraftType one{type.dtype, {}};
    const i64 number = static_cast<i64>(bits);
    const DraftId high = made(this->number(type, {0, high_half(type.dtype, number)}));
    const DraftId shifted = pointwise("shift_left", {high, this->number(one, {0, 32})}, type);
    return pointwise("bit_or", {shifted, this->number(one, {0, number & low_bits})}, type);
}

DraftId Draft::aligned(DraftId id, size_t rank) {
    const DraftValue value = values_[id];
    if (value.of < 0 || value.made >= 0 || !std::is_sorted(value.dims.begin(), value.dims.end())) return made(id);
    Shape shape(rank, 1);
    for (size_t i = 0; i < value.dims.size(); ++i) shape[static_cast<size_t>(value.dims[i])] = type(value.of).shape[i];
    const Shape& own = type(value.of).shape;
    while (shape.size() > own.size() && shape.front() == 1) shape.erase(shape.begin());
    if (shape == own) return value.of;
    const std::tuple<DraftId, Shape, std::string> key(value.of, shape, scope_);
    if (const auto it = reshaped_.find(key); it != reshaped_.end()) return it->second;
    const DraftId result =
        add("reshape", {value.of}, fmt::format(", shape: {}", list_text(shape)), {value.type.dtype, shape});
    reshaped_[key] = result;
    return result;
}

std::vector<DraftId> Draft::add_many(std::string op, const std::vector<DraftId>& operands, std::string arguments,
                                     const std::vector<DraftType>& types) {
    DraftEntry entry;
    for (const DraftId operand : operands) entry.operands.push_back(made(operand));
    for (const DraftType& type : types) {
        DraftValue value;
        value.type = type;
        value.place = place_;
        value.entry = static_cast<int>(entries_.size());
        value.name = scope_.empty() ? op : scope_ + "_" + op;
        entry.results.push_back(static_cast<DraftId>(values_.size()));
        values_.push_back(std::move(value));
    }
    entry.op = std::move(op);
    entry.arguments = std::move(arguments);
    entry.line = line_;
    entry.is_backward = is_backward_;
    entries_.push_back(std::move(entry));
    return entries_.back().results;
}

DraftId Draft::add(std::string op, const std::vector<DraftId>& operands, std::string arguments, DraftType type) {
    return add_many(std::move(op), operands, std::move(arguments), {std::move(type)}).front();
}

DraftId Draft::literal(std::string op, std::string literal, const std::vector<DraftId>& operands, std::string arguments,
                       DraftType type) {
    if (operands.empty()) { // models make constants for each use: one is enough here
        const std::string form = fmt::format("{} {}{}{}", op, literal, arguments, static_cast<int>(type.dtype));
        const auto [it, is_new] = constants_.try_emplace(form, -1);
        if (!is_new) return it->second;
        it->second = add(std::move(op), operands, std::move(arguments), std::move(type));
        entries_.back().literal = std::move(literal);
        return it->second;
    }
    const DraftId result = add(std::move(op), operands, std::move(arguments), std::move(type));
    entries_.back().literal = std::move(literal);
    return result;
}

DraftId Draft::list(DraftType type, std::vector<DraftNumber> numbers) {
    std::vector<i64> whole;
    for (const DraftNumber& number : numbers) whole.push_back(number.integer);
    if (const std::optional<NumberHalves> halves = halves_of(type.dtype, whole)) {
        const auto listed = [&](const std::vector<i64>& half) {
            std::vector<DraftNumber> of;
            for (const i64 number : half) of.push_back({0, number});
            return list(type, std::move(of));
        };
        const DraftId high = listed(halves->high), by = number({type.dtype, {}}, {0, 32});
        return pointwise("bit_or", {pointwise("shift_left", {high, by}, type), listed(halves->low)}, type);
    }
    std::string text;
    if (numbers.size() > most_written) {
        text = fmt::format("\"{}\"", element_bytes(numbers, type.dtype));
    } else {
        std::vector<std::string> texts;
        for (const DraftNumber& number : numbers) texts.push_back(number_text(type.dtype, number));
        text = fmt::format("[{}]", fmt::join(texts, ", "));
    }
    std::string arguments = fmt::format(", shape: {}", list_text(type.shape));
    if (type.dtype != DType::f32) arguments += fmt::format(", dtype: {}", name(type.dtype));
    const DraftId result = literal("constant", std::move(text), {}, std::move(arguments), std::move(type));
    values_[result].listed = std::make_shared<const std::vector<DraftNumber>>(std::move(numbers));
    return result;
}

DraftId Draft::collective(std::string op, DraftId operand, std::string arguments, const std::vector<std::string>& over,
                          bool is_same_over, DraftType type) {
    const DraftId result = add(std::move(op), {operand}, std::move(arguments), std::move(type));
    entries_.back().over = over;
    entries_.back().is_same_over = is_same_over;
    return result;
}

DraftId Draft::axis_index(const std::vector<std::string>& axes) {
    const std::string text = axes.size() == 1 ? axes[0] : fmt::format("[{}]", fmt::join(axes, ", "));
    const size_t before = entries_.size();
    const DraftId result = literal("axis_index", text, {}, {}, {DType::i32, {}});
    if (entries_.size() > before) entries_.back().over = axes;
    return result;
}

std::vector<DraftId> Draft::manual(std::shared_ptr<DraftRegion> region, const std::vector<DraftId>& operands,
                                   const std::vector<DraftType>& types) {
    const std::vector<DraftId> results = add_many("manual", operands, {}, types);
    entries_.back().region = std::move(region);
    return results;
}

DraftId Draft::pointwise(std::string op, std::vector<DraftId> operands, DraftType type, std::string arguments) {
    // A number takes the type of what stands beside it, so one operand of its type has to be a value.
    std::vector<DraftId> used;
    for (const DraftId operand : operands) {
        const DraftValue& value = values_[operand];
        const bool beside = std::any_of(operands.begin(), operands.end(), [&](DraftId other) {
            return !values_[other].number && values_[other].type.dtype == value.type.dtype;
        });
        const bool stands =
            value.number && beside && !halves_of(value.type.dtype, std::vector<i64>{value.number->integer});
        used.push_back(stands ? operand : aligned(operand, type.shape.size()));
    }
    Shape shape;
    for (const DraftId operand : used)
        if (!values_[operand].number) shape = broadcast_shape(shape, this->type(operand).shape);
    for (const bool numbers : {false, true}) // rather a value, and a number where nothing else has the shape
        for (size_t i = 0; i < used.size() && shape != type.shape; ++i) {
            if (values_[used[i]].number.has_value() != numbers || this->type(operands[i]).shape != type.shape) continue;
            used[i] = made(operands[i]);
            shape = broadcast_shape(shape, this->type(used[i]).shape);
        }
    // Not through add(), which would make entries of the numbers.
    std::vector<DraftId> none;
    const DraftId result = add(std::move(op), none, std::move(arguments), std::move(type));
    entries_.back().operands = std::move(used);
    return result;
}

DraftId Draft::reshape(DraftId value, const Shape& shape) {
    if (type(value).shape == shape) return value;
    const DraftType result{type(value).dtype, shape};
    if (values_[value].number) return number(result, *values_[value].number);
    if (const std::optional<std::vector<i64>> dims = inserted_ones(type(value).shape, shape))
        return broadcast(value, shape, *dims);
    if (values_[value].of >= 0 && type(values_[value].of).shape == shape &&
        element_count(type(value).shape) == element_count(shape) &&
        std::is_sorted(values_[value].dims.begin(), values_[value].dims.end()))
        return values_[value].of; // the dims of size 1 go again
    return add("reshape", {value}, fmt::format(", shape: {}", list_text(shape)), result);
}

DraftId Draft::cast(DraftId value, DType dtype) {
    if (type(value).dtype == dtype) return value;
    // Whole numbers of one size hold the same bits: there and back is no change.
    const DraftEntry* const made = entry_of(value);
    if (made != nullptr && made->op == "cast") {
        const DType from = type(made->operands[0]).dtype, between = type(value).dtype;
        if (from == dtype && is_integer(from) && is_integer(between) && byte_size(from) == byte_size(between))
            return made->operands[0];
    }
    return add("cast", {value}, fmt::format(", dtype: {}", name(dtype)), {dtype, type(value).shape});
}

void Draft::call(DraftId value, const std::string& name) {
    if (!values_[value].is_input && values_[value].entry >= 0) values_[value].name = name;
}

DraftId Draft::output(DraftId value, const std::string& name) {
    DraftId result = made(value);
    if (values_[result].is_input) {
        result = add("reshape", {result}, fmt::format(", shape: {}", list_text(type(result).shape)), type(result));
    }
    values_[result].name = name;
    return result;
}

void Draft::keep_results(size_t number, const std::vector<size_t>& kept) {
    DraftEntry& entry = entries_[number];
    std::vector<DraftId> results;
    std::vector<DraftRegion::Border> out;
    for (const size_t i : kept) {
        results.push_back(entry.results[i]);
        out.push_back(std::move(entry.region->out[i]));
    }
    entry.results = std::move(results);
    entry.region->out = std::move(out);
}

void Draft::replace(size_t number, std::string op, std::vector<DraftId> operands, std::string arguments) {
    DraftEntry& entry = entries_[number];
    for (const DraftId result : entry.results) {
        std::string& name = values_[result].name;
        if (name.ends_with(entry.op)) name.replace(name.size() - entry.op.size(), entry.op.size(), op);
    }
    if (entry.op != op) entry.literal.clear();
    entry.op = std::move(op);
    entry.operands = std::move(operands);
    entry.arguments = std::move(arguments);
}

DraftId Draft::add_beside(size_t number, std::string op, std::string literal, std::vector<DraftId> operands,
                          std::string arguments, DraftType type) {
    const DraftEntry& beside = entries_[number];
    const DraftValue& made = values_[beside.results.front()];
    DraftValue value;
    value.type = std::move(type);
    value.place = made.place;
    value.entry = static_cast<int>(entries_.size());
    value.name = made.name.ends_with(beside.op) ? made.name.substr(0, made.name.size() - beside.op.size()) + op : op;
    DraftEntry entry;
    entry.op = std::move(op);
    entry.literal = std::move(literal);
    entry.operands = std::move(operands);
    entry.arguments = std::move(arguments);
    entry.line = beside.line;
    entry.results = {static_cast<DraftId>(values_.size())};
    values_.push_back(std::move(value));
    entries_.push_back(std::move(entry));
    return static_cast<DraftId>(values_.size()) - 1;
}

void Draft::reorder(const std::vector<size_t>& order) {
    std::deque<DraftEntry> entries;
    for (const size_t number : order) {
        for (const DraftId result : entries_[number].results) values_[result].entry = static_cast<int>(entries.size());
        entries.push_back(std::move(entries_[number]));
    }
    entries_ = std::move(entries);
}

std::vector<bool> Draft::needed_for(const std::vector<DraftId>& values) const {
    std::vector<bool> needed(entries_.size(), false);
    const auto need = [&](DraftId value) {
        if (values_[value].entry >= 0) needed[static_cast<size_t>(values_[value].entry)] = true;
    };
    for (const DraftId value : values) need(value);
    for (size_t i = entries_.size(); i-- > 0;)
        if (needed[i])
            for (const DraftId operand : entries_[i].operands) need(operand);
    return needed;
}

} // namespace shard

#include "importer/shape/taking.h"

#include "importer/model/fold.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

Shape without_ones(const Shape& shape) {
    Shape rest;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(rest), [](i64 size) { return size != 1; });
    return rest;
}

// ", dims: [0, 1]", and nothing else.
std::optional<std::vector<i64>> dims_of(std::string_view arguments) {
    constexpr std::string_view before = ", dims: [";
    if (!arguments.starts_with(before) || arguments.find(']') != arguments.size() - 1) return std::nullopt;
    arguments.remove_prefix(before.size());
    std::vector<i64> dims;
    while (!arguments.empty()) {
        const size_t end = arguments.find_first_of(",]");
        const std::optional<i64> dim = parse_number<i64>(arguments.substr(0, end));
        if (!dim) return std::nullopt;
        dims.push_back(*dim);
        arguments.remove_prefix(std::min(arguments.size(), end + (arguments[end] == ',' ? 2 : 1)));
    }
    return dims;
}

} // namespace

std::string dims_text(const std::vector<i64>& dims) {
    return dims.size() == 1 ? fmt::format("{}", dims[0]) : list_text(dims);
}

const DraftEntry* Taking::made(DraftId value) {
    const DraftEntry* const entry = draft_.entry_of(value);
    if (entry != nullptr) taken_.push_back(draft_[value].entry);
    return entry;
}

bool Taking::is_moved_on(DraftId value) const {
    const std::vector<int>& readers = readers_[static_cast<size_t>(value)];
    if (readers.size() != 1 || readers[0] < 0) return false;
    const std::string& op = draft_.entry(static_cast<size_t>(readers[0])).op;
    return op == "transpose" || op == "reshape";
}

const DraftEntry* Taking::made_by(DraftId value, std::string_view op) {
    const DraftEntry* const entry = draft_.entry_of(value);
    if (entry == nullptr || entry->op != op) return nullptr;
    taken_.push_back(draft_[value].entry);
    return entry;
}

std::optional<double> Taking::number(DraftId value) const {
    const std::optional<DraftNumber>& number = draft_[value].number;
    return number && is_floating(draft_.type(value).dtype) ? std::optional<double>(number->real) : std::nullopt;
}

bool Taking::is_number(DraftId value, double expected) const {
    const std::optional<double> known = number(value);
    if (!known) return false;
    const DType dtype = draft_.type(value).dtype, as = dtype == DType::f64 ? DType::f32 : dtype;
    const std::optional<double> number = rounded(*known, as);
    return number && number == rounded(expected, as);
}

std::optional<DraftId> Taking::beside_number(const DraftEntry& entry, double expected) const {
    if (entry.operands.size() != 2) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}})
        if (is_number(entry.operands[i], expected)) return entry.operands[1 - i];
    return std::nullopt;
}

std::optional<DraftId> Taking::beside(const DraftEntry& entry, DraftId value) const {
    if (entry.operands.size() != 2) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}})
        if (entry.operands[i] == value) return entry.operands[1 - i];
    return std::nullopt;
}

DraftId Taking::without_ones(DraftId value) {
    const DraftEntry* const entry = draft_.entry_of(value);
    if (entry == nullptr || entry->op != "reshape") return value;
    const DraftId from = entry->operands[0];
    if (shard::without_ones(draft_.type(from).shape) != shard::without_ones(draft_.type(value).shape)) return value;
    taken_.push_back(draft_[value].entry);
    return from;
}

bool Taking::broadcasts_against(DraftId value, const Reduced& reduced) const {
    Shape kept = draft_.type(reduced.of).shape, shape = draft_.type(value).shape;
    for (const i64 dim : reduced.dims) {
        if (dim < 0 || dim >= std::ssize(kept)) return false;
        kept[static_cast<size_t>(dim)] = 1;
    }
    if (shape.size() > kept.size()) return false;
    shape.insert(shape.begin(), kept.size() - shape.size(), 1);
    return shape == kept;
}

std::optional<Taking::Reduced> Taking::reduced(DraftId value, std::string_view op) {
    const DraftEntry* const entry = made_by(without_ones(value), op);
    if (entry == nullptr) return std::nullopt;
    const std::optional<std::vector<i64>> dims = dims_of(entry->arguments);
    if (!dims || dims->empty()) return std::nullopt;
    Reduced found{entry->operands[0], *dims};
    return broadcasts_against(value, found) ? std::optional<Reduced>(std::move(found)) : std::nullopt;
}

std::optional<Taking::Reduced> Taking::sum(DraftId value) {
    const DType dtype = draft_.type(value).dtype;
    if (computed_as(dtype) != dtype)
        if (const DraftEntry* const cast = made_by(value, "cast")) value = cast->operands[0];
    std::optional<Reduced> found = reduced(value, "reduce_sum");
    if (!found || draft_.type(found->of).dtype == dtype) return found;
    const DraftEntry* const cast = made_by(found->of, "cast");
    if (cast == nullptr || draft_.type(cast->operands[0]).dtype != dtype ||
        draft_.type(found->of).dtype != computed_as(dtype))
        return std::nullopt;
    found->of = cast->operands[0];
    return found;
}

std::optional<Taking::Reduced> Taking::mean(DraftId value) {
    std::optional<Reduced> found = mean_that_gets_ones(value);
    return found && broadcasts_against(value, *found) ? std::move(found) : std::nullopt;
}

std::optional<Taking::Reduced> Taking::mean_that_gets_ones(DraftId value) {
    const DraftEntry* const quotient = made_by(without_ones(value), "div");
    if (quotient == nullptr) return std::nullopt;
    const DraftEntry* const sum = made_by(without_ones(quotient->operands[0]), "reduce_sum");
    if (sum == nullptr) return std::nullopt;
    const std::optional<std::vector<i64>> dims = dims_of(sum->arguments);
    if (!dims || dims->empty()) return std::nullopt;
    Reduced found{sum->operands[0], *dims};
    double count = 1;
    for (const i64 dim : *dims) count *= static_cast<double>(draft_.type(found.of).shape[static_cast<size_t>(dim)]);
    return is_number(quotient->operands[1], count) ? std::optional<Reduced>(std::move(found)) : std::nullopt;
}

} // namespace shard

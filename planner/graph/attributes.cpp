#include "planner/graph/attributes.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

const AttributeValue* find(const Attributes& attributes, std::string_view name) {
    for (const auto& [key, value] : attributes.entries())
        if (key == name) return &value;
    return nullptr;
}

template<typename T>
const T& get(const Attributes& attributes, std::string_view name) {
    const AttributeValue* value = find(attributes, name);
    if (!value) internal_error(fmt::format("attribute '{}' is absent", name));
    const T* typed = std::get_if<T>(value);
    if (!typed) internal_error(fmt::format("attribute '{}' has another type", name));
    return *typed;
}

} // namespace

Attributes::Attributes(std::vector<AttributeEntry> entries) {
    if (!entries.empty()) entries_ = std::move(entries);
}

const std::vector<AttributeEntry>& Attributes::entries() const {
    static const std::vector<AttributeEntry> none;
    return entries_ ? *entries_ : none;
}

void Attributes::set(std::string name, AttributeValue value) {
    entries_.change([&](std::vector<AttributeEntry>& entries) {
        for (auto& [key, old] : entries) {
            if (key != name) continue;
            old = std::move(value);
            return;
        }
        entries.emplace_back(std::move(name), std::move(value));
    });
}

void Attributes::remove(const std::function<bool(std::string_view name)>& which) {
    std::vector<AttributeEntry> left = entries();
    std::erase_if(left, [&](const AttributeEntry& entry) { return which(entry.first); });
    *this = Attributes(std::move(left));
}

bool Attributes::has(std::string_view name) const { return find(*this, name) != nullptr; }

i64 Attributes::integer(std::string_view name) const { return get<i64>(*this, name); }
i64 Attributes::integer(std::string_view name, i64 fallback) const { return has(name) ? integer(name) : fallback; }

double Attributes::number(std::string_view name) const {
    const AttributeValue* value = find(*this, name);
    if (value && std::holds_alternative<i64>(*value)) return static_cast<double>(std::get<i64>(*value));
    return get<double>(*this, name);
}
double Attributes::number(std::string_view name, double fallback) const { return has(name) ? number(name) : fallback; }

bool Attributes::flag(std::string_view name, bool fallback) const {
    return has(name) ? get<bool>(*this, name) : fallback;
}

const std::string& Attributes::string(std::string_view name) const { return get<std::string>(*this, name); }
std::string Attributes::string(std::string_view name, std::string fallback) const {
    return has(name) ? string(name) : std::move(fallback);
}

const std::vector<i64>& Attributes::integers(std::string_view name) const { return get<std::vector<i64>>(*this, name); }
const std::vector<double>& Attributes::numbers(std::string_view name) const {
    return get<std::vector<double>>(*this, name);
}
const std::vector<std::string>& Attributes::strings(std::string_view name) const {
    return get<std::vector<std::string>>(*this, name);
}

} // namespace shard

// Attributes of a node: names to plain values, in the order of the op's declaration.
#pragma once

#include "plans/sharding/type.h"

#include <utility>
#include <variant>

namespace shard {

using AttributeValue =
    std::variant<bool, i64, double, std::string, std::vector<i64>, std::vector<double>, std::vector<std::string>>;

struct Attributes {
    std::vector<std::pair<std::string, AttributeValue>> entries;

    void set(std::string name, AttributeValue value); // replaces
    bool has(std::string_view name) const;
    // Typed access; internal error if absent or of another type, unless a fallback is given.
    i64 integer(std::string_view name) const;
    i64 integer(std::string_view name, i64 fallback) const;
    double number(std::string_view name) const; // also accepts an integer
    double number(std::string_view name, double fallback) const;
    bool flag(std::string_view name, bool fallback) const;
    const std::string& string(std::string_view name) const;
    std::string string(std::string_view name, std::string fallback) const;
    const std::vector<i64>& integers(std::string_view name) const;
    const std::vector<double>& numbers(std::string_view name) const;
    const std::vector<std::string>& strings(std::string_view name) const;
    bool operator==(const Attributes&) const = default;
};

} // namespace shard

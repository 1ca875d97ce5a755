// Attributes of a node: names to plain values, in the order of the op's declaration.
#pragma once

#include "plans/base/shared.h"
#include "plans/sharding/type.h"

#include <functional>
#include <utility>
#include <variant>

namespace shard {

using AttributeValue =
    std::variant<bool, i64, double, std::string, std::vector<i64>, std::vector<double>, std::vector<std::string>>;

using AttributeEntry = std::pair<std::string, AttributeValue>;

// Copies share what they hold, so that the many nodes of one op may have the same.
class Attributes {
public:
    Attributes() = default;
    explicit Attributes(std::vector<AttributeEntry> entries);

    const std::vector<AttributeEntry>& entries() const; // as long as nothing is set or removed
    void set(std::string name, AttributeValue value);   // replaces
    void remove(const std::function<bool(std::string_view name)>& which);
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

private:
    Shared<std::vector<AttributeEntry>> entries_; // none: there are none
};

} // namespace shard

#include "plans/json/json_reader.h"

#include "plans/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shard {

namespace {

constexpr int problem_limit = 10;
const Json nothing;

} // namespace

void JsonReport::add(const std::string& path, Span span, std::string_view what) {
    if (++problems_ > problem_limit) return;
    diagnostics_->error("E0505", span, fmt::format("{}: {}", path.empty() ? "the plan" : path, what))
        .help("plan the model again with this program");
}

std::string JsonAt::path() const {
    if (parent_ == nullptr) return {};
    std::string path = parent_->path();
    if (index_ >= 0) return path + fmt::format("[{}]", index_);
    if (!path.empty()) path += ".";
    return path + std::string(key_);
}

void JsonAt::expected(std::string_view what) const {
    // A missing key has been reported when it was looked up.
    if (json_ != &nothing) problem(fmt::format("expected {}, found {}", what, json_->kind()));
}

JsonAt JsonAt::operator[](std::string_view key) const {
    JsonAt child = *this;
    child.json_ = json_->find(key);
    child.parent_ = this;
    child.key_ = key;
    child.index_ = -1;
    if (child.json_ == nullptr) {
        child.json_ = &nothing;
        if (json_ != &nothing) {
            if (is_map())
                problem(fmt::format("the key \"{}\" is missing", key));
            else
                expected("an object");
        }
    }
    return child;
}

i64 JsonAt::size() const {
    if (const JsonList* list = std::get_if<JsonList>(&json_->value)) return static_cast<i64>(list->size());
    expected("a list");
    return 0;
}

JsonAt JsonAt::at(i64 index) const {
    const JsonList* list = std::get_if<JsonList>(&json_->value);
    internal_check(list != nullptr && index >= 0 && index < static_cast<i64>(list->size()),
                   "index outside a JSON list");
    JsonAt child = *this;
    child.json_ = &(*list)[index];
    child.parent_ = this;
    child.index_ = index;
    return child;
}

std::string_view JsonAt::only_key() const {
    const JsonMap* map = std::get_if<JsonMap>(&json_->value);
    if (map != nullptr && map->size() == 1) return map->front().key;
    if (map != nullptr)
        problem("expected an object with exactly one key");
    else
        expected("an object");
    return {};
}

void JsonAt::known_keys(std::initializer_list<std::string_view> keys) const {
    const JsonMap* map = std::get_if<JsonMap>(&json_->value);
    if (map == nullptr) {
        expected("an object");
        return;
    }
    for (const JsonMember& member : *map)
        if (std::find(keys.begin(), keys.end(), member.key) == keys.end())
            report_->key_problem(path(), member.key, fmt::format("unknown key \"{}\"", member.key.substr(0, 60)));
}

i64 JsonAt::integer() const {
    if (const i64* value = std::get_if<i64>(&json_->value)) return *value;
    if (const double* value = std::get_if<double>(&json_->value))
        problem(fmt::format("{} is not an integer that fits 64 bits", *value));
    else
        expected("an integer");
    return 0;
}

int JsonAt::small() const {
    const i64 value = integer();
    if (value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max())
        return static_cast<int>(value);
    problem(fmt::format("{} is out of range", value));
    return 0;
}

double JsonAt::number() const {
    if (const i64* value = std::get_if<i64>(&json_->value)) return static_cast<double>(*value);
    if (const double* value = std::get_if<double>(&json_->value)) return *value;
    if (const std::string* value = std::get_if<std::string>(&json_->value)) {
        if (*value == "nan") return std::numeric_limits<double>::quiet_NaN();
        if (*value == "inf") return std::numeric_limits<double>::infinity();
        if (*value == "-inf") return -std::numeric_limits<double>::infinity();
    }
    expected("a number");
    return 0;
}

bool JsonAt::flag() const {
    if (const bool* value = std::get_if<bool>(&json_->value)) return *value;
    expected("true or false");
    return false;
}

const std::string& JsonAt::string() const {
    static const std::string empty;
    const std::string& value = text();
    if (printable(value) == value) return value;
    problem("the text holds a control character, or one that turns the direction of writing");
    return empty;
}

const std::string& JsonAt::text() const {
    static const std::string empty;
    if (const std::string* value = std::get_if<std::string>(&json_->value)) return *value;
    expected("a string");
    return empty;
}

std::vector<i64> JsonAt::integers() const {
    return list<i64>([](const JsonAt& at) { return at.integer(); });
}

std::vector<int> JsonAt::smalls() const {
    return list<int>([](const JsonAt& at) { return at.small(); });
}

std::vector<std::string> JsonAt::strings() const {
    return list<std::string>([](const JsonAt& at) { return at.string(); });
}

} // namespace shard

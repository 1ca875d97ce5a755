#include "importer/huggingface/config.h"

#include "plans/base/printable.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

constexpr i64 largest_size = i64{1} << 40; // so that sums and products of a few sizes fit

bool is_word(std::string_view text) {
    for (const char c : text) {
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!fits && std::string_view("._-/").find(c) == std::string_view::npos) return false;
    }
    return !text.empty() && text.size() <= 200;
}

} // namespace

std::optional<HfConfig> HfConfig::parse(const Sources& sources, int file, Diagnostics& diagnostics) {
    HfConfig config(sources.text(file), file, diagnostics);
    JsonParse parsed = parse_json(sources.text(file), 1'000'000);
    if (!parsed.ok) {
        diagnostics.error("E0807", config.text_.at(parsed.offset, parsed.length), parsed.problem)
            .help("it takes the config.json of a model of Hugging Face's transformers");
        return std::nullopt;
    }
    if (!std::holds_alternative<JsonMap>(parsed.root.value)) {
        diagnostics.error("E0807", {file, 1, 1, 1}, fmt::format("expected an object, found {}", parsed.root.kind()))
            .help("it takes the config.json of a model of Hugging Face's transformers");
        return std::nullopt;
    }
    config.root_ = std::move(parsed.root);
    return config;
}

const Json* HfConfig::find(std::string_view path) const {
    const Json* json = &root_;
    while (json != nullptr && !path.empty()) {
        const size_t dot = std::min(path.find('.'), path.size());
        json = json->find(path.substr(0, dot));
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return json != nullptr && std::holds_alternative<std::monostate>(json->value) ? nullptr : json;
}

Span HfConfig::place(std::string_view path) const {
    return has(path) ? text_.value(prefix_ + std::string(path)) : Span{text_.file, 1, 1, 1};
}

i64 HfConfig::size(std::string_view path) const {
    if (!has(path)) {
        wrong(path, fmt::format("'{}{}' is missing", prefix_, path));
        return 1;
    }
    return size(path, 1);
}

i64 HfConfig::size(std::string_view path, i64 usual) const {
    const i64 value = count(path, usual);
    if (value > 0 || !has(path)) return value;
    if (value == 0) wrong(path, fmt::format("'{}' is 0", path));
    return 1;
}

i64 HfConfig::count(std::string_view path, i64 usual) const {
    const Json* json = find(path);
    if (json == nullptr) return usual;
    const i64* value = std::get_if<i64>(&json->value);
    if (value != nullptr && *value >= 0 && *value <= largest_size) return *value;
    wrong(path, value == nullptr ? fmt::format("'{}': expected a whole number, found {}", path, json->kind())
                                 : fmt::format("'{}' is {}, which is no size", path, *value));
    return 1;
}

double HfConfig::number(std::string_view path, double usual) const {
    const Json* json = find(path);
    if (json == nullptr) return usual;
    if (const i64* whole = std::get_if<i64>(&json->value)) return static_cast<double>(*whole);
    if (const double* value = std::get_if<double>(&json->value); value != nullptr && std::isfinite(*value))
        return *value;
    wrong(path, fmt::format("'{}': expected a number, found {}", path, json->kind()));
    return usual;
}

bool HfConfig::flag(std::string_view path, bool usual) const {
    const Json* json = find(path);
    if (json == nullptr) return usual;
    if (const bool* value = std::get_if<bool>(&json->value)) return *value;
    wrong(path, fmt::format("'{}': expected true or false, found {}", path, json->kind()));
    return usual;
}

std::string HfConfig::word(std::string_view path, std::string_view usual) const {
    const Json* json = find(path);
    if (json == nullptr) return std::string(usual);
    const std::string* value = std::get_if<std::string>(&json->value);
    if (value != nullptr && is_word(*value)) return *value;
    wrong(path, value == nullptr ? fmt::format("'{}': expected a string, found {}", path, json->kind())
                                 : fmt::format("'{}' is no name", path));
    return std::string(usual);
}

std::vector<std::string> HfConfig::words(std::string_view path) const {
    std::vector<std::string> found;
    const Json* json = find(path);
    if (json == nullptr) return found;
    const JsonList* list = std::get_if<JsonList>(&json->value);
    if (list == nullptr) wrong(path, fmt::format("'{}': expected a list, found {}", path, json->kind()));
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const std::string* value = std::get_if<std::string>(&(*list)[i].value);
        if (value == nullptr || !is_word(*value)) {
            wrong(path, fmt::format("'{}': an entry is no name", path));
            break;
        }
        found.push_back(*value);
    }
    return found;
}

i64 HfConfig::entries(std::string_view path) const {
    const Json* json = find(path);
    if (json == nullptr) return 0;
    if (const JsonMap* map = std::get_if<JsonMap>(&json->value)) return std::ssize(*map);
    const JsonList* list = std::get_if<JsonList>(&json->value);
    if (list == nullptr) wrong(path, fmt::format("'{}': expected a list, found {}", path, json->kind()));
    return list == nullptr ? 0 : std::ssize(*list);
}

HfConfig HfConfig::part(std::string_view path) const {
    HfConfig made = *this;
    const Json* json = find(path);
    if (json == nullptr || !std::holds_alternative<JsonMap>(json->value)) return made;
    made.root_ = Json(*json);
    made.prefix_ = fmt::format("{}{}.", prefix_, path);
    return made;
}

void HfConfig::refuse(std::string_view path, const std::string& message, const std::string& help) const {
    diagnostics_->error("E0808", place(path), message).help(help);
}

void HfConfig::wrong(std::string_view path, const std::string& message) const {
    diagnostics_->error("E0807", place(path), message)
        .help("it takes the config.json of a model of Hugging Face's transformers");
}

} // namespace shard

#include "plans/json/json_tree.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace shard {

namespace {

// Receives the library's events and builds the tree. Nothing here recurses, so depth costs no stack while reading.
class Sink {
public:
    // `read` is how much of the text the library has seen: its events do not say where they are.
    Sink(JsonParse& result, const i64& read, i64 value_limit)
        : result_(&result), read_(&read), value_limit_(value_limit) {}

    bool null() { return put({}); }
    bool boolean(bool value) { return put({value}); }
    bool number_integer(std::int64_t value) { return put({i64{value}}); }
    bool number_unsigned(std::uint64_t value) {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<i64>::max()))
            return put({static_cast<double>(value)});
        return put({static_cast<i64>(value)});
    }
    bool number_float(double value, const std::string&) { return put({value}); }
    bool string(std::string& value) { return put({std::move(value)}); }
    bool binary(nlohmann::json::binary_t&) { return fail("binary values are not JSON", *read_); }

    bool start_object(size_t) { return open({JsonMap{}}); }
    bool end_object() { return close(); }
    bool start_array(size_t) { return open({JsonList{}}); }
    bool end_array() { return close(); }
    bool key(std::string& name) {
        if (!levels_.back().keys.insert(name).second) {
            result_->length = static_cast<i64>(name.size()) + 2;
            return fail("the key \"" + name.substr(0, 60) + "\" appears twice", *read_ - result_->length);
        }
        levels_.back().key = std::move(name);
        return true;
    }
    bool parse_error(size_t position, const std::string& token, const nlohmann::json::exception& exception) {
        // The token as the library shows it is as long as in the text, unless it holds control characters, "<U+000A>".
        const bool plain = !token.empty() && token.size() <= position && token.find("<U+") == std::string::npos;
        result_->length = plain ? static_cast<i64>(token.size()) : 1;
        const i64 offset = std::max(static_cast<i64>(position) - result_->length, i64{0});
        result_->ended = std::string_view(exception.what()).find("unexpected end of input") != std::string_view::npos ||
                         std::string_view(exception.what()).find("missing closing quote") != std::string_view::npos;
        if (exception.id == 406) return fail("the number " + token.substr(0, 40) + " does not fit a double", offset);
        return fail("unexpected text near byte " + std::to_string(position), offset);
    }

private:
    // An object or list that is still open. Finished values move into their parent, so a tree is built without copies.
    struct Level {
        Json value;
        std::string key; // the member being read
        std::unordered_set<std::string> keys;
    };

    bool fail(std::string problem, i64 offset) {
        result_->problem = std::move(problem);
        result_->offset = offset;
        return false;
    }

    bool put(Json value) {
        if (++values_ > value_limit_) return fail("more than " + std::to_string(value_limit_) + " values", *read_ - 1);
        if (levels_.empty()) {
            result_->root = std::move(value);
            return true;
        }
        Level& parent = levels_.back();
        if (JsonList* list = std::get_if<JsonList>(&parent.value.value))
            list->push_back(std::move(value));
        else
            std::get<JsonMap>(parent.value.value).push_back({std::move(parent.key), std::move(value)});
        return true;
    }

    bool open(Json value) {
        if (static_cast<int>(levels_.size()) >= json_depth_limit)
            return fail("nested deeper than " + std::to_string(json_depth_limit) + " levels", *read_ - 1);
        levels_.push_back({std::move(value), {}, {}});
        return true;
    }

    bool close() {
        Json value = std::move(levels_.back().value);
        levels_.pop_back();
        return put(std::move(value));
    }

    JsonParse* result_;
    const i64* read_;
    std::vector<Level> levels_;
    i64 value_limit_;
    i64 values_ = 0;
};

// Counts what the library reads.
struct CountingIterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at = nullptr;
    i64* read = nullptr;

    const char& operator*() const { return *at; }
    CountingIterator& operator++() {
        ++at, ++*read;
        return *this;
    }
    bool operator==(const CountingIterator& other) const { return at == other.at; }
};

} // namespace

const Json* Json::find(std::string_view key) const {
    const JsonMap* map = std::get_if<JsonMap>(&value);
    if (map == nullptr) return nullptr;
    const JsonMap::const_iterator it =
        std::find_if(map->begin(), map->end(), [key](const JsonMember& member) { return member.key == key; });
    return it == map->end() ? nullptr : &it->value;
}

std::string_view Json::kind() const {
    constexpr std::string_view names[] = {"null",     "a boolean", "an integer", "a number",
                                          "a string", "a list",    "an object"};
    return names[value.index()];
}

JsonParse parse_json(std::string_view text, i64 value_limit) {
    JsonParse result;
    i64 read = 0;
    Sink sink(result, read, value_limit);
    const CountingIterator begin = {text.data(), &read}, end = {text.data() + text.size(), &read};
    try {
        result.ok = nlohmann::json::sax_parse(begin, end, &sink);
    } catch (const nlohmann::json::exception& exception) {
        result.problem = exception.what();
    }
    if (!result.ok && result.problem.empty()) result.problem = "not JSON";
    return result;
}

} // namespace shard

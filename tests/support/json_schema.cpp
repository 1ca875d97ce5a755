#include "tests/support/json_schema.h"

#include <algorithm>
#include <regex>

namespace shard {

namespace {

double number(const Json& json) {
    if (const i64* integer = std::get_if<i64>(&json.value)) return static_cast<double>(*integer);
    if (const double* real = std::get_if<double>(&json.value)) return *real;
    return 0;
}
bool is_number(const Json& json) {
    return std::holds_alternative<i64>(json.value) || std::holds_alternative<double>(json.value);
}

// Of the simple values that const and enum list.
bool equal(const Json& a, const Json& b) {
    if (is_number(a) && is_number(b)) return number(a) == number(b);
    if (a.value.index() != b.value.index()) return false;
    if (const std::string* text = std::get_if<std::string>(&a.value)) return *text == std::get<std::string>(b.value);
    if (const bool* flag = std::get_if<bool>(&a.value)) return *flag == std::get<bool>(b.value);
    return std::holds_alternative<std::monostate>(a.value);
}

bool has_type(const Json& json, const std::string& type) {
    if (type == "null") return std::holds_alternative<std::monostate>(json.value);
    if (type == "boolean") return std::holds_alternative<bool>(json.value);
    if (type == "integer") return std::holds_alternative<i64>(json.value);
    if (type == "number") return is_number(json);
    if (type == "string") return std::holds_alternative<std::string>(json.value);
    if (type == "array") return std::holds_alternative<JsonList>(json.value);
    return type == "object" && std::holds_alternative<JsonMap>(json.value);
}

class Checker {
public:
    explicit Checker(const Json& root) : root_(&root) {}

    void check(const Json& schema, const Json& value, const std::string& path) {
        if (const bool* any = std::get_if<bool>(&schema.value)) {
            if (!*any) fail(path, "not allowed");
            return;
        }
        for (const JsonMember& member : std::get<JsonMap>(schema.value))
            check_keyword(schema, member.key, member.value, value, path);
    }

    std::vector<std::string> problems;

private:
    void fail(const std::string& path, const std::string& what) {
        problems.push_back((path.empty() ? "$" : path) + ": " + what);
    }

    const Json& definition(const std::string& ref) const {
        const std::string prefix = "#/definitions/";
        const Json* all = root_->find("definitions");
        const Json* found = ref.starts_with(prefix) && all != nullptr ? all->find(ref.substr(prefix.size())) : nullptr;
        internal_check(found != nullptr, "a schema refers to a definition that is not there");
        return *found;
    }

    void check_keyword(const Json& schema, const std::string& key, const Json& rule, const Json& value,
                       const std::string& path) {
        const JsonList* list = std::get_if<JsonList>(&value.value);
        const JsonMap* map = std::get_if<JsonMap>(&value.value);
        const i64 limit = std::holds_alternative<i64>(rule.value) ? std::get<i64>(rule.value) : 0;
        if (key == "$schema" || key == "title" || key == "description" || key == "definitions" || key == "default" ||
            key == "examples")
            return;
        if (key == "$ref") return check(definition(std::get<std::string>(rule.value)), value, path);
        if (key == "type") return check_type(rule, value, path);
        if (key == "const") return equal(rule, value) ? void() : fail(path, "another value");
        if (key == "enum") {
            const JsonList& choices = std::get<JsonList>(rule.value);
            if (std::none_of(choices.begin(), choices.end(), [&](const Json& choice) { return equal(choice, value); }))
                fail(path, "none of the choices");
            return;
        }
        if (key == "oneOf" || key == "anyOf") return check_alternatives(key == "oneOf", rule, value, path);
        if (key == "items") {
            for (size_t i = 0; list != nullptr && i < list->size(); ++i)
                check(rule, (*list)[i], path + "[" + std::to_string(i) + "]");
            return;
        }
        if (key == "minItems")
            return list != nullptr && static_cast<i64>(list->size()) < limit ? fail(path, "too few items") : void();
        if (key == "maxItems")
            return list != nullptr && static_cast<i64>(list->size()) > limit ? fail(path, "too many items") : void();
        if (key == "minProperties")
            return map != nullptr && static_cast<i64>(map->size()) < limit ? fail(path, "too few members") : void();
        if (key == "properties" || key == "additionalProperties" || key == "propertyNames")
            return map != nullptr ? check_members(schema, key, rule, *map, path) : void();
        if (key == "required") {
            for (const Json& name : std::get<JsonList>(rule.value))
                if (map != nullptr && value.find(std::get<std::string>(name.value)) == nullptr)
                    fail(path, "lacks " + std::get<std::string>(name.value));
            return;
        }
        if (key == "minimum")
            return is_number(value) && number(value) < number(rule) ? fail(path, "too small") : void();
        if (key == "maximum")
            return is_number(value) && number(value) > number(rule) ? fail(path, "too large") : void();
        if (key == "exclusiveMinimum")
            return is_number(value) && number(value) <= number(rule) ? fail(path, "too small") : void();
        if (key == "pattern") {
            const std::string* text = std::get_if<std::string>(&value.value);
            if (text != nullptr && !std::regex_search(*text, std::regex(std::get<std::string>(rule.value))))
                fail(path, "does not match the pattern");
            return;
        }
        fail(path, "the schema uses the unknown keyword " + key);
    }

    void check_type(const Json& rule, const Json& value, const std::string& path) {
        bool fits = false;
        if (const std::string* one = std::get_if<std::string>(&rule.value))
            fits = has_type(value, *one);
        else
            for (const Json& type : std::get<JsonList>(rule.value))
                fits = fits || has_type(value, std::get<std::string>(type.value));
        if (!fits) fail(path, "is " + std::string(value.kind()));
    }

    void check_alternatives(bool exactly_one, const Json& rule, const Json& value, const std::string& path) {
        int fitting = 0;
        for (const Json& alternative : std::get<JsonList>(rule.value)) {
            Checker inner(*root_);
            inner.check(alternative, value, path);
            fitting += inner.problems.empty() ? 1 : 0;
        }
        if (exactly_one ? fitting != 1 : fitting == 0)
            fail(path, "fits " + std::to_string(fitting) + " of the alternatives");
    }

    void check_members(const Json& schema, const std::string& key, const Json& rule, const JsonMap& map,
                       const std::string& path) {
        const Json* listed = schema.find("properties");
        for (const JsonMember& member : map) {
            const std::string at = path + (path.empty() ? "" : ".") + member.key;
            if (key == "propertyNames") check(rule, Json{member.key}, at);
            const Json* known = listed == nullptr ? nullptr : listed->find(member.key);
            if (key == "properties" && known != nullptr) check(*known, member.value, at);
            if (key == "additionalProperties" && known == nullptr) check(rule, member.value, at);
        }
    }

    const Json* root_;
};

} // namespace

std::vector<std::string> schema_problems(const Json& schema, const Json& value) {
    Checker checker(schema);
    checker.check(schema, value, "");
    return checker.problems;
}

} // namespace shard

// Typed access to a JSON tree, with the path of every value for messages: "steps[3].kernel.pointwise.steps[0].op".
// A value that is missing or wrong is reported once (E0505) and read as a default, so a caller checks `ok()` at the
// end.
//
//     JsonReport report(diagnostics);
//     JsonAt root(tree, report);
//     i64 bytes = root["arena_bytes"].integer();
//     int alias = root.has("alias_of") ? root["alias_of"].small() : -1;
#pragma once

#include "plans/json/json_places.h"
#include "plans/json/json_tree.h"

#include <functional>
#include <initializer_list>
#include <span>

namespace shard {

// Where problems go. After the first few, reports stop: one broken plan file needs no thousand messages.
class JsonReport {
public:
    // `text` is what the tree was read from: it gives the places.
    explicit JsonReport(Diagnostics& diagnostics, JsonText text = {}) : diagnostics_(&diagnostics), text_(text) {}
    void problem(const std::string& path, std::string_view what) { add(path, text_.value(path), what); }
    void key_problem(const std::string& path, std::string_view key, std::string_view what) {
        add(path, text_.key(path, key), what);
    }
    bool ok() const { return problems_ == 0; }

private:
    void add(const std::string& path, Span span, std::string_view what);

    Diagnostics* diagnostics_;
    JsonText text_;
    int problems_ = 0;
};

// One value of the tree and the way to it. It lives no longer than the one it was made from.
class JsonAt {
public:
    JsonAt(const Json& root, JsonReport& report) : json_(&root), report_(&report) {}

    bool has(std::string_view key) const { return json_->find(key) != nullptr; }
    JsonAt operator[](std::string_view key) const; // reports a missing key
    i64 size() const;                              // of a list; reports anything else
    JsonAt at(i64 index) const;
    bool is_null() const { return std::holds_alternative<std::monostate>(json_->value); }
    bool is_map() const { return std::holds_alternative<JsonMap>(json_->value); }
    bool is_string() const { return std::holds_alternative<std::string>(json_->value); }
    bool is_integer() const { return std::holds_alternative<i64>(json_->value); }
    // An object of exactly one of these keys, as variants are written; empty after reporting.
    std::string_view only_key() const;
    void known_keys(std::initializer_list<std::string_view> keys) const; // reports others

    i64 integer() const;
    int small() const; // an integer that fits int
    double number() const;
    bool flag() const;
    const std::string& string() const; // one printable line, as all that a report may show
    const std::string& text() const;   // any text
    std::vector<i64> integers() const;
    std::vector<int> smalls() const;
    std::vector<std::string> strings() const;
    template<class T>
    std::vector<T> list(const std::function<T(const JsonAt&)>& read) const {
        std::vector<T> out;
        const i64 count = size();
        out.reserve(count);
        for (i64 i = 0; i < count; ++i) out.push_back(read(at(i)));
        return out;
    }

    // With the value for a missing key.
    i64 integer(std::string_view key, i64 usual) const { return has(key) ? (*this)[key].integer() : usual; }
    int small(std::string_view key, int usual) const { return has(key) ? (*this)[key].small() : usual; }
    double number(std::string_view key, double usual) const { return has(key) ? (*this)[key].number() : usual; }
    bool flag(std::string_view key) const { return has(key) && (*this)[key].flag(); }
    std::string string(std::string_view key, std::string usual) const {
        return has(key) ? (*this)[key].string() : usual;
    }

    void problem(std::string_view text) const { report_->problem(path(), text); }
    JsonReport& report() const { return *report_; }
    std::string path() const;

private:
    void expected(std::string_view what) const;

    const Json* json_;
    JsonReport* report_;
    const JsonAt* parent_ = nullptr;
    std::string_view key_;
    i64 index_ = -1;
};

} // namespace shard

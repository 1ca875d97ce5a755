#include "planner/graph/memo_key.h"

namespace shard {

namespace {

struct AddValue {
    MemoKey& key;
    void operator()(bool value) const { key.add(static_cast<i64>(value)); }
    void operator()(i64 value) const { key.add(value); }
    void operator()(double value) const {
        key.add(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
    }
    void operator()(const std::string& value) const { key.add(std::string_view(value)); }
    template<class T>
    void operator()(const std::vector<T>& values) const {
        key.add(static_cast<i64>(values.size()));
        for (const T& value : values) (*this)(value);
    }
};

} // namespace

MemoKey& MemoKey::add(const Attributes& attributes) {
    add(static_cast<i64>(attributes.entries().size()));
    for (const auto& [name, value] : attributes.entries()) {
        add(std::string_view(name)).add(static_cast<i64>(value.index()));
        std::visit(AddValue{*this}, value);
    }
    return *this;
}

} // namespace shard

// Declarations in the order in which they were read, found by name as quickly among many as among few.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// T has a `Name name`.
template<class T>
class NamedList {
public:
    using value_type = T;

    void add(T item) {
        places_.emplace(item.name.text, items_.size());
        items_.push_back(std::move(item));
    }
    // nullptr if there is none; of several of one name the first.
    const T* find(std::string_view name) const {
        const auto found = places_.find(name);
        return found == places_.end() ? nullptr : &items_[found->second];
    }

    size_t size() const { return items_.size(); }
    const T& operator[](size_t place) const { return items_[place]; }
    size_t place_of(const T& item) const { return static_cast<size_t>(&item - items_.data()); }
    auto begin() const { return items_.begin(); }
    auto end() const { return items_.end(); }

private:
    std::vector<T> items_;
    std::map<std::string, size_t, std::less<>> places_;
};

} // namespace shard

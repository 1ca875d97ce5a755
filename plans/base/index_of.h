// Where a value stands in a list.
#pragma once

#include <algorithm>
#include <iterator>

namespace shard {

// The place of the first one; the list's size if there is none.
template<typename List, typename Value>
std::size_t index_of(const List& list, const Value& value) {
    return static_cast<std::size_t>(std::find(std::begin(list), std::end(list), value) - std::begin(list));
}

} // namespace shard

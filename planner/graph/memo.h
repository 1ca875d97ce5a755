// What was made once for a key, for all who ask, on several threads: whoever comes first makes the same as who comes
// later, so which of them it was is nowhere to be seen.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace shard {

template<class Value>
class Memo {
public:
    // make() depends on what is in the key alone. Valid as long as this lives.
    template<class Make>
    const Value& find(const std::string& key, const Make& make) {
        {
            const std::shared_lock<std::shared_mutex> lock(mutex_);
            const auto known = values_.find(key);
            if (known != values_.end()) return known->second;
        }
        Value made = make(); // two that ask at once both make it
        const std::unique_lock<std::shared_mutex> lock(mutex_);
        return values_.emplace(key, std::move(made)).first->second;
    }

private:
    std::shared_mutex mutex_;
    std::unordered_map<std::string, Value> values_; // looked up, never iterated
};

} // namespace shard

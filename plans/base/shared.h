// A value that copies share and nobody changes, or none: an optional<T> whose copies cost next to nothing. Threads may
// hold copies of one.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace shard {

template<typename T>
class Shared {
public:
    Shared() = default;
    template<typename U>
    requires std::is_convertible_v<U, T> Shared(U&& value) : held_(std::make_shared<const T>(std::forward<U>(value))) {}

    explicit operator bool() const { return held_ != nullptr; }
    const T& operator*() const { return *held_; }
    const T* operator->() const { return held_.get(); }
    const T* get() const { return held_.get(); }
    void reset() { held_.reset(); }

    // Holds a changed copy; of none a changed T{}.
    template<typename Change>
    void change(const Change& change) {
        T value = held_ == nullptr ? T{} : *held_;
        change(value);
        held_ = std::make_shared<const T>(std::move(value));
    }

    bool operator==(const Shared& other) const {
        if (held_ == nullptr || other.held_ == nullptr) return held_ == other.held_;
        return held_ == other.held_ || *held_ == *other.held_;
    }

private:
    std::shared_ptr<const T> held_;
};

} // namespace shard

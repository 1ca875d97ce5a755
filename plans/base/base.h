// The words every other file uses: sizes, and the check for states that cannot happen.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace shard {

using i64 = std::int64_t;

// Thrown only for a broken internal assumption; main() reports it as "this is a bug" with exit code 3.
class InternalError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

// "This is a bug", where it is noticed, and where it would be.
[[noreturn]] inline void internal_error(const std::string& text) { throw InternalError(text); }

// `text`: what does not hold.
inline void internal_check(bool condition, const char* text) {
    if (!condition) internal_error(text);
}

} // namespace shard

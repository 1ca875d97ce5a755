// The verdict on a model and a layout that may hold anything: it is refused, with a place for every error, or it makes
// a plan, which is the same when it is printed and read again and, where it is small, computes what one device
// computes. Whatever else happens is a problem: an internal error, an exception, an error without a place, more
// allocations than any model needs.
#pragma once

#include <string>

namespace shard {

struct Verdict {
    bool refused = false;
    bool ran = false;
    std::string problem; // one line, with the diagnostics behind it; empty if all is well
};

Verdict judge_case(const std::string& model, const std::string& layout, const std::string& mode);

// What a case may allocate, all allocations together: a bound on its work that does not depend on the machine.
constexpr long long most_allocated = 3LL << 30;

} // namespace shard

#include "planner/explain.h"

namespace shard {

namespace {

// The first decision before `end` that put part of `axis` on the value; on any of its dims if `dim` is -1. `end` if
// there is none.
size_t find_decision(const DecisionLog& log, size_t end, ValueId value, int dim, const AxisRef& axis) {
    for (size_t i = 0; i < end; ++i)
        if (log[i].value == value && (dim < 0 || log[i].dim == dim) && overlaps_any(axis, log[i].axes)) return i;
    return end;
}

} // namespace

std::vector<Decision> cause_chain(const DecisionLog& log, ValueId value, int dim, const AxisRef& axis) {
    std::vector<Decision> chain;
    size_t end = log.size();
    // Each entry lies before the one that came from it, so this ends.
    for (;;) {
        const size_t found = find_decision(log, end, value, dim, axis);
        if (found == end) return chain;
        chain.push_back(log[found]);
        const Decision::Cause cause = log[found].cause;
        const bool goes_on = cause == Decision::Cause::propagation || cause == Decision::Cause::parameter;
        if (!goes_on || log[found].from < 0) return chain;
        value = log[found].from;
        dim = -1; // the dim of another tensor has another number; an axis is on one dim only
        end = found;
    }
}

} // namespace shard

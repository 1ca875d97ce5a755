// The test programs' operator new: it counts, and it can be told to refuse memory, as a machine that has none left.
#pragma once

#include "plans/base/base.h"

namespace shard {

// Refuses one allocation, the nth from now (0: the next), by any thread, as long as it lives. Only one at a time.
class RefuseAllocation {
public:
    explicit RefuseAllocation(i64 nth);
    RefuseAllocation(const RefuseAllocation&) = delete;
    RefuseAllocation& operator=(const RefuseAllocation&) = delete;
    ~RefuseAllocation();
    bool happened() const;
};

// The most bytes that were allocated at a time, beyond what was there when it was made, with what malloc adds.
class CountAllocations {
public:
    CountAllocations();
    CountAllocations(const CountAllocations&) = delete;
    CountAllocations& operator=(const CountAllocations&) = delete;
    ~CountAllocations();
    i64 most_bytes() const;
};

// Refuses every allocation once all that were made in its life come to more than so many bytes, whether or not they
// were freed: a bound on work that does not depend on the machine.
class BoundAllocations {
public:
    explicit BoundAllocations(i64 bytes);
    BoundAllocations(const BoundAllocations&) = delete;
    BoundAllocations& operator=(const BoundAllocations&) = delete;
    ~BoundAllocations();
};

} // namespace shard

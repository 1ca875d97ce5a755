// A model planned under a layout, with what its devices send.
#pragma once

#include "tests/support/prove.h"

namespace shard {

struct PlannedCase {
    Sources sources;
    PlanRequest request;
    Compilation compilation;
    i64 sent = 0; // by a device

    // `unimproved`: without the passes that try whether a step is faster otherwise. Fails the test if there is no plan.
    PlannedCase(const std::string& model, const std::string& layout, const std::string& mode = "forward",
                bool unimproved = false);
    void check_proof();
};

} // namespace shard

// What tests of loops ask of a model: whether its plan is proved, and which losses it has.
#pragma once

#include "tests/support/steps.h"

namespace shard {

// What went wrong; empty if the plan is proved (tests/support/prove.h).
std::string proved(const std::string& model, const std::string& layout, const std::string& mode, int steps = 1);
Numbers losses(const std::string& model, const std::string& layout); // of four steps
// Element by element, and not empty.
bool close(const Numbers& a, const Numbers& b, double relative);

} // namespace shard

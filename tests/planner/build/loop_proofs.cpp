#include "tests/planner/build/loop_proofs.h"

#include "tests/support/prove.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace shard {

std::string proved(const std::string& model, const std::string& layout, const std::string& mode, int steps) {
    ProofOptions options;
    options.mode = mode;
    options.steps = steps;
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

Numbers losses(const std::string& model, const std::string& layout) {
    return series(run_steps(train_plan(model, layout), 4), "loss");
}

bool close(const Numbers& a, const Numbers& b, double relative) {
    if (a.size() != b.size() || a.empty()) return false;
    for (size_t n = 0; n < a.size(); ++n)
        if (!(std::fabs(a[n] - b[n]) <= relative * std::fabs(b[n]))) return false;
    return true;
}

} // namespace shard

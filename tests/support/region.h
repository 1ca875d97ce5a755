// Models of one manual region, for the tests of manual regions.
#pragma once

#include "planner/pipeline/pipeline.h"

namespace shard {

// The region's entry `y` over x (4, 4), f32, 0 to 15 by rows. The body's lines are indented by ten blanks.
std::string region_model(const std::string& in, const std::string& out, const std::string& body);
// Its result after the plan is proved (tests/support/prove.h), row-major.
std::vector<double> region_result(const std::string& in, const std::string& out, const std::string& body,
                                  const std::string& mesh = "{i: 4}");
// The built graph of a model on a mesh.
Graph graph_on(const std::string& model, const std::string& mesh);

} // namespace shard

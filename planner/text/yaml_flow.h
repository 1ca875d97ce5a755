// A YAML tree as a text of one line: {stddev: 0.02}, [1, "a"], {}.
#pragma once

#include "planner/text/yaml.h"

#include <string>

namespace shard {

std::string flow_text(const Yaml& yaml);

} // namespace shard

// Builds the graph of a model text, for the tests of build.
#pragma once

#include "planner/graph/builder.h"
#include "planner/model/model.h"

namespace shard {

struct Built {
    Sources sources;
    Diagnostics diagnostics;
    std::optional<Model> model;
    std::optional<Graph> graph;
    // All names of values, separated by blanks; all diagnostics as "CODE line: message | help", one a line.
    std::string names() const;
    std::string problems() const;
};

Built build_text(const std::string& yaml);
Built build_file(const std::string& path); // below the source folder

} // namespace shard

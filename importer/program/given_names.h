// Which dims of a program's arguments a file of axes names.
#pragma once

#include "importer/model/axis_names.h"
#include "plans/diagnostics/diagnostic.h"

namespace shard {

struct NamedArgument {
    std::string path;
    DraftId value = -1;
};

// E0811 if a pattern matches nothing or names other dims than its arrays have, or if a name has two sizes.
std::optional<NamesByArray> given_names(const std::vector<GivenAxes>& given,
                                        const std::vector<NamedArgument>& arguments, const Draft& draft,
                                        Diagnostics& diagnostics);

} // namespace shard

// What to say of an op that there is not: the op of this language that another one calls by that name, or one that it
// is a slip of the pen of.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shard {

// Names of other array languages and the op or composite here: {"matmul", "dot"}.
const std::vector<std::pair<std::string_view, std::string_view>>& foreign_op_names();

// The help of E0203. `names` are those that could stand there.
std::string unknown_op_help(std::string_view word, const std::vector<std::string_view>& names);

} // namespace shard

// Patterns of dotted names, as in overrides and policies and on the command line: `*` is any run of characters without
// dots, `**` any run, `?` one character that is no dot. Reports write alike names as one, and that is a pattern too:
// `block.{0..11}.w` is what a number in the range stands in, `{wq,wk}.grad` one of those.
//
//     block.*.w1  block.**.w1  {wq,wk}.grad  block.{0..5,11}.{mlp.w1,wq}
#pragma once

#include <string_view>

namespace shard {

// Takes time in proportion to the product of the lengths. A brace that none closes stands for itself.
bool glob_matches(std::string_view glob, std::string_view path);

// Whether a text is more than a name.
bool is_glob(std::string_view text);

} // namespace shard

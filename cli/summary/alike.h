// What rows of alike things have in common, in few words.
#pragma once

#include "plans/plan/report.h"

#include <span>

namespace shard {

// "block.{0..3}" of "block.{0..3}.wq": what stands in front of the last dot that is not inside braces.
std::string_view module_path(std::string_view name);

// {"block.wq", "wte", "block.wk"} -> "block.{wq,wk}, wte": names that differ in one part are written as one. Of more
// than `most` the number of those left out; if they differ by numbers alone, "norm.reduce_sum_* (44)".
std::string joined_names(std::span<const std::string> names, size_t most);

// "model.yaml:7", of several places the first and their number: "model.yaml:7 +2".
std::string joined_places(std::span<const std::string> places);

} // namespace shard

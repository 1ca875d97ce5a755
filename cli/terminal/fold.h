// Folds rows that are equal but for the index of a repeated layer into one:
//
//     block.0.x  all_reduce        block.{0..11}.x  all_reduce
//     block.1.x  all_reduce   ->
//     ...
//
// An index is a part of a dotted name that is a number; the name's first part never is one. A folded name is a pattern for those that
// it stands for (planner/text/glob.h).
#pragma once

#include "plans/base/base.h"

#include <string>
#include <vector>

namespace shard {

struct FoldedRow {
    std::vector<int> members;        // indices of the rows folded, in order
    std::vector<std::string> fields; // as given, with ranges for the indices that differ
};

// Rows are folded if all fields agree but for indices; the result is in the order of first members.
std::vector<FoldedRow> fold_rows(const std::vector<std::vector<std::string>>& rows);

} // namespace shard

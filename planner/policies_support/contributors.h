// What a finding of a policy names: the largest arrays and collectives that contribute to it.
#pragma once

#include "plans/plan/plan.h"

namespace shard {

using TensorReports = std::vector<const TensorReport*>;
using CollectiveReports = std::vector<const CollectiveReport*>;

TensorReports all_tensors(const Plan& plan);
CollectiveReports all_collectives_of(const Plan& plan);

i64 whole_bytes(const TensorReport& tensor); // of the array, wherever its parts are
std::string counted_arrays(size_t count);    // "3 arrays are"

// What is alive at the peak: what the report says of it.
void note_peak(DiagnosticBuilder finding, const Plan& plan);
// The largest first, equal ones in the order of the report; after a few, how many more there are.
void note_tensors(DiagnosticBuilder finding, const Plan& plan, TensorReports tensors);
void note_collectives(DiagnosticBuilder finding, const Plan& plan, CollectiveReports collectives);

} // namespace shard

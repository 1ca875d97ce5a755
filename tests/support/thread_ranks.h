// The ranks of a run as threads of the test, so that what they make together is tested without MPI. Their messages are
// the strictest that a library may give: nothing of one leaves before the other side asks for it.
#pragma once

#include "executor/engine/ranks.h"
#include "executor/run/run.h"

namespace shard {

// Calls `body` once on each of `count` threads, as rank 0, 1, ... What one throws is thrown here, after all ended; so
// those that wait for it must have a timeout. How often ranks called a collective of the library's.
int on_thread_ranks(int count, const std::function<void(Ranks& ranks)>& body, double timeout = 0);

// The result of the first rank; REQUIREs that all run and that nothing is reported.
RunResult run_on_thread_ranks(const Plan& plan, const RunOptions& options, int count, int* library_calls = nullptr);

// What differs between a run of this one process and the same run on as many ranks, in bits and bytes; empty if nothing.
std::vector<std::string> differences_on_ranks(const Plan& plan, const RunOptions& options, const RunResult& alone,
                                              int count);

} // namespace shard

// --root-reads of `run --engine mpi`: the first rank alone reads files, for clusters whose other machines do not see
// them. What the others need of them comes in one message before the run: the plan, what is given for inputs, and which
// inputs a checkpoint holds, whose blocks follow later (executor/run/restore_from_first.h).
#pragma once

#include "executor/engine/ranks.h"
#include "executor/formats/tensor.h"
#include "plans/plan/plan.h"

#include <map>
#include <set>

namespace shard {

struct FirstReads {
    std::string plan; // as a plan file
    std::map<std::string, Tensor> inputs, data;
    std::set<std::string> restored; // names that are read from the checkpoint
    i64 checkpoint_step = 0;        // that it was saved after
    int first_step = 0;             // that the run begins with
};

// On the first rank nullptr, if it has an error; on the others what it read, nullopt if it has one.
void send_reads(Ranks& ranks, const FirstReads* reads);
std::optional<FirstReads> receive_reads(Ranks& ranks);

} // namespace shard

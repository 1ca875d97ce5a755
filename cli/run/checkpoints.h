// --save and --restore of `run`: what is asked for, what a restored run begins with, when to save.
#pragma once

#include "cli/command/command.h"
#include "cli/run/first_reads.h"
#include "executor/checkpoint/checkpoint.h"
#include "executor/engine/ranks.h"
#include "executor/formats/tensor.h"
#include "executor/run/run.h"

namespace shard {

// The options, after those of `run` that are about single files.
std::vector<OptionDef> with_checkpoint_options(std::vector<OptionDef> options);

class RunCheckpoints {
public:
    // E0701 for options that do not go together.
    // `ranks`: the processes that run the plan together, each of which calls the same; nullptr: this one alone.
    RunCheckpoints(const Arguments& arguments, const Plan& plan, Env& env, Diagnostics& diagnostics,
                   Ranks* ranks = nullptr);

    // All that can fail before the run; errors go to `diagnostics`. Opens and checks what --restore names; inputs that
    // are `given` need not be in the checkpoint. `sources` are what the diagnostics point into.
    void restore(const std::map<std::string, Tensor>& given, Sources& sources, Diagnostics& diagnostics);
    // The same where the first rank has read for this one.
    void restore(const FirstReads& first);
    // Makes the folder of --save, and keeps other runs from saving there as long as this lives.
    void prepare_save(Diagnostics& diagnostics);
    const Checkpoint* restored() const { return restored_ ? &*restored_ : nullptr; }
    std::set<std::string> restored_names() const;
    int first_step() const { return first_step_; }       // steps that the restored run had made
    i64 checkpoint_step() const { return saved_after_; } // that the checkpoint was saved after

    // After each step and at the end. False, with E0614, if it could not be saved: a run must not go on for hours
    // believing that it was.
    bool after_step(const StepView& view, Diagnostics& diagnostics);
    bool at_end(const StepView& view, Diagnostics& diagnostics);

private:
    bool save(const StepView& view, Diagnostics& diagnostics);

    const Plan* plan_;
    Env* env_;
    Ranks* ranks_;
    std::optional<std::string> save_, restore_;
    std::unique_ptr<FolderLock> save_lock_;
    bool root_reads_ = false; // so the other ranks share no checksums out
    bool verifies_ = false;   // reads again, after the run, what was restored
    int every_ = 0;           // 0: at the end only
    SaveWhat save_what_ = SaveWhat::all, restore_what_ = SaveWhat::all;
    std::optional<Checkpoint> restored_;
    int first_step_ = 0;
    i64 saved_after_ = 0;
    int saved_step_ = -1; // the last one, from 0
    bool failed_ = false;
};

// --steps N is where a run ends, counted from its first beginning; without it, a run makes one step. How many are left:
// none if the checkpoint is of step N, and E0701 if it is of a later one.
std::optional<int> steps_left(const Arguments& arguments, int steps, int first_step, Diagnostics& diagnostics);

} // namespace shard

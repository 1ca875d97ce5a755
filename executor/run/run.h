// Runs a plan on emulated devices inside the process, or inside several that exchange messages. Each device has an
// arena and a resumable program; a pool of workers runs the programs, and a device that reaches a collective whose peers
// are not there parks, so any number of devices finishes with one worker.
//
// A plan whose outputs update its inputs is a step, run many times in the same arenas: the next step finds the new
// bytes where it reads the old ones, and all other inputs as they were.
#pragma once

#include "executor/devices/nudge.h"
#include "executor/formats/tensor.h"
#include "plans/plan/plan.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <set>

namespace shard {

class Checkpoint;
class Ranks;

// Between two steps: what a callback may look at, valid during the call.
struct StepView {
    int step = 0;                                 // the one that ended, from RunOptions::first_step
    double seconds = 0;                           // that it took
    const std::map<std::string, double>& scalars; // outputs of one element that update nothing: the loss, metrics
    const std::function<bool(std::map<std::string, Tensor>& outputs, Diagnostics& diagnostics)>&
        read_outputs; // assembles all outputs, as at the end; costs their bytes in host memory
    const std::function<const std::byte*(i64 position, const Buffer& input)>&
        shard; // what a device holds of an input, as the next step would find it
};

struct RunOptions {
    int workers = 0;                      // 0 = the machine's cores
    int first_step = 0;                   // steps that were made before, by another run
    int steps = 1;                        // at most; the last one's outputs are returned
    bool poison = true;                   // fill arenas with NaN before use and released extents after
    std::map<std::string, Tensor> inputs; // by name; the others come from the checkpoint or their initializers
    const Checkpoint* restore = nullptr;  // what is selected of it (executor/checkpoint/checkpoint.h)
    // Inputs that change, by name: a leading dim of any size k, of which step s takes element s % k.
    std::map<std::string, Tensor> data;
    std::function<bool(const StepView&)> after_step; // on the calling thread; false: this was the last step
    std::function<void(const StepView&)> at_end;     // after the last step, however the run came to end with it
    const std::atomic<bool>* stop = nullptr;         // once true, the running step is the last; a signal may set it
    bool return_initial = false;                     // fill RunResult::initial
    Nudge nudge;
    bool timed = false; // fill RunResult::spans
    // The processes that run the plan together (executor/engine/ranks.h): each calls run_plan with the same plan and its
    // own options. nullptr: this one alone, with all devices.
    Ranks* ranks = nullptr;
    // With `ranks`: what of the inputs the first rank alone can read, from its `restore`, and sends to those that hold it.
    std::set<std::string> restored_by_first = {};
    bool library_collectives = false; // those of the ranks' library where it has them: rounded in an order of its own
};

// When a device ran a step of the plan, in seconds after the first device began: of a loop all its trips, of a wait
// from where the device came to it.
struct RunSpan {
    int step = -1; // counted as they are written, a loop before its body
    double begin = 0, end = 0;
};

struct RunResult {
    std::map<std::string, Tensor> outputs; // assembled from the shards, after the last step
    std::map<std::string, Tensor> initial; // by output: what the input that it updates held before the first step
    int steps = 0;                         // that were run, without those before
    std::map<std::string, std::vector<double>> scalars; // by output, as in StepView, by step
    // Of a step, counted where bytes are moved: reads from and writes to another device's arena. If steps differ, which
    // none should, of the first that differs from step 0.
    i64 wire_bytes_total = 0;
    std::vector<i64> wire_bytes_by_start;    // by Start step, in plan order
    i64 touched_peak_bytes = 0;              // the highest end of an extent really touched, over all devices and steps
    i64 touched_host_peak_bytes = 0;         // the same of what devices have in their host's memory
    std::vector<double> seconds;             // by step, first start to last end inside the workers
    std::vector<std::vector<RunSpan>> spans; // by device, in the order of their end: of the last step
    i64 at_once = 0; // how many devices compute at a time: the threads of this process, if it has all devices
};

// E06xx if inputs do not fit, cannot be read, or the machine's memory does not suffice (checked before allocating). Of
// several processes the first has the outputs; the figures are those of all. nullopt on all if one has an error.
std::optional<RunResult> run_plan(const Plan& plan, const RunOptions& options, Diagnostics& diagnostics);

} // namespace shard

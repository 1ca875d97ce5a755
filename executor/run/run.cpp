#include "executor/run/run.h"

#include "executor/collective/shared_memory.h"
#include "executor/devices/pointwise_runs.h"
#include "executor/formats/tensor.h"
#include "executor/kernels/blas.h"
#include "executor/run/gather_outputs.h"
#include "executor/run/gather_spans.h"
#include "executor/run/given_inputs.h"
#include "executor/run/host.h"
#include "executor/run/refusals.h"
#include "executor/run/required_bytes.h"
#include "executor/run/restore_from_first.h"
#include "plans/base/in_parallel.h"
#include "plans/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace shard {

namespace {

constexpr int most_workers = 1024;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

Clock::time_point first_start(std::span<const Device> devices) {
    Clock::time_point first = Clock::time_point::max();
    for (const Device& device : devices) first = std::min(first, device.started());
    return first;
}

double seconds_of(std::span<const Device> devices) {
    Clock::time_point last = Clock::time_point::min();
    for (const Device& device : devices) last = std::max(last, device.ended());
    return seconds_between(first_start(devices), last);
}

struct Gap {
    i64 place = 0, bytes = 0;
};

// What lies between the inputs: another step must not read there what the one before left.
std::vector<Gap> without_inputs(const Plan& plan) {
    std::vector<const Buffer*> inputs;
    for (const PlanInput& input : plan.inputs) inputs.push_back(&plan.buffers[input.buffer]);
    const auto place = [&plan](const Buffer* buffer) { return place_of(plan, *buffer); };
    std::sort(inputs.begin(), inputs.end(), [&](const Buffer* a, const Buffer* b) { return place(a) < place(b); });
    std::vector<Gap> gaps;
    i64 at = 0;
    for (const Buffer* input : inputs) {
        if (place(input) > at) gaps.push_back({at, place(input) - at});
        at = std::max(at, place(input) + input->bytes);
    }
    if (at < memory_bytes(plan)) gaps.push_back({at, memory_bytes(plan) - at});
    return gaps;
}

// The backend counts from the beginning on; what each step added must be the same.
class WireBytes {
public:
    explicit WireBytes(size_t starts) : before_(starts, 0) {}

    void add_step(const Backend& backend, RunResult& result) {
        std::vector<i64> moved;
        for (size_t start = 0; start < before_.size(); ++start) {
            const i64 count = backend.wire_bytes(static_cast<int>(start));
            moved.push_back(count - std::exchange(before_[start], count));
        }
        const bool is_first = result.steps == 1;
        if (differs_ || (!is_first && moved == result.wire_bytes_by_start)) return;
        differs_ = !is_first;
        result.wire_bytes_total = std::accumulate(moved.begin(), moved.end(), i64{0});
        result.wire_bytes_by_start = std::move(moved);
    }

private:
    std::vector<i64> before_;
    bool differs_ = false;
};

bool multiplies(const Program& program) {
    return std::any_of(
        program.instructions.begin(), program.instructions.end(), [](const DeviceInstruction& instruction) {
            if (instruction.compute == nullptr) return false;
            const Kernel& kernel = *instruction.compute->kernel;
            return std::holds_alternative<Contract>(kernel) || std::holds_alternative<RaggedContract>(kernel) ||
                   std::holds_alternative<Convolve>(kernel) || std::holds_alternative<Attend>(kernel);
        });
}

// Whether a kernel is so large that cores without a device help with it.
bool has_large_kernels(const Plan& plan, const Program& program) {
    constexpr i64 elements = i64{1} << 18;
    const auto is_large = [&](int buffer) { return element_count(plan.buffers[buffer].shape) >= elements; };
    return std::any_of(
        program.instructions.begin(), program.instructions.end(), [&](const DeviceInstruction& instruction) {
            const Compute* const step = instruction.compute;
            return step != nullptr &&
                   (is_large(step->output) || std::any_of(step->inputs.begin(), step->inputs.end(), is_large));
        });
}

// A plan on its emulated devices: prepared once, then step by step.
class PlanRun {
public:
    PlanRun(const Plan& plan, const RunOptions& options, Diagnostics& diagnostics)
        : plan_(plan), options_(options), diagnostics_(diagnostics), ranks_(options.ranks),
          gaps_(without_inputs(plan)) {}

    // False after an error, on any rank.
    bool prepare() {
        if (!agreed("the beginning of the run", prepare_here())) return false;
        if (ranks_ != nullptr && options_.library_collectives) backend_->use_library();
        return true;
    }

    // All steps that are asked for, unless who looks on ends them before.
    std::optional<RunResult> run() {
        WireBytes wire(program_.starts.size());
        for (bool more = true; more;) {
            const int step = result_.steps++;
            if (!begin(step) || (step == 0 && options_.return_initial && !keep_initial())) return std::nullopt;
            execute();
            wire.add_step(*backend_, result_);
            more = tell(step);
        }
        for (const Device& device : devices_) {
            result_.touched_peak_bytes = std::max(result_.touched_peak_bytes, device.touched_bytes());
            result_.touched_host_peak_bytes = std::max(result_.touched_host_peak_bytes, device.touched_host_bytes());
        }
        if (options_.timed) {
            std::optional<std::vector<std::vector<RunSpan>>> spans = gather_spans(devices_, ranks_);
            if (!spans) return std::nullopt;
            result_.spans = std::move(*spans);
        }
        if (!add_others() || !assemble(result_.outputs, diagnostics_)) return std::nullopt;
        return std::move(result_);
    }

private:
    bool agreed(const std::string& what, bool fine) { return ranks_ == nullptr ? fine : ranks_->all(what, fine); }

    // False after an error: what is given does not fit the plan, or the plan does not fit the machine.
    bool prepare_here() {
        if (ranks_ != nullptr && !fits_ranks(plan_, *ranks_, diagnostics_)) return false;
        const i64 count = plan_.mesh.device_count();
        held_ = ranks_ == nullptr ? count : ranks_->held(count);
        first_ = ranks_ == nullptr ? 0 : ranks_->first_position(count);
        const int ranks_here = ranks_ == nullptr ? 1 : ranks_->transport().ranks_on_machine();
        if (!fits_time(plan_, diagnostics_) || (options_.timed && !fits_trace(plan_, diagnostics_))) return false;
        program_ = flatten(plan_);
        find_pointwise_runs(plan_, program_);
        const bool needs_blas = multiplies(program_);
        if (!check_inputs(plan_, options_, diagnostics_) || !fits_blas(plan_, program_, diagnostics_) ||
            !fits_memory(plan_, options_.return_initial, held_ * ranks_here, diagnostics_) ||
            (needs_blas && !load_blas(diagnostics_)))
            return false;
        if (!arenas_.allocate(count, memory_bytes(plan_), first_, held_)) {
            diagnostics_.error("E0601", {},
                               fmt::format("the machine does not give {} of memory",
                                           human_bytes(required_bytes(plan_, false, held_))));
            return false;
        }
        const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks_here);
        const i64 helped = has_large_kernels(plan_, program_) ? std::min(cores, static_cast<int>(useful_threads())) : 1;
        int workers = static_cast<int>(
            std::clamp<i64>(options_.workers > 0 ? options_.workers : cores, 1, std::max(held_, helped)));
        if (needs_blas) workers = reserve_blas(workers, diagnostics_);
        if (workers == 0) return false;
        result_.at_once = ranks_ != nullptr ? plan_.mesh.device_count() : std::min<i64>(workers, held_);
        devices_.reserve(held_);
        for (i64 position = first_; position < first_ + held_; ++position)
            devices_.emplace_back(machine_, static_cast<int>(position));
        scheduler_.emplace(std::min(workers, most_workers), held_);
        const std::function<void(int)> wake = [this](int position) {
            scheduler_->wake(position - static_cast<int>(first_));
        };
        if (ranks_ != nullptr) messages_.emplace(plan_, program_, arenas_, *ranks_, wake);
        backend_.emplace(plan_, program_, arenas_, wake, messages_ ? &*messages_ : nullptr);
        return true;
    }

    void execute() {
        std::function<void(bool)> progress;
        if (messages_) {
            messages_->begin();
            progress = [this](bool all_wait) { messages_->progress(all_wait); };
        }
        scheduler_->run([&](int index) { return devices_[index].advance(*backend_, *scheduler_); }, progress);
        result_.seconds.push_back(seconds_of(devices_));
    }

    // Writes what a step begins with: inputs before the first, data before each.
    bool begin(int step) {
        std::vector<std::string> problems(devices_.size());
        scheduler_->run([&](int index) {
            Device& device = devices_[index];
            device.restart();
            if (step == 0) {
                device.poison(0, memory_bytes(plan_));
                if (!write_inputs(plan_, options_, device, problems[index])) return Progress::done;
            } else if (options_.poison) {
                for (const Gap& gap : gaps_) device.poison(gap.place, gap.bytes);
            }
            write_data(plan_, options_.data, i64{options_.first_step} + step, device);
            return Progress::done;
        });
        if (step == 0 && !options_.restored_by_first.empty())
            restore_from_first(plan_, options_, devices_, problems.emplace_back());
        bool fine = true;
        for (const std::string& problem : problems) {
            if (problem.empty() || !fine) continue;
            diagnostics_.error("E0611", {}, problem).help("was the checkpoint removed while it was read?");
            fine = false;
        }
        return step > 0 ? fine : agreed("the first step", fine);
    }

    // Figures are those of all ranks.
    bool add_others() {
        if (ranks_ == nullptr) return true;
        const std::optional<std::vector<i64>> bytes = ranks_->sum("the end of the run", result_.wire_bytes_by_start);
        const std::optional<std::vector<i64>> peak =
            bytes ? ranks_->largest("the end of the run", {result_.touched_peak_bytes, result_.touched_host_peak_bytes})
                  : std::nullopt;
        if (!peak) return false;
        result_.wire_bytes_by_start = *bytes;
        result_.wire_bytes_total = std::accumulate(bytes->begin(), bytes->end(), i64{0});
        result_.touched_peak_bytes = peak->front();
        result_.touched_host_peak_bytes = peak->back();
        return true;
    }

    bool assemble(std::map<std::string, Tensor>& outputs, Diagnostics& found) {
        return ranks_ == nullptr ? read_outputs(plan_, devices_, outputs, found)
                                 : gather_outputs(plan_, devices_, *ranks_, outputs, found);
    }

    bool keep_initial() {
        internal_check(ranks_ == nullptr, "the reference is run by one process");
        for (const PlanOutput& output : plan_.outputs)
            if (output.is_update() &&
                !read_buffer(plan_, devices_, true, output.updates, result_.initial[output.name], diagnostics_))
                return false;
        return true;
    }

    // Shows the step that ended; whether there is another.
    bool tell(int step) {
        const std::map<std::string, double> scalars = read_scalars(plan_, devices_.front());
        for (const auto& [name, value] : scalars) result_.scalars[name].push_back(value);
        const std::function<bool(std::map<std::string, Tensor>&, Diagnostics&)> outputs =
            [this](std::map<std::string, Tensor>& tensors, Diagnostics& found) { return assemble(tensors, found); };
        const std::function<const std::byte*(i64, const Buffer&)> shard = [this](i64 position, const Buffer& input) {
            return devices_[position - first_].data(input);
        };
        const StepView view = {options_.first_step + step, result_.seconds.back(), scalars, outputs, shard};
        bool more = !options_.after_step || options_.after_step(view);
        more = more && result_.steps < options_.steps && (options_.stop == nullptr || !options_.stop->load());
        more = agreed("the end of a step", more);
        if (!more && options_.at_end) options_.at_end(view);
        return more;
    }

    const Plan& plan_;
    const RunOptions& options_;
    Diagnostics& diagnostics_;
    Ranks* ranks_;
    i64 first_ = 0, held_ = 0; // the positions of this process's devices
    const std::vector<Gap> gaps_;
    Program program_;
    Arenas arenas_;
    const Machine machine_ = {plan_, program_, arenas_, options_.poison, options_.nudge, options_.timed};
    std::vector<Device> devices_;
    std::optional<Scheduler> scheduler_;
    std::optional<Messages> messages_;
    std::optional<SharedMemory> backend_; // ends before what it reads
    RunResult result_;
};

} // namespace

std::optional<RunResult> run_plan(const Plan& plan, const RunOptions& options, Diagnostics& diagnostics) {
    PlanRun run(plan, options, diagnostics);
    return run.prepare() ? run.run() : std::nullopt;
}

} // namespace shard

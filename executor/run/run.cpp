#include "executor/run/run.h"

#include "executor/collective/shared_memory.h"
#include "executor/formats/tensor.h"
#include "executor/kernels/blas.h"
#include "executor/run/given_inputs.h"
#include "executor/run/host.h"
#include "executor/run/refusals.h"
#include "executor/run/required_bytes.h"
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

std::vector<std::vector<RunSpan>> spans_of(std::span<const Device> devices) {
    const Clock::time_point first = first_start(devices);
    std::vector<std::vector<RunSpan>> spans(devices.size());
    for (size_t device = 0; device < devices.size(); ++device)
        for (const StepRun& run : devices[device].runs())
            spans[device].push_back({run.step, seconds_between(first, run.begin), seconds_between(first, run.end)});
    return spans;
}

struct Gap {
    i64 offset = 0, bytes = 0;
};

// What lies between the inputs: another step must not read there what the one before left.
std::vector<Gap> without_inputs(const Plan& plan) {
    std::vector<const Buffer*> inputs;
    for (const PlanInput& input : plan.inputs) inputs.push_back(&plan.buffers[input.buffer]);
    std::sort(inputs.begin(), inputs.end(), [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; });
    std::vector<Gap> gaps;
    i64 at = 0;
    for (const Buffer* input : inputs) {
        if (input->offset > at) gaps.push_back({at, input->offset - at});
        at = std::max(at, input->offset + input->bytes);
    }
    if (at < plan.arena_bytes) gaps.push_back({at, plan.arena_bytes - at});
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
            return instruction.compute != nullptr && std::holds_alternative<Contract>(instruction.compute->kernel);
        });
}

} // namespace

std::optional<RunResult> run_plan(const Plan& plan, const RunOptions& options, Diagnostics& diagnostics) {
    if (!fits_time(plan, diagnostics) || (options.timed && !fits_trace(plan, diagnostics))) return std::nullopt;
    const Program program = flatten(plan);
    const bool needs_blas = multiplies(program);
    if (!check_inputs(plan, options, diagnostics) || !fits_blas(plan, program, diagnostics) ||
        !fits_memory(plan, options.return_initial, diagnostics) || (needs_blas && !load_blas(diagnostics)))
        return std::nullopt;

    const i64 count = plan.mesh.device_count();
    Arenas arenas;
    if (!arenas.allocate(count, plan.arena_bytes)) {
        diagnostics.error("E0601", {},
                          fmt::format("the machine does not give {} of memory", human_bytes(required_bytes(plan))));
        return std::nullopt;
    }
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    int workers = static_cast<int>(std::clamp<i64>(options.workers > 0 ? options.workers : cores, 1, count));
    if (needs_blas) workers = reserve_blas(workers, diagnostics);
    if (workers == 0) return std::nullopt;
    const Machine machine = {plan, program, arenas, options.poison, options.nudge, options.timed};
    std::vector<Device> devices;
    devices.reserve(count);
    for (i64 position = 0; position < count; ++position) devices.emplace_back(machine, static_cast<int>(position));

    Scheduler scheduler(std::min(workers, most_workers), count);
    SharedMemory backend(plan, program, arenas, [&scheduler](int device) { scheduler.wake(device); });

    const std::vector<Gap> gaps = without_inputs(plan);
    std::vector<std::string> problems(devices.size()); // by position
    const auto begin = [&](int step) {
        scheduler.run([&, step](int position) {
            Device& device = devices[position];
            device.restart();
            if (step == 0) {
                device.poison(0, plan.arena_bytes);
                if (!write_inputs(plan, options, device, problems[position])) return Progress::done;
            } else if (options.poison) {
                for (const Gap& gap : gaps) device.poison(gap.offset, gap.bytes);
            }
            write_data(plan, options.data, i64{options.first_step} + step, device);
            return Progress::done;
        });
        for (const std::string& problem : problems) {
            if (problem.empty()) continue;
            diagnostics.error("E0611", {}, problem).help("was the checkpoint removed while it was read?");
            return false;
        }
        return true;
    };
    const std::function<bool(std::map<std::string, Tensor>&, Diagnostics&)> assemble =
        [&](std::map<std::string, Tensor>& outputs, Diagnostics& found) {
            return read_outputs(plan, devices, options.poison, outputs, found);
        };
    const std::function<const std::byte*(i64, const Buffer&)> shard = [&devices](i64 position, const Buffer& input) {
        return devices[position].data(input);
    };

    RunResult result;
    WireBytes wire(program.starts.size());
    for (bool more = true; more;) {
        const int step = result.steps++;
        if (!begin(step)) return std::nullopt;
        if (step == 0 && options.return_initial)
            for (const PlanOutput& output : plan.outputs)
                if (output.is_update() && !read_buffer(plan, devices, options.poison, output.updates,
                                                       result.initial[output.name], diagnostics))
                    return std::nullopt;
        scheduler.run([&](int position) { return devices[position].advance(backend); });
        result.seconds.push_back(seconds_of(devices));
        wire.add_step(backend, result);
        const std::map<std::string, double> scalars = read_scalars(plan, devices.front());
        for (const auto& [name, value] : scalars) result.scalars[name].push_back(value);
        const StepView view = {options.first_step + step, result.seconds.back(), scalars, assemble, shard};
        if (options.after_step) more = options.after_step(view);
        more = more && result.steps < options.steps && (options.stop == nullptr || !options.stop->load());
        if (!more && options.at_end) options.at_end(view);
    }

    for (const Device& device : devices)
        result.touched_peak_bytes = std::max(result.touched_peak_bytes, device.touched_bytes());
    if (options.timed) result.spans = spans_of(devices);
    if (!read_outputs(plan, devices, options.poison, result.outputs, diagnostics)) return std::nullopt;
    return result;
}

} // namespace shard

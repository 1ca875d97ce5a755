#include "executor/blas.h"
#include "executor/executor.h"
#include "executor/host.h"
#include "executor/shared_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shard {

namespace {

double seconds_of(std::span<const Device> devices) {
    std::chrono::steady_clock::time_point first = std::chrono::steady_clock::time_point::max(),
                                          last = std::chrono::steady_clock::time_point::min();
    for (const Device& device : devices) {
        first = std::min(first, device.started());
        last = std::max(last, device.ended());
    }
    return std::chrono::duration<double>(last - first).count();
}

std::string size_text(i64 bytes) {
    constexpr double mebibyte = 1024.0 * 1024.0, gibibyte = 1024 * mebibyte;
    const double size = static_cast<double>(bytes);
    return size < gibibyte ? fmt::format("{:.1f} MiB", size / mebibyte) : fmt::format("{:.1f} GiB", size / gibibyte);
}

bool fits_memory(const Plan& plan, Diagnostics& diagnostics) {
    const i64 required = required_bytes(plan), available = available_memory();
    if (available < 0 || required <= available) return true;
    diagnostics
        .error("E0601", {},
               fmt::format("running this plan needs {} of memory, and this machine has {} free", size_text(required),
                           size_text(available)))
        .note(fmt::format("{} devices with {} each, and the outputs", plan.mesh.device_count(),
                          size_text(plan.arena_bytes)))
        .help("a smaller batch, or a machine with more memory; `shardc plan` needs no memory for tensors");
    return false;
}

} // namespace

i64 required_bytes(const Plan& plan) {
    constexpr i64 limit = std::numeric_limits<i64>::max() / 2;
    i64 bytes = Arenas::total_bytes(plan.mesh.device_count(), plan.arena_bytes);
    for (const PlanOutput& output : plan.outputs) {
        const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
        bytes += element_count(buffer.global_shape) * byte_size(buffer.dtype);
        if (bytes < 0 || bytes > limit) return limit;
    }
    return bytes;
}

std::optional<RunResult> run_plan(const Plan& plan, const RunOptions& options, Diagnostics& diagnostics) {
    const std::string blas_problem = prepare_blas();
    if (!blas_problem.empty()) {
        diagnostics.error("E0605", {}, blas_problem)
            .help("install libopenblas-pthread-dev and choose it with update-alternatives");
        return std::nullopt;
    }
    if (!check_inputs(plan, options.inputs, diagnostics) || !fits_memory(plan, diagnostics)) return std::nullopt;

    const i64 count = plan.mesh.device_count();
    Arenas arenas;
    if (!arenas.allocate(count, plan.arena_bytes)) {
        diagnostics.error("E0601", {},
                          fmt::format("the machine does not give {} of memory", size_text(required_bytes(plan))));
        return std::nullopt;
    }
    const Program program = flatten(plan);
    const Machine machine = {plan, program, arenas, options.poison};
    std::vector<Device> devices;
    for (i64 position = 0; position < count; ++position) devices.emplace_back(machine, static_cast<int>(position));

    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int workers =
        std::clamp(options.workers > 0 ? options.workers : cores, 1, static_cast<int>(std::min<i64>(count, 1024)));
    Scheduler scheduler(workers, count);
    SharedMemory backend(plan, program, arenas, [&scheduler](int device) { scheduler.wake(device); });

    RunResult result;
    const int repeats = std::max(1, options.repeat);
    for (int repeat = 0; repeat < repeats; ++repeat) {
        // Inputs are written anew: a run may reuse their bytes.
        scheduler.run([&](int position) {
            Device& device = devices[static_cast<size_t>(position)];
            device.restart();
            device.poison_arena();
            write_inputs(plan, options.inputs, device);
            return Progress::done;
        });
        scheduler.run([&](int position) { return devices[static_cast<size_t>(position)].advance(backend); });
        result.seconds.push_back(seconds_of(devices));
    }

    for (size_t start = 0; start < program.starts.size(); ++start) {
        result.wire_bytes_by_start.push_back(backend.wire_bytes(static_cast<int>(start)) / repeats);
        result.wire_bytes_total += result.wire_bytes_by_start.back();
    }
    for (const Device& device : devices)
        result.touched_peak_bytes = std::max(result.touched_peak_bytes, device.touched_bytes());
    if (!read_outputs(plan, devices, options.poison, result.outputs, diagnostics)) return std::nullopt;
    return result;
}

} // namespace shard

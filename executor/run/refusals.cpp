#include "executor/run/refusals.h"

#include "executor/collective/messages.h"
#include "executor/kernels/blas.h"
#include "executor/machine/memory.h"
#include "executor/run/declared_at.h"
#include "executor/run/host.h"
#include "executor/run/required_bytes.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"
#include "plans/kernel/gemm_layout.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shard {

namespace {

constexpr i64 most_devices = i64{1} << 20;
constexpr i64 most_executions = i64{1} << 32; // about an hour
constexpr i64 most_traced = i64{1} << 20;     // about 150 MB of text

// What all devices execute together, trips of loops included; saturates.
i64 executions(const std::vector<Step>& steps) {
    i64 sum = 0;
    for (const Step& step : steps) {
        const Loop* loop = std::get_if<Loop>(&step.variant_ref());
        const i64 once = loop == nullptr ? 1 : add_saturating(1, executions(loop->body));
        sum = add_saturating(sum, loop == nullptr ? once : multiply_saturating(loop->trips, once));
    }
    return sum;
}

std::string count_text(i64 count) {
    return count == std::numeric_limits<i64>::max() ? "2^63 or more" : fmt::format("{}", count);
}

// Rows, columns or the distance of rows of what a kernel multiplies; 0 if it multiplies nothing.
template<typename TypeOf>
i64 largest_matrix(const Compute& compute, const TypeOf& type) {
    if (const Attend* attend = std::get_if<Attend>(&*compute.kernel)) {
        std::vector<TensorType> types;
        for (int input : compute.inputs) types.push_back(type(input));
        const AttendSizes sizes = attend_sizes(attend->part, types);
        return sizes.heads * std::max(sizes.width, sizes.value_width);
    }
    if (std::holds_alternative<Convolve>(*compute.kernel) ||
        std::holds_alternative<RaggedContract>(*compute.kernel)) { // its blocks lie in the operands, or in scratch
        i64 largest = 0;
        for (int buffer : {compute.inputs[0], compute.inputs[1], compute.output})
            largest = std::max(largest, type(buffer).elements());
        return largest;
    }
    const Contract* contract = std::get_if<Contract>(&*compute.kernel);
    if (contract == nullptr) return 0;
    const GemmLayout layout =
        gemm_layout(*contract, type(compute.inputs[0]), type(compute.inputs[1]), type(compute.output));
    return std::max({layout.m, layout.n, layout.k, layout.lhs.ld, layout.rhs.ld, layout.out.ld});
}

// False after E0601; `doing` this, of which `details` say more.
bool fits(const Plan& plan, i64 required, std::string_view doing, std::string details, std::string_view help,
          Diagnostics& diagnostics) {
    const std::optional<Memory> available = too_little_memory(required);
    if (required < most_required_bytes && !available) return true;
    const TensorReport* largest = nullptr;
    for (const TensorReport& tensor : plan.report.tensors)
        if (largest == nullptr || tensor.bytes_per_device > largest->bytes_per_device) largest = &tensor;
    DiagnosticBuilder error = diagnostics.error(
        "E0601", largest == nullptr ? Span{} : declared_at(plan, largest->name),
        !available || required == most_required_bytes
            ? fmt::format("{} this plan needs more memory than any machine has", doing)
            : fmt::format("{} this plan needs {} of memory, and {} {} free", doing, human_bytes(required),
                          available->limited_by, human_bytes(available->bytes)));
    if (largest != nullptr)
        error.note(fmt::format("the largest tensor is '{}', {} on a device", largest->name,
                               human_bytes(largest->bytes_per_device)));
    error.note(std::move(details)).help(std::string(help));
    return false;
}

} // namespace

bool fits_time(const Plan& plan, Diagnostics& diagnostics) {
    const i64 devices = plan.mesh.device_count();
    if (devices > most_devices) {
        diagnostics
            .error("E0609", {},
                   fmt::format("the plan is for {} devices, and at most {} are emulated", devices, most_devices))
            .help("plan the model for a smaller mesh to run it; `shardc plan` needs no devices");
        return false;
    }
    const i64 count = multiply_saturating(devices, executions(plan.steps));
    if (count <= most_executions) return true;
    diagnostics
        .error("E0609", {},
               fmt::format("the devices execute {} of the plan's steps together, and at most {} are emulated",
                           count_text(count), most_executions))
        .note(fmt::format("trips of loops are counted, on each of {} devices", devices))
        .help("fewer trips or devices for a trial run; `shardc plan` executes nothing");
    return false;
}

bool fits_trace(const Plan& plan, Diagnostics& diagnostics) {
    const i64 count = multiply_saturating(plan.mesh.device_count(), executions(plan.steps));
    if (count <= most_traced) return true;
    diagnostics
        .error(
            "E0609", {},
            fmt::format("the run would be timed in {} places, and at most {} are kept", count_text(count), most_traced))
        .help("fewer trips or devices; `shardc plan --trace` needs neither");
    return false;
}

bool fits_blas(const Plan& plan, const Program& program, Diagnostics& diagnostics) {
    const auto type = [&plan](int id) { return local_type(plan.buffers[id]); };
    for (const DeviceInstruction& instruction : program.instructions) {
        const Compute* compute = instruction.compute;
        const i64 largest = compute == nullptr ? 0 : largest_matrix(*compute, type);
        if (largest <= most_blas_rows) continue;
        const std::string& name = plan.buffers[compute->output].name;
        diagnostics
            .error("E0608", declared_at(plan, name),
                   fmt::format("'{}' multiplies matrices of {} rows or columns on a device, and BLAS takes at most {}",
                               name, largest, most_blas_rows))
            .help("split the dim over more devices");
        return false;
    }
    return true;
}

bool fits_ranks(const Plan& plan, const Ranks& ranks, Diagnostics& diagnostics) {
    const i64 devices = plan.mesh.device_count();
    const bool divides = devices % ranks.count() == 0;
    if (divides && Messages::are_tags_enough(ranks, devices)) return true;
    std::vector<std::string> fitting;
    for (i64 count = 1; count <= devices; ++count)
        if (devices % count == 0) fitting.push_back(std::to_string(count));
    diagnostics
        .error("E0617", {},
               divides ? fmt::format("a rank would hold {} devices, more than {} has tags for", ranks.held(devices),
                                     ranks.transport().library())
                       : fmt::format("{} ranks cannot hold {} devices: each holds as many", ranks.count(), devices))
        .help(divides ? "start more ranks" : fmt::format("start {} ranks", fmt::join(fitting, ", ")));
    return false;
}

bool fits_memory(const Plan& plan, bool returns_initial, i64 held, Diagnostics& diagnostics) {
    return fits(plan, required_bytes(plan, returns_initial, held), "running",
                fmt::format("{} devices with {} each, {} to keep track of them, and the outputs", held,
                            human_bytes(memory_bytes(plan)), human_bytes(bookkeeping_bytes(plan, held))),
                "a smaller batch, or a machine with more memory; `shardc plan` needs no memory for tensors",
                diagnostics);
}

bool fits_memory_verified(const Plan& plan, const Plan& reference, Diagnostics& diagnostics) {
    return fits(
        plan, verified_bytes(plan, reference), "verifying",
        fmt::format("the outputs of the plan and of one device, and what that device takes, {}, or what is compared, "
                    "as f64",
                    human_bytes(memory_bytes(reference))),
        "leave out --verify, or verify with a smaller batch", diagnostics);
}

} // namespace shard

// Tolerance (docs/verification.md): integers and booleans must be equal. A float may differ by
//     (eps * (8 + 4 * sqrt(D)) + eps_sum * 4 * sqrt(K)) * scale
// where eps is that of the coarsest floating-point type in the plan (an f64 that was cast from f32 has the errors of
// f32) and eps_sum that of what its sums accumulate in, K is the longest reduction of the plan, D the number of
// contractions and reductions that one run executes, and scale the largest magnitude in the reference; at least 1 for
// outputs so small that all their elements may be small by cancellation.
#include "executor/element.h"
#include "executor/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

constexpr size_t few_elements = 16;

// How long reductions are and how many follow each other; lengths are global, so that they do not depend on the layout.
struct Reductions {
    const Plan& plan;
    double longest = 1;
    double count = 0;

    void add(const std::vector<Step>& steps, double trips) {
        for (const Step& step : steps) {
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) add(*compute, trips);
            if (const Loop* loop = std::get_if<Loop>(&step.variant_ref()))
                add(loop->body, trips * static_cast<double>(loop->trips));
        }
    }

    void add(const Compute& compute, double trips) {
        const Buffer& output = plan.buffers[static_cast<size_t>(compute.output)];
        double length = static_cast<double>(total_size(output.sharding.partial)); // split over devices
        if (const Contract* contract = std::get_if<Contract>(&compute.kernel)) {
            const Shape& shape = plan.buffers[static_cast<size_t>(compute.inputs[0])].shape;
            for (size_t d = 0; d < contract->lhs.size(); ++d)
                if (std::find(contract->out.begin(), contract->out.end(), contract->lhs[d]) == contract->out.end())
                    length *= static_cast<double>(shape[d]);
        } else if (const Reduce* reduce = std::get_if<Reduce>(&compute.kernel)) {
            const Shape& shape = plan.buffers[static_cast<size_t>(compute.inputs[0])].shape;
            for (int dim : reduce->dims) length *= static_cast<double>(shape[static_cast<size_t>(dim)]);
        } else {
            return;
        }
        longest = std::max(longest, length);
        count += trips;
    }
};

double epsilon(DType dtype) {
    switch (dtype) {
    case DType::f32:
        return 0x1p-23;
    case DType::f64:
        return 0x1p-52;
    case DType::bf16:
        return 0x1p-7;
    default:
        return 0;
    }
}

// The coarsest floating-point type in the plan; nullopt if there is none.
std::optional<DType> coarsest(const Plan& plan) {
    std::optional<DType> result;
    for (const Buffer& buffer : plan.buffers)
        if (epsilon(buffer.dtype) > (result ? epsilon(*result) : 0)) result = buffer.dtype;
    return result;
}
// Of what sums are accumulated in.
double accumulator_epsilon(DType dtype) { return epsilon(dtype == DType::bf16 ? DType::f32 : dtype); }

std::vector<double> values_of(const Tensor& tensor) {
    std::vector<double> values(static_cast<size_t>(tensor.type.elements()));
    visit_dtype(tensor.type.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T* data = reinterpret_cast<const T*>(tensor.bytes.data());
        for (size_t i = 0; i < values.size(); ++i) values[i] = convert_value<double>(data[i]);
    });
    return values;
}

// The lowest position whose block of the buffer holds the element, and the element's index there.
i64 holder_of(const Plan& plan, const Buffer& buffer, std::span<const i64> index, std::vector<i64>& local) {
    for (i64 position = 0; position < plan.mesh.device_count(); ++position) {
        const std::vector<i64> start =
            local_start(plan.mesh, buffer.global_shape, buffer.sharding, coordinates_of(plan.mesh, position));
        bool inside = true;
        for (size_t d = 0; d < index.size(); ++d)
            inside = inside && index[d] >= start[d] && index[d] < start[d] + buffer.shape[d];
        if (!inside) continue;
        for (size_t d = 0; d < index.size(); ++d) local.push_back(index[d] - start[d]);
        return position;
    }
    internal_error("an element that no device holds");
}

void report_mismatch(const Plan& plan, const PlanOutput& output, i64 flat, double value, double reference,
                     double tolerance, i64 mismatches, Diagnostics& diagnostics) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
    std::vector<i64> index(buffer.global_shape.size()), local;
    i64 rest = flat;
    for (size_t d = index.size(); d-- > 0;) {
        index[d] = rest % buffer.global_shape[d];
        rest /= buffer.global_shape[d];
    }
    const i64 position = holder_of(plan, buffer, index, local);
    diagnostics
        .finding("P0201", {},
                 fmt::format("'{}' differs from the reference at index {}: {:.9g}, expected {:.9g}", output.name,
                             shape_text(index), value, reference))
        .note(fmt::format("the element is on device {}, at {} of its block ({})", plan.mesh.device_id(position),
                          shape_text(local), text(plan.mesh, buffer.sharding)))
        .note(fmt::format("{} of {} elements differ by more than {:.3g}", mismatches,
                          element_count(buffer.global_shape), tolerance));
}

} // namespace

std::optional<Comparison> compare_results(const Plan& plan, const RunResult& result, const RunResult& reference,
                                          Diagnostics& diagnostics) {
    Reductions reductions = {plan};
    reductions.add(plan.steps, 1);
    const auto allowed = [&](DType dtype) {
        return epsilon(dtype) * (8 + 4 * std::sqrt(reductions.count)) +
               accumulator_epsilon(dtype) * 4 * std::sqrt(reductions.longest);
    };
    const std::optional<DType> coarse = coarsest(plan);
    Comparison comparison;
    comparison.equal = true;
    for (const PlanOutput& output : plan.outputs) {
        const std::map<std::string, Tensor>::const_iterator a = result.outputs.find(output.name),
                                                            b = reference.outputs.find(output.name);
        if (a == result.outputs.end() || b == reference.outputs.end() || a->second.type.dtype != b->second.type.dtype ||
            a->second.type.shape != b->second.type.shape) {
            diagnostics.finding(
                "P0202", {}, fmt::format("the two runs do not both have an output '{}' of the same type", output.name));
            return std::nullopt;
        }
        const std::vector<double> values = values_of(a->second), expected = values_of(b->second);
        double scale = expected.size() < few_elements ? 1 : 0;
        for (double value : expected)
            if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
        const double relative = is_floating(a->second.type.dtype) && coarse ? allowed(*coarse) : 0,
                     tolerance = relative * scale;
        comparison.allowed_relative = std::max(comparison.allowed_relative, relative);
        i64 mismatches = 0, first = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            const double x = values[i], y = expected[i];
            if (!std::isfinite(y)) ++comparison.not_finite;
            if (x == y || (std::isnan(x) && std::isnan(y))) continue;
            const double difference = std::fabs(x - y); // not finite where one of them is not
            if (!std::isnan(difference)) {
                comparison.max_absolute = std::max(comparison.max_absolute, difference);
                comparison.max_relative = std::max(comparison.max_relative, difference / (scale > 0 ? scale : 1));
            }
            if (std::isfinite(difference) && difference <= tolerance) continue;
            if (mismatches++ == 0) first = static_cast<i64>(i);
        }
        if (mismatches == 0) continue;
        comparison.equal = false;
        report_mismatch(plan, output, first, values[static_cast<size_t>(first)], expected[static_cast<size_t>(first)],
                        tolerance, mismatches, diagnostics);
    }
    return comparison;
}

} // namespace shard

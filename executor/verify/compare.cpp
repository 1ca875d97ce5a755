#include "executor/verify/compare.h"

#include "executor/elements/element.h"
#include "executor/formats/tensor.h"
#include "executor/run/run.h"
#include "executor/verify/allowance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

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

// The elements of an output that differ by more than they may.
struct Mismatches {
    i64 count = 0, first = 0;
    double tolerance = 0; // of the first
};

std::string element_text(const Tensor& tensor, i64 flat) {
    return visit_dtype(tensor.type.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T value = reinterpret_cast<const T*>(tensor.bytes.data())[flat];
        if constexpr (is_float_element<T>)
            return fmt::format("{:.9g}", convert_value<double>(value));
        else
            return fmt::format("{}", static_cast<Computed<T>>(value));
    });
}

void report_mismatch(const Plan& plan, const PlanOutput& output, const Mismatches& found, const Tensor& values,
                     const Tensor& expected, Diagnostics& diagnostics) {
    const Buffer& buffer = plan.buffers[output.buffer];
    std::vector<i64> index(buffer.real_shape().size()), local;
    i64 rest = found.first;
    for (size_t d = index.size(); d-- > 0;) {
        index[d] = rest % buffer.real_shape()[d];
        rest /= buffer.real_shape()[d];
    }
    const i64 position = holder_of(plan, buffer, index, local);
    diagnostics
        .finding("P0201", {},
                 fmt::format("'{}' differs from the reference at index {}: {}, expected {}", output.name,
                             shape_text(index), element_text(values, found.first), element_text(expected, found.first)))
        .note(fmt::format("the element is on device {}, at {} of its block ({})", plan.mesh.device_id(position),
                          shape_text(local), text(plan.mesh, buffer.sharding)))
        .note(fmt::format("{} of {} elements differ by more than {:.3g}", found.count,
                          element_count(buffer.real_shape()), found.tolerance));
}

// The loss and the metrics of every step but the last, whose values are among the outputs.
void compare_steps(const Tolerances& tolerances, const PlanOutput& output, const RunResult& result,
                   const RunResult& reference, Comparison& comparison, Diagnostics& diagnostics) {
    const std::map<std::string, std::vector<double>>::const_iterator a = result.scalars.find(output.name),
                                                                     b = reference.scalars.find(output.name);
    if (a == result.scalars.end() || b == reference.scalars.end()) return;
    for (size_t step = 0; step + 1 < std::min(a->second.size(), b->second.size()); ++step) {
        const double value = a->second[step], expected = b->second[step];
        if (!std::isfinite(expected)) ++comparison.not_finite;
        if (value == expected || (std::isnan(value) && std::isnan(expected))) continue;
        const double difference = std::fabs(value - expected),
                     tolerance = tolerances.of_step(output, static_cast<int>(step), expected);
        if (std::isfinite(difference)) {
            comparison.max_absolute = std::max(comparison.max_absolute, difference);
            if (difference <= tolerance) continue;
        }
        comparison.equal = false;
        diagnostics
            .finding("P0201", {},
                     fmt::format("'{}' of step {} differs from the reference: {:.9g}, expected {:.9g}", output.name,
                                 step, value, expected))
            .note(fmt::format("it may differ by {:.3g}", tolerance));
        return;
    }
}

// What updates an input is of another kind than what does not, and two names may not change places.
std::string_view updated_by(const Plan& plan, const PlanOutput& output) {
    return output.is_update() ? plan.buffers[output.updates].name : std::string_view();
}

const PlanOutput* find_output(const Plan& plan, std::string_view name) {
    for (const PlanOutput& output : plan.outputs)
        if (output.name == name) return &output;
    return nullptr;
}

struct InputOf {
    const Buffer* buffer;
    const PlanInput* input;
};
using InputsByName = std::map<std::string_view, InputOf>;

InputsByName inputs_of(const Plan& plan) {
    InputsByName inputs;
    for (const PlanInput& input : plan.inputs) {
        const Buffer& buffer = plan.buffers[input.buffer];
        inputs.emplace(buffer.name, InputOf{&buffer, &input});
    }
    return inputs;
}

std::string input_text(const Buffer& input) {
    return fmt::format("{} {} {}", name(input.role), name(input.dtype), shape_text(input.real_shape()));
}

// Both plans have the same outputs, of the same types, which update the same inputs; and the runs hold them.
bool same_outputs(const RunOf& run, const RunOf& reference, Diagnostics& diagnostics) {
    const auto differ = [&diagnostics](const std::string& text) {
        diagnostics.finding("P0202", {}, text);
        return false;
    };
    for (const PlanOutput& expected : reference.plan.outputs) {
        const PlanOutput* output = find_output(run.plan, expected.name);
        const std::map<std::string, Tensor>::const_iterator a = run.result.outputs.find(expected.name),
                                                            b = reference.result.outputs.find(expected.name);
        if (output == nullptr || a == run.result.outputs.end() || b == reference.result.outputs.end() ||
            a->second.type.dtype != b->second.type.dtype || a->second.type.shape != b->second.type.shape)
            return differ(fmt::format("the two runs do not both have an output '{}' of the same type", expected.name));
        const std::string_view updates = updated_by(run.plan, *output), wanted = updated_by(reference.plan, expected);
        if (updates != wanted)
            return differ(fmt::format("output '{}' updates {}, that of the reference {}", expected.name,
                                      updates.empty() ? "nothing" : fmt::format("'{}'", updates),
                                      wanted.empty() ? "nothing" : fmt::format("'{}'", wanted)));
    }
    for (const PlanOutput& output : run.plan.outputs)
        if (find_output(reference.plan, output.name) == nullptr)
            return differ(fmt::format("the reference has no output '{}'", output.name));
    return true;
}

// Whole numbers and flags are equal or not. As f64, two of 64 bits can look alike.
Mismatches compare_whole(const Tensor& values, const Tensor& expected, Comparison& comparison) {
    Mismatches found;
    visit_dtype(values.type.dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (!is_float_element<T>) {
            using Wide = Computed<T>;
            const T* a = reinterpret_cast<const T*>(values.bytes.data());
            const T* b = reinterpret_cast<const T*>(expected.bytes.data());
            for (i64 i = 0; i < values.type.elements(); ++i) {
                const Wide one = static_cast<Wide>(a[i]), other = static_cast<Wide>(b[i]);
                if (one == other) continue;
                const double difference = static_cast<double>(static_cast<std::uint64_t>(std::max(one, other)) -
                                                              static_cast<std::uint64_t>(std::min(one, other)));
                comparison.max_absolute = std::max(comparison.max_absolute, difference);
                comparison.max_relative = std::max(comparison.max_relative, difference);
                if (found.count++ == 0) found.first = i;
            }
        }
    });
    return found;
}

Mismatches compare_floating(const Tensor& got, const Tensor& wanted, const Tolerances& tolerances,
                            const PlanOutput& output, Comparison& comparison) {
    const std::vector<double> values = values_of(got), expected = values_of(wanted);
    const Allowance allowance = tolerances.of(output, expected);
    comparison.allowed_relative = std::max(comparison.allowed_relative, allowance.relative);
    Mismatches found;
    i64 outliers = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const double x = values[i], y = expected[i];
        if (!std::isfinite(y)) ++comparison.not_finite;
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        const double difference = std::fabs(x - y); // not finite where one of them is not
        const double allowed = allowance.at(i);
        if (!std::isnan(difference)) {
            comparison.max_absolute = std::max(comparison.max_absolute, difference);
            if (difference > allowed && difference <= allowed + allowance.outlier && ++outliers <= allowance.outliers)
                continue;
            comparison.max_relative =
                std::max(comparison.max_relative, allowed > 0 ? difference / allowed * allowance.relative : difference);
        }
        if (std::isfinite(difference) && difference <= allowed) continue;
        if (found.count++ == 0) {
            found.first = static_cast<i64>(i);
            found.tolerance = allowed;
        }
    }
    return found;
}

Comparison compare_within(const Tolerances& tolerances, const RunOf& run, const RunOf& reference,
                          Diagnostics& diagnostics) {
    Comparison comparison;
    comparison.equal = true;
    for (const PlanOutput& output : reference.plan.outputs) {
        const Tensor& values = run.result.outputs.at(output.name);
        const Tensor& expected = reference.result.outputs.at(output.name);
        const Mismatches found = is_floating(expected.type.dtype)
                                     ? compare_floating(values, expected, tolerances, output, comparison)
                                     : compare_whole(values, expected, comparison);
        compare_steps(tolerances, output, run.result, reference.result, comparison, diagnostics);
        if (found.count == 0) continue;
        comparison.equal = false;
        report_mismatch(run.plan, *find_output(run.plan, output.name), found, values, expected, diagnostics);
    }
    return comparison;
}

// What is off is looked at again when it is known how large the terms of the reference's outputs are.
std::optional<Comparison> compare_nudged(Tolerances tolerances, const RunOf& run, const RunOf& reference,
                                         Diagnostics& diagnostics, const RunOptions* again) {
    if (!same_outputs(run, reference, diagnostics)) return std::nullopt;
    Diagnostics findings;
    Comparison comparison = compare_within(tolerances, run, reference, findings);
    if (!comparison.equal && again != nullptr) {
        RunOptions options = *again;
        for (const Nudge& nudge : tolerances.nudges()) {
            options.nudge = nudge;
            const std::optional<RunResult> nudged = run_plan(reference.plan, options, diagnostics);
            if (!nudged) return std::nullopt;
            tolerances.learn(nudge, *nudged);
        }
        findings = {};
        comparison = compare_within(tolerances, run, reference, findings);
    }
    for (const Diagnostic& finding : findings.all()) diagnostics.add(finding);
    return comparison;
}

} // namespace

std::optional<Comparison> compare_results(const RunOf& run, const RunOf& reference, Diagnostics& diagnostics,
                                          const RunOptions* again) {
    return compare_nudged(Tolerances(reference.plan, reference.result), run, reference, diagnostics, again);
}

std::optional<Comparison> compare_repeated(const RunOf& run, const RunOf& reference, Diagnostics& diagnostics,
                                           const RunOptions* again) {
    return compare_nudged(Tolerances(reference.plan, reference.result, true), run, reference, diagnostics, again);
}

bool same_inputs(const Plan& plan, const Plan& reference, Diagnostics& diagnostics) {
    const InputsByName inputs = inputs_of(plan), expected = inputs_of(reference);
    for (const auto& [input_name, input] : expected) {
        const InputsByName::const_iterator found = inputs.find(input_name);
        const std::string is = found == inputs.end() ? "not there" : input_text(*found->second.buffer),
                          wanted = input_text(*input.buffer);
        if (is != wanted)
            diagnostics.finding("P0202", {},
                                fmt::format("input '{}' is {}, and {} in the reference", input_name, is, wanted));
        else if (found->second.input->init != input.input->init)
            diagnostics.finding("P0202", {},
                                fmt::format("input '{}' begins with other values in the reference", input_name));
        else
            continue;
        return false;
    }
    for (const auto& [input_name, input] : inputs) {
        if (expected.contains(input_name)) continue;
        diagnostics.finding("P0202", {}, fmt::format("the reference has no input '{}'", input_name));
        return false;
    }
    return true;
}

} // namespace shard

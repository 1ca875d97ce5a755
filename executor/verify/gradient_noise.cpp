#include "executor/verify/gradient_noise.h"

#include "executor/elements/element.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shard {

namespace {

// The mean square of every element, where an optimizer keeps that of rows and of columns: their product over the mean of
// the rows. They have the parameter's dims, with 1 for those that they are means over.
std::vector<double> product_of_means(const Tensor& rows, const Tensor& columns) {
    const std::vector<double> of_rows = values_of(rows), of_columns = values_of(columns);
    const double mean =
        std::accumulate(of_rows.begin(), of_rows.end(), 0.0) / static_cast<double>(std::max<size_t>(of_rows.size(), 1));
    Shape shape = rows.type.shape;
    for (size_t d = 0; d < shape.size(); ++d) shape[d] = std::max(shape[d], columns.type.shape[d]);
    std::vector<double> squares;
    for (i64 flat = 0; flat < element_count(shape); ++flat) {
        i64 rest = flat, row = 0, column = 0, row_stride = 1, column_stride = 1;
        for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
            if (rows.type.shape[d] > 1) row += rest % shape[d] * row_stride;
            if (columns.type.shape[d] > 1) column += rest % shape[d] * column_stride;
            row_stride *= rows.type.shape[d];
            column_stride *= columns.type.shape[d];
        }
        const double product = of_rows[static_cast<size_t>(row)] * of_columns[static_cast<size_t>(column)];
        squares.push_back(mean > 0 ? product / mean : 0);
    }
    return squares;
}

// What is compared of an output: of a mean square its root.
std::vector<double> told(const Plan& plan, const PlanOutput& output, const Tensor& tensor) {
    std::vector<double> values = values_of(tensor);
    if (is_mean_square(plan, output))
        for (double& value : values) value = std::sqrt(std::max(value, 0.0));
    return values;
}

} // namespace

std::vector<double> values_of(const Tensor& tensor) {
    std::vector<double> values(tensor.type.elements());
    visit_dtype(tensor.type.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T* data = reinterpret_cast<const T*>(tensor.bytes.data());
        for (size_t i = 0; i < values.size(); ++i) values[i] = convert_value<double>(data[i]);
    });
    return values;
}

double largest(std::span<const double> values) {
    double most = 0;
    for (double value : values)
        if (std::isfinite(value)) most = std::max(most, std::fabs(value));
    return most;
}

std::vector<double> differences(std::vector<double> from, std::span<const double> to) {
    for (size_t i = 0; i < to.size() && i < from.size(); ++i) from[i] -= to[i];
    return from;
}

std::string parameter_of(const PlanOutput& output) {
    const std::string_view name = output.name;
    return std::string(name.ends_with(master_copy) ? name.substr(0, name.size() - master_copy.size()) : name);
}

std::vector<double> gradient_sizes(const RunResult& result, const std::string& parameter) {
    const auto rows = result.outputs.find(parameter + ".nu_row"), columns = result.outputs.find(parameter + ".nu_col");
    if (rows != result.outputs.end() && columns != result.outputs.end()) {
        std::vector<double> sizes = product_of_means(rows->second, columns->second);
        for (double& size : sizes) size = std::sqrt(size);
        return sizes;
    }
    const bool squares = result.outputs.contains(parameter + ".nu");
    const std::map<std::string, Tensor>::const_iterator kept =
        result.outputs.find(parameter + (squares ? ".nu" : ".mu"));
    if (kept == result.outputs.end()) return {};
    std::vector<double> sizes = values_of(kept->second);
    for (double& size : sizes) size = squares ? std::sqrt(std::max(size, 0.0)) : std::fabs(size);
    return sizes;
}

bool is_mean_square(const Plan& plan, const PlanOutput& output) {
    const Buffer& input = plan.buffers[output.updates];
    return input.role == Role::state && input.name.substr(input.name.rfind('.') + 1).starts_with("nu");
}

double movement(const Plan& plan, const PlanOutput& output, const RunResult& reference) {
    return largest(differences(told(plan, output, reference.outputs.at(output.name)),
                               told(plan, output, reference.initial.at(output.name))));
}

void GradientNoise::learn(const Plan& plan, const RunResult& reference, const Nudge& nudge, const RunResult& nudged) {
    const auto note = [&nudge](ByName& terms, const std::string& name, double by) {
        double& most = terms[name][nudge.share];
        most = std::max(most, by / nudge.share);
    };
    for (const PlanOutput& output : plan.outputs) {
        const Tensor &expected = reference.outputs.at(output.name), &off = nudged.outputs.at(output.name);
        if (!is_floating(expected.type.dtype)) continue;
        const bool is_update = output.is_update() && reference.initial.contains(output.name);
        note(outputs_, output.name,
             is_update ? largest(differences(told(plan, output, off), told(plan, output, expected)))
                       : largest(differences(values_of(off), values_of(expected))));
        if (!is_update) continue;
        const std::string parameter = parameter_of(output);
        note(sizes_, parameter,
             largest(differences(gradient_sizes(nudged, parameter), gradient_sizes(reference, parameter))));
    }
}

double GradientNoise::least(const ByName& terms, const std::string& name) {
    const ByName::const_iterator found = terms.find(name);
    if (found == terms.end()) return 0;
    double least = found->second.begin()->second;
    for (const auto& [share, by] : found->second) least = std::min(least, by);
    return least;
}

} // namespace shard

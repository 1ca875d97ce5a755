#include "executor/verify/allowance.h"

#include "executor/elements/element.h"
#include "executor/formats/tensor.h"
#include "executor/verify/lineage.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shard {

namespace {

constexpr std::string_view master = ".master"; // the f32 copy of a parameter of 16 bits moves as the parameter does
constexpr std::string_view param = "param";
constexpr i64 few_elements = 16;
constexpr double most_relative = 0.05; // a factor of 2 in a gradient is to be seen after any number of steps

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

// What the states of an updated parameter are called after: the copy that moves has those of the parameter.
std::string parameter_of(const PlanOutput& output) {
    const std::string_view name = output.name;
    return std::string(name.ends_with(master) ? name.substr(0, name.size() - master.size()) : name);
}

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

// The sizes that a parameter's gradients had, if its optimizer keeps `nu`, their mean square, or that of rows and
// columns, or else `mu`, their mean; empty if it keeps none.
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

double Tolerances::eps(DType dtype) const {
    return is_repeated_ && dtype == DType::f64 ? repeated_epsilon : epsilon(dtype);
}

Tolerances::Tolerances(const Plan& plan, const RunResult& reference, bool is_repeated)
    : plan_(&plan), reference_(&reference), is_repeated_(is_repeated) {
    const Lineages lineages(plan);
    for (const PlanOutput& output : plan.outputs) {
        const Lineage lineage = lineages.of(output, reference.steps);
        once_[output.name] = eps(lineage.coarsest) * (16 + 8 * std::sqrt(lineage.reductions)) +
                             eps(computed_as(lineage.coarsest)) * 8 * std::sqrt(lineage.longest);
        coarsest_ = std::max(coarsest_, eps(lineage.coarsest));
    }
    for (const PlanOutput& output : plan.outputs) {
        const std::map<std::string, Tensor>::const_iterator before = reference.initial.find(output.name),
                                                            after = reference.outputs.find(output.name);
        if (before == reference.initial.end() || after == reference.outputs.end()) continue;
        const std::string of_kind = kind(output);
        if (of_kind == param)
            largest_gradient_ = std::max(largest_gradient_, largest(gradient_sizes(reference, parameter_of(output))));
        double& movement = movements_[of_kind];
        movement = std::max(movement, largest(differences(values_of(after->second), values_of(before->second))));
    }
}

// Parameters, the last part of a state's name, or a variable.
std::string Tolerances::kind(const PlanOutput& output) const {
    const Buffer& input = buffer(output.updates);
    if (input.name.ends_with(master)) return std::string(param);
    if (input.role == Role::variable) return input.name;
    return input.role == Role::state ? input.name.substr(input.name.rfind('.') + 1) : std::string(param);
}

double Tolerances::relative(const PlanOutput& output, int steps) const {
    if (!is_floating(buffer(output.buffer).dtype)) return 0;
    const double once = once_.at(output.name);
    return std::max(once, std::min(once * steps, most_relative));
}

std::vector<Nudge> Tolerances::nudges() const {
    std::vector<Nudge> nudges;
    for (unsigned seed = 1; seed <= 2; ++seed)
        for (double share : {coarsest_, std::max(coarsest_, std::min(1024 * coarsest_, 1e-3))})
            nudges.push_back({share, seed});
    return nudges;
}

void Tolerances::learn(const Nudge& nudge, const RunResult& nudged) {
    const auto note = [&](double& terms, double by) {
        if (std::isfinite(by)) terms = std::max(terms, std::fabs(by) / nudge.share);
    };
    for (const PlanOutput& output : plan_->outputs) {
        const Tensor& expected = reference_->outputs.at(output.name);
        if (!is_floating(expected.type.dtype) || expected.type.elements() >= few_elements) continue;
        for (double by : differences(values_of(nudged.outputs.at(output.name)), values_of(expected)))
            note(terms_[output.name], by);
    }
    for (const auto& [name, expected] : reference_->scalars) {
        std::vector<double>& terms = terms_by_step_[name];
        terms.resize(expected.size());
        const std::vector<double> by = differences(nudged.scalars.at(name), expected);
        for (size_t step = 0; step < by.size(); ++step) note(terms[step], by[step]);
    }
}

double Tolerances::scale(double relative, double largest, double terms) {
    if (relative == 0) return largest;
    return std::max(largest, std::min(terms, std::max(1.0, most_relative * largest / relative)));
}

Allowance Tolerances::of(const PlanOutput& output, std::span<const double> expected) const {
    const Buffer& own = buffer(output.buffer);
    Allowance allowance;
    const std::map<std::string, Tensor>::const_iterator before = reference_->initial.find(output.name);
    if (!output.is_update() || before == reference_->initial.end() || !is_floating(own.dtype)) {
        const bool follows_steps = !movements_.empty();
        const std::map<std::string, double>::const_iterator found = terms_.find(output.name);
        const double terms = found == terms_.end() ? 0 : found->second;
        allowance.relative = relative(output, follows_steps ? reference_->steps : 1);
        allowance.absolute = allowance.relative * scale(allowance.relative, largest(expected), terms);
        return allowance;
    }
    const std::string of_kind = kind(output);
    const double magnitude = std::max(largest(expected), largest(values_of(before->second)));
    allowance.relative = relative(output, reference_->steps);
    allowance.absolute =
        4 * std::sqrt(reference_->steps) * eps(own.dtype) * magnitude + allowance.relative * movements_.at(of_kind);
    // Mean squares may be kept of a few parameters alone, whose gradients may all be noise.
    if (of_kind.starts_with("nu")) allowance.absolute += std::pow(allowance.relative * largest_gradient_, 2);
    if (of_kind != param) return allowance;
    const std::vector<double> sizes = gradient_sizes(*reference_, parameter_of(output));
    if (sizes.empty()) return allowance;
    const double noise = allowance.relative * largest_gradient_, jump = movements_.at(of_kind);
    for (double size : sizes) allowance.noise.push_back(2 * jump * (size > noise ? noise / size : 1));
    allowance.noise.resize(expected.size());
    allowance.outlier = 2 * jump;
    allowance.outliers = static_cast<i64>(static_cast<double>(reference_->steps) * allowance.relative *
                                          static_cast<double>(expected.size()));
    return allowance;
}

double Tolerances::of_step(const PlanOutput& output, int step, double expected) const {
    const std::map<std::string, std::vector<double>>::const_iterator found = terms_by_step_.find(output.name);
    const double terms = found == terms_by_step_.end() ? 0 : found->second[step];
    const double allowed = relative(output, step + 1);
    return allowed * scale(allowed, std::fabs(expected), terms);
}

} // namespace shard

#include "executor/verify/allowance.h"

#include "executor/formats/tensor.h"
#include "executor/verify/in_f64.h"
#include "executor/verify/lineage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace shard {

namespace {

constexpr std::string_view param = "param";
constexpr i64 few_elements = 16;
constexpr std::array noise_shares = {repeated_epsilon, 1024 * repeated_epsilon};
constexpr double most_relative = 0.05; // a factor of 2 in a gradient is to be seen after any number of steps

} // namespace

double Tolerances::eps(DType dtype) const {
    return is_repeated_ && dtype == DType::f64 ? repeated_epsilon : epsilon(dtype);
}

Tolerances::Tolerances(const Plan& plan, const RunResult& reference, bool is_repeated)
    : plan_(&plan), reference_(&reference), is_repeated_(is_repeated), is_in_f64_(!is_below_f64(plan)) {
    const Lineages lineages(plan);
    for (const PlanOutput& output : plan.outputs) {
        const Lineage lineage = lineages.of(output, reference.steps);
        const double own = 16 + 8 * std::sqrt(lineage.reductions), of_sums = 8 * std::sqrt(lineage.longest);
        once_[output.name] = eps(lineage.coarsest) * own + eps(computed_as(lineage.coarsest)) * of_sums;
        once_in_f64_[output.name] = epsilon(DType::f64) * (own + of_sums);
        coarsest_ = std::max(coarsest_, eps(lineage.coarsest));
    }
    for (const PlanOutput& output : plan.outputs) {
        const std::map<std::string, Tensor>::const_iterator before = reference.initial.find(output.name),
                                                            after = reference.outputs.find(output.name);
        if (before == reference.initial.end() || after == reference.outputs.end()) continue;
        const std::string of_kind = kind(output);
        if (of_kind == param)
            largest_gradient_ = std::max(largest_gradient_, largest(gradient_sizes(reference, parameter_of(output))));
        double& most = movements_[of_kind];
        most = std::max(most, largest(differences(values_of(after->second), values_of(before->second))));
    }
}

// Parameters, the last part of a state's name, or a variable.
std::string Tolerances::kind(const PlanOutput& output) const {
    const Buffer& input = buffer(output.updates);
    if (input.name.ends_with(master_copy)) return std::string(param);
    if (input.role == Role::variable) return input.name;
    return input.role == Role::state ? input.name.substr(input.name.rfind('.') + 1) : std::string(param);
}

double Tolerances::relative(const PlanOutput& output, int steps) const {
    if (!is_floating(buffer(output.buffer).dtype)) return 0;
    return of_steps(once_.at(output.name), steps);
}

double Tolerances::of_steps(double once, int steps) { return std::max(once, std::min(once * steps, most_relative)); }

double Tolerances::large_share() const { return std::max(coarsest_, std::min(1024 * coarsest_, 1e-3)); }

std::vector<Nudge> Tolerances::nudges() const {
    std::set<double> shares = {coarsest_, large_share()};
    if (is_in_f64_) shares.insert(noise_shares.begin(), noise_shares.end());
    std::vector<Nudge> nudges;
    for (unsigned seed = 1; seed <= 2; ++seed)
        for (const double share : shares) nudges.push_back({share, seed});
    return nudges;
}

void Tolerances::learn(const Nudge& nudge, const RunResult& nudged) {
    const bool of_noise = std::find(noise_shares.begin(), noise_shares.end(), nudge.share) != noise_shares.end();
    if (is_in_f64_ && of_noise) noise_.learn(*plan_, *reference_, nudge, nudged);
    if (nudge.share != coarsest_ && nudge.share != large_share()) return;
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
        const double left = of_steps(once_in_f64_.at(output.name), follows_steps ? reference_->steps : 1) *
                            noise_.of_output(output.name);
        if (largest(expected) <= left) allowance.absolute += left;
        return allowance;
    }
    const std::string of_kind = kind(output);
    const double magnitude = std::max(largest(expected), largest(values_of(before->second)));
    allowance.relative = relative(output, reference_->steps);
    allowance.absolute =
        4 * std::sqrt(reference_->steps) * eps(own.dtype) * magnitude + allowance.relative * movements_.at(of_kind);
    // Mean squares may be kept of a few parameters alone, whose gradients may all be noise.
    if (of_kind.starts_with("nu")) allowance.absolute += std::pow(allowance.relative * largest_gradient_, 2);
    // What rounding in f64 leaves of the terms that such numbers are sums of.
    const double rounding = of_steps(once_in_f64_.at(output.name), reference_->steps);
    if (const double left = rounding * noise_.of_output(output.name); movement(*plan_, output, *reference_) <= left)
        allowance.absolute += is_mean_square(*plan_, output) ? left * left : left;
    if (of_kind != param) return allowance;
    const std::vector<double> sizes = gradient_sizes(*reference_, parameter_of(output));
    if (sizes.empty()) return allowance;
    const double noise = allowance.relative * largest_gradient_, jump = movements_.at(of_kind);
    const bool is_noise = largest(sizes) <= rounding * noise_.of_sizes(parameter_of(output));
    for (double size : sizes) allowance.noise.push_back(2 * jump * (size > noise && !is_noise ? noise / size : 1));
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

// How large an optimizer's gradients were, as far as its states tell, and which of them, or of the outputs, are nothing
// but rounding.
//
// A gradient that is 0 by mathematics, of mean(layer_norm(x + w)) over w, is what rounding leaves of terms that cancel,
// in the reference as in what is compared with it; Adam makes whole steps of it. Runs with inputs that are a little off
// tell it from a gradient that is small: in f64 by 2^-38 and 2^-28 of themselves, which moves it by that share of its
// terms, some 2^14 and 2^24 times what it is. Of what crosses a kink or a jump the smaller of the two figures is 2^28
// times the jump, and a gradient is no less than a 2^14th of it but for rounding.
#pragma once

#include "executor/formats/tensor.h"
#include "executor/run/run.h"

namespace shard {

inline constexpr std::string_view master_copy = ".master"; // of a parameter of 16 bits, in f32: it moves as that does

// The sizes that a parameter's gradients had, if its optimizer keeps `nu`, their mean square, or that of rows and
// columns, or else `mu`, their mean; empty if it keeps none.
std::vector<double> gradient_sizes(const RunResult& result, const std::string& parameter);
// What the states of an updated parameter are called after: the copy that moves has those of the parameter.
std::string parameter_of(const PlanOutput& output);
// `output` is a mean of squares; how far it moved is told of its root.
bool is_mean_square(const Plan& plan, const PlanOutput& output);

// The largest finite magnitude; 0 if there is none.
double largest(std::span<const double> values);
std::vector<double> differences(std::vector<double> from, std::span<const double> to);
// How far what an output updates is from where it was.
double movement(const Plan& plan, const PlanOutput& output, const RunResult& reference);

class GradientNoise {
public:
    void learn(const Plan& plan, const RunResult& reference, const Nudge& nudge, const RunResult& nudged);
    // How large the terms are of an output, or that an updated one moves by, and those of a parameter's gradients in
    // units of their sizes; 0 if nothing was learnt.
    double of_output(const std::string& name) const { return least(outputs_, name); }
    double of_sizes(const std::string& parameter) const { return least(sizes_, parameter); }

private:
    using ByName = std::map<std::string, std::map<double, double>>; // by share, the largest of its runs
    static double least(const ByName& terms, const std::string& name);

    ByName outputs_, sizes_;
};

// The elements as f64.
std::vector<double> values_of(const Tensor& tensor);

} // namespace shard

// How far an element of a run's output may be from the reference. docs/verification.md derives the figures.
//
// An output of one run:
//     t * scale,  t = eps * (16 + 8 * sqrt(D)) + eps_sum * 8 * sqrt(K)
// eps, K and D are of what the output is made of (executor/verify/lineage.h): its coarsest floating-point type (an f64
// that was cast from f32 has the errors of f32), its longest reduction, and the number of contractions and reductions
// that one run executes for it. eps_sum is that of what sums accumulate in, and scale the largest magnitude in the
// reference. All elements of an output of a few may be small because terms cancel: for these the reference is run
// again with inputs that are a little off, and scale is at least how far that moves the output, in units of that
// little, but no more than 1, unless t * scale stays within 0.05 of the output's own size.
//
// A comparison that is repeated in f64 takes eps of f64 to be 2^-38 (`repeated_epsilon`), in the middle between that of
// f32 and its own. Rounding that was more than it may be in f32 is 2^29 times less now, so it passes even where it is
// amplified 2^14 times; what else is wrong is as large as it was, and is found 2^15 times sooner.
//
// All of it is taken from the reference and its plan. What is compared with it has no say in how far it may be off.
//
// What N steps have updated began equal in both runs, so what counts is how far it moved:
//     4 * sqrt(N) * eps_own * magnitude + t_N * movement + 2 * jump * share,  t_N = N * t, but no more than 0.05 unless
//     t is
// and of mean squares nu (t_N * s)^2 more, since all that are kept may be of gradients that are noise. eps_own is that of
// its own type; movement is the largest change of an element since the beginning, of this output and all of its kind
// (parameters; states that are called alike, as all mu). The last term is for parameters whose optimizer takes the gradient's own size away:
// where a gradient is nothing but rounding noise, its sign is too, and a step is as long as any other. Such an optimizer
// keeps the size s_i of an element's gradient as the mean square nu, s_i = sqrt(nu), with nu_row nu_col / mean(nu_row) in
// place of nu where these are kept, or, if it has none of them, as the mean mu, s_i = |mu|. jump is the largest movement
// of a parameter, share min(1, t_N * s / s_i), where s is the largest of all sizes. Where all gradients of a model may be
// noise, s is noise too: a comparison in f64 that fails learns by further runs how large the terms T of outputs, and of
// what was updated, are (executor/verify/gradient_noise.h). What moved by no more than t_N * T, with t of f64, may be off by that much more,
// and a parameter with no size above it has share 1.
#pragma once

#include "executor/formats/tensor.h"
#include "executor/run/run.h"
#include "executor/verify/gradient_noise.h"

namespace shard {

// A gradient may also be noise in one step only, of which nu and mu show nothing in the end. For a gradient with a
// density around 0 that happens to about N * t_N of the elements: so many, and no more, may be off by what noise alone
// allows.
struct Allowance {
    double relative = 0;       // t or t_N; 0 for integers
    double absolute = 0;       // for every element
    std::vector<double> noise; // on top of it, by element; empty = none
    i64 outliers = 0;          // elements that may be off by `outlier` more
    double outlier = 0;
    double at(size_t i) const { return absolute + (noise.empty() ? 0 : noise[i]); }
};

inline constexpr double repeated_epsilon = 0x1p-38;

class Tolerances {
public:
    // The plan that made the reference.
    Tolerances(const Plan& plan, const RunResult& reference, bool is_repeated = false);

    // Further runs of that plan that show how large the terms of its outputs are: by as little as a rounding error,
    // where terms cancel to nothing and leave theirs, and by many, which the rounding errors of the run do not drown.
    std::vector<Nudge> nudges() const;
    void learn(const Nudge& nudge, const RunResult& nudged);

    // Of one of the plan's outputs after the last step; `expected` are the values that the reference has.
    Allowance of(const PlanOutput& output, std::span<const double> expected) const;
    // Of a scalar output after a step.
    double of_step(const PlanOutput& output, int step, double expected) const;

private:
    double relative(const PlanOutput& output, int steps) const;
    static double of_steps(double once, int steps);
    double large_share() const; // of the two that show the size of terms
    static double scale(double relative, double largest, double terms);
    std::string kind(const PlanOutput& output) const;
    const Buffer& buffer(int id) const { return plan_->buffers[id]; }
    double eps(DType dtype) const;

    const Plan* plan_;
    const RunResult* reference_;
    bool is_repeated_, is_in_f64_;
    double coarsest_ = 0;                                      // eps, of all outputs
    std::map<std::string, double> terms_;                      // the size of the terms, of outputs of a few elements
    std::map<std::string, std::vector<double>> terms_by_step_; // the same of scalars
    std::map<std::string, double> once_;                       // t, by output
    std::map<std::string, double> once_in_f64_;                // likewise, as if all were of f64
    std::map<std::string, double> movements_;                  // by kind
    double largest_gradient_ = 0;                              // the largest of the sizes above
    GradientNoise noise_;
};

} // namespace shard

// What an output of a plan is made of: everything that it depends on, as far as rounding is concerned. Two outputs of
// one plan may have little in common: a mean in f32 beside a matrix of bf16 has the errors of f32 alone.
//
//     y = bf16(x) @ w, a sum of 64 terms;  m = max(x)
//     of y:   coarsest bf16, longest 64, reductions 1
//     of m:   coarsest f32, longest as many as x has elements, reductions 1
#pragma once

#include "plans/plan/plan.h"

namespace shard {

struct Lineage {
    DType coarsest = DType::boolean; // of the floating-point types on the way; boolean if there is none
    double longest = 1;              // terms of the longest sum, of all devices together
    double reductions = 0; // contractions and reductions that one run executes for it, trips of loops included
};

class Lineages {
public:
    explicit Lineages(const Plan& plan);

    // In steps after the first an output is also made of what the steps before have updated.
    Lineage of(const PlanOutput& output, int steps) const;

private:
    // What writes a buffer.
    struct Maker {
        const Compute* compute = nullptr; // otherwise a collective
        const Start* start = nullptr;
        double trips = 1;
    };
    void add(const std::vector<Step>& steps, double trips);
    void count(const Maker& maker, Lineage& lineage) const;
    const Buffer& buffer(int id) const { return plan_->buffers[id]; }

    const Plan* plan_;
    std::vector<std::vector<Maker>> makers_; // by the buffer that holds the contents
};

} // namespace shard

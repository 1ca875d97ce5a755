// What makes a plan safe to run, piece by piece; plan_problems puts them together. Every other function returns an
// empty string, or what is wrong in one line. They accept anything: no check relies on another one having passed unless
// it says so.
#pragma once

#include "plans/plan.h"

#include <map>

namespace shard {

inline constexpr int deepest_loops = 8; // loops inside loops: each is walked twice for each walk of the one around

// What is wrong with a plan, and the path of it in plan.json, such as "steps[3]" or "buffers[2] 'w1'".
struct PlanProblem {
    std::string where, what;
};
std::vector<PlanProblem> plan_problems(const Plan& plan); // at most ten; empty for a plan that is safe to run
void report_problem(const PlanProblem& problem, Span span, Diagnostics& diagnostics); // E0506

bool valid_axes(const Mesh& mesh, std::span<const AxisRef> axes); // refs exist in the mesh, and none overlaps another
std::string sharding_problem(const Mesh& mesh, const Shape& global_shape, const Shape& local_shape,
                             const Sharding& sharding);

// Sizes, with products that fit; at least 1 each.
std::string type_problem(const TensorType& type);

// What an affine expression may refer to at one step: the trips of the loops around it and which buffers are integer
// scalars.
struct AffineScope {
    const Mesh* mesh = nullptr;
    std::map<int, i64> trips; // by loop index
    std::span<const Buffer> buffers;
};
struct Range {
    i64 low = 0, high = 0; // both included
};
// Every value the expression can take; nullopt if it refers to something that is not there, or leaves +-2^60.
std::optional<Range> range_of(const AffineScope& scope, const Affine& affine);
void add_scalars(const Affine& affine, std::vector<int>& buffers); // buffers that the expression reads

// Kernels against the types of their operands. Types must have passed type_problem.
std::string kernel_problem(const AffineScope& scope, const Kernel& kernel, std::span<const TensorType> inputs,
                           const TensorType& output);
std::string generate_problem(const AffineScope& scope, const Generate& generate,
                             const TensorType& output); // `start` may be left out
std::vector<int> scalars_read(const Kernel& kernel);
// True if the kernel reads element i of this input before it writes element i of the output and never again, so both
// may be the same bytes: pointwise, same number and size of elements, no broadcast and no transposition; or a move
// whose first piece is the whole operand, over which others are written.
bool can_run_in_place(const Kernel& kernel, size_t input, const TensorType& input_type, const TensorType& output);

// The same of a collective: it reduces and moves no blocks, so every device reads and writes its part of the group's
// buffers alone. From its Start on the bytes hold the result and no longer the operand.
bool can_run_in_place(const Collective& collective);

std::string collective_problem(const Mesh& mesh, const Collective& collective, const TensorType& before,
                               const TensorType& after);

// Runs the steps over the state of every buffer: written before read, not overlapping while alive, starts and waits
// paired. Calls `report` with the path of a step and what is wrong. Buffers must have passed their own checks. Returns
// the highest end of an extent that is alive at some step.
i64 check_steps(const Plan& plan, const std::function<void(const std::string& where, const std::string& what)>& report);

// The buffer at the end of a chain of aliases: the one whose extent is allocated and released.
int root_of(std::span<const Buffer> buffers, int buffer);
// The buffer whose contents this one shows: itself, or what it is a view of.
int contents_of(std::span<const Buffer> buffers, int buffer);
TensorType local_type(const Buffer& buffer);

} // namespace shard

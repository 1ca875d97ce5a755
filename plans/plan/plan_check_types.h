// Axes, shardings, types and affine expressions of a plan, checked. Functions that end in _problem return an empty
// string, or what is wrong in one line. They accept anything: no check relies on another one having passed unless it
// says so.
#pragma once

#include "plans/plan/plan.h"

#include <map>

namespace shard {

bool valid_axes(const Mesh& mesh, std::span<const AxisRef> axes); // refs exist in the mesh, and none overlaps another
// Rank, axes and the local shape that follows from them.
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

// As can_run_in_place of kernels (plans/kernel/kernel_in_place.h): it reduces and moves no blocks, so every device
// reads and writes its part of the group's buffers alone. From its Start on the bytes hold the result and no longer the
// operand.
bool can_run_in_place(const Collective& collective);

// What its kind takes, and the local types before and after.
std::string collective_problem(const Mesh& mesh, const Collective& collective, const TensorType& before,
                               const TensorType& after);

// The buffer at the end of a chain of aliases: the one whose extent is allocated and released.
int root_of(std::span<const Buffer> buffers, int buffer);
// The buffer whose contents this one shows: itself, or what it is a view of.
int contents_of(std::span<const Buffer> buffers, int buffer);
TensorType local_type(const Buffer& buffer); // what a device holds

} // namespace shard

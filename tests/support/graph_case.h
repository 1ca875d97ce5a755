// A small graph with its shardings written by hand, so that partitioning is tested without propagation.
#pragma once

#include "planner/partition/local.h"
#include "tests/support/blocks.h"

#include "planner/graph/op_def.h"
#include "planner/partition/partition.h"

namespace shard {

// One link kind of 1 byte/s without latency; kernels cost nothing. Seconds are then bytes that one device sends.
Hardware uniform_hardware();

struct GraphCase {
    Mesh mesh;
    Graph graph;
    Propagation propagation;

    ValueId input(std::string name, Shape shape, std::string_view sharding, Role role = Role::input);
    // One result; its type is what the op infers.
    ValueId op(std::string name, std::string_view op, std::vector<ValueId> operands, std::string_view sharding,
               Attributes attributes = {});
    ValueId constrain(std::string name, ValueId operand, std::string_view sharding);
    void output(ValueId id);

    Local run() const; // partition, verify, optimize, verify
};

// The collectives and slices of a local graph in order, with the value each makes: "z: all_reduce over model".
std::vector<std::string> reshards(const Mesh& mesh, const Local& local);
// Bytes that one device sends in all collectives.
i64 wire_bytes_per_device(const Mesh& mesh, const Local& local);
// The sharding of a local value by name; internal error if there is none.
std::string sharding_text(const Mesh& mesh, const Local& local, std::string_view name);

} // namespace shard

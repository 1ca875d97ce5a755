// Arguments of a graph entry, as written in YAML -> Attributes, by the declarations of an op or a composite.
#pragma once

#include "planner/graph/op_def.h"
#include "planner/model/model.h"

namespace shard {

struct ArgumentContext {
    const Model& model;
    std::string_view op;
    const std::vector<AttributeDef>& declared;
    std::span<const TensorType> operands;
    Span span; // the op's name
    Diagnostics& diagnostics;
    const GraphRegion* region = nullptr;      // the manual region around the entry
    std::vector<std::string_view> taken = {}; // what else may stand there, and is no attribute
};

struct ReadArguments {
    Attributes attributes; // in the order of their declaration
    std::optional<ShardingSpec> mesh;
};

// E0225 for an unknown or missing argument, E0226 for a value of another kind, E0228 for a dim that is not there.
std::optional<ReadArguments> read_arguments(const ArgumentContext& context, const YamlMap& arguments);
// E0225 for unknown ones alone: said of what cannot be read for another reason.
bool knows_arguments(const ArgumentContext& context, const YamlMap& arguments);

// A constraint.
bool asks_for_sharding(const OpDef& op);
// What a constraint asks for, as it was written, on the node that makes `result`.
void keep_constraint(Graph& graph, const OpDef& op, const ReadArguments& read, ValueId result);

} // namespace shard

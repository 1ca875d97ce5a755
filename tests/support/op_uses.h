// Uses of any op or composite, found by trying what its declaration allows: a new op has uses without a word here.
#pragma once

#include "planner/graph/op_def.h"
#include "tests/support/yaml_edit.h"

namespace shard {

// An op or a composite, as far as a model file sees it.
struct Operation {
    std::string name;
    OpDef::Arity operands;
    std::vector<AttributeDef> attributes;
    std::string subject; // OpDef::subject
};
std::vector<Operation> all_operations();

// Where an entry stands.
enum class Surroundings {
    graph,    // of the model
    manual,   // in the body of a manual region
    gradient, // in a module that is differentiated
    loop,     // in the body of a loop
};

struct OpUse {
    Yaml entry; // {op: operands or subject, in: ..., argument: value}
    Surroundings surroundings = Surroundings::graph;
    int results = 1;
};

// The model around a use, and a layout that splits what it can.
std::string model_of(const OpUse& use);
extern const std::string layout_of_uses;

// Uses that are planned, different ones. Empty if none was found.
std::vector<OpUse> accepted_uses(const Operation& operation, size_t count);

// Operands that models have, by name.
const std::vector<std::string>& operand_names();

} // namespace shard

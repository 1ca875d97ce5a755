// Checkpoints of plans that compute nothing: they keep their inputs and return them.
#pragma once

#include "executor/checkpoint/checkpoint.h"
#include "tests/support/plan_builder.h"

namespace shard {

struct Kept {
    std::string name;
    DType dtype;
    Shape shape;
    std::string sharding;
    Role role = Role::param;
    std::vector<i64> layers = {}; // as PlanInput::layers
};
Plan keeping_plan(const Mesh& mesh, const std::vector<Kept>& tensors);

// A folder of its own for each test, empty at first.
std::string fresh_folder(const std::string& name);

// An element of a tensor, by its flat index.
using KeptValue = std::function<double(const std::string& name, i64 index)>;
double count_to_200(const std::string& name, i64 index); // the index modulo 200

// The folder that was written.
std::string save(const Plan& plan, const std::string& folder, i64 step, const KeptValue& value = count_to_200);
// All that the plan keeps is found in a checkpoint, with these warnings, and has these values.
void check_restored(const Plan& plan, const std::string& path, const KeptValue& value = count_to_200,
                    const std::vector<std::string>& said = {});
// The last diagnostic of opening and selecting: "E0612 message".
std::string refusal(const Plan& plan, const std::string& path);

// Bytes that this process has read from files so far; -1 where the operating system does not say.
i64 bytes_read();

} // namespace shard

// Local graphs made by hand, for tests of schedule and price without the passes before them.
//
//     LocalGraph g(mesh);                                    // mesh {model: 4}
//     ValueId x = g.input("x", {8, 4}, "[- | model]");       // 8 x 16 whole
//     ValueId a = g.pointwise("a", ScalarOp::exp, {x});
//     g.output(g.all_gather("b", {"model"}, 1, a));
#pragma once

#include "planner/partition/local.h"
#include "planner/partition/partition.h"
#include "plans/plan/plan.h"

namespace shard {

class LocalGraph {
public:
    explicit LocalGraph(Mesh mesh) : mesh_(std::move(mesh)) {}

    // Shapes are local; the whole shape follows from the sharding (fully replicated if left out).
    ValueId input(const std::string& name, Shape local, const std::string& sharding = "", Role role = Role::input,
                  DType dtype = DType::f32);
    ValueId node(const std::string& name, Kernel kernel, std::vector<ValueId> inputs, Shape local,
                 const std::string& sharding = "", DType dtype = DType::f32);
    // Element by element over operands of one shape; the result is sharded like the first.
    ValueId pointwise(const std::string& name, ScalarOp op, std::vector<ValueId> inputs);
    ValueId reshape(const std::string& name, ValueId input, Shape local);
    // Fields of the kind; the result's type and sharding are what the kind defines.
    ValueId collective(const std::string& name, const std::string& kind, Collective fields, ValueId input);
    ValueId all_gather(const std::string& name, const std::vector<std::string>& axes, int dim, ValueId input);
    ValueId all_reduce(const std::string& name, const std::vector<std::string>& axes, ValueId input);
    void output(ValueId id);
    void update(ValueId input, ValueId output); // an output called like the input

    const Mesh& mesh() const { return mesh_; }
    const Local& local() const { return local_; }
    Local& local() { return local_; }
    const Value& value(ValueId id) const { return local_.graph.value(id); }
    std::vector<AxisRef> axes(const std::vector<std::string>& names) const;

private:
    ValueId add(const std::string& name, TensorType type, const Sharding& sharding);

    Mesh mesh_;
    Local local_;
};

Mesh mesh_of(std::vector<std::pair<std::string, i64>> axes);
// The plan's steps as words: "start b", "wait b", "exp x -> a", "release a".
std::vector<std::string> step_words(const Plan& plan);
// Every diagnostic as "CODE message".
std::vector<std::string> words(const Diagnostics& diagnostics);

} // namespace shard

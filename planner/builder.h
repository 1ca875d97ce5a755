// Adds nodes to a graph: infers types, names intermediate values, keeps places. Used by build and by composites.
#pragma once

#include "planner/op_def.h"

namespace shard {

class Builder {
public:
    Builder(Graph& graph, Diagnostics& diagnostics) : graph_(&graph), diagnostics_(&diagnostics) {}

    // Emits one op; nullopt after reporting what does not fit. Result names are "<prefix>.<op>", made unique; build renames the
    // last one to what the user called it.
    std::optional<ValueId> emit(std::string_view op, std::vector<ValueId> operands, Attributes attributes = {});
    std::optional<std::vector<ValueId>> emit_all(std::string_view op, std::vector<ValueId> operands, Attributes attributes = {});
    ValueId scalar(double value, DType dtype); // a rank-0 constant

    const TensorType& type(ValueId id) const { return graph_->value(id).type; }
    Graph& graph() { return *graph_; }
    Diagnostics& diagnostics() { return *diagnostics_; }

    // Where the nodes being emitted come from.
    void set_place(std::string scope, std::string prefix, Span span, std::vector<Span> operand_spans);

private:
    Graph* graph_;
    Diagnostics* diagnostics_;
    std::string scope_, prefix_;
    Span span_;
    std::vector<Span> operand_spans_;
};

// The build pass: Model -> Graph. Modules and repeats are expanded, composites lowered, names resolved, initializers attached.
std::optional<Graph> build_graph(const Model& model, Diagnostics& diagnostics);

} // namespace shard

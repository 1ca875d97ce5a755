// Plans made by hand, one step after another, for tests and without the planner: buffers lie one behind the other.
#pragma once

#include "executor/formats/tensor.h"
#include "executor/run/run.h"
#include "tests/support/tensors.h"

namespace shard {

Mesh make_mesh(std::vector<std::pair<std::string, i64>> axes);

class PlanBuilder {
public:
    explicit PlanBuilder(Mesh mesh);

    // A buffer of its own; the sharding in text form, empty for fully replicated.
    int buffer(const std::string& name, DType dtype, Shape global_shape, const std::string& sharding = "");
    int input(const std::string& name, DType dtype, Shape global_shape, const std::string& sharding = "");
    void compute(Kernel kernel, std::vector<int> inputs, int output);
    // Start and wait at once; returns the Start's number.
    int collective(const std::string& kind, Collective fields, int input, int output);
    int start(const std::string& kind, Collective fields, int input, int output); // returns the token
    void wait(int token);
    void release(int buffer);
    void output(const std::string& name, int buffer);
    // Steps until end_loop() are the body.
    void begin_loop(int index, i64 trips);
    void end_loop();

    Plan& plan() { return plan_; }
    std::vector<AxisRef> axes(const std::vector<std::string>& names) const;

private:
    std::vector<Step>& steps() { return bodies_.empty() ? plan_.steps : bodies_.back().body; }
    Plan plan_;
    std::vector<Loop> bodies_;
    int starts_ = 0;
};

// Runs and expects that nothing is reported.
RunResult run_clean(const Plan& plan, const RunOptions& options);

// out = program of one instruction over inputs of the output's own shape.
Pointwise pointwise(ScalarOp op, int inputs, int rank, DType dtype, DType result);

} // namespace shard

// What one device does, in StableHLO: an op or a few for every step of a program, under the names of the model, with
// the line of the user's file above.
#pragma once

#include "exporter/stablehlo/hlo_ops.h"
#include "plans/plan/plan_check_types.h"

#include <array>

namespace shard {

class HloBody {
public:
    HloBody(const Plan& plan, HloFunctions& functions, size_t indent) : plan_(plan), ops_(functions, indent) {}

    // The steps of the program, whose inputs have these names; the program's outputs.
    HloValues write(const LocalProgram& program, const std::vector<std::string>& arguments);
    // What a plan's input holds at the start.
    HloValue initial(const PlanInput& input);

    // For what writes kernels and collectives.
    const Plan& plan() const { return plan_; }
    HloOps& ops() { return ops_; }
    HloValue affine(const Affine& affine); // a scalar of i64
    HloValues affines(std::span<const Affine> starts);
    AffineScope scope() const { return {&plan_.mesh, trips_, plan_.buffers}; } // of the step that is written
    i64 device_at(i64 position) const; // the partition that stands there in the mesh

private:
    void write_steps(const std::vector<ProgramStep>& steps);
    HloValue compute(const ProgramCompute& compute);
    void write_loop(const ProgramLoop& loop);
    void comment(const SourceRef& source);
    void forget_source();                    // what follows comes from elsewhere
    HloValue coordinate(const AxisRef& ref); // of this device
    HloValue position();                     // of this device in the mesh
    HloValue value(int number) const;
    void set(int number, const HloValue& made); // under the name that the program has for it

    const Plan& plan_;
    HloOps ops_;
    const LocalProgram* program_ = nullptr;
    std::vector<std::string> value_names_;
    std::map<int, HloValue> scalars_, indices_; // by buffer; of loops
    std::map<int, i64> trips_;
    std::optional<HloValue> position_;
    std::map<std::array<i64, 3>, HloValue> coordinates_; // by the axis and its part
    SourceRef last_;
};

} // namespace shard

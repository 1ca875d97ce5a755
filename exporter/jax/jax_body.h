// The body of the function that one device runs, in Python over jax.numpy and jax.lax: a statement for every step of a
// program, under the names of the model, with the line of the user's file above.
#pragma once

#include "exporter/jax/python_names.h"
#include "exporter/mesh/named_mesh.h"
#include "exporter/program/local_program.h"
#include "exporter/python/python.h"
#include "plans/plan/plan_check_types.h"

#include <functional>

namespace shard {

// An operand or a result, as kernels write it: under its name in Python, of its local shape.
using JaxValue = ProgramValue;

class JaxBody {
public:
    JaxBody(const Plan& plan, const NamedMesh& mesh) : plan_(plan), mesh_(mesh) {}

    // The whole body: inputs of the program are `arguments`, in order; `returns` gets the names of its outputs.
    std::string write(const LocalProgram& program, const std::vector<std::string>& arguments,
                      std::vector<std::string>& returns);
    // What a plan's input holds at the start, as an expression.
    PythonText initial(const PlanInput& input);

    // For what writes kernels and collectives.
    const Plan& plan() const { return plan_; }
    const NamedMesh& mesh() const { return mesh_; }
    std::string fresh(std::string_view path) { return names_.fresh(path); }
    void assign(const std::string& name, const PythonText& value); // a statement
    std::string part(const JaxValue& of, const PythonText& value); // the same, under a name of its own
    // A function of its own, under a name like `stem`, which it gives: what `result` writes, and returns. The parameters
    // hide what has their names outside.
    std::string function(std::string_view stem, const std::vector<std::string>& decorators,
                         const std::vector<std::string>& parameters, const std::function<PythonText(JaxBody&)>& result);
    std::string affine(const Affine& affine) const;
    AffineScope scope() const { return {&plan_.mesh, trips_, plan_.buffers}; } // of the step that is written
    std::string text_so_far() const { return text_; }

private:
    void write_steps(const std::vector<ProgramStep>& steps);
    void write_compute(const ProgramCompute& compute);
    void write_loop(const ProgramLoop& loop);
    void comment(const SourceRef& source);
    JaxValue value(int number) const;
    std::string name_result(int number);

    const Plan& plan_;
    const NamedMesh& mesh_;
    const LocalProgram* program_ = nullptr;
    UniqueNames names_ = python_names();
    std::vector<std::string> value_names_;
    std::map<int, JaxValue> scalars_;    // by buffer
    std::map<int, std::string> indices_; // of loops
    std::map<int, i64> trips_;
    std::string text_;
    size_t indent_ = 4;
    SourceRef last_;
};

// "jnp.float32", and a number as text: jnp.inf, -0.5.
std::string jax_dtype(DType dtype);
std::string jax_number(double value, DType dtype);
std::string shape_tuple(std::span<const i64> shape); // "(8, 4)", "(8,)"

} // namespace shard

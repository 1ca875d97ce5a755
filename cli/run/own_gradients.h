// Gradients of an imported loss beside those that its program makes itself (jax.value_and_grad): StableHLO has no
// stop_gradient and no rules of jax.custom_vjp, so they may be others.
#pragma once

#include "importer/program/import_program.h"
#include "plans/diagnostics/diagnostic.h"

#include <optional>
#include <string>
#include <vector>

namespace shard {

struct GradientComparison {
    struct Parameter {
        std::string name;
        double difference =
            0; // the largest of an element, of the largest of all gradients, the model's and the program's
    };
    std::vector<Parameter> parameters; // those of which the program has the gradient, in its order
    std::vector<std::string> without;  // parameters of which it has none
    double allowed = 0;
    bool is_same(const Parameter& parameter) const { return parameter.difference <= allowed; }
};

// Runs both on one device: a step of the loss, and the program as it is, from the same values, which are the model's own.
// In f64 where the program does not take bits of floating-point numbers. nullopt after an error: what of the two cannot
// be planned or run, or E0812 if a gradient is no number.
std::optional<GradientComparison> compare_gradients(const ImportedProgram& loss, const ImportedProgram& whole,
                                                    Diagnostics& diagnostics);

} // namespace shard

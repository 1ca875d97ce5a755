// How a collective is written for other engines, one file per kind: exporter/collectives/<kind>.cpp defines
// `const CollectiveForm& form_of_<kind>()`.
#pragma once

#include "exporter/jax/jax_body.h"

namespace shard {

struct CollectiveForm {
    // Over axes of the mesh that the body has; statements that it needs before go into the body.
    PythonText (*jax)(const Collective&, const JaxValue& input, JaxBody& body) = nullptr;
};

const CollectiveForm& form_of(const Collective& collective);

// What forms share: "model" or ("data", "model").
std::string jax_axes(const JaxBody& body, std::span<const AxisRef> axes);
// A reduction over all devices of a group. Booleans are sent as bytes.
PythonText jax_all_reduce(ReduceOp reduce, std::span<const AxisRef> axes, const JaxValue& input, JaxBody& body);

} // namespace shard

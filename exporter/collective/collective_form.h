// How a collective is written for other engines, one file per kind: exporter/collectives/<kind>.cpp defines
// `const CollectiveForm& form_of_<kind>()`.
#pragma once

#include "exporter/program/local_program.h"
#include "exporter/python/python.h"

namespace shard {

class JaxBody;
class HloBody;

// Each gets the operand under its name there; statements that the result needs before go into the body.
struct CollectiveForm {
    PythonText (*jax)(const Collective&, const ProgramValue& input, JaxBody& body) = nullptr;
    ProgramValue (*stablehlo)(const Collective&, const ProgramValue& input, HloBody& body) = nullptr;
};

const CollectiveForm& form_of(const Collective& collective);

} // namespace shard

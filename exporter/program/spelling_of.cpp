#include "exporter/program/spelling_of.h"

#include "instruction_headers.inc"

namespace shard {

namespace {

// The words of keys are several ops in StableHLO.
template<ScalarOp op>
constexpr bool is_spelled = !Instruction<op>::spelling.jax.empty() && (!Instruction<op>::spelling.stablehlo.empty() ||
                                                                       Instruction<op>::types == ScalarTypes::words);

} // namespace

const Spelling& spelling_of(ScalarOp op) {
    switch (op) {
#define REGISTER(stem)                                                                                                 \
    case ScalarOp::stem:                                                                                               \
        static_assert(is_spelled<ScalarOp::stem>, "its file says how Python and StableHLO write it");                  \
        return Instruction<ScalarOp::stem>::spelling;
#include "instruction_registry.inc"
#undef REGISTER
    default:
        internal_error("an input, a constant, an index and casts belong to the kernel");
    }
}

} // namespace shard

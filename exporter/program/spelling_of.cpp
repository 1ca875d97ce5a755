#include "exporter/program/spelling_of.h"

#include "instruction_headers.inc"

namespace shard {

const Spelling& spelling_of(ScalarOp op) {
    switch (op) {
#define REGISTER(stem)                                                                                                 \
    case ScalarOp::stem:                                                                                               \
        return Instruction<ScalarOp::stem>::spelling;
#include "instruction_registry.inc"
#undef REGISTER
    default:
        internal_error("an input, a constant, an index and a cast belong to the kernel");
    }
}

} // namespace shard

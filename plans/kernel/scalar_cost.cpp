#include "plans/kernel/scalar_cost.h"

#include "instruction_headers.inc"

namespace shard {

namespace {

template<ScalarOp op>
constexpr bool says_series() {
    if constexpr (requires { Instruction<op>::is_series; })
        return Instruction<op>::is_series;
    else
        return false;
}

} // namespace

bool is_series(ScalarOp op) {
    switch (op) {
#define REGISTER(stem)                                                                                                 \
    case ScalarOp::stem:                                                                                               \
        return says_series<ScalarOp::stem>();
#include "instruction_registry.inc"
#undef REGISTER
    case ScalarOp::input:
    case ScalarOp::constant:
    case ScalarOp::index:
    case ScalarOp::cast:
    case ScalarOp::bitcast:
        break;
    }
    return false;
}

} // namespace shard

// The instructions of pointwise kernels: functions of one element, one per file of plans/instructions/, over which
// graph ops are written. Five forms belong to the kernel itself and have no file.
//
// Whole numbers are C++'s of their size, booleans std::uint8_t; narrow types are computed in 32 bits and rounded or
// wrapped afterwards (plans/dtype/dtype.h). A file is the whole of its instruction: what its types are, and what it
// makes of elements.
//
//     template<>
//     struct Instruction<ScalarOp::exp> {
//         static constexpr int operands = 1;
//         static constexpr ScalarTypes types = ScalarTypes::floating;
//         static constexpr Spelling spelling = {.jax = "jnp.exp({0})", .stablehlo = "stablehlo.exponential"};
//         template<typename T>
//         static T of(T x) {
//             return std::exp(x);
//         }
//     };
#pragma once

#include "plans/sharding/type.h"

namespace shard {

enum class ScalarOp {
    input,    // args[0]: which input of the kernel
    constant, // value
    index,    // the global index along output dim args[0]: local index + start
    cast,     // to dtype
    bitcast,  // the same bits as a number of dtype, which has as many
#define REGISTER(stem) stem,
#include "instruction_registry.inc"
#undef REGISTER
};

// Of which types an instruction is, and of which its result.
enum class ScalarTypes {
    same,     // any T... -> T
    floating, // floating-point T... -> T
    test,     // any T... -> boolean
    choice,   // (boolean, T, T) -> T
    whole,    // whole numbers T... -> T
    words,    // u32... -> u32
};

template<ScalarOp op>
struct Instruction; // operands, types, spelling, of

} // namespace shard

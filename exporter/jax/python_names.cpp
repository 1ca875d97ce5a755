#include "exporter/jax/python_names.h"

namespace shard {

UniqueNames python_names() {
    // clang-format off
    return UniqueNames({
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
        "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "abs", "bool", "dict",
        "float", "int", "len", "list", "max", "min", "range", "slice", "sum", "tuple", "zip", "jax", "jnp", "lax",
        "numpy", "P", "copy_box", "own_rows", "random_bits", "uniform", "normal", "truncated_normal", "bernoulli",
        "randint", "fold_in", "threefry", "local_step", "local_start", "step", "start", "mesh", "main", "state",
        "inputs", "MESH", "DEVICES", "STATE", "INPUTS", "OUTPUTS", "positions", "partial", "select_windows",
        "own_groups", "rbg_bits", "high_low", "ragged_rows", "ragged_groups", "pad", "crop", "zero_padding", "PADDED"});
    // clang-format on
}

} // namespace shard

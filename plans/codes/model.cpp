#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_model() {
    return {
        {"E0201", "not a name",
         "Names of axes, tensors, modules and results consist of letters, digits, '_' and '-' and start with a letter "
         "or '_'. Where a value is used, a path (block.0.w1) or an older binding of a name (a#2) may stand as well."},
        {"E0202", "bad arithmetic",
         "A size, a count or an index is an integer or arithmetic over axes with + - * / and parentheses, for example "
         "ffn: 4*embed. The message points at what does not fit. At most 1000 axes can be declared."},
        {"E0203", "unknown op",
         "A graph entry uses an op, a composite or a module that does not exist. `shardc list ops` and `shardc list "
         "composites` show what there is; modules are declared under modules:."},
        {"E0204", "size does not fit",
         "A size does not fit in 64 bits, or a tensor has more than 2^60 bytes. A slip of a few digits is the usual "
         "cause."},
        {"E0205", "unknown axis",
         "A logical axis is used, by itself or in arithmetic, that is not declared under axes:. Declare it with its "
         "size, or give the tensor a "
         "shape: next to its axes, which then need no declaration."},
        {"E0206", "size below 1",
         "Every size and count is at least 1: an empty tensor cannot be sharded, and a negative size means nothing."},
        {"E0207", "inexact division",
         "A size is computed by a division that leaves a remainder, or by zero. Division is exact, so that head: "
         "embed/heads cannot lose elements in silence."},
        {"E0208", "axes defined by each other",
         "The size of an axis needs itself, directly or through others. Give one of them a number."},
        {"E0209", "dims that do not fit",
         "The axes and the shape of a tensor disagree: another number of dims, another size, or a dim without a name "
         "where sizes come from names. A tensor has at most 16 dims."},
        {"E0210", "unknown dtype",
         "The element type is none of those that `shardc explain cast` lists: it is written f32, bf16, i32, not "
         "float32, bfloat16, int32."},
        {"E0211", "tensor without dims",
         "An input or a parameter says neither axes: [...] nor shape: [...]. A scalar is written shape: []."},
        {"E0212", "bad graph entry",
         "A graph is a list of entries, each of one name and one op: - h: {dot: [x, w]}. Exactly one key of the inner "
         "map is an op, a composite, a module or repeat; its value are the operands, and the other keys are "
         "arguments."},
        {"E0213", "bad initializer",
         "An initializer is a name (init: lecun_normal) or a map of one name to its arguments (init: {normal: {stddev: "
         "0.02}}). With rng.keys: explicit it also has a key: a seed, or a list of two 32-bit words."},
        {"E0214", "declared twice", "Two inputs, parameters, formal inputs or outputs have the same name."},
        {"E0215", "not supported by this version",
         "The file uses a part of the format that this version does not build yet. It is refused rather than ignored, "
         "since a plan without it would be another plan."},
        {"E0216", "module with the name of an op",
         "A module may not be named like an op or a composite: entries could not be told apart."},
        {"E0217", "unknown optimizer",
         "train.optimizer names one of the optimizers that shardc has, with its arguments: {adam: {learning_rate: "
         "1.0e-3}}. They are also composites, so `shardc list composites` describes them."},
        {"E0219", "compatibility that does not apply",
         "rng: {compat: xla_concatenate_2024} reproduces a defect that only the bits of partitionable: false had. It "
         "is refused where it would change nothing."},
        {"E0220", "microbatches that do not fit",
         "microbatches: {count: 4, axis: batch} cuts the axis into parts of one size, which are computed one after the "
         "other. Unsaid, the axis is the first input's first one, which all inputs or a target must begin with. The "
         "count divides its size."},
        {"E0218", "limit that is not positive",
         "clip: {global_norm: 1.0} scales the gradients down when their norm is above the limit; a limit of zero or "
         "less would leave nothing of them."},
    };
}

} // namespace shard

#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_build() {
    return {
        {"E0221", "wrong number of operands",
         "An op, a composite or a module is given more or fewer operands than it takes. The message says how many it "
         "takes; `shardc list ops NAME` shows an example."},
        {"E0222", "name not defined",
         "An operand or an output is neither an input, a parameter, nor the result of an entry above. Entries run from "
         "top to bottom: a name can be used below the entry that defines it. Inside a module only the module's own "
         "inputs, parameters and results can be seen."},
        {"E0223", "shapes that do not fit",
         "The operands of an op have sizes that must be equal and are not. The message names both shapes and the dims. "
         "Pointwise ops align shapes at the last dim, as numpy does; `dot` contracts the last dim of the left with the "
         "second-to-last of the right."},
        {"E0224", "element types that do not fit",
         "Nothing is converted silently: the operands of an op have one element type, and some ops need a "
         "floating-point type, a whole number or bool. Convert with {cast: x, dtype: f32}. A number written in place "
         "of an operand takes the type of the others."},
        {"E0225", "unknown or missing argument",
         "An entry has an argument that its op does not take, or lacks one that it needs. `shardc list ops` shows the "
         "arguments of each op."},
        {"E0226", "argument that does not fit",
         "The value of an argument is of another kind than the op takes, or does not fit the operand: too few entries, "
         "a slice beyond the end, a number that the element type cannot hold."},
        {"E0227", "too large",
         "A value is empty, or has more than 2^60 bytes, or the model has more than 200,000 ops once modules and "
         "repeats are written out. A slip of a few digits in an axis size is the usual cause."},
        {"E0228", "no such dim or axis",
         "A dim is named by its number, from 0 or from -1 at the end, or by the logical axis that the value carries "
         "there. A size is a number or an axis of the model. The message lists what there is."},
        {"E0229", "bad einsum equation",
         "An equation has one letter for each dim, operands separated by commas, and the result behind an arrow: "
         "\"ik,kj->ij\". Letters that are missing in the result are summed, a letter that an operand has twice takes "
         "the diagonal, and \"...\" stands for further dims."},
        {"E0230", "module that contains itself",
         "A module calls itself, directly or through others, so writing it out would never end. For several in a row "
         "use {repeat: block, times: 4, in: x}."},
        {"E0231", "results that do not fit",
         "An entry names more or fewer results than its op or module has, or a module is repeated whose outputs do not "
         "fit its inputs: outputs become the first inputs of the next repetition."},
        {"E0232", "initializer that does not fit",
         "The initializer of an input or a parameter is unknown, lacks an argument, or makes numbers that the element "
         "type cannot hold; or the model says `keys: explicit` and a parameter has no key."},
        {"E0234", "declared twice",
         "An input, a parameter or a target has the name of another value. Inputs and parameters share their names, "
         "and a target may not be called like a result of the graph: the loss could not say which of the two it "
         "means."},
        {"E0240", "loss that is not a number",
         "What is differentiated is one floating-point number: the loss of `train`, or the output of the module of a "
         "value_and_grad. Reduce it, for example with {mean: x}; the composites mse and softmax_cross_entropy end in "
         "a mean already."},
        {"E0241", "metric that is not a number",
         "A metric is one floating-point number, or a sum and a count whose quotient is reported, as {accuracy: "
         "[logits, label]} gives."},
        {"E0242", "model without training",
         "--mode train plans one train step, which a model describes in its `train` block: a loss, an optimizer, and "
         "the targets that the loss compares with. `shardc import` writes it where a program returns a loss and has "
         "parameters: arguments below `params`, or those that --params names."},
        {"E0243", "nothing to train",
         "Gradients are taken with respect to floating-point parameters, and the model has none. What is declared "
         "under `inputs` is data and is not changed by a train step."},
        {"E0244", "gradient that does not fit",
         "The gradient that a module declares says in `given` what the gradient of each of its outputs is called, and "
         "in `gives` which values are the gradients of its inputs and parameters. Each has the shape and the element "
         "type of what it belongs to, and whole numbers have none. What lies within such a module has no gradient, as "
         "its own graph is not differentiated."},
        {"E0245", "not in a declared gradient",
         "The graph of a module's own gradient is copied into the backward pass wherever it is needed, so it declares "
         "no parameters, and has neither loops nor modules with a gradient of their own. Declare the parameters in the "
         "module itself, whose gradient graph sees them; write `repeat` without `scan`."},
        {"E0246", "no second derivative",
         "The gradient of attention makes its scores again in blocks, and is not differentiated once more. Where a "
         "gradient of a gradient is wanted, write attention out: an einsum, a softmax, and an einsum with v. So it is "
         "with max_pool and min_pool, which can be written as the maximum of slices; and where their windows are "
         "dilated they have no first derivative either."},
        {"E0247", "update that does not fit",
         "`updates` of a model says what an input, a variable or a parameter holds after a step, those of a module "
         "what "
         "its own variables and parameters hold: a value of its shape and element type, one for each. It is returned "
         "under the name of what is updated, which no output has. Manual regions have no updates."},
        {"E0248", "remat of no value",
         "remat: {save: [q, k], offload: [x]} names what of a module's values the backward pass finds again: its "
         "inputs, results of its entries and, by path, of the modules that it calls. Patterns are those of overrides: "
         "`*` stops at dots, `**` does not; a name that is bound several times means the last, and a#2 the second."},
        {"W0204", "dims of attention in another order",
         "Attention takes queries, keys and values of (batch, length, heads, head_dim). An operand's logical axes name "
         "heads where the length stands, or a length where heads do, as (batch, heads, length, head_dim) of other "
         "libraries would: the shapes may fit all the same, and then heads attend to heads. Transpose the operands and "
         "the result, or project into the order that it takes. If the names mean something else, give the dims "
         "others."},
        {"W0205", "the same numbers in every microbatch",
         "An op draws by a key that the graph computes, which is the same in all microbatches: each drops or adds the "
         "same, "
         "where one large batch would have had other numbers in every row. A computed key is what it is. A key that is "
         "written, with the count of steps, is another in every microbatch; or fold something of the batch into the "
         "computed one, as the first of its tokens."},
        {"W0202", "numbers that depend on the layout",
         "The model asks for random bits as XLA's partitioner made them in 2024, with rng: {compat: "
         "xla_concatenate_2024}: a parameter of which several copies are made, and whose first dim is split, has other "
         "numbers than on one device. It is there to reproduce numbers printed then; leave it out for anything else."},
        {"W0203", "an axis of no stack",
         "`axis` of a loop names the dim along which the loop's parameters, and results that it stacks, lie on top of "
         "each other. This loop has none of them, so a rule for the axis splits nothing."},
        {"W0201", "value that is not used",
         "An input, a parameter or a result is read by no entry and is not an output. It is computed and stored for "
         "nothing: remove it, or name it in `outputs`."},
    };
}

} // namespace shard

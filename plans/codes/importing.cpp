#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_importing() {
    return {
        {"E0801", "not a program",
         "The file is no text of MLIR that JAX or XLA write: it was cut off, edited, or is of another kind. Where an "
         "op "
         "is named, it is not as StableHLO defines it, or does not make what the program says. JAX gives "
         "one with jax.jit(f).lower(...).as_text(debug_info=True), and writes one for each function that it compiles "
         "into the folder "
         "that JAX_DUMP_IR_TO names."},
        {"E0802", "program too large",
         "A program may have 64 MiB of text, brackets and regions nested 64 deep, a million values, and a million ops "
         "once its functions and loops are written out."},
        {"E0803", "op that is not known",
         "An op of the program has no counterpart in the model language, or none is made of it yet: decompositions of "
         "matrices among them. Let the program take what the op computes as an argument, or return "
         "its operands, and write that part of the model by hand."},
        {"E0804", "form of an op that is not known",
         "The op is known, and used in a way that has no counterpart: a reduction by a rule of its own, a loop that "
         "ends when a value is computed, a gather of windows, a size that is not known before the program runs."},
        {"E0805", "element type without counterpart",
         "Models have floating-point and whole numbers of 8 to 64 bits, and bool; the message says which. A value of "
         "the program has another type, as of 4 bits, or is no tensor."},
        {"E0806", "program without results",
         "The function that is imported returns nothing, so there is nothing to plan."},
        {"E0807", "not a config.json",
         "The file of `init --from` is no config.json of Hugging Face's transformers: no JSON, or a value is missing "
         "or of another kind than it is in the configs of its family."},
        {"E0808", "config without a model",
         "The config.json is of a family that no model is made of, or asks for something within its family that none "
         "is made with, as an activation that is not the published models'. The message says what there is. Write the "
         "model by hand: begin with one that is near, and with the modules of `shardc list library`."},
        {"E0809", "program without a loss to train",
         "`import --as loss` makes a model that shardc differentiates: a result of the program is the loss, one "
         "floating-point number that is no argument's next value, and some of its arguments are parameters, those "
         "below "
         "`params` unless --params says which."},
        {"E0810", "rules that are no layout",
         "`shardc rules` reads how MaxText, T5X or torchtitan split arrays: mesh axes with their sizes, and rules. "
         "Here the "
         "file lacks them, says them in another form, or its sizes do not fit the devices. --devices and --slices say "
         "how "
         "many there are, a size of -1 is what the others leave. Pipelines have no counterpart in a layout."},
        {"E0811", "axis names that do not fit a program",
         "The file of `import --axes` has a line for each pattern of arguments' paths, with a name for each dim: "
         "`params.**.kernel: [embed, mlp]`, `~` for a dim without one. Here a line says something else, matches no "
         "argument, names more or fewer dims than its arrays have, or gives one name to dims of two sizes."},
        {"E0812", "gradients that are not the program's own",
         "`import --check-gradients` runs a step of the imported loss and the program itself, which makes gradients "
         "too, on "
         "one device from the same values, and compares the gradients of every parameter. They differ where the "
         "program "
         "stops a gradient (jax.lax.stop_gradient) or has rules of its own (jax.custom_vjp), which its text does not "
         "have: "
         "write `stop_gradient` into the model where the program has it, or plan the program's own step by --as step."},
        {"W0801", "sharding over devices",
         "Programs that were lowered for GSPMD say how arrays lie on devices by their numbers (mhlo.sharding). Import "
         "finds the mesh that these are over and calls its axes axis_0, axis_1, ... This one is no split over axes of "
         "one mesh (an array on one device, devices in some other order), and is left out of the model and its layout: "
         "lower the program with Shardy, JAX's default since 0.7, or write the layout by hand."},
        {"W0802", "no layout fits",
         "`init --from` compared layouts of the devices given, and a training step of the model fits in the memory of "
         "none. The layout that was written is the one that needs least. More devices, a smaller batch or shorter "
         "sequences help."},
        {"W0803", "step that updates nothing",
         "`import --as step` takes the donated arguments of a step for what it updates: parameters, states of the "
         "optimizer, caches. The program donates none, so it is planned once, and its arguments and their new values "
         "are in memory side by side. Lower it with jax.jit(step, donate_argnums=...)."},
        {"W0804", "call without a result",
         "The program calls a function of the host that gives nothing back, as jax.debug.print and jax.debug.callback "
         "do. The model leaves it out, since no result depends on it."},
        {"W0805", "degree that is left out",
         "`shardc rules` reads the degrees of parallelism of a config: in MaxText's ici_AXIS_parallelism and "
         "dcn_AXIS_parallelism of the axes in mesh_axes, in torchtitan's [parallelism] the *_degree that it knows. "
         "This key is none of them, so the layout is made without it, as the tool itself may run without it. Where "
         "it is misspelt, the mesh lacks what it was to say."},
        {"W0806", "loss without parameters",
         "A program whose first result is a number becomes a model with a `train` block if it has parameters: "
         "arguments below `params`, or those that `import --params` names. This one has none, so it is planned forward "
         "alone. --params 'p.**' makes all arguments below `p` parameters."},
        {"W0807", "results that shardc makes",
         "A step or a value_and_grad was imported as a loss: what it returns in the places of its arguments are "
         "gradients, new parameters and states, which shardc makes of the loss. They are left out, and with them what "
         "only they need: the program's own backward pass and optimizer."},
        {"W0808", "weights as constants",
         "A traced function that closes over arrays, as jax.jit(lambda x: model(x)) does over a model's weights, has "
         "them as "
         "constants. They are computed with as they are, but they are no parameters: no rule splits them, training "
         "leaves "
         "them as they are, and every device that needs one holds what it needs of it. Pass them as arguments of the "
         "function that is lowered."},
        {"W0809", "arguments without names",
         "JAX prints names of arguments and lines of Python only where it is asked for them: "
         "as_text(debug_info=True). Without, arguments are arg0, arg1 and so on, none of them is known as a parameter, "
         "and reports name no line of the traced program."},
    };
}

} // namespace shard

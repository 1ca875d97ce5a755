#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_layout() {
    return {
        {"E0301", "mesh axis below 1",
         "A mesh axis has at least one device along it. An axis of size 1 is allowed and splits nothing."},
        {"E0302", "mesh too large",
         "The mesh has more than 32 axes, or more than 2^40 devices. Plans do not grow with the number of devices, so "
         "a "
         "million of them is fine."},
        {"E0303", "device_ids do not fit",
         "device_ids lists the id of the device at each position of the mesh, row-major: each of 0 to n-1 once. It may "
         "be left out."},
        {"E0305", "bad sharding",
         "A sharding is a list with one entry per dim: an axis (data), a list of axes, major to minor ([data, model]), "
         "~ for replicated, \"?\" for open, \"data?\" for at least data, \"data@1\" with a priority, \"data:(1)2\" for "
         "a sub-axis."},
        {"E0306", "bad rule",
         "A rule is a map of one entry, from a logical axis to a mesh axis, a list of mesh axes, ~ (replicated) or "
         "\"?\" (unconstrained): - {batch: data}. Rules are a list because their order decides."},
        {"E0308", "bad path pattern",
         "Overrides name tensors by path: names joined by dots, where * stands for any text without a dot, ** for any "
         "text, ? for one character, {0..3} for a number from 0 to 3, {a,b} for a or b."},
        {"E0309", "not an amount of bytes", "Amounts are written 16 GiB, 1.5 GB, 512 KiB, or as plain bytes."},
        {"E0310", "rule for an axis that the mesh lacks",
         "A rule names a mesh axis that this mesh does not have. Such a rule would do nothing, which is rarely what "
         "was meant. Rule sets that serve several meshes say missing_axes: ignore: then the missing axis is left out "
         "of the rule."},
        {"E0311", "mesh axis used twice in one array",
         "A mesh axis can split only one dim of an array: a device has one coordinate along it, which cannot choose a "
         "block of two dims independently. Sub-axes that do not overlap may be used on several dims."},
        {"E0312", "sharding of another rank",
         "A sharding has one entry per dim of the array; this one has more or fewer."},
        {"E0313", "dim does not divide",
         "A dim is split over mesh axes whose sizes multiply to a number that does not divide it, so devices would "
         "hold blocks of different sizes. Choose another axis, leave the dim whole, or pad it: the message names sizes "
         "that would do."},
        {"E0314", "logical axis twice in one array",
         "With linen rules an array may not use a logical axis name for two dims, since a rule could not tell them "
         "apart. Rename one."},
        {"E0315", "inconsistent rules",
         "With nnx semantics a variable's own rules and the layout's are joined. Both name this logical axis and send "
         "it to different mesh axes."},
        {"E0316", "unknown mesh axis",
         "A sharding names an axis that the mesh does not have, or a sub-axis that does not fit its axis."},
        {"W0301", "override without effect", "The path pattern of an override matches no tensor of the model."},
        {"W0302", "unused rule", "No tensor or constraint of the model has the rule's logical axis."},
        {"W0303", "shadowed rule",
         "The rule can never apply: an earlier rule for the same logical axis always wins. A rule to ~ is final, and a "
         "rule whose mesh axes are a subset of a later rule's fits whenever the later one does."},
        {"W0304", "logical axis without a rule",
         "A logical axis of the model is named by no rule, so dims with it are replicated. This is said only where it "
         "looks like an omission: the layout says of other axes that they are replicated, or has a rule with nearly "
         "that name that nothing uses. Say so with {name: ~} if it is meant."},
        {"W0305", "rule blocked everywhere",
         "In every array that has the rule's logical axis, an earlier rule took the dim or one of the mesh axes "
         "first."},
        {"W0306", "linen and nnx disagree",
         "The rules give this array another sharding, or an error, under the other semantics. Linen walks the rules in "
         "order and skips axes that are taken; NNX replaces each name by its last rule. Write `semantics` in the "
         "layout to say which is meant."},
        {"W0307", "large parameter on every device",
         "A parameter of more than 16 MiB is held in full by every device of the mesh. Give one of its logical axes a "
         "rule, or an override."},
        {"W0308", "fsdp leaves a parameter whole",
         "The layout's fsdp splits every parameter of at least min_size elements along its largest dim that divides "
         "and that no rule splits. This one has no such dim, so every device along the axis holds all of it. Give it a "
         "rule or an override, or choose sizes that divide. Where all parameters are smaller than min_size, fsdp does "
         "nothing: give a smaller min_size."},
        {"W0309", "layers split over a mesh axis",
         "The dim along which a scanned block's parameters are stacked is split, so a device stores the parameters of "
         "some of the layers. Every layer is still computed by all devices along the axis, to which its parameters are "
         "sent in its turn: that is no pipeline. `fsdp` stores as little, and every device sends its part of "
         "each layer; the batch, heads or hidden dims over the axis save time."},
        {"W0310", "axis dropped from a dim",
         "The layout says `divisibility: drop`, and the axes that a rule or a sharding gives this dim do not divide "
         "it. "
         "The last of them are left out until the others do, so that the dim is split over fewer devices, or is whole. "
         "`divisibility: pad` splits it as asked; so do axes that divide."},
        {"W0311", "parts of padding alone",
         "The layout says `divisibility: pad`, and this dim is so short that when all devices hold as much of it, "
         "rounded "
         "up, the last ones hold nothing but padding: 5 over 4 is 2, 2, 1 and none. They compute it all the same. "
         "Choose "
         "axes with fewer devices for this dim."},
        {"W0312", "microbatches smaller than the mesh",
         "The rows of a microbatch are no multiple of the devices over which the layout splits the batch: each device "
         "cannot take rows of its own in every microbatch, so several compute the same ones, and the rows are sent "
         "between devices in each. Take fewer microbatches, a larger batch, or split the batch over fewer devices."},
    };
}

} // namespace shard

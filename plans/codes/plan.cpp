#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_plan() {
    return {
        {"E0330", "unknown hardware profile",
         "`hardware` names neither a built-in profile (`shardc list hardware`) nor a file: a name that ends in .yaml "
         "is a file, relative to the layout."},
        {"E0331", "bad hardware profile",
         "A hardware profile holds something that cannot be: a link without bandwidth, a negative number, a dtype that "
         "does not exist. The built-in profiles are examples of the form."},
        {"E0401", "too large to plan",
         "The bytes that one device would hold, or that all devices would exchange, do not fit 64-bit arithmetic. "
         "Nothing was allocated. Look at the axis sizes of the tensor that the message names: a slip of a few digits "
         "is the usual cause."},
        {"E0402", "unknown link",
         "A mesh axis names a link that the hardware profile does not have. The message lists the links of the "
         "profile; leave `link` out to use its default link."},
        {"E0501", "not a plan file",
         "The file is not JSON, or it is JSON that is not a plan. `shardc plan MODEL LAYOUT -o plan.json` writes a "
         "plan file."},
        {"E0502", "plan of another version",
         "The plan file was written by a program whose plans have another format version. A plan file holds the two "
         "YAML texts it came from: take them out of \"sources\" and plan them again with this program."},
        {"E0503", "truncated plan", "The plan file ends in the middle. Copy it again, or plan the model again."},
        {"E0504", "edited plan",
         "The plan file was changed after it was written: its checksum does not match its content. A plan is a result, "
         "not an input: change the layout and plan again."},
        {"E0505", "malformed plan",
         "The plan file lacks something that a plan has, or holds something of a kind that this program does not know. "
         "The message gives the path of the value inside the JSON, such as steps[3].compute.kernel, and its place in "
         "the file."},
        {"E0506", "plan that cannot run safely",
         "The plan is well-formed but contradicts itself: a buffer outside the arena, a kernel whose operands do not "
         "fit, a buffer that is read before it is written, two live buffers in the same bytes, a collective that "
         "nobody waits for. Such a plan is never run. A plan written by shardc passes this check: if it fails for one, "
         "that is a bug."},
        {"E0507", "plan that its texts do not give",
         "`run --verify` compiles the texts inside a plan file again. This program made another plan of them than the "
         "file holds: another version wrote it, or it was changed and sealed again. Plan the model again. With "
         "--allow-other-plan what it computes is compared with what the texts say all the same, on the inputs of that "
         "run."},
        {"E0508", "not the text of a graph",
         "A text that should be a graph, as `shardc explain MODEL LAYOUT --after PASS --details` prints one, is none: "
         "a "
         "line that is none of a graph, a name that no line above makes, a kernel that neither follows from the types "
         "nor stands in the line's details, or a graph that breaks what holds of every graph."},
        {"E0509", "plan without a form in another engine",
         "`shardc export` writes a plan for engines whose meshes have whole axes. This plan splits over parts of one "
         "axis "
         "that are not parts of each other, such as the halves and the thirds of 6 devices. Write the axis as several "
         "axes in the layout's mesh, {a: 2, b: 3} for {model: 6}, and the rules with them."},
        {"W0501", "plan of a program that plans in another way",
         "`show` and `explain` compile the texts inside a plan file again, since a plan does not say why. This program "
         "made another plan of them than the file holds: figures are those of the file, reasons those of this "
         "program. Plan the model again. `run --verify --allow-other-plan` warns of it too."},
        {"P0101", "policy: memory",
         "The plan's peak memory per device is above policy.max_memory_per_device. The finding names the largest "
         "of what is alive where the most is."},
        {"P0102", "policy: wire bytes",
         "One device sends more bytes than policy.max_wire_bytes_per_device. The finding names the most expensive "
         "collectives."},
        {"P0103", "policy: number of collectives",
         "The plan executes more collectives than policy.max_collectives. The finding lists what causes them."},
        {"P0104", "policy: forbidden collective",
         "The plan contains a collective of a kind that policy.forbid_collectives lists. The finding names the tensor "
         "and the cause of each."},
        {"P0105", "policy: replicated parameters",
         "More bytes of parameters are held in full on every device than policy.max_replicated_param_bytes allows. The "
         "finding names the largest."},
        {"P0106", "policy: step time",
         "The predicted time of a step is above policy.max_step_seconds. The finding says how much of it is "
         "computation and how much is waiting for collectives."},
        {"P0107", "figure above the baseline",
         "A figure of the plan is worse than the baseline's by more than is tolerated (`check --baseline FILE "
         "--tolerance 3%`): the time of a step, exposed communication, peak memory, what a device sends, the number of "
         "collectives. The finding says what it was, what it is and the limit, where the layout begins. If the change "
         "is meant, the same command with --accept writes the figures of now into the baseline."},
        {"P0108", "policy: bytes of an axis or a kind",
         "In the collectives that an entry of policy.max_wire_bytes means, those over an axis or of a kind, a device "
         "sends more than its limit. The finding names the most expensive of them."},
        {"P0109", "policy: exposed communication",
         "A device waits for collectives in a larger part of a step than policy.max_exposed_share. `shardc plan --only "
         "time` shows what waits for what."},
        {"P0110", "policy: collective in a loop",
         "A collective whose kind policy.forbid_in_loops lists is executed more than once in a step: once for each "
         "layer, or each microbatch. The finding says how often, and why it is there."},
        {"P0111", "policy: array that must be sharded",
         "An array that policy.must_be_sharded means is not split over the mesh axes that it names, or over any where "
         "it names none. Give one of its logical axes a rule, or an override."},
        {"P0112", "policy: array that must not be replicated",
         "An array that policy.must_not_replicate means is held in full by every device. Give one of its logical axes "
         "a "
         "rule, or an override."},
        {"P0113", "policy: copies of a parameter",
         "A parameter is on more devices than policy.max_param_copies: along every mesh axis that splits none of its "
         "dims, each device holds the same. Split it over more axes, with rules or `fsdp`."},
        {"P0114", "policy: two axes together",
         "A collective runs over both mesh axes of a pair in policy.forbid_axis_pairs, or a dim is split over both: "
         "one message then crosses the links of both."},
        {"P0115", "policy: memory of the host",
         "What a device keeps in its host's memory, values that a `remat` offloads and states of the optimizer, is at "
         "its peak above policy.max_host_memory_per_device."},
        {"W0401", "does not fit the hardware",
         "The plan's peak memory is larger than the memory of one device of the hardware profile, "
         "or what it keeps on its host than its share of the host's. The plan can still "
         "be made and run on emulated devices; `check` fails. The message names the largest of what is alive at the "
         "peak: split it, or accept it with a comment, # shardc: allow W0401 and why."},
        {"W0402", "policy that means nothing",
         "The pattern of a policy matches no name of the model, or its mesh axis is nearly one of the mesh and none of "
         "them, so that the policy holds whatever the plan is: a slip of the pen, or a name that has changed. A "
         "pattern "
         "is a path in which * stands for any text without a dot, ** for any text."},
        {"W0403", "XLA gathers everything",
         "With `partitioner: xla`: no single step of XLA's partitioner leads from the sharding that a value has to the "
         "one that is needed, so every device gathers all of it and keeps its part. XLA logs \"Involuntary full "
         "rematerialization\" there. A constraint on a sharding in between, from which one step leads on, avoids it: "
         "the "
         "warning names one."},
        {"W0404", "attention goes another way",
         "The layout's `attention` asks for a way that this attention cannot go: its heads do not divide over the "
         "devices of the sequence (all_to_all), it is not causal or its positions do not make two parts for each "
         "device "
         "(zigzag), or its bias is trained (ring). Keys and values are gathered there. Say it by path, "
         "`attention: {\"block.*.o\": ring}`, or leave the choice to the price: `attention: auto`."},
        {"W0405", "rows that products are slow at",
         "Tensor cores read the rows of matrices in pieces of 16 bytes, 8 numbers of bf16. Where the rows of an "
         "operand "
         "or a result begin between two pieces, as those of a vocabulary of 50,257 do, GPUs' libraries take kernels "
         "that "
         "are 2 to 7 times as slow (docs/measured-kernels.md). The price does not count it: the warning says which "
         "axis it is, how much of the step's FLOPs are in such products, and the next size that fits. A vocabulary is "
         "made larger by rows that no token has, as GPT-2's to 50,304; for a dim that is split, what counts is the "
         "part on a device."},
    };
}

} // namespace shard

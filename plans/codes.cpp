// Every diagnostic code and what `shardc explain CODE` says about it. Codes are never reused or renumbered.
#include "plans/codes.h"

#include <algorithm>

namespace shard {

namespace {

// Codes of planning, plan files and the command line; the other ranges have their own files.
std::vector<CodeDoc> other_codes() {
    return {
        {"E0401", "too large to plan",
         "The bytes that one device would hold, or that all devices would exchange, do not fit 64-bit arithmetic. Nothing was allocated. Look at the "
         "axis sizes of the tensor that the message names: a slip of a few digits is the usual cause."},
        {"E0402", "unknown link",
         "A mesh axis names a link that the hardware profile does not have. The message lists the links of the profile; leave `link` out to use its "
         "default link."},
        {"E0501", "not a plan file",
         "The file is not JSON, or it is JSON that is not a plan. `shardc plan MODEL LAYOUT -o plan.json` writes a plan file."},
        {"E0502", "plan of another version",
         "The plan file was written by a program whose plans have another format version. A plan file holds the two YAML texts it came from: take "
         "them out of \"sources\" and plan them again with this program."},
        {"E0503", "truncated plan", "The plan file ends in the middle. Copy it again, or plan the model again."},
        {"E0504", "edited plan",
         "The plan file was changed after it was written: its checksum does not match its content. A plan is a result, not an input: change the "
         "layout and plan again."},
        {"E0505", "malformed plan",
         "The plan file lacks something that a plan has, or holds something of a kind that this program does not know. The message gives the path "
         "of the value inside the JSON, such as steps[3].compute.kernel."},
        {"E0506", "plan that cannot run safely",
         "The plan is well-formed but contradicts itself: a buffer outside the arena, a kernel whose operands do not fit, a buffer that is read "
         "before it is written, two live buffers in the same bytes, a collective that nobody waits for. Such a plan is never run. A plan written by "
         "shardc passes this check: if it fails for one, that is a bug."},
        {"E0701", "bad command line",
         "The command, an option or its value is not one that shardc knows. `shardc --help` lists commands, `shardc COMMAND --help` options."},
        {"E0702", "file cannot be read", "A file named on the command line does not exist or cannot be read."},
        {"E0703", "file cannot be written", "A file could not be written. Nothing was left half-written: files appear whole, by rename, or not at all."},
        {"E0704", "not a plan file",
         "A file given where a plan is expected is neither a plan nor part of a model and its layout. `shardc plan MODEL LAYOUT -o plan.json` "
         "writes a plan; `run` and `diff` take plan files, or a model followed by layouts."},
        {"E0705", "nothing to verify with",
         "--verify plans the model again on one device, from the texts inside the plan file. This plan has none."},
        {"E0706", "no such thing",
         "The name given is not one that the model has, or that the list holds. The message names what is near it."},
        {"P0101", "policy: memory",
         "The plan's peak memory per device is above policy.max_memory_per_device. The finding names the largest tensors on a device."},
        {"P0102", "policy: wire bytes",
         "One device sends more bytes than policy.max_wire_bytes_per_device. The finding names the most expensive collectives."},
        {"P0103", "policy: number of collectives",
         "The plan executes more collectives than policy.max_collectives. The finding lists what causes them."},
        {"P0104", "policy: forbidden collective",
         "The plan contains a collective of a kind that policy.forbid_collectives lists. The finding names the tensor and the cause of each."},
        {"P0105", "policy: replicated parameters",
         "More bytes of parameters are held in full on every device than policy.max_replicated_param_bytes allows. The finding names the largest."},
        {"P0106", "policy: step time",
         "The predicted time of a step is above policy.max_step_seconds. The finding says how much of it is computation and how much is waiting for "
         "collectives."},
        {"W0401", "does not fit the hardware",
         "The plan's peak memory is larger than the memory of one device of the hardware profile. The plan can still be made and run on emulated "
         "devices. Shard the largest tensors that the message names, or set policy.max_memory_per_device to make this a failure."},
    };
}

std::vector<CodeDoc> sorted_codes() {
    std::vector<CodeDoc> codes;
    for (const std::vector<CodeDoc>& table : {reading_codes(), model_codes(), build_codes(), layout_codes(), running_codes(), other_codes()})
        codes.insert(codes.end(), table.begin(), table.end());
    std::sort(codes.begin(), codes.end(), [](const CodeDoc& a, const CodeDoc& b) { return a.code < b.code; });
    return codes;
}

} // namespace

const std::vector<CodeDoc>& all_codes() {
    static const std::vector<CodeDoc> codes = sorted_codes();
    return codes;
}

const CodeDoc* find_code(std::string_view code) {
    const std::vector<CodeDoc>& codes = all_codes();
    std::vector<CodeDoc>::const_iterator it = std::find_if(codes.begin(), codes.end(), [code](const CodeDoc& doc) { return doc.code == code; });
    return it == codes.end() ? nullptr : &*it;
}

} // namespace shard

#include "plans/codes.h"

namespace shard {

std::vector<CodeDoc> running_codes() {
    return {
        {"E0601", "not enough memory to run",
         "The plan's arenas (one per device, all in this machine's memory) and the outputs do not fit into the memory "
         "that is free. It is refused "
         "before anything is allocated. Planning needs no memory for tensors: only `run` does. Use smaller sizes for a "
         "trial run."},
        {"E0602", "an input does not fit",
         "The tensor given for an input has another element type or shape than the plan's. Shapes are global: the "
         "executor cuts out the shards. "
         "float32 is accepted for a bf16 input and rounded."},
        {"E0603", "no such input", "A tensor was given for a name that is not an input, param or state of the plan."},
        {"E0604", "replicas of a value differ",
         "Two devices hold the same block of an output, but not the same bits. A plan from `shardc plan` never does "
         "that: the plan was edited, or "
         "this is a bug worth reporting."},
        {"E0605", "the wrong OpenBLAS was loaded",
         "Workers call OpenBLAS at the same time. Only its pthread build is correct and fast then; the serial build "
         "gives wrong results silently. "
         "Install libopenblas-pthread-dev, and choose it with `update-alternatives --config "
         "libopenblas.so.0-x86_64-linux-gnu`."},
        {"E0606", "a .npy file cannot be used",
         "The file is missing, is not in numpy's .npy format (versions 1 to 3), is cut, or holds elements of a type "
         "that shardc does not have. "
         "Known are float32, float64, int32, int64, uint32 and bool, little endian, in C or Fortran order."},
        {"E0607", "a .npy file cannot be written",
         "The folder is missing or not writable, or the disk is full. Nothing was left half-written."},
        {"P0201", "an output differs from the reference",
         "The run's output and that of the reference (the same model planned for one device) differ by more than "
         "rounding explains. The tolerance "
         "follows from the element type and the longest reduction: docs/verification.md. The first element that "
         "differs is named with the device "
         "that holds it."},
        {"P0202", "the runs do not have the same outputs",
         "An output is missing in one of the two runs, or has another type there."},
        {"P0203", "other bytes were moved than predicted",
         "The emulated devices exchanged another number of bytes than the plan predicts. Bytes are counted where they "
         "are moved, so this is a bug "
         "in shardc, or an edited plan."},
        {"P0204", "other memory was touched than predicted",
         "The fullest emulated device touched another extent of its arena than the plan predicts. This is a bug in "
         "shardc, or an edited plan."},
    };
}

} // namespace shard

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
         "The disk is full, or what was writable before the run no longer is. Nothing was left half-written."},
        {"E0608", "a matrix is too large for BLAS",
         "A device would multiply matrices of more than 2^31 - 1 rows or columns, which OpenBLAS cannot count. The "
         "plan "
         "is fine: split the dim over more devices to run it."},
        {"E0611", "a checkpoint cannot be read",
         "There is no checkpoint at the place given, or the operating system does not let it be read. A checkpoint is "
         "a "
         "folder that `run --save` made, or any folder with safetensors files: model.safetensors.index.json and the "
         "files it names, or model.safetensors alone; or one such file."},
        {"E0612", "a file of a checkpoint is damaged",
         "The file named is cut, was changed after it was written (its size, checksum or step are not those of the "
         "index), is not in the safetensors format, or lacks a piece of a tensor that the index says it holds. Nothing "
         "was run. Take another checkpoint: a run that is killed while it saves leaves the one before whole."},
        {"E0613", "a checkpoint does not fit the model",
         "The checkpoint lacks a parameter or optimizer state of the plan, or holds it with another shape or element "
         "type. Mesh and layout may differ from those it was saved with, the model may not, except that a block that "
         "was scanned may be written out, or the other way round, with as many layers. With --mode forward only "
         "parameters are needed; `--restore-only params` takes only those for training too, and begins with new "
         "optimizer states. bf16 is read where the model has f32, and f32 where it has bf16 (W0602)."},
        {"E0614", "a checkpoint cannot be written",
         "The folder cannot be made or written, the disk is full, or another run is saving there. The run ends, since "
         "nothing of what it goes on to compute would be kept; the checkpoint from before is as it was."},
        {"W0601", "a checkpoint holds more than is used",
         "The checkpoint has tensors of names that the model has no parameter or state for. They are not read. The "
         "states of another optimizer are an example; a parameter that was renamed is another, and a mistake."},
        {"W0602", "values of a checkpoint are rounded",
         "The checkpoint has f32 where the model has bf16. Values are rounded to the nearest; a run that is continued "
         "that way does not go on exactly as the one that was saved."},
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

#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_running() {
    return {
        {"E0601", "not enough memory to run",
         "The plan's arenas (one per device, all in this machine's memory), what keeps track of the devices, and the "
         "outputs do not fit into the memory that is free: in the machine, in the process's cgroup, within `ulimit "
         "-v`. It is refused before anything is allocated. Planning needs no memory for tensors: only `run` does. Use "
         "smaller sizes for a trial run. Any command says the same when memory is refused to it on the way."},
        {"E0602", "an input does not fit",
         "The tensor given for an input has another element type or shape than the plan's. Shapes are global: the "
         "executor cuts out the shards. Types that the plan's type holds without loss are converted (W0603), and "
         "float32 is rounded for a bf16 input; float64 is not rounded to f32, since only you know whether that is "
         "fine: x.astype('float32') in numpy does it."},
        {"E0603", "no such input", "A tensor was given for a name that is not an input, param or state of the plan."},
        {"E0604", "replicas of a value differ",
         "Two devices hold the same block of an output, but not the same bits. A manual region with `check: false` "
         "claimed that they would: name the axis in its sharding, or combine the values. Without such a region a plan "
         "from `shardc plan` never does that: the plan was edited, or this is a bug worth reporting."},
        {"E0605", "OpenBLAS is missing, or the wrong one",
         "Products of matrices are OpenBLAS's, which is loaded when a plan that has some is run. It cannot be found, "
         "or what was found is of no use: workers call it at the same time. Only its pthread build is correct and fast "
         "then; the serial build gives wrong results silently. Install libopenblas-pthread-dev, and choose it with "
         "`update-alternatives --config libopenblas.so.0-x86_64-linux-gnu`."},
        {"E0606", "a .npy file cannot be used",
         "The file is missing, is not in numpy's .npy format (versions 1 to 3), is shorter or longer than its header "
         "says, or holds elements of a type that shardc cannot read. Known are floats of 2, 4 and 8 bytes, integers of "
         "1, 2, 4 and 8, and bool, in either byte order, in C or Fortran order. bf16 has no type in numpy: write it as "
         "float32. A pipe may stand for the file; it is read to the end that its header declares, and a pipe that "
         "nobody writes to is waited for."},
        {"E0607", "a .npy file cannot be written",
         "The disk is full, or what was writable before the run no longer is. Where the disk has surely no room for "
         "all "
         "outputs, that is said before the run. Nothing was left half-written."},
        {"E0608", "a matrix is too large for BLAS",
         "A device would multiply matrices of more than 2^31 - 1 rows or columns, which OpenBLAS cannot count. The "
         "plan is fine: split the dim over more devices to run it."},
        {"E0609", "too much to emulate",
         "Running the plan means more devices (2^20), or more steps of all devices together (2^32, trips of loops "
         "included), than this program emulates: it would take hours, and Ctrl-C ends a run between two steps of "
         "training only. Planning has no such limit. Use a smaller mesh or fewer trips for a trial run."},
        {"E0611", "a checkpoint cannot be read",
         "There is no checkpoint at the place given, or the operating system does not let it be read. A checkpoint is "
         "a folder that `run --save` made, or any folder with safetensors files: model.safetensors.index.json and the "
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
         "optimizer states. Types that the model's type holds without loss are converted (W0603), and f32 and f16 are "
         "rounded where the model has bf16 (W0602); f64 is not rounded to f32."},
        {"E0614", "a checkpoint cannot be written",
         "The folder cannot be made or written, the disk is full, or another run is saving there; what can be seen "
         "before is said before a run. The run ends, since nothing of what it goes on to compute would be kept; the "
         "checkpoint from before is as it was."},
        {"E0615", "names of checkpoints that do not fit",
         "The file of a model's `checkpoint_names` names a parameter that the model lacks, or says of one what cannot "
         "be: a rearrangement that is not written as \"(heads kv) embed -> embed heads kv\", that has other dims than "
         "the parameter, or a name without the number of the layer where the parameter is of every layer. "
         "docs/init.md says how it is written; `shardc init --from config.json` writes one."},
        {"E0616", "no library for MPI",
         "`run --engine mpi` loads a plugin for the MPI library whose mpirun started it: Open MPI or MPICH. The plugin "
         "was not built, since the library's headers were not there, or the library itself is not installed where it "
         "is run; or srun started processes without --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH), which do not know of "
         "each other. Install openmpi-bin and libopenmpi-dev, or mpich and libmpich-dev, and build shardc again. The "
         "environment variable SHARDC_MPI_PLUGIN names a plugin that lies elsewhere."},
        {"E0617", "devices that ranks cannot hold",
         "Each rank of a run under mpirun holds as many neighbouring positions of the mesh: their number divides "
         "that of devices. Start another number of ranks, or plan for another mesh."},
        {"E0618", "a rank has not come",
         "With --timeout, ranks that waited that long for a message asked the others, and those named gave no answer: "
         "they hang, or they are busy with a step, an input or a checkpoint that takes longer. All ranks were ended; "
         "the last checkpoint is whole. Look at the machine of the rank that is named, or give more time."},
        {"W0601", "a checkpoint holds more than is used",
         "The checkpoint has tensors of names that the model has no parameter or state for. They are not read. The "
         "states of another optimizer are an example; a parameter that was renamed is another, and a mistake."},
        {"W0602", "values of a file are rounded",
         "A checkpoint, or the file of an input, has f32 or f16 where the model has bf16. Values are rounded to the "
         "nearest; a run that is continued from a checkpoint that way does not go on exactly as the one that was "
         "saved."},
        {"W0603", "values of a file are converted",
         "The file holds numbers of another type than the model, or in the other byte order, and the model's type has "
         "all of them: f16 where the model has f32, u8 where it has i32. No value changes. Types that would lose "
         "something are refused (E0602, E0613), except that floats are rounded to bf16 (W0602)."},
        {"P0201", "an output differs from the reference",
         "The run's output and that of the reference (the same model planned for one device) differ by more than "
         "rounding explains. The tolerance follows from the element type and the longest reduction: "
         "docs/verification.md. The first element that differs is named with the device that holds it."},
        {"P0202", "the runs do not have the same inputs and outputs",
         "An input or an output is missing in one of the two runs, or has another type or role there."},
        {"P0203", "other bytes were moved than predicted",
         "The emulated devices exchanged another number of bytes than the plan predicts. Bytes are counted where they "
         "are moved, so this is a bug in shardc, or an edited plan."},
        {"P0204", "other memory was touched than predicted",
         "The fullest emulated device touched another extent of its arena than the plan predicts. This is a bug in "
         "shardc, or an edited plan."},
    };
}

} // namespace shard

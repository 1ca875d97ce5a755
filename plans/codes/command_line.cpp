#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_command_line() {
    return {
        {"E0701", "bad command line",
         "The command, an option or its value is not one that shardc knows. `shardc --help` lists commands, `shardc "
         "COMMAND --help` options."},
        {"E0702", "file cannot be read", "A file named on the command line does not exist or cannot be read."},
        {"E0703", "file cannot be written",
         "A file cannot be written: its folder is missing or not writable, it is read-only, the disk is full or the "
         "file too large. What can be seen before is said before a long run. Nothing was left half-written: files "
         "appear whole, by rename, or not at all. Only what is no file (a pipe, a device) is written to where it "
         "stands."},
        {"E0704", "not a plan file",
         "A file given where a plan is expected is neither a plan nor part of a model and its layout. `shardc plan "
         "MODEL LAYOUT -o plan.json` writes a plan; `run` and `diff` take plan files, or a model followed by layouts."},
        {"E0707", "an output would be written over an input or another output",
         "Two options of a command name the same file, by the same or another path (a symbolic link, a hard link), and "
         "at least one of them writes it: `plan model.yaml layout.yaml -o layout.yaml`. Or an output is something that "
         "was read though no option names it: the hardware profile of the layout, a file of the checkpoint that is "
         "restored. Or it is the file that the shell sends stdout or stderr to: `-o out > out`. Nothing was written. "
         "Name another file. What is no file, as /dev/null, may be named twice."},
        {"E0705", "nothing to verify with",
         "--verify plans the model again on one device, from the texts inside the plan file. This plan has none."},
        {"E0706", "no such thing",
         "The name given is not one that the model has, or that the list holds. The message names what is near it."},
        {"E0709", "file of another kind",
         "A layout stands where a model is expected, or the other way round. A model has a `graph`, a layout has a "
         "`mesh`; the model comes first: shardc plan MODEL LAYOUT. Or `fmt`, which lays out YAML, was given a plan or "
         "a "
         "program."},
        {"E0710", "nothing to set",
         "--set names what neither the model nor the layout says, or something that is not one value. It takes the "
         "name "
         "of an argument or an axis of the model, batch=128, or a path into either file, mesh.data=16. A key of theirs "
         "(`shardc list keys`) may be set where it is not written, fsdp.min_size=64, if it can stand in braces or at "
         "the end "
         "of the file; any other name must be written there. Sizes of a model that says `sizes: fixed`, as one that "
         "was "
         "imported does, stand as numbers in its graph and are not set."},
        {"E0711", "not a baseline",
         "--baseline takes a plan file (`shardc plan MODEL LAYOUT -o FILE`), or the figures of many layouts, as "
         "`shardc check ... --accept` writes them, which replaces no file that is something else."},
        {"E0712", "bad configuration",
         "shardc.yaml says what `shardc check` checks: `models`, `layouts` and `policies`, and how: `mode`, `set`, "
         "`strict`, `baseline`, `tolerance`. What an entry of `models` says itself stands in the place of what the "
         "file "
         "says of all. Every model has a layout, a pattern matches a file, and no two checks have one name: `name` "
         "gives an entry another than its path. `shardc schema config` prints the form."},
        {"E0713", "nothing to check",
         "`shardc check` without files checks what shardc.yaml says, in this folder or in one above it up to the "
         "repository's. There is none. Name files, MODEL LAYOUT..., or write one: models: [model.yaml] and layouts: "
         "[layouts/*.yaml]."},
        {"E0714", "file that is there already",
         "`init` writes over nothing. Write into another folder (--output DIR), move what is there away, or say "
         "--force."},
        {"E0715", "names of no plan",
         "--names takes the file that `shardc import --names` wrote with the model: what the program calls each of its "
         "arguments, and the name that the model, and so the plan, has for it."},
        {"W0701", "not in the baseline",
         "The baseline says nothing of this layout, so its figures are compared with nothing: a layout that is new, or "
         "has another name or path. Write the baseline again to have it in."},
        {"W0702", "in the baseline, and not checked",
         "The baseline has figures of layouts that shardc.yaml does not lead to any more: their files were deleted or "
         "moved, or no pattern finds them. Whoever takes a layout out of a check says so by writing the baseline "
         "again."},
        {"E0708", "stdout cannot be written",
         "What the command prints did not arrive: the disk or the quota is full, the file is larger than is allowed, "
         "or stdout is closed. What was printed is not whole. Files that the command wrote are; --output FILE writes a "
         "payload whole or not at all. A pipe that nobody reads any more (shardc ... | head -1) is no error: the "
         "command ends without a word, with exit code 141. A training run ends after the running step, as with "
         "Ctrl-C."},
    };
}

} // namespace shard

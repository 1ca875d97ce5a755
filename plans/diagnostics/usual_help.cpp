#include "plans/diagnostics/usual_help.h"

#include <algorithm>
#include <array>
#include <utility>

namespace shard {

namespace {

constexpr auto usual = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"E0101", "write `key: value`, one a line, indented with spaces"},
    {"E0104", "write a name in front of the colon; quote one that begins with a special character"},
    {"E0105", "look for a bracket that is opened too often"},
    {"E0106", "write the value out where the alias stands"},
    {"E0108", "save it as a text file in UTF-8"},
    {"E0109", "`shardc schema model` and `shardc schema layout` print what a file holds"},
    {"E0111", "close it, or remove the one that opens it"},
    {"E0113", "`shardc schema NAME` prints the form of a file: model, layout, policy or hardware"},
    {"E0115", "whole numbers go from -2^63 to 2^63 - 1, others to 1.8e308; sizes are not negative"},
    {"E0116", "add the key; `shardc schema model` and `shardc schema layout` print what a file holds"},
    {"E0118", "`shardc list` shows what there is"},
    {"E0119", "write # shardc: allow CODE and the reason"},
    {"E0201", "use letters, digits, '_' and '-'; a dot between a module and what is in it"},
    {"E0202", "write a number, an axis, or arithmetic over them with + - * / and parentheses"},
    {"E0204", "choose a smaller size"},
    {"E0205", "declare it under `axes`: name: size"},
    {"E0206", "write a whole number from 1"},
    {"E0207", "divide by a size that is not 0"},
    {"E0208", "give one of them a number"},
    {"E0209", "make the two agree, or leave `shape` out where `axes` give the sizes"},
    {"E0210", "`shardc explain cast` lists the element types"},
    {"E0213", "write a number, or [first word, second word]"},
    {"E0214", "remove one of them, or give it another name"},
    {"E0217", "`shardc list composites` prints the optimizers too: write optimizer: {adam: {learning_rate: 1.0e-3}}"},
    {"E0218", "write a number above 0"},
    {"E0221", "`shardc explain NAME` says what an op takes; a module takes what its `inputs` list"},
    {"E0222", "a name is defined by `inputs`, `params` or an entry of the graph above"},
    {"E0223", "look at the shapes: `shardc explain NAME` says what the op takes"},
    {"E0224", "convert it first: {cast: x, dtype: f32}, or the type that is asked for"},
    {"E0225", "`shardc explain OP`, with the name of the op, lists its arguments"},
    {"E0226", "`shardc explain NAME` says which values an argument takes"},
    {"E0227", "choose smaller sizes, or fewer repeats"},
    {"E0228", "name a dim by its number, from 0, or by its axis"},
    {"E0231", "let what comes out have the number, the types and the shapes that are asked for"},
    {"E0232", "`shardc list initializers` shows what there is, `shardc explain NAME` its arguments"},
    {"E0241", "let the graph give a scalar, or a sum and a count: [sum, count]"},
    {"E0244", "`given` names inputs and outputs of the module, `gives` its inputs and params"},
    {"E0272", "name axes that the region is manual over, each once"},
    {"E0274", "combine the values first: psum, pmean or all_gather"},
    {"E0278", "choose a size that the devices divide, or another dim"},
    {"E0279", "without --lowered `shardc explain MODEL LAYOUT` says what the plan does"},
    {"E0301", "write a whole number from 1; leave out an axis that splits nothing"},
    {"E0302", "choose a smaller mesh"},
    {"E0303", "list each device once, in the order of the mesh"},
    {"E0306", "name it once"},
    {"E0310", "name an axis of the mesh"},
    {"E0312", "write one entry for each dim, ~ for one that is not split"},
    {"E0313", "split the dim over fewer devices, or choose a size that divides"},
    {"E0316", "name an axis of the mesh, or add it to `mesh`"},
    {"E0331", "`shardc list hardware h100` prints a profile that is complete"},
    {"E0401", "choose smaller sizes"},
    {"E0508", "`shardc explain MODEL LAYOUT --after PASS --details` prints a graph as a text that is read back"},
    {"E0601", "choose smaller sizes for a trial run; planning needs no memory for tensors"},
    {"E0602", "give an array of the element type and the global shape that the model declares"},
    {"E0603", "name an input, param or state of the plan"},
    {"E0606", "write it with numpy.save, as float32, float64, int32, int64, uint32 or bool"},
    {"E0607", "check that the folder is there and can be written"},
    {"E0611", "name a folder that `run --save` made, or a folder or file of safetensors"},
    {"E0612", "take another checkpoint"},
    {"E0613", "name a checkpoint of this model"},
    {"E0701", "`shardc COMMAND --help` lists options and what they take"},
    {"E0703", "name another place, or see to it that the folder is there, can be written and has room"},
    {"E0707", "give each output a file of its own"},
    {"E0712", "`shardc schema config` prints the form of shardc.yaml"},
    {"E0801", "give the text that JAX writes: jax.jit(f).lower(...).as_text(debug_info=True)"},
    {"E0802", "lower a smaller part of the program"},
    {"E0804", "write this part of the program in another way, or the model by hand"},
    {"P0101", "split more, use more devices, `remat` or microbatches; or raise policy.max_memory_per_device"},
    {"P0102", "`shardc explain`, of the same files and --mode, shows what would send less; or raise "
              "policy.max_wire_bytes_per_device"},
    {"P0103", "`shardc explain`, of the same files and --mode, shows what would make them fewer; or raise "
              "policy.max_collectives"},
    {"P0104", "`shardc explain`, of the same files and --mode, shows what would make them go"},
    {"P0105", "split them with a rule, or `fsdp`; or raise policy.max_replicated_param_bytes"},
    {"P0106",
     "`shardc explain`, of the same files and --mode, shows what would be faster; or raise policy.max_step_seconds"},
    {"P0108", "`shardc explain`, of the same files and --mode, shows what would send less; or raise the limit"},
    {"P0109", "`shardc plan MODEL LAYOUT --only collectives` says of each how much is waited for"},
    {"P0110", "`shardc explain`, of the same files and --mode, shows what would make them go"},
    {"P0111", "give one of its logical axes a rule, or an override under params or values"},
    {"P0112", "give one of its logical axes a rule, or an override; for parameters and states, `fsdp`"},
    {"P0113", "split it over more axes, with rules or `fsdp`; or raise policy.max_param_copies"},
    {"P0114", "give the dims to one axis each, or take the pair out of policy.forbid_axis_pairs"},
    {"P0115", "keep less there: fewer values under remat.offload; or raise policy.max_host_memory_per_device"},
    {"P0201",
     "find the first value that differs: `shardc explain PLAN NAME`; if the plan was not edited, report it as a bug"},
    {"P0202", "plan the model again"},
    {"W0204", "transpose the operands, and the result back: `shardc explain attention` says which dim is which"},
    {"W0301", "`shardc plan MODEL LAYOUT --all` lists what there is"},
    {"W0308", "choose an axis whose size divides a dim, or raise fsdp.min_size above their size"},
    {"W0309", "use fsdp, or give the axis to the batch, heads or hidden dims"},
    {"W0311", "choose axes of which each has elements"},
    {"W0310", "`divisibility: pad` splits the dim; or choose axes that divide it"},
    {"W0401", "split more, use more devices, `remat` or microbatches"},
    {"W0402", "`shardc plan MODEL LAYOUT --all` lists what there is"},
    {"W0403", "let the sharding that it has and the one that is needed differ in fewer dims"},
    {"W0404", "leave the choice to the price, or say another way for it by its path"},
    {"W0405", "take the next size that fits, and leave what is beyond the real size unused"},
    {"W0701", "the same command with --accept writes what is checked into it"},
});

} // namespace

std::string_view usual_help(std::string_view code) {
    const auto* const it =
        std::find_if(usual.begin(), usual.end(), [code](const auto& row) { return row.first == code; });
    return it == usual.end() ? std::string_view() : it->second;
}

} // namespace shard

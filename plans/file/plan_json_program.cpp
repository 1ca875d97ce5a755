#include "plans/file/plan_json_program.h"

#include "plans/file/plan_json.h"
#include "plans/file/plan_json_nouns.h"

#include <algorithm>

namespace shard {

namespace {

std::string print_scalar_step(const Mesh& mesh, const ScalarStep& step) {
    std::vector<int> args(step.args.begin(), step.args.end());
    while (!args.empty() && args.back() == -1) args.pop_back();
    JsonObject object = JsonObject().string("op", name(step.op));
    if (!args.empty()) object.raw("args", json_integers(args));
    object.string("dtype", name(step.dtype)).number_unless(0, "value", step.value);
    if (step.start != Affine{}) object.raw("start", print_affine(mesh, step.start));
    return object.text();
}

ScalarStep read_scalar_step(const JsonAt& at, const Mesh& mesh) {
    at.known_keys({"op", "args", "dtype", "value", "start"});
    ScalarStep step;
    const JsonAt op = at["op"];
    const std::optional<ScalarOp> parsed = parse_scalar_op(op.string());
    if (parsed)
        step.op = *parsed;
    else
        op.problem("unknown pointwise instruction");
    if (at.has("args")) {
        const std::vector<int> args = at["args"].smalls();
        if (args.size() > step.args.size())
            at["args"].problem("at most 3 arguments");
        else
            std::copy(args.begin(), args.end(), step.args.begin());
    }
    step.dtype = read_dtype(at["dtype"]);
    step.value = at.number("value", 0);
    if (at.has("start")) step.start = read_affine(at["start"], mesh);
    return step;
}

} // namespace

JsonObject add_program(const Mesh& mesh, const Pointwise& program, JsonObject to) {
    std::vector<std::string> steps;
    for (const ScalarStep& step : program.steps) steps.push_back(print_scalar_step(mesh, step));
    to.raw("inputs", print_int_lists(program.input_dims)).raw("steps", json_array(steps));
    return to;
}

Pointwise read_program(const JsonAt& at, const Mesh& mesh) {
    return {at["inputs"].list<std::vector<int>>([](const JsonAt& dims) { return dims.smalls(); }),
            at["steps"].list<ScalarStep>([&mesh](const JsonAt& step) { return read_scalar_step(step, mesh); })};
}

} // namespace shard

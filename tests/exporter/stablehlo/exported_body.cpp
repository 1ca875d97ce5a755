#include "tests/exporter/stablehlo/exported_body.h"

#include <sstream>

namespace shard {

namespace {

std::string wrapped(const std::string& text) {
    constexpr size_t width = 100;
    std::istringstream lines(text);
    std::string made;
    for (std::string line; std::getline(lines, line);) {
        while (line.size() > width) {
            const size_t blank = line.rfind(' ', width);
            made += line.substr(0, blank) + "\n";
            line = "    " + line.substr(blank + 1);
        }
        made += line + "\n";
    }
    return made;
}

} // namespace

std::string body_of(const Plan& plan) {
    HloFunctions functions;
    HloBody body(plan, functions, 0);
    std::vector<std::string> arguments;
    for (const PlanInput& input : plan.inputs)
        arguments.push_back(body.ops().fresh(plan.buffers[static_cast<size_t>(input.buffer)].name));
    body.write(local_program(plan), arguments);
    return wrapped(body.ops().text());
}

std::string body_of(Kernel kernel, std::vector<LocalType> operands, LocalType result) {
    PlanBuilder builder(make_mesh({{"a", 2}, {"b", 2}}));
    std::vector<int> inputs;
    for (const LocalType& operand : operands)
        inputs.push_back(
            builder.input(std::string(1, static_cast<char>('x' + inputs.size())), operand.dtype, operand.shape));
    const int out = builder.buffer("out", result.dtype, result.shape);
    builder.compute(std::move(kernel), inputs, out);
    builder.output("out", out);
    return body_of(builder.plan());
}

} // namespace shard

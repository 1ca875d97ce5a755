#include "importer/huggingface/family_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

std::string flow_map(const FamilyLines& lines) {
    std::vector<std::string> entries;
    for (const auto& [name, value] : lines) entries.push_back(fmt::format("{}: {}", name, value));
    return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

void add_section(std::string& text, std::string_view name, const FamilyLines& lines) {
    if (lines.empty()) return;
    text += fmt::format("{}:\n", name);
    for (const auto& [key, value] : lines) text += fmt::format("  {}: {}\n", key, value);
}

std::string quoted(const std::string& name) {
    // What stands bare in YAML: braces, stars and an empty string do not.
    return name.empty() || name.find_first_of("{}*[],#&!|>'\"%@`: ") != std::string::npos ? fmt::format("\"{}\"", name)
                                                                                          : name;
}

std::string quoted_list(const std::vector<std::string>& names) {
    std::vector<std::string> entries;
    for (const std::string& name : names) entries.push_back(quoted(name));
    return fmt::format("[{}]", fmt::join(entries, ", "));
}

} // namespace

std::string family_model_text(const FamilyModel& model, const FamilyRequest& request) {
    std::string text;
    for (const std::string& comment : model.comments) text += fmt::format("# {}\n", comment);
    text += fmt::format("model: {}\n", model.name);
    if (!model.includes.empty())
        text += model.includes.size() == 1 ? fmt::format("include: {}\n", model.includes[0])
                                           : fmt::format("include: [{}]\n", fmt::join(model.includes, ", "));
    if (!request.names_file.empty())
        text += fmt::format("checkpoint_names: {} # what Hugging Face's checkpoints call the parameters\n",
                            request.names_file);
    text += "axes:\n";
    text += fmt::format("  batch: {} # sequences in a step, of all devices together\n", request.batch);
    if (model.length > 0) text += fmt::format("  length: {} # of a sequence\n", model.length);
    for (const FamilyAxis& axis : model.axes)
        text += fmt::format("  {}: {}{}{}\n", axis.name, axis.text.empty() ? fmt::format("{}", axis.size) : axis.text,
                            axis.comment.empty() ? "" : " # ", axis.comment);
    if (model.dtype != "f32") text += fmt::format("precision: {{params: {}}}\n", model.dtype);
    add_section(text, "inputs", model.inputs);
    add_section(text, "params", model.params);
    text += "graph:\n";
    for (const std::string& entry : model.graph) text += fmt::format("  - {}\n", entry);
    text += fmt::format("outputs: [{}]\n", model.output);
    if (model.loss.empty()) return text;
    text += fmt::format("train:\n  targets: {}\n  loss: {}\n", flow_map(model.targets), model.loss);
    text += "  optimizer: {adamw: {learning_rate: 3.0e-4, weight_decay: 0.1}}\n";
    return text;
}

std::string family_names_text(const FamilyModel& model) {
    std::string text = "# What Hugging Face's checkpoints call the parameters of the model, and how they store them:\n"
                       "# shardc run MODEL LAYOUT --restore DIR reads their safetensors as they are.\n";
    if (!model.prefixes.empty()) text += fmt::format("prefixes: {}\n", quoted_list(model.prefixes));
    if (!model.unused.empty()) text += fmt::format("unused: {}\n", quoted_list(model.unused));
    text += "tensors:\n";
    for (const FamilyTensor& tensor : model.tensors) {
        const std::string from = tensor.also.empty() ? quoted(tensor.from) : quoted_list({tensor.from, tensor.also});
        if (tensor.rearrange.empty()) {
            text += fmt::format("  {}: {}\n", tensor.param, from);
            continue;
        }
        text += fmt::format("  {}: {{from: {}, rearrange: \"{}\"", tensor.param, from, tensor.rearrange);
        if (!tensor.part.empty()) text += fmt::format(", part: {}", flow_map(tensor.part));
        text += "}\n";
    }
    return text;
}

} // namespace shard

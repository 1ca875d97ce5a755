#include "cli/run/input_files.h"

#include "executor/formats/npy_read.h"
#include "executor/run/given_inputs.h"
#include "plans/diagnostics/suggestion.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

void check_given_once(const Arguments& arguments, Diagnostics& diagnostics) {
    const auto check = [&](const std::vector<std::string_view>& options) {
        std::map<std::string, std::string> first;
        for (const std::string_view option : options)
            for (const std::string& text : arguments.strings(option)) {
                const std::string name = text.substr(0, text.find('=')), typed = fmt::format("{} {}", option, text);
                if (text.find('=') == std::string::npos) continue;
                if (const auto [before, added] = first.emplace(name, typed); !added)
                    diagnostics
                        .error("E0701", {}, fmt::format("'{}' is given twice: {} and {}", name, before->second, typed))
                        .help("keep one of them");
            }
    };
    check({"--input", "--data"});
    check({"--output"});
}

std::map<std::string, Tensor> read_tensors(const Arguments& arguments, std::string_view option, const Plan& plan,
                                           Diagnostics& diagnostics) {
    std::map<std::string, Tensor> tensors;
    const std::vector<std::string_view> names = names_of_inputs(plan, option == "--data");
    for (const std::string& text : arguments.strings(option)) {
        size_t equals = text.find('=');
        if (equals == std::string::npos || equals + 1 == text.size()) {
            diagnostics.error("E0701", {}, fmt::format("{} takes NAME=FILE.npy, not '{}'", option, text))
                .help(fmt::format("there are {}", fmt::join(names, ", ")));
            continue;
        }
        std::string name = text.substr(0, equals);
        const std::vector<PlanInput>::const_iterator input =
            std::find_if(plan.inputs.begin(), plan.inputs.end(),
                         [&](const PlanInput& candidate) { return plan.buffers[candidate.buffer].name == name; });
        if (input == plan.inputs.end()) {
            diagnostics.error("E0706", {}, fmt::format("the model has no input '{}'", name))
                .help(did_you_mean(name, names, fmt::format("there are {}", fmt::join(names, ", "))));
            continue;
        }
        std::optional<NpyFile> file = NpyFile::open(text.substr(equals + 1), diagnostics);
        const bool fits = file && (option == "--data" ? check_data : check_input)(plan, name, file->type(),
                                                                                  file->shape(), diagnostics);
        if (!fits) continue;
        const DType dtype = plan.buffers[input->buffer].dtype;
        const Fit fit = fit_of(file->type(), dtype);
        const std::string what = fmt::format("{}: {} there, ", file->path(), shard::name(file->type()));
        if (fit == Fit::converted)
            diagnostics.warning("W0603", {}, fmt::format("{}converted to {} here", what, shard::name(dtype)))
                .note("no value changes");
        if (fit == Fit::rounded)
            diagnostics.warning("W0602", {}, fmt::format("{}rounded to {} here", what, shard::name(dtype)))
                .help("round the values before they are saved, or declare the input as f32");
        if (std::optional<Tensor> tensor = file->read(dtype, diagnostics)) tensors.emplace(name, std::move(*tensor));
    }
    return tensors;
}

} // namespace shard

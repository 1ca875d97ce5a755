// What commands are given: a model and layouts, or plan files. A plan file is recognised by its content, not its name.
#pragma once

#include "cli/command/command.h"
#include "planner/pipeline/pipeline.h"

#include <memory>

namespace shard {

// A compilation with the texts it came from; diagnostics are in `compilation`.
struct Compiled {
    std::string name; // for people: the layout's path
    std::unique_ptr<Sources> sources = std::make_unique<Sources>();
    PlanRequest request;
    Compilation compilation;

    const Plan* plan() const { return compilation.plan ? &*compilation.plan : nullptr; }
    const Diagnostics& diagnostics() const { return compilation.diagnostics; }
};

// What is asked of a model and a layout beside their files.
struct PlanArguments {
    std::string mode = "forward";
    std::vector<std::string> settings = {}; // "batch=128"
    bool proposes = false;                  // tries what --set could mend, and says so (cli/inputs/dividing_sizes.h)
    bool mode_is_said = false;              // then a plan file has to be for it
};
PlanArguments plan_arguments(const Arguments& arguments); // --mode, --set

// A file as it was read, or why it could not be. Many compilations may share one.
struct LoadedText {
    std::string name, text;
    Diagnostics problems = {};
};
struct LoadedModel {
    Sources sources = {}; // of a program, that too
    std::optional<int> file = {};
    Diagnostics problems = {};
};
LoadedText load_text(Env& env, const std::string& path);
LoadedModel load_model_text(Env& env, const std::string& path);

// Compiles what was read; nothing but its arguments is looked at, except the layout's hardware profile. The plan is
// absent if an error is there.
Compiled compile_texts(const LoadedModel& model, const LoadedText& layout, const PlanArguments& asked);

// Reads both files ("-" is stdin, for one of them) and compiles.
Compiled compile_files(Env& env, const std::string& model, const std::string& layout, const PlanArguments& asked);

// The same for commands that also take a plan file: `words` are PLAN or MODEL LAYOUT, then what is the command's own.
// `used` is how many words were files. Of a plan file, the texts inside it are compiled again, since only that knows
// why; `plan()` is what the file says. W0501 if this program plans the texts in another way. With words for neither,
// E0704.
Compiled compile_words(Env& env, const std::vector<std::string>& words, const PlanArguments& asked, size_t& used);

// What the texts inside a plan give: as they are, and on one device. Of the latter `plan` is one that this program made
// of them, not one from a file: initial values that depend on the layout are its.
Compiled compile_again(const Plan& plan);
Compiled compile_reference(const Plan& plan);

// True if a text is meant to be a plan: a JSON object that has a format_version.
bool looks_like_plan(std::string_view text);

// What `run` and `diff` work on: a plan from a file or freshly compiled, with its name for reports.
struct PlanSource {
    std::string name;
    std::string file_text; // the plan file; empty of what was compiled
    std::optional<Plan> plan;
    std::unique_ptr<Sources> sources = std::make_unique<Sources>();
    Diagnostics diagnostics;
};
// `paths` are plan files, or a model followed by layouts. A plan that could not be made is absent, with its
// diagnostics.
std::vector<PlanSource> load_plans(Env& env, const std::vector<std::string>& paths, const PlanArguments& asked);
// The same for commands of one plan: FILE is PLAN, or MODEL LAYOUT, and --mode may not be another than the plan file's.
// Diagnostics are printed; `code` is what they amount to.
std::optional<PlanSource> load_one_plan(Env& env, const Arguments& arguments, std::string_view command, int& code);

} // namespace shard

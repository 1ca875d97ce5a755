#include "cli/run/checkpoints.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/run/checkpoint_names.h"
#include "cli/run/steps.h"
#include "executor/checkpoint/checkpoint_parts.h"
#include "executor/checkpoint/checkpoint_save.h"
#include "executor/formats/tensor.h"
#include "plans/base/parse_number.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <ostream>

namespace shard {

namespace {

SaveWhat what_of(const Arguments& arguments, std::string_view option) {
    return arguments.has(option) ? SaveWhat::params : SaveWhat::all; // `params` is the only choice
}

// 0 with E0701 if it is no count.
int read_every(const Arguments& arguments, Diagnostics& diagnostics) {
    if (!arguments.has("--save-every")) return 0;
    const std::string& text = arguments.string("--save-every");
    if (const std::optional<int> value = parse_number<int>(text); value && *value >= 1) return *value;
    diagnostics.error(
        "E0701", {},
        fmt::format("--save-every takes a whole number from 1 to {}, not '{}'", std::numeric_limits<int>::max(), text));
    return 0;
}

} // namespace

std::vector<OptionDef> with_checkpoint_options(std::vector<OptionDef> options) {
    const std::vector<OptionDef> added = {
        {.name = "--save",
         .value = "DIR",
         .doc = "write parameters and optimizer states to a folder at the end, also after a signal; replaces what was "
                "saved there",
         .file = FileUse::other},
        {.name = "--save-every", .value = "K", .with = "--save", .doc = "and after every K steps"},
        {.name = "--save-only",
         .value = "params",
         .with = "--save",
         .doc = "leave out optimizer states",
         .choices = {"params"}},
        {.name = "--restore",
         .value = "DIR",
         .doc = "go on from a checkpoint, saved on any mesh; or a folder or file of safetensors",
         .file = FileUse::other},
        {.name = "--restore-only",
         .value = "params",
         .with = "--restore",
         .doc = "begin at step 0 with the parameters of the checkpoint and new optimizer states",
         .choices = {"params"}}};
    const std::vector<OptionDef>::iterator output =
        std::find_if(options.begin(), options.end(), [](const OptionDef& option) { return option.name == "--output"; });
    options.insert(output == options.end() ? output : output + 1, added.begin(), added.end());
    return options;
}

RunCheckpoints::RunCheckpoints(const Arguments& arguments, const Plan& plan, Env& env, Diagnostics& diagnostics,
                               Ranks* ranks)
    : plan_(&plan), env_(&env), ranks_(ranks), every_(read_every(arguments, diagnostics)),
      save_what_(what_of(arguments, "--save-only")), restore_what_(what_of(arguments, "--restore-only")) {
    if (arguments.has("--save")) save_ = arguments.string("--save");
    if (save_ && !is_step(plan) && save_what_ == SaveWhat::all)
        diagnostics.error("E0701", {}, "a plan that updates nothing has no optimizer states to save")
            .help("--save-only params saves the parameters alone; --mode train saves what training goes on from");
    verifies_ = arguments.flag("--verify");
    if (arguments.has("--restore")) restore_ = arguments.string("--restore");
    root_reads_ = arguments.flag("--root-reads");
}

void RunCheckpoints::restore(const std::map<std::string, Tensor>& given, Sources& sources, Diagnostics& diagnostics) {
    if (!restore_) return;
    const std::optional<StoredNames> elsewhere = read_checkpoint_names(*plan_, sources, diagnostics);
    if (!elsewhere) return;
    std::set<std::string> names;
    for (const auto& [name, tensor] : given) names.insert(name);
    restored_ = Checkpoint::open(*restore_, diagnostics);
    Ranks* const readers = root_reads_ ? nullptr : ranks_;
    if (restored_ && restored_->select(*plan_, restore_what_, names, diagnostics, *elsewhere, readers) &&
        is_step(*plan_) && restore_what_ == SaveWhat::all)
        first_step_ = static_cast<int>(std::min<i64>(restored_->step(), std::numeric_limits<int>::max() / 2));
    if (restored_) saved_after_ = restored_->step();
    // What was restored may lie in the very folder that is saved to; the lock of who saves keeps it too.
    std::error_code error;
    if (restored_ && save_ && std::filesystem::equivalent(restored_->folder(), *save_, error)) restored_->close();
}

void RunCheckpoints::restore(const FirstReads& first) {
    first_step_ = first.first_step;
    saved_after_ = first.checkpoint_step;
}

std::set<std::string> RunCheckpoints::restored_names() const {
    std::set<std::string> names;
    for (const PlanInput& input : plan_->inputs) {
        const std::string& name = plan_->buffers[input.buffer].name;
        if (restored_ && restored_->selected(name)) names.insert(name);
    }
    return names;
}

void RunCheckpoints::prepare_save(Diagnostics& diagnostics) {
    if (!save_) return;
    const bool any = std::any_of(plan_->inputs.begin(), plan_->inputs.end(),
                                 [this](const PlanInput& input) { return part_of(*plan_, input).has_value(); });
    if (!any)
        diagnostics.error("E0701", {}, "there is nothing to save: the model has no parameters")
            .help("leave --save away");
    else if (ranks_ == nullptr || ranks_->is_first())
        save_lock_ = shard::prepare_save(*save_, diagnostics);
    else
        save_lock_ = std::make_unique<FolderLock>("", FolderLock::readers); // the first rank holds it for all
    if (any && save_lock_ && (ranks_ == nullptr || ranks_->is_first()))
        has_room_to_save(*plan_, *save_, save_what_, diagnostics);
}

bool RunCheckpoints::after_step(const StepView& view, Diagnostics& diagnostics) {
    return every_ == 0 || !save_ || (view.step + 1) % every_ != 0 || save(view, diagnostics);
}

bool RunCheckpoints::at_end(const StepView& view, Diagnostics& diagnostics) {
    return !save_ || saved_step_ == view.step || (!failed_ && save(view, diagnostics));
}

bool RunCheckpoints::save(const StepView& view, Diagnostics& diagnostics) {
    // Parameters that no step updates are saved as they were restored.
    const i64 steps = is_step(*plan_) ? i64{view.step} + 1 : saved_after_;
    if (restored_ && !verifies_) restored_->close(); // so that it can be replaced
    const std::optional<std::string> folder =
        save_checkpoint(*plan_, *save_, save_what_, steps, view.shard, *save_lock_, diagnostics, disk(), ranks_);
    failed_ = !folder;
    if (failed_) return false;
    saved_step_ = view.step;
    say(*env_, fmt::format("saved step {} to {}", steps, *folder));
    return true;
}

std::optional<int> steps_left(const Arguments& arguments, int steps, int first_step, Diagnostics& diagnostics) {
    if (!arguments.has("--steps")) return 1;
    if (steps > first_step || (steps == first_step && !arguments.has("--repeat"))) return steps - first_step;
    if (steps == first_step)
        diagnostics.error("E0701", {}, fmt::format("--steps {} leaves no step to warm up with before --repeat", steps))
            .help(fmt::format("the checkpoint has made {}: --steps {} makes one more first", first_step, steps + 1));
    else
        diagnostics
            .error("E0701", {},
                   fmt::format("--steps {} ends before the checkpoint, which has made {}", steps, first_step))
            .help(fmt::format("steps are counted from the first run's beginning: --steps {} makes {} more",
                              first_step + steps, steps));
    return std::nullopt;
}

} // namespace shard

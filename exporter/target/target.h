// What a plan can be written for is one file: exporter/targets/<name>.cpp defines `const TargetDef& target_<name>()`.
// A target reads the plan alone, which has no plan_problems: what is written is what `run` executes and proves.
// The same plan gives the same bytes.
#pragma once

#include "plans/plan/plan.h"

#include <functional>
#include <utility>

namespace shard {

// What a training job calls arrays that a plan calls otherwise: path and name, as `import --names` writes them.
using JobNames = std::vector<std::pair<std::string, std::string>>;

// Takes the files of a folder, one after the other; false if one could not be written, after which none follows.
using FileSink = std::function<bool(const std::string& name, std::string_view bytes)>;

struct TargetDef {
    std::string_view name; // as `shardc export --to` takes it
    std::string_view doc;  // what is written, in a sentence
    // nullopt after an error: something of the plan has no form there. Null of a target that is a folder.
    std::optional<std::string> (*write)(const Plan&, Diagnostics&) = nullptr;
    // Without the plan's collectives, for an engine that makes its own of the shardings of inputs and outputs: from the
    // plan of the same model on one device, which has the same inputs and outputs. Null where there is no such engine.
    std::optional<std::string> (*write_global)(const Plan&, const Plan& alone, Diagnostics&) = nullptr;
    // With the names of a job. Null where names are the plan's alone.
    std::optional<std::string> (*write_named)(const Plan&, const JobNames& names, Diagnostics&) = nullptr;
    // Of a target that is a folder; false after an error, here or in the sink.
    bool (*write_files)(const Plan&, const FileSink& file, Diagnostics&) = nullptr;
};

const std::vector<const TargetDef*>& all_targets(); // sorted by name
const TargetDef* find_target(std::string_view name);

} // namespace shard

// What stands in the details of a line, `| {"role": "gradient"}`. What is wrong in them is a problem of the line.
#pragma once

#include "plans/collective/collective.h"
#include "plans/json/json_reader.h"
#include "plans/kernel/kernel.h"
#include "plans/plan/report.h"

#include <optional>

namespace shard {

struct LineDetails {
    std::optional<Mesh> mesh; // of the first line: with links and ids of devices
    std::optional<Role> role;
    std::string of; // the name of a parameter
    int stacked = 0, region = -1;
    bool kept = false; // it stands for a value of the global graph
    bool on_host = false;
    std::optional<Generate> init;
    std::optional<Kernel> kernel;
    std::optional<Collective> exchange;
    std::string op, scope, remedy, reduce, becomes;
    std::optional<std::string> named; // where the value is named, if that is not where the line comes from
    int origin = -1;
};

// "" if there are none; nullopt, with what is wrong in `problem`, if they cannot be read.
std::optional<LineDetails> read_details(std::string_view json, const Mesh& mesh, std::string& problem);

} // namespace shard

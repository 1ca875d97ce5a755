// A format of what commands print is one file: cli/formats/<name>.cpp defines `const FormatDef& format_<name>()`, which
// says what it writes. A command offers the formats that write its payload, so a new one is named nowhere else.
//
// Formats only render: a number that a format needs is in the payload before. The same payload gives the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shard {

// Each payload is a noun of the folder that makes it.
struct CheckPayload;
struct Explanation;
struct FoundItem;
struct Item;
struct Listing;
struct NamedPlan;
struct Paint;
struct Plan;
struct PlanPayload;
struct Registry;
struct RunReport;
struct Sweep;
struct TensorReport;

struct FormatDef {
    std::string_view name;
    std::string_view doc;
    bool is_usual = false;          // what a command prints unless another is asked for; of one format
    bool annotates = false;         // every line is meant as a command to the program that reads it
    bool holds_diagnostics = false; // `plan` writes diagnostics too; else they are for stderr
    bool leaves_out = false;        // parts of a report, as --only and --quiet ask
    bool only_figures = false;      // what `diff` has to say of them is for stderr

    // What it writes; nullptr: not this.
    std::string (*check)(const CheckPayload&, const Paint&) = nullptr;
    std::string (*plan)(const PlanPayload&) = nullptr;
    std::string (*sweep)(const Sweep&, const Paint&) = nullptr; // of `plan --set a=1,2`
    std::string (*diff)(const std::vector<NamedPlan>&, bool all_values, const Paint&) = nullptr;
    std::string (*show)(const Plan&, const std::vector<const TensorReport*>&, const Paint&) = nullptr;
    std::string (*explain)(const Plan&, const std::vector<Explanation>&, const Paint&) = nullptr;
    std::string (*found)(const std::vector<FoundItem>&, const Paint&) = nullptr; // of `explain NAME`
    std::string (*list)(const Listing&, const Paint&) = nullptr;
    std::string (*item)(const Registry&, const Item&, const Paint&) = nullptr;
    std::string (*run)(const RunReport&, const Paint&) = nullptr;
    std::string (*run_heading)(const Plan&, const Paint&) = nullptr; // before the first step
    // A run whose checkpoint is where it would end.
    std::string (*nothing_left)(const Plan&, const std::string& checkpoint, int steps, const Paint&) = nullptr;
};

const std::vector<const FormatDef*>& all_formats(); // sorted by name
const FormatDef* find_format(std::string_view name);

// Those that write a payload, the usual one first: formats_for(&FormatDef::plan).
template<class Writes>
std::vector<const FormatDef*> formats_for(Writes FormatDef::*payload) {
    std::vector<const FormatDef*> formats;
    for (const FormatDef* format : all_formats())
        if (format->*payload != nullptr) formats.insert(format->is_usual ? formats.begin() : formats.end(), format);
    return formats;
}

} // namespace shard

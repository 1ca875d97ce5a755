#include "cli/rules/foreign_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

constexpr i64 most_devices = i64{1} << 20;

// One -1 becomes what is left of `total`.
bool fill(ForeignRules& rules, i64 ForeignAxis::*size, Span ForeignAxis::*span, i64 total, std::string_view what,
          Span place, Diagnostics& diagnostics) {
    i64 product = 1;
    ForeignAxis* open = nullptr;
    for (ForeignAxis& axis : rules.axes) {
        if (axis.*size == -1 && open != nullptr) {
            diagnostics.error("E0810", axis.*span, fmt::format("two axes take what is left of the {}", what))
                .help("give all but one of them a size");
            return false;
        }
        if (axis.*size == -1)
            open = &axis;
        else if (axis.*size < 1 || axis.*size > most_devices || (product *= axis.*size) > most_devices) {
            diagnostics.error("E0810", axis.*span, fmt::format("'{}' has no size that a mesh can have", axis.name))
                .help("give a whole number from 1, or -1 for what is left");
            return false;
        }
    }
    if (open != nullptr && total == 0) {
        diagnostics.error("E0810", open->*span, fmt::format("'{}' takes what is left of the devices", open->name))
            .help("say how many there are: --devices 64");
        return false;
    }
    if (total != 0 && (open != nullptr ? total % product != 0 : total != product)) {
        std::vector<Span> causes;
        if (open != nullptr) causes.push_back(open->*span);
        for (const ForeignAxis& axis : rules.axes)
            if (axis.*size > 1 && std::find(causes.begin(), causes.end(), axis.*span) == causes.end())
                causes.push_back(axis.*span);
        DiagnosticBuilder error = diagnostics
                                      .error("E0810", causes.empty() ? place : causes[0],
                                             fmt::format("the axes take {} {}, and there are {}", product, what, total))
                                      .help("--devices and --slices say how many there are");
        for (size_t c = 1; c < causes.size(); ++c) error.label(causes[c], "");
        return false;
    }
    if (open != nullptr) open->*size = total / product;
    return true;
}

// Which device stands where, row-major: slices one after the other, in each the axes' parts of it. Empty where that is
// the order of their numbers.
std::vector<i64> device_order(const ForeignRules& rules) {
    i64 within = 1, all = 1;
    for (const ForeignAxis& axis : rules.axes) within *= axis.within, all *= axis.within * axis.across;
    std::vector<i64> order;
    bool plain = true;
    for (i64 place = 0; place < all; ++place) {
        i64 rest = place, slice = 0, inside = 0, slice_step = 1, inside_step = 1;
        for (size_t a = rules.axes.size(); a-- > 0;) {
            const ForeignAxis& axis = rules.axes[a];
            const i64 index = rest % (axis.within * axis.across);
            rest /= axis.within * axis.across;
            inside += index % axis.within * inside_step;
            slice += index / axis.within * slice_step;
            inside_step *= axis.within, slice_step *= axis.across;
        }
        order.push_back(slice * within + inside);
        plain = plain && order.back() == place;
    }
    return plain ? std::vector<i64>() : order;
}

} // namespace

bool fill_axes(ForeignRules& rules, const ForeignDevices& devices, Span place, Diagnostics& diagnostics) {
    if (devices.count % devices.slices != 0) {
        diagnostics
            .error("E0810", place, fmt::format("{} devices are not {} equal slices", devices.count, devices.slices))
            .help("--devices counts those of all slices");
        return false;
    }
    return fill(rules, &ForeignAxis::across, &ForeignAxis::across_span, devices.slices, "slices", place, diagnostics) &&
           fill(rules, &ForeignAxis::within, &ForeignAxis::within_span, devices.count / devices.slices,
                "devices of a slice", place, diagnostics);
}

std::string layout_of(const ForeignRules& rules, std::string_view tool) {
    std::vector<std::string> axes;
    std::set<std::string> split;
    for (const ForeignAxis& axis : rules.axes) {
        const i64 size = axis.within * axis.across;
        if (size == 1) continue;
        axes.push_back(fmt::format("{}: {}", axis.name, size));
        split.insert(axis.name);
    }
    std::string text =
        fmt::format("# From the rules of {}, by `shardc rules`. Add `hardware:`, of `shardc list hardware`, "
                    "for times of real machines.\nmesh: {{{}}}\n",
                    tool, fmt::join(axes, ", "));
    if (const std::vector<i64> order = device_order(rules); !order.empty())
        text += fmt::format("device_ids: [{}]  # slices first\n", fmt::join(order, ", "));
    std::set<std::string> said;
    std::string lines;
    for (const auto& [logical, wanted] : rules.rules) {
        std::vector<std::string> used;
        std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(used),
                     [&](const std::string& axis) { return split.contains(axis); });
        const std::string axes_text = used.empty()       ? "~"
                                      : used.size() == 1 ? used[0]
                                                         : fmt::format("[{}]", fmt::join(used, ", "));
        const std::string line = fmt::format("  - {{{}: {}}}\n", logical, axes_text);
        if (said.insert(line).second) lines += line;
    }
    if (!lines.empty()) text += "semantics: linen\nrules:\n" + lines;
    if (split.contains(rules.fsdp)) text += fmt::format("fsdp: {{axis: {}}}\n", rules.fsdp);
    return text;
}

} // namespace shard

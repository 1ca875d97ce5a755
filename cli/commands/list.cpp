#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/candidates.h"
#include "cli/inputs/output.h"
#include "cli/report/listing.h"
#include "cli/terminal/exit_code.h"

namespace shard {

namespace {

int run(const Arguments& arguments, Env& env) {
    const Paint paint = payload_paint(env, arguments);
    const FormatDef& format = chosen_format(arguments);
    auto write_list = [&](std::string_view name, const std::vector<Item>& items) {
        return write_payload(env, arguments, format.list({name, items}, paint), exit_clean);
    };
    if (!arguments.has("WHAT")) {
        std::vector<Item> items;
        for (const Registry& registry : all_registries())
            items.push_back({std::string(registry.name), std::string(registry.doc), std::string(registry.doc)});
        return write_list("lists", items);
    }
    const Registry* registry = find_registry(arguments.string("WHAT"));
    if (registry == nullptr) {
        std::vector<std::string_view> names;
        for (const Registry& each : all_registries()) names.push_back(each.name);
        return unknown_name(env, "list", arguments.string("WHAT"), names);
    }
    if (!arguments.has("NAME")) return write_list(registry->name, registry->items());
    std::vector<const Registry*> searched = {registry};
    // What is an op for who asks is a composite here: softmax.
    if (registry->name == "ops") searched.push_back(find_registry("composites"));
    std::vector<Item> items;
    for (const Registry* each : searched)
        for (const Item& item : each->items()) {
            if (item.name == arguments.string("NAME"))
                return write_payload(env, arguments, format.item(*each, item, paint), exit_clean);
            items.push_back(item);
        }
    std::vector<std::string_view> names;
    for (const Item& item : items) names.push_back(item.name);
    return unknown_name(env, registry->one, arguments.string("NAME"), names);
}

std::vector<Candidate> lists() {
    std::vector<Candidate> found;
    for (const Registry& registry : all_registries())
        found.push_back({std::string(registry.name), std::string(registry.doc)});
    return found;
}

} // namespace

const CommandDef& command_list() {
    static const CommandDef def = {
        .name = "list",
        .usage = "[WHAT [NAME]] [--format FORMATS]",
        .summary =
            "what there is: ops, composites, collectives, hardware, library, initializers, keys, policies, passes, "
            "codes, commands, formats, targets",
        .doc = "Example:\n"
               "  shardc list ops            names, each with a line\n"
               "  shardc list ops einsum     all about one",
        .options = {{.name = "WHAT",
                     .doc = "ops, composites, collectives, hardware, library, initializers, keys, policies, passes, "
                            "codes, commands, "
                            "formats or targets",
                     .candidates = [](const Arguments&, Env&) { return lists(); }},
                    {.name = "NAME",
                     .doc = "one item of the list, in full",
                     .candidates =
                         [](const Arguments& typed, Env&) {
                             return typed.has("WHAT") ? registry_candidates(typed.string("WHAT"))
                                                      : std::vector<Candidate>();
                         }},
                    format_option(formats_for(&FormatDef::list)),
                    output_option()},
        .order = 7,
        .run = run,
    };
    return def;
}

} // namespace shard

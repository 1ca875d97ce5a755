#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "cli/report/registries.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/table.h"
#include "plans/json/json_text.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string list_json(std::string_view list, const std::vector<Item>& items) {
    std::vector<std::string> lines;
    for (const Item& item : items) lines.push_back(item_json(item));
    JsonObject object;
    object.integer("format_version", 1).string("list", list).raw("items", json_lines(lines, 2));
    return object.text() + "\n";
}

std::string list_text(const std::vector<Item>& items, const Paint& paint) {
    Table table({{""}, {""}});
    for (const Item& item : items) table.add({Cell(item.name, "1"), item.summary});
    return table.render(paint, "");
}

int run(const Arguments& arguments, Env& env) {
    Paint paint{env.out_color && !arguments.has("--output")};
    bool json = arguments.string("--format") == "json";
    auto write_list = [&](std::string_view name, const std::vector<Item>& items) {
        return write_payload(env, arguments, json ? list_json(name, items) : list_text(items, paint), exit_clean);
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
    std::vector<Item> items = registry->items();
    if (!arguments.has("NAME")) return write_list(registry->name, items);
    std::vector<std::string_view> names;
    for (const Item& item : items) {
        if (item.name == arguments.string("NAME"))
            return write_payload(env, arguments, json ? item_json(item) + "\n" : item_text(*registry, item),
                                 exit_clean);
        names.push_back(item.name);
    }
    return unknown_name(env, registry->one, arguments.string("NAME"), names);
}

} // namespace

const CommandDef& command_list() {
    static const CommandDef def = {
        .name = "list",
        .usage = "[WHAT [NAME]] [--format text|json]",
        .summary =
            "what there is: ops, composites, collectives, hardware, initializers, passes, codes, commands, formats",
        .doc = "Example:\n"
               "  shardc list ops            names, each with a line\n"
               "  shardc list ops einsum     all about one",
        .options = {{.name = "WHAT",
                     .doc = "ops, composites, collectives, hardware, initializers, passes, codes, commands or formats"},
                    {.name = "NAME", .doc = "one item of the list, in full"},
                    format_option({"text", "json"}),
                    output_option()},
        .order = 7,
        .run = run,
    };
    return def;
}

} // namespace shard

#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "cli/terminal/exit_code.h"
#include "planner/text/embedded_texts.h"

#include <fmt/format.h>

namespace shard {

namespace {

// "model.schema" is asked for as "model".
std::string_view called(const EmbeddedText& schema) { return schema.name.substr(0, schema.name.find('.')); }

int run(const Arguments& arguments, Env& env) {
    std::vector<std::string_view> names;
    std::string list;
    for (const EmbeddedText& schema : embedded_schemas()) {
        const std::string_view name = called(schema);
        if (arguments.has("NAME") && name == arguments.string("NAME"))
            return write_payload(env, arguments, schema.text, exit_clean);
        names.push_back(name);
        list += fmt::format("{}\n", name);
    }
    if (!arguments.has("NAME")) return write_payload(env, arguments, list, exit_clean);
    return unknown_name(env, "schema", arguments.string("NAME"), names);
}

std::vector<Candidate> names() {
    std::vector<Candidate> found;
    for (const EmbeddedText& schema : embedded_schemas()) found.push_back({std::string(called(schema))});
    return found;
}

} // namespace

const CommandDef& command_schema() {
    static const CommandDef def = {
        .name = "schema",
        .usage = "[NAME]",
        .summary = "the JSON Schema of a kind of file, for editors",
        .doc = "Example:\n"
               "  shardc schema                                   names of the schemas\n"
               "  shardc schema model --output model.schema.json\n"
               "An editor with yaml-language-server uses it through a first line like\n"
               "  # yaml-language-server: $schema=model.schema.json",
        .options = {{.name = "NAME",
                     .doc = "model, layout, ...; without it the names are listed",
                     .candidates = [](const Arguments&, Env&) { return names(); }},
                    output_option()},
        .order = 8,
        .run = run,
    };
    return def;
}

} // namespace shard

#include "cli/command/help.h"

#include "cli/terminal/table.h"

#include <fmt/format.h>

namespace shard {

std::string option_name(const OptionDef& option) {
    if (is_positional(option)) return std::string(option.name);
    return fmt::format("{}{}{}", option.short_name.empty() ? "" : fmt::format("{}, ", option.short_name), option.name,
                       option.value.empty() ? "" : fmt::format(" {}", option.value));
}

std::string option_doc(const OptionDef& option) {
    std::string doc(option.doc);
    if (option.choices.size() > 1) doc += fmt::format(": {}", fmt::join(option.choices, ", "));
    if (!option.fallback.empty()) doc += fmt::format(" (default {})", option.fallback);
    return doc;
}

bool is_positional(const OptionDef& option) { return option.name.front() != '-'; }

std::string overview() {
    Table table({{""}, {""}});
    for (const CommandDef* command : all_commands())
        table.add({std::string(command->name), std::string(command->summary)});
    return fmt::format("{}\n\nshardc COMMAND ...\n\n{}\n"
                       "shardc COMMAND --help says more; shardc --version says which this is.\n"
                       "Exit codes: {}.\n",
                       tool_summary, table.render({}, "  "), exit_codes_text);
}

std::string usage_of(const CommandDef& command) {
    std::string usage(command.usage);
    constexpr std::string_view word = "FORMATS";
    const size_t at = usage.find(word);
    for (const OptionDef& option : command.options)
        if (at != std::string::npos && option.name == "--format")
            usage.replace(at, word.size(), fmt::format("{}", fmt::join(option.choices, "|")));
    return usage;
}

std::string help_text(const CommandDef& command) {
    std::string out = fmt::format("{}\n\nshardc {} {}\n\n", command.summary, command.name, usage_of(command));
    Table table({{""}, {""}});
    for (const OptionDef& option : command.options) table.add({option_name(option), option_doc(option)});
    return out + table.render({}, "  ") + fmt::format("\n{}\n", command.doc);
}

} // namespace shard

// The only file that sees CLI11: it turns the command tables into a parser and what was typed into Arguments.
#include "cli/command/arguments.h"

#include "cli/command/command.h"
#include "cli/command/file_claims.h"
#include "cli/command/format.h"
#include "cli/command/help.h"
#include "cli/command/outlet.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/out_of_memory.h"
#include "cli/terminal/wrap.h"
#include "plans/base/base.h"
#include "plans/base/printable.h"
#include "plans/base/version.h"
#include "plans/diagnostics/suggestion.h"
#include "plans/disk/read_inputs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <deque>
#include <fmt/format.h>
#include <new>
#include <ostream>
#include <stdexcept>
#include <system_error>

namespace shard {

const std::string& Arguments::string(std::string_view name) const {
    std::map<std::string, std::vector<std::string>, std::less<>>::const_iterator it = values_.find(name);
    if (it == values_.end() || it->second.empty()) internal_error(fmt::format("argument {} is not there", name));
    return it->second.back();
}

std::vector<std::string> Arguments::strings(std::string_view name) const {
    std::map<std::string, std::vector<std::string>, std::less<>>::const_iterator it = values_.find(name);
    return it == values_.end() ? std::vector<std::string>{} : it->second;
}

namespace {

// The values of one option while CLI11 parses.
struct Slot {
    const OptionDef* option;
    bool flag = false;
    std::string value; // unless option->many
    std::vector<std::string> values;
    CLI::Option* added = nullptr;

    bool given() const { return added != nullptr && added->count() > 0; }
};

void add_option(CLI::App& app, const OptionDef& option, Slot& slot) {
    std::string names =
        option.short_name.empty() ? std::string(option.name) : fmt::format("{},{}", option.short_name, option.name);
    if (option.value.empty() && !is_positional(option)) {
        app.add_flag(names, slot.flag, std::string(option.doc));
        return;
    }
    CLI::Option* added = option.many ? app.add_option(names, slot.values, std::string(option.doc))
                                     : app.add_option(names, slot.value, std::string(option.doc));
    slot.added = added;
    added->type_name(is_positional(option) ? "" : std::string(option.value));
    if (!option.fallback.empty()) added->default_str(std::string(option.fallback));
    if (option.required) added->required();
    if (option.many && is_positional(option))
        added->expected(option.required ? 1 : 0, -1);
    else if (option.many)
        added->expected(1, 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    else
        added->expected(1);
}

// ": did you mean '--format'?", or nothing.
std::string near_text(std::string_view word, const std::vector<std::string_view>& names) {
    const std::string question = did_you_mean(word, names);
    return question.empty() ? question : ": " + question;
}

// "--train" for "--mode train": the value of an option, typed as one.
std::string near_option(std::string_view word, const CommandDef& command, const std::vector<std::string_view>& names) {
    for (const OptionDef& option : command.options)
        if (std::find(option.choices.begin(), option.choices.end(), word.substr(2)) != option.choices.end())
            return fmt::format(": did you mean '{} {}'?", option.name, word.substr(2));
    return near_text(word, names);
}

// "--output is there 2 times": CLI11 counts the values, and names one of the option's names. Empty if none is.
std::string explain_repeated(const std::vector<std::string>& arguments, const CommandDef& command) {
    for (const OptionDef& option : command.options) {
        if (is_positional(option) || option.value.empty() || option.many) continue;
        const auto names_it = [&option](std::string_view word) {
            const bool long_name = word.substr(0, word.find('=')) == option.name;
            return long_name || (!option.short_name.empty() && word.starts_with(option.short_name));
        };
        int times = 0;
        for (size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
            if (!names_it(arguments[i])) continue;
            ++times;
            if (arguments[i] == option.name || arguments[i] == option.short_name) ++i; // its value
        }
        if (times > 1)
            return fmt::format("{} is there {} times, and takes one {}",
                               option.short_name.empty() ? std::string(option.name)
                                                         : fmt::format("{} ({})", option.name, option.short_name),
                               times, option.value);
    }
    return {};
}

// CLI11 says only that a subcommand is required, or prints unknown arguments in reverse: say which word it was, and
// what is near.
std::string explain_mistake(const std::vector<std::string>& arguments, const CommandDef* command,
                            const CLI::ParseError& error) {
    std::vector<std::string_view> names;
    if (command == nullptr) {
        for (const CommandDef* candidate : all_commands()) names.push_back(candidate->name);
        std::string_view word = arguments.empty() ? std::string_view() : std::string_view(arguments.front());
        if (word.empty()) return "a command is needed";
        if (word.starts_with('-')) return fmt::format("there is no option '{}'", word);
        return fmt::format("there is no command '{}'{}", word, near_text(word, names));
    }
    for (const OptionDef& option : command->options)
        if (!is_positional(option)) names.push_back(option.name);
    for (size_t i = 1; i < arguments.size(); ++i) {
        std::string_view word = std::string_view(arguments[i]).substr(0, arguments[i].find('='));
        if (!word.starts_with("--") || word.size() == 2) continue;
        bool known = word == "--help" || std::find(names.begin(), names.end(), word) != names.end();
        if (known) continue;
        return fmt::format("{} has no option '{}'{}", command->name, word,
                           word == "--output" ? std::string(command->no_output) : near_option(word, *command, names));
    }
    for (size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
        const std::string_view word = std::string_view(arguments[i]).substr(0, 2);
        if (word.size() < 2 || word[0] != '-' || !std::isalpha(static_cast<unsigned char>(word[1])) || word == "-h")
            continue;
        const auto is_it = [word](const OptionDef& option) { return option.short_name == word; };
        if (std::any_of(command->options.begin(), command->options.end(), is_it)) continue;
        return fmt::format("{} has no option '{}'{}", command->name, word, word == "-o" ? command->no_output : "");
    }
    if (const std::string mistake = explain_repeated(arguments, *command); !mistake.empty()) return mistake;
    return error.what();
}

// A value that is not among the choices; empty if all is well.
std::string explain_choice(const Slot& slot) {
    if (slot.option->choices.empty() || !slot.given()) return {};
    for (const std::string& value : slot.option->many ? slot.values : std::vector<std::string>{slot.value}) {
        const std::vector<std::string_view>& choices = slot.option->choices;
        const bool with_file = slot.option->value.find("[=") != std::string_view::npos;
        const std::string word = with_file ? value.substr(0, value.find('=')) : value;
        if (std::find(choices.begin(), choices.end(), word) != choices.end()) continue;
        return fmt::format("{} is one of {}, not '{}'{}", slot.option->name, fmt::join(choices, ", "), word,
                           near_text(word, choices));
    }
    return {};
}

int usage_error(Env& env, const CommandDef* command, const std::string& text) {
    return refuse(env, text,
                  command == nullptr ? "shardc --help lists the commands"
                                     : fmt::format("usage: shardc {} {}", command->name, usage_of(*command)));
}

// `help COMMAND`, which many type, is `COMMAND --help`.
std::vector<std::string> with_help_option(std::vector<std::string> arguments) {
    if (arguments.empty() || arguments.front() != "help") return arguments;
    arguments.erase(arguments.begin());
    arguments.push_back("--help");
    return arguments;
}

// "--save DIR".
std::string usage_of_option(const CommandDef& command, std::string_view name) {
    for (const OptionDef& option : command.options)
        if (option.name == name) return fmt::format("{}{}{}", name, option.value.empty() ? "" : " ", option.value);
    internal_error(fmt::format("{} has no option {}", command.name, name));
}

// An option that is given without the one that it says more about; nullptr if none is.
const OptionDef* lone_option(const CommandDef& command, const Arguments& arguments) {
    for (const OptionDef& option : command.options)
        if (!option.with.empty() && arguments.given(option.name) && !arguments.given(option.with)) return &option;
    return nullptr;
}

const OptionDef* unread_option(const CommandDef& command) {
    for (const OptionDef& option : command.options)
        if (option.unread) return &option;
    return nullptr;
}

// What stands behind "--" of a command whose last positional takes it as it is: nobody reads it as options.
std::vector<std::string> cut_unread(std::vector<std::string>& arguments) {
    std::vector<std::string> unread;
    const auto takes_it = [&](const CommandDef* command) {
        return command->name == arguments.front() && unread_option(*command) != nullptr;
    };
    if (arguments.empty() || std::none_of(all_commands().begin(), all_commands().end(), takes_it)) return unread;
    const std::vector<std::string>::iterator dashes = std::find(arguments.begin(), arguments.end(), "--");
    if (dashes != arguments.end()) unread.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
    return unread;
}

int parse_and_run(const std::vector<std::string>& written, Env& env) {
    std::vector<std::string> arguments = with_help_option(written);
    const std::vector<std::string> unread = cut_unread(arguments);
    CLI::App app{std::string(tool_summary), "shardc"};
    app.set_version_flag("--version", tool_text());
    app.require_subcommand(1);
    std::deque<Slot> slots;
    std::vector<std::pair<CLI::App*, const CommandDef*>> subcommands;
    std::vector<std::vector<Slot*>> slots_of;
    for (const CommandDef* command : all_commands()) {
        CLI::App* sub = app.add_subcommand(std::string(command->name), std::string(command->summary));
        subcommands.emplace_back(sub, command);
        slots_of.emplace_back();
        for (const OptionDef& option : command->options) {
            slots.emplace_back();
            slots.back().option = &option;
            add_option(*sub, option, slots.back());
            slots_of.back().push_back(&slots.back());
        }
    }
    const CommandDef* typed = nullptr;
    for (const CommandDef* command : all_commands())
        if (!arguments.empty() && arguments.front() == command->name) typed = command;
    try {
        std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
        app.parse(reversed);
    } catch (const CLI::Success& success) { // --help, --version
        if (typed == nullptr && !arguments.empty() && !arguments.front().starts_with('-'))
            return usage_error(env, nullptr, explain_mistake(arguments, nullptr, success));
        bool version = !arguments.empty() && arguments.front() == "--version";
        env.out << (version ? tool_text() + "\n"
                            : entries_broken(typed == nullptr ? overview() : help_text(*typed), env.width));
        return exit_clean;
    } catch (const CLI::ParseError& error) {
        return usage_error(env, typed, explain_mistake(arguments, typed, error));
    }
    for (size_t i = 0; i < subcommands.size(); ++i) {
        if (!subcommands[i].first->parsed()) continue;
        Arguments parsed;
        for (Slot* slot : slots_of[i]) {
            if (std::string mistake = explain_choice(*slot); !mistake.empty()) return usage_error(env, typed, mistake);
            std::string name(slot->option->name);
            if (slot->flag)
                parsed.set(name, {});
            else if (slot->given())
                parsed.set(name, slot->option->many ? slot->values : std::vector<std::string>{slot->value});
            else if (!slot->option->fallback.empty())
                parsed.set_fallback(name, slot->option->fallback);
        }
        if (const OptionDef* option = unread_option(*subcommands[i].second); option != nullptr && !unread.empty())
            parsed.set(std::string(option->name), unread);
        if (const OptionDef* option = lone_option(*subcommands[i].second, parsed))
            return refuse(env, fmt::format("{} says more about {}, which is not there", option->name, option->with),
                          fmt::format("add {}, or leave {} out", usage_of_option(*subcommands[i].second, option->with),
                                      option->name));
        Diagnostics diagnostics;
        const FileClaims claims(*subcommands[i].second, parsed, env, diagnostics);
        if (diagnostics.has_error()) {
            print_diagnostics(env, Sources{}, diagnostics.all());
            return exit_usage;
        }
        return subcommands[i].second->run(parsed, env);
    }
    internal_error("no subcommand was parsed");
}

// Memory was refused, a size is beyond any memory, or the system has no room for a thread.
bool is_out_of_memory(const std::exception& error) {
    const std::system_error* system = dynamic_cast<const std::system_error*>(&error);
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
           dynamic_cast<const std::length_error*>(&error) != nullptr ||
           (system != nullptr && (system->code() == std::errc::resource_unavailable_try_again ||
                                  system->code() == std::errc::not_enough_memory));
}

// `last_err` takes no memory to write to.
int run_guarded(const std::vector<std::string>& arguments, Env& env, std::ostream& last_err) {
    try {
        return parse_and_run(arguments, env);
    } catch (const std::exception& error) {
        if (is_out_of_memory(error)) return report_out_of_memory(last_err);
        env.err << "internal error: " << printable(error.what())
                << "\nThis is a bug in shardc, not in your files. Please report it with the command and the files.\n";
        return exit_internal;
    }
}

} // namespace

int run_cli(const std::vector<std::string>& arguments, Env& env) {
    const ReadInputs inputs;
    // Of which every line is a command that is meant.
    const bool annotates = std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
        const std::string_view option = "--format=", word = argument;
        const FormatDef* format = find_format(word.starts_with(option) ? word.substr(option.size()) : word);
        return format != nullptr && format->annotates;
    });
    Outlet out(env.out, env.out_color, annotates), err(env.err, env.err_color || env.err_terminal);
    err.stream() << std::unitbuf;
    Env checked{env.in,        out.stream(),  err.stream(), env.files,
                env.out_color, env.err_color, env.width,    env.err_terminal};
    const int code = run_guarded(arguments, checked, env.err);
    out.finish();
    return out.problem() == ENOMEM ? report_out_of_memory(env.err) : finish_output(out, checked, code);
}

} // namespace shard

// Completion scripts are made from the command tables, so they know what `--help` knows. Each form below follows the
// conventions of its shell: bash's `complete -F`, zsh's `_arguments`, fish's `complete -c`.
#include "cli/command/help.h"
#include "cli/inputs/output.h"
#include "cli/terminal/exit_code.h"

#include <fmt/format.h>

namespace shard {

namespace {

bool takes_value(const OptionDef& option) { return !option.value.empty() || is_positional(option); }

std::string words(const std::vector<std::string_view>& list) { return fmt::format("{}", fmt::join(list, " ")); }

std::string replaced(std::string_view text, std::string_view chars, std::string_view before) {
    std::string out;
    for (char c : text) {
        if (chars.find(c) != std::string_view::npos) out += before;
        out += c;
    }
    return out;
}

// Inside '...' of a POSIX shell, and of fish.
std::string quoted(std::string_view text) {
    std::string out;
    for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "'" + out + "'";
}
std::string fish_quoted(std::string_view text) { return "'" + replaced(text, "\\'", "\\") + "'"; }

std::string bash_script() {
    std::string names, values, options, positionals;
    for (const CommandDef* command : all_commands()) {
        names += fmt::format("{}{}", names.empty() ? "" : " ", command->name);
        std::vector<std::string_view> flags = {"--help"};
        for (const OptionDef& option : command->options) {
            if (is_positional(option)) {
                if (!option.choices.empty())
                    positionals += fmt::format("        {}) choices='{}' ;;\n", command->name, words(option.choices));
                continue;
            }
            flags.push_back(option.name);
            if (!takes_value(option)) continue;
            std::string pattern = fmt::format("'{} {}'", command->name, option.name);
            if (!option.short_name.empty()) pattern += fmt::format("|'{} {}'", command->name, option.short_name);
            if (!option.choices.empty())
                values += fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n", pattern,
                                      words(option.choices));
        }
        options +=
            fmt::format("            {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", command->name, words(flags));
    }
    return fmt::format(R"(# bash completion for shardc; source it, or put it into /etc/bash_completion.d
_shardc() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}" choices=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '{} --help --version' -- "$cur"))
        return
    fi
    case "$command $prev" in
{}    esac
    if [[ "$cur" == -* ]]; then
        case "$command" in
{}        esac
        return
    fi
    case "$command" in
{}    esac
    if [ -n "$choices" ]; then
        COMPREPLY=($(compgen -W "$choices" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}}
complete -o filenames -F _shardc shardc
)",
                       names, values, options, positionals);
}

std::string zsh_action(const OptionDef& option) {
    return option.choices.empty() ? "_files" : fmt::format("({})", words(option.choices));
}

std::string zsh_script() {
    std::string names, cases;
    for (const CommandDef* command : all_commands()) {
        names +=
            "        " + quoted(fmt::format("{}:{}", command->name, replaced(command->summary, ":\\", "\\"))) + "\n";
        std::string specs;
        for (const OptionDef& option : command->options) {
            std::vector<std::string> forms;
            if (is_positional(option)) {
                forms.push_back(fmt::format("{}:{}:{}",
                                            option.many       ? "*"
                                            : option.required ? ""
                                                              : ":",
                                            replaced(option.name, ":", "\\"), zsh_action(option)));
            } else {
                const std::string doc = replaced(option.doc, ":[]\\", "\\");
                const std::string many = option.many ? "*" : "";
                const std::string value =
                    takes_value(option) ? fmt::format(":{}:{}", replaced(option.value, ":", "\\"), zsh_action(option))
                                        : "";
                forms.push_back(fmt::format("{}{}[{}]{}", many, option.name, doc, value));
                if (!option.short_name.empty())
                    forms.push_back(fmt::format("{}{}[{}]{}", many, option.short_name, doc, value));
            }
            for (const std::string& form : forms) specs += " \\\n                " + quoted(form);
        }
        cases += fmt::format("        {})\n            _arguments '--help[all about the command]'{} ;;\n",
                             command->name, specs);
    }
    return fmt::format(R"(#compdef shardc
# zsh completion for shardc; put it into a folder of $fpath as _shardc, or source it
_shardc() {{
    local -a commands
    commands=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{}    esac
}}
if [ "$funcstack[1]" = _shardc ]; then
    _shardc "$@"
else
    compdef _shardc shardc
fi
)",
                       names, cases);
}

std::string fish_script() {
    std::string out = "# fish completion for shardc; put it into ~/.config/fish/completions/shardc.fish\n"
                      "complete -c shardc -n __fish_use_subcommand -f -l help -d 'the commands'\n"
                      "complete -c shardc -n __fish_use_subcommand -f -l version -d 'which shardc this is'\n";
    for (const CommandDef* command : all_commands()) {
        out += fmt::format("complete -c shardc -n __fish_use_subcommand -f -a {} -d {}\n", command->name,
                           fish_quoted(command->summary));
        for (const OptionDef& option : command->options) {
            std::string line = fmt::format("complete -c shardc -n '__fish_seen_subcommand_from {}'", command->name);
            if (is_positional(option)) {
                if (option.choices.empty()) continue; // files, as fish does of itself
                out += fmt::format("{} -f -a '{}' -d {}\n", line, words(option.choices), fish_quoted(option.doc));
                continue;
            }
            line += fmt::format(" -l {}", option.name.substr(2));
            if (!option.short_name.empty()) line += fmt::format(" -s {}", option.short_name.substr(1));
            if (takes_value(option))
                line += option.choices.empty() ? " -r" : fmt::format(" -x -a '{}'", words(option.choices));
            out += fmt::format("{} -d {}\n", line, fish_quoted(option.doc));
        }
    }
    return out;
}

int run(const Arguments& arguments, Env& env) {
    const std::string& shell = arguments.string("SHELL");
    return write_payload(env, arguments,
                         shell == "bash"  ? bash_script()
                         : shell == "zsh" ? zsh_script()
                                          : fish_script(),
                         exit_clean);
}

} // namespace

const CommandDef& command_completion() {
    static const CommandDef def = {
        .name = "completion",
        .usage = "bash|zsh|fish",
        .summary = "a script that completes commands and options in a shell",
        .doc = "Example:\n"
               "  source <(shardc completion bash)                     in ~/.bashrc\n"
               "  shardc completion zsh > ~/.zfunc/_shardc             a folder of $fpath\n"
               "  shardc completion fish > ~/.config/fish/completions/shardc.fish",
        .options = {{.name = "SHELL", .doc = "the shell", .choices = {"bash", "zsh", "fish"}, .required = true},
                    output_option()},
        .order = 9,
        .run = run,
    };
    return def;
}

} // namespace shard

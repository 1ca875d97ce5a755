// What shells ask for completion: scripts for bash, zsh and fish, which all ask `completion words`, with what was typed, for
// what may come next. A line of the answer is a word and what it means, or ":files", that names of files may stand there.
#include "cli/command/complete.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "cli/terminal/exit_code.h"

#include <fmt/format.h>

namespace shard {

namespace {

// bash parts words at "=": they are put together again, and what is before it is left out of the answer. No blank comes
// behind a word that goes on.
constexpr std::string_view bash_script =
    R"(# bash completion for shardc; source it, or put it into /etc/bash_completion.d
_shardc() {
    local words=() line reply=() i joins= IFS=$' \t\n'
    for ((i = 1; i <= COMP_CWORD; ++i)); do
        if [[ ${#words[@]} -gt 0 && ( "${COMP_WORDS[i]}" == = || -n "$joins" ) ]]; then
            words[${#words[@]}-1]+="${COMP_WORDS[i]}"
        else
            words+=("${COMP_WORDS[i]}")
        fi
        joins=
        [[ "${COMP_WORDS[i]}" == = ]] && joins=1
    done
    local current="${words[${#words[@]}-1]}"
    COMPREPLY=()
    mapfile -t reply < <("${COMP_WORDS[0]}" completion words -- "${words[@]}" 2>/dev/null)
    for line in "${reply[@]}"; do
        if [[ "$line" == :files ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "${current##*=}")
        else
            line="${line%% *}"
            [[ "$line" == *[=.] ]] && compopt -o nospace 2>/dev/null
            [[ "$current" == *=* ]] && line="${line#"${current%=*}="}"
            COMPREPLY+=("$line")
        fi
    done
}
complete -F _shardc shardc
)";

constexpr std::string_view zsh_script = R"(#compdef shardc
# zsh completion for shardc; put it into a folder of $fpath as _shardc, or source it
_shardc() {
    local -a lines described going_on
    local line word
    lines=("${(@f)$("$words[1]" completion words -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    for line in $lines; do
        word=${line%% *}
        if [[ $line == :files ]]; then
            [[ $PREFIX == *=* ]] && compset -P '*='
            _files
        elif [[ $word == *[=.] ]]; then
            going_on+=($word)
        elif [[ $line == *' '* ]]; then
            described+=("${word//:/\\:}:${line#* }")
        else
            described+=("${word//:/\\:}")
        fi
    done
    (( $#described )) && _describe -V shardc described
    (( $#going_on )) && compadd -S '' -a going_on
}
if [ "$funcstack[1]" = _shardc ]; then
    _shardc "$@"
else
    compdef _shardc shardc
fi
)";

constexpr std::string_view fish_script =
    R"(# fish completion for shardc; put it into ~/.config/fish/completions/shardc.fish
function __shardc_words
    set -l typed (commandline -opc)
    $typed[1] completion words -- $typed[2..-1] (commandline -ct | string collect -a) 2>/dev/null
end
complete -c shardc -f -a '(__shardc_words | string match -v ":files" | string replace " " \t)'
complete -c shardc -n '__shardc_words | string match -q ":files"' -F
)";

int answer(const Arguments& arguments, Env& env) {
    std::vector<std::string> words = arguments.strings("WORD");
    if (words.empty()) words.emplace_back(); // nothing is typed yet
    const Completion completion = complete(words, env);
    std::string out;
    for (const Candidate& candidate : completion.candidates)
        out += candidate.doc.empty() ? candidate.word + "\n" : fmt::format("{} {}\n", candidate.word, candidate.doc);
    if (completion.files) out += ":files\n";
    env.out << out;
    return exit_clean;
}

int run(const Arguments& arguments, Env& env) {
    const std::string& shell = arguments.string("SHELL");
    if (shell == "words" && arguments.has("--output"))
        return refuse(env, "--output takes a script, and words are answered on stdout", "leave it out");
    if (shell == "words") return answer(arguments, env);
    if (arguments.has("WORD"))
        return refuse(env, fmt::format("the script for {} takes no words", shell),
                      "shardc completion words -- WORD... answers what these scripts ask");
    const std::string_view script = shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script;
    return write_payload(env, arguments, std::string(script), exit_clean);
}

} // namespace

const CommandDef& command_completion() {
    static const CommandDef def = {
        .name = "completion",
        .usage = "bash|zsh|fish | words -- WORD...",
        .summary = "a script that completes commands, options and names in a shell",
        .doc = "Example:\n"
               "  source <(shardc completion bash)                     in ~/.bashrc\n"
               "  shardc completion zsh > ~/.zfunc/_shardc             a folder of $fpath\n"
               "  shardc completion fish > ~/.config/fish/completions/shardc.fish\n"
               "  shardc completion words -- explain model.yaml layout.yaml w   what these scripts ask\n"
               "Names are those of ops, codes, keys, hardware, and of the tensors of the files that were typed.",
        .options = {{.name = "SHELL",
                     .doc = "the shell, or words: what may stand in the place of the last of the words",
                     .choices = {"bash", "zsh", "fish", "words"},
                     .required = true},
                    {.name = "WORD", .doc = "what was typed behind shardc; after --", .many = true, .unread = true},
                    output_option()},
        .order = 9,
        .run = run,
    };
    return def;
}

} // namespace shard

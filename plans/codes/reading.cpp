#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_reading() {
    return {
        {"E0101", "not valid YAML",
         "The file could not be parsed as YAML. Usual causes: a missing colon, a tab in the indentation, lines of one "
         "block that do not start in the same column, a bracket too many."},
        {"E0102", "duplicate key",
         "A map holds the same key twice. YAML readers disagree about which of the two counts, so neither is taken. "
         "Keep one."},
        {"E0103", "merge key",
         "Merge keys (<<) are not part of YAML 1.2 and are not read. Write the keys out where they are needed."},
        {"E0104", "key that is not a name",
         "A key is a list, a map, an alias or empty. Keys in these files are names of things: plain text in front of a "
         "colon."},
        {"E0105", "nested too deep",
         "The file nests lists and maps more than 64 levels deep. No model or layout needs that: a bracket that is "
         "opened too often is the usual cause."},
        {"E0106", "too many values",
         "The file holds more than a million values, where an alias (*name) counts as often as what it stands for. "
         "This bound keeps small files that expand without end from taking the machine. Write repeated parts once, as "
         "a module that is repeated."},
        {"E0107", "file too large",
         "The file is larger than 64 MiB. Write repeated parts once, as a module that is repeated: {repeat: block, "
         "times: 96, in: x}."},
        {"E0108", "not a text file",
         "The file holds bytes that are not UTF-8 text: it may be binary, or saved in another encoding. Save it as "
         "UTF-8, lines ended by a line feed."},
        {"E0109", "empty file", "The file holds nothing but blanks and comments."},
        {"E0110", "text after the end",
         "The document ends before the file does: there is a second document (after ---), or text behind a closed "
         "bracket. A file holds one document."},
        {"E0111", "quote or bracket never closed",
         "A quote or a bracket is opened and the file ends before it is closed. The message points at the opening "
         "one."},
        {"E0112", "tag",
         "A value has a YAML tag such as !!str. Tags are not read: what a value means follows from its place. Quote a "
         "value to make it a string."},
        {"E0113", "value of the wrong type",
         "A value is, for example, a list where a number is expected. The message says what was expected and what was "
         "found. A number in quotes is a string."},
        {"E0114", "unknown key",
         "A map holds a key that means nothing there. Keys are checked so that a slip of the pen does not turn into a "
         "default. The message suggests the nearest key, or lists the keys there are."},
        {"E0115", "bad number",
         "A number is out of its range, does not fit 64 bits, or has a leading zero, which some YAML readers take for "
         "octal."},
        {"E0116", "missing key", "Something that has no default is not there. The message names it."},
        {"E0117", "? without quotes",
         "In YAML a question mark of its own starts a key. An open dim is therefore written in quotes: mesh: [data, "
         "\"?\"]. \"data?\" needs them too, inside brackets."},
        {"E0118", "unknown choice",
         "A key takes one of a few words, and this is none of them. The message lists them."},
        {"E0119", "comment for shardc that it does not understand",
         "A comment that begins with `shardc:` allows findings: `# shardc: allow W0304 why it is meant`. It names the "
         "codes of warnings or policy findings, several with commas between them, and a reason. It speaks of its own "
         "line or, on a line of its own, of the next line that is not a comment. Errors cannot be allowed."},
        {"E0120", "character that is not seen",
         "A text holds a control character, a line break, or a character that turns the direction of writing, in one "
         "of YAML's escapes (\"\\e[31m\") or as it is. Names and values are one line of visible characters: others "
         "would act on the terminal of whoever reads a report, or show a name that is not the one that is used."},
        {"E0121", "modules that cannot be included",
         "`include:` of a model names files of modules: a file beside the one that names it (`blocks.yaml`), or one in "
         "the box (`llama`; `shardc list library`). The file is not there, cannot be read, or is one of more than 100 "
         "that are included. Check the name; a path is relative to the file in which it stands."},
        {"E0122", "names of checkpoints that cannot be read",
         "`checkpoint_names: FILE` names the file, beside the model, that says what checkpoints from elsewhere call "
         "the "
         "parameters. It cannot be read. `shardc init --from config.json` writes one."},
        {"W0101", "allowance that silences nothing",
         "A comment `# shardc: allow CODE why` stands where no finding of that code is: the cause is gone, or the "
         "finding is on another line. Remove the comment, or move it to the line that the finding names."},
    };
}

} // namespace shard

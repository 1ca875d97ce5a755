// A command is one file: cli/commands/<name>.cpp defines `const CommandDef& command_<name>()`. Its options are a table,
// so that one place (arguments.cpp) knows the command-line library, and help, suggestions and completion come from the
// same data.
#pragma once

#include "cli/terminal/env.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// What a value names, if it names a file. Of "NAME=FILE" it is what stands behind the '=', of "NAME[=FILE]" nothing
// where there is none; choices are of the NAME.
enum class FileUse {
    none,
    read,
    written, // a new file in the place of the old one
    grows,   // lines are added
    folder,  // files are written into it; with a '=' in the value, as `written`
    other,   // the command sees to it
};

class Arguments;

// What may be typed somewhere, and a line about it.
struct Candidate {
    std::string word, doc = {};
    bool operator==(const Candidate&) const = default;
};

struct OptionDef {
    std::string_view name;       // "--format", or "MODEL" for a positional
    std::string_view value = {}; // what it takes: "FILE", "N"; empty for a flag
    std::string_view with = {};  // the option that it says more about: it is refused where that is not given
    std::string_view doc = {};
    std::vector<std::string_view> choices = {}; // allowed values; empty = any
    std::string_view fallback = {};             // the value if it is not given
    std::string_view short_name = {};           // "-o"
    bool required = false;
    bool many = false; // may be given again; a positional takes all that are left
    FileUse file = FileUse::none;
    bool dash = false;   // "-" is stdin, or stdout; a file that is called so is ./-
    bool unread = false; // a positional that takes what stands behind "--" as it is
    // For completion: what may stand here beside choices and files, after what was typed so far.
    std::vector<Candidate> (*candidates)(const Arguments& typed, Env& env) = nullptr;
};

// What was typed, checked against the table.
class Arguments {
public:
    bool flag(std::string_view name) const { return values_.contains(name); }
    bool has(std::string_view name) const { return values_.contains(name); } // given, or with a fallback
    bool given(std::string_view name) const { return values_.contains(name) && !fallbacks_.contains(name); }
    const std::string& string(std::string_view name) const; // internal error if there is neither a value nor a fallback
    std::vector<std::string> strings(std::string_view name) const;
    void set(std::string name, std::vector<std::string> values) { values_[std::move(name)] = std::move(values); }
    void set_fallback(const std::string& name, std::string_view value) {
        values_[name] = {std::string(value)};
        fallbacks_.insert(name);
    }

private:
    std::map<std::string, std::vector<std::string>, std::less<>> values_;
    std::set<std::string, std::less<>> fallbacks_; // names that nobody gave
};

struct CommandDef {
    std::string_view name;
    std::string_view usage; // "MODEL LAYOUT [-o FILE] [--format FORMATS]"
    std::string_view summary;
    std::string_view doc; // a few lines, with an example
    std::vector<OptionDef> options;
    int order = 0;                   // place in the list of commands
    std::string_view no_output = {}; // ": it prints", why there is no -o where one may look for it
    int (*run)(const Arguments&, Env&) = nullptr;
};

const std::vector<const CommandDef*>& all_commands(); // by `order`

} // namespace shard

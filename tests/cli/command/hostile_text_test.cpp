// Text that would act on whoever reads it (terminal codes, line breaks that begin another program's command, characters
// that turn the direction of writing, bytes that are not UTF-8) goes into every place that takes text, through every
// command and format. What comes out is visible characters, line breaks of shardc's own and, where asked for, its
// colours.
#include "cli/command/arguments.h"
#include "cli/command/command.h"
#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/paint.h"
#include "plans/base/printable.h"
#include "plans/file/plan_json.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include <unistd.h>

#include "test_paths.h"

namespace shard {
namespace {

// Separately, as arguments and in file names: a code of a terminal, a line that GitHub takes for a command, DEL, C1 (as
// a character and as a byte), a right-to-left override, an isolate, a space
// without width, a byte that is no UTF-8, what XML forbids.
const std::vector<std::string> hostile = {"\x1b[35;46mred",
                                          "\n::error::pwned",
                                          "\r::error::pwned",
                                          "a\x7f"
                                          "b",
                                          "c1\xc2\x9b"
                                          "31m",
                                          "c1\x9b"
                                          "31m",
                                          "\xe2\x80\xaertl",
                                          "\xe2\x81\xa6iso",
                                          "zero\xe2\x80\x8bwidth",
                                          "\xff\xfe",
                                          "\xef\xbf\xbf]]>",
                                          "\t\"<&|`"};

std::string all_hostile() {
    std::string all;
    for (const std::string& part : hostile) all += part;
    return all;
}

// Every byte is accounted for: UTF-8 that is not hidden, a line break, a colour.
std::string complaint(std::string_view text, bool color) {
    for (size_t at = 0; at < text.size();) {
        const std::string_view rest = text.substr(at);
        const size_t line_end = std::min(rest.find('\n'), rest.size());
        if ((at == 0 || text[at - 1] == '\n') && rest.starts_with("::error::pwned"))
            return "a line that is a command: " + std::string(rest.substr(0, line_end));
        if (rest[0] == '\n') {
            ++at;
        } else if (color && rest.starts_with(clear_line)) { // of a progress line
            at += clear_line.size();
        } else if (color && rest.starts_with("\x1b[") && !rest.starts_with("\x1b[35;46m")) {
            const size_t end = rest.find_first_not_of("0123456789;", 2);
            if (end == std::string_view::npos || rest[end] != 'm') return "a code that is no colour";
            at += end + 1;
        } else if (hidden_length(rest) > 0) {
            return fmt::format("{} in: {}", printable(rest.substr(0, hidden_length(rest))),
                               printable(rest.substr(0, line_end)));
        } else {
            at += utf8_length(rest);
        }
    }
    return {};
}

// Tags that open and close in order, entities that there are.
bool is_xml(std::string_view text) {
    std::vector<std::string> open;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '&') {
            const std::string_view rest = text.substr(at);
            if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;") &&
                !rest.starts_with("&quot;") && !rest.starts_with("&#10;"))
                return false;
        }
        if (text[at] != '<') continue;
        const size_t end = text.find('>', at);
        if (end == std::string_view::npos) return false;
        const std::string_view tag = text.substr(at + 1, end - at - 1);
        if (tag.find('<') != std::string_view::npos) return false;
        const std::string name(tag.substr(0, tag.find(' ')));
        if (name.starts_with('/')) {
            if (open.empty() || "/" + open.back() != name) return false;
            open.pop_back();
        } else if (!name.starts_with('?')) {
            open.push_back(name);
        }
        at = end;
    }
    return open.empty();
}

struct Shell {
    MemoryFiles files{SHARDC_SOURCE_DIR};

    CommandResult run(const std::vector<std::string>& words, bool color = false) {
        std::istringstream in;
        std::ostringstream out, err;
        Env env{in, out, err, files, color, color, 120, color};
        const int code = run_cli(words, env);
        return {out.str(), err.str(), code};
    }

    // The command with and without colours, and its payload as a file.
    void check(std::vector<std::string> words, std::string_view format = "text") {
        CAPTURE(fmt::format("{}", fmt::join(words, " ")));
        for (const bool color : {false, true}) {
            const CommandResult result = run(words, color);
            CHECK(complaint(result.out, color) == "");
            CHECK(complaint(result.err, color) == "");
            CHECK(result.code != exit_internal);
            if (color || result.out.empty()) continue;
            if (format == "json" || format == "sarif") CHECK(nlohmann::json::accept(result.out));
            if (format == "junit") CHECK(is_xml(result.out));
        }
    }
};

std::vector<std::string> names_of(const std::vector<const FormatDef*>& formats) {
    std::vector<std::string> names;
    for (const FormatDef* format : formats) names.emplace_back(format->name);
    return names;
}
const std::vector<std::string> check_formats = names_of(formats_for(&FormatDef::check));

// Every command that takes a model and a layout, in every format.
void check_everywhere(Shell& shell, const std::string& model, const std::string& layout) {
    for (const CommandDef* command : all_commands()) {
        std::vector<std::string> words = {std::string(command->name), model, layout};
        if (command->name == "diff") words.push_back(layout);
        const bool takes_both = command->options.size() > 1 &&
                                (command->options[0].name == "MODEL" || command->options[0].name == "FILE" ||
                                 command->options[0].name == "WHAT") &&
                                command->name != "list";
        if (!takes_both) continue;
        for (const OptionDef& option : command->options)
            for (const std::string_view choice :
                 option.name == "--format" ? option.choices : std::vector<std::string_view>{}) {
                std::vector<std::string> line = words;
                line.insert(line.end(), {"--format", std::string(choice)});
                shell.check(line, choice);
            }
    }
}

const std::string model = "model: m\naxes: {batch: 8, embed: 4}\ninputs: {x: {axes: [batch, embed]}}\n"
                          "params: {w: {axes: [embed]}}\ngraph: [{y: {mul: [x, w]}}, {s: {reduce_sum: y}}]\n"
                          "outputs: [y, s]\n";
const std::string layout = "mesh: {data: 2}\nrules: [{batch: data}, {embed: ~}]\npolicy: {max_collectives: 0}\n";

std::string in_yaml_quotes(std::string_view text) {
    std::string out;
    for (char c : text) out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    return "\"" + out + "\"";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("hostile names of files come out as visible text, in every command and format") {
    for (const std::string& part : hostile) {
        Shell shell;
        shell.files.files[part + "model.yaml"] = model;
        shell.files.files[part + "layout.yaml"] = layout;
        shell.files.files[part + "bad.yaml"] = "mesh: {data: 2}\nrules: [{btch: dat}]\n";
        check_everywhere(shell, part + "model.yaml", part + "layout.yaml");
        check_everywhere(shell, part + "model.yaml", part + "bad.yaml");
        check_everywhere(shell, part + "none.yaml", part + "none.yaml");
        shell.check({"plan", part + "model.yaml", part + "layout.yaml", "-o", part + "plan.json"});
        for (const std::string command : {"run", "show", "explain"}) shell.check({command, part + "plan.json"});
        shell.check({"diff", part + "plan.json", part + "plan.json"});
        for (const std::string& format : check_formats)
            shell.check(
                {"check", part + "model.yaml", part + "layout.yaml", "--policy", part + "bad.yaml", "--format", format},
                format);
    }
}

TEST_CASE("no name begins a line that a CI service takes for a command") {
    MemoryFiles files;
    const std::string plain = "model: m\ninputs: {x: {shape: [4, 4]}}\ngraph: [{y: {neg: x}}]\noutputs: [y]\n",
                      split = "mesh: {data: 2}\n";
    for (const std::string begin : {"::error::", "##[error]", "##vso[task", "##teamcity[a"}) {
        const std::string name = begin + "pwn.yaml";
        files.files = {{"m.yaml", plain}, {name, split}, {"b.yaml", "mesh: {data: 4}\n"}};
        for (const std::string& format : names_of(formats_for(&FormatDef::diff))) {
            const CommandResult result = run_command(files, "diff m.yaml '" + name + "' b.yaml --format " + format);
            CHECK(result.code == 0);
            CHECK(result.out.find("pwn") != std::string::npos);
            std::istringstream lines(result.out);
            for (std::string line; std::getline(lines, line);)
                CHECK_FALSE(line.substr(std::min(line.size(), line.find_first_not_of(' '))).starts_with(begin));
        }
    }
    CHECK(run_command(files, "check m.yaml nowhere.yaml --format github").out.starts_with("::error "));
}

TEST_CASE("hostile bytes in a YAML file come out as visible text, in excerpts too") {
    for (const std::string& part : hostile) {
        Shell shell;
        const auto with = [&](const std::string& name, const std::string& text) { shell.files.files[name] = text; };
        with("model.yaml", model);
        with("layout.yaml", layout);
        with("comment.yaml", replaced(layout, "data}, {embed", "dat}, {embed") + "# " + part + "\n");
        with("beside.yaml", replaced(layout, "\npolicy", " # " + part + "\npolicy") + "unknown: 3\n");
        with("plain.yaml", replaced(layout, "batch:", part + "batch:"));
        with("quoted.yaml", replaced(layout, "{batch: data}", "{batch: " + in_yaml_quotes(part) + "}"));
        with("key.yaml", replaced(layout, "{batch: data}", "{" + in_yaml_quotes(part) + ": data}"));
        for (const std::string name : {"comment", "beside", "plain", "quoted", "key"})
            check_everywhere(shell, "model.yaml", name + ".yaml");
    }
}

TEST_CASE("every text of a model, in turn, is hostile") {
    const std::string all = in_yaml_quotes(all_hostile());
    for (const std::string word :
         {"m\n", "batch: 8", "x: {", "w: {", "y: {", "mul", "reduce_sum", "[x, w]", "y, s]", "[embed]"}) {
        CAPTURE(word);
        for (const std::string& form : {all, in_yaml_quotes(hostile[0]), in_yaml_quotes(hostile[1])}) {
            Shell shell;
            const size_t name_end =
                word.find_first_of(":\n,]") == std::string::npos ? word.size() : word.find_first_of(":\n,]");
            const size_t name_start = word[0] == '[' ? 1 : 0;
            std::string changed = word;
            changed.replace(name_start, name_end - name_start, form);
            shell.files.files["model.yaml"] = replaced(model, word, changed);
            shell.files.files["layout.yaml"] = layout;
            check_everywhere(shell, "model.yaml", "layout.yaml");
        }
    }
}

TEST_CASE("every string of a plan file, in turn, is hostile") {
    Shell shell;
    shell.files.files["model.yaml"] = model;
    shell.files.files["layout.yaml"] = layout;
    REQUIRE(shell.run({"plan", "model.yaml", "layout.yaml", "-o", "plan.json"}).code == 1);
    const nlohmann::ordered_json plan = nlohmann::ordered_json::parse(shell.files.files["plan.json"]);
    std::set<std::string> seen; // one element of a list stands for all
    int changed = 0;
    const nlohmann::ordered_json flat = plan.flatten();
    for (const auto& [path, value] : flat.items()) {
        std::string kind;
        for (char c : path)
            if (c < '0' || c > '9') kind += c;
        if (!value.is_string() || path == "/checksum" || !seen.insert(kind).second) continue;
        for (const std::string& text : {hostile[0], hostile[1], hostile[6]}) {
            nlohmann::ordered_json copy = plan;
            copy[nlohmann::ordered_json::json_pointer(path)] = text;
            copy.erase("checksum");
            std::string body = copy.dump();
            body.pop_back();
            shell.files.files["hostile.json"] = seal_plan(body + "\n");
            const std::string at = path; // clang 14 has no captures of bindings
            CAPTURE(at);
            for (const std::string command : {"run", "show", "explain"})
                for (const std::string& format : names_of(formats_for(&FormatDef::show)))
                    shell.check({command, "hostile.json", "--format", format}, format);
            for (const std::string& format : names_of(formats_for(&FormatDef::diff)))
                shell.check({"diff", "plan.json", "hostile.json", "--format", format}, format);
            ++changed;
        }
    }
    CHECK(changed > 60);
}

TEST_CASE("hostile arguments come out as visible text") {
    for (const std::string& part : hostile) {
        Shell shell;
        shell.files.files["model.yaml"] = model;
        shell.files.files["layout.yaml"] = layout;
        shell.check({part});
        shell.check({"--" + part});
        for (const CommandDef* command : all_commands()) {
            const std::string name(command->name);
            if (name == "calibrate") continue; // takes nothing but an output
            if (name == "watch") continue;     // reads as `plan` does, and goes on until a signal
            shell.check({name, part});
            shell.check({name, "model.yaml", "layout.yaml", "--" + part});
            shell.check({name, "model.yaml", "layout.yaml", part});
            for (const OptionDef& option : command->options)
                if (option.name.front() == '-' && !option.value.empty() && option.name != "--save" &&
                    option.name != "--restore" && option.name != "--output" && option.name != "--log")
                    shell.check({name, "model.yaml", "layout.yaml", std::string(option.name), part});
        }
        for (const std::string option : {"--input", "--data"})
            for (const std::string& value : {part + "=x.npy", "x=" + part, "y=" + part})
                shell.check({"run", "model.yaml", "layout.yaml", option, value});
        for (const std::string list : {"ops", "hardware", "codes"}) shell.check({"list", list, part});
        const std::string folder = fmt::format("{}/hostile_{}", SHARDC_TEST_DIR, ::getpid());
        shell.check({"run", "model.yaml", "layout.yaml", "--restore", folder + "/" + part});
        for (const std::string& value : {folder + "/" + part, "y=" + folder + "/none/" + part, part + "=x.npy"})
            shell.check({"run", "model.yaml", "layout.yaml", "--output", value}); // the first is written, and said
        std::filesystem::remove_all(folder);
    }
}

TEST_CASE("the caret stands under what it marks, whatever is before it") {
    const std::vector<std::pair<std::string, size_t>> columns = {
        {"ab", 2},        {"\t", 4},          {"\xe5\x90\x8d\xe5\x89\x8d", 4},
        {"e\xcc\x81", 1}, {"\x1b", 6},        {"\xe2\x80\xae", 6},
        {"\xff", 4},      {"\xef\xbb\xbf", 6}};
    for (const auto& [before, width] : columns) {
        const std::string shown = printable(before); // clang 14 has no captures of bindings
        CAPTURE(shown);
        Sources sources;
        sources.add("f", before + before + "here" + before);
        Diagnostics diagnostics;
        const int size = static_cast<int>(before.size());
        diagnostics.error("E0114", {0, 1, 2 * size + 1, 4}, "no");
        diagnostics.error("E0114", {0, 1, size + 1, size + 4}, "no");
        const std::string text = diagnostics_text(sources, diagnostics.all(), false);
        CHECK(text.find("\n  | " + std::string(2 * width, ' ') + "^^^^\n") != std::string::npos);
        CHECK(text.find("\n  | " + std::string(width, ' ') + std::string(width + 4, '^') + "\n") != std::string::npos);
    }
}

} // namespace shard

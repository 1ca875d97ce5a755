#include "tests/support/documents.h"

#include "cli/diagnostics/diagnostics.h"
#include "planner/graph_text/graph_parse.h"
#include "planner/pipeline/graph_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <sstream>

namespace shard {

namespace {

struct Command {
    int line = 0;
    std::string text, expected;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// What stands below a command, without the blank lines around it.
std::string trimmed(const std::string& text) {
    size_t begin = text.find_first_not_of('\n');
    if (begin == std::string::npos) return {};
    size_t end = text.find_last_not_of("\n ");
    return text.substr(begin, end - begin + 1) + "\n";
}

std::string shown(const CommandResult& result) {
    std::string text = result.out + result.err;
    if (result.code != 0) {
        if (!text.empty() && text.back() != '\n') text += '\n';
        text += fmt::format("[exit {}]\n", result.code);
    }
    return trimmed(text);
}

// What a number's text resolves: 0.01 for "1.25", 1e-8 for "3.447e-05"; 0 if it is no decimal.
double resolution(const std::string& text) {
    char* end = nullptr;
    std::strtod(text.c_str(), &end);
    const size_t point = text.find('.'), exponent = text.find('e');
    if (text.empty() || *end != 0 || (point == std::string::npos && exponent == std::string::npos)) return 0;
    const size_t digits_end = std::min(exponent, text.size());
    const double decimals = point < digits_end ? static_cast<double>(digits_end - point - 1) : 0;
    const double power = exponent == std::string::npos ? 0 : std::strtod(text.c_str() + exponent + 1, nullptr);
    return std::pow(10.0, power - decimals);
}

// Sums round as the kernels of this machine's BLAS add up, so what was computed may differ in its last digits; a mean
// of terms that cancel in all of them, which is little beside the largest number of the line, `scale`.
bool same_number(const std::string& a, const std::string& b, double scale) {
    const double fine = resolution(a), coarse = resolution(b);
    if (fine == 0 || coarse == 0) return a == b;
    const double x = std::strtod(a.c_str(), nullptr), y = std::strtod(b.c_str(), nullptr);
    return std::fabs(x - y) <= std::max(2.5 * std::max(fine, coarse), 2e-6 * scale);
}

bool same_computed_line(const std::string& expected, const std::string& actual) {
    std::istringstream numbers(expected), a(expected), b(actual);
    std::string x, y, before;
    double scale = 0;
    while (numbers >> x)
        if (resolution(x) > 0) scale = std::max(scale, std::fabs(std::strtod(x.c_str(), nullptr)));
    for (;;) {
        const bool more = static_cast<bool>(a >> x);
        if (more != static_cast<bool>(b >> y)) return false;
        if (!more) return true;
        // How far a run is from its reference is all last digits.
        const bool is_difference = before == "difference" || before == "difference,";
        before = is_difference ? "difference," : x;
        if (is_difference && x.back() == ',' && y.back() == ',') continue;
        const auto is_number = [](const std::string& word) { return word == "0" || resolution(word) > 0; };
        if (is_difference && is_number(x) && is_number(y)) {
            before.clear();
            continue;
        }
        if (!same_number(x, y, scale)) return false;
    }
}

bool same(const std::string& expected, const std::string& actual, bool computed) {
    if (!computed || expected == actual) return expected == actual;
    const std::vector<std::string> a = lines_of(expected), b = lines_of(actual);
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_computed_line);
}

// `computed`: the output of a run.
bool fits(const std::string& expected, const std::string& actual, bool computed) {
    constexpr std::string_view open_end = "...\n";
    if (!expected.ends_with(open_end)) return same(expected, actual, computed);
    const std::string begin = expected.substr(0, expected.size() - open_end.size());
    const size_t lines = static_cast<size_t>(std::count(begin.begin(), begin.end(), '\n'));
    if (!computed || !begin.ends_with('\n')) return actual.starts_with(begin);
    size_t end = 0;
    for (size_t n = 0; n < lines && end != std::string::npos; ++n) end = actual.find('\n', end) + 1;
    return same(begin, actual.substr(0, end), true);
}

// Runs a command whose checkpoints lie below `folder`, of which the document does not know.
CommandResult run_in(const std::string& folder, MemoryFiles& files, std::string line) {
    const std::string prefix = folder.empty() ? folder : folder + "/";
    for (const std::string_view option : {" --save ", " --restore "})
        if (const size_t at = line.find(option); at != std::string::npos) line.insert(at + option.size(), prefix);
    CommandResult result = run_command(files, line);
    for (std::string* const text : {&result.out, &result.err})
        for (size_t at = 0; !prefix.empty() && (at = text->find(prefix, at)) != std::string::npos;)
            text->erase(at, prefix.size());
    return result;
}

// A plan that was made is also proved: `plan MODEL LAYOUT` -> `run MODEL LAYOUT --verify`.
void prove(const Command& command, MemoryFiles& files, DocumentResult& result) {
    std::vector<std::string> words = split_words(command.text);
    if (words.size() < 4 || words[0] != "shardc" || words[1] != "plan" || words[2].starts_with('-') ||
        words[3].starts_with('-'))
        return;
    std::string line = fmt::format("shardc run '{}' '{}' --verify", words[2], words[3]);
    for (size_t i = 4; i + 1 < words.size(); ++i) {
        const bool is_set = words[i] == "--set";
        if (is_set && words[i + 1].find(',') != std::string::npos) return; // several plans, none of which is written
        if (is_set || words[i] == "--mode") line += fmt::format(" {} '{}'", words[i], words[i + 1]);
    }
    CommandResult run = run_command(files, line);
    ++result.proved;
    if (run.code != 0) result.failures.push_back({command.line, line, "[exit 0]\n", shown(run)});
}

// Runs the commands of one console block; returns the block as it should read.
std::string check_block(std::span<const std::string> block, int first_line, bool proved, MemoryFiles& files,
                        const std::string& folder, DocumentResult& result) {
    std::vector<Command> commands;
    for (size_t i = 0; i < block.size(); ++i) {
        if (block[i].starts_with("$ shardc "))
            commands.push_back({first_line + static_cast<int>(i), block[i].substr(2), {}});
        else if (!commands.empty())
            commands.back().expected += block[i] + "\n";
    }
    std::string rewritten;
    for (Command& command : commands) {
        command.expected = trimmed(command.expected);
        CommandResult run = run_in(folder, files, command.text);
        std::string actual = shown(run);
        ++result.commands;
        bool ok = fits(command.expected, actual, command.text.starts_with("shardc run "));
        if (!ok) result.failures.push_back({command.line, command.text, command.expected, actual});
        if (!rewritten.empty()) rewritten += "\n";
        rewritten += "$ " + command.text + "\n" + (ok ? command.expected : actual);
        if (run.code == 0 && proved) prove(command, files, result);
    }
    return rewritten;
}

// What the passes make of the graph, or what is wrong.
std::string text_after(std::span<const std::string> passes, const std::string& graph) {
    Sources sources;
    Diagnostics diagnostics;
    std::optional<GraphState> state = parse_graph(sources, sources.add("graph", graph), diagnostics);
    for (const std::string& pass : passes) {
        const PassDef* const def = find_pass(pass);
        if (def == nullptr) return fmt::format("there is no pass '{}'\n", pass);
        if (state) state = run_pass(*def, *state, diagnostics);
    }
    return state ? graph_text(*state) : trimmed(diagnostics_text(sources, diagnostics.all(), false));
}

} // namespace

DocumentResult check_document(const std::string& text, const std::string& repository_root, const std::string& folder) {
    DocumentResult result;
    MemoryFiles files(repository_root);
    std::string graph;
    std::vector<std::string> lines = lines_of(text);
    for (size_t i = 0; i < lines.size(); ++i) {
        result.rewritten += lines[i] + "\n";
        if (!lines[i].starts_with("```") || lines[i].size() == 3) continue;
        std::vector<std::string> info = split_words(lines[i].substr(3));
        size_t end = i + 1;
        while (end < lines.size() && lines[end] != "```") ++end;
        std::span<const std::string> block(lines.data() + i + 1, end - i - 1);
        std::string body;
        for (const std::string& line : block) body += line + "\n";
        if (info.size() > 1 && (info.front() == "yaml" || info.front() == "json" || info.front() == "mlir" ||
                                info.front() == "toml" || info.front() == "gin"))
            files.files[info[1]] = body;
        if (info.front() == "console")
            body = check_block(block, static_cast<int>(i) + 2,
                               std::find(info.begin(), info.end(), "no-run") == info.end(), files, folder, result);
        if (info.front() == "graph" && info.size() == 1) graph = body;
        if (info.front() == "graph" && info.size() > 1) {
            const std::string actual = text_after(std::span(info).subspan(2), graph);
            ++result.commands;
            if (actual != body) result.failures.push_back({static_cast<int>(i) + 1, lines[i].substr(3), body, actual});
            body = actual;
        }
        result.rewritten += body;
        if (end < lines.size()) result.rewritten += "```\n";
        i = end;
    }
    return result;
}

} // namespace shard

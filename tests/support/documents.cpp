#include "tests/support/documents.h"

#include <algorithm>
#include <fmt/format.h>
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

bool fits(const std::string& expected, const std::string& actual) {
    constexpr std::string_view open_end = "...\n";
    if (!expected.ends_with(open_end)) return expected == actual;
    return actual.starts_with(expected.substr(0, expected.size() - open_end.size()));
}

// A plan that was made is also proved: `plan MODEL LAYOUT` -> `run MODEL LAYOUT --verify`.
void prove(const Command& command, MemoryFiles& files, DocumentResult& result) {
    std::vector<std::string> words = split_words(command.text);
    if (words.size() < 4 || words[0] != "shardc" || words[1] != "plan" || words[2].starts_with('-') ||
        words[3].starts_with('-'))
        return;
    std::string line = fmt::format("shardc run '{}' '{}' --verify", words[2], words[3]);
    const std::vector<std::string>::iterator mode = std::find(words.begin(), words.end(), "--mode");
    if (mode != words.end() && mode + 1 != words.end()) line += fmt::format(" --mode {}", mode[1]);
    CommandResult run = run_command(files, line);
    ++result.proved;
    if (run.code != 0) result.failures.push_back({command.line, line, "[exit 0]\n", shown(run)});
}

// Runs the commands of one console block; returns the block as it should read.
std::string check_block(std::span<const std::string> block, int first_line, bool proved, MemoryFiles& files,
                        DocumentResult& result) {
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
        CommandResult run = run_command(files, command.text);
        std::string actual = shown(run);
        ++result.commands;
        bool ok = fits(command.expected, actual);
        if (!ok) result.failures.push_back({command.line, command.text, command.expected, actual});
        if (!rewritten.empty()) rewritten += "\n";
        rewritten += "$ " + command.text + "\n" + (ok ? command.expected : actual);
        if (run.code == 0 && proved) prove(command, files, result);
    }
    return rewritten;
}

} // namespace

DocumentResult check_document(const std::string& text, const std::string& repository_root) {
    DocumentResult result;
    MemoryFiles files(repository_root);
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
        if (info.size() > 1 && (info.front() == "yaml" || info.front() == "json")) files.files[info[1]] = body;
        if (info.front() == "console")
            body = check_block(block, static_cast<int>(i) + 2,
                               std::find(info.begin(), info.end(), "no-run") == info.end(), files, result);
        result.rewritten += body;
        if (end < lines.size()) result.rewritten += "```\n";
        i = end;
    }
    return result;
}

} // namespace shard

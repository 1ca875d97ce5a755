#include "tests/support/memory_files.h"

#include "cli/command/arguments.h"
#include "cli/command/command.h"

#include <set>
#include <sstream>

namespace shard {

std::optional<std::string> MemoryFiles::read(const std::string& path, std::string& error) {
    std::map<std::string, std::string>::const_iterator it = files.find(path);
    if (it != files.end()) return it->second;
    if (!root_.empty()) return DiskFiles().read(path.starts_with('/') ? path : root_ + "/" + path, error);
    error = "No such file or directory";
    return std::nullopt;
}

bool MemoryFiles::write(const std::string& path, std::string_view text, std::string&, OutputUse) {
    files[path] = std::string(text);
    return true;
}

bool MemoryFiles::append(const std::string& path, std::string_view text, std::string&) {
    files[path] += text;
    return true;
}

std::vector<std::string> MemoryFiles::list(const std::string& folder) {
    std::set<std::string> names;
    const std::string before = folder == "." ? "" : folder + "/";
    for (const auto& [path, text] : files)
        if (path.starts_with(before))
            names.insert(path.substr(before.size(), path.find('/', before.size()) - before.size()));
    if (!root_.empty())
        for (const std::string& name : DiskFiles().list(folder.starts_with('/') ? folder : root_ + "/" + folder))
            names.insert(name);
    return {names.begin(), names.end()};
}

std::vector<std::string> split_words(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    bool started = false;
    for (char c : line) {
        if (quote != 0) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '"' || c == '\'') {
            quote = c;
            started = true;
        } else if (c == ' ') {
            if (started) words.push_back(word);
            word.clear();
            started = false;
        } else {
            word += c;
            started = true;
        }
    }
    if (started) words.push_back(word);
    return words;
}

CommandResult run_command(MemoryFiles& files, const std::string& line, const std::string& input) {
    std::istringstream in(input);
    std::ostringstream out, err;
    Env env{in, out, err, files, false, false, 120};
    std::vector<std::string> words = split_words(line);
    if (!words.empty() && words.front() == "shardc") words.erase(words.begin());
    CommandResult result;
    result.code = run_cli(words, env);
    result.out = out.str();
    result.err = err.str();
    return result;
}

} // namespace shard

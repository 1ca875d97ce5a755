#include "cli/check/trial_files.h"

namespace shard {

std::optional<std::string> TrialFiles::read(const std::string& path, std::string& error) {
    const auto written = written_.find(path);
    return written == written_.end() ? under_.read(path, error) : written->second;
}

bool TrialFiles::write(const std::string& path, std::string_view text, std::string&, OutputUse) {
    written_.insert_or_assign(path, std::string(text));
    return true;
}

bool TrialFiles::append(const std::string& path, std::string_view text, std::string& error) {
    written_.insert_or_assign(path, read(path, error).value_or(std::string()) + std::string(text));
    return true;
}

bool TrialFiles::writable(const std::string& path, OutputUse use, std::string& error) {
    return under_.writable(path, use, error);
}

} // namespace shard

// Files as they would be: what is written stays here, and is what is read from then on. The disk is as it was.
#pragma once

#include "cli/terminal/env.h"

namespace shard {

class TrialFiles : public Files {
public:
    explicit TrialFiles(Files& under) : under_(under) {}
    std::optional<std::string> read(const std::string& path, std::string& error) override;
    bool write(const std::string& path, std::string_view text, std::string& error, OutputUse use) override;
    bool append(const std::string& path, std::string_view text, std::string& error) override;
    std::vector<std::string> list(const std::string& folder) override { return under_.list(folder); }
    bool writable(const std::string& path, OutputUse use, std::string& error) override;
    bool make_folders(const std::string&, std::string&) override { return true; }

private:
    Files& under_;
    std::map<std::string, std::string> written_;
};

} // namespace shard

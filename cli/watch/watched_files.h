// Files that remember what was read through them, so that a change can be seen. By their texts, not by their times: a
// file that an editor writes anew, renames into its place or only touches is compared as it stands, and one that is
// missing is seen when it appears. What can be read only once, a pipe say, is refused: nobody might write to it again.
#pragma once

#include "cli/terminal/env.h"

namespace shard {

class WatchedFiles : public Files {
public:
    explicit WatchedFiles(Files& under) : under_(under) {}

    std::optional<std::string> read(const std::string& path, std::string& error) override;
    bool write(const std::string& path, std::string_view text, std::string& error, OutputUse use) override;
    bool append(const std::string& path, std::string_view text, std::string& error) override;
    std::vector<std::string> list(const std::string& folder) override;
    bool writable(const std::string& path, OutputUse use, std::string& error) override;
    bool make_folders(const std::string& path, std::string& error) override;

    // Reads, and does not remember it.
    std::optional<std::string> look(const std::string& path, std::string& error) const;
    // One that was read in another way; nothing: in vain.
    void remember(const std::string& path, std::optional<std::string> text) {
        texts_.try_emplace(path, std::move(text));
    }
    // Of those that were read, what is not now as it was then; sorted.
    std::vector<std::string> changed() const;

private:
    Files& under_;
    std::map<std::string, std::optional<std::string>> texts_; // nothing: it could not be read
};

} // namespace shard

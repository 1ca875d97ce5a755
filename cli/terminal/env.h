// The world as a command sees it. Tests hand in strings; main() hands in the process's streams and the disk.
#pragma once

#include "plans/disk/output_file.h"
#include "plans/disk/output_path.h"

#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// Files by path. A file that is written appears whole or not at all (plans/disk/output_file.h).
class Files {
public:
    virtual ~Files() = default;
    virtual std::optional<std::string> read(const std::string& path, std::string& error) = 0;
    // In the place of a file that was read: OutputUse::renew.
    virtual bool write(const std::string& path, std::string_view text, std::string& error,
                       OutputUse use = OutputUse::replace) = 0;
    // For logs, which grow: in the file when the call returns.
    virtual bool append(const std::string& path, std::string_view text, std::string& error) = 0;
    // The names in a folder, sorted, without pipes, which only who was told to reads; none if it cannot be read.
    virtual std::vector<std::string> list(const std::string& folder) = 0;
    virtual bool writable(const std::string& path, OutputUse use, std::string& error) = 0;
    // A folder, and those that it lies in.
    virtual bool make_folders(const std::string& path, std::string& error) = 0;
};

class DiskFiles : public Files {
public:
    std::optional<std::string> read(const std::string& path, std::string& error) override;
    bool write(const std::string& path, std::string_view text, std::string& error, OutputUse use) override;
    bool append(const std::string& path, std::string_view text, std::string& error) override;
    std::vector<std::string> list(const std::string& folder) override;
    bool writable(const std::string& path, OutputUse use, std::string& error) override;
    bool make_folders(const std::string& path, std::string& error) override;

private:
    std::map<std::string, std::unique_ptr<LogFile>> logs_; // open
};

// Of what goes to a file or a pipe, whoever runs it where.
inline constexpr size_t no_terminal_width = 120;

struct Env {
    std::istream& in;
    std::ostream& out; // the payload
    std::ostream& err; // diagnostics, progress
    Files& files;
    bool out_color = false; // a terminal, and NO_COLOR is not set
    bool err_color = false;
    size_t width = no_terminal_width; // columns to lay the payload out in
    bool err_terminal = false;        // progress is shown there
};

} // namespace shard

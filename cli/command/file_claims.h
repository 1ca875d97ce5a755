// Which files a command reads and writes, before it does anything: so that a slip of the pen costs no run, and no
// input.
#pragma once

#include "cli/command/command.h"
#include "plans/diagnostics/diagnostic.h"
#include "plans/disk/output_path.h"

namespace shard {

// E0703 for a file that cannot be written, E0707 for one that would be written over something else that is read or
// written. What is no file (a device, a pipe, - for stdin and stdout) may be named twice.
class FileClaims {
public:
    // Of all that the options name (OptionDef::file).
    FileClaims(const CommandDef& command, const Arguments& arguments, Env& env, Diagnostics& diagnostics);
    // One more file that an option writes.
    void write(std::string_view option, const std::string& path, OutputUse use = OutputUse::replace);
    // Likewise, without asking whether it can be written; or one that it reads.
    void claim(std::string_view option, const std::string& path, bool written);

private:
    struct Claim {
        std::string option;
        FileIdentity file;
        bool written = false;
    };

    Env* env_;
    Diagnostics* diagnostics_;
    std::vector<Claim> claims_;
};

} // namespace shard

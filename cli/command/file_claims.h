// Which files a command reads and writes, before it does anything: so that a slip of the pen costs no run, and no
// input.
#pragma once

#include "cli/command/command.h"
#include "plans/diagnostics/diagnostic.h"
#include "plans/disk/output_path.h"

namespace shard {

// E0703 for a file that cannot be written, E0707 for one that would be written over something else that is read or
// written, or was read before; what stdin, stdout and stderr are files of counts too. What is no file (a device, a
// pipe) may be named twice. E0701 for "-" where it means nothing.
class FileClaims {
public:
    // Of all that the options name (OptionDef::file).
    FileClaims(const CommandDef& command, const Arguments& arguments, Env& env, Diagnostics& diagnostics);
    // One more file that an option writes.
    void write(std::string_view option, const std::string& path, OutputUse use = OutputUse::replace);
    // Likewise, without asking whether it can be written; or one that it reads. False after an error.
    bool claim(std::string_view option, const std::string& path, bool written);

private:
    struct Claim {
        std::string option, path;
        FileIdentity file;
        bool written = false;
        bool stream = false; // written where the stream stands: by a descriptor
    };

    void claim(const OptionDef& option, const std::string& value);
    void claim_streams();
    const Claim* find(const FileIdentity& file, bool stream) const;
    void refuse(const std::string& message);

    Env* env_;
    Diagnostics* diagnostics_;
    std::vector<Claim> claims_;
};

} // namespace shard

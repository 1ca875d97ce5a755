#include "cli/env.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace shard {

std::optional<std::string> DiskFiles::read(const std::string& path, std::string& error) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) {
        error = std::strerror(errno);
        return std::nullopt;
    }
    if (S_ISDIR(info.st_mode)) {
        error = "is a directory";
        return std::nullopt;
    }
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        error = errno != 0 ? std::strerror(errno) : "cannot be read";
        return std::nullopt;
    }
    return text.str();
}

bool DiskFiles::write(const std::string& path, std::string_view text, std::string& error) {
    std::string temporary = path + ".XXXXXX";
    int descriptor = ::mkstemp(temporary.data());
    if (descriptor < 0) {
        error = std::strerror(errno);
        return false;
    }
    bool ok = true;
    while (ok && !text.empty()) {
        ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        ok = written >= 0;
        if (ok) text.remove_prefix(static_cast<size_t>(written));
    }
    // mkstemp makes the file private; a new file gets what the user's umask says.
    mode_t mask = ::umask(0);
    ::umask(mask);
    ok = ok && ::fchmod(descriptor, 0666 & ~mask) == 0 && ::fsync(descriptor) == 0;
    if (!ok) error = std::strerror(errno);
    ok = ::close(descriptor) == 0 && ok;
    if (ok && ::rename(temporary.c_str(), path.c_str()) != 0) {
        error = std::strerror(errno);
        ok = false;
    }
    if (!ok) ::unlink(temporary.c_str());
    return ok;
}

} // namespace shard

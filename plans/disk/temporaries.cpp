#include "plans/disk/temporaries.h"

#include "plans/disk/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

namespace shard {

// Entries are reused and never freed: a handler may come while it looks at one.
struct Temporary::Entry {
    enum State { idle, taken, on_disk };
    std::atomic<State> state = idle;
    std::string path; // constant while on_disk
    Entry* next = nullptr;
};

namespace {

constexpr std::string_view prefix = ".shardc.tmp.";
constexpr size_t digits = 16;

// A signal handler reaches nothing but what lives as long as the process.
std::atomic<Temporary::Entry*>& first_entry() {
    static std::atomic<Temporary::Entry*> first = nullptr;
    static_assert(std::atomic<Temporary::Entry*>::is_always_lock_free &&
                      std::atomic<Temporary::Entry::State>::is_always_lock_free,
                  "a signal handler may read them");
    return first;
}

Temporary::Entry* idle_entry() {
    for (Temporary::Entry* entry = first_entry(); entry != nullptr; entry = entry->next) {
        Temporary::Entry::State expected = Temporary::Entry::idle;
        if (entry->state.compare_exchange_strong(expected, Temporary::Entry::taken)) return entry;
    }
    Temporary::Entry* entry = new Temporary::Entry;
    entry->state = Temporary::Entry::taken;
    entry->next = first_entry();
    while (!first_entry().compare_exchange_weak(entry->next, entry)) {
    }
    return entry;
}

} // namespace

std::string temporary_name() {
    std::uint64_t number = 0;
    // Without random numbers names meet, which the opening of a new file notices.
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) < 0) number = static_cast<std::uint64_t>(::getpid());
    return fmt::format("{}{:016x}", prefix, number);
}

bool is_temporary_name(std::string_view name) {
    return name.starts_with(prefix) && name.size() == prefix.size() + digits &&
           name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

Temporary::Temporary(std::string path) : entry_(idle_entry()) {
    entry_->path = std::move(path);
    entry_->state = Entry::on_disk;
}

Temporary::~Temporary() { entry_->state = Entry::idle; }

const std::string& Temporary::path() const { return entry_->path; }

void remove_temporaries() {
    for (Temporary::Entry* entry = first_entry(); entry != nullptr; entry = entry->next)
        if (entry->state == Temporary::Entry::on_disk) ::unlink(entry->path.c_str());
    for (Temporary::Entry* entry = first_entry(); entry != nullptr; entry = entry->next)
        if (entry->state == Temporary::Entry::on_disk) ::rmdir(entry->path.c_str());
}

TemporaryLock::TemporaryLock(int descriptor) : descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
    struct stat status = {};
    held_ = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 ? errno != EWOULDBLOCK // there may be no locks
                                                        : ::fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

TemporaryLock::~TemporaryLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void remove_stale_temporaries(Disk& disk, const std::string& folder) {
    std::vector<std::string> found;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (is_temporary_name(entry->path().filename().native())) found.push_back(entry->path().native());
    for (const std::string& path : found) {
        const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (descriptor < 0) continue;
        struct stat status = {};
        if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            disk.unlink(path);
        ::close(descriptor);
    }
}

} // namespace shard

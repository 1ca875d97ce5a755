// Every kind of thing that a path may lead to, written to as root and as a user who may not do everything.
#include "plans/disk/output_file.h"

#include "plans/disk/disk.h"
#include "plans/disk/file.h"
#include "plans/disk/output_path.h"
#include "plans/disk/temporaries.h"
#include "test_paths.h"
#include "tests/support/child_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

namespace shard {
namespace {

namespace fs = std::filesystem;

constexpr int nobody = 65534;

// Of this process alone: tests run side by side. Where every user comes in.
const std::string folder = fs::temp_directory_path().string() + "/shardc_output_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;

struct Kind {
    std::string name;
    std::string problem;         // empty: it can be written
    std::string user_problem;    // of a user who is not root, if another
    bool whole = true;           // a regular file afterwards, or nothing; else it stays what it is
    std::string path = "target"; // that is written
    std::string file = "target"; // where the text is then
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all = {
        {"regular", "", ""},
        {"missing", "", ""},
        {"executable", "", ""},
        {"private", "", ""},
        {"folder", "Is a directory", ""},
        {"trailing slash", "No such file or directory", "", true, "target/"},
        {"empty", "No such file or directory", "", true, ""},
        {"link to file", "", "", true, "link"},
        {"link to link", "", "", true, "link2"},
        {"link to nowhere", "", "", true, "link"},
        {"link to a folder that is not there", "No such file or directory", "", true, "link"},
        {"link to itself", "Too many levels of symbolic links", "", true, "link"},
        {"through a linked folder", "", "", true, "aside/target"},
        {"pipe", "", "", false},
        {"null", "", "", false},
        {"full", "No space left on device", "", false},
        {"socket", "it is a socket", "", false},
        {"read-only", "it is read-only", ""},
        {"of another", "", "Permission denied"},
        {"in a read-only folder", "", "Permission denied", true, "locked/target", "locked/target"},
        {"new in a read-only folder", "", "Permission denied", true, "locked/target", "locked/target"},
        {"append-only", "it can only be appended to (chattr +a)", "", true},
        {"mounted", "it is a mount of its own, which cannot be replaced: mount its folder", ""},
        {"in a sticky folder", "", "only its owner can replace it: its folder is sticky", true, "sticky/target",
         "sticky/target"},
        {"in a missing folder", "No such file or directory", "", true, "nowhere/target"},
        {"in a file", "Not a directory", "", true, "file/target"},
        {"long name", "", "", true, std::string(255, 'n'), std::string(255, 'n')},
        {"too long a name", "File name too long", "", true, std::string(256, 'n')},
    };
    return all;
}

bool set_append_only(const std::string& path, bool is_so) {
    const int descriptor = open(path.c_str(), O_RDONLY);
    int flags = 0;
    const bool fine = ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0;
    flags = is_so ? flags | FS_APPEND_FL : flags & ~FS_APPEND_FL;
    const bool set = fine && ioctl(descriptor, FS_IOC_SETFLAGS, &flags) == 0;
    close(descriptor);
    return set;
}

// What would keep it from being removed.
void release_target(const Kind& kind, const std::string& at) {
    if (kind.name == "append-only") set_append_only(at + "/target", false);
    if (kind.name == "mounted") umount2((at + "/target").c_str(), MNT_DETACH);
}

// False if the system does not let us make it.
bool make_target(const Kind& kind, const std::string& at) {
    const std::string target = at + "/target";
    const auto old = [](const std::string& path) { std::ofstream(path) << "old"; };
    if (kind.name == "regular" || kind.name == "executable" || kind.name == "private" || kind.name == "read-only" ||
        kind.name == "of another" || kind.name.starts_with("link to file") || kind.name == "link to link" ||
        kind.name.starts_with("through"))
        old(target);
    if (kind.name == "regular") return chmod(target.c_str(), 0666) == 0;
    if (kind.name == "executable") return chmod(target.c_str(), 0775) == 0;
    if (kind.name == "private") return chmod(target.c_str(), 0600) == 0;
    if (kind.name == "read-only") return chmod(target.c_str(), 0444) == 0;
    if (kind.name == "of another") return chmod(target.c_str(), 0644) == 0;
    if (kind.name == "folder") return fs::create_directory(target);
    if (kind.name == "link to file" || kind.name == "link to nowhere") fs::create_symlink("target", at + "/link");
    if (kind.name == "link to a folder that is not there") fs::create_symlink("nowhere/target", at + "/link");
    if (kind.name == "link to itself") fs::create_symlink("link", at + "/link");
    if (kind.name == "link to link") {
        fs::create_symlink(target, at + "/link");
        fs::create_symlink("link", at + "/link2");
    }
    if (kind.name.starts_with("through")) fs::create_directory_symlink(".", at + "/aside");
    if (kind.name == "pipe") return mkfifo(target.c_str(), 0666) == 0 && chmod(target.c_str(), 0666) == 0;
    // Devices of our own: whatever happens, it does not happen to the machine's.
    for (const auto& [name, number] : {std::pair("null", 3U), std::pair("full", 7U)})
        if (kind.name == name)
            return mknod(target.c_str(), S_IFCHR | 0666, makedev(1, number)) == 0 && chmod(target.c_str(), 0666) == 0 &&
                   access(target.c_str(), W_OK) == 0;
    if (kind.name == "socket") {
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, target.c_str(), sizeof address.sun_path - 1);
        const int socket_number = socket(AF_UNIX, SOCK_STREAM, 0);
        const bool made = bind(socket_number, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        close(socket_number);
        return made;
    }
    if (kind.name == "in a file") old(at + "/file");
    if (kind.name == "append-only" || kind.name == "mounted") old(target);
    if (kind.name == "append-only") return chmod(target.c_str(), 0666) == 0 && set_append_only(target, true);
    if (kind.name == "mounted") {
        old(at + "/mounted");
        return chmod(target.c_str(), 0666) == 0 &&
               mount((at + "/mounted").c_str(), target.c_str(), nullptr, MS_BIND, nullptr) == 0;
    }
    if (kind.name == "in a sticky folder") {
        fs::create_directory(at + "/sticky");
        old(at + "/sticky/target");
        return chmod((at + "/sticky/target").c_str(), 0666) == 0 && chmod((at + "/sticky").c_str(), 01777) == 0;
    }
    if (kind.name.find("read-only folder") != std::string::npos) {
        fs::create_directory(at + "/locked");
        if (!kind.name.starts_with("new")) {
            old(at + "/locked/target");
            chmod((at + "/locked/target").c_str(), 0666);
        }
        return chmod((at + "/locked").c_str(), 0555) == 0;
    }
    return true;
}

// Path, type, mode, owner and text of all that there is, links not followed.
std::map<std::string, std::string> all_below(const std::string& at) {
    std::map<std::string, std::string> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(at)) {
        struct stat status = {};
        if (lstat(entry.path().c_str(), &status) != 0) continue;
        std::string problem;
        const std::string text = S_ISREG(status.st_mode) ? read_file(entry.path(), problem).value_or(problem) : "";
        found[entry.path().string().substr(at.size() + 1)] =
            fmt::format("{:o} {} {}", static_cast<unsigned>(status.st_mode), status.st_uid, text);
    }
    return found;
}

std::string text_of(const std::string& path) {
    std::string problem;
    return read_file(path, problem).value_or("-");
}

} // namespace

TEST_CASE("a path that is written may lead to anything: it is replaced whole, written in place, or left as it was") {
    const bool root = geteuid() == 0;
    umask(022);
    for (const int user : root ? std::vector<int>{-1, nobody} : std::vector<int>{-1})
        for (const Kind& kind : kinds()) {
            CAPTURE(kind.name);
            CAPTURE(user);
            fs::remove_all(folder);
            fs::create_directories(folder + "/at");
            chmod((folder + "/at").c_str(), 0777);
            if (kind.name == "of another" && !root) continue;
            if (!make_target(kind, folder + "/at")) {
                MESSAGE("cannot make: ", kind.name);
                release_target(kind, folder + "/at");
                continue;
            }
            if (user >= 0 && kind.name != "of another" && !kind.name.ends_with("read-only folder") &&
                kind.name != "append-only" && !kind.name.ends_with("sticky folder"))
                for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder + "/at"))
                    REQUIRE(lchown(entry.path().c_str(), nobody, nobody) == 0);
            const std::map<std::string, std::string> before = all_below(folder + "/at");
            // A reader, so that a pipe does not wait for one.
            const int reader = kind.name == "pipe" ? open((folder + "/at/target").c_str(), O_RDONLY | O_NONBLOCK) : -1;
            const std::string path = kind.path.empty() ? "" : folder + "/at/" + kind.path;
            const std::string result = in_child(
                [&] {
                    std::string seen_before, problem;
                    check_output(path, OutputUse::replace, seen_before);
                    write_file_atomically(path, "new", problem);
                    return seen_before + "|" + problem;
                },
                user);
            const bool unprivileged = user >= 0 || !root;
            const std::string problem = unprivileged && !kind.user_problem.empty() ? kind.user_problem : kind.problem;
            // What can be seen before is seen before: all but a disk that is full.
            CHECK(result == (kind.name == "full" ? "" : problem) + "|" + problem);
            std::map<std::string, std::string> after = all_below(folder + "/at"), wanted = before;
            release_target(kind, folder + "/at");
            if (problem.empty() && kind.whole) {
                CHECK(text_of(folder + "/at/" + kind.file) == "new");
                const std::string was = before.contains(kind.file) ? before.at(kind.file) : "";
                wanted[kind.file] = was.empty()
                                        ? fmt::format("100644 {} new", user >= 0 ? user : static_cast<int>(geteuid()))
                                        : was.substr(0, was.find("old")) + "new";
            }
            CHECK(after == wanted); // modes, owners, links, and no temporaries
            if (reader >= 0) {
                char text[8] = {};
                CHECK(read(reader, text, sizeof text) == 3);
                CHECK(std::string(text) == "new");
                close(reader);
            }
        }
    fs::remove_all(folder);
}

TEST_CASE("the machine's own devices are written to where they stand") {
    std::string problem;
    // As a user who could not replace them, whatever the program does.
    const int user = geteuid() == 0 ? nobody : -1;
    const auto write = [](const std::string& path) {
        return [path] {
            std::string text;
            return write_file_atomically(path, "x", text) ? "written" : text;
        };
    };
    CHECK(in_child(write("/dev/null"), user) == "written");
    CHECK(in_child(write("/dev/full"), user) == "No space left on device");
    struct stat status = {};
    REQUIRE(stat("/dev/null", &status) == 0);
    CHECK(S_ISCHR(status.st_mode));
}

TEST_CASE("a descriptor by its name is the descriptor: what was written there before stays, and so does its place") {
    fs::create_directories(folder);
    for (const std::string name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
        CAPTURE(name);
        const std::string result = in_child([&] {
            const int file = open((folder + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
            dup2(file, 1);
            std::string problem;
            const bool fine = ::write(1, "before ", 7) == 7 && write_file_atomically(name, "file ", problem) &&
                              ::write(1, "after", 5) == 5;
            const std::unique_ptr<LogFile> log = LogFile::open(name, problem);
            return fine && log && log->append(" log", problem) ? "fine" : problem;
        });
        CHECK(result == "fine");
        CHECK(text_of(folder + "/out") == "before file after log");
    }
    CHECK(in_child([] {
              std::string problem;
              close(1);
              return write_file_atomically("/dev/stdout", "x", problem) ? "written" : problem;
          }) == "Bad file descriptor");
    fs::remove_all(folder);
}

TEST_CASE("the folder of a file that is not there yet is part of what file it is") {
    fs::create_directories(folder + "/a");
    fs::create_directory_symlink("a", folder + "/b");
    fs::create_symlink("a/file", folder + "/link");
    CHECK(identity_of(folder + "/a/file") == identity_of(folder + "/b/../a/./file"));
    CHECK(identity_of(folder + "/b/file") == identity_of(folder + "/link"));
    CHECK(identity_of(folder + "/a/file") != identity_of(folder + "/a/other"));
    std::ofstream(folder + "/a/file") << "x";
    fs::create_hard_link(folder + "/a/file", folder + "/hard");
    CHECK(identity_of(folder + "/b/file") == identity_of(folder + "/link"));
    CHECK(identity_of(folder + "/hard") == identity_of(folder + "/link"));
    CHECK_FALSE(identity_of("/dev/null"));
    CHECK_FALSE(identity_of(folder));
    fs::remove_all(folder);
}

TEST_CASE("a full disk and a limit of file sizes leave the old file and no other") {
    fs::create_directories(folder + "/disk");
    const auto write_much = [](const std::string& at) {
        std::string problem, log_problem;
        const std::string much(1 << 20, 'x');
        write_file_atomically(at + "/target", much, problem);
        const std::unique_ptr<LogFile> log = LogFile::open(at + "/log", log_problem);
        if (log && log->append("line\n", log_problem)) log->append(much, log_problem);
        return fmt::format("{}|{}|{}|{}|{}", problem, text_of(at + "/target"), log_problem, text_of(at + "/log"),
                           std::distance(fs::directory_iterator(at), fs::directory_iterator()));
    };
    CHECK(in_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit = {65536, 65536};
              setrlimit(RLIMIT_FSIZE, &limit);
              std::string problem;
              write_file_atomically(folder + "/disk/target", "old", problem);
              return write_much(folder + "/disk");
          }) == "File too large|old|File too large|line\n|2");
    const std::string full = in_child([&] {
        // A disk of our own, that nobody else sees.
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("shardc_test", (folder + "/disk").c_str(), "tmpfs", 0, "size=128k") != 0)
            return std::string("cannot mount");
        std::string problem;
        write_file_atomically(folder + "/disk/target", "old", problem);
        return write_much(folder + "/disk");
    });
    if (full == "cannot mount")
        MESSAGE("no disk of our own");
    else
        CHECK(full == "No space left on device|old|No space left on device|line\n|2");
    fs::remove_all(folder);
}

TEST_CASE("descriptor 0 is one like others, where a process has no stdin") {
    fs::create_directories(folder);
    CHECK(in_child([] {
              const int file = open((folder + "/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
              close(STDIN_FILENO);
              const auto stdin_is = [] {
                  return std::string(fcntl(STDIN_FILENO, F_GETFD) == -1 ? "free, " : "taken, ");
              };
              std::string seen, problem;
              {
                  const TemporaryLock lock(file);
                  seen += stdin_is();
              }
              seen += stdin_is();
              errno = EACCES; // of something before
              if (!sync_folder(disk(), folder, problem)) return problem;
              return seen + stdin_is();
          }) == "taken, free, free, ");
    fs::remove_all(folder);
}

TEST_CASE("what a killed writer left is removed by the next one, what another is writing is not") {
    fs::create_directories(folder);
    const std::string dead = folder + "/" + temporary_name(), live = folder + "/" + temporary_name();
    std::ofstream(dead) << "half";
    NewFile writing(live);
    std::optional<TemporaryLock> lock(writing.descriptor());
    REQUIRE(lock->is_held());
    for (const std::string name : {".shardc.tmp.", ".shardc.tmp.0123456789abcdeg", ".shardc.tmp.0123456789abcdef0"})
        std::ofstream(folder + "/" + name) << "somebody else's";
    fs::create_directory(folder + "/" + temporary_name());
    std::string problem;
    REQUIRE(write_file_atomically(folder + "/target", "new", problem));
    CHECK_FALSE(fs::exists(dead));
    CHECK(fs::exists(live));
    CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 6);
    REQUIRE(writing.finish()); // and has no other name yet
    REQUIRE(write_file_atomically(folder + "/target", "new", problem));
    CHECK(fs::exists(live));
    lock.reset();
    REQUIRE(write_file_atomically(folder + "/target", "new", problem));
    CHECK_FALSE(fs::exists(live));
    fs::remove_all(folder);
}

} // namespace shard

// Processes that a test starts: `shardc` on its own, to be killed or sent signals, and a part of a test under another
// user or without a full disk's mercy.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace shard {

// `shardc` with the arguments of a line; its output goes to files, or nowhere.
class ChildProcess {
public:
    explicit ChildProcess(const std::string& line, const std::string& out = "/dev/null",
                          const std::string& err = "/dev/null");
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess(); // killed, if it still runs

    bool ended();
    void signal(int number) const;
    // How it ended, as a shell says it: its exit code, or 128 and the signal.
    int wait();

private:
    pid_t id_ = 0;
    int code_ = -1;
};

// What `text` returns in a child that has this user and group; as this process is, if they are negative. "signal N" if
// it ended by one, "cannot change the user" if it could not.
std::string in_child(const std::function<std::string()>& text, int user = -1);

} // namespace shard

#include "tests/support/child_process.h"

#include "test_paths.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <vector>

extern char** environ;

namespace shard {

ChildProcess::ChildProcess(const std::string& line, const std::string& out, const std::string& err) {
    std::vector<std::string> words = split_words(line);
    words.insert(words.begin(), SHARDC_EXECUTABLE);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const auto& [descriptor, path] : {std::pair(1, &out), std::pair(2, &err)})
        posix_spawn_file_actions_addopen(&actions, descriptor, path->c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    REQUIRE(posix_spawn(&id_, SHARDC_EXECUTABLE, &actions, nullptr, pointers.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
}

ChildProcess::~ChildProcess() {
    signal(SIGKILL);
    wait();
}

void ChildProcess::signal(int number) const {
    if (id_ > 0) kill(id_, number);
}

bool ChildProcess::ended() {
    int status = 0;
    if (id_ > 0 && waitpid(id_, &status, WNOHANG) == id_) {
        id_ = 0;
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return id_ == 0;
}

int ChildProcess::wait() {
    int status = 0;
    if (id_ > 0 && waitpid(id_, &status, 0) == id_)
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    id_ = 0;
    return code_;
}

std::string in_child(const std::function<std::string()>& text, int user) {
    int ends[2] = {};
    REQUIRE(pipe(ends) == 0);
    std::cout.flush(); // what is buffered would be written by the child too, where it ends as ThreadSanitizer's do
    std::fflush(nullptr);
    const pid_t id = fork();
    REQUIRE(id >= 0);
    if (id == 0) {
        close(ends[0]);
        const gid_t group = static_cast<gid_t>(user);
        const bool changed =
            user < 0 || (setgroups(1, &group) == 0 && setgid(group) == 0 && setuid(static_cast<uid_t>(user)) == 0);
        const std::string result = changed ? text() : "cannot change the user";
        const ssize_t written = write(ends[1], result.data(), result.size());
        _exit(written == static_cast<ssize_t>(result.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string result;
    char block[4096];
    for (ssize_t got = 0; (got = read(ends[0], block, sizeof block)) > 0;)
        result.append(block, static_cast<size_t>(got));
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(id, &status, 0) == id);
    return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : result;
}

} // namespace shard

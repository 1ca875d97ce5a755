// The files that a command has read: those it was given, those that these name (a layout its hardware profile), and all
// of a checkpoint that it restores. Whatever opens a file as an input says so here, and no writer of this program
// writes over one (plans/disk/output_path.h), so that a slip of the pen costs no input, however it was named.
#pragma once

#include <sys/stat.h>

#include <string>

namespace shard {

// Inputs are remembered as long as this lives: a command. One at a time.
class ReadInputs {
public:
    ReadInputs();
    ~ReadInputs();
    ReadInputs(const ReadInputs&) = delete;
    ReadInputs& operator=(const ReadInputs&) = delete;
};

// What is no regular file (a pipe, a terminal) is not remembered: nothing can be written over it. Any thread may call
// them.
void note_input(int descriptor);
void note_input(const std::string& path); // of what belongs to an input, read or not
bool is_input(const struct stat& status);
bool is_input(int descriptor);

} // namespace shard

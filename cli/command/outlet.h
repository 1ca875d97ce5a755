// The only way out of the program: what is written to stdout and stderr passes an Outlet. It lets out no character that
// could act on a terminal (see plans/base/printable.h) but line breaks, of CR and LF too, and shardc's own colours, and it notices when
// the text does not arrive: a full disk, a closed descriptor, a pipe that nobody reads any more. Nor does it let out a
// line that the logs of CI services take for a command, as GitHub's "::error::...", whatever name it begins with.
//
// Names inside a text are made printable where they enter (Diagnostics, Sources, the readers of files): only there can
// a line break in a name be told from one of a report. The outlet is what makes a forgotten place harmless.
#pragma once

#include "cli/terminal/env.h"

#include <ostream>
#include <streambuf>

namespace shard {

class Outlet : private std::streambuf {
public:
    // `codes`: colours and the control of the progress line may pass. `commands`: so may commands of CI services.
    Outlet(std::ostream& under, bool codes, bool commands = false);

    std::ostream& stream() { return stream_; }
    // Hands over what is still held.
    void finish();
    // The errno of the first write that failed, ENOMEM if there was no memory for the text; 0 if all is well.
    int problem() const { return problem_; }

private:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;
    bool hand_over(size_t size);
    std::string harmless(std::string_view text);

    std::ostream& under_;
    bool codes_, commands_;
    bool at_begin_ = true; // of a line, or behind its leading blanks
    std::string held_;
    int problem_ = 0;
    std::ostream stream_;
};

// The exit code of a command that ended with `code` and whose output was handed over (finish()). A pipe that nobody
// reads is no error: exit_broken_pipe, and nothing is said. Any other failure is E0708 on `err` and exit code 2.
int finish_output(Outlet& out, Env& env, int code);

} // namespace shard

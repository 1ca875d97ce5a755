#include "cli/terminal/out_of_memory.h"

#include "cli/terminal/exit_code.h"
#include "plans/disk/temporaries.h"

#include <new>
#include <ostream>
#include <string_view>

#include <unistd.h>

namespace shard {

namespace {

// As the text format shows it.
constexpr std::string_view text =
    "error[E0601]: out of memory\n"
    "  = help: more memory, or smaller sizes; `ulimit -v` and cgroups may limit what this process gets\n\n";

[[noreturn]] void end_process() {
    remove_temporaries();
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(exit_usage); // nobody listens
    ::_exit(exit_usage);
}

} // namespace

void end_where_memory_is_refused() { std::set_new_handler(end_process); }

int report_out_of_memory(std::ostream& err) {
    err << text;
    return exit_usage;
}

} // namespace shard

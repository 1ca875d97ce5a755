#include "cli/terminal/out_of_memory.h"

#include "cli/terminal/exit_code.h"
#include "plans/disk/temporaries.h"

#include <new>
#include <ostream>
#include <string_view>

#include <sys/mman.h>
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// What libraries and the allocator take before main(), and to throw and to end besides.
constexpr size_t to_begin = size_t{9} << 20;

// Before the libraries' own constructors, in one of which the allocator would begin, and end by a signal if it gets
// nothing. Nothing but system calls works here.
void check_address_space(int, char**, char**) {
    void* const room = ::mmap(nullptr, to_begin, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED) {
        ::munmap(room, to_begin);
        return;
    }
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(exit_usage);
    ::_exit(exit_usage);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const begin_by)(int, char**, char**) = check_address_space;
#endif

} // namespace

void end_where_memory_is_refused() { std::set_new_handler(end_process); }

int report_out_of_memory(std::ostream& err) {
    err << text;
    return exit_usage;
}

} // namespace shard

// Memory that is refused ends the process: E0601 and exit code 2, written without any memory. It is not an exception
// that unwinds: nothing above could go on without memory, to throw takes some, and g++ 12 destroys parts of a nested
// aggregate twice when a later part of it throws. Files that are half written are removed.
#pragma once

#include <iosfwd>

namespace shard {

// From here on, in every thread. For main(): a library must not end its process.
void end_where_memory_is_refused();

// The same said of an exception, of a size beyond any memory say; the exit code.
int report_out_of_memory(std::ostream& err);

} // namespace shard

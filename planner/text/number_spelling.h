// Numbers in the spellings of other programs: what to write instead.
#pragma once

#include <string>
#include <string_view>

namespace shard {

// "infinity is written .inf" for "inf", "write 16" for "0x10"; "" for what does not look like a number or a flag.
std::string number_spelling_help(std::string_view text);

} // namespace shard

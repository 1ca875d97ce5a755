// The diagnostic codes and what `shardc explain CODE` says about them. One file per range: plans/codes/<range>.cpp
// defines `std::vector<CodeDoc> codes_<range>()`. Codes are never reused or renumbered.
#pragma once

#include <string_view>
#include <vector>

namespace shard {

// One registered code.
struct CodeDoc {
    std::string_view code;
    std::string_view title;   // a short noun phrase
    std::string_view explain; // what it means, why, and what to do; a few sentences, may hold an example
};
const CodeDoc* find_code(std::string_view code);
const std::vector<CodeDoc>& all_codes(); // sorted by code

} // namespace shard

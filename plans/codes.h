// The tables of diagnostic codes, one file per range: plans/codes_<range>.cpp. all_codes() joins and sorts them.
#pragma once

#include "plans/diagnostic.h"

namespace shard {

// What to do about a diagnostic of this code that does not say it in its own words; empty if all of them do.
std::string_view usual_help(std::string_view code);

std::vector<CodeDoc> reading_codes(); // E01xx
std::vector<CodeDoc> model_codes();   // E0201 to E0220, the form of a model
std::vector<CodeDoc> build_codes();   // E0221 to E0249, W02xx, the meaning of a model
std::vector<CodeDoc> manual_codes();  // E0270 to E0279, manual regions
std::vector<CodeDoc> layout_codes();  // E0301 to E0329, W03xx
std::vector<CodeDoc> running_codes(); // E06xx, P02xx
std::vector<CodeDoc> plan_codes();    // hardware E0330, E0331; E04xx, E05xx, P01xx, W04xx

} // namespace shard

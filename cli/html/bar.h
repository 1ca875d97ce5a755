// A bar of parts, each a share of the whole, in the colour of its class, with a title.
#pragma once

#include "cli/html/markup.h"

#include <vector>

namespace shard {

struct BarPart {
    std::string kind; // the class of its colour: "m-params", "computes"
    double share = 0; // of the bar
    std::string title;
};

void write_bar(Markup& out, const std::vector<BarPart>& parts);

} // namespace shard

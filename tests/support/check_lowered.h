// A plan as the program that `explain --lowered` prints.
#pragma once

#include <string>

namespace shard {

// Lowers the plan, plans that with nothing but the mesh, proves it and compares numbers and collectives; returns the text.
std::string check_lowered(const std::string& model, const std::string& layout, const std::string& mode = "forward",
                          bool sends_the_same = true);

} // namespace shard

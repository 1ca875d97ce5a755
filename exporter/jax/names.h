// Names of the model as names in Python: "block.0.y#2" is block_0_y_2, and no two things have the same.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace shard {

class PythonNames {
public:
    PythonNames(); // keywords, and what the exported modules import and define, are taken

    std::string fresh(std::string_view path);

private:
    std::set<std::string, std::less<>> taken_;
};

} // namespace shard

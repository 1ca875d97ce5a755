// Names of the model as names of another language, no two the same: "block.0.y#2" is block_0_y_2 where a name has
// letters, digits and "_" alone.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace shard {

class UniqueNames {
public:
    // Words that the language or the text around has for itself, and what a name may hold besides letters and digits.
    explicit UniqueNames(std::set<std::string, std::less<>> taken, std::string_view punctuation = "_");

    std::string fresh(std::string_view path);

private:
    std::set<std::string, std::less<>> taken_;
    std::string punctuation_;
};

} // namespace shard

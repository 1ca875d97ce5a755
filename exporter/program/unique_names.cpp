#include "exporter/program/unique_names.h"

#include <fmt/format.h>

namespace shard {

UniqueNames::UniqueNames(std::set<std::string, std::less<>> taken, std::string_view punctuation)
    : taken_(std::move(taken)), punctuation_(punctuation) {}

std::string UniqueNames::fresh(std::string_view path) {
    std::string stem;
    for (char c : path) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool digit = c >= '0' && c <= '9';
        if (digit && stem.empty()) stem = "v";
        stem += letter || digit || punctuation_.find(c) != std::string::npos ? c : '_';
    }
    if (stem.empty()) stem = "v";
    std::string name = stem;
    for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", stem, n);
    return name;
}

} // namespace shard

// Texts with a few of their lines, words and numbers changed: what a reader has to refuse in words, or to read.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

class TextMutator {
public:
    // `separators` stand between words.
    TextMutator(std::uint32_t seed, std::string_view separators) : random_(seed), separators_(separators) {}
    size_t below(size_t limit) { return random_() % limit; }

    // Cut into lines, and a line into words, numbers and what is between them.
    std::string operator()(const std::string& text);

private:
    bool is_of_word(char c) const { return separators_.find(c) == std::string::npos; }
    std::vector<std::string> parts_of(const std::string& line) const;
    void change_word(std::string& line, const std::string& other);

    std::mt19937 random_;
    std::string separators_;
};

} // namespace shard

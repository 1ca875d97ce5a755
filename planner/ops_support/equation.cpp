#include "planner/ops_support/equation.h"

#include "plans/base/characters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace shard {

namespace {

constexpr std::string_view dots = "...";

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

// Replaces "..." by the last `count` of `letters`.
void write_out(std::string& term, const std::string& letters, size_t count) {
    const size_t at = term.find(dots);
    if (at != std::string::npos) term.replace(at, dots.size(), letters.substr(letters.size() - count));
}

// The letters that occur once in all the terms, in alphabetical order.
std::string implicit_result(const std::vector<std::string>& terms) {
    std::map<char, int> count;
    for (const std::string& term : terms)
        for (char c : term)
            if (is_letter(c)) ++count[c];
    std::string result;
    for (const auto& [letter, times] : count)
        if (times == 1) result += letter;
    return result;
}

bool check_term(const std::string& term, std::string& problem) {
    std::string rest = term;
    const size_t at = rest.find(dots);
    if (at != std::string::npos) rest.erase(at, dots.size());
    if (std::all_of(rest.begin(), rest.end(), is_letter)) return true;
    problem = fmt::format("'{}' may hold letters and one '...' only", term);
    return false;
}

// "..." of each term becomes letters that no term uses; all terms share them, aligned at the last.
bool write_out_dots(std::vector<std::string>& terms, std::string& result, std::span<const TensorType> operands,
                    std::string& problem) {
    std::string used = result, unused;
    for (const std::string& term : terms) used += term;
    for (char c = 'A'; c <= 'Z'; ++c)
        if (used.find(c) == std::string::npos) unused += c;
    size_t most = 0;
    std::vector<size_t> counts;
    for (size_t n = 0; n < terms.size(); ++n) {
        const bool has_dots = terms[n].find(dots) != std::string::npos;
        const size_t letters = terms[n].size() - (has_dots ? dots.size() : 0), rank = operands[n].shape.size();
        if (has_dots ? letters > rank : letters != rank) {
            problem = fmt::format("'{}' names {} dims, but operand {} has {}", terms[n], letters, n, rank);
            return false;
        }
        counts.push_back(has_dots ? rank - letters : 0);
        most = std::max(most, counts.back());
    }
    if (most > unused.size()) {
        problem = "too many dims";
        return false;
    }
    const std::string letters = unused.substr(0, most);
    for (size_t n = 0; n < terms.size(); ++n) write_out(terms[n], letters, counts[n]);
    write_out(result, letters, most);
    return true;
}

bool check_result(const Contraction& made, std::string& problem) {
    for (size_t d = 0; d < made.result.size(); ++d) {
        const char c = made.result[d];
        if (made.result.find(c, d + 1) != std::string::npos) {
            problem = fmt::format("letter '{}' is twice in the result", c);
            return false;
        }
        const auto holds = [c](const std::string& term) { return term.find(c) != std::string::npos; };
        if (std::any_of(made.operands.begin(), made.operands.end(), holds)) continue;
        problem = fmt::format("letter '{}' of the result is in no operand", c);
        return false;
    }
    return true;
}

} // namespace

std::optional<Contraction> parse_equation(std::string_view text, std::span<const TensorType> operands,
                                          std::string& problem) {
    std::string plain;
    for (char c : text)
        if (c != ' ') plain += c;
    const size_t arrow = plain.find("->");
    std::vector<std::string> terms = split(std::string_view(plain).substr(0, arrow), ',');
    std::string result;
    if (arrow != std::string::npos) {
        result = plain.substr(arrow + 2);
    } else {
        const bool any_dots = plain.find(dots) != std::string::npos;
        result = (any_dots ? std::string(dots) : std::string()) + implicit_result(terms);
    }
    if (terms.size() != operands.size()) {
        problem = fmt::format("the equation has {} operands, but {} are given", terms.size(), operands.size());
        return std::nullopt;
    }
    for (const std::string& term : terms)
        if (!check_term(term, problem)) return std::nullopt;
    if (!check_term(result, problem)) return std::nullopt;
    if (!write_out_dots(terms, result, operands, problem)) return std::nullopt;
    Contraction made{terms, result};
    if (!check_result(made, problem)) return std::nullopt;
    return made;
}

std::string equation_text(const Contraction& contraction) {
    return fmt::format("{}->{}", fmt::join(contraction.operands, ","), contraction.result);
}

} // namespace shard

#include "planner/text/arithmetic.h"

#include "plans/base/characters.h"
#include "plans/base/checked.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr int max_depth = 64;                 // of parentheses and signs
constexpr std::string_view rounding = "ceil"; // what rounds up

class Parser {
public:
    Parser(std::string_view text, const NumberOfName& number_of, ArithmeticProblem& problem)
        : text_(text), number_of_(&number_of), problem_(&problem) {}

    std::optional<i64> parse() {
        const std::optional<i64> value = sum();
        if (!value) return std::nullopt;
        if (at_ < text_.size()) return fail("E0202", at_, 1, fmt::format("unexpected '{}'", text_[at_]));
        return value;
    }

private:
    std::nullopt_t fail(std::string_view code, size_t at, size_t length, std::string message, std::string help = {}) {
        *problem_ = {std::string(code), at, length, std::move(message), std::move(help), {}, {}};
        return std::nullopt;
    }

    char peek() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    std::optional<i64> sum() {
        std::optional<i64> left = product();
        while (left && (peek() == '+' || peek() == '-')) {
            const size_t at = at_;
            const bool add = text_[at_++] == '+';
            const std::optional<i64> right = product();
            if (!right) return std::nullopt;
            i64 result = 0;
            if (add ? __builtin_add_overflow(*left, *right, &result) : __builtin_sub_overflow(*left, *right, &result))
                return overflow(at);
            left = result;
        }
        return left;
    }

    std::optional<i64> product() {
        std::optional<i64> left = factor();
        while (left && (peek() == '*' || peek() == '/')) {
            const size_t at = at_;
            const bool multiply = text_[at_++] == '*';
            const std::optional<i64> right = factor();
            if (!right) return std::nullopt;
            if (multiply) {
                left = checked_multiply(*left, *right);
                if (!left) return overflow(at);
            } else if (*right == 0) {
                return fail("E0207", at, 1, "division by zero");
            } else if (*right == -1) { // of the least number it does not fit
                left = checked_multiply(*left, -1);
                if (!left) return overflow(at);
            } else if (*left % *right != 0) {
                return fail("E0207", at, 1, fmt::format("{} does not divide by {}", *left, *right),
                            "`/` is exact: choose sizes that divide");
            } else {
                left = *left / *right;
            }
        }
        return left;
    }

    std::optional<i64> factor() {
        const char c = peek();
        if (c == '(') return parenthesis();
        if (c == '-') return minus();
        if (is_digit(c)) return number();
        if (starts_name(c)) return name();
        if (c == '\0') return fail("E0202", at_, 1, "a number or an axis is missing at the end");
        return fail("E0202", at_, 1, fmt::format("expected a number or an axis, found '{}'", c));
    }

    std::optional<i64> minus() {
        const size_t at = at_++;
        if (++depth_ > max_depth) return fail("E0202", at, 1, "too many signs");
        const std::optional<i64> value = factor();
        if (!value) return std::nullopt;
        --depth_;
        const std::optional<i64> negative = checked_multiply(*value, -1);
        return negative ? negative : overflow(at);
    }

    std::optional<i64> parenthesis() {
        const size_t open = at_++;
        if (++depth_ > max_depth) return fail("E0202", open, 1, "too many parentheses");
        const std::optional<i64> value = sum();
        if (!value) return std::nullopt;
        if (peek() != ')') return fail("E0202", open, 1, "this parenthesis is never closed");
        ++at_;
        --depth_;
        return value;
    }

    std::optional<i64> rounded_up() {
        const size_t open = at_++;
        if (++depth_ > max_depth) return fail("E0202", open, 1, "too many parentheses");
        std::optional<i64> above = factor(), below = 1;
        while (above && (peek() == '*' || peek() == '/')) {
            const size_t at = at_;
            std::optional<i64>& side = text_[at_++] == '*' ? above : below;
            const std::optional<i64> right = factor();
            if (!right) return std::nullopt;
            if (&side == &below && *right == 0) return fail("E0207", at, 1, "division by zero");
            side = checked_multiply(*side, *right);
            if (!side) return overflow(at);
        }
        if (!above) return std::nullopt;
        if (peek() != ')')
            return fail("E0202", open, 1, "`ceil` holds one product, and its parenthesis is never closed");
        ++at_;
        --depth_;
        if (*below == -1) {
            const std::optional<i64> negative = checked_multiply(*above, -1);
            return negative ? negative : overflow(open);
        }
        const bool is_more = *above % *below != 0 && (*above > 0) == (*below > 0);
        return *above / *below + (is_more ? 1 : 0);
    }

    std::optional<i64> number() {
        const size_t start = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        const std::optional<i64> value = parse_number<i64>(text_.substr(start, at_ - start));
        if (!value) return overflow(start);
        if (at_ - start > 1 && text_[start] == '0')
            return fail("E0115", start, at_ - start, "a number with a leading zero", "remove the zero");
        return value;
    }

    // A '-' belongs to the name if there is an axis of that name, and is a minus otherwise.
    std::optional<i64> name() {
        const size_t start = at_;
        size_t end = start;
        size_t first_minus = std::string_view::npos;
        for (; end < text_.size(); ++end) {
            const char c = text_[end];
            if (c == '-' && first_minus == std::string_view::npos) first_minus = end;
            if (!starts_name(c) && !is_digit(c) && c != '-') break;
        }
        std::optional<i64> value = (*number_of_)(text_.substr(start, end - start));
        if (!value && first_minus != std::string_view::npos) {
            end = first_minus;
            value = (*number_of_)(text_.substr(start, end - start));
        }
        at_ = end;
        const std::string_view text = text_.substr(start, end - start);
        if (!value && text == rounding && peek() == '(') return rounded_up();
        if (!value) {
            fail("E0205", start, text.size(), fmt::format("unknown axis '{}'", text));
            problem_->unknown = std::string(text);
        } else if (*value == 0) {
            problem_->waits_for = std::string(text);
            value = std::nullopt;
        }
        return value;
    }

    std::nullopt_t overflow(size_t at) { return fail("E0204", at, 1, "the size does not fit in 64 bits"); }

    std::string_view text_;
    const NumberOfName* number_of_;
    ArithmeticProblem* problem_;
    size_t at_ = 0;
    int depth_ = 0;
};

} // namespace

std::optional<i64> evaluate_arithmetic(std::string_view text, const NumberOfName& number_of,
                                       ArithmeticProblem& problem) {
    return Parser(text, number_of, problem).parse();
}

} // namespace shard

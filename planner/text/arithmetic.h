// Whole numbers written as arithmetic over names: + - * / and parentheses. It is exact: `/` leaves no remainder, and
// nothing leaves 64 bits. Within `ceil(...)`, which holds one product, quotients are exact fractions, and the whole is
// rounded up.
//
//     4 * embed      (qk - 4) / 2      -1      heads*kv      ceil(5 * length / 4 / experts)
#pragma once

#include "plans/base/base.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace shard {

// What a name stands for, which is at least 1; nullopt if there is no such name, 0 if it is not known yet or was
// reported.
using NumberOfName = std::function<std::optional<i64>(std::string_view)>;

// Where and why an expression has no value.
struct ArithmeticProblem {
    std::string code;
    size_t at = 0; // offset in the expression
    size_t length = 1;
    std::string message;
    std::string help;
    std::string unknown;   // the name that there is none of
    std::string waits_for; // the name whose number is not known yet, or was reported; nothing else is set then
};

// nullopt: see `problem`.
std::optional<i64> evaluate_arithmetic(std::string_view text, const NumberOfName& number_of,
                                       ArithmeticProblem& problem);

} // namespace shard

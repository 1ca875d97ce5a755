#include "planner/model/type_limits.h"

#include "plans/base/characters.h"
#include "plans/base/checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace shard {

namespace {

// The digits of a number as written, "-12.50e1" as "-125", without what is behind the point.
std::string whole_digits(std::string_view written) {
    const size_t e = std::min(written.find_first_of("eE"), written.size());
    std::string digits;
    size_t point = std::string::npos;
    for (char c : written.substr(0, e))
        if (c == '.')
            point = digits.size();
        else if (is_digit(c))
            digits += c;
    if (point == std::string::npos) point = digits.size();
    const int exponent = e < written.size() ? std::atoi(std::string(written.substr(e + 1)).c_str()) : 0;
    const size_t wanted = std::clamp<i64>(static_cast<i64>(point) + exponent, 0, 400);
    digits.resize(wanted, '0');
    digits.erase(0, digits.find_first_not_of('0'));
    return (written.starts_with('-') ? "-" : "") + digits;
}

std::string range_text(DType dtype) {
    const DTypeInfo& type = info(dtype);
    if (dtype == DType::boolean) return "bool holds true and false, or 1 and 0";
    if (is_integer(dtype))
        return fmt::format("{} holds whole numbers from {} to {}", type.name, type.lowest, type.highest);
    return fmt::format("{} holds numbers up to {:.6g}, and .inf", type.name, type.largest);
}

} // namespace

std::string_view size_problem(DType dtype, const Shape& shape) {
    const std::optional<i64> count = checked_element_count(shape);
    const std::optional<i64> bytes = count ? checked_multiply(*count, byte_size(dtype)) : std::nullopt;
    if (!bytes) return "its size in bytes does not fit 64 bits";
    return *bytes > most_value_bytes ? "it has more than 2^60 bytes" : "";
}

bool can_hold(DType dtype, double number) {
    if (is_floating(dtype)) return !std::isfinite(number) || std::fabs(number) < overflow(dtype);
    const double above = std::ldexp(1, static_cast<int>(std::bit_width(info(dtype).highest)));
    return number == std::floor(number) && number >= static_cast<double>(info(dtype).lowest) && number < above;
}

std::optional<ElementProblem> element_problem(DType dtype, std::string_view written, double number) {
    constexpr double exact = 0x1p53, most = 0x1p64;
    const bool large = std::fabs(number) >= exact && std::fabs(number) <= most;
    if (const std::string became = fmt::format("{:.0f}", large ? number : 0);
        (dtype == DType::i64 || dtype == DType::u64) && large && whole_digits(written) != became)
        return ElementProblem{
            fmt::format("{} would become {}: written numbers pass through f64, exact up to 2^53", written, became),
            "compute it from smaller ones, as sum or product"};
    if (can_hold(dtype, number)) return std::nullopt;
    return ElementProblem{fmt::format("{} is not a value of type {}", written, name(dtype)), range_text(dtype)};
}

} // namespace shard

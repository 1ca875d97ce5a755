#include "importer/shape/rope_frequencies.h"

#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

using Numbers = std::vector<double>;

constexpr int most_digits = 17;
constexpr double pi = 3.14159265358979323846;

// Of the roundings of a type, whose largest is `unit`: two from the exponent, for each e that it counts, and a few.
struct Near {
    double unit;
    bool operator()(double a, double b) const {
        return std::fabs(a - b) <= (5 + 2 * std::fabs(std::log(b))) * unit * b;
    }
};

double shortened(double number, int digits) {
    if (std::fabs(number) < 1e-6) return 0;
    return parse_number<double>(fmt::format("{:.{}e}", number, digits - 1)).value_or(number);
}

// theta^(-k / count)
double power(double theta, size_t k, size_t count) {
    return std::pow(theta, -static_cast<double>(k) / static_cast<double>(count));
}

// The shortest theta that gives the first so many, of which there are two at least.
std::optional<double> theta_of(const Numbers& frequencies, size_t first, const Near& is_near) {
    const size_t count = frequencies.size();
    const double exact = std::pow(frequencies[first - 1], -static_cast<double>(count) / static_cast<double>(first - 1));
    for (int digits = 1; digits <= most_digits; ++digits) {
        const double theta = shortened(exact, digits);
        bool all = theta > 0;
        for (size_t k = 0; k < first && all; ++k) all = is_near(frequencies[k], power(theta, k, count));
        if (all) return theta;
    }
    return std::nullopt;
}

// The shortest numbers near two with which `makes` is true.
template<typename Makes>
std::optional<std::pair<double, double>> both_shortened(double a, double b, const Makes& makes) {
    for (int digits = 1; digits <= most_digits; ++digits)
        for (int others = 1; others <= most_digits; ++others)
            if (const std::pair both(shortened(a, digits), shortened(b, others)); makes(both.first, both.second))
                return both;
    return std::nullopt;
}

// Frequencies of which the first are powers of theta, the last those divided by a factor, and those between a part of
// each: the part that is kept is linear in the frequency, or in k.
class Mixed {
public:
    Mixed(const Numbers& frequencies, const Near& is_near) : frequencies_(frequencies), is_near_(is_near) {}

    std::optional<RopeFrequencies> read() {
        const size_t count = frequencies_.size();
        size_t kept = 1;
        while (kept < count && is_near_(frequencies_[kept], std::pow(frequencies_[1], static_cast<double>(kept))))
            ++kept;
        if (kept < 2 || kept + 2 > count || frequencies_[1] >= 1) return std::nullopt;
        // The first that is mixed may be near enough by chance: the others then say so.
        const std::optional<double> theta = theta_of(frequencies_, kept, is_near_);
        if (!theta) return std::nullopt;
        for (size_t k = 0; k < count; ++k) powers_.push_back(power(*theta, k, count));
        if (!find_factor()) return std::nullopt;
        std::vector<size_t> between;
        for (size_t k = 0; k < count; ++k)
            if (const double part = part_of(k); part > 1e-4 && part < 1 - 1e-4) between.push_back(k);
        if (between.size() < 2) return std::nullopt;
        const size_t a = between.front(), b = between.back();
        for (std::optional<Numbers> scaling : {by_turns(a, b), by_index(a, b)})
            if (scaling) return RopeFrequencies{theta, std::move(*scaling)};
        return std::nullopt;
    }

private:
    bool find_factor() {
        const double exact = powers_.back() / frequencies_.back();
        for (int digits = 1; digits <= most_digits; ++digits) {
            factor_ = shortened(exact, digits);
            if (factor_ > 1 && is_near_(frequencies_.back(), powers_.back() / factor_)) return true;
        }
        return false;
    }

    double part_of(size_t k) const { return (frequencies_[k] / powers_[k] - 1 / factor_) / (1 - 1 / factor_); }

    template<typename Part>
    bool are_mixed(const Part& part) const {
        for (size_t k = 0; k < powers_.size(); ++k) {
            const double kept = std::clamp(part(k), 0.0, 1.0);
            if (!is_near_(frequencies_[k], powers_[k] * (kept * (1 - 1 / factor_) + 1 / factor_))) return false;
        }
        return true;
    }

    // kept = (turns in `length` positions - low) / (high - low): as all three may be larger by the same, low is 1.
    std::optional<Numbers> by_turns(size_t a, size_t b) const {
        const double slope = (part_of(a) - part_of(b)) / (powers_[a] - powers_[b]);
        const double offset = slope * powers_[a] - part_of(a);
        if (!(offset > 0)) return std::nullopt;
        const auto both = both_shortened(1 + 1 / offset, 2 * pi * slope / offset, [&](double high, double length) {
            return high > 1 && length > 0 &&
                   are_mixed([&](size_t k) { return (powers_[k] * length / (2 * pi) - 1) / (high - 1); });
        });
        return both ? std::optional<Numbers>({factor_, 1, both->first, both->second}) : std::nullopt;
    }

    // kept = (last - k) / (last - first)
    std::optional<Numbers> by_index(size_t a, size_t b) const {
        const double length = static_cast<double>(b - a) / (part_of(a) - part_of(b));
        const double last = static_cast<double>(a) + part_of(a) * length;
        const auto both = both_shortened(last - length, last, [&](double first, double end) {
            return end > first && are_mixed([&](size_t k) { return (end - static_cast<double>(k)) / (end - first); });
        });
        return both ? std::optional<Numbers>({factor_, both->first, both->second}) : std::nullopt;
    }

    const Numbers& frequencies_;
    const Near& is_near_;
    Numbers powers_;
    double factor_ = 1;
};

} // namespace

std::optional<RopeFrequencies> rope_frequencies(const Numbers& frequencies, DType dtype) {
    const Near is_near = {std::ldexp(1.0, dtype == DType::f64 ? -51 : -24)};
    if (frequencies.empty() || std::any_of(frequencies.begin(), frequencies.end(), [](double frequency) {
            return !(frequency > 0) || !std::isfinite(frequency);
        }))
        return std::nullopt;
    RopeFrequencies found;
    Numbers whole = frequencies;
    if (!is_near(frequencies[0], 1)) {
        for (double& frequency : whole) frequency /= frequencies[0];
        for (int digits = 1; digits <= most_digits && found.scaling.empty(); ++digits)
            if (const double factor = shortened(1 / frequencies[0], digits);
                factor > 0 && is_near(frequencies[0], 1 / factor))
                found.scaling = {factor};
        if (found.scaling.empty()) return std::nullopt;
    }
    if (whole.size() == 1) return found;
    found.theta = theta_of(whole, whole.size(), is_near);
    if (found.theta) return found;
    return found.scaling.empty() ? Mixed(frequencies, is_near).read() : std::nullopt;
}

} // namespace shard

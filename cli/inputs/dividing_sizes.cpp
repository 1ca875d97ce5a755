#include "cli/inputs/dividing_sizes.h"

#include "cli/inputs/settings.h"
#include "planner/model/sharding_checks.h"
#include "plans/base/characters.h"
#include "plans/base/division.h"
#include "plans/base/parse_number.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace shard {

namespace {

constexpr i64 tries = 8; // multiples on each side: microbatches and a second mesh axis may want more than the first

struct NamedNumber {
    std::string name;
    i64 value = 0;
};

// The names in an expression: "heads*head", "$batch".
std::vector<std::string> names_in(std::string_view text) {
    std::vector<std::string> names;
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && (starts_name(text[end]) || (end > at && is_digit(text[end])))) ++end;
        if (end > at) names.emplace_back(text.substr(at, end - at));
        at = std::max(end, at + 1);
    }
    return names;
}

// E0313, and E0220 of a batch that microbatches do not divide: "batch = 10 cannot be cut into 4 microbatches of ...".
std::optional<UndividedDim> undivided(const Diagnostic& diagnostic) {
    if (diagnostic.code != "E0220") return undivided_dim(diagnostic);
    constexpr std::string_view is = " = ", cut = " cannot be cut into ", parts = " microbatches";
    const std::string_view message = diagnostic.message;
    const size_t at_is = message.find(is), at_cut = message.find(cut), at_parts = message.find(parts);
    if (at_is == message.npos || at_cut == message.npos || at_parts == message.npos) return std::nullopt;
    const std::optional<i64> size = parse_number<i64>(message.substr(at_is + is.size(), at_cut - at_is - is.size()));
    const std::optional<i64> count =
        parse_number<i64>(message.substr(at_cut + cut.size(), at_parts - at_cut - cut.size()));
    if (!size || !count || *count < 1) return std::nullopt;
    return UndividedDim{std::string(message.substr(0, at_is)), *size, *count};
}

bool same(const Diagnostic& a, const Diagnostic& b) { return a.code == b.code && a.message == b.message; }

// What failed, planned again with other numbers.
class Trials {
public:
    Trials(const Sources& sources, const PlanRequest& request, const Diagnostics& failed)
        : sources_(sources), request_(request), failed_(failed) {}

    // The numbers that the size of a logical axis is made of.
    std::vector<NamedNumber> numbers_of(const std::string& logical) const {
        std::vector<NamedNumber> numbers;
        std::vector<std::string> names = {logical};
        for (size_t n = 0; n < names.size(); ++n) {
            const std::optional<std::string> text =
                written_value(sources_, request_.model_file, request_.layout_file, names[n]);
            if (!text) continue;
            if (const std::optional<i64> value = parse_number<i64>(*text)) {
                numbers.push_back({names[n], *value});
                continue;
            }
            for (std::string& part : names_in(*text))
                if (std::find(names.begin(), names.end(), part) == names.end()) names.push_back(std::move(part));
        }
        return numbers;
    }

    // Of a number that the dim's size is a multiple of.
    std::vector<i64> nearest_of(const Diagnostic& undivided, const UndividedDim& dim, const NamedNumber& number) const {
        if (number.value < 1 || dim.size % number.value != 0) return {};
        const i64 unit = dim.parts / std::gcd(dim.parts, dim.size / number.value);
        const i64 below = number.value / unit;
        std::vector<i64> found;
        for (i64 n = below; n >= 1 && n > below - tries && found.empty(); --n)
            if (n * unit != number.value && mends(undivided, number, n * unit)) found.push_back(n * unit);
        const size_t smaller = found.size();
        for (i64 n = below + 1; n <= below + tries && found.size() == smaller; ++n) {
            i64 value = 0;
            if (__builtin_mul_overflow(n, unit, &value)) break;
            if (mends(undivided, number, value)) found.push_back(value);
        }
        return found;
    }

private:
    // Whether with the number every error that is left was there before, and this one is not.
    bool mends(const Diagnostic& undivided, const NamedNumber& number, i64 value) const {
        Sources sources = sources_;
        Diagnostics unheard;
        if (!apply_settings(sources, request_.model_file, request_.layout_file,
                            {fmt::format("{}={}", number.name, value)}, unheard))
            return false;
        const Compilation tried = compile(sources, request_);
        const auto is_worse = [&](const Diagnostic& now) {
            const auto as_now = [&now](const Diagnostic& diagnostic) { return same(diagnostic, now); };
            return now.severity == Severity::error && !now.finding &&
                   (same(now, undivided) || std::none_of(failed_.all().begin(), failed_.all().end(), as_now));
        };
        const std::vector<Diagnostic>& left = tried.diagnostics.all();
        return std::none_of(left.begin(), left.end(), is_worse);
    }

    const Sources& sources_;
    const PlanRequest& request_;
    const Diagnostics& failed_;
};

} // namespace

std::vector<i64> dividing_sizes(const Sources& sources, const PlanRequest& request, const Diagnostics& failed,
                                const std::string& name) {
    const Trials trials(sources, request, failed);
    for (const Diagnostic& diagnostic : failed.all()) {
        const std::optional<UndividedDim> dim = undivided(diagnostic);
        if (!dim || dim->logical.empty()) continue;
        for (const NamedNumber& number : trials.numbers_of(dim->logical))
            if (number.name == name) return trials.nearest_of(diagnostic, *dim, number);
    }
    return {};
}

void propose_sizes(const Sources& sources, const PlanRequest& request, Compilation& failed) {
    if (failed.plan || !failed.diagnostics.has_error()) return;
    const Trials trials(sources, request, failed.diagnostics);
    Diagnostics told;
    for (Diagnostic diagnostic : failed.diagnostics.all()) {
        const std::optional<UndividedDim> dim = undivided(diagnostic);
        std::vector<std::string> settings;
        if (dim && !dim->logical.empty())
            for (const NamedNumber& number : trials.numbers_of(dim->logical)) {
                for (const i64 value : trials.nearest_of(diagnostic, *dim, number))
                    settings.push_back(fmt::format("--set {}={}", number.name, value));
                if (!settings.empty()) break;
            }
        if (!settings.empty()) diagnostic.help += fmt::format("; or set another size: {}", fmt::join(settings, " or "));
        told.add(std::move(diagnostic));
    }
    failed.diagnostics = std::move(told);
}

} // namespace shard

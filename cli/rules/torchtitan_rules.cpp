// The degrees of a torchtitan job's [parallelism], with what its plans for Llama-like models do with them:
//
//     [parallelism]
//     data_parallel_shard_degree = -1
//     tensor_parallel_degree = 4
//
// Heads, mlp and vocab are split over tensor, sequences over context, parameters fully sharded.

#include "cli/rules/torchtitan_rules.h"

#include "plans/base/parse_number.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace shard {

namespace {

const std::vector<std::string_view> known_degrees = {"data_parallel_replicate_degree", "data_parallel_shard_degree",
                                                     "context_parallel_degree",        "tensor_parallel_degree",
                                                     "pipeline_parallel_degree",       "expert_parallel_degree",
                                                     "expert_tensor_parallel_degree"};

} // namespace

std::optional<ForeignRules> read_torchtitan(const Sources& sources, int file, Diagnostics& diagnostics) {
    const std::string_view text = sources.text(file);
    std::map<std::string, std::pair<i64, Span>, std::less<>> degrees;
    std::string section;
    int line = 1;
    for (size_t begin = 0; begin < text.size(); ++line) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view row = text.substr(begin, end - begin);
        begin = end + 1;
        row = row.substr(0, row.find('#'));
        const int column = static_cast<int>(std::min(row.find_first_not_of(" \t"), row.size())) + 1;
        const auto trim = [](std::string_view part) {
            while (!part.empty() && (part.back() == ' ' || part.back() == '\t' || part.back() == '\r'))
                part.remove_suffix(1);
            while (!part.empty() && (part.front() == ' ' || part.front() == '\t')) part.remove_prefix(1);
            return part;
        };
        row = trim(row);
        if (row.starts_with('[')) section = std::string(row);
        const size_t equals = row.find('=');
        if (equals == std::string_view::npos || section != "[parallelism]") continue;
        const std::string_view key = trim(row.substr(0, equals));
        const Span span{file, line, column, static_cast<int>(row.size())};
        if (std::find(known_degrees.begin(), known_degrees.end(), key) == known_degrees.end()) {
            if (key.ends_with("_degree") || !nearest(key, known_degrees).empty())
                diagnostics
                    .warning("W0805", {file, line, column, static_cast<int>(key.size())},
                             fmt::format("'{}' is no degree that is known, and left out", key))
                    .help(did_you_mean(key, known_degrees, fmt::format("degrees: {}", fmt::join(known_degrees, ", "))));
            continue;
        }
        const std::optional<i64> value = parse_number<i64>(trim(row.substr(equals + 1)));
        if (!value) {
            diagnostics.error("E0810", span, fmt::format("{} is no whole number", key))
                .help("write 4, or -1 for what is left");
            return std::nullopt;
        }
        degrees[std::string(key)] = {*value, span};
    }
    if (degrees.empty()) {
        diagnostics.error("E0810", {file, 1, 1, 1}, "there are no degrees of parallelism")
            .help("give the job's TOML, with a section [parallelism]");
        return std::nullopt;
    }
    ForeignRules found;
    const auto take = [&](std::string_view key, std::string axis, i64 unsaid) {
        const auto it = degrees.find(key);
        const Span place = it == degrees.end() ? Span{file, 1, 1, 1} : it->second.second;
        found.axes.push_back({std::move(axis), it == degrees.end() ? unsaid : it->second.first, 1, place, place});
    };
    for (const std::string_view key :
         {"pipeline_parallel_degree", "expert_parallel_degree", "expert_tensor_parallel_degree"})
        if (const auto it = degrees.find(key); it != degrees.end() && it->second.first != 1) {
            diagnostics.error("E0810", it->second.second, fmt::format("{} has no counterpart in a layout", key))
                .help("set it to 1, or write the layout by hand");
            return std::nullopt;
        }
    take("data_parallel_replicate_degree", "replicate", 1);
    take("data_parallel_shard_degree", "shard", -1);
    take("context_parallel_degree", "context", 1);
    take("tensor_parallel_degree", "tensor", 1);
    found.rules = {{"batch", {"replicate", "shard"}}, {"length", {"context"}}, {"heads", {"tensor"}},
                   {"kv_heads", {"tensor"}},          {"mlp", {"tensor"}},     {"vocab", {"tensor"}}};
    found.fsdp = "shard";
    return found;
}

} // namespace shard

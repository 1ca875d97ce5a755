#include "importer/model/arguments.h"

#include "plans/base/parse_number.h"

#include <algorithm>
#include <optional>
#include <string>

namespace shard {

std::vector<i64> listed(std::string_view arguments, std::string_view key) {
    const std::string before = ", " + std::string(key) + ": ";
    const size_t at = arguments.find(before);
    std::vector<i64> numbers;
    if (at == std::string_view::npos) return numbers;
    arguments.remove_prefix(at + before.size());
    const bool is_list = arguments.starts_with('[');
    if (is_list) arguments.remove_prefix(1);
    while (!arguments.empty()) {
        const size_t end = std::min(arguments.find_first_of(",]"), arguments.size());
        const std::optional<i64> number = parse_number<i64>(arguments.substr(0, end));
        if (!number) return numbers;
        numbers.push_back(*number);
        if (!is_list || end >= arguments.size() || arguments[end] == ']') return numbers;
        arguments.remove_prefix(std::min(end + 2, arguments.size()));
    }
    return numbers;
}

} // namespace shard

#include "exporter/specs/flax_rules.h"

#include <algorithm>

namespace shard {

namespace {

bool share(const std::vector<std::string>& axes, const std::vector<std::string>& taken) {
    return std::any_of(axes.begin(), axes.end(), [&taken](const std::string& axis) {
        return std::find(taken.begin(), taken.end(), axis) != taken.end();
    });
}

} // namespace

std::vector<LogicalRule> logical_rules(std::span<const ArraySpec> arrays) {
    std::vector<std::string> names; // in the order in which they occur
    for (const ArraySpec& array : arrays)
        for (const std::string& name : array.logical)
            if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    std::vector<LogicalRule> rules;
    for (const std::string& name : names) {
        std::vector<LogicalRule> of_name;
        for (const ArraySpec& array : arrays)
            for (size_t d = 0; d < array.logical.size(); ++d) {
                LogicalRule rule{name, array.spec[d]};
                if (array.logical[d] == name && std::find(of_name.begin(), of_name.end(), rule) == of_name.end())
                    of_name.push_back(std::move(rule));
            }
        // The most axes first: a rule of fewer is for arrays in which another dim has taken some.
        std::stable_sort(of_name.begin(), of_name.end(),
                         [](const LogicalRule& a, const LogicalRule& b) { return a.axes.size() > b.axes.size(); });
        rules.insert(rules.end(), of_name.begin(), of_name.end());
    }
    return rules;
}

std::vector<std::vector<std::string>> spec_by_rules(std::span<const LogicalRule> rules, const ArraySpec& array) {
    std::vector<std::vector<std::string>> spec(array.logical.size());
    std::vector<std::string> taken_axes;
    std::vector<bool> taken(array.logical.size(), false);
    for (const LogicalRule& rule : rules) {
        const auto dim = std::find(array.logical.begin(), array.logical.end(), rule.logical);
        const size_t d = static_cast<size_t>(dim - array.logical.begin());
        if (dim == array.logical.end() || taken[d] || share(rule.axes, taken_axes)) continue;
        taken[d] = true;
        spec[d] = rule.axes;
        taken_axes.insert(taken_axes.end(), rule.axes.begin(), rule.axes.end());
    }
    return spec;
}

} // namespace shard

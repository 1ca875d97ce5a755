#include "cli/summary/sharding_changes.h"

#include "cli/summary/alike.h"
#include "cli/terminal/fold.h"
#include "plans/plan/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace shard {

namespace {

constexpr size_t most_names = 8;

using Params = std::map<std::string, const ShardingChange*, std::less<>>;

// The parameter that a state or a gradient belongs to, by its path ("w1.mu"), if it changes in the same way.
const ShardingChange* param_of(const ShardingChange& change, const Params& params) {
    for (size_t dot = change.name.rfind('.'); dot != std::string::npos && dot > 0;
         dot = change.name.rfind('.', dot - 1)) {
        const Params::const_iterator param = params.find(std::string_view(change.name).substr(0, dot));
        if (param != params.end()) return param->second->shardings == change.shardings ? param->second : nullptr;
    }
    return nullptr;
}

// States or gradients of several parameters: those of one name are a row, and names that the same parameters have.
struct AsParams {
    std::vector<std::string> names; // "mu"
    std::set<const ShardingChange*> params;
};

// Takes them out of `changes`, which are of one role.
std::vector<ShardingChange> sum_up(std::vector<ShardingChange>& changes, const Params& params) {
    std::map<std::string, std::set<const ShardingChange*>> by_name;
    const auto name_of = [&](const ShardingChange& change) {
        const ShardingChange* param = param_of(change, params);
        return param == nullptr ? std::string() : change.name.substr(param->name.size() + 1);
    };
    std::vector<std::string> order;
    for (const ShardingChange& change : changes)
        if (const std::string name = name_of(change); !name.empty()) {
            if (!by_name.contains(name)) order.push_back(name);
            by_name[name].insert(param_of(change, params));
        }
    std::vector<AsParams> groups;
    for (const std::string& name : order) {
        const auto same = [&](const AsParams& group) { return group.params == by_name[name]; };
        std::vector<AsParams>::iterator at = std::find_if(groups.begin(), groups.end(), same);
        if (at == groups.end()) at = groups.insert(at, {{}, by_name[name]});
        at->names.push_back(name);
    }
    std::erase_if(groups, [](const AsParams& group) { return group.params.size() < 2; });
    std::vector<ShardingChange> sums;
    std::set<std::string> summed;
    for (const AsParams& group : groups) {
        summed.insert(group.names.begin(), group.names.end());
        const bool is_all = group.params.size() == params.size();
        const std::string whose =
            is_all ? "the params above" : fmt::format("{} of the params above", group.params.size());
        sums.push_back({fmt::format("{} of {}", fmt::join(group.names, ", "), whose), changes.front().role,
                        std::vector<std::string>(changes.front().shardings.size(), "as the param")});
    }
    std::erase_if(changes, [&](const ShardingChange& change) { return summed.contains(name_of(change)); });
    return sums;
}

std::vector<ShardingChange> without_layers(const std::vector<ShardingChange>& changes) {
    std::vector<std::vector<std::string>> texts;
    for (const ShardingChange& change : changes) {
        texts.push_back({change.name, change.role});
        texts.back().insert(texts.back().end(), change.shardings.begin(), change.shardings.end());
    }
    std::vector<ShardingChange> folded;
    for (const FoldedRow& row : fold_rows(texts)) {
        const ShardingChange& first = changes[static_cast<size_t>(row.members.front())];
        folded.push_back(
            {row.fields[0], row.fields[1], {row.fields.begin() + 2, row.fields.end()}, first.name, first.dims});
    }
    return folded;
}

// Of one module.
std::vector<ShardingChange> joined(const std::vector<ShardingChange>& changes) {
    struct Group {
        std::string module;
        ShardingChange change;
        std::vector<std::string> names;
    };
    std::vector<Group> groups;
    for (const ShardingChange& change : changes) {
        const std::string module(module_path(change.name));
        const auto alike = [&](const Group& group) {
            return group.module == module && group.change.shardings == change.shardings &&
                   group.change.dims == change.dims;
        };
        std::vector<Group>::iterator at = std::find_if(groups.begin(), groups.end(), alike);
        if (at == groups.end()) at = groups.insert(at, {module, change, {}});
        at->names.push_back(change.name);
    }
    std::vector<ShardingChange> out;
    for (Group& group : groups) {
        group.change.name = joined_names(group.names, most_names);
        out.push_back(std::move(group.change));
    }
    return out;
}

} // namespace

std::vector<ShardingChange> alike_changes(const std::vector<ShardingChange>& changes, Detail detail) {
    if (detail == Detail::each) return without_layers(changes);
    Params params;
    for (const ShardingChange& change : changes)
        if (change.role == name(Role::param)) params.emplace(change.name, &change);
    std::vector<ShardingChange> out;
    std::vector<std::string> roles;
    for (const ShardingChange& change : changes)
        if (std::find(roles.begin(), roles.end(), change.role) == roles.end()) roles.push_back(change.role);
    for (const std::string& role : roles) {
        std::vector<ShardingChange> mine, sums;
        for (const ShardingChange& change : changes)
            if (change.role == role) mine.push_back(change);
        if (role == name(Role::state) || role == name(Role::gradient)) sums = sum_up(mine, params);
        for (ShardingChange& change : joined(without_layers(mine))) out.push_back(std::move(change));
        out.insert(out.end(), sums.begin(), sums.end());
    }
    return out;
}

} // namespace shard

#include "cli/summary/sharding_rows.h"

#include "cli/summary/alike.h"
#include "cli/terminal/fold.h"
#include "plans/base/saturating.h"
#include "plans/plan/source_ref.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace shard {

namespace {

constexpr size_t most_rows = 16, most_names = 8;

void add(ShardingRow& row, const TensorReport& tensor) {
    if (row.first == nullptr) row.first = &tensor;
    ++row.count;
    row.bytes = add_saturating(row.bytes, tensor.bytes_per_device);
}

// Of several parameters, what is called so.
struct Alike {
    std::vector<std::string> names; // "mu"
    std::set<const TensorReport*> params;
    std::vector<const TensorReport*> members;
};

void take_over(Alike& alike, const Alike& other) {
    alike.names.insert(alike.names.end(), other.names.begin(), other.names.end());
    alike.members.insert(alike.members.end(), other.members.begin(), other.members.end());
}

class Rows {
public:
    Rows(const Plan& plan, Detail detail) : plan_(plan), detail_(detail) {
        for (const TensorReport& tensor : plan.report.tensors)
            if (tensor.role == Role::param) params_[tensor.name] = &tensor;
    }

    ShardingRows run() {
        for (Role role :
             {Role::input, Role::param, Role::variable, Role::state, Role::gradient, Role::value, Role::output}) {
            if (role == Role::value && detail_ != Detail::each) continue;
            std::vector<const TensorReport*> tensors;
            for (const TensorReport& tensor : plan_.report.tensors)
                if (tensor.role == role) tensors.push_back(&tensor);
            std::vector<ShardingRow> sums;
            if (detail_ == Detail::screen && (role == Role::state || role == Role::gradient)) sums = sum_up(tensors);
            add_rows(tensors);
            out_.rows.insert(out_.rows.end(), sums.begin(), sums.end());
        }
        if (detail_ == Detail::screen) leave_out();
        return std::move(out_);
    }

private:
    // Of the roles that have the most rows the smallest arrays, so that every role is there.
    void leave_out() {
        std::vector<ShardingRow>& rows = out_.rows;
        if (rows.size() <= most_rows) return;
        std::map<Role, std::vector<size_t>> of_role;
        for (size_t i = 0; i < rows.size(); ++i) of_role[rows[i].first->role].push_back(i);
        std::map<Role, size_t> kept;
        for (const auto& [role, all] : of_role) kept[role] = all.size();
        const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
        for (size_t count = rows.size(); count > most_rows; --count)
            --std::max_element(kept.begin(), kept.end(), fewer)->second;
        std::vector<bool> goes(rows.size());
        for (auto& [role, all] : of_role) {
            std::stable_sort(all.begin(), all.end(),
                             [&rows](size_t a, size_t b) { return rows[a].bytes > rows[b].bytes; });
            for (size_t i = kept[role]; i < all.size(); ++i) goes[all[i]] = true;
        }
        std::vector<ShardingRow> left;
        for (size_t i = 0; i < rows.size(); ++i)
            if (!goes[i]) left.push_back(std::move(rows[i]));
        out_.left_out = rows.size() - left.size();
        rows = std::move(left);
    }

    // The parameter that a state or gradient belongs to, by its path ("w1.mu"); nullptr if there is none.
    const TensorReport* param_of(const TensorReport& tensor) const {
        for (size_t dot = tensor.name.rfind('.'); dot != std::string::npos && dot > 0;
             dot = tensor.name.rfind('.', dot - 1)) {
            const std::map<std::string, const TensorReport*>::const_iterator param =
                params_.find(tensor.name.substr(0, dot));
            if (param != params_.end()) return param->second;
        }
        return nullptr;
    }

    // Takes those out that lie as their parameters do, several of one name: they are a row by that name.
    std::vector<ShardingRow> sum_up(std::vector<const TensorReport*>& tensors) const {
        std::vector<Alike> alike;
        for (const TensorReport* tensor : tensors) {
            const TensorReport* param = param_of(*tensor);
            if (param == nullptr || tensor->shape != param->shape || !same_layout(tensor->sharding, param->sharding))
                continue;
            const std::string name = tensor->name.substr(param->name.size() + 1);
            std::vector<Alike>::iterator at = std::find_if(alike.begin(), alike.end(), [&](const Alike& other) {
                return other.names.front() == name && other.members.front()->dtype == tensor->dtype;
            });
            if (at == alike.end()) at = alike.insert(at, Alike{{name}, {}, {}});
            at->params.insert(param);
            at->members.push_back(tensor);
        }
        for (size_t i = 0; i < alike.size(); ++i)
            for (size_t k = i + 1; k < alike.size();) {
                const bool together = alike[k].params == alike[i].params &&
                                      alike[k].members.front()->dtype == alike[i].members.front()->dtype;
                if (together)
                    take_over(alike[i], alike[k]), alike.erase(alike.begin() + static_cast<std::ptrdiff_t>(k));
                else
                    ++k;
            }
        std::erase_if(alike, [](const Alike& each) { return each.params.size() < 2; });
        std::vector<ShardingRow> rows;
        for (const Alike& each : alike) {
            ShardingRow& row = rows.emplace_back();
            row.is_as_params = true;
            for (const TensorReport* member : each.members) add(row, *member);
            std::erase_if(tensors, [&](const TensorReport* tensor) {
                return std::find(each.members.begin(), each.members.end(), tensor) != each.members.end();
            });
            row.name = fmt::format("{} of {}", fmt::join(each.names, ", "),
                                   each.params.size() == params_.size() ? "every param"
                                                                        : fmt::format("{} params", each.params.size()));
        }
        return rows;
    }

    // Alike arrays of one module, all layers of it.
    struct Group {
        std::string key;
        ShardingRow row;
        std::vector<std::string> names, sources;
    };

    void add_rows(const std::vector<const TensorReport*>& tensors) {
        std::vector<std::vector<std::string>> texts;
        for (const TensorReport* t : tensors)
            texts.push_back({t->name, text(t->source), std::string(module_path(t->name)), std::string(name(t->dtype)),
                             fmt::format("{}", fmt::join(t->logical, ",")), shape_text(t->shape),
                             text(plan_.mesh, closed(without_unit_axes(t->sharding)))});
        std::vector<FoldedRow> folded;
        if (detail_ == Detail::each)
            for (size_t i = 0; i < texts.size(); ++i) folded.push_back({{static_cast<int>(i)}, texts[i]});
        else
            folded = fold_rows(texts);
        std::vector<Group> groups;
        for (const FoldedRow& layers : folded) {
            const std::string key = fmt::format("{}", fmt::join(layers.fields.begin() + 2, layers.fields.end(), "\n"));
            std::vector<Group>::iterator at = groups.end();
            if (detail_ != Detail::each)
                at = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.key == key; });
            if (at == groups.end()) at = groups.insert(at, Group{key, {}, {}, {}});
            at->names.push_back(layers.fields[0]);
            at->sources.push_back(layers.fields[1]);
            for (int member : layers.members) add(at->row, *tensors[member]);
        }
        for (Group& group : groups) {
            group.row.name = joined_names(group.names, detail_ == Detail::screen ? most_names : group.names.size());
            group.row.source = joined_places(group.sources);
            out_.rows.push_back(std::move(group.row));
        }
    }

    const Plan& plan_;
    Detail detail_;
    std::map<std::string, const TensorReport*> params_;
    ShardingRows out_;
};

} // namespace

ShardingRows sharding_rows(const Plan& plan, Detail detail) { return Rows(plan, detail).run(); }

} // namespace shard

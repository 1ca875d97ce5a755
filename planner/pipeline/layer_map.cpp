#include "planner/pipeline/layer_map.h"

#include "planner/graph/op_def.h"
#include "planner/graph/users.h"
#include "plans/base/parse_number.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace shard {

namespace {

constexpr size_t least_values = 1000;       // fewer are planned as fast as they are compared
constexpr i64 many = 3 * few_layers;        // layers
constexpr size_t of_layers = 2, of_all = 3; // two thirds

// The parts of a path that are numbers: where each begins, and the number.
template<class Take>
void for_each_number(std::string_view path, const Take& take) {
    for (size_t begin = 0; begin < path.size();) {
        const size_t end = std::min(path.find('.', begin), path.size());
        const std::string_view part = path.substr(begin, end - begin);
        if (part[0] >= '0' && part[0] <= '9')
            if (const std::optional<i64> number = parse_number<i64>(part)) take(begin, end, *number);
        begin = end + 1;
    }
}

// How many layers there are below a path.
class LayerCounts {
public:
    explicit LayerCounts(const Graph& graph) {
        for (const Value& value : graph.values)
            for_each_number(value.name, [&](size_t begin, size_t, i64 number) {
                i64& count = counts_[std::string_view(value.name).substr(0, begin)];
                count = std::max(count, number + 1);
            });
    }
    i64 below(std::string_view path) const {
        const auto found = counts_.find(path);
        return found == counts_.end() ? 0 : found->second;
    }

private:
    std::unordered_map<std::string_view, i64> counts_; // looked up, never iterated
};

class Finder {
public:
    Finder(const Graph& all, const Graph& few)
        : all_(all), few_(few), users_(few), all_counts_(all), few_counts_(few), found_(all.values.size(), -1) {
        for (ValueId id = 0; id < std::ssize(few.values); ++id) by_name_.emplace(few.value(id).name, id);
    }

    // -1 where nothing is.
    std::vector<ValueId> run() {
        for (ValueId id = 0; id < std::ssize(all_.values); ++id)
            if (all_.value(id).producer < 0) found_[static_cast<size_t>(id)] = named_like(id);
        for (const Node& node : all_.nodes)
            for (size_t r = 0; r < node.outputs.size(); ++r)
                if (!is_constant(node)) found_[static_cast<size_t>(node.outputs[r])] = find(node, r);
        for (const Node& node : all_.nodes) find_constants(node);
        return std::move(found_);
    }

private:
    ValueId found(ValueId id) const { return found_[static_cast<size_t>(id)]; }

    // By its path. `is_inside_` says whether it is a layer's.
    ValueId named_like(ValueId id) {
        const std::string_view path = all_.value(id).name;
        name_.clear();
        is_inside_ = false;
        size_t copied = 0;
        for_each_number(path, [&](size_t begin, size_t end, i64 number) {
            name_ += path.substr(copied, begin - copied);
            const i64 count = all_counts_.below(path.substr(0, begin)), left = few_counts_.below(name_);
            is_inside_ = is_inside_ || count != left;
            if (count != left && number > 0) number = number + 1 == count ? left - 1 : 1;
            name_ += std::to_string(number);
            copied = end;
        });
        name_ += path.substr(copied);
        const auto like = by_name_.find(name_);
        return like == by_name_.end() ? -1 : like->second;
    }

    // Outside of layers values are counted through the whole model, as the squares of all gradients: there one is like
    // what is made of the same.
    ValueId find(const Node& node, size_t result) {
        const ValueId named = named_like(node.outputs[result]);
        if (named >= 0 && few_.value(named).producer >= 0 &&
            (is_inside_ || reads_the_same(node, few_.node(few_.value(named).producer))))
            return named;
        const auto known = [this](ValueId input) { return found(input) >= 0; };
        const auto input = std::find_if(node.inputs.begin(), node.inputs.end(), known);
        if (input == node.inputs.end() || node.op() == nullptr) return -1;
        for (const NodeId user : users_[found(*input)])
            if (reads_the_same(node, few_.node(user))) return few_.node(user).outputs[result];
        return -1;
    }

    bool reads_the_same(const Node& node, const Node& other) const {
        if (node.op() != other.op() || node.inputs.size() != other.inputs.size()) return false;
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (found(node.inputs[i]) >= 0 && found(node.inputs[i]) != other.inputs[i]) return false;
        return true;
    }

    // Constants are counted through the whole model, and copied for each reader. Each is like what is read in its place by
    // what is like its reader.
    static bool is_constant(const Node& node) {
        return node.inputs.empty() && node.op() != nullptr && node.op()->duplicate_per_use;
    }
    void find_constants(const Node& node) {
        const ValueId like = node.outputs.empty() ? -1 : found(node.outputs[0]);
        if (like < 0 || few_.value(like).producer < 0) return;
        const Node& reader = few_.node(few_.value(like).producer);
        for (size_t i = 0; i < std::min(node.inputs.size(), reader.inputs.size()); ++i)
            if (const NodeId made = all_.value(node.inputs[i]).producer; made >= 0 && is_constant(all_.node(made)))
                found_[static_cast<size_t>(node.inputs[i])] = reader.inputs[i];
    }

    const Graph &all_, &few_;
    Users users_; // of few
    LayerCounts all_counts_, few_counts_;
    std::unordered_map<std::string_view, ValueId> by_name_; // looked up, never iterated
    std::vector<ValueId> found_;
    std::string name_;
    bool is_inside_ = false;
};

} // namespace

bool has_many_layers(const Graph& graph) {
    if (graph.values.size() < least_values) return false;
    const LayerCounts counts(graph);
    size_t in_layers = 0;
    for (const Value& value : graph.values) {
        bool is_of_many = false;
        for_each_number(value.name, [&](size_t begin, size_t, i64) {
            is_of_many = is_of_many || counts.below(std::string_view(value.name).substr(0, begin)) >= many;
        });
        in_layers += is_of_many ? 1 : 0;
    }
    return in_layers * of_all >= graph.values.size() * of_layers;
}

std::vector<ValueId> values_in_few(const Graph& all, const Graph& few) { return Finder(all, few).run(); }

} // namespace shard

#include "importer/shape/guessed_axes.h"

#include "importer/shape/dim_classes.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace shard {

namespace {

constexpr std::string_view order[] = {"batch", "length", "vocab", "embed",    "heads",  "kv_heads",
                                      "kv",    "mlp",    "qkv",   "features", "classes"};

constexpr int most_tried = 32; // sums that may be of a value and what is made of it, each of which is followed back

class Guess {
public:
    Guess(const Draft& draft, const std::vector<DraftId>& results, const std::vector<DraftId>& all,
          const NamesByArray& given, bool is_sharded)
        : draft_(draft), results_(results), given_(given), is_sharded_(is_sharded), needed_(draft.needed_for(all)),
          classes_(draft, needed_) {}

    AxisNames run() {
        take_given();
        const bool has_words = name_lookups();
        if (has_words)
            name_tokens();
        else if (is_sharded_ || !name_features())
            return collected();
        name_classes(has_words ? "vocab" : "classes");
        if (!embed_name_.empty()) name_params(has_words);
        return collected();
    }

private:
    void take_given() {
        for (const auto& [id, names] : given_)
            for (size_t d = 0; d < names.size(); ++d) {
                if (names[d].empty()) continue;
                const i64 size = draft_.type(id).shape[d];
                if (sizes_.try_emplace(names[d], size).second) order_.push_back(names[d]);
                call(classes_.of(id, d), names[d], size);
            }
    }

    // A class keeps its first name; a name has one size.
    void call(int of, const std::string& name, i64 size) {
        if (names_.contains(of)) return;
        const auto [it, is_new] = sizes_.try_emplace(name, size);
        if (it->second == size) names_.try_emplace(of, name);
    }
    std::string name_of(DraftId value, size_t dim) const {
        const auto it = names_.find(classes_.of(value, dim));
        return it == names_.end() ? std::string() : it->second;
    }

    // The largest table of two dims that words look rows up in.
    bool name_lookups() {
        DraftId table = -1;
        for (size_t i = 0; i < needed_.size(); ++i) {
            if (!needed_[i] || draft_.entry(i).op != "gather" || draft_.entry(i).arguments != ", dim: 0") continue;
            const DraftId found = draft_.entry(i).operands[0];
            if (draft_[found].is_param && draft_.type(found).shape.size() == 2 &&
                looks_up_words(draft_.entry(i).operands[1], draft_.type(found).shape[0]) &&
                (table < 0 || draft_.type(found).shape[0] > draft_.type(table).shape[0]))
                table = found;
        }
        if (table < 0) return false;
        embed_ = draft_.type(table).shape[1];
        call(classes_.of(table, 1), "embed", embed_);
        call(classes_.of(table, 0), "vocab", draft_.type(table).shape[0]);
        embed_name_ = name_of(table, 1);
        return true;
    }

    // Of whole numbers that are given, and are rows of words, or are those of which the program gives the next. Others
    // are places, codes, or the classes that pictures are of.
    bool looks_up_words(DraftId indices, i64 words) const {
        if (!is_given(indices)) return false;
        if (draft_.type(indices).shape.size() > 1) return true;
        const std::vector<DraftId> logits = chosen_among();
        return std::any_of(logits.begin(), logits.end(), [&](DraftId id) {
            return draft_.type(id).shape.size() > 1 && draft_.type(id).shape.back() == words;
        });
    }
    // An input, or what is made of one without leaving whole numbers.
    bool is_given(DraftId indices) const {
        std::vector<DraftId> open = {indices};
        for (size_t n = 0; n < open.size() && n < most_tried; ++n) {
            if (!is_integer(draft_.type(open[n]).dtype)) continue;
            if (draft_[open[n]].is_input) return true;
            if (const DraftEntry* const entry = draft_.entry_of(open[n]))
                open.insert(open.end(), entry->operands.begin(), entry->operands.end());
        }
        return false;
    }
    // What a loss chooses among, and results, which of a step are arrays of other kinds too.
    std::vector<DraftId> chosen_among() const {
        std::vector<DraftId> logits;
        std::set<DraftId> multiplied; // by what: a one_hot among them looks something up, or moves it
        for (size_t i = 0; i < needed_.size(); ++i)
            if (const DraftEntry& entry = draft_.entry(i); needed_[i] && (entry.op == "dot" || entry.op == "einsum"))
                multiplied.insert(entry.operands.begin(), entry.operands.end());
        for (size_t i = 0; i < needed_.size(); ++i) {
            if (!needed_[i]) continue;
            const DraftEntry& entry = draft_.entry(i);
            if (entry.op == "softmax_cross_entropy") logits.push_back(entry.operands[0]);
            if (entry.op == "one_hot" && is_given(entry.operands[0]) && !multiplied.contains(entry.results[0]))
                logits.push_back(entry.results[0]);
        }
        logits.insert(logits.end(), results_.begin(), results_.end());
        return logits;
    }

    bool is_data(DraftId id) const { return draft_[id].is_input && !draft_[id].is_param && !draft_[id].is_left_out; }

    void name_tokens() {
        for (DraftId id = 0; id < draft_.value_count(); ++id) {
            const DraftValue& value = draft_[id];
            if (!is_data(id) || !is_integer(value.type.dtype) || value.type.shape.size() != 2) continue;
            call(classes_.of(id, 0), "batch", value.type.shape[0]);
            call(classes_.of(id, 1), "length", value.type.shape[1]);
        }
    }

    // Of a program without words: what inputs begin with is a batch, and what is added to what it is made of, or else
    // what the first of them ends with, are features. False without parameters: it is not said what is what.
    bool name_features() {
        DraftId features = -1, id = 0;
        std::set<int> of_params;
        for (id = 0; id < draft_.value_count(); ++id)
            for (size_t d = 0; draft_[id].is_param && d < draft_.type(id).shape.size(); ++d)
                of_params.insert(classes_.of(id, d));
        if (of_params.empty()) return false;
        for (const DraftId data : examples()) {
            const DraftValue& value = draft_[data];
            if (!of_params.contains(classes_.of(data, 0))) call(classes_.of(data, 0), "batch", value.type.shape[0]);
            if (features < 0 && is_floating(value.type.dtype) && value.type.shape.size() > 1) features = data;
        }
        int tried = 0;
        for (size_t i = 0; i < needed_.size() && tried < most_tried; ++i)
            if (needed_[i] && adds_two(draft_.entry(i)) && ++tried > 0 && is_residual(draft_.entry(i))) {
                features = draft_.entry(i).results[0];
                break;
            }
        if (features < 0) return true;
        const size_t last = draft_.type(features).shape.size() - 1;
        embed_ = draft_.type(features).shape[last];
        call(classes_.of(features, last), "embed", embed_);
        embed_name_ = name_of(features, last);
        for (id = 0; id < draft_.value_count(); ++id) {
            const Shape& shape = draft_.type(id).shape;
            if (is_data(id) && is_floating(draft_.type(id).dtype) && shape.size() > 1)
                call(classes_.of(id, shape.size() - 1), "features", shape.back());
        }
        return true;
    }
    // Inputs that hold an example at each place of their first dim. Weights that are given, and not trained, begin with a
    // dim that is contracted; where all inputs do, nothing tells them apart.
    std::vector<DraftId> examples() const {
        std::vector<DraftId> data, alone;
        const std::set<int> contracted = classes_.contracted();
        for (DraftId id = 0; id < draft_.value_count(); ++id) {
            if (!is_data(id) || draft_.type(id).shape.empty()) continue;
            data.push_back(id);
            if (!contracted.contains(classes_.of(id, 0))) alone.push_back(id);
        }
        return alone.empty() ? data : alone;
    }

    bool adds_two(const DraftEntry& entry) const {
        const Shape& shape = draft_.type(entry.results.front()).shape;
        return entry.op == "add" && entry.operands.size() == 2 && shape.size() > 1 &&
               draft_.type(entry.operands[0]).shape == shape && draft_.type(entry.operands[1]).shape == shape;
    }
    // One is computed of the other, which is no weight.
    bool is_residual(const DraftEntry& entry) const {
        const DraftId a = entry.operands[0], b = entry.operands[1];
        return is_made_of(a, b) || is_made_of(b, a);
    }
    bool is_made_of(DraftId value, DraftId of) const {
        const DraftEntry* const made_by = draft_.entry_of(of);
        const std::vector<bool> needed = draft_.needed_for({value});
        for (size_t i = 0; i < needed.size(); ++i)
            if (needed[i] && (made_by == &draft_.entry(i) ||
                              std::find(draft_.entry(i).operands.begin(), draft_.entry(i).operands.end(), of) !=
                                  draft_.entry(i).operands.end()))
                return !draft_[of].is_param;
        return false;
    }

    // What a loss chooses among, and the last dim of results, are words if there are as many.
    void name_classes(const std::string& called) {
        for (const DraftId id : chosen_among()) {
            const Shape& shape = draft_.type(id).shape;
            if (shape.size() > 1) call(classes_.of(id, shape.size() - 1), called, shape.back());
        }
    }

    // A parameter, or an entry of a stack of them, whose layers may be along any dim.
    bool is_weight(DraftId id) const {
        if (draft_[id].is_param) return true;
        const DraftEntry* const reshape = draft_.entry_of(id);
        const DraftEntry* const slice =
            reshape != nullptr && reshape->op == "reshape" ? draft_.entry_of(reshape->operands[0]) : nullptr;
        if (slice == nullptr || slice->op != "slice") return false;
        DraftId stack = slice->operands[0];
        if (const DraftEntry* const turned = draft_.entry_of(stack); turned != nullptr && turned->op == "transpose")
            stack = turned->operands[0];
        return draft_[stack].is_param;
    }

    void name_params(bool has_words) {
        std::set<DraftId> multiplied;
        for (size_t i = 0; i < needed_.size(); ++i)
            if (const DraftEntry& entry = draft_.entry(i); needed_[i] && (entry.op == "dot" || entry.op == "einsum"))
                std::copy_if(entry.operands.begin(), entry.operands.end(), std::inserter(multiplied, multiplied.end()),
                             [&](DraftId operand) { return is_weight(operand); });
        i64 most_heads = 0;
        for (const bool two : {false, true})
            for (const DraftId id : multiplied) {
                const Shape& shape = draft_.type(id).shape;
                if (shape.size() != (two ? 2 : 3)) continue;
                std::vector<size_t> rest;
                for (size_t d = 0; d < shape.size(); ++d)
                    if (name_of(id, d) != embed_name_) rest.push_back(d);
                if (rest.size() + 1 != shape.size()) continue;
                if (two) {
                    const i64 size = shape[rest[0]];
                    if (size != embed_ || has_words)
                        call(classes_.of(id, rest[0]), size == embed_ ? "qkv" : "mlp", size);
                } else if (rest[1] == rest[0] + 1) {
                    most_heads = std::max(most_heads, shape[rest[0]]);
                    three_.emplace_back(id, rest[0]);
                }
            }
        for (const auto& [id, dim] : three_) {
            const i64 heads = draft_.type(id).shape[dim];
            call(classes_.of(id, dim), heads == most_heads ? "heads" : "kv_heads", heads);
            call(classes_.of(id, dim + 1), "kv", draft_.type(id).shape[dim + 1]);
        }
    }

    AxisNames collected() const {
        AxisNames found;
        std::set<std::string> used;
        for (DraftId id = 0; id < draft_.value_count(); ++id) {
            const DraftValue& value = draft_[id];
            if (!value.is_input) continue;
            std::vector<std::string> names;
            const NamesByArray::const_iterator own = given_.find(id);
            if (own != given_.end()) names = own->second;
            for (size_t d = 0; own == given_.end() && d < value.type.shape.size(); ++d) {
                std::string name = name_of(id, d);
                if (std::find(names.begin(), names.end(), name) != names.end()) name.clear(); // once in an array
                names.push_back(name);
            }
            if (std::all_of(names.begin(), names.end(), [](const std::string& n) { return n.empty(); })) continue;
            used.insert(names.begin(), names.end());
            found.of_array[id] = std::move(names);
        }
        std::vector<std::string> all(std::begin(order), std::end(order));
        std::copy_if(order_.begin(), order_.end(), std::back_inserter(all), [](const std::string& name) {
            return std::find(std::begin(order), std::end(order), name) == std::end(order);
        });
        for (const std::string& name : all)
            if (used.contains(name)) found.axes.emplace_back(name, sizes_.at(name));
        return found;
    }

    const Draft& draft_;
    const std::vector<DraftId>& results_;
    const NamesByArray& given_;
    bool is_sharded_;
    std::vector<bool> needed_;
    DimClasses classes_;
    std::map<int, std::string> names_;
    std::map<std::string, i64> sizes_;
    std::vector<std::pair<DraftId, size_t>> three_; // parameters of heads, and which dim these are
    i64 embed_ = 0;
    std::string embed_name_;
    std::vector<std::string> order_; // of names that are given
};

} // namespace

AxisNames guessed_axes(const Draft& draft, const std::vector<DraftId>& results, const std::vector<DraftId>& next,
                       const NamesByArray& given, bool is_sharded) {
    std::vector<DraftId> all = results;
    all.insert(all.end(), next.begin(), next.end());
    return Guess(draft, results, all, given, is_sharded).run();
}

} // namespace shard

#include "importer/model/module_names.h"

#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace shard {

namespace {

// What is before and after the number that tells names apart: of h_3_mlp_w and h_4_mlp_w, h and mlp_w.
struct AroundNumber {
    std::string before, number, after;
};

std::optional<AroundNumber> around_number(const std::string& name, const std::string& other) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    size_t begin =
        static_cast<size_t>(std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first - name.begin());
    while (begin > 0 && is_digit(name[begin - 1])) --begin;
    size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end == begin) return std::nullopt;
    return AroundNumber{name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

// Of a parameter whose names count its repetitions.
struct Counted {
    std::string instance, number, rest;
};

class ModuleNamer {
public:
    ModuleNamer(Draft& draft, const DraftBlock& block, NameGiver& names)
        : draft_(draft), block_(block), names_(names) {}

    ModuleNames run(std::string name) {
        module_.name = std::move(name);
        if (block_.has_any_shapes) {
            name_updates();
            return std::move(module_);
        }
        if (block_.is_called()) {
            name_calls();
            name_values();
            return std::move(module_);
        }
        std::vector<std::optional<Counted>> counted;
        for (const std::vector<DraftId>& param : block_.params) counted.push_back(count(param));
        is_counted_ = std::all_of(counted.begin(), counted.end(), [](const auto& c) { return c.has_value(); });
        name_instance(counted);
        for (size_t p = 0; p < counted.size(); ++p) name_param(block_.params[p], counted[p]);
        for (const DraftBlock::Stack& stack : block_.stacks) name_stack(stack);
        name_values();
        return std::move(module_);
    }

private:
    std::optional<Counted> count(const std::vector<DraftId>& param) const {
        const std::string& first = draft_.name_of(param[0]);
        const std::optional<AroundNumber> around = around_number(first, draft_.name_of(param[1]));
        const std::optional<i64> number = around ? parse_number<i64>(around->number) : std::nullopt;
        if (!number || *number > limit_) return std::nullopt;
        for (size_t r = 0; r < param.size(); ++r)
            if (draft_.name_of(param[r]) !=
                fmt::format("{}{}{}", around->before, *number + static_cast<i64>(r), around->after))
                return std::nullopt;
        Counted found{around->before, around->number, around->after};
        while (found.instance.ends_with('_')) found.instance.pop_back();
        while (found.rest.starts_with('_')) found.rest.erase(0, 1);
        if (*number > 0 && !found.instance.empty()) found.instance += "_from_" + found.number;
        return found;
    }

    // What most parameters say.
    void name_instance(const std::vector<std::optional<Counted>>& counted) {
        std::map<std::string, int> votes;
        for (const std::optional<Counted>& param : counted)
            if (is_counted_) ++votes[param->instance];
        for (const DraftBlock::Stack& stack : block_.stacks) {
            const std::string& name = draft_.name_of(stack.whole);
            ++votes[name.substr(0, name.find('_'))];
        }
        std::pair<std::string, int> most;
        for (const auto& vote : votes)
            if (vote.second > most.second) most = vote;
        said_ = most.first;
        module_.instance = names_.give(said_.empty() ? module_.name : said_);
    }

    void name_param(const std::vector<DraftId>& param, const std::optional<Counted>& counted) {
        std::string rest = draft_.name_of(param[0]);
        if (is_counted_) {
            rest = counted->rest;
            if (counted->instance != said_)
                rest = counted->instance + (rest.empty() ? "" : "_") + rest;
            else if (module_.scope.empty())
                module_.scope = scope_of(*counted);
        }
        const std::string own = local_.give(name_text(rest.empty() ? "w" : rest));
        module_.arrays.push_back(param[1]);
        module_.names[param[1]] = own;
        for (size_t r = 0; r < param.size(); ++r)
            draft_.rename(param[r], fmt::format("{}.{}.{}", module_.instance, r, own));
    }
    // Of a module that is called h_2, h_2_.
    static std::string scope_of(const Counted& counted) {
        const std::string from = "_from_" + counted.number;
        const bool is_said = counted.instance.ends_with(from);
        return counted.instance.substr(0, counted.instance.size() - (is_said ? from.size() : 0)) + "_" +
               counted.number + "_";
    }

    // What most names of what calls read count by, up or down: h_5, h_4 of h_5_mlp_w, h_4_mlp_w.
    void name_calls() {
        std::map<std::pair<std::string, std::pair<i64, i64>>, int> votes; // by word, the first number and the second
        for (const auto* lists : {&block_.params, &block_.given})
            for (const std::vector<DraftId>& values : *lists)
                if (const std::optional<AroundNumber> around =
                        around_number(draft_.name_of(values[0]), draft_.name_of(values[1])))
                    if (const std::optional<i64> first = parse_number<i64>(around->number),
                        second = second_number(values);
                        first && second && *first <= limit_ && std::abs(*second - *first) == 1)
                        ++votes[{last_word(around->before), {*first, *second}}];
        std::pair<std::string, std::pair<i64, i64>> most = {module_.name, {0, 1}};
        int count = 0;
        for (const auto& [way, voices] : votes)
            if (voices > count) std::tie(most, count) = std::pair(way, voices);
        const auto& [word, numbers] = most;
        module_.scope = fmt::format("{}_{}_", word, numbers.first);
        for (i64 r = 0; r < block_.times(); ++r) {
            const i64 number = numbers.first + r * (numbers.second - numbers.first);
            module_.calls.push_back(names_.give(fmt::format("{}_{}", word, std::max<i64>(number, 0))));
        }
        for (const std::vector<DraftId>& param : block_.params) {
            const std::string own = short_name(draft_.name_of(param[0]));
            module_.arrays.push_back(param[1]);
            module_.names[param[1]] = own;
            for (size_t r = 0; r < param.size(); ++r)
                draft_.rename(param[r], fmt::format("{}.{}", module_.calls[r], own));
        }
    }
    std::optional<i64> second_number(const std::vector<DraftId>& values) const {
        const std::optional<AroundNumber> around = around_number(draft_.name_of(values[1]), draft_.name_of(values[0]));
        return around ? parse_number<i64>(around->number) : std::nullopt;
    }
    // layer of cache_layer_.
    std::string last_word(std::string before) const {
        while (before.ends_with('_')) before.pop_back();
        const std::string word = before.substr(before.rfind('_') + 1);
        return word.empty() ? module_.name : name_text(word);
    }

    void name_stack(const DraftBlock::Stack& stack) {
        std::string rest = draft_.name_of(stack.whole);
        if (rest.starts_with(said_ + "_")) rest.erase(0, said_.size() + 1);
        if (module_.scope.empty()) module_.scope = said_ + "_";
        const std::string own = local_.give(name_text(rest));
        module_.arrays.push_back(stack.read[1]);
        module_.names[stack.read[1]] = own;
        draft_.rename(stack.whole, fmt::format("{}.{}", module_.instance, own));
    }

    std::string short_name(std::string name) {
        // Gpt_Block_0_up_dot is up_dot, wherever the module stands.
        const size_t at = module_.scope.empty() ? std::string::npos : ("_" + name).rfind("_" + module_.scope);
        if (at != std::string::npos && at + module_.scope.size() < name.size())
            name.erase(0, at + module_.scope.size());
        else if (block_.is_called() && (name + "_").ends_with("_" + module_.scope))
            name.erase(name.size() - module_.scope.size()); // cache_h_0 is cache
        return local_.give(name_text(name));
    }

    // Of an array that a module takes one entry of in each repetition, the parameter or input that it is, with its dims in
    // whatever order.
    std::optional<std::string> stack_name(DraftId whole) const {
        for (const DraftEntry* entry = draft_.entry_of(whole); entry != nullptr; entry = draft_.entry_of(whole)) {
            if (entry->op != "transpose") return std::nullopt;
            whole = entry->operands[0];
        }
        return draft_[whole].is_input ? std::optional(draft_.name_of(whole)) : std::nullopt;
    }

    // What the names of all stacks begin with, up to a '_': of layers_mlp_w and layers_norm_scale, layers_.
    std::string common_begin_of_stacks() const {
        std::optional<std::string> common;
        int count = 0;
        for (const DraftBlock::Over& over : block_.over) {
            const std::optional<std::string> name = stack_name(over.whole);
            if (!name) continue;
            ++count;
            if (!common) common = name;
            common->erase(std::mismatch(common->begin(), common->end(), name->begin(), name->end()).first,
                          common->end());
        }
        if (count < 2) return {};
        while (!common->empty()) { // of layers_0 and layers_1 nothing: 0 is no name
            common->erase(common->rfind('_') + 1);
            const bool is_before_number =
                std::any_of(block_.over.begin(), block_.over.end(), [&](const DraftBlock::Over& over) {
                    const std::string name = stack_name(over.whole).value_or("");
                    return name.size() > common->size() && name[common->size()] >= '0' && name[common->size()] <= '9';
                });
            if (!is_before_number || common->empty()) break;
            common->pop_back();
        }
        return *common;
    }

    void name_values() {
        for (size_t c = 0; c < block_.begins.size(); ++c)
            module_.names[block_.handed[c][0]] = local_.give(c == 0 ? "x" : "carried");
        for (const std::vector<DraftId>& given : block_.given)
            module_.names[given[1]] = draft_[given[0]].number ? local_.give("number")
                                      : is_handed_on(given)   ? local_.give("x")
                                                              : short_name(draft_.name_of(given[0]));
        for (const DraftId value : block_.shared) module_.names[value] = short_name(draft_.name_of(value));
        const std::string common = common_begin_of_stacks();
        for (const DraftBlock::Over& over : block_.over) {
            const std::optional<std::string> stack = stack_name(over.whole);
            const std::string name = stack ? stack->substr(common.size()) : draft_.name_of(over.whole);
            module_.names[over.read[1]] = short_name(name + "_entry");
        }
        for (const DraftBlock::Numbers& own : block_.numbers) {
            const std::string name = local_.give("number");
            for (const DraftId number : own.read) module_.names[number] = name;
        }
        for (const int entry : block_.constants)
            for (const DraftId value : draft_.entry(static_cast<size_t>(entry)).results)
                module_.names[value] = short_name(draft_.name_of(value));
        // What the program calls the values of the first repetition, the others call otherwise.
        for (size_t n = 0; n < block_.entries[1].size(); ++n) {
            const DraftEntry& first = draft_.entry(static_cast<size_t>(block_.entries[0][n]));
            const DraftEntry& second = draft_.entry(static_cast<size_t>(block_.entries[1][n]));
            for (size_t i = 0; i < second.results.size(); ++i)
                if (!module_.names.contains(second.results[i]))
                    module_.names[second.results[i]] =
                        short_name(block_.is_called() && draft_.name_of(first.results[i]).starts_with("result")
                                       ? first.op // what the program returns has a name of the model's alone
                                       : draft_.name_of(first.results[i]));
        }
    }

    // What is done to arrays is called after the shortest of their names, Dense_0_w_update, and in the module after what
    // is theirs: mu of mu_Dense_0_w and mu_Dense_1_b.
    void name_updates() {
        const std::vector<DraftId>* arrays = &block_.given[0];
        for (const std::vector<DraftId>& given : block_.given)
            if (std::pair(rank(given), draft_.name_of(given[0]).size()) <
                std::pair(rank(*arrays), draft_.name_of((*arrays)[0]).size()))
                arrays = &given;
        for (const DraftId array : *arrays)
            module_.calls.push_back(names_.give(fmt::format("{}_{}", draft_.name_of(array), module_.name)));
        for (const std::vector<DraftId>& given : block_.given)
            module_.names[given[1]] = local_.give(draft_[given[0]].number    ? "number"
                                                  : rank(given) == 0         ? "param"
                                                  : !begin_of(given).empty() ? begin_of(given)
                                                                             : "value");
        for (const DraftId value : block_.shared) module_.names[value] = local_.give(draft_.name_of(value));
        for (const int entry : block_.constants)
            for (const DraftId value : draft_.entry(static_cast<size_t>(entry)).results)
                module_.names[value] = local_.give(draft_.name_of(value));
        for (size_t n = 0; n < block_.entries[1].size(); ++n) {
            std::vector<DraftId> made;
            for (const std::vector<int>& entries : block_.entries)
                made.push_back(draft_.entry(static_cast<size_t>(entries[n])).results[0]);
            std::string begin = begin_of(made);
            const bool is_new = std::all_of(made.begin(), made.end(),
                                            [&](DraftId value) { return draft_.name_of(value).ends_with("_new"); });
            if (is_new) {
                if (begin.ends_with("_new")) begin.resize(begin.size() - 4);
                const bool is_of_array = begin.empty() || (rank(*arrays) == 0 && begin == begin_of(*arrays));
                begin = (is_of_array ? module_.names.at((*arrays)[1]) : begin) + "_new";
            } else if (begin.empty() || begin.starts_with("result")) {
                begin = draft_.entry(static_cast<size_t>(block_.entries[1][n])).op;
            }
            module_.names[made[1]] = local_.give(begin);
        }
    }
    // Parameters, then inputs, then others.
    int rank(const std::vector<DraftId>& values) const {
        const auto all = [&](bool DraftValue::*is) {
            return std::all_of(values.begin(), values.end(), [&](DraftId value) { return draft_[value].*is; });
        };
        return all(&DraftValue::is_param) ? 0 : all(&DraftValue::is_input) ? 1 : 2;
    }
    // The words that all their names begin with.
    std::string begin_of(const std::vector<DraftId>& values) const {
        std::string begin = draft_.name_of(values[0]);
        for (const DraftId value : values) {
            const std::string& name = draft_.name_of(value);
            const size_t same = static_cast<size_t>(
                std::mismatch(begin.begin(), begin.end(), name.begin(), name.end()).first - begin.begin());
            const auto ends_word = [same](const std::string& text) { return same == text.size() || text[same] == '_'; };
            const bool is_whole = ends_word(begin) && ends_word(name);
            begin.resize(is_whole ? same : begin.substr(0, same).find_last_of('_') + 1);
            while (begin.ends_with('_')) begin.pop_back();
        }
        return begin;
    }

    // Whether a call gives it to the next.
    bool is_handed_on(const std::vector<DraftId>& given) const {
        return std::any_of(block_.returned.begin(), block_.returned.end(), [&](const std::vector<DraftId>& made) {
            return std::equal(given.begin() + 1, given.end(), made.begin());
        });
    }

    static constexpr i64 limit_ = 1'000'000'000;

    Draft& draft_;
    const DraftBlock& block_;
    NameGiver& names_;
    NameGiver local_;
    std::string said_;        // of the instance, by names of parameters
    bool is_counted_ = false; // all parameters are
    ModuleNames module_;
};

} // namespace

std::string NameGiver::give(const std::string& best) {
    const std::string stem = best.empty() ? "value" : best;
    int& number = count_[stem];
    std::string name = number == 0 ? stem : fmt::format("{}_{}", stem, number + 1);
    for (++number; taken_.contains(name); ++number) name = fmt::format("{}_{}", stem, number + 1);
    taken_.insert(name);
    return name;
}

ModuleNames module_names(Draft& draft, const DraftBlock& block, NameGiver& modules, NameGiver& names) {
    return ModuleNamer(draft, block, names).run(modules.give(block.has_any_shapes ? "update" : "block"));
}

} // namespace shard

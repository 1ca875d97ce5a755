#include "importer/model/model_text.h"

#include "importer/model/draft_region.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace shard {

namespace {

// Names that are there once: w, w_2, w_3.
class Names {
public:
    std::string give(const std::string& best) {
        const std::string stem = best.empty() ? "value" : best;
        int& number = count_[stem];
        std::string name = number == 0 ? stem : fmt::format("{}_{}", stem, number + 1);
        for (++number; taken_.contains(name); ++number) name = fmt::format("{}_{}", stem, number + 1);
        taken_.insert(name);
        return name;
    }

private:
    std::set<std::string> taken_;
    std::map<std::string, int> count_;
};

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
    AroundNumber found{name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
    while (found.before.ends_with('_')) found.before.pop_back();
    while (found.after.starts_with('_')) found.after.erase(0, 1);
    return found;
}

class Writer {
public:
    Writer(Draft& draft, const DraftOrder& order, const std::vector<DraftId>& outputs, const DraftUpdates& updates,
           const AxisNames& axes, const std::string& program)
        : draft_(draft), order_(order), outputs_(outputs), updates_(updates), axes_(axes), program_(program) {}

    ModelText write(const std::string& name) {
        give_names();
        result_.text = fmt::format("model: {}\n", name);
        std::vector<std::string> sizes;
        for (const auto& [axis, size] : axes_.axes) sizes.push_back(fmt::format("{}: {}", axis, size));
        if (!sizes.empty()) add(fmt::format("axes: {{{}}}\n", fmt::join(sizes, ", ")));
        write_arrays();
        if (!order_.blocks.empty()) {
            add("modules:\n");
            for (size_t b = 0; b < order_.blocks.size(); ++b) write_module(order_.blocks[b], modules_[b]);
        }
        add("graph:\n");
        for (const int item : order_.items) {
            if (item >= 0)
                write_entry(draft_.entry(static_cast<size_t>(item)), {}, "  ");
            else
                write_repeat(order_.blocks[static_cast<size_t>(-item - 1)], modules_[static_cast<size_t>(-item - 1)]);
        }
        std::vector<std::string> names;
        for (const DraftId output : outputs_) names.push_back(draft_.name_of(output));
        add(fmt::format("outputs: [{}]\n", fmt::join(names, ", ")));
        if (!updates_.empty()) add("updates:\n");
        for (const auto& [input, value] : updates_)
            add(fmt::format("  {}: {}\n", draft_.name_of(input), draft_.name_of(value)));
        return std::move(result_);
    }

private:
    struct Module {
        std::string name, instance;
        std::string scope;                              // that names of its values begin with in the draft
        std::unordered_map<DraftId, std::string> names; // in it, of what the second repetition reads and makes
        std::vector<DraftId> arrays;                    // parameters and stacks, of the second repetition
    };
    using LocalNames = std::unordered_map<DraftId, std::string>;

    void add(const std::string& lines) {
        result_.text += lines;
        line_ += static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
    }

    // --- names ---

    void give_names() {
        std::set<DraftId> of_blocks, named(outputs_.begin(), outputs_.end());
        for (const auto& [input, value] : updates_) named.insert(value);
        for (const DraftBlock& block : order_.blocks) {
            for (const std::vector<DraftId>& param : block.params) of_blocks.insert(param.begin(), param.end());
            for (const DraftBlock::Stack& stack : block.stacks) of_blocks.insert(stack.whole);
        }
        // Inputs are called as the program calls them, then outputs; the rest has what is left.
        const auto give = [&](DraftId value) { draft_.rename(value, names_.give(draft_.name_of(value))); };
        for (DraftId value = 0; value < draft_.value_count(); ++value)
            if (draft_[value].is_input && !draft_[value].is_left_out && !of_blocks.contains(value)) give(value);
        for (const DraftId value : named) give(value);
        for (size_t b = 0; b < order_.blocks.size(); ++b) modules_.push_back(module_of(order_.blocks[b]));
        for (const int item : order_.items) {
            if (item >= 0) {
                for (const DraftId result : draft_.entry(static_cast<size_t>(item)).results)
                    if (!named.contains(result)) give(result);
                continue;
            }
            const DraftBlock& block = order_.blocks[static_cast<size_t>(-item - 1)];
            for (size_t c = 0; c < block.begins.size(); ++c) {
                const DraftId end = block.handed[c].back();
                if (!named.insert(end).second) continue;
                draft_.rename(end, modules_[static_cast<size_t>(-item - 1)].names.at(block.handed[c][1]));
                give(end);
            }
            for (const DraftBlock::Stacked& stacked : block.stacked) {
                const DraftId end = stacked.after.back();
                if (!named.insert(end).second) continue;
                draft_.rename(end, modules_[static_cast<size_t>(-item - 1)].names.at(stacked.made[1]) + "_all");
                give(end);
            }
        }
    }

    Module module_of(const DraftBlock& block) {
        Module module;
        module.name = module_names_.give("block");
        // The instance: what comes before the number of most parameters.
        std::map<std::string, int> votes;
        std::string first_stack;
        for (const std::vector<DraftId>& param : block.params)
            if (const std::optional<AroundNumber> around =
                    around_number(draft_.name_of(param[0]), draft_.name_of(param[1])))
                ++votes[around->before];
        for (const DraftBlock::Stack& stack : block.stacks) {
            const std::string name = draft_.name_of(stack.whole);
            ++votes[name.substr(0, name.find('_'))];
        }
        std::pair<std::string, int> most;
        for (const auto& vote : votes)
            if (vote.second > most.second) most = vote;
        module.instance = names_.give(most.first.empty() ? module.name : most.first);
        Names local;
        for (const std::vector<DraftId>& param : block.params) {
            const std::string whole = draft_.name_of(param[0]);
            const std::optional<AroundNumber> around = around_number(whole, draft_.name_of(param[1]));
            std::string rest = around ? around->after : whole;
            if (around && around->before != most.first) rest = around->before + (rest.empty() ? "" : "_") + rest;
            if (around && around->before == most.first && module.scope.empty())
                module.scope = around->before + "_" + around->number + "_";
            const std::string own = local.give(name_text(rest.empty() ? "w" : rest));
            module.arrays.push_back(param[1]);
            module.names[param[1]] = own;
            for (size_t r = 0; r < param.size(); ++r)
                draft_.rename(param[r], fmt::format("{}.{}.{}", module.instance, r, own));
        }
        for (const DraftBlock::Stack& stack : block.stacks) {
            std::string rest = draft_.name_of(stack.whole);
            if (rest.starts_with(most.first + "_")) rest.erase(0, most.first.size() + 1);
            if (module.scope.empty()) module.scope = most.first + "_";
            const std::string own = local.give(name_text(rest));
            module.arrays.push_back(stack.read[1]);
            module.names[stack.read[1]] = own;
            draft_.rename(stack.whole, fmt::format("{}.{}", module.instance, own));
        }
        name_values(block, module, local);
        return module;
    }

    void name_values(const DraftBlock& block, Module& module, Names& local) {
        const auto short_name = [&](std::string name) {
            // Gpt_Block_0_up_dot is up_dot, wherever the module stands.
            const size_t at = module.scope.empty() ? std::string::npos : ("_" + name).rfind("_" + module.scope);
            if (at != std::string::npos && at + module.scope.size() < name.size())
                name.erase(0, at + module.scope.size());
            return local.give(name_text(name));
        };
        for (size_t c = 0; c < block.begins.size(); ++c)
            module.names[block.handed[c][0]] = local.give(c == 0 ? "x" : "carried");
        for (const DraftId value : block.shared) module.names[value] = short_name(draft_.name_of(value));
        for (const DraftBlock::Over& over : block.over)
            module.names[over.read[1]] = short_name(draft_.name_of(over.whole) + "_entry");
        for (const DraftBlock::Numbers& own : block.numbers) {
            const std::string name = local.give("number");
            for (const DraftId number : own.read) module.names[number] = name;
        }
        for (const int entry : block.constants)
            for (const DraftId value : draft_.entry(static_cast<size_t>(entry)).results)
                module.names[value] = short_name(draft_.name_of(value));
        // What the program calls the values of the first repetition, the others call otherwise.
        for (size_t n = 0; n < block.entries[1].size(); ++n) {
            const DraftEntry& first = draft_.entry(static_cast<size_t>(block.entries[0][n]));
            const DraftEntry& second = draft_.entry(static_cast<size_t>(block.entries[1][n]));
            for (size_t i = 0; i < second.results.size(); ++i)
                if (!module.names.contains(second.results[i]))
                    module.names[second.results[i]] = short_name(draft_.name_of(first.results[i]));
        }
    }

    // --- text ---

    // `leading` dims of the array are not the type's: those of a stack.
    std::string array_text(const std::string& name, const DraftType& type, DraftId array, size_t leading = 0) const {
        std::string text = fmt::format("{}: {{shape: {}", name, list_text(type.shape));
        if (const auto it = axes_.of_array.find(array); it != axes_.of_array.end()) {
            std::vector<std::string> dims;
            for (size_t d = 0; d < type.shape.size(); ++d) {
                const std::string& axis = it->second[d + leading];
                dims.push_back(axis.empty() ? fmt::format("{}", type.shape[d]) : axis);
            }
            text = fmt::format("{}: {{axes: [{}]", name, fmt::join(dims, ", "));
        }
        if (type.dtype != DType::f32) text += fmt::format(", dtype: {}", shard::name(type.dtype));
        return text + at_text({}, draft_[array].place) + "}\n";
    }

    std::string at_text(const std::string& line, const Span& place) const {
        if (!line.empty()) return fmt::format(", at: \"{}\"", line);
        return program_.empty() || !place.known()
                   ? ""
                   : fmt::format(", at: \"{}:{}:{}\"", program_, place.line, place.column);
    }

    void write_arrays() {
        std::set<DraftId> of_blocks;
        for (const DraftBlock& block : order_.blocks) {
            for (const std::vector<DraftId>& param : block.params) of_blocks.insert(param.begin(), param.end());
            for (const DraftBlock::Stack& stack : block.stacks) of_blocks.insert(stack.whole);
        }
        for (const bool params : {false, true}) {
            bool first = true;
            for (DraftId id = 0; id < draft_.value_count(); ++id) {
                const DraftValue& value = draft_[id];
                if (!value.is_input || value.is_left_out || value.is_param != params || of_blocks.contains(id))
                    continue;
                if (first) add(params ? "params:\n" : "inputs:\n");
                first = false;
                result_.values.push_back({value.name, value.type, value.place, line_});
                add("  " + array_text(value.name, value.type, id));
            }
        }
    }

    std::string operand_text(DraftId id, const LocalNames& names) const { return operand_text(draft_, id, names); }
    static std::string operand_text(const Draft& of, DraftId id, const LocalNames& names) {
        const LocalNames::const_iterator local = names.find(id);
        if (local != names.end()) return local->second;
        const DraftValue& value = of[id];
        return value.number ? number_text(value.type.dtype, *value.number) : value.name;
    }

    void write_entry(const DraftEntry& entry, const LocalNames& names, const std::string& indent,
                     const std::string& instance = {}) {
        write_entry(draft_, entry, names, indent, instance);
    }
    void write_entry(const Draft& of, const DraftEntry& entry, const LocalNames& names, const std::string& indent,
                     const std::string& instance) {
        std::vector<std::string> results, operands;
        for (const DraftId result : entry.results) {
            results.push_back(operand_text(of, result, names));
            result_.values.push_back({instance + results.back(), of.type(result), of[result].place, line_});
        }
        for (const DraftId operand : entry.operands) operands.push_back(operand_text(of, operand, names));
        std::string text = fmt::format("{}{{{}: ", entry_key(indent, results), entry.op);
        if (entry.region != nullptr) {
            write_region(entry, results, operands, indent, instance);
            return;
        }
        if (!entry.literal.empty()) {
            text += entry.literal;
            if (operands.size() == 1) text += ", in: " + operands[0];
            if (operands.size() > 1) text += fmt::format(", in: [{}]", fmt::join(operands, ", "));
        } else {
            text += operands.size() == 1 ? operands[0] : fmt::format("[{}]", fmt::join(operands, ", "));
        }
        text += entry.arguments;
        add(text + at_text(entry.line, of[entry.results[0]].place) + "}\n");
    }

    // - y:
    //     manual:
    //       in: {x: [data, ~]}
    //       out: {y: [data, ~]}
    //       body:
    //         - y: {tanh: x}
    void write_region(const DraftEntry& entry, const std::vector<std::string>& results,
                      const std::vector<std::string>& operands, const std::string& indent,
                      const std::string& instance) {
        DraftRegion& region = *entry.region;
        LocalNames names;
        Names local;
        std::vector<std::string> in, out;
        std::vector<DraftId> left;
        for (size_t i = 0; i < region.in.size(); ++i) {
            const DraftRegion::Border& border = region.in[i];
            const std::string name = names[border.value] = local.give(region.body.name_of(border.value));
            in.push_back(name == operands[i]
                             ? fmt::format("{}: {}", name, border.sharding)
                             : fmt::format("{}: {{of: {}, mesh: {}}}", name, operands[i], border.sharding));
        }
        for (const DraftRegion::Border& border : region.out) {
            left.push_back(border.value);
            const std::string name = names[border.value] = local.give(region.body.name_of(border.value));
            out.push_back(fmt::format("{}: {}", name, border.sharding));
        }
        const std::string inner = indent + "      ";
        std::string key = entry_key(indent, results);
        key.pop_back(); // its value stands below
        add(fmt::format("{}\n{}    manual:\n", key, indent));
        if (!region.is_all) add(fmt::format("{}mesh: [{}]\n", inner, fmt::join(region.axes, ", ")));
        add(fmt::format("{}in: {{{}}}\n{}out: {{{}}}\n", inner, fmt::join(in, ", "), inner, fmt::join(out, ", ")));
        if (!region.check) add(inner + "check: false\n");
        add(inner + "body:\n");
        const std::vector<bool> needed = region.body.needed_for(left);
        for (size_t i = 0; i < needed.size(); ++i) {
            if (!needed[i]) continue;
            for (const DraftId result : region.body.entry(i).results)
                if (!names.contains(result)) names[result] = local.give(region.body.name_of(result));
        }
        for (size_t i = 0; i < needed.size(); ++i)
            if (needed[i])
                write_entry(region.body, region.body.entry(i), names, inner + "  ", instance + results[0] + ".");
    }

    void write_module(const DraftBlock& block, Module& module) {
        std::vector<std::string> inputs, handed;
        for (const std::vector<DraftId>& values : block.handed) {
            inputs.push_back(module.names.at(values[0]));
            handed.push_back(module.names.at(values[1]));
        }
        for (const DraftBlock::Stacked& stacked : block.stacked) handed.push_back(module.names.at(stacked.made[1]));
        for (const DraftId value : block.shared) inputs.push_back(module.names.at(value));
        for (const DraftBlock::Over& over : block.over) inputs.push_back(module.names.at(over.read[1]));
        for (const DraftBlock::Numbers& own : block.numbers) inputs.push_back(module.names.at(own.read[0]));
        add(fmt::format("  {}:\n    inputs: [{}]\n", module.name, fmt::join(inputs, ", ")));
        if (!module.arrays.empty()) add("    params:\n");
        const std::string instance = module.instance + (block.is_loop() ? "." : ".1.");
        for (const DraftId id : module.arrays) {
            const bool is_entry = draft_[id].entry >= 0; // of a stack
            const auto stack = std::find_if(block.stacks.begin(), block.stacks.end(),
                                            [&](const DraftBlock::Stack& s) { return s.read[1] == id; });
            add("      " + array_text(module.names.at(id), draft_.type(id), is_entry ? stack->whole : id, is_entry));
        }
        add("    graph:\n");
        for (const int entry : block.constants)
            write_entry(draft_.entry(static_cast<size_t>(entry)), module.names, "      ", instance);
        std::set<DraftId> taken; // entries of stacks: a repetition is given its own
        for (const DraftBlock::Stack& stack : block.stacks) taken.insert({stack.slices[1], stack.read[1]});
        for (const DraftBlock::Over& over : block.over) taken.insert({over.slices[1], over.read[1]});
        for (const DraftBlock::Stacked& stacked : block.stacked) taken.insert({stacked.slices[1], stacked.after[1]});
        for (const int number : block.entries[1]) {
            const DraftEntry& entry = draft_.entry(static_cast<size_t>(number));
            if (taken.contains(entry.results[0])) continue;
            const auto other = block.rewritten.find(number);
            write_entry(other == block.rewritten.end() ? entry : other->second, module.names, "      ", instance);
        }
        add(fmt::format("    outputs: [{}]\n", fmt::join(handed, ", ")));
    }

    // What they are called: of each repetition one, the first of what a loop takes last is the last.
    std::string write_numbers(const DraftBlock& block, const DraftBlock::Numbers& own, const Module& module) {
        std::vector<std::string> numbers = own.numbers;
        if (block.is_reversed) std::reverse(numbers.begin(), numbers.end());
        const std::string name = names_.give(module.instance + "_numbers");
        const std::string type =
            own.dtype == DType::f32 ? std::string() : fmt::format(", dtype: {}", shard::name(own.dtype));
        i64 place = 0;
        if (is_integer(own.dtype) && std::all_of(numbers.begin(), numbers.end(), [&](const std::string& number) {
                return number == std::to_string(place++);
            }))
            add(fmt::format("  - {}: {{iota: [{}], dtype: {}}}\n", name, numbers.size(), shard::name(own.dtype)));
        else
            add(fmt::format("  - {}: {{constant: [{}], shape: [{}]{}}}\n", name, fmt::join(numbers, ", "),
                            numbers.size(), type));
        return name;
    }

    void write_repeat(const DraftBlock& block, const Module& module) {
        std::vector<std::string> results, operands;
        for (const std::vector<DraftId>& handed : block.handed) results.push_back(draft_.name_of(handed.back()));
        for (const DraftId value : block.begins) operands.push_back(operand_text(value, {}));
        for (const DraftId value : block.shared) operands.push_back(operand_text(value, {}));
        const auto list = [](const std::vector<std::string>& names) {
            return names.size() == 1 ? names[0] : fmt::format("[{}]", fmt::join(names, ", "));
        };
        // A loop over a part of the entries reads a slice, and what it makes is put where it belongs.
        std::vector<std::string> over, stacked, after;
        for (const DraftBlock::Over& of : block.over) {
            over.push_back(operand_text(of.whole, {}));
            if (draft_.type(of.whole).shape[0] == block.times()) continue;
            const std::string part = names_.give(over.back() + "_part");
            add(fmt::format("  - {}: {{slice: {}, dim: [0], start: [{}], limit: [{}]}}\n", part, over.back(),
                            block.lowest(of.first), block.lowest(of.first) + block.times()));
            over.back() = part;
        }
        for (const DraftBlock::Numbers& own : block.numbers) over.push_back(write_numbers(block, own, module));
        for (const DraftBlock::Stacked& of : block.stacked) {
            const std::string whole = draft_.name_of(of.after.back());
            stacked.push_back(module.names.at(of.made[1]));
            results.push_back(whole);
            if (draft_.type(of.before).shape[0] == block.times()) continue;
            results.back() = names_.give(whole + "_part");
            after.push_back(fmt::format("  - {}: {{dynamic_update_slice: [{}, {}, {}], dim: [0]}}\n", whole,
                                        operand_text(of.before, {}), results.back(), block.lowest(of.first)));
        }
        std::string text = fmt::format("{}{{repeat: {}", entry_key("  ", results), module.name);
        if (over.empty()) text += fmt::format(", times: {}", block.times());
        if (over.empty() || !operands.empty()) text += ", in: " + list(operands);
        if (!over.empty()) text += ", over: " + list(over);
        if (!stacked.empty()) text += ", stack: " + list(stacked);
        if (module.instance != module.name) text += fmt::format(", name: {}", module.instance);
        if (block.is_loop()) text += ", scan: true";
        if (block.is_reversed) text += ", reverse: true";
        add(text + "}\n");
        for (const std::string& line : after) add(line);
    }

    Draft& draft_;
    const DraftOrder& order_;
    const std::vector<DraftId>& outputs_;
    const DraftUpdates& updates_;
    const AxisNames& axes_;
    const std::string& program_;
    Names names_, module_names_;
    std::vector<Module> modules_;
    ModelText result_;
    int line_ = 2; // the next one
};

} // namespace

ModelText model_text(Draft& draft, const std::string& name, const DraftOrder& order,
                     const std::vector<DraftId>& outputs, const DraftUpdates& updates, const AxisNames& axes,
                     const std::string& program) {
    return Writer(draft, order, outputs, updates, axes, program).write(name);
}

} // namespace shard

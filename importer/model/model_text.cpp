#include "importer/model/model_text.h"

#include "importer/model/draft_region.h"
#include "importer/model/module_names.h"
#include "importer/model/scales.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace shard {

namespace {

// The parameters of all repetitions are one of the module's: a dim has the name that any of them has, the first's before
// all.
AxisNames shared_in_blocks(AxisNames axes, const DraftOrder& order) {
    for (const DraftBlock& block : order.blocks)
        for (const std::vector<DraftId>& param : block.params) {
            std::vector<std::string> names;
            for (const DraftId own : param) {
                const NamesByArray::const_iterator it = axes.of_array.find(own);
                if (it == axes.of_array.end()) continue;
                names.resize(it->second.size());
                for (size_t d = 0; d < names.size(); ++d)
                    if (names[d].empty() && std::find(names.begin(), names.end(), it->second[d]) == names.end())
                        names[d] = it->second[d];
            }
            if (!names.empty()) axes.of_array[param[1]] = std::move(names);
        }
    return axes;
}

class Writer {
public:
    Writer(Draft& draft, const DraftOrder& order, const std::vector<DraftId>& outputs, const DraftUpdates& updates,
           const AxisNames& axes, const std::string& program)
        : draft_(draft), order_(order), outputs_(outputs), updates_(updates), axes_(shared_in_blocks(axes, order)),
          program_(program), scales_(scales_of(draft)) {}

    ModelText write(const std::string& name) {
        give_names();
        result_.text = fmt::format("model: {}\n", name);
        std::vector<std::string> sizes;
        for (const auto& [axis, size] : axes_.axes) sizes.push_back(fmt::format("{}: {}", axis, size));
        if (!sizes.empty()) add(fmt::format("axes: {{{}}}\nsizes: fixed\n", fmt::join(sizes, ", ")));
        write_arrays();
        if (!order_.blocks.empty()) {
            add("modules:\n");
            for (size_t b = 0; b < order_.blocks.size(); ++b) write_module(order_.blocks[b], modules_[b]);
        }
        add("graph:\n");
        for (const int item : order_.items) {
            if (item >= 0) {
                write_entry(draft_.entry(static_cast<size_t>(item)), {}, "  ");
                continue;
            }
            const DraftBlock& block = order_.blocks[static_cast<size_t>(-item - 1)];
            const ModuleNames& module = modules_[static_cast<size_t>(-item - 1)];
            block.is_called() ? write_calls(block, module) : write_repeat(block, module);
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
        for (size_t b = 0; b < order_.blocks.size(); ++b)
            modules_.push_back(module_names(draft_, order_.blocks[b], module_names_, names_));
        for (const int item : order_.items) {
            if (item >= 0) {
                for (const DraftId result : draft_.entry(static_cast<size_t>(item)).results)
                    if (!named.contains(result)) give(result);
                continue;
            }
            const DraftBlock& block = order_.blocks[static_cast<size_t>(-item - 1)];
            for (const std::vector<DraftId>& made : block.returned)
                for (const DraftId result : made)
                    if (named.insert(result).second) give(result);
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

    // --- text ---

    // `leading` dims of the array are not the type's: those of a stack.
    std::string array_text(const std::string& name, const DraftType& type, DraftId array, bool is_scale,
                           size_t leading = 0) const {
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
        if (is_scale) text += ", init: ones";
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
                add("  " + array_text(value.name, value.type, id, params && scales_[static_cast<size_t>(id)]));
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
        NameGiver local;
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

    void write_module(const DraftBlock& block, ModuleNames& module) {
        std::vector<std::string> inputs, handed;
        for (const std::vector<DraftId>& given : block.given) inputs.push_back(module.names.at(given[1]));
        for (const std::vector<DraftId>& made : block.returned) handed.push_back(module.names.at(made[1]));
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
        const std::string instance =
            block.is_called() ? module.calls[1] + "." : module.instance + (block.is_loop() ? "." : ".1.");
        for (const DraftId id : module.arrays) {
            const bool is_entry = draft_[id].entry >= 0; // of a stack
            const auto stack = std::find_if(block.stacks.begin(), block.stacks.end(),
                                            [&](const DraftBlock::Stack& s) { return s.read[1] == id; });
            add("      " + array_text(module.names.at(id), draft_.type(id), is_entry ? stack->whole : id,
                                      scales_[static_cast<size_t>(id)], is_entry));
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
    std::string write_numbers(const DraftBlock& block, const DraftBlock::Numbers& own, const ModuleNames& module) {
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
        else if (const std::optional<NumberHalves> halves = halves_of(own.dtype, numbers))
            add(fmt::format("  - {}: {{bit_or: [{{shift_left: [{{constant: {}, shape: [{}]{}}}, 32]}}, {{constant: {}, "
                            "shape: [{}]{}}}]}}\n",
                            name, list_text(halves->high), numbers.size(), type, list_text(halves->low), numbers.size(),
                            type));
        else
            add(fmt::format("  - {}: {{constant: [{}], shape: [{}]{}}}\n", name, fmt::join(numbers, ", "),
                            numbers.size(), type));
        return name;
    }

    void write_calls(const DraftBlock& block, const ModuleNames& module) {
        for (size_t r = 0; r < block.entries.size(); ++r) {
            std::vector<std::string> results, operands;
            for (const std::vector<DraftId>& made : block.returned) results.push_back(draft_.name_of(made[r]));
            for (const std::vector<DraftId>& given : block.given) operands.push_back(operand_text(given[r], {}));
            for (const DraftId value : block.shared) operands.push_back(operand_text(value, {}));
            add(fmt::format("{}{{{}: [{}], name: {}}}\n", entry_key("  ", results), module.name,
                            fmt::join(operands, ", "), module.calls[r]));
        }
    }

    void write_repeat(const DraftBlock& block, const ModuleNames& module) {
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
    const AxisNames axes_;
    const std::string& program_;
    std::vector<bool> scales_; // by value
    NameGiver names_, module_names_;
    std::vector<ModuleNames> modules_;
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

#include "importer/model/model_text.h"

#include "importer/model/checkpointed.h"
#include "importer/model/draft_region.h"
#include "importer/model/module_names.h"
#include "importer/model/scales.h"
#include "importer/model/states.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
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
           const AxisNames& axes, const std::string& program, const std::set<std::string>& checkpointed)
        : main_(draft, order), outputs_(outputs), updates_(updates), axes_(shared_in_blocks(axes, order)),
          program_(program), checkpointed_(checkpointed), scales_(scales_of(draft)),
          states_(states_of(draft, outputs, updates)) {}

    ModelText write(const std::string& name) {
        std::vector<DraftId> named = outputs_;
        for (const auto& [input, value] : updates_) named.push_back(value);
        give_names(main_, named);
        add_regions();
        result_.text = fmt::format("model: {}\n", name);
        std::vector<std::string> sizes;
        for (const auto& [axis, size] : axes_.axes) sizes.push_back(fmt::format("{}: {}", axis, size));
        if (!sizes.empty()) add(fmt::format("axes: {{{}}}\nsizes: fixed\n", fmt::join(sizes, ", ")));
        write_arrays();
        if (!main_.modules.empty() ||
            std::any_of(regions_.begin(), regions_.end(), [](const auto& part) { return !part->modules.empty(); }))
            add("modules:\n");
        write_modules(main_);
        for (const std::unique_ptr<Part>& part : regions_) write_modules(*part);
        add("graph:\n");
        write_items(main_);
        std::vector<std::string> names;
        for (const DraftId output : outputs_) names.push_back(main_.draft.name_of(output));
        add(fmt::format("outputs: [{}]\n", fmt::join(names, ", ")));
        if (!updates_.empty()) add("updates:\n");
        for (const auto& [input, value] : updates_)
            add(fmt::format("  {}: {}\n", main_.draft.name_of(input), main_.draft.name_of(value)));
        return std::move(result_);
    }

private:
    using LocalNames = std::unordered_map<DraftId, std::string>;

    // The program, or the body of a manual region: values with names of their own.
    struct Part {
        Part(Draft& its, const DraftOrder& in) : draft(its), order(in) {}

        Draft& draft;
        const DraftOrder& order;
        NameGiver names;
        std::vector<ModuleNames> modules; // by block
        std::string instance = {};        // that names of its values begin with in the model: "y."
        std::string indent = "  ";        // of its entries
    };

    void add(const std::string& lines) {
        result_.text += lines;
        line_ += static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
    }

    // --- names ---

    // `left`: what leaves it.
    void give_names(Part& part, const std::vector<DraftId>& left) {
        Draft& draft = part.draft;
        std::set<DraftId> of_blocks, named(left.begin(), left.end());
        for (const DraftBlock& block : part.order.blocks) {
            for (const std::vector<DraftId>& param : block.params) of_blocks.insert(param.begin(), param.end());
            for (const DraftBlock::Stack& stack : block.stacks) of_blocks.insert(stack.whole);
        }
        // Inputs are called as the program calls them, then what leaves; the rest has what is left.
        const auto give = [&](DraftId value) { draft.rename(value, part.names.give(draft.name_of(value))); };
        for (DraftId value = 0; value < draft.value_count(); ++value)
            if (draft[value].is_input && !draft[value].is_left_out && !of_blocks.contains(value)) give(value);
        for (const DraftId value : named) give(value);
        for (const DraftBlock& block : part.order.blocks)
            part.modules.push_back(module_names(draft, block, module_names_, part.names));
        for (const int item : part.order.items) {
            if (item >= 0) {
                for (const DraftId result : draft.entry(static_cast<size_t>(item)).results)
                    if (!named.contains(result)) give(result);
                continue;
            }
            const DraftBlock& block = block_of(part, item);
            for (const std::vector<DraftId>& made : block.returned)
                for (const DraftId result : made)
                    if (named.insert(result).second) give(result);
            for (size_t c = 0; c < block.begins.size(); ++c) {
                const DraftId end = block.handed[c].back();
                if (!named.insert(end).second) continue;
                draft.rename(end, module_of(part, item).names.at(block.handed[c][1]));
                give(end);
            }
            for (const DraftBlock::Stacked& stacked : block.stacked) {
                const DraftId end = stacked.after.back();
                if (!named.insert(end).second) continue;
                draft.rename(end, module_of(part, item).names.at(stacked.made[1]) + "_all");
                give(end);
            }
        }
    }

    static const DraftBlock& block_of(const Part& part, int item) {
        return part.order.blocks[static_cast<size_t>(-item - 1)];
    }
    static const ModuleNames& module_of(const Part& part, int item) {
        return part.modules[static_cast<size_t>(-item - 1)];
    }
    // That names of a module's values begin with, in the second repetition.
    static std::string instance_of(const Part& part, const DraftBlock& block, const ModuleNames& module) {
        return part.instance +
               (block.is_called() ? module.calls[1] + "." : module.instance + (block.is_loop() ? "." : ".1."));
    }

    // Those that are written: of a block's the second repetition's.
    void add_regions() {
        for (const int item : main_.order.items)
            if (item >= 0) add_region(main_.draft.entry(static_cast<size_t>(item)), {}, {});
        for (size_t b = 0; b < main_.modules.size(); ++b) {
            const DraftBlock& block = main_.order.blocks[b];
            for (const std::vector<int>* const entries : {&block.constants, &block.entries[1]})
                for (const int entry : *entries)
                    add_region(main_.draft.entry(static_cast<size_t>(entry)), main_.modules[b].names,
                               instance_of(main_, block, main_.modules[b]));
        }
    }

    void add_region(const DraftEntry& entry, const LocalNames& names, const std::string& instance) {
        if (entry.region == nullptr || part_of_.contains(entry.region.get())) return;
        DraftRegion& region = *entry.region;
        std::vector<DraftId> left;
        for (const DraftRegion::Border& border : region.out) left.push_back(border.value);
        part_of_.emplace(&region, regions_.size());
        Part& part = *regions_.emplace_back(std::make_unique<Part>(region.body, region.order));
        part.instance = instance + operand_text(main_.draft, entry.results[0], names) + ".";
        give_names(part, left);
    }

    // --- text ---

    std::string_view init_of(DraftId array, bool is_param) const {
        if (states_[static_cast<size_t>(array)]) return ", init: zeros";
        return is_param && scales_[static_cast<size_t>(array)] ? ", init: ones" : "";
    }

    // `leading` dims of the array are not the type's: those of a stack.
    std::string array_text(const std::string& name, const DraftType& type, DraftId array, std::string_view init,
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
        text += init;
        return text + at_text({}, main_.draft[array].place) + "}\n";
    }

    std::string at_text(const std::string& line, const Span& place) const {
        if (!line.empty()) return fmt::format(", at: \"{}\"", line);
        return program_.empty() || !place.known()
                   ? ""
                   : fmt::format(", at: \"{}:{}:{}\"", program_, place.line, place.column);
    }

    void write_arrays() {
        std::set<DraftId> of_blocks;
        const Draft& draft = main_.draft;
        for (const DraftBlock& block : main_.order.blocks) {
            for (const std::vector<DraftId>& param : block.params) of_blocks.insert(param.begin(), param.end());
            for (const DraftBlock::Stack& stack : block.stacks) of_blocks.insert(stack.whole);
        }
        for (const bool params : {false, true}) {
            bool first = true;
            for (DraftId id = 0; id < draft.value_count(); ++id) {
                const DraftValue& value = draft[id];
                if (!value.is_input || value.is_left_out || value.is_param != params || of_blocks.contains(id))
                    continue;
                if (first) add(params ? "params:\n" : "inputs:\n");
                first = false;
                result_.values.push_back({value.name, value.type, value.place, line_});
                add("  " + array_text(value.name, value.type, id, init_of(id, params)));
            }
        }
    }

    static std::string operand_text(const Draft& of, DraftId id, const LocalNames& names) {
        const LocalNames::const_iterator local = names.find(id);
        if (local != names.end()) return local->second;
        const DraftValue& value = of[id];
        return value.number ? number_text(value.type.dtype, *value.number) : value.name;
    }

    void write_modules(Part& part) {
        for (size_t b = 0; b < part.modules.size(); ++b) write_module(part, part.order.blocks[b], part.modules[b]);
    }

    void write_items(Part& part) {
        for (const int item : part.order.items) {
            if (item >= 0) {
                write_entry(part.draft, part.draft.entry(static_cast<size_t>(item)), {}, part.indent, part.instance);
                continue;
            }
            const DraftBlock& block = block_of(part, item);
            block.is_called() ? write_calls(part, block, module_of(part, item))
                              : write_repeat(part, block, module_of(part, item));
        }
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
            write_region(*entry.region, results, operands, indent, instance);
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
    void write_region(const DraftRegion& region, const std::vector<std::string>& results,
                      const std::vector<std::string>& operands, const std::string& indent,
                      const std::string& instance) {
        Part& part = *regions_.at(part_of_.at(&region));
        std::vector<std::string> in, out;
        for (size_t i = 0; i < region.in.size(); ++i) {
            const DraftRegion::Border& border = region.in[i];
            const std::string& name = part.draft.name_of(border.value);
            in.push_back(name == operands[i]
                             ? fmt::format("{}: {}", name, border.sharding)
                             : fmt::format("{}: {{of: {}, mesh: {}}}", name, operands[i], border.sharding));
        }
        for (const DraftRegion::Border& border : region.out)
            out.push_back(fmt::format("{}: {}", part.draft.name_of(border.value), border.sharding));
        const std::string inner = indent + "      ";
        std::string key = entry_key(indent, results);
        key.pop_back(); // its value stands below
        add(fmt::format("{}\n{}    manual:\n", key, indent));
        if (!region.is_all) add(fmt::format("{}mesh: [{}]\n", inner, fmt::join(region.axes, ", ")));
        add(fmt::format("{}in: {{{}}}\n{}out: {{{}}}\n", inner, fmt::join(in, ", "), inner, fmt::join(out, ", ")));
        if (!region.check) add(inner + "check: false\n");
        add(inner + "body:\n");
        part.indent = inner + "  ";
        part.instance = instance + results[0] + ".";
        write_items(part);
    }

    void write_module(Part& part, const DraftBlock& block, ModuleNames& module) {
        const Draft& draft = part.draft;
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
        const std::string instance = instance_of(part, block, module);
        for (const DraftId id : module.arrays) {        // of the program's: a region has none
            const bool is_entry = draft[id].entry >= 0; // of a stack
            const auto stack = std::find_if(block.stacks.begin(), block.stacks.end(),
                                            [&](const DraftBlock::Stack& s) { return s.read[1] == id; });
            add("      " + array_text(module.names.at(id), draft.type(id), is_entry ? stack->whole : id,
                                      init_of(id, true), is_entry));
        }
        add("    graph:\n");
        for (const int entry : block.constants)
            write_entry(draft, draft.entry(static_cast<size_t>(entry)), module.names, "      ", instance);
        std::set<DraftId> taken; // entries of stacks: a repetition is given its own
        for (const DraftBlock::Stack& stack : block.stacks) taken.insert({stack.slices[1], stack.read[1]});
        for (const DraftBlock::Over& over : block.over) taken.insert({over.slices[1], over.read[1]});
        for (const DraftBlock::Stacked& stacked : block.stacked) taken.insert({stacked.slices[1], stacked.after[1]});
        for (const int number : block.entries[1]) {
            const DraftEntry& entry = draft.entry(static_cast<size_t>(number));
            if (taken.contains(entry.results[0])) continue;
            const auto other = block.rewritten.find(number);
            write_entry(draft, other == block.rewritten.end() ? entry : other->second, module.names, "      ",
                        instance);
        }
        add(fmt::format("    outputs: [{}]\n", fmt::join(handed, ", ")));
        if (&part == &main_ && is_checkpointed(draft, block, checkpointed_))
            add("    remat: full # as jax.checkpoint without a policy: the program's text has none\n");
    }

    // What they are called: of each repetition one, the first of what a loop takes last is the last.
    std::string write_numbers(Part& part, const DraftBlock& block, const DraftBlock::Numbers& own,
                              const ModuleNames& module) {
        std::vector<std::string> numbers = own.numbers;
        if (block.is_reversed) std::reverse(numbers.begin(), numbers.end());
        const std::string name = part.names.give(module.instance + "_numbers");
        const std::string type =
            own.dtype == DType::f32 ? std::string() : fmt::format(", dtype: {}", shard::name(own.dtype));
        i64 place = 0;
        if (is_integer(own.dtype) && std::all_of(numbers.begin(), numbers.end(), [&](const std::string& number) {
                return number == std::to_string(place++);
            }))
            add(fmt::format("{}- {}: {{iota: [{}], dtype: {}}}\n", part.indent, name, numbers.size(),
                            shard::name(own.dtype)));
        else if (const std::optional<NumberHalves> halves = halves_of(own.dtype, numbers))
            add(fmt::format("{}- {}: {{bit_or: [{{shift_left: [{{constant: {}, shape: [{}]{}}}, 32]}}, {{constant: {}, "
                            "shape: [{}]{}}}]}}\n",
                            part.indent, name, list_text(halves->high), numbers.size(), type, list_text(halves->low),
                            numbers.size(), type));
        else
            add(fmt::format("{}- {}: {{constant: [{}], shape: [{}]{}}}\n", part.indent, name, fmt::join(numbers, ", "),
                            numbers.size(), type));
        return name;
    }

    void write_calls(const Part& part, const DraftBlock& block, const ModuleNames& module) {
        for (size_t r = 0; r < block.entries.size(); ++r) {
            std::vector<std::string> results, operands;
            for (const std::vector<DraftId>& made : block.returned) results.push_back(part.draft.name_of(made[r]));
            for (const std::vector<DraftId>& given : block.given)
                operands.push_back(operand_text(part.draft, given[r], {}));
            for (const DraftId value : block.shared) operands.push_back(operand_text(part.draft, value, {}));
            add(fmt::format("{}{{{}: [{}], name: {}}}\n", entry_key(part.indent, results), module.name,
                            fmt::join(operands, ", "), module.calls[r]));
        }
    }

    void write_repeat(Part& part, const DraftBlock& block, const ModuleNames& module) {
        std::vector<std::string> results, operands;
        for (const std::vector<DraftId>& handed : block.handed) results.push_back(part.draft.name_of(handed.back()));
        for (const DraftId value : block.begins) operands.push_back(operand_text(part.draft, value, {}));
        for (const DraftId value : block.shared) operands.push_back(operand_text(part.draft, value, {}));
        const auto list = [](const std::vector<std::string>& names) {
            return names.size() == 1 ? names[0] : fmt::format("[{}]", fmt::join(names, ", "));
        };
        // A loop over a part of the entries reads a slice, and what it makes is put where it belongs.
        std::vector<std::string> over, stacked, after;
        for (const DraftBlock::Over& of : block.over) {
            over.push_back(operand_text(part.draft, of.whole, {}));
            if (part.draft.type(of.whole).shape[0] == block.times()) continue;
            const std::string cut = part.names.give(over.back() + "_part");
            add(fmt::format("{}- {}: {{slice: {}, dim: [0], start: [{}], limit: [{}]}}\n", part.indent, cut,
                            over.back(), block.lowest(of.first), block.lowest(of.first) + block.times()));
            over.back() = cut;
        }
        for (const DraftBlock::Numbers& own : block.numbers) over.push_back(write_numbers(part, block, own, module));
        for (const DraftBlock::Stacked& of : block.stacked) {
            const std::string whole = part.draft.name_of(of.after.back());
            stacked.push_back(module.names.at(of.made[1]));
            results.push_back(whole);
            if (part.draft.type(of.before).shape[0] == block.times()) continue;
            results.back() = part.names.give(whole + "_part");
            after.push_back(fmt::format("{}- {}: {{dynamic_update_slice: [{}, {}, {}], dim: [0]}}\n", part.indent,
                                        whole, operand_text(part.draft, of.before, {}), results.back(),
                                        block.lowest(of.first)));
        }
        std::string text = fmt::format("{}{{repeat: {}", entry_key(part.indent, results), module.name);
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

    Part main_;
    std::vector<std::unique_ptr<Part>> regions_; // those that are written, in their order
    std::unordered_map<const DraftRegion*, size_t> part_of_;
    const std::vector<DraftId>& outputs_;
    const DraftUpdates& updates_;
    const AxisNames axes_;
    const std::string& program_;
    const std::set<std::string>& checkpointed_;
    std::vector<bool> scales_, states_; // by value of the program
    NameGiver module_names_;
    ModelText result_;
    int line_ = 2; // the next one
};

} // namespace

ModelText model_text(Draft& draft, const std::string& name, const DraftOrder& order,
                     const std::vector<DraftId>& outputs, const DraftUpdates& updates, const AxisNames& axes,
                     const std::string& program, const std::set<std::string>& checkpointed) {
    return Writer(draft, order, outputs, updates, axes, program, checkpointed).write(name);
}

} // namespace shard

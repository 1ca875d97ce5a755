#include "planner/read/entry_reader.h"

#include "planner/graph/op_def.h"
#include "planner/graph/op_names.h"
#include "planner/model/names.h"
#include "planner/read/entry_form.h"
#include "planner/read/places.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr std::string_view entry_help = "write `- name: {op: [operands], argument: value}`";

bool has_attribute(std::string_view op, std::string_view name) {
    const auto is_name = [name](const AttributeDef& def) { return def.name == name; };
    if (const OpDef* def = find_op(op)) return std::any_of(def->attributes.begin(), def->attributes.end(), is_name);
    if (const CompositeDef* def = find_composite(op))
        return std::any_of(def->attributes.begin(), def->attributes.end(), is_name);
    return false;
}

// Of an op outside of manual regions: all_to_all's `split` and `concat` are ops elsewhere.
bool is_argument_of_any(std::string_view name) {
    return std::any_of(all_ops().begin(), all_ops().end(),
                       [name](const OpDef* def) { return !def->device && has_attribute(def->name, name); }) ||
           std::any_of(all_composites().begin(), all_composites().end(),
                       [name](const CompositeDef* def) { return has_attribute(def->name, name); });
}

// No form and no module.
bool is_primitive(std::string_view op) {
    const OpDef* const def = find_op(op);
    return def != nullptr || find_composite(op) != nullptr;
}

const YamlEntry* find_entry(const YamlMap& map, std::string_view key) {
    for (const YamlEntry& entry : map)
        if (entry.key == key) return &entry;
    return nullptr;
}

// The argument that is written as the op's own value; "" where operands are.
std::string_view own_argument(std::string_view op) {
    if (const FormDef* form = find_form(op)) return form->name;
    const OpDef* def = find_op(op);
    return def == nullptr ? std::string_view() : def->subject;
}

// Operands may be numbers, {mul: [x, 0.5]}, and a constant true or false.
bool is_number(const Yaml& yaml) { return yaml.kind() == "a number"; }

class EntryReader {
public:
    // What stands as an operand of an entry, {relu: {dot: [x, w]}}, is an entry of its own before it. Without
    // `entries` it is refused.
    EntryReader(const EntryContext& context, std::vector<Entry>* entries, Diagnostics& diagnostics)
        : context_(&context), entries_(entries), diagnostics_(&diagnostics) {}

    std::optional<Entry> read(const Yaml& yaml) {
        const YamlMap* outer = yaml.map();
        if (outer == nullptr || outer->size() != 1) {
            diagnostics_->error("E0212", yaml.span, "a graph entry is a map of one entry")
                .help(std::string(entry_help));
            return std::nullopt;
        }
        return read_named(outer->front());
    }

    std::optional<Entry> read_named(const YamlEntry& named) {
        Entry entry;
        entry.span = named.key_span;
        const bool good = read_results(named, entry);
        if (named.value.map() == nullptr) {
            diagnostics_
                ->error("E0212", named.value.span,
                        fmt::format("'{}': expected an op with its operands, found {}", named.key, named.value.kind()))
                .help(std::string(entry_help));
            return std::nullopt;
        }
        const YamlEntry* op = find_operation(named.key, named.value);
        if (op == nullptr || !read_body(named.value, *op, entry) || !good) return std::nullopt;
        return entry;
    }

private:
    bool read_body(const Yaml& body, const YamlEntry& op, Entry& entry) {
        entry.op = {op.key, op.key_span};
        if (!read_operands(body, op, entry)) return false;
        const FormDef* form = find_form(op.key);
        if (form != nullptr && !form->read({body, op, *context_, *diagnostics_})) return false;
        const ModuleHead* module = called_module(*context_, op);
        return module == nullptr || bind(*module, op, entry);
    }

    // What is called is the module with the arguments of the call.
    bool bind(const ModuleHead& module, const YamlEntry& op, Entry& entry) {
        std::optional<BoundModule> bound = bind_arguments(module, entry.op, entry.arguments, *diagnostics_);
        if (!bound) return false;
        if (find_form(op.key) == nullptr) entry.op.text = bound->name;
        for (YamlEntry& argument : entry.arguments) // that of the form's name
            if (argument.key == op.key) argument.value.value = YamlScalar{bound->name};
        if (context_->calls != nullptr) context_->calls->push_back(std::move(*bound));
        return true;
    }

    bool takes(const YamlEntry& op, std::string_view argument) const {
        const ModuleHead* module = called_module(*context_, op);
        return has_attribute(op.key, argument) || (module != nullptr && find_entry(module->args, argument) != nullptr);
    }

    // {dot: [x, w]} as an operand of h: the entry `h.dot`, before it; a second one is `h.dot_2`.
    bool read_nested(const Yaml& body, Entry& outer) {
        const std::string& label = outer.results.front().text;
        const YamlEntry* op = find_operation(label, body);
        if (op == nullptr) return false;
        std::string name = fmt::format("{}.{}", label, op->key);
        const auto is_alike = [&name](const Name& other) {
            return other.text == name || other.text.starts_with(name + "_");
        };
        if (const i64 alike = std::count_if(outer.operands.begin(), outer.operands.end(), is_alike); alike > 0)
            name += fmt::format("_{}", alike + 1);
        Entry entry;
        entry.span = op->key_span;
        entry.results = {{name, op->key_span}};
        if (!read_body(body, *op, entry)) return false;
        outer.operands.push_back({std::move(name), body.span});
        entries_->push_back(std::move(entry));
        return true;
    }

    // "q, k, v" names three results.
    bool read_results(const YamlEntry& named, Entry& entry) {
        bool good = true;
        const std::string& text = named.key;
        for (size_t start = 0; start <= text.size();) {
            const size_t comma = std::min(text.find(',', start), text.size());
            size_t first = start;
            size_t last = comma;
            while (first < last && text[first] == ' ') ++first;
            while (last > first && text[last - 1] == ' ') --last;
            Span span = named.key_span;
            if (static_cast<size_t>(span.length) == text.size()) {
                span.column += static_cast<int>(first);
                span.length = std::max(static_cast<int>(last - first), 1);
            }
            const std::string name = text.substr(first, last - first);
            good = check_name(name, span, "a result", *diagnostics_) && good;
            entry.results.push_back({name, span});
            start = comma + 1;
        }
        return good;
    }

    bool is_operation(std::string_view name) const {
        return is_op_name(name) || context_->find_module(name) != nullptr;
    }

    std::vector<std::string_view> operations() const {
        std::vector<std::string_view> names;
        for (const OpDef* def : all_ops()) names.push_back(def->name);
        for (const CompositeDef* def : all_composites()) names.push_back(def->name);
        for (const ModuleHead& module : context_->modules) names.push_back(module.name.text);
        for (const FormDef* def : all_forms()) names.push_back(def->name);
        return names;
    }

    // The one key that is an op. An argument may share its name with an op (clamp has min and max): a key that is an
    // argument of another op in the entry does not count.
    const YamlEntry* find_operation(std::string_view name, const Yaml& body) {
        const YamlMap& map = *body.map();
        std::vector<const YamlEntry*> found;
        for (const YamlEntry& key : map)
            if (is_operation(key.key)) found.push_back(&key);
        const auto is_argument = [&](const YamlEntry* key) {
            return std::any_of(found.begin(), found.end(), [&](const YamlEntry* other) {
                return other != key && takes(*other, key->key) && !takes(*key, other->key);
            });
        };
        std::vector<const YamlEntry*> ops;
        for (const YamlEntry* key : found)
            if (!is_argument(key)) ops.push_back(key);
        if (ops.size() == 1) return ops.front();
        if (ops.size() > 1) {
            diagnostics_
                ->error("E0212", ops[1]->key_span,
                        fmt::format("'{}' has two ops, '{}' and '{}'", name, ops[0]->key, ops[1]->key))
                .label(ops[0]->key_span, "the other one")
                .help("write one entry per op");
            return nullptr;
        }
        report_unknown(name, body);
        return nullptr;
    }

    void report_unknown(std::string_view name, const Yaml& body) {
        // The first key that is no argument of any op, as `dim` is, or the one that is nearest to an op; `in` holds
        // operands.
        const std::vector<std::string_view> names = operations();
        const YamlEntry* wrong = nullptr;
        for (const bool arguments : {false, true}) {
            for (const YamlEntry& key : *body.map()) {
                if (key.key == "in" || is_argument_of_any(key.key) != arguments) continue;
                const bool near = !nearest(key.key, names).empty();
                if (wrong == nullptr || near) wrong = &key;
                if (near) break;
            }
            if (wrong != nullptr) break;
        }
        if (wrong == nullptr) {
            diagnostics_->error("E0212", body.span, fmt::format("'{}' has no op", name)).help(std::string(entry_help));
            return;
        }
        diagnostics_->error("E0203", wrong->key_span, fmt::format("unknown op '{}'", wrong->key))
            .help(unknown_op_help(wrong->key, names));
    }

    bool read_operands(const Yaml& yaml, const YamlEntry& op, Entry& entry) {
        if (const FormDef* form = find_form(op.key); form != nullptr && form->value == FormDef::Value::everything) {
            entry.arguments.push_back(op);
            return true;
        }
        const Yaml* in = yaml.find("in");
        for (const YamlEntry& key : *yaml.map())
            if (key.key == "at" && is_primitive(op.key))
                entry.at = read_place(key.value, context_->sources, *diagnostics_);
            else if (&key != &op && key.key != "in")
                entry.arguments.push_back(key);
        // What stands as the op's own value: an argument, if the op says which or says itself what it reads; else the
        // operands, and then there is no `in`.
        const std::string_view argument = own_argument(op.key);
        const bool own_operands = argument.empty() && (in == nullptr || !op.value.is_null());
        if (in != nullptr && own_operands) return operands_twice(op, *yaml.map());
        if (!argument.empty() && !op.value.is_null()) {
            if (const YamlEntry* again = find_entry(*yaml.map(), argument); again != nullptr && again != &op)
                return argument_twice(op, *again);
            entry.arguments.insert(entry.arguments.begin(), {std::string(argument), op.key_span, op.value});
        }
        const Yaml nothing;
        const Yaml& operands = own_operands ? op.value : in != nullptr ? *in : nothing;
        if (operands.is_null()) return true;
        bool good = true;
        const auto read_one = [&](const Yaml& item) {
            if (item.map() != nullptr) {
                good = read_map(op, item, entry) && good;
                return;
            }
            if (item.kind() == "true or false") {
                entry.operands.push_back({item.scalar()->text, item.span});
                return;
            }
            if (is_number(item)) {
                good = read_element(item, "an operand", *diagnostics_).has_value() && good;
                entry.operands.push_back({item.scalar()->text, item.span});
                return;
            }
            const std::optional<std::vector<Name>> name =
                item.list() != nullptr ? std::nullopt : read_value_names(item, "an operand", *diagnostics_);
            if (item.list() != nullptr)
                diagnostics_->error("E0113", item.span, "an operand: expected a name, found a list")
                    .help("write one list of names: [x, w]");
            good = good && name;
            if (name) entry.operands.push_back(name->front());
        };
        if (operands.list() == nullptr)
            read_one(operands);
        else
            for (const Yaml& item : *operands.list()) read_one(item);
        return good;
    }

    // A map where an operand stands: an op with its own arguments, or the outer one's in the wrong place.
    bool read_map(const YamlEntry& op, const Yaml& map, Entry& entry) {
        const YamlMap& keys = *map.map();
        const auto inner =
            std::find_if(keys.begin(), keys.end(), [&](const YamlEntry& key) { return is_operation(key.key); });
        const bool arguments = std::any_of(keys.begin(), keys.end(), [&](const YamlEntry& key) {
            return !is_operation(key.key) && takes(op, key.key) && (inner == keys.end() || !takes(*inner, key.key));
        });
        if (entries_ != nullptr && !arguments) return read_nested(map, entry);
        diagnostics_->error("E0212", map.span, fmt::format("operands of '{}': expected names, found a map", op.key))
            .help(arguments ? "write arguments beside the op: {op: [operands], argument: value}"
                            : "make it an entry of the graph, and give its name here");
        return false;
    }

    bool operands_twice(const YamlEntry& op, const YamlMap& map) {
        diagnostics_
            ->error("E0226", find_entry(map, "in")->key_span,
                    fmt::format("the operands of '{}' are given twice", op.key))
            .label(op.value.span, "first given here")
            .help(fmt::format("write them all in one list, `{}: [...]`", op.key));
        return false;
    }

    bool argument_twice(const YamlEntry& op, const YamlEntry& again) {
        diagnostics_->error("E0226", again.key_span, fmt::format("`{}` of '{}' is given twice", again.key, op.key))
            .label(op.value.span, "first given here")
            .help(op.value.list() != nullptr && again.value.scalar() != nullptr
                      ? fmt::format("write {{{}: \"{}\", in: [operands]}}", op.key, again.value.scalar()->text)
                      : fmt::format("what stands behind `{}:` is its `{}`: write one of them", op.key, again.key));
        return false;
    }

    const EntryContext* context_;
    std::vector<Entry>* entries_;
    Diagnostics* diagnostics_;
};

} // namespace

bool is_op_name(std::string_view name) {
    const OpDef* op = find_op(name);
    return find_form(name) != nullptr || (op != nullptr && !op->internal) || find_composite(name) != nullptr;
}

std::optional<Entry> read_entry(const YamlEntry& named, const EntryContext& context, Diagnostics& diagnostics) {
    return EntryReader(context, nullptr, diagnostics).read_named(named);
}

bool read_graph(const Yaml& yaml, const EntryContext& context, std::vector<Entry>& entries, Diagnostics& diagnostics) {
    const YamlList* list = yaml.list();
    if (list == nullptr) {
        DiagnosticBuilder error = diagnostics.error(
            "E0113", yaml.span, fmt::format("graph: expected a list of entries, found {}", yaml.kind()));
        error.help(std::string(entry_help));
        return false;
    }
    EntryReader reader(context, &entries, diagnostics);
    bool good = true;
    for (const Yaml& item : *list) {
        std::optional<Entry> entry = reader.read(item);
        good = good && entry;
        if (entry) entries.push_back(std::move(*entry));
    }
    return good;
}

} // namespace shard

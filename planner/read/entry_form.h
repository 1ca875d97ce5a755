// Entries of a graph that are no ops: `repeat`, `value_and_grad`, `manual`. One file per form,
// planner/forms/<name>.cpp, defines `const FormDef& form_<name>()`: what may stand in the entry, and what build makes
// of it; its name is its registration. The reader and build ask this table.
//
//     - h: {repeat: block, times: 4, in: x}      the form `repeat`, whose value is the module that it calls
//     - y: {manual: {in: ..., body: [...]}}      the form `manual`, whose value is all that it reads
#pragma once

#include "planner/graph/op_def.h"
#include "planner/read/entry_context.h"

namespace shard {

class ModelBuilder; // planner/build/model_builder.h
class Scope;
using ModulePath = std::vector<std::string>; // modules around an entry, outer first: see attach_initializers

// An entry as written.
struct FormUse {
    const Yaml& yaml;     // its map
    const YamlEntry& key; // in it, that of the form's name
    const EntryContext& context;
    Diagnostics& diagnostics;
};

struct FormDef {
    std::string_view name;
    // What stands behind the name. With a module, other keys of the entry are arguments, and operands stand under `in`.
    enum class Value { module, everything } value = Value::module;
    // False after reporting what may not stand there.
    bool (*read)(const FormUse&) = nullptr;
    // The entry's results; nullopt after reporting.
    BuiltValues (*build)(ModelBuilder&, Scope&, const Entry&, const ModulePath&) = nullptr;
};

const std::vector<const FormDef*>& all_forms();  // sorted by name
const FormDef* find_form(std::string_view name); // nullptr: no form

// E0116 for each of `required` that is missing. `what` is the entry with its article, "a repeat"; `help` how it is
// written.
bool check_required(const FormUse& use, std::initializer_list<std::string_view> required, std::string_view what,
                    std::string_view help);
// E0225 for keys that are none of `known`, and no arguments of the module that the form calls.
bool check_form_keys(const FormUse& use, std::vector<std::string_view> known, std::string_view what);
// The module that an operation calls, by its name or as the value of a form; nullptr if it calls none.
const ModuleHead* called_module(const EntryContext& context, const YamlEntry& operation);
// Whether the form's value is the name of a module; nullopt if it is not even a name. Reports what it is instead.
std::optional<bool> check_module(const FormUse& use);

} // namespace shard

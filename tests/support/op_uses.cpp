#include "tests/support/op_uses.h"

#include "planner/pipeline/pipeline.h"
#include "planner/read/entry_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

struct Declared {
    const char* name;
    const char* declaration;
    const char* entering; // its sharding where it enters a manual region
};

// The likeliest operands first.
constexpr Declared declared[] = {
    {"x", "{axes: [a, b]}", "[i, j]"},
    {"y", "{axes: [a, b]}", "[i, j]"},
    {"w", "{axes: [b, c]}", "[~, j]"},
    {"v", "{axes: [b]}", "[j]"},
    {"s", "{shape: []}", "~"},
    {"n", "{shape: [], dtype: i32}", "~"},
    {"t", "{axes: [a], dtype: i32, init: {randint: {low: 0, high: 4}}}", "[i]"},
    {"p", "{axes: [a, b], dtype: bool}", "[i, j]"},
    {"q", "{shape: [2, 4, 2, 4]}", "[i]"},
    {"e", "{shape: [2, 4, 2]}", "[i]"},
    {"k", "{shape: [2], dtype: u32}", "~"},
    {"m", "{axes: [a, b], dtype: i64}", "~"},
    {"h", "{axes: [a, b], dtype: bf16}", "[~, j]"},
    {"d", "{axes: [a, b], dtype: f64}", "[i]"},
    {"o", "{shape: [1, 1]}", "~"},
    {"r", "{shape: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}", "~"},
    {"u", "{axes: [huge]}", "[i]"},
    {"l", "{axes: [huge, huge]}", "[i, j]"},
    {"g", "{shape: [4, 8, 2]}", "[~, ~]"},
    {"bias", "{shape: [2, 2, 4, 4]}", "[i]"},
};

// Rows, a matrix for each group of them, and how many rows a group has: what nobody draws by chance.
constexpr const char* of_groups[] = {"x", "g", "t"};

// Queries, a number for each head of each, and one for each pair of a query and a key.
constexpr const char* of_queries[] = {"q", "e", "bias"};
constexpr const char* of_gradient[] = {"q", "q", "q", "q", "e", "e", "bias"};

Yaml scalar(const std::string& text) { return {{}, YamlScalar{text, false}}; }

template<typename Def>
Operation operation_of(const Def& def) {
    return {std::string(def.name), def.operands, def.attributes, ""};
}

// Values that an argument of the type often has.
std::vector<std::string> usual(AttributeDef::Type type) {
    using Type = AttributeDef::Type;
    switch (type) {
    case Type::integer:
        return {"0", "1", "2"};
    case Type::number:
    case Type::element:
        return {"0.5", "1"};
    case Type::flag:
        return {"true", "false"};
    case Type::string:
        return {"\"ab,bc->ac\"",       "\"ab,ab->a\"", "\"ab->ba\"", "partitionable", "legacy", "i",
                "\"nhwi,hiwo->nhwo\"", "same"};
    case Type::dtype:
        return {"f32", "i32", "bf16"};
    case Type::integers:
        return {"1", "[1, 1]", "[0, 1]", "[0, 0]", "[2, 4]", "2"};
    case Type::pairs:
        return {"[[0, 1], [1, 0]]", "[[0, 1]]"};
    case Type::elements:
        return {"0.5", "[1, 2, 3]"};
    case Type::size:
        return {"b", "4", "1"};
    case Type::dims:
        return {"0", "[0]", "[0, 1]", "[1, 0]", "-1"};
    case Type::dim:
        return {"0", "-1"};
    case Type::shape:
        return {"[a, b]", "[8, 4]", "[32]", "[4, 8]", "[2, 2, 8]"};
    case Type::axes:
        return {"[a, b]", "[a, ~]"};
    case Type::sharding:
        return {"[i, ~]", "[j, i]"};
    case Type::mesh_axes:
        return {"i", "[i, j]", "[j]"};
    }
    internal_error("an attribute without usual values");
}

OpUse random_use(const Operation& operation, bool in_groups, Tape& tape) {
    OpUse use;
    YamlMap map;
    YamlList operands;
    const int most = operation.operands.max < 0 ? operation.operands.min + 2 : operation.operands.max;
    const size_t more = tape.choose(static_cast<size_t>(most - operation.operands.min) + 1),
                 count = static_cast<size_t>(operation.operands.min) + (tape.chance(2) ? more : more % 3);
    const bool attends = tape.chance(4), in_order = tape.chance(2);
    for (size_t n = 0; n < count; ++n) {
        if (in_groups) {
            operands.push_back(scalar(of_groups[std::min<size_t>(n, 2)]));
            continue;
        }
        if (attends) { // queries, keys, values and what is given of the result
            operands.push_back(scalar(in_order ? of_gradient[std::min(n, std::size(of_gradient) - 1)]
                                               : of_queries[n < 3 ? 0 : tape.choose(std::size(of_queries))]));
            continue;
        }
        if (n > 0 && tape.chance(2)) {
            operands.push_back(operands.back());
            continue;
        }
        // Often the first ones, and nothing huge.
        const size_t among = tape.chance(2) ? 6 : std::size(declared) - 4;
        operands.push_back(scalar(declared[tape.choose(among)].name));
    }
    const auto value_of = [&](const AttributeDef& def) {
        const std::vector<std::string> values = usual(def.type);
        return yaml_of(values[tape.choose(values.size())]);
    };
    const std::string subject = operation.subject;
    Yaml own = count > 0 ? Yaml{{}, operands} : Yaml{};
    for (const AttributeDef& def : operation.attributes)
        if (def.name == subject) {
            own = value_of(def);
            if (count > 0) map.push_back({"in", {}, Yaml{{}, operands}});
        }
    map.insert(map.begin(), {operation.name, {}, std::move(own)});
    const bool is_plain = tape.chance(2); // of many arguments that may be left out some hardly ever fit each other
    for (const AttributeDef& def : operation.attributes)
        if (def.name != subject && (def.required || (!is_plain && tape.chance(3))))
            map.push_back({std::string(def.name), {}, value_of(def)});
    use.entry.value = std::move(map);
    return use;
}

// Values that the entry names, in the order of their declaration.
std::vector<const Declared*> used_by(const Yaml& entry) {
    Yaml copy = entry;
    std::vector<const Declared*> used;
    for (const Declared& tensor : declared)
        for (const Yaml* node : nodes_of(copy))
            if (node->scalar() && node->scalar()->text == tensor.name) {
                used.push_back(&tensor);
                break;
            }
    return used;
}

bool is_planned(const OpUse& use) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model_of(use));
    request.layout_file = sources.add("layout.yaml", layout_of_uses);
    try {
        return compile(sources, request).plan.has_value();
    } catch (const InternalError&) {
        return true; // one to judge
    }
}

} // namespace

const std::string layout_of_uses = "mesh: {i: 2, j: 2}\nrules: [{a: i}, {b: j}, {c: i}, {huge: [i, j]}]\n";

const std::vector<std::string>& operand_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const Declared& tensor : declared) made.emplace_back(tensor.name);
        return made;
    }();
    return names;
}

std::vector<Operation> all_operations() {
    std::vector<Operation> operations;
    for (const OpDef* def : all_ops()) {
        operations.push_back(operation_of(*def));
        operations.back().subject = def->subject;
    }
    for (const CompositeDef* def : all_composites()) operations.push_back(operation_of(*def));
    return operations;
}

std::string model_of(const OpUse& use) {
    std::string text = "model: m\naxes: {a: 4, b: 8, c: 6, huge: 1125899906842624}\ninputs:\n";
    const std::vector<const Declared*> used = used_by(use.entry);
    for (const Declared* tensor : used) text += fmt::format("  {}: {}\n", tensor->name, tensor->declaration);
    if (used.empty()) text.resize(text.size() - std::string("inputs:\n").size());
    std::vector<std::string> names, results;
    for (const Declared* tensor : used) names.emplace_back(tensor->name);
    for (int n = 0; n < use.results; ++n) results.push_back(fmt::format("z{}", n));
    std::string entry = fmt::format("{}: {}", fmt::join(results, ", "), text_of(use.entry));
    entry.pop_back();
    const std::string outputs = fmt::format("outputs: [{}]\n", fmt::join(results, ", "));
    switch (use.surroundings) {
    case Surroundings::graph:
        return fmt::format("{}graph:\n  - {}\n{}", text, entry, outputs);
    case Surroundings::manual: {
        std::string in, out;
        for (const Declared* tensor : used) in += fmt::format("{}: {}, ", tensor->name, tensor->entering);
        for (const std::string& name : results) out += fmt::format("{}: ~, ", name);
        return fmt::format(
            "{}graph:\n  - {}:\n      manual: {{in: {{{}}}, check: false, out: {{{}}}, body: [{{\"{}\": {}}}]}}\n{}",
            text, fmt::join(results, ", "), in, out, fmt::join(results, ", "), entry.substr(entry.find(": ") + 2),
            outputs);
    }
    case Surroundings::gradient:
        return fmt::format(
            "{}modules:\n  f:\n    inputs: [{}]\n    graph:\n      - {}\n      - f32: {{cast: z0, dtype: f32}}\n"
            "      - cube: {{mul: [f32, f32]}}\n      - cube: {{mul: [cube, f32]}}\n      - sum: {{reduce_sum: "
            "cube}}\n    outputs: [sum]\n"
            "graph:\n  - l, g: {{value_and_grad: f, in: [{}], wrt: [{}]}}\noutputs: [l, g]\n",
            text, fmt::join(names, ", "), entry, fmt::join(names, ", "), names.empty() ? "x" : names[0]);
    case Surroundings::loop:
        return fmt::format("{}modules:\n  f:\n    inputs: [carried, {}]\n    graph:\n      - {}\n"
                           "      - next: {{add: [carried, 1]}}\n    outputs: [next]\n"
                           "graph:\n  - e: {{repeat: f, times: 3, scan: true, in: [{}, {}]}}\noutputs: [e]\n",
                           text, fmt::join(names, ", "), entry, names.empty() ? "x" : names[0], fmt::join(names, ", "));
    }
    internal_error("surroundings without a model");
}

std::vector<OpUse> accepted_uses(const Operation& operation, size_t count) {
    std::vector<OpUse> found;
    std::set<std::string> seen;
    std::uint32_t state = 1;
    const OpDef* op = find_op(operation.name);
    const bool across = (op && op->device) ||
                        std::any_of(operation.attributes.begin(), operation.attributes.end(),
                                    [](const AttributeDef& def) { return def.type == AttributeDef::Type::mesh_axes; });
    for (int attempt = 0; attempt < 4000 && found.size() < count; ++attempt) {
        std::vector<std::uint32_t> numbers(40);
        for (std::uint32_t& number : numbers) {
            state = state * 1664525U + 1013904223U;
            number = state >> 8;
        }
        Tape tape(numbers);
        OpUse use = random_use(operation, found.empty() && attempt >= 3000, tape);
        use.surroundings = across ? Surroundings::manual : Surroundings::graph;
        if (!seen.insert(text_of(use.entry)).second) continue;
        for (use.results = 1; use.results <= 3; ++use.results)
            if (is_planned(use)) {
                found.push_back(use);
                break;
            }
    }
    return found;
}

} // namespace shard

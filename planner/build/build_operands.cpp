#include "planner/build/build_operands.h"

#include "planner/build/build_scope.h"
#include "planner/model/type_limits.h"
#include "planner/text/yaml_values.h"

#include <limits>

namespace shard {

namespace {

// What is written in place of an operand. A flag is bool; a number has the type of the operands beside it.
struct WrittenValue {
    double value = 0;
    bool flag = false;
};

std::optional<WrittenValue> parse_literal(const std::string& text) {
    if (text == "true" || text == "false") return WrittenValue{text == "true" ? 1.0 : 0.0, true};
    Diagnostics unheard; // the reader has reported what is no number
    const std::optional<double> number = read_element(Yaml{{}, YamlScalar{text, false}}, "an operand", unheard);
    return number ? std::optional(WrittenValue{*number}) : std::nullopt;
}

// From which operand on a number says where something starts.
size_t first_start(const OpDef* op) {
    if (op != nullptr && op->attends) return static_cast<size_t>(attend_inputs(*op->attends).count);
    if (op != nullptr && op->windows != OpDef::Windows::none) return op->windows == OpDef::Windows::takes ? 1 : 2;
    return std::numeric_limits<size_t>::max();
}

} // namespace

std::optional<std::vector<ValueId>> resolve_operands(Builder& builder, const Scope& scope,
                                                     const std::vector<Name>& names, std::span<const AxisDecl> axes,
                                                     const OpDef* op) {
    const size_t starts = first_start(op);
    std::vector<ValueId> values(names.size(), poisoned);
    std::vector<std::optional<WrittenValue>> literals(names.size());
    bool ok = true;
    std::optional<DType> dtype;
    for (size_t n = 0; n < names.size(); ++n) {
        const std::optional<ValueId> found = scope.find(names[n].text, builder.graph());
        if (!found) {
            literals[n] = parse_literal(names[n].text);
            if (!literals[n]) scope.report_unknown(names[n], builder.graph(), builder.diagnostics(), axes);
            ok = ok && literals[n];
            continue;
        }
        ok = ok && *found != poisoned;
        values[n] = *found;
        if (*found == poisoned) continue;
        // The last one that is no flag: the predicate of select says nothing about the numbers beside it.
        const DType of_operand = builder.type(*found).dtype;
        if (of_operand != DType::boolean) dtype = of_operand;
    }
    if (!ok) return std::nullopt;
    for (size_t n = 0; n < names.size(); ++n) {
        if (!literals[n]) continue;
        const DType literal_dtype = literals[n]->flag ? DType::boolean
                                    : n >= starts     ? DType::i32
                                                      : dtype.value_or(DType::f32);
        if (const std::optional<ElementProblem> problem =
                element_problem(literal_dtype, names[n].text, literals[n]->value);
            !literals[n]->flag && problem) {
            builder.diagnostics()
                .error("E0226", names[n].span, problem->message)
                .help(problem->help + "; or convert the other operand with `cast`");
            return std::nullopt;
        }
        Attributes attributes;
        attributes.set("value", std::vector<double>{literals[n]->value});
        attributes.set("shape", std::vector<i64>{});
        attributes.set("dtype", std::string(name(literal_dtype)));
        const Builder::Place whole = builder.place();
        Builder::Place at_literal = whole;
        at_literal.span = names[n].span;
        builder.set_place(at_literal);
        const std::optional<ValueId> value = builder.emit("constant", {}, std::move(attributes));
        builder.set_place(whole);
        if (!value) return std::nullopt;
        values[n] = *value;
    }
    return values;
}

ValueId with_type(Builder& builder, ValueId id, DType dtype) {
    const Value value = builder.graph().value(id);
    const bool fits = computed_as(value.type.dtype) == DType::f32;
    if (!fits || value.type.dtype == dtype) return id;
    builder.set_place({"", value.name, value.span, {}, {}});
    Attributes attributes;
    attributes.set("dtype", std::string(name(dtype)));
    const std::optional<ValueId> made = builder.emit("cast", {id}, attributes);
    internal_check(made.has_value(), "a cast was refused");
    return *made;
}

} // namespace shard

#include "planner/build/build_operands.h"

#include "planner/build/build_scope.h"
#include "planner/text/yaml_values.h"

#include <cmath>

namespace shard {

namespace {

// A number written in place of an operand.
std::optional<double> parse_literal(const std::string& text) {
    if (text == "true") return 1.0;
    if (text == "false") return 0.0;
    if (text == "inf" || text == "-inf") return text == "inf" ? HUGE_VAL : -HUGE_VAL;
    Diagnostics unheard; // the reader has reported what is no number
    return read_element(Yaml{{}, YamlScalar{text, false}}, "an operand", unheard);
}

} // namespace

std::optional<std::vector<ValueId>> resolve_operands(Builder& builder, const Scope& scope,
                                                     const std::vector<Name>& names) {
    std::vector<ValueId> values(names.size(), poisoned);
    std::vector<std::optional<double>> literals(names.size());
    bool ok = true;
    std::optional<DType> dtype;
    for (size_t n = 0; n < names.size(); ++n) {
        const std::optional<ValueId> found = scope.find(names[n].text, builder.graph());
        if (!found) {
            literals[n] = parse_literal(names[n].text);
            if (!literals[n]) scope.report_unknown(names[n], builder.graph(), builder.diagnostics());
            ok = ok && literals[n];
            continue;
        }
        ok = ok && *found != poisoned;
        values[n] = *found;
        if (*found == poisoned) continue;
        // The last one, since the first operand of select is a predicate; bool only if nothing else is there.
        const DType of_operand = builder.type(*found).dtype;
        if (!dtype || of_operand != DType::boolean) dtype = of_operand;
    }
    if (!ok) return std::nullopt;
    for (size_t n = 0; n < names.size(); ++n) {
        if (!literals[n]) continue;
        DType literal_dtype = dtype.value_or(DType::f32);
        // select between two numbers: the predicate's type says nothing
        if (literal_dtype == DType::boolean && names[n].text != "true" && names[n].text != "false")
            literal_dtype = DType::f32;
        Attributes attributes;
        attributes.set("value", std::vector<double>{*literals[n]});
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
    const bool fits = value.type.dtype == DType::f32 || value.type.dtype == DType::bf16;
    if (!fits || value.type.dtype == dtype) return id;
    builder.set_place({"", value.name, value.span, {}, {}});
    Attributes attributes;
    attributes.set("dtype", std::string(name(dtype)));
    const std::optional<ValueId> made = builder.emit("cast", {id}, attributes);
    internal_check(made.has_value(), "a cast was refused");
    return *made;
}

} // namespace shard

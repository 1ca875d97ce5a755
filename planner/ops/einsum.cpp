#include "planner/graph/builder.h"
#include "planner/graph/chain.h"
#include "planner/ops_support/equation.h"
#include "planner/ops_support/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace shard {

namespace {

Contraction contraction_of(std::span<const TensorType> operands, const Attributes& attributes) {
    std::string problem;
    const std::optional<Contraction> made = parse_equation(attributes.string("equation"), operands, problem);
    internal_check(made.has_value(), "an einsum node with a wrong equation");
    return *made;
}

// Where a letter stands first.
struct Place {
    size_t operand, dim;
};
std::map<char, Place> first_places(const Contraction& contraction) {
    std::map<char, Place> places;
    for (size_t n = 0; n < contraction.operands.size(); ++n)
        for (size_t d = 0; d < contraction.operands[n].size(); ++d)
            places.emplace(contraction.operands[n][d], Place{n, d});
    return places;
}

// The size of each letter must be the same wherever it stands.
bool check_sizes(const InferContext& context, const Contraction& contraction,
                 const std::map<char, Place>& first_places) {
    for (size_t n = 0; n < contraction.operands.size(); ++n)
        for (size_t d = 0; d < contraction.operands[n].size(); ++d) {
            const char letter = contraction.operands[n][d];
            const auto [m, e] = first_places.at(letter);
            if (context.operands[m].shape[e] == context.operands[n].shape[d]) continue;
            context.diagnostics
                .error("E0223", context.span,
                       fmt::format("the shapes of {} and {} do not fit for '{}'", operand_text(context, m),
                                   operand_text(context, n), equation_text(contraction)))
                .note(fmt::format("letter '{}' is {} in dim {} of operand {} and {} in dim {} of operand {}", letter,
                                  context.operands[m].shape[e], e, m, context.operands[n].shape[d], d, n));
            return false;
        }
    return true;
}

InferResult infer(const InferContext& context) {
    // One operand is only moved and summed.
    const bool multiplies = context.operands.size() > 1;
    for (size_t n = 0; n < context.operands.size(); ++n)
        if (!check_dtype(context, n, multiplies ? is_floating : is_numeric,
                         multiplies ? "a floating-point type" : "numbers"))
            return std::nullopt;
    if (!check_factors(context)) return std::nullopt;
    std::string problem;
    const std::optional<Contraction> made =
        parse_equation(context.attributes.string("equation"), context.operands, problem);
    if (!made) {
        context.diagnostics
            .error("E0229", context.span,
                   fmt::format("einsum \"{}\": {}", context.attributes.string("equation"), problem))
            .help("an equation has one letter a dim: {einsum: \"ik,kj->ij\", in: [x, y]}");
        return std::nullopt;
    }
    const std::map<char, Place> places = first_places(*made);
    if (!check_sizes(context, *made, places)) return std::nullopt;
    const std::optional<DType> dtype = contraction_dtype(context);
    if (!dtype) return std::nullopt;
    Shape shape;
    for (char letter : made->result)
        shape.push_back(context.operands[places.at(letter).operand].shape[places.at(letter).dim]);
    return InferResult{{make_type(*dtype, shape)}};
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType>, const Attributes& attributes) {
    return contraction_rule(contraction_of(operands, attributes), operands);
}

Kernel lower(const LowerContext& context) {
    return contraction_kernel(contraction_of(context.local_operands, context.attributes));
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes.set("equation", equation_text(contraction_of(operands, attributes)));
}

bool splits(std::span<const TensorType> operands, const Attributes& attributes) {
    return !is_plain(contraction_of(operands, attributes));
}

// One operand on its way through the steps.
struct Term {
    ValueId value;
    std::string labels;
};

Attributes with_dims(std::vector<i64> dims) {
    Attributes attributes;
    attributes.set("dims", std::move(dims));
    return attributes;
}

// Of dims a < b with one letter only the diagonal is kept: other elements become 0, then b is summed away.
bool take_diagonal(Builder& builder, Term& term, size_t a, size_t b) {
    const TensorType type = builder.type(term.value);
    std::vector<ValueId> rows;
    for (size_t dim : {a, b}) {
        Attributes attributes;
        attributes.set("shape", type.shape);
        attributes.set("dim", std::vector<i64>{static_cast<i64>(dim)});
        attributes.set("dtype", std::string(name(DType::i64)));
        const std::optional<ValueId> iota = builder.emit("iota", {}, attributes);
        if (!iota) return false;
        rows.push_back(*iota);
    }
    const std::optional<ValueId> mask = builder.emit("eq", rows);
    if (!mask) return false;
    const std::optional<ValueId> kept = builder.emit("select", {*mask, term.value, builder.scalar(0, type.dtype)});
    if (!kept) return false;
    const std::optional<ValueId> summed = builder.emit("reduce_sum", {*kept}, with_dims({static_cast<i64>(b)}));
    if (!summed) return false;
    term.value = *summed;
    term.labels.erase(b, 1);
    return true;
}

bool take_diagonals(Builder& builder, Term& term) {
    for (size_t a = 0; a < term.labels.size(); ++a)
        for (size_t b = term.labels.find(term.labels[a], a + 1); b != std::string::npos;
             b = term.labels.find(term.labels[a], a + 1))
            if (!take_diagonal(builder, term, a, b)) return false;
    return true;
}

// Sums the letters away that are not in `needed`.
bool sum_rest(Builder& builder, Term& term, const std::string& needed) {
    std::vector<i64> dims;
    std::string kept;
    for (size_t d = 0; d < term.labels.size(); ++d)
        if (needed.find(term.labels[d]) == std::string::npos)
            dims.push_back(static_cast<i64>(d));
        else
            kept += term.labels[d];
    if (dims.empty()) return true;
    const std::optional<ValueId> summed = builder.emit("reduce_sum", {term.value}, with_dims(dims));
    if (!summed) return false;
    term = {*summed, kept};
    return true;
}

std::optional<Term> contract(Builder& builder, const Term& left, const Term& right, const std::string& result,
                             const Attributes& wanted) {
    Attributes attributes = wanted;
    attributes.set("equation", equation_text({{left.labels, right.labels}, result}));
    const std::optional<ValueId> value = builder.emit("einsum", {left.value, right.value}, attributes);
    if (!value) return std::nullopt;
    return Term{*value, result};
}

// By term: the letters of the terms behind it, and of the result.
std::vector<std::string> letters_behind(const std::vector<Term>& terms, const std::string& result) {
    std::vector<std::string> letters(terms.size(), result);
    for (size_t n = terms.size() - 1; n-- > 0;) {
        letters[n] = letters[n + 1];
        for (char letter : terms[n + 1].labels)
            if (letters[n].find(letter) == std::string::npos) letters[n] += letter;
    }
    return letters;
}

// Sums the letters of each term away that neither another term nor the result has.
bool sum_lonely(Builder& builder, std::vector<Term>& terms, const std::string& result) {
    std::map<char, int> count;
    for (const Term& term : terms)
        for (char letter : term.labels) ++count[letter];
    for (Term& term : terms) {
        std::string needed = result;
        for (char letter : term.labels)
            if (count[letter] > 1) needed += letter;
        if (!sum_rest(builder, term, needed)) return false;
    }
    return true;
}

// Diagonals and lonely sums first; then the operands are contracted from left to right.
std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    std::vector<TensorType> types;
    for (ValueId id : operands) types.push_back(builder.type(id));
    const Contraction whole = contraction_of(types, attributes);
    std::vector<Term> terms;
    for (size_t n = 0; n < operands.size(); ++n) terms.push_back({operands[n], whole.operands[n]});
    for (Term& term : terms)
        if (!take_diagonals(builder, term)) return std::nullopt;
    if (!sum_lonely(builder, terms, whole.result)) return std::nullopt;
    const std::vector<std::string> behind = letters_behind(terms, whole.result);
    Attributes wanted;
    if (attributes.has("result")) wanted.set("result", attributes.string("result"));
    Term done = terms[0];
    for (size_t n = 1; n < terms.size(); ++n) {
        const bool last = n + 1 == terms.size();
        const std::string& needed = behind[n];
        // A letter that only the next operand shares may now be summed with it; one that nobody needs any more was
        // summed before.
        std::string result;
        for (const std::string& labels : {done.labels, terms[n].labels})
            for (char letter : labels)
                if (needed.find(letter) != std::string::npos && result.find(letter) == std::string::npos)
                    result += letter;
        const std::optional<Term> next =
            contract(builder, done, terms[n], last ? whole.result : result, last ? wanted : Attributes());
        if (!next) return std::nullopt;
        done = *next;
    }
    if (terms.size() == 1 && attributes.has("result")) {
        const std::optional<ValueId> cast =
            builder.emit("cast", {done.value}, attributes_of({{"dtype", attributes.string("result")}}));
        if (!cast) return std::nullopt;
        done.value = *cast;
    }
    if (done.labels == whole.result) return done.value;
    std::vector<i64> permutation;
    for (char letter : whole.result) permutation.push_back(static_cast<i64>(done.labels.find(letter)));
    Attributes order;
    order.set("permutation", permutation);
    return builder.emit("transpose", {done.value}, order);
}

std::vector<ValueId> gradient(const GradientContext& context) {
    std::vector<TensorType> types;
    for (ValueId id : context.inputs) types.push_back(context.builder.type(id));
    return contraction_gradient(contraction_of(types, context.attributes), context);
}

} // namespace

const OpDef& op_einsum() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "einsum";
        made.doc = "Any contraction, in index notation; three operands or more are contracted from left to right.\n"
                   "{einsum: \"blhd,bmhd->bhlm\", in: [q, k]}";
        made.operands = {1, -1};
        made.attributes = {{"equation", AttributeDef::Type::string, true, "one letter a dim, as in numpy"},
                           result_type_argument()};
        made.subject = "equation";
        made.infer = infer;
        made.rule = rule;
        made.lower = lower;
        made.gradient = gradient;
        made.op_class = OpDef::Class::contraction;
        made.complete = complete;
        made.splits = splits;
        made.expand = expand;
        made.linear_in = {0, 1};
        return made;
    }();
    return def;
}

} // namespace shard

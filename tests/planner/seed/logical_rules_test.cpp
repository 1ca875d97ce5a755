// The tables of logical-axis rules, case by case. Names are written as in the tables: '-' is unnamed (None), U
// unconstrained.
#include "planner/model/rules.h"
#include "planner/seed/rule_outcome.h"
#include "planner/seed/rules_linen.h"
#include "planner/seed/rules_nnx.h"
#include "tests/support/reading.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

std::vector<std::string> words(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const size_t end = std::min(text.find(separator), text.size());
        std::string_view part = text.substr(0, end);
        while (part.starts_with(' ')) part.remove_prefix(1);
        parts.emplace_back(part);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

// "foo>data, bar>model+data, baz>None, qux>U"
std::vector<AxisRule> rules_of(std::string_view text) {
    std::vector<AxisRule> rules;
    for (const std::string& word : words(text, ',')) {
        const size_t arrow = word.find('>');
        AxisRule rule;
        rule.logical = word.substr(0, arrow);
        const std::string target = word.substr(arrow + 1);
        rule.unconstrained = target == "U";
        if (target != "None" && target != "U") rule.axes = words(target, '+');
        rule.span = {0, static_cast<int>(rules.size()) + 1, 1, 1};
        rules.push_back(rule);
    }
    return rules;
}

std::vector<std::string> names_of(std::string_view text) {
    std::vector<std::string> names = words(text, ',');
    for (std::string& name : names) {
        if (name == "None") name = "";
        if (name == "U") name = "?";
    }
    return names;
}

Mesh mesh() {
    Mesh mesh;
    for (const char* name :
         {"data", "model", "replica", "X", "Y", "Z", "row", "col", "fsdp", "fsdp_transpose", "tensor"})
        mesh.axes.push_back({name, 2, ""});
    return mesh;
}

std::string outcome_text(const std::optional<RuleOutcome>& outcome, const Diagnostics& diagnostics) {
    if (!outcome) return report_text(diagnostics);
    std::string text;
    for (const RuleOutcome::Dim& dim : outcome->dims) {
        if (!text.empty()) text += ",";
        text += dim.open ? "U" : dim.axes.empty() ? "None" : shard::text(mesh(), dim.axes);
    }
    for (const RuleOutcome::Rejected& reject : outcome->rejected)
        text += fmt::format("; rule {}: {}", reject.rule, reject.reason);
    return text;
}

std::string with_reasons(std::string_view rules, std::string_view names) {
    Diagnostics diagnostics;
    return outcome_text(apply_rules_linen(mesh(), rules_of(rules), names_of(names), {0, 9, 1, 1}, diagnostics),
                        diagnostics);
}

std::string linen(std::string_view rules, std::string_view names) {
    const std::string text = with_reasons(rules, names);
    return text.substr(0, text.find("; rule"));
}

std::string nnx(std::string_view context, std::string_view own, std::string_view names,
                MissingAxes missing = MissingAxes::error) {
    Diagnostics diagnostics;
    return outcome_text(
        apply_rules_nnx(mesh(), rules_of(context), rules_of(own), names_of(names), {0, 9, 1, 1}, diagnostics, missing),
        diagnostics);
}

} // namespace

TEST_CASE("linen: every row of the table") {
    const std::string_view first = "foo>data, bar>model, baz>None";
    CHECK(linen(first, "foo,bar") == "data,model");
    CHECK(linen(first, "foo,U,U,None,None") == "data,U,U,None,None");
    CHECK(linen(first, "foo,foo,baz") == "E0314 9:1+1 the logical axis 'foo' names dims 0 and 1 of one array\n  help "
                                         "give one of them another name, with a rule of its own\n");
    const std::string_view second = "foo>model, bar>model, baz>data";
    CHECK(linen(second, "foo,bar,baz") == "model,None,data");
    CHECK(linen(second, "bar,foo,baz") == "None,model,data");
    CHECK(linen(second, "baz,bar,foo,unassigned") == "data,None,model,None");
    CHECK(linen("a>model+data, b>data", "a,b") == "model,data,None");
    CHECK(linen("a>model+replica, b>data+model", "a,b") == "model,replica,None");
    CHECK(linen("a>None, a>model", "a,b") == "None,None");
    CHECK(linen("baz>data, bar>None, foo>model, foo>data", "baz,bar,foo") == "data,None,model");
    CHECK(linen("batch>X, features>X, heads>Y, batch>Z", "batch,length,heads,features") == "X,None,Y,None");
    CHECK(linen("batch>data, mlp>model, embed>model, embed>data", "batch,length,embed") == "data,None,model");
    CHECK(linen("batch>data, hidden>model", "embed,hidden") == "None,model");
}

TEST_CASE("linen: a rule is all or nothing, and a smaller one of the same name may follow") {
    CHECK(linen("mlp>fsdp_transpose+tensor, embed>fsdp+fsdp_transpose, embed>fsdp", "embed,None,mlp") ==
          "fsdp,None,fsdp_transpose,tensor");
    CHECK(linen("a>data, b>data+model", "a,b") == "data,None");
    CHECK(linen("a>U, a>data", "a,b") == "U,None");
    CHECK(linen("", "a,b") == "None,None");
    CHECK(linen("a>data", "") == "");
}

TEST_CASE("linen: state is per array, and an axis that the mesh lacks drops out of its rule") {
    CHECK(linen("a>data, b>data", "b") == "data");
    CHECK(linen("a>nowhere+data, b>nowhere", "a,b") == "data,None");
}

TEST_CASE("linen: every rejected rule says why") {
    CHECK(with_reasons("baz>data, bar>None, foo>data, foo>model, foo>X", "baz,bar,foo") ==
          "data,None,model; rule 2: mesh axis 'data' is already used by dim 0 (baz)"
          "; rule 4: the earlier rule {foo: model} has dim 2 (foo)");
}

TEST_CASE("nnx: own rules and the layout's are joined as dictionaries") {
    CHECK(nnx("col-alias>col", "row-alias>row", "row-alias,col-alias") == "row,col");
    CHECK(nnx("a>data", "a>data", "a") == "data");
    CHECK(nnx("a>data", "a>model", "a") ==
          "E0315 1:1+1 inconsistent rules for 'a': {a: model} here, {a: data} in the layout\n  label 1:1+1 the "
          "layout's rule\n"
          "  help with nnx semantics both apply: remove one, or use another logical axis here\n");
}

TEST_CASE("nnx: the last rule of a name counts, and a name without a rule is a mesh axis") {
    CHECK(nnx("a>data, a>model", "", "a") == "model; rule 0: a later rule for 'a' replaces it: {a: model}");
    CHECK(nnx("a>model", "", "a,data,None,U") == "model,data,None,U");
    CHECK(nnx("a>U, b>X+Y", "", "a,b") == "U,X,Y");
    CHECK(nnx("a>model", "", "a,length") ==
          "E0316 9:1+1 dim 1 (length) has no rule, and the mesh has no axis of that name\n"
          "  note with nnx semantics a name without a rule is a mesh axis\n  help add the rule {length: ~}\n");
    CHECK(nnx("a>model", "", "a,length", MissingAxes::ignore) == "model,None");
}

TEST_CASE("nnx: nothing avoids a conflict") {
    CHECK(nnx("foo>model, bar>model", "", "foo,bar") ==
          "E0311 9:1+1 mesh axis 'model' splits both dim 0 (foo) and dim 1 (bar) of one array\n"
          "  note nnx semantics replaces names by rules one by one and does not avoid conflicts\n"
          "  help change one of the rules, or use semantics: linen\n");
    CHECK(nnx("foo>data", "", "foo,data").substr(0, 5) == "E0311");
}

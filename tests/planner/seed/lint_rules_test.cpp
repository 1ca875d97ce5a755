#include "tests/planner/seed/seeding.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const std::string tensors = "axes: {batch: 8, embed: 1024, hidden: 1024}\n"
                            "inputs:\n"
                            "  x: {axes: [batch, embed]}\n"
                            "params:\n"
                            "  w1: {axes: [embed, hidden]}\n"
                            "  w2: {axes: [hidden, embed]}\n";

// What is said of rules on a mesh of data 2, model 4; the first rule is on line 3 of the layout.
std::string lint(const std::string& rules, const std::string& more = "", const std::string& model = tensors) {
    Seeding s(model);
    s.run("mesh: {data: 2, model: 4}\nrules:\n" + rules + more);
    return s.problems();
}

} // namespace

TEST_CASE("a rule set that says what it means has no findings") {
    CHECK(lint("  - {batch: data}\n  - {hidden: model}\n  - {embed: ~}\n") == "");
}

TEST_CASE("rules for axes that no array has are listed in one warning") {
    CHECK(lint("  - {batch: data}\n  - {hidden: model}\n  - {embed: ~}\n  - {kv: model}\n  - {vocab: model}\n") ==
          "W0302 6:6+2 no array has the logical axis of: {kv: model}, {vocab: model}\n  label 7:6+5 \n"
          "  help remove what the model does not need, or check the names of its axes\n");
}

TEST_CASE("a hundred thousand rules that no array uses are looked at once each") {
    std::string rules;
    for (int n = 0; n < 100000; ++n) rules += "  - {r" + std::to_string(n) + ": data}\n";
    CHECK(lint(rules).starts_with("W0302 3:6+2 no array has the logical axis of: {r0: data}, {r1: data}, {r2: data} "
                                  "and 99997 more\n"));
}

TEST_CASE("a rule behind one that always fits is shadowed") {
    CHECK(lint("  - {batch: data}\n  - {hidden: ~}\n  - {hidden: model}\n  - {embed: ~}\n") ==
          "W0303 5:6+6 an earlier rule for the same axis always wins over: {hidden: model}\n  help remove the rule, or "
          "change the order\n"
          "W0306 6:3+2 linen and nnx semantics disagree about parameter 'w1', parameter 'w2'\n"
          "  note linen: [- | -], nnx: [- | model]\n"
          "  help write semantics: linen or nnx, whichever is meant; or give each logical axis one rule, and no two "
          "axes of one array the same mesh axis\n");
    // Fewer axes first: the longer rule cannot fit where the shorter does not.
    CHECK(lint("  - {batch: data}\n  - {hidden: model}\n  - {hidden: [data, model]}\n  - {embed: ~}\n").substr(0, 28) ==
          "W0303 5:6+6 an earlier rule ");
    // More axes first is the usual fallback.
    CHECK(lint("  - {batch: data}\n  - {hidden: [data, model]}\n  - {hidden: model}\n  - {embed: ~}\n").find("W0303") ==
          std::string::npos);
    CHECK(lint("  - {batch: data}\n  - {batch: model}\n  - {hidden: ~}\n  - {embed: ~}\n", "semantics: nnx\n")
              .substr(0, 52) == "W0303 3:6+5 a later rule for the same axis replaces:");
}

TEST_CASE("a rule that another always beats to the mesh axis is blocked everywhere") {
    const std::string text = lint("  - {hidden: model}\n  - {embed: model}\n  - {batch: data}\n", "",
                                  "axes: {embed: 64, hidden: 64}\nparams:\n  w: {axes: [embed, hidden]}\n");
    CHECK(text ==
          "W0302 5:6+5 no array has the logical axis of: {batch: data}\n"
          "  help remove what the model does not need, or check the names of its axes\n"
          "W0305 4:6+5 blocked in every array that has the logical axis: {embed: model}\n"
          "  help `shardc explain` shows for an array which rule came first\n"
          "W0306 4:3+1 linen and nnx semantics disagree about parameter 'w'\n"
          "  note linen: [- | model], nnx: an error (mesh axis 'model' splits both dim 0 (embed) and dim 1 "
          "(hidden) of one array)\n"
          "  help write semantics: linen or nnx, whichever is meant; or give each logical axis one rule, and no two "
          "axes of one array the same mesh axis\n");
}

TEST_CASE("nothing is said of the other semantics where the layout says which is meant") {
    const std::string rules = "  - {batch: data}\n  - {hidden: model}\n  - {embed: model}\n";
    CHECK(lint(rules).find("W0306") != std::string::npos);
    CHECK(lint(rules, "semantics: linen\n") == "");
}

TEST_CASE("nothing is said of rules for an array of which the layout says all") {
    const std::string rules = "  - {batch: data}\n  - {hidden: model}\n  - {embed: model}\n";
    CHECK(lint(rules, "params: {w1: [~, model], w2: [model, ~]}\n") == "");
    CHECK(lint(rules, "params: {w1: [~, model]}\n") ==
          "W0306 7:3+2 linen and nnx semantics disagree about parameter 'w2'\n"
          "  note linen: [model | -], nnx: an error (mesh axis 'model' splits both dim 0 (hidden) and dim 1 (embed) of "
          "one array)\n"
          "  help write semantics: linen or nnx, whichever is meant; or give each logical axis one rule, and no two "
          "axes of one array the same mesh axis\n");
    CHECK(lint("  - {batch: data}\n  - {batch: model}\n", "inputs: {x: [data, ~]}\n") ==
          "W0305 4:6+5 blocked in every array that has the logical axis: {batch: model}\n"
          "  help `shardc explain` shows for an array which rule came first\n");
    CHECK(lint("  - {batch: ~}\n  - {hidden: model}\n", "params: {\"*\": [~, model]}\ninputs: {x: [data, ~]}\n") == "");
}

TEST_CASE("a logical axis without a rule is named where it looks forgotten, not in a layout of few rules") {
    CHECK(lint("  - {batch: data}\n") == "");
    // The writer says of other axes that they are replicated.
    CHECK(lint("  - {batch: ~}\n") ==
          "W0304 4:3+1 no rule for the logical axes 'embed', 'hidden'\n"
          "  note dims without a rule are replicated\n  help if that is meant, say so: rules: [..., {embed: ~}, "
          "{hidden: ~}]\n");
    CHECK(lint("  - {batch: ~}\n  - {hidden: model}\n") ==
          "W0304 4:3+1 no rule for the logical axis 'embed'\n"
          "  note dims without a rule are replicated\n  help if that is meant, say so: - {embed: ~}\n");
    // A rule with nearly that name has nothing to do.
    CHECK(lint("  - {batch: data}\n  - {hiden: model}\n") ==
          "W0302 4:6+5 no array has the logical axis 'hiden'\n"
          "  help did you mean 'hidden'?\n"
          "W0304 6:3+2 no rule for the logical axis 'hidden'\n  note dims without a rule are replicated\n"
          "  help the rule for 'hiden', which no array has, may mean it\n");
    Seeding s(tensors);
    s.run("mesh: {data: 2}\n");
    CHECK(s.problems() == "");
}

TEST_CASE("large parameters on every device are named with their bytes") {
    const std::string model =
        "axes: {a: 2048, b: 2049, c: 2048}\nparams:\n  big: {axes: [a, b]}\n  edge: {axes: [a, c]}\n";
    CHECK(lint("  - {a: ~}\n  - {b: ~}\n  - {c: ~}\n", "", model) ==
          "W0307 4:3+3 a large parameter is held in full by every device: 'big'\n  note 16.0 MiB (16,785,408 B) on a "
          "device\n"
          "  help give one of the logical axes a rule, or override its sharding under `params`\n");
    CHECK(lint("  - {a: data}\n  - {b: ~}\n  - {c: ~}\n", "", model) == "");
}

TEST_CASE("on one device there is nothing to say") {
    Seeding s(tensors);
    s.run("mesh: {data: 1}\nrules: [{nobody: data}]\n");
    CHECK(s.problems() == "");
}

// Which op a node is, nobody asks for by name: what a pass wants to know of an op is a property of its OpDef. So an op
// is one file.
#include "planner/graph/op_def.h"
#include "planner/read/entry_form.h"
#include "tests/structure/structure_rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex>

#include "test_paths.h"

using namespace shard;

namespace {

bool is_op_or_composite(const std::string& name) {
    if (find_collective(name) != nullptr) return false; // a kind of collective that an op is called after
    return find_op(name) != nullptr || find_composite(name) != nullptr;
}

bool is_of_planner_or_cli(std::string_view path) { return path.starts_with("planner/") || path.starts_with("cli/"); }

// Ops and composites know one another: gradients are written with them. plans/ and executor/ know none of them.
bool may_ask(std::string_view path) {
    return !is_of_planner_or_cli(path) || path.starts_with("planner/ops/") || path.starts_with("planner/composites/");
}

// "path:line: what is compared"
std::vector<StructureFinding> name_comparisons(const std::vector<SourceFile>& files) {
    static const std::regex with_literal("(\\.key)?\\s*[!=]=\\s*\"(\\w+)\"|\"(\\w+)\"\\s*[!=]=");
    static const std::regex with_op("op\\(\\)->name\\s*[!=]=|[!=]=\\s*[\\w.>\\-\\[\\]()]*op\\(\\)->name"
                                    "|[!=]=\\s*(find_op|op_name)\\(|(find_op|op_name)\\([^)]*\\)\\s*[!=]=");
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        if (may_ask(file.path)) continue;
        const auto add = [&](const std::smatch& match) {
            const i64 line = std::count(file.text.begin(), file.text.begin() + match.position(), '\n') + 1;
            findings.push_back(fmt::format("{}:{}: {}", file.path, line, match.str()));
        };
        const auto each = [&](const std::regex& pattern, const auto& is_wrong) {
            for (std::sregex_iterator it(file.text.begin(), file.text.end(), pattern), end; it != end; ++it)
                if (is_wrong(*it)) add(*it);
        };
        each(with_literal, [](const std::smatch& match) { // a key of a file may be called as an op is
            return !match[1].matched && is_op_or_composite(match[2].matched ? match[2].str() : match[3].str());
        });
        each(with_op, [](const std::smatch&) { return true; });
    }
    return findings;
}

// A form's name is written in its own file alone: "path: name".
std::vector<StructureFinding> names_of_forms(const std::vector<SourceFile>& files) {
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files)
        for (const FormDef* form : all_forms())
            if (is_of_planner_or_cli(file.path) && !file.path.starts_with("planner/forms/") &&
                file.text.find(fmt::format("\"{}\"", form->name)) != std::string::npos)
                findings.push_back(fmt::format("{}: {}", file.path, form->name));
    return findings;
}

} // namespace

TEST_CASE("no op is told by its name outside of its own file") {
    CHECK(fmt::format("{}", fmt::join(name_comparisons(read_source_tree(SHARDC_SOURCE_DIR)), "\n")) == "");

    const auto findings = [](const std::string& path, const std::string& text) {
        return name_comparisons({{path, text}}).size();
    };
    const std::string pass = "planner/grad/recompute.cpp";
    CHECK(name_comparisons({{pass, "// Why.\nif (node.op()->name == \"reshape\")"}}) ==
          std::vector<std::string>{"planner/grad/recompute.cpp:2:  == \"reshape\"",
                                   "planner/grad/recompute.cpp:2: op()->name =="});
    CHECK(findings(pass, "if (op_ !=\n    \"psum\")") == 1);
    CHECK(findings(pass, "if (\"softmax\" == text)") == 1);
    CHECK(findings(pass, "node.op == find_op(\"loop_slice\")") == 1);
    CHECK(findings(pass, "find_op(\"loop_slice\") != node.op") == 1);
    CHECK(findings(pass, "wanted == node.op()->name") == 1);
    CHECK(findings(pass, "op_name(node) == wanted") == 1);
    CHECK(findings(pass, "builder.emit(\"reshape\", {id}); node.op = find_op(\"constrain\");") == 0);
    CHECK(findings(pass, "if (text == \"train\" || chosen.key == \"constant\")") == 0);
    CHECK(findings("planner/ops/all_gather.cpp", "node.op == find_op(\"psum\")") == 0);
}

TEST_CASE("the forms of entries are named in their own files") {
    CHECK(find_form("manual") != nullptr);
    CHECK(fmt::format("{}", fmt::join(names_of_forms(read_source_tree(SHARDC_SOURCE_DIR)), "\n")) == "");
    CHECK(names_of_forms({{"planner/build/build.cpp", "if (entry.op.text == \"repeat\")"}}) ==
          std::vector<std::string>{"planner/build/build.cpp: repeat"});
    CHECK(names_of_forms({{"planner/forms/repeat.cpp", "static const FormDef def = {\"repeat\""}}).empty());
}

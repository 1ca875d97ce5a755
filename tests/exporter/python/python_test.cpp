// What does not fit into 88 columns is laid out as black does; the widths are counted here.
#include "exporter/python/python.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

PythonText name(size_t letters) { return {std::string(letters, 'x')}; }

} // namespace

TEST_CASE("a Python expression of 88 columns stays on one line, one of 89 does not") {
    const std::string wide(81, 'x'); // f(, an item, a comma, a blank, y and the bracket: 6 columns more, and a comma
    CHECK(lines(bracket("f(", {name(81), {"y"}}, ")"), 0, ",") == "f(" + wide + ", y),\n");
    CHECK(lines(bracket("f(", {name(82), {"y"}}, ")"), 0, ",") == "f(\n    " + wide + "x,\n    y,\n),\n");
    CHECK(lines(bracket("f(", {name(77), {"y"}}, ")"), 4, ",") == "    f(" + std::string(77, 'x') + ", y),\n");
    CHECK(lines(bracket("f(", {name(78), {"y"}}, ")"), 4, ",") ==
          "    f(\n        " + std::string(78, 'x') + ",\n        y,\n    ),\n");
}

TEST_CASE("brackets inside brackets are broken where they must") {
    const PythonText inner = bracket("g(", {name(38), name(38)}, ")");
    CHECK(lines(bracket("a = f(", {inner, {"y"}}, ")"), 0) ==
          "a = f(\n    g(" + std::string(38, 'x') + ", " + std::string(38, 'x') + "),\n    y,\n)\n");
}

TEST_CASE("a tuple of one item keeps its comma") {
    CHECK(lines(tuple({{"x"}}, "a = "), 0) == "a = (x,)\n");
    CHECK(lines(tuple({}), 0) == "()\n");
    CHECK(lines(tuple({name(90)}), 0) == "(\n    " + std::string(90, 'x') + ",\n)\n");
}

TEST_CASE("whatever a name holds, a literal of it is one literal") {
    CHECK(quoted("w1") == "\"w1\"");
    CHECK(quoted("a\"\\\n") == "\"a\\\"\\\\\\\\n\""); // a line break is shown as \n: two letters
}

TEST_CASE("an operator that does not fit on its line stands in brackets, and then one operand below the other") {
    const PythonText sum = infix(" + ", name(40), name(40)); // 83 columns
    CHECK(assignment("a", sum, 0) == "a = " + flat(sum) + "\n");
    CHECK(assignment("abc", sum, 0) == "abc = (\n    " + flat(sum) + "\n)\n");
    CHECK(assignment("a", sum, 4) ==
          "    a = (\n        " + std::string(40, 'x') + "\n        + " + std::string(40, 'x') + "\n    )\n");
}

TEST_CASE("a call whose name leaves no room beside what it is assigned to stands in brackets") {
    const PythonText call = bracket(std::string(50, 'f') + "(", {{"x"}}, ")");
    CHECK(assignment(std::string(34, 'a'), call, 0) ==
          std::string(34, 'a') + " = " + std::string(50, 'f') + "(\n    x,\n)\n");
    CHECK(assignment(std::string(35, 'a'), call, 0) ==
          std::string(35, 'a') + " = (\n    " + std::string(50, 'f') + "(x)\n)\n");
}

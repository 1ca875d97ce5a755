#include "cli/html/markup.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("markup escapes texts and attributes, and closes what it opens") {
    Markup out;
    out.open("p", {{"title", "a \"b\" <c>"}}).text("x < y && y > 'z'").leaf("b").leaf("rect", {{"width", "1"}}).close();
    CHECK(out.take() == "<p title=\"a &quot;b&quot; &lt;c&gt;\">x &lt; y &amp;&amp; y &gt; 'z'<b></b>"
                        "<rect width=\"1\"/></p>");
}

TEST_CASE("markup holds no character that nobody sees") {
    Markup out;
    out.leaf("td", {}, "a\x1b[31m\xe2\x80\xae\xff");
    CHECK(out.take() == "<td>a\\u001b[31m\\u202e\\xff</td>");
}

TEST_CASE("markup that is not closed, or closed twice, is a mistake of the program") {
    Markup out;
    CHECK_THROWS(out.close());
    out.open("p");
    CHECK_THROWS(out.take());
}

TEST_CASE("lengths have at most one decimal") {
    CHECK(px(12) == "12");
    CHECK(px(12.345) == "12.3");
    CHECK(px(-0.01) == "0");
}

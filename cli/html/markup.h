// Writes HTML and SVG: elements that are closed again, and texts and attributes that are escaped, whatever they hold.
// What comes out is well-formed XML too.
//
//     Markup out;
//     out.open("p", {{"class", "note"}}).text("a < b").close();      <p class="note">a &lt; b</p>
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shard {

class Markup {
public:
    using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    Markup& open(std::string_view tag, Attributes attributes = {});
    Markup& close(); // the element that was opened last
    Markup& text(std::string_view text);
    Markup& line(); // a line break, for people who read the source

    // An element that holds a text alone, or nothing.
    Markup& leaf(std::string_view tag, Attributes attributes = {}, std::string_view text = {});
    Markup& append(const std::string& markup); // what another Markup made

    // <style> and <script>, whose contents are not escaped: texts of this program alone.
    Markup& verbatim(std::string_view tag, std::string_view contents);

    std::string take(); // all that was opened is closed

private:
    void begin(std::string_view tag, Attributes attributes);

    std::string out_;
    std::vector<std::string> open_;
};

struct DrawnSize {
    double width = 0, height = 0;
};

// A length in a drawing: "12.5", at most one decimal.
std::string px(double length);

} // namespace shard

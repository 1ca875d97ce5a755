#include "cli/html/frame.h"

#include "plans/base/base.h"
#include "plans/base/embedded.h"

#include <span>

namespace shard {

std::span<const EmbeddedText> embedded_page();

std::string_view page_asset(std::string_view name) {
    for (const EmbeddedText& text : embedded_page())
        if (text.name == name) return text.text;
    internal_check(false, "an asset of the page is missing");
    return {};
}

std::string framed_page(std::string_view title, const std::function<void(Markup&)>& body) {
    Markup out;
    out.open("head").line().leaf("meta", {{"charset", "utf-8"}});
    out.leaf("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    out.leaf("title", {}, title);
    out.verbatim("style", page_asset("style")).close().line().open("body").line();
    body(out);
    out.line().verbatim("script", page_asset("script")).close();
    return "<!DOCTYPE html>\n<html lang=\"en\">\n" + out.take() + "\n</html>\n";
}

} // namespace shard

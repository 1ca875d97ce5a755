// For a browser: a page of one file.
#include "cli/command/format.h"
#include "cli/html/page.h"

namespace shard {

const FormatDef& format_html() {
    static const FormatDef def = {.name = "html", .doc = "a page of one file, for a browser", .plan = plan_html};
    return def;
}

} // namespace shard

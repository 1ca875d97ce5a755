#include "exporter/python/embedded_python.h"

#include "plans/base/base.h"

namespace shard {

std::string_view embedded_text(std::string_view name) {
    for (const EmbeddedText& text : embedded_python())
        if (text.name == name) return text.text;
    internal_error("no Python of this name is embedded");
}

} // namespace shard

#include "tests/support/model_harness.h"

#include "planner/build/build.h"
#include "planner/read/model_reader.h"
#include "plans/diagnostics/usual_help.h"

#include "test_paths.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace shard {

std::string Built::names() const {
    std::string text;
    for (const Value& value : graph->values) text += (text.empty() ? "" : " ") + value.name;
    return text;
}

std::string Built::problems() const {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics.all()) {
        const int line = diagnostic.labels.empty() ? 0 : diagnostic.labels[0].span.line;
        text += fmt::format("{}{} {}: {}", text.empty() ? "" : "\n", diagnostic.code, line, diagnostic.message);
        if (diagnostic.help != usual_help(diagnostic.code)) text += " | " + diagnostic.help;
    }
    return text;
}

Built build_text(const std::string& yaml) {
    Built built;
    const int file = built.sources.add("model.yaml", yaml);
    built.model = read_model(built.sources, file, built.diagnostics);
    if (!built.model || built.diagnostics.has_error()) return built;
    built.graph = build_graph(*built.model, built.diagnostics);
    if (built.graph) verify_graph(*built.graph);
    return built;
}

Built build_file(const std::string& path) {
    std::ifstream in(std::string(SHARDC_SOURCE_DIR) + "/" + path);
    std::stringstream text;
    text << in.rdbuf();
    return build_text(text.str());
}

} // namespace shard

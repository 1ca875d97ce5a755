// SARIF 2.1.0, for code scanning: every registered code is a rule, every diagnostic a result with a stable fingerprint.
#include "cli/command/format.h"
#include "cli/diagnostics/noted_places.h"
#include "plans/base/version.h"
#include "plans/diagnostics/codes.h"
#include "plans/json/json_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

std::string message(std::string_view text) { return JsonObject().string("text", text).text(); }

// A URI reference: what RFC 3986 does not allow in a path is percent-encoded.
std::string uri(std::string_view path) {
    std::string result;
    for (char c : path) {
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     std::string_view("-._~/!$&'()*+,;=@").find(c) != std::string_view::npos;
        if (plain)
            result += c;
        else
            result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return result;
}

// SARIF counts columns in UTF-16 code units unless a run says otherwise; ours are bytes, which run.columnKind cannot
// express, so they are converted to code points.
int column_in_code_points(std::string_view line, int column) {
    int result = 1;
    for (int i = 0; i + 1 < column; ++i)
        if (static_cast<size_t>(i) >= line.size() || (line[i] & 0xC0) != 0x80) ++result;
    return result;
}

std::string location(const Repository& repository, const Sources& sources, const Label& label, bool with_message) {
    const Span& span = label.span;
    std::string_view line = sources.line(span.file, span.line);
    JsonObject region;
    region.integer("startLine", span.line)
        .integer("startColumn", column_in_code_points(line, span.column))
        .integer("endColumn", column_in_code_points(line, span.column + std::max(span.length, 1)));
    JsonObject artifact;
    artifact.string("uri", uri(repository.path(sources.name(span.file))));
    JsonObject physical;
    physical.raw("artifactLocation", artifact.text()).raw("region", region.text());
    JsonObject result;
    result.raw("physicalLocation", physical.text());
    if (with_message && !label.text.empty()) result.raw("message", message(label.text));
    return result.text();
}

std::string rules() {
    std::vector<std::string> items;
    for (const CodeDoc& code : all_codes()) {
        std::string_view level = code.code.starts_with('W') ? "warning" : "error";
        items.push_back(JsonObject()
                            .string("id", code.code)
                            .raw("shortDescription", message(code.title))
                            .raw("fullDescription", message(code.explain))
                            .raw("help", message(code.explain))
                            .raw("defaultConfiguration", JsonObject().string("level", level).text())
                            .text());
    }
    return json_lines(items, 10);
}

// Of what has no place: the file that it is about, which code scanning asks for.
std::string whole_file(std::string_view file) {
    JsonObject physical;
    physical.raw("artifactLocation", JsonObject().string("uri", uri(file)).text())
        .raw("region", JsonObject().integer("startLine", 1).text());
    return JsonObject().raw("physicalLocation", physical.text()).text();
}

std::string result(const Placed& placed, size_t count, const Repository& repository) {
    const Diagnostic& diagnostic = *placed.diagnostic;
    std::string text = diagnostic.message;
    if (!placed.subjects.empty()) text += "\nlayout: " + names_text(placed, count);
    for (const std::string& note : diagnostic.notes) text += "\n" + note;
    if (!diagnostic.help.empty()) text += "\n" + diagnostic.help;
    std::vector<std::string> primary, related;
    for (const Label& label : diagnostic.labels) {
        if (!label.span.known()) continue;
        bool first = primary.empty();
        (first ? primary : related).push_back(location(repository, *placed.sources, label, !first));
    }
    for (const Label& label : noted_places(placed))
        related.push_back(location(repository, *placed.sources, label, true));
    if (primary.empty() && !placed.any_file().empty())
        primary.push_back(whole_file(repository.path(placed.any_file())));
    std::string_view level = diagnostic.severity == Severity::error || diagnostic.finding ? "error"
                             : diagnostic.severity == Severity::warning                   ? "warning"
                                                                                          : "note";
    JsonObject object;
    object.string("ruleId", diagnostic.code);
    const std::vector<CodeDoc>& codes = all_codes();
    for (size_t i = 0; i < codes.size(); ++i)
        if (codes[i].code == diagnostic.code) object.integer("ruleIndex", static_cast<i64>(i));
    object.string("level", level).raw("message", message(text)).raw("locations", json_array(primary));
    if (!related.empty()) object.raw("relatedLocations", json_array(related));
    object.raw("partialFingerprints", JsonObject().string("shardc/v1", fingerprint(placed, repository)).text());
    object.raw("properties", JsonObject().raw("subjects", json_strings(placed.names())).text());
    return object.text();
}

std::string render(const CheckPayload& payload, const Paint&) {
    std::vector<std::string> results;
    for (const Placed& placed : flatten(payload.subjects))
        results.push_back(result(placed, named_count(payload.subjects), payload.repository));
    return fmt::format("{{\n"
                       "  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
                       "  \"version\": \"2.1.0\",\n"
                       "  \"runs\": [{{\n"
                       "    \"tool\": {{\"driver\": {{\n"
                       "        \"name\": \"shardc\",\n"
                       "        \"version\": {},\n"
                       "        \"rules\": {}\n"
                       "    }}}},\n"
                       "    \"columnKind\": \"unicodeCodePoints\",\n"
                       "    \"results\": {}\n"
                       "  }}]\n"
                       "}}\n",
                       json_string(tool_version()), rules(), json_lines(results, 6));
}

} // namespace

const FormatDef& format_sarif() {
    static const FormatDef def = {.name = "sarif", .doc = "SARIF 2.1.0, for code scanning", .check = render};
    return def;
}

} // namespace shard

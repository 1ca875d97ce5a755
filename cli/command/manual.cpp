// Manual pages in man(7), the macros that man-db and mandoc both have.
#include "cli/command/manual.h"

#include "cli/command/help.h"
#include "plans/base/version.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

// A line of text that troff prints as it is: no escapes, no hyphens for minus signs, no request at its begin.
std::string plain(std::string_view text) {
    std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-' || c == '\'' || c == '`' || c == '^' || c == '~')
            out += c == '-' ? "\\-" : c == '\'' ? "\\(aq" : c == '`' ? "\\(ga" : c == '^' ? "\\(ha" : "\\(ti";
        else
            out += c;
    }
    return out;
}

std::string upper(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return out;
}

std::string heading(std::string_view name, std::string_view summary) {
    return fmt::format(".TH {} 1 \"\" \"{}\" \"shardc\"\n.SH NAME\n{} \\- {}\n", plain(upper(name)), plain(tool_text()),
                       plain(name), plain(summary));
}

// Lines that are indented are examples and stay as they are; others flow.
std::string paragraphs(std::string_view doc) {
    std::string out;
    bool is_example = false;
    while (!doc.empty()) {
        const size_t end = std::min(doc.find('\n'), doc.size());
        const std::string_view line = doc.substr(0, end);
        doc.remove_prefix(std::min(end + 1, doc.size()));
        const bool indented = line.starts_with("  ");
        if (indented != is_example) out += indented ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n.PP\n";
        is_example = indented;
        out += plain(indented ? line.substr(2) : line) + "\n";
    }
    return out + (is_example ? ".fi\n.RE\n" : "");
}

std::string exit_status() { return fmt::format(".SH EXIT STATUS\n{}.\n", plain(exit_codes_text)); }

} // namespace

std::string manual_overview() {
    std::string out = heading("shardc", "compile sharding plans");
    out += ".SH SYNOPSIS\n.B shardc\n.I COMMAND\n\\&...\n.SH DESCRIPTION\n" + plain(tool_summary) + ".\n.SH COMMANDS\n";
    for (const CommandDef* command : all_commands())
        out += fmt::format(".TP\n.BR shardc\\-{} (1)\n{}\n", plain(command->name), plain(command->summary));
    return out + exit_status();
}

std::string manual_page(const CommandDef& command) {
    std::string out = heading(fmt::format("shardc-{}", command.name), command.summary);
    out +=
        fmt::format(".SH SYNOPSIS\n.B shardc {}\n{}\n.SH DESCRIPTION\n", plain(command.name), plain(usage_of(command)));
    out += paragraphs(command.doc);
    if (!command.options.empty()) out += ".SH OPTIONS\n";
    for (const OptionDef& option : command.options)
        out += fmt::format(".TP\n.B {}\n{}\n", plain(option_name(option)), plain(option_doc(option)));
    return out + exit_status() + ".SH SEE ALSO\n.BR shardc (1)\n";
}

} // namespace shard

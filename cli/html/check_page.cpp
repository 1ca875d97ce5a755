#include "cli/html/check_page.h"

#include "cli/html/frame.h"
#include "cli/html/words.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

struct Verdict {
    std::string_view text, kind; // its class
};

Verdict verdict_of(const Subject& subject) {
    switch (exit_code(std::span<const Subject>(&subject, 1))) {
    case 0:
        return warns(subject) ? Verdict{"warning", "warn"} : Verdict{"ok", "good"};
    case 1:
        return {"findings", "bad"};
    default:
        return {"error", "bad"};
    }
}

void write_subjects(Markup& out, std::span<const Subject> subjects) {
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}}).open("table", {{"class", "sortable"}});
    out.open("thead").open("tr").leaf("th", {{"scope", "col"}}, "checked").leaf("th", {{"scope", "col"}}, "verdict");
    for (const FigureDef& figure : all_figures()) out.leaf("th", {{"scope", "col"}, {"class", "n"}}, figure.words);
    out.close().close().line();
    for (const Subject& subject : subjects) {
        if (subject.name.empty()) continue;
        const Verdict verdict = verdict_of(subject);
        out.open("tbody").open("tr").leaf("td", {{"class", "name strong"}}, subject.name);
        out.open("td").leaf("span", {{"class", fmt::format("{} strong", verdict.kind)}}, verdict.text).close();
        for (size_t f = 0; f < figure_count; ++f) {
            if (subject.figures)
                write_number(out, all_figures()[f].text((*subject.figures)[f]), (*subject.figures)[f]);
            else
                write_number(out, "", -1);
        }
        out.close().close().line();
    }
    out.close().close().line();
}

void write_line(Markup& out, const Placed& placed) {
    const Span* span = placed.place();
    if (span == nullptr) return;
    out.leaf("div", {{"class", "small"}}, fmt::format("{}:{}:{}", placed.file(), span->line, span->column));
    out.open("ol", {{"class", "code"}, {"start", std::to_string(span->line)}});
    out.leaf("li", {}, placed.sources->line(span->file, span->line)).close();
}

// What a finding comes from may be long: it opens.
void write_notes(Markup& out, const std::vector<std::string>& notes) {
    if (notes.size() > 1) out.open("details").leaf("summary", {}, "where it comes from");
    for (const std::string& note : notes) out.leaf("div", {{"class", "small"}}, note);
    if (notes.size() > 1) out.close();
}

void write_findings(Markup& out, std::span<const Subject> subjects) {
    const std::vector<Placed> all = flatten(subjects);
    if (all.empty()) {
        out.leaf("p", {}, "Nothing was found.").line();
        return;
    }
    const size_t count = named_count(subjects);
    out.open("ul", {{"class", "findings"}}).line();
    for (const Placed& placed : all) {
        const Diagnostic& diagnostic = *placed.diagnostic;
        const bool is_bad = diagnostic.finding || diagnostic.severity == Severity::error;
        out.open("li").leaf("b", {{"class", is_bad ? "bad" : "warn"}}, diagnostic.code).text(" " + diagnostic.message);
        if (const std::string names = names_text(placed, count); !names.empty())
            out.leaf("div", {{"class", "small"}}, "layout: " + names);
        write_line(out, placed);
        write_notes(out, diagnostic.notes);
        if (!diagnostic.help.empty()) out.leaf("div", {}, diagnostic.help);
        out.close().line();
    }
    out.close().line();
}

} // namespace

std::string check_html(std::span<const Subject> subjects) {
    const size_t count = named_count(subjects);
    const size_t good = static_cast<size_t>(std::count_if(subjects.begin(), subjects.end(), [](const Subject& subject) {
        return !subject.name.empty() && verdict_of(subject).kind == "good";
    }));
    return framed_page("layouts checked: shardc", [&](Markup& out) {
        out.open("header").leaf("h1", {}, fmt::format("{} of {} layouts pass", good, count));
        out.leaf("p", {}, "what shardc check found").open("nav", {{"aria-label", "parts"}});
        out.leaf("a", {{"href", "#checked"}}, "Checked").text(" ").leaf("a", {{"href", "#found"}}, "Found").text(" ");
        out.close().close().line().open("main").line();
        out.open("section", {{"id", "checked"}}).leaf("h2", {}, "Checked").line();
        write_subjects(out, subjects);
        out.close().line().open("section", {{"id", "found"}}).leaf("h2", {}, "Found").line();
        write_findings(out, subjects);
        out.close().close();
    });
}

} // namespace shard

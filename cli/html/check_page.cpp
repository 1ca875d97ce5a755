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

std::string id_of(size_t finding) { return fmt::format("found-{}", finding + 1); }

void write_subjects(Markup& out, std::span<const Subject> subjects, const std::vector<Placed>& found) {
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}}).open("table", {{"class", "sortable"}});
    out.open("thead").open("tr").leaf("th", {{"scope", "col"}}, "checked").leaf("th", {{"scope", "col"}}, "verdict");
    for (const FigureDef& figure : all_figures()) out.leaf("th", {{"scope", "col"}, {"class", "n"}}, figure.words);
    out.close().close().line();
    for (const Subject& subject : subjects) {
        if (subject.name.empty()) continue;
        const Verdict verdict = verdict_of(subject);
        out.open("tbody").open("tr").leaf("td", {{"class", "name strong"}}, subject.name);
        out.open("td").open("span", {{"class", fmt::format("{} strong", verdict.kind)}});
        const auto is_of = [&subject](const Placed& placed) {
            return std::find(placed.subjects.begin(), placed.subjects.end(), &subject) != placed.subjects.end();
        };
        const auto first = std::find_if(found.begin(), found.end(), is_of);
        if (first == found.end())
            out.text(verdict.text);
        else
            out.leaf("a", {{"href", "#" + id_of(static_cast<size_t>(first - found.begin()))}}, verdict.text);
        out.close().close();
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

// The line of each place, with the place marked; the first place links to the finding, for who passes it on.
void write_lines(Markup& out, const Placed& placed, const std::string& id) {
    bool is_first = true;
    for (const Label& label : placed.diagnostic->labels) {
        const Span& span = label.span;
        if (!span.known()) continue;
        const std::string place = fmt::format("{}:{}:{}", placed.sources->name(span.file), span.line, span.column);
        out.open("div", {{"class", "small"}});
        if (is_first)
            out.leaf("a", {{"href", "#" + id}}, place);
        else
            out.text(place);
        if (!label.text.empty()) out.text(": " + label.text);
        out.close();
        is_first = false;
        const std::string_view line = placed.sources->line(span.file, span.line);
        const auto after_character = [line](size_t at) {
            while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) ++at;
            return std::min(at, line.size());
        };
        const size_t begin = after_character(static_cast<size_t>(std::max(span.column - 1, 0)));
        const size_t end = after_character(begin + static_cast<size_t>(std::max(span.length, 1)));
        out.open("ol", {{"class", "code"}, {"start", std::to_string(span.line)}}).open("li");
        out.text(line.substr(0, begin));
        out.leaf("mark", {}, begin == end ? " " : line.substr(begin, end - begin));
        out.text(line.substr(end)).close().close();
    }
}

// What a finding comes from may be long: it opens.
void write_notes(Markup& out, const std::vector<std::string>& notes) {
    if (notes.size() > 1) out.open("details").leaf("summary", {}, "where it comes from");
    for (const std::string& note : notes) out.leaf("div", {{"class", "small"}}, note);
    if (notes.size() > 1) out.close();
}

void write_findings(Markup& out, std::span<const Subject> subjects, const std::vector<Placed>& all) {
    if (all.empty()) {
        out.leaf("p", {}, "Nothing was found.").line();
        return;
    }
    const size_t count = named_count(subjects);
    out.open("ul", {{"class", "findings"}}).line();
    for (size_t i = 0; i < all.size(); ++i) {
        const Placed& placed = all[i];
        const Diagnostic& diagnostic = *placed.diagnostic;
        const bool is_bad = diagnostic.finding || diagnostic.severity == Severity::error;
        out.open("li", {{"id", id_of(i)}})
            .leaf("b", {{"class", is_bad ? "bad" : "warn"}}, diagnostic.code)
            .text(" " + diagnostic.message);
        if (const std::string names = names_text(placed, count); !names.empty())
            out.leaf("div", {{"class", "small"}}, "layout: " + names);
        write_lines(out, placed, id_of(i));
        write_notes(out, diagnostic.notes);
        if (!diagnostic.help.empty()) out.leaf("div", {}, diagnostic.help);
        out.close().line();
    }
    out.close().line();
}

} // namespace

std::string check_html(std::span<const Subject> subjects) {
    const size_t count = named_count(subjects);
    const std::vector<Placed> found = flatten(subjects);
    const size_t good = static_cast<size_t>(std::count_if(subjects.begin(), subjects.end(), [](const Subject& subject) {
        return !subject.name.empty() && verdict_of(subject).kind == "good";
    }));
    return framed_page("layouts checked: shardc", [&](Markup& out) {
        out.open("header").leaf("h1", {}, fmt::format("{} of {} layouts pass", good, count));
        out.leaf("p", {}, "what shardc check found").open("nav", {{"aria-label", "parts"}});
        out.leaf("a", {{"href", "#checked"}}, "Checked").text(" ").leaf("a", {{"href", "#found"}}, "Found").text(" ");
        out.close().close().line().open("main").line();
        out.open("section", {{"id", "checked"}}).leaf("h2", {}, "Checked").line();
        write_subjects(out, subjects, found);
        out.close().line().open("section", {{"id", "found"}}).leaf("h2", {}, "Found").line();
        write_findings(out, subjects, found);
        out.close().close();
    });
}

} // namespace shard

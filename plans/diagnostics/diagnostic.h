// Diagnostics are data: what is wrong, where, and what to do. Passes append them; only cli/ renders them.
//
//     diagnostics.error("E0203", span, "unknown op 'sotfmax'").help("did you mean 'softmax'?");
//
// Codes are stable and registered in plans/codes/, each with the text that `shardc explain CODE` prints:
//   E01xx reading YAML   E02xx model   E03xx layout and shardings   E04xx planning   E05xx plan files
//   E06xx running        E07xx command line   E08xx importing   W…  warnings of the same ranges   P01xx policy findings
//   P02xx verification
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// A place in a source text. Lines and columns count from 1, columns in bytes; line 0 means "no place".
struct Span {
    int file = -1; // index into Sources
    int line = 0;
    int column = 0;
    int length = 1; // bytes to underline

    bool known() const { return file >= 0 && line > 0; }
    bool operator==(const Span&) const = default;
};

// The texts that spans point into, in the order they were read.
class Sources {
public:
    int add(std::string name, std::string text);
    int count() const { return static_cast<int>(files_.size()); }
    const std::string& name(int file) const { return files_[file].name; }
    const std::string& text(int file) const { return files_[file].text; }
    // The text of a 1-based line without its line break; empty if there is no such line.
    std::string_view line(int file, int line) const;
    // What `make` makes of a text, once: who asks later gets the same, of copies of these sources too. Threads may ask.
    std::shared_ptr<const void> made_of(int file, const std::function<std::shared_ptr<const void>()>& make) const;

private:
    struct Made;
    struct File {
        std::string name;
        std::string text;
        std::vector<size_t> marks; // where every so many lines begin: a file may have as many findings as lines
        std::shared_ptr<Made> made;
    };
    std::vector<File> files_;
};

enum class Severity { note, warning, error };
std::string_view name(Severity severity);

struct Label {
    Span span;
    std::string text; // may be empty
    bool operator==(const Label&) const = default;
};

struct Diagnostic {
    std::string code;
    Severity severity = Severity::error;
    std::string message;            // one line, no final stop
    std::vector<Label> labels;      // the first is the primary place; may be empty
    std::vector<std::string> notes; // facts
    std::string help;               // what to do; may be empty
    bool finding = false;           // a policy finding: exit code 1, not 2

    bool operator==(const Diagnostic&) const = default;
};

// Fluent access to the diagnostic just added; valid until the next one is added.
class DiagnosticBuilder {
public:
    explicit DiagnosticBuilder(Diagnostic& diagnostic) : diagnostic_(&diagnostic) {}
    DiagnosticBuilder& label(Span span, std::string text);
    DiagnosticBuilder& note(std::string text);
    DiagnosticBuilder& help(std::string text);

private:
    Diagnostic* diagnostic_;
};

// An append-only list. Passes report every error they can see; the pipeline stops between passes.
class Diagnostics {
public:
    DiagnosticBuilder error(std::string_view code, Span span, std::string message);
    DiagnosticBuilder warning(std::string_view code, Span span, std::string message);
    DiagnosticBuilder finding(std::string_view code, Span span, std::string message);
    void add(Diagnostic diagnostic);
    bool has_error() const { return errors_ > 0; } // findings are not errors
    int error_count() const { return errors_; }    // a pass compares it before and after
    const std::vector<Diagnostic>& all() const { return all_; }

private:
    std::vector<Diagnostic> all_;
    int errors_ = 0;
};

// The candidate nearest to `word` (Levenshtein distance at most 2, and less than half its length), or empty.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

} // namespace shard

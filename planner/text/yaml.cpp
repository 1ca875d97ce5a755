// Reads by events, not by yaml-cpp's own tree: depth, aliases and size are bounded while the text is read, and what
// yaml-cpp accepts in silence (duplicate keys, merge keys, text after the document, open quotes) is seen.
#include "planner/text/yaml.h"

#include "planner/text/yaml_indent.h"
#include "planner/text/yaml_marks.h"
#include "planner/text/yaml_text.h"
#include "plans/base/printable.h"

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace shard {

namespace {

constexpr i64 max_weight = 1'000'000; // values after aliases are expanded; a long text counts as several
constexpr int max_errors = 20;
constexpr size_t most_kept = 1 << 20; // bytes of a text: its tree is some ten times as large

constexpr std::string_view question_mark = "an unquoted ? starts a key in YAML";
constexpr std::string_view question_mark_help = "put the entry in quotes: \"?\", \"data?\"";

struct Stop {}; // unwinds out of yaml-cpp after an error was reported

i64 weight_of(const std::string& text) { return 1 + static_cast<i64>(text.size() / 128); }

class TreeBuilder : public YAML::EventHandler {
public:
    TreeBuilder(const Sources& sources, int file, size_t bom, Diagnostics& diagnostics)
        : places_(sources, file), bom_(bom), diagnostics_(&diagnostics) {}

    std::optional<Yaml> root;
    bool failed = false;

    Span place(size_t pos) const { return places_.at(pos + bom_); }
    std::string_view text() const { return places_.text(); }
    std::optional<MisfitLine> misfit(size_t pos) const { return misfit_of_line(places_, pos + bom_); }
    // The innermost bracket that is open here and that nothing in the file closes, if any.
    std::optional<Span> unclosed_bracket() const {
        for (const Frame& frame : stack_)
            if (frame.flow) {
                if (const std::optional<size_t> open = crossed_bracket(places_, frame.begin)) return places_.at(*open);
                break;
            }
        for (size_t i = stack_.size(); i-- > 0;)
            if (stack_[i].flow && !closes(stack_[i].begin)) return stack_[i].node.span;
        return std::nullopt;
    }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (!root) return;
        error("E0110", place(position(mark)), "text after the end of the document")
            .help("a file holds one document: remove `---`, `...` or a bracket too many");
        throw Stop{};
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        // A missing value has the place of what follows it; the key is the better place to show.
        const size_t offset = position(mark) + bom_;
        Span span = places_.at(offset, scalar_length(offset, ""));
        if (!stack_.empty() && stack_.back().is_map) {
            const Frame& top = stack_.back();
            if (!top.has_key) reject_key(offset, "an empty key");
            const std::string_view before =
                text().substr(std::min(offset, top.key_end), offset - std::min(offset, top.key_end));
            if (top.key_end >= offset || before.find('\n') != std::string_view::npos ||
                text().substr(offset, 1).find_first_of("\n,}]") == 0)
                span = top.pending.key_span;
            check_colon(top);
        }
        const bool is_written = writes_null(text(), offset);
        if (is_written) check_right_of_key(offset);
        if (anchor != 0 && !is_written) {
            error("E0101", places_.at(offset), "this anchor stands before nothing")
                .help("write a value behind it (~ for nothing), or leave it out");
            throw Stop{};
        }
        add_weight(1, span);
        finish({span, std::monostate{}}, anchor, 1, 0);
    }

    void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
        if (is_anchor_name(name)) return;
        error("E0101", place(position(mark)), fmt::format("'&{}' cannot be an anchor", name))
            .help("name anchors with letters, digits, '_', '-' and '.'");
        throw Stop{};
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const size_t offset = position(mark) + bom_;
        const Span span = places_.at(offset, plain_length(text(), offset));
        if (!stack_.empty() && stack_.back().is_map && !stack_.back().has_key) reject_key(offset, "an alias");
        check_right_of_key(offset);
        const std::map<YAML::anchor_t, Anchor>::const_iterator found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            error("E0106", span, "this alias stands for a value that contains it");
            throw Stop{};
        }
        add_weight(found->second.weight, span);
        if (static_cast<int>(stack_.size()) + found->second.height > max_yaml_depth) too_deep(span);
        Yaml copy = found->second.node;
        copy.span = span;
        finish(std::move(copy), 0, found->second.weight, found->second.height);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        const size_t offset = skip_properties(position(mark) + bom_, tag);
        const bool quoted = tag != "?" && offset < text().size() && text()[offset] != '|' && text()[offset] != '>';
        const bool plain = tag == "?";
        if (const std::optional<size_t> comment = comment_in_block_header(text(), offset);
            comment && !plain && !quoted) {
            error("E0101", places_.at(*comment), "a comment behind a block text begins after a blank")
                .help("write a blank before the #");
            throw Stop{};
        }
        const Span span = places_.at(offset, scalar_length(offset, plain ? std::string_view(value) : ""));
        add_weight(weight_of(value), span);
        check_seen(value, span);
        if (!stack_.empty() && stack_.back().is_map && !stack_.back().has_key) {
            if (plain && is_document_mark(value)) reject_key(offset, "what begins as a mark of documents does");
            if (anchor != 0) reject_key(position(mark) + bom_, "a name with an anchor");
            begin_entry(value, quoted, span, offset);
            return;
        }
        if (plain || quoted) check_right_of_key(offset);
        finish({span, YamlScalar{value, !plain}}, anchor, weight_of(value), 0);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override {
        begin(mark, tag, anchor, style, false);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override {
        begin(mark, tag, anchor, style, true);
    }
    void OnMapEnd() override { end(); }

    DiagnosticBuilder error(std::string_view code, Span span, std::string message) {
        failed = true;
        if (++errors_ > max_errors) throw Stop{};
        return diagnostics_->error(code, span, std::move(message));
    }

private:
    struct Frame {
        Yaml node;
        bool is_map = false;
        bool flow = false; // in brackets
        size_t begin = 0;  // offset, of the bracket where there is one
        YAML::anchor_t anchor = 0;
        i64 weight_before = 0;
        int height = 0; // of the tallest child
        bool has_key = false;
        YamlEntry pending;
        size_t key_end = 0; // offset after the pending key
        std::map<std::string, Span> keys;
    };
    struct Anchor {
        Yaml node;
        i64 weight = 0;
        int height = 0;
    };

    // A tag that ends the file is marked behind its end.
    size_t position(const YAML::Mark& mark) const {
        return mark.pos < 0 ? 0 : std::min(static_cast<size_t>(mark.pos), text().size() - bom_);
    }

    void add_weight(i64 weight, Span span) {
        weight_ += weight;
        if (weight_ <= max_weight) return;
        error("E0106", span, fmt::format("more than {} values, aliases counted as often as they are used", max_weight))
            .help("write repeated parts once, as a module with `repeat`");
        throw Stop{};
    }

    // "\e[31m" is text to YAML, but paints the terminal of whoever reads a report.
    void check_seen(std::string_view value, Span span) {
        for (size_t i = 0, length = 0; i < value.size(); i += length) {
            const size_t hidden = hidden_length(value.substr(i));
            length = std::max(hidden, utf8_length(value.substr(i)));
            if (hidden == 0) continue;
            error("E0120", span,
                  fmt::format("the text holds the character {}", escaped_character(value.substr(i, hidden))))
                .help("write it without characters that are not seen");
            return;
        }
    }

    void too_deep(Span span) {
        error("E0105", span, fmt::format("nested more than {} levels deep", max_yaml_depth));
        throw Stop{};
    }

    void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style,
               bool is_map) {
        const size_t offset = skip_properties(position(mark) + bom_, tag);
        Frame frame;
        frame.node.span = places_.at(offset);
        if (static_cast<int>(stack_.size()) >= max_yaml_depth) too_deep(frame.node.span);
        if (!stack_.empty() && stack_.back().is_map && !stack_.back().has_key)
            reject_key(offset, is_map ? "a map" : "a list");
        if (style == YAML::EmitterStyle::Flow) check_right_of_key(offset);
        frame.weight_before = weight_;
        add_weight(1, frame.node.span);
        frame.is_map = is_map;
        frame.flow = style == YAML::EmitterStyle::Flow;
        frame.begin = offset;
        frame.anchor = anchor;
        if (is_map)
            frame.node.value = YamlMap{};
        else
            frame.node.value = YamlList{};
        stack_.push_back(std::move(frame));
    }

    void end() {
        Frame frame = std::move(stack_.back());
        stack_.pop_back();
        finish(std::move(frame.node), frame.anchor, weight_ - frame.weight_before, frame.height + 1);
    }

    // A complete value: remembers it if it has an anchor and hands it to what contains it.
    void finish(Yaml node, YAML::anchor_t anchor, i64 weight, int height) {
        if (anchor != 0) {
            add_weight(weight, node.span);
            anchors_[anchor] = {node, weight, height};
        }
        if (stack_.empty()) {
            root = std::move(node);
            return;
        }
        Frame& top = stack_.back();
        top.height = std::max(top.height, height);
        if (!top.is_map) {
            std::get<YamlList>(top.node.value).push_back(std::move(node));
            return;
        }
        top.pending.value = std::move(node);
        top.has_key = false;
        std::get<YamlMap>(top.node.value).push_back(std::move(top.pending));
        top.pending = {};
    }

    void begin_entry(const std::string& key, bool quoted, Span span, size_t offset) {
        Frame& top = stack_.back();
        const std::optional<size_t> mark = question_mark_before(places_, offset, top.flow, *top.node.map());
        constexpr size_t longest_key = 1024; // that YAML takes without a mark: who has a longer one has to mark it
        if (mark && *mark + 1 < offset && key.size() < longest_key) reject_key(*mark, "a key marked with ?");
        if (!quoted && key == "<<") {
            error("E0103", span, "merge keys (<<) are not supported").help("write the keys out where they are needed");
        } else if (const auto [first, added] = top.keys.emplace(key, span); !added) {
            error("E0102", span, fmt::format("the key '{}' is written twice", key))
                .label(first->second, "first written here")
                .help("keep one of them");
        }
        top.has_key = true;
        top.pending.key = key;
        top.pending.key_span = span;
        top.key_end = offset + span.length;
    }

    [[noreturn]] void reject_key(size_t offset, std::string_view what) {
        offset = question_mark_before(places_, offset, stack_.back().flow, {}).value_or(offset);
        const Span span = places_.at(offset);
        if (offset < text().size() && text()[offset] == '?')
            error("E0117", span, std::string(question_mark)).help(std::string(question_mark_help));
        else if (!closes(offset)) // yaml-cpp takes what stands behind an open bracket for a key
            error("E0111", span, "this bracket is never closed");
        else
            error("E0104", span, fmt::format("{} cannot be a key: keys are names", what));
        throw Stop{};
    }

    // Whether a bracket at `open` has its partner; true if there is no bracket.
    bool closes(size_t open) const {
        if (open >= text().size() || (text()[open] != '[' && text()[open] != '{')) return true;
        BracketScan scan(places_, open);
        while (scan.next())
            if (scan.depth() == 0) return true;
        return false;
    }

    // yaml-cpp takes a last line without a colon for a key without a value.
    void check_colon(const Frame& top) {
        if (top.flow) return;
        const size_t next = text().find_first_not_of(" \t", top.key_end);
        if (next != std::string_view::npos && text()[next] == ':') return;
        error("E0101", top.pending.key_span, fmt::format("expected ':' after '{}'", top.pending.key));
        throw Stop{};
    }

    // A value on a later line than its key, and no further right, is taken by yaml-cpp alone.
    void check_right_of_key(size_t offset) {
        const Frame* const top = stack_.empty() ? nullptr : &stack_.back();
        if (!top || !top->is_map || top->flow || stands_right_of(places_, offset, top->pending.key_span)) return;
        error("E0101", places_.at(offset),
              fmt::format("the value of '{}' is indented no further than it", top->pending.key))
            .help("indent it, or write it behind the colon");
        throw Stop{};
    }

    // From an anchor or a tag to the value behind it. Tags would change the meaning of values, so they are refused.
    size_t skip_properties(size_t offset, const std::string& tag) {
        while (offset < text().size() && (text()[offset] == '&' || text()[offset] == '!')) {
            if (text()[offset] == '!' && !(tag.empty() || tag == "?"))
                error("E0112", places_.at(offset, plain_length(text(), offset)), "tags (!) are not supported")
                    .help("remove the tag; quote a value to make it a string");
            offset = skip_yaml_blanks(text(), yaml_property_end(text(), offset));
        }
        return offset;
    }

    // Length to underline of the scalar at `offset`: on its first line only.
    int scalar_length(size_t offset, std::string_view plain_value) {
        if (offset >= text().size()) return 1;
        const char quote = text()[offset];
        const size_t line_end = places_.end_of_line(offset);
        if (plain_value.empty() && (quote == '"' || quote == '\'')) {
            const size_t close = closing_quote(text(), offset);
            if (close == std::string_view::npos) {
                error("E0111", places_.at(offset), "this quote is never closed");
                throw Stop{};
            }
            return static_cast<int>(std::min(close + 1, line_end) - offset);
        }
        if (!plain_value.empty() && text().substr(offset, plain_value.size()) == plain_value)
            return static_cast<int>(std::min(plain_value.size(), line_end - offset));
        if (plain_value.empty()) return plain_length(text(), offset);
        return static_cast<int>(line_end - offset);
    }

    TextPlaces places_;
    size_t bom_ = 0;
    Diagnostics* diagnostics_;
    std::vector<Frame> stack_;
    std::map<YAML::anchor_t, Anchor> anchors_;
    i64 weight_ = 0;
    int errors_ = 0;
};

// Where the alias begins that stands for nothing, as a pattern does that is not quoted: `*.yaml`.
std::optional<size_t> undefined_alias(const YAML::Exception& exception, std::string_view text, size_t offset) {
    if (exception.msg != YAML::ErrorMsg::UNKNOWN_ANCHOR && exception.msg != YAML::ErrorMsg::ALIAS_NOT_FOUND &&
        exception.msg != YAML::ErrorMsg::CHAR_IN_ALIAS)
        return std::nullopt;
    const size_t star = text.rfind('*', offset);
    return star == std::string_view::npos ? std::nullopt : std::optional(star);
}

// A block that goes on where its lines do not begin. Tabs are said to be tabs.
std::optional<MisfitLine> misfit_of(const YAML::Exception& exception, const TreeBuilder& builder, size_t pos) {
    if (exception.msg != YAML::ErrorMsg::END_OF_MAP && exception.msg != YAML::ErrorMsg::END_OF_SEQ &&
        exception.msg != YAML::ErrorMsg::MAP_VALUE) // a deeper line goes on with a plain value above it
        return std::nullopt;
    return builder.misfit(pos);
}

void report(const YAML::Exception& exception, TreeBuilder& builder) {
    const size_t pos = exception.mark.pos < 0 ? 0 : exception.mark.pos;
    const Span span = builder.place(pos);
    const std::string_view text = builder.text();
    const size_t offset = std::min(pos, text.size());
    if (at_question_mark(text, offset)) {
        builder.error("E0117", span, std::string(question_mark)).help(std::string(question_mark_help));
    } else if (exception.msg.find("EOF in scalar") != std::string::npos) {
        builder.error("E0111", span, "this quote is never closed");
    } else if (const std::optional<Span> bracket = builder.unclosed_bracket()) {
        builder.error("E0111", *bracket, "this bracket is never closed");
    } else if (const std::optional<size_t> star = undefined_alias(exception, text, offset)) {
        const size_t end = std::min(text.find_first_of(" \t\r\n,]}", *star), text.size());
        builder
            .error("E0101", builder.place(*star), "an unquoted * begins an alias in YAML, and no anchor is called so")
            .help(fmt::format("quote a pattern: \"{}\"", text.substr(*star, end - *star)));
    } else if (exception.msg.starts_with("end of map flow") || exception.msg.starts_with("end of sequence flow")) {
        builder.error("E0101", span, "a comma or the closing bracket is missing before this")
            .help("items in brackets are separated by commas: {data: 2, model: 4}");
    } else if (const std::optional<MisfitLine> misfit = misfit_of(exception, builder, pos)) {
        builder.error("E0101", misfit->place, misfit->message).help(misfit->help);
    } else {
        const DiagnosticBuilder added = builder.error("E0101", span, "not valid YAML: " + exception.msg);
        const size_t line = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
        const std::string_view indent = text.substr(line, text.find_first_not_of(" \t", line) - line);
        if (indent.find('\t') != std::string_view::npos)
            DiagnosticBuilder(added).help("indent with spaces: YAML does not allow tabs there");
    }
}

struct Parsed {
    std::optional<Yaml> root;
    Diagnostics said;
};

std::optional<Yaml> parse(const Sources& sources, int file, Diagnostics& diagnostics) {
    if (!check_yaml_text(sources, file, diagnostics)) return std::nullopt;
    std::string text = sources.text(file);
    const size_t bom = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    text.erase(0, bom);
    if (!check_tokens(TextPlaces(sources, file), diagnostics)) return std::nullopt;
    TreeBuilder builder(sources, file, bom, diagnostics);
    try {
        if (!text.ends_with('\n')) text += '\n'; // what a file means does not hang on its last line's end
        std::istringstream stream(std::move(text));
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
        if (!builder.root && !builder.failed) {
            builder.error("E0109", {file, 1, 1, 1}, "the file is empty");
        }
    } catch (const Stop&) {
        // reported
    } catch (const YAML::Exception& exception) {
        try {
            report(exception, builder);
        } catch (const Stop&) {
            // one error more than are shown
        }
    }
    if (builder.failed) return std::nullopt;
    return std::move(builder.root);
}

} // namespace

YamlDocument parse_yaml(const Sources& sources, int file, Diagnostics& diagnostics) {
    const auto parsed = [&] {
        std::shared_ptr<Parsed> made = std::make_shared<Parsed>();
        made->root = parse(sources, file, made->said);
        return made;
    };
    const std::shared_ptr<const Parsed> document =
        sources.text(file).size() > most_kept ? parsed()
                                              : std::static_pointer_cast<const Parsed>(sources.made_of(file, parsed));
    for (const Diagnostic& diagnostic : document->said.all()) diagnostics.add(diagnostic);
    if (!document->root) return nullptr;
    return {document, &*document->root};
}

} // namespace shard

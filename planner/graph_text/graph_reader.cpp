#include "planner/graph_text/graph_reader.h"

#include "planner/graph_text/graph_words.h"
#include "planner/partition/local.h"
#include "planner/partition/verify_local.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shard {

namespace {

struct TextLine {
    int number = 0;
    std::string_view text, details, source; // source: "model.yaml:12"
    int column = 1;
};

// "h: f32 (8) = exp x  # model.yaml:12": what is behind the last such mark, if it is the name of a file and a number.
std::string_view take_source(std::string_view& text) {
    constexpr std::string_view mark = "  # ";
    const size_t at = text.rfind(mark);
    if (at == std::string_view::npos) return {};
    const std::string_view source = text.substr(at + mark.size());
    const size_t colon = source.rfind(':');
    if (colon == std::string_view::npos || !parse_number<i64>(source.substr(colon + 1))) return {};
    text = text.substr(0, at);
    return source;
}

// Those that are not blank.
std::vector<TextLine> lines_of(std::string_view text) {
    std::vector<TextLine> lines;
    int number = 0;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        ++number;
        const size_t begin = line.find_first_not_of(' ');
        if (begin == std::string_view::npos) continue;
        line.remove_prefix(begin);
        if (line.starts_with("| ") && !lines.empty()) {
            lines.back().details = line.substr(2);
            continue;
        }
        TextLine made{number, line, {}, {}, static_cast<int>(begin) + 1};
        made.source = take_source(made.text);
        lines.push_back(made);
    }
    return lines;
}

} // namespace

std::optional<GraphState> GraphReader::read() {
    const std::vector<TextLine> lines = lines_of(sources_.text(file_));
    if (lines.empty()) {
        diagnostics_.error("E0508", {file_, 1, 1, 1}, "a graph begins with `graph on` or `local graph on` and a mesh");
        return std::nullopt;
    }
    for (const TextLine& line : lines) {
        std::string problem;
        const Span begin{file_, line.number, line.column, 1};
        const std::optional<LineDetails> details = read_details(line.details, state_.mesh, problem);
        if (!details) diagnostics_.error("E0508", {file_, line.number + 1, 1, 1}, "in these details: " + problem);
        if (!details) return std::nullopt;
        details_ = *details;
        span_ = source_span(line.source);
        LineScanner at(line.text, begin, diagnostics_);
        line_number_ = line.number;
        &line == &lines.front() ? header(at) : read_line(at);
        if (!at.at_end()) at.problem("expected the end of the line");
        if (!at.ok()) return std::nullopt;
    }
    return finish() ? std::optional(std::move(state_)) : std::nullopt;
}

Span GraphReader::source_span(std::string_view source) const {
    const size_t colon = source.rfind(':');
    if (colon == std::string_view::npos) return {};
    const std::optional<i64> line = parse_number<i64>(source.substr(colon + 1));
    if (!line) return {};
    for (int file = 0; file < sources_.count(); ++file) {
        const std::string_view name = sources_.name(file);
        if (name.substr(name.rfind('/') + 1) == source.substr(0, colon))
            return {file, static_cast<int>(std::clamp<i64>(*line, 1, std::numeric_limits<int>::max())), 1, 1};
    }
    return {};
}

void GraphReader::header(LineScanner& at) {
    state_.is_local = at.take("local ");
    at.expect("graph on {");
    while (at.ok() && !at.take("}")) {
        if (!state_.mesh.axes.empty()) at.expect(",");
        MeshAxis axis;
        if (state_.mesh.find(std::string(axis.name = at.word()))) at.problem("an axis of this name is there already");
        at.expect(":");
        axis.size = at.integer();
        if (axis.size < 1 || axis.size > 1'000'000) at.problem("an axis has from 1 to 1000000 devices");
        state_.mesh.axes.push_back(std::move(axis));
    }
    if (state_.mesh.axes.size() > 16) at.problem("more than 16 axes");
    if (!details_.mesh) return;
    const auto is_alike = [](const MeshAxis& a, const MeshAxis& b) { return a.name == b.name && a.size == b.size; };
    if (!std::equal(state_.mesh.axes.begin(), state_.mesh.axes.end(), details_.mesh->axes.begin(),
                    details_.mesh->axes.end(), is_alike))
        at.problem("the details have another mesh");
    state_.mesh = *details_.mesh;
}

void GraphReader::read_line(LineScanner& at) {
    const Span first = at.place();
    const std::string_view word = at.word();
    if (at.take(":")) return value_line(at, std::string(word), first);
    if (word == "end") return close(at);
    results_of_ = -1;
    if (word == "region") return region(at);
    if (word == "loop") return open(at);
    if (word == "carry") return carry(at, first);
    if (word == "output") return output(at);
    if (word == "loss") return static_cast<void>(graph().loss = known(at));
    if (word == "update") return update(at);
    const std::optional<Role> role = parse_role(word);
    if (!role) return at.problem(first, fmt::format("no line of a graph begins with '{}'", word));
    input(at, *role);
}

ValueId GraphReader::known(LineScanner& at) {
    const Span here = at.place();
    const std::string_view name = at.word();
    const std::map<std::string, ValueId, std::less<>>::iterator found = names_.find(name);
    if (at.ok() && found == names_.end()) at.problem(here, fmt::format("no value '{}' stands above", name));
    return at.ok() ? found->second : -1;
}

std::vector<ValueId> GraphReader::known_list(LineScanner& at) {
    std::vector<ValueId> ids;
    do ids.push_back(known(at));
    while (at.ok() && at.take(","));
    return ids;
}

ValueId GraphReader::new_value(LineScanner& at, std::string name, const Span& place, NodeId producer) {
    Value value;
    value.type = read_type(at);
    LocalPart part{value.type.shape, {}};
    if (state_.is_local && at.take("of")) part.global_shape = read_shape(at);
    if (part.global_shape.size() != value.type.shape.size()) at.problem(place, "the whole has other dims");
    std::optional<Sharding> sharding;
    if (at.next_is("[")) sharding = read_sharding(at, state_.mesh);
    if (sharding && sharding->dims.size() != value.type.shape.size()) at.problem(place, "its sharding has other dims");
    if (!sharding && state_.is_local && value.type.rank() > 0)
        at.problem(place, "a value of a local graph has a sharding");
    if (sharding) part.sharding = *sharding;
    if (state_.is_local) value.part = std::move(part);
    if (at.take("varying over")) varying(at, value.varying);
    if (!names_.try_emplace(name, static_cast<ValueId>(graph().values.size())).second)
        at.problem(place, fmt::format("there is a value '{}' already", name));
    value.name = std::move(name);
    value.span = details_.named ? source_span(*details_.named) : span_;
    value.producer = producer;
    value.loop = here();
    value.role = details_.role.value_or(Role::value);
    value.stacked = details_.stacked;
    value.on_host = details_.on_host;
    value.region = details_.region;
    if (value.region < -1 || value.region >= static_cast<int>(graph().regions.size()))
        at.problem(place, "there is no such region");
    const ValueId id = static_cast<ValueId>(graph().values.size());
    if (!details_.of.empty()) belongs_.emplace_back(id, details_.of, line_number_);
    if (details_.kept) state_.value_of.push_back(id);
    graph().values.push_back(std::move(value));
    if (!state_.is_local) state_.shardings.push_back(sharding);
    return id;
}

void GraphReader::varying(LineScanner& at, std::vector<int>& axes) {
    do {
        const std::optional<int> axis = state_.mesh.find(at.word());
        if (!axis) at.problem("expected an axis of the mesh");
        axes.push_back(axis.value_or(0));
    } while (at.ok() && at.take(","));
}

void GraphReader::region(LineScanner& at) {
    GraphRegion region;
    if (at.integer() != static_cast<i64>(graph().regions.size())) at.problem("regions are numbered from 0 on");
    at.expect(": manual over");
    std::vector<int> axes;
    varying(at, axes);
    for (int axis : axes) {
        region.axes.push_back(state_.mesh.whole(axis));
        region.names.push_back(state_.mesh.axes[axis].name);
    }
    region.check = !at.take("; unchecked");
    region.scope = details_.scope;
    region.span = span_;
    graph().regions.push_back(std::move(region));
}

void GraphReader::input(LineScanner& at, Role role) {
    const Span place = at.place();
    std::string name(at.word());
    at.expect(":");
    const ValueId id = new_value(at, std::move(name), place, -1);
    if (!at.ok()) return;
    Value& value = graph().value(id);
    value.role = role;
    if (at.take("=")) {
        const std::string_view written = at.until(", of ");
        const Shape& whole = state_.is_local ? value.part->global_shape : value.type.shape;
        if (details_.init)
            value.init = *details_.init;
        else if (const std::optional<double> number = parse_number<double>(written))
            value.init = Generate{Fill{*number}, whole, {}};
        else
            at.problem(place, "what begins as more than one number needs its details");
    }
    if (at.take(", of ")) value.of = known(at);
    graph().inputs.push_back(id);
}

void GraphReader::output(LineScanner& at) {
    const Span place = at.place();
    std::string called(at.word());
    const std::map<std::string, ValueId, std::less<>>::iterator found = names_.find(called);
    const ValueId id = at.take("=") ? known(at) : found == names_.end() ? -1 : found->second;
    if (id < 0) return at.problem(place, fmt::format("no value '{}' stands above", called));
    std::optional<Sharding> asked;
    if (at.take("as ")) asked = read_sharding(at, state_.mesh);
    if (asked && asked->dims.size() != graph().value(id).type.shape.size())
        at.problem(place, "its sharding has other dims");
    graph().outputs.push_back(id);
    graph().output_names.push_back(std::move(called));
    state_.outputs.push_back(std::move(asked));
}

void GraphReader::update(LineScanner& at) {
    Update update;
    update.input = known(at);
    at.expect("=");
    update.output = known(at);
    graph().updates.push_back(update);
}

bool GraphReader::wrong(int line, std::string what) {
    diagnostics_.error("E0508", {file_, line, 1, 1}, std::move(what));
    return false;
}

bool GraphReader::finish() {
    if (!open_.empty()) return wrong(line_number_, "a loop has no end");
    for (const auto& [id, of, line] : belongs_) {
        if (!names_.contains(of)) return wrong(line, fmt::format("there is no value '{}'", of));
        graph().value(id).of = names_.find(of)->second;
    }
    for (const auto& [loop, sum, name] : becomes_) {
        if (!names_.contains(name)) return wrong(line_number_, fmt::format("there is no value '{}'", name));
        graph().loops[loop].sums[sum].becomes = names_.find(name)->second;
    }
    // What graphs have to keep is checked by what passes are checked with: of a text it is the text's fault.
    try {
        if (state_.is_local)
            verify_local(Local{graph(), state_.value_of}, state_.mesh);
        else
            verify_graph(graph());
    } catch (const InternalError& broken) {
        return wrong(1, fmt::format("this is no graph that a pass may be given: {}", broken.what()));
    }
    return true;
}

} // namespace shard

#include "planner/policies_support/contributors.h"

#include "plans/base/units.h"
#include "plans/plan/source_ref.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr size_t shown = 5; // contributors per finding

template<class T, class Amount, class Text>
void note_largest(DiagnosticBuilder& finding, std::vector<const T*> items, const Amount& amount, const Text& text) {
    std::stable_sort(items.begin(), items.end(), [&](const T* a, const T* b) { return amount(*a) > amount(*b); });
    for (size_t i = 0; i < items.size() && i < shown; ++i) finding.note(text(*items[i]));
    if (items.size() > shown) finding.note(fmt::format("and {} more", items.size() - shown));
}

std::string place_text(const SourceRef& source) {
    return source == SourceRef{} ? "" : fmt::format(" ({})", text(source));
}

std::string tensor_text(const Mesh& mesh, const TensorReport& tensor) {
    return fmt::format("{}: {} of {} {} {}{}", tensor.name, exact_bytes(tensor.bytes_per_device), name(tensor.dtype),
                       shape_text(tensor.shape), text(mesh, tensor.sharding), place_text(tensor.source));
}

std::string collective_text(const Mesh& mesh, const CollectiveReport& collective) {
    std::string out = fmt::format("{} over {} of {}: {}", collective.kind, text(mesh, collective.axes),
                                  collective.tensor, exact_bytes(collective.wire_bytes_per_device));
    if (collective.count > 1) out += fmt::format(" in {} executions", collective.count);
    if (!collective.cause.empty()) out += ", " + collective.cause;
    return out + place_text(collective.source);
}

} // namespace

TensorReports all_tensors(const Plan& plan) {
    TensorReports all;
    for (const TensorReport& tensor : plan.report.tensors) all.push_back(&tensor);
    return all;
}

CollectiveReports all_collectives_of(const Plan& plan) {
    CollectiveReports all;
    for (const CollectiveReport& collective : plan.report.collectives) all.push_back(&collective);
    return all;
}

i64 whole_bytes(const TensorReport& tensor) { return TensorType{tensor.dtype, tensor.shape, tensor.logical}.bytes(); }

std::string counted_arrays(size_t count) { return fmt::format("{} arrays are", count); }

void note_peak(DiagnosticBuilder finding, const Plan& plan) {
    const MemoryReport& memory = plan.report.memory;
    const size_t named = std::min(memory.largest.size(), shown);
    for (const AtPeak& value : std::span(memory.largest).first(named)) {
        const auto is_it = [&](const TensorReport& tensor) {
            return tensor.name == value.name && tensor.bytes_per_device == value.bytes;
        };
        const auto array = std::find_if(plan.report.tensors.begin(), plan.report.tensors.end(), is_it);
        finding.note(array != plan.report.tensors.end()
                         ? tensor_text(plan.mesh, *array)
                         : fmt::format("{}: {}{}", value.name, exact_bytes(value.bytes), place_text(value.source)));
    }
    const i64 more = static_cast<i64>(memory.largest.size() - named) + memory.others;
    if (more > 0) finding.note(fmt::format("and {} more at the peak", more));
}

void note_tensors(DiagnosticBuilder finding, const Plan& plan, TensorReports tensors) {
    note_largest(
        finding, std::move(tensors), [](const TensorReport& t) { return t.bytes_per_device; },
        [&](const TensorReport& t) { return tensor_text(plan.mesh, t); });
}

void note_collectives(DiagnosticBuilder finding, const Plan& plan, CollectiveReports collectives) {
    note_largest(
        finding, std::move(collectives), [](const CollectiveReport& c) { return c.wire_bytes_per_device; },
        [&](const CollectiveReport& c) { return collective_text(plan.mesh, c); });
}

} // namespace shard

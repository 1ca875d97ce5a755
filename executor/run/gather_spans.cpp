#include "executor/run/gather_spans.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace shard {

namespace {

using Spans = std::vector<std::vector<RunSpan>>;

double seconds_of(Clock::time_point time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

// By the clock of this process.
Spans spans_of(std::span<const Device> devices) {
    Spans spans(devices.size());
    for (size_t device = 0; device < devices.size(); ++device)
        for (const StepRun& run : devices[device].runs())
            spans[device].push_back({run.step, seconds_of(run.begin), seconds_of(run.end)});
    return spans;
}

template<typename T>
std::string text_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

template<typename T>
T take(std::string_view& text) {
    internal_check(text.size() >= sizeof(T), "a rank's spans end early");
    T value;
    std::memcpy(&value, text.data(), sizeof value);
    text.remove_prefix(sizeof value);
    return value;
}

// By how much this clock is ahead of the first rank's. What the first one says it reads arrives later than that: of some
// times the soonest.
std::optional<double> seconds_ahead(Ranks& ranks) {
    constexpr int times = 8;
    double ahead = 0;
    for (int n = 0; n < times; ++n) {
        const std::optional<std::string> first =
            ranks.meet("the clocks", "", [](std::vector<std::string>&) { return text_of(seconds_of(Clock::now())); });
        if (!first) return std::nullopt;
        std::string_view text = *first;
        const double late = seconds_of(Clock::now()) - take<double>(text);
        ahead = n == 0 ? late : std::min(ahead, late);
    }
    return ranks.is_first() || ranks.transport().ranks_on_machine() == ranks.count() ? 0 : ahead;
}

std::string message_of(const Spans& spans, double ahead) {
    std::string text = text_of(spans.size());
    for (const std::vector<RunSpan>& device : spans) {
        text += text_of(device.size());
        for (const RunSpan& span : device) text += text_of(RunSpan{span.step, span.begin - ahead, span.end - ahead});
    }
    return text;
}

void add_message(std::string_view text, Spans& spans) {
    for (size_t left = take<size_t>(text); left > 0; --left) {
        std::vector<RunSpan>& device = spans.emplace_back();
        for (size_t runs = take<size_t>(text); runs > 0; --runs) device.push_back(take<RunSpan>(text));
    }
}

void from_the_first(Spans& spans, double first) {
    for (std::vector<RunSpan>& device : spans)
        for (RunSpan& span : device) {
            span.begin -= first;
            span.end -= first;
        }
}

double begin_of(std::span<const Device> devices, double ahead) {
    double first = std::numeric_limits<double>::infinity();
    for (const Device& device : devices) first = std::min(first, seconds_of(device.started()) - ahead);
    return first;
}

} // namespace

std::optional<Spans> gather_spans(std::span<const Device> devices, Ranks* ranks) {
    Spans spans = spans_of(devices);
    if (ranks == nullptr) {
        from_the_first(spans, begin_of(devices, 0));
        return spans;
    }
    const std::optional<double> ahead = seconds_ahead(*ranks);
    if (!ahead) return std::nullopt;
    const std::string own = text_of(begin_of(devices, *ahead)) + message_of(spans, *ahead);
    spans.clear();
    const std::optional<std::string> reply = ranks->meet("the spans", own, [&](std::vector<std::string>& messages) {
        double first = std::numeric_limits<double>::infinity();
        for (std::string_view message : messages) {
            first = std::min(first, take<double>(message));
            add_message(message, spans);
        }
        from_the_first(spans, first);
        return std::string();
    });
    if (!reply) return std::nullopt;
    return spans;
}

} // namespace shard

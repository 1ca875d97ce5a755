// The bytes of a device while the steps of the plan run: a box is bytes that hold one thing for a while.
#include "cli/html/panel.h"

#include "cli/html/words.h"
#include "cli/summary/verdict.h"
#include "plans/base/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr double left = 70, top = 20, width = 880, height = 280, letter = 5.6, line_height = 11;
constexpr size_t most_boxes = 400, most_named = 12;

// The largest power of two of bytes, or half of it, of which at least three make the whole.
i64 tick_of(i64 whole) {
    i64 tick = 1;
    while (tick <= whole / 6) tick *= 2;
    return tick;
}

class Drawing {
public:
    Drawing(Markup& out, const PageData& data) : out_(out), plan_(data.plan), use_(data.course.memory) {
        const MemoryReport& memory = plan_.report.memory;
        has_cap_ = memory.capacity > 0 && memory.capacity < 2 * memory.peak;
        whole_ = std::max<i64>(has_cap_ ? std::max(memory.peak, memory.capacity) : memory.peak, 1);
    }

    void draw() {
        out_.open("div", {{"class", "scroll"}, {"tabindex", "0"}});
        out_.open("svg", {{"class", "wide"},
                          {"viewBox", fmt::format("0 0 {} {}", left + width + 10, top + height + 34)},
                          {"role", "img"},
                          {"aria-label", "bytes of a device, step by step"}});
        draw_scale();
        draw_boxes();
        draw_loops(plan_.steps);
        draw_marks();
        out_.close().close().line();
    }

private:
    double x_of(i64 step) const {
        return left + width * static_cast<double>(step + 1) / static_cast<double>(use_.steps + 1);
    }
    double y_of(i64 bytes) const {
        return top + height - height * static_cast<double>(bytes) / static_cast<double>(whole_);
    }

    void draw_scale() {
        for (i64 bytes = 0; bytes <= whole_; bytes += tick_of(whole_)) {
            const std::string y = px(y_of(bytes));
            out_.leaf("path", {{"class", "grid"}, {"d", fmt::format("M{} {}h{}", left, y, width)}});
            out_.leaf("text", {{"class", "end"}, {"x", px(left - 6)}, {"y", px(y_of(bytes) + 3)}}, human_bytes(bytes));
        }
    }

    double area(const HeldBytes& held) const {
        return static_cast<double>(held.bytes) * static_cast<double>(held.last - held.first + 1);
    }

    void draw_boxes() {
        std::vector<const HeldBytes*> boxes;
        for (const HeldBytes& held : use_.held)
            if (held.bytes > 0) boxes.push_back(&held);
        std::stable_sort(boxes.begin(), boxes.end(),
                         [&](const HeldBytes* a, const HeldBytes* b) { return area(*a) > area(*b); });
        all_ = boxes.size();
        boxes.resize(std::min(all_, most_boxes));
        for (const HeldBytes* held : boxes) draw_box(*held);
        out_.line();
    }

    void draw_box(const HeldBytes& held) {
        const double x = x_of(held.first), wide = x_of(held.last + 1) - x;
        const double y = y_of(held.offset + held.bytes), tall = y_of(held.offset) - y;
        const std::string called = held_name(plan_, plan_.report.tensors, held);
        const std::string color = memory_class(name(held.kind));
        out_.open("rect", {{"class", tall < 4 ? color : color + " tall"},
                           {"x", px(x)},
                           {"y", fmt::format("{:.2f}", y)},
                           {"width", px(wide)},
                           {"height", fmt::format("{:.2f}", tall)}});
        out_.leaf("title", {}, fmt::format("{} ({}) {}", called, name(held.kind), human_bytes(held.bytes)));
        out_.close();
        const std::string label = fmt::format("{} {}", called, human_bytes(held.bytes));
        if (tall < line_height || wide < letter * static_cast<double>(label.size())) return;
        out_.leaf("text", {{"class", "on-" + color}, {"x", px(x + 4)}, {"y", px(y + tall / 2 + 3)}}, label);
    }

    // The steps of a loop's body stand there once.
    void draw_loops(const std::vector<Step>& steps) {
        for (const Step& step : steps) {
            const i64 at = at_++;
            const Loop* loop = std::get_if<Loop>(&step.variant_ref());
            if (loop == nullptr) continue;
            draw_loops(loop->body);
            const double begin = x_of(at), end = x_of(at_);
            out_.leaf("path", {{"class", "bracket"},
                               {"d", fmt::format("M{} {}v-4h{}v4", px(begin), px(top + height + 8), px(end - begin))}});
            const std::string text = fmt::format("loop, {} x", grouped(loop->trips));
            if (end - begin > letter * static_cast<double>(text.size()))
                out_.leaf("text", {{"class", "middle"}, {"x", px((begin + end) / 2)}, {"y", px(top + height + 18)}},
                          text);
        }
    }

    void draw_marks() {
        const MemoryReport& memory = plan_.report.memory;
        const double x = (x_of(use_.peak_step) + x_of(use_.peak_step + 1)) / 2;
        out_.leaf("path", {{"class", "mark"}, {"d", fmt::format("M{} {}v{}", px(x), px(top - 4), px(height + 4))}});
        const bool is_right = x > left + width / 2;
        out_.leaf(
            "text",
            {{"class", is_right ? "end strong" : "strong"}, {"x", px(is_right ? x - 4 : x + 4)}, {"y", px(top - 6)}},
            fmt::format("peak {}", human_bytes(memory.peak)));
        if (has_cap_) {
            const double y = y_of(memory.capacity);
            out_.leaf("path", {{"class", "cap"}, {"d", fmt::format("M{} {}h{}", left, px(y), width)}});
            out_.leaf("text", {{"class", "bad"}, {"x", px(is_right ? left + 4 : left + width - 120)}, {"y", px(y - 4)}},
                      fmt::format("capacity {}", human_bytes(memory.capacity)));
        }
        out_.leaf("text", {{"class", "middle"}, {"x", px(left + width / 2)}, {"y", px(top + height + 31)}},
                  fmt::format("{} steps of the plan, in order", grouped(use_.steps)));
    }

    Markup& out_;
    const Plan& plan_;
    const MemoryUse& use_;
    bool has_cap_ = false;
    i64 whole_ = 1, at_ = 0;
    size_t all_ = 0;
};

void write_legend(Markup& out, const MemoryReport& memory) {
    out.open("p", {{"class", "legend"}});
    for (const auto& [role, bytes] : memory_by_role(memory)) {
        out.open("span").leaf("i", {{"class", memory_class(role)}});
        out.text(fmt::format("{} {}", role, human_bytes(bytes))).close().text(" ");
    }
    if (memory.capacity > 0) out.leaf("span", {}, "capacity " + human_bytes(memory.capacity));
    out.close().line();
}

void write_peak(Markup& out, const PageData& data) {
    const MemoryUse& use = data.course.memory;
    const std::vector<HeldBytes> alive = held_at_peak(use);
    out.open("details", {{"open", "open"}}).leaf("summary", {}, "What lives at the peak");
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}}).open("table");
    write_head(out, {"value", "kind", "type on a device", "-bytes", "-of the peak"});
    i64 rest = 0;
    out.open("tbody");
    for (size_t i = 0; i < alive.size(); ++i) {
        if (i >= most_named) {
            rest += alive[i].bytes;
            continue;
        }
        const HeldBytes& held = alive[i];
        out.open("tr")
            .leaf("td", {{"class", "name"}}, held_name(data.plan, data.plan.report.tensors, held))
            .leaf("td", {}, name(held.kind));
        out.leaf("td", {{"class", "mono"}},
                 held.buffer < 0 ? ""
                                 : fmt::format("{} {}", name(data.plan.buffers[held.buffer].dtype),
                                               shape_text(data.plan.buffers[held.buffer].shape)));
        write_number(out, human_bytes(held.bytes), static_cast<double>(held.bytes));
        write_number(out, percent(static_cast<double>(held.bytes), static_cast<double>(use.most.peak)), 0);
        out.close().line();
    }
    if (alive.size() > most_named) {
        out.open("tr").leaf("td", {}, fmt::format("{} others", alive.size() - most_named)).leaf("td").leaf("td");
        write_number(out, human_bytes(rest), static_cast<double>(rest));
        write_number(out, percent(static_cast<double>(rest), static_cast<double>(use.most.peak)), 0);
        out.close();
    }
    out.close().close().close().close().line();
}

void draw(Markup& out, const PageData& data) {
    write_legend(out, data.plan.report.memory);
    Drawing(out, data).draw();
    write_peak(out, data);
}

} // namespace

const PanelDef& panel_memory_map() {
    static const PanelDef def = {.id = "memory",
                                 .title = "Memory",
                                 .about = "Bytes of a device, where they lie, while the steps of the plan run.",
                                 .order = 1,
                                 .draw = draw};
    return def;
}

} // namespace shard

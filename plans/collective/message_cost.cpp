#include "plans/collective/message_cost.h"

#include "plans/collective/link_seconds.h"

#include <algorithm>
#include <map>

namespace shard {

namespace {

// With more of them the farthest message stands for all.
constexpr i64 most_devices = 1 << 14;

class Routes {
public:
    Routes(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes)
        : mesh_(&mesh), hardware_(&hardware) {
        for (const AxisRef& ref : axes) {
            const AxisRef whole = mesh.whole(ref.axis);
            if (std::find(whole_.begin(), whole_.end(), whole) == whole_.end()) whole_.push_back(whole);
        }
        std::sort(whole_.begin(), whole_.end());
        for (const AxisRef& ref : whole_)
            for (const LinkLine& line : lines_of(mesh, hardware, ref)) lines_.push_back(line);
    }

    // The devices that share lines with one group: those that differ along the whole axes.
    i64 devices() const { return total_size(whole_); }
    std::vector<i64> positions() const { return group_of(*mesh_, 0, whole_); }

    void send(std::span<const i64> from, std::span<const i64> to, double bytes) {
        std::vector<const LinkLine*> crossed; // the outermost link's lines on which the ends differ
        for (const LinkLine& line : lines_) {
            if (at(line, from) == at(line, to)) continue;
            if (!crossed.empty() && crossed.front()->link < line.link) crossed.clear();
            if (crossed.empty() || crossed.front()->link == line.link) crossed.push_back(&line);
        }
        if (crossed.empty()) return;
        const size_t link = crossed.front()->link;
        i64 hops = 1;
        if (is_ring(hardware_->links[link])) {
            hops = 0;
            for (const LinkLine* line : crossed) hops += distance(*line, from, to);
            for (size_t first = 0; first < crossed.size(); ++first) {
                route(crossed, from, to, bytes / static_cast<double>(crossed.size()));
                std::rotate(crossed.begin(), crossed.begin() + 1, crossed.end());
            }
        } else {
            load_[{link, position_of(*mesh_, from), 0, 0}] += bytes;
        }
        most_hops_[link] = std::max(most_hops_[link], hops);
    }

    double seconds(double bytes) const {
        LinkSeconds seconds(*hardware_);
        std::map<size_t, double> fullest;
        for (const auto& [place, load] : load_) fullest[place.link] = std::max(fullest[place.link], load);
        for (const auto& [link, load] : fullest) seconds.add(0, load / bandwidth(hardware_->links[link], bytes));
        double latency = 0; // messages go at the same time
        for (const auto& [link, hops] : most_hops_)
            latency = std::max(latency, hardware_->links[link].latency * static_cast<double>(hops));
        seconds.add(latency, 0);
        return load_.empty() ? 0 : seconds.total();
    }

private:
    // A link out of the device at `position`: on rings along an axis in a direction (-1, 1).
    struct Place {
        size_t link;
        i64 position;
        int axis, direction;
        auto operator<=>(const Place&) const = default;
    };

    static i64 at(const LinkLine& line, std::span<const i64> coordinates) {
        return coordinates[line.axis] / line.step % line.n;
    }
    static i64 distance(const LinkLine& line, std::span<const i64> from, std::span<const i64> to) {
        const i64 way = std::abs(at(line, to) - at(line, from));
        return line.wrap ? std::min(way, line.n - way) : way;
    }

    void route(const std::vector<const LinkLine*>& lines, std::span<const i64> from, std::span<const i64> to,
               double bytes) {
        std::vector<i64> here(from.begin(), from.end());
        for (const LinkLine* line : lines) {
            i64 way = at(*line, to) - at(*line, here);
            if (line->wrap && std::abs(way) * 2 > line->n) way += way > 0 ? -line->n : line->n;
            const int direction = way > 0 ? 1 : -1;
            for (; way != 0; way -= direction) {
                load_[{line->link, position_of(*mesh_, here), line->axis, direction}] += bytes;
                const i64 now = at(*line, here), next = (now + direction + line->n) % line->n;
                here[line->axis] += (next - now) * line->step;
            }
        }
    }

    const Mesh* mesh_;
    const Hardware* hardware_;
    std::vector<AxisRef> whole_;
    std::vector<LinkLine> lines_;
    std::map<Place, double> load_;
    std::map<size_t, i64> most_hops_; // by link
};

} // namespace

double message_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes,
                       const std::function<i64(i64)>& source, double bytes) {
    Routes routes(mesh, hardware, axes);
    if (routes.devices() > most_devices) return farthest_message_seconds(mesh, hardware, axes, bytes);
    for (const i64 position : routes.positions()) {
        const i64 from = source(position);
        if (from >= 0 && from != position)
            routes.send(coordinates_of(mesh, from), coordinates_of(mesh, position), bytes);
    }
    return routes.seconds(bytes);
}

double farthest_message_seconds(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes,
                                double bytes) {
    LinkSeconds seconds(hardware);
    double latency = 0;
    for (const LinkLevel& level : levels_of(mesh, hardware, axes)) {
        i64 hops = 1;
        if (is_ring(*level.link)) {
            hops = 0;
            for (const LinkLine& line : level.lines) hops += line.wrap ? line.n / 2 : (line.n - 1) * line.stride;
        }
        latency = std::max(latency, level.link->latency * static_cast<double>(hops));
        seconds.add(0, bytes / bandwidth(*level.link, bytes));
    }
    if (latency > 0) seconds.add(latency, 0);
    return seconds.total();
}

} // namespace shard

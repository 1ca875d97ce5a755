#include "executor/collective/messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr i64 line = 64;

// Writes down what is to be done.
class RecordedTraffic final : public Traffic {
public:
    std::vector<Movement> movements;

    void copy_box(std::byte* to, const std::byte* from, i64 element_bytes, const std::vector<CopyDim>& dims) override {
        movements.push_back({{to}, {from}, std::nullopt, DType::f32, element_bytes, dims});
    }
    void reduce(std::span<std::byte* const> targets, std::span<const std::byte* const> sources, ReduceOp op,
                DType dtype, const std::vector<CopyDim>& dims) override {
        movements.push_back(
            {{targets.begin(), targets.end()}, {sources.begin(), sources.end()}, op, dtype, byte_size(dtype), dims});
    }
    void clear(std::byte* to, i64 bytes) override {
        movements.push_back({{to}, {}, std::nullopt, DType::f32, 1, {{bytes, 1, 1}}});
    }
};

bool is_run(const std::vector<CopyDim>& dims) {
    const std::vector<CopyDim> loops = normalised(dims);
    return loops.empty() || (loops.size() == 1 && loops.front().to == 1 && loops.front().from == 1);
}

i64 add_staging(i64& total, i64 bytes) {
    const i64 at = total;
    total += (bytes + line - 1) / line * line;
    return at;
}

} // namespace

std::vector<Movement> movements_of(const Share& share) {
    RecordedTraffic traffic;
    carry_out_share(share, traffic);
    std::erase_if(traffic.movements, [](const Movement& movement) { return movement.bytes() == 0; });
    return std::move(traffic.movements);
}

Messages::Messages(const Plan& plan, const Program& program, const Arenas& arenas, Ranks& ranks,
                   std::function<void(int)> wake)
    : plan_(plan), program_(program), arenas_(arenas), ranks_(ranks), wake_(std::move(wake)),
      devices_(plan.mesh.device_count()), held_(ranks.held(devices_)), first_(ranks.first_position(devices_)),
      exchanges_(program.starts.size()) {
    for (std::vector<std::unique_ptr<Exchange>>& of_devices : exchanges_) of_devices.resize(held_);
}

bool Messages::are_tags_enough(const Ranks& ranks, i64 devices) {
    const i64 held = ranks.held(devices);
    return held < (i64{1} << 15) && Ranks::first_tag + 2 * held * held <= ranks.transport().largest_tag();
}

int Messages::tag_of(i64 source, i64 target, bool is_result) const {
    return static_cast<int>(Ranks::first_tag + ((is_result ? held_ : 0) + source % held_) * held_ + target % held_);
}

// What the own share needs of others, and makes for them.
void Messages::add_own(Exchange& exchange, int device, const Share& share) const {
    for (Movement& movement : movements_of(share)) {
        Task task;
        const i64 bytes = movement.bytes();
        const auto outside = [&](const std::byte* end) { return !in_arena_of(device, end); };
        exchange.wire_bytes += bytes * (std::count_if(movement.targets.begin(), movement.targets.end(), outside) +
                                        std::count_if(movement.sources.begin(), movement.sources.end(), outside));
        std::vector<std::byte*> here;
        for (std::byte* target : movement.targets)
            if (is_local(arenas_.holder(target))) here.push_back(target);
        const std::vector<std::byte*>::iterator own =
            std::find_if(here.begin(), here.end(), [&](const std::byte* target) { return !outside(target); });
        for (std::byte* target : movement.targets) {
            const i64 holder = arenas_.holder(target);
            if (is_local(holder)) continue;
            internal_check(own != here.end() && is_run(to_packed(movement.dims)), "a result that is no run");
            exchange.replies.push_back({rank_of(holder), tag_of(device, holder, true), bytes, *own});
        }
        bool any_elsewhere = false;
        for (const std::byte* source : movement.sources) {
            const i64 holder = arenas_.holder(source);
            task.is_elsewhere.push_back(!is_local(holder));
            any_elsewhere = any_elsewhere || task.is_elsewhere.back();
        }
        const bool runs = is_run(movement.dims);
        task.is_received = any_elsewhere && !movement.reduce && is_run(from_packed(movement.dims));
        for (size_t s = 0; s < movement.sources.size(); ++s) {
            // Sources are combined with strides that are the same for all: if one comes packed, all are.
            const bool is_staged = (task.is_elsewhere[s] && !task.is_received) || (any_elsewhere && !runs);
            task.staged_at.push_back(is_staged && !task.is_received ? add_staging(exchange.staging_bytes, bytes) : -1);
            if (!task.is_elsewhere[s]) continue;
            const i64 holder = arenas_.holder(movement.sources[s]);
            exchange.operands.push_back({rank_of(holder), tag_of(holder, device, false), bytes,
                                         task.is_received ? movement.targets.front() : nullptr, task.staged_at[s]});
        }
        task.movement = std::move(movement);
        task.movement.targets = std::move(here);
        exchange.tasks.push_back(std::move(task));
    }
}

// What another rank's share reads of this device, and writes into it.
void Messages::add_for_other(Exchange& exchange, int device, i64 other, const Share& share) const {
    for (const Movement& movement : movements_of(share)) {
        for (const std::byte* source : movement.sources) {
            if (!in_arena_of(device, source)) continue;
            const std::vector<CopyDim> packed = to_packed(movement.dims);
            const i64 bytes = movement.bytes();
            const i64 staged_at = is_run(packed) ? -1 : add_staging(exchange.staging_bytes, bytes);
            exchange.sends.push_back({rank_of(other), tag_of(device, other, false), bytes,
                                      const_cast<std::byte*>(source), staged_at, movement.element_bytes, packed});
        }
        for (std::byte* target : movement.targets)
            if (in_arena_of(device, target))
                exchange.results.push_back({rank_of(other), tag_of(other, device, true), movement.bytes(), target});
    }
}

std::unique_ptr<Messages::Exchange> Messages::prepare(int device, const ShareOf& share_of, size_t own_rank) const {
    std::unique_ptr<Exchange> exchange = std::make_unique<Exchange>();
    const Share own = share_of(own_rank);
    const std::map<std::vector<i64>, int>::const_iterator group = library_groups_.find(own.members);
    if (group != library_groups_.end() &&
        is_library_call(own.collective, own.before, own.after, own.members.size(), ranks_.transport())) {
        Exchange counted;
        add_own(counted, device, own);
        exchange->wire_bytes = counted.wire_bytes;
        exchange->library.emplace(share_of, own_rank, group->second);
        return exchange;
    }
    add_own(*exchange, device, own);
    for (size_t rank = 0; rank < own.members.size(); ++rank)
        if (!is_local(own.members[rank])) add_for_other(*exchange, device, own.members[rank], share_of(rank));
    return exchange;
}

void Messages::use_library(const std::vector<i64>& members) {
    std::set<int> ranks;
    std::vector<int> in_order;
    for (i64 member : members) in_order.push_back(rank_of(member));
    ranks.insert(in_order.begin(), in_order.end());
    if (ranks.size() < members.size() || !ranks.contains(ranks_.rank()) || library_groups_.contains(members)) return;
    library_groups_[members] = ranks_.make_group(in_order);
}

void Messages::start(int collective, int device, const ShareOf& share_of, size_t own_rank) {
    std::unique_ptr<Exchange>& place = exchanges_[collective][device - first_];
    if (!place) {
        std::unique_ptr<Exchange> made = prepare(device, share_of, own_rank);
        const std::lock_guard<std::mutex> lock(mutex_);
        place = std::move(made);
    }
    Exchange& exchange = *place;
    if (exchange.staging_bytes > 0)
        exchange.staging = std::make_unique_for_overwrite<std::byte[]>(exchange.staging_bytes);
    exchange.results_awaited = false;
    exchange.operands_left = static_cast<int>(exchange.operands.size());
    exchange.sends_left = static_cast<int>(exchange.sends.size());
    exchange.replies_left = static_cast<int>(exchange.replies.size());
    exchange.results_left = static_cast<int>(exchange.results.size());
    if (exchange.library) {
        exchange.operands_left = 1;
        exchange.library->start(ranks_, [this, &exchange, device] {
            exchange.operands_left = 0;
            wake_(device);
        });
        return;
    }
    for (const Part& part : exchange.operands) {
        std::byte* const to = part.staged_at < 0 ? part.place : exchange.staging.get() + part.staged_at;
        ranks_.receive(part.rank, part.tag, to, part.bytes, [this, &exchange, device] {
            if (--exchange.operands_left == 0) wake_(device);
        });
    }
    for (const Part& part : exchange.sends) {
        const std::byte* from = part.place;
        if (part.staged_at >= 0) {
            std::byte* const packed = exchange.staging.get() + part.staged_at;
            copy_strided(packed, part.place, part.element_bytes, part.dims);
            from = packed;
        }
        ranks_.send(part.rank, part.tag, from, part.bytes, [this, &exchange, device] {
            if (--exchange.sends_left == 0) wake_(device);
        });
    }
}

bool Messages::operands_here(int collective, int device) {
    Exchange& exchange = at(collective, device);
    if (exchange.operands_left > 0) ranks_.poll();
    return exchange.operands_left == 0;
}

i64 Messages::carry_out(int collective, int device) {
    Exchange& exchange = at(collective, device);
    if (exchange.library) exchange.library->finish();
    for (const Task& task : exchange.tasks) {
        const Movement& movement = task.movement;
        if (task.is_received) continue;
        ArenaTraffic traffic(arenas_.of(device), arenas_.bytes());
        if (movement.sources.empty()) {
            traffic.clear(movement.targets.front(), movement.bytes());
            continue;
        }
        std::vector<const std::byte*> sources = movement.sources;
        bool is_packed = false;
        for (size_t s = 0; s < sources.size(); ++s) {
            if (task.staged_at[s] < 0) continue;
            std::byte* const staged = exchange.staging.get() + task.staged_at[s];
            if (!task.is_elsewhere[s])
                copy_strided(staged, sources[s], movement.element_bytes, to_packed(movement.dims));
            sources[s] = staged;
            is_packed = true;
        }
        const std::vector<CopyDim> dims = is_packed ? from_packed(movement.dims) : movement.dims;
        if (movement.reduce)
            traffic.reduce(movement.targets, sources, *movement.reduce, movement.dtype, dims);
        else
            traffic.copy_box(movement.targets.front(), sources.front(), movement.element_bytes, dims);
    }
    for (const Part& part : exchange.replies)
        ranks_.send(part.rank, part.tag, part.place, part.bytes, [this, &exchange, device] {
            if (--exchange.replies_left == 0) wake_(device);
        });
    return exchange.wire_bytes;
}

bool Messages::results_here(int collective, int device) {
    Exchange& exchange = at(collective, device);
    if (exchange.sends_left > 0) ranks_.poll();
    if (exchange.sends_left > 0) return false;
    if (!exchange.results_awaited) {
        exchange.results_awaited = true;
        for (const Part& part : exchange.results)
            ranks_.receive(part.rank, part.tag, part.place, part.bytes, [this, &exchange, device] {
                if (--exchange.results_left == 0) wake_(device);
            });
    }
    if (exchange.results_left > 0 || exchange.replies_left > 0) ranks_.poll();
    if (exchange.results_left > 0 || exchange.replies_left > 0) return false;
    exchange.staging.reset();
    return true;
}

// One of the collectives that this process's devices wait for.
std::string Messages::waited_for() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t collective = 0; collective < exchanges_.size(); ++collective)
        for (const std::unique_ptr<Exchange>& exchange : exchanges_[collective])
            if (exchange &&
                (exchange->operands_left > 0 || (exchange->results_awaited && exchange->results_left > 0))) {
                const Start& start = *program_.starts[collective];
                return fmt::format("the {} of '{}'", start.collective.def->name, plan_.buffers[start.input].name);
            }
    return "a collective";
}

void Messages::progress(bool all_wait) {
    const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
    const bool any = ranks_.poll();
    if (any) last_ = now;
    if (any || !all_wait) waiting_since_ = now;
    if (any) return;
    if (ranks_.timeout().count() > 0 && now - waiting_since_ > ranks_.timeout()) ranks_.overdue(waited_for());
    Ranks::pause(now - last_);
}

} // namespace shard

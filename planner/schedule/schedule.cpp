// One walk over the local graph's nodes, in their order. Every value gets a buffer; what is decided on the way:
//   view      a reshape shows the bytes of its operand and is no step
//   in place  a pointwise result takes over the bytes of an operand that is read for the last time, and so does the
//             result of a collective that can work in place
//   Start     where the collective stands, so as soon as its input is ready in this order
//   Wait      before the first step that reads the result
//   Release   after the last step that reads the bytes, or after the Wait of the last collective that sends them
// A loop's body is walked once, in place; what it carries is one buffer, written over by every trip, and what it reads
// from outside lives until the last one. No collective is in flight where a trip begins or ends.
// Inputs and parameters stay alive for the whole run, outputs from where they are made to the end. An update is written
// into the bytes of the input that it replaces, where the local graph lets it (planner/optimize/in_place.h).
#include "planner/schedule/schedule.h"

#include "planner/graph/op_def.h"
#include "planner/graph/verify_loops.h"
#include "planner/graph/view.h"
#include "planner/partition/local.h"
#include "planner/schedule/arena.h"
#include "plans/base/division.h"
#include "plans/base/saturating.h"
#include "plans/kernel/kernel_in_place.h"
#include "plans/kernel/kernel_scratch.h"
#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_types.h"
#include "plans/plan/source_ref.h"

#include <algorithm>
#include <limits>
#include <map>

namespace shard {

namespace {

constexpr int forever = std::numeric_limits<int>::max();

class Scheduler {
public:
    // Without sources: of what a plan is made of, what a price reads.
    Scheduler(const Local& local, const Mesh& mesh, const Sources* sources)
        : graph_(&local.graph), sources_(sources), apart_(local.apart) {
        plan_.mesh = mesh;
        buffer_of_.assign(graph_->values.size(), -1);
        updated_by_.assign(graph_->values.size(), -1);
        carried_by_.assign(graph_->values.size(), -1);
        is_output_.assign(graph_->values.size(), false);
        for (ValueId id : graph_->outputs) is_output_[id] = true;
        for (const Update& update : graph_->updates)
            if (update.output != update.input) updated_by_[update.output] = update.input;
        for (const GraphLoop& loop : graph_->loops)
            for (const GraphLoop::Carried& carried : loop.carried)
                if (loop.opens >= 0 && carried.yield != carried.argument) carried_by_[carried.yield] = carried.argument;
    }

    // places: as arena.h has place().
    Plan run(ScheduleMap* map, std::vector<i64> (*places)(std::span<const Extent>)) {
        find_last_reads();
        plan_.buffers.reserve(graph_->values.size());
        plan_.steps.reserve(graph_->nodes.size() + graph_->values.size()); // releases, about as many as values
        for (ValueId id : graph_->inputs) {
            const int buffer = add_buffer(id);
            open(buffer, -1);
            if (sources_ == nullptr) continue;
            const Value& value = graph_->value(id);
            Generate init = value.init ? *value.init : Generate{Fill{0}, value.part->global_shape, {}};
            plan_.inputs.push_back({buffer, std::move(init)});
        }
        for (NodeId n = 0; n < static_cast<NodeId>(graph_->nodes.size()); ++n) add_node(n);
        const std::vector<int> updates = updates_by_output(*graph_);
        for (size_t i = 0; i < graph_->outputs.size(); ++i) {
            PlanOutput output{graph_->output_names[i], buffer_of(graph_->outputs[i]), -1};
            wait_for(output.buffer);
            if (const Update* const update = updates[i] < 0 ? nullptr : &graph_->updates[updates[i]]) {
                output.updates = buffer_of(update->input);
                if (update->output != update->input) plan_.buffers[output.updates].donated = true;
            }
            plan_.outputs.push_back(std::move(output));
        }
        // Collectives whose result is an output of nobody and read by nobody were waited for where they stand.
        internal_check(pending_.empty(), "a collective that nobody waits for");
        place_all(places);
        nest();
        if (map != nullptr) {
            map->starts = std::move(starts_);
            map->values.resize(plan_.buffers.size());
            for (ValueId id = 0; id < static_cast<ValueId>(buffer_of_.size()); ++id)
                if (buffer_of(id) >= 0) map->values[buffer_of(id)].push_back(id);
        }
        return std::move(plan_);
    }

private:
    int buffer_of(ValueId id) const { return buffer_of_[id]; }
    const Buffer& buffer(int id) const { return plan_.buffers[id]; }
    int root(int id) const { return root_of(plan_.buffers, id); }
    int now() const { return static_cast<int>(plan_.steps.size()); }

    // The last node that reads a value, its views included; its producer if none does.
    void find_last_reads() {
        last_read_.assign(graph_->values.size(), -1);
        for (ValueId id : graph_->inputs) last_read_[id] = forever;
        for (ValueId id : graph_->outputs) last_read_[id] = forever;
        for (NodeId n = static_cast<NodeId>(graph_->nodes.size()) - 1; n >= 0; --n) {
            const Node& node = graph_->node(n);
            int read = n;
            for (ValueId id : node.outputs) {
                int& last = last_read_[id];
                last = std::max(last, n);
                if (is_view(*graph_, node)) read = std::max(read, last);
            }
            for (ValueId id : node.inputs) {
                int& last = last_read_[id];
                // What is read in a loop is read until that ends.
                last = std::max(last, read == forever ? read : end_seen_from(*graph_, graph_->value(id).loop, read));
            }
            if (node.opens() >= 0) share_last_read(graph_->loops[node.opens()]);
        }
    }

    // One buffer: as long as any of the four is read.
    void share_last_read(const GraphLoop& loop) {
        for (const GraphLoop::Carried& carried : loop.carried) {
            int last = loop.closes;
            for (ValueId id : {carried.init, carried.result}) last = std::max(last, last_read_[id]);
            for (ValueId id : {carried.init, carried.argument, carried.yield, carried.result}) last_read_[id] = last;
        }
    }

    int add_buffer(ValueId id) {
        const Value& value = graph_->value(id);
        Buffer buffer;
        buffer.id = static_cast<int>(plan_.buffers.size());
        buffer.role = value.role;
        if (value.role == Role::value && is_output_[id]) buffer.role = Role::output;
        buffer.dtype = value.type.dtype;
        buffer.shape = value.type.shape;
        if (sources_ != nullptr) {
            buffer.name = value.name;
            buffer.global_shape = value.part->global_shape;
            buffer.sharding = value.part->sharding;
        }
        buffer.bytes = value.type.bytes();
        buffer.on_host = value.on_host;
        buffer_of_[id] = buffer.id;
        last_use_.push_back(last_read_[id]);
        lives_.emplace_back();
        plan_.buffers.push_back(std::move(buffer));
        return plan_.buffers.back().id;
    }

    // --- lives of extents, by root buffer ---

    struct Life {
        int begin = -1, end = forever; // steps; forever = never released
        int contents = -1;             // the buffer whose value the bytes hold
        int readers = 0;               // collectives in flight that send it
        bool opened = false;           // of a root buffer
    };

    Life& life_of(int root_buffer) { return const_cast<Life&>(std::as_const(*this).life_of(root_buffer)); }
    const Life& life_of(int root_buffer) const {
        const Life& life = lives_[root_buffer];
        internal_check(life.opened, "bytes are used that nothing has opened");
        return life;
    }

    void open(int buffer, int step) {
        Life& life = lives_[buffer];
        life.opened = true;
        life.begin = step;
        life.contents = buffer;
    }

    void wait_for(int buffer) {
        const std::map<int, int>::iterator it = pending_.find(contents_of(plan_.buffers, buffer));
        if (it == pending_.end()) return;
        const int step = it->second;
        pending_.erase(it);
        const Start& start = std::get<Start>(plan_.steps[step].variant_ref());
        const int sent = root(start.input);
        plan_.steps.push_back(Wait{start.token});
        --life_of(sent).readers;
        release_if_done(sent);
    }

    // The input in whose bytes a value is to be, or the buffer of what a loop carries, ready to be written: nobody
    // reads or sends its old contents any more. -1 if the value may lie anywhere.
    int make_way_for(ValueId id) {
        const ValueId argument = carried_by_[id];
        const ValueId before = argument >= 0 ? argument : updated_by_[id];
        if (before < 0) return -1;
        const int target = buffer_of(before);
        const auto sends = [&](const std::pair<const int, int>& flight) {
            return root(std::get<Start>(plan_.steps[flight.second].variant_ref()).input) == root(target);
        };
        for (;;) {
            const std::map<int, int>::iterator it = std::find_if(pending_.begin(), pending_.end(), sends);
            if (it == pending_.end()) return target;
            wait_for(it->first);
        }
    }

    // A buffer that is never read again is released, after its collective if it has one.
    void release_if_done(int id) {
        const int root_id = root(id);
        Life& life = life_of(root_id);
        if (life.end != forever || last_use_[life.contents] > done_) return;
        wait_for(life.contents); // which releases the bytes of a collective in place
        if (life.end != forever || life.readers > 0) return;
        life.end = now();
        plan_.steps.push_back(Release{root_id});
    }

    // --- nodes ---

    void add_node(NodeId n) {
        const Node& node = graph_->node(n);
        node_ = n;
        if (is_marker(node)) return add_marker(node);
        internal_check(node.outputs.size() == 1, "a local node has one result");
        done_ = n - 1; // what this node reads may not be released before it
        if (is_view(*graph_, node))
            add_view(node);
        else if (node.collective())
            add_collective(node);
        else
            add_compute(node);
        done_ = n;
        for (ValueId id : node.inputs) release_if_done(buffer_of(id));
        release_if_done(buffer_of(node.outputs[0]));
    }

    void add_marker(const Node& node) {
        done_ = node_ - 1;
        while (!pending_.empty()) wait_for(pending_.begin()->first);
        marks_.push_back({now(), &node});
        const GraphLoop& loop = graph_->loops[node.opens() >= 0 ? node.opens() : node.closes()];
        for (const GraphLoop::Carried& carried : loop.carried)
            if (node.opens() >= 0)
                buffer_of_[carried.argument] = buffer_of(carried.init);
            else
                buffer_of_[carried.result] = buffer_of(carried.argument);
        done_ = node_;
        for (ValueId id : node.inputs) release_if_done(buffer_of(id));
        if (node.closes() < 0) return;
        // What the body read from outside, and nobody reads any more.
        std::vector<int> held;
        for (size_t id = 0; id < lives_.size(); ++id)
            if (lives_[id].opened && lives_[id].end == forever) held.push_back(static_cast<int>(id));
        for (int id : held) release_if_done(id);
    }

    void add_view(const Node& node) {
        const int operand = buffer_of(node.inputs[0]);
        Buffer& view = plan_.buffers[add_buffer(node.outputs[0])];
        view.alias_of = operand;
        view.view = true;
        view.on_host = buffer(operand).on_host;
    }

    void add_collective(const Node& node) {
        const int input = buffer_of(node.inputs[0]);
        wait_for(input);
        // Before the collective is a reader of its own.
        const Life& sent = life_of(root(input));
        const bool in_place =
            !apart_ && can_run_in_place(*node.collective()) && sent.readers == 0 && last_use_[sent.contents] <= node_;
        const int target = make_way_for(node.outputs[0]);
        const bool carries = carried_by_[node.outputs[0]] >= 0;
        const int taken = target >= 0 ? target : in_place ? input : -1;
        const int output = carries ? carry(node.outputs[0], target) : add_buffer(node.outputs[0]);
        starts_.push_back(node_);
        Start start;
        start.collective = *node.collective();
        start.input = input;
        start.output = output;
        start.token = token_++;
        if (sources_ != nullptr) start.source = source_ref(*sources_, node.span);
        if (carries) {
            life_of(root(output)).contents = output;
        } else if (taken >= 0) {
            plan_.buffers[output].alias_of = taken;
            life_of(root(taken)).contents = output;
        } else {
            open(output, now());
        }
        pending_[output] = now();
        ++life_of(root(input)).readers;
        plan_.steps.push_back(std::move(start));
    }

    void add_compute(const Node& node) {
        internal_check(node.kernel() != nullptr, "a local node is a collective or has a kernel");
        Compute compute;
        compute.kernel = node.shared_kernel();
        const size_t tensors = node.inputs.size() - name_scalars(compute.kernel, node);
        std::vector<TensorType> types;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            wait_for(buffer_of(node.inputs[i]));
            if (i >= tensors) continue;
            compute.inputs.push_back(buffer_of(node.inputs[i]));
            types.push_back(graph_->value(node.inputs[i]).type);
        }
        const TensorType& type = graph_->value(node.outputs[0]).type;
        compute.scratch_bytes = scratch_bytes(*compute.kernel, types, type);
        compute.op = node.op() == nullptr ? "" : std::string(node.op()->name);
        if (sources_ != nullptr) compute.source = source_ref(*sources_, node.span);
        const int target = make_way_for(node.outputs[0]);
        const bool carries = carried_by_[node.outputs[0]] >= 0;
        const int taken = target >= 0 ? target : operand_to_take_over(compute, types, graph_->value(node.outputs[0]));
        compute.output = carries ? carry(node.outputs[0], target) : add_buffer(node.outputs[0]);
        if (carries) {
            life_of(root(target)).contents = target;
        } else if (taken >= 0) {
            // The root, so that chains of aliases stay short: every question about a buffer walks its chain.
            plan_.buffers[compute.output].alias_of = root(taken);
            life_of(root(taken)).contents = compute.output;
        } else {
            open(compute.output, now());
        }
        plan_.steps.push_back(std::move(compute));
    }

    // A kernel of the local graph names scalars by operand (LowerContext::scalar), a step by buffer. Returns how many
    // operands, all of them the last, are read as scalars.
    size_t name_scalars(Shared<Kernel>& kernel, const Node& node) const {
        const std::vector<int> operands = scalars_read(*kernel);
        if (operands.empty()) return 0;
        kernel.change([&](Kernel& own) {
            for_each_affine(own, [&](Affine& affine) {
                for (AffineTerm& term : affine.terms)
                    if (term.kind == AffineTerm::Kind::scalar) term.index = buffer_of(node.inputs[term.index]);
            });
        });
        return node.inputs.size() - *std::min_element(operands.begin(), operands.end());
    }

    int carry(ValueId yield, int target) {
        buffer_of_[yield] = target;
        return target;
    }

    int operand_to_take_over(const Compute& compute, const std::vector<TensorType>& types, const Value& made) const {
        const auto in_place = [&](size_t i) { return can_run_in_place(*compute.kernel, i, types[i], made.type); };
        std::map<int, std::vector<size_t>> operands; // by root, from the first that asks on; there may be very many
        for (size_t i = 0; i < types.size(); ++i) {
            if (types[i].bytes() != made.type.bytes() || buffer(compute.inputs[i]).on_host != made.on_host) continue;
            const int bytes = root(compute.inputs[i]);
            const Life& life = life_of(bytes);
            if (apart_ || life.readers > 0 || last_use_[life.contents] > node_) continue;
            if (types.size() == 1) return in_place(i) ? compute.inputs[i] : -1;
            if (operands.empty())
                for (size_t n = 0; n < types.size(); ++n) operands[root(compute.inputs[n])].push_back(n);
            std::vector<size_t>& same = operands[bytes];
            if (same.empty()) continue; // known to be of no use
            if (std::all_of(same.begin(), same.end(), in_place)) return compute.inputs[i];
            same.clear();
        }
        return -1;
    }

    // --- loops: the list of steps so far is flat ---

    void nest() {
        if (marks_.empty()) return;
        std::vector<std::vector<Step>> open(1);
        std::vector<Mark>::iterator next = marks_.begin();
        for (int step = 0; step <= now(); ++step) {
            for (; next != marks_.end() && next->before == step; ++next) {
                if (next->node->opens() >= 0) {
                    open.emplace_back();
                    continue;
                }
                Loop loop;
                loop.index = next->node->closes();
                loop.trips = graph_->loops[loop.index].trips;
                loop.body = std::move(open.back());
                open.pop_back();
                open.back().push_back(std::move(loop));
            }
            if (step < now()) open.back().push_back(std::move(plan_.steps[step]));
        }
        plan_.steps = std::move(open.front());
    }

    // --- offsets ---

    void place_all(std::vector<i64> (*places)(std::span<const Extent>)) {
        const int end = now();
        ArenaExtents device, host;
        for (int id = 0; id < static_cast<int>(lives_.size()); ++id) {
            const Life& life = lives_[id];
            if (!life.opened) continue;
            Buffer& at = plan_.buffers[id];
            (at.on_host ? host : device).add({at.bytes, life.begin, std::min(life.end, end + 1)}, at.offset);
        }
        for (int step = 0; step < end; ++step) {
            Compute* compute = std::get_if<Compute>(&plan_.steps[step].variant_ref());
            if (compute != nullptr && compute->scratch_bytes > 0)
                device.add({compute->scratch_bytes, step, step + 1}, compute->scratch_offset);
        }
        plan_.peak_bytes = device.place(places);
        plan_.host_peak_bytes = host.place(places);
        for (Buffer& alias : plan_.buffers) alias.offset = buffer(root(alias.id)).offset;
        plan_.arena_bytes = round_up(plan_.peak_bytes, arena_alignment);
        plan_.host_arena_bytes = round_up(plan_.host_peak_bytes, arena_alignment);
    }

    const Graph* graph_;
    const Sources* sources_;
    bool apart_;
    Plan plan_;
    std::vector<int> buffer_of_;      // by ValueId
    std::vector<ValueId> updated_by_; // by ValueId: the input that it replaces, or -1
    std::vector<ValueId> carried_by_; // by ValueId: the argument that the next trip reads it as, or -1
    std::vector<bool> is_output_;     // by ValueId
    struct Mark {
        int before; // a step
        const Node* node;
    };
    std::vector<Mark> marks_;      // beginnings and ends of loops
    std::vector<NodeId> starts_;   // by token
    std::vector<int> last_read_;   // by ValueId: node
    std::vector<int> last_use_;    // the same by buffer
    std::vector<Life> lives_;      // by buffer; of roots
    std::map<int, int> pending_;   // collectives in flight: result's buffer -> the step of its Start
    NodeId node_ = -1, done_ = -1; // being added; the last one whose step is in the list
    int token_ = 0;
};

std::vector<i64> one_after_the_other(std::span<const Extent> extents) {
    std::vector<i64> offsets;
    for (i64 end = 0; const Extent& extent : extents) {
        offsets.push_back(end);
        end = add_saturating(end, std::max(extent.bytes, i64{1})); // none has the place of another
    }
    return offsets;
}

} // namespace

Plan schedule(const Local& local, const Mesh& mesh, const Sources& sources, ScheduleMap* map) {
    return Scheduler(local, mesh, &sources).run(map, place);
}

Plan schedule_without_places(const Local& local, const Mesh& mesh) {
    return Scheduler(local, mesh, nullptr).run(nullptr, one_after_the_other);
}

} // namespace shard

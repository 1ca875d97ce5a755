#include "planner/optimize/combine.h"

#include "planner/graph/users.h"
#include "planner/graph/view.h"
#include "planner/optimize/levels.h"
#include "planner/optimize/node_seconds.h"
#include "plans/base/saturating.h"
#include "plans/collective/launch.h"
#include "plans/kernel/kernel_cost.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace shard {

namespace {

// Kernels one after the other, and beside them a channel that carries one launch at a time.
class Course {
public:
    double now() const { return now_; }
    double end() const { return std::max(now_, channel_); }
    // When a launch ends that begins now, where the channel has `less` to do before.
    double end_of_launch(double seconds, double less = 0) const { return std::max(now_, channel_ - less) + seconds; }

    void wait(double until) { now_ = std::max(now_, until); }
    void wait_for_channel() { wait(channel_); }
    void compute(double seconds) { now_ += seconds; }
    double launch(double seconds) { return channel_ = end_of_launch(seconds); }

private:
    double now_ = 0, channel_ = 0;
};

class Combiner {
public:
    Combiner(const Graph& graph, const Level& level, const Mesh& mesh, const Hardware& hardware,
             const std::vector<double>& loop_seconds)
        : graph_(graph), level_(level), mesh_(mesh), hardware_(hardware), is_small_(level.items.size()),
          is_light_(level.items.size()), behind_(level.items.size()), deadline_(level.items.size(), count()),
          group_of_(level.items.size(), -1), ends_(level.items.size()), emitted_(level.items.size()) {
        for (int i = 0; i < count(); ++i)
            seconds_.push_back(item(i).is_loop() ? loop_seconds[node(i).opens()]
                                                 : node_seconds(graph, node(i), mesh, hardware));
    }

    std::vector<int> order() {
        find_small();
        if (std::count(is_small_.begin(), is_small_.end(), true) > 1) {
            find_light();
            find_behind();
            find_groups();
        }
        emit_all();
        if (apart_ < course_.end()) std::iota(order_.begin(), order_.end(), 0);
        return std::move(order_);
    }

    double seconds() const { return course_.now(); } // after `order`: of the level

private:
    // Reductions that begin together, where the last of them stands.
    struct Group {
        Launch launch;
        std::vector<int> members;
        int deadline = 0; // the first item that waits for one of them
        double due = 0;   // when one of them has to be there
        double apart = 0; // seconds of the members, each by itself
        double end = 0;
    };

    int count() const { return static_cast<int>(level_.items.size()); }
    const LevelItem& item(int i) const { return level_.items[i]; }
    const Node& node(int i) const { return graph_.node(item(i).first); }
    const Collective* collective(int i) const { return item(i).is_loop() ? nullptr : node(i).collective(); }
    const TensorType& sent(int i) const { return graph_.value(node(i).inputs[0]).type; }

    // Reductions whose bytes take no longer than their launch.
    void find_small() {
        for (int i = 0; i < count(); ++i) {
            if (collective(i) == nullptr || !collective(i)->def->uses.reduce) continue;
            const double none = collective(i)->def->seconds(*collective(i), mesh_, hardware_, 0);
            is_small_[i] = none > 0 && seconds_[i] <= 2 * none;
            if (is_small_[i]) launch_seconds_ = std::min(launch_seconds_, none);
        }
    }

    // Kernels that are over sooner than a launch, and keep nothing large alive.
    void find_light() {
        for (int i = 0; i < count(); ++i) {
            if (item(i).is_loop() || node(i).kernel() == nullptr) continue;
            i64 bytes = 0;
            for (ValueId id : node(i).inputs) bytes = add_saturating(bytes, graph_.value(id).type.bytes());
            is_light_[i] = seconds_[i] <= launch_seconds_ && memory_seconds(hardware_, bytes) <= launch_seconds_;
        }
    }

    // What replaces an input stays behind those that read the old one. Loops replace none.
    void find_behind() {
        if (level_.loop >= 0) return;
        std::vector<int> item_of(graph_.nodes.size());
        for (int i = 0; i < count(); ++i)
            for (NodeId n = item(i).first; n <= item(i).last; ++n) item_of[n] = i;
        const Users readers(graph_);
        for (const Update& update : graph_.updates) {
            const NodeId producer = graph_.value(update.output).producer;
            if (producer < 0) continue;
            for (NodeId reader : readers[update.input])
                if (item_of[reader] < item_of[producer]) behind_[item_of[producer]].push_back(item_of[reader]);
        }
    }

    template<class Visit>
    void for_each_before(int i, const Visit& visit) const {
        for (int read : item(i).reads) visit(read);
        for (int reader : behind_[i]) visit(reader);
    }

    // The first item that cannot wait and needs it, and when it has to be there for that one to begin as it would. A loop
    // waits for all that is sent. `begins`: of each item, where each collective is by itself; then when all is done.
    void find_deadlines(const std::vector<double>& begins) {
        due_.assign(level_.items.size(), begins.back());
        int loop = count();
        for (int i = count(); i-- > 0;) {
            if (loop < deadline_[i]) {
                deadline_[i] = loop;
                due_[i] = std::min(due_[i], begins[loop]);
            }
            if (item(i).is_loop()) loop = i;
            const int needed = is_light_[i] ? deadline_[i] : i;
            const double due = is_light_[i] ? due_[i] - seconds_[i] : begins[i];
            for_each_before(i, [&](int before) {
                deadline_[before] = std::min(deadline_[before], needed);
                due_[before] = std::min(due_[before], due);
            });
        }
    }

    // Of each kind there is one group that others may join.
    void find_groups() {
        std::vector<Course> at(1); // by item: before it, with every collective by itself
        std::vector<double> begins;
        for (int i = 0; i < count(); ++i) {
            begins.push_back(at.back().now());
            at.push_back(at.back());
            run(at.back(), i);
        }
        begins.push_back(at.back().now());
        apart_ = at.back().end();
        find_deadlines(begins);
        std::vector<int> open;
        for (int i = 0; i < count(); ++i) {
            if (!is_small_[i]) continue;
            Group alone{Launch(mesh_, hardware_), {i}, deadline_[i], due_[i], seconds_[i], ends_[i]};
            alone.launch.add(*collective(i), sent(i));
            group_of_[i] = static_cast<int>(groups_.size());
            const std::vector<int>::iterator same = std::find_if(
                open.begin(), open.end(), [&](int group) { return is_alike(groups_[group].members[0], i); });
            if (same == open.end()) {
                open.push_back(group_of_[i]);
                groups_.push_back(std::move(alone));
            } else if (join(groups_[*same], alone, at[i])) {
                group_of_[i] = *same;
            } else {
                *same = group_of_[i];
                groups_.push_back(std::move(alone));
            }
        }
    }

    bool is_alike(int a, int b) const {
        return collective(a)->def == collective(b)->def && collective(a)->axes == collective(b)->axes &&
               collective(a)->reduce == collective(b)->reduce && sent(a).dtype == sent(b).dtype;
    }

    // Where nobody then waits longer than for both apart.
    bool join(Group& group, const Group& other, const Course& course) const {
        const int i = other.members[0];
        if (group.deadline <= i || !group.launch.would_join(*collective(i), sent(i))) return false;
        Launch launch = group.launch;
        launch.add(*collective(i), sent(i));
        const double end = course.end_of_launch(launch.seconds(), group.apart);
        const double due = std::min(group.due, other.due);
        const double first = std::max(0.0, group.end - group.due), second = std::max(0.0, other.end - other.due);
        const double apart = group.deadline == other.deadline ? std::max(first, second) : first + second;
        if (std::max(0.0, end - due) > apart) return false;
        group.launch = launch;
        group.members.push_back(i);
        group.deadline = std::min(group.deadline, other.deadline);
        group.due = due;
        group.apart += other.apart;
        group.end = end;
        return true;
    }

    // What reads one of a group waits until that has arrived or somebody needs it, if it is light.
    void emit_all() {
        for (int i = 0; i < count(); ++i) {
            if (is_member(i) && group_of(i).members.back() != i) continue;
            emit_waiting(i);
            if (is_light_[i] && arrival(i) > course_.now()) {
                waiting_.push_back(i);
                look_again_at_ = std::min(look_again_at_, deadline_[i]);
                continue;
            }
            if (is_member(i))
                emit_group(group_of(i));
            else
                emit(i);
        }
        emit_waiting(count());
    }

    bool is_member(int i) const { return group_of_[i] >= 0 && group_of(i).members.size() > 1; }
    const Group& group_of(int i) const { return groups_[group_of_[i]]; }

    // When there is all that it needs and that groups bring. Infinity: something of it has not begun.
    double arrival(int i) const {
        double last = 0;
        for_each_before(i, [&](int before) {
            if (!emitted_[before]) last = std::numeric_limits<double>::infinity();
            if (is_member(before)) last = std::max(last, ends_[before]);
        });
        return last;
    }

    // Before item `next`.
    void emit_waiting(int next) {
        if (next < look_again_at_ && course_.now() < look_again_after_) return;
        look_again_at_ = count();
        look_again_after_ = std::numeric_limits<double>::infinity();
        std::erase_if(waiting_, [&](int i) {
            const double arrives = arrival(i);
            if (deadline_[i] <= next || arrives <= course_.now()) {
                emit(i);
                return true;
            }
            look_again_at_ = std::min(look_again_at_, deadline_[i]);
            look_again_after_ = std::min(look_again_after_, arrives);
            return false;
        });
    }

    void emit_group(const Group& group) {
        const double end = course_.launch(group.launch.seconds());
        for (int member : group.members) {
            put(member);
            ends_[member] = end;
        }
        look_again_after_ = 0; // more may be known of what waits
    }

    void emit(int i) {
        internal_check(arrival(i) < std::numeric_limits<double>::infinity(), "what is read is emitted before");
        put(i);
        run(course_, i);
    }

    void put(int i) {
        emitted_[i] = true;
        order_.push_back(i);
    }

    // An item that is no member of a group.
    void run(Course& course, int i) {
        double read = 0;
        for (int other : item(i).reads) read = std::max(read, ends_[other]);
        ends_[i] = 0;
        if (!item(i).is_loop() && is_view(graph_, node(i))) { // shows what is sent, and does not wait for it
            ends_[i] = read;
            return;
        }
        course.wait(read);
        if (item(i).is_loop()) course.wait_for_channel();
        if (collective(i) != nullptr)
            ends_[i] = course.launch(seconds_[i]);
        else
            course.compute(seconds_[i]);
    }

    const Graph& graph_;
    const Level& level_;
    const Mesh& mesh_;
    const Hardware& hardware_;
    double launch_seconds_ = std::numeric_limits<double>::infinity(); // of the quickest small reduction
    // By item.
    std::vector<double> seconds_;
    std::vector<bool> is_small_, is_light_;
    std::vector<std::vector<int>> behind_; // items that stand before it for another reason than that it reads them
    std::vector<int> deadline_;
    std::vector<double> due_;
    std::vector<int> group_of_; // -1: no small reduction
    std::vector<double> ends_;  // of what is sent, in the course that is run; otherwise 0
    std::vector<bool> emitted_;

    std::vector<Group> groups_;
    double apart_ = std::numeric_limits<double>::infinity(); // seconds of the level without groups
    std::vector<int> order_;
    Course course_; // of what is emitted
    std::vector<int> waiting_;
    int look_again_at_ = 0;       // what waits may go: before this item,
    double look_again_after_ = 0; // or from this time on
};

} // namespace

void combine(Local& local, const Mesh& mesh, const Hardware& hardware) {
    Graph& graph = local.graph;
    std::vector<double> loop_seconds(graph.loops.size()); // of all trips
    arrange_levels(graph, [&](const Level& level) {
        Combiner combiner(graph, level, mesh, hardware, loop_seconds);
        std::vector<int> order = combiner.order();
        if (level.loop >= 0)
            loop_seconds[level.loop] = combiner.seconds() * static_cast<double>(graph.loops[level.loop].trips);
        return order;
    });
}

} // namespace shard

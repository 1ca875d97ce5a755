#include "plans/plan/plan_check.h"

#include "plans/base/checked.h"
#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_steps.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace shard {

namespace {

constexpr i64 arena_limit = i64{1} << 56;

// Mesh, buffers, inputs and outputs; the steps come after, and only if these hold.
class Verifier {
public:
    explicit Verifier(const Plan& plan) : plan_(&plan) {}

    std::vector<PlanProblem> run() {
        check_mesh();
        if (problems_.empty()) check_buffers();
        if (problems_.empty()) check_ends();
        if (problems_.empty()) {
            const PeakBytes peak =
                check_steps(*plan_, [this](const std::string& where, const std::string& what) { fail(where, what); });
            check_peak("peak_bytes", peak.device, plan_->peak_bytes);
            check_peak("host_peak_bytes", peak.host, plan_->host_peak_bytes);
        }
        return std::move(problems_);
    }

private:
    void fail(const std::string& where, const std::string& what) {
        if (problems_.size() < 10) problems_.push_back({where, what});
    }

    void check_peak(std::string_view key, i64 reached, i64 said) {
        if (problems_.empty() && reached != said)
            fail(std::string(key), fmt::format("the steps reach byte {}, the plan says {}", reached, said));
    }

    void check_mesh() {
        const Mesh& mesh = plan_->mesh;
        std::optional<i64> devices = 1;
        for (const MeshAxis& axis : mesh.axes)
            devices = devices && axis.size >= 1 ? checked_multiply(*devices, axis.size) : std::nullopt;
        if (!devices) return fail("mesh", "its axes do not multiply to a number of devices");
        if (!mesh.device_ids.empty() && !is_permutation_of(mesh.device_ids, *devices))
            fail("mesh", "one id per device");
        check_arena("", plan_->arena_bytes, plan_->peak_bytes);
        check_arena("host_", plan_->host_arena_bytes, plan_->host_peak_bytes);
    }

    void check_arena(std::string_view which, i64 bytes, i64 peak) {
        if (bytes < 0 || bytes > arena_limit) fail(fmt::format("{}arena_bytes", which), "no size of an arena");
        if (peak < 0 || peak > bytes) fail(fmt::format("{}peak_bytes", which), "outside the arena");
    }

    static bool is_permutation_of(std::vector<i64> ids, i64 count) {
        std::sort(ids.begin(), ids.end());
        for (size_t i = 0; i < ids.size(); ++i)
            if (ids[i] != static_cast<i64>(i)) return false;
        return static_cast<i64>(ids.size()) == count;
    }

    void check_buffers() {
        for (size_t i = 0; i < plan_->buffers.size(); ++i) {
            const std::string problem = buffer_problem(static_cast<int>(i));
            if (!problem.empty()) fail(fmt::format("buffers[{}] '{}'", i, plan_->buffers[i].name), problem);
        }
    }

    std::string buffer_problem(int id) const {
        const Buffer& b = plan_->buffers[id];
        if (b.id != id) return "its id is not its place";
        const std::string type = type_problem(local_type(b)), whole = type_problem({b.dtype, b.global_shape, {}});
        if (!type.empty() || !whole.empty()) return type.empty() ? whole : type;
        if (b.bytes != local_type(b).bytes())
            return fmt::format("{} bytes for a shape of {}", b.bytes, local_type(b).bytes());
        const i64 arena = b.on_host ? plan_->host_arena_bytes : plan_->arena_bytes;
        if (b.offset < 0 || b.offset % 64 != 0 || b.bytes > arena || b.offset > arena - b.bytes)
            return "its extent is not inside the arena";
        const std::string sharding = sharding_problem(plan_->mesh, b.global_shape, b.shape, b.sharding);
        if (!sharding.empty()) return sharding;
        bool fits = b.real_shape().size() == b.global_shape.size();
        for (size_t d = 0; fits && d < b.global_shape.size(); ++d)
            fits = b.real_shape()[d] >= 1 && b.real_shape()[d] <= b.global_shape[d];
        if (!fits) return "its shape without padding does not fit";
        if (b.view && b.alias_of < 0) return "a view of nothing";
        if (b.alias_of < 0) return {};
        if (b.alias_of >= id) return "an alias of a buffer that comes later";
        const Buffer& of = plan_->buffers[b.alias_of];
        if (b.offset != of.offset || b.bytes > of.bytes || b.on_host != of.on_host)
            return "an alias outside the bytes of its buffer";
        if (b.view && (b.bytes != of.bytes || b.dtype != of.dtype)) return "a view of other elements";
        return {};
    }

    void check_ends() {
        std::set<int> inputs;
        std::set<std::string> given; // files and checkpoints give values by name
        const AffineScope scope = {&plan_->mesh, {}, plan_->buffers};
        for (size_t i = 0; i < plan_->inputs.size(); ++i) {
            const PlanInput& input = plan_->inputs[i];
            const std::string where = fmt::format("inputs[{}]", i);
            if (!known(input.buffer) || !inputs.insert(input.buffer).second) {
                fail(where, "not a buffer, or one twice");
                continue;
            }
            const Buffer& b = plan_->buffers[input.buffer];
            if (!given.insert(b.name).second) fail(where, fmt::format("two inputs are called '{}'", b.name));
            if (b.alias_of >= 0 || !b.sharding.partial.empty())
                fail(where, "an input is a buffer of its own that holds whole values");
            if (input.init.shape != b.real_shape() || !input.init.start.empty())
                fail(where, "its initializer makes another shape");
            const bool rises = std::adjacent_find(input.layers.begin(), input.layers.end(), std::greater_equal<>()) ==
                               input.layers.end();
            if (std::ssize(input.layers) > std::ssize(b.global_shape) || !rises ||
                (!input.layers.empty() && input.layers.front() < 1))
                fail(where, "its layers are not those of leading dims");
            TensorType made = local_type(b); // padding is not
            for (size_t d = 0; d < std::min(made.shape.size(), b.real_shape().size()); ++d)
                made.shape[d] = std::min(made.shape[d], b.real_shape()[d]);
            const std::string problem = generate_problem(scope, input.init, made);
            if (!problem.empty()) fail(where, problem);
        }
        std::set<std::string> names;
        std::set<int> updated;
        for (size_t i = 0; i < plan_->outputs.size(); ++i) {
            const PlanOutput& output = plan_->outputs[i];
            const std::string where = fmt::format("outputs[{}]", i);
            if (!known(output.buffer))
                fail(where, "not a buffer");
            else if (!plan_->buffers[output.buffer].sharding.partial.empty())
                fail(where, "an output holds partial values");
            else if (const std::string problem = update_problem(output, inputs); !problem.empty())
                fail(where, problem);
            else if (output.is_update() && !updated.insert(output.updates).second)
                fail(where, "two outputs update one input");
            // Outputs become files of these names in a folder that the user chose, and nowhere else.
            if (output.name.empty() || output.name.find('/') != std::string::npos ||
                output.name.find('\0') != std::string::npos)
                fail(where, fmt::format("'{}' is not a name for a file", output.name));
            if (!names.insert(output.name).second) fail(where, fmt::format("two outputs are called '{}'", output.name));
        }
        if (!problems_.empty()) return;
        // Otherwise the next step would find something else in its input.
        for (const Buffer& b : plan_->buffers)
            if (b.donated && updated.count(b.id) == 0)
                fail(fmt::format("buffers[{}] '{}'", b.id, b.name), "given away, but no output updates it");
    }

    std::string update_problem(const PlanOutput& output, const std::set<int>& inputs) const {
        if (output.updates == -1) return {};
        if (inputs.count(output.updates) == 0) return "updates what is not an input";
        const Buffer &before = plan_->buffers[output.updates], &after = plan_->buffers[output.buffer];
        if (output.buffer == output.updates) return {};
        if (after.view || root_of(plan_->buffers, after.id) != before.id)
            return fmt::format("updates '{}', but is not written into its bytes", before.name);
        if (after.dtype != before.dtype || after.global_shape != before.global_shape ||
            after.real_shape() != before.real_shape() || !same_layout(after.sharding, before.sharding))
            return fmt::format("updates '{}', which has another type or sharding", before.name);
        if (!before.donated) return fmt::format("updates '{}', which is not given away", before.name);
        return {};
    }

    bool known(int buffer) const { return buffer >= 0 && buffer < static_cast<int>(plan_->buffers.size()); }

    const Plan* plan_;
    std::vector<PlanProblem> problems_;
};

} // namespace

std::vector<PlanProblem> plan_problems(const Plan& plan) { return Verifier(plan).run(); }

} // namespace shard

#include "tests/executor/checkpoint/kept_tensors.h"

#include "executor/checkpoint/checkpoint_save.h"

#include "test_paths.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace shard {

namespace {

std::function<double(i64)> values_of(const KeptValue& value, const std::string& name) {
    return [&value, name](i64 index) { return value(name, index); };
}

} // namespace

std::string fresh_folder(const std::string& name) {
    const std::string path = std::string(SHARDC_TEST_DIR) + "/checkpoint_" + name;
    std::filesystem::remove_all(path);
    return path;
}

Plan keeping_plan(const Mesh& mesh, const std::vector<Kept>& tensors) {
    PlanBuilder builder(mesh);
    for (const Kept& kept : tensors) {
        const int id = builder.input(kept.name, kept.dtype, kept.shape, kept.sharding);
        builder.plan().buffers[id].role = kept.role;
        builder.plan().inputs.back().layers = kept.layers;
        builder.output(kept.name, id);
        builder.plan().outputs.back().updates = kept.role == Role::state ? id : -1;
    }
    builder.plan().model = "kept";
    return builder.plan();
}

double count_to_200(const std::string&, i64 index) { return static_cast<double>(index % 200); }

std::string save(const Plan& plan, const std::string& folder, i64 step, const KeptValue& value) {
    RunOptions options;
    for (const PlanInput& input : plan.inputs) {
        const Buffer& buffer = plan.buffers[input.buffer];
        options.inputs[buffer.name] = make_tensor(buffer.dtype, buffer.global_shape, values_of(value, buffer.name));
    }
    std::optional<std::string> written;
    Diagnostics diagnostics;
    const std::unique_ptr<FolderLock> lock = prepare_save(folder, diagnostics);
    REQUIRE(lock);
    options.at_end = [&](const StepView& view) {
        written = save_checkpoint(plan, folder, SaveWhat::all, step, view.shard, *lock, diagnostics);
    };
    run_clean(plan, options);
    REQUIRE(written);
    return *written;
}

void check_restored(const Plan& plan, const std::string& path, const KeptValue& value,
                    const std::vector<std::string>& said) {
    Diagnostics diagnostics;
    std::optional<Checkpoint> checkpoint = Checkpoint::open(path, diagnostics);
    REQUIRE(checkpoint);
    REQUIRE(checkpoint->select(plan, SaveWhat::all, {}, diagnostics));
    std::vector<std::string> messages;
    for (const Diagnostic& diagnostic : diagnostics.all())
        messages.push_back(diagnostic.code + " " + diagnostic.message);
    CHECK(messages == said);
    RunOptions options;
    options.restore = &*checkpoint;
    const RunResult result = run_clean(plan, options);
    CHECK(result.outputs.size() == plan.outputs.size());
    for (const auto& [name, tensor] : result.outputs) {
        const std::string output = name; // clang 14 has no captures of bindings
        CAPTURE(output);
        CHECK(tensor.bytes == make_tensor(tensor.type.dtype, tensor.type.shape, values_of(value, output)).bytes);
    }
}

std::string refusal(const Plan& plan, const std::string& path) {
    Diagnostics diagnostics;
    std::optional<Checkpoint> checkpoint = Checkpoint::open(path, diagnostics);
    if (checkpoint) CHECK_FALSE(checkpoint->select(plan, SaveWhat::all, {}, diagnostics));
    REQUIRE_FALSE(diagnostics.all().empty());
    return diagnostics.all().back().code + " " + diagnostics.all().back().message;
}

i64 bytes_read() {
    std::ifstream file("/proc/self/io");
    std::string word;
    i64 bytes = -1;
    file >> word >> bytes;
    return file ? bytes : -1;
}

} // namespace shard

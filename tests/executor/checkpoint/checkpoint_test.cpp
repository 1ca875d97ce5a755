// Checkpoints: what one mesh saved, another restores, and what is wrong with a checkpoint is named.
#include "executor/checkpoint/checkpoint_parts.h"
#include "executor/checkpoint/checkpoint_save.h"
#include "executor/formats/storage.h"
#include "plans/disk/file.h"
#include "plans/disk/output_file.h"
#include "plans/disk/temporaries.h"
#include "test_paths.h"
#include "tests/executor/checkpoint/kept_tensors.h"
#include "tests/support/json_schema.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace shard {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::string contents(const std::string& path) {
    std::string problem;
    return read_file(path, problem).value_or("");
}

void write(const std::string& path, const std::string& text) {
    std::string problem;
    REQUIRE(write_file_atomically(path, text, problem));
}

const Mesh mesh_2x4 = make_mesh({{"data", 2}, {"model", 4}});

std::vector<Kept> columns_over_model() {
    return {{"w", DType::f32, {8, 16}, "[- | model]"},
            {"b", DType::bf16, {16}, "[model]"},
            {"flag", DType::boolean, {4}, ""},
            {"w.mu", DType::f32, {8, 16}, "[data | model]", Role::state},
            {"count", DType::i32, {}, "", Role::state}};
}

} // namespace

TEST_CASE("checkpoint: each device writes the blocks that no device before it holds") {
    const std::string folder = fresh_folder("files");
    const std::string step = save(keeping_plan(mesh_2x4, columns_over_model()), folder, 5);
    CHECK(step == folder + "/step-5");
    CHECK(contents(folder + "/latest") == "step-5\n");
    std::vector<std::string> files = {"model-00001-of-00004.safetensors", "model-00002-of-00004.safetensors",
                                      "model-00003-of-00004.safetensors", "model-00004-of-00004.safetensors",
                                      "model.safetensors.index.json"};
    for (int device = 1; device <= 8; ++device)
        files.push_back("optimizer-0000" + std::to_string(device) + "-of-00008.safetensors");
    CHECK(names_in(step) == files);
    std::string problem;
    const std::optional<CheckpointIndex> index =
        parse_checkpoint_index(contents(step + "/model.safetensors.index.json"), problem);
    REQUIRE(index);
    CHECK(index->step == 5);
    CHECK(index->total_size == 8 * 16 * 4 * 2 + 16 * 2 + 4 + 4);
    // Larger elements come first in a file.
    CHECK(index->pieces[0] == IndexedPiece{"w[0:8,0:4]", 0});
    CHECK(index->pieces[1] == IndexedPiece{"b[0:4]", 0});
    CHECK(index->pieces[2] == IndexedPiece{"flag", 0});
    CHECK(index->pieces.back() == IndexedPiece{"w.mu[4:8,12:16]", 11});
    const Json schema = parse_json(contents(std::string(SHARDC_SOURCE_DIR) + "/schemas/checkpoint.schema.json")).root;
    const std::string index_text = contents(step + "/model.safetensors.index.json");
    for (const std::string& misfit : schema_problems(schema, parse_json(index_text).root)) FAIL_CHECK(misfit);
    CHECK(schema_problems(schema, parse_json(R"({"weight_map": {"w": "../w"}})").root).size() == 1);
    const std::string file = contents(step + "/model-00002-of-00004.safetensors");
    const std::optional<SafetensorsHeader> header =
        parse_safetensors_header(file, static_cast<i64>(file.size()), problem);
    REQUIRE(header);
    CHECK(*header->find_metadata("step") == "5");
    CHECK(*header->find_metadata("shapes") == R"({"w": [8, 16], "b": [16]})");
}

TEST_CASE("checkpoint: any mesh restores what any other saved") {
    const auto shardings = [](const std::string& w, const std::string& b, const std::string& mu) {
        std::vector<Kept> tensors = columns_over_model();
        tensors[0].sharding = w;
        tensors[1].sharding = b;
        tensors[3].sharding = mu;
        return tensors;
    };
    const std::vector<Plan> plans = {
        keeping_plan(mesh_2x4, columns_over_model()),
        keeping_plan(mesh_2x4, shardings("[model | data]", "[data,model]", "[- | -]")),
        keeping_plan(mesh_2x4, shardings("[- | data,model]", "", "[model,data | -]")),
        keeping_plan(make_mesh({{"data", 8}, {"model", 1}}), shardings("[data | -]", "[data]", "[- | data]")),
        keeping_plan(make_mesh({{"one", 1}}), shardings("", "", "")),
    };
    for (size_t from = 0; from < plans.size(); ++from) {
        const std::string folder = fresh_folder("meshes");
        save(plans[from], folder, 3);
        for (size_t to = 0; to < plans.size(); ++to) {
            CAPTURE(from);
            CAPTURE(to);
            check_restored(plans[to], folder);
        }
    }
}

TEST_CASE("checkpoint: large tensors are read by runs, rows apart, and in parts") {
    // 4 MiB rows cut into 8 columns: runs of 512 KiB; columns of 16 bytes, 128 apart; and more than is read at once.
    const auto plan = [](i64 devices, Shape shape, const std::string& sharding) {
        return keeping_plan(make_mesh({{"x", devices}}), {{"w", DType::f32, std::move(shape), sharding}});
    };
    for (const Shape& shape : {Shape{2, 1 << 20}, Shape{40000, 32}, Shape{8, 24, 4096}}) {
        const std::string folder = fresh_folder("large");
        save(plan(1, shape, ""), folder, 1);
        const std::string tail = shape.size() == 3 ? " | -" : "";
        check_restored(plan(8, shape, "[- | x" + tail + "]"), folder);
        save(plan(8, shape, "[- | x" + tail + "]"), folder, 2);
        check_restored(plan(2, shape, "[x | -" + tail + "]"), folder);
    }
}

TEST_CASE("checkpoint: a device reads the bytes of its block, and no others") {
    if (bytes_read() < 0) return; // another operating system
    const std::string folder = fresh_folder("ranges");
    save(keeping_plan(make_mesh({{"x", 4}}), {{"w", DType::f32, {64, 65536}, "[x | -]"}}), folder, 1);
    const Plan plan = keeping_plan(make_mesh({{"x", 8}}), {{"w", DType::f32, {64, 65536}, "[- | x]"}});
    Diagnostics diagnostics;
    std::optional<Checkpoint> checkpoint = Checkpoint::open(folder, diagnostics);
    REQUIRE(checkpoint);
    REQUIRE(checkpoint->select(plan, SaveWhat::all, {}, diagnostics));
    const Buffer& w = plan.buffers[0];
    std::vector<std::byte> block(static_cast<size_t>(w.bytes));
    const i64 before = bytes_read();
    std::string problem;
    REQUIRE(checkpoint->read(w, std::vector<i64>{0, 8192}, block.data(), problem));
    CHECK(bytes_read() - before >= w.bytes);
    CHECK(bytes_read() - before < w.bytes + 4096);
}

TEST_CASE("checkpoint: bf16 widens, f32 is rounded and both are said") {
    const std::string folder = fresh_folder("bf16");
    const auto plan = [](DType dtype) {
        return keeping_plan(make_mesh({{"x", 2}}), {{"w", dtype, {4, 2}, "[x | -]"}});
    };
    save(plan(DType::bf16), folder, 1);
    check_restored(plan(DType::bf16), folder);
    const std::string first = folder + "/step-1", second = folder + "/step-2";
    // 0 to 7 are bf16 numbers.
    check_restored(plan(DType::f32), folder, count_to_200,
                   {"W0603 'w' of " + first + ": bf16 there, converted to f32 here"});
    save(plan(DType::f32), folder, 2);
    check_restored(plan(DType::bf16), folder, count_to_200,
                   {"W0602 'w' of " + second + ": f32 there, rounded to bf16 here"});
}

TEST_CASE("checkpoint: what a model lacks, has otherwise or more is named") {
    const std::string folder = fresh_folder("misfits");
    const Mesh mesh = make_mesh({{"x", 2}});
    const std::string step = save(keeping_plan(mesh, {{"w1", DType::f32, {4, 2}, "[x | -]"},
                                                      {"w2", DType::f32, {4}, ""},
                                                      {"w2.mu", DType::f32, {4}, "", Role::state}}),
                                  folder, 1);
    const auto with = [&](const Kept& given) { return keeping_plan(mesh, {given}); };
    CHECK(refusal(with({"w3", DType::f32, {4}, ""}), folder) == "E0613 " + step + " does not hold 'w3'");
    CHECK(refusal(with({"w1", DType::f32, {4, 4}, ""}), folder) ==
          "E0613 'w1' is f32 (4, 2) in " + step + ", but the model has f32 (4, 4)");
    CHECK(refusal(with({"w2", DType::i32, {4}, ""}), folder) ==
          "E0613 'w2' is f32 (4,) in " + step + ", but the model has i32 (4,)");
    Diagnostics diagnostics;
    std::optional<Checkpoint> checkpoint = Checkpoint::open(folder, diagnostics);
    REQUIRE(checkpoint);
    CHECK(checkpoint->select(with({"w2", DType::f32, {4}, ""}), SaveWhat::params, {}, diagnostics));
    REQUIRE(diagnostics.all().size() == 1); // states are not missed where only parameters are wanted
    CHECK(diagnostics.all()[0].code == "W0601");
    CHECK(diagnostics.all()[0].message == step + " also holds 'w1': not used");
    CHECK_FALSE(checkpoint->selected("w1"));
    CHECK(checkpoint->select(with({"w3", DType::f32, {4}, ""}), SaveWhat::params, {"w3"}, diagnostics));
}

TEST_CASE("checkpoint: a file that is damaged, cut or missing is named") {
    const std::string folder = fresh_folder("damage");
    const Plan plan = keeping_plan(make_mesh({{"x", 2}}), {{"w", DType::f32, {4, 2}, "[x | -]"}});
    const std::string step = save(plan, folder, 1), first = step + "/model-00001-of-00002.safetensors",
                      second = step + "/model-00002-of-00002.safetensors",
                      index = step + "/model.safetensors.index.json";
    const std::string whole = contents(second), whole_index = contents(index);
    check_restored(plan, folder);

    // Every byte counts.
    for (size_t at = 0; at < whole.size(); ++at) {
        std::string file = whole;
        file[at] = static_cast<char>(file[at] ^ 0x10);
        write(second, file);
        CHECK(refusal(plan, folder).starts_with("E0612 " + second + " is damaged: "));
    }
    write(second, whole.substr(0, whole.size() - 1));
    CHECK(refusal(plan, folder) == "E0612 " + second + " is damaged: it has " + std::to_string(whole.size() - 1) +
                                       " bytes, and " + std::to_string(whole.size()) + " when it was written");
    fs::remove(second);
    CHECK(refusal(plan, folder) == "E0611 cannot read " + second + ": No such file or directory");
    fs::create_directory(second);
    CHECK(refusal(plan, folder) == "E0611 cannot read " + second + ": is a directory");
    fs::remove(second);
    write(second, whole);

    // The files of two checkpoints do not mix, and every number in the index counts.
    const std::vector<std::pair<std::string, std::string>> edits = {
        {"\"step\": 1", "\"step\": 2"},
        {"\"w\": [4, 2]", "\"w\": [4, 3]"},
        {"w[2:4,0:2]", "w[2:4,0:3]"},
        {"\"w[2:4,0:2]\": \"model-00002", "\"w[2:4,0:2]\": \"model-00001"},
        {"\"bytes\": " + std::to_string(whole.size()), "\"bytes\": 1"},
        {"weight_map", "weight_mop"},
        {"\"format_version\": 1", "\"format_version\": 2"},
        {"model-00002-of-00002.safetensors\"\n", "../../etc/passwd\"\n"},
    };
    for (const auto& [from, to] : edits) {
        const std::string edit = from;
        CAPTURE(edit);
        std::string edited = whole_index;
        REQUIRE(edited.rfind(from) != std::string::npos);
        edited.replace(edited.rfind(from), from.size(), to);
        write(index, edited);
        CHECK(refusal(plan, folder).starts_with("E0612 " + step + "/model"));
    }
    for (size_t length = 0; length < whole_index.size() - 1; length += 7) {
        write(index, whole_index.substr(0, length));
        CHECK(refusal(plan, folder).starts_with("E0612 " + index + " is damaged: "));
    }
    write(index, whole_index);
    write(folder + "/latest", "step-7\n");
    CHECK(refusal(plan, folder) == "E0612 " + folder + "/latest is damaged: there is no folder 'step-7' beside it");
    for (const std::string name :
         {"../checkpoint_damage", "..", ".", "", "empty", "step-", "step-1.", "step-1/", "step-1 2"}) {
        fs::create_directories(folder + "/empty");
        write(folder + "/latest", name + "\n");
        CHECK(refusal(plan, folder) == "E0612 " + folder + "/latest is damaged: '" + name + "' is no name of a step");
    }
    check_restored(plan, step); // by its own name
    CHECK(refusal(plan, folder + "/nowhere") == "E0611 cannot read " + folder + "/nowhere: No such file or directory");
    CHECK(refusal(plan, folder + "/empty") == "E0611 there is no checkpoint in '" + folder + "/empty'");
}

TEST_CASE("checkpoint: folders and files of other programs are read") {
    const std::string folder = fresh_folder("others");
    const Plan one = keeping_plan(make_mesh({{"x", 1}}), {{"w", DType::f32, {4, 2}, ""}});
    const std::string step = save(one, folder, 1);
    CHECK(names_in(step) == std::vector<std::string>{"model.safetensors", "model.safetensors.index.json"});
    const Plan two = keeping_plan(make_mesh({{"x", 2}}), {{"w", DType::f32, {4, 2}, "[x | -]"}});
    check_restored(two, step + "/model.safetensors");
    write(step + "/model.safetensors.index.json", R"({"weight_map": {"w": "model.safetensors"}})");
    check_restored(two, step);
    fs::remove(step + "/model.safetensors.index.json");
    check_restored(two, step);
}

TEST_CASE("checkpoint: a file's step counts where it is a number of steps") {
    const std::string folder = fresh_folder("file_step"), path = folder + "/model.safetensors";
    fs::create_directory(folder);
    const auto step_of = [&path](const std::string& text) {
        SafetensorsHeader header;
        header.tensors = {{"w", "F32", {2}, 0, 8}};
        header.metadata = {{"step", text}};
        write(path, print_safetensors_header(header) + std::string(8, '\0'));
        Diagnostics diagnostics;
        const std::optional<Checkpoint> checkpoint = Checkpoint::open(path, diagnostics);
        REQUIRE(checkpoint);
        return checkpoint->step();
    };
    CHECK(step_of("7") == 7);
    CHECK(step_of("0") == 0);
    // Other programs' words for something else.
    for (const char* text : {"", "-5", "7 of 10", "last", "99999999999999999999"}) CHECK(step_of(text) == 0);
}

TEST_CASE("checkpoint: element types of other programs are converted where nothing is lost, and named where it is") {
    const std::string folder = fresh_folder("types"), path = folder + "/model.safetensors";
    fs::create_directory(folder);
    const auto plan = [](DType dtype) {
        return keeping_plan(make_mesh({{"x", 2}}), {{"w", dtype, {4, 2}, "[- | x]"}});
    };
    const auto store = [&path](const std::string& dtype, const std::string& bytes) {
        SafetensorsHeader header;
        header.tensors = {{"w", dtype, {4, 2}, 0, std::ssize(bytes)}};
        write(path, print_safetensors_header(header) + bytes);
    };
    const auto check = [&](DType dtype, const std::vector<double>& values, const std::string& said) {
        check_restored(plan(dtype), path, [&](const std::string&, i64 i) { return values[i]; },
                       {fmt::format(fmt::runtime(said), "'w' of " + path)});
    };
    std::string halves;
    for (const int bits : {0x0000, 0x3C00, 0xC000, 0x7BFF, 0x0001, 0x3555, 0x8000, 0x4900})
        halves += {static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8)};
    store("F16", halves);
    const std::vector<double> values = {0, 1, -2, 65504, 0x1p-24, 0x1.554p-2, -0.0, 10};
    check(DType::f32, values, "W0603 {}: f16 there, converted to f32 here");
    check(DType::f64, values, "W0603 {}: f16 there, converted to f64 here");
    check(DType::bf16, values, "W0602 {}: f16 there, rounded to bf16 here");
    CHECK(refusal(plan(DType::i32), path) == "E0613 'w' is f16 (4, 2) in " + path + ", but the model has i32 (4, 2)");
    store("U8", {0, 1, 2, 3, 4, 5, 127, static_cast<char>(255)});
    check(DType::i32, {0, 1, 2, 3, 4, 5, 127, 255}, "W0603 {}: u8 there, converted to i32 here");
    check(DType::u32, {0, 1, 2, 3, 4, 5, 127, 255}, "W0603 {}: u8 there, converted to u32 here");
    store("F64", std::string(64, '\0'));
    CHECK(refusal(plan(DType::f32), path) == "E0613 'w' is f64 (4, 2) in " + path + ", but the model has f32 (4, 2)");
    store("F8_E8M0", std::string(8, 'x'));
    CHECK(refusal(plan(DType::f32), path) ==
          "E0613 'w' is F8_E8M0 (4, 2) in " + path + ", but the model has f32 (4, 2)");
    // It does no harm where nobody asks for it.
    SafetensorsHeader header;
    header.tensors = {{"w", "F32", {4, 2}, 0, 32}, {"scale", "F8_E8M0", {3}, 32, 35}};
    write(path, print_safetensors_header(header) + std::string(35, '\0'));
    check_restored(plan(DType::f32), path, [](const std::string&, i64) { return 0.0; },
                   {"W0601 " + path + " also holds 'scale': not used"});
}

TEST_CASE("checkpoint: a new one takes the place of the one before, and of what was left half-written") {
    const std::string folder = fresh_folder("replaced");
    const Plan plan = keeping_plan(make_mesh({{"x", 2}}), {{"w", DType::f32, {4, 2}, "[x | -]"}});
    save(plan, folder, 1);
    const std::string side = folder + "/" + temporary_name(); // killed while it was written
    fs::create_directory(side);
    write(side + "/model.safetensors", "half");
    fs::copy(folder + "/step-1", folder + "/step-9"); // killed before `latest` named it
    write(folder + "/notes.txt", "mine");
    CHECK(save(plan, folder, 2) == folder + "/step-2");
    CHECK(names_in(folder) == std::vector<std::string>{"latest", "notes.txt", "step-2"});
    CHECK(save(plan, folder, 2) == folder + "/step-2.2"); // step-2 is whole until step-2.2 is
    CHECK(names_in(folder) == std::vector<std::string>{"latest", "notes.txt", "step-2.2"});
    check_restored(plan, folder);
    CHECK(save(plan, folder, 2) == folder + "/step-2");

    Diagnostics diagnostics;
    const std::unique_ptr<FolderLock> other = prepare_save(folder, diagnostics);
    REQUIRE(other);
    CHECK_FALSE(prepare_save(folder, diagnostics));
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].message == "another process is saving to '" + folder + "'");
    check_restored(plan, folder);
}

TEST_CASE("checkpoint: only what this program wrote as a checkpoint is removed, and only once the new one stands") {
    const std::string folder = fresh_folder("foreign");
    const Plan plan = keeping_plan(make_mesh({{"x", 2}}), {{"w", DType::f32, {4, 2}, "[x | -]"}});
    save(plan, folder, 1);
    fs::create_directory(folder + "/step-3"); // somebody's own, whatever they are called
    write(folder + "/step-3/results.csv", "1");
    fs::create_directory(folder + "/step-4");
    fs::create_directory(folder + "/step-5");
    write(folder + "/step-5/model.safetensors.index.json", R"({"weight_map": {"w": "model.safetensors"}})");
    write(folder + "/step-5/model.safetensors", "of another program");
    fs::create_directory_symlink("step-5", folder + "/step-6");
    write(folder + "/step-7", "a file");
    write(folder + "/step-1/notes.txt", "mine");
    save(plan, folder, 2);
    CHECK(names_in(folder) ==
          std::vector<std::string>{"latest", "step-1", "step-2", "step-3", "step-4", "step-5", "step-6", "step-7"});
    CHECK(names_in(folder + "/step-1") == std::vector<std::string>{"notes.txt"});
    CHECK(names_in(folder + "/step-3") == std::vector<std::string>{"results.csv"});
    CHECK(contents(folder + "/step-5/model.safetensors") == "of another program");
    // Without `latest`, and with a new one that cannot be written, the old ones stay.
    fs::remove(folder + "/latest");
    fs::create_directory(folder + "/latest");
    Diagnostics diagnostics;
    CHECK_FALSE(prepare_save(folder, diagnostics));
    CHECK_FALSE(save_checkpoint(
        plan, folder, SaveWhat::all, 8,
        [](i64, const Buffer&) {
            static const std::byte bytes[64] = {};
            return bytes;
        },
        FolderLock(folder, FolderLock::one), diagnostics));
    check_restored(plan, folder + "/step-2");
    fs::remove(folder + "/latest");
    CHECK(save(plan, folder, 9) == folder + "/step-9");
    check_restored(plan, folder);
    CHECK_FALSE(fs::exists(folder + "/step-2"));
    CHECK_FALSE(fs::exists(folder + "/step-8"));
}

TEST_CASE("checkpoint: what is being read is not removed, and what was removed is looked for again") {
    const std::string folder = fresh_folder("reading");
    const Plan plan = keeping_plan(make_mesh({{"x", 2}}), {{"w", DType::f32, {4, 2}, "[x | -]"}});
    save(plan, folder, 1);
    Diagnostics diagnostics;
    std::optional<Checkpoint> checkpoint = Checkpoint::open(folder, diagnostics);
    REQUIRE(checkpoint);
    save(plan, folder, 2);
    CHECK(checkpoint->select(plan, SaveWhat::all, {}, diagnostics));
    CHECK(names_in(folder) == std::vector<std::string>{"latest", "step-1", "step-2"});
    checkpoint->close();
    save(plan, folder, 3);
    CHECK(names_in(folder) == std::vector<std::string>{"latest", "step-3"});

    // Reading while another saves, again and again: `latest` names a step that is gone when it is looked
    // for, and names another when it is read again.
    std::atomic<bool> done = false;
    std::thread saver([&] {
        static const std::byte bytes[64] = {};
        for (i64 step = 4; !done; ++step) {
            Diagnostics ignored;
            const FolderLock lock(folder, FolderLock::one);
            save_checkpoint(
                plan, folder, SaveWhat::all, step, [](i64, const Buffer&) { return bytes; }, lock, ignored);
        }
    });
    i64 read = 0, last = 0, changes = 0;
    for (; read < 400 || changes <= 5; ++read) {
        checkpoint = Checkpoint::open(folder, diagnostics);
        if (!checkpoint || !checkpoint->select(plan, SaveWhat::all, {}, diagnostics)) break;
        std::this_thread::yield();
        std::vector<std::byte> block(16);
        std::string problem;
        if (!checkpoint->read(plan.buffers[0], std::vector<i64>{0, 0}, block.data(), problem)) break;
        changes += checkpoint->step() != last ? 1 : 0;
        last = checkpoint->step();
    }
    done = true;
    saver.join();
    CHECK(read >= 400);
    CHECK(changes > 5);
    CHECK(diagnostics.all().empty());
}

} // namespace shard

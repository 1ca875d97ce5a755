// What a power cut leaves of files and checkpoints: every call to the disk is recorded, the machine stops after each,
// and of what was not synced any part is lost.
#include "executor/checkpoint/checkpoint_save.h"
#include "plans/disk/file.h"
#include "plans/disk/output_file.h"
#include "plans/disk/temporaries.h"
#include "test_paths.h"
#include "tests/executor/checkpoint/kept_tensors.h"
#include "tests/support/recorded_disk.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace shard {
namespace {

namespace fs = std::filesystem;

// Of this process alone: tests run side by side.
const std::string folder = std::string(SHARDC_TEST_DIR) + "/durability_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;

std::string fresh(const std::string& name) {
    fs::remove_all(folder + "/" + name);
    fs::create_directories(folder + "/" + name);
    return folder + "/" + name;
}

const Plan& plan() {
    static const Plan kept = keeping_plan(
        make_mesh({{"x", 2}}), {{"w", DType::f32, {4, 2}, "[x | -]"}, {"w.mu", DType::f32, {2}, "", Role::state}});
    return kept;
}

const std::byte* shard_of(i64, const Buffer& input) {
    static const std::vector<std::byte> bytes(1024, std::byte{1});
    return input.bytes <= 1024 ? bytes.data() : nullptr;
}

bool save_step(const std::string& to, i64 step, Disk& disk) {
    Diagnostics diagnostics;
    const std::unique_ptr<FolderLock> lock = prepare_save(to, diagnostics, disk);
    return lock && save_checkpoint(plan(), to, SaveWhat::all, step, shard_of, *lock, diagnostics, disk).has_value();
}

// The step of the checkpoint, every byte of which was checked; -1 if there is none.
i64 restorable_step(const std::string& path) {
    Diagnostics diagnostics;
    std::optional<Checkpoint> checkpoint = Checkpoint::open(path, diagnostics);
    return checkpoint && checkpoint->select(plan(), SaveWhat::all, {}, diagnostics) ? checkpoint->step() : -1;
}

std::vector<std::string> temporaries_in(const std::string& path) {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
        if (is_temporary_name(entry.path().filename().string())) found.push_back(entry.path().filename().string());
    return found;
}

// Fails one call of the disk.
class FailingDisk : public Disk {
public:
    FailingDisk(int number, int error) : left_(number), error_(error) {}
    int open(const std::string& path, int flags, mode_t mode) override {
        return fails() ? -1 : Disk::open(path, flags, mode);
    }
    ssize_t write(int descriptor, const char* from, size_t bytes) override {
        return fails() ? -1 : Disk::write(descriptor, from, bytes);
    }
    int fsync(int) override { return fails() ? -1 : 0; }
    int rename(const std::string& from, const std::string& to) override {
        return fails() ? -1 : Disk::rename(from, to);
    }
    int unlink(const std::string& path) override { return fails() ? -1 : Disk::unlink(path); }
    int mkdir(const std::string& path) override { return fails() ? -1 : Disk::mkdir(path); }
    int rmdir(const std::string& path) override { return fails() ? -1 : Disk::rmdir(path); }
    bool failed() const { return left_ < 0; }

private:
    bool fails() {
        if (left_-- != 0) return false;
        errno = error_;
        return true;
    }
    int left_, error_;
};

} // namespace

TEST_CASE("a power cut at any moment leaves the last complete checkpoint, or the new one") {
    const std::string root = fresh("root");
    RecordedDisk recorded(root);
    std::vector<size_t> done; // calls up to the end of each save
    for (const i64 step : {1, 2, 3}) {
        REQUIRE(save_step(root + "/runs/ck", step, recorded));
        done.push_back(recorded.calls.size());
    }
    REQUIRE(recorded.calls.size() > 60);
    CrashedDisk disk;
    std::map<std::string, i64> known; // states that were looked at, and the step that was found
    for (size_t made = 0;; ++made) {
        // What a save said that it had saved is there; of one that is under way, it may be.
        const i64 least = std::upper_bound(done.begin(), done.end(), made) - done.begin();
        const i64 most = std::lower_bound(done.begin(), done.end(), made) - done.begin() + 1;
        for (const std::string& state : disk.states()) {
            const auto [place, is_new] = known.emplace(state, -1);
            if (is_new) {
                const std::string crashed = fresh("crashed");
                make_state(state, crashed);
                place->second = restorable_step(crashed + "/runs/ck");
            }
            const i64 step = place->second;
            const bool fine = (step >= least && step <= most) || (least == 0 && step == -1);
            CHECK(fine);
            if (fine) continue;
            CAPTURE(made);
            CAPTURE(step);
            CAPTURE(recorded.calls[made - 1].path);
            FAIL(state);
        }
        if (made == recorded.calls.size()) break;
        disk.apply(recorded.calls[made]);
    }
    CHECK(known.size() > 200);
}

TEST_CASE("a power cut at any moment leaves the old file or the new one") {
    const std::string root = fresh("root");
    RecordedDisk recorded(root);
    std::string problem;
    std::vector<size_t> done;
    for (const std::string text : {"old", "new and longer"}) {
        REQUIRE(write_file_atomically(root + "/f", text, problem, recorded));
        done.push_back(recorded.calls.size());
    }
    CrashedDisk disk;
    for (size_t made = 0;; ++made) {
        for (const std::string& state : disk.states()) {
            const std::string crashed = fresh("crashed");
            make_state(state, crashed);
            const std::optional<std::string> text = read_file(crashed + "/f", problem);
            CHECK((text == "new and longer" || (made < done[1] && text == "old") || (made < done[0] && !text)));
        }
        if (made == recorded.calls.size()) break;
        disk.apply(recorded.calls[made]);
    }
}

TEST_CASE("a call to the disk that fails, whichever it is, leaves a checkpoint and nothing half-written") {
    for (const int error : {ENOSPC, EDQUOT, EIO}) {
        int fine = 0, failed = 0;
        for (int number = 0;; ++number) {
            const std::string root = fresh("root");
            REQUIRE(save_step(root, 1, disk()));
            FailingDisk failing(number, error);
            CAPTURE(number);
            const bool saved = save_step(root, 2, failing);
            const i64 step = restorable_step(root);
            CHECK((saved ? step == 2 : step == 1 || step == 2));
            if (!saved) CHECK(temporaries_in(root).empty());
            (saved ? fine : failed) += 1;
            if (!failing.failed()) break;
            REQUIRE(save_step(root, 3, disk()));
            CHECK(restorable_step(root) == 3);
            CHECK(std::distance(fs::directory_iterator(root), fs::directory_iterator()) == 2); // latest, step-3
        }
        CHECK(failed > 15);
        CHECK(fine > 3); // what was replaced could not be removed
    }
}

} // namespace shard

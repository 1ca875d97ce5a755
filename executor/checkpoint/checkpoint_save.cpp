// Writing a checkpoint to the side, and putting it in the place of the one before.
#include "executor/checkpoint/checkpoint_save.h"

#include "executor/checkpoint/checkpoint.h"
#include "executor/checkpoint/checkpoint_parts.h"
#include "executor/checkpoint/piece.h"
#include "executor/elements/strided.h"
#include "executor/formats/storage.h"
#include "plans/base/saturating.h"
#include "plans/base/version.h"
#include "plans/disk/file.h"
#include "plans/disk/free_space.h"
#include "plans/disk/output_file.h"
#include "plans/disk/output_path.h"
#include "plans/disk/temporaries.h"
#include "plans/json/json_text.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <sstream>

namespace shard {

namespace {

namespace fs = std::filesystem;

// A file of the checkpoint: what a device writes.
struct SavedFile {
    std::string name;
    DevicePart device;
    IndexedFile written; // by whoever holds the device
};

std::vector<SavedFile> files_of(const Plan& plan, SaveWhat what) {
    std::vector<SavedFile> files;
    for (Part part : {Part::param, Part::state}) {
        if (part == Part::state && what == SaveWhat::params) continue;
        std::vector<DevicePart> devices = blocks_to_write(plan, part);
        for (size_t i = 0; i < devices.size(); ++i)
            files.push_back(
                {part_file_name(part, static_cast<i64>(i), std::ssize(devices)), std::move(devices[i]), {}});
    }
    return files;
}

i64 bytes_of(const Plan& plan, const OwnBlock& block) {
    return element_count(block.part.shape) * byte_size(plan.buffers[block.buffer].dtype);
}

class Saver {
public:
    Saver(const Plan& plan, const std::string& folder, SaveWhat what, i64 step, const ShardBytes& shard, Disk& disk,
          Ranks* ranks)
        : plan_(&plan), folder_(folder), shard_(&shard), disk_(&disk), ranks_(ranks), side_(folder),
          saved_(files_of(plan, what)) {
        index_.tool = tool_text();
        index_.model = plan.model;
        index_.step = step;
    }

    // Those of this process's devices; what is known of the others' afterwards, on the first rank.
    bool write_files() {
        bool fine = true;
        for (SavedFile& file : saved_) fine = fine && (!is_here(file) || write_file(file));
        return ranks_ == nullptr ? fine : hear_of_others(fine);
    }

    bool write_index() {
        for (const SavedFile& file : saved_) add_to_index(file);
        for (const PlanInput& input : plan_->inputs) {
            const Buffer& buffer = buffer_of(input.buffer);
            if (written_.contains(buffer.name)) index_.shapes.emplace_back(buffer.name, buffer.real_shape());
        }
        NewFile file(new_path(std::string(index_file)), *disk_);
        file.append(print_checkpoint_index(index_));
        return finish(file, std::string(index_file)) && sync_folder(*disk_, folder_, problem_);
    }

    void remove() {
        for (const Temporary& file : files_) disk_->unlink(file.path());
        for (const SavedFile& file : saved_)
            if (!is_here(file)) disk_->unlink(folder_ + "/" + file.name);
        disk_->rmdir(folder_);
    }

    const std::string& problem() const { return problem_; }

private:
    const Buffer& buffer_of(int id) const { return plan_->buffers[id]; }

    bool is_here(const SavedFile& file) const {
        return ranks_ == nullptr || ranks_->holder(file.device.position, plan_->mesh.device_count()) == ranks_->rank();
    }

    std::string new_path(const std::string& name) { return files_.emplace_back(folder_ + "/" + name).path(); }

    bool finish(NewFile& file, const std::string& name) {
        if (file.finish()) return true;
        problem_ = fmt::format("cannot write {} of step {}: {}", name, index_.step, file.problem());
        return false;
    }

    // "number bytes sum" of each file that a rank wrote, a line each; or ":" and its problem.
    bool hear_of_others(bool fine) {
        std::string own = fine ? "" : ":" + problem_;
        for (size_t i = 0; fine && i < saved_.size(); ++i)
            if (is_here(saved_[i]))
                own += fmt::format("{} {} {}\n", i, saved_[i].written.bytes, saved_[i].written.crc32.value_or(0));
        const std::optional<std::string> reply =
            ranks_->meet("the checkpoint", own, [this](std::vector<std::string>& messages) {
                for (size_t rank = 0; rank < messages.size(); ++rank) {
                    if (messages[rank].starts_with(':'))
                        return fmt::format("rank {}: {}", rank, messages[rank].substr(1));
                    std::istringstream lines(messages[rank]);
                    size_t file = 0;
                    i64 bytes = 0;
                    for (std::uint32_t sum = 0; lines >> file >> bytes >> sum;)
                        saved_.at(file).written = {saved_[file].name, bytes, sum};
                }
                return std::string();
            });
        if (reply && reply->empty()) return true;
        problem_ = reply.value_or("another rank has ended");
        return false;
    }

    // Larger elements first, so that all are aligned.
    std::vector<OwnBlock> blocks_of(const SavedFile& saved) const {
        std::vector<OwnBlock> blocks = saved.device.blocks;
        std::stable_sort(blocks.begin(), blocks.end(), [this](const OwnBlock& a, const OwnBlock& b) {
            return byte_size(buffer_of(a.buffer).dtype) > byte_size(buffer_of(b.buffer).dtype);
        });
        return blocks;
    }

    i64 bytes_of(const OwnBlock& block) const { return shard::bytes_of(*plan_, block); }

    std::string piece_of(const OwnBlock& block) const {
        const Buffer& buffer = buffer_of(block.buffer);
        return piece_name(buffer.name, buffer.real_shape(), {block.part.start, block.part.shape});
    }

    void add_to_index(const SavedFile& saved) {
        for (const OwnBlock& block : blocks_of(saved)) {
            index_.pieces.push_back({piece_of(block), static_cast<int>(index_.files.size())});
            index_.total_size += bytes_of(block);
            written_.insert(buffer_of(block.buffer).name);
        }
        index_.files.push_back(saved.written);
    }

    bool write_file(SavedFile& saved) {
        const std::vector<OwnBlock> blocks = blocks_of(saved);
        SafetensorsHeader header;
        JsonObject shapes;
        i64 at = 0;
        for (const OwnBlock& block : blocks) {
            const Buffer& buffer = buffer_of(block.buffer);
            header.tensors.push_back({piece_of(block), std::string(safetensors_name(buffer.dtype)), block.part.shape,
                                      at, at + bytes_of(block)});
            at += bytes_of(block);
            if (block.part.shape != buffer.real_shape()) shapes.raw(buffer.name, json_integers(buffer.real_shape()));
        }
        // Hugging Face's loaders ask for the framework that the row-major layout is that of.
        header.metadata = {{"format", "pt"}, {"tool", index_.tool}, {"step", std::to_string(index_.step)}};
        if (shapes.text() != "{}") header.metadata.emplace_back("shapes", shapes.text());

        NewFile file(new_path(saved.name), *disk_);
        file.append(print_safetensors_header(header));
        for (const OwnBlock& block : blocks) {
            const Buffer& buffer = buffer_of(block.buffer);
            const std::byte* const held = (*shard_)(saved.device.position, buffer);
            if (block.part.shape == buffer.shape) {
                file.append({held, static_cast<size_t>(buffer.bytes)});
                continue;
            }
            std::vector<std::byte> real(static_cast<size_t>(bytes_of(block))); // without the padding
            copy_strided(real.data(), held, byte_size(buffer.dtype),
                         box_copy(block.part.shape, block.part.shape, buffer.shape));
            file.append(std::span<const std::byte>(real));
        }
        saved.written = {saved.name, file.bytes(), file.crc32()};
        return finish(file, saved.name);
    }

    const Plan* plan_;
    std::string folder_;
    const ShardBytes* shard_;
    Disk* disk_;
    Ranks* ranks_;
    Temporary side_;
    std::deque<Temporary> files_;
    std::vector<SavedFile> saved_;
    CheckpointIndex index_;
    std::set<std::string> written_;
    std::string problem_;
};

// "step-5", or "step-5.2" after it: a folder that `latest` names is never written to.
std::string free_name(const std::string& folder, i64 step) {
    std::string name = step_name(step);
    struct stat status = {};
    for (int again = 2; ::lstat((folder + "/" + name).c_str(), &status) == 0; ++again)
        name = fmt::format("{}.{}", step_name(step), again);
    return name;
}

// The folders in a folder whose names are such.
std::vector<std::string> folders_in(const std::string& folder, bool (*named)(std::string_view)) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code unknown;
        if (named(entry->path().filename().native()) &&
            entry->symlink_status(unknown).type() == fs::file_type::directory)
            found.push_back(entry->path().native());
    }
    return found;
}

// What runs that were killed left half-written. Only who holds the lock of the folder writes there.
void remove_half_written(const std::string& folder, Disk& disk) {
    remove_stale_temporaries(disk, folder);
    for (const std::string& side : folders_in(folder, is_temporary_name)) {
        std::error_code error;
        for (fs::directory_iterator entry(side, error), end; !error && entry != end; entry.increment(error))
            disk.unlink(entry->path().native());
        disk.rmdir(side);
    }
}

// A checkpoint that is replaced: the files that its index names, then the index and the folder, unless somebody keeps
// other things there. What a kill leaves of it is still known for what it was, by its index or its name.
void remove_checkpoint(const std::string& folder, Disk& disk) {
    const FolderLock lock(folder, FolderLock::one);
    if (lock.taken_by_other()) return; // somebody restores it; a later save removes it
    std::string problem;
    const std::string index_path = fmt::format("{}/{}", folder, index_file);
    const std::optional<std::string> text = read_regular_file(index_path, text_file_limit, problem);
    const std::optional<CheckpointIndex> index = text ? parse_checkpoint_index(*text, problem) : std::nullopt;
    if (!index || !index->is_own()) return;
    for (const IndexedFile& file : index->files)
        if (disk.unlink(folder + "/" + file.name) != 0 && errno != ENOENT) return;
    std::error_code error;
    const fs::directory_iterator first(folder, error);
    const bool only_index = !error && std::distance(first, fs::directory_iterator()) == 1;
    if (!only_index) {
        disk.unlink(index_path);
        return;
    }
    const Temporary last(folder_of(folder) + "/" + temporary_name());
    const Temporary last_index(fmt::format("{}/{}", last.path(), index_file));
    if (disk.rename(folder, last.path()) != 0) return;
    disk.unlink(last_index.path());
    disk.rmdir(last.path());
}

// The name of the new folder; empty with a problem.
// `written`: the files of all devices are there.
std::string write_and_name(Saver& saver, const std::string& folder, const std::string& side, i64 step,
                           std::string& problem, bool& written, Disk& disk) {
    written = saver.write_files();
    if (!written || !saver.write_index()) {
        problem = saver.problem();
        return {};
    }
    const std::string name = free_name(folder, step);
    if (disk.rename(side, folder + "/" + name) != 0) {
        problem = fmt::format("cannot rename {} to {}: {}", side, name, std::strerror(errno));
        return {};
    }
    // The new folder must be there before `latest` names it, whatever order the disk is written in.
    if (!sync_folder(disk, folder, problem) ||
        !write_file_atomically(folder + "/latest", name + "\n", problem, disk, OutputUse::renew)) {
        problem = fmt::format("cannot write {}/latest: {}", folder, problem);
        return {};
    }
    return name;
}

// What the first rank says to all; on others `own` is not looked at. Empty if there is no word, or no first rank left.
std::string said_by_first(Ranks* ranks, const std::string& own) {
    if (ranks == nullptr) return own;
    return ranks->meet("the checkpoint", "", [&own](std::vector<std::string>&) { return own; }).value_or("");
}

// Where the devices of another rank are: it writes them to the side, and hears how it went on.
std::optional<std::string> save_beside_first(const Plan& plan, const std::string& folder, SaveWhat what, i64 step,
                                             const ShardBytes& shard, Disk& disk, Ranks& ranks) {
    const std::string side = said_by_first(&ranks, "");
    if (side.empty()) return std::nullopt;
    Saver saver(plan, side, what, step, shard, disk, &ranks);
    if (!saver.write_files()) return std::nullopt;
    const std::string name = said_by_first(&ranks, "");
    return name.empty() ? std::nullopt : std::optional(folder + "/" + name);
}

// A save replaces a file: what is written to a pipe or a device is gone, and the checkpoints from before are removed.
bool is_file_or_nothing(const std::string& path, std::string& problem) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return true;
    problem = fmt::format("{} is {}", path, S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
    return false;
}

} // namespace

std::unique_ptr<FolderLock> prepare_save(const std::string& folder, Diagnostics& diagnostics, Disk& disk) {
    std::string problem;
    bool fine = make_folders(disk, folder, problem);
    if (fine && ::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
        problem = std::strerror(errno);
        fine = false;
    }
    fine = fine && is_file_or_nothing(folder + "/latest", problem) &&
           check_output(folder + "/latest", OutputUse::renew, problem);
    std::unique_ptr<FolderLock> lock = fine ? std::make_unique<FolderLock>(folder, FolderLock::one) : nullptr;
    if (lock && lock->taken_by_other()) {
        diagnostics.error("E0614", {}, fmt::format("another process is saving to '{}'", folder))
            .help("give each run a folder of its own");
        return nullptr;
    }
    if (lock && lock->held()) remove_half_written(folder, disk); // its room is wanted
    if (lock) return lock;
    diagnostics.error("E0614", {}, fmt::format("cannot save to '{}': {}", folder, problem))
        .help("--save takes a folder, which is made if it is not there");
    return nullptr;
}

bool has_room_to_save(const Plan& plan, const std::string& folder, SaveWhat what, Diagnostics& diagnostics) {
    std::vector<PlannedFile> files;
    for (const SavedFile& file : files_of(plan, what)) {
        PlannedFile& planned =
            files.emplace_back(PlannedFile{folder + "/" + std::string(step_name(0)) + "/" + file.name});
        for (const OwnBlock& block : file.device.blocks)
            planned.bytes = add_saturating(planned.bytes, bytes_of(plan, block));
    }
    std::string path, problem;
    if (have_room(files, path, problem)) return true;
    diagnostics
        .error("E0614", {},
               fmt::format("cannot save to '{}': {}: {}", folder, path.substr(path.rfind('/') + 1), problem))
        .help("make room, or name a folder on another disk");
    return false;
}

std::optional<std::string> save_checkpoint(const Plan& plan, const std::string& folder, SaveWhat what, i64 step,
                                           const ShardBytes& shard, const FolderLock& lock, Diagnostics& diagnostics,
                                           Disk& disk, Ranks* ranks) {
    if (ranks != nullptr && !ranks->is_first()) return save_beside_first(plan, folder, what, step, shard, disk, *ranks);
    if (lock.held()) remove_half_written(folder, disk);
    const std::string side = folder + "/" + temporary_name();
    std::string problem, name;
    Saver saver(plan, side, what, step, shard, disk, ranks);
    if (disk.mkdir(side) != 0) problem = fmt::format("cannot make a folder in {}: {}", folder, std::strerror(errno));
    const bool begun = problem.empty();
    const bool heard = !said_by_first(ranks, begun ? side : "").empty();
    if (begun && heard) {
        bool written = false;
        name = write_and_name(saver, folder, side, step, problem, written, disk);
        if (written) said_by_first(ranks, name);
    }
    if (name.empty()) {
        saver.remove();
        diagnostics.error("E0614", {}, problem).help("the checkpoint from before, if there was one, is as it was");
        return std::nullopt;
    }
    // Only now: `latest` is on the disk.
    for (const std::string& other : folders_in(folder, is_step_name))
        if (other != folder + "/" + name) remove_checkpoint(other, disk);
    return folder + "/" + name;
}

} // namespace shard

// Writing a checkpoint to the side, and putting it in the place of the one before.
#include "executor/checkpoint.h"
#include "executor/checkpoint_parts.h"
#include "executor/piece.h"
#include "executor/storage.h"
#include "plans/file.h"
#include "plans/json_text.h"
#include "plans/version.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace shard {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view step_prefix = "step-", side_prefix = ".step-";

class Saver {
public:
    Saver(const Plan& plan, std::string folder, i64 step, const ShardBytes& shard)
        : plan_(&plan), folder_(std::move(folder)), shard_(&shard) {
        index_.tool = tool_text();
        index_.model = plan.model;
        index_.step = step;
    }

    bool write_files(Part part) {
        const std::vector<DevicePart> devices = blocks_to_write(*plan_, part);
        for (size_t i = 0; i < devices.size(); ++i)
            if (!write_file(part_file_name(part, static_cast<i64>(i), std::ssize(devices)), devices[i])) return false;
        return true;
    }

    bool write_index() {
        for (const PlanInput& input : plan_->inputs) {
            const Buffer& buffer = buffer_of(input.buffer);
            if (written_.contains(buffer.name)) index_.shapes.emplace_back(buffer.name, buffer.global_shape);
        }
        NewFile file(fmt::format("{}/{}", folder_, index_file));
        file.append(print_checkpoint_index(index_));
        return finish(file, std::string(index_file)) && sync_folder(folder_, problem_);
    }

    const std::string& problem() const { return problem_; }

private:
    const Buffer& buffer_of(int id) const { return plan_->buffers[static_cast<size_t>(id)]; }

    bool finish(NewFile& file, const std::string& name) {
        if (file.finish()) return true;
        problem_ = fmt::format("cannot write {}/{}: {}", folder_, name, file.problem());
        return false;
    }

    bool write_file(const std::string& name, const DevicePart& device) {
        // Larger elements first, so that all are aligned.
        std::vector<OwnBlock> blocks = device.blocks;
        std::stable_sort(blocks.begin(), blocks.end(), [this](const OwnBlock& a, const OwnBlock& b) {
            return byte_size(buffer_of(a.buffer).dtype) > byte_size(buffer_of(b.buffer).dtype);
        });
        SafetensorsHeader header;
        JsonObject shapes;
        i64 at = 0;
        for (const OwnBlock& block : blocks) {
            const Buffer& buffer = buffer_of(block.buffer);
            const std::string piece = piece_name(buffer.name, buffer.global_shape, {block.start, buffer.shape});
            header.tensors.push_back(
                {piece, std::string(safetensors_name(buffer.dtype)), buffer.shape, at, at + buffer.bytes});
            at += buffer.bytes;
            if (buffer.shape != buffer.global_shape) shapes.raw(buffer.name, json_integers(buffer.global_shape));
            index_.pieces.push_back({piece, static_cast<int>(index_.files.size())});
            written_.insert(buffer.name);
        }
        // Hugging Face's loaders ask for the framework that the row-major layout is that of.
        header.metadata = {{"format", "pt"}, {"tool", index_.tool}, {"step", std::to_string(index_.step)}};
        if (shapes.text() != "{}") header.metadata.emplace_back("shapes", shapes.text());

        NewFile file(folder_ + "/" + name);
        file.append(print_safetensors_header(header));
        for (const OwnBlock& block : blocks) {
            const Buffer& buffer = buffer_of(block.buffer);
            file.append({(*shard_)(device.position, buffer), static_cast<size_t>(buffer.bytes)});
        }
        index_.total_size += at;
        index_.files.push_back({name, file.bytes(), file.crc32()});
        return finish(file, name);
    }

    const Plan* plan_;
    std::string folder_;
    const ShardBytes* shard_;
    CheckpointIndex index_;
    std::set<std::string> written_;
    std::string problem_;
};

// "step-5", or "step-5.2" after it: a folder that `latest` names is never written to.
std::string free_name(const std::string& folder, i64 step) {
    std::string name = fmt::format("{}{}", step_prefix, step);
    std::error_code error;
    for (int again = 2; fs::exists(folder + "/" + name, error); ++again)
        name = fmt::format("{}{}.{}", step_prefix, step, again);
    return name;
}

bool is_step_name(std::string_view name) {
    if (!name.starts_with(step_prefix)) return false;
    name.remove_prefix(step_prefix.size());
    return !name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

// What runs that were killed left behind, and the steps that nothing names any more. It does no harm if something
// cannot be removed.
void remove_others(const std::string& folder, const std::set<std::string>& kept) {
    std::error_code error;
    std::vector<fs::path> others;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if ((is_step_name(name) || name.starts_with(side_prefix)) && !kept.contains(name))
            others.push_back(entry->path());
    }
    for (const fs::path& path : others) fs::remove_all(path, error);
}

std::string last_part(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path.substr(path.rfind('/') + 1);
}

std::string first_line(const std::string& path) {
    std::string problem;
    const std::optional<std::string> text = read_file(path, problem, 4096);
    return text ? text->substr(0, text->find_first_of("\r\n")) : "";
}

// The name of the new folder; empty with a problem.
std::string write_and_name(Saver& saver, const std::string& folder, const std::string& side, SaveWhat what, i64 step,
                           std::string& problem) {
    if (!saver.write_files(Part::param) || (what == SaveWhat::all && !saver.write_files(Part::state)) ||
        !saver.write_index()) {
        problem = saver.problem();
        return {};
    }
    const std::string name = free_name(folder, step);
    if (::rename(side.c_str(), (folder + "/" + name).c_str()) != 0) {
        problem = fmt::format("cannot rename {} to {}: {}", side, name, std::strerror(errno));
        return {};
    }
    // The new folder must be there before `latest` names it, whatever order the disk is written in.
    if (!sync_folder(folder, problem) || !write_file_atomically(folder + "/latest", name + "\n", problem) ||
        !sync_folder(folder, problem)) {
        problem = fmt::format("cannot write {}/latest: {}", folder, problem);
        return {};
    }
    return name;
}

} // namespace

bool prepare_save(const std::string& folder, Diagnostics& diagnostics) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
    if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error = std::error_code(errno, std::generic_category());
    if (!error) return true;
    diagnostics.error("E0614", {}, fmt::format("cannot save to '{}': {}", folder, error.message()))
        .help("--save takes a folder, which is made if it is not there");
    return false;
}

std::optional<std::string> save_checkpoint(const Plan& plan, const std::string& folder, SaveWhat what, i64 step,
                                           const ShardBytes& shard, const std::string& spared,
                                           Diagnostics& diagnostics) {
    const FolderLock lock(folder);
    if (lock.taken_by_other()) {
        diagnostics.error("E0614", {}, fmt::format("another process is saving to '{}'", folder))
            .help("give each run a folder of its own");
        return std::nullopt;
    }
    remove_others(folder, {first_line(folder + "/latest"), last_part(spared)});
    std::string side = fmt::format("{}/{}{}.XXXXXX", folder, side_prefix, step), problem, name;
    if (::mkdtemp(side.data()) == nullptr) {
        problem = fmt::format("cannot make a folder in {}: {}", folder, std::strerror(errno));
    } else {
        const mode_t mask = ::umask(0); // mkdtemp makes private folders; give the mode that mkdir would
        ::umask(mask);
        ::chmod(side.c_str(), 0777 & ~mask);
        Saver saver(plan, side, step, shard);
        name = write_and_name(saver, folder, side, what, step, problem);
    }
    if (name.empty()) {
        std::error_code error;
        fs::remove_all(side, error);
        diagnostics.error("E0614", {}, problem).help("the checkpoint from before, if there was one, is as it was");
        return std::nullopt;
    }
    remove_others(folder, {name, last_part(spared)});
    return folder + "/" + name;
}

} // namespace shard

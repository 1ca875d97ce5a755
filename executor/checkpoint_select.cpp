// What a plan needs of a checkpoint, and whether it is there, fits and is whole.
#include "executor/checkpoint.h"
#include "executor/checkpoint_parts.h"
#include "executor/piece.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

std::string named(const std::vector<std::string>& names) {
    constexpr size_t shown = 3;
    const std::span<const std::string> first(names.data(), std::min(shown, names.size()));
    std::string text = fmt::format("'{}'", fmt::join(first, "', '"));
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

std::string type_text(DType dtype, const Shape& shape) { return fmt::format("{} {}", name(dtype), shape_text(shape)); }

} // namespace

// The work of Checkpoint::select, step by step.
class CheckpointSelection {
public:
    CheckpointSelection(const Checkpoint& checkpoint, const Plan& plan, Diagnostics& diagnostics)
        : checkpoint_(&checkpoint), plan_(&plan), diagnostics_(&diagnostics) {
        for (const IndexedPiece& piece : checkpoint.index_.pieces) {
            PieceName name = parse_piece_name(piece.name);
            stored_[name.tensor].push_back({&piece, std::move(name.block)});
        }
    }

    void want(SaveWhat what, const std::set<std::string>& given) {
        std::vector<std::string> missing;
        bool any_state = false, only_states = true;
        for (const PlanInput& input : plan_->inputs) {
            const Buffer& buffer = plan_->buffers[static_cast<size_t>(input.buffer)];
            const std::optional<Part> part = part_of(*plan_, input);
            if (!part || (*part == Part::state && what == SaveWhat::params)) continue;
            is_wanted_.insert(buffer.name);
            if (given.contains(buffer.name)) continue;
            if (stored_.contains(buffer.name)) {
                wanted_.push_back(&buffer);
                any_state = any_state || *part == Part::state;
            } else {
                missing.push_back(buffer.name);
                only_states = only_states && *part == Part::state;
            }
        }
        if (missing.empty()) return;
        DiagnosticBuilder error =
            diagnostics_->error("E0613", {}, fmt::format("{} does not hold {}", checkpoint_->name(), named(missing)));
        std::vector<std::string_view> names;
        for (const auto& [name, pieces] : stored_) names.push_back(name);
        const std::string_view near = nearest(missing.front(), names);
        if (only_states && !any_state)
            error.help("it has no optimizer states: --restore-only params begins with new ones");
        else if (!near.empty())
            error.help(fmt::format("it holds '{}': was the model changed after it was saved?", near));
        else
            error.help("is it a checkpoint of this model?");
    }

    void warn_of_unused(SaveWhat what) {
        std::vector<std::string> unused;
        for (const auto& [name, pieces] : stored_) {
            const std::string& file = checkpoint_->index_.files[static_cast<size_t>(pieces.front().first->file)].name;
            if (file.starts_with(state_files) && what == SaveWhat::params) continue;
            if (!is_wanted_.contains(name)) unused.push_back(name);
        }
        if (unused.empty()) return;
        diagnostics_
            ->warning("W0601", {}, fmt::format("{} also holds {}: not used", checkpoint_->name(), named(unused)))
            .help("is it a checkpoint of this model?");
    }

    // Headers and sums of the files that are needed, in the index's order.
    bool read_files() {
        std::set<int> files;
        for (const Buffer* buffer : wanted_)
            for (const auto& [piece, block] : stored_[buffer->name]) files.insert(piece->file);
        bool fine = true;
        for (const int file : files) {
            std::optional<SafetensorsHeader> header = checkpoint_->read_header(file, *diagnostics_);
            fine = header && checkpoint_->check_sum(file, *diagnostics_) && check_step(file, *header) && fine;
            if (!header) continue;
            File& state = files_[file];
            state.header = std::move(*header);
            for (const SafetensorsEntry& entry : state.header.tensors) state.entries.emplace(entry.name, &entry);
        }
        return fine;
    }

    std::map<std::string, StoredTensor> assemble_all() {
        std::map<std::string, StoredTensor> tensors;
        for (const Buffer* buffer : wanted_)
            if (std::optional<StoredTensor> tensor = assemble(*buffer))
                tensors.emplace(buffer->name, std::move(*tensor));
        if (!rounded_.empty())
            diagnostics_
                ->warning(
                    "W0602", {},
                    fmt::format("{} of {}: f32 there, rounded to bf16 here", named(rounded_), checkpoint_->name()))
                .help("training goes on as saved only with the same element types");
        return tensors;
    }

private:
    using Piece = std::pair<const IndexedPiece*, std::optional<Block>>;
    struct File {
        SafetensorsHeader header;
        std::map<std::string_view, const SafetensorsEntry*> entries;
    };

    bool damaged(int file, const std::string& problem) {
        diagnostics_->error("E0612", {}, fmt::format("{} is damaged: {}", checkpoint_->path_of(file), problem));
        return false;
    }

    bool misfit(const Buffer& buffer, const std::string& there) {
        diagnostics_
            ->error("E0613", {},
                    fmt::format("'{}' is {} in {}, but the model has {}", buffer.name, there, checkpoint_->name(),
                                type_text(buffer.dtype, buffer.global_shape)))
            .help("is it a checkpoint of this model?");
        return false;
    }

    // The index and its files were written together.
    bool check_step(int file, const SafetensorsHeader& header) {
        const std::string* step = header.find_metadata("step");
        if (step == nullptr || checkpoint_->index_.tool.empty() || *step == std::to_string(checkpoint_->step()))
            return true;
        return damaged(
            file, fmt::format("it is of step {}, and its index of step {}", step->substr(0, 20), checkpoint_->step()));
    }

    std::optional<StoredTensor> assemble(const Buffer& buffer) {
        const std::vector<Piece>& pieces = stored_[buffer.name];
        StoredTensor tensor;
        std::string dtype;
        std::vector<Block> blocks;
        for (const auto& [piece, range] : pieces) {
            const File& file = files_.at(piece->file);
            const auto found = file.entries.find(piece->name);
            if (found == file.entries.end()) {
                damaged(piece->file, fmt::format("it does not hold '{}', as the index says", piece->name));
                return std::nullopt;
            }
            const SafetensorsEntry& entry = *found->second;
            const Block block = range.value_or(Block{std::vector<i64>(entry.shape.size(), 0), entry.shape});
            if (block.shape != entry.shape ||
                (!blocks.empty() && (block.shape.size() != blocks.front().shape.size() || entry.dtype != dtype))) {
                damaged(piece->file, fmt::format("'{}' has the type {} {}", piece->name, entry.dtype.substr(0, 20),
                                                 shape_text(entry.shape)));
                return std::nullopt;
            }
            dtype = entry.dtype;
            blocks.push_back(block);
            tensor.pieces.push_back({piece->file, block.start, block.shape, file.header.data_begin + entry.begin});
        }
        const std::optional<Shape> shape = shape_of_grid(blocks);
        if (!shape || !agrees_with_index(buffer.name, *shape)) {
            damaged(pieces.front().first->file, fmt::format("the pieces of '{}' do not make a whole", buffer.name));
            return std::nullopt;
        }
        tensor.shape = *shape;
        if (!fits(buffer, dtype, *shape, tensor)) return std::nullopt;
        return tensor;
    }

    bool agrees_with_index(const std::string& name, const Shape& shape) const {
        for (const auto& [tensor, indexed] : checkpoint_->index_.shapes)
            if (tensor == name) return indexed == shape;
        return true;
    }

    bool fits(const Buffer& buffer, const std::string& dtype, const Shape& shape, StoredTensor& tensor) {
        const std::optional<DType> known = parse_safetensors_dtype(dtype);
        if (!known) return misfit(buffer, fmt::format("{} {}", dtype.substr(0, 20), shape_text(shape)));
        tensor.dtype = *known;
        const bool widened = *known == DType::bf16 && buffer.dtype == DType::f32;
        const bool rounded = *known == DType::f32 && buffer.dtype == DType::bf16;
        if (shape != buffer.global_shape || !(*known == buffer.dtype || widened || rounded))
            return misfit(buffer, type_text(*known, shape));
        if (rounded) rounded_.push_back(buffer.name);
        return true;
    }

    const Checkpoint* checkpoint_;
    const Plan* plan_;
    Diagnostics* diagnostics_;
    std::map<std::string, std::vector<Piece>> stored_; // by tensor
    std::set<std::string> is_wanted_;
    std::vector<const Buffer*> wanted_; // and there
    std::map<int, File> files_;
    std::vector<std::string> rounded_;
};

bool Checkpoint::select(const Plan& plan, SaveWhat what, const std::set<std::string>& given, Diagnostics& diagnostics) {
    const int errors = diagnostics.error_count();
    if (!updates_anything(plan)) what = SaveWhat::params;
    CheckpointSelection selection(*this, plan, diagnostics);
    selection.want(what, given);
    if (diagnostics.error_count() > errors) return false;
    selection.warn_of_unused(what);
    if (!selection.read_files()) return false;
    tensors_ = selection.assemble_all();
    return diagnostics.error_count() == errors;
}

} // namespace shard

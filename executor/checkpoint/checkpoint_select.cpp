// What a plan needs of a checkpoint, and whether it is there, fits and is whole.
#include "executor/checkpoint/checkpoint.h"
#include "executor/checkpoint/checkpoint_parts.h"
#include "executor/checkpoint/layer_names.h"
#include "executor/checkpoint/piece.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

namespace shard {

namespace {

std::string named(const std::vector<std::string>& names) {
    constexpr size_t shown = 3;
    const std::span<const std::string> first(names.data(), std::min(shown, names.size()));
    std::string text = fmt::format("'{}'", fmt::join(first, "', '"));
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

std::string type_text(const StoredType& type, const Shape& shape) {
    return fmt::format("{} {}", name(type), shape_text(shape));
}

} // namespace

// The work of Checkpoint::select, step by step.
class CheckpointSelection {
public:
    CheckpointSelection(const Checkpoint& checkpoint, const Plan& plan, const StoredNames& elsewhere,
                        const Ranks* ranks, Diagnostics& diagnostics)
        : checkpoint_(&checkpoint), plan_(&plan), elsewhere_(&elsewhere), ranks_(ranks), diagnostics_(&diagnostics) {
        for (const IndexedPiece& piece : checkpoint.index_.pieces) {
            PieceName name = parse_piece_name(piece.name);
            stored_[name.tensor].push_back({&piece, std::move(name.block)});
        }
        for (const auto& [name, pieces] : stored_) names_.add_stored(name);
        for (const PlanInput& input : plan.inputs) names_.add_planned(buffer_of(input).name);
    }

    void want(SaveWhat what, const std::set<std::string>& given) {
        const std::vector<StoredSource> none;
        std::vector<std::string> missing;
        bool any_state = false, only_states = true;
        for (const PlanInput& input : plan_->inputs) {
            const Buffer& buffer = buffer_of(input);
            const std::optional<Part> part = part_of(*plan_, input);
            if (!part || (*part == Part::state && what == SaveWhat::params)) continue;
            std::vector<LayerSource> sources = names_.find(buffer.name, buffer.real_shape(), input.layers);
            for (const LayerSource& source : sources) is_used_.insert(source.stored);
            if (given.contains(buffer.name)) {
                if (sources.empty()) find_elsewhere(buffer, input);
                continue;
            }
            std::vector<StoredSource> rearranged = sources.empty() ? find_elsewhere(buffer, input) : none;
            if (!sources.empty() || !rearranged.empty()) {
                wanted_.push_back({&buffer, std::move(sources), std::move(rearranged)});
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
        if (const auto absent = absent_.find(missing.front()); absent != absent_.end())
            error.note(fmt::format("there '{}' would be called '{}'", absent->first, absent->second));
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
            const std::string& file = checkpoint_->index_.files[pieces.front().first->file].name;
            if (file.starts_with(state_files) && what == SaveWhat::params) continue;
            if (!is_used_.contains(name) && !elsewhere_->is_unused(name)) unused.push_back(name);
        }
        if (unused.empty()) return;
        diagnostics_
            ->warning("W0601", {}, fmt::format("{} also holds {}: not used", checkpoint_->name(), named(unused)))
            .help("is it a checkpoint of this model?");
    }

    // Headers and sums of the files that are needed, in the index's order.
    bool read_files() {
        std::set<int> files;
        for (const Wanted& wanted : wanted_) {
            for (const LayerSource& source : wanted.sources)
                for (const auto& [piece, block] : stored_[source.stored]) files.insert(piece->file);
            for (const StoredSource& source : wanted.rearranged)
                for (const auto& [piece, block] : stored_[source.stored]) files.insert(piece->file);
        }
        bool fine = true;
        int number = 0;
        for (const int file : files) {
            const bool sums = ranks_ == nullptr || number++ % ranks_->count() == ranks_->rank();
            std::optional<SafetensorsHeader> header = checkpoint_->read_header(file, *diagnostics_);
            const bool whole = header && (!sums || checkpoint_->check_sum(file, *diagnostics_));
            fine = whole && check_step(file, *header) && fine;
            if (!header) continue;
            File& state = files_[file];
            state.header = std::move(*header);
            for (const SafetensorsEntry& entry : state.header.tensors) state.entries.emplace(entry.name, &entry);
        }
        return fine;
    }

    std::map<std::string, StoredTensor> assemble_all() {
        std::map<std::string, StoredTensor> tensors;
        for (const Wanted& wanted : wanted_)
            if (std::optional<StoredTensor> tensor = assemble(wanted))
                tensors.emplace(wanted.buffer->name, std::move(*tensor));
        for (const auto& [conversion, names] : conversions_) {
            const auto& [fit, from, to] = conversion;
            const std::string what = fmt::format("{} of {}: {} there, ", named(names), checkpoint_->name(), from);
            if (fit == Fit::rounded)
                diagnostics_->warning("W0602", {}, fmt::format("{}rounded to {} here", what, to))
                    .help("training goes on as saved only with the same element types");
            else
                diagnostics_->warning("W0603", {}, fmt::format("{}converted to {} here", what, to))
                    .note("no value changes");
        }
        return tensors;
    }

private:
    using Piece = std::pair<const IndexedPiece*, std::optional<Block>>;
    struct Wanted {
        const Buffer* buffer = nullptr;
        std::vector<LayerSource> sources;     // that are there
        std::vector<StoredSource> rearranged; // likewise, by names from elsewhere
    };
    struct File {
        SafetensorsHeader header;
        std::map<std::string_view, const SafetensorsEntry*> entries;
    };

    const Buffer& buffer_of(const PlanInput& input) const { return plan_->buffers[input.buffer]; }

    // All parts of a tensor by the names that it has elsewhere; none if one is not there.
    std::vector<StoredSource> find_elsewhere(const Buffer& buffer, const PlanInput& input) {
        const auto choose = [this](const std::vector<std::string>& names) {
            for (const std::string& name : names) {
                if (stored_.contains(name)) return name;
                for (const std::string& prefix : elsewhere_->prefixes)
                    if (stored_.contains(prefix + name)) return prefix + name;
            }
            return names.front();
        };
        std::string problem;
        std::optional<std::vector<StoredSource>> found =
            find_stored(*elsewhere_, buffer.name, buffer.real_shape(), input.layers, choose, problem);
        if (!found) {
            diagnostics_
                ->error("E0615", {}, fmt::format("the names of checkpoints do not fit '{}': {}", buffer.name, problem))
                .note(fmt::format("it is {}", type_text({buffer.dtype}, buffer.real_shape())))
                .help("docs/init.md says how names are written");
            return {};
        }
        for (const StoredSource& source : *found) {
            is_used_.insert(source.stored);
            if (stored_.contains(source.stored)) continue;
            absent_.emplace(buffer.name, source.stored);
            return {};
        }
        return *found;
    }

    bool damaged(int file, const std::string& problem) {
        diagnostics_->error("E0612", {}, fmt::format("{} is damaged: {}", checkpoint_->path_of(file), problem));
        return false;
    }

    void misfit(const Buffer& buffer, const std::string& stored, const std::string& there,
                const std::string& help = "is it a checkpoint of this model?") {
        if (!misfits_.insert(stored).second) return; // a stack is missed by each of its layers
        const std::string needed = type_text({buffer.dtype}, buffer.real_shape());
        if (stored == buffer.name)
            diagnostics_
                ->error("E0613", {},
                        fmt::format("'{}' is {} in {}, but the model has {}", buffer.name, there, checkpoint_->name(),
                                    needed))
                .help(help);
        else
            diagnostics_->error("E0613", {}, fmt::format("{} does not hold '{}'", checkpoint_->name(), buffer.name))
                .note(fmt::format("'{}' is {} there, which does not fit {}", stored, there, needed))
                .help(help);
    }

    // The index and its files were written together.
    bool check_step(int file, const SafetensorsHeader& header) {
        const std::string* step = header.find_metadata("step");
        if (step == nullptr || checkpoint_->index_.tool.empty() || *step == std::to_string(checkpoint_->step()))
            return true;
        return damaged(
            file, fmt::format("it is of step {}, and its index of step {}", step->substr(0, 20), checkpoint_->step()));
    }

    // A tensor as the checkpoint has it.
    struct Stored {
        std::string dtype;
        Shape shape;
        StoredTensor pieces;
    };

    const std::optional<Stored>& stored(const std::string& name) {
        const auto [place, is_first] = assembled_.emplace(name, std::nullopt);
        if (is_first) place->second = assemble_stored(name);
        return place->second;
    }

    std::optional<Stored> assemble_stored(const std::string& name) {
        const std::vector<Piece>& pieces = stored_[name];
        Stored tensor;
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
            if (block.shape != entry.shape || (!blocks.empty() && (block.shape.size() != blocks.front().shape.size() ||
                                                                   entry.dtype != tensor.dtype))) {
                damaged(piece->file, fmt::format("'{}' has the type {} {}", piece->name, entry.dtype.substr(0, 20),
                                                 shape_text(entry.shape)));
                return std::nullopt;
            }
            tensor.dtype = entry.dtype;
            blocks.push_back(block);
            tensor.pieces.push_back(
                {piece->file, StoredType(), block.start, block.shape, file.header.data_begin + entry.begin});
        }
        const std::optional<Shape> shape = shape_of_grid(blocks);
        if (!shape || !agrees_with_index(name, *shape)) {
            damaged(pieces.front().first->file, fmt::format("the pieces of '{}' do not make a whole", name));
            return std::nullopt;
        }
        tensor.shape = *shape;
        return tensor;
    }

    std::optional<StoredTensor> assemble(const Wanted& wanted) {
        StoredTensor tensor;
        for (const LayerSource& source : wanted.sources) {
            const std::optional<Stored>& there = stored(source.stored);
            Shape shape = source.layers;
            shape.insert(shape.end(), wanted.buffer->real_shape().begin() + std::ssize(source.to),
                         wanted.buffer->real_shape().end());
            const std::optional<StoredType> type =
                there ? fitting_type(*wanted.buffer, source.stored, shape, *there) : std::nullopt;
            if (!type) return std::nullopt;
            for (const StoredPiece& piece : there->pieces) add_parts(piece, *type, source, tensor);
        }
        for (const StoredSource& source : wanted.rearranged)
            if (!add_rearranged(*wanted.buffer, source, tensor)) return std::nullopt;
        return tensor;
    }

    bool add_rearranged(const Buffer& buffer, const StoredSource& source, StoredTensor& tensor) {
        const std::optional<Stored>& there = stored(source.stored);
        const std::optional<StoredType> type =
            there ? fitting_type(buffer, source.stored, source.stored_shape, *there) : std::nullopt;
        if (!type) return false;
        if (there->pieces.size() != 1) {
            misfit(buffer, source.stored, "in pieces", "save it whole: what is rearranged is one array");
            return false;
        }
        const StoredPiece& piece = there->pieces.front();
        tensor.push_back({piece.file, *type, source.start, source.shape,
                          piece.offset + source.skipped * byte_size(type->dtype), source.strides});
        return true;
    }

    // Of a stored tensor's piece what lies at `from`, as blocks of the plan's tensor at `to`. Where a layer is taken
    // out of a stack inside of another one, the rest is not in one piece: it is added layer by layer.
    static void add_parts(const StoredPiece& piece, const StoredType& type, const LayerSource& source,
                          StoredTensor& tensor) {
        std::vector<i64> first(piece.start.begin(), piece.start.begin() + std::ssize(source.from));
        Shape count(piece.shape.begin(), piece.shape.begin() + std::ssize(source.from));
        bool is_whole = true;
        for (size_t d = 0; d < source.from.size(); ++d) {
            if (source.from[d] == LayerSource::every) continue;
            if (source.from[d] < first[d] || source.from[d] >= first[d] + count[d]) return;
            first[d] = source.from[d];
            count[d] = 1;
            is_whole = false;
        }
        if (is_whole) return add_part(piece, type, source, first, count, tensor);
        for (std::vector<i64> index = first;;) {
            add_part(piece, type, source, index, Shape(index.size(), 1), tensor);
            size_t d = index.size();
            while (d > 0 && ++index[d - 1] == first[d - 1] + count[d - 1]) {
                --d;
                index[d] = first[d];
            }
            if (d == 0) return;
        }
    }

    // Consecutive bytes of the piece: `count` layers from `begin` on.
    static void add_part(const StoredPiece& piece, const StoredType& type, const LayerSource& source,
                         const std::vector<i64>& begin, const Shape& count, StoredTensor& tensor) {
        const std::ptrdiff_t layers = std::ssize(source.from);
        const Shape rest(piece.shape.begin() + layers, piece.shape.end());
        i64 skipped = 0; // entries of `rest` that lie before it
        for (size_t d = 0; d < source.from.size(); ++d) skipped = skipped * piece.shape[d] + begin[d] - piece.start[d];
        StoredPiece& part = tensor.emplace_back(piece);
        part.type = type;
        part.offset += skipped * element_count(rest) * byte_size(type.dtype);
        part.start.clear();
        part.shape.clear();
        size_t d = 0; // of those of `from` that are `every`
        for (const i64 to : source.to) {
            while (to == LayerSource::every && source.from[d] != LayerSource::every) ++d;
            part.start.push_back(to == LayerSource::every ? begin[d] : to);
            part.shape.push_back(to == LayerSource::every ? count[d] : 1);
            if (to == LayerSource::every) ++d;
        }
        part.start.insert(part.start.end(), piece.start.begin() + layers, piece.start.end());
        part.shape.insert(part.shape.end(), rest.begin(), rest.end());
    }

    bool agrees_with_index(const std::string& name, const Shape& shape) const {
        for (const auto& [tensor, indexed] : checkpoint_->index_.shapes)
            if (tensor == name) return indexed == shape;
        return true;
    }

    static constexpr const char* lossy = "shardc converts only where nothing is lost: convert the checkpoint first";

    // The type of what is stored, if it and the shape are those of the plan, or can be read as those.
    std::optional<StoredType> fitting_type(const Buffer& buffer, const std::string& source, const Shape& shape,
                                           const Stored& there) {
        const std::optional<StoredType> type = parse_safetensors_type(there.dtype);
        if (!type) {
            misfit(buffer, source, fmt::format("{} {}", there.dtype.substr(0, 20), shape_text(there.shape)), lossy);
            return std::nullopt;
        }
        const Fit fit = fit_of(*type, buffer.dtype);
        if (shape != there.shape || fit == Fit::refused) {
            if (shape == there.shape)
                misfit(buffer, source, type_text(*type, there.shape), lossy);
            else
                misfit(buffer, source, type_text(*type, there.shape));
            return std::nullopt;
        }
        if (fit != Fit::same) {
            std::vector<std::string>& names = conversions_[{fit, name(*type), std::string(name(buffer.dtype))}];
            if (names.empty() || names.back() != buffer.name) names.push_back(buffer.name);
        }
        return type;
    }

    const Checkpoint* checkpoint_;
    const Plan* plan_;
    const StoredNames* elsewhere_;
    const Ranks* ranks_;
    Diagnostics* diagnostics_;
    std::map<std::string, std::vector<Piece>> stored_; // by tensor
    std::map<std::string, std::string> absent_;        // tensors, and the first name from elsewhere that is not there
    LayerNames names_;
    std::set<std::string> is_used_; // of those stored
    std::vector<Wanted> wanted_;
    std::map<std::string, std::optional<Stored>> assembled_;
    std::map<int, File> files_;
    std::map<std::tuple<Fit, std::string, std::string>, std::vector<std::string>> conversions_; // names, by from and to
    std::set<std::string> misfits_;
};

bool Checkpoint::select(const Plan& plan, SaveWhat what, const std::set<std::string>& given, Diagnostics& diagnostics,
                        const StoredNames& names, const Ranks* ranks) {
    const int errors = diagnostics.error_count();
    if (!is_step(plan)) what = SaveWhat::params;
    CheckpointSelection selection(*this, plan, names, ranks, diagnostics);
    selection.want(what, given);
    if (diagnostics.error_count() > errors) return false;
    selection.warn_of_unused(what);
    if (!selection.read_files()) return false;
    tensors_ = selection.assemble_all();
    return diagnostics.error_count() == errors;
}

} // namespace shard

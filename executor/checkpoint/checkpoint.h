// Checkpoints: what a run's parameters and optimizer states are, on disk, whatever mesh they lie on.
//
//     DIR/latest                                "step-5": the checkpoint of this folder
//     DIR/step-5/model.safetensors              parameters; model-00001-of-00004.safetensors, ... if several devices
//     DIR/step-5/optimizer.safetensors          have a part of them. Optimizer states
//     DIR/step-5/model.safetensors.index.json   executor/checkpoint/checkpoint_index.h
//
// A device writes the blocks that no device before it holds: a parameter that is replicated is written once, one that
// is split in pieces (executor/checkpoint/piece.h). Any plan of the same model can read them, whatever its mesh, layout
// and mode, and whether its repeated blocks are scanned or written out.
//
// Saving makes a new folder beside the old one, brings all of it to the disk, then replaces `latest` by a rename, and
// when that is on the disk removes what was replaced: a process that ends at any moment, and a machine that stops at
// any, leaves the checkpoint from before, or the new one. Whoever reads a checkpoint holds a lock on its folder, which
// keeps it from being removed.
#pragma once

#include "executor/checkpoint/checkpoint_index.h"
#include "executor/checkpoint/stored_names.h"
#include "executor/elements/stored_type.h"
#include "executor/engine/ranks.h"
#include "executor/formats/safetensors.h"
#include "executor/formats/storage.h"
#include "plans/disk/disk.h"
#include "plans/plan/plan.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>

namespace shard {

enum class SaveWhat { all, params }; // all: what a step updates besides, so that a run goes on from there

// Bytes of a file that hold a block of one of the plan's tensors, row-major unless they have strides. It may be stored
// as a part of another tensor (executor/checkpoint/layer_names.h, stored_names.h).
struct StoredPiece {
    int file = 0;
    StoredType type;
    std::vector<i64> start;
    Shape shape;
    i64 offset = 0;                // bytes from the start of the file
    std::vector<i64> strides = {}; // of each dim, in elements; empty: row-major
};
using StoredTensor = std::vector<StoredPiece>; // that fill the tensor's shape

class Checkpoint {
public:
    // `path` is a folder as above, one of its steps, any folder with safetensors files and their index (or with
    // model.safetensors alone), or one safetensors file. E0611 if nothing is there, E0612 if what is there is damaged.
    static std::optional<Checkpoint> open(const std::string& path, Diagnostics& diagnostics);

    // Finds all that the plan needs: its params, and unless `what` is params alone what its steps update, except the
    // inputs `given` otherwise; layers of a stack and stacks of layers too, where nothing has the name itself. Checks
    // names, shapes, element types (E0613, W0602, W0603) and the checksums of the files that are needed (E0612); says
    // what of the checkpoint is not used (W0601).
    // What has no own name there is looked up by `names`. Checksums, for which a file is read whole, are shared out
    // among `ranks` that all select the same.
    bool select(const Plan& plan, SaveWhat what, const std::set<std::string>& given, Diagnostics& diagnostics,
                const StoredNames& names = {}, const Ranks* ranks = nullptr);

    i64 step() const { return index_.step; }              // that were made before it was saved
    const std::string& folder() const { return folder_; } // that the files lie in
    const std::string& name() const { return name_; }     // the folder, or the file that was given
    bool selected(const std::string& name) const { return tensors_.contains(name); }

    // Nothing more is read: a run that saves may remove it.
    void close() { lock_.reset(); }

    // A block of a selected tensor, converted to the type of `to`; reads only the bytes that lie in it, or less than a
    // page apart. Any thread may call it. A problem if a file cannot be read any more.
    bool read(const Buffer& input, std::span<const i64> start, std::byte* to, std::string& problem) const;

private:
    friend class CheckpointSelection;
    bool open_latest(const std::string& path, Diagnostics& diagnostics);
    bool open_index(const std::string& path, Diagnostics& diagnostics);
    bool open_file(const std::string& path, Diagnostics& diagnostics);
    std::string path_of(int file) const;
    std::optional<SafetensorsHeader> read_header(int file, Diagnostics& diagnostics) const;
    bool check_sum(int file, Diagnostics& diagnostics) const;

    std::string name_, folder_;
    std::unique_ptr<FolderLock> lock_; // of the folder, since it was found
    CheckpointIndex index_;
    std::map<std::string, StoredTensor> tensors_; // selected, by their names in the plan
};

} // namespace shard

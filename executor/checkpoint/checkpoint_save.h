// Saves a checkpoint: its form and what holds of it at every moment is in executor/checkpoint/checkpoint.h.
#pragma once

#include "executor/checkpoint/checkpoint.h"
#include "executor/engine/ranks.h"
#include "plans/disk/disk.h"

namespace shard {

// The bytes of an input on the device at a position.
using ShardBytes = std::function<const std::byte*(i64 position, const Buffer& input)>;

// Makes the folder if it is not there; nothing, with E0614, if that cannot be, nothing could be written in it, or
// another process saves there. Before a run, so that a slip does not cost one. Nobody else saves there as long as the
// lock lives: one of two runs would remove what the other one saved.
std::unique_ptr<FolderLock> prepare_save(const std::string& folder, Diagnostics& diagnostics,
                                         Disk& disk = shard::disk());

// False, with E0614, if the disk has surely no room for it: before a run, so that it need not end without.
bool has_room_to_save(const Plan& plan, const std::string& folder, SaveWhat what, Diagnostics& diagnostics);

// Writes what the plan's params and states hold after `step` steps, and then removes the checkpoints of this folder
// that it replaces, as far as this program wrote them and nobody reads them. The folder that was written, or E0614.
// Where the devices are those of several `ranks`, each calls it and writes the files of its own, into a folder that all
// see; the first does all else, and has the error.
std::optional<std::string> save_checkpoint(const Plan& plan, const std::string& folder, SaveWhat what, i64 step,
                                           const ShardBytes& shard, const FolderLock& lock, Diagnostics& diagnostics,
                                           Disk& disk = shard::disk(), Ranks* ranks = nullptr);

} // namespace shard

// Shardings of the SDY dialect, as model and layout files write them.
#pragma once

#include "importer/model/device_groups.h"

namespace shard {

// Of how many dims it is; nullopt if it is no sharding.
std::optional<size_t> sharding_rank(const MlirAttribute& sharding);

// <@mesh, [{"data"}, {"model", ?}, {}]> as `[data, "model?", ~]`; nullopt if it says what these files cannot say.
std::optional<std::string> sharding_text(const MlirAttribute& sharding);

// Of these axes alone, those of a manual region: `[data, ~]`; nullopt if it names a part of one.
std::optional<std::string> sharding_over(const MlirAttribute& sharding, const std::vector<std::string>& axes);

std::string mesh_text(const ProgramMesh& mesh); // `{data: 2, model: 4}`

} // namespace shard

// A family's model as files: model.yaml, and the names of its parameters in checkpoints.
#pragma once

#include "importer/huggingface/family.h"

namespace shard {

std::string family_model_text(const FamilyModel& model, const FamilyRequest& request);
std::string family_names_text(const FamilyModel& model);

} // namespace shard

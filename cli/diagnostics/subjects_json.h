// What `check` prints as JSON, and keeps as a baseline:
//
//     {"format_version": 1, "tool": "shardc 0.1.0", "verdict": "findings",
//      "subjects": [{"name": ..., "model": ..., "layout": ..., "mode": ..., "verdict": ..., "summary": ..., "step_seconds": ...}],
//      "diagnostics": [{"code": "E0203", "severity": "error", "finding": false, "message": ..., "subjects": [name],
//                       "source": {"file", "line", "column"}, "labels": [...], "notes": [...], "help": ...}]}
#pragma once

#include "cli/diagnostics/subjects.h"

namespace shard {

std::string subjects_json(std::span<const Subject> subjects);

} // namespace shard

// Names in an exported module of Python.
#pragma once

#include "exporter/program/unique_names.h"

namespace shard {

UniqueNames python_names(); // keywords, and what the module imports and defines, are taken

} // namespace shard

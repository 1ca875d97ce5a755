// The plugin's one function. A plugin is built for each MPI library that is found, since their binary interfaces differ;
// the program itself knows none of them (executor/engine/plugin.h).
#pragma once

#include "executor/engine/transport.h"

// A MakeTransport. Starts MPI; deleting what it makes ends MPI.
extern "C" shard::Transport* shardc_make_transport(int version);

// Who carries out collectives. The emulated devices of one process share memory (executor/collective/shared_memory.h);
// a backend for devices in several processes would carry the same steps out over messages.
//
// start() posts a device's operands and never blocks. wait() is called by the device's program when it needs the
// result: it does what this device can do now, and returns whether the collective is complete for it. If it returns
// false, the backend calls the `wake` it was made with once calling again makes sense.
#pragma once

#include "plans/base/base.h"

#include <cstddef>

namespace shard {

class Backend {
public:
    virtual ~Backend() = default;
    // `collective` counts the plan's Start steps in plan order; in a loop it is started again, after its wait.
    virtual void start(int collective, int device, const std::byte* input, std::byte* output) = 0;
    virtual bool wait(int collective, int device) = 0;
    // Bytes moved between devices since the backend was made, by all devices. Valid while none is running.
    virtual i64 wire_bytes(int collective) const = 0;
};

} // namespace shard

// For small functions in loops that use vector registers only once everything in them is in place.
#pragma once

#define SHARD_INLINE [[gnu::always_inline]] inline

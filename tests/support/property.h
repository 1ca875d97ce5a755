// How every property test is run: the same cases every day, 800 a property. RC_PARAMS="seed=7 max_success=20000" looks
// further, as scripts/nightly does. RapidCheck reads the variable once a process, so the default is here and nowhere
// else: one process a test or one for all gives the same cases.
#pragma once

#include <rapidcheck.h>

#include <cstdlib>
#include <string>

namespace shard {

template<typename Property>
bool holds(const std::string& name, const Property& property) {
    ::setenv("RC_PARAMS", "seed=20240601 max_success=800 max_size=150", 0); // a value that is set wins
    return rc::check(name, property);
}

template<typename Property>
bool holds(const Property& property) {
    return holds("", property);
}

} // namespace shard

#include "exporter/jax/names.h"

#include <fmt/format.h>

namespace shard {

PythonNames::PythonNames()
    : taken_{"False",     "None",     "True",        "and",      "as",         "assert",
             "async",     "await",    "break",       "class",    "continue",   "def",
             "del",       "elif",     "else",        "except",   "finally",    "for",
             "from",      "global",   "if",          "import",   "in",         "is",
             "lambda",    "nonlocal", "not",         "or",       "pass",       "raise",
             "return",    "try",      "while",       "with",     "yield",      "abs",
             "bool",      "dict",     "float",       "int",      "len",        "list",
             "max",       "min",      "range",       "slice",    "sum",        "tuple",
             "zip",       "jax",      "jnp",         "lax",      "numpy",      "P",
             "copy_box",  "own_rows", "random_bits", "uniform",  "normal",     "truncated_normal",
             "bernoulli", "randint",  "fold_in",     "threefry", "local_step", "local_start",
             "step",      "start",    "mesh",        "main",     "state",      "inputs",
             "MESH",      "DEVICES",  "STATE",       "INPUTS",   "OUTPUTS"} {}

std::string PythonNames::fresh(std::string_view path) {
    std::string stem;
    for (char c : path) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool digit = c >= '0' && c <= '9';
        if (digit && stem.empty()) stem = "v";
        stem += letter || digit ? c : '_';
    }
    if (stem.empty()) stem = "v";
    std::string name = stem;
    for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", stem, n);
    return name;
}

} // namespace shard

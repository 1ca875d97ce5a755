// What every reader promises of any bytes: it ends, it fails exactly when it reports an error, and it points into the
// file.
#pragma once

#include "plans/diagnostics/diagnostic.h"

#include <cstdlib>
#include <optional>
#include <string>

namespace shard {

inline void require(bool condition) {
    if (!condition) std::abort();
}

// `Result` is empty or not, as std::optional or a pointer is.
template<typename Result>
void check_reader(const unsigned char* data, size_t size, Result (*read)(const Sources&, int, Diagnostics&)) {
    Sources sources;
    const int file = sources.add("fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size));
    Diagnostics diagnostics;
    const Result result = read(sources, file, diagnostics);
    require(static_cast<bool>(result) == !diagnostics.has_error());
    for (const Diagnostic& diagnostic : diagnostics.all()) {
        require(!diagnostic.labels.empty());
        for (const Label& label : diagnostic.labels) {
            const Span& span = label.span;
            require(span.file == file && span.line >= 1 && span.column >= 1 && span.length >= 1);
            require(static_cast<size_t>(span.column - 1) <= sources.line(file, span.line).size());
        }
    }
}

} // namespace shard

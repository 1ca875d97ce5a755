// Findings that the writer of a file accepts, in comments:
//
//     - {kv: model}             # shardc: allow W0302 the large model of this family has it
//     # shardc: allow W0307, W0304 small enough here
//     w_head: {axes: [embed, vocab]}
//
// A comment speaks of its own line or, if it has a line to itself, of the next line that is not a comment. Warnings and
// policy findings can be allowed, errors cannot. A reason is required: it is what a reviewer reads. An allowance that
// silences nothing is a warning itself (W0101), so that none outlives its cause.
#pragma once

#include "plans/diagnostics/diagnostic.h"

#include <vector>

namespace shard {

class Allowances {
public:
    // The comments of one file; E0119 for those that cannot be understood.
    void read(const Sources& sources, int file, Diagnostics& diagnostics);
    // True if a finding of this code at this place is allowed: the allowance counts as used from then on. A pass that
    // puts many cases into one warning asks for each case.
    bool covers(std::string_view code, const Span& place);
    // What is not covered, and W0101 for what was not used. Of planning, which knows no baseline; what a comparison with
    // one finds (P0107, W0701) is a matter of its own.
    Diagnostics apply(const Diagnostics& found) { return apply(found, false); }
    Diagnostics apply_compared(const Diagnostics& found) { return apply(found, true); }

private:
    Diagnostics apply(const Diagnostics& found, bool compared);

    struct Allowance {
        std::string code;
        Span span;    // of the code in the comment
        int line = 0; // of which it speaks
        bool used = false;
    };
    std::vector<Allowance> all_;
};

} // namespace shard

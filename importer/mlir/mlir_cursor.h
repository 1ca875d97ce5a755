// A place in a text that is being read, with the words, numbers and quotes of MLIR. The first error ends the reading:
// the cursor then stands at the end, so that every loop over it ends too.
#pragma once

#include "plans/diagnostics/diagnostic.h"

#include <string_view>

namespace shard {

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; // which some editors write before a text

class MlirCursor {
public:
    MlirCursor(const Sources& sources, int file, Diagnostics& diagnostics)
        : text_(sources.text(file)), file_(file), diagnostics_(&diagnostics) {
        if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    }

    bool at_end() const { return at_ >= text_.size(); }
    bool failed() const { return failed_; }
    bool on_new_line() const { return new_line_; } // whether a line ended since the last token
    // The next character that is no blank and no comment; 0 at the end.
    char peek();
    char after() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; } // behind the one that peek() gave
    bool take(char expected);                                                     // takes it if it comes next
    bool take(std::string_view token);                                            // the same
    bool expect(char expected);                                                   // else an error
    char take_any();                                                              // whatever it is, blanks too
    bool next_is_word();                                                          // a letter or '_' begins it
    std::string_view peek_word();                                                 // letters, digits, '_', '.' and '$'
    std::string_view word();
    std::string_view number(); // 12, -3.5e-4, 0xFF; empty if none comes
    std::string quoted();      // "text", with its escapes resolved
    std::string name();        // what follows % or @: a word or a quoted text

    Span here();
    Span from(const Span& begin) const; // from there to here, on one line
    void fail(std::string_view code, Span span, std::string message,
              std::string help = {});     // without help of its own, the usual one of the code
    void expected(std::string_view what); // E0801 at the next token

private:
    void skip();

    std::string_view text_;
    int file_;
    Diagnostics* diagnostics_;
    size_t at_ = 0;
    size_t line_begin_ = 0;
    int line_ = 1;
    bool failed_ = false;
    bool new_line_ = false;
};

} // namespace shard

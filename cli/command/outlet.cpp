#include "cli/command/outlet.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/paint.h"
#include "plans/base/printable.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>

namespace shard {

namespace {

// Bytes of shardc's own control of the terminal at the front of `text`: a colour, or the progress line's beginning.
size_t code_length(std::string_view text) {
    if (text.starts_with(clear_line)) return clear_line.size();
    if (!text.starts_with("\x1b[")) return 0;
    const size_t end = text.find_first_not_of("0123456789;", 2);
    return end != std::string_view::npos && end > 2 && text[end] == 'm' ? end + 1 : 0;
}

// GitHub's, Azure's and TeamCity's; they trim a line before they look at it. ":::" is none, and stands in excerpts.
bool begins_command(std::string_view line) {
    for (const std::string_view begin : {"::", "##[", "##vso[", "##teamcity["})
        if (line.starts_with(begin)) return !line.starts_with(":::");
    return false;
}

} // namespace

Outlet::Outlet(std::ostream& under, bool codes, bool commands)
    : under_(under), codes_(codes), commands_(commands), stream_(this) {}

std::string Outlet::harmless(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const size_t code = codes_ ? code_length(text) : 0;
        const size_t line_break = text.starts_with("\r\n") ? 2 : text[0] == '\n' ? 1 : 0;
        size_t hidden = code > 0 || line_break > 0 ? 0 : hidden_length(text);
        if (hidden == 0 && at_begin_ && !commands_ && begins_command(text)) hidden = 1;
        const size_t length = code > 0 ? code : line_break > 0 ? line_break : hidden > 0 ? hidden : utf8_length(text);
        if (code == 0) at_begin_ = line_break > 0 || (at_begin_ && text[0] == ' ');
        if (hidden == 0)
            result += text.substr(0, length);
        else
            result += escaped_character(text.substr(0, length));
        text.remove_prefix(length);
    }
    return result;
}

void Outlet::finish() {
    stream_.flush();
    if (!stream_ && problem_ == 0) problem_ = ENOMEM; // a stream keeps what is thrown in it to itself
}

Outlet::int_type Outlet::overflow(int_type c) {
    if (c == traits_type::eof()) return traits_type::not_eof(c);
    const char character = traits_type::to_char_type(c);
    return xsputn(&character, 1) == 1 ? c : traits_type::eof();
}

std::streamsize Outlet::xsputn(const char* text, std::streamsize size) {
    constexpr size_t most_held = 1 << 16;
    held_.append(text, size);
    // Whole lines, so that no character is cut in two.
    if (held_.size() > most_held && !hand_over(held_.rfind('\n') + 1)) return 0;
    return size;
}

int Outlet::sync() {
    if (!hand_over(held_.size())) return -1;
    errno = 0;
    under_.flush();
    if (!under_ && problem_ == 0) problem_ = errno != 0 ? errno : EIO;
    return problem_ == 0 ? 0 : -1;
}

bool Outlet::hand_over(size_t size) {
    const std::string text = harmless(std::string_view(held_).substr(0, size));
    held_.erase(0, size);
    if (problem_ != 0) return false;
    errno = 0;
    under_.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!under_) problem_ = errno != 0 ? errno : EIO;
    return problem_ == 0;
}

int finish_output(Outlet& out, Env& env, int code) {
    if (out.problem() == 0) return code;
    if (out.problem() == EPIPE) return code < exit_usage ? static_cast<int>(exit_broken_pipe) : code;
    Diagnostics diagnostics;
    diagnostics.error("E0708", {}, fmt::format("cannot write to stdout: {}", std::strerror(out.problem())))
        .help("what was printed is not whole; files that the command wrote are");
    print_diagnostics(env, Sources(), diagnostics.all());
    return code == exit_internal ? code : static_cast<int>(exit_usage);
}

} // namespace shard

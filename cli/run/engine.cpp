#include "cli/run/engine.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/terminal/exit_code.h"
#include "executor/engine/plugin.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ostream>
#include <sstream>

namespace shard {

namespace {

// Takes what is written, and forgets it.
class Nowhere : public std::streambuf {
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
    std::streamsize xsputn(const char*, std::streamsize size) override { return size; }
};

// Keeps a copy of what goes to another stream.
class Copied : public std::streambuf {
public:
    explicit Copied(std::ostream& under) : under_(under) {}
    const std::string& text() const { return text_; }

private:
    int_type overflow(int_type c) override {
        if (c == traits_type::eof()) return traits_type::not_eof(c);
        const char character = traits_type::to_char_type(c);
        return xsputn(&character, 1) == 1 ? c : traits_type::eof();
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        text_.append(text, size);
        under_.write(text, size);
        return size;
    }
    int sync() override {
        under_.flush();
        return under_ ? 0 : -1;
    }
    std::ostream& under_;
    std::string text_;
};

// What the first rank writes, the others do not.
class ReadFiles final : public Files {
public:
    explicit ReadFiles(Files& under) : under_(under) {}
    std::optional<std::string> read(const std::string& path, std::string& error) override {
        return under_.read(path, error);
    }
    bool write(const std::string&, std::string_view, std::string&, OutputUse) override { return true; }
    bool append(const std::string&, std::string_view, std::string&) override { return true; }
    std::vector<std::string> list(const std::string& folder) override { return under_.list(folder); }
    bool writable(const std::string&, OutputUse, std::string&) override { return true; }
    bool make_folders(const std::string&, std::string&) override { return true; }

private:
    Files& under_;
};

struct Last {
    int code = exit_clean;
    std::string text; // on stderr
};

std::string message_of(const Last& last) { return fmt::format("{}\n{}", last.code, last.text); }

Last last_of(const std::string& message) {
    Last last;
    std::from_chars(message.data(), message.data() + message.size(), last.code);
    last.text = message.substr(std::min(message.find('\n') + 1, message.size()));
    return last;
}

// What ranks say that the first has not said too, with who they are.
int show_others(const std::vector<std::string>& messages, std::ostream& err) {
    std::vector<std::string> said = {last_of(messages.front()).text};
    int code = exit_clean;
    for (size_t rank = 0; rank < messages.size(); ++rank) {
        const Last last = last_of(messages[rank]);
        code = std::max(code, last.code);
        const bool is_new = std::none_of(said.begin(), said.end(), [&last](const std::string& text) {
            return text.find(last.text) != std::string::npos;
        });
        if (!is_new) continue;
        err << fmt::format("rank {}:\n{}", rank, last.text);
        said.push_back(last.text);
    }
    return code;
}

void report_missing(const MissingRanks& missing, const Ranks& ranks, Env& env) {
    Diagnostics diagnostics;
    const std::string time = fmt::format("for {:g} s", ranks.timeout().count());
    if (missing.ranks.empty())
        diagnostics.error("E0618", {}, fmt::format("all ranks wait {} at {}", time, missing.what()))
            .help("this is a bug in shardc: please report it with the plan file");
    else
        diagnostics
            .error("E0618", {},
                   fmt::format("rank{} {} {} not come to {} {}", missing.ranks.size() > 1 ? "s" : "",
                               fmt::join(missing.ranks, ", "), missing.ranks.size() > 1 ? "have" : "has",
                               missing.what(), time))
            .help("look at the machine of the rank; --timeout gives more time");
    print_diagnostics(env, Sources(), diagnostics.all());
    env.out.flush();
}

// Nothing that is thrown leaves the others waiting.
int guarded(Env& env, Ranks& ranks, const RunOnRanks& command) {
    try {
        return command(env, &ranks);
    } catch (const MissingRanks& missing) {
        report_missing(missing, ranks, env);
    } catch (const InternalError& error) {
        env.err << fmt::format("shardc: internal error on rank {}: {}\nthis is a bug: please report it\n", ranks.rank(),
                               error.what());
        env.err.flush();
        ranks.abort(exit_internal);
    } catch (const std::exception& error) {
        env.err << fmt::format("shardc: rank {} cannot go on: {}\n", ranks.rank(), error.what());
    }
    env.err.flush();
    ranks.abort(exit_usage);
}

int run_on_ranks(Ranks& ranks, Env& env, const RunOnRanks& command) {
    Last last;
    const bool is_first = ranks.is_first();
    Copied copied(env.err);
    Nowhere nowhere;
    std::ostream shown(&copied), hidden(&nowhere);
    std::ostringstream kept;
    ReadFiles read_files(env.files);
    Env own{env.in, is_first ? env.out : hidden, is_first ? shown : kept, is_first ? env.files : read_files};
    own.width = env.width; // no colours, no progress: what looks like a terminal here may be mpirun's
    if (is_first) shown << std::unitbuf;
    last.code = guarded(own, ranks, command);
    last.text = is_first ? copied.text() : kept.str();
    own.out.flush(); // mpirun ends this process too as soon as another has ended with a code that is not 0
    const std::string code = ranks.finish(message_of(last), [&](std::vector<std::string>& messages) {
        return std::to_string(show_others(messages, env.err));
    });
    return last_of(code).code;
}

// Seconds; 0 where none are given.
std::optional<double> read_timeout(const Arguments& arguments, Diagnostics& diagnostics) {
    if (!arguments.has("--timeout")) return 0;
    const std::string& text = arguments.string("--timeout");
    if (const std::optional<int> value = parse_number<int>(text); value && *value >= 1) return *value;
    diagnostics.error("E0701", {}, fmt::format("--timeout takes a whole number of seconds from 1, not '{}'", text));
    return std::nullopt;
}

bool fits_mpi(const Arguments& arguments, Diagnostics& diagnostics) {
    for (const std::string& file : arguments.strings("FILE"))
        if (file == "-")
            diagnostics.error("E0701", {}, "--engine mpi reads no stdin, which one rank alone would get")
                .help("give a file that all ranks see");
    return !diagnostics.has_error();
}

} // namespace

std::vector<OptionDef> with_engine_options(std::vector<OptionDef> options) {
    const std::vector<OptionDef> added = {
        {.name = "--engine",
         .value = "ENGINE",
         .doc = "who carries the plan out: devices emulated in this process, or in the processes that mpirun started",
         .choices = {"emulation", "mpi"},
         .fallback = "emulation"},
        {.name = "--collectives",
         .value = "WHOSE",
         .doc =
             "with --engine mpi: exact, which gives the bits of the emulation, or native, the MPI library's own where "
             "each rank holds one device of a group, which sums in an order of its own",
         .choices = {"exact", "native"},
         .fallback = "exact"},
        {.name = "--root-reads",
         .doc = "with --engine mpi: the first rank alone reads files, and sends the others what they need of them"},
        {.name = "--timeout",
         .value = "SECONDS",
         .doc = "with --engine mpi: end if a rank has not come for so long, and say which and where"}};
    const std::vector<OptionDef>::iterator workers = std::find_if(
        options.begin(), options.end(), [](const OptionDef& option) { return option.name == "--workers"; });
    options.insert(workers == options.end() ? workers : workers + 1, added.begin(), added.end());
    return options;
}

int run_on_engine(const Arguments& arguments, Env& env, const RunOnRanks& command) {
    Diagnostics diagnostics;
    const bool is_mpi = arguments.string("--engine") == "mpi";
    if (!is_mpi && arguments.has("--timeout"))
        diagnostics.error("E0701", {}, "--timeout says how long ranks wait, and the emulation has none")
            .help("add --engine mpi");
    if (!is_mpi && arguments.string("--collectives") == "native")
        diagnostics.error("E0701", {}, "--collectives native are those of MPI, and the emulation has none")
            .help("add --engine mpi");
    if (!is_mpi && arguments.flag("--root-reads"))
        diagnostics.error("E0701", {}, "--root-reads says which rank reads, and the emulation has one process")
            .help("add --engine mpi");
    const std::optional<double> timeout = read_timeout(arguments, diagnostics);
    if (!diagnostics.has_error() && !is_mpi) return command(env, nullptr);
    std::unique_ptr<Transport> transport;
    if (timeout && is_mpi && fits_mpi(arguments, diagnostics)) transport = load_mpi(diagnostics);
    if (!transport) {
        print_diagnostics(env, Sources(), diagnostics.all());
        return exit_usage;
    }
    Ranks ranks(std::move(transport), *timeout);
    return run_on_ranks(ranks, env, command);
}

} // namespace shard

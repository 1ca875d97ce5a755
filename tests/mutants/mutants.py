#!/usr/bin/env python3
"""Mutants: what in the code does no test hold?

  mutants.py plant CLONE [--count N] [--seed S] [--folders planner,plans,executor,cli]
      writes N random mutants into a clone of this repository and builds it (preset ci). A mutant is one operator or one
      constant, flipped; all are compiled in, and the environment's SHARD_MUTANT=ID switches one on.
  mutants.py reach CLONE
      runs the suite with none switched on, and notes which cases reach which mutants.
  mutants.py judge CLONE [--again | --anew] [--properties] [--slowest SECONDS]
      switches on each in turn and runs the cases that reach it, the fastest first, until one fails. What none notices is
      printed: a line that no test holds, or one that means the same either way.
      --again judges those that were not noticed, --anew all; --properties runs the properties that reach it too.

What they find is kept in CLONE/build/mutants. One build serves all mutants, so that a mutant costs seconds.
"""
import argparse, glob, json, os, random, re, shutil, subprocess, sys, time

SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "),
         (" && ", " || "), (" || ", " && "), (" + ", " - "), (" - ", " + "), (" * ", " + "), ("true", "false"),
         ("false", "true"), (" 1;", " 2;"), (" 0;", " 1;"), ("std::max(", "std::min("), ("std::min(", "std::max("),
         ("continue;", ";")]
WORDS = {"true", "false"}
# Where an expression that holds an operator begins and ends, outside of brackets.
ENDS = (";", ",", "?", " : ", " = ", " += ", " -= ", " *= ", " |= ", " &= ", "return ", "co_return ", "case ", "else ")

SWITCH = """// Mutants, planted by tests/mutants/mutants.py.
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
static unsigned char reached[1 << 16];
extern "C" void shard_mutants_again() { for (unsigned char& one : reached) one = 0; }
extern "C" bool shard_mutant(int id) {
    if (environ == nullptr) return false; // what runs before the environment is there
    static const int on = [] { const char* text = std::getenv("SHARD_MUTANT"); return text ? std::atoi(text) : 0; }();
    static const char* log = std::getenv("SHARD_MUTANT_LOG");
    if (log && !reached[id]) {
        reached[id] = 1;
        const int file = ::open(log, O_WRONLY | O_APPEND | O_CREAT, 0644);
        const std::string line = std::to_string(id) + "\\n";
        if (::write(file, line.data(), line.size()) < 0) std::abort();
        ::close(file);
    }
    return id == on;
}
"""
# Warnings are errors in the ci build, and flipped code deserves some.
QUIET = "".join(f'#pragma GCC diagnostic ignored "-W{w}"\n' for w in
                ("parentheses", "tautological-compare", "bool-operation", "int-in-bool-context", "unused", "bool-compare",
                 "type-limits", "maybe-uninitialized", "sign-compare", "empty-body", "array-bounds"))
LISTENER = """// Says after each case which mutants it reached and how long it took.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <fstream>
#include <iterator>
#include <string>
extern "C" void shard_mutants_again();
namespace {
struct Reach : doctest::IReporter {
    const char* log = std::getenv("SHARD_MUTANT_LOG");
    const char* cases = std::getenv("SHARD_MUTANT_CASES");
    std::string name;
    std::chrono::steady_clock::time_point began;
    explicit Reach(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_start(const doctest::TestCaseData& data) override {
        name = data.m_name;
        if (log) std::remove(log);
        shard_mutants_again();
        began = std::chrono::steady_clock::now();
    }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        if (!log || !cases) return;
        std::ifstream read(log);
        std::string ids{std::istreambuf_iterator<char>(read), {}};
        for (char& c : ids) if (c == '\\n') c = ' ';
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        std::ofstream(cases, std::ios::app) << seconds << "\\t" << (stats.failure_flags == 0) << "\\t" << ids << "\\t" << name << "\\n";
    }
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
}
REGISTER_LISTENER("reach", 1, Reach);
"""


def bounds(text, at):
    """The expression around text[at]: from after an opening bracket or a boundary to before a closing one."""
    depth, begin = 0, at
    while begin > 0:
        c = text[begin - 1]
        if c in ")]}":
            if c == "}" and depth == 0 and text[begin:begin + 1] == "\n":
                break
            depth += 1
        elif c in "([{":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and any(text.endswith(e, 0, begin) for e in ENDS):
            break
        begin -= 1
    depth, end = 0, at
    while end < len(text):
        c = text[end]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and any(text.startswith(e, end) for e in (";", ",", " ? ", " : ", "\n?", "\n:")):
            break
        elif depth == 0 and re.match(r"\s+[?:] ", text[end:end + 80]):
            break
        end += 1
    while text[begin] in " \n":
        begin += 1
    return begin, end


def spots(text):
    """Each place that can be flipped: (offset, old, new)."""
    offset = 0
    for line in text.split("\n"):
        code = line.split("//")[0]
        skip = ('"' in code or code.strip().startswith("#") or "static_assert" in code or "internal_check" in code or
                "constexpr" in code or "template" in code)
        if not skip:
            for old, new in SWAPS:
                for hit in re.finditer(re.escape(old), code):
                    if old in WORDS and re.search(r"\b%s\b" % old, code[max(0, hit.start() - 1):hit.end() + 1]) is None:
                        continue
                    yield offset + hit.start(), old, new
        offset += len(line) + 1


def planted(text, mutant):
    """The text with the mutant behind its switch."""
    at, old, new, number = mutant["at"], mutant["old"], mutant["new"], mutant["id"]
    on = f"shard_mutant({number})"
    if old in WORDS:
        return text[:at] + f"({on} ? {new} : {old})" + text[at + len(old):]
    if old == "continue;":
        return text[:at] + f"{{ if (!{on}) continue; }}" + text[at + len(old):]
    if old in (" 1;", " 0;"):
        return text[:at] + f" ({on} ? {new[1:-1]} : {old[1:-1]});" + text[at + len(old):]
    begin, end = bounds(text, at + 1)
    was, now = text[begin:end], text[begin:at] + new + text[at + len(old):end]
    return text[:begin] + f"({on} ? ({now}) : ({was}))" + text[end:]


def folder(clone):
    path = os.path.join(clone, "build", "mutants")
    os.makedirs(path, exist_ok=True)
    return path


def save(clone, mutants):
    with open(os.path.join(folder(clone), "mutants.json"), "w") as file:
        json.dump(mutants, file, indent=1)


def load(clone):
    return json.load(open(os.path.join(folder(clone), "mutants.json")))


def write(clone, mutants, originals):
    for path, text in originals.items():
        here = sorted((m for m in mutants if m["file"] == path), key=lambda m: -m["at"])
        for mutant in here:
            text = planted(text, mutant)
        if here:
            text = QUIET + 'extern "C" bool shard_mutant(int);\n' + text
        full = os.path.join(clone, path)
        if open(full).read() != text:
            open(full, "w").write(text)


def plant(options):
    clone, rnd = options.clone, random.Random(options.seed)
    os.chdir(clone)
    subprocess.run(["git", "checkout", "-q", "."], check=True)
    files = sorted(f for d in options.folders.split(",") for f in glob.glob(d + "/**/*.cpp", recursive=True))
    files = [f for f in files if "mutant_switch" not in f]
    originals, mutants = {}, []
    open("plans/base/mutant_switch.cpp", "w").write(SWITCH)
    # In main.cpp, so that the linker keeps the listener.
    main = open("tests/main.cpp").read()
    open("tests/main.cpp", "w").write(main.replace("#include <csignal>", '#include <csignal>\n' + LISTENER.replace(
        "#include <doctest/doctest.h>\n", "")))
    while len(mutants) < options.count * 1.35:
        path = rnd.choice(files)
        text = originals.get(path) or open(path).read()
        places = list(spots(text))
        if not places:
            continue
        at, old, new = rnd.choice(places)
        line = text.count("\n", 0, at + 1) + 1
        near = [m for m in mutants if m["file"] == path and abs(m["line"] - line) < 25]
        if near:
            continue # their expressions could overlap
        originals[path] = text
        mutants.append({"id": len(mutants) + 1, "file": path, "line": line, "at": at, "old": old, "new": new,
                        "code": text.split("\n")[line - 1].strip()})
    write(".", mutants, originals)
    env = dict(os.environ, LDFLAGS="-fuse-ld=mold") if shutil.which("mold") else os.environ
    subprocess.run(["cmake", "--preset", "ci", "-DSHARDC_BENCH=OFF"], env=env,
                   check=True, stdout=subprocess.DEVNULL)
    targets = ["shard_tests", "shard_property_tests", "shardc"]
    while True:
        made = subprocess.run(["cmake", "--build", "build/ci", "-j2", "--target", *targets, "--", "-k", "0"],
                              capture_output=True, text=True)
        if made.returncode == 0:
            break
        # Files are compiled in batches: what failed is where the compiler points, of several in a file those near its line.
        pointed = {(f, int(n)) for f, n in re.findall(r"([\w/.]+\.cpp):(\d+):\d+: error", made.stdout)}
        bad = [m for m in mutants if any(f.endswith(m["file"]) for f, _ in pointed)]
        if not bad:
            sys.exit(made.stdout[-4000:])
        named = [m for m in bad if any(f.endswith(m["file"]) and abs(n - m["line"]) < 12 for f, n in pointed)]
        gone = {m["id"] for m in (named or bad)}
        print(f"{len(gone)} do not compile", flush=True)
        mutants = [m for m in mutants if m["id"] not in gone]
        write(".", mutants, originals)
    # The rest, to the count asked for, stay in the build and are not judged.
    for n, mutant in enumerate(mutants):
        mutant["judged"] = n < options.count
    save(".", mutants)
    print(f"{sum(m['judged'] for m in mutants)} mutants are planted")


def reach(options):
    os.chdir(options.clone)
    cases = []
    for program in ("shard_tests", "shard_property_tests"):
        env = dict(os.environ, SHARD_MUTANT="0", SHARD_MUTANT_LOG=os.path.abspath(f"build/mutants/{program}.ids"),
                   SHARD_MUTANT_CASES=os.path.abspath(f"build/mutants/{program}.cases"))
        if os.path.exists(env["SHARD_MUTANT_CASES"]):
            os.remove(env["SHARD_MUTANT_CASES"])
        args = ["-sfe=*tests/structure*"] if program == "shard_tests" else []
        subprocess.run([f"build/ci/{program}", *args], env=env, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for line in open(env["SHARD_MUTANT_CASES"]):
            seconds, passed, ids, name = line.rstrip("\n").split("\t")
            if passed == "1":
                cases.append({"program": program, "name": name, "seconds": float(seconds),
                              "ids": [int(i) for i in ids.split()]})
            else:
                print("fails without a mutant:", name)
    json.dump(cases, open("build/mutants/cases.json", "w"))
    print(len(cases), "cases")


def noticed(case, number):
    env = dict(os.environ, SHARD_MUTANT=str(number))
    name = case["name"].replace("\\", "\\\\").replace(",", "\\,")
    name = name[1:] if name.startswith("*") else name
    try:
        run = subprocess.run([f"build/ci/{case['program']}", f"-tc={name}", "--no-skip"], env=env, capture_output=True,
                             stdin=subprocess.DEVNULL, timeout=10 + 8 * case["seconds"], start_new_session=True)
    except subprocess.TimeoutExpired:
        return "too slow"
    return "fails" if run.returncode else ""


def judge(options):
    os.chdir(options.clone)
    mutants, cases = load("."), json.load(open("build/mutants/cases.json"))
    for mutant in mutants:
        if not mutant["judged"] or (mutant.get("noticed") if not options.anew else False):
            continue
        if "noticed" in mutant and not (options.again or options.anew):
            continue
        reaching = sorted((c for c in cases if mutant["id"] in c["ids"] and c["seconds"] <= options.slowest and
                           (options.properties or c["program"] == "shard_tests")), key=lambda c: c["seconds"])
        tried = set(mutant.get("tried", []))
        began, mutant["noticed"] = time.time(), ""
        for case in reaching:
            if case["name"] in tried:
                continue
            how = noticed(case, mutant["id"])
            tried.add(case["name"])
            if how:
                mutant["noticed"] = f"{how}: {case['name']}"
                break
        mutant["tried"] = sorted(tried) if not mutant["noticed"] else []
        word = "noticed " if mutant["noticed"] else "SURVIVED"
        print(f"{word} {mutant['id']:4} {mutant['file']}:{mutant['line']}: {mutant['code'][:90]} | {mutant['old'].strip()} -> "
              f"{mutant['new'].strip()} ({len(reaching)} cases, {time.time() - began:.0f} s)", flush=True)
        save(".", mutants)
    judged = [m for m in mutants if "noticed" in m]
    print(f"{sum(bool(m['noticed']) for m in judged)} of {len(judged)} are noticed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["plant", "reach", "judge"])
    parser.add_argument("clone")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", default="planner,plans,executor,cli")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--properties", action="store_true")
    parser.add_argument("--slowest", type=float, default=15)
    options = parser.parse_args()
    {"plant": plant, "reach": reach, "judge": judge}[options.command](options)


main()

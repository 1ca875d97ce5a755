#include "cli/command/complete.h"

#include "cli/command/help.h"

#include <algorithm>

namespace shard {

namespace {

constexpr size_t most_names = 100;

// What was typed of a command before the last word, and what the last word is of.
struct Typed {
    Arguments arguments;
    const OptionDef* option = nullptr; // nullptr: nothing may stand there
    std::string before;                // of the last word, what belongs to no value: "--format="
    bool options_end = false;          // after "--"
};

const OptionDef* find_option(const CommandDef& command, std::string_view name) {
    for (const OptionDef& option : command.options)
        if (!is_positional(option) && (option.name == name || (!name.empty() && option.short_name == name)))
            return &option;
    return nullptr;
}

bool takes_value(const OptionDef* option) { return option != nullptr && !option->value.empty(); }

// The positional that `count` others stand before.
const OptionDef* positional(const CommandDef& command, size_t count) {
    for (const OptionDef& option : command.options) {
        if (!is_positional(option)) continue;
        if (count == 0 || option.many) return &option;
        --count;
    }
    return nullptr;
}

Typed read(const CommandDef& command, std::span<const std::string> words) {
    Typed typed;
    std::map<std::string, std::vector<std::string>, std::less<>> values;
    size_t positionals = 0;
    const OptionDef* waiting = nullptr; // for its value
    for (const std::string& word : words.first(words.size() - 1)) {
        const size_t equals = word.find('=');
        const OptionDef* const named = typed.options_end ? nullptr : find_option(command, word.substr(0, equals));
        if (waiting != nullptr) {
            values[std::string(waiting->name)].push_back(word);
            waiting = nullptr;
        } else if (word == "--" && !typed.options_end) {
            typed.options_end = true;
        } else if (takes_value(named) && equals == std::string::npos) {
            waiting = named;
        } else if (named != nullptr) {
            std::vector<std::string>& given = values[std::string(named->name)];
            if (equals != std::string::npos) given.push_back(word.substr(equals + 1));
        } else if (const OptionDef* const place = positional(command, positionals);
                   place != nullptr && (typed.options_end || !word.starts_with('-') || word == "-")) {
            values[std::string(place->name)].push_back(word);
            ++positionals;
        }
    }
    const std::string& last = words.back();
    const size_t equals = last.find('=');
    if (waiting != nullptr) {
        typed.option = waiting;
    } else if (const OptionDef* const named = find_option(command, last.substr(0, equals));
               !typed.options_end && last.starts_with("--") && equals != std::string::npos && takes_value(named)) {
        typed.option = named;
        typed.before = last.substr(0, equals + 1);
    } else if (typed.options_end || !last.starts_with('-')) {
        typed.option = positional(command, positionals);
    }
    for (const OptionDef& option : command.options) {
        const std::string name(option.name);
        if (values.contains(name))
            typed.arguments.set(name, std::move(values[name]));
        else if (!option.fallback.empty())
            typed.arguments.set_fallback(name, option.fallback);
    }
    return typed;
}

// Of many names below one another those of the next level.
void shorten(std::vector<Candidate>& candidates, size_t begun) {
    if (candidates.size() <= most_names) return;
    for (Candidate& candidate : candidates) {
        const size_t dot = candidate.word.find('.', begun);
        if (dot != std::string::npos) candidate = {candidate.word.substr(0, dot + 1)};
    }
    const auto same = [](const Candidate& a, const Candidate& b) { return a.word == b.word; };
    candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());
}

Completion of_option(const Typed& typed, const std::string& last, Env& env) {
    Completion completion;
    const OptionDef& option = *typed.option;
    const std::string begun = last.substr(typed.before.size());
    const bool behind_name = option.value.find('=') != std::string_view::npos && begun.find('=') != std::string::npos;
    const auto offer = [&](Candidate candidate) {
        if (!candidate.word.starts_with(begun)) return;
        candidate.word = typed.before + candidate.word;
        completion.candidates.push_back(std::move(candidate));
    };
    if (!behind_name) {
        for (const std::string_view choice : option.choices) offer({std::string(choice)});
        if (option.candidates != nullptr)
            for (Candidate& candidate : option.candidates(typed.arguments, env)) offer(std::move(candidate));
        shorten(completion.candidates, typed.before.size() + begun.size());
    }
    // "NAME=FILE", not "DIR|NAME=FILE".
    const bool name_first =
        option.value.find('=') < option.value.find('|') && option.value.find('=') != std::string_view::npos;
    // What takes files and other words in a row says of neither that it is one.
    constexpr size_t files_of_plan = 2;
    const bool mixed = is_positional(option) && option.many && option.file == FileUse::none &&
                       typed.arguments.strings(option.name).size() < files_of_plan;
    // Nobody looks for a file among thousands of names.
    if (mixed && begun.empty() && completion.candidates.size() > most_names) completion.candidates.clear();
    completion.files = mixed || (option.file != FileUse::none && (behind_name || !name_first));
    return completion;
}

} // namespace

Completion complete(std::span<const std::string> words, Env& env) {
    Completion completion;
    if (words.empty()) return completion;
    const std::string& last = words.back();
    const auto offer = [&](std::string_view word, std::string_view doc) {
        if (word.starts_with(last)) completion.candidates.push_back({std::string(word), std::string(doc)});
    };
    const bool helps = words.size() == 2 && words.front() == "help";
    if (words.size() == 1 || helps) {
        for (const CommandDef* command : all_commands()) offer(command->name, command->summary);
        if (helps) return completion;
        offer("help", "what a command does");
        offer("--help", "the commands");
        offer("--version", "which shardc this is");
        return completion;
    }
    const auto is_it = [&](const CommandDef* command) { return command->name == words.front(); };
    const auto found = std::find_if(all_commands().begin(), all_commands().end(), is_it);
    if (found == all_commands().end()) return completion;
    const Typed typed = read(**found, words.subspan(1));
    if (typed.option != nullptr) return of_option(typed, last, env);
    if (!last.starts_with('-') || typed.options_end) return completion;
    for (const OptionDef& option : (*found)->options)
        if (!is_positional(option)) offer(option.name, option.doc);
    offer("--help", "all about the command");
    return completion;
}

} // namespace shard

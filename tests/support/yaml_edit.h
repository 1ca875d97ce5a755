// YAML trees changed at random: values replaced by extremes, repeated, left out.
#pragma once

#include "planner/text/yaml.h"
#include "tests/support/case_writer.h"

namespace shard {

Yaml yaml_of(const std::string& text); // of a text that is valid
std::string text_of(const Yaml& yaml); // in flow style, on one line

// Values that an argument hardly ever has.
const std::vector<Yaml>& extremes();

// Every value in the tree but the keys; the root is the first.
std::vector<Yaml*> nodes_of(Yaml& root);

// Replaces a value by an extreme, by another value of the tree, or by a list around it; repeats or leaves out an item.
void disturb(Yaml& root, Tape& tape);

} // namespace shard

#include "plans/base/shell_word.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("a word of a shell is quoted where a character means something to it") {
    CHECK(shell_word("layouts/a_b-2.yaml") == "layouts/a_b-2.yaml");
    CHECK(shell_word("batch=64,128") == "batch=64,128");
    CHECK(shell_word("modèle.yaml") == "modèle.yaml");
    CHECK(shell_word("my model.yaml") == "'my model.yaml'");
    CHECK(shell_word("a;rm $HOME") == "'a;rm $HOME'");
    CHECK(shell_word("it's.yaml") == "'it'\\''s.yaml'");
    CHECK(shell_word("*.yaml") == "'*.yaml'");
    CHECK(shell_word("~/m.yaml") == "'~/m.yaml'");
    CHECK(shell_word("") == "''");
    CHECK(shell_word("a\x1b[31m") == "'a\\u001b[31m'"); // what must not be printed is not
}

} // namespace shard

#include "tests/support/documents.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("a document whose output differs is reported with its line, and rewritten") {
    DocumentResult result = check_document("text\n```console\n$ shardc --version\nwrong\n```\n", "");
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].line == 3);
    CHECK(result.failures[0].expected == "wrong\n");
    CHECK(result.rewritten == "text\n```console\n$ shardc --version\n" + result.failures[0].actual + "```\n");
    CHECK(check_document(result.rewritten, "").failures.empty());
    CHECK(check_document("```console\n$ shardc --version\nshardc\n...\n```\n", "").failures.size() == 1);
    CHECK(check_document("```console\n$ shardc nonsense\nerror\n...\n```\n", "").failures.size() == 1);
}

#include "cli/style/unified_diff.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("a unified diff has changes with three lines around, and one hunk of those that are near") {
    CHECK(unified_diff("f", "a\n", "a\n") == "");
    CHECK(unified_diff("f", "a\nb\nc\n", "a\nB\nc\n") == "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    CHECK(unified_diff("f", "a\na\n", "a\n") == "--- f\n+++ f\n@@ -1,2 +1,1 @@\n a\n-a\n");
    CHECK(unified_diff("f", "", "a\n") == "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
    CHECK(unified_diff("f", "a", "a\n") == "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
    // Lines 1 to 9; the first and the last change: six lines between are context of both, eight part them.
    CHECK(unified_diff("f", "1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n") ==
          "--- f\n+++ f\n@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n");
    CHECK(unified_diff("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "2\n3\n4\n5\n6\n7\n8\n9\n10\n") ==
          "--- f\n+++ f\n@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -7,3 +6,4 @@\n 7\n 8\n 9\n+10\n");
}

} // namespace shard

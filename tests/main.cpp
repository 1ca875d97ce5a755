// The one place that holds doctest's implementation and main(); every other test file only includes the header.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

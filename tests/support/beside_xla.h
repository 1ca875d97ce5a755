// The cases of tests/oracle: models and layouts, what XLA made of each (answers.json, by tests/oracle/xla_answers.py),
// and tables that hold plans against it.
#pragma once

#include "plans/plan/plan.h"

#include <map>
#include <string>
#include <vector>

namespace shard {

// What a compiler made of a program.
struct XlaFigures {
    std::map<std::string, i64> sent; // by kind, bytes that all devices send in a step
    i64 flops = 0, peak = 0;         // of a device
    i64 bytes() const;
};

struct XlaValue {
    std::vector<double> at; // elements at equal distances, the first one first
    double largest = 0;     // of all, without its sign
};

struct OracleCase {
    std::string group, model, layout, mode; // paths below tests/oracle/models
    std::string name;
    std::vector<std::string> texts;               // digests of what was planned when XLA was asked
    std::map<std::string, std::string> shardings; // of results, which XLA was given
    std::map<std::string, XlaValue> values;       // of results, after a step
    XlaFigures cpu, tpu;
};

// In the order of cases.txt; fails the test if one has no answer.
std::vector<OracleCase> oracle_cases();
// Fails the test, and shows why, if it cannot be planned.
Plan plan_of(const OracleCase& of);
// With `partitioner: xla`, of what XLA was given: no constraints inside, and results in the shardings of the answers.
Plan plan_as_xla(const OracleCase& of);
std::map<std::string, i64> sent_by_kind(const Plan& plan); // of all devices in a step
// What is not as it was when XLA was asked; empty if nothing.
std::string changed_since(const OracleCase& of, const Plan& plan);
// The same where a step's results differ from XLA's.
std::string differences_from_xla(const OracleCase& of, const Plan& plan);

struct BesideXla {
    const OracleCase* of = nullptr;
    i64 bytes = 0, flops = 0, peak = 0;
};
i64 wire_bytes(const Plan& plan); // of all devices in a step

// Markdown: a row for each group, for all, and for those that win nothing by more FLOPs or memory; a row for each case
// that sends more than XLA, with its reason. A reason is for the cases whose names fit its pattern; what has none is
// "no reason is given".
std::string groups_table(const std::vector<BesideXla>& rows);
std::string above_table(const std::vector<BesideXla>& rows,
                        const std::vector<std::pair<std::string, std::string>>& reasons);

// A plan made as XLA would make it.
struct AsXla {
    OracleCase of;
    std::map<std::string, i64> sent; // by kind
};
bool is_alike(const AsXla& row); // the bytes of every kind are those of XLA:TPU
// Markdown: how many of each group are alike; a row for each case that is not, with its reason.
std::string alike_table(const std::vector<AsXla>& rows);
std::string unlike_table(const std::vector<AsXla>& rows,
                         const std::vector<std::pair<std::string, std::string>>& reasons);

bool is_above(const BesideXla& row); // sends more than XLA:CPU or XLA:TPU

} // namespace shard

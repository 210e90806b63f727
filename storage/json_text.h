// The small JSON of the ledger's columns, written without a library: amounts, task grants, figures,
// verdicts by cluster. Keys in a fixed order, no spaces. SQL reads it with SQLite's JSON functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "federation/explain.h"
#include "federation/model.h"
#include "federation/resources.h"
#include "federation/result.h"

namespace caldera {

/// `text` in quotes, with what JSON forbids in a string escaped.
void AppendJsonString(std::string& out, std::string_view text);

/// {"cpu":4000,"memory":1073741824}: in the resource's unit, sorted by name.
std::string AmountsText(const ResourceList& amounts);
/// The same one by one: `out` is empty before the first, and CloseAmounts ends it.
void AppendAmount(std::string& out, std::string_view resource, int64_t amount);
void CloseAmounts(std::string& out);
/// The inverse. Error: kCorrupt.
Result<ResourceList> ParseAmounts(std::string_view text);
/// {"worker":{"replicas":4,"minAvailable":4}}, with `atOnce` where it runs in waves.
std::string TasksText(const std::vector<TaskGrant>& tasks);
/// The inverse. Error: kCorrupt.
Result<std::vector<TaskGrant>> ParseTasks(std::string_view text);
/// [{"object":...,"resource":...,"requested":N,"used":N,"limit":N}].
std::string FiguresText(const std::vector<Figure>& figures);
/// [{"cluster":...,"verdict":...,"message":...,"figures":[...]}].
std::string ClusterVerdictsText(const std::vector<ClusterVerdict>& clusters);

}  // namespace caldera

// What `-f` names: files, folders and standard input, as documents one at a time. A folder is read
// recursively in the order of its names: *.yaml, *.yml and *.json, without hidden entries. Used by
// the command line. Blocks on disk; one thread.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/reading.h"

namespace caldera {

/// Reads all of `paths` in order (`-` is `standard_input`, at most once) and hands each document to
/// `visit`. With errors in the report the input is unusable: what was handed on must not be acted
/// on. Errors name the file, and line and column where there are any: missing or unreadable files,
/// what is no regular file, links that go in a circle, more than kMaxInputBytes, syntax, and a path
/// in which there is no object at all.
ReadReport ReadInput(const std::vector<std::string>& paths, std::istream& standard_input,
                     const DocumentVisitor& visit);

/// One text as ReadInput takes a file of that name: `.json` is JSON; anything else that begins like
/// a JSON object is JSON too, unless only YAML can read it; the rest is YAML.
void ReadText(std::string_view text, const std::string& file, const DocumentVisitor& visit,
              ReadReport& report);

}  // namespace caldera

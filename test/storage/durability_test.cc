// What happens to a ledger when something goes wrong beside it: killed writers, full disks, locks,
// long readers, damaged and foreign files.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "storage/audit.h"
#include "storage/schema.h"
#include "test/storage/scene.h"

namespace caldera::testing {
namespace {

/// Root may write whatever the permissions say: while this lives it is nobody.
class NotRoot {
 public:
  NotRoot() : user_(geteuid()) {
    if (user_ == 0) {
      REQUIRE(seteuid(65534) == 0);
    }
  }
  ~NotRoot() { static_cast<void>(seteuid(user_)); }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;

 private:
  uid_t user_;
};

/// Files of this process may not grow beyond `bytes` while this lives: writing then fails as on a
/// full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit now{bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &now) == 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  FileSizeLimit(FileSizeLimit&&) = delete;
  FileSizeLimit& operator=(FileSizeLimit&&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

void Fill(Scene& scene) {
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=1000 pods=1000");
  scene.fed.AddJob("team-a/first", "gold", 2, "cpu=2");
}

std::string Name(int number) { return "team-a/job-" + std::to_string(number); }

TEST_CASE("a cycle that finds the disk full is not there, and goes in once there is room") {
  Scene scene;
  Fill(scene);
  scene.Record();
  const std::vector<std::string> before = Exported(Must(scene.ledger->Load()));
  for (int i = 0; i < 200; ++i) {
    scene.fed.AddJob(Name(i), "gold", 1, "cpu=1");
  }
  const std::vector<Change> changes = scene.fed.changes;
  {
    const FileSizeLimit full(static_cast<rlim_t>(scene.ledger->WalBytes()) + 4096);
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto failed = scene.TryRecord();
      REQUIRE(!failed.has_value());
      CHECK(failed.error().code == ErrorCode::kUnavailable);
      CHECK(scene.ledger->LastCycle() == 1);
    }
    CHECK(Exported(Must(scene.ledger->Load())) == before);
  }
  CHECK(scene.Record() == 2);
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
  CHECK(scene.Sql("SELECT count(*) FROM jobs WHERE state = 'running'") == "201");
  CHECK(scene.Sql("SELECT max(number) FROM intents") == "201");
  CHECK(Must(Audit(scene.Reader())).findings.empty());
}

TEST_CASE("a file or folder that may not be written is refused at once") {
  const TempDir directory;
  const std::string path = directory.File("ledger.db");
  Must(Ledger::Open(path));
  std::filesystem::permissions(path + ".lock", std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms{0444});
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  {
    const NotRoot not_root;
    const auto ledger = Ledger::Open(path);
    REQUIRE(!ledger.has_value());
    CHECK(ledger.error().code == ErrorCode::kInvalid);
    CHECK(ledger.error().message.find(path + ": the file is read-only") != std::string::npos);
  }
  std::filesystem::permissions(directory.path(), std::filesystem::perms{0555});
  {
    const NotRoot not_root;
    const auto other = Ledger::Open(directory.File("other.db"));
    REQUIRE(!other.has_value());
    CHECK(other.error().message.find("must exist and be writable") != std::string::npos);
  }
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
}

TEST_CASE("nothing is written to a file that is no longer in its place") {
  Scene scene;
  Fill(scene);
  scene.Record();
  const std::string away = scene.path + ".away";
  std::filesystem::rename(scene.path, away);
  scene.fed.AddJob(Name(1), "gold", 1, "cpu=1");
  const auto moved = scene.TryRecord();
  REQUIRE(!moved.has_value());
  CHECK(moved.error().code == ErrorCode::kUnavailable);
  CHECK(moved.error().message.find(scene.path + ": the file was moved") == 0);
  // As who restores a backup under a running writer does.
  std::filesystem::copy_file(away, scene.path);
  CHECK(!scene.TryRecord().has_value());
  CHECK(scene.ledger->LastCycle() == 1);
  std::filesystem::rename(away, scene.path);
  CHECK(scene.Record() == 2);
  CHECK(Must(Audit(scene.Reader())).findings.empty());
}

TEST_CASE("a lock of another process delays nothing that was recorded") {
  LedgerOptions options;
  options.busy_timeout = Millis(20);
  Scene scene(options);
  Fill(scene);
  scene.Record();
  Database other = Must(Database::Open(scene.path, Database::Mode::kReadWrite, Millis(0)));
  Must(other.Execute("BEGIN IMMEDIATE"));
  scene.fed.AddJob("team-a/second", "gold", 1, "cpu=1");
  const auto busy = scene.TryRecord();
  REQUIRE(!busy.has_value());
  CHECK(busy.error().code == ErrorCode::kUnavailable);
  CHECK(busy.error().message.find("another process holds the file") != std::string::npos);
  Must(other.Execute("COMMIT"));
  CHECK(scene.Record() == 2);
  CHECK(Must(Audit(scene.Reader())).findings.empty());
}

TEST_CASE("a reader that stays keeps its view and stops no writer") {
  Scene scene;
  Fill(scene);
  scene.Record();
  LedgerReader pinned = scene.Reader();
  const auto view = Must(ReadTransaction::Begin(pinned.database()));
  CHECK(Must(pinned.database().QueryInteger("SELECT count(*) FROM jobs")) == 1);
  for (int i = 0; i < 50; ++i) {
    scene.fed.AddJob(Name(i), "gold", 1, "cpu=1");
    scene.Record();
  }
  CHECK(Must(pinned.database().QueryInteger("SELECT count(*) FROM jobs")) == 1);
  CHECK(scene.Sql("SELECT count(*) FROM jobs") == "51");
  CHECK(!Must(scene.ledger->Checkpoint()));
  CHECK(scene.ledger->WalBytes() > 0);
}

TEST_CASE("when the last long reader is gone the write-ahead log is cut") {
  Scene scene;
  Fill(scene);
  scene.Record();
  CHECK(scene.ledger->WalBytes() > 0);
  CHECK(Must(scene.ledger->Checkpoint()));
  CHECK(scene.ledger->WalBytes() == 0);
}

TEST_CASE("there is one writer at a time, whatever name the file goes by") {
  Scene scene;
  Fill(scene);
  scene.Record();
  const auto second = Ledger::Open(scene.path);
  REQUIRE(!second.has_value());
  CHECK(second.error().code == ErrorCode::kConflict);
  std::filesystem::create_symlink(scene.path, scene.directory.File("alias.db"));
  const auto alias = Ledger::Open(scene.directory.File("alias.db"));
  REQUIRE(!alias.has_value());
  CHECK(alias.error().code == ErrorCode::kConflict);
  scene.ledger.reset();
  CHECK(Ledger::Open(scene.path).has_value());
}

/// The child of the next test: records one job a cycle and says so when it is acknowledged.
[[noreturn]] void RecordForEver(const std::string& path, int acknowledged) {
  auto ledger = Ledger::Open(path);
  if (!ledger.has_value()) {
    _exit(3);
  }
  Fed fed;
  fed.state = *ledger->Load();
  fed.changes.clear();
  for (int i = static_cast<int>(ledger->LastCycle());; ++i) {
    fed.AddJob(Name(i), "gold", 1, "cpu=1");
    const Plan plan = MakePlan(fed.state);
    for (const Change& change : EffectOf(plan, *ledger->NextIntent())) {
      fed.state.Apply(change);
    }
    const auto cycle = ledger->Append(fed.changes, plan, fed.state, {});
    if (!cycle.has_value() || write(acknowledged, &*cycle, sizeof(*cycle)) != sizeof(*cycle)) {
      _exit(4);
    }
    fed.changes.clear();
  }
}

TEST_CASE("a writer killed at any moment loses nothing that was acknowledged") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=100000 pods=100000");
  scene.Record();
  scene.ledger.reset();
  int64_t last = 1;
  for (int round = 1; round <= 5; ++round) {
    std::array<int, 2> pipe_ends{};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      close(pipe_ends[0]);
      RecordForEver(scene.path, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    // Killed after a number of acknowledgements that differs each time, in the middle of the next.
    for (int n = 0; n < 3 + 4 * round; ++n) {
      REQUIRE(read(pipe_ends[0], &last, sizeof(last)) == sizeof(last));
    }
    kill(child, SIGKILL);
    int64_t more = 0;
    while (read(pipe_ends[0], &more, sizeof(more)) == sizeof(more)) {
      last = more;
    }
    close(pipe_ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));

    // The log of the killed writer is still there: a reader recovers from it first.
    CHECK(std::stoll(scene.Sql("SELECT max(cycle) FROM journal")) >= last);
    scene.Open();
    CHECK(scene.ledger->LastCycle() >= last);
    CHECK(scene.ledger->LastCycle() <= last + 1);
    CHECK(scene.Sql("SELECT count(*), max(number) FROM intents") ==
          std::to_string(scene.ledger->LastCycle() - 1) + "|" +
              std::to_string(scene.ledger->LastCycle() - 1));
    CHECK(Must(Audit(scene.Reader())).findings.empty());
    scene.ledger.reset();
  }
}

TEST_CASE("what is no ledger is refused and left as it is") {
  const TempDir directory;
  const auto code_of = [](const std::string& path) {
    const auto ledger = Ledger::Open(path);
    REQUIRE(!ledger.has_value());
    const auto reader = LedgerReader::Open(path);
    REQUIRE(!reader.has_value());
    CHECK(reader.error().message.find(path.empty() ? "no file name" : path) != std::string::npos);
    return ledger.error().code;
  };
  const std::string text = directory.File("notes.txt");
  std::ofstream(text) << std::string(4096, 'x');
  CHECK(code_of(text) == ErrorCode::kInvalid);
  CHECK(std::filesystem::file_size(text) == 4096);
  CHECK(code_of(directory.path()) == ErrorCode::kInvalid);
  CHECK(code_of(directory.File("no/such/folder.db")) == ErrorCode::kInvalid);
  CHECK(code_of("") == ErrorCode::kInvalid);

  const std::string foreign = directory.File("foreign.db");
  {
    Database database = Must(Database::Open(foreign, Database::Mode::kCreate, Millis(0)));
    Must(database.Execute("CREATE TABLE accounts(id INTEGER)"));
  }
  CHECK(code_of(foreign) == ErrorCode::kInvalid);
  Database again = Must(Database::Open(foreign, Database::Mode::kReadOnly, Millis(0)));
  CHECK(Must(again.QueryText("PRAGMA journal_mode")) == "delete");
}

TEST_CASE("a ledger of a newer version is refused and left as it is") {
  Scene scene;
  scene.ledger.reset();
  {
    Database database = Must(Database::Open(scene.path, Database::Mode::kReadWrite, Millis(0)));
    Must(database.Execute("PRAGMA user_version = 999"));
  }
  const auto ledger = Ledger::Open(scene.path);
  REQUIRE(!ledger.has_value());
  CHECK(ledger.error().code == ErrorCode::kInvalid);
  CHECK(ledger.error().message.find("schema version 999") != std::string::npos);
  CHECK(!LedgerReader::Open(scene.path).has_value());
  Database database = Must(Database::Open(scene.path, Database::Mode::kReadOnly, Millis(0)));
  CHECK(Must(database.QueryInteger("PRAGMA user_version")) == 999);
}

TEST_CASE("a ledger whose schema version is lost is damaged, not empty") {
  for (const char* const version : {"0", "-1"}) {
    Scene scene;
    scene.ledger.reset();
    {
      Database database = Must(Database::Open(scene.path, Database::Mode::kReadWrite, Millis(0)));
      Must(database.Execute(std::string("PRAGMA user_version = ") + version));
    }
    const auto ledger = Ledger::Open(scene.path);
    REQUIRE(!ledger.has_value());
    CHECK(ledger.error().code == ErrorCode::kCorrupt);
    const auto reader = LedgerReader::Open(scene.path);
    REQUIRE(!reader.has_value());
    CHECK(reader.error().message.find("damaged") != std::string::npos);
  }
}

TEST_CASE("a damaged ledger is not written to") {
  Scene scene;
  Fill(scene);
  for (int i = 0; i < 100; ++i) {
    scene.fed.AddJob(Name(i), "gold", 1, "cpu=1");
  }
  scene.Record();
  scene.ledger.reset();
  const auto size = std::filesystem::file_size(scene.path);
  REQUIRE(size > 5 * 4096);
  {
    std::fstream file(scene.path, std::ios::in | std::ios::out | std::ios::binary);
    for (std::uintmax_t page = 2; (page + 1) * 4096 <= size; ++page) {
      file.seekp(static_cast<std::streamoff>(page * 4096));
      file << std::string(64, '\xEE');
    }
  }
  const auto ledger = Ledger::Open(scene.path);
  REQUIRE(!ledger.has_value());
  CHECK(ledger.error().code == ErrorCode::kCorrupt);
  CHECK(ledger.error().message.find(scene.path) != std::string::npos);
}

TEST_CASE("migrations go forward a whole step at a time") {
  const TempDir directory;
  Database database =
      Must(Database::Open(directory.File("old.db"), Database::Mode::kCreate, Millis(0)));
  const Migration first{"CREATE TABLE a(x INTEGER) STRICT; INSERT INTO a VALUES (1)"};
  const Migration second{"ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 7"};
  const Migration broken{"CREATE TABLE b(x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)"};
  Must(Migrate(database, {first}));
  CHECK(Must(database.QueryInteger("PRAGMA user_version")) == 1);
  const auto failed = Migrate(database, {first, second, broken});
  REQUIRE(!failed.has_value());
  CHECK(failed.error().message.find("schema version 3") != std::string::npos);
  CHECK(Must(database.QueryInteger("PRAGMA user_version")) == 2);
  CHECK(Must(database.QueryInteger("SELECT y FROM a")) == 7);
  CHECK(Must(database.QueryInteger("SELECT count(*) FROM sqlite_master WHERE name = 'b'")) == 0);
  CHECK(!database.InTransaction());
  Must(Migrate(database, {first, second}));
  CHECK(!Migrate(database, {first}).has_value());
}

TEST_CASE("a reader asks for a ledger that was migrated") {
  const TempDir directory;
  const std::string path = directory.File("old.db");
  {
    Database database = Must(Database::Open(path, Database::Mode::kCreate, Millis(0)));
    Must(database.Execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
  }
  const auto reader = LedgerReader::Open(path);
  REQUIRE(!reader.has_value());
  CHECK(reader.error().code == ErrorCode::kInvalid);
  CHECK(Ledger::Open(path).has_value());
  CHECK(LedgerReader::Open(path).has_value());
}

}  // namespace
}  // namespace caldera::testing

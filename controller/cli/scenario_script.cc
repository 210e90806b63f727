// A scenario's rules and the objects of `-f` to a script: jobs are drawn, edits become Changes.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "controller/cli/scenario.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;

/// JSON merge patch (RFC 7396): maps are merged, null removes, all else replaces.
void Merge(Value& into, const Value& patch) {
  if (!patch.IsMap() || !into.IsMap()) {
    into = patch;
    return;
  }
  for (const Member& member : patch.AsMap()) {
    if (member.value.IsNull()) {
      into.Erase(member.key);
    } else if (Value* old = into.Find(member.key); old != nullptr && member.value.IsMap()) {
      Merge(*old, member.value);
    } else {
      into.Set(member.key, member.value);
    }
  }
}

/// Up to a multiple of `step`.
Millis RoundUp(int64_t nanos, Millis step) {
  const int64_t unit = step.count() * kNanosPerMilli;
  return step * (nanos / unit + (nanos % unit == 0 ? 0 : 1));
}

class ScriptMaker {
 public:
  ScriptMaker(Scenario& scenario, Manifests& manifests)
      : scenario_(scenario), manifests_(manifests) {}

  Result<SimulationScript> Make() {
    TakeManifests();
    for (size_t k = 0; k < scenario_.submissions.size(); ++k) {
      Draw(scenario_.submissions[k], k);
    }
    TakeOtherJobs();
    std::stable_sort(script_.submissions.begin(), script_.submissions.end(),
                     [](const Submission& a, const Submission& b) { return a.at < b.at; });
    TakeEvents();
    TakeSettings();
    CALDERA_CHECK(Verdicts(scenario_.sink));
    if (script_.submissions.empty()) {
      return Fail(ErrorCode::kInvalid,
                  scenario_.sink.file + ": there is no job: neither submissions, nor a Job in -f");
    }
    return std::move(script_);
  }

 private:
  void TakeManifests() {
    for (Change& change : manifests_.changes) {
      if (auto* job = std::get_if<JobUpsert>(&change)) {
        jobs_.emplace(job->job.key, std::move(job->job));
        continue;
      }
      if (const auto* cluster = std::get_if<ClusterUpsert>(&change)) {
        clusters_.insert(cluster->cluster.name);
        for (const auto& [resource, amount] : cluster->cluster.allocatable) {
          resources_.insert(resource);
        }
      }
      script_.initial.push_back(std::move(change));
    }
    manifests_.changes.clear();
  }

  void Draw(const SubmissionRule& rule, size_t number) {
    const auto it = jobs_.find(rule.source);
    if (it == jobs_.end()) {
      if (!rule.source.name.empty()) {
        rule.place["template"].Refuse("there is no such Job in -f (or it was refused)");
      }
      return;
    }
    used_.insert(rule.source);
    const Job job = TemplateOf(rule, it->second);
    const std::optional<SpanLaw> duration = DurationOf(rule.place, rule.run, job);
    if (!names_.insert(job.key).second) {
      rule.place["name"].Refuse("is needed, another one: submissions before it make jobs of " +
                                job.key.ToString() + " already");
      return;
    }
    if (!duration) {
      return;
    }
    script_.templates.push_back({job, rule.run.checkpoint});
    sources_.push_back(rule.source);
    Random gaps(scenario_.seed, 2 * number);
    Random spans(scenario_.seed, 2 * number + 1);
    const size_t first = script_.submissions.size();
    int64_t nanos = 0;
    for (int64_t i = 0; i < rule.count; ++i) {
      const Millis at = rule.at + RoundUp(nanos, scenario_.resolution);
      if (rule.span.has_value() && at - rule.at > *rule.span) {
        break;
      }
      if (static_cast<int64_t>(script_.submissions.size()) == kSubmissionsMax) {
        rule.place.Refuse("makes more than " + std::to_string(kSubmissionsMax) +
                          " jobs with those before it");
        return;
      }
      Add(rule.run, RoundUp(duration->Draw(spans), scenario_.resolution), at);
      nanos = SaturatingAdd(nanos, rule.every.Draw(gaps));
    }
    Name(first, job.key, rule.count == 1);
  }

  void Add(const RunRule& run, Millis duration, Millis at) {
    Submission submission;
    submission.at = scenario_.start + at;
    submission.source = static_cast<uint32_t>(script_.templates.size() - 1);
    submission.duration = std::max(duration, scenario_.resolution);
    submission.estimate =
        EstimateOf(run.estimate, submission.duration, script_.templates.back().job);
    script_.submissions.push_back(std::move(submission));
  }

  static std::optional<Millis> EstimateOf(const EstimateRule& rule, Millis duration,
                                          const Job& job) {
    switch (rule.kind) {
      case EstimateRule::Kind::kOwn:
        return job.running_estimate;
      case EstimateRule::Kind::kNone:
        return std::nullopt;
      case EstimateRule::Kind::kFactor:
        return std::max(Millis(1),
                        Millis(SaturatingMul(duration.count(), rule.factor_milli) / 1000));
      case EstimateRule::Kind::kFixed:
        return rule.fixed;
    }
    return std::nullopt;
  }

  /// `train-001`, as many digits as the last one needs, so that names sort as the jobs came.
  void Name(size_t first, const JobKey& key, bool single) {
    const size_t count = script_.submissions.size() - first;
    const size_t digits = std::to_string(count).size();
    for (size_t i = 0; i < count; ++i) {
      std::string number = std::to_string(i + 1);
      number.insert(0, digits - number.size(), '0');
      script_.submissions[first + i].key = {key.ns, single ? key.name : key.name + "-" + number};
    }
  }

  Job TemplateOf(const SubmissionRule& rule, Job job) {
    job.key.name = rule.name.empty() ? job.key.name : rule.name;
    job.key.ns = rule.ns.empty() ? job.key.ns : rule.ns;
    job.queue = rule.queue.empty() ? job.queue : rule.queue;
    job.priority_class = rule.priority_class.empty() ? job.priority_class : rule.priority_class;
    if (!IsDnsSubdomain(job.key.name + "-12345678")) {
      rule.place["name"].Refuse("is no name to make others from: it takes " +
                                std::string(kDnsSubdomainRule));
    }
    if (!IsDnsLabel(job.key.ns)) {
      rule.place["namespace"].Refuse("is no namespace: it takes " + std::string(kDnsLabelRule));
    }
    job.creation = {};
    job.terminal = false;
    job.placement.clear();
    job.reports.clear();
    job.backoffs.clear();
    return job;
  }

  std::optional<SpanLaw> DurationOf(const Field& place, const RunRule& run, const Job& job) {
    if (run.duration) {
      return run.duration;
    }
    if (job.running_estimate) {
      return SpanLaw::Fixed(SaturatingMul(job.running_estimate->count(), kNanosPerMilli));
    }
    place["duration"].Refuse("is required: Job " + job.key.ToString() +
                             " has no runningEstimate, and jobs.duration is not given");
    return std::nullopt;
  }

  void TakeOtherJobs() {
    const Value& root = scenario_.document.root;
    const Field place(root.Find("jobs"), "jobs", root.mark(), scenario_.sink);
    Random spans(scenario_.seed, ~uint64_t{0});
    for (const auto& [key, job] : jobs_) {
      if (used_.contains(key) || job.terminal) {
        continue;
      }
      const auto duration = DurationOf(place, scenario_.jobs, job);
      if (!duration) {
        return;
      }
      if (!names_.insert(key).second) {
        place.Refuse("submissions make jobs of the name of Job " + key.ToString() +
                     " in -f: give them another one");
        return;
      }
      script_.templates.push_back({job, scenario_.jobs.checkpoint});
      sources_.push_back(key);
      const Millis late = std::max(job.creation - scenario_.start, Millis(0));
      Add(scenario_.jobs, RoundUp(duration->Draw(spans), scenario_.resolution), late);
      script_.submissions.back().key = key;
    }
  }

  void TakeEvents() {
    std::vector<const EventRule*> rules;
    for (const EventRule& rule : scenario_.events) {
      rules.push_back(&rule);
    }
    std::stable_sort(rules.begin(), rules.end(),
                     [](const EventRule* a, const EventRule* b) { return a->at < b->at; });
    for (const EventRule* rule : rules) {
      switch (rule->kind) {
        case EventRule::Kind::kApply:
          TakeObjectOf(*rule, rule->place["apply"], *rule->place["apply"].value());
          break;
        case EventRule::Kind::kPatch:
          TakePatch(*rule);
          break;
        case EventRule::Kind::kDelete:
          TakeDelete(*rule);
          break;
        case EventRule::Kind::kOutage:
          TakeOutage(*rule);
          break;
      }
    }
  }

  void TakeObjectOf(const EventRule& rule, const Field& place, Value root) {
    const Time at = scenario_.start + rule.at;
    Intake intake = TakeObject({scenario_.sink.file, 0, root}, Strictness::kStored, at);
    auto& errors = scenario_.sink.errors;
    errors.insert(errors.end(), intake.errors.begin(), intake.errors.end());
    if (!intake.known && intake.errors.empty()) {
      place.Refuse("is of a kind that Caldera does not read");
    }
    if (!intake.change.has_value()) {
      return;
    }
    if (const auto* job = std::get_if<JobUpsert>(&*intake.change)) {
      if (!IsSubmitted(job->job.key)) {
        place.Refuse("no job of that name is submitted: submit new ones by submissions");
        return;
      }
    }
    if (const auto* cluster = std::get_if<ClusterUpsert>(&*intake.change)) {
      clusters_.insert(cluster->cluster.name);
    }
    manifests_.documents.insert_or_assign(intake.object, std::move(root));
    script_.changes.push_back({at, std::move(*intake.change)});
  }

  [[nodiscard]] const Submission* FindSubmission(const JobKey& key) const {
    const auto it = std::find_if(script_.submissions.begin(), script_.submissions.end(),
                                 [&](const Submission& s) { return s.key == key; });
    return it == script_.submissions.end() ? nullptr : &*it;
  }
  [[nodiscard]] bool IsSubmitted(const JobKey& key) const { return FindSubmission(key) != nullptr; }

  /// Of `Job/team-a/train`.
  static JobKey KeyOf(const std::string& object) {
    const size_t slash = object.find('/');
    const size_t second = object.find('/', slash + 1);
    return {object.substr(slash + 1, second - slash - 1), object.substr(second + 1)};
  }

  /// The object as it stands then; a job that was made from a template, like it.
  [[nodiscard]] std::optional<Value> DocumentOf(const std::string& object) const {
    if (const auto it = manifests_.documents.find(object); it != manifests_.documents.end()) {
      return it->second;
    }
    if (!object.starts_with("Job/")) {
      return std::nullopt;
    }
    const Submission* submission = FindSubmission(KeyOf(object));
    if (submission == nullptr) {
      return std::nullopt;
    }
    const Job& job = script_.templates[submission->source].job;
    const auto it = manifests_.documents.find("Job/" + sources_[submission->source].ToString());
    if (it == manifests_.documents.end()) {
      return std::nullopt;
    }
    Value root = it->second;
    root.Find("metadata")->Set("name", submission->key.name);
    root.Find("metadata")->Set("namespace", submission->key.ns);
    root.Find("spec")->Set("queue", job.queue);
    if (!job.priority_class.empty()) {
      root.Find("spec")->Set("priorityClassName", job.priority_class);
    }
    return root;
  }

  void TakePatch(const EventRule& rule) {
    std::optional<Value> root = DocumentOf(rule.object);
    if (!root) {
      if (!rule.object.empty()) {
        rule.place["patch"].Refuse("there is no " + rule.object + " at that time");
      }
      return;
    }
    Merge(*root, *rule.place["patch"]["merge"].value());
    TakeObjectOf(rule, rule.place["patch"], *std::move(root));
  }

  void TakeDelete(const EventRule& rule) {
    const std::string& object = rule.object;
    const std::string name = object.substr(object.find('/') + 1);
    const bool job = object.starts_with("Job/");
    if (object.empty()) {
      return;
    }
    if (job ? !IsSubmitted(KeyOf(object)) : manifests_.documents.erase(object) == 0) {
      rule.place["delete"].Refuse("there is no " + object + " at that time");
      return;
    }
    const Time at = scenario_.start + rule.at;
    if (job) {
      script_.changes.push_back({at, JobDelete{KeyOf(object), ""}});
    } else if (object.starts_with("Queue/")) {
      script_.changes.push_back({at, QueueDelete{name}});
    } else if (object.starts_with("Cluster/")) {
      script_.changes.push_back({at, ClusterDelete{name}});
    } else if (object.starts_with("PriorityClass/")) {
      script_.changes.push_back({at, PriorityClassDelete{name}});
    } else if (object.starts_with("Namespace/")) {
      script_.changes.push_back({at, NamespaceDelete{name}});
    } else {
      const JobKey key = KeyOf(object);
      script_.changes.push_back({at, TenantQuotaDelete{key.ns, key.name}});
    }
  }

  void TakeOutage(const EventRule& rule) {
    if (!clusters_.contains(rule.object)) {
      rule.place["outage"]["cluster"].Refuse("there is no such Cluster in -f");
      return;
    }
    const Time from = scenario_.start + rule.at;
    for (const Outage& other : script_.outages) {
      if (other.cluster == rule.object && from < other.until) {
        rule.place["outage"].Refuse("begins before an earlier one of that cluster ends");
        return;
      }
    }
    script_.outages.push_back({rule.object, from, from + rule.span, rule.restart});
  }

  void TakeSettings() {
    script_.start = scenario_.start;
    if (scenario_.until) {
      script_.until = scenario_.start + *scenario_.until;
    }
    script_.start_delay = scenario_.start_delay;
    script_.grace = scenario_.grace;
    script_.cycle = scenario_.cycle;
    script_.summary_every = scenario_.summary_period;
    Settings settings = scenario_.decisions;
    if (scenario_.summary_period > Millis(0)) {
      settings.summary_period = scenario_.summary_period;
    }
    script_.initial.emplace_back(SettingsSet{settings});
    if (!scenario_.resource.empty() && !resources_.contains(scenario_.resource)) {
      const Value& root = scenario_.document.root;
      Field(root.Find("resource"), "resource", root.mark(), scenario_.sink)
          .Refuse("no cluster of -f has this resource");
    }
  }

  Scenario& scenario_;
  Manifests& manifests_;
  SimulationScript script_;
  std::map<JobKey, Job> jobs_;
  std::set<JobKey> used_;        ///< As templates.
  std::set<JobKey> names_;       ///< That jobs are made from.
  std::vector<JobKey> sources_;  ///< By template of the script: the Job of -f.
  std::set<std::string> clusters_;
  std::set<std::string> resources_;
};

}  // namespace

Result<SimulationScript> MakeScript(Scenario& scenario, Manifests& manifests) {
  return ScriptMaker(scenario, manifests).Make();
}

}  // namespace caldera

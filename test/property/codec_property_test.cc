// Every Change and Plan goes through text and back unchanged, and no text brings the codec down.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

#include "federation/codec.h"
#include "test/property/any_value.h"

namespace caldera::property {
namespace {

TEST_CASE("property: any change goes there and back") {
  CHECK(rc::check("decode(encode(change)) == change", [] {
    const Change change = AnyChange();
    const std::string text = EncodeChange(change);
    const Result<Change> back = DecodeChange(text);
    if (!back) {
      RC_FAIL(back.error().message + " in " + text);
    }
    RC_ASSERT(back->index() == change.index());
    RC_ASSERT(std::visit(
        [&]<class C>(const C& left) { return codec::Same(left, std::get<C>(*back)); }, change));
    RC_ASSERT(EncodeChange(*back) == text);
  }));
}

TEST_CASE("property: any plan goes there and back") {
  CHECK(rc::check("decode(encode(plan)) == plan", [] {
    const Plan plan = *Any<Plan>();
    const Result<Plan> back = DecodePlan(EncodePlan(plan));
    if (!back) {
      RC_FAIL(back.error().message);
    }
    RC_ASSERT(codec::Same(*back, plan));
  }));
}

TEST_CASE("property: another change has another text") {
  CHECK(rc::check("encode is injective", [] {
    const Change a = AnyChange();
    const Change b = AnyChange();
    const bool same =
        a.index() == b.index() &&
        std::visit([&]<class C>(const C& left) { return codec::Same(left, std::get<C>(b)); }, a);
    RC_ASSERT((EncodeChange(a) == EncodeChange(b)) == same);
  }));
}

TEST_CASE("property: damaged text is an error or a change, never a crash") {
  CHECK(rc::check("flip, cut, repeat", [] {
    std::string text = EncodeChange(AnyChange());
    const int edits = *rc::gen::inRange(1, 4);
    for (int i = 0; i < edits && !text.empty(); ++i) {
      const auto at = *rc::gen::inRange<size_t>(0, text.size());
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          text[at] = *rc::gen::element('{', '}', '[', ']', '"', ',', ':', '0', '-', '\\', '\xff');
          break;
        case 1:
          text.erase(at);
          break;
        case 2:
          text.insert(at, text.substr(at / 2, 9));
          break;
        default:
          text.insert(at, *rc::gen::element<std::string>("1e999", "{\"change\":", "null", "[[",
                                                         "99999999999999999999", "\\ud800"));
      }
    }
    const Result<Change> change = DecodeChange(text);
    if (!change) {
      RC_ASSERT(change.error().code == ErrorCode::kCorrupt);
      RC_ASSERT(!change.error().message.empty());
    } else {
      RC_ASSERT(DecodeChange(EncodeChange(*change)).has_value());
    }
  }));
}

TEST_CASE("property: a placement goes there and back") {
  CHECK(rc::check("decode(encode(placement)) == placement", [] {
    std::vector<Shard> shards;
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
      Shard shard;
      shard.cluster = "c" + std::to_string(i);
      shard.epoch = *rc::gen::inRange<int64_t>(1, kEpochMax + 1);
      shard.child = *rc::gen::element<std::string>("", "w-0", "\"");
      int32_t replicas = 0;
      const int tasks = *rc::gen::inRange(0, 3);
      for (int t = 0; t < tasks; ++t) {
        TaskGrant grant{*AnyText() + std::to_string(t), *rc::gen::inRange(0, 1000), 0};
        grant.min_available = *rc::gen::inRange(0, grant.replicas + 1);
        if (*rc::gen::arbitrary<bool>()) {
          grant.at_once = *rc::gen::inRange(0, grant.replicas + 1);
        }
        replicas += grant.replicas;
        shard.tasks.push_back(grant);
      }
      shard.min_available = *rc::gen::inRange(0, replicas + 1);
      shards.push_back(shard);
    }
    const Result<std::vector<Shard>> back = DecodePlacement(EncodePlacement(shards));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == shards);
  }));
}

}  // namespace
}  // namespace caldera::property

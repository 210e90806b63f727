// Random values of every struct that has a field list (federation/codec_fields.h), also values that
// no real object has: the codec must take them all.
#pragma once

#include <rapidcheck.h>

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "federation/codec_fields.h"

namespace caldera::property {

/// Texts that JSON, SQL and people trip over, next to ordinary ones.
inline rc::Gen<std::string> AnyText() {
  return rc::gen::oneOf(
      rc::gen::element<std::string>("", "a", "team-a", "nvidia.com/gpu", "quote\"back\\slash",
                                    "line\nbreak\ttab", std::string("nul\0inside", 10),
                                    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80", "</script>", "null"),
      rc::gen::container<std::string>(rc::gen::inRange<char>(0x20, 0x7f)));
}

template <class T>
rc::Gen<T> AnyInteger() {
  using Limits = std::numeric_limits<T>;
  return rc::gen::oneOf(rc::gen::inRange<T>(-3, 4),
                        rc::gen::element<T>(Limits::min(), Limits::max(), Limits::max() - 1),
                        rc::gen::arbitrary<T>());
}

template <class T>
rc::Gen<T> Any();

template <class T>
void Fill(T& value) {
  codec::ForEachField<T>([&](const auto& entry) {
    using Member = std::remove_reference_t<decltype(value.*(entry.member))>;
    if (*rc::gen::inRange(0, 3) != 0) {  // A third keeps its default: that is what is left out.
      value.*(entry.member) = *Any<Member>();
    }
  });
}

template <class T>
rc::Gen<T> AnyStruct() {
  return rc::gen::exec([] {
    T value;
    Fill(value);
    return value;
  });
}

template <class T>
rc::Gen<T> AnyMap() {
  return rc::gen::exec([] {
    T map;
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
      map[*AnyText()] = *Any<typename T::mapped_type>();
    }
    return map;
  });
}

template <class T>
rc::Gen<T> AnyVector() {
  return rc::gen::exec([] {
    T list;
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
      list.push_back(*Any<typename T::value_type>());
    }
    return list;
  });
}

template <class T>
rc::Gen<T> Any() {
  if constexpr (codec::HasFields<T>) {
    return AnyStruct<T>();
  } else if constexpr (codec::HasNames<T>) {
    constexpr auto kNames = codec::NamesOf(static_cast<const T*>(nullptr));
    return rc::gen::map(rc::gen::inRange<size_t>(0, kNames.size()),
                        [kNames](size_t i) { return kNames.at(i).first; });
  } else if constexpr (codec::kIsVector<T>) {
    return AnyVector<T>();
  } else if constexpr (codec::kIsMap<T>) {
    return AnyMap<T>();
  } else if constexpr (codec::kIsOptional<T>) {
    return rc::gen::exec([]() -> T {
      return *rc::gen::arbitrary<bool>() ? T(*Any<typename T::value_type>()) : T();
    });
  } else if constexpr (std::is_same_v<T, std::string>) {
    return AnyText();
  } else if constexpr (std::is_same_v<T, bool>) {
    return rc::gen::arbitrary<bool>();
  } else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Millis>) {
    return rc::gen::map(AnyInteger<int64_t>(), [](int64_t ms) { return T(Millis(ms)); });
  } else {
    return AnyInteger<T>();
  }
}

template <size_t... kIndex>
Change AnyChange(size_t which, std::index_sequence<kIndex...> /*all*/) {
  Change change;
  (void)((which == kIndex && (change = *Any<std::variant_alternative_t<kIndex, Change>>(), true)) ||
         ...);
  return change;
}

/// Any alternative; draws inside of a property.
inline Change AnyChange() {
  constexpr size_t kCount = std::variant_size_v<Change>;
  return AnyChange(*rc::gen::inRange<size_t>(0, kCount), std::make_index_sequence<kCount>());
}

}  // namespace caldera::property

// What most entries of a large table have not: a pointer of eight bytes in place of the thing
// itself, copied with it. A million jobs wait without a placement, a report or a backoff. Values.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace caldera {

/// Like std::optional.
template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-*)
  Rare(const Rare& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(const Rare& other) {
    value_ = other ? std::make_unique<T>(*other) : nullptr;
    return *this;
  }
  Rare& operator=(Rare&&) noexcept = default;
  ~Rare() = default;

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T* operator->() const { return value_.get(); }
  [[nodiscard]] T* operator->() { return value_.get(); }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

/// Reads like the vector that it stands for, and is one where one is asked for.
template <typename T>
class RareVector {
 public:
  RareVector() = default;
  RareVector(std::vector<T> items) {  // NOLINT(google-explicit-*)
    if (!items.empty()) {
      items_ = std::move(items);
    }
  }

  operator const std::vector<T>&() const {  // NOLINT(google-explicit-*)
    static const std::vector<T> kNone;
    return items_ ? *items_ : kNone;
  }
  [[nodiscard]] const std::vector<T>& get() const { return *this; }
  [[nodiscard]] bool empty() const { return get().empty(); }
  [[nodiscard]] size_t size() const { return get().size(); }
  [[nodiscard]] auto begin() const { return get().begin(); }
  [[nodiscard]] auto end() const { return get().end(); }
  [[nodiscard]] const T& front() const { return get().front(); }
  [[nodiscard]] const T& back() const { return get().back(); }
  [[nodiscard]] const T& operator[](size_t i) const { return get()[i]; }
  friend bool operator==(const RareVector& a, const RareVector& b) { return a.get() == b.get(); }

 private:
  Rare<std::vector<T>> items_;
};

/// The same of a string.
class RareText {
 public:
  RareText() = default;
  RareText(std::string text) {  // NOLINT(google-explicit-*)
    if (!text.empty()) {
      text_ = std::move(text);
    }
  }
  operator const std::string&() const {  // NOLINT(google-explicit-*)
    static const std::string kNone;
    return text_ ? *text_ : kNone;
  }
  [[nodiscard]] bool empty() const { return !text_.has_value(); }

 private:
  Rare<std::string> text_;
};

}  // namespace caldera

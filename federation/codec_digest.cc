#include <openssl/evp.h>

#include <array>
#include <memory>

#include "federation/assert.h"
#include "federation/codec.h"

namespace caldera {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    CALDERA_ASSERT(context_ != nullptr);
    CALDERA_ASSERT(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void Add(std::string_view text) {
    CALDERA_ASSERT(EVP_DigestUpdate(context_.get(), text.data(), text.size()) == 1);
  }
  /// Its length before it, so that no two lists of parts give the same bytes.
  void AddPart(std::string_view text) {
    Add(std::to_string(text.size()) + ":");
    Add(text);
  }
  std::string Hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    CALDERA_ASSERT(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) == 1);
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (size_t i = 0; i < size; ++i) {
      hex += kDigits[bytes.at(i) >> 4U];
      hex += kDigits[bytes.at(i) & 15U];
    }
    return hex;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string Digest(std::string_view text) {
  Sha256 hash;
  hash.Add(text);
  return hash.Hex();
}

std::string CycleDigest(std::string_view previous, const std::vector<Change>& changes,
                        const Plan& plan) {
  std::vector<std::string> texts;
  texts.reserve(changes.size());
  for (const Change& change : changes) {
    texts.push_back(EncodeChange(change));
  }
  return CycleDigest(previous, {texts.begin(), texts.end()}, EncodePlan(plan));
}

std::string CycleDigest(std::string_view previous, const std::vector<std::string_view>& changes,
                        std::string_view plan) {
  Sha256 hash;
  hash.AddPart(previous);
  hash.AddPart(std::to_string(changes.size()));
  for (const std::string_view change : changes) {
    hash.AddPart(change);
  }
  hash.AddPart(plan);
  return hash.Hex();
}

}  // namespace caldera

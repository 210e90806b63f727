#include "test/sandbox/reads.h"

#include <charconv>
#include <optional>

#include "controller/kube/json_writer.h"
#include "test/sandbox/base64.h"
#include "test/sandbox/selectors.h"
#include "test/sandbox/table.h"

namespace caldera::sandbox {
namespace {

/// Where a list goes on: the moment it shows and the last object it gave.
struct ContinueToken {
  uint64_t version = 0;
  ObjectKey after;
};

std::string Encode(const ContinueToken& token) {
  return EncodeBase64(std::to_string(token.version) + "/" + token.after.ns + "/" +
                      token.after.name);
}

std::optional<ContinueToken> Decode(const std::string& text) {
  const auto plain = DecodeBase64(text);
  if (!plain) {
    return std::nullopt;
  }
  const size_t first = plain->find('/');
  const size_t second = first == std::string::npos ? first : plain->find('/', first + 1);
  if (second == std::string::npos) {
    return std::nullopt;
  }
  ContinueToken token;
  const auto [end, error] = std::from_chars(plain->data(), plain->data() + first, token.version);
  if (error != std::errc() || end != plain->data() + first) {
    return std::nullopt;
  }
  token.after = {plain->substr(first + 1, second - first - 1), plain->substr(second + 1)};
  return token;
}

struct Page {
  std::vector<const StoredObject*> objects;
  std::string continue_token;
  int64_t remaining = -1;
};

struct Question {
  ObjectKey scope;
  Selector selector;
  bool selecting = false;
  size_t limit = 0;  // 0: no limit.
  std::optional<ContinueToken> token;
  uint64_t version = 0;
};

Page Collect(const ObjectMap& objects, const Question& question) {
  Page page;
  auto it = question.token ? objects.upper_bound(question.token->after)
                           : objects.lower_bound({question.scope.ns, ""});
  for (; it != objects.end(); ++it) {
    const StoredObject& object = *it->second;
    if (!question.scope.ns.empty() && object.key.ns != question.scope.ns) {
      break;
    }
    if (!question.selector.Matches(object)) {
      continue;
    }
    if (question.limit != 0 && page.objects.size() == question.limit) {
      page.continue_token = Encode({question.version, page.objects.back()->key});
      if (!question.selecting) {
        page.remaining = 0;
        for (; it != objects.end() &&
               (question.scope.ns.empty() || it->first.ns == question.scope.ns);
             ++it) {
          ++page.remaining;
        }
      }
      break;
    }
    page.objects.push_back(&object);
  }
  return page;
}

std::string RenderList(const Kind& kind, const Page& page, uint64_t version) {
  Value metadata;
  metadata.Set("resourceVersion", std::to_string(version));
  if (!page.continue_token.empty()) {
    metadata.Set("continue", page.continue_token);
  }
  if (page.remaining > 0) {
    metadata.Set("remainingItemCount", page.remaining);
  }
  std::string text = R"({"kind":")" + kind.type.kind + R"(List","apiVersion":")" +
                     kind.type.ApiVersion() + R"(","metadata":)" + WriteJson(metadata) +
                     R"(,"items":[)";
  // Items of compiled-in kinds come without apiVersion and kind, as from the real server.
  const std::string head =
      R"({"apiVersion":")" + kind.type.ApiVersion() + R"(","kind":")" + kind.type.kind + R"(",)";
  for (const StoredObject* object : page.objects) {
    if (object != page.objects.front()) {
      text += ',';
    }
    if (kind.builtin) {
      text += '{';
      text += std::string_view(object->text).substr(head.size());
    } else {
      text += object->text;
    }
  }
  return text + "]}";
}

Refusal TooOld() {
  return Expired(
      "The provided continue parameter is too old to display a consistent list result. You must "
      "start a new list without the continue parameter.");
}

Answer<Question> ParseQuestion(const Store& store, const Route& route, const HttpRequest& request) {
  Question question;
  question.scope = route.key;
  const std::string labels = QueryText(request, "labelSelector");
  const std::string fields = QueryText(request, "fieldSelector");
  Answer<Selector> selector = Selector::Parse(*route.kind, labels, fields);
  if (!selector) {
    return tl::unexpected(std::move(selector).error());
  }
  question.selector = *std::move(selector);
  question.selecting = !labels.empty() || !fields.empty();
  question.limit = static_cast<size_t>(QueryNumber(request, "limit", 0));
  question.version = store.version();
  if (const std::string text = QueryText(request, "continue"); !text.empty()) {
    question.token = Decode(text);
    if (!question.token || question.token->version > store.version()) {
      return tl::unexpected(BadRequest("continue key is not valid"));
    }
    question.version = question.token->version;
  } else if (QueryText(request, "resourceVersionMatch") == "Exact") {
    question.version = static_cast<uint64_t>(QueryNumber(request, "resourceVersion", 0));
  }
  return question;
}

}  // namespace

bool WantsTable(const HttpRequest& request) {
  return HeaderText(request, "accept").find("as=Table") != std::string::npos;
}

Answer<HttpResponse> GetObject(const Store& store, const Route& route, const HttpRequest& request,
                               Time now) {
  const ObjectPtr object = store.Find(*route.kind, route.key);
  if (object == nullptr) {
    return tl::unexpected(NotFound(*route.kind, route.key.name));
  }
  if (!WantsTable(request)) {
    return JsonResponse(200, object->text);
  }
  return JsonResponse(200, RenderTable(*route.kind, {object.get()},
                                       {now, true, std::to_string(object->version), "", -1}));
}

Answer<HttpResponse> ListObjects(const Store& store, const Route& route, const HttpRequest& request,
                                 Time now) {
  Answer<Question> question = ParseQuestion(store, route, request);
  if (!question) {
    return tl::unexpected(std::move(question).error());
  }
  // The past lives in `then` while the page is rendered.
  std::optional<ObjectMap> then;
  const ObjectMap* objects = &store.Objects(*route.kind);
  if (question->version < store.version()) {
    then = store.ObjectsAt(*route.kind, question->version);
    if (!then) {
      return tl::unexpected(TooOld());
    }
    objects = &*then;
  }
  const Page page = Collect(*objects, *question);
  if (!WantsTable(request)) {
    return JsonResponse(200, RenderList(*route.kind, page, question->version));
  }
  return JsonResponse(200, RenderTable(*route.kind, page.objects,
                                       {now, true, std::to_string(question->version),
                                        page.continue_token, page.remaining}));
}

}  // namespace caldera::sandbox

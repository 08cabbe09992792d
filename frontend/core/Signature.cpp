#include "frontend/core/Signature.h"

#include "absl/strings/str_cat.h"

namespace calque {

namespace detail {

//===-- Building --------------------------------------------------------------------------------===//

struct SignatureBuilder::State {
  explicit State(const SourceLocation &where) : where(where), words(where) {}
  SourceLocation where;
  Signature signature;
  Arguments words;
  struct Level {
    std::string path;
    std::size_t next = 0;
    bool text = false;
  };
  std::vector<Level> levels;
  std::string root, key, value;
  std::vector<std::string> variables; // the paths of the variables so far

  // The path of the next part of the current level.
  std::string path() {
    if (levels.empty())
      return root;
    Level &level = levels.back();
    std::string index = key.empty() ? absl::StrCat("[", level.next, "]") : std::exchange(key, "");
    ++level.next;
    return level.path + index;
  }
  SignaturePart &add(SignaturePart::Kind kind, std::string path) {
    SignaturePart &part = signature.parts.emplace_back();
    part.kind = kind;
    part.path = std::move(path);
    part.firstWord = words.key().size();
    return part;
  }
};

SignatureBuilder::SignatureBuilder(const SourceLocation &where) : state(std::make_unique<State>(where)) {}
SignatureBuilder::~SignatureBuilder() = default;

Signature SignatureBuilder::take() {
  Signature &signature = state->signature;
  signature.key.assign(state->words.key().begin(), state->words.key().end());
  for (const SignaturePart &part : signature.parts)
    if (part.kind == SignaturePart::Kind::Tensor)
      for (std::size_t i = 0; i < part.type.dims.size(); ++i)
        if (part.type.dims[i] == schema::kOpenSize)
          signature.unknown.push_back(static_cast<std::uint32_t>(part.firstWord + 1 + i));
  return std::move(signature);
}

void SignatureBuilder::begin(std::string path) {
  state->levels.clear();
  state->root = std::move(path);
}

void SignatureBuilder::push(bool isText) { state->levels.push_back({state->path(), 0, isText}); }
void SignatureBuilder::leave() { state->levels.pop_back(); }
void SignatureBuilder::note(std::string value) { state->value = std::move(value); }

namespace {
// Tensors, variables and texts are levels themselves, so the level's path is their path.
template <typename State> std::string ownPath(State &state) {
  return state.levels.empty() ? state.root : state.levels.back().path;
}
} // namespace

void SignatureBuilder::tensor(const Tensor &x) {
  const TensorImpl &impl = implOf(x, state->where);
  SignaturePart &part = state->add(SignaturePart::Kind::Tensor, ownPath(*state));
  part.type = *impl.type;
  if (const SpecImpl *spec = specOf(impl)) {
    state->signature.hasSpecs = true;
    part.anyRank = spec->anyRank;
    state->signature.hasAnyRank |= spec->anyRank;
    if (!spec->name.empty())
      absl::StrAppend(&part.path, " '", spec->name, "'");
  }
  part.text = typeText(part.type, part.anyRank);
  state->words.tensor(x);
}

void SignatureBuilder::variable(const Variable &x) {
  std::size_t before = state->words.variables().size(), alias = before;
  std::string path = ownPath(*state);
  SignaturePart &part = state->add(SignaturePart::Kind::Variable, path);
  state->words.variable(x);
  for (std::size_t i = before; i-- > 0;)
    if (state->words.variables()[i]->same_as(x))
      alias = i;
  state->variables.push_back(path);
  part.type = *x.state()->type;
  part.text = absl::StrCat("Variable ", part.type.str());
  if (!x.trainable())
    part.text += ", not trainable";
  if (alias < before)
    absl::StrAppend(&part.text, ", the same as ", state->variables[alias]);
}

void SignatureBuilder::host(std::uint64_t bits) {
  std::string path = state->value.empty() ? state->path() : ownPath(*state);
  SignaturePart &part = state->add(SignaturePart::Kind::Host, std::move(path));
  part.text = state->value.empty() ? absl::StrCat(bits) : std::exchange(state->value, "");
  state->words.host(bits);
}

void SignatureBuilder::text(const std::string &text) {
  bool isPart = !state->levels.empty() && state->levels.back().text;
  if (isPart) {
    state->add(SignaturePart::Kind::Host, state->levels.back().path).text = absl::StrCat("string \"", text, "\"");
  } else { // a map's key, which names the part that follows
    state->add(SignaturePart::Kind::Count, state->levels.empty() ? state->root : state->levels.back().path).text =
        absl::StrCat("the key \"", text, "\"");
    state->key = absl::StrCat("[\"", text, "\"]");
  }
  state->words.text(text);
}

void SignatureBuilder::count(std::size_t n) {
  state->add(SignaturePart::Kind::Count, ownPath(*state)).text = schema::counted(n, "element");
  state->words.count(n);
}

//===-- Comparing -------------------------------------------------------------------------------===//

std::string typeText(const schema::TensorType &type, bool anyRank) {
  return anyRank ? absl::StrCat(name_of(type.dtype), "[...]") : type.str();
}
std::string ExpectedTensor::str() const { return typeText(type, anyRank); }

bool within(const schema::TensorType &given, bool givenAnyRank, const schema::TensorType &expected,
            bool expectedAnyRank) {
  if (given.dtype != expected.dtype)
    return false;
  if (expectedAnyRank)
    return true;
  if (givenAnyRank || given.dims.size() != expected.dims.size())
    return false;
  for (std::size_t i = 0; i < given.dims.size(); ++i)
    if (expected.dims[i] != schema::kOpenSize && expected.dims[i] != given.dims[i])
      return false;
  return true;
}

std::string Signature::tensorPath(std::size_t n) const {
  for (const SignaturePart &part : parts)
    if (part.kind == SignaturePart::Kind::Tensor && n-- == 0)
      return part.path;
  return "";
}

std::string Signature::str(const std::string &indent) const {
  std::string text;
  for (const SignaturePart &part : parts)
    if (part.kind != SignaturePart::Kind::Count)
      absl::StrAppend(&text, indent, part.path, ": ", part.text, "\n");
  return text;
}

Signature declared(const Signature &given, std::span<const ExpectedTensor> expected, const std::string &function,
                   SourceLocation where) {
  Signature result = given;
  result.unknown.clear();
  result.hasAnyRank = false;
  std::size_t next = 0, tensors = 0;
  for (const SignaturePart &part : given.parts)
    tensors += part.kind == SignaturePart::Kind::Tensor;
  if (tensors != expected.size())
    throw SignatureError(absl::StrCat(function, " is declared with ", schema::counted(expected.size(), "tensor"),
                                      " and called with ", tensors),
                         where);
  for (SignaturePart &part : result.parts) {
    if (part.kind != SignaturePart::Kind::Tensor)
      continue;
    const ExpectedTensor &wanted = expected[next++];
    if (!wanted.name.empty() && !part.path.ends_with("'"))
      absl::StrAppend(&part.path, " '", wanted.name, "'");
    if (!within(part.type, part.anyRank, wanted.type, wanted.anyRank))
      throw SignatureError(absl::StrCat(function, ": ", part.path, " must be ", wanted.str(), ", not ", part.text),
                           where);
    result.hasAnyRank |= part.anyRank;
    for (std::size_t i = 0; i < part.type.dims.size(); ++i) {
      part.type.dims[i] = wanted.anyRank ? schema::kOpenSize : wanted.type.dims[i];
      result.key[part.firstWord + 1 + i] = static_cast<std::uint64_t>(part.type.dims[i]);
      if (part.type.dims[i] == schema::kOpenSize)
        result.unknown.push_back(static_cast<std::uint32_t>(part.firstWord + 1 + i));
    }
    part.text = typeText(part.type, part.anyRank);
  }
  return result;
}

std::optional<Signature> relaxed(const Signature &a, const Signature &b) {
  if (a.key.size() != b.key.size() || a.parts.size() != b.parts.size())
    return std::nullopt;
  Signature result = a;
  result.unknown.clear();
  std::vector<bool> isSize(a.key.size());
  for (std::size_t p = 0; p < a.parts.size(); ++p) {
    SignaturePart &part = result.parts[p];
    const SignaturePart &other = b.parts[p];
    if (part.kind != SignaturePart::Kind::Tensor || other.kind != part.kind ||
        part.type.dims.size() != other.type.dims.size())
      continue;
    for (std::size_t i = 0; i < part.type.dims.size(); ++i) {
      std::size_t word = part.firstWord + 1 + i;
      isSize[word] = true;
      if (part.type.dims[i] != other.type.dims[i])
        part.type.dims[i] = schema::kOpenSize;
      result.key[word] = static_cast<std::uint64_t>(part.type.dims[i]);
      if (part.type.dims[i] == schema::kOpenSize)
        result.unknown.push_back(static_cast<std::uint32_t>(word));
    }
    part.text = typeText(part.type, false);
  }
  for (std::size_t i = 0; i < a.key.size(); ++i)
    if (!isSize[i] && a.key[i] != b.key[i])
      return std::nullopt;
  return result;
}

std::string mismatch(const Signature &expected, const Signature &given) {
  for (std::size_t i = 0; i < std::max(expected.parts.size(), given.parts.size()); ++i) {
    if (i >= given.parts.size())
      return absl::StrCat(expected.parts[i].path, " must be ", expected.parts[i].text, ", and nothing is given");
    if (i >= expected.parts.size())
      return absl::StrCat(given.parts[i].path, " is ", given.parts[i].text, ", and nothing is expected there");
    const SignaturePart &wanted = expected.parts[i], &part = given.parts[i];
    bool fits = wanted.kind == part.kind && (wanted.kind == SignaturePart::Kind::Tensor
                                                 ? within(part.type, part.anyRank, wanted.type, wanted.anyRank)
                                                 : wanted.text == part.text);
    if (!fits)
      return absl::StrCat(wanted.path, wanted.kind == SignaturePart::Kind::Host ? " is bound to " : " must be ",
                          wanted.text, ", not ", part.text);
  }
  return "";
}

namespace {
// Skips the elements of the container with that path: "argument 0[1]" of "argument 0".
void skipElements(const std::vector<SignaturePart> &parts, std::size_t &next, const std::string &container) {
  while (next < parts.size() && parts[next].path.starts_with(container) && parts[next].path[container.size()] == '[')
    ++next;
}
} // namespace

std::vector<Retrace::Change> changes(const Signature &before, const Signature &now) {
  std::vector<Retrace::Change> result;
  std::size_t i = 0, j = 0;
  while (i < before.parts.size() && j < now.parts.size()) {
    const SignaturePart &old = before.parts[i++], &part = now.parts[j++];
    if (old.text == part.text && old.kind == part.kind)
      continue;
    result.push_back({part.path, old.text, part.text});
    // The elements of containers of different lengths have no counterparts; what follows the containers has.
    if (old.kind == SignaturePart::Kind::Count)
      skipElements(before.parts, i, old.path);
    if (part.kind == SignaturePart::Kind::Count)
      skipElements(now.parts, j, part.path);
  }
  for (; i < before.parts.size(); ++i)
    result.push_back({before.parts[i].path, before.parts[i].text, "nothing"});
  for (; j < now.parts.size(); ++j)
    result.push_back({now.parts[j].path, "nothing", now.parts[j].text});
  return result;
}

} // namespace detail
} // namespace calque

// Saving between epochs and batches.
#include "Support.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "calque/callbacks.h"
#include "calque/models/model.h"
#include "saving/Files.h"

#include <algorithm>
#include <cmath>

namespace calque::callbacks {

using training::fail;

SaveFrequency::SaveFrequency(const char *text, SourceLocation where) {
  if (std::string_view(text) != "epoch")
    fail<ValueError>(absl::StrCat("save_freq: is 'epoch' or a number of batches, unlike '", text, "'"), where);
}
SaveFrequency::SaveFrequency(std::optional<std::int64_t> batches, SourceLocation where) : batches_(batches) {
  if (*batches < 1)
    fail<ValueError>(absl::StrCat("save_freq: a number of batches is at least 1, unlike ", *batches), where);
}

//===-- Paths -------------------------------------------------------------------------------------===//

namespace {

// A field of Python's str.format, "{name:spec}", of whose specs those of decimal numbers are known:
// [[fill]align][sign][0][width][grouping][.precision][kind].
struct Field {
  std::string name;
  std::string fill = " ";
  char align = '>'; // '<', '>', '^', or '=' for a fill between the sign and the digits
  char sign = '-';
  int width = 0;
  char grouping = 0; // none
  std::optional<int> precision;
  char kind = 0; // none
};

class Path {
public:
  Path(const std::string &text, SourceLocation where) : text(text), where(where) {}

  // Calls back with each piece of text, and with each field.
  template <typename OnText, typename OnField> void parse(const OnText &onText, const OnField &onField) const {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) { // stands for itself
        plain += c;
        ++at;
        continue;
      }
      if (c == '}')
        refuse("a '}' has no '{'");
      if (c != '{') {
        plain += c;
        continue;
      }
      const std::size_t end = text.find('}', at);
      if (end == std::string::npos)
        refuse("a '{' has no '}'");
      onText(plain);
      plain.clear();
      onField(fieldOf(text.substr(at + 1, end - at - 1)));
      at = end;
    }
    onText(plain);
  }

private:
  Field fieldOf(const std::string &inside) const {
    const std::size_t colon = inside.find(':');
    Field field;
    field.name = inside.substr(0, colon);
    if (field.name.empty())
      refuse("a field has no name");
    if (colon == std::string::npos)
      return field;
    const std::string spec = inside.substr(colon + 1);
    std::size_t at = 0;
    auto isOneOf = [&](std::size_t place, std::string_view characters) {
      return place < spec.size() && characters.find(spec[place]) != std::string_view::npos;
    };
    auto number = [&](int &into) {
      const std::size_t first = at;
      while (at < spec.size() && absl::ascii_isdigit(static_cast<unsigned char>(spec[at])))
        ++at;
      return at - first <= 3 && absl::SimpleAtoi(spec.substr(first, at - first), &into);
    };
    bool isRight = true;
    // A fill is one character, which UTF-8 has in several bytes.
    std::size_t fill = spec.empty() ? 0 : 1;
    while (fill < spec.size() && (static_cast<unsigned char>(spec[fill]) & 0xc0) == 0x80)
      ++fill;
    const bool isAligned = isOneOf(fill, "<>^=") || isOneOf(0, "<>^=");
    if (isOneOf(fill, "<>^=")) {
      field.fill = spec.substr(0, fill);
      field.align = spec[fill];
      at = fill + 1;
    } else if (isAligned) {
      field.align = spec[at++];
    }
    if (isOneOf(at, "+- "))
      field.sign = spec[at++];
    if (isOneOf(at, "0")) {
      if (!isAligned) {
        field.fill = "0";
        field.align = '=';
      }
      ++at;
    }
    if (isOneOf(at, "0123456789"))
      isRight = number(field.width);
    if (isRight && isOneOf(at, ",_"))
      field.grouping = spec[at++];
    if (isRight && isOneOf(at, ".")) {
      ++at;
      isRight = number(field.precision.emplace());
    }
    if (isRight && at < spec.size())
      field.kind = spec[at++];
    // Python groups the zeros that fill, too.
    const bool isGroupedFill = field.grouping && field.align == '=' && field.fill == "0";
    if (!isRight || at != spec.size() || isGroupedFill ||
        (field.kind && !absl::StrContains("deEfFgG%", std::string(1, field.kind))) ||
        (field.kind == 'd' && field.precision))
      refuse(absl::StrCat("'", spec, "' is no format of a number, as '02d', '>6.2f' or '.1%'"));
    return field;
  }
  [[noreturn]] void refuse(const std::string &why) const {
    fail<ValueError>(absl::StrCat("model_checkpoint: the path '", text, "' can't be formatted: ", why), where);
  }

  const std::string &text;
  const SourceLocation where;
};

// As Python prints numbers.
std::string formatted(const Field &field, double value, bool isInteger) {
  const double magnitude = std::fabs(value);
  const int precision = field.precision.value_or(6);
  std::string digits;
  switch (field.kind) {
  case 'd':
    digits = absl::StrFormat("%.0f", magnitude);
    break;
  case 'e':
    digits = absl::StrFormat("%.*e", precision, magnitude);
    break;
  case 'E':
    digits = absl::StrFormat("%.*E", precision, magnitude);
    break;
  case 'f':
    digits = absl::StrFormat("%.*f", precision, magnitude);
    break;
  case 'F':
    digits = absl::StrFormat("%.*F", precision, magnitude);
    break;
  case 'g':
    digits = absl::StrFormat("%.*g", precision, magnitude);
    break;
  case 'G':
    digits = absl::StrFormat("%.*G", precision, magnitude);
    break;
  case '%':
    digits = absl::StrFormat("%.*f%%", precision, magnitude * 100);
    break;
  default:
    if (isInteger && !field.precision)
      digits = absl::StrFormat("%.0f", magnitude);
    else if (field.precision)
      digits = absl::StrFormat("%.*g", precision, magnitude);
    else
      digits = Number(magnitude).str();
  }
  if (field.grouping) {
    const std::size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    for (std::size_t at = end; at > 3;)
      digits.insert(at -= 3, 1, field.grouping);
  }
  const std::string sign = std::signbit(value) ? "-" : field.sign == '-' ? "" : std::string(1, field.sign);
  const auto width = static_cast<std::size_t>(field.width), size = sign.size() + digits.size();
  auto filled = [&](std::size_t count) {
    std::string text;
    for (; count > 0; --count)
      text += field.fill;
    return text;
  };
  const std::size_t missing = width > size ? width - size : 0;
  if (field.align == '=')
    return sign + filled(missing) + digits;
  const std::size_t before = field.align == '<' ? 0 : field.align == '^' ? missing / 2 : missing;
  return filled(before) + sign + digits + filled(missing - before);
}

} // namespace

//===-- The callback ------------------------------------------------------------------------------===//

ModelCheckpoint::ModelCheckpoint(std::string filepath, ModelCheckpointOptions options, SourceLocation where)
    : filepath(std::move(filepath)), of(std::move(options)), monitor("model_checkpoint", of.monitor, of.mode, 0, where),
      best_(of.initial_value_threshold) {
  training::fileOf(this->filepath, where);
  Path(this->filepath, where).parse([](const std::string &) {}, [](const Field &) {});
}

void ModelCheckpoint::on_epoch_begin(std::int64_t at, Logs &) { epoch = at; }

void ModelCheckpoint::on_train_batch_end(std::int64_t batch, Logs &logs) {
  if (of.save_best_only)
    monitor.check(logs, *this);
  if (!of.save_freq.batches())
    return;
  seen += !last || batch <= *last ? batch + 1 : batch - *last; // of another epoch, or of this one
  last = batch;
  if (seen < *of.save_freq.batches())
    return;
  seen = 0;
  save(epoch, batch, logs);
}

void ModelCheckpoint::on_epoch_end(std::int64_t at, Logs &logs) {
  if (!of.save_freq.batches())
    save(at, std::nullopt, logs);
}

bool ModelCheckpoint::isDue(std::int64_t at, const Logs &logs, const std::string &path) {
  const auto number = static_cast<long long>(at + 1);
  if (!of.save_best_only) {
    if (of.verbose > 0)
      std::printf("Epoch %lld: saving model to %s\n", number, path.c_str());
    return true;
  }
  const std::optional<double> value = monitor.of(logs, *this);
  if (!value)
    return true; // as Keras does, after the warning
  const std::string before = best_ ? absl::StrFormat("%.5f", *best_) : "None";
  if (!monitor.improves(*value, best_)) {
    if (of.verbose > 0)
      std::printf("Epoch %lld: %s did not improve from %s\n", number, monitor.name().c_str(), before.c_str());
    return false;
  }
  if (of.verbose > 0)
    std::printf("Epoch %lld: %s improved from %s to %.5f, saving model to %s\n", number, monitor.name().c_str(),
                before.c_str(), *value, path.c_str());
  best_ = value;
  return true;
}

void ModelCheckpoint::save(std::int64_t at, std::optional<std::int64_t> batch, const Logs &logs) {
  std::string path;
  Path(filepath, params().where)
      .parse([&](const std::string &text) { path += text; },
             [&](const Field &field) {
               if (field.name == "epoch")
                 path += formatted(field, static_cast<double>(at + 1), true);
               else if (const double *value = logs.find(field.name))
                 path += formatted(field, *value, false);
               else if (field.name == "batch" && batch)
                 path += formatted(field, static_cast<double>(*batch + 1), true);
               else
                 fail<LookupError>(absl::StrCat("model_checkpoint: the path '", filepath, "' has '", field.name,
                                                "', which is not in the logs: ", logs.names()),
                                   params().where);
             });
  path = training::fileOf(path);
  if (!isDue(at, logs, path))
    return;
  if (of.save_weights_only)
    model().save_weights(path, {}, params().where);
  else
    model().save(path, {}, params().where);
  if (of.verbose > 0)
    std::printf("Epoch %lld: finished saving model to %s\n", static_cast<long long>(at + 1), path.c_str());
}

} // namespace calque::callbacks

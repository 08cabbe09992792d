// The format of NumPy's arrays: numpy/lib/format.py.
//
// The magic "\x93NUMPY", a version of two bytes, the length of the header (2 bytes in version 1, 4 in versions 2 and
// 3), the header as a literal of Python, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, and the elements.
#include "data/Npy.h"
#include "Support.h"
#include "calque/data/npy.h"
#include "calque/safetensors.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

namespace calque::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

//===-- The header ------------------------------------------------------------------------------===//

struct Header {
  std::string descr;
  bool isFortran = false;
  Shape shape;
};

// Reads the literal. It has these three keys, whatever their order.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  bool parse(Header &header) {
    int found = 0;
    if (!eat('{'))
      return false;
    while (!eat('}')) {
      std::string key;
      if (!quoted(key) || !eat(':'))
        return false;
      const bool isSound = key == "descr"           ? quoted(header.descr)
                           : key == "fortran_order" ? boolean(header.isFortran)
                           : key == "shape"         ? shape(header.shape)
                                                    : false;
      if (!isSound || ++found > 3)
        return false;
      if (!eat(',') && !isNext('}'))
        return false;
    }
    skip();
    return found == 3 && text.empty();
  }

private:
  void skip() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r'))
      text.remove_prefix(1);
  }
  bool isNext(char c) {
    skip();
    return !text.empty() && text[0] == c;
  }
  bool eat(char c) {
    const bool isThere = isNext(c);
    if (isThere)
      text.remove_prefix(1);
    return isThere;
  }
  bool quoted(std::string &value) {
    skip();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return false;
    const std::size_t end = text.find(text[0], 1);
    if (end == std::string_view::npos)
      return false;
    value = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return true;
  }
  bool boolean(bool &value) {
    skip();
    for (const auto &[word, meaning] : {std::pair<std::string_view, bool>("True", true), {"False", false}})
      if (text.starts_with(word)) {
        value = meaning;
        text.remove_prefix(word.size());
        return true;
      }
    return false;
  }
  bool shape(Shape &value) {
    if (!eat('('))
      return false;
    while (!eat(')')) {
      skip();
      std::int64_t size = 0;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
      if (error != std::errc() || size < 0 || value.size() == 64) // as many dimensions as NumPy has
        return false;
      text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
      value.push_back(size);
      if (!eat(',') && !isNext(')'))
        return false;
    }
    return true;
  }
  std::string_view text;
};

//===-- Elements --------------------------------------------------------------------------------===//

template <typename T> T load(const char *bytes, bool isSwapped) {
  std::array<char, sizeof(T)> own;
  std::memcpy(own.data(), bytes, sizeof(T));
  if (isSwapped)
    std::reverse(own.begin(), own.end());
  return std::bit_cast<T>(own);
}

// The index in Fortran's order of each element, in row-major order.
std::vector<std::size_t> fortranOrder(const Shape &shape, std::size_t count) {
  std::vector<std::size_t> order(count), index(shape.size()), strides(shape.size());
  std::size_t stride = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<std::size_t>(std::int64_t(shape[d]));
  }
  std::size_t at = 0;
  for (std::size_t &place : order) {
    place = at;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < static_cast<std::size_t>(std::int64_t(shape[d])))
        break;
      at -= strides[d] * index[d];
      index[d] = 0;
    }
  }
  return order;
}

} // namespace

namespace {
// With what is no letter of ASCII in hexadecimal: \x93.
std::string printable(std::string_view bytes) {
  std::string text;
  for (char byte : bytes)
    if (byte >= ' ' && byte <= '~')
      text += byte;
    else
      absl::StrAppend(&text, "\\x", absl::Hex(static_cast<unsigned char>(byte), absl::kZeroPad2));
  return text;
}
} // namespace

namespace {
// What the header says.
struct Array {
  Header header;
  std::string kind; // "f4"
  std::size_t width = 0;
  std::size_t begin = 0;   // of the elements
  std::size_t bytes = 0;   // of these
  bool isTooLarge = false; // more than 2^64 bytes
};

// Nothing where the header goes beyond the bytes; with all bytes of a file that is a fault.
std::optional<Array> headerIn(std::string_view bytes, const FileReader &file, const std::string &place) {
  if (!bytes.starts_with(kMagic.substr(0, bytes.size())) || bytes.empty())
    file.fail(absl::StrCat(place, "this is no array of NumPy: it does not begin with its magic number"));
  const std::size_t before = bytes.size() > 6 && bytes[6] == 1 ? 10 : 12;
  if (bytes.size() > 6 && (bytes[6] < 1 || bytes[6] > 3))
    file.fail(absl::StrCat(place, "version ", int(bytes[6]), " of the array's format is not known"));
  if (bytes.size() < before)
    return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = before; i-- > 8;)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > kMostArrayHeader)
    file.fail(absl::StrCat(place, "the header of the array has ", length, " bytes, and may have ", kMostArrayHeader));
  if (bytes.size() - before < length)
    return std::nullopt;
  Array array;
  Header &header = array.header;
  if (!HeaderParser(bytes.substr(before, length)).parse(header))
    file.fail(absl::StrCat(place, "the header of the array is damaged, or one of fields: ",
                           printable(bytes.substr(before, std::min<std::size_t>(length, 200)))));
  array.begin = before + length;
  const std::string &descr = header.descr;
  const std::string &kind = array.kind = descr.empty() ? "" : descr.substr(descr.find_first_not_of("<>|=") == 1);
  array.bytes = array.width = kind == "c16"                                          ? 16
                              : kind.size() == 2 && kind[1] >= '1' && kind[1] <= '8' ? std::size_t(kind[1] - '0')
                                                                                     : 0;
  for (std::int64_t size : header.shape) // numbers of elements and bytes that no file has
    array.isTooLarge |= __builtin_mul_overflow(array.bytes, static_cast<std::size_t>(size), &array.bytes);
  return array;
}

// A fault where a type that is known asks for other than so many bytes of elements.
void requireBytes(const Array &array, std::uint64_t given, const FileReader &file, const std::string &place) {
  if (array.isTooLarge || array.bytes != given)
    file.fail(absl::StrCat(place, "the header says ", array.header.descr, array.header.shape.str(), ", which are ",
                           array.isTooLarge ? "more than 2^64" : absl::StrCat(array.bytes), " bytes, and there are ",
                           given));
}

// Null where Calque has no such element type.
const DTypeInfo *typeNamed(std::string_view kind) {
  const auto *found =
      std::ranges::find(kDTypes, kind, [](const DTypeInfo &info) { return std::string_view(info.npy + 1); });
  return found == std::end(kDTypes) ? nullptr : found;
}

[[noreturn]] void refuseKind(const Array &array, const FileReader &file, const std::string &place) {
  file.fail(
      absl::StrCat(place, "the array is one of '", array.header.descr, "', which no element type of Calque holds"));
}
} // namespace

bool checkArray(std::string_view first, std::uint64_t size, const FileReader &file, const std::string &place) {
  const std::optional<Array> array = headerIn(first, file, place);
  if (!array)
    return false;
  if (!typeNamed(array->kind))
    refuseKind(*array, file, place);
  requireBytes(*array, size - std::min<std::uint64_t>(size, array->begin), file, place);
  return true;
}

Tensor arrayIn(std::string_view bytes, const FileReader &file, const std::string &place) {
  const std::optional<Array> array = headerIn(bytes, file, place);
  if (!array)
    file.fail(absl::StrCat(place, "truncated: it ends within the header of the array"));
  const Header &header = array->header;
  const std::size_t width = array->width;
  const bool isSwapped = header.descr.starts_with('>');
  bytes.remove_prefix(array->begin);
  auto convert = [&](auto decode) {
    requireBytes(*array, bytes.size(), file, place);
    const std::size_t count = bytes.size() / width;
    using T = decltype(decode(bytes.data()));
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = decode(bytes.data() + i * width);
    if (header.isFortran && header.shape.size() > 1) {
      std::vector<T> ordered;
      ordered.reserve(count);
      for (std::size_t from : fortranOrder(header.shape, count))
        ordered.push_back(values[from]);
      values = std::move(ordered);
    }
    return tensor(values, header.shape, file.where);
  };
  const DTypeInfo *info = typeNamed(array->kind);
  if (!info)
    refuseKind(*array, file, place);
  return dispatch_all(info->dtype, [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, bool>)
      return convert([](const char *p) { return *p != 0; });
    else if constexpr (::calque::detail::kIsComplex<T>)
      return convert([&](const char *p) {
        using Part = typename T::value_type;
        return T(load<Part>(p, isSwapped), load<Part>(p + sizeof(Part), isSwapped));
      });
    else
      return convert([&](const char *p) { return load<T>(p, isSwapped); });
  });
}

std::string npyOf(const Tensor &x, SourceLocation where) {
  const char *descr = info_of(x.dtype(where)).npy;
  const Shape shape = x.shape();
  auto append = [](std::string *text, const Size &size) { text->append(size.str()); };
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(shape, ", ", append), shape.size() == 1 ? ",), }" : "), }");
  // NumPy begins the elements at a multiple of 64 bytes.
  while ((header.size() + 11) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string bytes(kMagic);
  bytes += {1, 0, static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  bytes += header;
  dispatch_all(x.dtype(), [&]<typename T>(std::type_identity<T>) {
    bytes.append(reinterpret_cast<const char *>(x.data<T>(where)),
                 static_cast<std::size_t>(std::int64_t(x.size())) * sizeof(T));
  });
  return bytes;
}

Tensor read_npy(const std::string &path, SourceLocation where) {
  where = CallSite::resolve(where);
  FileReader file(path, where, Compression::None);
  return readWithinMemory(path, where, [&] {
    // The header before the elements, as the file may be large and another one.
    std::string bytes = file.readSome(kMostArrayHeader);
    if (const std::optional<std::uint64_t> rest = file.left())
      checkArray(bytes, bytes.size() + *rest, file, "");
    file.append(bytes, UINT64_MAX);
    return arrayIn(bytes, file, "");
  });
}

void write_npy(const std::string &path, const Tensor &x, SourceLocation where) {
  where = CallSite::resolve(where);
  const std::string bytes = npyOf(x, where);
  FileWriter file(path, where);
  file.write(bytes);
  file.finish();
}

} // namespace calque::data

#include "stablehlo/Attributes.h"

#include "calque/error.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace calque::stablehlo {

namespace {

struct Element {
  std::string_view name;
  DType dtype;
};
constexpr Element kElements[] = {{"i1", DType::Bool},
                                 {"i8", DType::Int8},
                                 {"i16", DType::Int16},
                                 {"i32", DType::Int32},
                                 {"i64", DType::Int64},
                                 {"index", DType::Int64},
                                 {"ui8", DType::UInt8},
                                 {"ui16", DType::UInt16},
                                 {"ui32", DType::UInt32},
                                 {"ui64", DType::UInt64},
                                 {"si8", DType::Int8},
                                 {"si16", DType::Int16},
                                 {"si32", DType::Int32},
                                 {"si64", DType::Int64},
                                 {"f16", DType::Float16},
                                 {"bf16", DType::BFloat16},
                                 {"f32", DType::Float32},
                                 {"f64", DType::Float64},
                                 {"complex<f32>", DType::Complex64},
                                 {"complex<f64>", DType::Complex128}};

std::optional<DType> dtypeOf(std::string_view name) {
  for (const Element &each : kElements)
    if (each.name == name)
      return each.dtype;
  return {};
}

} // namespace

std::string Type::str() const {
  if (kind == Kind::Token)
    return "token";
  std::string text;
  if (kind == Kind::Tuple) {
    for (const Type &each : parts)
      text += (text.empty() ? "" : ", ") + each.str();
    return "tuple<" + text + ">";
  }
  if (kind == Kind::Other)
    return element;
  for (std::int64_t size : dims)
    text += (size == kOpen ? "?" : std::to_string(size)) + "x";
  return "tensor<" + text + element + ">";
}

Shape Type::shape() const {
  Shape shape;
  for (std::int64_t size : dims)
    shape.push_back(size == kOpen ? Size(kDynamic) : Size(size));
  return shape;
}

Type AttributeReader::tensor() {
  Type made;
  made.kind = Type::Kind::Tensor;
  scan.expect("<", "of a tensor's type");
  scan.skip();
  if (scan.accept("*"))
    scan.refuse("a tensor of unknown rank: types with ranks are read");
  for (;;) {
    const std::size_t begin = scan.position();
    if (scan.accept("?")) {
      made.dims.push_back(Type::kOpen);
    } else if (scan.peek() >= '0' && scan.peek() <= '9') {
      made.dims.push_back(scan.integer("as a size"));
    } else {
      break;
    }
    if (scan.here() != 'x') {
      scan.moveTo(begin);
      scan.refuse("a size of a tensor's type has no x behind it");
    }
    scan.advance();
  }
  const std::size_t begin = scan.position();
  if (scan.accept("!")) {
    scan.suffix();
    if (scan.here() == '<')
      scan.balanced();
  } else {
    scan.word();
    if (scan.here() == '<')
      scan.balanced();
  }
  made.element = scan.between(begin, scan.position());
  if (made.element.empty())
    scan.refuse("a tensor's type has no element type");
  made.dtype = dtypeOf(made.element);
  // An encoding says no more than bounds and layouts, which change no numbers.
  if (scan.accept(","))
    attribute();
  scan.expect(">", "at the end of a tensor's type");
  return made;
}

Type AttributeReader::type() {
  const Nesting inside(scan, depth_);
  Type made;
  scan.skip();
  const std::size_t begin = scan.position();
  if (scan.acceptWord("tensor"))
    return tensor();
  if (scan.acceptWord("tuple")) {
    made.kind = Type::Kind::Tuple;
    scan.expect("<", "of a tuple's type");
    while (!scan.accept(">")) {
      made.parts.push_back(type());
      if (!scan.sees(">"))
        scan.expect(",", "between the types of a tuple");
    }
    return made;
  }
  if (scan.peek() == '(') {
    std::vector<Type> arguments, results;
    functionType(arguments, results);
    made.element = scan.between(begin, scan.position());
    return made;
  }
  if (scan.accept("!")) {
    const std::string name(scan.suffix());
    if (name == "stablehlo.token" || name == "mhlo.token") {
      made.kind = Type::Kind::Token;
      return made;
    }
    if (const auto found = typeAliases_.find(name); found != typeAliases_.end())
      return found->second;
  } else if (scan.word().empty()) {
    scan.refuse("expected a type");
  }
  if (scan.here() == '<')
    scan.balanced();
  made.element = scan.between(begin, scan.position());
  // Numbers of attributes have a type without a tensor.
  made.dtype = dtypeOf(made.element);
  return made;
}

std::vector<Type> AttributeReader::typeList() {
  std::vector<Type> types{type()};
  while (scan.accept(","))
    types.push_back(type());
  return types;
}

void AttributeReader::functionType(std::vector<Type> &arguments, std::vector<Type> &results) {
  const Nesting inside(scan, depth_);
  auto inBrackets = [&](std::vector<Type> &types) {
    scan.expect("(", "of a function's type");
    while (!scan.accept(")")) {
      types.push_back(type());
      if (!scan.sees(")"))
        scan.expect(",", "between types");
    }
  };
  inBrackets(arguments);
  scan.expect("->", "of a function's type");
  if (scan.peek() == '(')
    inBrackets(results);
  else
    results.push_back(type());
}

Attribute AttributeReader::number(bool hasType) {
  Attribute made;
  const std::string_view digits = scan.number();
  const char *first = digits.data() + (digits.starts_with("+") ? 1 : 0), *last = digits.data() + digits.size();
  const bool isHex = digits.find("0x") != std::string_view::npos;
  bool isWhole = isHex || digits.find_first_of(".eE") == std::string_view::npos;
  std::from_chars_result read{};
  if (isHex) {
    std::uint64_t bits = 0;
    read = std::from_chars(first + 2, last, bits, 16);
    made.integer = static_cast<std::int64_t>(bits);
  } else if (isWhole) {
    read = std::from_chars(first, last, made.integer);
    if (read.ec == std::errc::result_out_of_range) {
      std::uint64_t large = 0; // of ui64
      read = std::from_chars(first, last, large);
      made.integer = static_cast<std::int64_t>(large);
    }
  } else {
    read = std::from_chars(first, last, made.number);
    if (read.ec == std::errc::result_out_of_range)
      read.ec = std::errc(); // 0 or infinity, as other readers have it
  }
  if (read.ec != std::errc() || read.ptr != last)
    scan.refuse("'" + std::string(digits) + "' is no number");
  if (hasType && scan.accept(":")) {
    const Type given = type();
    if (given.dtype && is_floating(*given.dtype)) {
      if (isHex) {
        double value = 0;
        if (given.dtype == DType::Float32) {
          float narrow = 0;
          const auto bits = static_cast<std::uint32_t>(made.integer);
          std::memcpy(&narrow, &bits, sizeof narrow);
          value = narrow;
        } else if (given.dtype == DType::Float64) {
          std::memcpy(&value, &made.integer, sizeof value);
        } else {
          scan.refuse("the bits of a number of the type " + given.element + " are not read");
        }
        made.number = value;
      } else if (isWhole) {
        made.number = static_cast<double>(made.integer);
      }
      isWhole = false;
    }
  }
  made.kind = isWhole ? Attribute::Kind::Integer : Attribute::Kind::Float;
  if (isWhole)
    made.number = static_cast<double>(made.integer);
  return made;
}

Attribute AttributeReader::elements() {
  Attribute made;
  made.kind = Attribute::Kind::Elements;
  if (scan.acceptWord("dense_resource")) {
    scan.expect("<", "before the name of a resource");
    const std::string name = scan.peek() == '"' ? scan.string() : std::string(scan.word());
    scan.expect(">", "behind the name of a resource");
    scan.expect(":", "before the type of elements");
    const Type of = type();
    const auto found = resources_.find(name);
    if (found == resources_.end())
      scan.refuse("the resource '" + name + "' is not in the text");
    // The first 4 bytes say how the others are to be aligned.
    if (found->second.size() < 4)
      scan.refuse("the resource '" + name + "' has less than the 4 bytes of its alignment");
    made.dense = std::make_shared<Dense>(elementsOfBytes(std::string_view(found->second).substr(4), of, scan));
    return made;
  }
  scan.acceptWord("dense");
  const std::string_view text = scan.balanced();
  scan.expect(":", "before the type of elements");
  const Type of = type();
  if (!of.isTensor())
    scan.refuse("elements have the type " + of.str() + ", expected a tensor");
  made.dense = std::make_shared<Dense>(readElements(text.substr(1, text.size() - 2), of, scan));
  return made;
}

Attribute AttributeReader::convolutionDimensions() {
  // Three lists, of the input, the kernel and the output. -1 stands for b and o, -2 for f and i.
  Attribute made;
  made.kind = Attribute::Kind::List;
  for (int part = 0; part < 3; ++part) {
    if (part == 1)
      scan.expect("x", "between the dimensions of a convolution");
    if (part == 2)
      scan.expect("->", "between the dimensions of a convolution");
    scan.expect("[", "before the dimensions of a convolution");
    Attribute list;
    list.kind = Attribute::Kind::List;
    while (!scan.accept("]")) {
      Attribute each;
      each.kind = Attribute::Kind::Integer;
      if (scan.seesNumber())
        each.integer = scan.integer("as a dimension of a convolution");
      else if (scan.acceptWord(part == 1 ? "o" : "b"))
        each.integer = -1;
      else if (scan.acceptWord(part == 1 ? "i" : "f"))
        each.integer = -2;
      else
        scan.refuse("a dimension of a convolution is none of b, f, o, i and numbers");
      list.list.push_back(each);
      if (!scan.sees("]"))
        scan.expect(",", "between the dimensions of a convolution");
    }
    made.list.push_back(std::move(list));
  }
  return made;
}

// #stablehlo.gather<...>, #stablehlo<precision HIGH>, or an alias.
Attribute AttributeReader::named() {
  scan.expect("#", "before an attribute");
  const std::string name(scan.suffix());
  Attribute made;
  if (scan.here() != '<') {
    const auto found = aliases_.find(name);
    if (found != aliases_.end())
      return found->second;
    made.kind = Attribute::Kind::Word; // one that stands behind its use, as locations do
    made.text = "#" + name;
    return made;
  }
  const std::size_t begin = scan.position();
  if (name == "stablehlo" || name == "chlo" || name == "mhlo") {
    // An enumerator: <precision HIGH>.
    scan.advance();
    const std::string which(scan.word());
    made.kind = Attribute::Kind::Word;
    if (scan.sees("<")) {
      scan.moveTo(begin);
      made.text = "#" + name + std::string(scan.balanced());
      return made;
    }
    made.text = scan.word();
    scan.expect(">", "behind an enumerator");
    return made;
  }
  if (name == "stablehlo.conv" || name == "mhlo.conv") {
    scan.advance();
    made = convolutionDimensions();
    scan.expect(">", "behind the dimensions of a convolution");
    return made;
  }
  if (name.starts_with("stablehlo.") || name.starts_with("chlo.") || name.starts_with("mhlo.")) {
    // An enumerator: #stablehlo.precision<HIGH>? Or fields.
    scan.advance();
    scan.skip();
    const std::size_t inside = scan.position();
    const std::string word(scan.word());
    if (scan.sees("=") || scan.sees(",")) {
      scan.moveTo(begin);
      made.kind = Attribute::Kind::Dictionary;
      dictionary(made.dictionary, "<", ">");
      return made;
    }
    if (!word.empty() && scan.accept(">")) {
      made.kind = Attribute::Kind::Word;
      made.text = word;
      return made;
    }
    scan.moveTo(inside);
    if (scan.accept(">")) {
      made.kind = Attribute::Kind::Dictionary;
      return made;
    }
    scan.moveTo(begin);
  }
  made.kind = Attribute::Kind::Word;
  made.text = "#" + name + std::string(scan.balanced());
  return made;
}

Attribute AttributeReader::attribute() {
  const Nesting inside(scan, depth_);
  Attribute made;
  const char c = scan.peek();
  if (c == '"') {
    made.kind = Attribute::Kind::Text;
    made.text = scan.string();
    if (scan.accept(":"))
      type();
    return made;
  }
  if (c == '@') {
    scan.advance();
    made.kind = Attribute::Kind::Symbol;
    made.text = scan.here() == '"' ? scan.string() : std::string(scan.suffix());
    while (scan.accept("::@"))
      made.text += "::" + std::string(scan.suffix());
    return made;
  }
  if (c == '#')
    return named();
  if (c == '[') {
    made.kind = Attribute::Kind::List;
    scan.advance();
    while (!scan.accept("]")) {
      made.list.push_back(attribute());
      if (!scan.sees("]"))
        scan.expect(",", "between the elements of a list");
    }
    return made;
  }
  if (c == '{' || c == '<') {
    made.kind = Attribute::Kind::Dictionary;
    dictionary(made.dictionary, c == '{' ? "{" : "<", c == '{' ? "}" : ">");
    return made;
  }
  if (scan.seesNumber())
    return number();
  if (scan.seesWord("dense") || scan.seesWord("dense_resource"))
    return elements();
  if (scan.seesWord("loc")) {
    location();
    return made;
  }
  if (scan.acceptWord("array")) {
    made.kind = Attribute::Kind::List;
    scan.expect("<", "of an array");
    type();
    if (scan.accept(":"))
      do {
        Attribute each;
        if (scan.seesNumber()) {
          each = number(false);
        } else {
          const std::string word(scan.word());
          if (word != "true" && word != "false")
            scan.refuse("an element of an array is neither a number nor true or false");
          each.kind = Attribute::Kind::Bool;
          each.integer = word == "true";
        }
        made.list.push_back(std::move(each));
      } while (scan.accept(","));
    scan.expect(">", "at the end of an array");
    return made;
  }
  if (scan.seesWord("tensor") || scan.seesWord("tuple") || c == '!' || c == '(') {
    made.kind = Attribute::Kind::Types;
    if (c == '(') {
      std::vector<Type> results;
      functionType(made.types, results);
      made.integer = static_cast<std::int64_t>(results.size());
      made.types.insert(made.types.end(), results.begin(), results.end());
    } else {
      made.types.push_back(type());
    }
    return made;
  }
  const std::string word(scan.word());
  if (word.empty())
    scan.refuse("expected an attribute");
  if (word == "unit")
    return made;
  if (word == "true" || word == "false") {
    made.kind = Attribute::Kind::Bool;
    made.integer = word == "true";
    return made;
  }
  made.kind = Attribute::Kind::Word;
  made.text = word;
  if (scan.here() == '<')
    made.text += scan.balanced(); // affine_map<...>, complex<f32>: what no operation here reads
  return made;
}

void AttributeReader::dictionary(Attributes &into, std::string_view open, std::string_view close) {
  const Nesting inside(scan, depth_);
  scan.expect(open, "before attributes");
  while (!scan.accept(close)) {
    const std::string name = scan.peek() == '"' ? scan.string() : std::string(scan.word());
    if (name.empty())
      scan.refuse("expected the name of an attribute");
    Attribute value;
    if (scan.accept("="))
      value = attribute();
    into.insert_or_assign(name, std::move(value));
    if (!scan.sees(close))
      scan.expect(",", "between attributes");
  }
}

void AttributeReader::location() {
  if (scan.acceptWord("loc"))
    scan.balanced();
}

void AttributeReader::alias() {
  const bool isType = scan.peek() == '!';
  scan.advance();
  const std::string name(scan.suffix());
  scan.expect("=", "behind the name of an alias");
  if (isType)
    typeAliases_.insert_or_assign(name, type());
  else
    aliases_.insert_or_assign(name, attribute());
}

void AttributeReader::findResources(std::string_view text) {
  const std::size_t begin = text.rfind("{-#");
  if (begin == std::string_view::npos)
    return;
  const std::size_t end = text.find("#-}", begin);
  const std::string_view part = text.substr(begin, end == std::string_view::npos ? end : end - begin);
  // Names and the digits of their bytes are the only pairs with a text: name: "0x...".
  for (std::size_t at = part.find("\"0x"); at != std::string_view::npos;) {
    const std::size_t close = part.find('"', at + 1);
    std::size_t last = at;
    while (last > 0 && (part[last - 1] == ' ' || part[last - 1] == ':' || part[last - 1] == '"'))
      --last;
    std::size_t first = last;
    while (first > 0 && std::string_view(" \n\t{,\"").find(part[first - 1]) == std::string_view::npos)
      --first;
    if (close == std::string_view::npos)
      scan.refuse("the bytes of a resource have no end");
    const std::string_view digits = part.substr(at + 3, close - at - 3);
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      unsigned value = 0;
      if (std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16).ptr != digits.data() + i + 2)
        scan.refuse("the bytes of a resource are no hexadecimal digits");
      bytes += static_cast<char>(value);
    }
    resources_.insert_or_assign(std::string(part.substr(first, last - first)), std::move(bytes));
    at = part.find("\"0x", close + 1);
  }
}

} // namespace calque::stablehlo

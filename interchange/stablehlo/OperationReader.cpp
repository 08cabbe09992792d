#include "stablehlo/OperationReader.h"

#include "calque/error.h"

#include <algorithm>

namespace calque::stablehlo {

//===-- Values ------------------------------------------------------------------------------===//

std::string OperationReader::valueName() {
  scan.expect("%", "before a value's name");
  std::string name(scan.suffix());
  if (name.empty())
    scan.refuse("a value has no name");
  return name;
}

void OperationReader::requireNew(const std::string &name) const {
  for (const Names &each : names_)
    if (each.contains(name))
      scan.refuse("a second value '%" + name + "'");
}

int OperationReader::define(const std::string &name, int count) {
  if (count < 1 || count > 1 << 20)
    scan.refuse("'%" + name + "' has " + std::to_string(count) + " values");
  requireNew(name);
  const int first = values_;
  values_ += count;
  names_.back().emplace(name, Named{first, count});
  return first;
}

int OperationReader::use() {
  const std::string name = valueName();
  std::int64_t part = 0;
  bool isPart = false;
  if (scan.here() == '#') {
    scan.advance();
    part = scan.integer("behind the # of a value");
    isPart = true;
  }
  for (auto scope = names_.rbegin(); scope != names_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) {
      if (part < 0 || part >= found->second.count)
        scan.refuse("'%" + name + "' has " + std::to_string(found->second.count) + " values, and #" +
                    std::to_string(part) + " is read");
      if (!isPart && found->second.count > 1)
        scan.refuse("'%" + name + "' has " + std::to_string(found->second.count) + " values; %" + name +
                    "#0 is the first");
      return found->second.first + static_cast<int>(part);
    }
  scan.refuse("'%" + name + "' is read before it is computed");
}

//===-- Regions -----------------------------------------------------------------------------===//

void OperationReader::block(Region &region) {
  if (!scan.accept("^"))
    return;
  scan.suffix();
  if (scan.accept("("))
    while (!scan.accept(")")) {
      region.arguments.push_back(define(valueName()));
      scan.expect(":", "before the type of a block's argument");
      region.types.push_back(type());
      location();
      if (!scan.sees(")"))
        scan.expect(",", "between the arguments of a block");
    }
  scan.expect(":", "behind the arguments of a block");
}

void OperationReader::operations(Region &region) {
  while (!scan.accept("}")) {
    if (scan.peek() == '^')
      scan.refuse("a second block: regions of one block are read");
    region.operations.push_back(operation());
  }
  if (region.operations.empty())
    scan.refuse("a region is empty");
}

Region OperationReader::region(const std::vector<std::pair<std::string, Type>> &arguments) {
  const Nesting inside(scan, depth_);
  names_.emplace_back();
  Region made;
  for (const auto &[name, type] : arguments) {
    made.arguments.push_back(define(name));
    made.types.push_back(type);
  }
  scan.expect("{", "before a region");
  block(made);
  operations(made);
  names_.pop_back();
  return made;
}

//===-- Operations --------------------------------------------------------------------------===//

Operation OperationReader::operation() {
  const Nesting inside(scan, depth_);
  Operation made;
  std::vector<std::pair<std::string, int>> results;
  int count = 0;
  while (scan.peek() == '%') {
    std::string name = valueName();
    requireNew(name);
    std::int64_t many = 1;
    if (scan.accept(":"))
      many = scan.integer("of values");
    if (many < 1 || many > 1 << 20)
      scan.refuse("'%" + name + "' has " + std::to_string(many) + " values");
    results.emplace_back(std::move(name), static_cast<int>(many));
    count += static_cast<int>(many);
    if (!scan.accept(","))
      break;
  }
  if (count > 0)
    scan.expect("=", "behind the names of results");
  scan.skip();
  made.line = scan.line();
  const std::size_t begin = scan.position();
  const bool isGeneric = scan.peek() == '"';
  made.name = isGeneric ? scan.string() : std::string(scan.word());
  if (made.name.empty())
    scan.refuse("expected an operation");
  if (made.name == "return" || made.name == "call")
    made.name = "func." + made.name;
  made.label = internedLabel(made.name + " in line " + std::to_string(made.line) + " of " + scan.file());
  if (isGeneric)
    generic(made);
  else if (made.name == "stablehlo.while")
    whileLoop(made);
  else if (made.name == "stablehlo.reduce")
    reduce(made);
  else if (made.name == "chlo.scan" || made.name == "stablehlo.scan")
    scanned(made);
  else
    pretty(made, count);
  location();
  if (made.types.size() != static_cast<std::size_t>(count) && count > 0) {
    scan.moveTo(begin);
    scan.refuse(made.name + " has " + std::to_string(made.types.size()) + " results, and names for " +
                std::to_string(count));
  }
  for (const auto &[name, many] : results) {
    const int first = define(name, many);
    for (int i = 0; i < many; ++i)
      made.results.push_back(first + i);
  }
  return made;
}

void OperationReader::operandList(Operation &made) {
  scan.expect("(", "before operands");
  while (!scan.accept(")")) {
    made.operands.push_back(use());
    if (!scan.sees(")"))
      scan.expect(",", "between operands");
  }
}

void OperationReader::generic(Operation &made) {
  operandList(made);
  if (scan.peek() == '[')
    scan.refuse(made.name + " has successors, which are not read");
  if (scan.sees("<{"))
    dictionary(made.attributes, "<{", "}>");
  if (scan.accept("("))
    do
      made.regions.push_back(region());
    while (scan.accept(",") || (scan.expect(")", "behind regions"), false));
  if (scan.sees("{"))
    dictionary(made.attributes);
  scan.expect(":", "before the type of an operation");
  functionType(made.operandTypes, made.types);
}

std::string OperationReader::attributeName(const std::string &operation, const std::string &name) {
  if (name == "dims")
    return operation.ends_with("broadcast_in_dim") ? "broadcast_dimensions"
           : operation.ends_with("transpose")      ? "permutation"
                                                   : "dimensions";
  if (name == "dim")
    return operation.ends_with("iota") ? "iota_dimension" : "dimension";
  if (name == "sizes")
    return "slice_sizes";
  if (name == "low" || name == "high")
    return "edge_padding_" + name;
  if (name == "interior")
    return "interior_padding";
  if (name == "type")
    return "fft_type";
  if (name == "length")
    return "fft_length";
  if (name == "algorithm" && operation.ends_with("rng_bit_generator"))
    return "rng_algorithm";
  if (name == "distribution")
    return "rng_distribution";
  return name;
}

Attribute OperationReader::listOf(std::vector<std::int64_t> numbers) {
  Attribute list;
  list.kind = Attribute::Kind::List;
  for (std::int64_t each : numbers) {
    Attribute number;
    number.kind = Attribute::Kind::Integer;
    number.integer = each;
    number.number = static_cast<double>(each);
    list.list.push_back(number);
  }
  return list;
}

void OperationReader::places(Operation &made) {
  scan.expect("[", "before places");
  std::vector<std::int64_t> starts, limits, strides;
  bool isRange = made.name != "stablehlo.get_tuple_element";
  while (!scan.accept("]")) {
    starts.push_back(scan.integer("as a place"));
    if (isRange) {
      scan.expect(":", "between the places of a slice");
      limits.push_back(scan.integer("as a place"));
      strides.push_back(scan.accept(":") ? scan.integer("as a stride") : 1);
    }
    if (!scan.sees("]"))
      scan.expect(",", "between places");
  }
  if (isRange) {
    made.attributes["start_indices"] = listOf(starts);
    made.attributes["limit_indices"] = listOf(limits);
    made.attributes["strides"] = listOf(strides);
  } else if (starts.size() == 1) {
    made.attributes["index"] = listOf(starts).list[0];
  } else {
    scan.refuse("expected one index of a tuple");
  }
}

void OperationReader::pretty(Operation &made, int results) {
  int words = 0;
  while (!scan.sees(":")) {
    const char c = scan.peek();
    if (c == '%') {
      made.operands.push_back(use());
    } else if (c == '<' && made.name.starts_with("sdy.")) {
      scan.balanced(); // how a tensor is laid out on devices
    } else if (c == ',' || c == '(' || c == ')') {
      scan.advance();
    } else if (c == '@') {
      made.attributes[made.name.ends_with("custom_call") ? "call_target_name" : "callee"] = attribute();
    } else if (c == '"') {
      made.attributes["name"] = attribute();
    } else if (c == '{') {
      dictionary(made.attributes);
    } else if (c == '[') {
      places(made);
    } else if (scan.seesWord("dense") || scan.seesWord("dense_resource")) {
      made.attributes["value"] = attribute();
      if (scan.sees("{"))
        dictionary(made.attributes);
      break; // with its type, which is that of the result
    } else if (c == '#') {
      made.attributes["word" + std::to_string(words++)] = attribute();
    } else {
      const std::size_t before = scan.position();
      const std::string word(scan.word());
      if (word.empty() || word == "loc" || made.name.ends_with("return")) {
        scan.moveTo(before);
        break;
      }
      if (!scan.accept("=")) {
        if (!scan.sees(",") && !scan.sees(":")) {
          scan.moveTo(before); // the name of the next operation
          break;
        }
        Attribute value;
        value.kind = Attribute::Kind::Word;
        value.text = word;
        made.attributes["word" + std::to_string(words++)] = value;
        continue;
      }
      Attribute value;
      if (word == "dim_numbers") {
        value = convolutionDimensions();
      } else if (scan.seesNumber()) {
        value = number(false); // the type behind is that of the operation
      } else {
        value = attribute();
        // [0] x [1]
        if (value.kind == Attribute::Kind::List && scan.seesWord("x")) {
          scan.acceptWord("x");
          Attribute both;
          both.kind = Attribute::Kind::List;
          both.list.push_back(std::move(value));
          both.list.push_back(attribute());
          value = std::move(both);
        }
      }
      made.attributes[attributeName(made.name, word)] = std::move(value);
    }
  }
  if (!scan.accept(":")) {
    if (const Attribute *value = made.find("value"); value && value->dense && results > 0)
      made.types.push_back(value->dense->type);
    return;
  }
  types(made, results);
}

void OperationReader::types(Operation &made, int results) {
  if (scan.peek() == '(') {
    functionType(made.operandTypes, made.types);
    return;
  }
  std::vector<Type> given = typeList();
  if (scan.accept("->")) {
    made.operandTypes = std::move(given);
    if (scan.accept("(")) {
      while (!scan.accept(")")) {
        made.types.push_back(type());
        if (!scan.sees(")"))
          scan.expect(",", "between types");
      }
    } else {
      made.types.push_back(type());
    }
  } else if (given.size() == static_cast<std::size_t>(results)) {
    made.types = std::move(given);
  } else if (results == 1) {
    made.types.push_back(given.back());
  }
}

void OperationReader::whileLoop(Operation &made) {
  std::vector<std::pair<std::string, Type>> arguments;
  scan.expect("(", "before the values of a loop");
  while (!scan.accept(")")) {
    std::string name = valueName();
    scan.expect("=", "between a value of a loop and its beginning");
    made.operands.push_back(use());
    arguments.emplace_back(std::move(name), Type());
    if (!scan.sees(")"))
      scan.expect(",", "between the values of a loop");
  }
  if (!arguments.empty()) {
    scan.expect(":", "before the types of a loop's values");
    made.types = typeList();
  }
  if (made.types.size() != arguments.size())
    scan.refuse("a loop has " + std::to_string(arguments.size()) + " values and " + std::to_string(made.types.size()) +
                " types");
  for (std::size_t i = 0; i < arguments.size(); ++i)
    arguments[i].second = made.types[i];
  if (scan.acceptWord("attributes"))
    dictionary(made.attributes);
  if (!scan.acceptWord("cond"))
    scan.refuse("expected the condition of a loop");
  made.regions.push_back(region(arguments));
  if (!scan.acceptWord("do"))
    scan.refuse("expected the body of a loop");
  made.regions.push_back(region(arguments));
}

void OperationReader::reduce(Operation &made) {
  std::vector<int> initial;
  do {
    scan.expect("(", "before an operand of a reduction");
    made.operands.push_back(use());
    if (!scan.acceptWord("init"))
      scan.refuse("expected init: and the value with which a reduction begins");
    scan.expect(":", "behind init");
    initial.push_back(use());
    scan.expect(")", "behind an operand of a reduction");
  } while (scan.accept(","));
  const std::size_t count = made.operands.size();
  made.operands.insert(made.operands.end(), initial.begin(), initial.end());
  std::string applied;
  if (scan.acceptWord("applies"))
    applied = scan.word();
  if (!scan.acceptWord("across"))
    scan.refuse("expected across, and the dimensions of a reduction");
  if (!scan.acceptWord("dimensions"))
    scan.refuse("expected the dimensions of a reduction");
  scan.expect("=", "before the dimensions of a reduction");
  made.attributes["dimensions"] = attribute();
  if (scan.sees("{"))
    dictionary(made.attributes);
  scan.expect(":", "before the type of a reduction");
  functionType(made.operandTypes, made.types);
  if (!applied.empty()) {
    if (made.types.size() != 1)
      scan.refuse("a reduction by " + applied + " has " + std::to_string(made.types.size()) + " results");
    Type scalar = made.types[0];
    scalar.dims.clear();
    Region body;
    const int first = values_;
    values_ += 3;
    body.arguments = {first, first + 1};
    body.types = {scalar, scalar};
    Operation apply;
    apply.name = applied;
    apply.line = made.line;
    apply.label = made.label;
    apply.operands = {first, first + 1};
    apply.results = {first + 2};
    apply.types = {scalar};
    Operation back;
    back.name = "stablehlo.return";
    back.line = made.line;
    back.label = made.label;
    back.operands = {first + 2};
    body.operations = {std::move(apply), std::move(back)};
    made.regions.push_back(std::move(body));
    return;
  }
  if (!scan.acceptWord("reducer"))
    scan.refuse("expected applies or the reducer of a reduction");
  // Pairs, each of a value so far and of an element: (%a: t, %b: t) (%c: t, %d: t).
  std::vector<std::pair<std::string, Type>> soFar, elements;
  while (scan.accept("(")) {
    for (auto *into : {&soFar, &elements}) {
      std::string name = valueName();
      scan.expect(":", "before the type of a reducer's argument");
      Type of = type();
      location();
      into->emplace_back(std::move(name), std::move(of));
      if (into == &soFar)
        scan.expect(",", "between the arguments of a reducer");
    }
    scan.expect(")", "behind the arguments of a reducer");
  }
  if (soFar.size() != count)
    scan.refuse("a reduction of " + std::to_string(count) + " operands has a reducer of " +
                std::to_string(soFar.size()));
  soFar.insert(soFar.end(), elements.begin(), elements.end());
  made.regions.push_back(region(soFar));
}

void OperationReader::scanned(Operation &made) {
  operandList(made);
  const std::size_t inputs = made.operands.size();
  if (!scan.acceptWord("inits"))
    scan.refuse("expected the beginnings of a scan");
  operandList(made);
  const std::size_t carries = made.operands.size() - inputs;
  made.attributes["operandSegmentSizes"] =
      listOf({static_cast<std::int64_t>(inputs), static_cast<std::int64_t>(carries)});
  if (!scan.acceptWord("dimension"))
    scan.refuse("expected the dimension of a scan");
  scan.expect("=", "before the dimension of a scan");
  made.attributes["dimension"] = listOf({scan.integer("as the dimension of a scan")}).list[0];
  if (scan.acceptWord("attributes"))
    dictionary(made.attributes);
  made.regions.push_back(region());
  scan.expect(":", "before the type of a scan");
  functionType(made.operandTypes, made.types);
}

} // namespace calque::stablehlo

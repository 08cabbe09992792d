// Operations, functions and modules of MLIR's text, in the form that all operations have and in those of their own.
#include "stablehlo/Attributes.h"

#include "calque/error.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace calque::stablehlo {

const char *internedLabel(const std::string &label);

namespace {

class Reader : AttributeReader {
public:
  Reader(std::string_view text, const std::string &file) : AttributeReader(text, file) { findResources(text); }

  Module read() {
    Module module;
    topLevel(module, false);
    return module;
  }

private:
  // Values that names stand for, and how many.
  struct Named {
    int first = 0, count = 1;
  };
  using Names = std::unordered_map<std::string, Named>;

  void topLevel(Module &module, bool isInside) {
    const Nesting nested(scan, depth_);
    for (;;) {
      if (scan.atEnd() || (isInside && scan.peek() == '}')) {
        if (isInside)
          scan.expect("}", "at the end of a module");
        return;
      }
      if (scan.peek() == '#' || scan.peek() == '!') {
        alias();
      } else if (scan.sees("{-#")) {
        scan.moveTo(scan.position() + resourcesLength());
      } else if (scan.acceptWord("module") || scan.acceptWord("builtin.module")) {
        if (scan.peek() == '@')
          module.name = attribute().text;
        Attributes ignored;
        if (scan.acceptWord("attributes"))
          dictionary(ignored);
        scan.expect("{", "before the functions of a module");
        topLevel(module, true);
        location();
      } else if (scan.acceptWord("func.func")) {
        function(module);
      } else if (scan.acceptWord("sdy.mesh")) {
        attribute(); // devices, which change no numbers
        scan.expect("=", "of a mesh");
        scan.balanced();
        Attributes ignored;
        if (scan.sees("{"))
          dictionary(ignored);
      } else if (scan.accept("\"builtin.module\"")) {
        genericModule(module);
      } else if (scan.accept("\"func.func\"")) {
        genericFunction(module);
      } else {
        const std::string what(scan.peek() == '"' ? scan.string() : std::string(scan.word()));
        scan.refuse(what.empty() ? "expected a function" : "'" + what + "' stands outside of functions");
      }
    }
  }

  std::size_t resourcesLength() {
    const std::size_t begin = scan.position();
    while (!scan.atEnd() && !scan.sees("#-}"))
      scan.advance();
    scan.expect("#-}", "at the end of resources");
    const std::size_t length = scan.position() - begin;
    scan.moveTo(begin);
    return length;
  }

  void genericModule(Module &module) {
    scan.expect("(", "before the operands of a module");
    scan.expect(")", "behind the operands of a module");
    Attributes properties;
    if (scan.sees("<"))
      dictionary(properties, "<{", "}>");
    if (const auto name = properties.find("sym_name"); name != properties.end())
      module.name = name->second.text;
    scan.expect("(", "before the region of a module");
    scan.expect("{", "before the functions of a module");
    if (scan.accept("^")) {
      scan.suffix();
      scan.expect(":", "behind the name of a block");
    }
    topLevel(module, true);
    scan.expect(")", "behind the region of a module");
    if (scan.sees("{"))
      dictionary(properties);
    scan.expect(":", "before the type of a module");
    std::vector<Type> none;
    functionType(none, none);
    location();
  }

  Function &added(Module &module, std::string name, int line) {
    if (name.empty())
      scan.refuse("a function has no name");
    if (module.find(name))
      scan.refuse("a second function '" + name + "'");
    module.functions.push_back(std::make_unique<Function>());
    Function &made = *module.functions.back();
    made.name = std::move(name);
    made.line = line;
    values_ = 0;
    names_.assign(1, {});
    return made;
  }

  static std::string infoOf(const Attributes &attributes, const char *key) {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second.text;
  }

  void function(Module &module) {
    const int line = scan.line();
    bool isPublic = true;
    if (scan.acceptWord("private"))
      isPublic = false;
    else
      scan.acceptWord("public");
    if (scan.peek() != '@')
      scan.refuse("expected the name of a function");
    Function &made = added(module, attribute().text, line);
    made.isPublic = isPublic;
    scan.expect("(", "before the arguments of a function");
    while (!scan.accept(")")) {
      if (scan.peek() == '%') {
        made.body.arguments.push_back(define(valueName()));
        scan.expect(":", "before the type of an argument");
      }
      made.body.types.push_back(type());
      Attributes about;
      if (scan.sees("{"))
        dictionary(about);
      made.argumentNames.push_back(infoOf(about, "jax.arg_info"));
      location();
      if (!scan.sees(")"))
        scan.expect(",", "between the arguments of a function");
    }
    if (scan.accept("->")) {
      auto result = [&](bool hasAttributes) {
        made.results.push_back(type());
        Attributes about;
        if (hasAttributes && scan.sees("{"))
          dictionary(about);
        made.resultNames.push_back(infoOf(about, "jax.result_info"));
      };
      if (scan.accept("(")) {
        while (!scan.accept(")")) {
          result(true);
          if (!scan.sees(")"))
            scan.expect(",", "between the results of a function");
        }
      } else {
        result(false); // the bracket behind is that of the body
      }
    }
    Attributes ignored;
    if (scan.acceptWord("attributes"))
      dictionary(ignored);
    if (scan.accept("{")) {
      made.hasBody = true;
      operations(made.body);
    }
    location();
    finish(made);
  }

  void genericFunction(Module &module) {
    const int line = scan.line();
    scan.expect("(", "before the operands of a function");
    scan.expect(")", "behind the operands of a function");
    Attributes properties;
    if (scan.sees("<"))
      dictionary(properties, "<{", "}>");
    scan.expect("(", "before the region of a function");
    const std::size_t region = scan.position();
    // The name may stand behind the region, among the attributes.
    scan.balanced();
    scan.expect(")", "behind the region of a function");
    if (scan.sees("{"))
      dictionary(properties);
    const std::size_t end = scan.position();
    const auto given = properties.find("function_type");
    if (given == properties.end() || given->second.kind != Attribute::Kind::Types)
      scan.refuse("a function has no function_type");
    Function &made = added(module, infoOf(properties, "sym_name"), line);
    made.isPublic = infoOf(properties, "sym_visibility") != "private";
    const auto results = static_cast<std::ptrdiff_t>(given->second.integer);
    const std::vector<Type> &types = given->second.types;
    made.body.types.assign(types.begin(), types.end() - results);
    made.results.assign(types.end() - results, types.end());
    made.argumentNames.resize(made.body.types.size());
    made.resultNames.resize(made.results.size());
    auto names = [&](const char *key, const char *info, std::vector<std::string> &into) {
      const auto found = properties.find(key);
      for (std::size_t i = 0; found != properties.end() && i < found->second.list.size() && i < into.size(); ++i)
        into[i] = infoOf(found->second.list[i].dictionary, info);
    };
    names("arg_attrs", "jax.arg_info", made.argumentNames);
    names("res_attrs", "jax.result_info", made.resultNames);
    scan.moveTo(region);
    scan.expect("{", "before the region of a function");
    if (!scan.sees("}")) {
      made.hasBody = true;
      std::vector<Type> declared;
      declared.swap(made.body.types);
      block(made.body);
      if (made.body.types.size() != declared.size())
        scan.refuse("the function '" + made.name + "' has " + std::to_string(declared.size()) +
                    " arguments, and its block " + std::to_string(made.body.types.size()));
      operations(made.body);
    }
    scan.moveTo(end);
    scan.expect(":", "before the type of a function");
    std::vector<Type> none;
    functionType(none, none);
    location();
    finish(made);
  }

  //===-- Values ------------------------------------------------------------------------------===//

  std::string valueName() {
    scan.expect("%", "before a value's name");
    std::string name(scan.suffix());
    if (name.empty())
      scan.refuse("a value has no name");
    return name;
  }
  void requireNew(const std::string &name) const {
    for (const Names &each : names_)
      if (each.contains(name))
        scan.refuse("a second value '%" + name + "'");
  }
  int define(const std::string &name, int count = 1) {
    if (count < 1 || count > 1 << 20)
      scan.refuse("'%" + name + "' has " + std::to_string(count) + " values");
    requireNew(name);
    const int first = values_;
    values_ += count;
    names_.back().emplace(name, Named{first, count});
    return first;
  }
  int use() {
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

  // The arguments of a block: ^bb0(%a: tensor<f32>, ...):
  void block(Region &region) {
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
  void operations(Region &region) {
    while (!scan.accept("}")) {
      if (scan.peek() == '^')
        scan.refuse("a second block: regions of one block are read");
      region.operations.push_back(operation());
    }
    if (region.operations.empty())
      scan.refuse("a region is empty");
  }
  // A region with the brackets around it. `arguments` are those that stand in front of it.
  Region region(const std::vector<std::pair<std::string, Type>> &arguments = {}) {
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

  Operation operation() {
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

  void operandList(Operation &made) {
    scan.expect("(", "before operands");
    while (!scan.accept(")")) {
      made.operands.push_back(use());
      if (!scan.sees(")"))
        scan.expect(",", "between operands");
    }
  }

  void generic(Operation &made) {
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

  // Names of attributes in the forms of their own, and what they are called otherwise.
  static std::string attributeName(const std::string &operation, const std::string &name) {
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

  static Attribute listOf(std::vector<std::int64_t> numbers) {
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

  // [0:2, 1:5:2] of a slice, or the [0] of an element of a tuple.
  void places(Operation &made) {
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

  // Operands, attributes by name or by place, and types: the forms of all operations without regions.
  void pretty(Operation &made, int results) {
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

  // (t, t) -> t, or t -> t, or the types of the results alone, or one for operands and results.
  void types(Operation &made, int results) {
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

  void whileLoop(Operation &made) {
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
      scan.refuse("a loop has " + std::to_string(arguments.size()) + " values and " +
                  std::to_string(made.types.size()) + " types");
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

  void reduce(Operation &made) {
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

  // chlo.scan(%x) inits(%carry) dimension = 0 { ... } : (...) -> (...)
  void scanned(Operation &made) {
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

  //===-- What is read last ---------------------------------------------------------------------===//

  static void reads(const Operation &operation, std::set<int> &into) {
    into.insert(operation.operands.begin(), operation.operands.end());
    for (const Region &region : operation.regions)
      for (const Operation &each : region.operations)
        reads(each, into);
  }
  static void findDead(Region &region, int depth) {
    std::set<int> later, own(region.arguments.begin(), region.arguments.end());
    for (const Operation &each : region.operations)
      own.insert(each.results.begin(), each.results.end());
    for (auto each = region.operations.rbegin(); each != region.operations.rend(); ++each) {
      std::set<int> read;
      reads(*each, read);
      for (int value : read)
        if (own.contains(value) && later.insert(value).second)
          each->dead.push_back(value);
      for (Region &inner : each->regions)
        findDead(inner, depth + 1);
    }
  }

  void finish(Function &made) {
    if (made.hasBody && made.body.arguments.size() != made.body.types.size())
      scan.refuse("an argument of the function '" + made.name + "' has no name");
    made.values = values_;
    findDead(made.body, 0);
  }

  int values_ = 0;
  std::vector<Names> names_;
};

} // namespace

Module readModule(std::string_view text, const std::string &file) { return Reader(text, file).read(); }

} // namespace calque::stablehlo

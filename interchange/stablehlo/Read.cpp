// Functions and modules of MLIR's text.
#include "stablehlo/OperationReader.h"

#include "calque/error.h"

#include <algorithm>
#include <set>

namespace calque::stablehlo {

namespace {

class Reader : OperationReader {
public:
  Reader(std::string_view text, const std::string &file) : OperationReader(text, file) { findResources(text); }

  Module read() {
    Module module;
    topLevel(module, false);
    return module;
  }

private:
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
};

} // namespace

Module readModule(std::string_view text, const std::string &file) { return Reader(text, file).read(); }

} // namespace calque::stablehlo

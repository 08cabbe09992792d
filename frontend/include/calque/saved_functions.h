// Saved functions: their programs, weights and signatures in one file. Another C++ program, without the code of the
// functions, loads, runs and differentiates them.
//
//   save_functions("model.calque", {{"forward", forward.get_concrete_function(TensorSpec<float>({kDynamic, 784}))},
//                                   {"step", step}});
//
//   SavedFunctions model = load_functions("model.calque"); // in another program
//   auto forward = model.function<Tensor(const Tensor &)>("forward");
//   Tensor logits = forward(images);
//   model.variable("dense/kernel");
//
// Loaded functions behave like other functions. They are compiled at the first call, or found in the native-code cache.
// A function that calls them inlines them. Tapes and transforms differentiate them. Their results have the same bits as
// those of the function that was saved. Errors inside of them name lines of the program that saved them.
#ifndef CALQUE_SAVED_FUNCTIONS_H
#define CALQUE_SAVED_FUNCTIONS_H

#include "calque/function.h"

#include <initializer_list>
#include <map>

namespace calque {

namespace detail {
struct SavedAccess;
struct SavedFile;
struct SavedFunction;
} // namespace detail

// A function to save: all traces that a Function has now, or the one trace of a ConcreteFunction. StateError for a
// function without a trace.
class CALQUE_API FunctionToSave {
public:
  template <typename Signature> FunctionToSave(const Function<Signature> &f);
  template <typename Signature> FunctionToSave(const ConcreteFunction<Signature> &f);

private:
  friend struct detail::SavedAccess;
  std::shared_ptr<detail::FunctionCore> function_;
  std::shared_ptr<detail::ConcreteCore> concrete_;
};

struct SaveFunctionsOptions {
  // Names for variables in the file. Other variables keep their own names. If several variables have the same name, all
  // but the first get a number behind it.
  std::vector<std::pair<std::string, Variable>> variables = {};
};

// Saves functions and the present values of the variables that they capture. Functions may share variables. Variables
// that are arguments remain arguments. The file is written whole or not at all.
//
// StateError while a function is traced and for a function without a trace. ValueError for a name that is given twice,
// for a trace with a host call, whose line the error names, and for a trace that was made within a GradientOverride.
// DataError if the file can't be written.
CALQUE_API void save_functions(const std::string &path,
                               const std::vector<std::pair<std::string, FunctionToSave>> &functions,
                               SaveFunctionsOptions options = {}, SourceLocation where = SourceLocation::current());

// The name of a function, and the line of the user's program where the name is given.
struct FunctionName {
  std::string name;
  SourceLocation where;
  FunctionName(std::string text, SourceLocation line = SourceLocation::current())
      : name(std::move(text)), where(line) {}
  FunctionName(const char *text, SourceLocation line = SourceLocation::current()) : name(text), where(line) {}
};

// A number or a text among the arguments of a saved function. `name` is its name in messages, "argument 1 'n'"; `value`
// is its value when the function was traced, "int 2" or "string "mean"".
struct SavedHostValue {
  std::string name, value;
  bool operator==(const SavedHostValue &other) const { return name == other.name && value == other.value; }
};

// The functions of a file, as a shared handle. Its functions are shared handles, too, and share their variables.
class CALQUE_API SavedFunctions {
public:
  // Makes an empty handle. Using it is a StateError until another handle is assigned.
  SavedFunctions() = default;

  std::vector<std::string> names(SourceLocation where = SourceLocation::current()) const;
  // Returns a variable by its name in the file. An assignment to the variable changes what the functions compute.
  // LookupError for a name that no variable has.
  Variable variable(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  // Returns all variables by their names.
  const std::map<std::string, Variable> &variables(SourceLocation where = SourceLocation::current()) const;

  // Returns the function with this name, with a C++ signature. Arguments and results have the structure that they had
  // when the function was saved. Their C++ types may be any with that structure: a struct of two tensors may be a
  // tuple. Numbers and texts among the arguments must have the values of a saved trace. Results are constructed by the
  // loaded function, so an aggregate among them needs a default constructor. LookupError for a name that the file
  // lacks. A call whose types fit no saved trace is a SignatureError.
  template <typename Signature>
  auto function(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  // Returns the function with this name, as a function of its tensors in order, without their structure. SignatureError
  // for a function that takes variables, and for a function with saved traces that differ in host values alone.
  Function<std::vector<Tensor>(const std::vector<Tensor> &)> operator[](const FunctionName &name) const;
  // Does the same for some of the function's traces, given by their positions in host_values(). ValueError for an empty
  // list, and for a trace that the function does not have.
  Function<std::vector<Tensor>(const std::vector<Tensor> &)> on_tensors(const FunctionName &name,
                                                                        const std::vector<std::size_t> &traces) const;

  // Returns the types of the argument tensors of each trace of a function.
  std::vector<std::vector<TensorSpec<>>> argument_specs(const std::string &name,
                                                        SourceLocation where = SourceLocation::current()) const;
  // Returns the numbers and texts among the arguments of each trace of a function.
  std::vector<std::vector<SavedHostValue>> host_values(const std::string &name,
                                                       SourceLocation where = SourceLocation::current()) const;
  // Return the names, in messages, of the tensors in the arguments, "argument 0 'x'", and in the results, "result[0]",
  // "result["logits"]". They are those of the first trace, or of trace number `trace`. ValueError for a trace that the
  // function lacks.
  std::vector<std::string> argument_names(const std::string &name,
                                          SourceLocation where = SourceLocation::current()) const;
  std::vector<std::string> argument_names(const std::string &name, std::size_t trace,
                                          SourceLocation where = SourceLocation::current()) const;
  std::vector<std::string> result_names(const std::string &name,
                                        SourceLocation where = SourceLocation::current()) const;
  std::vector<std::string> result_names(const std::string &name, std::size_t trace,
                                        SourceLocation where = SourceLocation::current()) const;
  // Returns the signatures of all functions, and the variables, as text.
  std::string str(SourceLocation where = SourceLocation::current()) const;

private:
  friend struct detail::SavedAccess;
  friend CALQUE_API SavedFunctions load_functions(const std::string &path, SourceLocation where);
  std::shared_ptr<const detail::SavedFunction> find(const std::string &name, const SourceLocation &where) const;
  std::shared_ptr<const detail::SavedFunction> findToRun(const std::string &name, const SourceLocation &where) const;
  const detail::SavedFile &file(const SourceLocation &where) const;
  std::shared_ptr<const detail::SavedFile> file_;
};

// Reads a file of functions. DataError for a file that is missing, damaged, of a later version, or no file of
// functions, and for an operation that this Calque does not know; the error begins with the path. Asking for a function
// that applies a user's operation is a LookupError if this program has not registered the operation.
CALQUE_API SavedFunctions load_functions(const std::string &path, SourceLocation where = SourceLocation::current());

namespace detail {

// The results of a call of a saved function. The members return the parts one after the other, in the order in which
// they were visited when the function was traced.
class CALQUE_API SavedResults {
public:
  SavedResults(std::shared_ptr<const SavedFunction> function, std::size_t trace, std::vector<Tensor> tensors,
               const SourceLocation &where);
  // SignatureError if the next part is of another kind.
  Tensor tensor();
  std::uint64_t host(const std::string &type);
  std::string text();
  std::size_t count();
  std::string key();
  void end() const;

private:
  [[noreturn]] void refuse(const std::string &wanted) const;
  std::shared_ptr<const SavedFunction> function;
  std::size_t trace;
  std::vector<Tensor> tensors;
  SourceLocation where;
  std::size_t nextPart = 0, nextTensor = 0;
};

// Whether Calque's own Structure serves a type, so that a value can be made of its parts.
template <typename T>
inline constexpr bool isPlain = requires {
  Structure<T>::isHost;
  Structure<T>::hasFields;
};

// Makes a structure from the results of a saved function.
template <typename T> struct Remade {
  static T make(SavedResults &results) {
    static_assert(isPlain<T>, "a saved function gives tensors, numbers, texts, and the containers and aggregates of "
                              "these: this result type is none of them");
    if constexpr (!isPlain<T>) {
      return refused<T>();
    } else if constexpr (Structure<T>::isHost) {
      std::uint64_t bits = results.host(nameOfHost());
      if constexpr (std::is_same_v<T, long double>) {
        double value;
        std::memcpy(&value, &bits, sizeof(value));
        return value;
      } else {
        T value{};
        std::memcpy(&value, &bits, std::min(sizeof(value), sizeof(bits)));
        return value;
      }
    } else {
      static_assert(std::is_default_constructible_v<T>,
                    "the results of a saved function are made anew: this aggregate needs a default constructor");
      if constexpr (std::is_default_constructible_v<T>)
        return withFields(T{}, [&](const auto &...fields) {
          return T{Remade<std::remove_cvref_t<decltype(fields)>>::make(results)...};
        });
      else
        return refused<T>();
    }
  }

private:
  static std::string nameOfHost() {
    if constexpr (std::is_same_v<T, bool>)
      return "bool ";
    else if constexpr (std::is_enum_v<T>)
      return "enum ";
    else
      return nameOfNumber<T>();
  }
};
template <> struct Remade<Tensor> {
  static Tensor make(SavedResults &results) { return results.tensor(); }
};
template <> struct Remade<std::string> {
  static std::string make(SavedResults &results) { return results.text(); }
};
template <typename T> struct Remade<std::vector<T>> {
  static std::vector<T> make(SavedResults &results) {
    std::vector<T> made;
    for (std::size_t n = results.count(); n > 0; --n)
      made.push_back(Remade<T>::make(results));
    return made;
  }
};
template <typename T> struct Remade<std::optional<T>> {
  static std::optional<T> make(SavedResults &results) {
    return results.count() ? std::optional<T>(Remade<T>::make(results)) : std::nullopt;
  }
};
template <typename T, std::size_t N> struct Remade<std::array<T, N>> {
  static std::array<T, N> make(SavedResults &results) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<T, N>{((void)I, Remade<T>::make(results))...};
    }(std::make_index_sequence<N>());
  }
};
template <typename A, typename B> struct Remade<std::pair<A, B>> {
  static std::pair<A, B> make(SavedResults &results) {
    return std::pair<A, B>{Remade<A>::make(results), Remade<B>::make(results)};
  }
};
template <typename... T> struct Remade<std::tuple<T...>> {
  static std::tuple<T...> make(SavedResults &results) { return std::tuple<T...>{Remade<T>::make(results)...}; }
};
template <typename Map> struct RemadeMap {
  static Map make(SavedResults &results) {
    Map made;
    for (std::size_t n = results.count(); n > 0; --n) {
      using Key = typename Map::key_type;
      auto key = [&] {
        if constexpr (std::is_same_v<Key, std::string>)
          return results.key();
        else
          return Remade<Key>::make(results);
      }();
      made.emplace(std::move(key), Remade<typename Map::mapped_type>::make(results));
    }
    return made;
  }
};
template <typename K, typename T, typename C> struct Remade<std::map<K, T, C>> : RemadeMap<std::map<K, T, C>> {};
template <typename K, typename T, typename H, typename E>
struct Remade<std::unordered_map<K, T, H, E>> : RemadeMap<std::unordered_map<K, T, H, E>> {};

// The arguments of a call of a saved function.
struct SavedArguments : TensorCollector {
  explicit SavedArguments(const SourceLocation &where) : signature(where) {}
  void variable(const Variable &x) { variables.push_back(x); }
  template <typename T> void add(const T &argument) {
    signature.begin("argument " + std::to_string(index++));
    visit_structure(argument, signature);
    visit_structure(argument, *this);
  }
  SignatureBuilder signature;
  std::vector<Variable> variables;
  std::size_t index = 0;
};
CALQUE_API SavedResults callSaved(const std::shared_ptr<const SavedFunction> &function, SavedArguments &arguments,
                                  const SourceLocation &where);
CALQUE_API FunctionOptions optionsOf(const SavedFunction &function);
// Makes a function refuse calls that fit no saved trace, and gives it the saved traces.
CALQUE_API void serveSaved(FunctionCore &core, std::shared_ptr<const SavedFunction> function);

struct SavedAccess {
  template <typename Signature> static std::shared_ptr<FunctionCore> coreOf(const Function<Signature> &f) {
    return f.state_ ? f.state_->core : nullptr;
  }
  template <typename Signature> static std::shared_ptr<ConcreteCore> coreOf(const ConcreteFunction<Signature> &f) {
    return f.core_;
  }
  static const std::shared_ptr<FunctionCore> &functionOf(const FunctionToSave &f) { return f.function_; }
  static std::shared_ptr<const SavedFunction> functionOf(const SavedFunctions &file, const std::string &name,
                                                         const SourceLocation &where) {
    return file.findToRun(name, where);
  }
  static const std::shared_ptr<ConcreteCore> &concreteOf(const FunctionToSave &f) { return f.concrete_; }
};

template <typename Signature> struct LoadedFunction;
template <typename R, typename... Args> struct LoadedFunction<R(Args...)> {
  static Function<R(Args...)> make(std::shared_ptr<const SavedFunction> saved, const SourceLocation &where) {
    using Result = std::remove_cvref_t<R>;
    FunctionOptions options = optionsOf(*saved);
    Function<R(Args...)> f(
        [saved](Args... args, const SourceLocation &line) -> Result {
          SavedArguments arguments(line);
          (arguments.add(args), ...);
          SavedResults results = callSaved(saved, arguments, line);
          if constexpr (!std::is_void_v<R>) {
            Result made = Remade<Result>::make(results);
            results.end();
            return made;
          } else {
            results.end();
          }
        },
        std::move(options), where);
    serveSaved(*SavedAccess::coreOf(f), std::move(saved));
    return f;
  }
};

} // namespace detail

template <typename Signature>
FunctionToSave::FunctionToSave(const Function<Signature> &f) : function_(detail::SavedAccess::coreOf(f)) {}
template <typename Signature>
FunctionToSave::FunctionToSave(const ConcreteFunction<Signature> &f) : concrete_(detail::SavedAccess::coreOf(f)) {}

template <typename Signature> auto SavedFunctions::function(const std::string &name, SourceLocation where) const {
  static_assert(std::is_function_v<Signature>,
                "name the signature of the function: function<Tensor(Tensor)>(\"name\")");
  if constexpr (std::is_function_v<Signature>)
    return detail::LoadedFunction<Signature>::make(findToRun(name, where), where);
}

} // namespace calque
#endif

// Gradient tapes. A tape records what is computed from the tensors and variables that it watches.
//
//   GradientTape tape;
//   tape.watch(x);
//   Tensor y = sum(x * x * w);
//   std::optional<Tensor> dx = tape.gradient(y, x); // trainable variables such as w are watched without being asked
#ifndef CALQUE_GRADIENT_TAPE_H
#define CALQUE_GRADIENT_TAPE_H

#include "calque/structure.h"

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace calque {

namespace detail {
class TapeState;
class PullbackTape;
} // namespace detail

struct GradientTapeOptions {
  bool persistent = false;              // gradient() may be called more than once
  bool watch_accessed_variables = true; // watches trainable variables when they are read
};

// The gradient of a source that no path connects with a target: std::nullopt, or zeros.
enum class UnconnectedGradients { None, Zero };
CALQUE_API std::ostream &operator<<(std::ostream &os, UnconnectedGradients unconnected);

struct GradientOptions {
  std::vector<Tensor> output_gradients = {};
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::None;
};

namespace detail {
// Maps the structure of the sources to the structure of the gradients, with a gradient in place of each tensor and
// variable.
template <typename T> struct GradientStructure;
// Sources may be references, as in std::tie.
template <typename T> using GradientsOf = typename GradientStructure<std::remove_cvref_t<T>>::type;

// The gradients of an aggregate are a tuple with the gradients of its fields, because C++ can't make a struct of
// gradients from a struct of variables.
template <typename T>
constexpr bool hasSources = [] {
  if constexpr (std::is_aggregate_v<T> && !std::is_array_v<T>)
    return Structure<T>::hasFields && countFields<T>() > 0;
  else
    return false;
}();
template <typename T> struct GradientStructure {
  static_assert(hasSources<T>,
                "gradient() has no structure like this type for its results: give the sources as a Tensor, a Variable, "
                "a struct, or a std::vector, array, map, pair or tuple of them, such as std::tie(s.w, s.b)");
  struct None {
    using type = std::optional<Tensor>;
  };
  struct OfFields {
    template <typename... Fields> static std::type_identity<std::tuple<GradientsOf<Fields>...>> of(const Fields &...) {
      return {};
    }
    using type = typename decltype(withFields(std::declval<const T &>(),
                                              [](const auto &...fields) { return of(fields...); }))::type;
  };
  using type = typename std::conditional_t<hasSources<T>, OfFields, None>::type;
  template <typename F> static type map(const T &x, F &f) {
    if constexpr (hasSources<T>)
      return withFields(x, [&](const auto &...fields) {
        return type{GradientStructure<std::decay_t<decltype(fields)>>::map(fields, f)...};
      });
    else
      return {};
  }
};

template <typename T>
  requires std::is_same_v<T, Tensor> || std::is_same_v<T, Variable>
struct GradientStructure<T> {
  using type = std::optional<Tensor>;
  template <typename F> static type map(const T &x, F &f) { return f(x); }
};
template <typename T> struct GradientStructure<std::vector<T>> {
  using type = std::vector<GradientsOf<T>>;
  template <typename F> static type map(const std::vector<T> &x, F &f) {
    type result;
    for (const T &element : x)
      result.push_back(GradientStructure<T>::map(element, f));
    return result;
  }
};
template <typename T, std::size_t N> struct GradientStructure<std::array<T, N>> {
  using type = std::array<GradientsOf<T>, N>;
  template <typename F> static type map(const std::array<T, N> &x, F &f) {
    type result;
    for (std::size_t i = 0; i < N; ++i)
      result[i] = GradientStructure<T>::map(x[i], f);
    return result;
  }
};
template <typename K, typename T> struct GradientStructure<std::map<K, T>> {
  using type = std::map<K, GradientsOf<T>>;
  template <typename F> static type map(const std::map<K, T> &x, F &f) {
    type result;
    for (const auto &[key, value] : x)
      result.emplace(key, GradientStructure<T>::map(value, f));
    return result;
  }
};
template <typename A, typename B> struct GradientStructure<std::pair<A, B>> {
  using type = std::pair<GradientsOf<A>, GradientsOf<B>>;
  template <typename F> static type map(const std::pair<A, B> &x, F &f) {
    return type{GradientStructure<std::remove_cvref_t<A>>::map(x.first, f),
                GradientStructure<std::remove_cvref_t<B>>::map(x.second, f)};
  }
};
template <typename... T> struct GradientStructure<std::tuple<T...>> {
  using type = std::tuple<GradientsOf<T>...>;
  template <typename F> static type map(const std::tuple<T...> &x, F &f) {
    return std::apply(
        [&](const auto &...parts) { return type{GradientStructure<std::decay_t<decltype(parts)>>::map(parts, f)...}; },
        x);
  }
};

// A source: either the tensor or the variable is set.
struct Source {
  Source(const Tensor &x) : tensor(x) {}
  Source(const Variable &x) : variable(x) {}
  Tensor tensor;
  std::optional<Variable> variable;
};
// Sources in braces, among which tensors and variables may be mixed, or in a std::vector.
class Sources {
public:
  Sources(std::initializer_list<Source> sources) : sources_(sources) {}
  template <typename T>
    requires std::is_same_v<T, std::vector<Tensor>> || std::is_same_v<T, std::vector<Variable>>
  Sources(const T &sources) : sources_(sources.begin(), sources.end()) {}
  const std::vector<Source> &list() const { return sources_; }

private:
  std::vector<Source> sources_;
};
template <> struct GradientStructure<Sources> {
  using type = std::vector<std::optional<Tensor>>;
  template <typename F> static type map(const Sources &x, F &f) {
    type result;
    for (const Source &source : x.list())
      result.push_back(f(source));
    return result;
  }
};
// One target or several, in braces or in a std::vector. A Targets object must not outlive the call to which it is an
// argument.
class Targets {
public:
  Targets(const Tensor &x) : own_{x} {}
  Targets(const Variable &x, SourceLocation where = SourceLocation::current()) : own_{Tensor(x, where)} {}
  Targets(std::initializer_list<Tensor> targets) : own_(targets) {}
  template <std::same_as<std::vector<Tensor>> T> Targets(const T &targets) : given_(&targets) {}
  const std::vector<Tensor> &list() const { return given_ ? *given_ : own_; }

private:
  std::vector<Tensor> own_;
  const std::vector<Tensor> *given_ = nullptr; // or
};
// Types whose parts are the sources. A single source and a std::vector of sources have overloads of their own.
template <typename T>
concept SourceStructure = !std::is_same_v<T, Tensor> && !std::is_same_v<T, Variable> && !std::is_same_v<T, Sources> &&
                          !std::is_same_v<T, std::vector<Tensor>> && !std::is_same_v<T, std::vector<Variable>>;
} // namespace detail

// A tape records the operations of the thread that made it. Recording begins at construction. It ends at destruction,
// or at gradient() if the tape is not persistent. Tapes nest: outer tapes record the gradients of inner ones.
//
// A tape keeps the tensors that derivatives read: until its one gradient() is taken, or until its end if it is
// persistent. Let a persistent tape live no longer than needed. In a traced function a tape keeps no tensors, because
// the derivatives are part of the compiled program.
//
// The gradient of one source is a std::optional. Read it by .value(), which throws if there is no gradient.
class CALQUE_API GradientTape {
public:
  explicit GradientTape(GradientTapeOptions options = {}, SourceLocation where = SourceLocation::current());
  ~GradientTape();
  GradientTape(const GradientTape &) = delete;
  GradientTape &operator=(const GradientTape &) = delete;

  // From here on, values that are computed from x have a derivative with respect to x. Integers and bools never have
  // one.
  void watch(const Tensor &x, SourceLocation where = SourceLocation::current());
  void watch(const Variable &x, SourceLocation where = SourceLocation::current());
  // Watches several sources: watch({x, w}).
  void watch(const detail::Sources &sources, SourceLocation where = SourceLocation::current());

  // Returns the derivative of the sum of the target's elements with respect to a source. It has the source's type. It
  // is std::nullopt if no path leads from the source to a target. The targets are one tensor, or several in braces or
  // in a std::vector; the derivatives of several targets are summed. `output_gradients` are the seeds: one for each
  // target, of the target's type (else ValueError, ShapeError or DTypeError). A second call is a StateError unless the
  // tape is persistent.
  std::optional<Tensor> gradient(const detail::Targets &targets, const Tensor &source,
                                 const std::vector<Tensor> &output_gradients = {},
                                 SourceLocation where = SourceLocation::current());
  std::optional<Tensor> gradient(const detail::Targets &targets, const Variable &source,
                                 const std::vector<Tensor> &output_gradients = {},
                                 SourceLocation where = SourceLocation::current());
  // Returns a gradient for each of several sources, which are in braces or in a std::vector: gradient(loss, {x, w})
  // returns two.
  std::vector<std::optional<Tensor>> gradient(const detail::Targets &targets, const detail::Sources &sources,
                                              const std::vector<Tensor> &output_gradients = {},
                                              SourceLocation where = SourceLocation::current());

  // Takes the sources in a structure: pairs, tuples, arrays, vectors, maps and structs of tensors and variables, which
  // may nest. The result has the same structure, with a std::tuple of the fields' gradients in place of a struct.
  template <typename Sources = detail::Sources>
  auto gradient(const detail::Targets &targets, const Sources &sources, const GradientOptions &options,
                SourceLocation where = SourceLocation::current()) {
    using Structure = detail::GradientStructure<Sources>;
    std::vector<detail::Source> flat;
    auto collect = [&](const auto &x) -> std::optional<Tensor> {
      flat.push_back(x);
      return std::nullopt;
    };
    Structure::map(sources, collect);
    std::vector<std::optional<Tensor>> gradients = gradientOf(targets.list(), flat, options, where);
    std::size_t next = 0;
    auto place = [&](const auto &) -> std::optional<Tensor> { return std::move(gradients[next++]); };
    return Structure::map(sources, place);
  }
  template <detail::SourceStructure Sources>
  auto gradient(const detail::Targets &targets, const Sources &sources,
                SourceLocation where = SourceLocation::current()) {
    return gradient(targets, sources, GradientOptions(), where);
  }

  // Calls gradient() with GradientOptions{.unconnected_gradients = unconnected}.
  template <typename Sources = detail::Sources>
  auto gradient(const detail::Targets &targets, const Sources &sources, UnconnectedGradients unconnected,
                SourceLocation where = SourceLocation::current()) {
    return gradient(targets, sources, GradientOptions{.unconnected_gradients = unconnected}, where);
  }

  // Returns the Jacobian, [target..., source...]: the derivative of each element of the target with respect to each
  // element of the source. It is computed in one pass. It is std::nullopt if no path leads from the source to the
  // target. Like gradient(), jacobian() uses up a tape that is not persistent. ShapeError for unknown sizes, DTypeError
  // for a source of integers.
  std::optional<Tensor> jacobian(const Tensor &target, const Tensor &source,
                                 SourceLocation where = SourceLocation::current());
  std::optional<Tensor> jacobian(const Tensor &target, const Variable &source,
                                 SourceLocation where = SourceLocation::current());
  template <typename Source>
  std::optional<Tensor> jacobian(const Tensor &, const Source &, SourceLocation = SourceLocation::current()) {
    static_assert(sizeof(Source) == 0, "jacobian() is with respect to one Tensor or Variable: call a persistent tape's "
                                       "once for each part of a structure");
    return {};
  }
  // Returns the Jacobians of the examples of a batch, [B, target..., source...]. Each example of the target [B, ...]
  // must depend only on the same example of the source [B, ...]. ShapeError if the two sizes B differ, DTypeError for a
  // source of integers.
  std::optional<Tensor> batch_jacobian(const Tensor &target, const Tensor &source,
                                       SourceLocation where = SourceLocation::current());
  std::optional<Tensor> batch_jacobian(const Tensor &target, const Variable &source,
                                       SourceLocation where = SourceLocation::current());

  // While the guard lives, the tape records nothing. Pause a persistent tape around its gradient(), so that the tape
  // does not record gradient() itself. StateError if the tape does not record.
  class CALQUE_API Pause {
  public:
    Pause(Pause &&other) noexcept = default;
    Pause &operator=(Pause &&) = delete;
    ~Pause();

  private:
    friend class GradientTape;
    explicit Pause(std::shared_ptr<detail::TapeState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::TapeState> state_; // the guard may live longer than the tape
  };
  [[nodiscard]] Pause stop_recording(SourceLocation where = SourceLocation::current());

  // Forgets the recorded operations and the watched tensors, and begins a new recording. StateError after gradient()
  // has ended the recording of a tape that is not persistent.
  void reset(SourceLocation where = SourceLocation::current());

  // The variables watched so far, in the order in which they were first watched.
  std::vector<Variable> watched_variables() const;

private:
  std::vector<std::optional<Tensor>> gradientOf(const std::vector<Tensor> &targets,
                                                const std::vector<detail::Source> &sources,
                                                const GradientOptions &options, SourceLocation where,
                                                const char *pullbackOf = nullptr);
  std::optional<Tensor> jacobianOf(const Tensor &target, const detail::Source &source, bool ofExamples,
                                   SourceLocation where);
  // Returns the values of the sources. Ends the recording of a tape that is not persistent.
  std::vector<std::vector<std::int32_t>> use(const std::vector<detail::Source> &sources, bool isPullback,
                                             SourceLocation where);
  friend class detail::PullbackTape;

  std::shared_ptr<detail::TapeState> state_;
};

} // namespace calque
#endif

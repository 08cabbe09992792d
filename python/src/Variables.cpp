// Variables, tapes and generators of random numbers.
#include "Support.h"
#include "Tensors.h"

#include <calque/gradient_tape.h>
#include <calque/random.h>
#include <calque/threads.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <mutex>
#include <thread>

namespace calque::python {

namespace {

PyTypeObject *variableType = nullptr; // the module owns it

// Assignments may wait for compiled code that has the variable: other threads go on meanwhile.
template <auto Method> nb::object assignTo(nb::handle self, nb::handle value) {
  const SourceLocation where = here();
  Variable variable = *variableIn(self.ptr());
  const std::optional<Operand> given = operandIn(value.ptr(), where);
  // Lists become tensors of the variable's type.
  const Operand x = given ? *given : Operand(tensorOf(value.ptr(), variable.dtype(where), false, where), where);
  withoutLock([&] { (variable.*Method)(x); });
  return nb::borrow(self);
}
template <auto Method> nb::object scatterInto(nb::handle self, nb::handle indices, nb::handle updates) {
  const SourceLocation where = here();
  const Operand at = operandOf(indices.ptr(), "indices", where), x = operandOf(updates.ptr(), "updates", where);
  Variable variable = *variableIn(self.ptr());
  withoutLock([&] { (variable.*Method)(at, x); });
  return nb::borrow(self);
}

// A C++ tape belongs to the thread that made it, and ends there. Python may drop the last reference on another thread,
// or after that thread has ended.
struct Recorded {
  explicit Recorded(const GradientTapeOptions &options, SourceLocation where) : tape(options, where) {}
  GradientTape tape;
  std::optional<GradientTape::Pause> pause = {}; // since the end of the `with` block
};
struct TapesOfThread {
  std::mutex mutex;
  std::vector<std::unique_ptr<Recorded> *> alive; // in objects of Python
  std::vector<std::unique_ptr<Recorded>> dropped; // by other threads
};
struct ThreadEnd {
  std::shared_ptr<TapesOfThread> tapes = std::make_shared<TapesOfThread>();
  ~ThreadEnd() {
    std::vector<std::unique_ptr<Recorded>> last;
    std::lock_guard guard(tapes->mutex);
    for (std::unique_ptr<Recorded> *each : tapes->alive)
      last.push_back(std::move(*each));
    tapes->alive.clear();
    tapes->dropped.clear();
  }
};
// The library's own state of the thread is made before, and so ends later.
std::shared_ptr<TapesOfThread> tapesOfThread() {
  thread_local ThreadEnd end;
  return end.tapes;
}

// A tape records from the beginning of its `with` block to its end.
class Tape {
public:
  Tape(bool persistent, bool watchVariables) : options_{persistent, watchVariables} {}
  Tape(const Tape &) = delete;
  Tape &operator=(const Tape &) = delete;
  ~Tape() {
    if (!home_)
      return;
    std::unique_ptr<Recorded> last;
    std::lock_guard guard(home_->mutex);
    std::erase(home_->alive, &recorded_);
    if (recorded_ && std::this_thread::get_id() != thread_)
      home_->dropped.push_back(std::move(recorded_));
    else
      last = std::move(recorded_);
  }
  void enter() {
    const SourceLocation where = here();
    if (home_)
      throw StateError("GradientTape: a tape has one `with` block; make another tape", where);
    recorded_ = std::make_unique<Recorded>(options_, where);
    home_ = tapesOfThread();
    thread_ = std::this_thread::get_id();
    std::vector<std::unique_ptr<Recorded>> dropped;
    std::lock_guard guard(home_->mutex);
    home_->alive.push_back(&recorded_);
    dropped.swap(home_->dropped);
  }
  void exit() {
    if (!recorded_ || recorded_->pause)
      return;
    try {
      recorded_->pause.emplace(recorded_->tape.stop_recording(here()));
    } catch (const StateError &) { // gradient() has ended the recording
    }
  }
  GradientTape &tape() {
    const SourceLocation where = here();
    if (!home_)
      throw StateError("GradientTape: a tape records within its `with` block: `with GradientTape() as tape:`", where);
    if (!recorded_)
      throw StateError("GradientTape: the thread whose operations the tape has recorded has ended", where);
    if (std::this_thread::get_id() != thread_)
      throw StateError("GradientTape: a tape belongs to the thread that entered its `with` block", where);
    return recorded_->tape;
  }

private:
  const GradientTapeOptions options_;
  std::shared_ptr<TapesOfThread> home_;
  std::thread::id thread_;
  std::unique_ptr<Recorded> recorded_;
};

// The sources in nested lists, tuples and dicts, in order; and the gradients in their places.
void collect(nb::handle x, std::vector<detail::Source> &sources, SourceLocation where) {
  if (const Tensor *tensor = tensorIn(x.ptr()))
    sources.emplace_back(*tensor);
  else if (const Variable *variable = variableIn(x.ptr()))
    sources.emplace_back(*variable);
  else if (PyList_Check(x.ptr()) || PyTuple_Check(x.ptr()))
    for (nb::handle each : nb::borrow<nb::object>(x))
      collect(each, sources, where);
  else if (PyDict_Check(x.ptr()))
    for (auto [key, value] : nb::borrow<nb::dict>(x))
      collect(value, sources, where);
  else
    throw DTypeError("gradient: the sources are tensors and variables, in lists, tuples and dicts, and not " +
                         typeName(x.ptr()),
                     where);
}
nb::object placed(nb::handle x, const std::vector<std::optional<Tensor>> &gradients, std::size_t &next) {
  if (tensorIn(x.ptr()) || variableIn(x.ptr())) {
    const std::optional<Tensor> &gradient = gradients[next++];
    return gradient ? wrapped(*gradient) : nb::none();
  }
  if (PyDict_Check(x.ptr())) {
    nb::dict made;
    for (auto [key, value] : nb::borrow<nb::dict>(x))
      made[key] = placed(value, gradients, next);
    return made;
  }
  nb::list made;
  for (nb::handle each : nb::borrow<nb::object>(x))
    made.append(placed(each, gradients, next));
  if (PyTuple_Check(x.ptr()))
    return nb::tuple(made);
  return made;
}

std::vector<Tensor> tensorsOf(nb::handle x, const char *parameter, SourceLocation where) {
  std::vector<Tensor> list;
  if (x.is_none())
    return list;
  if (PyList_Check(x.ptr()) || PyTuple_Check(x.ptr()))
    for (nb::handle each : nb::borrow<nb::object>(x))
      list.push_back(operandOf(each.ptr(), parameter, where).toTensor());
  else
    list.push_back(operandOf(x.ptr(), parameter, where).toTensor());
  return list;
}

nb::object gradientOf(Tape &self, nb::handle target, nb::handle sources, nb::handle seeds, bool zeros) {
  const SourceLocation where = here();
  std::vector<detail::Source> flat;
  collect(sources, flat, where);
  const std::vector<Tensor> targets = tensorsOf(target, "target", where);
  GradientOptions options{tensorsOf(seeds, "output_gradients", where),
                          zeros ? UnconnectedGradients::Zero : UnconnectedGradients::None};
  GradientTape &tape = self.tape();
  // One source of each kind at a time has a public form; a vector of pairs of both has the structure's.
  std::vector<std::pair<std::vector<Tensor>, std::vector<Variable>>> list;
  for (const detail::Source &source : flat)
    list.push_back(source.variable ? std::pair(std::vector<Tensor>(), std::vector<Variable>{*source.variable})
                                   : std::pair(std::vector<Tensor>{source.tensor}, std::vector<Variable>()));
  const detail::Targets all(targets);
  auto found = withoutLock([&] { return tape.gradient(all, list, options, where); });
  std::vector<std::optional<Tensor>> gradients;
  for (auto &[ofTensor, ofVariable] : found)
    gradients.push_back(ofTensor.empty() ? ofVariable[0] : ofTensor[0]);
  std::size_t next = 0;
  return placed(sources, gradients, next);
}

nb::object jacobianOf(Tape &self, nb::handle target, nb::handle source, bool ofExamples) {
  const SourceLocation where = here();
  const Tensor y = operandOf(target.ptr(), "target", where).toTensor();
  GradientTape &tape = self.tape();
  std::optional<Tensor> made;
  if (const Variable *variable = variableIn(source.ptr()))
    made = withoutLock(
        [&, x = *variable] { return ofExamples ? tape.batch_jacobian(y, x, where) : tape.jacobian(y, x, where); });
  else
    made = withoutLock([&, x = operandOf(source.ptr(), "source", where).toTensor()] {
      return ofExamples ? tape.batch_jacobian(y, x, where) : tape.jacobian(y, x, where);
    });
  return made ? wrapped(*made) : nb::none();
}

DType typeOr(nb::handle dtype, DType otherwise, SourceLocation where) {
  return dtype.is_none() ? otherwise : dtypeOf(dtype.ptr(), where);
}

} // namespace

const Variable *variableIn(PyObject *object) {
  if (Py_TYPE(object) == variableType || PyType_IsSubtype(Py_TYPE(object), variableType))
    return nb::inst_ptr<Variable>(nb::handle(object));
  return nullptr;
}

void bindVariables(nb::module_ &m) {
  nb::class_<Variable> variable(
      m, "Variable", nb::type_slots(variableSlots()), nb::is_weak_referenceable(),
      "A tensor that can be assigned other values of its type. Objects may share a variable.");
  variableType = reinterpret_cast<PyTypeObject *>(variable.ptr());
  variable
      .def(
          "__init__",
          [](Variable *self, nb::handle initial, const std::string &name, bool trainable) {
            const SourceLocation where = here();
            std::optional<Operand> x = operandIn(initial.ptr(), where);
            const Tensor value = x ? x->toTensor() : tensorOf(initial.ptr(), std::nullopt, false, where);
            new (self) Variable(Operand(value, where), {.name = name, .trainable = trainable});
          },
          nb::arg("initial"), nb::kw_only(), nb::arg("name") = "Variable", nb::arg("trainable") = true,
          nb::sig("def __init__(self, initial: ArrayLike, *, name: str = 'Variable', trainable: bool = True) -> None"))
      .def(
          "value", [](const Variable &self) { return wrapped(self.value(here())); },
          nb::sig("def value(self) -> Tensor"), "The value at this point of the program.")
      .def_prop_ro("name", [](const Variable &self) { return self.name(here()); })
      .def_prop_ro("trainable", [](const Variable &self) { return self.trainable(here()); })
      .def_prop_ro(
          "shape", [](const Variable &self) { return tupleOf(self.shape(here())); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dtype", [](const Variable &self) { return dtypeObject(self.dtype(here())); },
          nb::sig("def dtype(self) -> DType"))
      .def_prop_ro("ndim", [](const Variable &self) { return self.rank(here()); })
      .def_prop_ro("size", [](const Variable &self) { return self.size(here()); })
      .def(
          "same_as", [](const Variable &self, const Variable &other) { return self.same_as(other); }, nb::arg("other"),
          "Whether both objects are the same variable.")
      .def("assign", &assignTo<&Variable::assign>, nb::arg("value"),
           nb::sig("def assign(self, value: TensorLike) -> Variable"))
      .def("assign_add", &assignTo<&Variable::assign_add>, nb::arg("value"),
           nb::sig("def assign_add(self, value: TensorLike) -> Variable"))
      .def("assign_sub", &assignTo<&Variable::assign_sub>, nb::arg("value"),
           nb::sig("def assign_sub(self, value: TensorLike) -> Variable"))
      .def("__dlpack__", [](const Variable &self,
                            nb::kwargs options) { return wrapped(self.value(here())).attr("__dlpack__")(**options); })
      .def("__dlpack_device__", [](const Variable &) { return nb::make_tuple(1, 0); })
      .def("__repr__", [](const Variable &self) { return self.repr(); });
  auto scatter = [&](const char *name, auto f) {
    variable.def(
        name, f, nb::arg("indices"), nb::arg("updates"),
        nb::sig((std::string("def ") + name + "(self, indices: TensorLike, updates: TensorLike) -> Variable").c_str()));
  };
  scatter("scatter_update", &scatterInto<&Variable::scatter_update>);
  scatter("scatter_add", &scatterInto<&Variable::scatter_add>);
  scatter("scatter_sub", &scatterInto<&Variable::scatter_sub>);
  scatter("scatter_max", &scatterInto<&Variable::scatter_max>);
  scatter("scatter_min", &scatterInto<&Variable::scatter_min>);
  variable.attr("__array_ufunc__") = nb::none();

  nb::class_<Tape>(m, "GradientTape",
                   "Records what its `with` block computes from the tensors and variables that it watches. The thread "
                   "that enters the block is the one whose operations are recorded.")
      .def(nb::init<bool, bool>(), nb::kw_only(), nb::arg("persistent") = false,
           nb::arg("watch_accessed_variables") = true)
      .def(
          "__enter__",
          [](nb::handle self) {
            nb::cast<Tape &>(self).enter();
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> GradientTape"))
      .def(
          "__exit__", [](Tape &self, nb::args) { self.exit(); }, nb::sig("def __exit__(self, *args: object) -> None"))
      .def(
          "watch",
          [](Tape &self, nb::handle x) {
            const SourceLocation where = here();
            std::vector<detail::Source> sources;
            collect(x, sources, where);
            for (const detail::Source &source : sources)
              source.variable ? self.tape().watch(*source.variable, where) : self.tape().watch(source.tensor, where);
          },
          nb::arg("x"), nb::sig("def watch(self, x: Any) -> None"),
          "From here on, what is computed from x has derivatives. Trainable variables are watched when they are read.")
      .def("gradient", &gradientOf, nb::arg("target"), nb::arg("sources"), nb::kw_only(),
           nb::arg("output_gradients") = nb::none(), nb::arg("unconnected_zeros") = false,
           nb::sig("def gradient(self, target: Any, sources: Any, *, output_gradients: Any = None, "
                   "unconnected_zeros: bool = False) -> Any"),
           "The derivatives of the sum of the target's elements with respect to the sources, in their structure. None, "
           "or "
           "zeros, for a source from which no path leads to the target.")
      .def(
          "jacobian", [](Tape &self, nb::handle y, nb::handle x) { return jacobianOf(self, y, x, false); },
          nb::arg("target"), nb::arg("source"),
          nb::sig("def jacobian(self, target: Tensor, source: Any) -> Tensor | None"),
          "The derivative of each element of the target with respect to each of the source.")
      .def(
          "batch_jacobian", [](Tape &self, nb::handle y, nb::handle x) { return jacobianOf(self, y, x, true); },
          nb::arg("target"), nb::arg("source"),
          nb::sig("def batch_jacobian(self, target: Tensor, source: Any) -> Tensor | None"),
          "The Jacobians of the examples of a batch.")
      .def(
          "watched_variables",
          [](Tape &self) {
            nb::list list;
            for (const Variable &each : self.tape().watched_variables())
              list.append(each);
            return list;
          },
          nb::sig("def watched_variables(self) -> list[Variable]"));

  m.def("set_num_threads", &set_num_threads, nb::arg("count"),
        "The largest number of threads of a loop of compiled code; below 1 the default.");
  m.def("num_threads", &num_threads);

  using random::Generator;
  nb::object module = nb::getattr(m, "random", nb::none());
  auto shape = [](nb::handle x, SourceLocation where) { return shapeOf(x.ptr(), where); };
  nb::class_<Generator>(module, "Generator",
                        "A stream of random numbers: a key, and a counter that grows with each draw.")
      .def(
          "__init__", [](Generator *self, std::int64_t seed) { new (self) Generator(seed, here()); }, nb::arg("seed"))
      .def(
          "uniform",
          [shape](Generator &self, nb::handle s, double low, double high, nb::handle dtype) {
            const SourceLocation where = here();
            return wrapped(self.uniform(shape(s, where), {low, high, typeOr(dtype, default_dtype(), where)}, where));
          },
          nb::arg("shape"), nb::kw_only(), nb::arg("minval") = 0.0, nb::arg("maxval") = 1.0,
          nb::arg("dtype") = nb::none(),
          nb::sig("def uniform(self, shape: ShapeLike, *, minval: float = 0, maxval: float = 1, dtype: DTypeLike | "
                  "None = None) -> Tensor"))
      .def(
          "normal",
          [shape](Generator &self, nb::handle s, double mean, double stddev, nb::handle dtype) {
            const SourceLocation where = here();
            return wrapped(self.normal(shape(s, where), {mean, stddev, typeOr(dtype, default_dtype(), where)}, where));
          },
          nb::arg("shape"), nb::kw_only(), nb::arg("mean") = 0.0, nb::arg("stddev") = 1.0,
          nb::arg("dtype") = nb::none(),
          nb::sig("def normal(self, shape: ShapeLike, *, mean: float = 0, stddev: float = 1, dtype: DTypeLike | None = "
                  "None) -> Tensor"))
      .def(
          "bernoulli",
          [shape](Generator &self, nb::handle s, double probability) {
            const SourceLocation where = here();
            return wrapped(self.bernoulli(shape(s, where), probability, where));
          },
          nb::arg("shape"), nb::arg("probability") = 0.5,
          nb::sig("def bernoulli(self, shape: ShapeLike, probability: float = 0.5) -> Tensor"))
      .def(
          "randint",
          [shape](Generator &self, nb::handle s, std::int64_t low, std::optional<std::int64_t> high, nb::handle dtype) {
            const SourceLocation where = here();
            return wrapped(self.randint(shape(s, where), low, high, {typeOr(dtype, DType::Int32, where)}, where));
          },
          nb::arg("shape"), nb::arg("minval"), nb::arg("maxval") = nb::none(), nb::kw_only(),
          nb::arg("dtype") = nb::none(),
          nb::sig("def randint(self, shape: ShapeLike, minval: int, maxval: int | None = None, *, dtype: DTypeLike | "
                  "None = None) -> Tensor"))
      .def(
          "permutation", [](Generator &self, std::int64_t n) { return wrapped(self.permutation(n, here())); },
          nb::arg("n"), nb::sig("def permutation(self, n: int) -> Tensor"))
      .def(
          "shuffle",
          [](Generator &self, nb::handle x, std::int64_t axis) {
            return wrapped(self.shuffle(operandOf(x.ptr(), "x", here()), axis));
          },
          nb::arg("x"), nb::arg("axis") = 0, nb::sig("def shuffle(self, x: TensorLike, axis: int = 0) -> Tensor"))
      .def(
          "reset", [](Generator &self, std::int64_t seed) { self.reset(seed, here()); }, nb::arg("seed"))
      .def("state", [](const Generator &self) { return Variable(self.state()); }, "Key and counter, int64[2].");
}

} // namespace calque::python

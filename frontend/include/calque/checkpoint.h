// Checkpoints: the values of variables and of everything else that a program goes on with, in a file.
//
//   Variable x(2.0);
//   Checkpoint checkpoint{{"x", x}};
//   std::string path = checkpoint.save("./ckpt/"); // "./ckpt/-1": the file ./ckpt/-1.safetensors
//   x.assign(11.0);
//   checkpoint.restore(path);                      // x is 2
//
//   Checkpoint all{{"model", model}, {"optimizer", adam}, {"data", iterator}, {"epoch", epoch}};
//   CheckpointManager manager(all, "./ckpt", {.max_to_keep = 3});
//   manager.restore_or_initialize();
//   for (; epoch < 10; manager.save())
//     epoch = train(model, adam, iterator, epoch);
//
// A restore finds each value by its path among the parts: "model/dense/kernel". Objects that are made later, such as
// the variables of a layer at its first call and the slots of an optimiser, get their values when they are made.
// docs/saving.md is the guide, and has the file byte by byte.
#ifndef CALQUE_CHECKPOINT_H
#define CALQUE_CHECKPOINT_H

#include "calque/random.h"
#include "calque/trackable.h"

#include <initializer_list>
#include <optional>

namespace calque {

namespace detail {
struct CheckpointState;
}

namespace detail {
template <typename H>
concept HasBody = requires(const H &handle) {
  { handle.body() } -> std::convertible_to<std::shared_ptr<Trackable>>;
};
template <typename T>
concept HasPosition = requires(T &iterator, const std::string &text, SourceLocation where) {
  { iterator.get_state(where) } -> std::convertible_to<std::string>;
  iterator.set_state(text, where);
};
// What has a constructor of CheckpointPart, as it is given: T is an lvalue reference for what has a name.
template <typename T, typename Value = std::remove_cvref_t<T>>
concept Checkpointed =
    std::is_convertible_v<T, const Variable &> || std::is_convertible_v<T, std::vector<Variable>> ||
    std::is_convertible_v<T, const random::Generator &> || std::is_convertible_v<T, Trackable &> ||
    std::is_convertible_v<T, std::shared_ptr<Trackable>> || std::is_convertible_v<T, Tensor &> ||
    std::is_convertible_v<T, std::string &> || HasBody<Value> || HasPosition<Value> ||
    (std::is_arithmetic_v<Value> && std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>);
template <typename T> struct IsListOfBodies : std::false_type {};
template <HasBody H> struct IsListOfBodies<std::vector<H>> : std::true_type {};
template <typename T>
inline constexpr bool isTemporaryNumber = std::is_arithmetic_v<std::remove_cvref_t<T>> && !Checkpointed<T>;
} // namespace detail

// A part of a checkpoint. Variables, generators and other handles are kept as copies; numbers, texts, tensors,
// iterators and objects by reference, so that they must live as long as the checkpoint.
class CALQUE_API CheckpointPart {
public:
  CheckpointPart(const Variable &variable);
  CheckpointPart(std::vector<Variable> variables); // "0", "1" and so on
  CheckpointPart(const random::Generator &generator);
  CheckpointPart(Trackable &object) : object_(&object) {}
  CheckpointPart(std::shared_ptr<Trackable> object) : owner_(std::move(object)), object_(owner_.get()) {}
  // A layer, a model, an optimiser, a metric.
  template <detail::HasBody H>
  CheckpointPart(const H &handle) : CheckpointPart(std::shared_ptr<Trackable>(handle.body())) {}
  // Several: "0", "1" and so on.
  template <detail::HasBody H> CheckpointPart(const std::vector<H> &handles) {
    std::vector<std::shared_ptr<Trackable>> objects;
    for (const H &each : handles)
      objects.push_back(each.body());
    keep(std::move(objects));
  }
  CheckpointPart(Tensor &x);
  CheckpointPart(std::string &text);
  template <typename T>
    requires(std::is_arithmetic_v<T> && !std::is_const_v<T>)
  CheckpointPart(T &number)
      : visit_([&number](CheckpointVisitor &visitor, const std::string &name) { visitor.value(name, number); }) {}
  // An iterator of a data set: where it stands.
  template <detail::HasPosition T>
  CheckpointPart(T &iterator)
      : visit_([&iterator](CheckpointVisitor &visitor, const std::string &name) {
          visitor.text(
              name, [&iterator] { return iterator.get_state(SourceLocation()); },
              [&iterator](const std::string &text) { iterator.set_state(text, SourceLocation()); });
        }) {}
  // Anything else, so that the compiler says it in a line.
  template <typename T>
    requires(!detail::Checkpointed<T> && !detail::IsListOfBodies<std::remove_cvref_t<T>>::value &&
             !std::is_same_v<std::remove_cvref_t<T>, CheckpointPart>)
  CheckpointPart(T &&) {
    static_assert(!detail::isTemporaryNumber<T>,
                  "a checkpoint keeps a number by reference: give it a variable of C++ that is not const, such as "
                  "int step");
    static_assert(
        detail::isTemporaryNumber<T>,
        "a part of a checkpoint is a Variable, a Tensor, a number or a std::string with a name, a Generator, a "
        "layer, model, optimizer or metric, a std::vector of these or of Variables, an iterator of a data set, "
        "or a Trackable: this type is none of them. A history of numbers may be a Tensor; a class of your own "
        "derives from Trackable");
  }

private:
  void keep(std::vector<std::shared_ptr<Trackable>> objects);
  friend class Checkpoint;
  friend struct detail::CheckpointState;
  std::shared_ptr<Trackable> owner_;
  Trackable *object_ = nullptr; // or
  std::function<void(CheckpointVisitor &, const std::string &name)> visit_;
};

// What a restore has done. Copies are about the same one.
class CALQUE_API RestoreStatus {
public:
  // AssertionError unless everything in the file was restored, and every value that the parts have now was in the file.
  const RestoreStatus &assert_consumed(SourceLocation where = SourceLocation::current()) const;
  // AssertionError unless every value that the parts have now was in the file.
  const RestoreStatus &assert_existing_objects_matched(SourceLocation where = SourceLocation::current()) const;
  // Says that values may stay unrestored, so that no warning is printed.
  const RestoreStatus &expect_partial() const;
  // unused: the paths in the file that nothing has taken so far. missing: the paths of present values that the file
  // lacked.
  std::vector<std::string> unused() const;
  std::vector<std::string> missing() const;

private:
  friend class Checkpoint;
  RestoreStatus(std::shared_ptr<detail::Restoration> of, std::shared_ptr<detail::CheckpointState> parts)
      : of_(std::move(of)), parts_(std::move(parts)) {}
  std::shared_ptr<detail::Restoration> of_; // none where there was no file
  std::shared_ptr<detail::CheckpointState> parts_;
};

struct CheckpointOptions {
  // Writes on a thread beside the program. The values are those at the call. An error is thrown by the next save or
  // wait().
  bool enable_async = false;
};

// A shared handle: copies have the same parts. One is used by one thread at a time.
class CALQUE_API Checkpoint {
public:
  struct Entry {
    std::string name;
    CheckpointPart part;
    SourceLocation where;
    Entry(std::string called, CheckpointPart of, SourceLocation line = SourceLocation::current())
        : name(std::move(called)), part(std::move(of)), where(line) {}
  };
  // ValueError for a name that is empty, has a '/', begins with "calque." or is given twice; StateError for an empty
  // handle.
  Checkpoint(std::initializer_list<Entry> parts) : Checkpoint(std::vector<Entry>(parts)) {}
  explicit Checkpoint(std::vector<Entry> parts);
  // An object whose parts are those of the checkpoint: the paths begin with their names.
  explicit Checkpoint(Trackable &root, SourceLocation where = SourceLocation::current());
  template <typename H>
    requires requires(const H &handle) {
      { handle.body() } -> std::convertible_to<std::shared_ptr<Trackable>>;
    }
  explicit Checkpoint(const H &root, SourceLocation where = SourceLocation::current())
      : Checkpoint(std::vector<Entry>{Entry(std::string(), CheckpointPart(root), where)}) {}

  // Saves to <prefix>-<number>.safetensors, and gives the path without the ending, which restore() takes. Numbers go
  // on from those that the directory has, and from that of the checkpoint that was restored. Directories are made. The
  // file appears whole or not at all. DataError for one that can't be written; StateError in a trace.
  std::string save(const std::string &prefix, CheckpointOptions options = {},
                   SourceLocation where = SourceLocation::current()) const;
  // The same without a number, in place of what was there: <path>.safetensors.
  std::string write(const std::string &path, CheckpointOptions options = {},
                    SourceLocation where = SourceLocation::current()) const;
  // Waits for what is written beside the program, and throws its error.
  void wait(SourceLocation where = SourceLocation::current()) const;

  // Restores all or nothing from the path that save() or write() gave, with or without its ending. Values that the file
  // lacks stay as they are; values of objects that are made later wait for these objects. DataError for a file that is
  // missing, damaged, cut or no checkpoint; ShapeError and DTypeError for a variable of another type; StateError in a
  // trace. No path restores nothing: `restore(latest_checkpoint(directory))`.
  RestoreStatus restore(const std::optional<std::string> &path, SourceLocation where = SourceLocation::current()) const;
  // The same, but for the number, which save() goes on from.
  RestoreStatus read(const std::optional<std::string> &path, SourceLocation where = SourceLocation::current()) const;

private:
  friend class CheckpointManager;
  std::shared_ptr<detail::CheckpointState> state;
};

// The path, without its ending, of the checkpoint with the highest number in a directory; of those that are called
// <name>-<number>, where a name is given. None where there is none.
CALQUE_API std::optional<std::string> latest_checkpoint(const std::string &directory,
                                                        const std::optional<std::string> &name = std::nullopt);

struct CheckpointManagerOptions {
  std::optional<std::int64_t> max_to_keep = std::nullopt; // how many there are at most; none: all are kept
  std::string checkpoint_name = "ckpt";
  // Keeps one of the checkpoints that would be removed for every so many hours.
  std::optional<double> keep_checkpoint_every_n_hours = std::nullopt;
  // With both, save() saves only where the counter is at least so much more than at the last save.
  std::optional<Variable> step_counter = std::nullopt;
  std::optional<std::int64_t> checkpoint_interval = std::nullopt;
  // What restore_or_initialize() calls where there is nothing to restore.
  std::function<void()> init_fn = {};
};

// Saves into a directory, and removes old checkpoints there when a new one is whole. The manager knows checkpoints by
// the files in the directory alone, so nobody else should save there under the same name.
class CALQUE_API CheckpointManager {
public:
  // Makes the directory where it is missing, and removes what ended processes have left half written. ValueError for
  // options out of range.
  CheckpointManager(Checkpoint checkpoint, std::string directory, CheckpointManagerOptions options = {},
                    SourceLocation where = SourceLocation::current());

  // Gives the path, or none where the interval is not over. ValueError for a number that is not above those there are.
  std::optional<std::string> save(std::optional<std::int64_t> checkpoint_number = std::nullopt,
                                  CheckpointOptions options = {}, SourceLocation where = SourceLocation::current());
  // The paths of those that are kept for now, the oldest first, and the last of them.
  std::vector<std::string> checkpoints() const;
  std::optional<std::string> latest_checkpoint() const;
  // Restores the latest and gives its path; without one calls init_fn and gives none. Errors as of restore().
  std::optional<std::string> restore_or_initialize(SourceLocation where = SourceLocation::current());

  const std::string &directory() const { return directory_; }
  const Checkpoint &checkpoint() const { return checkpoint_; }

private:
  struct Kept;
  Checkpoint checkpoint_;
  std::string directory_;
  CheckpointManagerOptions options_;
  std::shared_ptr<Kept> kept; // also of the thread that writes
  std::optional<std::int64_t> lastStep;
};

} // namespace calque
#endif

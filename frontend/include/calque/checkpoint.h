// Checkpoints: files with the values of variables and with the other state that a program needs in order to continue.
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
// A restore finds each value by its path among the parts: "model/dense/kernel". Some parts are made after the restore,
// such as the variables of a layer at its first call and the slots of an optimiser. They get their values when they are
// made. docs/saving.md is the guide, and describes the file byte by byte.
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
// Types for which CheckpointPart has a constructor. T is an lvalue reference if the argument is an lvalue.
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

// A part of a checkpoint. The part keeps a copy of a handle, such as a variable or a generator. It keeps a reference to
// a number, text, tensor, iterator or object, which must live as long as the checkpoint.
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
  // Several of these, with the names "0", "1" and so on.
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
  // The position of an iterator of a data set.
  template <detail::HasPosition T>
  CheckpointPart(T &iterator)
      : visit_([&iterator](CheckpointVisitor &visitor, const std::string &name) {
          visitor.text(
              name, [&iterator] { return iterator.get_state(SourceLocation()); },
              [&iterator](const std::string &text) { iterator.set_state(text, SourceLocation()); });
        }) {}
  // Any other type, so that the compiler's error is one line.
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

// The outcome of a restore. Copies refer to the same restore.
class CALQUE_API RestoreStatus {
public:
  // AssertionError unless all values in the file were restored, and all present values of the parts were in the file.
  const RestoreStatus &assert_consumed(SourceLocation where = SourceLocation::current()) const;
  // AssertionError unless all present values of the parts were in the file.
  const RestoreStatus &assert_existing_objects_matched(SourceLocation where = SourceLocation::current()) const;
  // Allows values in the file to stay unrestored, so that no warning is printed.
  const RestoreStatus &expect_partial() const;
  // unused() returns the paths in the file whose values were not restored so far. missing() returns the paths of
  // present values that the file lacked.
  std::vector<std::string> unused() const;
  std::vector<std::string> missing() const;

private:
  friend class Checkpoint;
  RestoreStatus(std::shared_ptr<detail::Restoration> of, std::shared_ptr<detail::CheckpointState> parts)
      : of_(std::move(of)), parts_(std::move(parts)) {}
  std::shared_ptr<detail::Restoration> of_; // null if there was no file
  std::shared_ptr<detail::CheckpointState> parts_;
};

struct CheckpointOptions {
  // Writes the file on another thread. The file gets the values at the time of the call. An error is thrown by the next
  // save or wait().
  bool enable_async = false;
};

// A shared handle: copies have the same parts. Only one thread at a time may use a checkpoint.
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
  // The parts of the object are the parts of the checkpoint: paths begin with the names of these parts.
  explicit Checkpoint(Trackable &root, SourceLocation where = SourceLocation::current());
  template <typename H>
    requires requires(const H &handle) {
      { handle.body() } -> std::convertible_to<std::shared_ptr<Trackable>>;
    }
  explicit Checkpoint(const H &root, SourceLocation where = SourceLocation::current())
      : Checkpoint(std::vector<Entry>{Entry(std::string(), CheckpointPart(root), where)}) {}

  // Saves to <prefix>-<number>.safetensors. Returns the path without the ending, which restore() takes. The number is
  // higher than those in the directory, and than that of the checkpoint that was restored. Missing directories are
  // made. The file is written whole or not at all. DataError if it can't be written; StateError in a trace.
  std::string save(const std::string &prefix, CheckpointOptions options = {},
                   SourceLocation where = SourceLocation::current()) const;
  // Saves to <path>.safetensors, without a number, and replaces an existing file.
  std::string write(const std::string &path, CheckpointOptions options = {},
                    SourceLocation where = SourceLocation::current()) const;
  // Waits for a file that another thread writes, and throws the error of that write.
  void wait(SourceLocation where = SourceLocation::current()) const;

  // Restores from the path that save() or write() returned, with or without its ending. Values that the file lacks do
  // not change. Values of objects that are made later wait for these objects. If restore throws, nothing has changed.
  // DataError for a file that is missing, damaged, cut or no checkpoint. ShapeError and DTypeError for a variable of
  // another type. StateError in a trace. std::nullopt restores nothing, so that `restore(latest_checkpoint(directory))`
  // works in an empty directory.
  RestoreStatus restore(const std::optional<std::string> &path, SourceLocation where = SourceLocation::current()) const;
  // Restores as restore() does, but does not change the number with which save() continues.
  RestoreStatus read(const std::optional<std::string> &path, SourceLocation where = SourceLocation::current()) const;

private:
  friend class CheckpointManager;
  std::shared_ptr<detail::CheckpointState> state;
};

// Returns the path, without its ending, of the checkpoint with the highest number in a directory. If a name is given,
// only files <name>-<number> count. std::nullopt if there is no checkpoint.
CALQUE_API std::optional<std::string> latest_checkpoint(const std::string &directory,
                                                        const std::optional<std::string> &name = std::nullopt);

struct CheckpointManagerOptions {
  std::optional<std::int64_t> max_to_keep = std::nullopt; // the largest number of checkpoints; none: all are kept
  std::string checkpoint_name = "ckpt";
  // Of the checkpoints that would be removed, one is kept for every period of this many hours.
  std::optional<double> keep_checkpoint_every_n_hours = std::nullopt;
  // If both are set, save() saves only if the counter has grown by at least checkpoint_interval since the last save.
  std::optional<Variable> step_counter = std::nullopt;
  std::optional<std::int64_t> checkpoint_interval = std::nullopt;
  // restore_or_initialize() calls this function if there is no checkpoint to restore.
  std::function<void()> init_fn = {};
};

// Saves checkpoints into a directory, and removes old ones after a new one is complete. The manager finds checkpoints
// by the files in the directory, so no other program should save there under the same name.
class CALQUE_API CheckpointManager {
public:
  // Makes the directory if it is missing, and removes unfinished files of processes that have ended. ValueError for
  // options out of range.
  CheckpointManager(Checkpoint checkpoint, std::string directory, CheckpointManagerOptions options = {},
                    SourceLocation where = SourceLocation::current());

  // Saves, and returns the path; std::nullopt if the interval is not over. ValueError for a number that is not higher
  // than all existing ones.
  std::optional<std::string> save(std::optional<std::int64_t> checkpoint_number = std::nullopt,
                                  CheckpointOptions options = {}, SourceLocation where = SourceLocation::current());
  // The paths of the checkpoints that are kept now, the oldest first; and the path of the latest one.
  std::vector<std::string> checkpoints() const;
  std::optional<std::string> latest_checkpoint() const;
  // Restores the latest checkpoint and returns its path. If there is none, calls init_fn and returns std::nullopt.
  // Errors are those of restore().
  std::optional<std::string> restore_or_initialize(SourceLocation where = SourceLocation::current());

  const std::string &directory() const { return directory_; }
  const Checkpoint &checkpoint() const { return checkpoint_; }

private:
  struct Kept;
  Checkpoint checkpoint_;
  std::string directory_;
  CheckpointManagerOptions options_;
  std::shared_ptr<Kept> kept; // shared with the thread that writes
  std::optional<std::int64_t> lastStep;
};

} // namespace calque
#endif

// The interface of objects in checkpoints. An object names its parts by one function, which serves saving and
// restoring.
//
//   struct Progress : Trackable {
//     int epoch = 0;
//     Tensor best = zeros({});
//     void checkpoint_parts(CheckpointVisitor &visitor) override {
//       visitor.value("epoch", epoch);
//       visitor.tensor("best", best);
//     }
//   };
//
// Modules are Trackable, and therefore layers, models, optimisers and metrics are: see checkpoint.h.
#ifndef CALQUE_TRACKABLE_H
#define CALQUE_TRACKABLE_H

#include "calque/variable.h"

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace calque {

class CheckpointVisitor;
class Trackable;
namespace detail {
class Restoration;
struct CheckpointItems;
// A checkpoint with values that wait for parts which an object makes later, and the object's path in the checkpoint.
struct Awaited {
  std::shared_ptr<Restoration> from;
  std::string path;
};
// What a checkpoint has as a number: all arithmetic types but characters of more than a byte.
template <typename T>
concept SavedNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> &&
                      !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t> && !std::is_const_v<T>;
} // namespace detail

class CALQUE_API Trackable {
public:
  Trackable() = default;
  virtual ~Trackable();

  // Passes the parts to the visitor, each with a name, such as "kernel" or "block".
  virtual void checkpoint_parts(CheckpointVisitor &visitor) = 0;

protected:
  // For an object that makes parts later, such as a layer at its first call, and has called visitor.later(*this).
  // Assigns the values of restored checkpoints to the named parts. DTypeError or ShapeError for a variable of another
  // type; no part has changed then.
  void restore_made(const std::function<void(CheckpointVisitor &)> &parts);
  // Call it for parts that are removed again, as when a layer can't be built. Their values then wait for the next parts
  // with these names.
  void unmake(const std::function<void(CheckpointVisitor &)> &parts);

private:
  friend class detail::Restoration;
  std::vector<detail::Awaited> awaited_; // the latest restore first
};

// Gets the names and parts of an object, to save or to restore the parts. A name is not empty and has no '/'. The parts
// of one object have different names.
class CALQUE_API CheckpointVisitor {
public:
  // A variable that belongs to several parts is saved once, with the first of them.
  void variable(const std::string &name, const Variable &variable);
  // A slot: a value that an optimiser keeps for a variable. The name of the slot contains the variable's path in the
  // checkpoint, "momentum/model/kernel", or the variable's own name if the checkpoint lacks the variable.
  void slot(const std::string &kind, const Variable &of, const Variable &slot);
  // A tensor of any type. Restoring assigns to `x`. An empty Tensor is not saved.
  void tensor(const std::string &name, Tensor &x);
  // A number, a bool or a text.
  template <detail::SavedNumber T> void value(const std::string &name, T &x); // the library has it for each of them
  void value(const std::string &name, std::string &x);
  // A value that is saved as a text, such as JSON in UTF-8, and restored from the text. If `restore` throws, the
  // exception passes to the caller of Checkpoint::restore(), and nothing has changed.
  void text(const std::string &name, std::function<std::string()> save,
            std::function<void(const std::string &)> restore);
  // An object. An object that belongs to several parts is visited once, with the first of them.
  void part(const std::string &name, Trackable &part);
  // Says that the object will make parts later. It passes these parts to restore_made().
  void later(Trackable &object);

private:
  friend class Trackable;
  friend class detail::Restoration;
  friend struct detail::CheckpointItems;
  CheckpointVisitor(detail::CheckpointItems &items, std::string path) : items_(items), path_(std::move(path)) {}
  std::string pathOf(const std::string &name) const;

  detail::CheckpointItems &items_;
  std::string path_;
};

} // namespace calque
#endif

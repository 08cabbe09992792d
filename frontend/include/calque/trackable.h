// The interface of objects in checkpoints: an object names its parts, for saving and for restoring alike.
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
// Modules, and so layers, models, optimisers and metrics, are Trackable: see checkpoint.h.
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

  // Names the parts. Names have no meaning but for their order: "kernel", "block".
  virtual void checkpoint_parts(CheckpointVisitor &visitor) = 0;

protected:
  // For an object that makes parts later, such as a layer at its first call, and that has called visitor.later(*this):
  // gives the named parts their values from restored checkpoints. DTypeError and ShapeError for a variable of another
  // type; then all parts are as they were.
  void restore_made(const std::function<void(CheckpointVisitor &)> &parts);
  // For parts that are removed again, as when a layer can't be built: their values wait once more.
  void unmake(const std::function<void(CheckpointVisitor &)> &parts);

private:
  friend class detail::Restoration;
  std::vector<detail::Awaited> awaited_; // those that were restored last first
};

// Takes the names and parts of an object, to save or to restore them. Names are not empty, have no '/', and are
// different for the parts of one object.
class CALQUE_API CheckpointVisitor {
public:
  // A variable that an earlier part has too is saved once, with that part.
  void variable(const std::string &name, const Variable &variable);
  // A slot: a value that an optimiser keeps for a variable. Its name has the variable's path in the checkpoint,
  // "momentum/model/kernel", or the variable's own name if the checkpoint lacks the variable.
  void slot(const std::string &kind, const Variable &of, const Variable &slot);
  // A tensor of any type, which is assigned when it is restored. An empty one is not saved.
  void tensor(const std::string &name, Tensor &x);
  // A number, a bool or a text.
  template <detail::SavedNumber T> void value(const std::string &name, T &x); // the library has it for each of them
  void value(const std::string &name, std::string &x);
  // A value that is saved as a text, such as JSON in UTF-8, and restored from it. An exception of `restore` passes to
  // the caller of restore(), and everything is as it was.
  void text(const std::string &name, std::function<std::string()> save,
            std::function<void(const std::string &)> restore);
  // An object. It is visited once, with the first part that has it.
  void part(const std::string &name, Trackable &part);
  // Says that the object makes parts later, which it gives to restore_made().
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

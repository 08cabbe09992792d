// The parts of a checkpoint, and the values of a file while they wait to be restored.
#ifndef CALQUE_FRONTEND_SAVING_RESTORATION_H
#define CALQUE_FRONTEND_SAVING_RESTORATION_H

#include "calque/checkpoint.h"
#include "frontend/saving/TensorFile.h"
#include "schema/HashTables.h"

#include <mutex>
#include <set>

namespace calque::detail {

// The items that a visit of the parts has named, in order.
struct CheckpointItems {
  struct OfVariable {
    std::string path; // below the root
    std::shared_ptr<VariableState> state;
  };
  struct OfSlot {
    std::string path, kind; // the optimiser's path, and the kind of the slot
    std::shared_ptr<VariableState> of, state;
  };
  struct OfTensor {
    std::string path;
    Tensor *tensor;
  };
  struct OfText {
    std::string path;
    std::function<std::string()> save;
    std::function<void(const std::string &)> restore;
  };
  std::vector<OfVariable> variables;
  std::vector<OfSlot> slots;
  std::vector<OfTensor> tensors;
  std::vector<OfText> texts;
  std::vector<std::pair<Trackable *, std::string>> later; // objects that make parts later, and their paths
  HashSet<const void *> seen;
  std::size_t depth = 0; // of the object that is visited

  // Visits parts below a path.
  static CheckpointItems of(const std::string &path, const std::function<void(CheckpointVisitor &)> &parts);
};

// A file's values, until something takes them.
class Restoration : public std::enable_shared_from_this<Restoration> {
public:
  // `owner` tells checkpoints apart.
  Restoration(const TensorFile &file, TensorFile::Metadata texts, const void *owner, SourceLocation where);
  // Warns of values that nothing has taken.
  ~Restoration();

  // Gives the parts below a path their values. If that fails, no part has changed. Values wait for parts that do not
  // exist yet.
  void restore(const std::string &path, const std::function<void(CheckpointVisitor &)> &parts, SourceLocation where);
  void giveBack(const std::string &path, const std::function<void(CheckpointVisitor &)> &parts);

  // The values in restored files that wait for the objects among `items` and that nothing has taken, under the paths
  // that the objects have now. Values of the newest file come first.
  struct Waiting {
    std::map<std::string, Tensor> tensors;
    std::map<std::string, std::string> texts;
  };
  static Waiting waitingFor(const CheckpointItems &items);

  std::vector<std::string> unused() const;
  // The items among `now` that got no value.
  std::vector<std::string> missing(const CheckpointItems &now) const;
  void expectPartial();
  const std::string path; // of the file

private:
  template <typename T> struct Value {
    T value; // empty once it is taken
    bool taken = false;
  };
  // The paths at which the file may have the value of a variable.
  std::vector<std::string> pathsOf(const CheckpointItems::OfVariable &item) const;
  std::vector<std::string> pathsOf(const CheckpointItems::OfSlot &item) const;
  template <typename T> void take(Value<T> &value);
  // The present paths of objects, by their paths in the file.
  using Objects = std::map<std::string, std::string>;
  void addWaiting(const CheckpointItems &items, const Objects &objects, Waiting &waiting) const;

  const void *const owner;
  const SourceLocation where;
  mutable std::recursive_mutex mutex; // recursive, because a part that is restored may make parts that wait
  std::map<std::string, Value<Tensor>> tensors;
  std::map<std::string, Value<std::string>> texts;
  std::size_t left = 0; // the number of tensors and texts that nothing has taken
  struct Known {
    std::weak_ptr<VariableState> state; // tells whether the address still is that variable's
    std::vector<std::string> paths;
    bool restored = false;
  };
  // The variables that were visited. The paths of slots, and missing(), depend on them.
  HashMap<const VariableState *, Known> known;
  bool isPartial = false;
};

} // namespace calque::detail
#endif

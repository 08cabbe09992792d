// Saved models: structure, weights, optimiser and the options of compile() in one file.
//
//   model.save("net");                              // net.safetensors
//   ModelHandle same = load_model("net");           // in another program, which has none of the model's code
//   same.fit(x, y, {.epochs = 4, .initial_epoch = 2});
//
//   model.save_weights("weights");                  // the weights alone, by their paths: "dense/kernel"
//   model.load_weights("weights");
//   model.load_weights("torch", {.layout = "torch"}); // as PyTorch's users write them
//
// All files are of the format safetensors, which Python's package of that name reads. The ending .safetensors is added
// to a path without it. A file is written whole or not at all. Your own classes and functions get names for configs by
// register_layer(), register_loss(), register_metric(), register_optimizer(), register_schedule(),
// register_activation(), register_initializer(), register_regularizer(), register_constraint().
#ifndef CALQUE_SAVING_H
#define CALQUE_SAVING_H

#include "calque/export.h"
#include "calque/source_location.h"

#include <map>
#include <string>
#include <vector>

namespace calque {
class ModelHandle;

struct SaveOptions {
  bool overwrite = true; // false: ValueError if the file exists
};

struct LoadWeightsOptions {
  // The name of a tensor in the file, and the path of the weight that gets it. Other tensors are named by the paths of
  // their weights.
  std::map<std::string, std::string> names = {};
  std::string prefix = {}; // the beginning of the names in the file; other tensors are unused. Keras has "sequential/"
  bool skip_mismatch = false; // weights whose type is not that of their tensor keep their values
  bool strict = true;         // each weight must have a tensor, and each tensor with the prefix a weight
  // "torch": names and kernels are those of PyTorch. "fc.weight" is fc/kernel, or gamma or embeddings; "bn.running_var"
  // is bn/moving_variance. Kernels of Dense and of convolutions have the outputs first in PyTorch, so they are
  // transposed.
  std::string layout = "keras";
};

// The weights and tensors that load_weights() has not used.
struct LoadedWeights {
  std::vector<std::string> missing;    // weights that the file lacks
  std::vector<std::string> unused;     // tensors without a weight, except states of random generators
  std::vector<std::string> mismatched; // weights whose tensors have another type
};

struct LoadModelOptions {
  bool compile = true; // compiles it as it was compiled, with the state of its optimiser
  // Sets the global generator to its state at save(). It shuffles the examples of fit(), so that training continues
  // with the same bits. Otherwise the global generator does not change.
  bool restore_generator = false;
};

// Makes the model that save() has written: its structure and its weights, and if it was compiled, all state that
// training needs to continue. Its layers are built if the model was built or called before it was saved.
//
// DataError for a file that is missing, damaged, cut, of a later version, or without a model. LookupError for your own
// class or function that this program has not registered, and for a class whose weights are not those of the file.
CALQUE_API ModelHandle load_model(const std::string &path, LoadModelOptions options = {},
                                  SourceLocation where = SourceLocation::current());

} // namespace calque
#endif

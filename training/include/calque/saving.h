// Models that outlive the program: structure, weights, optimiser and the options of compile() in one file.
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
// to a path that has it not. A file appears whole or not at all. Classes and functions of one's own have names in
// configs: register_layer(), register_loss(), register_metric(), register_optimizer(), register_schedule(),
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
  bool overwrite = true; // else a file that is there is a ValueError
};

struct LoadWeightsOptions {
  // What the file calls a tensor, and the path of the weight that gets it. Tensors that are not named here have the
  // paths of their weights.
  std::map<std::string, std::string> names = {};
  std::string prefix = {};    // what the names of the file begin with; others are unused. Keras has "sequential/"
  bool skip_mismatch = false; // leaves weights of another type than their tensors as they are
  bool strict = true;         // each weight has a tensor, and each tensor whose name begins so a weight
  // "torch": names and kernels are those of PyTorch. "fc.weight" is fc/kernel, or gamma or embeddings, "bn.running_var"
  // is bn/moving_variance; kernels of Dense and of convolutions, which have the outputs first there, are transposed.
  std::string layout = "keras";
};

// What load_weights() has left as it was.
struct LoadedWeights {
  std::vector<std::string> missing;    // weights that the file has not
  std::vector<std::string> unused;     // tensors that are no weight's, but for states of random generators
  std::vector<std::string> mismatched; // weights whose tensors are of another type
};

struct LoadModelOptions {
  bool compile = true; // as it was compiled, with the state of its optimiser
  // Sets the global generator, which shuffles the examples of fit(), to its state at save(), so that training goes on
  // bit for bit. Else the global generator stays as it is.
  bool restore_generator = false;
};

// A model that save() wrote: its structure, its weights, and if it was compiled, all that training goes on with. Its
// layers are built, if the model had been built or called before it was saved.
//
// DataError for a file that is missing, damaged or cut, for one that has no model, and for one of a later version.
// LookupError for a class or a function of one's own that this program has not registered, and for a class whose
// weights are not those of the file.
CALQUE_API ModelHandle load_model(const std::string &path, LoadModelOptions options = {},
                                  SourceLocation where = SourceLocation::current());

} // namespace calque
#endif

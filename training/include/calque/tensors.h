// Several tensors in order, which may have names: the inputs and results of layers and models.
//
//   Tensors inputs = {image, label};
//   Tensors named = {{"image", image}, {"label", label}};
//   named[0];                      // by position
//   named["label"];                // by name
//   Tensor y = net.apply(inputs);  // where it is a single one
#ifndef CALQUE_TENSORS_H
#define CALQUE_TENSORS_H

#include "calque/structure.h"

namespace calque {

class CALQUE_API Tensors {
public:
  using Named = std::pair<std::string, Tensor>;

  Tensors() = default;
  Tensors(const Tensor &x) : parts_{{std::string(), x}} {}
  Tensors(const Variable &x, SourceLocation where = SourceLocation::current()) : Tensors(x.value(where)) {}
  Tensors(std::initializer_list<Tensor> tensors) : Tensors(std::vector<Tensor>(tensors)) {}
  Tensors(const std::vector<Tensor> &tensors);
  // ValueError for a name that is given twice.
  Tensors(std::initializer_list<Named> named, SourceLocation where = SourceLocation::current())
      : Tensors(std::vector<Named>(named), where) {}
  Tensors(std::vector<Named> named, SourceLocation where = SourceLocation::current());

  std::size_t size() const { return parts_.size(); }
  bool empty() const { return parts_.empty(); }
  // IndexError for a position that no tensor has.
  template <std::integral I> const Tensor &operator[](I position) const {
    return at(static_cast<std::int64_t>(position), SourceLocation());
  }
  const Tensor &at(std::int64_t position, SourceLocation where = SourceLocation::current()) const;
  // LookupError for a name that no tensor has.
  const Tensor &operator[](const std::string &name) const { return at(name, SourceLocation()); }
  const Tensor &operator[](const char *name) const { return at(std::string(name), SourceLocation()); }
  const Tensor &at(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  bool contains(const std::string &name) const;
  // The names, empty for tensors without one.
  std::vector<std::string> names() const;
  // The tensors without their names.
  std::vector<Tensor> tensors() const;
  // ValueError for a name that is given twice.
  void push_back(Tensor x, std::string name = {}, SourceLocation where = SourceLocation::current());

  // The single tensor. ValueError for no tensor and for several.
  const Tensor &single(SourceLocation where = SourceLocation::current()) const;
  operator Tensor() const { return single(SourceLocation()); }
  // The N tensors as an array: `auto [y, h, c] = lstm.apply(x).unpack<3>();`. ValueError if there are not N.
  template <std::size_t N> std::array<Tensor, N> unpack(SourceLocation where = SourceLocation::current()) const {
    checkCount(N, where);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<Tensor, N>{parts_[I].second...};
    }(std::make_index_sequence<N>());
  }

  // Iterates over pairs of names and tensors.
  auto begin() const { return parts_.begin(); }
  auto end() const { return parts_.end(); }

private:
  friend struct Structure<Tensors>;
  void checkCount(std::size_t count, SourceLocation where) const;
  std::vector<Named> parts_;
};

template <> struct Structure<Tensors> {
  template <typename V> static void visit(const Tensors &x, V &v) { visit_structure(x.parts_, v); }
  template <typename M> static Tensors map(const Tensors &x, M &m) {
    Tensors result;
    result.parts_ = map_structure(x.parts_, m);
    return result;
  }
};

} // namespace calque
#endif

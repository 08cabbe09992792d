// The texts of errors at the sites of native code.
#ifndef CALQUE_PROGRAM_SITETEXT_H
#define CALQUE_PROGRAM_SITETEXT_H

#include "program/Compiler.h"

#include <functional>

namespace calque::detail {

// The name of an input of the code, by its number.
using InputNames = std::function<std::string(std::size_t)>;

// "dimension 0 of argument 0 is 3"; `operand` is what an operand that is no input is called.
std::string describeSize(const Site::Size &size, std::int64_t value, const std::string &operand,
                         const InputNames &names);
// "dimension 0 of argument 0 is 3 and dimension 0 of argument 1 is 4, and they must be equal"
std::string describeSizes(const Site &site, const std::int64_t *values, const InputNames &names);

// What fills the places of a site's text.
struct SiteWords {
  std::string operation;
  std::string index = "index"; // what the operation's index is called
  std::string text;            // the site's, or the caller's own
  std::string elements;        // of a tensor, those that have failed
  InputNames inputNames;
};
// The text of the error at a site (program/SiteKinds.def). In a vmap, an index and its bound are those of one example,
// as the user wrote the operation.
std::string siteMessage(const Site &site, const std::int64_t *values, const SiteWords &words);

} // namespace calque::detail
#endif

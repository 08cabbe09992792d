// Compiles the functions of a file that save_functions has written to an object file and a header for C.
//
//   calque-compile digits.calque -o digits.o --header digits.h --function predict --pullback predict --target avx2
#include "calque/ahead_of_time.h"
#include "tools/Terminal.h"

#include <CLI/CLI.hpp>

#include <iostream>

using namespace calque;

int main(int argc, char **argv) {
  std::string file, object, header;
  AheadOptions options;
  CLI::App app(
      "Compiles the functions of a file that Calque's save_functions has written: an object file that is linked\n"
      "with -lcalque-standalone -lstdc++ -lm -lpthread, and a header for C.\n"
      "The exit code is 0; 1 for a file that is wrong and a function that can't be compiled, 2 for wrong options.");
  app.add_option("FILE", file, "The file of functions")->required();
  app.add_option("-o,--output", object, "The object file")->required();
  app.add_option("--header", header, "The header")->required();
  app.add_option("--function", options.functions, "A function to compile; without it, all of the file");
  app.add_option("--name", options.name, "What names in C begin with; without it, the name of the object file");
  app.add_option("--target", options.target,
                 "The CPU: baseline, avx2, avx512, avx512vnni or aarch64; without it, this one");
  app.add_option("--pullback", options.pullbacks, "A function whose gradients are compiled too, as NAME_pullback");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }
  tools::EscapedOutput errors(std::cerr); // names and messages are those of the file
  const SourceLocation nowhere{};         // the lines of this program are nobody's who calls it
  try {
    compile_ahead(load_functions(file, nowhere), object, header, options, nowhere);
    return 0;
  } catch (const Error &error) {
    std::cerr << "calque-compile: " << error.what() << '\n';
    return 1;
  }
}

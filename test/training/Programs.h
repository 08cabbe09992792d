// Runs the programs of examples/.
#ifndef CALQUE_TEST_TRAINING_PROGRAMS_H
#define CALQUE_TEST_TRAINING_PROGRAMS_H

#include <cstdio>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace calque::testing {

// The exit code, -1 for a signal, and what the program printed.
struct Outcome {
  int code;
  std::vector<std::string> lines;
};

inline Outcome runProgram(const std::string &program, const std::string &arguments) {
  FILE *pipe = ::popen(("'" + program + "' " + arguments + " 2>&1").c_str(), "r");
  std::string output;
  char buffer[512];
  while (std::fgets(buffer, sizeof(buffer), pipe))
    output += buffer;
  int status = ::pclose(pipe);
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, {}};
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);)
    outcome.lines.push_back(line);
  return outcome;
}

} // namespace calque::testing
#endif

// calque-ulp [--sample] [--threads N] [--page FILE] [FUNCTION...]: how far the results of these elementwise functions,
// or of all, are from the exact ones. Functions with one operand are computed for all 2^32 inputs of float32 unless
// --sample asks for 2^20; of float64 there are so many always. With --page their rows of the table in FILE are written
// anew. Exit code 1 if a result is further off than its record allows, 2 for wrong arguments.
#include "test/operations/Accuracy.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

using namespace calque;
using namespace calque::testing;

namespace {

// A table's row names its function first: "| `exp` | ...".
std::string functionOf(const std::string &line) {
  return line.starts_with("| `") ? line.substr(3, line.find('`', 3) - 3) : "";
}

std::string rowOf(const ElementwiseCase &op, const Worst &worst, const Worst &ofDoubles) {
  std::ostringstream row;
  row << "| `" << op.name() << "` | " << op.ulp << " | ";
  row.precision(3);
  auto show = [&](const Worst &each) {
    row << std::fixed << each.ulp << std::hexfloat << " | ";
    for (std::size_t i = 0; i < each.operands.size(); ++i)
      row << (i ? ", " : "") << each.operands[i];
  };
  show(worst);
  row << " | " << (worst.count == std::uint64_t(1) << 32 ? "all 2^32" : "sample") << " | ";
  show(ofDoubles);
  row << " |";
  return row.str();
}

// The page with the rows that there are replaced. A row that is new stands in the order of the records.
bool writePage(const std::string &path, const std::map<std::string, std::string> &rows) {
  std::ifstream in(path);
  std::vector<std::string> before, after;
  std::map<std::string, std::string> table;
  for (std::string line; std::getline(in, line);)
    if (std::string function = functionOf(line); !function.empty())
      table[function] = line;
    else
      (table.empty() && !(before.size() > 0 && before.back().starts_with("| ---")) ? before : after).push_back(line);
  if (before.empty())
    return false;
  for (const auto &[function, row] : rows)
    table[function] = row;
  std::ofstream out(path);
  for (const std::string &line : before)
    out << line << "\n";
  for (const ElementwiseCase &op : floatFunctions())
    if (auto row = table.find(op.name()); row != table.end())
      out << row->second << "\n";
  for (const std::string &line : after)
    out << line << "\n";
  return static_cast<bool>(out.flush());
}

} // namespace

int main(int argc, char **argv) {
  bool sample = false;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::string page;
  std::set<std::string> names;
  auto wrong = [](const std::string &message) {
    std::cerr << "calque-ulp: " << message << "\n";
    return 2;
  };
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--sample")
      sample = true;
    else if (argument == "--threads" && i + 1 < argc) {
      if ((threads = std::atoi(argv[++i])) < 1)
        return wrong("--threads takes a number from 1 on, not '" + std::string(argv[i]) + "'");
    } else if (argument == "--page" && i + 1 < argc)
      page = argv[++i];
    else if (argument.starts_with("-"))
      return wrong("there is no option '" + argument +
                   "', or it lacks its value; the options are --sample, --threads N "
                   "and --page FILE");
    else
      names.insert(argument);
  }
  std::vector<ElementwiseCase> functions = floatFunctions();
  for (const std::string &name : names)
    if (std::none_of(functions.begin(), functions.end(), [&](const auto &op) { return op.name() == name; }))
      return wrong("there is no elementwise function '" + name + "'");
  bool good = true;
  std::map<std::string, std::string> rows;
  for (const ElementwiseCase &op : functions) {
    if (!names.empty() && !names.contains(op.name()))
      continue;
    Worst worst = sample || op.schema().numOperands > 1 ? worstOfSample(op, DType::Float32) : worstOfAll(op, threads);
    Worst ofDoubles = worstOfSample(op, DType::Float64);
    auto report = [&](const char *type, const Worst &each) {
      std::cout << op.name() << " of " << type << ": " << each.str()
                << (each.ulp > op.ulp ? ", which its record does not allow" : "") << std::endl;
      good &= each.ulp <= op.ulp;
    };
    report("float32", worst);
    report("float64", ofDoubles);
    rows[op.name()] = rowOf(op, worst, ofDoubles);
    if (!page.empty() && !writePage(page, rows))
      return wrong("no page can be written to " + page);
  }
  return good ? 0 : 1;
}

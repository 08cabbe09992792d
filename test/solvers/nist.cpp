// Fits the nonlinear regression sets of NIST's Statistical Reference Datasets and prints how many digits of the
// certified values each fit has, from both starting points. It is not a test: the files (Misra1a.dat and so on) are not
// in the tree. `nist DIRECTORY` reads all that it finds there, and returns 1 if a fit has fewer than 4 digits. NIST:
// https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml
#include <calque/calque.h>
#include <calque/solvers/least_squares.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>

using namespace calque;

namespace {

struct DataSet {
  std::vector<double> first, second, certified, deviations; // the parameters
  std::vector<std::vector<double>> columns;                 // y, x and, in one set, a second x
  double sumOfSquares = 0;
};

DataSet read(const std::string &path) {
  std::ifstream file(path);
  DataSet set;
  std::string line, ignored;
  std::size_t number = 0, firstRow = 61;
  while (std::getline(file, line)) {
    ++number;
    if (auto at = line.find("Data              (lines"); at != std::string::npos)
      firstRow = std::stoul(line.substr(at + 25));
    std::istringstream words(line);
    if (number > 8 && number < firstRow && line.find("  b") != std::string::npos &&
        line.find(" =") != std::string::npos) {
      std::string name, equals;
      double a = 0, b = 0, c = 0, d = 0;
      if (words >> name >> equals >> a >> b >> c >> d) {
        set.first.push_back(a);
        set.second.push_back(b);
        set.certified.push_back(c);
        set.deviations.push_back(d);
      }
    }
    if (line.rfind("Residual Sum of Squares:", 0) == 0)
      set.sumOfSquares = std::stod(line.substr(24));
    if (number >= firstRow) {
      std::vector<double> row;
      for (double value = 0; words >> value;)
        row.push_back(value);
      set.columns.resize(std::max(set.columns.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i)
        set.columns[i].push_back(row[i]);
    }
  }
  return set;
}

// The parameters, the first of which is b(1), as in NIST's files.
struct Parameters {
  const Tensor &p;
  Tensor operator()(int i) const { return p[i - 1]; }
};
using Model = Tensor (*)(const Parameters &b, const Tensor &x);

Tensor rational(const Parameters &b, const Tensor &x) {
  return (b(1) + x * (b(2) + x * (b(3) + x * b(4)))) / (1 + x * (b(5) + x * (b(6) + x * b(7))));
}
Tensor gauss(const Parameters &b, const Tensor &x) {
  return b(1) * exp(-b(2) * x) + b(3) * exp(-square((x - b(4)) / b(5))) + b(6) * exp(-square((x - b(7)) / b(8)));
}
Tensor lanczos(const Parameters &b, const Tensor &x) {
  return b(1) * exp(-b(2) * x) + b(3) * exp(-b(4) * x) + b(5) * exp(-b(6) * x);
}
Tensor chwirut(const Parameters &b, const Tensor &x) { return exp(-b(1) * x) / (b(2) + b(3) * x); }

const std::map<std::string, Model> models = {
    {"Bennett5", [](const Parameters &b, const Tensor &x) { return b(1) * pow(b(2) + x, -1 / b(3)); }},
    {"BoxBOD", [](const Parameters &b, const Tensor &x) { return b(1) * (1 - exp(-b(2) * x)); }},
    {"Chwirut1", chwirut},
    {"Chwirut2", chwirut},
    {"DanWood", [](const Parameters &b, const Tensor &x) { return b(1) * pow(x, b(2)); }},
    {"ENSO",
     [](const Parameters &b, const Tensor &x) {
       Tensor t = 2 * std::numbers::pi * x;
       return b(1) + b(2) * cos(t / 12) + b(3) * sin(t / 12) + b(5) * cos(t / b(4)) + b(6) * sin(t / b(4)) +
              b(8) * cos(t / b(7)) + b(9) * sin(t / b(7));
     }},
    {"Eckerle4",
     [](const Parameters &b, const Tensor &x) { return b(1) / b(2) * exp(-0.5 * square((x - b(3)) / b(2))); }},
    {"Gauss1", gauss},
    {"Gauss2", gauss},
    {"Gauss3", gauss},
    {"Hahn1", rational},
    {"Kirby2",
     [](const Parameters &b, const Tensor &x) { return (b(1) + x * (b(2) + x * b(3))) / (1 + x * (b(4) + x * b(5))); }},
    {"Lanczos1", lanczos},
    {"Lanczos2", lanczos},
    {"Lanczos3", lanczos},
    {"MGH09",
     [](const Parameters &b, const Tensor &x) { return b(1) * (x * x + x * b(2)) / (x * x + x * b(3) + b(4)); }},
    {"MGH10", [](const Parameters &b, const Tensor &x) { return b(1) * exp(b(2) / (x + b(3))); }},
    {"MGH17",
     [](const Parameters &b, const Tensor &x) { return b(1) + b(2) * exp(-x * b(4)) + b(3) * exp(-x * b(5)); }},
    {"Misra1a", [](const Parameters &b, const Tensor &x) { return b(1) * (1 - exp(-b(2) * x)); }},
    {"Misra1b", [](const Parameters &b, const Tensor &x) { return b(1) * (1 - pow(1 + b(2) * x / 2, -2.0)); }},
    {"Misra1c", [](const Parameters &b, const Tensor &x) { return b(1) * (1 - rsqrt(1 + 2 * b(2) * x)); }},
    {"Misra1d", [](const Parameters &b, const Tensor &x) { return b(1) * b(2) * x / (1 + b(2) * x); }},
    {"Rat42", [](const Parameters &b, const Tensor &x) { return b(1) / (1 + exp(b(2) - b(3) * x)); }},
    {"Rat43", [](const Parameters &b, const Tensor &x) { return b(1) / pow(1 + exp(b(2) - b(3) * x), 1 / b(4)); }},
    {"Roszman1",
     [](const Parameters &b, const Tensor &x) { return b(1) - b(2) * x - atan(b(3) / (x - b(4))) / std::numbers::pi; }},
    {"Thurber", rational},
};

// The number of digits in which the worst value agrees.
double digits(const std::vector<double> &values, const std::vector<double> &certified) {
  double least = 11; // the certified values have 11
  for (std::size_t i = 0; i < certified.size(); ++i) {
    double error = std::abs(values[i] - certified[i]) / std::abs(certified[i]);
    least = std::min(least, error == error ? -std::log10(std::max(error, 1e-11)) : 0);
  }
  return std::max(least, 0.0);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: nist DIRECTORY\n");
    return 2;
  }
  std::printf("%-10s %5s %10s %10s %6s %6s %9s\n", "set", "start", "parameters", "deviations", "steps", "J", "time us");
  int poor = 0, runs = 0;
  auto fit = [&](const std::string &name, const auto &model) {
    const DataSet set = read(std::string(argv[1]) + "/" + name + ".dat");
    if (set.columns.size() < 2)
      return;
    auto residuals = [&](const Tensor &p) { return model(Parameters{p}, set); };
    auto solve = function([&](const Tensor &p0) {
      auto r = solvers::least_squares(
          residuals, p0, {.ftol = 0, .xtol = 1e-12, .gtol = 0, .max_iterations = 2000, .require_convergence = false});
      return std::tuple(r.x, solvers::covariance(residuals, r.x), r.iterations, r.evaluations);
    });
    for (int start : {1, 2}) {
      Tensor p0 = tensor(start == 1 ? set.first : set.second);
      auto [p, covariance, iterations, evaluations] = solve(p0);
      auto begin = std::chrono::steady_clock::now();
      solve(p0);
      double time = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
      std::vector<double> deviations, all = covariance.template to_vector<double>();
      for (std::size_t i = 0, n = set.certified.size(); i < n; ++i)
        deviations.push_back(std::sqrt(all[i * n + i]));
      double good = digits(p.template to_vector<double>(), set.certified);
      poor += good < 4;
      ++runs;
      std::printf("%-10s %5d %10.1f %10.1f %6d %6d %9.1f\n", name.c_str(), start, good,
                  digits(deviations, set.deviations), int(iterations.template item<std::int64_t>()),
                  int(evaluations.template item<std::int64_t>()), time);
    }
  };
  for (const auto &[name, model] : models)
    fit(name, [model = model](const Parameters &b, const DataSet &set) {
      return model(b, tensor(set.columns[1])) - tensor(set.columns[0]);
    });
  fit("Nelson", [](const Parameters &b, const DataSet &set) {
    Tensor y = tensor(set.columns[0]), time = tensor(set.columns[1]), heat = tensor(set.columns[2]);
    return b(1) - b(2) * time * exp(-b(3) * heat) - log(y);
  });
  std::printf("%d of %d fits have at least 4 digits\n", runs - poor, runs);
  return poor > 0;
}

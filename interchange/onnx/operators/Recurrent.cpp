// Recurrent layers: the products with the inputs are made at once for all steps, the rest step by step.
#include "onnx/Support.h"

#include "calque/control_flow.h"

namespace calque::onnx {

namespace {

using Activation = std::function<Tensor(const Tensor &)>;

// Those of all directions, in order; each takes its alpha and beta from lists.
std::vector<Activation> activationsOf(const Call &call, std::vector<std::string> names, std::size_t directions) {
  const std::vector<std::string> given = call.texts("activations");
  const std::vector<double> alphas = call.numbers("activation_alpha"), betas = call.numbers("activation_beta");
  std::vector<std::string> all = given;
  if (given.empty())
    for (std::size_t i = 0; i < directions; ++i)
      all.insert(all.end(), names.begin(), names.end());
  if (all.size() != names.size() * directions)
    call.refuse(std::to_string(all.size()) + " activations, expected " + std::to_string(names.size() * directions));
  std::vector<Activation> made;
  std::size_t nextAlpha = 0, nextBeta = 0;
  for (const std::string &name : all) {
    auto alpha = [&](double otherwise) { return nextAlpha < alphas.size() ? alphas[nextAlpha++] : otherwise; };
    auto beta = [&](double otherwise) { return nextBeta < betas.size() ? betas[nextBeta++] : otherwise; };
    auto number = [](double n, const Tensor &x) { return scalarOf(n, x.dtype()); };
    if (name == "Sigmoid")
      made.emplace_back([](const Tensor &x) { return sigmoid(x); });
    else if (name == "Tanh")
      made.emplace_back([](const Tensor &x) { return tanh(x); });
    else if (name == "Relu")
      made.emplace_back([](const Tensor &x) { return relu(x); });
    else if (name == "Softsign")
      made.emplace_back([](const Tensor &x) { return x / (abs(x) + 1); });
    else if (name == "Softplus")
      made.emplace_back([](const Tensor &x) { return softplus(x); });
    else if (name == "Affine")
      made.emplace_back([=, a = alpha(1), b = beta(0)](const Tensor &x) { return number(a, x) * x + number(b, x); });
    else if (name == "LeakyRelu")
      made.emplace_back([=, a = alpha(0.01)](const Tensor &x) { return where(x < number(0, x), number(a, x) * x, x); });
    else if (name == "ThresholdedRelu")
      made.emplace_back([=, a = alpha(1)](const Tensor &x) { return where(x > number(a, x), x, number(0, x)); });
    else if (name == "ScaledTanh")
      made.emplace_back(
          [=, a = alpha(1), b = beta(1)](const Tensor &x) { return number(a, x) * tanh(number(b, x) * x); });
    else if (name == "HardSigmoid")
      made.emplace_back([=, a = alpha(0.2), b = beta(0.5)](const Tensor &x) {
        return clip(number(a, x) * x + number(b, x), number(0, x), number(1, x));
      });
    else if (name == "Elu")
      made.emplace_back([=, a = alpha(1)](const Tensor &x) {
        return where(x < number(0, x), number(a, x) * expm1(minimum(x, number(0, x))), x);
      });
    else
      call.refuse("activation '" + name + "' is not known");
  }
  return made;
}

// One step of a cell: the next state of what the step computes from the input, and the state.
using State = std::vector<Tensor>;
using Cell = std::function<State(const Tensor &input, const State &state, std::size_t direction)>;

Tensor reversedInTime(const Tensor &x, const Tensor &lengths) {
  if (!lengths.defined())
    return reverse(x, 0);
  // Each example turns within its own length.
  const Shape shape = x.shape();
  const Tensor at = iota({shape[0], shape[1]}, DType::Int64, 0);
  const Tensor places = where(at < lengths, lengths - 1 - at, at);
  return take_along_axis(x, broadcast_to(expand_dims(places, {2}), shape), 0);
}

// `gates` products of the input for each direction, W and B at inputs 1 and 3.
Results recurrent(const Call &call, std::int64_t states, const std::vector<std::size_t> &initials,
                  const std::function<Tensor(const Tensor &x, std::size_t direction)> &project, const Cell &cell) {
  const std::int64_t layout = call.integer("layout", 0);
  const std::string direction = call.text("direction", "forward");
  const std::int64_t hidden = call.integer("hidden_size");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    call.refuse("attribute 'direction' is '" + direction + "'");
  const std::size_t directions = direction == "bidirectional" ? 2 : 1;
  Tensor x = call.tensor(0);
  if (layout == 1)
    x = swapaxes(x, 0, 1);
  const DType dtype = x.dtype();
  const Size batch = x.shape()[1];
  const Tensor lengths = call.has(4) ? cast(call.tensor(4), DType::Int64) : Tensor();
  const Tensor steps = iota({x.shape()[0]}, DType::Int64, 0);
  std::vector<Tensor> outputs;
  std::vector<std::vector<Tensor>> last(static_cast<std::size_t>(states));
  for (std::size_t d = 0; d < directions; ++d) {
    const bool isReverse = direction == "reverse" || d == 1;
    const Tensor inputs = project(isReverse ? reversedInTime(x, lengths) : x, d);
    State state;
    for (std::size_t i : initials) {
      if (!call.has(i)) {
        state.push_back(zeros({batch, hidden}, dtype));
        continue;
      }
      const Tensor given = layout == 1 ? swapaxes(call.tensor(i), 0, 1) : call.tensor(i);
      state.push_back(reshape(sliceAlong(given, 0, static_cast<std::int64_t>(d), static_cast<std::int64_t>(d) + 1),
                              {batch, hidden}));
    }
    auto step = [&](const State &at, const std::pair<Tensor, Tensor> &now) {
      State next = cell(now.first, at, d);
      Tensor output = next[0];
      if (lengths.defined()) {
        // Behind its end an example keeps its state, and gives zeros.
        const Tensor runs = expand_dims(now.second < lengths, {1});
        output = where(runs, output, scalarOf(0, dtype));
        for (std::size_t i = 0; i < next.size(); ++i)
          next[i] = where(runs, next[i], at[i]);
      }
      return std::pair(next, output);
    };
    auto [end, all] = scan(step, state, std::pair(inputs, steps));
    outputs.push_back(isReverse ? reversedInTime(all, lengths) : all);
    for (std::size_t i = 0; i < last.size(); ++i)
      last[i].push_back(end[i]);
  }
  Tensor y = stack(outputs, 1); // [time, directions, batch, hidden]
  Results results{layout == 1 ? transpose(y, {2, 0, 1, 3}) : y};
  for (const std::vector<Tensor> &each : last) {
    const Tensor state = stack(each, 0);
    results.push_back(layout == 1 ? swapaxes(state, 0, 1) : state);
  }
  return results;
}

Tensor ofDirection(const Call &call, std::size_t i, std::size_t direction) {
  const Tensor x = call.tensor(i);
  return squeeze(sliceAlong(x, 0, static_cast<std::int64_t>(direction), static_cast<std::int64_t>(direction) + 1), {0});
}
// Rows or elements of gate `gate`.
Tensor gateOf(const Tensor &x, std::int64_t gate, std::int64_t hidden) {
  return sliceAlong(x, x.rank() - (x.rank() == 1 ? 1 : 2), gate * hidden, (gate + 1) * hidden);
}
Tensor columns(const Tensor &x, std::int64_t gate, std::int64_t hidden) {
  return sliceAlong(x, x.rank() - 1, gate * hidden, (gate + 1) * hidden);
}

Activation clipped(const Call &call) {
  if (!call.hasAttribute("clip"))
    return [](const Tensor &x) { return x; };
  const float bound = call.number("clip", 0);
  return [bound](const Tensor &x) { return clip(x, scalarOf(-bound, x.dtype()), scalarOf(bound, x.dtype())); };
}

std::size_t directionsOf(const Call &call) { return call.text("direction", "forward") == "bidirectional" ? 2 : 1; }

Results rnn(const Call &call) {
  const std::int64_t hidden = call.integer("hidden_size");
  const std::vector<Activation> f = activationsOf(call, {"Tanh"}, directionsOf(call));
  const Activation bound = clipped(call);
  call.ignore({"output_sequence"});
  return recurrent(
      call, 1, {5},
      [&](const Tensor &x, std::size_t d) {
        Tensor y = matmul(x, ofDirection(call, 1, d), {.transpose_b = true});
        if (call.has(3)) {
          const Tensor b = ofDirection(call, 3, d);
          y = y + gateOf(b, 0, hidden) + gateOf(b, 1, hidden);
        }
        return y;
      },
      [&](const Tensor &x, const State &at, std::size_t d) {
        return State{f[d](bound(x + matmul(at[0], ofDirection(call, 2, d), {.transpose_b = true})))};
      });
}

Results gru(const Call &call) {
  const std::int64_t hidden = call.integer("hidden_size");
  const std::vector<Activation> f = activationsOf(call, {"Sigmoid", "Tanh"}, directionsOf(call));
  const Activation bound = clipped(call);
  const bool resetsAfter = call.flag("linear_before_reset", false);
  call.ignore({"output_sequence"});
  return recurrent(
      call, 1, {5},
      [&](const Tensor &x, std::size_t d) {
        Tensor y = matmul(x, ofDirection(call, 1, d), {.transpose_b = true});
        if (call.has(3)) {
          const Tensor b = ofDirection(call, 3, d);
          y = y + sliceAlong(b, 0, 0, 3 * hidden);
        }
        return y;
      },
      [&](const Tensor &x, const State &at, std::size_t d) {
        const Tensor r = ofDirection(call, 2, d), h = at[0];
        const Tensor b = call.has(3) ? sliceAlong(ofDirection(call, 3, d), 0, 3 * hidden, 6 * hidden) : Tensor();
        auto recurrence = [&](const Tensor &from, std::int64_t gate) {
          const Tensor y = matmul(from, gateOf(r, gate, hidden), {.transpose_b = true});
          return b.defined() ? y + gateOf(b, gate, hidden) : y;
        };
        const Tensor update = f[2 * d](bound(columns(x, 0, hidden) + recurrence(h, 0)));
        const Tensor reset = f[2 * d](bound(columns(x, 1, hidden) + recurrence(h, 1)));
        const Tensor inner = resetsAfter ? reset * recurrence(h, 2) : recurrence(reset * h, 2);
        const Tensor candidate = f[2 * d + 1](bound(columns(x, 2, hidden) + inner));
        return State{(1 - update) * candidate + update * h};
      });
}

Results lstm(const Call &call) {
  const std::int64_t hidden = call.integer("hidden_size");
  const std::vector<Activation> f = activationsOf(call, {"Sigmoid", "Tanh", "Tanh"}, directionsOf(call));
  const Activation bound = clipped(call);
  const bool couples = call.flag("input_forget", false);
  call.ignore({"output_sequence"});
  return recurrent(
      call, 2, {5, 6},
      [&](const Tensor &x, std::size_t d) {
        Tensor y = matmul(x, ofDirection(call, 1, d), {.transpose_b = true});
        if (call.has(3)) {
          const Tensor b = ofDirection(call, 3, d);
          y = y + sliceAlong(b, 0, 0, 4 * hidden) + sliceAlong(b, 0, 4 * hidden, 8 * hidden);
        }
        return y;
      },
      [&](const Tensor &x, const State &at, std::size_t d) {
        const Tensor gates = x + matmul(at[0], ofDirection(call, 2, d), {.transpose_b = true});
        const Tensor peepholes = call.has(7) ? ofDirection(call, 7, d) : Tensor();
        auto gate = [&](std::int64_t i, std::int64_t peephole, const Tensor &cell) {
          Tensor y = columns(gates, i, hidden);
          if (peepholes.defined())
            y = y + gateOf(peepholes, peephole, hidden) * cell;
          return f[3 * d](bound(y));
        };
        const Tensor input = gate(0, 0, at[1]);
        const Tensor forget = couples ? 1 - input : gate(2, 2, at[1]);
        const Tensor cell = forget * at[1] + input * f[3 * d + 1](bound(columns(gates, 3, hidden)));
        const Tensor output = gate(1, 1, cell);
        return State{output * f[3 * d + 2](cell), cell};
      });
}

constexpr Operator kTable[] = {
    {"GRU", {7, 14, 22}, 3, 6, 0, gru},
    {"LSTM", {7, 14, 22}, 3, 8, 0, lstm},
    {"RNN", {7, 14, 22}, 3, 6, 0, rnn},
};

} // namespace

Table recurrentOperators() { return kTable; }

} // namespace calque::onnx

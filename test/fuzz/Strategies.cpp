#include "test/fuzz/Strategies.h"

#include "test/fuzz/Generator.h"

#include <algorithm>
#include <cstring>

namespace calque::fuzz {

using schema::AttributeKind;

namespace {

// Types that a message names: what a rule tells a user to pass.
std::vector<TensorType> typesIn(const std::string &message) {
  std::vector<TensorType> types;
  for (const DTypeInfo &info : calque::kDTypes) {
    const DType dtype = info.dtype;
    std::string name = std::string(name_of(dtype)) + "[";
    for (std::size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
      if (at && std::isalnum(static_cast<unsigned char>(message[at - 1])))
        continue;
      TensorType type{dtype, {}};
      const char *text = message.c_str() + at + name.size();
      while (*text && *text != ']') {
        char *end = nullptr;
        type.dims.push_back(std::strtoll(text, &end, 10));
        if (end == text)
          break;
        text = *end == ',' ? end + 1 : end;
      }
      if (*text == ']')
        types.push_back(std::move(type));
    }
  }
  return types;
}

} // namespace

Palette::Palette(std::uint64_t seed, Numbers numbers) : numbers(numbers) {
  Random random(seed);
  bool large = random.chance(0.2);
  mostElements = large ? 6000 : 160;
  std::vector<std::int64_t> pool = {1, 2, 2, 3, 3, 4, 5, 7};
  if (large)
    pool = {1, 2, 3, 8, 9, 16, 17, 31, 33, 64};
  if (random.chance(0.1))
    pool = {0, 1, 2, 3};
  for (int i = 0; i < 3; ++i)
    sizes.push_back(random.of(pool));
  sizes.push_back(1);
  for (std::size_t rank = 0; rank < shapes.size(); ++rank)
    for (int tries = 0; tries < 20 && shapes[rank].size() < (rank == 2 ? 2 : 1); ++tries) {
      Shape shape;
      for (std::size_t d = 0; d < rank; ++d)
        shape.push_back(random.of(sizes));
      if (TensorType{DType::Bool, shape}.numElements() <= mostElements)
        shapes[rank].push_back(shape);
    }
  for (std::size_t rank = 0; rank < shapes.size(); ++rank)
    if (shapes[rank].empty())
      shapes[rank].push_back(Shape(rank, 1));
  // The types that programs had first are as frequent as all others.
  const DType other = kDTypes[random.below(random.chance(0.6) ? 5 : kNumDTypes)];
  if (numbers == Numbers::Halves)
    half = seed % 2 ? DType::BFloat16 : DType::Float16;
  dtypes = {type(random.chance(0.6) ? DType::Float32 : DType::Float64), type(other)};
  if (numbers == Numbers::Complex) {
    const DType complex = random.chance(0.5) ? DType::Complex64 : DType::Complex128;
    dtypes = {complex, complex, dtypes[1], real_of(complex)};
  }
}

bool Strategies::draws(OpId op, Numbers numbers) {
  return hookReason(op).empty() || (numbers == Numbers::Complex && isOfComplexNumbers(op));
}

Strategies::Strategies(Numbers numbers) {
  for (const schema::OperationSchema &schema : schema::operations()) {
    OperationChoices operation;
    operation.operands.fill(Choice(kOperandStrategies));
    operation.isPlain.assign(schema.attributes.size(), Choice(2));
    for (const schema::AttributeSchema &attribute : schema.attributes)
      operation.attributes.emplace_back(attribute.kind == AttributeKind::Ints     ? kIntsStrategies
                                        : attribute.kind == AttributeKind::Int    ? kIntStrategies
                                        : attribute.kind == AttributeKind::String ? 2
                                        : attribute.kind == AttributeKind::Type   ? 5
                                                                                  : 1);
    choices.push_back(std::move(operation));
  }
  // Fixed: what is learnt here is part of what a seed means.
  Random random(21);
  for (const schema::OperationSchema &schema : schema::operations()) {
    if (!draws(schema.id, numbers))
      continue;
    // Of many attributes that fit each other, some calls must have been found.
    int found = 0;
    for (int i = 0; i < 400 || (found < 40 && i < 20000); ++i) {
      if (i % 50 == 0)
        palette = std::make_unique<Palette>(random.next(), numbers == Numbers::Complex ? numbers : Numbers::Wide);
      Draw draw;
      bool taken = this->draw(schema, *palette, random, {}, draw) &&
                   countOf(draw.operands.empty() ? TensorType() : draw.operands[0].type) < 10000;
      found += taken;
      for (auto [choice, index] : draw.choices) {
        choice->tried[index] += 1;
        choice->taken[index] += taken;
      }
    }
  }
}

bool Strategies::draw(const schema::OperationSchema &schema, const Palette &palette, Random &random,
                      const std::function<int(const std::function<bool(const TensorType &)> &)> &existing, Draw &draw) {
  OperationChoices &operation = choices[static_cast<std::size_t>(schema.id)];
  auto place = [&](const TensorType &type) {
    Operand operand{type, -1};
    if (existing)
      operand.value = existing([&](const TensorType &other) { return other == type; });
    return operand;
  };
  int count = schema.numOperands;
  if (count < 0)
    count = 1 + draw.choose(operation.count, random);
  DType firstType = DType::Float32;
  for (int k = 0; k < count; ++k) {
    if (k == 0) {
      firstType = palette.type(draw.choose(operation.dtype, random));
      // Few types, so that programs share eager code; where the rule does not take one, the draw comes to nothing.
      if (existing && random.chance(0.6))
        firstType = random.of(palette.dtypes);
      int rank = draw.choose(operation.rank, random);
      Operand operand{{firstType, palette.shape(random, rank)}, -1};
      if (existing && random.chance(0.8))
        operand.value =
            existing([&](const TensorType &type) { return type.dtype == firstType && type.rank() == rank; });
      draw.operands.push_back(operand);
      if (operand.value >= 0)
        draw.operands[0].type = typeOf(operand.value);
      continue;
    }
    const TensorType first = draw.operands[0].type;
    TensorType type = first;
    switch (draw.choose(operation.operands[static_cast<std::size_t>(std::min(k, kMostOperands) - 1)], random)) {
    case 0:
      break;
    case 1: // broadcast to the first
      for (std::int64_t &size : type.dims)
        if (random.chance(0.4))
          size = 1;
      if (random.chance(0.4))
        type.dims.erase(type.dims.begin(), type.dims.begin() + random.below(static_cast<int>(type.dims.size()) + 1));
      break;
    case 2:
      type.dims = palette.shape(random);
      break;
    case 3: { // indices
      DType own = random.chance(0.4) ? DType::Int64 : random.chance(0.5) ? DType::Int32 : DType::Bool;
      while (!is_integer(own))
        own = kDTypes[random.below(kNumDTypes)];
      type = {own, palette.shape(random, random.below(3))};
      break;
    }
    case 4:
      type = draw.operands.back().type;
      break;
    case 5:
      type = {palette.type(random.below(kNumDTypes)), palette.shape(random)};
      break;
    case 6:
      type.dims.clear();
      break;
    case 7:
      for (std::size_t i = type.dims.size(); i > 1; --i)
        std::swap(type.dims[i - 1], type.dims[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
      break;
    case 8: // a part
      for (std::int64_t &size : type.dims)
        size = size ? 1 + random.below(static_cast<int>(size)) : 0;
      break;
    case 9:
      type.dtype = palette.type(random.below(kNumDTypes));
      break;
    case 10:
      type.dims = palette.shape(random, static_cast<int>(type.rank()));
      break;
    }
    draw.operands.push_back(place(type));
  }
  for (std::size_t a = 0; a < schema.attributes.size(); ++a) {
    AttributeKind kind = schema.attributes[a].kind;
    bool isPlain =
        (kind == AttributeKind::Ints || kind == AttributeKind::Int) && draw.choose(operation.isPlain[a], random);
    if (isPlain && kind == AttributeKind::Ints)
      draw.attributes.push_back(Ints());
    else if (isPlain)
      draw.attributes.push_back(std::int64_t(1));
    else
      draw.attributes.push_back(attribute(kind, operation.attributes[a], palette, random, draw));
  }
  if (!repair(schema, place, draw, 2))
    return false;
  // What an index or a condition selects from is seldom of another type than it.
  if (palette.numbers == Numbers::Complex && draw.operands.size() > 1 && random.chance(0.4)) {
    Draw changed = draw;
    // The first one alone, all others, all but the second one, or all but the last one.
    const int which = random.below(4);
    for (std::size_t k = 0; k < changed.operands.size(); ++k)
      if (which == 0 ? k == 0 : which == 1 ? k > 0 : which == 2 ? k != 1 : k + 1 < changed.operands.size())
        changed.operands[k] = place({palette.dtypes.front(), changed.operands[k].type.dims});
    if (repair(schema, place, changed, 0))
      draw = std::move(changed);
  }
  return true;
}

Attribute Strategies::attribute(AttributeKind kind, Choice &choice, const Palette &palette, Random &random,
                                Draw &draw) {
  Shape first = draw.operands.empty() ? palette.shape(random) : draw.operands[0].type.dims;
  Shape second = draw.operands.size() > 1 ? draw.operands[1].type.dims : first;
  int rank = static_cast<int>(first.size());
  switch (kind) {
  case AttributeKind::Bool:
    return random.chance(0.5);
  case AttributeKind::Int:
    switch (draw.choose(choice, random)) {
    case 0:
      return std::int64_t(rank ? random.below(rank) : 0);
    case 1:
      return std::int64_t(rank ? -1 - random.below(rank) : -1);
    case 2:
      return std::int64_t(random.below(4));
    default:
      return random.of(palette.sizes);
    }
  case AttributeKind::Number:
    return schema::Scalar(random.chance(0.5) ? 0.0 : (random.below(17) - 8) / 2.0);
  case AttributeKind::String:
  case AttributeKind::Text:
    return std::string(draw.choose(choice, random) ? "same" : "valid");
  case AttributeKind::Type: // one of the first types, or a complex one
    if (palette.numbers == Numbers::Complex && random.chance(0.4))
      return random.chance(0.5) ? DType::Complex64 : DType::Complex128;
    return palette.type(draw.choose(choice, random));
  case AttributeKind::Constant: {
    auto data = std::make_shared<schema::ConstantData>();
    data->type = {random.of(palette.dtypes), palette.shape(random, random.below(3))};
    data->splat = random.chance(0.3);
    std::int64_t count = data->splat ? 1 : data->type.numElements();
    for (std::int64_t i = 0; i < count; ++i) {
      int value = random.below(17) - 8;
      dispatch_all(data->type.dtype, [&]<typename T>(std::type_identity<T>) {
        T number;
        if constexpr (calque::detail::kIsComplex<T>) {
          using Part = decltype(T().real());
          number = T(static_cast<Part>(value / 4.0), static_cast<Part>((random.below(17) - 8) / 4.0));
        } else {
          number = std::is_same_v<T, bool> ? static_cast<T>(value & 1)
                                           : static_cast<T>(is_floating(dtype_of<T>) ? value / 4.0 : value);
        }
        const auto *bytes = reinterpret_cast<const std::byte *>(&number);
        data->bytes.insert(data->bytes.end(), bytes, bytes + sizeof(number));
      });
    }
    return schema::ConstantRef(std::move(data));
  }
  case AttributeKind::Recording: // what holds a program has a hook
    break;
  case AttributeKind::Ints:
    return ints(draw.choose(choice, random), first, second, palette, random);
  }
  return false; // a kind that is new: the type rule will not take it, and a test names the operation
}

Ints Strategies::ints(int strategy, const Shape &first, const Shape &second, const Palette &palette, Random &random) {
  int rank = static_cast<int>(first.size());
  Ints result;
  auto perDimension = [&](auto value) {
    for (int i = 0; i < rank; ++i)
      result.push_back(value(i));
  };
  switch (strategy) {
  case 0:
    break;
  case 1: // some axes
  case 2:
    for (int i = 0; i < rank; ++i)
      if (random.chance(0.5))
        result.push_back(strategy == 1 ? i : i - rank);
    std::shuffle(result.begin(), result.end(), std::mt19937(static_cast<unsigned>(random.next())));
    break;
  case 3: // all axes
    perDimension([](int i) { return std::int64_t(i); });
    std::shuffle(result.begin(), result.end(), std::mt19937(static_cast<unsigned>(random.next())));
    break;
  case 4:
    perDimension([&](int) { return std::int64_t(random.below(3)); });
    break;
  case 5:
    perDimension([&](int) { return std::int64_t(1 + random.below(2)); });
    break;
  case 6: // places
    perDimension(
        [&](int i) { return std::int64_t(random.below(static_cast<int>(first[static_cast<std::size_t>(i)]) + 1)); });
    break;
  case 7:
    result = first;
    break;
  case 8: // two sizes
    result = {1 + random.below(3), 1 + random.below(3)};
    break;
  case 9:
    result = palette.shape(random);
    break;
  case 10: { // as many elements
    std::int64_t count = TensorType{DType::Bool, first}.numElements();
    switch (random.below(4)) {
    case 0:
      result = {-1};
      break;
    case 1:
      result = {1, count};
      break;
    case 2:
      result = first;
      result.insert(result.begin() + random.below(rank + 1), 1);
      break;
    default:
      for (std::int64_t size : {2, 3, 5, 7})
        if (size && count % size == 0 && random.chance(0.5)) {
          result.push_back(size);
          count /= size;
        }
      result.push_back(random.chance(0.3) && count ? -1 : count);
    }
    break;
  }
  case 11: // broadcast further
    result = first;
    for (std::int64_t &size : result)
      if (size == 1)
        size = random.of(palette.sizes);
    if (random.chance(0.4))
      result.insert(result.begin(), random.of(palette.sizes));
    break;
  case 12: // one axis of either
    result = {random.below(std::max(1, static_cast<int>(random.chance(0.5) ? first.size() : second.size())))};
    break;
  case 13: { // sizes that add up to one
    std::int64_t rest = rank ? first[static_cast<std::size_t>(random.below(rank))] : 1;
    while (rest && random.chance(0.6)) {
      result.push_back(random.below(static_cast<int>(rest) + 1));
      rest -= result.back();
    }
    result.push_back(random.chance(0.3) ? -1 : rest);
    break;
  }
  case 15: // what a window does in each dimension between the first and the last one
    for (int i = 2; i < rank; ++i)
      result.push_back(1 + random.below(2));
    break;
  case 16: // and its padding
    for (int i = 4; i < 2 * rank; ++i)
      result.push_back(random.below(2));
    break;
  default: // equal ones
    result = {1 + random.below(2)};
    result.push_back(result[0]);
  }
  return result;
}

// Asks the rule; where its message names a type, that in the place of an operand.
bool Strategies::repair(const schema::OperationSchema &schema, const std::function<Operand(const TensorType &)> &place,
                        Draw &draw, int depth) {
  std::vector<TensorType> types;
  for (const Operand &operand : draw.operands)
    types.push_back(operand.type);
  // An attribute of a kind that is not known here.
  for (std::size_t a = 0; a < schema.attributes.size(); ++a)
    if (schema.attributes[a].kind != AttributeKind::Text &&
        draw.attributes[a].index() != static_cast<std::size_t>(schema.attributes[a].kind))
      return false;
  schema::Inference inference = schema::inferTypes(schema.id, types, draw.attributes);
  if (!inference.fault)
    return true;
  if (!depth)
    return false;
  for (const TensorType &type : typesIn(inference.fault.message))
    for (std::size_t k = 0; k < draw.operands.size(); ++k) {
      if (draw.operands[k].type == type)
        continue;
      Operand kept = draw.operands[k];
      draw.operands[k] = place(type);
      if (repair(schema, place, draw, depth - 1))
        return true;
      draw.operands[k] = kept;
    }
  return false;
}

Pool::Pool(Strategies &strategies, std::uint64_t seed, Numbers numbers)
    : seed(seed), palette(seed, numbers), calls(schema::operations().size()) {
  Random random(mix(seed, 1));
  auto contains = [](const auto &list, const auto &x) { return std::find(list.begin(), list.end(), x) != list.end(); };
  auto isCommon = [&](const TensorType &type) {
    bool shape = type.rank() < 5 && contains(palette.shapes[static_cast<std::size_t>(type.rank())], type.dims);
    return shape && (type.dtype == DType::Bool || contains(palette.dtypes, type.dtype));
  };
  for (const schema::OperationSchema &schema : schema::operations()) {
    if (!Strategies::draws(schema.id, numbers))
      continue;
    std::vector<Draw> &found = calls[static_cast<std::size_t>(schema.id)];
    for (int tries = 0; tries < 120 && found.size() < kCalls; ++tries) {
      Draw draw;
      if (!strategies.draw(schema, palette, random, {}, draw))
        continue;
      // Mostly on types that others have, too, so that results find takers.
      bool common = true;
      for (const Operand &operand : draw.operands)
        common &= isCommon(operand.type);
      if (!common && tries < 90)
        continue;
      draw.choices.clear();
      found.push_back(std::move(draw));
    }
  }
}

} // namespace calque::fuzz

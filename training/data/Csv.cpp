#include "calque/data/csv.h"
#include "Nearest.h"
#include "Support.h"
#include "calque/functions.h"
#include "calque/init_scope.h"
#include "data/File.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace calque::data {
namespace {

struct Field {
  std::string text;
  bool isQuoted = false;
};

//===-- Fields ----------------------------------------------------------------------------------===//

class RowReader {
public:
  RowReader(const std::string &path, const CsvOptions &options, SourceLocation where)
      : file(path, where), options(options) {
    if (peek() == 0xEF) // a byte order mark
      for (int mark : {0xEF, 0xBB, 0xBF})
        if (peek() == mark)
          get();
  }

  // The fields of the next line that is not empty; false at the end.
  bool next(std::vector<Field> &fields) {
    while (peek() == '\n' || peek() == '\r')
      get();
    if (peek() < 0)
      return false;
    line = nextLine;
    fields.clear();
    for (;;) {
      fields.push_back(field());
      if (peek() != static_cast<unsigned char>(options.field_delim))
        break;
      get();
    }
    if (peek() == '\r')
      get();
    if (peek() == '\n')
      get();
    return true;
  }
  // Where the line of the last fields began.
  std::int64_t line = 1;
  FileReader file;

private:
  int peek() {
    if (at == buffer.size()) {
      buffer = file.readSome(1 << 16);
      at = 0;
    }
    return buffer.empty() ? -1 : static_cast<unsigned char>(buffer[at]);
  }
  int get() {
    const int next = peek();
    if (next >= 0)
      ++at;
    if (next == '\n')
      ++nextLine;
    return next;
  }
  bool isAtFieldsEnd() {
    const int next = peek();
    return next < 0 || next == '\n' || next == '\r' || next == static_cast<unsigned char>(options.field_delim);
  }

  // Up to the delimiter or the line's end.
  Field field() {
    Field one;
    if (options.use_quote_delim && peek() == '"') {
      get();
      one.isQuoted = true;
      for (int c; (c = get()) != '"' || peek() == '"'; one.text += static_cast<char>(c)) {
        if (c < 0)
          file.fail(absl::StrCat("line ", line, ": the quote of a field has no end"));
        if (c == '"')
          get();
      }
      if (!isAtFieldsEnd())
        file.fail(absl::StrCat("line ", line, ": something follows the closing quote of '", one.text, "'"));
    }
    while (!isAtFieldsEnd()) {
      if (options.use_quote_delim && peek() == '"')
        file.fail(absl::StrCat("line ", line, ": there is a quote inside of the field '", one.text,
                               "', which does not begin with one"));
      one.text += static_cast<char>(get());
    }
    return one;
  }

  const CsvOptions options;
  std::string buffer;
  std::size_t at = 0;
  std::int64_t nextLine = 1;
};

// A file whose lines have as many fields as the first one.
class TableReader {
public:
  TableReader(const std::string &path, const CsvOptions &options, SourceLocation where)
      : rows(path, options, where), options(options) {
    if (!rows.next(first))
      rows.file.fail("there are no lines in it");
    isFirst = !options.header;
    for (std::size_t i = 0; i < first.size(); ++i) {
      names.push_back(options.header ? std::string(absl::StripAsciiWhitespace(first[i].text)) : absl::StrCat(i));
      if (!places.emplace(names.back(), i).second)
        rows.file.fail(absl::StrCat("line 1: there are two columns with the name '", names.back(), "'"));
    }
  }
  bool next(std::vector<Field> &fields) {
    if (std::exchange(isFirst, false)) {
      fields = first;
      return true;
    }
    if (!rows.next(fields))
      return false;
    if (fields.size() != names.size())
      rows.file.fail(
          absl::StrCat("line ", rows.line, ": there are ", fields.size(), " fields and should be ", names.size()));
    return true;
  }
  std::size_t find(const std::string &name) const {
    const auto found = places.find(name);
    if (found == places.end())
      rows.file.fail(absl::StrCat("there is no column '", name, "'; ", training::nearest(name, names)));
    return found->second;
  }
  bool isMissing(const Field &field) const {
    return !field.isQuoted && std::find(options.na_values.begin(), options.na_values.end(),
                                        absl::StripAsciiWhitespace(field.text)) != options.na_values.end();
  }
  RowReader rows;
  std::vector<std::string> names;

private:
  const CsvOptions options;
  std::unordered_map<std::string, std::size_t> places; // of the names
  std::vector<Field> first;
  bool isFirst = false;
};

//===-- Values ----------------------------------------------------------------------------------===//

// What a number is that a type of floats does not hold: 0 or infinity, with its sign. It is told by the power of ten of
// its first digit that is not 0.
template <typename T> T beyondRange(std::string_view text) {
  const bool isNegative = text.starts_with('-');
  constexpr std::int64_t kLarge = std::int64_t(1) << 40; // more than digits that there can be
  std::int64_t power = 0, exponent = 0;
  bool isBehindPoint = false, isBehindDigit = false;
  const std::size_t letter = std::min(text.find_first_of("eE"), text.size());
  for (char c : text.substr(0, letter)) {
    if (c == '.')
      isBehindPoint = true;
    isBehindDigit = isBehindDigit || (c >= '1' && c <= '9');
    if (c >= '0' && c <= '9' && isBehindDigit != isBehindPoint)
      power += isBehindPoint ? -1 : 1;
  }
  const bool isFraction = text.substr(std::min(letter + 1, text.size())).starts_with('-');
  for (char c : text.substr(letter))
    if (c >= '0' && c <= '9')
      exponent = std::min(exponent * 10 + (c - '0'), kLarge);
  const bool isLarge = power + (isFraction ? -exponent : exponent) > 0;
  const T magnitude = isLarge ? std::numeric_limits<T>::infinity() : T(0);
  return isNegative ? -magnitude : magnitude;
}

// Nothing for what is no such value. A number that is too large or too small for a type of floats is infinity or 0; an
// integer is refused.
template <typename T> std::optional<T> parse(const std::string &field) {
  const std::string text(absl::StripAsciiWhitespace(field));
  T value{};
  if constexpr (calque::detail::kIsHalf<T>) { // rounded by way of float64, which has more than twice the digits
    const std::optional<double> wide = parse<double>(field);
    return wide ? std::optional(T(*wide)) : std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
    const std::string word = absl::AsciiStrToLower(text);
    if (word == "true" || word == "1")
      return true;
    if (word == "false" || word == "0")
      return false;
    return std::nullopt;
  } else {
    const char *begin = text.data() + (text.starts_with('+') && !text.starts_with("+-")),
               *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if constexpr (std::is_floating_point_v<T>)
      if (error == std::errc::result_out_of_range && stop == end)
        return beyondRange<T>({begin, end});
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
  }
}

template <typename T> T valueOf(const TableReader &table, const Field &field, const CsvColumn &column) {
  auto place = [&] { return absl::StrCat("line ", table.rows.line, ", column '", column.name, "': "); };
  if (table.isMissing(field)) {
    if (column.default_value) {
      const double value = *column.default_value;
      // Both bounds are powers of two, which a double has exactly; the largest number itself may not be one.
      if constexpr (std::is_integral_v<T>)
        if (const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
            std::trunc(value) != value || value < static_cast<double>(std::numeric_limits<T>::min()) || value >= limit)
          table.rows.file.fail(
              absl::StrCat(place(), "the default ", Number(value).str(), " is no ", name_of(column.dtype)));
      return static_cast<T>(value);
    }
    if constexpr (calque::detail::kIsFloating<T>)
      return std::numeric_limits<T>::quiet_NaN();
    table.rows.file.fail(absl::StrCat(place(), "a value is missing, and ", name_of(column.dtype), " has no default"));
  }
  const std::optional<T> value = parse<T>(field.text);
  if (!value)
    table.rows.file.fail(absl::StrCat(place(), "'", field.text, "' is no ", name_of(column.dtype)));
  return *value;
}

// The values of a column, one after the other.
struct Values {
  Values(CsvColumn column, std::size_t index) : column(std::move(column)), index(index) {}
  void append(const TableReader &table, const Field &field) {
    dispatch(column.dtype, [&]<typename T>(std::type_identity<T>) {
      const T value = valueOf<T>(table, field, column);
      bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
    });
  }
  Tensor tensor(std::int64_t rows) const {
    return calque::detail::makeTensor(column.dtype, bytes.data(), bytes.size() / size_of(column.dtype), {rows}, {});
  }
  const CsvColumn column;
  const std::size_t index;
  std::string bytes;
};

// The narrowest type that holds all fields; nothing for texts.
std::optional<DType> inferred(const TableReader &table, const std::vector<Field> &fields) {
  bool hasMissing = false, areBools = true, areIntegers = true, areNumbers = true, areAny = false;
  for (const Field &field : fields) {
    if (table.isMissing(field)) {
      hasMissing = true;
      continue;
    }
    areAny = true;
    areBools = areBools && parse<bool>(field.text) && !parse<std::int64_t>(field.text);
    areIntegers = areIntegers && parse<std::int64_t>(field.text);
    areNumbers = areNumbers && !field.isQuoted && parse<double>(field.text);
  }
  if (areAny && areBools && !hasMissing)
    return DType::Bool;
  if (areAny && areIntegers && areNumbers && !hasMissing)
    return DType::Int64;
  return areAny && areNumbers ? std::optional(DType::Float64) : std::nullopt;
}

} // namespace

//===-- Reading ---------------------------------------------------------------------------------===//

CsvTable read_csv(const std::string &path, const std::vector<CsvColumn> &columns, const CsvOptions &options,
                  SourceLocation where) {
  where = CallSite::resolve(where);
  CsvTable table;
  readWithinMemory(path, where, [&] { table.read(path, columns, options, where); });
  return table;
}

void CsvTable::read(const std::string &path, const std::vector<CsvColumn> &columns, const CsvOptions &options,
                    SourceLocation where) {
  TableReader table(path, options, where);
  std::vector<Field> fields;
  if (!columns.empty()) {
    std::vector<Values> values;
    for (const CsvColumn &column : columns)
      values.emplace_back(column, table.find(column.name));
    for (; table.next(fields); ++rows_)
      for (Values &each : values)
        each.append(table, fields[each.index]);
    for (const Values &each : values) {
      names_.push_back(each.column.name);
      columns_[each.column.name] = each.tensor(rows_);
    }
    return;
  }
  std::vector<std::vector<Field>> all(table.names.size());
  for (; table.next(fields); ++rows_)
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].push_back(std::move(fields[i]));
  names_ = table.names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const std::optional<DType> dtype = inferred(table, all[i])) {
      Values values({table.names[i], *dtype}, i);
      for (const Field &field : all[i])
        values.append(table, field);
      columns_[table.names[i]] = values.tensor(rows_);
    } else {
      std::vector<std::string> texts;
      for (Field &field : all[i])
        texts.push_back(std::move(field.text));
      columns_[table.names[i]] = std::move(texts);
    }
    std::vector<Field>().swap(all[i]);
  }
}

Dataset<std::map<std::string, Tensor>> csv_dataset(const std::string &path, const std::vector<CsvColumn> &columns,
                                                   const CsvOptions &options, SourceLocation where) {
  where = CallSite::resolve(where);
  if (columns.empty())
    throw ValueError("csv_dataset: names no columns; read_csv finds out the types of all", where);
  auto begin = [=]() -> detail::Generator {
    auto table = readWithinMemory(path, where, [&] { return std::make_shared<TableReader>(path, options, where); });
    std::vector<std::size_t> indices;
    for (const CsvColumn &column : columns)
      indices.push_back(table->find(column.name));
    auto next = [table, columns, indices]() -> std::optional<detail::Parts> {
      std::vector<Field> fields;
      if (!table->next(fields))
        return std::nullopt;
      std::map<std::string, Tensor> row;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        Values one(columns[i], indices[i]);
        one.append(*table, fields[indices[i]]);
        row[columns[i].name] = calque::detail::makeTensor(columns[i].dtype, one.bytes.data(), 1, {}, {});
      }
      return detail::partsOf(row);
    };
    return [next, path, where] { return readWithinMemory(path, where, next); };
  };
  std::map<std::string, Tensor> signature;
  for (const CsvColumn &column : columns)
    signature.emplace(column.name, TensorSpec<>(column.dtype, Shape()));
  return detail::Access::typed<std::map<std::string, Tensor>>(
      detail::Untyped::generator(begin, detail::partsOf(signature)));
}

Dataset<std::vector<std::string>> csv_rows(const std::string &path, const CsvOptions &options, SourceLocation where) {
  where = CallSite::resolve(where);
  auto begin = [=]() -> detail::Generator {
    auto next = [rows = std::make_shared<RowReader>(path, options, where)]() -> std::optional<detail::Parts> {
      std::vector<Field> fields;
      if (!rows->next(fields))
        return std::nullopt;
      std::vector<std::string> texts;
      for (Field &field : fields)
        texts.push_back(std::move(field.text));
      return detail::partsOf(texts);
    };
    return [next, path, where] { return readWithinMemory(path, where, next); };
  };
  return detail::Access::typed<std::vector<std::string>>(detail::Untyped::generator(begin, std::nullopt));
}

//===-- Tables ----------------------------------------------------------------------------------===//

const CsvTable::Column &CsvTable::find(const std::string &name, SourceLocation where) const {
  const auto found = columns_.find(name);
  if (found == columns_.end())
    throw LookupError(absl::StrCat("the table has no column '", name, "'; ", training::nearest(name, names_)),
                      CallSite::resolve(where));
  return found->second;
}

const Tensor &CsvTable::column(const std::string &name, SourceLocation where) const {
  const auto *numbers = std::get_if<Tensor>(&find(name, where));
  if (!numbers)
    throw DTypeError(absl::StrCat("column '", name, "' of the table holds texts, which texts() gives"),
                     CallSite::resolve(where));
  return *numbers;
}

const std::vector<std::string> &CsvTable::texts(const std::string &name, SourceLocation where) const {
  const auto *texts = std::get_if<std::vector<std::string>>(&find(name, where));
  if (!texts)
    throw DTypeError(absl::StrCat("column '", name, "' of the table holds numbers, which column() gives"),
                     CallSite::resolve(where));
  return *texts;
}

Tensor CsvTable::matrix(const std::vector<std::string> &names, DType dtype, SourceLocation where) const {
  struct Cast {
    Tensor values;
    const std::byte *bytes;
  };
  std::vector<Cast> columns;
  InitScope now; // the values are needed, also while a function is traced
  for (const std::string &name : names.empty() ? names_ : names)
    if (!names.empty() || std::holds_alternative<Tensor>(find(name, where))) {
      const Tensor given = column(name, where), as = cast(given, dtype);
      // Floating-point numbers are rounded, integers never.
      if (!is_floating(dtype) && any(not_equal(cast(as, given.dtype()), given)).item<bool>())
        throw DataError(absl::StrCat("the column '", name, "' has values that are no ", name_of(dtype)),
                        CallSite::resolve(where));
      columns.push_back({as, as.bytes(where).data()});
    }
  if (columns.empty())
    throw ValueError("the table has no columns of numbers for a matrix", CallSite::resolve(where));
  // By hand, as an operation is not made for as many operands as there may be columns.
  const std::size_t width = size_of(dtype), rows = static_cast<std::size_t>(rows_);
  std::vector<std::byte> bytes(rows * columns.size() * width);
  for (std::size_t row = 0, at = 0; row < rows; ++row)
    for (const Cast &column : columns) {
      std::memcpy(bytes.data() + at, column.bytes + row * width, width);
      at += width;
    }
  return calque::detail::makeTensor(dtype, bytes.data(), rows * columns.size(),
                                    {rows_, static_cast<std::int64_t>(columns.size())}, where);
}

} // namespace calque::data

// Files of comma-separated values, as RFC 4180 has them: fields in double quotes may hold the delimiter, line ends, and
// quotes that are written twice.
//
//   data::CsvTable titanic = data::read_csv("titanic.csv");
//   Tensor age = titanic.column("age");                        // float64[891], NaN where it is missing
//   Tensor x = titanic.matrix({"age", "fare"});                // float32[891,2]
//   const std::vector<std::string> &names = titanic.texts("name");
//
//   data::Dataset rows = data::csv_dataset("titanic.csv", {{"age", DType::Float32, 0}, {"survived", DType::Int32}});
//   for (const auto &row : rows.batch(32))                     // std::map<std::string, Tensor>
//     step(row.at("age"), row.at("survived"));
#ifndef CALQUE_DATA_CSV_H
#define CALQUE_DATA_CSV_H

#include "calque/data/dataset.h"

#include <variant>

namespace calque::data {

struct CsvOptions {
  bool header = true; // the first line names the columns; without one they are "0", "1" and so on
  char field_delim = ',';
  bool use_quote_delim = true; // without, a double quote is a character as any other
  // What stands for a missing value where it is no text in quotes.
  std::vector<std::string> na_values = {"", "NA", "N/A", "NaN", "nan", "null"};
};

// A column and its element type. Bools are true or false in any case, 1 or 0.
struct CsvColumn {
  std::string name;
  DType dtype = DType::Float32;
  std::optional<double> default_value = std::nullopt; // for missing values; NaN for floating-point types unless given
};

// A whole file by columns.
class CALQUE_API CsvTable {
public:
  std::int64_t rows() const { return rows_; }
  const std::vector<std::string> &names() const { return names_; }
  // A column of numbers. LookupError for a name that there is not, DTypeError for a column of texts.
  const Tensor &column(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  // Columns side by side, [rows, columns], all columns of numbers if none are named.
  Tensor matrix(const std::vector<std::string> &names = {}, DType dtype = DType::Float32,
                SourceLocation where = SourceLocation::current()) const;
  // A column of texts. DTypeError for one of numbers.
  const std::vector<std::string> &texts(const std::string &name,
                                        SourceLocation where = SourceLocation::current()) const;

private:
  friend CsvTable read_csv(const std::string &, const std::vector<CsvColumn> &, const CsvOptions &, SourceLocation);
  void read(const std::string &path, const std::vector<CsvColumn> &columns, const CsvOptions &options,
            SourceLocation where);
  using Column = std::variant<Tensor, std::vector<std::string>>;
  const Column &find(const std::string &name, SourceLocation where) const;
  std::int64_t rows_ = 0;
  std::vector<std::string> names_;
  std::map<std::string, Column> columns_;
};

// Reads a file, plain or compressed by gzip: the columns that are given, or all. Of the latter those are bool that hold
// nothing but true and false, int64 that hold integers, float64 that hold numbers or miss some; others are texts. A
// number that is too large for a type of floats is infinity, and one that is too small is 0, as in NumPy; an integer
// that is out of the range of its type is refused. DataError, which names the file, the line and the column, for what
// does not fit; MemoryError, which names the file. Empty lines are passed over.
CALQUE_API CsvTable read_csv(const std::string &path, const std::vector<CsvColumn> &columns = {},
                             const CsvOptions &options = {}, SourceLocation where = SourceLocation::current());

// The lines of a file as they come, scalars by the names of their columns. ValueError without columns; DataError while
// iterating.
CALQUE_API Dataset<std::map<std::string, Tensor>> csv_dataset(const std::string &path,
                                                              const std::vector<CsvColumn> &columns,
                                                              const CsvOptions &options = {},
                                                              SourceLocation where = SourceLocation::current());
// The fields of each line as texts, the header's too.
CALQUE_API Dataset<std::vector<std::string>> csv_rows(const std::string &path, const CsvOptions &options = {},
                                                      SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif

// Files of comma-separated values (RFC 4180). A field in double quotes may contain the delimiter, line ends, and double
// quotes, which are written twice.
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
  bool header = true; // the first line names the columns; without it, the names are "0", "1" and so on
  char field_delim = ',';
  bool use_quote_delim = true; // if false, a double quote is an ordinary character
  // A field with one of these texts, without quotes, is a missing value.
  std::vector<std::string> na_values = {"", "NA", "N/A", "NaN", "nan", "null"};
};

// A column and its element type. Bools are true or false in any case, 1 or 0.
struct CsvColumn {
  std::string name;
  DType dtype = DType::Float32;
  std::optional<double> default_value = std::nullopt; // for missing values; NaN for floating-point types unless given
};

// All columns of a file.
class CALQUE_API CsvTable {
public:
  std::int64_t rows() const { return rows_; }
  const std::vector<std::string> &names() const { return names_; }
  // A column of numbers. LookupError for an unknown name, DTypeError for a column of texts.
  const Tensor &column(const std::string &name, SourceLocation where = SourceLocation::current()) const;
  // Columns as a matrix, [rows, columns]. Without names, all columns of numbers.
  Tensor matrix(const std::vector<std::string> &names = {}, DType dtype = DType::Float32,
                SourceLocation where = SourceLocation::current()) const;
  // A column of texts. DTypeError for a column of numbers.
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

// Reads a file, plain or compressed by gzip: the given columns, or all. If no columns are given, their types follow
// from the fields: a column of true and false is bool, a column of integers int64, a column of numbers or with missing
// numbers float64, and any other column has texts. As in NumPy, a number that is too large for a floating-point type
// becomes infinity, and one that is too small becomes 0. An integer outside of its type's range is refused. Empty lines
// are skipped. DataError, which names the file, the line and the column, for a field that does not fit. MemoryError,
// which names the file.
CALQUE_API CsvTable read_csv(const std::string &path, const std::vector<CsvColumn> &columns = {},
                             const CsvOptions &options = {}, SourceLocation where = SourceLocation::current());

// A data set of the lines of a file: scalars by the names of their columns. Lines are read while iterating, and
// DataErrors are thrown then. ValueError without columns.
CALQUE_API Dataset<std::map<std::string, Tensor>> csv_dataset(const std::string &path,
                                                              const std::vector<CsvColumn> &columns,
                                                              const CsvOptions &options = {},
                                                              SourceLocation where = SourceLocation::current());
// A data set of the fields of each line as texts, including the header.
CALQUE_API Dataset<std::vector<std::string>> csv_rows(const std::string &path, const CsvOptions &options = {},
                                                      SourceLocation where = SourceLocation::current());

} // namespace calque::data
#endif

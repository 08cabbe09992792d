#include <calque/training.h>

#include <filesystem>
#include <iostream>

using namespace calque;

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "calque-data-example";
  std::filesystem::create_directories(folder);

  // Slices of tensors, shuffled, in batches that a thread makes ahead.
  Tensor x = tensor<float>({0, 1, 2, 3, 4}), y = x * 2;
  data::Dataset pairs = data::from_tensor_slices(x, y).shuffle(5, {.seed = 1}).batch(2).prefetch(2);
  for (auto [a, b] : pairs)
    std::cout << a << ' ' << b << '\n';
  auto [first, twice] = *pairs.begin(); // one element, of another order

  // Elements by name; a function of each, on several threads, in order.
  data::Dataset named = data::from_tensor_slices(std::map<std::string, Tensor>{{"x", x}, {"y", y}});
  data::Dataset sums = named.filter([](const auto &one) { return one.at("x") > 1; })
                           .map([](const auto &one) { return one.at("x") + one.at("y"); }, {.num_parallel_calls = 2});
  for (auto [i, sum] : sums.enumerate())
    std::cout << i << ": " << sum << '\n';

  // What a callable gives, without end; texts; sentences of different lengths, filled up.
  data::Dataset counter = data::from_generator([i = 0]() mutable { return std::optional(scalar(i++)); });
  data::Dataset lengths =
      data::from_generator(std::vector<std::string>{"a", "list", "of", "words"}).map([](const std::string &word) {
        return full({Size(word.size())}, 1, DType::Int32);
      });
  for (auto [words, numbers] : data::zip(lengths.padded_batch(2), counter.batch(3).take(2)))
    std::cout << words.shape() << ' ' << numbers << '\n';

  // Files: a table, records, NumPy's arrays, an image.
  {
    data::TFRecordWriter writer(folder + "/points.tfrecord");
    for (std::int64_t i = 0; i < 3; ++i)
      writer.write(data::Example{{{"at", std::vector<float>{1, float(i)}}, {"label", std::vector<std::int64_t>{i}}}}
                       .serialize());
  }
  data::Dataset records = data::tfrecord_dataset(folder + "/points.tfrecord").map([](const std::string &record) {
    return data::parse_single_example(record, {{"at", {.shape = {2}}}, {"label", {.dtype = DType::Int64}}});
  });
  for (const auto &batch : records.batch(3))
    std::cout << batch.at("at").shape() << ' ' << batch.at("label") << '\n';
  data::write_npz(folder + "/arrays.npz", {{"x", x}, {"y", y}});
  std::cout << data::read_npz(folder + "/arrays.npz").at("y") << '\n';
  data::write_image(folder + "/grey.png", full({4, 3, 1}, 0.5));
  std::cout << data::read_image(folder + "/grey.png").shape() << '\n';

  // Where an iteration stands, and there again.
  data::Dataset epochs = data::range(100).shuffle(100, {.seed = 7}).repeat();
  auto at = epochs.begin();
  for (int i = 0; i < 250; ++i)
    ++at;
  const std::string state = at.get_state();
  auto again = epochs.begin();
  again.set_state(state);
  std::cout << (again->item<std::int64_t>() == at->item<std::int64_t>() ? "resumed" : "lost") << '\n';
  std::filesystem::remove_all(folder);
}

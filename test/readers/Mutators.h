// Changes files so that readers look at what is changed: checksums, digests and lengths are made to fit.
#ifndef CALQUE_TEST_READERS_MUTATORS_H
#define CALQUE_TEST_READERS_MUTATORS_H

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace calque::testing {

// Changes any bytes, as a fuzzer has it.
using Mutation = std::function<void(std::string &bytes)>;
// Changes the bytes of a file of one format by a mutation of a part of it.
using Mutator = std::string (*)(std::string bytes, const Mutation &mutation, std::mt19937_64 &random);

// A mutation of its own.
std::string mutated(std::string bytes, std::mt19937_64 &random);

// JSON: values become others, go, stand twice or inside of each other.
std::string mutatedJson(std::string text, const Mutation &mutation, std::mt19937_64 &random);
// Files of tensors: the header, the texts of the metadata, or the bytes of an entry; with the digest that follows.
std::string mutatedTensorFile(std::string bytes, const Mutation &mutation, std::mt19937_64 &random);
// Files of functions: most often a program of theirs, changed as such; else as any file of tensors.
std::string mutatedFunctions(std::string bytes, const Mutation &mutation, std::mt19937_64 &random);
// The bytes of a program, changed as such.
std::string mutatedProgramBytes(std::string bytes, const Mutation &mutation, std::mt19937_64 &random);
// The programs in a file of functions.
std::vector<std::string> programsOf(const std::string &file);
// PNG: the data of a chunk, what is compressed in it, or the order of chunks.
std::string mutatedPng(std::string bytes, const Mutation &mutation, std::mt19937_64 &random);
// Records with checksums of their lengths and their bytes: TFRecord.
std::string mutatedRecords(std::string bytes, const Mutation &mutation, std::mt19937_64 &random);

} // namespace calque::testing
#endif

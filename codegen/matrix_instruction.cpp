#include "vnjit/codegen/matrix_instruction.hpp"

#include <fmt/format.h>

namespace vnjit {
namespace {

std::string numbered(std::string_view pattern, int first, int count) {
  std::string text;
  for (int n = 0; n < count; ++n) {
    if (n > 0) text += n % 8 == 0 ? ",\"\n      \" " : ", ";
    text += fmt::format(fmt::runtime(pattern), first + n);
  }
  return text;
}

/// What a matrix instruction calls its types, and how C++ and inline assembly call its sums.
struct Types {
  std::string_view operands;  // A then B, in the order of wgmma
  std::string_view sum;
  std::string_view c_sum;
  char constraint;
  int depth;  // elements along `in`: 32 bytes
};

Types types_of(Precision operands) {
  switch (operands) {
    case Precision::tf32:
      return {"tf32.tf32", "f32", "float", 'f', 8};
    case Precision::bf16:
      return {"bf16.bf16", "f32", "float", 'f', 16};
    case Precision::int8:
      return {"u8.s8", "s32", "int", 'r', 32};
    default:
      return {"f16.f16", "f32", "float", 'f', 16};
  }
}

/// Constraints of the accumulators, eight a line.
std::string sums(int count, char constraint) {
  std::string text;
  for (int n = 0; n < count; ++n) {
    if (n > 0) text += n % 8 == 0 ? ",\n        " : ", ";
    text += fmt::format("\"+{}\"(d[{}])", constraint, n);
  }
  return text;
}

/// What follows wgmma's operands: sums += A·B, neither negated, nor transposed where the type of
/// the operands knows that (`matrices`: how many of them could be).
std::string modifiers(Precision operands, int matrices) {
  if (operands == Precision::int8) return "1";
  if (operands == Precision::tf32) return "1, 1, 1";
  return matrices == 1 ? "1, 1, 1, 0" : "1, 1, 1, 0, 0";
}

}  // namespace

std::string mma_instruction(Precision operands) {
  const Types types = types_of(operands);
  return fmt::format(
      "namespace vnjit {{\n\n"
      "__device__ __forceinline__ void mma({c_sum}* d, const unsigned* a, const unsigned* b) {{\n"
      "  asm volatile(\n"
      "      \"mma.sync.aligned.m16n8k{k}.row.col.{sum}.{operands}.{sum}\"\n"
      "      \" {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};\"\n"
      "      : {sums}\n"
      "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
      "}}\n\n"
      "}}  // namespace vnjit\n",
      fmt::arg("k", types.depth), fmt::arg("sum", types.sum), fmt::arg("c_sum", types.c_sum),
      fmt::arg("operands", types.operands), fmt::arg("sums", sums(4, types.constraint)));
}

std::string wgmma_instructions(Precision operands, int batch) {
  const Types types = types_of(operands);
  const int count = batch / 2;  // sums a thread
  return fmt::format(
      "namespace vnjit {{\n\n"
      "__device__ __forceinline__ void wgmma_registers({c_sum}* d, const unsigned* a,\n"
      "                                                unsigned long long b) {{\n"
      "  asm volatile(\n"
      "      \"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{sum}.{operands}\"\n"
      "      \" {{{d}}},\"\n"
      "      \" {{{a}}}, %{b}, {registers};\"\n"
      "      : {sums}\n"
      "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b));\n"
      "}}\n\n"
      "__device__ __forceinline__ void wgmma_shared({c_sum}* d, unsigned long long a,\n"
      "                                             unsigned long long b) {{\n"
      "  asm volatile(\n"
      "      \"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{sum}.{operands}\"\n"
      "      \" {{{d}}},\"\n"
      "      \" %{count}, %{next}, {shared};\"\n"
      "      : {sums}\n"
      "      : \"l\"(a), \"l\"(b));\n"
      "}}\n\n"
      "}}  // namespace vnjit\n",
      fmt::arg("n", batch), fmt::arg("k", types.depth), fmt::arg("sum", types.sum),
      fmt::arg("c_sum", types.c_sum), fmt::arg("operands", types.operands),
      fmt::arg("d", numbered("%{}", 0, count)), fmt::arg("a", numbered("%{}", count, 4)),
      fmt::arg("b", count + 4), fmt::arg("registers", modifiers(operands, 1)),
      fmt::arg("sums", sums(count, types.constraint)), fmt::arg("count", count),
      fmt::arg("next", count + 1), fmt::arg("shared", modifiers(operands, 2)));
}

}  // namespace vnjit

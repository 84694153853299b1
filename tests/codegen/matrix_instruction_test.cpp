#include "vnjit/codegen/matrix_instruction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace vnjit {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One assembler statement: its text without line breaks, and its operands.
struct Statement {
  std::string text;
  std::set<int> numbers;  ///< of the operands that the text names
  int sums = 0;           ///< operands that are read and written
  int registers = 0;
  int descriptors = 0;

  int operands() const { return sums + registers + descriptors; }
};

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// The statements in `code`, in order.
std::vector<Statement> statements(const std::string& code) {
  std::vector<Statement> all;
  for (std::size_t at = code.find("asm volatile("); at != std::string::npos;
       at = code.find("asm volatile(", at + 1)) {
    const std::string whole = code.substr(at, code.find("\n}", at) - at);
    const std::size_t colon = whole.find("\n      : ");
    Statement statement;
    static const std::regex literal("\"([^\"]*)\"");
    const std::string text = whole.substr(0, colon);
    for (std::sregex_iterator part(text.begin(), text.end(), literal), end; part != end; ++part) {
      statement.text += (*part)[1];
    }
    static const std::regex number("%([0-9]+)");
    for (std::sregex_iterator part(text.begin(), text.end(), number), end; part != end; ++part) {
      statement.numbers.insert(std::stoi((*part)[1]));
    }
    const std::string operands = whole.substr(colon);
    statement.sums = count(operands, "\"+f\"");
    statement.registers = count(operands, "\"r\"");
    statement.descriptors = count(operands, "\"l\"");
    all.push_back(statement);
  }
  return all;
}

void expect_every_operand_named_once_declared(const Statement& statement) {
  EXPECT_EQ(statement.numbers.size(), static_cast<std::size_t>(statement.operands()));
  EXPECT_EQ(*statement.numbers.begin(), 0);
  EXPECT_EQ(*statement.numbers.rbegin(), statement.operands() - 1);
}

TEST(MatrixInstruction, OfMmaSyncIsOneShapeATypeOfOperands) {
  const struct {
    Precision operands;
    const char* name;
  } cases[] = {{Precision::f16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
               {Precision::bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"},
               {Precision::tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"}};
  for (const auto& [operands, name] : cases) {
    const std::vector<Statement> all = statements(mma_instruction(operands));
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].text, std::string(name) +
                               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};");
    EXPECT_EQ(all[0].sums, 4);
    EXPECT_EQ(all[0].registers, 6);
    expect_every_operand_named_once_declared(all[0]);
  }
}

TEST(MatrixInstruction, OfWgmmaTakesOperandsFromRegistersAndFromSharedMemory) {
  const std::vector<Statement> all = statements(wgmma_instructions(Precision::f16, 8));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].text,
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "%8, 1, 1, 1, 0;");
  EXPECT_EQ(all[1].text,
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, "
            "0, 0;");
  EXPECT_EQ(all[0].registers, 4);
  EXPECT_EQ(all[0].descriptors, 1);
  EXPECT_EQ(all[1].registers, 0);
  EXPECT_EQ(all[1].descriptors, 2);
}

TEST(MatrixInstruction, OfWgmmaHasHalfASumAThreadForEachBatchRow) {
  for (const Precision operands : {Precision::f16, Precision::bf16, Precision::tf32}) {
    for (int batch = 8; batch <= 256; batch += 8) {
      const std::string shape =
          "m64n" + std::to_string(batch) + (operands == Precision::tf32 ? "k8" : "k16");
      const std::string code = wgmma_instructions(operands, batch);
      for (const Statement& statement : statements(code)) {
        EXPECT_THAT(statement.text, HasSubstr("." + shape + ".f32."));
        EXPECT_EQ(statement.sums, batch / 2);
        expect_every_operand_named_once_declared(statement);
      }
      EXPECT_THAT(code, HasSubstr("\"+f\"(d[" + std::to_string(batch / 2 - 1) + "])"));
      EXPECT_THAT(code, Not(HasSubstr("(d[" + std::to_string(batch / 2) + "])")));
    }
  }
}

TEST(MatrixInstruction, OfTf32CannotBeTransposed) {
  const std::vector<Statement> all = statements(wgmma_instructions(Precision::tf32, 256));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].text, HasSubstr("m64n256k8.f32.tf32.tf32 {%0, "));
  EXPECT_TRUE(all[0].text.ends_with("%126, %127}, {%128, %129, %130, %131}, %132, 1, 1, 1;"));
  EXPECT_TRUE(all[1].text.ends_with("%126, %127}, %128, %129, 1, 1, 1;"));
  EXPECT_TRUE(statements(wgmma_instructions(Precision::bf16, 256))[1].text.ends_with(
      "%126, %127}, %128, %129, 1, 1, 1, 0, 0;"));
}

}  // namespace
}  // namespace vnjit

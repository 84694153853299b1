#include "vnjit/codegen/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vnjit/codegen/error.hpp"

namespace vnjit {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

constexpr NoiseSpec kAntithetic{.antithetic = true};

/// The message with which a problem is refused; empty where it is not.
std::string refusal_of(const Problem& problem) {
  try {
    validate(problem);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(Problem, IsNamedAsInTheCommand) {
  EXPECT_EQ(operation_name(PerturbedLinear{}), "perturbed-linear");
  EXPECT_EQ(operation_name(Gradient{}), "weight-gradient");
  EXPECT_EQ(operation_name(Gradient{.vector = true}), "bias-gradient");
  EXPECT_EQ(operation_name(ReduceMetric{}), "reduce-metric");
}

TEST(Problem, GivesItsNoise) {
  const NoiseSpec noise{Generator::philox, Distribution::rademacher, 10, true};
  EXPECT_EQ(noise_of(PerturbedLinear{.noise = noise}), noise);
  EXPECT_EQ(noise_of(Gradient{.noise = noise}), noise);
  EXPECT_EQ(noise_of(ReduceMetric{.noise = noise}), noise);
}

TEST(Problem, TheSameNoiseIsTheDefaultOfEveryOperation) {
  for (const Problem& problem :
       {Problem{PerturbedLinear{}}, Problem{Gradient{}},
        Problem{Gradient{.vector = true, .rows = 1}}, Problem{ReduceMetric{}}}) {
    EXPECT_EQ(noise_of(problem), NoiseSpec{}) << operation_name(problem);
    EXPECT_NO_THROW(validate(problem));
  }
}

TEST(Problem, KnowsTheShapeOfItsResult) {
  EXPECT_THAT(output_shape(PerturbedLinear{.pop = 6, .batch = 3, .in = 33, .out = 7}),
              ElementsAre(6, 3, 7));
  EXPECT_THAT(output_shape(Gradient{.pop = 6, .rows = 7, .columns = 33}), ElementsAre(7, 33));
  EXPECT_THAT(output_shape(Gradient{.vector = true, .pop = 6, .rows = 1, .columns = 7}),
              ElementsAre(7));
  EXPECT_THAT(output_shape(ReduceMetric{.pop = 6, .params = 1000}), ElementsAre(6));
}

TEST(Problem, KnowsTheCommandThatMakesItsSource) {
  EXPECT_EQ(command_flags(PerturbedLinear{}),
            "perturbed-linear --dtype f32 --bias --x shared --noise philox:uniform8:7");
  EXPECT_EQ(command_flags(PerturbedLinear{.noise = kAntithetic,
                                          .input = DataType::bf16,
                                          .bias = false,
                                          .layout = InputLayout::individual,
                                          .in = 784,
                                          .out = 256,
                                          .bake_shape = true}),
            "perturbed-linear --dtype bf16 --no-bias --x individual --noise philox:uniform8:7 "
            "--antithetic --bake-shape --in 784 --out 256");
  EXPECT_EQ(command_flags(PerturbedLinear{
                .input = DataType::f16, .output = DataType::f16, .precision = Precision::f32}),
            "perturbed-linear --dtype f16 --precision f32 --output f16 --bias --x shared --noise "
            "philox:uniform8:7");
  EXPECT_EQ(command_flags(PerturbedLinear{.precision = Precision::tf32}),
            "perturbed-linear --dtype f32 --precision tf32 --bias --x shared --noise "
            "philox:uniform8:7");
  EXPECT_EQ(command_flags(PerturbedLinear{.input = DataType::bf16, .output = DataType::bf16}),
            "perturbed-linear --dtype bf16 --output bf16 --bias --x shared --noise "
            "philox:uniform8:7");
  EXPECT_EQ(command_flags(Gradient{.noise = parse_noise_spec("triton")}),
            "weight-gradient --noise triton");
  EXPECT_EQ(command_flags(Gradient{.noise = kAntithetic, .vector = true, .rows = 1}),
            "bias-gradient --noise philox:uniform8:7 --antithetic");
  EXPECT_EQ(command_flags(Gradient{.normalize = Normalize::unbiased, .update = Update::sgd}),
            "weight-gradient --noise philox:uniform8:7 --update sgd");
  EXPECT_EQ(command_flags(Gradient{.noise = kAntithetic, .update = Update::adam}),
            "weight-gradient --noise philox:uniform8:7 --antithetic --update adam");
  EXPECT_EQ(command_flags(ReduceMetric{.noise = parse_noise_spec("philox:rademacher:10"),
                                       .input = DataType::f16}),
            "reduce-metric --dtype f16 --noise philox:rademacher:10");
}

TEST(Problem, EmptySizesAreLegal) {
  EXPECT_NO_THROW(validate(PerturbedLinear{.pop = 0, .batch = 0, .in = 0, .out = 0}));
  EXPECT_NO_THROW(validate(Gradient{.pop = 0, .rows = 0, .columns = 0}));
  EXPECT_NO_THROW(validate(Gradient{.vector = true, .pop = 0, .rows = 1, .columns = 0}));
  EXPECT_NO_THROW(validate(ReduceMetric{.pop = 0, .params = 0}));
}

TEST(Problem, RefusesNegativeSizesByName) {
  const struct {
    Problem problem;
    const char* message;
  } cases[] = {
      {PerturbedLinear{.pop = -1}, "pop is -1; sizes are 0 or more"},
      {PerturbedLinear{.batch = -2}, "batch is -2; sizes are 0 or more"},
      {PerturbedLinear{.in = -3}, "in is -3; sizes are 0 or more"},
      {PerturbedLinear{.out = -4}, "out is -4; sizes are 0 or more"},
      {Gradient{.pop = -1}, "pop is -1; sizes are 0 or more"},
      {Gradient{.rows = -5}, "rows is -5; sizes are 0 or more"},
      {Gradient{.columns = -6}, "columns is -6; sizes are 0 or more"},
      {ReduceMetric{.pop = -1}, "pop is -1; sizes are 0 or more"},
      {ReduceMetric{.params = -7}, "params is -7; sizes are 0 or more"},
  };
  for (const auto& refused : cases) {
    EXPECT_THAT([&] { validate(refused.problem); },
                ThrowsMessage<InvalidArgument>(refused.message));
  }
}

TEST(Problem, RefusesAnOddPopulationOfPairs) {
  const char* message = "pop is 7; antithetic noise needs an even number of individuals";
  EXPECT_THAT([] { validate(PerturbedLinear{.noise = kAntithetic, .pop = 7}); },
              ThrowsMessage<InvalidArgument>(message));
  EXPECT_THAT([] { validate(Gradient{.noise = kAntithetic, .pop = 7}); },
              ThrowsMessage<InvalidArgument>(message));
  EXPECT_THAT([] { validate(ReduceMetric{.noise = kAntithetic, .pop = 7}); },
              ThrowsMessage<InvalidArgument>(message));
  EXPECT_NO_THROW(validate(PerturbedLinear{.noise = kAntithetic, .pop = 8}));
}

TEST(Problem, RefusesNoiseThatIsNotDefined) {
  const NoiseSpec noise{Generator::philox, Distribution::uniform, 8};
  EXPECT_THAT(
      [&] { validate(Gradient{.noise = noise}); },
      ThrowsMessage<InvalidArgument>("noise rounds 8 are not offered for philox; use 7 or 10"));
}

TEST(Problem, OutputsAreF32OrOfTheTypeOfTheInput) {
  const auto refusal = [](DataType input, DataType output) {
    return refusal_of(PerturbedLinear{.input = input, .output = output});
  };
  using enum DataType;
  for (const DataType type : {f32, f16, bf16}) {
    EXPECT_EQ(refusal(type, f32), "");
    EXPECT_EQ(refusal(type, type), "");
  }
  EXPECT_EQ(refusal(f32, f16), "output is f16; f32 inputs have outputs of f32");
  EXPECT_EQ(refusal(f32, bf16), "output is bf16; f32 inputs have outputs of f32");
  EXPECT_EQ(refusal(f16, bf16), "output is bf16; f16 inputs have outputs of f32 or f16");
  EXPECT_EQ(refusal(bf16, f16), "output is f16; bf16 inputs have outputs of f32 or bf16");
}

TEST(Problem, ThePrecisionOfOperandsIsThatOfTheInputUnlessAskedFor) {
  const auto precision = [](DataType input, Precision asked) {
    return operand_precision({.input = input, .precision = asked});
  };
  EXPECT_EQ(operand_precision({}), Precision::f32);
  EXPECT_EQ(precision(DataType::f32, Precision::input), Precision::f32);
  EXPECT_EQ(precision(DataType::f16, Precision::input), Precision::f16);
  EXPECT_EQ(precision(DataType::bf16, Precision::input), Precision::bf16);
  for (const Precision asked :
       {Precision::f32, Precision::tf32, Precision::f16, Precision::bf16, Precision::int8}) {
    EXPECT_EQ(precision(DataType::f32, asked), asked);
  }
  EXPECT_EQ(precision(DataType::bf16, Precision::f32), Precision::f32);
}

TEST(Problem, EveryInputHasItsPrecisions) {
  const auto refusal = [](DataType input, Precision precision) {
    return refusal_of(PerturbedLinear{.input = input, .precision = precision});
  };
  using enum DataType;
  for (const Precision precision : {Precision::input, Precision::f32, Precision::tf32,
                                    Precision::f16, Precision::bf16, Precision::int8}) {
    EXPECT_EQ(refusal(f32, precision), "") << to_string(precision);
  }
  for (const Precision precision :
       {Precision::input, Precision::f32, Precision::f16, Precision::int8}) {
    EXPECT_EQ(refusal(f16, precision), "") << to_string(precision);
  }
  for (const Precision precision :
       {Precision::input, Precision::f32, Precision::bf16, Precision::int8}) {
    EXPECT_EQ(refusal(bf16, precision), "") << to_string(precision);
  }
  EXPECT_EQ(refusal(f16, Precision::tf32),
            "precision is tf32; f16 inputs take input, f16, f32 or int8");
  EXPECT_EQ(refusal(f16, Precision::bf16),
            "precision is bf16; f16 inputs take input, f16, f32 or int8");
  EXPECT_EQ(refusal(bf16, Precision::tf32),
            "precision is tf32; bf16 inputs take input, bf16, f32 or int8");
  EXPECT_EQ(refusal(bf16, Precision::f16),
            "precision is f16; bf16 inputs take input, bf16, f32 or int8");
}

TEST(Problem, Int8TakesBytesOfNoiseAndASharedX) {
  constexpr std::string_view kRule =
      "precision is int8; it multiplies the bytes of philox:uniform8 noise with a shared X, and ";
  const auto refusal = [](std::string_view noise, InputLayout layout) {
    return refusal_of(PerturbedLinear{
        .noise = parse_noise_spec(noise), .precision = Precision::int8, .layout = layout});
  };
  EXPECT_EQ(refusal("philox:uniform8:10", InputLayout::shared), "");
  EXPECT_EQ(refusal("philox:uniform8", InputLayout::individual),
            std::string(kRule) + "noise is philox:uniform8:7, X individual");
  EXPECT_EQ(refusal("philox:uniform", InputLayout::shared),
            std::string(kRule) + "noise is philox:uniform:7, X shared");
  EXPECT_EQ(refusal("triton", InputLayout::shared),
            std::string(kRule) + "noise is triton, X shared");
}

TEST(Problem, RefusesAVectorGradientOfSeveralRows) {
  EXPECT_THAT([] { validate(Gradient{.vector = true, .rows = 2}); },
              ThrowsMessage<InvalidArgument>(
                  "rows is 2; a vector gradient has one row, its size is columns"));
}

TEST(Update, IsParsedFromItsName) {
  for (const Update update : {Update::none, Update::sgd, Update::adam}) {
    EXPECT_EQ(parse_update(to_string(update)), update);
  }
  EXPECT_EQ(to_string(Update::adam), "adam");
  EXPECT_EQ(to_string(static_cast<Update>(3)), "?");
  EXPECT_THAT([] { parse_update("Adam"); },
              ThrowsMessage<InvalidArgument>("update 'Adam' is unknown; use none, sgd or adam"));
}

TEST(ValidateProblem, RefusesValuesThatNoEnumHas) {
  EXPECT_EQ(refusal_of(PerturbedLinear{.output = static_cast<DataType>(-1)}),
            "output -1 is no DataType");
  EXPECT_EQ(refusal_of(PerturbedLinear{.precision = static_cast<Precision>(6)}),
            "precision 6 is no Precision");
  EXPECT_EQ(refusal_of(PerturbedLinear{.input = static_cast<DataType>(77)}),
            "input 77 is no DataType");
  EXPECT_EQ(refusal_of(PerturbedLinear{.layout = static_cast<InputLayout>(9)}),
            "layout 9 is no InputLayout");
  EXPECT_EQ(refusal_of(Gradient{.normalize = static_cast<Normalize>(9)}),
            "normalize 9 is no Normalize");
  EXPECT_EQ(refusal_of(Gradient{.update = static_cast<Update>(3)}), "update 3 is no Update");
  EXPECT_EQ(refusal_of(ReduceMetric{.input = static_cast<DataType>(3)}), "input 3 is no DataType");
  EXPECT_EQ(refusal_of(Gradient{.noise = {.generator = static_cast<Generator>(5)}}),
            "noise generator 5 is no Generator");
  EXPECT_EQ(refusal_of(Gradient{.noise = {.distribution = static_cast<Distribution>(4)}}),
            "noise distribution 4 is no Distribution");
}

}  // namespace
}  // namespace vnjit

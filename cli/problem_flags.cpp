#include "problem_flags.hpp"

#include <fmt/format.h>

#include <limits>

#include "files.hpp"
#include "flag_values.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/runtime/runtime.hpp"

namespace vnjit::cli {
namespace {

constexpr unsigned kPerturbedLinear = 1;
constexpr unsigned kWeightGradient = 2;
constexpr unsigned kBiasGradient = 4;
constexpr unsigned kReduceMetric = 8;
constexpr unsigned kGradients = kWeightGradient | kBiasGradient;
constexpr unsigned kAll = kPerturbedLinear | kGradients | kReduceMetric;

constexpr std::string_view kContiguous = "contiguous";
constexpr std::string_view kOperations =
    "perturbed-linear, weight-gradient, bias-gradient or reduce-metric";

unsigned operation_bit(std::string_view name) {
  if (name == "perturbed-linear") return kPerturbedLinear;
  if (name == "weight-gradient") return kWeightGradient;
  if (name == "bias-gradient") return kBiasGradient;
  if (name == "reduce-metric") return kReduceMetric;
  throw InvalidArgument(fmt::format("unknown operation '{}'; OP is {}", name, kOperations));
}

InputLayout parse_layout(std::string_view text) {
  if (text == "shared") return InputLayout::shared;
  if (text == "individual") return InputLayout::individual;
  throw InvalidArgument(fmt::format("'{}' is not a layout of X; use shared or individual", text));
}

Normalize parse_normalize(std::string_view text) {
  if (text == "seed") return Normalize::seed;
  if (text == "unbiased") return Normalize::unbiased;
  throw InvalidArgument(fmt::format("'{}' is not a divisor; use seed or unbiased", text));
}

std::int64_t size(std::string_view flag, std::string_view text) {
  return parse_count(flag, text, "a size");
}

}  // namespace

ProblemFlags::ProblemFlags(CLI::App& command) {
  const PerturbedLinear defaults;
  pop_ = fmt::to_string(defaults.pop);
  batch_ = fmt::to_string(defaults.batch);
  in_ = fmt::to_string(defaults.in);
  out_ = fmt::to_string(defaults.out);
  dtype_ = to_string(defaults.input);
  x_ = "shared";
  noise_ = to_string(defaults.noise);
  normalize_ = "seed";
  arch_ = DeviceLimits{}.name;
  access_ = kContiguous;
  command.add_option("OP", operation_, std::string(kOperations))->required()->type_name("");
  add_sizes(command);
  add_operation_flags(command);
  add_kernel_flags(command);
}

CLI::Option* ProblemFlags::add(CLI::App& command, const std::string& name, std::string& value,
                               const std::string& type, const std::string& text,
                               unsigned operations) {
  CLI::Option* option = command.add_option(name, value, text)->type_name(type);
  if (!value.empty()) option->capture_default_str();
  flags_.push_back({option, operations});
  return option;
}

void ProblemFlags::add_sizes(CLI::App& command) {
  const std::string group = "Sizes (they guide the choice of a config; a kernel takes any)";
  add(command, "--pop", pop_, "N", "individuals; all operations", kAll)->group(group);
  add(command, "--batch", batch_, "N", "rows of X an individual; perturbed-linear",
      kPerturbedLinear)
      ->group(group);
  add(command, "--in", in_, "N",
      "columns of W; all but bias-gradient (reduce-metric has in x out parameters)",
      kAll & ~kBiasGradient)
      ->group(group);
  add(command, "--out", out_, "N", "rows of W, elements of the bias; all operations", kAll)
      ->group(group);
}

void ProblemFlags::add_operation_flags(CLI::App& command) {
  const std::string group = "What is computed";
  add(command, "--noise", noise_, "NOISE",
      "GENERATOR[:DISTRIBUTION[:ROUNDS]]: triton, splitmix64, or philox with uniform, uniform8 or "
      "rademacher and 7 or 10 rounds; all operations",
      kAll)
      ->group(group);
  flags_.push_back({command
                        .add_flag("--antithetic", antithetic_,
                                  "individuals 2p and 2p+1 use one seed with + and -; all "
                                  "operations")
                        ->group(group),
                    kAll});
  add(command, "--dtype", dtype_, "TYPE",
      "of X, W and bias, or of the metric's center: f32, bf16 or f16; perturbed-linear, "
      "reduce-metric",
      kPerturbedLinear | kReduceMetric)
      ->group(group);
  CLI::Option* bias =
      command.add_flag("--bias", bias_, "with a bias (the default); perturbed-linear");
  CLI::Option* no_bias = command.add_flag("--no-bias", no_bias_, "without; perturbed-linear");
  flags_.push_back({bias->group(group)->excludes(no_bias), kPerturbedLinear});
  flags_.push_back({no_bias->group(group), kPerturbedLinear});
  add(command, "--x", x_, "LAYOUT",
      "shared: X is (batch, in); individual: (pop, batch, in); perturbed-linear", kPerturbedLinear)
      ->group(group);
  add(command, "--normalize", normalize_, "DIVISOR",
      "seed: pop sigma; unbiased: pop sigma Var(N); the gradients", kGradients)
      ->group(group);
}

void ProblemFlags::add_kernel_flags(CLI::App& command) {
  const std::string group = "How";
  std::string presets;
  for (const std::string_view name : preset_names()) {
    presets += (presets.empty() ? "" : ", ") + std::string(name);
  }
  CLI::Option* arch = add(command, "--arch", arch_, "ARCH",
                          "limits of a typical device of an architecture: " + presets, kAll);
  device_flag_ = add(command, "--device", device_, "N", "limits of this machine's GPU N", kAll);
  arch->group(group);
  device_flag_->group(group)->excludes(arch);
  config_flag_ = add(command, "--config", config_, "CONFIG",
                     "such as " + to_string(Config{}) + "; left out, the library chooses", kAll)
                     ->group(group);
  add(command, "--access", access_, "CLASS",
      "contiguous: the kernel for aligned, contiguous buffers of these sizes at offset 0; any: the "
      "one for every alignment, stride and size; or what to take for granted, as explain shows it",
      kAll)
      ->group(group);
  flags_.push_back({command
                        .add_flag("--bake-shape", bake_shape_,
                                  "make in and out constants of the kernel; perturbed-linear")
                        ->group(group),
                    kPerturbedLinear});
}

KernelRequest ProblemFlags::request() const {
  KernelRequest request;
  request.problem = problem();
  note_unused_flags();
  request.limits = limits();
  request.access = access_ == kContiguous ? contiguous_access(request.problem)
                                          : parse_with("--access", access_, parse_access);
  request.config_given = config_flag_->count() > 0;
  if (request.config_given) {
    request.config = parse_with<ConfigError>("--config", config_, [&](std::string_view text) {
      const Config config = parse_config(text);
      validate(config, request.problem, request.limits);
      return config;
    });
  } else {
    request.config = choose_config(request.problem, request.limits);
  }
  return request;
}

void ProblemFlags::note_unused_flags() const {
  const unsigned operation = operation_bit(operation_);
  for (const Flag& flag : flags_) {
    if (flag.option->count() == 0 || (flag.operations & operation) != 0) continue;
    write_note(fmt::format("vnjit: note: {} has no use for {}", operation_,
                           flag.option->get_name(false, false)));
  }
}

NoiseSpec ProblemFlags::noise() const {
  NoiseSpec noise = parse_with("--noise", noise_, parse_noise_spec);
  noise.antithetic = antithetic_;
  return noise;
}

Problem ProblemFlags::problem() const {
  Problem problem;
  switch (operation_bit(operation_)) {
    case kPerturbedLinear:
      problem = perturbed_linear();
      break;
    case kReduceMetric:
      problem = reduce_metric();
      break;
    default:
      problem = gradient(operation_bit(operation_) == kBiasGradient);
  }
  validate(problem);
  return problem;
}

Problem ProblemFlags::perturbed_linear() const {
  PerturbedLinear problem;
  problem.noise = noise();
  problem.input = parse_with("--dtype", dtype_, parse_data_type);
  problem.bias = !no_bias_;
  problem.layout = parse_with("--x", x_, parse_layout);
  problem.pop = size("--pop", pop_);
  problem.batch = size("--batch", batch_);
  problem.in = size("--in", in_);
  problem.out = size("--out", out_);
  problem.bake_shape = bake_shape_;
  return problem;
}

Problem ProblemFlags::gradient(bool vector) const {
  Gradient problem;
  problem.noise = noise();
  problem.normalize = parse_with("--normalize", normalize_, parse_normalize);
  problem.vector = vector;
  problem.pop = size("--pop", pop_);
  problem.rows = vector ? 1 : size("--out", out_);
  problem.columns = vector ? size("--out", out_) : size("--in", in_);
  return problem;
}

Problem ProblemFlags::reduce_metric() const {
  ReduceMetric problem;
  problem.noise = noise();
  problem.input = parse_with("--dtype", dtype_, parse_data_type);
  problem.pop = size("--pop", pop_);
  const std::int64_t in = size("--in", in_);
  const std::int64_t out = size("--out", out_);
  if (__builtin_mul_overflow(in, out, &problem.params)) {
    throw InvalidArgument(
        fmt::format("--in {} x --out {} parameters are more than 2^63 - 1", in, out));
  }
  return problem;
}

DeviceLimits ProblemFlags::limits() const {
  if (device_flag_->count() == 0) {
    return parse_with("--arch", arch_,
                      [](std::string_view name) { return DeviceLimits::preset(name); });
  }
  const std::int64_t ordinal = parse_count("--device", device_, "a device number");
  if (ordinal > std::numeric_limits<int>::max()) {
    throw InvalidArgument(fmt::format("--device: there is no device {}", ordinal));
  }
  return Runtime().gpu(static_cast<int>(ordinal))->limits();
}

}  // namespace vnjit::cli

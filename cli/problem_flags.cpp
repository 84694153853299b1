#include "problem_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "files.hpp"
#include "flag_values.hpp"
#include "vnjit/codegen/candidates.hpp"
#include "vnjit/codegen/tensor_config.hpp"
#include "vnjit/runtime/runtime.hpp"
#include "vnjit/runtime/template_dir.hpp"

namespace vnjit::cli {
namespace {

constexpr unsigned kPerturbedLinear = 1;
constexpr unsigned kWeightGradient = 2;
constexpr unsigned kBiasGradient = 4;
constexpr unsigned kReduceMetric = 8;
constexpr unsigned kGradients = kWeightGradient | kBiasGradient;
constexpr unsigned kAll = kPerturbedLinear | kGradients | kReduceMetric;

constexpr std::string_view kContiguous = "contiguous";
constexpr std::string_view kCpu = "cpu";
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

ProblemFlags::ProblemFlags(CLI::App& command, FlagsFor use) : use_(use) {
  const PerturbedLinear defaults;
  pop_ = fmt::to_string(defaults.pop);
  batch_ = fmt::to_string(defaults.batch);
  in_ = fmt::to_string(defaults.in);
  out_ = fmt::to_string(defaults.out);
  dtype_ = to_string(defaults.input);
  precision_ = to_string(defaults.precision);
  output_ = to_string(defaults.output);
  x_ = "shared";
  noise_ = to_string(defaults.noise);
  normalize_ = "seed";
  update_ = to_string(Update::none);
  arch_ = DeviceLimits{}.name;
  access_ = kContiguous;
  command.add_option("OP", operation_, std::string(kOperations))
      ->required(use != FlagsFor::tuning)
      ->type_name("");
  add_sizes(command);
  add_operation_flags(command);
  add_device_flags(command);
  add_kernel_flags(command);
}

KernelSource KernelRequest::source() const {
  return templates ? emit(problem, config, limits, access, *templates)
                   : emit(problem, config, limits, access);
}

Options KernelRequest::options() const {
  Options options = Options::from_environment();
  options.templates = templates;
  return options;
}

CLI::Option* ProblemFlags::add(CLI::App& command, const std::string& name, std::string& value,
                               const std::string& type, const std::string& text,
                               unsigned operations) {
  CLI::Option* option = command.add_option(name, value, text)->type_name(type);
  if (!value.empty()) option->capture_default_str();
  flags_.push_back({name, option, operations});
  return option;
}

CLI::Option* ProblemFlags::add_switch(CLI::App& command, const std::string& name, bool& value,
                                      const std::string& text, unsigned operations) {
  CLI::Option* option = command.add_flag(name, value, text)->disable_flag_override();
  flags_.push_back({name, option, operations});
  return option;
}

bool ProblemFlags::given(std::string_view name) const {
  const auto flag = std::find_if(flags_.begin(), flags_.end(),
                                 [&](const Flag& candidate) { return candidate.name == name; });
  return flag->option->count() > 0;
}

void ProblemFlags::add_sizes(CLI::App& command) {
  const std::string group = "Sizes (they guide the choice of a config; a kernel takes any)";
  add(command, "--pop", pop_, "N", "individuals (all)", kAll)->group(group);
  add(command, "--batch", batch_, "N", "rows of X an individual (perturbed-linear)",
      kPerturbedLinear)
      ->group(group);
  add(command, "--in", in_, "N",
      "columns of W (all but bias-gradient; reduce-metric has in x out\nparameters)",
      kAll & ~kBiasGradient)
      ->group(group);
  add(command, "--out", out_, "N", "rows of W, elements of the bias (all)", kAll)->group(group);
}

void ProblemFlags::add_operation_flags(CLI::App& command) {
  const std::string group = "What is computed";
  add(command, "--noise", noise_, "NOISE", std::string(kNoiseHelp) + " (all)", kAll)->group(group);
  add_switch(command, "--antithetic", antithetic_,
             "individuals 2p and 2p+1 use one seed with + and - (all)", kAll)
      ->group(group);
  add(command, "--dtype", dtype_, "TYPE",
      "f32, bf16 or f16: X, W and bias (perturbed-linear) or the center\n(reduce-metric)",
      kPerturbedLinear | kReduceMetric)
      ->group(group);
  add(command, "--precision", precision_, "PRECISION",
      "what operands may be rounded to: input (the type of X and W), f32,\ntf32, f16 or "
      "bf16; int8: of X where it meets noise (perturbed-linear)",
      kPerturbedLinear)
      ->group(group);
  add(command, "--output", output_, "TYPE",
      "f32, or the type of X and W: the result (perturbed-linear)", kPerturbedLinear)
      ->group(group);
  add_switch(command, "--bias", bias_, "with a bias, the default (perturbed-linear)",
             kPerturbedLinear)
      ->group(group);
  add_switch(command, "--no-bias", no_bias_, "without (perturbed-linear)", kPerturbedLinear)
      ->group(group);
  add(command, "--x", x_, "LAYOUT",
      "shared: X is (batch, in); individual: (pop, batch, in)\n(perturbed-linear)",
      kPerturbedLinear)
      ->group(group);
  add(command, "--normalize", normalize_, "DIVISOR",
      "seed: pop sigma; unbiased: pop sigma Var(N) (the gradients)", kGradients)
      ->group(group);
  add(command, "--update", update_, "UPDATE",
      "none, sgd or adam: step the parameters along the gradient in place\n(the gradients)",
      kGradients)
      ->group(group);
}

void ProblemFlags::add_device_flags(CLI::App& command) {
  const std::string group = "How";
  if (use_ == FlagsFor::running) {
    device_ = "0";
    add(command, "--device", device_, "N", "GPU N of this machine, or cpu", kAll)->group(group);
    return;
  }
  add(command, "--arch", arch_, "ARCH",
      fmt::format("limits of an architecture's typical device:\n{}",
                  fmt::join(preset_names(), ", ")),
      kAll)
      ->group(group);
  const bool tuning = use_ == FlagsFor::tuning;
  if (tuning) device_ = "0";
  add(command, "--device", device_, "N",
      tuning ? "GPU N of this machine" : "limits of this machine's GPU N, instead of --arch", kAll)
      ->group(group);
}

void ProblemFlags::add_kernel_flags(CLI::App& command) {
  const std::string group = "How";
  add_switch(command, "--bake-shape", bake_shape_,
             "make in and out constants of the kernel (perturbed-linear)", kPerturbedLinear)
      ->group(group);
  if (use_ == FlagsFor::tuning) return;
  add(command, "--config", config_, "CONFIG",
      "such as " + to_string(Config{}) + "; else the library chooses", kAll)
      ->group(group);
  add(command, "--family", family_, "FAMILY",
      "simt, mma_sync or wgmma: the library chooses among its configs", kAll)
      ->group(group);
  if (use_ == FlagsFor::looking) {
    add(command, "--access", access_, "CLASS",
        "contiguous: for aligned, contiguous buffers of these sizes at offset\n0; any: for every "
        "alignment, stride and size; or what explain shows",
        kAll)
        ->group(group);
  }
  add(command, "--template-dir", template_dir_, "DIR",
      "put kernels together from this copy of templates/, or of some files in\nit, instead of "
      "what is built in",
      kAll)
      ->group(group);
}

void ProblemFlags::refuse_contradictions() const {
  const auto refuse_both = [&](std::string_view first, std::string_view second) {
    if (given(first) && given(second)) {
      throw InvalidArgument(fmt::format("{} and {} exclude each other", first, second));
    }
  };
  refuse_both("--bias", "--no-bias");
  if (use_ != FlagsFor::running) refuse_both("--arch", "--device");
  if (use_ != FlagsFor::tuning) refuse_both("--config", "--family");
}

Problem ProblemFlags::noted_problem() const {
  refuse_contradictions();
  Problem result = problem();
  note_unused_flags();
  return result;
}

KernelRequest ProblemFlags::request() const {
  KernelRequest request;
  refuse_contradictions();
  request.problem = problem();
  note_unused_flags();
  if (given("--template-dir")) {
    require_name("--template-dir", template_dir_);
    request.templates = std::make_shared<const TemplateFiles>(read_templates(template_dir_));
  }
  request.ordinal = ordinal();
  request.limits = limits(request.ordinal);
  request.access = access_ == kContiguous ? contiguous_access(request.problem)
                                          : parse_with("--access", access_, parse_access);
  request.config_given = given("--config");
  request.family_given = given("--family");
  request.config = config(request.problem, request.limits, request.access);
  return request;
}

void ProblemFlags::note_unused_flags() const {
  const unsigned operation = operation_bit(operation_);
  for (const Flag& flag : flags_) {
    if (flag.option->count() == 0 || (flag.operations & operation) != 0) continue;
    write_note(fmt::format("vnjit: note: {} has no use for {}", operation_, flag.name));
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
  problem.precision = parse_with("--precision", precision_, parse_precision);
  problem.output = parse_with("--output", output_, parse_data_type);
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
  problem.update = parse_with("--update", update_, parse_update);
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

/// Of the GPU that is named, -1 where none is.
int ProblemFlags::ordinal() const {
  const bool named = use_ == FlagsFor::looking ? given("--device") : device_ != kCpu;
  if (!named) return -1;
  const std::int64_t ordinal = parse_count("--device", device_, "a device number");
  if (ordinal > std::numeric_limits<int>::max()) {
    throw InvalidArgument(fmt::format("--device: there is no device {}", ordinal));
  }
  return static_cast<int>(ordinal);
}

DeviceLimits ProblemFlags::limits(int ordinal) const {
  if (ordinal >= 0) return Runtime().gpu(ordinal)->limits();
  return parse_with("--arch", arch_,
                    [](std::string_view name) { return DeviceLimits::preset(name); });
}

Config ProblemFlags::config(const Problem& problem, const DeviceLimits& limits,
                            const Access& access) const {
  if (given("--config")) {
    return parse_with<ConfigError>("--config", config_, [&](std::string_view text) {
      const Config config = parse_config(text);
      validate(config, problem, limits);
      return config;
    });
  }
  if (!given("--family")) {
    const Config config = choose_config(problem, limits);
    const auto* linear = std::get_if<PerturbedLinear>(&problem);
    // As a plan does with buffers of that class.
    const bool fits =
        !linear || !is_tensor(config.family) || missing_access(config, *linear, access).empty();
    return fits ? config : choose_config(problem, limits, Family::simt);
  }
  return parse_with<ConfigError>("--family", family_, [&](std::string_view name) {
    return choose_config(problem, limits, parse_family(name));
  });
}

}  // namespace vnjit::cli

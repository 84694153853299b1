/* The C API from C99: each operation isolates the noise, which vnjit_fill_noise makes too. */
#include <stdio.h>
#include <vnjit/vnjit.h>

enum { kRows = 5, kColumns = 7, kElements = kRows * kColumns };

static const int64_t kSeed = -3;
static const int64_t kOffset = 100;

typedef struct {
  vnjit_runtime* runtime;
  vnjit_device* device;
  vnjit_error error;
} context;

static int fails(const context* with, vnjit_status status, const char* what) {
  if (status == VNJIT_OK) return 0;
  fprintf(stderr, "%s: %s: %s\n", what, vnjit_status_name(status), with->error.message);
  return 1;
}

static int differs(const char* what, float value, float expected) {
  if (value == expected) return 0;
  fprintf(stderr, "%s: %.9g is not %.9g\n", what, (double)value, (double)expected);
  return 1;
}

static int run(context* with, const vnjit_problem* problem, const vnjit_arguments* arguments,
               const char* what) {
  vnjit_plan* plan = NULL;
  int failed = fails(
      with, vnjit_plan_create(with->runtime, with->device, problem, NULL, &plan, &with->error),
      what);
  if (!failed) {
    failed = fails(with, vnjit_plan_run(plan, arguments, NULL, NULL, 0, &with->error), what);
  }
  vnjit_plan_destroy(plan);
  return failed;
}

/* X is the identity and W is 0, so Y is the noise, transposed. */
static int check_perturbed_linear(context* with, const float* noise) {
  float x[kColumns][kColumns] = {{0}};
  float weight[kElements] = {0};
  float y[kColumns][kRows];
  int failed = 0;
  vnjit_perturbed_linear problem;
  vnjit_perturbed_linear_arguments arguments;

  vnjit_perturbed_linear_init(&problem);
  problem.bias = 0;
  vnjit_perturbed_linear_arguments_init(&arguments);
  arguments.base.sigma = 1.0f;
  arguments.base.seeds = &kSeed;
  arguments.base.pop = 1;
  arguments.x = x;
  arguments.weight = weight;
  arguments.y = y;
  arguments.offset = kOffset;
  arguments.batch = kColumns;
  arguments.in = kColumns;
  arguments.out = kRows;
  for (int k = 0; k < kColumns; ++k) x[k][k] = 1.0f;
  if (run(with, &problem.base, &arguments.base, "perturbed linear")) return 1;
  for (int k = 0; k < kColumns; ++k) {
    for (int j = 0; j < kRows; ++j) {
      failed += differs("perturbed linear", y[k][j], noise[j * kColumns + k]);
    }
  }
  return failed;
}

/* Of one individual, with a block of all elements whose buffers are still null. */
static void init_gradient(const float* fitness, vnjit_gradient_block* block,
                          vnjit_gradient_arguments* arguments) {
  vnjit_gradient_block_init(block);
  block->offset = kOffset;
  block->rows = kRows;
  block->columns = kColumns;
  vnjit_gradient_arguments_init(arguments);
  arguments->base.sigma = 1.0f;
  arguments->base.seeds = &kSeed;
  arguments->base.pop = 1;
  arguments->fitness = fitness;
  arguments->blocks = block;
  arguments->block_count = 1;
}

/* Of one individual with fitness 1. */
static int check_gradient(context* with, const float* noise) {
  const float fitness = 1.0f;
  float output[kElements];
  int failed = 0;
  vnjit_gradient problem;
  vnjit_gradient_arguments arguments;
  vnjit_gradient_block block;

  vnjit_gradient_init(&problem);
  init_gradient(&fitness, &block, &arguments);
  block.output = output;
  if (run(with, &problem.base, &arguments.base, "gradient")) return 1;
  for (int n = 0; n < kElements; ++n) failed += differs("gradient", output[n], noise[n]);
  return failed;
}

/* Parameters of 0 step along that gradient, which is not written. */
static int check_update(context* with, const float* noise) {
  const float fitness = 1.0f;
  float weight[kElements] = {0};
  int failed = 0;
  vnjit_gradient problem;
  vnjit_gradient_arguments arguments;
  vnjit_gradient_block block;

  vnjit_gradient_init(&problem);
  problem.update = VNJIT_UPDATE_SGD;
  init_gradient(&fitness, &block, &arguments);
  block.weight = weight;
  arguments.learning_rate = 0.5f;
  if (run(with, &problem.base, &arguments.base, "update")) return 1;
  for (int n = 0; n < kElements; ++n) failed += differs("update", weight[n], 0.5f * noise[n]);
  return failed;
}

/* Of one parameter, which is 0. */
static int check_reduce_metric(context* with, const float* noise) {
  const float center = 0.0f;
  float metric = -1.0f;
  vnjit_reduce_metric problem;
  vnjit_reduce_metric_arguments arguments;

  vnjit_reduce_metric_init(&problem);
  vnjit_reduce_metric_arguments_init(&arguments);
  arguments.base.sigma = 1.0f;
  arguments.base.seeds = &kSeed;
  arguments.base.pop = 1;
  arguments.center = &center;
  arguments.metric = &metric;
  arguments.offset = kOffset;
  arguments.params = 1;
  if (run(with, &problem.base, &arguments.base, "reduce metric")) return 1;
  return differs("reduce metric", metric, noise[0] < 0.0f ? -noise[0] : noise[0]);
}

int main(void) {
  context with = {NULL, NULL, {0}};
  vnjit_noise noise;
  float values[kElements];
  int failed;

  vnjit_error_init(&with.error);
  failed = fails(&with, vnjit_runtime_create(NULL, &with.runtime, &with.error), "runtime") ||
           fails(&with, vnjit_device_cpu(with.runtime, &with.device, &with.error), "device") ||
           fails(&with, vnjit_parse_noise("philox:uniform8:7", &noise, &with.error), "noise") ||
           fails(&with, vnjit_fill_noise(&noise, kSeed, kOffset, kElements, values, &with.error),
                 "noise") ||
           check_perturbed_linear(&with, values) + check_gradient(&with, values) +
                   check_update(&with, values) + check_reduce_metric(&with, values) !=
               0;
  vnjit_device_destroy(with.device);
  vnjit_runtime_destroy(with.runtime);
  return failed;
}

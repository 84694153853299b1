#ifndef VNJIT_VNJIT_H_
#define VNJIT_VNJIT_H_

#include <stddef.h>
#include <stdint.h>

// The C API (C99), over the C++ API of vnjit.hpp, whose headers say more about each operation.
//
// Errors. A function that can fail returns a vnjit_status and, where `error` is not null and was
// initialized, says in *error what failed. A handle that could not be created is null, `needed` may
// be set, and no other output is changed. Null where something is needed is
// VNJIT_ERROR_INVALID_ARGUMENT; functions that return no status then do nothing, or return null
// or 0.
//
// Structs. One with a struct_size is first set to its defaults by its vnjit_..._init. Later
// versions append fields; those beyond the struct_size of a caller that does not know them keep
// their defaults. Of a struct longer than this library knows the rest has to be zero: a caller that
// asks for more is refused, as is a struct shorter than its first version.
//
// Handles belong to the caller and may be destroyed in any order: devices and plans keep alive what
// they use. Any number of threads may use one at once, none while it is destroyed.
//
// Texts are nul-terminated UTF-8; those given are copied. A result of any length goes to a buffer
// of the caller: `*needed` (where not null) becomes its length, of a text with the nul. A null
// buffer or capacity 0 asks for no more; a smaller capacity is VNJIT_ERROR_INVALID_ARGUMENT, and
// nothing is written to the buffer.
//
// Truth values are 0 or 1.

// The names are C's.
// NOLINTBEGIN(readability-identifier-naming, modernize-redundant-void-arg)
#ifdef __cplusplus
extern "C" {
#endif

// ---- Versions and errors

#define VNJIT_VERSION_MAJOR 0
#define VNJIT_VERSION_MINOR 1
#define VNJIT_VERSION_PATCH 0
#define VNJIT_VERSION \
  (VNJIT_VERSION_MAJOR * 10000 + VNJIT_VERSION_MINOR * 100 + VNJIT_VERSION_PATCH)

/// VNJIT_VERSION of the library, which may be newer than this header.
int32_t vnjit_version(void);

/// The same seed and element give the same noise bits under one version of the contract.
int32_t vnjit_noise_contract_version(void);

typedef int32_t vnjit_status;
enum {
  VNJIT_OK = 0,
  VNJIT_ERROR_INVALID_ARGUMENT = 1,  ///< the message names the argument and its value
  VNJIT_ERROR_CONFIG = 2,            ///< this config cannot work here; tuners skip it
  VNJIT_ERROR_COMPILE = 3,           ///< NVRTC refused a source; the message holds its log
  VNJIT_ERROR_CUDA = 4,              ///< a driver call failed; see cuda_result
  VNJIT_ERROR_UNAVAILABLE = 5,       ///< no driver, NVRTC or such GPU; the message says what was
                                     ///< tried
  VNJIT_ERROR_OUT_OF_MEMORY = 6,     ///< of the host or of a GPU
  VNJIT_ERROR_INTERNAL = 7           ///< anything else
};

/// The name of the constant; of any other value "unknown status".
const char* vnjit_status_name(vnjit_status status);

#define VNJIT_MESSAGE_CAPACITY 4096

typedef struct vnjit_error {
  size_t struct_size;
  vnjit_status status;
  int32_t cuda_result;                   ///< CUresult of a driver call that failed, else 0
  char message[VNJIT_MESSAGE_CAPACITY];  ///< cut at the end of a character; empty after VNJIT_OK
} vnjit_error;

// ---- Runtime

typedef struct vnjit_runtime vnjit_runtime;

typedef int32_t vnjit_severity;
enum { VNJIT_SEVERITY_INFO = 0, VNJIT_SEVERITY_WARNING = 1 };

/// Receives progress and warnings, from any thread, until the runtime is destroyed. Returns
/// normally (throws nothing); `message` is valid during the call.
typedef void (*vnjit_report_function)(void* user, vnjit_severity severity, const char* message);

typedef struct vnjit_options {
  size_t struct_size;
  const char* cache_dir;         ///< of compiled kernels; "": memory only; null: not given
  const char* nvrtc;             ///< libnvrtc or a folder holding it; null: not given
  vnjit_report_function report;  ///< null: not given
  void* report_user;             ///< its first argument
  int32_t cpu_threads;           ///< of the CPU backend; 0: not given
  int32_t read_environment;  ///< 1, the default: what is not given is taken from the environment
                             ///< (options.hpp lists the variables; warnings go to standard
                             ///< error). 0: no cache folder, NVRTC from the system's folders,
                             ///< one thread a core, no reports
  size_t cached_plans;       ///< plans kept in memory; 1024
  int64_t cache_bytes;       ///< of the cache folder, least recently used dropped first; 0: no
                             ///< bound; -1, the default: not given, 2 GiB
} vnjit_options;

/// Null options are the default ones. Opens, reads and writes nothing but the environment.
vnjit_status vnjit_runtime_create(const vnjit_options* options, vnjit_runtime** runtime,
                                  vnjit_error* error);
void vnjit_runtime_destroy(vnjit_runtime* runtime);

/// The driver, NVRTC and devices found or why not, a line each.
vnjit_status vnjit_runtime_describe(vnjit_runtime* runtime, char* text, size_t capacity,
                                    size_t* needed, vnjit_error* error);

// ---- Devices

/// Where plans run: a GPU, in one CUDA context, or the CPU backend.
typedef struct vnjit_device vnjit_device;

/// Number of GPUs. 0 is no error; the message then says why.
vnjit_status vnjit_gpu_count(vnjit_runtime* runtime, int32_t* count, vnjit_error* error);

vnjit_status vnjit_device_cpu(vnjit_runtime* runtime, vnjit_device** device, vnjit_error* error);
/// In the context current on this thread if it is of that GPU, else in the GPU's primary context,
/// which becomes current.
vnjit_status vnjit_device_gpu(vnjit_runtime* runtime, int32_t ordinal, vnjit_device** device,
                              vnjit_error* error);
/// GPU 0 where there is one, else the CPU.
vnjit_status vnjit_device_best(vnjit_runtime* runtime, vnjit_device** device, vnjit_error* error);
void vnjit_device_destroy(vnjit_device* device);

const char* vnjit_device_name(const vnjit_device* device);  ///< valid as long as the handle
int32_t vnjit_device_is_gpu(const vnjit_device* device);

/// Memory of the device, 256-byte aligned; may be null for 0 bytes.
vnjit_status vnjit_device_allocate(vnjit_device* device, size_t bytes, void** data,
                                   vnjit_error* error);
void vnjit_device_release(vnjit_device* device, void* data);

/// Copies from or to host memory in the order of `stream` and returns when the data has arrived.
vnjit_status vnjit_device_copy_in(vnjit_device* device, void* to_device, const void* from_host,
                                  size_t bytes, void* stream, vnjit_error* error);
vnjit_status vnjit_device_copy_out(vnjit_device* device, void* to_host, const void* from_device,
                                   size_t bytes, void* stream, vnjit_error* error);

/// Streams are CUstream (or cudaStream_t); null is the default stream, and the CPU's only one.
vnjit_status vnjit_device_create_stream(vnjit_device* device, void** stream, vnjit_error* error);
void vnjit_device_destroy_stream(vnjit_device* device, void* stream);
/// Returns when all work of `stream` is done.
vnjit_status vnjit_device_synchronize(vnjit_device* device, void* stream, vnjit_error* error);

// ---- Noise

typedef int32_t vnjit_generator;
enum { VNJIT_GENERATOR_TRITON = 0, VNJIT_GENERATOR_SPLITMIX64 = 1, VNJIT_GENERATOR_PHILOX = 2 };

typedef int32_t vnjit_distribution;
enum {
  VNJIT_DISTRIBUTION_UNIFORM = 0,
  VNJIT_DISTRIBUTION_UNIFORM8 = 1,
  VNJIT_DISTRIBUTION_RADEMACHER = 2,
  VNJIT_DISTRIBUTION_NORMAL = 3
};

/// Which noise N_i is; the default of every problem is philox:uniform8:7.
typedef struct vnjit_noise {
  vnjit_generator generator;
  vnjit_distribution distribution;
  int32_t rounds;      ///< philox 7 or 10, triton 10, splitmix64 0
  int32_t antithetic;  ///< individuals 2p and 2p+1 use seeds[p] with + and -
} vnjit_noise;

/// Parses GENERATOR[:DISTRIBUTION[:ROUNDS]]; antithetic becomes 0.
vnjit_status vnjit_parse_noise(const char* text, vnjit_noise* noise, vnjit_error* error);

/// values[n] = noise of element offset + n of `seed`, for n < count, in host memory, on the calling
/// thread. The antithetic sign is the caller's.
vnjit_status vnjit_fill_noise(const vnjit_noise* noise, int64_t seed, int64_t offset, int64_t count,
                              float* values, vnjit_error* error);

// ---- Problems: what is asked for. Sizes guide the choice of a config; a plan runs for any.

typedef int32_t vnjit_operation;
enum {
  VNJIT_OPERATION_PERTURBED_LINEAR = 1,
  VNJIT_OPERATION_GRADIENT = 2,
  VNJIT_OPERATION_REDUCE_METRIC = 3
};

typedef int32_t vnjit_data_type;
enum { VNJIT_TYPE_F32 = 0, VNJIT_TYPE_F16 = 1, VNJIT_TYPE_BF16 = 2 };

/// What the operands of products may be rounded to. A kernel may always be more exact.
typedef int32_t vnjit_precision;
enum {
  VNJIT_PRECISION_INPUT = 0,  ///< the input's own type; f32 inputs are exact
  VNJIT_PRECISION_F32 = 1,
  VNJIT_PRECISION_TF32 = 2,
  VNJIT_PRECISION_F16 = 3,
  VNJIT_PRECISION_BF16 = 4,
  VNJIT_PRECISION_INT8 = 5  ///< X where it meets noise: philox:uniform8 and a shared X only
};

typedef int32_t vnjit_layout;
enum { VNJIT_LAYOUT_SHARED = 0, VNJIT_LAYOUT_INDIVIDUAL = 1 };

typedef int32_t vnjit_normalize;
enum { VNJIT_NORMALIZE_SEED = 0, VNJIT_NORMALIZE_UNBIASED = 1 };

/// What a gradient G changes in place, uphill, beside being written: parameters W in fp32.
typedef int32_t vnjit_update;
enum {
  VNJIT_UPDATE_NONE = 0,
  VNJIT_UPDATE_SGD = 1,  ///< W += learning_rate·G
  VNJIT_UPDATE_ADAM = 2  ///< Adam's step of G
};

/// The start of every problem struct: what all operations have. Functions for any problem take
/// &problem.base.
typedef struct vnjit_problem {
  size_t struct_size;         ///< of the whole struct
  vnjit_operation operation;  ///< set by init; tells what the whole struct is
  vnjit_noise noise;
  int64_t pop;  ///< 256
} vnjit_problem;

/// Y[i] = X[i]·(W + sigma·N_i)^T + (b + sigma·nb_i): Y (pop, batch, out), W (out, in), b (out), X
/// (batch, in) or, with the individual layout, (pop, batch, in).
typedef struct vnjit_perturbed_linear {
  vnjit_problem base;
  vnjit_data_type input;      ///< of X, W and b; f32
  vnjit_data_type output;     ///< of Y: f32, the default, or the type of the input
  int32_t bias;               ///< 1
  vnjit_layout layout;        ///< shared
  int32_t bake_shape;         ///< 1: `in` and `out` are compile-time constants, a run must match; 0
  int64_t batch;              ///< 64
  int64_t in;                 ///< 1024
  int64_t out;                ///< 1024
  vnjit_precision precision;  ///< input; any of f32 inputs, else their own, f32 or int8
  int32_t reserved;           ///< 0
} vnjit_perturbed_linear;

/// G[j, k] = sum_i fitness[i]·N_i[j, k] / (pop_size·sigma), over blocks of (rows, columns).
typedef struct vnjit_gradient {
  vnjit_problem base;
  vnjit_normalize normalize;  ///< seed: as above; unbiased: divided by Var(N) too
  int32_t vector;             ///< 1: a bias, rows is 1 and the result's shape (columns); 0
  int64_t rows;               ///< 1024
  int64_t columns;            ///< 1024
  vnjit_update update;        ///< none
  int32_t reserved;           ///< 0
} vnjit_gradient;

/// metric[i] = mean_k |center[k] + sigma·N_i[k]| over params parameters.
typedef struct vnjit_reduce_metric {
  vnjit_problem base;
  vnjit_data_type input;  ///< of center; f32
  int64_t params;         ///< 1000000
} vnjit_reduce_metric;

/// Sizes of the result, without running anything; buffer and length count sizes, at most 3.
vnjit_status vnjit_output_shape(const vnjit_problem* problem, int64_t* shape, size_t capacity,
                                size_t* needed, vnjit_error* error);

/// offsets[b] = flat element offset of block b of `count`: the element counts before it, each start
/// rounded up to a multiple of `align`. `sizes` holds the sizes of all blocks one after another,
/// ranks[b] of them for block b.
vnjit_status vnjit_compute_offsets(const int64_t* sizes, const size_t* ranks, size_t count,
                                   int64_t align, int64_t* offsets, vnjit_error* error);

// ---- Arguments of one run. Pointers point into the memory of the plan's device, host memory for
// the CPU, unless they say otherwise. Strides are in elements, 0 is contiguous. Defaults are 0,
// unless a field names its own.

/// The start of every arguments struct: what all operations have. Functions for any arguments take
/// &arguments.base.
typedef struct vnjit_arguments {
  size_t struct_size;          ///< of the whole struct
  vnjit_operation operation;   ///< set by init; tells what the whole struct is
  float sigma;                 ///< finite; in a gradient not 0
  const float* sigma_pointer;  ///< where not null: sigma, read when the kernel runs
  const int64_t* seeds;        ///< (pop), or (pop / 2) with antithetic noise
  int64_t pop;                 ///< in a gradient at least 1: the individuals summed here
} vnjit_arguments;

typedef struct vnjit_perturbed_linear_arguments {
  vnjit_arguments base;
  const void* x;       ///< (batch, in) or (pop, batch, in), of problem.input
  const void* weight;  ///< (out, in), of problem.input
  const void* bias;    ///< (out), of problem.input; null without bias
  void* y;             ///< (pop, batch, out), of problem.output; written
  int64_t offset;      ///< noise element of weight (0, 0); bias noise follows the weight's
  int64_t batch;
  int64_t in;
  int64_t out;
  int64_t x_row_stride;         ///< at least in
  int64_t x_individual_stride;  ///< at least batch rows; only with individual layout
  int64_t weight_row_stride;    ///< at least in
  int64_t y_row_stride;         ///< at least out
  int64_t y_individual_stride;  ///< at least batch rows
  int64_t noise_row_stride;     ///< at least in; noise elements from row to row
} vnjit_perturbed_linear_arguments;

/// One block of parameters of a gradient. What the problem's update has no use for stays null.
typedef struct vnjit_gradient_block {
  size_t struct_size;
  int64_t offset;  ///< noise element of (0, 0)
  int64_t rows;
  int64_t columns;
  float* output;  ///< (rows, columns); written; may be null where there is an update
  int64_t output_row_stride;
  int64_t noise_row_stride;
  float* weight;              ///< (rows, columns); of an update, changed in place
  float* first_moment;        ///< (rows, columns); of adam, changed in place; 0 at first
  float* second_moment;       ///< likewise
  int64_t weight_row_stride;  ///< of weight and of both moments
} vnjit_gradient_block;

typedef struct vnjit_gradient_arguments {
  vnjit_arguments base;
  const float* fitness;                ///< (pop)
  int64_t pop_size;                    ///< the divisor; 0: pop
  const vnjit_gradient_block* blocks;  ///< in host memory, all of one struct_size
  size_t block_count;
  float learning_rate;  ///< of an update: finite; below 0 it goes downhill
  float beta1;          ///< of adam: decay of the first moment, in [0, 1); 0.9
  float beta2;          ///< of adam: decay of the second moment, in [0, 1); 0.999
  float epsilon;        ///< of adam: above 0; added to the root of the second moment; 1e-8
  int64_t step;         ///< of adam: number of this step, from 1, the default
} vnjit_gradient_arguments;

typedef struct vnjit_reduce_metric_arguments {
  vnjit_arguments base;
  const void* center;  ///< (params), of problem.input
  float* metric;       ///< (pop); written; NaN when params is 0
  int64_t offset;
  int64_t params;
} vnjit_reduce_metric_arguments;

// ---- Plans: everything chosen and compiled for a problem on a device, run many times.

typedef struct vnjit_plan vnjit_plan;

/// `config` is one such as "simt_o64b64k64_s2_w8_r1"; null: the library chooses. The same problem,
/// device and config share one plan while the runtime keeps it; each handle is destroyed.
vnjit_status vnjit_plan_create(vnjit_runtime* runtime, vnjit_device* device,
                               const vnjit_problem* problem, const char* config, vnjit_plan** plan,
                               vnjit_error* error);
void vnjit_plan_destroy(vnjit_plan* plan);

/// A plan that is made on a thread of the runtime's. The request may be destroyed at any time.
typedef struct vnjit_plan_request vnjit_plan_request;

/// vnjit_plan_create that returns at once; what goes wrong on the way, vnjit_plan_request_get says.
vnjit_status vnjit_plan_create_async(vnjit_runtime* runtime, vnjit_device* device,
                                     const vnjit_problem* problem, const char* config,
                                     vnjit_plan_request** request, vnjit_error* error);
void vnjit_plan_request_destroy(vnjit_plan_request* request);

/// Waits for at most `milliseconds`, without end where they are below 0. `*ready` is then 1 where
/// vnjit_plan_request_get answers at once, else 0.
vnjit_status vnjit_plan_request_wait(const vnjit_plan_request* request, int64_t milliseconds,
                                     int32_t* ready, vnjit_error* error);

/// The plan, after waiting for it. Each handle is destroyed.
vnjit_status vnjit_plan_request_get(const vnjit_plan_request* request, vnjit_plan** plan,
                                    vnjit_error* error);

/// A plan of the same device that can run the problem now, without waiting: the plan itself, or a
/// slower or more general one with the same noise; null where there is none yet.
vnjit_status vnjit_plan_request_now(const vnjit_plan_request* request, vnjit_plan** plan,
                                    vnjit_error* error);

/// Bytes of scratch memory a run with arguments of these sizes needs.
vnjit_status vnjit_plan_workspace_bytes(const vnjit_plan* plan, const vnjit_arguments* arguments,
                                        size_t* bytes, vnjit_error* error);

/// Runs in the order of `stream`, asynchronously on a GPU; on the CPU the result is there when this
/// returns. `workspace` is device memory, 256-byte aligned; with null a run that needs some
/// allocates it in the order of its stream.
vnjit_status vnjit_plan_run(const vnjit_plan* plan, const vnjit_arguments* arguments, void* stream,
                            void* workspace, size_t workspace_bytes, vnjit_error* error);

/// What was chosen and why, a line each.
vnjit_status vnjit_plan_explain(const vnjit_plan* plan, char* text, size_t capacity, size_t* needed,
                                vnjit_error* error);

// ---- Kernels without a plan or a GPU. `arch` is a preset, "sm_75" to "sm_120"; `config` as above;
// `access` is "any", or "rows16", "noise16" or "noise64", and "index32" joined by +; null:
// contiguous, aligned buffers of the problem's sizes.

/// The source: one self-contained CUDA C++ file, the same bytes for the same input.
vnjit_status vnjit_emit(const vnjit_problem* problem, const char* arch, const char* config,
                        const char* access, char* text, size_t capacity, size_t* needed,
                        vnjit_error* error);

/// That source compiled to an ELF image, through the cache: asking for its length and then for its
/// bytes compiles once.
vnjit_status vnjit_compile(vnjit_runtime* runtime, const vnjit_problem* problem, const char* arch,
                           const char* config, const char* access, void* cubin, size_t capacity,
                           size_t* needed, vnjit_error* error);

/// Why two kernels do, or do not, share a binary: a line on that, and one for each field in which
/// they differ. Other arguments as above.
vnjit_status vnjit_explain_key(vnjit_runtime* runtime, const vnjit_problem* problem,
                               const char* config, const vnjit_problem* other_problem,
                               const char* other_config, const char* arch, char* text,
                               size_t capacity, size_t* needed, vnjit_error* error);

/// min(max_stages, max(1, budget_bytes / per_stage_bytes)); max_stages where per_stage_bytes <= 0.
int32_t vnjit_choose_num_stages(int64_t budget_bytes, int64_t per_stage_bytes, int32_t max_stages);

// ---- Defaults. Inline, because struct_size is the size the caller was compiled with. A language
// that cannot call them passes its own to vnjit_init, whose `data` is a struct of that kind.

typedef int32_t vnjit_struct;
enum {
  VNJIT_STRUCT_ERROR = 0,
  VNJIT_STRUCT_OPTIONS = 1,
  VNJIT_STRUCT_PERTURBED_LINEAR = 2,
  VNJIT_STRUCT_GRADIENT = 3,
  VNJIT_STRUCT_REDUCE_METRIC = 4,
  VNJIT_STRUCT_PERTURBED_LINEAR_ARGUMENTS = 5,
  VNJIT_STRUCT_GRADIENT_BLOCK = 6,
  VNJIT_STRUCT_GRADIENT_ARGUMENTS = 7,
  VNJIT_STRUCT_REDUCE_METRIC_ARGUMENTS = 8
};

/// Sets struct_size and the defaults, no byte beyond struct_size.
void vnjit_init(vnjit_struct kind, void* data, size_t struct_size);

static inline void vnjit_error_init(vnjit_error* error) {
  vnjit_init(VNJIT_STRUCT_ERROR, error, sizeof(*error));
}
static inline void vnjit_options_init(vnjit_options* options) {
  vnjit_init(VNJIT_STRUCT_OPTIONS, options, sizeof(*options));
}
static inline void vnjit_perturbed_linear_init(vnjit_perturbed_linear* problem) {
  vnjit_init(VNJIT_STRUCT_PERTURBED_LINEAR, problem, sizeof(*problem));
}
static inline void vnjit_gradient_init(vnjit_gradient* problem) {
  vnjit_init(VNJIT_STRUCT_GRADIENT, problem, sizeof(*problem));
}
static inline void vnjit_reduce_metric_init(vnjit_reduce_metric* problem) {
  vnjit_init(VNJIT_STRUCT_REDUCE_METRIC, problem, sizeof(*problem));
}
static inline void vnjit_perturbed_linear_arguments_init(
    vnjit_perturbed_linear_arguments* arguments) {
  vnjit_init(VNJIT_STRUCT_PERTURBED_LINEAR_ARGUMENTS, arguments, sizeof(*arguments));
}
static inline void vnjit_gradient_block_init(vnjit_gradient_block* block) {
  vnjit_init(VNJIT_STRUCT_GRADIENT_BLOCK, block, sizeof(*block));
}
static inline void vnjit_gradient_arguments_init(vnjit_gradient_arguments* arguments) {
  vnjit_init(VNJIT_STRUCT_GRADIENT_ARGUMENTS, arguments, sizeof(*arguments));
}
static inline void vnjit_reduce_metric_arguments_init(vnjit_reduce_metric_arguments* arguments) {
  vnjit_init(VNJIT_STRUCT_REDUCE_METRIC_ARGUMENTS, arguments, sizeof(*arguments));
}

#ifdef __cplusplus
}  // extern "C"
#endif
// NOLINTEND(readability-identifier-naming, modernize-redundant-void-arg)

#endif  // VNJIT_VNJIT_H_

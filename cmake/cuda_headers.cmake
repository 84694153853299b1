# CUDA's headers give types and constants only: no CUDA library is linked, they are opened when
# first needed. `cuda` in the build folder is what ./dev puts there.
find_path(VNJIT_CUDA_INCLUDE_DIR NAMES cuda.h
  HINTS ${PROJECT_BINARY_DIR}/cuda ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
  PATH_SUFFIXES include)
find_path(VNJIT_NVRTC_INCLUDE_DIR NAMES nvrtc.h HINTS ${VNJIT_CUDA_INCLUDE_DIR})
if(NOT VNJIT_CUDA_INCLUDE_DIR OR NOT VNJIT_NVRTC_INCLUDE_DIR)
  message(FATAL_ERROR
    "cuda.h and nvrtc.h were not found in CUDA_HOME, CUDA_PATH or /usr/local/cuda. "
    "Run ./dev build, which fetches them, or install the CUDA toolkit, 12.8 or later.")
endif()
add_library(vnjit_cuda_headers INTERFACE)
target_include_directories(vnjit_cuda_headers SYSTEM INTERFACE
  ${VNJIT_CUDA_INCLUDE_DIR} ${VNJIT_NVRTC_INCLUDE_DIR})

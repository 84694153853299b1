#pragma once

// VNJIT_VECTOR_CLONES before a function definition: the compiler makes it once for each level of
// x86-64 and the loader picks the one the machine has. What is to be vectorized must be inlined
// into it (VNJIT_INLINE), for a callee is compiled for the lowest level alone.
//
// No clone contracts a * b + c (-ffp-contract=off), so all of them give the same bits.
//
// Off where the attribute is missing or differs, and under the thread sanitizer, which is not yet
// there when the loader picks.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define VNJIT_VECTOR_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VNJIT_VECTOR_CLONES
#endif

#define VNJIT_INLINE [[gnu::always_inline]] inline

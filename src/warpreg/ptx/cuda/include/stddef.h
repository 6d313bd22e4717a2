/* Stand-in for the header of the C library: NVRTC declares size_t itself. */
#pragma once
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
typedef decltype(sizeof 0) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
namespace std {
using ::size_t; using ::ptrdiff_t;
}

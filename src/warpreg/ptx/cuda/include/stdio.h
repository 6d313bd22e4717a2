/* Stand-in for the header of the C library: NVRTC declares printf itself. */
#pragma once
#include <stddef.h>

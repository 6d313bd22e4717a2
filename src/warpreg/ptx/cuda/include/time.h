/* Stand-in for the header of the C library: NVRTC declares clock itself. */
#pragma once
#include <stddef.h>

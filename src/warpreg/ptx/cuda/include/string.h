/* Stand-in for the header of the C library: NVRTC declares memcpy and memset itself. */
#pragma once
#include <stddef.h>

/* Stand-in for the header of the C library: NVRTC declares malloc and free itself. */
#pragma once
#include <stddef.h>

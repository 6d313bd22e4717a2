/* Stand-in for the header of the C library: NVRTC defines assert itself. */
#pragma once

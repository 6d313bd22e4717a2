/* Stand-in for the header of the C library: C++ has the type and its values. */
#pragma once
#define __bool_true_false_are_defined 1

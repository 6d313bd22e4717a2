// Virtual functions, a table of function pointers, recursion, printf, assert, new and delete.
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);

struct Shape {
    __device__ virtual int area(int side) const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
    int scale;
    __device__ Square(int scale) : scale(scale) {}
    __device__ int area(int side) const override { return scale * side * side; }
    __device__ int corners() const override { return 4; }
};
struct Circle : Shape {
    __device__ int area(int side) const override { return 3 * side * side; }
};

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[2] = {plus, times};

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void shapes(int *areas, int *numbers, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Shape *shape = (i & 1) ? (Shape *)new Square(2) : (Shape *)new Circle();
    areas[i] = shape->area(i);
    numbers[i] = shape->corners() + fibonacci(numbers[i]) + operations[i % 2](i, 3);
    if (numbers[i] < 0) __assertfail("numbers[i] >= 0", "shapes.cu", 34, "shapes", 1);
    if (i % 16 == 5) printf("%d: %s %5.2f|%-4u|%llx\n", i, i & 1 ? "odd" : "even", areas[i] / 4.0, i, 1ull << i);
    delete shape;
}

__device__ void sort(int *first, int *last) {
    if (last - first < 2) return;
    int pivot = *first, *middle = first;
    for (int *p = first + 1; p < last; p++)
        if (*p < pivot) { int t = *++middle; *middle = *p; *p = t; }
    *first = *middle;
    *middle = pivot;
    sort(first, middle);
    sort(middle + 1, last);
}

__device__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n) { return n == 0 || is_odd(n - 1); }
__device__ __noinline__ bool is_odd(unsigned n) { return n != 0 && is_even(n - 1); }

__device__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursive(int *rows, int *results, int length) {
    int i = threadIdx.x;
    sort(rows + i * length, rows + (i + 1) * length);
    __syncthreads();
    results[i] = rows[(i + 1) % blockDim.x * length] * 1000 + ackermann(i % 3, i % 4) * 10 + is_even(i);
}

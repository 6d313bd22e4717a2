// A generation of the game of life, 64 cells in a word: neighbours are added bit by bit.
extern "C" __global__ void life(const unsigned long long *now, unsigned long long *next, int words, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words * rows) return;
    int y = i / words, x = i % words;
    unsigned long long one = 0, two = 0, four = 0, centre = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        int row = (y + dy + rows) % rows * words;
        unsigned long long here = now[row + x];
        unsigned long long before = now[row + (x + words - 1) % words], after = now[row + (x + 1) % words];
        unsigned long long left = here << 1 | before >> 63, right = here >> 1 | after << 63;
        unsigned long long middle = dy == 0 ? 0 : here;
        if (dy == 0) centre = here;
        unsigned long long sum = left ^ right ^ middle;
        unsigned long long carry = (left & right) | (middle & (left ^ right));
        unsigned long long over = one & sum;
        one ^= sum;
        unsigned long long twos = two ^ carry ^ over;
        four |= (two & carry) | (two & over) | (carry & over);
        two = twos;
    }
    next[i] = two & ~four & (one | centre);
}

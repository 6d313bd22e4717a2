// Shortest ways across a map with obstacles: one thread is one agent and searches with A* on its own.
// A thread keeps the cost of the way to each cell, the direction it came from, and a priority list of cells to visit, a
// binary heap, in its local memory. The map of at most 32 x 32 cells is a texture. A straight step costs 10, a diagonal
// one 14; the rest of a way is estimated as if there were no obstacles.

#define SIDE 32
#define CELLS (SIDE * SIDE)
#define WAITING 512
#define STRAIGHT 10
#define DIAGONAL 14
#define UNSEEN 0xffffu
#define NO_WAY -1
#define LIST_FULL -2

__device__ __forceinline__ int estimate(int cell, int goal)
{
    const int across = abs(cell % SIDE - goal % SIDE);
    const int down = abs(cell / SIDE - goal / SIDE);
    return STRAIGHT * max(across, down) + (DIAGONAL - STRAIGHT) * min(across, down);
}

// Entries have the whole cost above the cell, so that the least entry is the most promising cell.
__device__ void push(unsigned* heap, int& count, unsigned entry)
{
    int place = count++;
    while (place > 0) {
        const int above = (place - 1) / 2;
        const unsigned other = heap[above];
        if (other <= entry)
            break;
        heap[place] = other;
        place = above;
    }
    heap[place] = entry;
}

__device__ unsigned pop(unsigned* heap, int& count)
{
    const unsigned least = heap[0];
    const unsigned entry = heap[--count];
    int place = 0;
    for (int below = 1; below < count; below = 2 * place + 1) {
        unsigned other = heap[below];
        if (below + 1 < count && heap[below + 1] < other)
            other = heap[++below];
        if (entry <= other)
            break;
        heap[place] = other;
        place = below;
    }
    heap[place] = entry;
    return least;
}

extern "C" __global__ void __launch_bounds__(64)
path_finding(cudaTextureObject_t map, int rows, int cols, const ushort2* __restrict__ trips, int agents,
             int longest, int* __restrict__ costs, int* __restrict__ steps, unsigned short* __restrict__ ways)
{
    const int agent = blockIdx.x * blockDim.x + threadIdx.x;
    if (agent >= agents)
        return;

    unsigned short cost[CELLS];
    unsigned char came[CELLS];
    unsigned heap[WAITING];

    const int start = trips[agent].x;
    const int goal = trips[agent].y;
    for (int i = 0; i < rows * SIDE; ++i)
        cost[i] = UNSEEN;

    int count = 0;
    int result = NO_WAY;
    cost[start] = 0;
    push(heap, count, estimate(start, goal) << 16 | start);

    while (count > 0) {
        const unsigned entry = pop(heap, count);
        const int cell = entry & 0xffff;
        const int here = cost[cell];
        if (cell == goal) {
            result = here;
            break;
        }
        if ((entry >> 16) > here + estimate(cell, goal))
            continue;
        if (count + 8 > WAITING) {
            result = LIST_FULL;
            break;
        }

        for (int direction = 0; direction < 9; ++direction) {
            const int down = direction / 3 - 1;
            const int across = direction % 3 - 1;
            const int row = cell / SIDE + down;
            const int col = cell % SIDE + across;
            if (direction == 4 || row < 0 || col < 0 || row >= rows || col >= cols)
                continue;
            if (tex2D<unsigned char>(map, col, row))
                continue;
            const int next = row * SIDE + col;
            const int whole = here + (down != 0 && across != 0 ? DIAGONAL : STRAIGHT);
            if (whole < cost[next]) {
                cost[next] = whole;
                came[next] = direction;
                push(heap, count, (whole + estimate(next, goal)) << 16 | next);
            }
        }
    }

    costs[agent] = result;
    int walked = 0;
    if (result >= 0) {
        int cell = goal;
        while (cell != start && walked < longest) {
            ways[walked++ * agents + agent] = cell;
            const int direction = came[cell];
            cell -= (direction / 3 - 1) * SIDE + direction % 3 - 1;
        }
    }
    steps[agent] = walked;
}

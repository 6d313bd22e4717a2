// One warp copies chunks into a ring of four stages by bulk copies; three warps take them out in turn, all with
// mbarriers from libcu++-like inline code.  out[i] = 3 in[i] + 1.
constexpr int Stages = 4, Chunk = 32;

__device__ unsigned at(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

__device__ void wait(unsigned barrier, unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\nAGAIN:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(barrier), "r"(parity)
        : "memory");
}

extern "C" __global__ void ring(const int* in, int* out, int chunks) {
    __shared__ __align__(16) int stages[Stages][Chunk];
    __shared__ __align__(8) unsigned long long full[Stages], empty[Stages];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        for (int s = 0; s < Stages; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[s])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&empty[s])));
        }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    if (warp == 0) {
        for (int i = 0; lane == 0 && i < chunks; i++) {
            int s = i % Stages;
            wait(at(&empty[s]), i / Stages % 2 ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full[s])), "r"(Chunk * 4));
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                             at(stages[s])), "l"(in + i * Chunk), "r"(Chunk * 4), "r"(at(&full[s])) : "memory");
        }
    } else {
        for (int i = warp - 1; i < chunks; i += 3) {
            int s = i % Stages;
            wait(at(&full[s]), i / Stages % 2);
            out[i * Chunk + lane] = 3 * stages[s][lane] + 1;
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[s])) : "memory");
        }
    }
}

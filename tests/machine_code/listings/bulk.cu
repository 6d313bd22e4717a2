// A bulk copy in, counted by an mbarrier, and one out, in a group.  `make_listings.py` makes the files beside this one.

extern "C" __global__ void twice(const int *in, int *out)
{
    __shared__ alignas(16) int tile[128];
    __shared__ alignas(8) unsigned long long full;
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
    int i = threadIdx.x, done = 0;
    if (i == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (i == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(barrier));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(at),
                     "l"(in + 128 * blockIdx.x), "r"(barrier)
                     : "memory");
    }
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
    tile[i] *= 2;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (i == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out + 128 * blockIdx.x), "r"(at)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// Loads the first GPU that it sees and says what that gave, a line each. What is computed must be the same each time:
// a result that differs by a bit is told as wrong.
//
//   gpu TEST SECONDS        TEST: matmul.fp32 matmul.bf16 matmul.fp8 copy memory peers
//
//   about KEY VALUE             what the GPU calls itself
//   figure NAME VALUE UNIT      a median of the time that was given
//   digest NAME HEX             of the result, the same on each GPU of a model with the same libraries
//   wrong NAME TEXT             results that differ, memory that does not keep what was written
//   skip NAME TEXT              this GPU or these libraries cannot do it
//   failed NAME TEXT            a call that failed; exit status 1
//   end TEST                    it came to its end
//
// nvcc -O2 -o gpu gpu.cu -lcublas -lcublasLt
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

static const char *test = "";

static void fail(const char *call, const char *reason) {
    printf("failed %s %s: %s\n", test, call, reason);
    exit(1);
}
static void cuda(cudaError_t got, const char *call) {
    if (got != cudaSuccess) fail(call, cudaGetErrorString(got));
}
static void cublas(cublasStatus_t got, const char *call) {
    if (got != CUBLAS_STATUS_SUCCESS) fail(call, cublasGetStatusString(got));
}
#define CUDA(call) cuda(call, #call)
#define CUBLAS(call) cublas(call, #call)

static double now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}
static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}
static void figure(const std::string &name, double value, const char *unit) {
    printf("figure %s %.4g %s\n", name.c_str(), value, unit);
    fflush(stdout);
}

// splitmix64: the same numbers on each GPU.
__host__ __device__ static inline uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
#define EACH(i, count) \
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (count); i += (size_t)gridDim.x * blockDim.x)

// Numbers from -1 to 1: zeros or a pattern would need less power, and flatter the GPU.
template <typename T> __global__ void random_numbers(T *out, size_t count, uint64_t seed) {
    EACH(i, count) out[i] = T(float(mixed(i ^ seed) >> 40) * (2.0f / 16777216.0f) - 1.0f);
}
// A sum does not depend on who comes first.
__global__ void digest_of(const uint32_t *data, size_t count, unsigned long long *sum) {
    uint64_t own = 0;
    EACH(i, count) own += mixed(data[i] ^ (uint64_t(i) << 32));
    atomicAdd(sum, (unsigned long long)own);
}
__global__ void write_pattern(uint64_t *data, size_t count, uint64_t seed, uint64_t turned) {
    EACH(i, count) data[i] = mixed(i ^ seed) ^ turned;
}
__global__ void read_pattern(const uint64_t *data, size_t count, uint64_t seed, uint64_t turned,
                             unsigned long long *wrong, unsigned long long *first) {
    EACH(i, count) {
        if (data[i] != (mixed(i ^ seed) ^ turned)) {
            atomicAdd(wrong, 1ull);
            atomicMin(first, (unsigned long long)i);
        }
    }
}

template <typename T> static T *room(size_t count) {
    T *place = nullptr;
    CUDA(cudaMalloc(&place, count * sizeof(T)));
    return place;
}
static int blocks() {
    int units = 0;
    CUDA(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));
    return units * 8;
}

// Milliseconds of each call of `run`, for so many seconds.
template <typename Run> static std::vector<double> timed(double seconds, Run run) {
    cudaEvent_t before, after;
    CUDA(cudaEventCreate(&before));
    CUDA(cudaEventCreate(&after));
    run();
    CUDA(cudaDeviceSynchronize());
    std::vector<double> times;
    for (double end = now() + seconds; now() < end || times.empty();) {
        float ms = 0;
        CUDA(cudaEventRecord(before));
        run();
        CUDA(cudaEventRecord(after));
        CUDA(cudaEventSynchronize(after));
        CUDA(cudaEventElapsedTime(&ms, before, after));
        times.push_back(ms);
    }
    CUDA(cudaEventDestroy(before));
    CUDA(cudaEventDestroy(after));
    return times;
}

static const int SIDE = 8192;
static const size_t CELLS = size_t(SIDE) * SIDE;
static const double OPERATIONS = 2.0 * SIDE * SIDE * SIDE;

// Measures `product`, which writes to `out`, and compares each result with the first one.
template <typename Product>
static void products(const char *name, double seconds, const void *out, size_t bytes, int each, Product product) {
    auto *sum = room<unsigned long long>(1);
    unsigned long long first = 0, differ = 0, looked = 0;
    auto look = [&] {
        unsigned long long got = 0;
        CUDA(cudaMemset(sum, 0, sizeof *sum));
        digest_of<<<blocks(), 256>>>((const uint32_t *)out, bytes / 4, sum);
        CUDA(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
        if (looked++ == 0) first = got;
        if (got != first) differ++;
    };
    std::vector<double> times;
    product();
    look();
    for (double end = now() + seconds; now() < end || times.empty();) {
        for (double ms : timed(0, [&] { for (int i = 0; i < each; i++) product(); })) times.push_back(ms / each);
        look();
    }
    figure(name, OPERATIONS / median(times) / 1e9, "TFLOP/s");
    printf("digest %s %016llx\n", name, first);
    if (differ) printf("wrong %s %llu of %llu results differ from the first\n", name, differ, looked);
    CUDA(cudaFree(sum));
}

template <typename T, typename Out> static void matmul(const char *name, double seconds, cudaDataType in, cudaDataType to, int each) {
    T *a = room<T>(CELLS), *b = room<T>(CELLS);
    Out *c = room<Out>(CELLS);
    random_numbers<<<blocks(), 256>>>(a, CELLS, 1);
    random_numbers<<<blocks(), 256>>>(b, CELLS, 2);
    CUDA(cudaGetLastError());
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t what;
    cublasLtMatrixLayout_t of_a, of_b, of_c;
    cublasLtMatmulPreference_t wish;
    const size_t most = 64u << 20;
    void *work = room<char>(most);
    const cublasOperation_t turned = CUBLAS_OP_T;
    CUBLAS(cublasLtCreate(&lt));
    CUBLAS(cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    // What is in 8 bits is multiplied in this form alone.
    CUBLAS(cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned));
    CUBLAS(cublasLtMatrixLayoutCreate(&of_a, in, SIDE, SIDE, SIDE));
    CUBLAS(cublasLtMatrixLayoutCreate(&of_b, in, SIDE, SIDE, SIDE));
    CUBLAS(cublasLtMatrixLayoutCreate(&of_c, to, SIDE, SIDE, SIDE));
    CUBLAS(cublasLtMatmulPreferenceCreate(&wish));
    CUBLAS(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
    cublasLtMatmulHeuristicResult_t way;
    int found = 0;
    cublasStatus_t got = cublasLtMatmulAlgoGetHeuristic(lt, what, of_a, of_b, of_c, of_c, wish, 1, &way, &found);
    if (got != CUBLAS_STATUS_SUCCESS || !found) {
        printf("skip %s cuBLAS has no way for it here: %s\n", name, cublasGetStatusString(got));
        return;
    }
    const float one = 1, none = 0;
    products(name, seconds, c, CELLS * sizeof(Out), each, [&] {
        CUBLAS(cublasLtMatmul(lt, what, &one, a, of_a, b, of_b, &none, c, of_c, c, of_c, &way.algo, work, most, 0));
    });
}

// GB/s of what `run` moves.
template <typename Run> static void moved(const char *name, double seconds, double bytes, Run run) {
    figure(name, bytes / median(timed(seconds, run)) / 1e6, "GB/s");
}

static void copies(double seconds) {
    const size_t bytes = size_t(1) << 30, large = size_t(4) << 30;
    char *here = nullptr;
    CUDA(cudaMallocHost(&here, bytes));
    memset(here, 1, bytes);
    char *there = room<char>(large), *beside = room<char>(large);
    moved("copy.to", seconds / 3, bytes, [&] { CUDA(cudaMemcpyAsync(there, here, bytes, cudaMemcpyHostToDevice)); });
    moved("copy.from", seconds / 3, bytes, [&] { CUDA(cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost)); });
    // Each byte is read and written.
    moved("copy.inside", seconds / 3, 2.0 * large,
          [&] { CUDA(cudaMemcpyAsync(beside, there, large, cudaMemcpyDeviceToDevice)); });
}

static void memory(double seconds) {
    size_t free = 0, all = 0;
    CUDA(cudaMemGetInfo(&free, &all));
    const size_t count = (free / 100 * 90) / sizeof(uint64_t);
    auto *data = room<uint64_t>(count);
    auto *counts = room<unsigned long long>(2);
    unsigned long long wrong = 0, first = 0;
    std::vector<double> writes, reads;
    uint64_t round = 0;
    for (double end = now() + seconds; now() < end || reads.empty(); round++) {
        unsigned long long got[2] = {0, ~0ull};
        CUDA(cudaMemcpy(counts, got, sizeof got, cudaMemcpyHostToDevice));
        // The second of each pair of rounds writes each bit the other way round.
        const uint64_t seed = mixed(round / 2), turned = round & 1 ? ~0ull : 0;
        double before = now();
        write_pattern<<<blocks(), 256>>>(data, count, seed, turned);
        CUDA(cudaDeviceSynchronize());
        double between = now();
        read_pattern<<<blocks(), 256>>>(data, count, seed, turned, counts, counts + 1);
        CUDA(cudaMemcpy(got, counts, sizeof got, cudaMemcpyDeviceToHost));
        double after = now();
        writes.push_back((between - before) * 1e3);
        reads.push_back((after - between) * 1e3);
        if (got[0] && !wrong) first = got[1];
        wrong += got[0];
    }
    const double bytes = double(count) * sizeof(uint64_t);
    figure("memory.write", bytes / median(writes) / 1e6, "GB/s");
    figure("memory.read", bytes / median(reads) / 1e6, "GB/s");
    printf("about tested %.1f GiB\n", bytes / (1 << 30));
    if (wrong) printf("wrong memory %llu words differ from what was written, the first %llu bytes in\n", wrong, first * 8);
}

// To each other GPU that is seen, by the way that the driver chooses; the slowest is the figure.
static void peers(double seconds) {
    int count = 0;
    CUDA(cudaGetDeviceCount(&count));
    if (count < 2) {
        printf("skip peers there is one GPU\n");
        return;
    }
    const size_t bytes = size_t(1) << 30;
    char *here = room<char>(bytes);
    double least = 1e9;
    for (int other = 1; other < count; other++) {
        int may = 0;
        char pci[32] = "";
        CUDA(cudaDeviceGetPCIBusId(pci, sizeof pci, other));
        CUDA(cudaDeviceCanAccessPeer(&may, 0, other));
        CUDA(cudaSetDevice(other));
        char *there = room<char>(bytes);
        CUDA(cudaSetDevice(0));
        if (may) {
            cudaError_t got = cudaDeviceEnablePeerAccess(other, 0);
            if (got != cudaErrorPeerAccessAlreadyEnabled) cuda(got, "cudaDeviceEnablePeerAccess");
        }
        const double ms = median(timed(seconds / (count - 1), [&] { CUDA(cudaMemcpyPeerAsync(there, other, here, 0, bytes)); }));
        printf("about to %s %.4g GB/s%s\n", pci, bytes / ms / 1e6, may ? "" : ", by way of the host");
        least = std::min(least, bytes / ms / 1e6);
        CUDA(cudaFree(there));
    }
    figure("peers", least, "GB/s");
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "gpu TEST SECONDS\n");
        return 2;
    }
    test = words[1];
    const double seconds = atof(words[2]);
    const std::string asked = test;
    cudaDeviceProp about;
    int runtime = 0;
    CUDA(cudaSetDevice(0));
    CUDA(cudaGetDeviceProperties(&about, 0));
    CUDA(cudaRuntimeGetVersion(&runtime));
    printf("about name %s\nabout compute %d.%d\nabout cuda %d.%d\nabout cublas %d\n", about.name, about.major, about.minor,
           runtime / 1000, runtime % 1000 / 10, int(cublasLtGetVersion()));
    fflush(stdout);
    if (asked == "matmul.fp32") {
        matmul<float, float>(test, seconds, CUDA_R_32F, CUDA_R_32F, 2);
    } else if (asked == "matmul.bf16") {
        matmul<__nv_bfloat16, __nv_bfloat16>(test, seconds, CUDA_R_16BF, CUDA_R_16BF, 20);
    } else if (asked == "matmul.fp8") {
        if (about.major * 10 + about.minor < 89) printf("skip matmul.fp8 this GPU has no 8-bit floats\n");
        else matmul<__nv_fp8_e4m3, __nv_bfloat16>(test, seconds, CUDA_R_8F_E4M3, CUDA_R_16BF, 40);
    } else if (asked == "copy") {
        copies(seconds);
    } else if (asked == "memory") {
        memory(seconds);
    } else if (asked == "peers") {
        peers(seconds);
    } else {
        fprintf(stderr, "there is no test %s\n", test);
        return 2;
    }
    CUDA(cudaDeviceSynchronize());
    printf("end %s\n", test);
    return 0;
}

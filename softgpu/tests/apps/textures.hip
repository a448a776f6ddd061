// SPDX-License-Identifier: MIT
// Textures against a model on the host: 1D, 2D, 3D and layered arrays, linear and pitched memory; point and linear
// filters, normalised coordinates, the address modes, float, half and integer formats; and surfaces.
#include "check.h"

#include <hip/hip_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#define W 21
#define H 13
#define D 5

__global__ void read_1d(hipTextureObject_t t, const float *x, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1D<float4>(t, x[i]);
}

__global__ void read_2d(hipTextureObject_t t, const float2 *at, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex2D<float>(t, at[i].x, at[i].y);
}

__global__ void read_3d(hipTextureObject_t t, const float3 *at, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex3D<float>(t, at[i].x, at[i].y, at[i].z);
}

__global__ void read_layers(hipTextureObject_t t, float *out)
{
    int x = threadIdx.x, y = blockIdx.x, layer = blockIdx.y;
    if (x < W)
        out[(layer * H + y) * W + x] = tex2DLayered<float>(t, x + 0.5f, y + 0.5f, layer);
}

template <typename T> __global__ void fetch(hipTextureObject_t t, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<T>(t, i);
}

template <typename T> __global__ void read_integers(hipTextureObject_t t, T *out)
{
    int x = threadIdx.x, y = blockIdx.x;
    if (x < W)
        out[y * W + x] = tex2D<T>(t, x + 0.5f, y + 0.5f);
}

// HIP 5.2.3 hands on every surface element as a float.
__global__ void add_surface(hipSurfaceObject_t s)
{
    int x = threadIdx.x, y = blockIdx.x;
    float v;
    if (x >= W)
        return;
    surf2Dread(&v, s, x * (int)sizeof(float), y);
    surf2Dwrite(v + 1000 * x + y, s, x * (int)sizeof(float), y);
}

template <typename T> static T *to_device(const std::vector<T> &v)
{
    T *p;
    HIP(hipMalloc(&p, v.size() * sizeof(T)));
    HIP(hipMemcpy(p, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice));
    return p;
}

template <typename T> static std::vector<T> from_device(const T *p, size_t n)
{
    std::vector<T> v(n);
    HIP(hipMemcpy(v.data(), p, n * sizeof(T), hipMemcpyDeviceToHost));
    return v;
}

static hipTextureDesc description(hipTextureAddressMode mode, bool linear, bool normalised)
{
    hipTextureDesc d;
    std::memset(&d, 0, sizeof(d));
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
    d.filterMode = linear ? hipFilterModeLinear : hipFilterModePoint;
    d.readMode = hipReadModeElementType;
    d.normalizedCoords = normalised;
    return d;
}

static hipTextureObject_t texture_of(hipArray_t array, const hipTextureDesc &d)
{
    hipResourceDesc r;
    std::memset(&r, 0, sizeof(r));
    r.resType = hipResourceTypeArray;
    r.res.array.array = array;
    hipTextureObject_t t;
    HIP(hipCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static int wrapped(int i, int n, hipTextureAddressMode mode)
{
    switch (mode) {
    case hipAddressModeWrap:
        return ((i % n) + n) % n;
    case hipAddressModeMirror:
        i = ((i % (2 * n)) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case hipAddressModeBorder:
        return i < 0 || i >= n ? -1 : i;
    default:
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

// The host's model. `size` 1 for axes that are not there.
static double model(const std::vector<float> &v, const int size[3], const double at[3], hipTextureAddressMode mode,
                    bool linear)
{
    int first[3];
    double weight[3], sum = 0;
    for (int a = 0; a < 3; a++) {
        double u = linear ? at[a] - 0.5 : at[a];
        first[a] = (int)std::floor(u);
        weight[a] = linear && size[a] > 1 ? u - first[a] : 0;
        if (size[a] == 1)
            first[a] = 0;
    }
    for (int corner = 0; corner < 8; corner++) {
        double w = 1;
        int i[3];
        bool border = false;
        for (int a = 0; a < 3; a++) {
            int second = corner >> a & 1;
            w *= second ? weight[a] : 1 - weight[a];
            i[a] = size[a] == 1 ? 0 : wrapped(first[a] + second, size[a], mode);
            border |= i[a] < 0;
        }
        if (w > 0 && !border)
            sum += w * v[((size_t)i[2] * size[1] + i[1]) * size[0] + i[0]];
    }
    return sum;
}

// Weights have 8 bits in the filter, so a sample may be off by 1/256 of the difference of neighbours for each axis.
static void near(double got, double want, bool linear, double range)
{
    if (linear)
        EXPECT(std::fabs(got - want) <= range * 3 / 512 + 1e-4);
    else
        EXPECT(got == want);
}

static float noise(unsigned &state)
{
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 16777216.0f;
}

struct kind {
    hipTextureAddressMode mode;
    bool linear, normalised;
};
static const kind kinds[] = {
    {hipAddressModeClamp, false, false}, {hipAddressModeClamp, true, false},  {hipAddressModeBorder, false, false},
    {hipAddressModeBorder, true, false}, {hipAddressModeClamp, true, true},   {hipAddressModeWrap, false, true},
    {hipAddressModeWrap, true, true},    {hipAddressModeMirror, false, true}, {hipAddressModeMirror, true, true},
    {hipAddressModeBorder, true, true},
};
#define SAMPLES 500

// Places in and around the image, not close to where a point sample changes.
static double place(unsigned &state, int size)
{
    double p = (noise(state) * 2 - 0.5) * size;
    double f = p - std::floor(p);
    return f < 0.02 || f > 0.98 ? std::floor(p) + 0.25 : p;
}

static void planes()
{
    std::vector<float> v(W * H), back;
    unsigned state = 1;
    for (float &x : v)
        x = noise(state) * 100;
    hipArray_t array;
    hipChannelFormatDesc f = hipCreateChannelDesc<float>();
    HIP(hipMallocArray(&array, &f, W, H));
    HIP(hipMemcpy2DToArray(array, 0, 0, v.data(), W * sizeof(float), W * sizeof(float), H, hipMemcpyHostToDevice));
    std::vector<float> again(W * H);
    HIP(hipMemcpy2DFromArray(again.data(), W * sizeof(float), array, 0, 0, W * sizeof(float), H,
                             hipMemcpyDeviceToHost));
    EXPECT(again == v);
    float *out;
    HIP(hipMalloc(&out, SAMPLES * sizeof(float)));
    const int size[3] = {W, H, 1};
    for (const kind &k : kinds) {
        std::vector<float2> at(SAMPLES);
        for (float2 &p : at) {
            p.x = (float)place(state, W);
            p.y = (float)place(state, H);
            if (k.normalised) {
                p.x /= W;
                p.y /= H;
            }
        }
        hipTextureObject_t t = texture_of(array, description(k.mode, k.linear, k.normalised));
        float2 *places = to_device(at);
        read_2d<<<(SAMPLES + 63) / 64, 64>>>(t, places, out, SAMPLES);
        HIP(hipGetLastError());
        back = from_device(out, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) {
            const double p[3] = {k.normalised ? (double)at[i].x * W : at[i].x,
                                 k.normalised ? (double)at[i].y * H : at[i].y, 0};
            near(back[i], model(v, size, p, k.mode, k.linear), k.linear, 100);
        }
        HIP(hipDestroyTextureObject(t));
        HIP(hipFree(places));
    }
    HIP(hipFree(out));
    HIP(hipFreeArray(array));
}

static void lines()
{
    std::vector<float4> v(W), back;
    std::vector<float> x(SAMPLES), plane(W);
    unsigned state = 2;
    for (float4 &e : v)
        e = float4{noise(state), noise(state), noise(state), noise(state)};
    hipArray_t array;
    hipChannelFormatDesc f = hipCreateChannelDesc<float4>();
    HIP(hipMallocArray(&array, &f, W, 0));
    HIP(hipMemcpy2DToArray(array, 0, 0, v.data(), W * sizeof(float4), W * sizeof(float4), 1, hipMemcpyHostToDevice));
    float4 *out;
    HIP(hipMalloc(&out, SAMPLES * sizeof(float4)));
    const int size[3] = {W, 1, 1};
    for (bool linear : {false, true}) {
        for (float &p : x)
            p = (float)place(state, W);
        float *places = to_device(x);
        hipTextureObject_t t = texture_of(array, description(hipAddressModeClamp, linear, false));
        read_1d<<<(SAMPLES + 63) / 64, 64>>>(t, places, out, SAMPLES);
        HIP(hipGetLastError());
        back = from_device(out, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) {
            const double p[3] = {x[i], 0, 0};
            const float got[4] = {back[i].x, back[i].y, back[i].z, back[i].w};
            for (int c = 0; c < 4; c++) {
                for (int k = 0; k < W; k++)
                    plane[k] = c == 0 ? v[k].x : c == 1 ? v[k].y : c == 2 ? v[k].z : v[k].w;
                near(got[c], model(plane, size, p, hipAddressModeClamp, linear), linear, 1);
            }
        }
        HIP(hipDestroyTextureObject(t));
        HIP(hipFree(places));
    }
    HIP(hipFree(out));
    HIP(hipFreeArray(array));
}

static hipArray_t volume(const std::vector<float> &v, unsigned flags)
{
    hipArray_t array;
    hipChannelFormatDesc f = hipCreateChannelDesc<float>();
    HIP(hipMalloc3DArray(&array, &f, make_hipExtent(W, H, D), flags));
    hipMemcpy3DParms copy;
    std::memset(&copy, 0, sizeof(copy));
    copy.srcPtr = make_hipPitchedPtr((void *)v.data(), W * sizeof(float), W, H);
    copy.dstArray = array;
    copy.extent = make_hipExtent(W, H, D);
    copy.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3D(&copy));
    return array;
}

static void volumes()
{
    std::vector<float> v(W * H * D), back;
    unsigned state = 3;
    for (float &x : v)
        x = noise(state);
    hipArray_t array = volume(v, hipArrayDefault);
    float *out;
    HIP(hipMalloc(&out, W * H * D * sizeof(float)));
    const int size[3] = {W, H, D};
    for (const kind &k : kinds) {
        std::vector<float3> at(SAMPLES);
        for (float3 &p : at) {
            p = float3{(float)place(state, W), (float)place(state, H), (float)place(state, D)};
            if (k.normalised)
                p = float3{p.x / W, p.y / H, p.z / D};
        }
        hipTextureObject_t t = texture_of(array, description(k.mode, k.linear, k.normalised));
        float3 *places = to_device(at);
        read_3d<<<(SAMPLES + 63) / 64, 64>>>(t, places, out, SAMPLES);
        HIP(hipGetLastError());
        back = from_device(out, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) {
            const double p[3] = {at[i].x * (k.normalised ? W : 1.0), at[i].y * (k.normalised ? H : 1.0),
                                 at[i].z * (k.normalised ? D : 1.0)};
            near(back[i], model(v, size, p, k.mode, k.linear), k.linear, 1);
        }
        HIP(hipDestroyTextureObject(t));
        HIP(hipFree(places));
    }
    HIP(hipFreeArray(array));

    array = volume(v, hipArrayLayered);
    hipTextureObject_t t = texture_of(array, description(hipAddressModeClamp, false, false));
    read_layers<<<dim3(H, D), 64>>>(t, out);
    HIP(hipGetLastError());
    EXPECT(from_device(out, v.size()) == v);
    HIP(hipDestroyTextureObject(t));
    HIP(hipFreeArray(array));
    HIP(hipFree(out));
}

// Linear memory of many formats by index.
template <typename T, typename R> static void fetched(const std::vector<T> &v, hipTextureReadMode mode, double scale)
{
    hipResourceDesc r;
    std::memset(&r, 0, sizeof(r));
    T *p = to_device(v);
    r.resType = hipResourceTypeLinear;
    r.res.linear.devPtr = p;
    r.res.linear.desc = hipCreateChannelDesc<T>();
    r.res.linear.sizeInBytes = v.size() * sizeof(T);
    hipTextureDesc d = description(hipAddressModeClamp, false, false);
    d.readMode = mode;
    hipTextureObject_t t;
    HIP(hipCreateTextureObject(&t, &r, &d, nullptr));
    R *out;
    HIP(hipMalloc(&out, v.size() * sizeof(R)));
    fetch<R><<<(unsigned)(v.size() + 63) / 64, 64>>>(t, out, (int)v.size());
    HIP(hipGetLastError());
    std::vector<R> back = from_device(out, v.size());
    for (size_t i = 0; i < v.size(); i++)
        EXPECT(std::fabs((double)back[i] - std::fmax((double)v[i] * scale, scale == 1 ? -1e30 : -1)) < 1e-6);
    HIP(hipDestroyTextureObject(t));
    HIP(hipFree(out));
    HIP(hipFree(p));
}

template <typename T> static std::vector<T> ramp(int n)
{
    std::vector<T> v(n);
    for (int i = 0; i < n; i++)
        v[i] = (T)(i * 37 - 300);
    return v;
}

template <typename T> static void integers()
{
    std::vector<T> v = ramp<T>(W * H);
    hipArray_t array;
    hipChannelFormatDesc f = hipCreateChannelDesc<T>();
    HIP(hipMallocArray(&array, &f, W, H));
    HIP(hipMemcpy2DToArray(array, 0, 0, v.data(), W * sizeof(T), W * sizeof(T), H, hipMemcpyHostToDevice));
    hipTextureObject_t t = texture_of(array, description(hipAddressModeClamp, false, false));
    T *out;
    HIP(hipMalloc(&out, v.size() * sizeof(T)));
    read_integers<T><<<H, 64>>>(t, out);
    HIP(hipGetLastError());
    EXPECT(from_device(out, v.size()) == v);
    HIP(hipDestroyTextureObject(t));
    HIP(hipFree(out));
    HIP(hipFreeArray(array));
}

// Memory with a pitch as a texture, of 16-bit floats and of bytes that read as floats from 0 to 1.
static void pitched()
{
    size_t pitch;
    void *p;
    float *out;
    HIP(hipMallocPitch(&p, &pitch, W * sizeof(uint16_t), H));
    HIP(hipMalloc(&out, W * H * sizeof(float)));
    for (bool half : {true, false}) {
        std::vector<__half> halves(W * H);
        std::vector<uint8_t> bytes(W * H);
        std::vector<float> want(W * H);
        for (int i = 0; i < W * H; i++) {
            halves[i] = __float2half((float)i / 8);
            bytes[i] = (uint8_t)i;
            want[i] = half ? (float)i / 8 : (float)bytes[i] / 255.0f;
        }
        const size_t row = W * (half ? 2 : 1);
        HIP(hipMemcpy2D(p, pitch, half ? (void *)halves.data() : (void *)bytes.data(), row, row, H,
                        hipMemcpyHostToDevice));
        hipResourceDesc r;
        std::memset(&r, 0, sizeof(r));
        r.resType = hipResourceTypePitch2D;
        r.res.pitch2D.devPtr = p;
        r.res.pitch2D.desc = half ? hipCreateChannelDesc(16, 0, 0, 0, hipChannelFormatKindFloat)
                                  : hipCreateChannelDesc<unsigned char>();
        r.res.pitch2D.width = W;
        r.res.pitch2D.height = H;
        r.res.pitch2D.pitchInBytes = pitch;
        hipTextureDesc d = description(hipAddressModeClamp, false, false);
        d.readMode = half ? hipReadModeElementType : hipReadModeNormalizedFloat;
        hipTextureObject_t t;
        HIP(hipCreateTextureObject(&t, &r, &d, nullptr));
        std::vector<float2> at(W * H);
        for (int i = 0; i < W * H; i++)
            at[i] = float2{i % W + 0.5f, i / W + 0.5f};
        float2 *places = to_device(at);
        read_2d<<<(W * H + 63) / 64, 64>>>(t, places, out, W * H);
        HIP(hipGetLastError());
        EXPECT(from_device(out, W * H) == want);
        HIP(hipDestroyTextureObject(t));
        HIP(hipFree(places));
    }
    HIP(hipFree(out));
    HIP(hipFree(p));
}

static void surfaces()
{
    std::vector<float> v = ramp<float>(W * H), back(W * H);
    hipArray_t array;
    hipChannelFormatDesc f = hipCreateChannelDesc<float>();
    HIP(hipMallocArray(&array, &f, W, H));
    HIP(hipMemcpy2DToArray(array, 0, 0, v.data(), W * sizeof(float), W * sizeof(float), H, hipMemcpyHostToDevice));
    hipResourceDesc r;
    std::memset(&r, 0, sizeof(r));
    r.resType = hipResourceTypeArray;
    r.res.array.array = array;
    hipSurfaceObject_t s;
    HIP(hipCreateSurfaceObject(&s, &r));
    add_surface<<<H, 64>>>(s);
    HIP(hipGetLastError());
    HIP(hipMemcpy2DFromArray(back.data(), W * sizeof(float), array, 0, 0, W * sizeof(float), H, hipMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++)
        EXPECT(back[i] == v[i] + 1000 * (i % W) + i / W);
    HIP(hipDestroySurfaceObject(s));
    HIP(hipFreeArray(array));
}

int main()
{
    planes();
    lines();
    volumes();
    fetched<float, float>(ramp<float>(1000), hipReadModeElementType, 1);
    fetched<int, int>(ramp<int>(1000), hipReadModeElementType, 1);
    fetched<unsigned char, unsigned char>(ramp<unsigned char>(1000), hipReadModeElementType, 1);
    fetched<short, short>(ramp<short>(1000), hipReadModeElementType, 1);
    fetched<unsigned char, float>(ramp<unsigned char>(1000), hipReadModeNormalizedFloat, 1 / 255.0);
    fetched<char, float>(ramp<char>(1000), hipReadModeNormalizedFloat, 1 / 127.0);
    fetched<unsigned short, float>(ramp<unsigned short>(1000), hipReadModeNormalizedFloat, 1 / 65535.0);
    integers<int>();
    integers<unsigned>();
    integers<short>();
    integers<unsigned char>();
    integers<char>();
    pitched();
    surfaces();
    std::puts("textures: all right");
    return 0;
}

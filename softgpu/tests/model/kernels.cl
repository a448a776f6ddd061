// SPDX-License-Identifier: MIT
// Small programs of which it is known how a GPU fares with them.
#define X  __builtin_amdgcn_workitem_id_x()
#define Y  __builtin_amdgcn_workitem_id_y()
#define GX __builtin_amdgcn_workgroup_id_x()
#define GY __builtin_amdgcn_workgroup_id_y()

__attribute__((reqd_work_group_size(256, 1, 1))) kernel void copy(global const float *in, global float *out, int stride)
{
    const uint id = (X + 256 * GX) * (uint)stride;
    out[id] = in[id];
}

__attribute__((reqd_work_group_size(16, 16, 1))) kernel void naive(global const float *a, global const float *b,
                                                                   global float *c, int n)
{
    const int x = (int)(X + 16 * GX), y = (int)(Y + 16 * GY);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

__attribute__((reqd_work_group_size(16, 16, 1))) kernel void tiled(global const float *a, global const float *b,
                                                                   global float *c, int n)
{
    local float ta[16][16], tb[16][16];
    const int x = (int)(X + 16 * GX), y = (int)(Y + 16 * GY);
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        ta[Y][X] = a[y * n + t + (int)X];
        tb[Y][X] = b[(t + (int)Y) * n + x];
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        for (int k = 0; k < 16; k++)
            sum += ta[Y][k] * tb[k][X];
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    }
    c[y * n + x] = sum;
}

// Each item reads LDS dwords `stride` apart from its neighbours'.
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void banks(global uint *out, int stride, int times)
{
    local volatile uint shared[2048];
    uint sum = 0;
    for (uint i = X; i < 2048; i += 64)
        shared[i] = i;
    for (int i = 0; i < times; i++)
        sum += shared[(X * (uint)stride + (uint)i) & 2047];
    out[X + 64 * GX] = sum;
}

// Each load's address is what the one before returned.
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void chase(global const uint *next, global uint *out, int steps)
{
    uint at = X;
    for (int i = 0; i < steps; i++)
        at = next[at];
    out[X + 64 * GX] = at;
}

typedef float float32 __attribute__((ext_vector_type(32)));
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void matrix(global float *out, float a, float b)
{
    float32 sum = 0;
    sum = __builtin_amdgcn_mfma_f32_32x32x1f32(a, b, sum, 0, 0, 0);
    out[X] = sum[0];
    const double d = __builtin_fma((double)a, (double)b, (double)X);
    out[64 + X] = __builtin_amdgcn_rcpf((float)d);
    __builtin_amdgcn_global_atomic_fadd_f32(out + 128, 1.0f);
}

// SPDX-License-Identifier: MIT
// What a compiler makes of private arrays, calls, recursion and generic pointers: its prologue sets up scratch
// from the initial registers, so this is the judge of those. test_compiled.c has the same functions in C.
__attribute__((noinline)) int walk(int n, private int *p)
{
    int a[8];
    for (int i = 0; i < 8; i++)
        a[i] = p[(i + n) & 7] + n;
    if (n <= 0)
        return a[p[0] & 7];
    return walk(n - 1, a) + a[n & 7];
}

__attribute__((noinline)) int digest(int *p)
{
    int s = 0;
    for (int i = 0; i < 8; i++)
        s = s * 3 + p[i];
    return s;
}

kernel void compiled(global int *in, global int *out, local int *shared)
{
    const int item = __builtin_amdgcn_workitem_id_x();
    const int id = item + 256 * __builtin_amdgcn_workgroup_id_x();
    int a[8];
    for (int i = 0; i < 8; i++)
        a[i] = in[id + i];
    shared[item] = a[3];
    __builtin_amdgcn_s_barrier();
    int *either = (id & 1) ? (int *)a : (int *)shared; // odd items: scratch, even items: LDS
    const int picked = a[in[id] & 7];
    out[id] = walk(5, a) + digest(either) + picked;
}

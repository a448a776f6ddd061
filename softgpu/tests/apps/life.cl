// SPDX-License-Identifier: MIT
// Kernels of life.c.
kernel void add(global unsigned *p, unsigned n)
{
    unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    if (i < n)
        p[i] += i + 1;
}

kernel void spin(global volatile unsigned *p, unsigned n)
{
    p[0] = 1;
    while (p[0] < n)
        ;
}

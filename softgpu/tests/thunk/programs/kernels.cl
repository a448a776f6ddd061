// SPDX-License-Identifier: MIT
// Kernels of hsa_dispatch.c: one that works and two that fail in a known way.
kernel void add_one(global int *p, int n)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    if (i < n)
        p[i] += 1;
}

kernel void illegal(global int *p, int n)
{
    __asm__ volatile(".long 0xbfff0000"); // a SOPP opcode that does not exist
    p[0] = n;
}

kernel void wild(global int *p, int n)
{
    *(volatile global int *)0x1000 = n;
    p[0] = n;
}

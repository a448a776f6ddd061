// SPDX-License-Identifier: MIT
// What the tests share: the assembled kernels as memory, and launches with sensible defaults.
#ifndef SG_ISA_MEM_RIG_H
#define SG_ISA_MEM_RIG_H

#include "softgpu/isa/isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SHARED_HI  0x10000u
#define PRIVATE_HI 0x20000u
#define LANES      64
#define SENTINEL   0xdeadbeefu

// Kernel arguments; `resource` is a buffer resource at byte 24.
struct rig_args {
    const void *in;
    void *out;
    void *extra;
    uint32_t resource[4];
};

struct rig {
    struct sg_launch launch; // preset by rig_begin(); change it before rig_run()
    struct rig_args args;
    struct sg_counts counts[SG_SHADER_ENGINES];
    struct sg_fault fault;
};

// Reads the object file that kernels.s became.
void rig_open(const char *path);

// Address of a kernel's first instruction, and its bytes up to the next kernel.
uint64_t rig_kernel(const char *name);
size_t rig_kernel_bytes(const char *name);

// One work-group of 64 work-items, kernarg in s[0:1], work-group id x in s2, 2 KiB of LDS, 32 VGPRs and 8
// AGPRs.
void rig_begin(struct rig *rig, const char *kernel, const void *in, void *out, void *extra);

// The same with private memory: resource in s[0:3], kernarg s[4:5], flat scratch s[6:7], id s8, wave offset
// s9.
void rig_begin_private(struct rig *rig, const char *kernel, const void *in, void *out, void *extra);

// Launches; fails the test on a fault.
void rig_run(struct rig *rig);

// Launches; fails the test unless it ends in `kind`.
void rig_run_fault(struct rig *rig, enum sg_fault_kind kind);

struct sg_counts rig_total(const struct rig *rig);

// Repeatable bits.
uint32_t rig_noise(uint32_t *state);

#endif

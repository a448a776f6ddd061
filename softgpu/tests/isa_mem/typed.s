// SPDX-License-Identifier: MIT
// Frames of the tests of typed memory: one load, store or image atomic each, which the test replaces by one of the
// instructions below. SGPRs as in kernels.s; the buffer resource is at byte 24 of the arguments.

.macro kernel name
    .p2align 8
    .globl \name
    .type \name,@function
\name:
.endm

.macro label name
    .globl \name
\name:
.endm

.macro arguments                        // s[4:5] in, s[6:7] out, s[8:9] extra, s[12:15] resource, v1 = 16 * lane
    s_load_dwordx4 s[4:7], s[0:1], 0
    s_load_dwordx2 s[8:9], s[0:1], 16
    s_load_dwordx4 s[12:15], s[0:1], 24
    s_waitcnt lgkmcnt(0)
    v_lshlrev_b32 v1, 4, v0
.endm

kernel typed_load                       // the record at 16 * lane of the resource, to `out`
    arguments
    v_mov_b32 v4, 0xdeadbeef
    v_mov_b32 v5, v4
    v_mov_b32 v6, v4
    v_mov_b32 v7, v4
label typed_load_here
    buffer_load_format_x v4, v1, s[12:15], 0 offen
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v1, v[4:7], s[6:7]
    s_endpgm

kernel typed_store                      // from `in` to 16 * lane of the resource
    arguments
    global_load_dwordx4 v[4:7], v1, s[4:5]
    s_waitcnt vmcnt(0)
label typed_store_here
    buffer_store_format_x v4, v1, s[12:15], 0 offen
    s_endpgm

// Image resource at `extra`, data at `in`, values before to `out`. Coordinates: lane % 8, lane / 8 % 4.
kernel image_atomic
    arguments
    s_load_dwordx8 s[16:23], s[8:9], 0
    global_load_dwordx4 v[4:7], v1, s[4:5]
    v_and_b32 v8, 7, v0
    v_bfe_u32 v9, v0, 3, 2
    s_waitcnt vmcnt(0) lgkmcnt(0)
label image_atomic_here
    image_atomic_add v4, v[8:9], s[16:23] dmask:0x1 unorm glc
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v1, v[4:7], s[6:7]
    s_endpgm

// Never executed where they are.
.macro list_of op, tail:vararg           // whole components, then halves
    \op\()_format_x v4, v1, s[12:15], \tail
    \op\()_format_xy v[4:5], v1, s[12:15], \tail
    \op\()_format_xyz v[4:6], v1, s[12:15], \tail
    \op\()_format_xyzw v[4:7], v1, s[12:15], \tail
    \op\()_format_d16_x v4, v1, s[12:15], \tail
    \op\()_format_d16_xy v4, v1, s[12:15], \tail
    \op\()_format_d16_xyz v[4:5], v1, s[12:15], \tail
    \op\()_format_d16_xyzw v[4:5], v1, s[12:15], \tail
.endm

kernel typed_instructions
label mtbuf_loads
    list_of tbuffer_load, dfmt:0, nfmt:0, 0 offen
label mtbuf_stores
    list_of tbuffer_store, dfmt:0, nfmt:0, 0 offen
label mubuf_loads
    list_of buffer_load, 0 offen
    buffer_load_format_d16_hi_x v4, v1, s[12:15], 0 offen
label mubuf_stores
    list_of buffer_store, 0 offen
    buffer_store_format_d16_hi_x v4, v1, s[12:15], 0 offen

label mtbuf_formats                     // data formats 0..15, each with number formats 0..7
    .irp d,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    .irp n,0,1,2,3,4,5,6,7
    tbuffer_load_format_x v4, v1, s[12:15], dfmt:\d, nfmt:\n, 0 offen
    .endr
    .endr

label image_atomics                     // 32 bits, then 64
    .irp op,swap,add,sub,smin,umin,smax,umax,and,or,xor,inc,dec
    image_atomic_\op v4, v[8:9], s[16:23] dmask:0x1 unorm glc
    .endr
    image_atomic_cmpswap v[4:5], v[8:9], s[16:23] dmask:0x3 unorm glc
    .irp op,swap,add,sub,smin,umin,smax,umax,and,or,xor,inc,dec
    image_atomic_\op v[4:5], v[8:9], s[16:23] dmask:0x3 unorm glc
    .endr
    image_atomic_cmpswap v[4:7], v[8:9], s[16:23] dmask:0xf unorm glc

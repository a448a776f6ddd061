// SPDX-License-Identifier: MIT
// Kernels of the memory and launch tests. User SGPRs: s[0:1] = kernarg (unless a kernel says otherwise), which
// holds in, out, extra (64 bits each); s2 = work-group id x. v0 = work-item id.

.macro kernel name
    .p2align 8
    .globl \name
    .type \name,@function
\name:
.endm

.macro arguments                        // s[4:5] in, s[6:7] out, s[8:9] extra, v1 = 16 * lane
    s_load_dwordx4 s[4:7], s[0:1], 0
    s_load_dwordx2 s[8:9], s[0:1], 16
    s_waitcnt lgkmcnt(0)
    v_lshlrev_b32 v1, 4, v0
.endm

// ---- every load and store of every way to reach memory ----------------------------------------------------
// Record of a lane: 32 bytes at 16 * lane of `in` for loads; 32 bytes of its own for stores. v[2:3] is the
// vector address of the record, v1 the 32-bit one, s[12:15] the buffer resource, s16 its scalar offset.

.macro address_pair base                // v[2:3] = s[base:base+1] + v1
    v_mov_b32 v3, s[\base+1]
    v_add_co_u32 v2, vcc, s\base, v1
    v_addc_co_u32 v3, vcc, 0, v3, vcc
.endm

.macro load mode, suffix, ds, reg, off
    .ifc \mode,saddr
        global_load_\suffix \reg, v1, s[10:11] offset:\off
    .endif
    .ifc \mode,vaddr
        global_load_\suffix \reg, v[2:3], off offset:\off-64
    .endif
    .ifc \mode,flat
        flat_load_\suffix \reg, v[2:3] offset:\off
    .endif
    .ifc \mode,scratch
        scratch_load_\suffix \reg, v1, off offset:\off
    .endif
    .ifc \mode,buffer
        buffer_load_\suffix \reg, v1, s[12:15], s16 offen offset:\off
    .endif
    .ifc \mode,ds
        ds_read_\ds \reg, v1 offset:\off
    .endif
    s_waitcnt vmcnt(0) lgkmcnt(0)
.endm

.macro store mode, suffix, ds, reg, off
    .ifc \mode,saddr
        global_store_\suffix v1, \reg, s[10:11] offset:\off
    .endif
    .ifc \mode,vaddr
        global_store_\suffix v[2:3], \reg, off offset:\off-64
    .endif
    .ifc \mode,flat
        flat_store_\suffix v[2:3], \reg offset:\off
    .endif
    .ifc \mode,scratch
        scratch_store_\suffix v1, \reg, off offset:\off
    .endif
    .ifc \mode,buffer
        buffer_store_\suffix \reg, v1, s[12:15], s16 offen offset:\off
    .endif
    .ifc \mode,ds
        ds_write_\ds v1, \reg offset:\off
    .endif
    s_waitcnt vmcnt(0) lgkmcnt(0)
.endm

.macro load_case mode, suffix, ds, reg, off
    v_mov_b32 v4, 0xdeadbeef
    v_mov_b32 v5, 0xdeadbeef
    v_mov_b32 v6, 0xdeadbeef
    v_mov_b32 v7, 0xdeadbeef
    load \mode, \suffix, \ds, \reg, \off
    global_store_dwordx4 v8, v[4:7], s[6:7]
    v_add_u32 v8, 0x400, v8
.endm

.macro load_cases mode, off
    v_mov_b32 v8, v19
    load_case \mode, ubyte, u8, v4, \off
    load_case \mode, sbyte, i8, v4, \off
    load_case \mode, ushort, u16, v4, \off
    load_case \mode, sshort, i16, v4, \off
    load_case \mode, dword, b32, v4, \off
    load_case \mode, dwordx2, b64, v[4:5], \off
    load_case \mode, dwordx3, b96, v[4:6], \off
    load_case \mode, dwordx4, b128, v[4:7], \off
    load_case \mode, ubyte_d16, u8_d16, v4, \off
    load_case \mode, ubyte_d16_hi, u8_d16_hi, v4, \off
    load_case \mode, sbyte_d16, i8_d16, v4, \off
    load_case \mode, sbyte_d16_hi, i8_d16_hi, v4, \off
    load_case \mode, short_d16, u16_d16, v4, \off
    load_case \mode, short_d16_hi, u16_d16_hi, v4, \off
    v_mov_b32 v19, v8
.endm

.macro store_case mode, suffix, ds, reg, off
    v_mov_b32 v20, 0xdeadbeef
    .irp at,0,4,8,12,16,20,24,28
        store \mode, dword, b32, v20, \at
    .endr
    store \mode, \suffix, \ds, \reg, \off
    .irp at,0,4,8,12,16,20,24,28
        load \mode, dword, b32, v20, \at
        global_store_dword v8, v20, s[6:7] offset:\at
    .endr
    v_add_u32 v8, 0x800, v8
.endm

.macro store_cases mode, off
    v_mov_b32 v8, v19
    store_case \mode, byte, b8, v4, \off
    store_case \mode, byte_d16_hi, b8_d16_hi, v4, \off
    store_case \mode, short, b16, v4, \off
    store_case \mode, short_d16_hi, b16_d16_hi, v4, \off
    store_case \mode, dword, b32, v4, \off
    store_case \mode, dwordx2, b64, v[4:5], \off
    store_case \mode, dwordx3, b96, v[4:6], \off
    store_case \mode, dwordx4, b128, v[4:7], \off
    v_mov_b32 v19, v8
.endm

// Copies the lane's 32-byte record of `in` to v[20:27].
.macro fetch_record
    global_load_dwordx4 v[20:23], v1, s[4:5]
    global_load_dwordx4 v[24:27], v1, s[4:5] offset:16
    s_waitcnt vmcnt(0)
.endm

kernel load_saddr
    arguments
    s_mov_b64 s[10:11], s[4:5]
    v_mov_b32 v19, v1
    load_cases saddr, 4
    load_cases saddr, 5
    s_endpgm

kernel load_vaddr
    arguments
    s_add_u32 s10, s4, 64
    s_addc_u32 s11, s5, 0
    address_pair 10
    v_mov_b32 v19, v1
    load_cases vaddr, 4
    load_cases vaddr, 5
    s_endpgm

kernel load_flat
    arguments
    address_pair 4
    v_mov_b32 v19, v1
    load_cases flat, 4
    load_cases flat, 5
    s_endpgm

.macro fill_lds                         // LDS = in, 16 bytes per lane
    global_load_dwordx4 v[20:23], v1, s[4:5]
    s_waitcnt vmcnt(0)
    ds_write_b128 v1, v[20:23]
    s_waitcnt lgkmcnt(0)
.endm

kernel load_flat_lds
    arguments
    fill_lds
    s_mov_b64 s[10:11], src_shared_base
    address_pair 10
    v_mov_b32 v19, v1
    load_cases flat, 4
    load_cases flat, 5
    s_endpgm

kernel load_ds
    arguments
    fill_lds
    v_mov_b32 v19, v1
    load_cases ds, 4
    load_cases ds, 5
    s_endpgm

kernel load_buffer                      // the scalar offset is taken from the base again
    arguments
    s_sub_u32 s12, s4, 48
    s_subb_u32 s13, s5, 0
    s_movk_i32 s14, 0x4000
    s_mov_b32 s15, 0x00027fac
    s_mov_b32 s16, 48
    v_mov_b32 v19, v1
    load_cases buffer, 4
    load_cases buffer, 5
    s_endpgm

// Private: s[0:3] resource, s[4:5] kernarg, s[6:7] flat scratch, s8 work-group id, s9 wave offset.
.macro private_arguments
    s_add_u32 s12, s0, s9
    s_addc_u32 s13, s1, 0
    s_mov_b64 s[14:15], s[2:3]
    s_add_u32 flat_scratch_lo, s6, s9
    s_addc_u32 flat_scratch_hi, s7, 0
    s_mov_b64 s[0:1], s[4:5]
    s_movk_i32 s16, 0x0
    arguments
    v_mov_b32 v18, v1
.endm

.macro fill_private at                  // through the buffer: v[20:27] at private byte \at
    fetch_record
    .irp n,0,1,2,3,4,5,6,7
        buffer_store_dword v2\n, off, s[12:15], 0 offset:\at+4*\n
    .endr
    s_waitcnt vmcnt(0)
.endm

kernel load_private_buffer
    private_arguments
    fill_private 32
    v_mov_b32 v19, v18
    v_mov_b32 v1, 16
    s_movk_i32 s16, 0x400                // 16 bytes of each of 64 lanes
    load_cases buffer, 4
    load_cases buffer, 5
    s_endpgm

kernel load_private_scratch
    private_arguments
    fill_private 32
    v_mov_b32 v19, v18
    v_mov_b32 v1, 32
    load_cases scratch, 4
    load_cases scratch, 5
    s_endpgm

kernel load_private_flat
    private_arguments
    fill_private 32
    v_mov_b32 v19, v18
    v_mov_b32 v1, 32
    s_mov_b64 s[10:11], src_private_base
    address_pair 10
    load_cases flat, 4
    load_cases flat, 5
    s_endpgm

.macro store_data                       // v[4:7] = in, 16 bytes per lane; records are 32 bytes
    global_load_dwordx4 v[4:7], v1, s[4:5]
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v1, 5, v0
    v_mov_b32 v19, v1
.endm

kernel store_saddr
    arguments
    store_data
    s_mov_b64 s[10:11], s[8:9]
    store_cases saddr, 4
    store_cases saddr, 5
    s_endpgm

kernel store_vaddr
    arguments
    store_data
    s_add_u32 s10, s8, 64
    s_addc_u32 s11, s9, 0
    address_pair 10
    store_cases vaddr, 4
    store_cases vaddr, 5
    s_endpgm

kernel store_flat
    arguments
    store_data
    address_pair 8
    store_cases flat, 4
    store_cases flat, 5
    s_endpgm

kernel store_flat_lds
    arguments
    store_data
    s_mov_b64 s[10:11], src_shared_base
    address_pair 10
    store_cases flat, 4
    store_cases flat, 5
    s_endpgm

kernel store_ds
    arguments
    store_data
    store_cases ds, 4
    store_cases ds, 5
    s_endpgm

kernel store_buffer
    arguments
    store_data
    s_mov_b64 s[12:13], s[8:9]
    s_movk_i32 s14, 0x4000
    s_mov_b32 s15, 0x00027fac
    s_mov_b32 s16, 0
    store_cases buffer, 4
    store_cases buffer, 5
    s_endpgm

kernel store_private_buffer
    private_arguments
    store_data
    v_mov_b32 v1, 16
    s_movk_i32 s16, 0x400
    store_cases buffer, 4
    store_cases buffer, 5
    s_endpgm

kernel store_private_scratch
    private_arguments
    store_data
    v_mov_b32 v1, 32
    store_cases scratch, 4
    store_cases scratch, 5
    s_endpgm

kernel store_private_flat
    private_arguments
    store_data
    v_mov_b32 v1, 32
    s_mov_b64 s[10:11], src_private_base
    address_pair 10
    store_cases flat, 4
    store_cases flat, 5
    s_endpgm

// Private dword 3 of each lane, written through the buffer, is copied to `out` by its real address.
kernel private_layout
    private_arguments
    fetch_record
    buffer_store_dword v20, off, s[12:15], 0 offset:12
    s_waitcnt vmcnt(0)
    s_and_b32 s13, s13, 0xffff
    s_add_u32 s10, s12, 0x300
    s_addc_u32 s11, s13, 0
    v_lshlrev_b32 v2, 2, v0
    v_and_b32 v3, 0xfc, v2
    global_load_dword v4, v3, s[10:11]
    s_waitcnt vmcnt(0)
    global_store_dword v2, v4, s[6:7]
    s_endpgm

kernel private_too_far
    private_arguments
    v_mov_b32 v1, 0x10000
    scratch_load_dword v4, v1, off
    s_endpgm

kernel private_buffer_too_far
    private_arguments
    s_movk_i32 s16, 0x7000
    buffer_store_dword v0, off, s[12:15], s16
    s_endpgm

// Lanes 32 and up lie behind the end of the resource: zero loads, dropped stores.
kernel buffer_range
    arguments
    s_mov_b64 s[12:13], s[4:5]
    s_movk_i32 s14, 0x200
    s_mov_b32 s15, 0x00027fac
    v_mov_b32 v4, -1
    buffer_load_dword v4, v1, s[12:15], 0 offen
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v2, 2, v0
    global_store_dword v2, v4, s[6:7]
    s_mov_b64 s[12:13], s[8:9]
    s_movk_i32 s14, 0x80
    buffer_store_dword v0, v2, s[12:15], 0 offen
    s_load_dwordx4 s[20:23], s[0:1], 24  // a resource of the host's
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_buffer_load_dwordx4 s[24:27], s[20:23], 8
    s_waitcnt lgkmcnt(0)
    s_store_dwordx4 s[24:27], s[6:7], 0x100
    s_endpgm

// Structured: records of 12 bytes, index in v0, offset 4 in v1.
kernel buffer_structured
    arguments
    s_mov_b32 s12, s4
    s_or_b32 s13, s5, 0xc0000
    s_mov_b32 s14, 60                    // records
    s_mov_b32 s15, 0x00027fac
    v_mov_b32 v2, v0
    v_mov_b32 v3, 4
    buffer_load_dword v4, v[2:3], s[12:15], 0 idxen offen offset:4
    v_lshlrev_b32 v2, 2, v0
    s_waitcnt vmcnt(0)
    global_store_dword v2, v4, s[6:7]
    s_endpgm

// Loads straight into LDS, at M0 + offset + 4 * lane.
kernel load_to_lds
    arguments
    s_mov_b64 s[12:13], s[4:5]
    s_movk_i32 s14, 0x4000
    s_mov_b32 s15, 0x00027fac
    s_mov_b32 m0, 0x40
    buffer_load_dword v1, s[12:15], 0 offen lds
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v2, 2, v0
    ds_read_b32 v4, v2 offset:0x40
    s_waitcnt lgkmcnt(0)
    global_store_dword v2, v4, s[6:7]
    s_endpgm

// ---- atomics ----------------------------------------------------------------------------------------------
// Eight lanes share a target: offset (lane & 7) * 8, plus 64 for each case, of `extra`. Data in v[4:7]. Old
// values go to out[case][lane], 8 bytes each.

.macro old_value
    s_waitcnt vmcnt(0) lgkmcnt(0)
    global_store_dwordx2 v8, v[10:11], s[6:7]
    v_add_u32 v8, 0x200, v8
    v_mov_b32 v11, 0
    .set at, at + 64
.endm

.macro atomic mode, name, ds, dst, data, cmp
    .ifc \mode,global
        global_atomic_\name \dst, v9, \data, s[8:9] offset:at glc
    .endif
    .ifc \mode,flat
        flat_atomic_\name \dst, v[2:3], \data offset:at glc
    .endif
    .ifc \mode,buffer
        v_mov_b32 v10, v4
        v_mov_b32 v11, v5
        v_mov_b32 v12, v6
        v_mov_b32 v13, v7
        buffer_atomic_\name \data, v9, s[12:15], 0 offen offset:at glc
    .endif
    .ifc \mode,ds
        .ifnb \cmp
            ds_\ds \dst, v9, \cmp offset:at
        .else
            ds_\ds \dst, v9, \data offset:at
        .endif
    .endif
    old_value
.endm

.macro atomics_of mode, d1, d2, d4
    .set at, 0
    v_mov_b32 v11, 0
    atomic \mode, swap, wrxchg_rtn_b32, v10, \d1
    atomic \mode, cmpswap, cmpst_rtn_b32, v10, \d2, "v5, v4"
    atomic \mode, add, add_rtn_u32, v10, \d1
    atomic \mode, sub, sub_rtn_u32, v10, \d1
    atomic \mode, smin, min_rtn_i32, v10, \d1
    atomic \mode, umin, min_rtn_u32, v10, \d1
    atomic \mode, smax, max_rtn_i32, v10, \d1
    atomic \mode, umax, max_rtn_u32, v10, \d1
    atomic \mode, and, and_rtn_b32, v10, \d1
    atomic \mode, or, or_rtn_b32, v10, \d1
    atomic \mode, xor, xor_rtn_b32, v10, \d1
    atomic \mode, inc, inc_rtn_u32, v10, \d1
    atomic \mode, dec, dec_rtn_u32, v10, \d1
    atomic \mode, swap_x2, wrxchg_rtn_b64, v[10:11], \d2
    atomic \mode, cmpswap_x2, cmpst_rtn_b64, v[10:11], \d4, "v[6:7], v[4:5]"
    atomic \mode, add_x2, add_rtn_u64, v[10:11], \d2
    atomic \mode, sub_x2, sub_rtn_u64, v[10:11], \d2
    atomic \mode, smin_x2, min_rtn_i64, v[10:11], \d2
    atomic \mode, umin_x2, min_rtn_u64, v[10:11], \d2
    atomic \mode, smax_x2, max_rtn_i64, v[10:11], \d2
    atomic \mode, umax_x2, max_rtn_u64, v[10:11], \d2
    atomic \mode, and_x2, and_rtn_b64, v[10:11], \d2
    atomic \mode, or_x2, or_rtn_b64, v[10:11], \d2
    atomic \mode, xor_x2, xor_rtn_b64, v[10:11], \d2
    atomic \mode, inc_x2, inc_rtn_u64, v[10:11], \d2
    atomic \mode, dec_x2, dec_rtn_u64, v[10:11], \d2
.endm

.macro atomic_setup
    arguments
    global_load_dwordx4 v[4:7], v1, s[4:5]
    v_and_b32 v9, 7, v0
    v_lshlrev_b32 v9, 3, v9
    v_lshlrev_b32 v8, 3, v0
    v_mov_b32 v1, v9
    address_pair 8
    s_mov_b64 s[12:13], s[8:9]
    s_movk_i32 s14, 0x1000
    s_mov_b32 s15, 0x00027fac
    s_waitcnt vmcnt(0)
.endm

.macro lds_copy direction               // 2 KiB between `extra` and LDS, 32 bytes per lane
    v_lshlrev_b32 v14, 5, v0
    .irp half,0,16
        .ifc \direction,in
            global_load_dwordx4 v[20:23], v14, s[8:9] offset:\half
            s_waitcnt vmcnt(0)
            ds_write_b128 v14, v[20:23] offset:\half
        .else
            ds_read_b128 v[20:23], v14 offset:\half
            s_waitcnt lgkmcnt(0)
            global_store_dwordx4 v14, v[20:23], s[8:9] offset:\half
        .endif
    .endr
    s_waitcnt vmcnt(0) lgkmcnt(0)
.endm

kernel atomic_global
    atomic_setup
    atomics_of global, v4, v[4:5], v[4:7]
    s_endpgm

kernel atomic_flat
    atomic_setup
    atomics_of flat, v4, v[4:5], v[4:7]
    s_endpgm

kernel atomic_buffer
    atomic_setup
    atomics_of buffer, v10, v[10:11], v[10:13]
    s_endpgm

kernel atomic_ds
    atomic_setup
    lds_copy in
    atomics_of ds, v4, v[4:5], v[4:7]
    lds_copy out
    s_endpgm

kernel atomic_flat_lds
    atomic_setup
    lds_copy in
    s_mov_b64 s[10:11], src_shared_base
    address_pair 10
    atomics_of flat, v4, v[4:5], v[4:7]
    lds_copy out
    s_endpgm

// The float ones, in the order of the test's table.
.macro float_atomics mode, d1, d2
    .set at, 0
    v_mov_b32 v11, 0
    atomic \mode, add_f32, add_rtn_f32, v10, \d1
    .ifnc \mode,ds
        atomic \mode, pk_add_f16, , v10, \d1
    .endif
    atomic \mode, add_f64, add_rtn_f64, v[10:11], \d2
    atomic \mode, min_f64, min_rtn_f64, v[10:11], \d2
    atomic \mode, max_f64, max_rtn_f64, v[10:11], \d2
.endm

kernel float_atomic_global
    atomic_setup
    float_atomics global, v4, v[4:5]
    s_endpgm

kernel float_atomic_buffer
    atomic_setup
    float_atomics buffer, v10, v[10:11]
    s_endpgm

kernel float_atomic_ds
    atomic_setup
    lds_copy in
    float_atomics ds, v4, v[4:5]
    lds_copy out
    s_endpgm

kernel float_atomic_flat                // add, min, max f64
    atomic_setup
    .set at, 0
    atomic flat, add_f64, , v[10:11], v[4:5]
    atomic flat, min_f64, , v[10:11], v[4:5]
    atomic flat, max_f64, , v[10:11], v[4:5]
    s_endpgm

// What only DS has.
kernel ds_atomic_more
    atomic_setup
    lds_copy in
    .set at, 0
    v_mov_b32 v11, 0
    ds_rsub_rtn_u32 v10, v9, v4 offset:at
    old_value
    ds_mskor_rtn_b32 v10, v9, v4, v5 offset:at
    old_value
    ds_wrap_rtn_b32 v10, v9, v4, v5 offset:at
    old_value
    ds_rsub_rtn_u64 v[10:11], v9, v[4:5] offset:at
    old_value
    ds_mskor_rtn_b64 v[10:11], v9, v[4:5], v[6:7] offset:at
    old_value
    ds_condxchg32_rtn_b64 v[10:11], v9, v[4:5] offset:at
    old_value
    ds_wrxchg2_rtn_b32 v[10:11], v9, v4, v5 offset0:at/4 offset1:at/4+1
    old_value
    ds_add_u32 v9, v4 offset:at           // forms without return
    old_value
    ds_xor_b64 v9, v[4:5] offset:at
    old_value
    lds_copy out
    s_endpgm

// Two addresses, offsets in elements and in 64 elements; M0-relative forms; reads and writes past the end.
kernel ds_pairs
    arguments
    fill_lds
    v_lshlrev_b32 v2, 3, v0
    ds_read2_b32 v[4:5], v2 offset0:1 offset1:3
    ds_read2st64_b32 v[6:7], v2 offset0:0 offset1:1
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v1, v[4:7], s[6:7]
    ds_read2_b64 v[4:7], v2 offset0:2 offset1:1
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v1, v[4:7], s[6:7] offset:1024
    ds_read2st64_b64 v[4:7], v2 offset0:1 offset1:0
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v1, v[4:7], s[6:7] offset:2048
    v_lshlrev_b32 v3, 2, v0
    ds_write2_b32 v3, v0, v1 offset0:0 offset1:64
    ds_write2st64_b64 v2, v[0:1], v[2:3] offset0:1 offset1:2
    s_mov_b32 m0, 0x600
    ds_write_addtid_b32 v0 offset:0
    ds_read_addtid_b32 v4 offset:0
    v_mov_b32 v8, 0x10000
    ds_write_b32 v8, v0
    v_mov_b32 v5, -1
    ds_read_b32 v5, v8
    ds_read_b128 v[20:23], v1
    s_waitcnt lgkmcnt(0)
    global_store_dwordx2 v2, v[4:5], s[8:9]
    s_add_u32 s6, s6, 3072
    s_addc_u32 s7, s7, 0
    global_store_dwordx4 v1, v[20:23], s[6:7]
    ds_read_b128 v[20:23], v1 offset:1024
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v1, v[20:23], s[6:7] offset:1024
    s_endpgm

// Data between lanes, with lanes 40..63 switched off for the last three.
kernel ds_lanes
    arguments
    v_lshlrev_b32 v2, 2, v0
    v_mul_u32_u24 v4, 3, v0
    v_add_u32 v4, 100, v4                // data
    global_load_dword v3, v2, s[4:5]     // lane numbers * 4
    s_waitcnt vmcnt(0)
    .set row, 0
    .macro row_out
        s_waitcnt lgkmcnt(0)
        global_store_dword v2, v5, s[6:7] offset:row
        .set row, row + 256
    .endm
    ds_swizzle_b32 v5, v4 offset:0x8000+0x1b   // quads reversed
    row_out
    ds_swizzle_b32 v5, v4 offset:0x1f|(4<<10)  // xor 4
    row_out
    ds_swizzle_b32 v5, v4 offset:0x18|(2<<5)   // and, or
    row_out
    ds_swizzle_b32 v5, v4 offset:0xc000|(3<<5) // rotate
    row_out
    ds_swizzle_b32 v5, v4 offset:0xe000|0x10
    row_out
    ds_permute_b32 v5, v3, v4
    row_out
    ds_bpermute_b32 v5, v3, v4 offset:8
    row_out
    s_mov_b64 exec, 0xffffffff
    s_mov_b32 exec_hi, 0xff
    ds_permute_b32 v5, v3, v4
    row_out
    ds_bpermute_b32 v5, v3, v4
    row_out
    s_movk_i32 m0, 0x40
    ds_append v5 offset:4
    ds_append v5 offset:4
    row_out
    ds_consume v5 offset:4
    row_out
    s_endpgm

// ---- launch -----------------------------------------------------------------------------------------------

// All user SGPRs: s[0:3] resource, s[4:5] dispatch, s[6:7] queue, s[8:9] kernarg, s[10:11] id, s[12:13] flat
// scratch, s14 private size; s15..s17 work-group ids, s18 info, s19 wave offset. A slot of 128 bytes of `out` for
// each wave.
kernel initial_sgprs
    s_load_dwordx2 s[40:41], s[8:9], 8
    s_load_dwordx2 s[42:43], s[8:9], 16
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s44, 1
    s_atomic_add s44, s[42:43], 0 glc
    s_waitcnt lgkmcnt(0)
    s_lshl_b32 s44, s44, 7
    s_add_u32 s40, s40, s44
    s_addc_u32 s41, s41, 0
    s_getreg_b32 s20, hwreg(HW_REG_MODE)
    s_mov_b32 s21, exec_lo
    s_mov_b32 s22, exec_hi
    s_store_dwordx4 s[0:3], s[40:41], 0
    s_store_dwordx4 s[4:7], s[40:41], 16
    s_store_dwordx4 s[8:11], s[40:41], 32
    s_store_dwordx4 s[12:15], s[40:41], 48
    s_store_dwordx4 s[16:19], s[40:41], 64
    s_store_dwordx4 s[20:23], s[40:41], 80
    s_endpgm

// s2..s4 = work-group ids. Writes v0, ids and wave slot for each lane: out[slot][lane] = {v0, x, y, z}.
kernel work_items
    s_load_dwordx2 s[40:41], s[0:1], 8
    s_load_dwordx2 s[42:43], s[0:1], 16
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s44, 1
    s_atomic_add s44, s[42:43], 0 glc
    s_waitcnt lgkmcnt(0)
    s_lshl_b32 s44, s44, 10
    s_add_u32 s40, s40, s44
    s_addc_u32 s41, s41, 0
    v_mov_b32 v4, v0
    v_mov_b32 v5, s2
    v_mov_b32 v6, s3
    v_mov_b32 v7, s4
    v_mbcnt_lo_u32_b32 v1, -1, 0
    v_mbcnt_hi_u32_b32 v1, -1, v1
    v_lshlrev_b32 v1, 4, v1
    global_store_dwordx4 v1, v[4:7], s[40:41]
    s_endpgm

// Eight rounds: every item writes LDS, waits, reads the item 64 + 1 further, waits. 1024 items.
kernel barriers
    arguments
    v_lshlrev_b32 v2, 2, v0
    v_add_u32 v3, 0x104, v2
    v_and_b32 v3, 0xfff, v3
    v_mov_b32 v4, 0
    s_mov_b32 s10, 0
round:
    v_add_u32 v5, s10, v0
    ds_write_b32 v2, v5
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v6, v3
    s_waitcnt lgkmcnt(0)
    v_add_u32 v4, v4, v6
    s_barrier
    s_add_u32 s10, s10, 1
    s_cmp_lt_u32 s10, 8
    s_cbranch_scc1 round
    global_store_dword v2, v4, s[6:7]
    s_endpgm

// Waves of items 128 and up end before the barrier; the others meet there.
kernel barrier_with_ended
    arguments
    v_readfirstlane_b32 s10, v0
    s_cmp_ge_u32 s10, 128
    s_cbranch_scc1 leave
    s_barrier
    v_lshlrev_b32 v2, 2, v0
    global_store_dword v2, v0, s[6:7]
leave:
    s_endpgm

// The first wave spins until the last has written LDS.
kernel spin_on_wave
    arguments
    v_mov_b32 v2, 0
    v_mov_b32 v3, 7
    v_readfirstlane_b32 s10, v0
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 writer
spin:
    ds_read_b32 v4, v2
    s_waitcnt lgkmcnt(0)
    v_readfirstlane_b32 s11, v4
    s_cmp_lg_u32 s11, 7
    s_cbranch_scc1 spin
    v_lshlrev_b32 v5, 2, v0
    global_store_dword v5, v4, s[6:7]
    s_endpgm
writer:
    ds_write_b32 v2, v3
    s_endpgm

kernel endless
again:
    s_branch again

// ---- groups that wait for each other ----------------------------------------------------------------------

// in[0] = number of groups. Each adds one to extra[0] and waits until all have; then adds to extra[1] in the
// same way. out[group] = what it saw at last. `nap` is what it does between looks.
.macro meet_at offset, nap
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    s_mov_b64 s[12:13], exec
    s_mov_b64 exec, 1
    global_atomic_add v4, v2, v3, s[8:9] offset:\offset glc
look_\@:
    \nap
    global_load_dword v4, v2, s[8:9] offset:\offset glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s11, v4
    s_cmp_lt_u32 s11, s10
    s_cbranch_scc1 look_\@
    s_mov_b64 exec, s[12:13]
    s_barrier
.endm

.macro meeting nap
    arguments
    s_load_dword s10, s[4:5], 0
    s_waitcnt lgkmcnt(0)
    v_cmp_gt_u32 vcc, 64, v0             // the group's first wave meets the others for all of it
    s_cbranch_vccz rest_\@
    meet_at 0, "\nap"
    meet_at 4, "\nap"
    s_lshl_b32 s14, s2, 2
    s_store_dword s11, s[6:7], s14
    s_endpgm
rest_\@:
    s_barrier
    s_barrier
    s_endpgm
.endm

kernel meet_spinning
    meeting "s_nop 0"

kernel meet_sleeping
    meeting "s_sleep 1"

// A lock in extra[0] guards the count in extra[1], which each group's one lane adds 1 to, in[0] times. The add is
// a plain load and store with a long way in between.
kernel lock_between_groups
    arguments
    s_load_dword s10, s[4:5], 0
    s_waitcnt lgkmcnt(0)
    s_mov_b64 exec, 1
    v_mov_b32 v2, 0
    v_mov_b32 v6, 1                      // new value, then the one to compare with
    v_mov_b32 v7, 0
lock_again:
    global_atomic_cmpswap v4, v2, v[6:7], s[8:9] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s11, v4
    s_cmp_lg_u32 s11, 0
    s_cbranch_scc1 lock_again
    global_load_dword v5, v2, s[8:9] offset:4 glc
    s_movk_i32 s12, 1500
long_way:
    s_sub_u32 s12, s12, 1
    s_cmp_lg_u32 s12, 0
    s_cbranch_scc1 long_way
    s_waitcnt vmcnt(0)
    v_add_u32 v5, 1, v5
    global_store_dword v2, v5, s[8:9] offset:4
    global_store_dword v2, v2, s[8:9]
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 lock_again
    s_endpgm

// Group 0 waits for what the last group of the grid writes; in[0] = its number.
kernel wait_for_last
    arguments
    s_load_dword s10, s[4:5], 0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v2, 0
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 consumer
    s_cmp_lg_u32 s2, s10
    s_cbranch_scc1 neither
    v_mov_b32 v3, 42
    global_store_dword v2, v3, s[8:9]
neither:
    s_endpgm
consumer:
    global_load_dword v4, v2, s[8:9] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s11, v4
    s_cmp_eq_u32 s11, 0
    s_cbranch_scc1 consumer
    global_store_dword v2, v4, s[6:7]
    s_endpgm

// in[0] = waves of the grid but one. Each counts itself in extra[0], meets the others and stores what it then
// finds: out[wave], waves numbered by a ticket. Three times over.
kernel meet_gws
    arguments
    s_load_dword s10, s[4:5], 0
    s_waitcnt lgkmcnt(0)
    s_mov_b64 exec, 1
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    v_mov_b32 v8, s10
    s_mov_b32 m0, 0x20000                // resource 2 + 3
    s_movk_i32 s12, 3
meet_more:
    global_atomic_add v6, v2, v3, s[8:9] glc
    s_waitcnt vmcnt(0)
    ds_gws_barrier v8 offset:3 gds
    s_waitcnt lgkmcnt(0)
    global_load_dword v4, v2, s[8:9] glc
    s_waitcnt vmcnt(0)
    ds_gws_barrier v8 offset:3 gds
    v_lshlrev_b32 v5, 2, v6
    global_store_dword v5, v4, s[6:7]
    s_sub_u32 s12, s12, 1
    s_cmp_lg_u32 s12, 0
    s_cbranch_scc1 meet_more
    s_endpgm

kernel init_gws
    arguments
    s_load_dword s10, s[4:5], 0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v8, s10
    s_mov_b32 m0, 0
    ds_gws_init v8 offset:5 gds
    s_endpgm

// The first group takes a unit of a semaphore that the others give.
kernel semaphore_gws
    s_mov_b32 m0, 0
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 take_units
    ds_gws_sema_v offset:5 gds
    s_endpgm
take_units:
    ds_gws_sema_p offset:5 gds
    ds_gws_sema_p offset:5 gds
    ds_gws_sema_p offset:5 gds
    arguments
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    global_store_dword v2, v3, s[6:7]
    s_endpgm

// Each wave works for a long time and then stores what it found in its registers.
kernel long_work
    arguments
    s_mov_b32 s10, 300000
work_on:
    v_add_u32 v4, v4, v0
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 work_on
    s_lshl_b32 s11, s2, 8
    s_add_u32 s6, s6, s11
    s_addc_u32 s7, s7, 0
    v_lshlrev_b32 v5, 2, v0
    global_store_dword v5, v4, s[6:7]
    s_endpgm

// The same for a short time.
kernel short_work
    arguments
    s_movk_i32 s10, 3000
    s_branch work_on

// in[0] = the last group. All others run for ever; the last one stores to byte 64 of memory.
kernel endless_but_last
    arguments
    s_load_dword s10, s[4:5], 0
    v_mov_b32 v2, 64
    v_mov_b32 v3, 0
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s2, s10
    s_cbranch_scc0 fault_now
for_ever:
    s_branch for_ever
fault_now:
    global_store_dword v[2:3], v2, off
    s_endpgm

// LDS and VGPRs of a fresh group are zero; leaves dirt behind.
kernel fresh
    arguments
    v_lshlrev_b32 v2, 2, v0
    ds_read_b32 v4, v2
    s_waitcnt lgkmcnt(0)
    v_or_b32 v4, v4, v7
    v_accvgpr_read_b32 v5, a2
    v_or_b32 v4, v4, v5
    global_atomic_or v2, v4, s[6:7]
    v_mov_b32 v7, -1
    ds_write_b32 v2, v7
    v_accvgpr_write_b32 a2, v7
    s_endpgm

// 10 rounds of a known mix.
kernel known_loop
    arguments                            // 2 smem, 1 other, 1 valu
    s_mov_b32 s10, 0                     // salu
    s_mov_b64 s[12:13], src_shared_base  // salu
    v_lshlrev_b32 v2, 2, v0              // valu
loop:
    global_load_dword v3, v2, s[4:5]     // vmem_rd, flat
    s_waitcnt vmcnt(0)                   // other
    v_add_u32 v3, 1, v3                  // valu
    ds_write_b32 v2, v3                  // lds
    s_waitcnt lgkmcnt(0)                 // other
    global_store_dword v2, v3, s[6:7]    // vmem_wr, flat
    s_add_u32 s10, s10, 1                // salu
    s_cmp_lt_u32 s10, 10                 // salu
    s_cbranch_scc1 loop                  // branch
    v_mov_b32 v3, s13                    // valu
    flat_load_dword v3, v[2:3]           // vmem_rd, flat: although it reads LDS
    s_endpgm                             // other

kernel read_wild                         // reads *in in lane 3 only
    arguments
    v_mov_b32 v2, s4
    v_mov_b32 v3, s5
    s_mov_b64 exec, 8
    global_load_dwordx2 v[2:3], v[2:3], off
    s_endpgm

kernel write_wild
    arguments
    v_mov_b32 v2, 0
    s_mov_b64 exec, 1
    global_store_dword v2, v0, s[4:5]
    s_endpgm

kernel scalar_wild
    arguments
    s_load_dword s10, s[4:5], 0
    s_endpgm

kernel jump_wild
    arguments
    s_setpc_b64 s[4:5]

kernel misaligned_atomic
    arguments
    v_mov_b32 v2, 2
    global_atomic_add v2, v0, s[6:7]
    s_endpgm

kernel flat_lds_too_far
    arguments
    s_mov_b64 s[10:11], src_shared_base
    v_mov_b32 v1, 0x800
    address_pair 10
    flat_load_dword v4, v[2:3]
    s_endpgm

kernel unimplemented
    ds_gws_barrier v0 gds
    s_endpgm

kernel write_one
    arguments
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    global_store_dword v2, v3, s[6:7]
    s_endpgm

kernel write_two
    arguments
    v_mov_b32 v2, 0
    v_mov_b32 v3, 2
    global_store_dword v2, v3, s[6:7]
    s_endpgm

kernel scalar_memory
    arguments
    s_load_dwordx16 s[16:31], s[4:5], 0
    s_waitcnt lgkmcnt(0)
    s_store_dwordx4 s[16:19], s[6:7], 0
    s_store_dwordx4 s[28:31], s[6:7], 16
    s_load_dwordx8 s[16:23], s[4:5], 64
    s_mov_b32 s10, 8
    s_load_dwordx2 s[24:25], s[4:5], s10
    s_add_u32 s4, s4, 64
    s_addc_u32 s5, s5, 0
    s_load_dword s26, s[4:5], -60
    s_memtime s[28:29]
    s_memrealtime s[30:31]
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s27, 0
    s_store_dwordx4 s[20:23], s[6:7], 32
    s_store_dwordx4 s[24:27], s[6:7], 48
    s_store_dwordx4 s[28:31], s[6:7], 64
    s_dcache_wb
    s_endpgm
    .p2align 8
    .fill 64, 4, 0xbf800000

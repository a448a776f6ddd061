// SPDX-License-Identifier: MIT
// The modelled events and what each counts for one dispatch; docs/counters.md explains them to users.
//
// X(name, block, event number, kind, value). `value` is an expression over `a`, a const struct sg_perf_activity *: what
// the event adds; of a LEVEL what it adds to the counter that accumulates it, of an ACCUMULATE the cycles between two
// additions. Numbers: rocprofiler-sdk counter_defs.yaml, architecture gfx90a. Sorted by block and number.
#ifndef SG_PERF_EVENT_LIST_H
#define SG_PERF_EVENT_LIST_H

// clang-format off
#define SG_PERF_EVENTS(X) \
    X(CPC_ME1_BUSY_FOR_PACKET_DECODE, CPC, 13, MODEL, SG_CYCLES_PACKET) \
    X(CPC_CPC_STAT_BUSY, CPC, 25, MODEL, a->cp_cycles) \
    X(CPC_CPC_STAT_IDLE, CPC, 26, MODEL, a->clocks - a->cp_cycles) \
    X(CPC_ME1_DC0_SPI_BUSY, CPC, 33, MODEL, a->detail->spi_busy) \
    X(CPF_CPF_STAT_BUSY, CPF, 23, MODEL, a->cp_cycles) \
    X(CPF_CPF_STAT_IDLE, CPF, 24, MODEL, a->clocks - a->cp_cycles) \
    X(GRBM_COUNT, GRBM, 0, MODEL, a->clocks) \
    X(GRBM_GUI_ACTIVE, GRBM, 2, MODEL, a->detail->active) \
    X(GRBM_CP_BUSY, GRBM, 3, MODEL, a->detail->cp_busy) \
    X(GRBM_SPI_BUSY, GRBM, 11, MODEL, a->detail->spi_busy) \
    X(GRBM_TA_BUSY, GRBM, 13, MODEL, a->detail->ta_busy) \
    X(GRBM_TC_BUSY, GRBM, 28, MODEL, a->detail->tc_busy) \
    X(GRBM_CPC_BUSY, GRBM, 30, MODEL, a->detail->cp_busy) \
    X(GRBM_CPF_BUSY, GRBM, 31, MODEL, a->detail->cp_busy) \
    X(GRBM_EA_BUSY, GRBM, 35, MODEL, a->detail->ea_busy) \
    X(SPI_CSN_WINDOW_VALID, SPI, 47, MODEL, a->clocks) \
    X(SPI_CSN_BUSY, SPI, 48, MODEL, a->cu->busy) \
    X(SPI_CSN_NUM_THREADGROUPS, SPI, 49, BASIC, a->counts->workgroups) \
    X(SPI_CSN_WAVE, SPI, 52, BASIC, a->counts->waves) \
    X(SPI_RA_REQ_NO_ALLOC, SPI, 79, MODEL, a->cu->no_room) \
    X(SPI_RA_REQ_NO_ALLOC_CSN, SPI, 85, MODEL, a->cu->no_room) \
    X(SPI_RA_RES_STALL_CSN, SPI, 91, MODEL, a->cu->no_room) \
    X(SPI_RA_WAVE_SIMD_FULL_CSN, SPI, 103, MODEL, 4 * a->cu->no_room_wave) \
    X(SPI_RA_VGPR_SIMD_FULL_CSN, SPI, 109, MODEL, 4 * a->cu->no_room_vgpr) \
    X(SPI_RA_LDS_CU_FULL_CSN, SPI, 120, MODEL, a->cu->no_room_lds) \
    X(SPI_SWC_CSC_WR, SPI, 189, MODEL, a->cu->user_sgpr_writes) \
    X(SPI_VWC_CSC_WR, SPI, 195, MODEL, a->cu->vgpr_writes) \
    X(SQ_ACCUM_PREV, SQ, 1, ACCUMULATE, 4) \
    X(SQ_CYCLES, SQ, 2, MODEL, a->clocks) \
    X(SQ_BUSY_CYCLES, SQ, 3, MODEL, a->cu->busy) \
    X(SQ_WAVES, SQ, 4, BASIC, a->counts->waves) \
    X(SQ_LEVEL_WAVES, SQ, 5, LEVEL, a->cu->wave_cycles) \
    X(SQ_WAVES_EQ_64, SQ, 6, MODEL, a->cu->waves_eq_64) \
    X(SQ_WAVES_LT_64, SQ, 7, MODEL, a->cu->waves_lt_64) \
    X(SQ_WAVES_LT_48, SQ, 8, MODEL, a->cu->waves_lt_48) \
    X(SQ_WAVES_LT_32, SQ, 9, MODEL, a->cu->waves_lt_32) \
    X(SQ_WAVES_LT_16, SQ, 10, MODEL, a->cu->waves_lt_16) \
    X(SQ_BUSY_CU_CYCLES, SQ, 13, MODEL, a->cu->busy / 4) \
    X(SQ_ITEMS, SQ, 14, MODEL, a->cu->items) \
    X(SQ_INSTS, SQ, 25, BASIC, all_instructions(a->counts)) \
    X(SQ_INSTS_VALU, SQ, 26, BASIC, a->counts->valu) \
    X(SQ_INSTS_VALU_ADD_F16, SQ, 27, MODEL, a->cu->valu[SG_VALU_ADD_F16]) \
    X(SQ_INSTS_VALU_MUL_F16, SQ, 28, MODEL, a->cu->valu[SG_VALU_MUL_F16]) \
    X(SQ_INSTS_VALU_FMA_F16, SQ, 29, MODEL, a->cu->valu[SG_VALU_FMA_F16]) \
    X(SQ_INSTS_VALU_TRANS_F16, SQ, 30, MODEL, a->cu->valu[SG_VALU_TRANS_F16]) \
    X(SQ_INSTS_VALU_ADD_F32, SQ, 31, MODEL, a->cu->valu[SG_VALU_ADD_F32]) \
    X(SQ_INSTS_VALU_MUL_F32, SQ, 32, MODEL, a->cu->valu[SG_VALU_MUL_F32]) \
    X(SQ_INSTS_VALU_FMA_F32, SQ, 33, MODEL, a->cu->valu[SG_VALU_FMA_F32]) \
    X(SQ_INSTS_VALU_TRANS_F32, SQ, 34, MODEL, a->cu->valu[SG_VALU_TRANS_F32]) \
    X(SQ_INSTS_VALU_ADD_F64, SQ, 35, MODEL, a->cu->valu[SG_VALU_ADD_F64]) \
    X(SQ_INSTS_VALU_MUL_F64, SQ, 36, MODEL, a->cu->valu[SG_VALU_MUL_F64]) \
    X(SQ_INSTS_VALU_FMA_F64, SQ, 37, MODEL, a->cu->valu[SG_VALU_FMA_F64]) \
    X(SQ_INSTS_VALU_TRANS_F64, SQ, 38, MODEL, a->cu->valu[SG_VALU_TRANS_F64]) \
    X(SQ_INSTS_VALU_INT32, SQ, 39, MODEL, a->cu->valu[SG_VALU_INT32]) \
    X(SQ_INSTS_VALU_INT64, SQ, 40, MODEL, a->cu->valu[SG_VALU_INT64]) \
    X(SQ_INSTS_VALU_CVT, SQ, 41, MODEL, a->cu->valu[SG_VALU_CVT]) \
    X(SQ_INSTS_VALU_MFMA_I8, SQ, 42, MODEL, a->cu->valu[SG_VALU_MFMA_I8]) \
    X(SQ_INSTS_VALU_MFMA_F16, SQ, 43, MODEL, a->cu->valu[SG_VALU_MFMA_F16]) \
    X(SQ_INSTS_VALU_MFMA_BF16, SQ, 44, MODEL, a->cu->valu[SG_VALU_MFMA_BF16]) \
    X(SQ_INSTS_VALU_MFMA_F32, SQ, 45, MODEL, a->cu->valu[SG_VALU_MFMA_F32]) \
    X(SQ_INSTS_VALU_MFMA_F64, SQ, 46, MODEL, a->cu->valu[SG_VALU_MFMA_F64]) \
    X(SQ_INSTS_VALU_MFMA_MOPS_I8, SQ, 47, MODEL, a->cu->mfma_ops[SG_VALU_MFMA_I8] / 512) \
    X(SQ_INSTS_VALU_MFMA_MOPS_F16, SQ, 48, MODEL, a->cu->mfma_ops[SG_VALU_MFMA_F16] / 512) \
    X(SQ_INSTS_VALU_MFMA_MOPS_BF16, SQ, 49, MODEL, a->cu->mfma_ops[SG_VALU_MFMA_BF16] / 512) \
    X(SQ_INSTS_VALU_MFMA_MOPS_F32, SQ, 50, MODEL, a->cu->mfma_ops[SG_VALU_MFMA_F32] / 512) \
    X(SQ_INSTS_VALU_MFMA_MOPS_F64, SQ, 51, MODEL, a->cu->mfma_ops[SG_VALU_MFMA_F64] / 512) \
    X(SQ_INSTS_MFMA, SQ, 52, MODEL, matrix_instructions(a->cu)) \
    X(SQ_INSTS_VMEM_WR, SQ, 53, BASIC, a->counts->vmem_wr) \
    X(SQ_INSTS_VMEM_RD, SQ, 54, BASIC, a->counts->vmem_rd) \
    X(SQ_INSTS_VMEM, SQ, 55, BASIC, a->counts->vmem_rd + a->counts->vmem_wr) \
    X(SQ_INSTS_SALU, SQ, 56, BASIC, a->counts->salu) \
    X(SQ_INSTS_SMEM, SQ, 57, BASIC, a->counts->smem) \
    X(SQ_INSTS_FLAT, SQ, 58, BASIC, a->counts->flat) \
    X(SQ_INSTS_FLAT_LDS_ONLY, SQ, 59, BASIC, a->counts->flat_lds) \
    X(SQ_INSTS_LDS, SQ, 60, BASIC, a->counts->lds + a->counts->flat_lds) \
    X(SQ_INSTS_GDS, SQ, 61, BASIC, a->counts->gds) \
    X(SQ_INSTS_EXP_GDS, SQ, 63, BASIC, a->counts->gds) \
    X(SQ_INSTS_BRANCH, SQ, 64, BASIC, a->counts->branch) \
    X(SQ_INSTS_SENDMSG, SQ, 65, BASIC, a->counts->sendmsg) \
    X(SQ_INST_LEVEL_VMEM, SQ, 67, LEVEL, a->cu->level_vmem) \
    X(SQ_INST_LEVEL_SMEM, SQ, 68, LEVEL, a->cu->level_smem) \
    X(SQ_INST_LEVEL_LDS, SQ, 69, LEVEL, a->cu->level_lds) \
    X(SQ_VALU_MFMA_BUSY_CYCLES, SQ, 72, MODEL, a->cu->mfma_cycles) \
    X(SQ_WAVE_CYCLES, SQ, 74, MODEL, a->cu->wave_cycles / 4) \
    X(SQ_WAIT_ANY, SQ, 85, MODEL, a->cu->wait_data / 4) \
    X(SQ_WAIT_INST_ANY, SQ, 88, MODEL, a->cu->wait_issue / 4) \
    X(SQ_WAIT_INST_LDS, SQ, 91, MODEL, a->cu->wait_issue_lds / 4) \
    X(SQ_ACTIVE_INST_ANY, SQ, 96, MODEL, issue_cycles(a->cu) / 4) \
    X(SQ_ACTIVE_INST_VMEM, SQ, 97, MODEL, a->cu->issue[SG_PORT_VMEM] / 4) \
    X(SQ_ACTIVE_INST_LDS, SQ, 98, MODEL, a->cu->issue[SG_PORT_LDS] / 4) \
    X(SQ_ACTIVE_INST_VALU, SQ, 99, MODEL, a->cu->issue[SG_PORT_VALU] / 4) \
    X(SQ_ACTIVE_INST_SCA, SQ, 100, MODEL, (a->cu->issue[SG_PORT_SALU] + a->cu->issue[SG_PORT_SMEM]) / 4) \
    X(SQ_ACTIVE_INST_EXP_GDS, SQ, 101, MODEL, a->cu->issue[SG_PORT_GDS] / 4) \
    X(SQ_ACTIVE_INST_MISC, SQ, 102, MODEL, a->cu->issue[SG_PORT_MISC] / 4) \
    X(SQ_ACTIVE_INST_FLAT, SQ, 103, MODEL, a->cu->issue[SG_PORT_FLAT] / 4) \
    X(SQ_INST_CYCLES_VMEM_WR, SQ, 104, MODEL, a->cu->issue_vmem_wr / 4) \
    X(SQ_INST_CYCLES_VMEM_RD, SQ, 105, MODEL, a->cu->issue_vmem_rd / 4) \
    X(SQ_INST_CYCLES_SMEM, SQ, 111, MODEL, a->cu->issue[SG_PORT_SMEM] / 4) \
    X(SQ_INST_CYCLES_SALU, SQ, 112, MODEL, a->cu->issue[SG_PORT_SALU] / 4) \
    X(SQ_THREAD_CYCLES_VALU, SQ, 113, MODEL, a->cu->thread_quads_valu) \
    X(SQ_IFETCH, SQ, 115, MODEL, a->cu->icache_req) \
    X(SQ_IFETCH_LEVEL, SQ, 116, LEVEL, a->cu->level_ifetch) \
    X(SQ_LDS_BANK_CONFLICT, SQ, 121, MODEL, a->cu->lds_bank_conflict) \
    X(SQ_LDS_ADDR_CONFLICT, SQ, 122, MODEL, a->cu->lds_addr_conflict) \
    X(SQ_LDS_UNALIGNED_STALL, SQ, 123, MODEL, a->cu->lds_unaligned) \
    X(SQ_LDS_MEM_VIOLATIONS, SQ, 124, MODEL, a->cu->lds_violations) \
    X(SQ_LDS_ATOMIC_RETURN, SQ, 125, MODEL, a->cu->lds_atomic_return) \
    X(SQ_LDS_IDX_ACTIVE, SQ, 126, MODEL, a->cu->lds_cycles) \
    X(SQ_ACCUM_PREV_HIRES, SQ, 185, ACCUMULATE, 1) \
    X(SQ_INSTS_SMEM_NORM, SQ, 188, MODEL, a->cu->smem_norm) \
    X(SQC_TC_REQ, SQ, 262, MODEL, a->cu->sqc_tc_inst + a->cu->sqc_tc_read + a->cu->sqc_tc_write + a->cu->sqc_tc_atomic) \
    X(SQC_TC_INST_REQ, SQ, 263, MODEL, a->cu->sqc_tc_inst) \
    X(SQC_TC_DATA_READ_REQ, SQ, 264, MODEL, a->cu->sqc_tc_read) \
    X(SQC_TC_DATA_WRITE_REQ, SQ, 265, MODEL, a->cu->sqc_tc_write) \
    X(SQC_TC_DATA_ATOMIC_REQ, SQ, 266, MODEL, a->cu->sqc_tc_atomic) \
    X(SQC_ICACHE_REQ, SQ, 270, MODEL, a->cu->icache_req) \
    X(SQC_ICACHE_HITS, SQ, 271, MODEL, a->cu->icache_hits) \
    X(SQC_ICACHE_MISSES, SQ, 272, MODEL, a->cu->icache_req - a->cu->icache_hits) \
    X(SQC_DCACHE_REQ, SQ, 290, MODEL, a->cu->dcache_req) \
    X(SQC_DCACHE_HITS, SQ, 291, MODEL, a->cu->dcache_hits) \
    X(SQC_DCACHE_MISSES, SQ, 292, MODEL, a->cu->dcache_req - a->cu->dcache_hits) \
    X(SQC_DCACHE_ATOMIC, SQ, 298, MODEL, a->cu->dcache_atomic) \
    X(SQC_DCACHE_REQ_READ_1, SQ, 323, MODEL, a->cu->dcache_read[0]) \
    X(SQC_DCACHE_REQ_READ_2, SQ, 324, MODEL, a->cu->dcache_read[1]) \
    X(SQC_DCACHE_REQ_READ_4, SQ, 325, MODEL, a->cu->dcache_read[2]) \
    X(SQC_DCACHE_REQ_READ_8, SQ, 326, MODEL, a->cu->dcache_read[3]) \
    X(SQC_DCACHE_REQ_READ_16, SQ, 327, MODEL, a->cu->dcache_read[4]) \
    X(TA_TA_BUSY, TA, 15, MODEL, a->cu->ta_cycles) \
    X(TA_TOTAL_WAVEFRONTS, TA, 32, MODEL, wavefronts(a->cu)) \
    X(TA_BUFFER_WAVEFRONTS, TA, 44, MODEL, a->cu->ta_buffer[SG_ACCESS_READ] + a->cu->ta_buffer[SG_ACCESS_WRITE] + a->cu->ta_buffer[SG_ACCESS_ATOMIC] + a->cu->ta_buffer[SG_ACCESS_ATOMIC_RETURN]) \
    X(TA_BUFFER_READ_WAVEFRONTS, TA, 45, MODEL, a->cu->ta_buffer[SG_ACCESS_READ]) \
    X(TA_BUFFER_WRITE_WAVEFRONTS, TA, 46, MODEL, a->cu->ta_buffer[SG_ACCESS_WRITE]) \
    X(TA_BUFFER_ATOMIC_WAVEFRONTS, TA, 47, MODEL, a->cu->ta_buffer[SG_ACCESS_ATOMIC] + a->cu->ta_buffer[SG_ACCESS_ATOMIC_RETURN]) \
    X(TA_BUFFER_TOTAL_CYCLES, TA, 49, MODEL, a->cu->ta_buffer_cycles) \
    X(TA_BUFFER_COALESCED_READ_CYCLES, TA, 52, MODEL, a->cu->ta_coalesced_read) \
    X(TA_BUFFER_COALESCED_WRITE_CYCLES, TA, 53, MODEL, a->cu->ta_coalesced_write) \
    X(TA_FLAT_WAVEFRONTS, TA, 100, MODEL, a->cu->ta_flat[SG_ACCESS_READ] + a->cu->ta_flat[SG_ACCESS_WRITE] + a->cu->ta_flat[SG_ACCESS_ATOMIC] + a->cu->ta_flat[SG_ACCESS_ATOMIC_RETURN]) \
    X(TA_FLAT_READ_WAVEFRONTS, TA, 101, MODEL, a->cu->ta_flat[SG_ACCESS_READ]) \
    X(TA_FLAT_WRITE_WAVEFRONTS, TA, 102, MODEL, a->cu->ta_flat[SG_ACCESS_WRITE]) \
    X(TA_FLAT_ATOMIC_WAVEFRONTS, TA, 103, MODEL, a->cu->ta_flat[SG_ACCESS_ATOMIC] + a->cu->ta_flat[SG_ACCESS_ATOMIC_RETURN]) \
    X(TCA_CYCLE, TCA, 1, MODEL, a->clocks) \
    X(TCA_BUSY, TCA, 2, MODEL, a->channel->requests) \
    X(TCC_CYCLE, TCC, 1, MODEL, a->clocks) \
    X(TCC_BUSY, TCC, 2, MODEL, a->channel->busy) \
    X(TCC_REQ, TCC, 3, MODEL, a->channel->requests) \
    X(TCC_STREAMING_REQ, TCC, 4, MODEL, a->channel->streaming) \
    X(TCC_RW_REQ, TCC, 8, MODEL, a->channel->requests) \
    X(TCC_READ, TCC, 12, MODEL, a->channel->reads) \
    X(TCC_WRITE, TCC, 13, MODEL, a->channel->writes) \
    X(TCC_ATOMIC, TCC, 14, MODEL, a->channel->atomics) \
    X(TCC_HIT, TCC, 17, MODEL, a->channel->hits) \
    X(TCC_MISS, TCC, 19, MODEL, a->channel->misses) \
    X(TCC_WRITEBACK, TCC, 22, MODEL, a->channel->writebacks + a->channel->writebacks_at_end) \
    X(TCC_EA_WRREQ, TCC, 26, MODEL, a->channel->ea_writes) \
    X(TCC_EA_WRREQ_64B, TCC, 27, MODEL, a->channel->ea_writes_64) \
    X(TCC_EA_WRREQ_LEVEL, TCC, 35, MODEL, a->channel->ea_write_latency) \
    X(TCC_EA_RDREQ, TCC, 38, MODEL, a->channel->ea_reads) \
    X(TCC_EA_RDREQ_32B, TCC, 39, MODEL, a->channel->ea_reads_32) \
    X(TCC_EA_RDREQ_LEVEL, TCC, 44, MODEL, a->channel->ea_read_latency) \
    X(TCC_NORMAL_WRITEBACK, TCC, 68, MODEL, a->channel->writebacks) \
    X(TCC_ALL_TC_OP_WB_WRITEBACK, TCC, 73, MODEL, a->channel->writebacks_at_end) \
    X(TCC_NORMAL_EVICT, TCC, 74, MODEL, a->channel->evictions) \
    X(TCC_EA_RDREQ_DRAM, TCC, 102, MODEL, a->channel->ea_reads) \
    X(TCC_EA_WRREQ_DRAM, TCC, 103, MODEL, a->channel->ea_writes) \
    X(TCP_GATE_EN1, TCP, 0, MODEL, a->cu->busy) \
    X(TCP_GATE_EN2, TCP, 1, MODEL, a->cu->tcp_lines) \
    X(TCP_TA_TCP_STATE_READ, TCP, 27, MODEL, a->cu->tcp_states) \
    X(TCP_TOTAL_ACCESSES, TCP, 29, MODEL, a->cu->tcp_accesses[SG_ACCESS_READ] + a->cu->tcp_accesses[SG_ACCESS_WRITE] + a->cu->tcp_accesses[SG_ACCESS_ATOMIC] + a->cu->tcp_accesses[SG_ACCESS_ATOMIC_RETURN]) \
    X(TCP_TOTAL_READ, TCP, 30, MODEL, a->cu->tcp_accesses[SG_ACCESS_READ]) \
    X(TCP_TOTAL_WRITE, TCP, 32, MODEL, a->cu->tcp_accesses[SG_ACCESS_WRITE]) \
    X(TCP_TOTAL_ATOMIC_WITH_RET, TCP, 38, MODEL, a->cu->tcp_accesses[SG_ACCESS_ATOMIC_RETURN]) \
    X(TCP_TOTAL_ATOMIC_WITHOUT_RET, TCP, 39, MODEL, a->cu->tcp_accesses[SG_ACCESS_ATOMIC]) \
    X(TCP_TOTAL_WRITEBACK_INVALIDATES, TCP, 45, MODEL, a->cu->tcp_invalidates) \
    X(TCP_TOTAL_CACHE_ACCESSES, TCP, 60, MODEL, a->cu->tcp_lines) \
    X(TCP_TCP_LATENCY, TCP, 65, MODEL, a->cu->tcp_latency) \
    X(TCP_TCC_READ_REQ_LATENCY, TCP, 66, MODEL, a->cu->tcc_read_latency) \
    X(TCP_TCC_WRITE_REQ_LATENCY, TCP, 67, MODEL, a->cu->tcc_write_latency) \
    X(TCP_TCC_READ_REQ, TCP, 69, MODEL, a->cu->tcc_requests[SG_ACCESS_READ]) \
    X(TCP_TCC_WRITE_REQ, TCP, 70, MODEL, a->cu->tcc_requests[SG_ACCESS_WRITE]) \
    X(TCP_TCC_ATOMIC_WITH_RET_REQ, TCP, 71, MODEL, a->cu->tcc_requests[SG_ACCESS_ATOMIC_RETURN]) \
    X(TCP_TCC_ATOMIC_WITHOUT_RET_REQ, TCP, 72, MODEL, a->cu->tcc_requests[SG_ACCESS_ATOMIC]) \
    X(TCP_TCC_RW_READ_REQ, TCP, 85, MODEL, a->cu->tcc_requests[SG_ACCESS_READ]) \
    X(TCP_TCC_RW_WRITE_REQ, TCP, 86, MODEL, a->cu->tcc_requests[SG_ACCESS_WRITE]) \
    X(TCP_TCC_RW_ATOMIC_REQ, TCP, 87, MODEL, a->cu->tcc_requests[SG_ACCESS_ATOMIC] + a->cu->tcc_requests[SG_ACCESS_ATOMIC_RETURN]) \
    X(TD_TD_BUSY, TD, 1, MODEL, a->cu->tcp_lines) \
    X(TD_LOAD_WAVEFRONT, TD, 25, MODEL, a->cu->td[SG_ACCESS_READ]) \
    X(TD_ATOMIC_WAVEFRONT, TD, 26, MODEL, a->cu->td[SG_ACCESS_ATOMIC] + a->cu->td[SG_ACCESS_ATOMIC_RETURN]) \
    X(TD_STORE_WAVEFRONT, TD, 27, MODEL, a->cu->td[SG_ACCESS_WRITE]) \
    X(TD_COALESCABLE_WAVEFRONT, TD, 32, MODEL, a->cu->td_coalescable)
// clang-format on

#endif

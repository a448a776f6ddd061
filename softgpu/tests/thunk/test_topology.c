// SPDX-License-Identifier: MIT
// Topology with three GPUs: numbers that must agree with each other, and those that ROCr aborts without.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softgpu/isa/isa.h"
#include "softgpu/thunk/hsakmt_api.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPUS 3u

static int open_driver(void **state)
{
    (void)state;
    setenv("SOFTGPU_DEVICES", "3", 1);
    return hsaKmtOpenKFD() != HSAKMT_STATUS_SUCCESS;
}

static int close_driver(void **state)
{
    (void)state;
    return hsaKmtCloseKFD() != HSAKMT_STATUS_SUCCESS;
}

static HsaNodeProperties node(HSAuint32 id)
{
    HsaNodeProperties properties;
    memset(&properties, 0xff, sizeof(properties));
    assert_int_equal(hsaKmtGetNodeProperties(id, &properties), HSAKMT_STATUS_SUCCESS);
    return properties;
}

static void cpu_node_is_the_host(void **state)
{
    (void)state;
    HsaSystemProperties system;
    assert_int_equal(hsaKmtAcquireSystemProperties(&system), 0);
    assert_int_equal(system.NumNodes, 1 + GPUS);
    HsaNodeProperties cpu = node(0);
    assert_int_equal(cpu.NumCPUCores, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(cpu.NumFComputeCores, 0);
    assert_int_equal(cpu.NumIOLinks, GPUS);
    assert_true(cpu.NumCaches > 0);
    HsaMemoryProperties memory;
    assert_int_equal(hsaKmtGetNodeMemoryProperties(0, cpu.NumMemoryBanks, &memory), 0);
    assert_int_equal(memory.HeapType, HSA_HEAPTYPE_SYSTEM);
    assert_int_equal(memory.SizeInBytes, sg_host_bytes());
}

static void gpu_nodes_are_gfx90a_and_consistent(void **state)
{
    (void)state;
    for (HSAuint32 id = 1; id <= GPUS; id++) {
        HsaNodeProperties gpu = node(id);
        assert_int_equal(gpu.EngineId.ui32.Major, 9);
        assert_int_equal(gpu.EngineId.ui32.Minor, 0);
        assert_int_equal(gpu.EngineId.ui32.Stepping, 10);
        assert_int_equal(gpu.NumCPUCores, 0);
        assert_int_equal(gpu.NumShaderBanks, SG_SHADER_ENGINES);
        assert_int_equal(gpu.NumShaderBanks * gpu.NumArrays * gpu.NumCUPerArray * gpu.NumSIMDPerCU,
                         gpu.NumFComputeCores);
        assert_int_equal(gpu.WaveFrontSize, 64);
        assert_int_equal(gpu.LDSSizeInKB, 64);
        assert_int_equal(gpu.MaxSlotsScratchCU, gpu.MaxWavesPerSIMD * gpu.NumSIMDPerCU);
        assert_int_equal(gpu.Capability.ui32.DoorbellType, 2);
        assert_int_equal(gpu.Capability.ui32.SRAM_EDCSupport, 1);
        assert_int_equal(gpu.NumIOLinks, GPUS);
        for (HSAuint32 other = 1; other < id; other++) {
            assert_int_not_equal(node(other).LocationId, gpu.LocationId);
            assert_int_not_equal(node(other).UniqueID, gpu.UniqueID);
            assert_true(node(other).FComputeIdLo + node(other).NumFComputeCores <= gpu.FComputeIdLo);
        }
    }
}

static void gpu_heaps_name_the_apertures(void **state)
{
    (void)state;
    HsaNodeProperties gpu = node(1);
    HsaMemoryProperties heaps[8];
    assert_int_equal(gpu.NumMemoryBanks, 3);
    assert_int_equal(hsaKmtGetNodeMemoryProperties(1, gpu.NumMemoryBanks, heaps), 0);
    const struct sg_gpu *sg = sg_gpu_of_node(1);
    for (unsigned i = 0; i < 3; i++) {
        if (heaps[i].HeapType == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC)
            assert_int_equal(heaps[i].SizeInBytes, gpu.LocalMemSize);
        if (heaps[i].HeapType == HSA_HEAPTYPE_GPU_LDS)
            assert_int_equal(heaps[i].VirtualBaseAddress >> 32, sg->shared_aperture_hi);
        if (heaps[i].HeapType == HSA_HEAPTYPE_GPU_SCRATCH)
            assert_int_equal(heaps[i].VirtualBaseAddress >> 32, sg->private_aperture_hi);
    }
    assert_int_equal(sg->shared_aperture_hi, 0x10000);
    assert_int_equal(sg->private_aperture_hi, 0x20000);
    // Together the GPUs promise no more than the host has.
    assert_true(gpu.LocalMemSize * GPUS <= sg_host_bytes() || gpu.LocalMemSize == 1ull << 30);
}

static void caches_are_filled(void **state)
{
    (void)state;
    for (HSAuint32 id = 0; id <= 1; id++) {
        HsaNodeProperties properties = node(id);
        HsaCacheProperties caches[8];
        memset(caches, 0, sizeof(caches));
        assert_in_range(properties.NumCaches, 1, 8);
        assert_int_equal(hsaKmtGetNodeCacheProperties(id, 5, properties.NumCaches, caches), 0);
        for (unsigned i = 0; i < properties.NumCaches; i++) {
            assert_int_equal(caches[i].CacheLevel, i + 1);
            assert_int_equal(caches[i].CacheType.ui32.Data, 1);
            assert_int_equal(caches[i].CacheType.ui32.HSACU, id != 0);
            assert_int_equal(caches[i].ProcessorIdLow, 5);
        }
    }
}

static void links_go_both_ways(void **state)
{
    (void)state;
    bool link[1 + GPUS][1 + GPUS] = {{false}};
    for (HSAuint32 id = 0; id <= GPUS; id++) {
        HsaIoLinkProperties links[GPUS];
        assert_int_equal(hsaKmtGetNodeIoLinkProperties(id, GPUS, links), 0);
        for (unsigned i = 0; i < GPUS; i++) {
            assert_int_equal(links[i].NodeFrom, id);
            assert_int_not_equal(links[i].NodeTo, id);
            assert_true(links[i].Weight > 0);
            link[id][links[i].NodeTo] = true;
        }
    }
    for (unsigned a = 0; a <= GPUS; a++) {
        for (unsigned b = 0; b <= GPUS; b++)
            assert_int_equal(link[a][b], a != b);
    }
}

static void clocks_advance_together(void **state)
{
    (void)state;
    HsaClockCounters before, after;
    assert_int_equal(hsaKmtGetClockCounters(1, &before), 0);
    usleep(20000);
    assert_int_equal(hsaKmtGetClockCounters(1, &after), 0);
    assert_int_equal(before.SystemClockFrequencyHz, 1000000000);
    uint64_t gpu_ns = (after.GPUClockCounter - before.GPUClockCounter) * 40;
    uint64_t system_ns = after.SystemClockCounter - before.SystemClockCounter;
    assert_true(gpu_ns >= 20000000 - 80);
    assert_true(system_ns >= 20000000 - 80);
}

static void bad_nodes_are_refused(void **state)
{
    (void)state;
    HsaNodeProperties properties;
    HsaGpuTileConfig tiles = {0};
    assert_int_equal(hsaKmtGetNodeProperties(1 + GPUS, &properties), HSAKMT_STATUS_INVALID_NODE_UNIT);
    assert_int_equal(hsaKmtGetNodeProperties(0, NULL), HSAKMT_STATUS_INVALID_PARAMETER);
    assert_int_equal(hsaKmtGetTileConfig(1, &tiles), 0);
    assert_int_equal(hsaKmtGetTileConfig(0, &tiles), HSAKMT_STATUS_INVALID_NODE_UNIT);
    assert_int_equal(hsaKmtSetTrapHandler(1, NULL, 0, NULL, 0), 0);
    assert_int_equal(hsaKmtSetTrapHandler(0, NULL, 0, NULL, 0), HSAKMT_STATUS_INVALID_NODE_UNIT);
}

static void settings_of_the_process(void **state)
{
    (void)state;
    HsaVersionInfo version;
    HSAint32 xnack = 1;
    assert_int_equal(hsaKmtGetVersion(&version), 0);
    assert_int_equal(version.KernelInterfaceMajorVersion, 1);
    assert_true(version.KernelInterfaceMinorVersion >= 5);
    assert_int_equal(hsaKmtRuntimeEnable(NULL, false), HSAKMT_STATUS_NOT_SUPPORTED);
    assert_int_equal(hsaKmtGetXNACKMode(&xnack), 0);
    assert_int_equal(xnack, 0);
    assert_int_equal(hsaKmtSetXNACKMode(1), HSAKMT_STATUS_NOT_SUPPORTED);
    assert_int_equal(hsaKmtSetXNACKMode(0), 0);
    assert_int_equal(hsaKmtOpenKFD(), HSAKMT_STATUS_KERNEL_ALREADY_OPENED);
    assert_int_equal(hsaKmtCloseKFD(), 0);
    assert_int_equal(hsaKmtGetVersion(&version), 0); // still open once
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_node_is_the_host),         cmocka_unit_test(gpu_nodes_are_gfx90a_and_consistent),
        cmocka_unit_test(gpu_heaps_name_the_apertures), cmocka_unit_test(caches_are_filled),
        cmocka_unit_test(links_go_both_ways),           cmocka_unit_test(clocks_advance_together),
        cmocka_unit_test(bad_nodes_are_refused),        cmocka_unit_test(settings_of_the_process),
    };
    return cmocka_run_group_tests_name("topology", tests, open_driver, close_driver);
}

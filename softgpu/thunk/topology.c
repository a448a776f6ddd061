// SPDX-License-Identifier: MIT
// What the machine looks like: a CPU node with the host's real cores and memory, and gfx90a nodes. Values of
// the GPU nodes are in const tables; those that differ from node to node are filled in from the node's
// number.
//
// Per compute unit (SIMDs, waves, registers, LDS, caches) the values are an MI200 die's; the number of
// compute units is 8, one to each of the 8 shader engines, because the runtime sizes its copy kernels by it
// and every wave costs host time. Clocks and memory width are nominal: software has neither.
#include "softgpu/isa/isa.h"
#include "softgpu/thunk/hsakmt_api.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define GPU_CUS      8
#define SIMDS_PER_CU 4
#define MEMORY_MHZ   1600

static const HsaNodeProperties gpu_node = {
    .NumFComputeCores = GPU_CUS * SIMDS_PER_CU,
    .NumMemoryBanks = 3,
    .NumCaches = 2,
    .Capability.ui32 = {.QueueSizePowerOfTwo = 1, .DoorbellType = 2, .SRAM_EDCSupport = 1},
    .MaxWavesPerSIMD = 8,
    .LDSSizeInKB = 64,
    .WaveFrontSize = 64,
    .NumShaderBanks = 8,
    .NumArrays = 1,
    .NumCUPerArray = GPU_CUS / 8,
    .NumSIMDPerCU = SIMDS_PER_CU,
    .MaxSlotsScratchCU = 32,
    .EngineId.ui32 = {.Major = 9, .Minor = 0, .Stepping = 10}, // selects gfx90a
    .VendorId = 0x1002,
    .DeviceId = 0x740f,
    .MaxEngineClockMhzFCompute = 1700,
    .AMDName = "softgpu",
    .NumSdmaEngines = 2,
    .NumCpQueues = 24,
    .NumGws = SG_GWS_RESOURCES,
    .VGPRSizePerCU = 512 * 1024,
    .SGPRSizePerCU = 16 * 1024,
};

static const HsaMemoryProperties gpu_memory[] = {
    {.HeapType = HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC,
     .Width = 4096,
     .MemoryClockMax = MEMORY_MHZ}, // size: see below
    {.HeapType = HSA_HEAPTYPE_GPU_LDS, .SizeInBytes = 64 << 10, .VirtualBaseAddress = SG_SHARED_APERTURE},
    {.HeapType = HSA_HEAPTYPE_GPU_SCRATCH,
     .SizeInBytes = 4ull << 30,
     .VirtualBaseAddress = SG_PRIVATE_APERTURE},
};

static const HsaCacheProperties gpu_caches[] = {
    {.CacheLevel = 1, .CacheSize = 16, .CacheLineSize = 64, .CacheType.ui32 = {.Data = 1, .HSACU = 1}},
    {.CacheLevel = 2, .CacheSize = 8192, .CacheLineSize = 128, .CacheType.ui32 = {.Data = 1, .HSACU = 1}},
};

static const struct {
    uint32_t level;
    int size_name, line_name;
} cpu_caches[] = {
    {1, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_LINESIZE},
    {2, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_LINESIZE},
    {3, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_LINESIZE},
};

#define COUNT_OF(table) ((HSAuint32)(sizeof(table) / sizeof((table)[0])))

// Guard of every call that names a node.
static HSAKMT_STATUS check_node(HSAuint32 node, const void *out)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!out)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    return node <= sg_gpu_count() ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}

HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *SystemProperties)
{
    HSAKMT_STATUS status = check_node(SG_CPU_NODE, SystemProperties);
    if (status)
        return status;
    *SystemProperties = (HsaSystemProperties){.NumNodes = 1 + sg_gpu_count()};
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtReleaseSystemProperties(void)
{
    return HSAKMT_STATUS_SUCCESS;
}

// The properties' names are 16-bit characters.
static void set_marketing_name(HsaNodeProperties *node, const char *name)
{
    for (size_t i = 0; i < HSA_PUBLIC_NAME_SIZE - 1 && name[i]; i++)
        node->MarketingName[i] = (HSAuint16)name[i];
}

// One link to each other node.
static HSAuint32 link_count(void)
{
    return sg_gpu_count();
}

static void fill_cpu_node(HsaNodeProperties *node)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *node = (HsaNodeProperties){.NumCPUCores = cores > 0 ? (HSAuint32)cores : 1,
                                .NumMemoryBanks = 1,
                                .NumCaches = COUNT_OF(cpu_caches),
                                .NumIOLinks = link_count()};
    set_marketing_name(node, "Host CPU");
}

// The last words of the properties, which older headers name reserved: the number of dies that work as one GPU, the
// driver's number of the GPU, and the chip family that libdrm knows (AMDGPU_FAMILY_AI).
static void set_newer_properties(HsaNodeProperties *node, HSAuint32 id)
{
    const HSAuint32 words[3] = {1, 0x50f70000u + id, 141};
    const size_t at = offsetof(HsaNodeProperties, SGPRSizePerCU) + sizeof(node->SGPRSizePerCU);
    _Static_assert(offsetof(HsaNodeProperties, SGPRSizePerCU) + 4 + sizeof(words) <= sizeof(*node),
                   "no room");
    memcpy((char *)node + at, words, sizeof(words));
}

static void fill_gpu_node(HsaNodeProperties *node, HSAuint32 id)
{
    *node = gpu_node;
    node->NumIOLinks = link_count();
    node->FComputeIdLo = 0x80000000u + (id - 1) * gpu_node.NumFComputeCores;
    node->LocalMemSize = sg_gpu_local_bytes();
    node->LocationId = id << 8; // bus `id`, device 0, function 0
    node->UniqueID = 0x50f7000000000000ull + id;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    node->CComputeIdLo = cores > 0 ? (HSAuint32)cores : 1;
    set_newer_properties(node, id);
    set_marketing_name(node, "Software gfx90a");
}

HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 NodeId, HsaNodeProperties *NodeProperties)
{
    HSAKMT_STATUS status = check_node(NodeId, NodeProperties);
    if (status)
        return status;
    if (NodeId == SG_CPU_NODE)
        fill_cpu_node(NodeProperties);
    else
        fill_gpu_node(NodeProperties, NodeId);
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 NodeId, HSAuint32 NumBanks,
                                            HsaMemoryProperties *MemoryProperties)
{
    HSAKMT_STATUS status = check_node(NodeId, MemoryProperties);
    if (status)
        return status;
    if (NodeId == SG_CPU_NODE) {
        if (NumBanks)
            MemoryProperties[0] = (HsaMemoryProperties){.HeapType = HSA_HEAPTYPE_SYSTEM,
                                                        .SizeInBytes = sg_host_bytes(),
                                                        .Width = 64,
                                                        .MemoryClockMax = MEMORY_MHZ};
        return HSAKMT_STATUS_SUCCESS;
    }
    for (HSAuint32 i = 0; i < NumBanks && i < COUNT_OF(gpu_memory); i++) {
        MemoryProperties[i] = gpu_memory[i];
        if (gpu_memory[i].HeapType == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC)
            MemoryProperties[i].SizeInBytes = sg_gpu_local_bytes();
    }
    return HSAKMT_STATUS_SUCCESS;
}

static void fill_cpu_cache(HsaCacheProperties *cache, HSAuint32 i)
{
    long bytes = sysconf(cpu_caches[i].size_name), line = sysconf(cpu_caches[i].line_name);
    *cache = (HsaCacheProperties){.CacheLevel = cpu_caches[i].level,
                                  .CacheSize = bytes > 0 ? (HSAuint32)(bytes >> 10) : 0,
                                  .CacheLineSize = line > 0 ? (HSAuint32)line : 64,
                                  .CacheType.ui32 = {.Data = 1, .CPU = 1}};
}

HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 NodeId, HSAuint32 ProcessorId, HSAuint32 NumCaches,
                                           HsaCacheProperties *CacheProperties)
{
    HSAKMT_STATUS status = check_node(NodeId, CacheProperties);
    if (status)
        return status;
    HSAuint32 known = NodeId == SG_CPU_NODE ? COUNT_OF(cpu_caches) : COUNT_OF(gpu_caches);
    for (HSAuint32 i = 0; i < NumCaches && i < known; i++) {
        if (NodeId == SG_CPU_NODE)
            fill_cpu_cache(&CacheProperties[i], i);
        else
            CacheProperties[i] = gpu_caches[i];
        CacheProperties[i].ProcessorIdLow = ProcessorId;
    }
    return HSAKMT_STATUS_SUCCESS;
}

// Between a GPU and the CPU as the kernel weighs PCIe; between GPUs through the CPU, twice that.
HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 NodeId, HSAuint32 NumIoLinks,
                                            HsaIoLinkProperties *IoLinkProperties)
{
    HSAKMT_STATUS status = check_node(NodeId, IoLinkProperties);
    if (status)
        return status;
    HSAuint32 n = 0;
    for (HSAuint32 to = 0; to <= sg_gpu_count() && n < NumIoLinks; to++) {
        if (to == NodeId)
            continue;
        bool through_cpu = NodeId != SG_CPU_NODE && to != SG_CPU_NODE;
        IoLinkProperties[n++] = (HsaIoLinkProperties){.IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS,
                                                      .NodeFrom = NodeId,
                                                      .NodeTo = to,
                                                      .Weight = through_cpu ? 40 : 20};
    }
    return HSAKMT_STATUS_SUCCESS;
}

// Image tiling is a property of real memory channels; HIP only wants an answer.
HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 NodeId, HsaGpuTileConfig *config)
{
    HSAKMT_STATUS status = check_node(NodeId, config);
    if (status)
        return status;
    if (NodeId == SG_CPU_NODE)
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    if (config->TileConfig)
        memset(config->TileConfig, 0, config->NumTileConfigs * sizeof(config->TileConfig[0]));
    if (config->MacroTileConfig)
        memset(config->MacroTileConfig, 0, config->NumMacroTileConfigs * sizeof(config->MacroTileConfig[0]));
    config->GbAddrConfig = 0;
    config->NumBanks = 0;
    config->NumRanks = 0;
    return HSAKMT_STATUS_SUCCESS;
}

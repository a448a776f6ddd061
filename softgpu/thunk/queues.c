// SPDX-License-Identifier: MIT
// The queue calls of the driver interface: ids for the queues of the command processor and of the copy
// engines. Compute queues with AQL packets only.
#include "softgpu/cp/queue.h"
#include "softgpu/cp/sdma.h"
#include "softgpu/isa/isa.h"
#include "softgpu/thunk/hsakmt_api.h"

#include <errno.h>
#include <hsa/amd_hsa_queue.h>
#include <pthread.h>
#include <stddef.h>

#define MAX_QUEUES 1024 // as many as the kernel driver gives a process

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards the table, not the queues

// One of the two.
struct entry {
    struct sg_queue *compute;
    struct sg_sdma *copy;
};
static struct entry queues[MAX_QUEUES]; // index + 1 is the id

static bool is_free(const struct entry *entry)
{
    return !entry->compute && !entry->copy;
}

// Called with the lock held.
static struct entry *slot_of(HSA_QUEUEID id)
{
    if (id < 1 || id > MAX_QUEUES || is_free(&queues[id - 1]))
        return NULL;
    return &queues[id - 1];
}

static void suspend(const struct entry *entry)
{
    if (entry->compute)
        sg_queue_suspend(entry->compute);
    else
        sg_sdma_suspend(entry->copy);
}

static void resume(const struct entry *entry)
{
    if (entry->compute)
        sg_queue_resume(entry->compute);
    else
        sg_sdma_resume(entry->copy);
}

static void destroy(const struct entry *entry)
{
    if (entry->compute)
        sg_queue_destroy(entry->compute);
    else
        sg_sdma_destroy(entry->copy);
}

// Puts the queue into the table. Returns its id, or 0 when the table is full.
static HSA_QUEUEID add(struct entry queue)
{
    HSA_QUEUEID id = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MAX_QUEUES && !id; i++) {
        if (!is_free(&queues[i]))
            continue;
        queues[i] = queue;
        id = i + 1;
    }
    pthread_mutex_unlock(&lock);
    return id;
}

static HSAKMT_STATUS status_of(int rc)
{
    if (rc)
        return rc == -EINVAL ? HSAKMT_STATUS_INVALID_PARAMETER : HSAKMT_STATUS_NO_MEMORY;
    return HSAKMT_STATUS_SUCCESS;
}

static HSAKMT_STATUS create_compute(struct sg_gpu *gpu, void *ring, uint64_t bytes,
                                    HsaQueueResource *resource, struct entry *out)
{
    if (!resource->Queue_read_ptr_aql)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    // The read pointer lies in ROCr's queue structure, which is how that is found.
    char *read_ptr = (char *)resource->Queue_read_ptr_aql;
    void *amd_queue = read_ptr - offsetof(amd_queue_t, read_dispatch_id);
    HSAKMT_STATUS status = status_of(sg_queue_create(gpu, ring, bytes, amd_queue, &out->compute));
    if (status == HSAKMT_STATUS_SUCCESS)
        resource->Queue_DoorBell_aql = (HSAuint64 *)(uintptr_t)sg_queue_doorbell(out->compute);
    return status;
}

static HSAKMT_STATUS create_copy(struct sg_gpu *gpu, void *ring, uint64_t bytes, HsaQueueResource *resource,
                                 struct entry *out)
{
    HSAKMT_STATUS status = status_of(sg_sdma_create(gpu, ring, bytes, &out->copy));
    if (status != HSAKMT_STATUS_SUCCESS)
        return status;
    resource->Queue_DoorBell_aql = (HSAuint64 *)(uintptr_t)sg_sdma_doorbell(out->copy);
    resource->Queue_read_ptr_aql = sg_sdma_read_index(out->copy);
    resource->Queue_write_ptr_aql = sg_sdma_write_index(out->copy);
    return HSAKMT_STATUS_SUCCESS;
}

static bool is_priority(HSA_QUEUE_PRIORITY priority)
{
    return priority >= HSA_QUEUE_PRIORITY_MINIMUM && priority <= HSA_QUEUE_PRIORITY_MAXIMUM;
}

HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 NodeId, HSA_QUEUE_TYPE Type, HSAuint32 QueuePercentage,
                                HSA_QUEUE_PRIORITY Priority, void *QueueAddress, HSAuint64 QueueSizeInBytes,
                                HsaEvent *Event, HsaQueueResource *QueueResource)
{
    (void)Event; // used only by the newer way of error reports, which RuntimeEnable declines
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    struct sg_gpu *gpu = sg_gpu_of_node(NodeId);
    if (!gpu)
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    if (Type != HSA_QUEUE_COMPUTE_AQL && Type != HSA_QUEUE_SDMA)
        return HSAKMT_STATUS_NOT_SUPPORTED;
    if (!QueueAddress || !QueueResource || !is_priority(Priority))
        return HSAKMT_STATUS_INVALID_PARAMETER;

    struct entry queue = {0};
    HSAKMT_STATUS status = (Type == HSA_QUEUE_SDMA ? create_copy : create_compute)(
        gpu, QueueAddress, QueueSizeInBytes, QueueResource, &queue);
    if (status != HSAKMT_STATUS_SUCCESS)
        return status;
    if (!QueuePercentage)
        suspend(&queue);
    QueueResource->QueueId = add(queue);
    if (QueueResource->QueueId)
        return HSAKMT_STATUS_SUCCESS;
    destroy(&queue);
    return HSAKMT_STATUS_OUT_OF_RESOURCES;
}

HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID QueueId, HSAuint32 QueuePercentage, HSA_QUEUE_PRIORITY Priority,
                                void *QueueAddress, HSAuint64 QueueSize, HsaEvent *Event)
{
    (void)QueueAddress;
    (void)QueueSize;
    (void)Event;
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!is_priority(Priority))
        return HSAKMT_STATUS_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    const struct entry *slot = slot_of(QueueId);
    if (slot && QueuePercentage)
        resume(slot);
    else if (slot)
        suspend(slot);
    pthread_mutex_unlock(&lock);
    return slot ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

// Where work-groups run changes no result here, and neither do priorities: the host's threads are as fair as they are.
HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID QueueId, HSAuint32 CUMaskCount, HSAuint32 *QueueCUMask)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!CUMaskCount || CUMaskCount % 32 || !QueueCUMask)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    const struct entry *slot = slot_of(QueueId);
    const bool is_compute = slot && slot->compute;
    pthread_mutex_unlock(&lock);
    return is_compute ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID QueueId)
{
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    struct entry queue = {0};
    pthread_mutex_lock(&lock);
    struct entry *slot = slot_of(QueueId);
    if (slot) {
        queue = *slot;
        *slot = (struct entry){0};
    }
    pthread_mutex_unlock(&lock);
    if (is_free(&queue))
        return HSAKMT_STATUS_INVALID_HANDLE;
    destroy(&queue); // without the lock: it waits for the queue's thread
    return HSAKMT_STATUS_SUCCESS;
}

// Every compute queue has its resources already; they are the queue's own, from number 0 on.
HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID QueueId, HSAuint32 nGWS, HSAuint32 *firstGWS)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (nGWS > SG_GWS_RESOURCES)
        return HSAKMT_STATUS_OUT_OF_RESOURCES;
    pthread_mutex_lock(&lock);
    const struct entry *slot = slot_of(QueueId);
    bool compute = slot && slot->compute;
    pthread_mutex_unlock(&lock);
    if (!compute)
        return HSAKMT_STATUS_INVALID_HANDLE;
    if (firstGWS)
        *firstGWS = 0;
    return HSAKMT_STATUS_SUCCESS;
}

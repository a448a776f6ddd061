// SPDX-License-Identifier: MIT
// Looks through a dispatch's arguments for addresses whose memory a window could not put back.
#include "hsa/kernarg.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hsa/code_objects.h"
#include "hsa/copy.h"
#include "hsa/hooks_memory.h"

enum { MAX_KERNARG_BYTES = 65536 };

// Is there memory of this process at the address?
static bool mapped(const void *address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    return mincore((void *)((uintptr_t)address & ~(page - 1)), 1, &resident) == 0;
}

static kreplay_reason check_word(uint64_t word)
{
    enum kr_memory_kind kind;
    const void *address = (const void *)(uintptr_t)word;
    // Neither small numbers nor what is no canonical address.
    if (word < 65536 || word >> 47 != 0)
        return KREPLAY_REASON_NONE;
    if (kr_hsa_locked_contains(address))
        return KREPLAY_REASON_HOST_MEMORY;
    if (!kr_inventory_find(kr_hsa.engine, address, &kind, NULL, NULL))
        return kr_hsa.any_memory && mapped(address) ? KREPLAY_REASON_HOST_MEMORY : KREPLAY_REASON_NONE;
    switch (kind) {
    case KR_MEMORY_HOST:
        return KREPLAY_REASON_HOST_MEMORY;
    case KR_MEMORY_UNTRACKED:
        return KREPLAY_REASON_UNTRACKED_MEMORY;
    case KR_MEMORY_DEVICE:
    case KR_MEMORY_MODULE:
        break;
    }
    return KREPLAY_REASON_NONE;
}

static kreplay_reason check_words(const unsigned char *bytes, size_t size, uint64_t read_only)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        uint64_t word;
        if (at / 8 < 64 && (read_only >> at / 8 & 1))
            continue;
        memcpy(&word, bytes + at, sizeof(word));
        kreplay_reason reason = check_word(word);
        if (reason != KREPLAY_REASON_NONE)
            return reason;
    }
    return KREPLAY_REASON_NONE;
}

kreplay_reason kr_hsa_kernarg_check(const struct kr_hsa_dispatch *dispatch)
{
    const struct kr_hsa_kernel *kernel = dispatch->kernel;
    // What runs in place can run only there, and only once: a cooperative dispatch, whose groups wait for
    // each other.
    if (!kernel || dispatch->own_done.handle)
        return KREPLAY_REASON_UNSAFE_KERNEL;
    if (kernel->unsafe != KREPLAY_REASON_NONE)
        return kernel->unsafe;
    const void *arguments = dispatch->packet.kernarg_address;
    if (!arguments || kernel->kernarg_bytes == 0)
        return KREPLAY_REASON_NONE;
    if (kernel->kernarg_bytes > MAX_KERNARG_BYTES)
        return KREPLAY_REASON_UNSAFE_KERNEL;

    // Arguments are normally in host memory. Where a runtime keeps them on the device, they are fetched.
    enum kr_memory_kind kind;
    if (!kr_inventory_find(kr_hsa.engine, arguments, &kind, NULL, NULL) || kind == KR_MEMORY_HOST)
        return check_words(arguments, kernel->kernarg_bytes, kernel->read_only_words);
    static _Thread_local unsigned char fetched[MAX_KERNARG_BYTES];
    const struct kr_copy copy = {fetched, arguments, kernel->kernarg_bytes};
    if (kr_hsa_copy(NULL, dispatch->queue->agent->id, KR_PATH_FALLBACK, &copy, 1) != KREPLAY_OK)
        return KREPLAY_REASON_UNSAFE_KERNEL;
    return check_words(fetched, kernel->kernarg_bytes, kernel->read_only_words);
}

// SPDX-License-Identifier: MIT
// The PM4 interpreter. Packets come from the program under test, so every address in them is foreign: code is
// copied in and data moved through the kernel's checked copy, which answers EFAULT where a plain access would
// crash.
#include "softgpu/cp/pm4.h"

#include "softgpu/perf/packets.h"
#include "softgpu/perf/perf.h"
#include "softgpu/perf/registers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// Bounds of one sg_pm4_run. Hardware has none of them but the first; they turn a hang into an error.
enum {
    MAX_IB_DEPTH = 4,           // nested INDIRECT_BUFFERs, the outermost stream included
    MAX_TOTAL_DWORDS = 1 << 22, // read from all streams together
    WAIT_POLL_NS = 100 * 1000,
    MAX_WAIT_POLLS = 10 * 1000, // by all WAIT_REG_MEM together: a good second
};

enum { PAGE_BYTES = 4096 };

struct run {
    struct sg_perf *perf;
    struct sg_pm4_queue *queue;
    char *error;
    size_t error_bytes;
    unsigned depth;
    size_t dwords_left;
    unsigned polls_left;
    uint64_t written;   // the page that the last checked write went to, in pages; 0 = none yet
    const char *packet; // name of the packet being run
    size_t at;          // its dword in the innermost stream
};

__attribute__((format(printf, 2, 3))) static int fail(struct run *run, const char *format, ...)
{
    va_list args;
    int used;

    if (run->error_bytes == 0)
        return -1;
    used = snprintf(run->error, run->error_bytes, "PM4 %s at dword %zu: ", run->packet, run->at);
    if (used < 0 || (size_t)used >= run->error_bytes)
        return -1;
    va_start(args, format);
    vsnprintf(run->error + used, run->error_bytes - (size_t)used, format, args);
    va_end(args);
    return -1;
}

static uint64_t address_of(const uint32_t *lo_hi)
{
    return lo_hi[0] | (uint64_t)lo_hi[1] << 32;
}

static int read_memory(struct run *run, uint64_t address, void *to, size_t bytes)
{
    const struct iovec local = {to, bytes};
    const struct iovec remote = {(void *)(uintptr_t)address, bytes};

    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)bytes)
        return fail(run, "cannot read %zu bytes at 0x%" PRIx64, bytes, address);
    return 0;
}

// A checked write is a system call, and counters are read out word by word: what follows into the same page
// needs no further check.
static int write_memory(struct run *run, uint64_t address, const void *from, size_t bytes)
{
    const uint64_t page = address / PAGE_BYTES;
    const bool one_page = bytes > 0 && (address + bytes - 1) / PAGE_BYTES == page;
    if (one_page && page != 0 && page == run->written) { // 0: none yet
        memcpy((void *)(uintptr_t)address, from, bytes);
        return 0;
    }
    const struct iovec local = {(void *)(uintptr_t)from, bytes};
    const struct iovec remote = {(void *)(uintptr_t)address, bytes};

    if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)bytes)
        return fail(run, "cannot write %zu bytes at 0x%" PRIx64, bytes, address);
    run->written = one_page ? page : 0;
    return 0;
}

static int read_register(struct run *run, uint32_t address, uint32_t *value)
{
    char why[96];

    if (address == SG_REG_COMPUTE_PERFCOUNT_ENABLE) {
        *value = run->queue->compute_perfcount_enable;
        return 0;
    }
    if (!sg_perf_can_read(run->perf, address, why, sizeof(why)))
        return fail(run, "%s", why);
    *value = sg_perf_read(run->perf, address);
    return 0;
}

static void write_register(struct run *run, uint32_t address, uint32_t value)
{
    if (address == SG_REG_COMPUTE_PERFCOUNT_ENABLE)
        run->queue->compute_perfcount_enable = value & 1;
    else
        sg_perf_write(run->perf, address, value);
}

// SET_*_REG: dword 1 is the offset of the first register, the rest goes to consecutive ones.
static int set_registers(struct run *run, const uint32_t *body, uint32_t n, uint32_t base, uint32_t end)
{
    uint32_t first = base + (body[0] & 0xffffu);

    if (first + (n - 1) > end)
        return fail(run, "%u registers from 0x%x reach past 0x%x", n - 1, first, end);
    for (uint32_t i = 1; i < n; i++)
        write_register(run, first + i - 1, body[i]);
    return 0;
}

static int set_uconfig_reg(struct run *run, const uint32_t *body, uint32_t n)
{
    return set_registers(run, body, n, SG_REG_UCONFIG_BASE, SG_REG_UCONFIG_END);
}

static int set_sh_reg(struct run *run, const uint32_t *body, uint32_t n)
{
    return set_registers(run, body, n, SG_REG_SH_BASE, SG_REG_SH_END);
}

// Writes `n` dwords to registers or memory, as the destination selectors of COPY_DATA and WRITE_DATA share.
static int write_to(struct run *run, uint32_t selector, uint32_t control, const uint32_t *destination,
                    const uint32_t *data, uint32_t n)
{
    switch (selector) {
    case SG_PM4_SEL_REG:
    case SG_PM4_SEL_PERF:
        for (uint32_t i = 0; i < n; i++)
            write_register(run, destination[0] + i, data[i]);
        return 0;
    case SG_PM4_SEL_MEM_SYNC:
    case SG_PM4_SEL_L2:
    case SG_PM4_SEL_MEM_OR_IMM:
        return write_memory(run, address_of(destination), data, n * sizeof(*data));
    default:
        return fail(run, "unknown destination in control word 0x%08x", control);
    }
}

static int copy_data(struct run *run, const uint32_t *body, uint32_t n)
{
    const uint32_t control = body[0];
    const uint32_t width = control & SG_PM4_COPY_64 ? 2 : 1;
    uint32_t data[2] = {body[1], body[2]}; // right as it is for an immediate

    (void)n;
    switch (SG_PM4_COPY_SRC(control)) {
    case SG_PM4_SEL_REG:
    case SG_PM4_SEL_PERF:
        for (uint32_t i = 0; i < width; i++) {
            if (read_register(run, body[1] + i, &data[i]) != 0)
                return -1;
        }
        break;
    case SG_PM4_SEL_MEM_SYNC:
    case SG_PM4_SEL_L2:
        if (read_memory(run, address_of(body + 1), data, width * sizeof(*data)) != 0)
            return -1;
        break;
    case SG_PM4_SEL_MEM_OR_IMM:
        break;
    default:
        return fail(run, "unknown source in control word 0x%08x", control);
    }
    return write_to(run, SG_PM4_COPY_DST(control), control, body + 3, data, width);
}

static int write_data(struct run *run, const uint32_t *body, uint32_t n)
{
    const uint32_t control = body[0];

    if (!(control & SG_PM4_WRITE_ONE_ADDRESS))
        return write_to(run, SG_PM4_WRITE_DST(control), control, body + 1, body + 3, n - 3);
    for (uint32_t i = 3; i < n; i++) {
        if (write_to(run, SG_PM4_WRITE_DST(control), control, body + 1, body + i, 1) != 0)
            return -1;
    }
    return 0;
}

static bool wait_is_over(uint32_t function, uint32_t value, uint32_t reference)
{
    switch (function) {
    case 1:
        return value < reference;
    case 2:
        return value <= reference;
    case 3:
        return value == reference;
    case 4:
        return value != reference;
    case 5:
        return value >= reference;
    case 6:
        return value > reference;
    default: // 0: always
        return true;
    }
}

static int wait_reg_mem(struct run *run, const uint32_t *body, uint32_t n)
{
    const struct timespec poll = {.tv_nsec = WAIT_POLL_NS};
    const uint32_t control = body[0], reference = body[3], mask = body[4];

    (void)n;
    if (SG_PM4_WAIT_SPACE(control) > 1 || SG_PM4_WAIT_OPERATION(control) != 0 ||
        SG_PM4_WAIT_FUNCTION(control) > 6)
        return fail(run, "unknown form in control word 0x%08x", control);
    for (;;) {
        uint32_t value;
        int rc = SG_PM4_WAIT_SPACE(control) == 0
                     ? read_register(run, body[1], &value)
                     : read_memory(run, address_of(body + 1), &value, sizeof(value));

        if (rc != 0)
            return -1;
        if (wait_is_over(SG_PM4_WAIT_FUNCTION(control), value & mask, reference))
            return 0;
        if (run->polls_left == 0)
            return fail(run, "gave up waiting: 0x%x & 0x%x against 0x%x, control word 0x%08x", value, mask,
                        reference, control);
        nanosleep(&poll, NULL);
        run->polls_left--;
    }
}

// Everything before it has ended, as packets run in order; what is left is its data.
static int release_mem(struct run *run, const uint32_t *body, uint32_t n)
{
    (void)n;
    switch (SG_PM4_RELEASE_DATA_SEL(body[1])) {
    case 0:
        return 0;
    case 1:
        return write_memory(run, address_of(body + 2), body + 4, 4);
    case 2:
        return write_memory(run, address_of(body + 2), body + 4, 8);
    default:
        return fail(run, "unknown data selector in control word 0x%08x", body[1]);
    }
}

static int run_stream(struct run *run, uint64_t address, size_t dwords);

static int indirect_buffer(struct run *run, const uint32_t *body, uint32_t n)
{
    const char *packet = run->packet;
    size_t at = run->at;
    int rc;

    (void)n;
    rc = run_stream(run, address_of(body), SG_PM4_IB_DWORDS(body[2]));
    run->packet = packet;
    run->at = at;
    return rc;
}

// Memory is coherent, so that only copies of code are left to give up.
static int acquire_mem(struct run *run, const uint32_t *body, uint32_t n)
{
    (void)body;
    (void)n;
    run->queue->acquired = true;
    return 0;
}

// Caches and pipeline: nothing to do, memory is coherent and packets run in order.
static int no_effect(struct run *run, const uint32_t *body, uint32_t n)
{
    (void)run;
    (void)body;
    (void)n;
    return 0;
}

static const struct packet {
    uint32_t opcode;
    uint32_t min_body; // dwords that `execute` may read without looking
    const char *name;
    int (*execute)(struct run *run, const uint32_t *body, uint32_t n);
} packets[] = {
    {SG_PM4_NOP, 1, "NOP", no_effect},
    {SG_PM4_WRITE_DATA, 4, "WRITE_DATA", write_data},
    {SG_PM4_WAIT_REG_MEM, 5, "WAIT_REG_MEM", wait_reg_mem},
    {SG_PM4_INDIRECT_BUFFER, 3, "INDIRECT_BUFFER", indirect_buffer},
    {SG_PM4_COPY_DATA, 5, "COPY_DATA", copy_data},
    {SG_PM4_EVENT_WRITE, 1, "EVENT_WRITE", no_effect},
    {SG_PM4_RELEASE_MEM, 6, "RELEASE_MEM", release_mem},
    {SG_PM4_ACQUIRE_MEM, 1, "ACQUIRE_MEM", acquire_mem},
    {SG_PM4_SET_SH_REG, 2, "SET_SH_REG", set_sh_reg},
    {SG_PM4_SET_UCONFIG_REG, 2, "SET_UCONFIG_REG", set_uconfig_reg},
};
static const struct packet unknown_packet = {0, 1, "packet", no_effect};

static const struct packet *find_packet(uint32_t opcode)
{
    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
        if (packets[i].opcode == opcode)
            return &packets[i];
    }
    return &unknown_packet;
}

// Runs the packet at code[at]; *length is its size in dwords.
static int run_packet(struct run *run, const uint32_t *code, size_t at, size_t dwords, size_t *length)
{
    const uint32_t header = code[at];
    const struct packet *packet;
    uint32_t body;

    run->packet = "packet";
    run->at = at;
    *length = 1;
    if (SG_PM4_TYPE(header) == 2)
        return 0;
    if (SG_PM4_TYPE(header) != 3)
        return fail(run, "header 0x%08x is of type %u", header, SG_PM4_TYPE(header));

    packet = find_packet(SG_PM4_OPCODE(header));
    run->packet = packet->name;
    if (packet->opcode == SG_PM4_NOP && SG_PM4_COUNT(header) == SG_PM4_NOP_COUNT_ALONE)
        return 0;
    body = SG_PM4_COUNT(header) + 1;
    if (body > dwords - at - 1)
        return fail(run, "header 0x%08x asks for %u dwords, %zu are left", header, body, dwords - at - 1);
    if (body < packet->min_body)
        return fail(run, "header 0x%08x has %u dwords, %u are needed", header, body, packet->min_body);
    *length = 1 + body;
    return packet->execute(run, code + at + 1, body);
}

static int run_stream(struct run *run, uint64_t address, size_t dwords)
{
    uint32_t *code = NULL;
    int rc = -1;

    if (dwords == 0)
        return 0;
    if (run->depth >= MAX_IB_DEPTH)
        return fail(run, "indirect buffers nest deeper than %d", MAX_IB_DEPTH);
    if (dwords > run->dwords_left)
        return fail(run, "stream of %zu dwords exceeds the limit of %d in all", dwords, MAX_TOTAL_DWORDS);
    run->dwords_left -= dwords;

    code = malloc(dwords * sizeof(*code));
    if (!code)
        return fail(run, "no memory for %zu dwords", dwords);
    if (read_memory(run, address, code, dwords * sizeof(*code)) != 0)
        goto done;

    run->depth++;
    rc = 0;
    for (size_t at = 0, length = 0; rc == 0 && at < dwords; at += length)
        rc = run_packet(run, code, at, dwords, &length);
    run->depth--;
done:
    free(code);
    return rc;
}

int sg_pm4_run(struct sg_perf *perf, struct sg_pm4_queue *queue, const uint32_t *code, size_t dwords,
               char *error, size_t error_bytes)
{
    struct run run = {
        .perf = perf,
        .queue = queue,
        .error = error,
        .error_bytes = error ? error_bytes : 0,
        .dwords_left = MAX_TOTAL_DWORDS,
        .polls_left = MAX_WAIT_POLLS,
        .packet = "stream",
    };

    return run_stream(&run, (uint64_t)(uintptr_t)code, dwords);
}

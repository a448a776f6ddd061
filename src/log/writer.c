// SPDX-License-Identifier: MIT
// The writer of the record log. The file is mapped MAP_SHARED and its blocks are allocated before they are
// mapped, so a full disk is an error code and never SIGBUS. What was stored is in the kernel's page cache: it
// needs no flush to outlive the process. Only a window at the end of the file is mapped, so long logs cost no
// address space.
#include "log/codec.h"
#include "log/crc32c.h"
#include "log/format.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHUNK_BYTES (UINT64_C(1) << 20)
#define SHORT_BYTES 1024 // most records are shorter

struct kr_log {
    pthread_mutex_t lock; // everything below but fd and owner
    int fd;
    pid_t owner; // a forked child is not
    const uint8_t
        *here; // a page that the kernel empties in a child: owned while it is not 0. NULL: ask for the pid
    uint64_t file_bytes; // allocated
    uint64_t end;        // where the next record goes; a multiple of KR_LOG_ALIGN
    uint8_t *window;     // maps [window_offset, window_offset + window_bytes); NULL before the first record
    uint64_t window_offset;
    size_t window_bytes;
};

// Marks the process. Asking for the pid instead is a system call for each record.
static const uint8_t *mark_owner(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED)
        return NULL;
    if (madvise(mark, page, MADV_WIPEONFORK) != 0) {
        munmap(mark, page);
        return NULL;
    }
    *mark = 1;
    return mark;
}

static bool is_owner(const struct kr_log *log)
{
    return log->here != NULL ? *log->here != 0 : getpid() == log->owner;
}

static void forget_owner(struct kr_log *log)
{
    if (log->here != NULL)
        munmap((void *)(uintptr_t)log->here, (size_t)sysconf(_SC_PAGESIZE));
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// Makes the file `bytes` long with all blocks allocated. 0 or an errno. A file size limit is looked at first
// because running into it would raise SIGXFSZ, which ends the program; signals are held back because some
// file systems give up with EINTR.
static int allocate(struct kr_log *log, uint64_t bytes)
{
    if (bytes <= log->file_bytes)
        return 0;
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
        return EFBIG;

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = posix_fallocate(log->fd, (off_t)log->file_bytes, (off_t)(bytes - log->file_bytes));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err == 0)
        log->file_bytes = bytes;
    return err;
}

// Sees to it that `bytes` from the end on are mapped. A whole chunk if possible, else just what is needed.
static int reserve(struct kr_log *log, size_t bytes)
{
    if (log->window != NULL && log->end + bytes <= log->window_offset + log->window_bytes)
        return KREPLAY_OK;

    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t base = log->end / page * page;
    uint64_t need = round_up(log->end + bytes - base, page);
    uint64_t length = need < CHUNK_BYTES ? CHUNK_BYTES : need;
    int err = allocate(log, base + length);
    if (err != 0 && length > need) {
        length = need;
        err = allocate(log, base + length);
    }
    if (err != 0) {
        errno = err;
        return KREPLAY_IO;
    }

    void *window = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd, (off_t)base);
    if (window == MAP_FAILED)
        return KREPLAY_IO;
    (void)madvise(window, length, MADV_DONTFORK); // a child has no business here
    if (log->window != NULL)
        munmap(log->window, log->window_bytes);
    log->window = window;
    log->window_offset = base;
    log->window_bytes = length;
    return KREPLAY_OK;
}

// `encoded` has `payload` bytes of it, or is NULL.
static int put_locked(struct kr_log *log, enum kr_log_type type, const void *value, const void *encoded,
                      size_t payload)
{
    size_t bytes = KR_LOG_RECORD_HEADER + payload;
    int rc = reserve(log, kr_log_align(bytes));
    if (rc != KREPLAY_OK)
        return rc;

    uint8_t *record = log->window + (log->end - log->window_offset);
    struct kr_out out = {.bytes = record + KR_LOG_COMMIT_BYTES, .capacity = bytes - KR_LOG_COMMIT_BYTES};
    kr_out_u32(&out, type);
    kr_out_u32(&out, KR_LOG_MARKER);
    if (encoded != NULL)
        kr_out_bytes(&out, encoded, payload);
    else
        kr_log_encode(&out, type, value);

    uint64_t crc = kr_crc32c(record + KR_LOG_COMMIT_BYTES, bytes - KR_LOG_COMMIT_BYTES);
    // This store makes the record exist. Killed before it: the log ends at the record before.
    __atomic_store_n((uint64_t *)record, htole64(crc << 32 | bytes), __ATOMIC_RELEASE);
    log->end += kr_log_align(bytes);
    return KREPLAY_OK;
}

static int put(struct kr_log *log, enum kr_log_type type, const void *value)
{
    if (log == NULL || value == NULL)
        return KREPLAY_INVALID;
    if (!is_owner(log))
        return KREPLAY_OK; // before the lock: at the fork another thread may have held it
    uint8_t encoded[SHORT_BYTES];
    struct kr_out measure = {.bytes = encoded, .capacity = sizeof(encoded)};
    kr_log_encode(&measure, type, value); // a longer one is only measured
    bool whole = measure.used <= measure.capacity;
    if (measure.used > KR_LOG_MAX_RECORD - KR_LOG_RECORD_HEADER)
        return KREPLAY_INVALID;

    pthread_mutex_lock(&log->lock);
    int rc = put_locked(log, type, value, whole ? encoded : NULL, measure.used);
    pthread_mutex_unlock(&log->lock);
    return rc;
}

int kr_log_create(const char *path, struct kr_log **out)
{
    *out = NULL;
    struct kr_log *log = calloc(1, sizeof(*log));
    if (log == NULL)
        return KREPLAY_NO_MEMORY;
    log->owner = getpid();
    log->here = mark_owner();
    log->end = KR_LOG_HEADER_BYTES;
    log->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (log->fd < 0)
        goto error;

    uint8_t header[KR_LOG_HEADER_BYTES] = {0};
    struct kr_out bytes = {.bytes = header, .capacity = sizeof(header)};
    kr_out_bytes(&bytes, KR_LOG_MAGIC, KR_LOG_MAGIC_BYTES);
    kr_out_u32(&bytes, KR_LOG_VERSION);
    kr_out_u32(&bytes, KR_LOG_HEADER_BYTES);
    int err = allocate(log, sizeof(header));
    if (err == 0) {
        ssize_t written = pwrite(log->fd, header, sizeof(header), 0);
        err = written == (ssize_t)sizeof(header) ? 0 : written < 0 ? errno : ENOSPC;
    }
    if (err != 0) {
        unlink(path);
        errno = err;
        goto error;
    }
    pthread_mutex_init(&log->lock, NULL);
    *out = log;
    return KREPLAY_OK;

error:
    err = errno;
    if (log->fd >= 0)
        close(log->fd);
    forget_owner(log);
    free(log);
    errno = err;
    return KREPLAY_IO;
}

int kr_log_put_process(struct kr_log *log, const kr_log_process *process)
{
    return put(log, KR_LOG_PROCESS, process);
}

int kr_log_put_agent(struct kr_log *log, const kreplay_agent *agent)
{
    return put(log, KR_LOG_AGENT, agent);
}

int kr_log_put_code_object(struct kr_log *log, const kreplay_code_object *code_object)
{
    return put(log, KR_LOG_CODE_OBJECT, code_object);
}

int kr_log_put_kernel(struct kr_log *log, const kreplay_kernel *kernel)
{
    return put(log, KR_LOG_KERNEL, kernel);
}

int kr_log_put_counter(struct kr_log *log, const kreplay_counter *counter)
{
    return put(log, KR_LOG_COUNTER, counter);
}

int kr_log_put_group(struct kr_log *log, const kr_log_group *group)
{
    return put(log, KR_LOG_GROUP, group);
}

int kr_log_put_role(struct kr_log *log, const kr_log_counter_role *role)
{
    return put(log, KR_LOG_ROLE, role);
}

int kr_log_put_dispatch(struct kr_log *log, const kreplay_dispatch_record *record)
{
    if (record == NULL || record->dispatch == NULL || record->outcome == NULL)
        return KREPLAY_INVALID;
    return put(log, KR_LOG_DISPATCH, record);
}

int kr_log_put_message(struct kr_log *log, const char *text)
{
    return put(log, KR_LOG_MESSAGE, text);
}

int kr_log_put_end(struct kr_log *log, const kr_log_end *end)
{
    return put(log, KR_LOG_END, end);
}

void kr_log_close(struct kr_log *log)
{
    if (log == NULL)
        return;
    if (is_owner(log)) {
        if (log->window != NULL)
            munmap(log->window, log->window_bytes);
        // When it fails the tail stays zero, which reads the same.
        while (ftruncate(log->fd, (off_t)log->end) != 0 && errno == EINTR)
            ;
        pthread_mutex_destroy(&log->lock);
    } // a child never had the window, and must not trim the parent's file
    close(log->fd);
    forget_owner(log);
    free(log);
}

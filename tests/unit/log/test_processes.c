// SPDX-License-Identifier: MIT
// The writer among processes and threads: killed at any moment, forked, used by many threads, out of room.
#include "files.h"
#include "log/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

// ---- Numbered records: the message says its number, with ballast so that chunks fill.

enum { BALLAST = 700 };

static int put_number(struct kr_log *log, unsigned thread, unsigned number)
{
    char text[BALLAST + 1];
    int length = snprintf(text, sizeof(text), "%u %u ", thread, number);
    memset(text + length, 'a' + (int)(number % 26), sizeof(text) - 1 - (size_t)length);
    text[sizeof(text) - 1] = '\0';
    return kr_log_put_message(log, text);
}

// Checks that each thread's records are there in order and whole; numbers[t] is how many. Returns the total.
static unsigned read_numbers(const char *path, unsigned *numbers, unsigned threads)
{
    struct kr_log_reader *reader;
    kr_log_record record;
    unsigned total = 0;
    int rc = kr_log_open(path, &reader);
    assert_int_equal(rc, KREPLAY_OK);
    memset(numbers, 0, threads * sizeof(*numbers));
    while ((rc = kr_log_next(reader, &record)) == KREPLAY_OK) {
        unsigned thread, number;
        assert_int_equal(record.type, KR_LOG_MESSAGE);
        assert_int_equal(strlen(record.u.message), BALLAST);
        assert_int_equal(sscanf(record.u.message, "%u %u ", &thread, &number), 2);
        assert_true(thread < threads);
        assert_int_equal(number, numbers[thread]);
        assert_int_equal(record.u.message[BALLAST - 1], 'a' + (int)(number % 26));
        numbers[thread]++;
        total++;
    }
    assert_int_equal(rc, KREPLAY_END);
    kr_log_reader_close(reader);
    return total;
}

static int wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

// Memory that a child shares with its parent.
static atomic_uint *shared_number(void)
{
    atomic_uint *number =
        mmap(NULL, sizeof(*number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(number != MAP_FAILED);
    atomic_init(number, 0);
    return number;
}

// ---- SIGKILL

static void test_sigkill_while_writing(void **state)
{
    (void)state;
    enum { KILLS = 60, MOST = 3500 }; // the first chunk holds some 1440
    atomic_uint *returned = shared_number();
    srand(1);
    for (unsigned i = 0; i < KILLS; i++) {
        char path[PATH_BYTES];
        path_make(path);
        atomic_store(returned, 0);
        pid_t child = fork();
        if (child == 0) {
            struct kr_log *log;
            if (kr_log_create(path, &log) != KREPLAY_OK)
                _exit(1);
            for (unsigned n = 0;; n++) {
                if (put_number(log, 0, n) != KREPLAY_OK)
                    _exit(2);
                atomic_store(returned, n + 1);
            }
        }
        unsigned enough = 1 + (unsigned)rand() % MOST;
        while (atomic_load(returned) < enough)
            sched_yield();
        kill(child, SIGKILL);
        int status = wait_for(child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

        unsigned count, promised = atomic_load(returned);
        read_numbers(path, &count, 1);
        assert_true(count == promised || count == promised + 1); // the last put may not have got to return
        assert_true(count >= enough);
        path_remove(path);
    }
    munmap(returned, sizeof(*returned));
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STEPPING_IS_TOO_SLOW 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define STEPPING_IS_TOO_SLOW 1
#endif
#ifndef STEPPING_IS_TOO_SLOW
#define STEPPING_IS_TOO_SLOW 0 // the thread sanitizer's runtime takes millions of instructions for a put
#endif

// Stops the writer after every single instruction of a put, and reads the log each time: the record is there
// or not, never in part, and once there it stays.
static void test_every_instruction_of_a_put(void **state)
{
    (void)state;
    if (STEPPING_IS_TOO_SLOW)
        skip();
    char path[PATH_BYTES];
    path_make(path);
    atomic_uint *returned = shared_number();
    pid_t child = fork();
    if (child == 0) {
        struct kr_log *log;
        bool ready = kr_log_create(path, &log) == KREPLAY_OK && put_number(log, 0, 0) == KREPLAY_OK;
        if (!ready || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        (void)kr_log_put_message(log, "stepped");
        atomic_store(returned, 1);
        for (;;)
            pause();
    }
    int status = wait_for(child);
    if (!WIFSTOPPED(status)) {
        path_remove(path);
        munmap(returned, sizeof(*returned));
        skip(); // no ptrace here
    }
    unsigned steps = 0, records = 1;
    while (atomic_load(returned) == 0) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        status = wait_for(child);
        assert_true(WIFSTOPPED(status));
        steps++;
        struct kr_log_reader *reader;
        kr_log_record record;
        unsigned count = 0;
        int rc;
        assert_int_equal(kr_log_open(path, &reader), KREPLAY_OK);
        while ((rc = kr_log_next(reader, &record)) == KREPLAY_OK)
            count++;
        kr_log_reader_close(reader);
        assert_int_equal(rc, KREPLAY_END);
        assert_true(count == records || count == records + 1);
        assert_true(count <= 2);
        records = count;
    }
    kill(child, SIGKILL);
    wait_for(child);
    assert_int_equal(records, 2);
    assert_true(steps > 100);
    path_remove(path);
    munmap(returned, sizeof(*returned));
}

// ---- Threads and fork

enum { THREADS = 4, PER_THREAD = 1500 };

struct writer {
    struct kr_log *log;
    unsigned thread;
    int rc;
};

static void *write_numbers(void *arg)
{
    struct writer *writer = arg;
    for (unsigned n = 0; n < PER_THREAD && writer->rc == KREPLAY_OK; n++)
        writer->rc = put_number(writer->log, writer->thread, n);
    return NULL;
}

// The children are forked while threads hold the log's lock, and must neither hang nor write.
static void test_threads_and_forks(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    path_make(path);
    struct kr_log *log;
    assert_int_equal(kr_log_create(path, &log), KREPLAY_OK);
    pthread_t threads[THREADS];
    struct writer writers[THREADS];
    for (unsigned t = 0; t < THREADS; t++) {
        writers[t] = (struct writer){.log = log, .thread = t};
        assert_int_equal(pthread_create(&threads[t], NULL, write_numbers, &writers[t]), 0);
    }
    for (unsigned i = 0; i < 30; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            int rc = put_number(log, 99, i);
            if (i % 2 == 1)
                kr_log_close(log);
            _exit(rc == KREPLAY_OK ? 0 : 1);
        }
        assert_int_equal(wait_for(child), 0);
    }
    for (unsigned t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(writers[t].rc, KREPLAY_OK);
    }
    kr_log_close(log);
    unsigned numbers[THREADS];
    assert_int_equal(read_numbers(path, numbers, THREADS), THREADS * PER_THREAD);
    path_remove(path);
}

// A child that closes its copy must not trim the file below what the parent writes afterwards.
static void test_child_closes(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    path_make(path);
    struct kr_log *log;
    assert_int_equal(kr_log_create(path, &log), KREPLAY_OK);
    assert_int_equal(put_number(log, 0, 0), KREPLAY_OK);
    pid_t child = fork();
    if (child == 0) {
        (void)put_number(log, 0, 77);
        kr_log_close(log);
        _exit(0);
    }
    assert_int_equal(wait_for(child), 0);
    assert_int_equal(put_number(log, 0, 1), KREPLAY_OK);
    unsigned numbers;
    assert_int_equal(read_numbers(path, &numbers, 1), 2); // before the trim
    kr_log_close(log);
    assert_int_equal(read_numbers(path, &numbers, 1), 2);
    path_remove(path);
}

// ---- No room

// Puts until it fails, with the errno expected. Returns how many were put.
static unsigned fill(struct kr_log *log, int expected)
{
    for (unsigned n = 0; n < 100000; n++) {
        int rc = put_number(log, 0, n);
        if (rc == KREPLAY_OK)
            continue;
        return rc == KREPLAY_IO && errno == expected ? n : 0;
    }
    return 0;
}

// Exit status of the children below: 0 well, 77 not possible here, else what went wrong.
static int fill_under_limit(const char *path)
{
    struct rlimit limit;
    struct kr_log *log;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 1500000; // more than one chunk, less than two; SIGXFSZ keeps its deadly default
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 77;
    if (kr_log_create(path, &log) != KREPLAY_OK)
        return 1;
    unsigned count = fill(log, EFBIG);
    if (count < 1900) // 1.5 MB of records of 728 bytes, less a page
        return 2;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (put_number(log, 0, count) != KREPLAY_OK) // there is room again
        return 3;
    kr_log_close(log);
    unsigned numbers;
    return read_numbers(path, &numbers, 1) == count + 1 ? 0 : 4;
}

// A file system of 1 MiB, in a mount namespace of the child's own. An unprivileged user needs one for users
// as well.
static int fill_small_disk(const char *path)
{
    char folder[PATH_BYTES], file[PATH_BYTES + 8];
    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0)
        return 77;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=1m,mode=777") != 0)
        return 77;
    snprintf(file, sizeof(file), "%s/full", folder);
    struct kr_log *log;
    if (kr_log_create(file, &log) != KREPLAY_OK)
        return 1;
    unsigned count = fill(log, ENOSPC);
    if (count < 1300) // the last pages are used although a whole chunk does not fit
        return 2;
    if (put_number(log, 0, count) != KREPLAY_IO)
        return 3;
    kr_log_close(log);
    unsigned numbers;
    return read_numbers(file, &numbers, 1) == count ? 0 : 4;
}

static void run_in_child(int (*what)(const char *path))
{
    char path[PATH_BYTES];
    path_make(path);
    pid_t child = fork();
    if (child == 0)
        _exit(what(path));
    int status = wait_for(child);
    path_remove(path);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void test_file_size_limit(void **state)
{
    (void)state;
    run_in_child(fill_under_limit);
}

static void test_full_disk(void **state)
{
    (void)state;
    run_in_child(fill_small_disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sigkill_while_writing), cmocka_unit_test(test_every_instruction_of_a_put),
        cmocka_unit_test(test_threads_and_forks),     cmocka_unit_test(test_child_closes),
        cmocka_unit_test(test_file_size_limit),       cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// The pool of threads that help to run work-groups: one for all queues, made when first needed, as large as the
// largest launch wanted. Idle threads sleep on a condition. They end with the process.
#include "softgpu/isa/job.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define MAX_THREADS 256
#define LAST_YIELDS 100 // the end of a launch is usually near when its last group has begun

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; // a job was offered
    pthread_cond_t done; // a thread has left a job
    struct sg_job *jobs; // offered
    unsigned threads;
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static unsigned default_threads;
static pthread_once_t default_once = PTHREAD_ONCE_INIT;

static unsigned processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    const int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static void read_environment(void)
{
    const char *text = getenv("SOFTGPU_THREADS");
    default_threads = processors();
    if (!text || !*text)
        return;
    char *end = NULL;
    const long n = strtol(text, &end, 10);
    if (*end || n < 1 || n > MAX_THREADS)
        fprintf(stderr, "softgpu: SOFTGPU_THREADS=%s is not a number from 1 to %d; using %u\n", text,
                MAX_THREADS, default_threads);
    else
        default_threads = (unsigned)n;
}

unsigned sg_pool_threads(const struct sg_launch *launch)
{
    pthread_once(&default_once, read_environment);
    if (launch->watch)
        return 1;
    return launch->threads ? launch->threads : default_threads;
}

// A job that still has something to begin. Under the lock.
static struct sg_job *find_work(void)
{
    for (struct sg_job *job = pool.jobs; job; job = job->next) {
        uint64_t groups;
        if (job->helpers < job->wanted && sg_job_left(job, &groups) &&
            !__atomic_load_n(&job->over, __ATOMIC_RELAXED))
            return job;
    }
    return NULL;
}

static void *help(void *arg)
{
    (void)arg;
    prctl(PR_SET_NAME, "softgpu-group");
    prctl(PR_SET_TIMERSLACK, 1000ul);
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        struct sg_job *job = find_work();
        if (!job) {
            pthread_cond_wait(&pool.work, &pool.lock);
            continue;
        }
        job->helpers++;
        pthread_mutex_unlock(&pool.lock);
        const bool helped = sg_job_help(job);
        pthread_mutex_lock(&pool.lock);
        job->helpers--;
        if (!helped) // no memory for another thread's groups: not asked again
            job->wanted = 0;
        pthread_cond_broadcast(&pool.done);
    }
    return NULL;
}

// Signals of the program must not be handled on these threads; faults of the interpreter stay deliverable.
static bool make_thread(void)
{
    sigset_t blocked, before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    const int rc = pthread_create(&thread, &attributes, help, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return rc == 0;
}

void sg_pool_offer(struct sg_job *job)
{
    if (job->offered)
        return;
    const unsigned wanted = sg_pool_threads(job->launch) - 1;
    job->offered = true;
    if (!wanted)
        return;
    job->listed = true;
    job->wanted = wanted;
    pthread_mutex_lock(&pool.lock);
    job->next = pool.jobs;
    pool.jobs = job;
    // Those that help others come when they are done.
    while (pool.threads < wanted && pool.threads < MAX_THREADS && make_thread())
        pool.threads++;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
}

void sg_pool_withdraw(struct sg_job *job)
{
    if (!job->listed)
        return;
    pthread_mutex_lock(&pool.lock);
    struct sg_job **link = &pool.jobs;
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    for (unsigned i = 0; job->helpers && i < LAST_YIELDS; i++) {
        pthread_mutex_unlock(&pool.lock);
        sched_yield();
        pthread_mutex_lock(&pool.lock);
    }
    while (job->helpers)
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

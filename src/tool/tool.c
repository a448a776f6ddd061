// SPDX-License-Identifier: MIT
// The callbacks of the built-in tool, and its start. All it knows of a dispatch goes into the log before the
// callback returns, that is before the program can see the dispatch complete.
#include "tool/tool.h"
#include "engine/builtin.h"
#include "engine/clock.h"
#include "tool/budget.h"
#include "tool/demangler.h"
#include "tool/plan.h"
#include "tool/process.h"
#include "tool/say.h"
#include "tool/settings.h"
#include "tool/user_tool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LOGS_PER_PID    1000u
#define DISAGREEMENTS_NAMED 10u
#define NS_PER_SECOND       1000000000u

static atomic_bool hurry;

struct tool {
    struct kr_log *log;
    struct kr_groups groups;
    struct kr_selection *selection;
    struct kr_budget budget;
    pthread_mutex_t lock; // plans
    struct kr_plan *plans;
    atomic_uint_fast64_t dispatches;
    atomic_uint_fast64_t lost;    // records that could not be written
    atomic_uint disagreements;    // dispatches whose passes disagree and that were named
    const char *derived, *inputs; // of the environment, as in kr_plan_wish
    bool witness;
};

// Takes note of a record's fate; the first loss is said at once, the sum at the end.
static void logged(struct tool *tool, int rc)
{
    int err = errno;
    if (rc == KREPLAY_OK || atomic_fetch_add(&tool->lost, 1) != 0)
        return;
    kr_say(NULL, "cannot write to the record log: %s; records are being lost",
           rc == KREPLAY_IO ? strerror(err) : kreplay_status_text(rc));
}

static struct kr_plan *find_plan(struct tool *tool, uint32_t agent_id)
{
    pthread_mutex_lock(&tool->lock);
    struct kr_plan *plan = tool->plans;
    while (plan != NULL && plan->agent_id != agent_id)
        plan = plan->next;
    pthread_mutex_unlock(&tool->lock);
    return plan; // plans are only ever added until fini
}

static void on_agent(void *arg, const kreplay_agent *agent)
{
    struct tool *tool = arg;
    logged(tool, kr_log_put_agent(tool->log, agent));
    const struct kr_plan_wish wish = {
        .groups = &tool->groups, .derived = tool->derived, .inputs = tool->inputs, .witness = tool->witness};
    struct kr_plan *plan = kr_plan_create(agent, &wish, tool->log);
    if (plan == NULL)
        return;
    pthread_mutex_lock(&tool->lock);
    plan->next = tool->plans;
    tool->plans = plan;
    pthread_mutex_unlock(&tool->lock);
}

static void on_code_object(void *arg, const kreplay_code_object *code_object)
{
    struct tool *tool = arg;
    logged(tool, kr_log_put_code_object(tool->log, code_object));
}

static void on_kernel(void *arg, const kreplay_kernel *kernel)
{
    struct tool *tool = arg;
    logged(tool, kr_log_put_kernel(tool->log, kernel));
}

// The selection counts what it is asked for, so config hears its answer through the user data.
static bool on_filter(void *arg, const kreplay_dispatch *dispatch, bool wanted,
                      union kreplay_user_data *user_data)
{
    struct tool *tool = arg;
    const struct kr_plan *plan = find_plan(tool, dispatch->agent_id);
    bool wants = plan != NULL && plan->count > 0 && kr_selection_wants(tool->selection, dispatch);
    user_data->value = wants;
    return wants || wanted;
}

static void on_config(void *arg, kreplay_phase phase, kreplay_config *config)
{
    if (phase != KREPLAY_ENTER || !config->user_data.value)
        return;
    // Asked here and not in the filter, which would ask when the dispatch is submitted, long before its turn.
    if (kr_budget_is_spent(&((struct tool *)arg)->budget))
        return;
    const struct kr_plan *plan = find_plan(arg, config->dispatch->agent_id);
    config->want = true;
    config->pass_count = (uint32_t)plan->count;
    if (plan->count == 1)
        config->group = plan->groups[0];
}

static void on_pass(void *arg, kreplay_phase phase, kreplay_pass *pass)
{
    if (phase != KREPLAY_ENTER)
        return;
    const struct kr_plan *plan = find_plan(arg, pass->dispatch->agent_id);
    if (plan != NULL && pass->current_pass < plan->count)
        pass->group = plan->groups[pass->current_pass];
}

// Counts the counters on which the passes disagree. The first dispatches are named, the summary counts the
// others.
static uint32_t compare_passes(struct tool *tool, const struct kr_plan *plan,
                               const kreplay_dispatch_record *record)
{
    struct kr_disagreement found;
    uint32_t differing = kr_repeated_disagree(plan->repeated, plan->repeated_count, record, &found);
    if (differing == 0 || atomic_load(&tool->disagreements) >= DISAGREEMENTS_NAMED)
        return differing;
    unsigned before = atomic_fetch_add(&tool->disagreements, 1);
    if (before >= DISAGREEMENTS_NAMED)
        return differing;
    kr_say(tool->log, "dispatch %llu: its passes disagree: %s is %.17g in pass %u and %.17g in pass %u%s",
           (unsigned long long)record->dispatch->dispatch_id, found.counter->name, found.least,
           found.least_pass, found.most, found.most_pass,
           before + 1 == DISAGREEMENTS_NAMED ? "; no more are named, the summary counts them" : "");
    return differing;
}

static void on_dispatch(void *arg, const kreplay_dispatch_record *record)
{
    struct tool *tool = arg;
    atomic_fetch_add(&tool->dispatches, 1);
    // The engine cannot know why this tool did not want a dispatch; the tool does.
    kreplay_dispatch_record copy = *record;
    kreplay_outcome outcome = *record->outcome;
    const struct kr_plan *plan = find_plan(tool, record->dispatch->agent_id);
    if (outcome.kind == KREPLAY_FILTERED && outcome.reason == KREPLAY_REASON_NONE)
        outcome.reason = plan == NULL       ? KREPLAY_REASON_COUNTERS_UNAVAILABLE
                         : plan->count == 0 ? plan->reason
                                            : KREPLAY_REASON_NOT_SELECTED;
    if (plan != NULL)
        outcome.disagreements = compare_passes(tool, plan, record);
    if (kr_budget_take(&tool->budget, &outcome))
        kr_say(tool->log, "the budget of %llu seconds is spent with dispatch %llu: later ones run unmeasured",
               (unsigned long long)(tool->budget.limit_ns / NS_PER_SECOND),
               (unsigned long long)record->dispatch->dispatch_id);
    copy.outcome = &outcome;
    logged(tool, kr_log_put_dispatch(tool->log, &copy));
}

static void on_message(void *arg, const char *text)
{
    struct tool *tool = arg;
    logged(tool, kr_log_put_message(tool->log, text));
}

static void destroy(struct tool *tool)
{
    while (tool->plans != NULL) {
        struct kr_plan *plan = tool->plans;
        tool->plans = plan->next;
        kr_plan_destroy(plan);
    }
    kr_groups_free(&tool->groups);
    kr_selection_destroy(tool->selection);
    kr_log_close(tool->log);
    pthread_mutex_destroy(&tool->lock);
    free(tool);
}

static void on_fini(void *arg)
{
    struct tool *tool = arg;
    kr_log_end end = {.end_ns = kr_clock_ns(),
                      .dispatches = atomic_load(&tool->dispatches),
                      .lost = atomic_load(&tool->lost)};
    logged(tool, kr_log_put_end(tool->log, &end));
    uint64_t lost = atomic_load(&tool->lost);
    if (lost != 0)
        kr_say(tool->log, "%llu records could not be written to the record log", (unsigned long long)lost);
    if (!atomic_load(&hurry))
        destroy(tool);
}

void kr_tool_hurry(void)
{
    atomic_store(&hurry, true);
}

// Makes the folder and those above it. 0 or an errno.
static int make_folder(const char *folder)
{
    char path[PATH_MAX];
    if (strlen(folder) >= sizeof(path))
        return ENAMETOOLONG;
    strcpy(path, folder);
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(path, 0777); // the last one tells
        *at = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
}

// One process can need several logs: after execve the same pid runs another program.
static int open_log(const char *folder, struct kr_log **out, char *error, size_t error_bytes)
{
    int err = make_folder(folder);
    if (err != 0) {
        snprintf(error, error_bytes, "cannot make the folder \"%s\": %s", folder, strerror(err));
        return KREPLAY_IO;
    }
    char path[PATH_MAX];
    int rc = KREPLAY_IO;
    for (unsigned i = 1; i <= MAX_LOGS_PER_PID; i++) {
        char suffix[16] = "";
        if (i > 1)
            snprintf(suffix, sizeof(suffix), "-%u", i);
        if (snprintf(path, sizeof(path), "%s/%d%s.krlog", folder, (int)getpid(), suffix) >=
            (int)sizeof(path)) {
            errno = ENAMETOOLONG;
            break;
        }
        rc = kr_log_create(path, out);
        if (rc != KREPLAY_IO || errno != EEXIST)
            break;
    }
    if (rc != KREPLAY_OK)
        snprintf(error, error_bytes, "cannot create the record log \"%.300s\": %s", path,
                 rc == KREPLAY_IO ? strerror(errno) : kreplay_status_text(rc));
    return rc;
}

static int write_process(struct kr_log *log, uint64_t run_id, const char *backend, char *error,
                         size_t error_bytes)
{
    kr_log_process process;
    int rc = kr_process_describe(run_id, &process);
    if (rc == KREPLAY_OK) {
        process.backend = backend;
        process.version = KREPLAY_VERSION;
        rc = kr_log_put_process(log, &process);
        int err = errno;
        kr_process_free(&process);
        errno = err;
    }
    if (rc != KREPLAY_OK)
        snprintf(error, error_bytes, "cannot write to the record log: %s",
                 rc == KREPLAY_IO ? strerror(errno) : kreplay_status_text(rc));
    return rc;
}

static int register_tool(struct tool *tool, char *error, size_t error_bytes)
{
    const kreplay_tool callbacks = {
        .size = sizeof(callbacks),
        .name = "kreplay",
        .tool = tool,
        .agent = on_agent,
        .code_object = on_code_object,
        .kernel = on_kernel,
        .config = on_config,
        .pass = on_pass,
        .dispatch = on_dispatch,
        .message = on_message,
        .fini = on_fini,
        .filter = on_filter,
    };
    int rc = kr_engine_register_builtin(&callbacks);
    if (rc != KREPLAY_OK)
        snprintf(error, error_bytes, "cannot register the counter tool: %s", kreplay_status_text(rc));
    return rc;
}

// The counter tool: without groups it only writes down what the user's tool collects.
static int start_own(const struct kr_settings *settings, const char *backend, char *error, size_t error_bytes)
{
    struct kr_groups groups = {0};
    int rc = kr_groups_parse(settings->pmc, &groups, error, error_bytes);
    if (rc != KREPLAY_OK || (groups.count == 0 && *settings->tool == '\0'))
        return rc;
    struct kr_selection *selection;
    rc = kr_selection_create(&settings->selection, kr_demangle, &selection, error, error_bytes);
    struct tool *tool = rc == KREPLAY_OK ? calloc(1, sizeof(*tool)) : NULL;
    if (tool == NULL) {
        kr_groups_free(&groups);
        kr_selection_destroy(selection);
        if (rc == KREPLAY_OK)
            snprintf(error, error_bytes, "out of memory");
        return rc == KREPLAY_OK ? KREPLAY_NO_MEMORY : rc;
    }
    tool->groups = groups;
    tool->selection = selection;
    tool->derived = settings->derived;
    tool->inputs = settings->inputs;
    tool->witness = settings->witness;
    tool->budget.limit_ns = settings->budget_s * NS_PER_SECOND;
    pthread_mutex_init(&tool->lock, NULL);
    rc = open_log(settings->run_dir, &tool->log, error, error_bytes);
    if (rc == KREPLAY_OK)
        rc = write_process(tool->log, settings->run_id, backend, error, error_bytes);
    if (rc == KREPLAY_OK)
        rc = register_tool(tool, error, error_bytes);
    if (rc != KREPLAY_OK)
        destroy(tool);
    return rc;
}

int kr_tool_start(const char *backend, char *error, unsigned long error_bytes)
{
    struct kr_settings settings;
    int rc = kr_settings_read(&settings, error, error_bytes);
    if (rc != KREPLAY_OK)
        return rc;
    kr_say_level(settings.level);
    if (!settings.tool_only)
        rc = start_own(&settings, backend, error, error_bytes);
    if (rc != KREPLAY_OK || *settings.tool == '\0')
        return rc;
    rc = kr_user_tool_load(settings.tool, error, error_bytes);
    if (rc == KREPLAY_OK || settings.tool_only)
        return rc;
    kr_say(NULL, "%s; it is left out", error); // kreplay's own goes on
    error[0] = '\0';
    return KREPLAY_OK;
}

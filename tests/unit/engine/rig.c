// SPDX-License-Identifier: MIT
// Owns the rig of the engine's tests.
#include "rig.h"

#include <pthread.h>

struct rig rig;

// Callbacks of different GPUs come at the same time.
static pthread_mutex_t told = PTHREAD_MUTEX_INITIALIZER;

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    kr_fake_trace(rig.fake, phase == KREPLAY_ENTER ? "config" : "/config");
    pthread_mutex_lock(&told);
    if (phase == KREPLAY_ENTER) {
        rig.enters++;
        config->want = rig.want;
        config->pass_count = rig.pass_count;
        config->continue_fn = rig.go_on;
        config->group = rig.single;
    } else {
        rig.exits++;
    }
    pthread_mutex_unlock(&told);
    if (rig.on_config)
        rig.on_config(phase, config);
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    (void)tool;
    kr_fake_trace(rig.fake, phase == KREPLAY_ENTER ? "pass" : "/pass");
    pthread_mutex_lock(&told);
    if (phase == KREPLAY_ENTER) {
        rig.pass_enters++;
        if (rig.arm)
            pass->group = rig.groups[pass->current_pass % 2];
    } else {
        rig.pass_exits++;
    }
    pthread_mutex_unlock(&told);
    if (rig.on_pass)
        rig.on_pass(phase, pass);
}

static void on_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    (void)tool;
    kr_fake_trace(rig.fake, "record");
    pthread_mutex_lock(&told);
    if (rig.record_count == rig.record_capacity) {
        rig.record_capacity = rig.record_capacity * 2 + 8;
        rig.records = realloc(rig.records, rig.record_capacity * sizeof *rig.records);
        if (!rig.records)
            abort();
    }
    struct rig_record *copy = &rig.records[rig.record_count++];
    *copy = (struct rig_record){
        .outcome = *record->outcome,
        .dispatch_id = record->dispatch->dispatch_id,
        .window_id = record->window_id,
        .start_ns = record->start_ns,
        .end_ns = record->end_ns,
        .pass_count = record->pass_count,
        .completions = rig.watched ? rig.watched->completions : 0,
    };
    for (size_t i = 0; i < record->pass_count && i < RIG_PASSES; i++) {
        copy->passes[i] = record->passes[i];
        copy->passes[i].values = copy->values[i];
        for (size_t k = 0; k < record->passes[i].value_count && k < RIG_VALUES; k++)
            copy->values[i][k] = record->passes[i].values[k];
    }
    pthread_mutex_unlock(&told);
    if (rig.on_record)
        rig.on_record(record);
}

void rig_start_with(const struct kr_fake_options *options)
{
    static const char *const first[] = {"FAKE_RUNS", "FAKE_READS"}, *const second[] = {"FAKE_WRITES",
                                                                                       "FAKE_WORK"};
    kreplay_tool tool = {
        .size = sizeof tool, .name = "rig", .config = on_config, .pass = on_pass, .dispatch = on_dispatch};

    rig = (struct rig){.want = true, .arm = true, .pass_count = 3};
    rig.fake = kr_fake_create(options);
    assert_non_null(rig.fake);
    rig.engine = kr_fake_engine(rig.fake);
    assert_int_equal(kreplay_register(&tool), 0);
    assert_int_equal(kreplay_group_create(0, first, 2, &rig.groups[0], NULL, 0), 0);
    assert_int_equal(kreplay_group_create(0, second, 2, &rig.groups[1], NULL, 0), 0);
}

void rig_start(unsigned flags)
{
    rig_start_with(&(struct kr_fake_options){.flags = flags});
}

void rig_stop(void)
{
    assert_int_equal(kr_fake_strays(rig.fake), 0);
    assert_int_equal(rig.enters, rig.exits);
    assert_int_equal(rig.pass_enters, rig.pass_exits);
    rig_end();
}

void rig_end(void)
{
    kreplay_group_destroy(rig.groups[0]);
    kreplay_group_destroy(rig.groups[1]);
    kr_fake_destroy(rig.fake);
    free(rig.records);
    rig = (struct rig){0};
}

void rig_add(struct rig_window *w, kr_fake_program run, void *arg)
{
    size_t i = w->window.op_count++;
    assert_true(i < 4);
    w->mine[i].run = run;
    w->mine[i].arg = arg;
    w->ops[i].kind = KR_OP_DISPATCH;
    w->ops[i].backend = &w->mine[i];
    w->ops[i].dispatch = (kreplay_dispatch){
        .size = sizeof w->ops[i].dispatch,
        .dispatch_id = kr_engine_new_id(rig.engine, KR_ID_DISPATCH),
        .queue_id = 1,
        .kernel_id = i + 1,
        .kernel_name = "kernel",
    };
    w->window.ops = w->ops;
}

void rig_run(struct rig_window *w)
{
    rig.watched = &w->mine[0];
    if (!rig.fake)
        abort();
    if (kr_fake_flags(rig.fake) & KR_BACKEND_LIVE_IS_PASS0) {
        kr_window_run(rig.engine, &w->window);
        return;
    }
    kr_window_open(rig.engine, &w->window);
    kr_fake_launch(rig.fake, &w->window);
    kr_window_close(rig.engine, &w->window);
}

struct rig_record *rig_last(void)
{
    assert_true(rig.record_count > 0);
    return &rig.records[rig.record_count - 1];
}

void rig_expect_done_once(const struct rig_window *w)
{
    for (size_t i = 0; i < w->window.op_count; i++)
        assert_int_equal(w->mine[i].completions, 1);
}

struct rig_record *rig_dispatch(kr_fake_program run, void *arg)
{
    struct rig_window w = {0};
    size_t before = rig.record_count;
    rig_add(&w, run, arg);
    rig_run(&w);
    kr_fake_settle(rig.fake);
    rig_expect_done_once(&w);
    rig.watched = NULL;
    assert_int_equal(rig.record_count, before + 1);
    assert_int_equal(rig_last()->dispatch_id, w.ops[0].dispatch.dispatch_id);
    assert_int_equal(rig_last()->completions, 0);
    return rig_last();
}

void rig_expect_trace(const char *words)
{
    char *text = kr_fake_trace_text(rig.fake);
    assert_string_equal(text, words);
    free(text);
}

struct buffer rig_buffer(uint32_t agent, size_t bytes)
{
    struct buffer buffer = {kr_fake_malloc(rig.fake, agent, bytes), bytes};
    assert_non_null(buffer.at);
    return buffer;
}

void add_one(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *buffer = arg;
    for (size_t i = 0; i < buffer->bytes; i++)
        buffer->at[i]++;
    exec->reads += buffer->bytes;
    exec->writes += buffer->bytes;
    exec->work++;
}

void touch_first(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *buffer = arg;
    buffer->at[0]++;
    exec->writes++;
}

void wander(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *buffer = arg;
    size_t blocks = (buffer->bytes + BLOCK - 1) / BLOCK;
    buffer->at[exec->execution % blocks * BLOCK] += 7;
    exec->writes++;
}

bool buffer_is(const struct buffer *buffer, uint8_t value)
{
    for (size_t i = 0; i < buffer->bytes; i++)
        if (buffer->at[i] != value)
            return false;
    return true;
}

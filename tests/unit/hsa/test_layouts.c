// SPDX-License-Identifier: MIT
// Each known table layout: the right slots are read and written, all others stay; what is unknown or short is
// refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hsa/table.h"
#include "kreplay/kreplay.h"

enum { SLOTS = 160 };

// Slots by hand for some functions, independent of table_layouts.c: by place in hsa_api_trace.h of each
// release.
static const struct release {
    const char *name;
    uint32_t root_major, root_bytes, major, core_bytes, ext_bytes;
    unsigned pool_allocate, async_copy, lock, ipc_create, intercept_create, intercept_register, rect, dmabuf,
        vmem_map; // extension slots
} releases[] = {
    {"5.2.3", 1, 48, 1, 1016, 400, 15, 17, 22, 30, 37, 38, 40, 0, 0},
    {"5.3.3", 1, 48, 1, 1016, 400, 15, 17, 22, 30, 37, 38, 40, 0, 0},
    {"5.5.1", 1, 48, 1, 1016, 424, 15, 17, 22, 30, 37, 38, 40, 0, 0},
    {"5.6.1", 1, 48, 1, 1016, 456, 15, 17, 24, 32, 39, 40, 42, 55, 0},
    {"5.7.1", 1, 48, 1, 1016, 456, 15, 17, 24, 32, 39, 40, 42, 55, 0},
    {"6.0.2", 2, 48, 2, 1016, 552, 15, 17, 24, 32, 39, 40, 42, 55, 61},
    {"6.1.2", 2, 56, 2, 1016, 560, 15, 17, 24, 32, 39, 40, 42, 55, 61},
    {"6.2.4", 3, 64, 2, 1016, 576, 15, 17, 24, 32, 39, 40, 42, 55, 61},
    {"later", 3, 96, 2, 1080, 704, 15, 17, 24, 32, 39, 40, 42, 55, 61},
};
enum { RELEASES = sizeof(releases) / sizeof(releases[0]) };

struct tables {
    void *root[12];
    void *core[SLOTS], *ext[SLOTS];
};

static void *mark(unsigned part, unsigned slot)
{
    return (void *)(uintptr_t)(0x1000000u * (part + 1) + slot * 16);
}

static void fill(struct tables *t, const struct release *r)
{
    struct kr_hsa_version root = {r->root_major, r->root_bytes, 0, 0};
    struct kr_hsa_version core = {r->major, r->core_bytes, 0, 0}, ext = {r->major, r->ext_bytes, 0, 0};
    for (unsigned i = 0; i < SLOTS; i++) {
        t->core[i] = mark(KR_HSA_CORE, i);
        t->ext[i] = mark(KR_HSA_EXT, i);
    }
    memcpy(t->root, &root, sizeof(root));
    memcpy(t->core, &core, sizeof(core));
    memcpy(t->ext, &ext, sizeof(ext));
    t->root[2] = t->core;
    t->root[3] = t->ext;
}

static void *address(const void *function)
{
    void *value;
    memcpy(&value, function, sizeof(value));
    return value;
}

static void functions_are_read(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RELEASES; i++) {
        const struct release *r = &releases[i];
        struct tables t;
        struct kr_hsa_table table;
        struct kr_hsa_api api;
        char error[256] = "";
        fill(&t, r);
        assert_int_equal(kr_hsa_table_open(t.root, &table, error, sizeof(error)), KREPLAY_OK);
        kr_hsa_table_read(&table, &api);
        assert_ptr_equal(address(&api.hsa_shut_down), mark(KR_HSA_CORE, 3));
        assert_ptr_equal(address(&api.hsa_queue_create), mark(KR_HSA_CORE, 9));
        assert_ptr_equal(address(&api.hsa_memory_copy), mark(KR_HSA_CORE, 37));
        assert_ptr_equal(address(&api.hsa_signal_subtract_screlease), mark(KR_HSA_CORE, 69));
        assert_ptr_equal(address(&api.hsa_executable_freeze), mark(KR_HSA_CORE, 88));
        assert_ptr_equal(address(&api.hsa_system_get_major_extension_table), mark(KR_HSA_CORE, 100));
        assert_ptr_equal(address(&api.hsa_executable_iterate_agent_symbols), mark(KR_HSA_CORE, 125));
        assert_ptr_equal(address(&api.hsa_amd_profiling_set_profiler_enabled), mark(KR_HSA_EXT, 4));
        assert_ptr_equal(address(&api.hsa_amd_memory_pool_allocate), mark(KR_HSA_EXT, r->pool_allocate));
        assert_ptr_equal(address(&api.hsa_amd_memory_async_copy), mark(KR_HSA_EXT, r->async_copy));
        assert_ptr_equal(address(&api.hsa_amd_memory_lock), mark(KR_HSA_EXT, r->lock));
        assert_ptr_equal(address(&api.hsa_amd_queue_intercept_create), mark(KR_HSA_EXT, r->intercept_create));
        assert_ptr_equal(address(&api.hsa_amd_queue_intercept_register),
                         mark(KR_HSA_EXT, r->intercept_register));
        assert_ptr_equal(address(&api.hsa_amd_memory_async_copy_rect), mark(KR_HSA_EXT, r->rect));
        assert_ptr_equal(address(&api.hsa_amd_ipc_memory_create), mark(KR_HSA_EXT, r->ipc_create));
        assert_ptr_equal(address(&api.hsa_amd_portable_export_dmabuf),
                         r->dmabuf ? mark(KR_HSA_EXT, r->dmabuf) : NULL);
        assert_ptr_equal(address(&api.hsa_amd_vmem_map), r->vmem_map ? mark(KR_HSA_EXT, r->vmem_map) : NULL);
        assert_ptr_equal(address(&api.hsa_amd_memory_async_copy_on_engine),
                         r->lock == 24 ? mark(KR_HSA_EXT, 18) : NULL);
    }
}

static void hooks_change_nothing_else(void **state)
{
    (void)state;
    char hook;
    for (unsigned i = 0; i < RELEASES; i++) {
        const struct release *r = &releases[i];
        struct tables t, before;
        struct kr_hsa_table table;
        char error[256] = "";
        fill(&t, r);
        before = t;
        assert_int_equal(kr_hsa_table_open(t.root, &table, error, sizeof(error)), KREPLAY_OK);
        assert_memory_equal(t.core, before.core, sizeof(t.core)); // looking alone changes nothing
        assert_memory_equal(t.ext, before.ext, sizeof(t.ext));
        kr_hsa_table_hook(&table, KR_FN_hsa_queue_create, &hook);
        kr_hsa_table_hook(&table, KR_FN_hsa_amd_memory_lock, &hook);
        kr_hsa_table_hook(&table, KR_FN_hsa_amd_vmem_map, &hook); // where it exists
        for (unsigned slot = 2; slot < SLOTS; slot++) {
            assert_ptr_equal(t.core[slot], slot == 9 ? (void *)&hook : before.core[slot]);
            bool ours = slot == r->lock || (r->vmem_map && slot == r->vmem_map);
            assert_ptr_equal(t.ext[slot], ours ? (void *)&hook : before.ext[slot]);
        }
    }
}

static void assert_refused(struct tables *t, const char *says)
{
    struct kr_hsa_table table;
    struct tables before = *t;
    char error[256] = "";
    assert_int_equal(kr_hsa_table_open(t->root, &table, error, sizeof(error)), KREPLAY_UNSUPPORTED);
    assert_non_null(strstr(error, says));
    assert_memory_equal(t->core, before.core, sizeof(t->core));
    assert_memory_equal(t->ext, before.ext, sizeof(t->ext));
}

static void strange_tables_are_refused(void **state)
{
    (void)state;
    struct tables t;
    struct kr_hsa_table table;
    char error[256] = "";
    assert_int_equal(kr_hsa_table_open(NULL, &table, error, sizeof(error)), KREPLAY_UNSUPPORTED);

    // Versions and sizes around the known ones.
    static const struct release unknown[] = {
        {.root_major = 1, .root_bytes = 48, .major = 1, .core_bytes = 1016, .ext_bytes = 392},
        {.root_major = 1, .root_bytes = 48, .major = 1, .core_bytes = 1016, .ext_bytes = 408},
        {.root_major = 1, .root_bytes = 48, .major = 1, .core_bytes = 1016, .ext_bytes = 464},
        {.root_major = 1, .root_bytes = 48, .major = 1, .core_bytes = 1008, .ext_bytes = 400},
        {.root_major = 2, .root_bytes = 48, .major = 2, .core_bytes = 1000, .ext_bytes = 552},
        {.root_major = 2, .root_bytes = 48, .major = 2, .core_bytes = 1016, .ext_bytes = 384},
        {.root_major = 2, .root_bytes = 48, .major = 3, .core_bytes = 1016, .ext_bytes = 552},
        {.root_major = 2, .root_bytes = 48, .major = 0, .core_bytes = 1016, .ext_bytes = 552},
    };
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        fill(&t, &unknown[i]);
        assert_refused(&t, "unknown");
    }
    struct release r = releases[0];
    r.root_bytes = 24;
    fill(&t, &r);
    assert_refused(&t, "without core or AMD functions");
    fill(&t, &releases[0]);
    t.root[3] = NULL;
    assert_refused(&t, "without core or AMD functions");
    fill(&t, &releases[0]);
    t.ext[38] = NULL;
    assert_refused(&t, "hsa_amd_queue_intercept_register");
}

// A table of major 2 that ends before the optional functions: they are absent, nothing behind the end is
// looked at.
static void optional_functions_may_be_missing(void **state)
{
    (void)state;
    const struct release r = {
        .root_major = 2, .root_bytes = 48, .major = 2, .core_bytes = 1016, .ext_bytes = 392};
    struct tables t;
    struct kr_hsa_table table;
    struct kr_hsa_api api;
    char error[256] = "";
    fill(&t, &r);
    assert_int_equal(kr_hsa_table_open(t.root, &table, error, sizeof(error)), KREPLAY_OK);
    kr_hsa_table_read(&table, &api);
    assert_null(address(&api.hsa_amd_vmem_map));
    assert_non_null(address(&api.hsa_amd_memory_lock_to_pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_read),
        cmocka_unit_test(hooks_change_nothing_else),
        cmocka_unit_test(strange_tables_are_refused),
        cmocka_unit_test(optional_functions_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

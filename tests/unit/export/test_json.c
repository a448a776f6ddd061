// SPDX-License-Identifier: MIT
// The JSON export, read back by a JSON library: keys and nesting as rocprofv3's readers expect them.
#include "export_fixture.h"

#include "export/json_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static json_t *parse(const struct sample_log *logs, size_t count)
{
    char *text = export_text(logs, count, kr_export_json);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    free(text);
    return root;
}

static json_t *get(json_t *object, const char *path)
{
    char copy[128], *save = NULL;
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *key = strtok_r(copy, ".", &save); key; key = strtok_r(NULL, ".", &save)) {
        json_t *next = json_object_get(object, key);
        if (!next)
            fail_msg("no key %s of %s", key, path);
        object = next;
    }
    return object;
}

static long long number(json_t *object, const char *path)
{
    json_t *value = get(object, path);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

#define assert_text(object, path, expected)                                                                  \
    assert_string_equal(json_string_value(get(object, path)), expected)

static void has_the_keys_of_rocprofv3(void **state)
{
    (void)state;
    json_t *root = parse(&(struct sample_log){0}, 1);
    assert_int_equal(json_array_size(get(root, "rocprofiler-sdk-tool")), 1);
    json_t *process = json_array_get(get(root, "rocprofiler-sdk-tool"), 0);
    static const char *const keys[] = {
        "metadata.node.hostname",
        "metadata.pid",
        "metadata.init_time",
        "metadata.fini_time",
        "metadata.command",
        "metadata.config",
        "agents",
        "counters",
        "strings.callback_records",
        "strings.buffer_records",
        "strings.marker_api",
        "strings.correlation_id.external",
        "strings.counters.dimension_ids",
        "strings.att_filenames",
        "strings.code_object_snapshot_filenames",
        "code_objects",
        "kernel_symbols",
        "host_functions",
        "summary",
        "callback_records.counter_collection",
        "buffer_records.kernel_dispatch",
        "buffer_records.hip_api",
        "buffer_records.hsa_api",
        "buffer_records.marker_api",
        "buffer_records.rccl_api",
        "buffer_records.memory_copy",
        "buffer_records.memory_allocation",
        "buffer_records.scratch_memory",
        "kreplay.dispatches",
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_non_null(get(process, keys[i]));
    assert_int_equal(number(process, "metadata.pid"), 4242);
    assert_text(process, "metadata.kreplay.mode", "kernel");
    assert_int_equal(number(process, "metadata.kreplay.passes"), SAMPLE_PASSES);
    assert_non_null(get(process, "metadata.kreplay.version"));
    assert_true(json_is_true(get(process, "metadata.kreplay.complete")));
    assert_int_equal(json_array_size(get(process, "metadata.kreplay.groups")), SAMPLE_PASSES);

    json_t *agent = json_array_get(get(process, "agents"), 0);
    assert_int_equal(number(agent, "id.handle"), 1);
    assert_int_equal(number(agent, "cu_count"), 104);
    assert_int_equal(number(agent, "gfx_target_version"), 90010);
    assert_text(agent, "name", "gfx90a");
    json_t *counter = json_array_get(get(process, "counters"), 0);
    static const char *const counter_keys[] = {"agent_id.handle", "id.handle",  "is_constant",
                                               "is_derived",      "name",       "description",
                                               "block",           "expression", "dimension_ids"};
    for (size_t i = 0; i < sizeof(counter_keys) / sizeof(counter_keys[0]); i++)
        assert_non_null(get(counter, counter_keys[i]));
    json_t *kernel = json_array_get(get(process, "kernel_symbols"), 1);
    assert_text(kernel, "kernel_name", "_Z5saxpyILi4EEvfPKfPfi");
    assert_text(kernel, "formatted_kernel_name", "void saxpy<4>(float, float const*, float*, int)");
    assert_text(kernel, "demangled_kernel_name", "void saxpy<4>(float, float const*, float*, int)");
    assert_text(kernel, "truncated_kernel_name", "saxpy");
    assert_int_equal(number(kernel, "code_object_id"), 1);
    json_decref(root);
}

static void a_record_for_each_dispatch_and_pass(void **state)
{
    (void)state;
    json_t *root = parse(&(struct sample_log){0}, 1);
    json_t *process = json_array_get(get(root, "rocprofiler-sdk-tool"), 0);
    json_t *records = get(process, "callback_records.counter_collection"), *record;
    assert_int_equal(json_array_size(records), 3 * SAMPLE_PASSES);
    size_t index;
    json_array_foreach(records, index, record)
    {
        long long id = number(record, "dispatch_data.dispatch_info.dispatch_id");
        assert_int_equal(id, index / SAMPLE_PASSES + 1);
        assert_int_equal(number(record, "replay_pass"), index % SAMPLE_PASSES);
        assert_int_equal(number(record, "thread_id"), 4243);
        assert_int_equal(number(record, "stream_id.handle"), 0);
        assert_int_equal(number(record, "dispatch_data.correlation_id.internal"), id);
        assert_int_equal(number(record, "dispatch_data.dispatch_info.agent_id.handle"), 1);
        assert_int_equal(number(record, "dispatch_data.dispatch_info.queue_id.handle"), 1);
        assert_int_equal(number(record, "dispatch_data.dispatch_info.kernel_id"), id);
        assert_int_equal(number(record, "dispatch_data.dispatch_info.workgroup_size.x"), 2048 >> id);
        assert_int_equal(number(record, "dispatch_data.dispatch_info.grid_size.y"), 1);
        assert_true(number(record, "dispatch_data.end_timestamp") >
                    number(record, "dispatch_data.start_timestamp"));
        json_t *values = get(record, "records"), *value;
        assert_int_equal(json_array_size(values), 3 * SAMPLE_INSTANCES); // one a counter instance
        long long waves = 0;
        size_t v;
        json_array_foreach(values, v, value)
        {
            if (number(value, "counter_id.handle") == 1)
                waves += number(value, "value");
        }
        assert_int_equal(waves, sample_waves((uint64_t)id));
    }
    json_decref(root);
}

static void every_dispatch_has_its_outcome(void **state)
{
    (void)state;
    json_t *root = parse(&(struct sample_log){0}, 1);
    json_t *process = json_array_get(get(root, "rocprofiler-sdk-tool"), 0);
    json_t *dispatches = get(process, "kreplay.dispatches");
    assert_int_equal(json_array_size(dispatches), SAMPLE_DISPATCHES);
    assert_text(json_array_get(dispatches, 0), "outcome", "replayed");
    assert_int_equal(number(json_array_get(dispatches, 0), "executed_passes"), SAMPLE_PASSES);
    assert_int_equal(number(json_array_get(dispatches, 0), "captured_bytes"), 12582912);
    assert_text(json_array_get(dispatches, 3), "outcome", "declined");
    assert_text(json_array_get(dispatches, 3), "reason", "host_memory");
    assert_int_equal(json_array_size(get(process, "kreplay.messages")), 1);

    json_t *traces = get(process, "buffer_records.kernel_dispatch");
    assert_int_equal(json_array_size(traces), SAMPLE_DISPATCHES);
    json_t *kind = json_array_get(get(process, "strings.buffer_records"),
                                  (size_t)number(json_array_get(traces, 0), "kind"));
    assert_text(kind, "kind", "KERNEL_DISPATCH");
    json_t *operation =
        json_array_get(get(kind, "operations"), (size_t)number(json_array_get(traces, 0), "operation"));
    assert_string_equal(json_string_value(operation), "KERNEL_DISPATCH_COMPLETE");
    json_decref(root);
}

static void each_process_is_an_entry(void **state)
{
    (void)state;
    json_t *root = parse((struct sample_log[]){{.pid = 1}, {.pid = 2, .killed = true}}, 2);
    json_t *list = get(root, "rocprofiler-sdk-tool");
    assert_int_equal(json_array_size(list), 2);
    assert_int_equal(number(json_array_get(list, 0), "metadata.pid"), 1);
    assert_int_equal(number(json_array_get(list, 1), "metadata.pid"), 2);
    assert_true(json_is_false(get(json_array_get(list, 1), "metadata.kreplay.complete")));
    assert_int_equal(json_array_size(get(json_array_get(list, 1), "callback_records.counter_collection")),
                     3 * SAMPLE_PASSES);
    json_decref(root);
}

static void values_are_exact(void **state)
{
    (void)state;
    uint64_t huge = (1ull << 62) + 1; // a double would lose the 1
    json_t *root = parse(&(struct sample_log){.huge_value = huge}, 1);
    json_t *process = json_array_get(get(root, "rocprofiler-sdk-tool"), 0);
    json_t *record = json_array_get(get(process, "callback_records.counter_collection"), 0);
    assert_true(number(json_array_get(get(record, "records"), 0), "value") == (long long)huge);
    json_decref(root);
}

static void the_writer_escapes_and_nests(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    struct kr_json json;
    kr_json_begin(&json, out);
    kr_json_text(&json, "a\"b", "back\\slash\nline\x01 caf\xc3\xa9");
    kr_json_list(&json, "flat");
    kr_json_flat(&json);
    kr_json_u64(&json, NULL, UINT64_MAX);
    kr_json_i64(&json, NULL, -1);
    kr_json_object(&json, NULL);
    kr_json_bool(&json, "t", true);
    kr_json_text(&json, "n", NULL);
    kr_json_close(&json);
    kr_json_close(&json);
    kr_json_object(&json, "empty");
    kr_json_close(&json);
    kr_json_end(&json);
    fclose(out);
    assert_string_equal(text, "{\n  \"a\\\"b\": \"back\\\\slash\\nline\\u0001 caf\xc3\xa9\",\n"
                              "  \"flat\": [18446744073709551615, -1, {\"t\": true, \"n\": null}],\n"
                              "  \"empty\": {}\n}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_keys_of_rocprofv3),
        cmocka_unit_test(a_record_for_each_dispatch_and_pass),
        cmocka_unit_test(every_dispatch_has_its_outcome),
        cmocka_unit_test(each_process_is_an_entry),
        cmocka_unit_test(values_are_exact),
        cmocka_unit_test(the_writer_escapes_and_nests),
    };
    return cmocka_run_group_tests_name("export.json", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// The counter library as ROCr meets it: opened by path, called by name, its packets run by the command
// processor against the emulated registers, its values compared with what was dispatched.
#include "cmocka_all.h"

#include <stdbool.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>

#include "softgpu/cp/pm4.h"
#include "softgpu/perf/events.h"
#include "softgpu/perf/perf.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define SQ(event)                                                                                            \
    {                                                                                                        \
        HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ, 0, event                                                       \
    }
#define GRBM(event)                                                                                          \
    {                                                                                                        \
        HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM, 0, event                                                     \
    }

enum {
    GRBM_COUNT = 0,
    GUI_ACTIVE = 2,
    WAVES = 4,
    VALU = 26,
    VMEM = 55,
    SALU = 56,
    MAX_EVENTS = 16,
    MAX_VALUES = 128
};

static hsa_ven_amd_aqlprofile_pfn_t api;

// As ROCr fills its extension table.
static int load_library(void **state)
{
    void *library = dlopen(AQLPROFILE_PATH, RTLD_NOW | RTLD_LOCAL);

    (void)state;
    if (!library)
        return -1;
#define LOAD(NAME)                                                                                           \
    *(void **)&api.hsa_ven_amd_aqlprofile_##NAME = dlsym(library, "hsa_ven_amd_aqlprofile_" #NAME)
    LOAD(version_major);
    LOAD(version_minor);
    LOAD(error_string);
    LOAD(validate_event);
    LOAD(start);
    LOAD(stop);
    LOAD(read);
    LOAD(legacy_get_pm4);
    LOAD(get_info);
    LOAD(iterate_data);
#undef LOAD
    return 0;
}

struct session {
    struct sg_perf *perf;
    struct sg_pm4_queue queue;
    hsa_ven_amd_aqlprofile_event_t events[MAX_EVENTS];
    hsa_ven_amd_aqlprofile_profile_t profile;
};

static void open_session(struct session *s, const hsa_ven_amd_aqlprofile_event_t *events, uint32_t count)
{
    hsa_ext_amd_aql_pm4_packet_t unused;

    *s = (struct session){.perf = sg_perf_create()};
    assert_non_null(s->perf);
    memcpy(s->events, events, count * sizeof(*events));
    s->profile.events = s->events;
    s->profile.event_count = count;
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&s->profile, &unused),
                     HSA_STATUS_SUCCESS); // sizes only
    s->profile.command_buffer.ptr =
        aligned_alloc(4096, (s->profile.command_buffer.size + 4095u) / 4096u * 4096u);
    s->profile.output_buffer.ptr = calloc(1, s->profile.output_buffer.size);
    assert_non_null(s->profile.command_buffer.ptr);
    assert_non_null(s->profile.output_buffer.ptr);
}

static void close_session(struct session *s)
{
    free(s->profile.command_buffer.ptr);
    free(s->profile.output_buffer.ptr);
    sg_perf_destroy(s->perf);
}

// Runs a vendor packet as the queue does: the PM4 inside is one INDIRECT_BUFFER.
static void run_packet(struct session *s, const hsa_ext_amd_aql_pm4_packet_t *packet)
{
    uint32_t command[5];
    char error[256] = "";

    assert_int_equal(packet->header, 0x7e7e);
    assert_int_equal(packet->completion_signal.handle, 0x5151);
    assert_int_equal(packet->pm4_command[0], 1);
    memcpy(command, &packet->pm4_command[1], sizeof(command));
    assert_int_equal(command[0], 0xc0023f00);
    assert_int_equal(command[3] & 0xfff00000, 0x10800000);
    assert_int_equal(command[4], 0xa);
    if (sg_pm4_run(s->perf, &s->queue, command, 4, error, sizeof(error)) != 0)
        fail_msg("%s", error);
    sg_perf_packet(s->perf);
}

static hsa_ext_amd_aql_pm4_packet_t new_packet(void)
{
    hsa_ext_amd_aql_pm4_packet_t packet = {.header = 0x7e7e};

    packet.completion_signal.handle = 0x5151;
    return packet;
}

static void start(struct session *s)
{
    hsa_ext_amd_aql_pm4_packet_t packet = new_packet();

    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&s->profile, &packet), HSA_STATUS_SUCCESS);
    run_packet(s, &packet);
}

static void read_counters(struct session *s)
{
    hsa_ext_amd_aql_pm4_packet_t packet = new_packet();

    assert_int_equal(api.hsa_ven_amd_aqlprofile_read(&s->profile, &packet), HSA_STATUS_SUCCESS);
    run_packet(s, &packet);
}

static void stop(struct session *s)
{
    hsa_ext_amd_aql_pm4_packet_t packet = new_packet();

    assert_int_equal(api.hsa_ven_amd_aqlprofile_stop(&s->profile, &packet), HSA_STATUS_SUCCESS);
    run_packet(s, &packet);
}

static const struct sg_detail detail = {
    .cu = {[3] = {.ta_cycles = 77, .wave_cycles = 900}},
    .channel = {[0] = {.hits = 5}, [17] = {.hits = 9}},
    .active = 1533,
};

// Engine n: n + 1 waves, 100 + n VALU, 10 n SALU, n loads and 2 stores.
static void dispatch(struct session *s)
{
    struct sg_counts counts[SG_SHADER_ENGINES] = {0};

    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++)
        counts[n] =
            (struct sg_counts){.waves = n + 1, .valu = 100 + n, .salu = 10 * n, .vmem_rd = n, .vmem_wr = 2};
    sg_perf_dispatch(s->perf, counts, &detail, s->queue.compute_perfcount_enable != 0);
}

struct values {
    size_t count, limit; // limit: break after so many, 0 = never
    hsa_ven_amd_aqlprofile_info_data_t data[MAX_VALUES];
};

static hsa_status_t collect(hsa_ven_amd_aqlprofile_info_type_t type, hsa_ven_amd_aqlprofile_info_data_t *info,
                            void *data)
{
    struct values *values = data;

    assert_int_equal(type, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA);
    assert_true(values->count < MAX_VALUES);
    values->data[values->count++] = *info;
    return values->count == values->limit ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static struct values iterate(struct session *s)
{
    struct values values = {0};

    assert_int_equal(api.hsa_ven_amd_aqlprofile_iterate_data(&s->profile, collect, &values),
                     HSA_STATUS_SUCCESS);
    return values;
}

static void assert_sq_values(const struct values *values, size_t first, uint32_t event, uint64_t base,
                             uint64_t step)
{
    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++) {
        const hsa_ven_amd_aqlprofile_info_data_t *value = &values->data[first + n];

        assert_int_equal(value->sample_id, n);
        assert_int_equal(value->pmc_data.event.block_name, HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ);
        assert_int_equal(value->pmc_data.event.counter_id, event);
        assert_int_equal(value->pmc_data.result, base + step * n);
    }
}

static void test_versions_that_rocr_demands(void **state)
{
    (void)state;
    assert_int_equal(api.hsa_ven_amd_aqlprofile_version_major(), 2);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_version_minor(), 0);
}

static void test_exact_values_per_engine(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t events[] = {SQ(WAVES), GRBM(GRBM_COUNT), SQ(VALU), SQ(VMEM),
                                                     GRBM(GUI_ACTIVE)};
    // Two dispatches, then all clocks with 200 a packet: the start packet and both dispatches.
    const uint64_t active = 2 * 1533, clocks = active + 3 * 200;
    struct session s;
    struct values values;

    (void)state;
    open_session(&s, events, 5);
    dispatch(&s); // before start: in no value
    start(&s);
    assert_int_equal(s.queue.compute_perfcount_enable, 1);
    dispatch(&s);
    dispatch(&s);
    read_counters(&s);
    values = iterate(&s);
    assert_int_equal(values.count, 3 * 8 + 2);
    assert_sq_values(&values, 0, WAVES, 2, 2);
    assert_int_equal(values.data[8].sample_id, 0);
    assert_int_equal(values.data[8].pmc_data.event.block_name, HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM);
    assert_int_equal(values.data[8].pmc_data.result, clocks);
    assert_sq_values(&values, 9, VALU, 200, 2);
    assert_sq_values(&values, 17, VMEM, 4, 2);
    assert_int_equal(values.data[25].pmc_data.result, active);
    close_session(&s);
}

#define EVENT(block, instance, event)                                                                        \
    {                                                                                                        \
        HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_##block, instance, event                                           \
    }

// A channel of the L2 is an event's block index, an engine a sample.
static void test_instances_of_blocks(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t events[] = {EVENT(TCC, 0, 17),
                                                     EVENT(TCC, 17, 17),
                                                     EVENT(TCC, 17, 19),
                                                     EVENT(TA, 0, 15),
                                                     SQ(WAVES),
                                                     SQ(5),
                                                     SQ(185)};
    struct session s;
    struct values values;

    (void)state;
    open_session(&s, events, 7);
    start(&s);
    dispatch(&s);
    stop(&s);
    values = iterate(&s);
    assert_int_equal(values.count, 3 + 4 * 8);
    assert_int_equal(values.data[0].pmc_data.result, 5);
    assert_int_equal(values.data[1].pmc_data.result, 9);
    assert_int_equal(values.data[2].pmc_data.result, 0);
    assert_int_equal(values.data[3 + 3].pmc_data.result, 77);
    assert_int_equal(values.data[3 + 4].pmc_data.result, 0);
    assert_sq_values(&values, 11, WAVES, 1, 1);
    assert_int_equal(values.data[27 + 3].pmc_data.result, 900); // of the level in the slot before
    close_session(&s);
}

static void test_what_accumulates_follows_a_level(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t alone[] = {SQ(185)}, behind_waves[] = {SQ(WAVES), SQ(1)};
    hsa_ven_amd_aqlprofile_profile_t profile = {.events = alone, .event_count = 1};
    hsa_ext_amd_aql_pm4_packet_t packet;

    (void)state;
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&profile, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    profile.events = behind_waves;
    profile.event_count = 2;
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&profile, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void test_reads_go_on_and_stop_ends(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t events[] = {SQ(WAVES)};
    struct session s;
    struct values values;

    (void)state;
    open_session(&s, events, 1);
    start(&s);
    dispatch(&s);
    read_counters(&s);
    values = iterate(&s);
    assert_sq_values(&values, 0, WAVES, 1, 1);
    dispatch(&s);
    values = iterate(&s); // nothing was read since
    assert_sq_values(&values, 0, WAVES, 1, 1);
    stop(&s); // takes the last values along
    values = iterate(&s);
    assert_sq_values(&values, 0, WAVES, 2, 2);
    dispatch(&s);
    assert_int_equal(sg_perf_read(s.perf, 0xd808), 2);
    sg_perf_write(s.perf, 0xd808, 0x402);
    assert_int_equal(sg_perf_read(s.perf, 0xd1c0), 2);
    start(&s); // from zero again
    dispatch(&s);
    stop(&s);
    values = iterate(&s);
    assert_sq_values(&values, 0, WAVES, 1, 1);
    close_session(&s);
}

// The start stream dword by dword: order and registers of AMD's library.
static void test_start_stream(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t events[] = {SQ(WAVES), GRBM(GUI_ACTIVE), SQ(VALU)};
    const uint32_t expected[] = {
        0xc0004600, 0x407,              // wait idle
        0xc0017900, 0x0200, 0xe0000000, // GRBM_GFX_INDEX: broadcast
        0xc0017900, 0x1cbf, 1,          // RLC_PERFMON_CLK_CNTL
        0xc0017900, 0x1808, 0,          // CP_PERFMON_CNTL: reset
        0xc0017900, 0x19e0, 0xffff007f, // SQ_PERFCOUNTER_CTRL
        0xc0017900, 0x19e1, 0xffffffff, // SQ_PERFCOUNTER_MASK
        0xc0017900, 0x19c0, 0x0f0ff004, // SQ slot 0
        0xc0017900, 0x1840, 2,          // GRBM slot 0
        0xc0017900, 0x19c1, 0x0f0ff01a, // SQ slot 1
        0xc0017900, 0x0200, 0xe0000000, // broadcast
        0xc0017600, 0x020b, 1,          // COMPUTE_PERFCOUNT_ENABLE
        0xc0017900, 0x1808, 0,          // reset
        0xc0017900, 0x1808, 1,          // start
        0xc0004600, 0x407,              // wait idle
    };
    hsa_ext_amd_aql_pm4_packet_t packet = new_packet();
    struct session s;
    uint32_t command[5];

    (void)state;
    open_session(&s, events, 3);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&s.profile, &packet), HSA_STATUS_SUCCESS);
    memcpy(command, &packet.pm4_command[1], sizeof(command));
    assert_int_equal(command[1] | (uint64_t)command[2] << 32, (uintptr_t)s.profile.command_buffer.ptr);
    assert_int_equal(command[3] & 0xfffff, sizeof(expected) / 4);
    assert_memory_equal(s.profile.command_buffer.ptr, expected, sizeof(expected));
    close_session(&s);
}

static void test_slot_limits(void **state)
{
    hsa_ven_amd_aqlprofile_event_t events[11];
    hsa_ext_amd_aql_pm4_packet_t packet;
    struct session s;
    const char *text = NULL;

    (void)state;
    for (unsigned i = 0; i < 11; i++)
        events[i] = (hsa_ven_amd_aqlprofile_event_t)SQ(WAVES);
    events[8] = events[9] = events[10] = (hsa_ven_amd_aqlprofile_event_t)GRBM(GRBM_COUNT);

    open_session(&s, events, 10); // 8 SQ and 2 GRBM
    start(&s);
    dispatch(&s);
    stop(&s);
    assert_int_equal(iterate(&s).count, 8 * 8 + 2);
    assert_int_equal(iterate(&s).data[7 * 8 + 5].pmc_data.result, 6);
    close_session(&s);

    s.profile = (hsa_ven_amd_aqlprofile_profile_t){.events = events, .event_count = 11};
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&s.profile, &packet),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_error_string(&text), HSA_STATUS_SUCCESS);
    assert_non_null(strstr(text, "block GRBM has 2 counters"));
    events[8] = events[0];
    s.profile.event_count = 9;
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&s.profile, &packet),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_error_string(&text), HSA_STATUS_SUCCESS);
    assert_non_null(strstr(text, "block SQ has 8 counters"));
}

static bool is_valid(hsa_ven_amd_aqlprofile_event_t event)
{
    bool result = true;

    assert_int_equal(api.hsa_ven_amd_aqlprofile_validate_event((hsa_agent_t){0}, &event, &result),
                     HSA_STATUS_SUCCESS);
    return result;
}

static void test_only_modelled_events_are_valid(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t good = SQ(SALU), not_modelled = SQ(66), not_an_event = SQ(9999),
                                         other_instance = {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ, 1, WAVES},
                                         other_block = {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SX, 0, 0};
    hsa_ven_amd_aqlprofile_profile_t profile = {.events = &not_modelled, .event_count = 1};
    hsa_ext_amd_aql_pm4_packet_t packet;

    (void)state;
    assert_true(is_valid(good));
    assert_false(is_valid(not_modelled));
    assert_false(is_valid(not_an_event));
    assert_false(is_valid(other_instance));
    assert_false(is_valid(other_block));
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&profile, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void test_get_info(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t events[] = {GRBM(GRBM_COUNT), SQ(WAVES)};
    hsa_ven_amd_aqlprofile_id_query_t query = {.name = "SQ"};
    hsa_ven_amd_aqlprofile_info_data_t data = {.sample_id = UINT32_MAX};
    uint32_t command_bytes = 0, output_bytes = 0, slots = 0;
    struct session s;

#define GET(ATTRIBUTE, VALUE)                                                                                \
    api.hsa_ven_amd_aqlprofile_get_info(&s.profile, HSA_VEN_AMD_AQLPROFILE_INFO_##ATTRIBUTE, VALUE)
    (void)state;
    open_session(&s, events, 2);
    assert_int_equal(GET(COMMAND_BUFFER_SIZE, &command_bytes), HSA_STATUS_SUCCESS);
    assert_true(command_bytes > s.profile.command_buffer.size); // enough for any group
    assert_int_equal(GET(PMC_DATA_SIZE, &output_bytes), HSA_STATUS_SUCCESS);
    // SQ 8 slots, SPI 6, TA 2, TD 2, TCP 4 of 8 engines; TCC 4 and TCA 2 of 32; GRBM, CPC, CPF 2.
    assert_int_equal(output_bytes, ((8 + 6 + 2 + 2 + 4) * 8 + (4 + 2) * 32 + 6) * 8);
    assert_int_equal(GET(BLOCK_COUNTERS, &slots), HSA_STATUS_SUCCESS);
    assert_int_equal(slots, 2); // of the first event's block
    assert_int_equal(GET(BLOCK_ID, &query), HSA_STATUS_SUCCESS);
    assert_int_equal(query.id, HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ);
    query.name = "TCC";
    assert_int_equal(GET(BLOCK_ID, &query), HSA_STATUS_SUCCESS);
    assert_int_equal(query.instance_count, 32);
    query.name = "SX";
    assert_int_equal(GET(BLOCK_ID, &query), HSA_STATUS_ERROR);
    assert_int_equal(GET(TRACE_DATA, &data), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(GET(BLOCK_ID, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);

    start(&s);
    dispatch(&s);
    stop(&s);
    data.pmc_data.event = events[1];
    assert_int_equal(GET(PMC_DATA, &data), HSA_STATUS_SUCCESS);
    assert_int_equal(data.pmc_data.result, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
    data.sample_id = 6;
    assert_int_equal(GET(PMC_DATA, &data), HSA_STATUS_SUCCESS);
    assert_int_equal(data.pmc_data.result, 7);
#undef GET
    close_session(&s);
}

static void test_small_buffers_are_refused(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t events[] = {SQ(WAVES)};
    hsa_ext_amd_aql_pm4_packet_t packet = new_packet();
    struct session s;

    (void)state;
    open_session(&s, events, 1);
    s.profile.output_buffer.size--;
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&s.profile, &packet),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    s.profile.output_buffer.size++;
    s.profile.command_buffer.size--;
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&s.profile, &packet),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_read(&s.profile, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(packet.pm4_command[0], 0);
    s.profile.command_buffer.size++;
    close_session(&s);
}

static void test_unsupported_profiles_are_refused(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t events[] = {SQ(WAVES)};
    hsa_ven_amd_aqlprofile_profile_t trace = {.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE,
                                              .events = events},
                                     empty = {.events = events};
    hsa_ext_amd_aql_pm4_packet_t packet;

    (void)state;
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&trace, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(&empty, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_start(NULL, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_legacy_get_pm4(&packet, NULL), HSA_STATUS_ERROR);
}

static void test_callback_can_break(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t events[] = {SQ(WAVES), SQ(VALU)};
    struct values values = {.limit = 3};
    struct session s;

    (void)state;
    open_session(&s, events, 2);
    assert_int_equal(api.hsa_ven_amd_aqlprofile_iterate_data(&s.profile, collect, &values),
                     HSA_STATUS_SUCCESS);
    assert_int_equal(values.count, 3);
    close_session(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_that_rocr_demands),
        cmocka_unit_test(test_exact_values_per_engine),
        cmocka_unit_test(test_instances_of_blocks),
        cmocka_unit_test(test_what_accumulates_follows_a_level),
        cmocka_unit_test(test_reads_go_on_and_stop_ends),
        cmocka_unit_test(test_start_stream),
        cmocka_unit_test(test_slot_limits),
        cmocka_unit_test(test_only_modelled_events_are_valid),
        cmocka_unit_test(test_get_info),
        cmocka_unit_test(test_small_buffers_are_refused),
        cmocka_unit_test(test_unsupported_profiles_are_refused),
        cmocka_unit_test(test_callback_can_break),
    };
    return cmocka_run_group_tests(tests, load_library, NULL);
}

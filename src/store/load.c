// SPDX-License-Identifier: MIT
// Streams one record log into the store: a record becomes its rows at once, nothing is kept but the ids seen.
#include "select/short_name.h"
#include "store/names.h"
#include "store/rows.h"

#include "log/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

// ---- Identity

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3ull; // FNV-1a
    return hash;
}

// A version 7 UUID (time first) that depends on the process alone: converting a log twice gives the same
// names.
static void make_ids(const kr_log_process *process, struct kr_store_ids *ids)
{
    uint64_t seed = mix(0xcbf29ce484222325ull, &process->run_id, sizeof(process->run_id));
    seed = mix(seed, &process->pid, sizeof(process->pid));
    seed = mix(seed, &process->start_ns, sizeof(process->start_ns));
    if (process->hostname)
        seed = mix(seed, process->hostname, strlen(process->hostname));
    uint64_t ms = process->start_unix_ns / 1000000;
    snprintf(ids->guid, sizeof(ids->guid), "%08x-%04x-7%03x-%04x-%012llx", (unsigned)(ms >> 16) & 0xffffffffu,
             (unsigned)ms & 0xffffu, (unsigned)(seed >> 52), 0x8000u | ((unsigned)(seed >> 38) & 0x3fffu),
             (unsigned long long)(seed & 0xffffffffffffull));
    ids->suffix[0] = '_';
    for (size_t i = 0; i < sizeof(ids->guid); i++)
        ids->suffix[i + 1] = ids->guid[i] == '-' ? '_' : ids->guid[i];
}

// ---- Records

static int put_string(struct kr_loader *loader, uint64_t id, const char *text)
{
    struct kr_row row = kr_row_begin(loader, S_STRING);
    kr_row_u64(&row, id);
    kr_row_text(&row, text);
    return kr_row_done(&row);
}

static int put_node(struct kr_loader *loader, const kr_log_process *process)
{
    const char *host = process->hostname ? process->hostname : "";
    struct utsname system = {0};
    uname(&system); // of the machine that converts: the log does not carry more than the host's name
    uint64_t hash = mix(0xcbf29ce484222325ull, host, strlen(host)) & INT64_MAX;
    loader->nid = (int64_t)(hash % UINT32_MAX);
    struct kr_row row = kr_row_begin(loader, S_NODE);
    kr_row_u64(&row, (uint64_t)loader->nid);
    kr_row_u64(&row, hash);
    kr_row_text(&row, host);
    kr_row_text(&row, system.sysname);
    kr_row_text(&row, host);
    kr_row_text(&row, system.release);
    kr_row_text(&row, system.version);
    kr_row_text(&row, system.machine);
    kr_row_text(&row, "");
    return kr_row_done(&row);
}

static int load_process(struct kr_loader *loader, const kr_log_process *process)
{
    if (loader->have_process)
        return kr_store_fail(loader->store, KREPLAY_CORRUPT, "%s describes its process twice",
                             loader->log_path);
    make_ids(process, &loader->ids);
    loader->pid = process->pid;
    loader->ppid = process->ppid;
    int status = kr_store_create_process_tables(loader->store, &loader->ids);
    if (status)
        return status;
    loader->have_process = true;

    struct kr_row row = kr_row_begin(loader, S_OWN_PROCESS);
    kr_row_guid(&row);
    kr_row_text(&row, loader->ids.suffix);
    kr_row_u64(&row, process->run_id);
    kr_row_u64(&row, process->pid);
    kr_row_u64(&row, process->ppid);
    kr_row_text(&row, process->hostname);
    kr_row_text(&row, process->command);
    kr_row_text(&row, process->backend);
    kr_row_text(&row, process->version);
    kr_row_u64(&row, process->start_ns);
    kr_row_u64(&row, process->start_unix_ns);
    kr_row_text(&row, loader->log_path);
    if ((status = kr_row_done(&row)))
        return status;
    if ((status = put_string(loader, STRING_EMPTY, "")))
        return status;
    if ((status = put_string(loader, STRING_KERNEL_DISPATCH, "KERNEL_DISPATCH")))
        return status;
    if ((status = put_node(loader, process)))
        return status;

    row = kr_row_begin(loader, S_PROCESS);
    kr_row_u64(&row, process->pid);
    kr_row_u64(&row, (uint64_t)loader->nid);
    kr_row_u64(&row, process->ppid);
    kr_row_u64(&row, process->start_ns);
    kr_row_text(&row, process->command);
    kr_row_text(&row, process->version);
    kr_row_text(&row, process->backend);
    if ((status = kr_row_done(&row)))
        return status;

    // HSA knows no streams; rocpd wants one.
    row = kr_row_begin(loader, S_STREAM);
    kr_row_u64(&row, 0);
    kr_row_u64(&row, (uint64_t)loader->nid);
    kr_row_u64(&row, loader->pid);
    kr_row_text(&row, "Default Stream");
    return kr_row_done(&row);
}
// characters of the name are minor and stepping in hexadecimal, what stands before is the major version in
// decimal.
static uint64_t gfx_version(const char *name)
{
    size_t length = name && strncmp(name, "gfx", 3) == 0 ? strcspn(name + 3, ":") : 0;
    if (length < 3 || length > 8)
        return 0;
    char digits[9] = {0};
    memcpy(digits, name + 3, length);
    uint64_t stepping = strtoul(digits + length - 1, NULL, 16);
    digits[length - 1] = '\0';
    uint64_t minor = strtoul(digits + length - 2, NULL, 16);
    digits[length - 2] = '\0';
    return strtoul(digits, NULL, 10) * 10000 + minor * 100 + stepping;
}

static int load_agent(struct kr_loader *loader, const kreplay_agent *agent)
{
    if (agent->agent_id < KR_MAX_AGENTS)
        loader->agent_node[agent->agent_id] = agent->node_id;
    struct kr_row row = kr_row_begin_info(loader, S_AGENT, agent->node_id);
    kr_row_u64(&row, agent->agent_id);
    kr_row_text(&row, agent->name);
    kr_row_text(&row, agent->vendor);
    kr_row_text(&row, agent->product);
    kr_row_u64(&row, agent->compute_units);
    kr_row_u64(&row, agent->simds_per_cu);
    kr_row_u64(&row, agent->max_waves_per_cu);
    kr_row_u64(&row, agent->lds_bytes);
    kr_row_u64(&row, agent->wave_size);
    kr_row_u64(&row, agent->shader_engines);
    kr_row_u64(&row, gfx_version(agent->name));
    kr_row_u64(&row, agent->vendor && strncmp(agent->vendor, "AMD", 3) == 0 ? 0x1002 : 0);
    kr_row_u64(&row, agent->max_clock_mhz);
    kr_row_u64(&row, agent->memory_bytes);
    return kr_row_done(&row);
}

static int load_code_object(struct kr_loader *loader, const kreplay_code_object *object)
{
    struct kr_row row = kr_row_begin_info(loader, S_CODE_OBJECT, object->code_object_id);
    kr_row_u64(&row, kr_loader_node(loader, object->agent_id));
    kr_row_text(&row, object->uri);
    kr_row_u64(&row, object->load_base);
    kr_row_u64(&row, object->load_bytes);
    kr_row_u64(&row, (uint64_t)object->load_delta);
    kr_row_text(&row, object->uri && strncmp(object->uri, "file:", 5) == 0 ? "FILE" : "MEMORY");
    return kr_row_done(&row);
}

int kr_load_kernel(struct kr_loader *loader, const kreplay_kernel *kernel)
{
    const char *mangled = kernel->name ? kernel->name : "";
    char *demangled = kr_name_demangle(mangled);
    char *truncated = demangled ? kr_short_name(demangled) : NULL;
    int status = KREPLAY_NO_MEMORY;
    if (!truncated) {
        kr_store_fail(loader->store, status, "out of memory");
        goto out;
    }
    struct kr_row row = kr_row_begin_info(loader, S_KERNEL, kernel->kernel_id);
    kr_row_u64(&row, kernel->code_object_id);
    kr_row_text(&row, mangled);
    kr_row_text(&row, demangled);
    kr_row_u64(&row, kernel->kernarg_bytes);
    kr_row_u64(&row, kernel->group_segment_bytes);
    kr_row_u64(&row, kernel->private_segment_bytes);
    kr_row_u64(&row, kernel->sgprs);
    kr_row_u64(&row, kernel->arch_vgprs);
    kr_row_u64(&row, kernel->accum_vgprs);
    kr_row_text(&row, truncated);
    status = kr_row_done(&row);
out:
    free(demangled);
    free(truncated);
    return status;
}

int kr_load_counter(struct kr_loader *loader, const kreplay_counter *counter)
{
    struct kr_row row = kr_row_begin_info(loader, S_COUNTER, counter->counter_id);
    kr_row_u64(&row, kr_loader_node(loader, counter->agent_id));
    kr_row_u64(&row, counter->event);
    kr_row_text(&row, counter->name);
    kr_row_text(&row, counter->description ? counter->description : "");
    kr_row_text(&row, counter->block ? counter->block : "");
    kr_row_text(&row, counter->expression ? counter->expression : "");
    kr_row_u64(&row, counter->expression && counter->expression[0]);
    kr_row_u64(&row, counter->instances);
    return kr_row_done(&row);
}

// Groups of an agent come in the order of its passes.
static int note_witness(struct kr_loader *loader, const kr_log_group *group, uint32_t pass)
{
    size_t bytes = (loader->witness_count + 1) * sizeof(*loader->witnesses);
    struct kr_witness *grown = realloc(loader->witnesses, bytes);
    if (!grown)
        return kr_store_fail(loader->store, KREPLAY_NO_MEMORY, "out of memory");
    loader->witnesses = grown;
    loader->witnesses[loader->witness_count++] =
        (struct kr_witness){.agent_id = group->agent_id, .pass = pass, .counter_id = group->witness_id};
    struct kr_row row = kr_row_begin(loader, S_OWN_GROUP_WITNESS);
    kr_row_guid(&row);
    kr_row_u64(&row, group->agent_id);
    kr_row_u64(&row, group->index);
    kr_row_u64(&row, group->witness_id);
    return kr_row_done(&row);
}

static int load_group(struct kr_loader *loader, const kr_log_group *group)
{
    for (size_t i = 0; i < group->counter_count; i++) {
        struct kr_row row = kr_row_begin(loader, S_OWN_GROUP);
        kr_row_guid(&row);
        kr_row_u64(&row, group->agent_id);
        kr_row_u64(&row, group->index);
        kr_row_u64(&row, i);
        kr_row_u64(&row, group->counter_ids[i]);
        int status = kr_row_done(&row);
        if (status)
            return status;
    }
    if (group->agent_id >= KR_MAX_AGENTS)
        return 0; // no engine has so many
    uint32_t pass = loader->agent_groups[group->agent_id]++;
    return group->witness_id ? note_witness(loader, group, pass) : 0;
}

static int load_role(struct kr_loader *loader, const kr_log_counter_role *role)
{
    struct kr_row row = kr_row_begin(loader, S_OWN_ROLE);
    kr_row_guid(&row);
    kr_row_u64(&row, role->agent_id);
    kr_row_u64(&row, role->counter_id);
    kr_row_u64(&row, role->role);
    return kr_row_done(&row);
}

static int load_message(struct kr_loader *loader, const char *text)
{
    struct kr_row row = kr_row_begin(loader, S_OWN_MESSAGE);
    kr_row_guid(&row);
    kr_row_u64(&row, loader->messages++);
    kr_row_text(&row, text);
    return kr_row_done(&row);
}

static int put_process_end(struct kr_loader *loader, uint64_t end_ns)
{
    struct kr_row row = kr_row_begin(loader, S_PROCESS_END);
    kr_row_u64(&row, end_ns);
    return kr_row_done(&row);
}

static int load_end(struct kr_loader *loader, const kr_log_end *end)
{
    struct kr_row row = kr_row_begin(loader, S_OWN_END);
    kr_row_guid(&row);
    kr_row_u64(&row, end->end_ns);
    kr_row_u64(&row, end->dispatches);
    kr_row_u64(&row, end->lost);
    int status = kr_row_done(&row);
    loader->last_end_ns = end->end_ns;
    return status;
}

static int load_record(struct kr_loader *loader, const kr_log_record *record)
{
    if (record->type != KR_LOG_PROCESS && !loader->have_process)
        return kr_store_fail(loader->store, KREPLAY_CORRUPT, "%s does not begin with its process",
                             loader->log_path);
    switch (record->type) {
    case KR_LOG_PROCESS:
        return load_process(loader, &record->u.process);
    case KR_LOG_AGENT:
        return load_agent(loader, &record->u.agent);
    case KR_LOG_CODE_OBJECT:
        return load_code_object(loader, &record->u.code_object);
    case KR_LOG_KERNEL:
        return kr_load_kernel(loader, &record->u.kernel);
    case KR_LOG_COUNTER:
        return kr_load_counter(loader, &record->u.counter);
    case KR_LOG_GROUP:
        return load_group(loader, &record->u.group);
    case KR_LOG_ROLE:
        return load_role(loader, &record->u.role);
    case KR_LOG_DISPATCH:
        return kr_load_dispatch(loader, &record->u.dispatch.record);
    case KR_LOG_MESSAGE:
        return load_message(loader, record->u.message);
    case KR_LOG_END:
        return load_end(loader, &record->u.end);
    }
    return 0; // a type of a later version
}

static int load_records(struct kr_loader *loader, struct kr_log_reader *reader)
{
    kr_log_record record;
    uint64_t offset = 0;
    int status;
    while ((status = kr_log_next(reader, &record)) == 0) {
        offset = record.offset;
        if ((status = load_record(loader, &record)))
            return status;
    }
    if (!loader->have_process && status == KREPLAY_END)
        return kr_store_fail(loader->store, status,
                             "%s holds no record: its process ended before it had written one",
                             loader->log_path);
    if (!loader->have_process && status == KREPLAY_CORRUPT)
        return kr_store_fail(loader->store, status, "%s holds no whole record", loader->log_path);
    if (status == KREPLAY_CORRUPT) {
        struct kr_row row = kr_row_begin(loader, S_OWN_DAMAGE);
        kr_row_guid(&row);
        kr_row_u64(&row, offset); // of the last whole record: the damage is behind it
        if ((status = kr_row_done(&row)))
            return status;
    } else if (status != KREPLAY_END) {
        return kr_store_fail(loader->store, status, "cannot read %s", loader->log_path);
    }
    return put_process_end(loader, loader->last_end_ns);
}

int kr_store_add_log(struct kr_store *store, const char *log_path)
{
    struct kr_log_reader *reader = NULL;
    int status = kr_log_open(log_path, &reader);
    if (status == KREPLAY_CORRUPT)
        return kr_store_fail(store, status, "%s is not a record log", log_path);
    if (status == KREPLAY_UNSUPPORTED)
        return kr_store_fail(store, status, "%s was written by a later version of kreplay", log_path);
    if (status)
        return kr_store_fail(store, status, "cannot open %s", log_path);

    struct kr_loader loader = {.store = store, .log_path = log_path};
    status = kr_store_exec(store, "SAVEPOINT log");
    if (!status)
        status = load_records(&loader, reader);
    kr_loader_close(&loader);
    if (status) // keep the error's text: rolling back would be the second failure
        sqlite3_exec(store->db, "ROLLBACK TO log; RELEASE log", NULL, NULL, NULL);
    else
        status = kr_store_exec(store, "RELEASE log");
    kr_log_reader_close(reader);
    return status;
}

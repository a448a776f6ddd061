// SPDX-License-Identifier: MIT
#include "stub_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/builtin.h"

struct stub stub;

const char *kreplay_status_text(int status)
{
    switch (status) {
#define X(name, value, text)                                                                                 \
    case value:                                                                                              \
        return text;
        KREPLAY_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

int kr_engine_register_builtin(const kreplay_tool *tool)
{
    if (stub.register_status == KREPLAY_OK)
        stub.tool = *tool;
    return stub.register_status;
}

int kreplay_counters(uint32_t agent_id, int (*visit)(void *arg, const kreplay_counter *counter), void *arg)
{
    int rc = stub.counters_status[agent_id];
    for (uint32_t i = 0; rc == 0 && stub.counters[agent_id][i] != NULL; i++) {
        kreplay_counter counter = {.size = sizeof(counter),
                                   .counter_id = 100 * agent_id + i + 1,
                                   .agent_id = agent_id,
                                   .name = stub.counters[agent_id][i],
                                   .block = "SQ",
                                   .description = "",
                                   .expression = "",
                                   .event = i,
                                   .instances = 8};
        rc = visit(arg, &counter);
    }
    return rc;
}

int kreplay_group_create(uint32_t agent_id, const char *const *names, size_t count, kreplay_group **group,
                         char *error, size_t error_bytes)
{
    *group = NULL;
    for (size_t i = 0; i < count; i++)
        if (stub.refused != NULL && strcmp(names[i], stub.refused) == 0) {
            snprintf(error, error_bytes, "block SQ is full");
            return KREPLAY_NO_SLOT;
        }
    kreplay_group *made = calloc(1, sizeof(*made));
    made->agent_id = agent_id;
    for (size_t i = 0; i < count; i++) {
        strcat(made->names, i == 0 ? "" : " ");
        strcat(made->names, names[i]);
    }
    stub.groups_alive++;
    *group = made;
    return KREPLAY_OK;
}

void kreplay_group_destroy(kreplay_group *group)
{
    stub.groups_alive -= group != NULL;
    free(group);
}

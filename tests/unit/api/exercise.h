// SPDX-License-Identifier: MIT
// What a tool does with the header, in the common part of C and C++: signatures, zeroed records, older records.
#ifndef EXERCISE_H
#define EXERCISE_H

#include <kreplay/kreplay.h>

#include <stdio.h>
#include <string.h>

static int go_on(const kreplay_dispatch *dispatch, uint32_t pass, uint32_t total,
                 union kreplay_user_data data)
{
    return dispatch != NULL && pass < total && data.value != 0;
}

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    if (phase == KREPLAY_ENTER)
        config->continue_fn = go_on;
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    (void)tool, (void)phase, (void)pass;
}

static void on_step(void *tool, kreplay_phase phase, const kreplay_step *step)
{
    (void)tool, (void)phase, (void)step;
}

static void on_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    (void)tool, (void)record;
}

static int failures;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    failures++;
}

// How a reader that was built against a later header treats what an earlier one wrote.
static uint32_t min_passes_of(const kreplay_config *config)
{
    return config->size >= offsetof(kreplay_config, min_passes) + sizeof(config->min_passes)
               ? config->min_passes
               : 0;
}

static int exercise(void)
{
    kreplay_tool tool;
    memset(&tool, 0, sizeof(tool));
    tool.size = sizeof(tool);
    tool.name = "layout";
    tool.config = on_config;
    tool.pass = on_pass;
    tool.step = on_step;
    tool.dispatch = on_dispatch;
    expect(kreplay_register(&tool) == KREPLAY_OK, "the first registration");
    expect(kreplay_register(&tool) == KREPLAY_ALREADY_REGISTERED, "the second one");

    kreplay_config config;
    memset(&config, 0, sizeof(config));
    expect(!config.want, "a zeroed record asks for nothing");
    config.size = offsetof(kreplay_config, min_passes);
    config.min_passes = 7; // behind the end of the shorter record
    expect(min_passes_of(&config) == 0, "a shorter record has no such field");
    config.size = sizeof(config);
    expect(min_passes_of(&config) == 7, "the whole one has it");
    on_config(NULL, KREPLAY_ENTER, &config);
    expect(config.continue_fn == go_on, "a callback of the tool's in a record");

    kreplay_value value;
    memset(&value, 0, sizeof(value));
    value.value = UINT64_MAX; // exact
    expect(value.kind == KREPLAY_VALUE_COUNT && value.value == UINT64_MAX, "whole numbers are exact");
    return failures != 0;
}

#endif

// SPDX-License-Identifier: MIT
// Entry of libkreplay.so. ROCr loads it through HSA_TOOLS_LIB, calls OnLoad in the middle of hsa_init, and
// OnUnload in hsa_shut_down, which many programs (all HIP ones) never call; so there is an exit handler, too.
// Whatever is wrong with kreplay, OnLoad says so and returns true, and the program runs on.
#include "hsa/onload.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/line.h"
#include "hsa/life.h"
#include "tool/tool.h"

static void at_exit(void)
{
    kr_hsa_end();
}

// Behind all exit handlers and destructors of the program, which may still dispatch.
__attribute__((destructor)) static void at_last(void)
{
    kr_tool_hurry();
    kr_hsa_last_call();
}

static void say(const char *what, const char *why)
{
    char text[KR_LINE_BYTES];
    if (kr_level_asked() < KR_LEVEL_ERROR)
        return;
    snprintf(text, sizeof(text), "%s%s", what, why);
    kr_line(STDERR_FILENO, text);
}

bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
            const char *const *failed_tool_names)
{
    static bool loaded;
    char error[512] = "";
    (void)runtime_version, (void)failed_tool_count, (void)failed_tool_names;

    if (loaded) {
        say("the HSA runtime was started again: only its first life is recorded", "");
        return true;
    }
    loaded = true;
    if (kr_hsa_open(table, error, sizeof(error)) != KREPLAY_OK) {
        say("nothing is recorded: ", error);
        return true;
    }
    if (kr_tool_start("hsa", error, sizeof(error)) != KREPLAY_OK)
        say("nothing is recorded: ", error);
    if (!kr_engine_active(kr_hsa.engine)) {
        kr_hsa_leave_alone();
        return true;
    }
    atexit(at_exit);
    kr_hsa_begin();
    return true;
}

void OnUnload(void)
{
    kr_hsa_end();
    kr_hsa_close();
}

// SPDX-License-Identifier: MIT
// kreplay run: checks everything, runs the program with all groups at once or once for each, writes the
// files.
#include "cli/application.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/verbs.h"

// All groups, if any, in one run of the program.
static int run_once(const struct kr_setup *setup, char *error, size_t error_bytes)
{
    struct kr_session session = {.setup = setup,
                                 .groups = setup->groups.groups,
                                 .group_count = setup->groups.count,
                                 .mode = setup->options->replay_mode == KR_REPLAY_KERNEL ? "kernel"
                                                                                         : "application"};
    int status = -1;
    if (!setup->loads)
        kr_say(setup->options, KR_LEVEL_WARNING, "nothing to collect: no --pmc given");
    if (kr_session_run(&session, error, error_bytes) == 0)
        status = setup->logs ? kr_session_write(&session) : session.exit_status;
    kr_session_free(&session);
    return status;
}

int kr_verb_run(const struct kr_options *options)
{
    if (options->list_avail)
        return kr_verb_list(options);
    struct kr_setup setup;
    char error[512] = "";
    int status = kr_setup_make(options, &setup, error, sizeof(error));
    if (!status) {
        bool many = options->replay_mode == KR_REPLAY_APPLICATION && setup.groups.count > 1;
        status = (many ? kr_application_run : run_once)(&setup, error, sizeof(error));
    }
    if (status < 0)
        status = kr_say_refused(options, error);
    kr_setup_free(&setup);
    return status;
}

// SPDX-License-Identifier: MIT
// The kreplay command.
#include "cli/job_runs.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct kr_options options;
    char error[512];
    int status = KR_EXIT_USAGE;
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); // tables go there cell by cell
    if (kr_options_parse(&options, argc, argv, error, sizeof(error))) {
        kr_say(&options, KR_LEVEL_ERROR, "%s", error);
    } else if (options.help) {
        kr_options_help(stdout, options.verb);
        status = 0;
    } else if (options.version) {
        printf("kreplay %s\n", KREPLAY_VERSION);
        status = 0;
    } else if (options.verb == KR_VERB_CONVERT) {
        status = kr_verb_convert(&options);
    } else if (options.verb == KR_VERB_LIST) {
        status = kr_verb_list(&options);
    } else if (options.input) {
        status = kr_job_runs(&options, argc, argv);
    } else {
        status = kr_verb_run(&options);
    }
    kr_options_free(&options);
    return status;
}

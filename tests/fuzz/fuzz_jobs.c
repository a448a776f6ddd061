// SPDX-License-Identifier: MIT
// Input files of the command: the first byte chooses the kind, the rest is the file. What comes out is words in a list
// with an end.
#include "cli/jobs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const names[] = {"a.txt", "a.yaml", "a.json"};
    if (bytes < 2)
        return 0;
    FILE *stream = fmemopen((void *)(data + 1), bytes - 1, "r");
    if (!stream)
        return 0;
    struct kr_jobs jobs;
    char error[512] = "";
    if (kr_jobs_read_stream(names[data[0] % 3], stream, &jobs, error, sizeof(error)) == 0) {
        if (jobs.count == 0)
            abort();
        for (size_t j = 0; j < jobs.count; j++)
            for (size_t i = 0; i <= jobs.list[j].count; i++)
                if ((jobs.list[j].words[i] == NULL) != (i == jobs.list[j].count))
                    abort();
        kr_jobs_free(&jobs);
    } else if (strlen(error) == 0) {
        abort(); // every refusal says why
    }
    fclose(stream);
    return 0;
}

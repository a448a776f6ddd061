// SPDX-License-Identifier: MIT
// The library itself, loaded as the driver would load it, where a driver or a CUPTI is found that it cannot use:
// it says so in one line, and the program goes on. test_cuda_inject LIBRARY WORDS...: the line has all of these.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <unistd.h>

static const char *library;
static char **words;
static int word_count;

// Runs `call` and returns what it wrote to the descriptor.
static const char *written(int descriptor, int (*call)(void))
{
    static char text[4096];
    int ends[2], kept = dup(descriptor);
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    assert_true(dup2(ends[1], descriptor) >= 0);
    close(ends[1]);
    int result = call();
    fflush(NULL);
    assert_true(dup2(kept, descriptor) >= 0); // the pipe has no writer any more
    close(kept);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    assert_int_equal(result, 1); // anything else lets the program fail
    return text;
}

static void test_steps_aside(void **state)
{
    (void)state;
    int (*entry)(void) = NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    *(void **)&entry = dlsym(handle, "InitializeInjection");
    assert_non_null(entry);

    const char *line = written(STDERR_FILENO, entry);
    assert_int_equal(strncmp(line, "kreplay: ", 9), 0);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    assert_non_null(strstr(line, "; the program runs without kreplay"));
    for (int i = 0; i < word_count; i++)
        if (!strstr(line, words[i]))
            fail_msg("\"%s\" is not in: %s", words[i], line);
    assert_string_equal(written(STDOUT_FILENO, entry), "");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_aside)};
    if (argc < 3)
        return 2;
    library = argv[1];
    words = argv + 2;
    word_count = argc - 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

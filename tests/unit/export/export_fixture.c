// SPDX-License-Identifier: MIT
#include "export_fixture.h"

#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

char *export_text(const struct sample_log *logs, size_t count, int (*run)(struct kr_export *export))
{
    struct kr_store *store = NULL;
    assert_int_equal(kr_store_create(NULL, &store), 0);
    const struct kr_store_run info = {.run_id = 77, .mode = "kernel", .command = "./three_kernels"};
    assert_int_equal(kr_store_set_run(store, &info), 0);
    for (size_t i = 0; i < count; i++) {
        char path[] = "/tmp/kr-export-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        close(fd);
        struct sample_log log = logs[i];
        log.path = path;
        sample_log_write(&log);
        int status = kr_store_add_log(store, path);
        unlink(path);
        if (status)
            fail_msg("%s", kr_store_error(store));
    }
    assert_int_equal(kr_store_finish(store), 0);

    char *text = NULL;
    size_t length = 0;
    struct kr_export export = {.store = store, .out = open_memstream(&text, &length)};
    assert_non_null(export.out);
    if (run(&export))
        fail_msg("%s", export.error);
    fclose(export.out);
    kr_store_close(store);
    return text;
}

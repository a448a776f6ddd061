// SPDX-License-Identifier: MIT
// The command line's parser.
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_WORDS = 24 };

// Splits at blanks, the program's name added; the words live until the next call.
static int parse(struct kr_options *options, const char *line, char *error, size_t error_bytes)
{
    static char copy[512];
    static char *argv[MAX_WORDS + 2];
    int argc = 0;
    char *save = NULL;
    snprintf(copy, sizeof(copy), "%s", line);
    argv[argc++] = "kreplay";
    for (char *word = strtok_r(copy, " ", &save); word && argc < MAX_WORDS; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    argv[argc] = NULL;
    return kr_options_parse(options, argc, argv, error, error_bytes);
}

static void good(struct kr_options *options, const char *line)
{
    char error[256] = "";
    if (parse(options, line, error, sizeof(error)))
        fail_msg("\"%s\": %s", line, error);
}

static void bad(const char *line, const char *expected)
{
    struct kr_options options;
    char error[256] = "";
    if (parse(&options, line, error, sizeof(error)) == 0)
        fail_msg("\"%s\" was accepted", line);
    assert_string_equal(error, expected);
    kr_options_free(&options);
}

static void groups_end_at_the_next_option(void **state)
{
    (void)state;
    struct kr_options options;
    good(&options, "run --pmc A B,C --pmc D -o x --pmc=E F -- prog --pmc Z");
    assert_string_equal(options.pmc, "A B,C;D;E F");
    assert_string_equal(options.file, "x");
    assert_string_equal(options.program[0], "prog");
    assert_string_equal(options.program[1], "--pmc");
    kr_options_free(&options);
}

static void run_is_the_default_verb(void **state)
{
    (void)state;
    struct kr_options options;
    good(&options, "--soft-gpu -- prog");
    assert_int_equal(options.verb, KR_VERB_RUN);
    assert_true(options.soft_gpu);
    kr_options_free(&options);
    good(&options, "convert -i x.krlog -f csv json");
    assert_int_equal(options.verb, KR_VERB_CONVERT);
    assert_int_equal(options.formats, KR_FORMAT_CSV | KR_FORMAT_JSON);
    assert_string_equal(options.input, "x.krlog");
    kr_options_free(&options);
    good(&options, "list --arch gfx90a");
    assert_int_equal(options.verb, KR_VERB_LIST);
    assert_string_equal(options.arch, "gfx90a");
    kr_options_free(&options);
}

static void booleans_take_an_optional_value(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool value;
    } cases[] = {
        {"--kernel-replay-beta-enabled", true},        {"--kernel-replay-beta-enabled y", true},
        {"--kernel-replay-beta-enabled=on", true},     {"--kernel-replay-beta-enabled TRUE", true},
        {"--kernel-replay-beta-enabled 1 -- p", true}, {"--kernel-replay-beta-enabled no", false},
        {"--kernel-replay-beta-enabled=off", false},   {"--kernel-replay-beta-enabled f", false},
        {"--kernel-replay-beta-enabled -- p", true},   {"", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kr_options options;
        good(&options, cases[i].line);
        assert_int_equal(options.beta, cases[i].value);
        kr_options_free(&options);
    }
}

static void every_form_of_a_value(void **state)
{
    (void)state;
    static const char *const lines[] = {"-d out", "-dout", "-d=out", "--output-directory out",
                                        "--output-directory=out"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct kr_options options;
        good(&options, lines[i]);
        assert_string_equal(options.directory, "out");
        kr_options_free(&options);
    }
}

static void defaults(void **state)
{
    (void)state;
    struct kr_options options;
    good(&options, "");
    assert_null(options.pmc);
    assert_null(options.program);
    assert_int_equal(options.formats, 0);
    assert_int_equal(options.replay_mode, KR_REPLAY_KERNEL);
    assert_true(options.table);
    assert_int_equal(options.table_rows, 100);
    assert_int_equal(options.log_level, KR_LEVEL_WARNING);
    assert_true(options.witness);
    kr_options_free(&options);
}

static void levels_and_witness(void **state)
{
    (void)state;
    static const char *const words[] = {"fatal", "error", "warning", "info", "trace"};
    for (int i = 0; i < 5; i++) {
        struct kr_options options;
        char line[64];
        snprintf(line, sizeof(line), "--witness off --log-level %s", words[i]);
        good(&options, line);
        assert_int_equal(options.log_level, i);
        assert_string_equal(kr_options_level(&options), words[i]);
        assert_false(options.witness);
        kr_options_free(&options);
    }
}

static void wrong_lines_name_the_cause(void **state)
{
    (void)state;
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"--nonsense", "unknown option --nonsense; see kreplay --help"},
        {"-x", "unknown option -x; see kreplay --help"},
        {"--output-form json", "unknown option --output-form; see kreplay --help"}, // no abbreviations
        {"prog", "unexpected argument \"prog\"; write -- before the program"},
        {"-f xml", "--output-format: unknown value \"xml\"; one of json|csv|rocpd..."},
        {"--replay-mode range", "--replay-mode: unknown value \"range\"; one of kernel|application"},
        {"--pmc", "--pmc needs a value: COUNTER..."},
        {"--pmc -- prog", "--pmc needs a value: COUNTER..."},
        {"-o", "--output-file needs a value: NAME"},
        {"-o --", "--output-file needs a value: NAME"},
        {"--soft-gpu maybe", "--soft-gpu: \"maybe\" is neither true nor false"},
        {"--table-rows many", "--table-rows: \"many\" is not a number"},
        {"--table-rows -1", "--table-rows needs a value: N"},
        {"--help=1", "--help takes no value"},
        {"list --pmc A", "--pmc does not belong to this verb; see kreplay --help"},
        {"convert -- prog", "only kreplay run takes a program"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        bad(cases[i].line, cases[i].error);
}

static void environment_twins_yield_to_the_command_line(void **state)
{
    (void)state;
    struct kr_options options;
    setenv("KREPLAY_PMC", "A B;C", 1);
    setenv("KREPLAY_OUTPUT_FORMAT", "csv,rocpd", 1);
    setenv("KREPLAY_OUTPUT_FILE", "env", 1);
    setenv("KREPLAY_SOFT_GPU", "1", 1);
    good(&options, "");
    assert_string_equal(options.pmc, "A B;C");
    assert_int_equal(options.formats, KR_FORMAT_CSV | KR_FORMAT_ROCPD);
    assert_string_equal(options.file, "env");
    assert_true(options.soft_gpu);
    kr_options_free(&options);

    good(&options, "--pmc D --pmc E -f json -o line --soft-gpu no");
    assert_string_equal(options.pmc, "D;E");
    assert_int_equal(options.formats, KR_FORMAT_JSON);
    assert_string_equal(options.file, "line");
    assert_false(options.soft_gpu);
    kr_options_free(&options);

    setenv("KREPLAY_OUTPUT_FORMAT", "xml", 1);
    bad("", "KREPLAY_OUTPUT_FORMAT: --output-format: unknown value \"xml\"; one of json|csv|rocpd...");
    unsetenv("KREPLAY_PMC");
    unsetenv("KREPLAY_OUTPUT_FORMAT");
    unsetenv("KREPLAY_OUTPUT_FILE");
    unsetenv("KREPLAY_SOFT_GPU");
}

static void help_shows_every_option_of_the_verb(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    kr_options_help(out, KR_VERB_RUN);
    fclose(out);
    static const char *const names[] = {"--pmc COUNTER...",
                                        "--replay-mode",
                                        "--kernel-replay-beta-enabled",
                                        "-f, --output-format",
                                        "-d, --output-directory",
                                        "-o, --output-file",
                                        "--soft-gpu",
                                        "-v, --version",
                                        "-h, --help",
                                        "--log-level",
                                        "--witness",
                                        "--table"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_non_null(strstr(text, names[i]));
    assert_null(strstr(text, "--arch"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_end_at_the_next_option),
        cmocka_unit_test(levels_and_witness),
        cmocka_unit_test(run_is_the_default_verb),
        cmocka_unit_test(booleans_take_an_optional_value),
        cmocka_unit_test(every_form_of_a_value),
        cmocka_unit_test(defaults),
        cmocka_unit_test(wrong_lines_name_the_cause),
        cmocka_unit_test(environment_twins_yield_to_the_command_line),
        cmocka_unit_test(help_shows_every_option_of_the_verb),
    };
    return cmocka_run_group_tests_name("cli.options", tests, NULL, NULL);
}

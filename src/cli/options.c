// SPDX-License-Identifier: MIT
// Option table, parser, help.
#include "cli/options.h"

#include "cli/refused.h"
#include "counters/sets.h"
#include "select/selection.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    FLAG,   // no value
    BOOL,   // optional value; bare = true
    TEXT,   // one value
    NUMBER, // one unsigned value
    CHOICE, // one value out of `choices`: its index
    SET,    // values out of `choices`, until the next option: their bits
    GROUP,  // words until the next option; each occurrence is one more group
};

struct option {
    const char *name; // without "--"
    char letter;      // 0 = none
    enum kind kind;
    unsigned verbs;             // of kr_verb
    size_t offset;              // of the member in kr_options
    const char *value;          // how help writes the value
    const char *const *choices; // NULL terminated
    const char *help;
};

static const char *const compat_choices[] = {"kreplay", "rocprofv3", NULL}; // as kr_compat
static const char *const mode_choices[] = {"kernel", "application", NULL};
static const char *const format_choices[] = {"json", "csv", "rocpd", NULL}; // bits of kr_format, in order
static const char *const base_choices[] = {
#define X(name, word) word,
    KR_NAME_BASE_MAP(X)
#undef X
        NULL};
static const char *const set_choices[] = {
#define X(name, word) word,
    KR_COUNTER_SET_MAP(X)
#undef X
        NULL};
static const char *const level_choices[] = {
#define X(name, word) word,
    KR_LEVEL_MAP(X)
#undef X
        NULL};

#define AT(member) offsetof(struct kr_options, member)
#define RUN        KR_VERB_RUN
#define OUTPUT     (KR_VERB_RUN | KR_VERB_CONVERT)

static const struct option options_table[] = {
    {"pmc", 0, GROUP, RUN, AT(pmc), "COUNTER...", NULL,
     "Counters of one group, measured together in one pass; blanks or commas between them. Each --pmc is one "
     "more "
     "group, and every kernel is run once per group."},
    {"metrics-set", 0, CHOICE, RUN, AT(metrics_set), "none|basic|compute|memory|full", set_choices,
     "One more group, of well-known counters of gfx90a, measured in as many passes as it needs."},
    {"repeat", 0, NUMBER, RUN, AT(repeat), "N", NULL,
     "Measure all groups N times (default 1), one round after the other; each pass has rows of its own."},
    {"strict-groups", 0, BOOL, RUN, AT(strict_groups), "[BOOL]", NULL,
     "Refuse a group that needs more counter registers than the GPU has, instead of measuring it in several "
     "passes."},
    {"kernel-include-regex", 0, TEXT, RUN, AT(include), "REGEX", NULL,
     "Measure only kernels in whose demangled name the POSIX extended regular expression is found."},
    {"kernel-exclude-regex", 0, TEXT, RUN, AT(exclude), "REGEX", NULL,
     "Do not measure kernels in whose demangled name it is found."},
    {"kernel-name", 'k', TEXT, RUN, AT(kernel_name), "NAME|regex:REGEX", NULL,
     "Measure only kernels of this name, in the form of --kernel-name-base."},
    {"kernel-name-base", 0, CHOICE, RUN, AT(name_base), "function|demangled|mangled", base_choices,
     "What --kernel-name is held against: the function's own name (default), or all of it."},
    {"kernel-iteration-range", 0, TEXT, RUN, AT(iterations), "RANGES", NULL,
     "Which launches of each of these kernels to measure, from 1: \"[1,2,[5-8]]\"."},
    {"max-per-kernel", 0, NUMBER, RUN, AT(max_per_kernel), "N", NULL,
     "Of these launches measure the first N of each kernel (default 0 = all)."},
    {"launch-skip", 0, NUMBER, RUN, AT(launch_skip), "N", NULL,
     "Leave out the first N of the launches that are selected so far."},
    {"launch-count", 'c', NUMBER, RUN, AT(launch_count), "N", NULL,
     "Measure N launches at most (default 0 = all)."},
    {"budget", 0, NUMBER, RUN, AT(budget), "SECONDS", NULL,
     "Measure no further kernel of a process when replay has taken so long beside the program's own "
     "executions (default 0 = no limit)."},
    {"replay-mode", 0, CHOICE, RUN, AT(replay_mode), "kernel|application", mode_choices,
     "How several groups are measured: kernel (default) repeats each kernel inside one run of the program; "
     "application runs the program once per group, below pass_N/, and joins the runs."},
    {"kernel-replay-beta-enabled", 0, BOOL, RUN, AT(beta), "[BOOL]", NULL,
     "Accepted for rocprofv3's sake; needed only with --compat rocprofv3 for --replay-mode kernel."},
    {"compat", 0, CHOICE, RUN, AT(compat), "kreplay|rocprofv3", compat_choices,
     "rocprofv3: its defaults (application replay, no table), checks and fatal errors; also when kreplay is "
     "called by that name."},
    {"soft-gpu", 0, BOOL, RUN, AT(soft_gpu), "[BOOL]", NULL,
     "Run the program on the software GPU, a gfx90a, instead of a card."},
    {"kernel-trace", 0, BOOL, RUN, AT(kernel_trace), "[BOOL]", NULL,
     "Accepted for rocprofv3's sake, beside --pmc: every run lists its kernel dispatches with their times."},
    {"output-format", 'f', SET, OUTPUT, AT(formats), "json|csv|rocpd...", format_choices,
     "Files to write (default rocpd): NAME_results.json; NAME_counter_collection.csv, NAME_kernel_trace.csv "
     "and "
     "NAME_agent_info.csv; NAME_results.db."},
    {"output-directory", 'd', TEXT, OUTPUT, AT(directory), "DIR", NULL,
     "Folder for the files, made when missing (default: the current folder)."},
    {"output-file", 'o', TEXT, OUTPUT, AT(file), "NAME", NULL,
     "Start of the files' names (default %hostname%/%pid%). Here and in DIR, rocprofv3's placeholders are "
     "replaced: %hostname%, %pid%, %tag% (the program's base name), %rank%, %env{X}% and others, see the "
     "manual page."},
    {"table", 0, BOOL, OUTPUT, AT(table), "[BOOL]", NULL,
     "Print a table of the counters at the end (default true): to standard output if that is a terminal, "
     "else to "
     "standard error, so that the program's own output stays as it is."},
    {"table-rows", 0, NUMBER, OUTPUT, AT(table_rows), "N", NULL,
     "Kernel dispatches shown in the table (default 100; 0 = all)."},
    {"keep-logs", 0, BOOL, RUN, AT(keep_logs), "[BOOL]", NULL,
     "Keep NAME_run/ with the record logs, which `kreplay convert` reads."},
    {"input", 'i', TEXT, OUTPUT, AT(input), "FILE", NULL,
     "run: an input file of rocprofv3 (.txt, .yaml, .yml, .json), one run of the program for each of its "
     "jobs. "
     "convert: a record log, a folder of them, or a database that kreplay wrote."},
    {"arch", 0, TEXT, KR_VERB_LIST, AT(arch), "GFX", NULL,
     "Architecture (default: that of this machine's GPUs, or gfx90a)."},
    {"witness", 0, BOOL, RUN, AT(witness), "[on|off]", NULL,
     "Repeat a counter that counts the same in every pass in all groups, where it has room (default on): "
     "passes "
     "that disagree are then noticed."},
    {"tool", 0, TEXT, RUN, AT(tool), "LIB.so", NULL,
     "Load a tool of your own (docs/tools.md) into the program: it sees what is planned for each kernel "
     "dispatch, "
     "may change it, and gets the values. No --pmc is needed then."},
    {"tool-only", 0, BOOL, RUN, AT(tool_only), "[BOOL]", NULL,
     "With --tool: kreplay's own tool is not there, and no files are written."},
    {"log-level", 0, CHOICE, RUN | KR_VERB_CONVERT, AT(log_level), "fatal|error|warning|info|trace",
     level_choices,
     "What kreplay says on standard error (default warning): info has a line for each replayed dispatch "
     "too."},
    {"quiet", 0, BOOL, OUTPUT, AT(quiet), "[BOOL]", NULL,
     "Say nothing but errors, and print no table: only files are written."},
    {"list-avail", 'L', BOOL, RUN, AT(list_avail), "[BOOL]", NULL,
     "List the counters, as `kreplay list` does; no program is run."},
    {"help", 'h', FLAG, KR_VERB_ALL, AT(help), NULL, NULL, "Show this help."},
    {"version", 'v', FLAG, KR_VERB_ALL, AT(version), NULL, NULL, "Show the version."},
};
enum { OPTION_COUNT = sizeof(options_table) / sizeof(options_table[0]) };

static const struct verb {
    const char *name;
    enum kr_verb verb;
    const char *usage, *help;
} verbs_table[] = {
    {"run", KR_VERB_RUN, "[run] [options] -- program [args]",
     "Run a program and collect counters of its GPU kernels."},
    {"convert", KR_VERB_CONVERT, "convert -i LOG|FOLDER|DB [options]",
     "Write files from what a run has left."},
    {"list", KR_VERB_LIST, "list [options]",
     "List the counters of an architecture and the registers of each block."},
};
enum { VERB_COUNT = sizeof(verbs_table) / sizeof(verbs_table[0]) };

struct parser {
    struct kr_options *options;
    char **next; // the arguments left
    // By the environment or an input file: its first occurrence in what is read next starts afresh.
    bool from_before[OPTION_COUNT];
    bool taken[OPTION_COUNT]; // by what is read now
    char *error;
    size_t error_bytes;
};

#define FAIL(parser, ...) (snprintf((parser)->error, (parser)->error_bytes, __VA_ARGS__), -1)

// ---- Values

static bool is_option_word(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

static int read_bool(const char *text, bool *value)
{
    static const char *const words[][6] = {{"0", "n", "no", "f", "false", "off"},
                                           {"1", "y", "yes", "t", "true", "on"}};
    for (int truth = 0; truth < 2; truth++)
        for (size_t i = 0; i < 6; i++)
            if (strcasecmp(text, words[truth][i]) == 0) {
                *value = truth;
                return 0;
            }
    return -1;
}

static int find_choice(const struct option *option, const char *text)
{
    for (int i = 0; option->choices[i]; i++)
        if (strcmp(option->choices[i], text) == 0)
            return i;
    return -1;
}

static void *member(struct parser *parser, const struct option *option)
{
    return (char *)parser->options + option->offset;
}

// Appends `text` to the string behind `at`, with a separator when it is not empty.
static int append(struct parser *parser, char **at, const char *separator, const char *text)
{
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", *at ? *at : "", *at ? separator : "", text) < 0)
        return FAIL(parser, "out of memory");
    free(*at);
    *at = joined;
    return 0;
}

// One value of an option; `first`: the first of its occurrence.
static int take_value(struct parser *parser, const struct option *option, const char *text, bool first)
{
    void *at = member(parser, option);
    int choice;
    char *end;
    switch (option->kind) {
    case FLAG:
        return FAIL(parser, "--%s takes no value", option->name);
    case BOOL:
        if (read_bool(text, at))
            return FAIL(parser, "--%s: \"%s\" is neither true nor false", option->name, text);
        return 0;
    case TEXT:
        if (!*text)
            return FAIL(parser, "--%s: empty value", option->name);
        free(*(char **)at);
        *(char **)at = strdup(text);
        return *(char **)at ? 0 : FAIL(parser, "out of memory");
    case NUMBER:
        errno = 0;
        unsigned long number = strtoul(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end || errno || number > UINT_MAX)
            return FAIL(parser, "--%s: \"%s\" is not a number", option->name, text);
        *(unsigned *)at = (unsigned)number;
        return 0;
    case CHOICE:
    case SET:
        choice = find_choice(option, text);
        if (choice < 0)
            return FAIL(parser, "--%s: unknown value \"%s\"; one of %s", option->name, text, option->value);
        if (option->kind == CHOICE)
            *(int *)at = choice;
        else
            *(unsigned *)at |= 1u << choice;
        return 0;
    case GROUP:
        return append(parser, at, first ? ";" : " ", text);
    }
    return FAIL(parser, "--%s: bad option table", option->name);
}

static void forget_value(struct parser *parser, const struct option *option)
{
    void *at = member(parser, option);
    if (option->kind == GROUP) {
        free(*(char **)at);
        *(char **)at = NULL;
    } else if (option->kind == SET) {
        *(unsigned *)at = 0;
    }
}

// ---- Environment twins: --output-format is KREPLAY_OUTPUT_FORMAT.

static void environment_name(const struct option *option, char *name, size_t bytes)
{
    int length = snprintf(name, bytes, "KREPLAY_%s", option->name);
    for (int i = 0; i < length && (size_t)i + 1 < bytes; i++)
        name[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
}

static int take_environment(struct parser *parser, const struct option *option, const char *text)
{
    if (option->kind != SET)
        return take_value(parser, option, text, true);
    char *copy = strdup(text), *save = NULL;
    if (!copy)
        return FAIL(parser, "out of memory");
    int status = 0;
    for (char *word = strtok_r(copy, " ,", &save); word && !status; word = strtok_r(NULL, " ,", &save))
        status = take_value(parser, option, word, true);
    free(copy);
    return status;
}

static int read_environment(struct parser *parser)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &options_table[i];
        char name[64];
        environment_name(option, name, sizeof(name));
        const char *text = getenv(name);
        if (option->kind == FLAG || !text || !*text)
            continue;
        parser->from_before[i] = true;
        if (take_environment(parser, option, text) == 0)
            continue;
        char reason[256];
        snprintf(reason, sizeof(reason), "%s", parser->error);
        return FAIL(parser, "%s: %s", name, reason);
    }
    return 0;
}

// ---- Arguments

static const struct option *find_option(const char *name, size_t length)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strlen(options_table[i].name) == length && strncmp(options_table[i].name, name, length) == 0)
            return &options_table[i];
    return NULL;
}

static const struct option *find_letter(char letter)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options_table[i].letter == letter)
            return &options_table[i];
    return NULL;
}

// A word where an option should be.
static int unexpected(struct parser *parser)
{
    static const char *const what_to_do[] = {
        [KR_VERB_RUN] = "write -- before the program",
        [KR_VERB_CONVERT] = "give the input with -i",
        [KR_VERB_LIST] = "kreplay list takes options only",
    };
    return FAIL(parser, "unexpected argument \"%s\"; %s", *parser->next, what_to_do[parser->options->verb]);
}

static int take_option(struct parser *parser)
{
    const char *word = *parser->next++;
    const char *value = NULL, *refusal;
    const struct option *option;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        option = find_option(word + 2, length);
        refusal = kr_refused_option(word + 2, length);
        if (word[2 + length] == '=')
            value = word + 2 + length + 1;
    } else {
        option = find_letter(word[1]);
        refusal = kr_refused_letter(word[1]);
        if (word[2] != '\0')
            value = word + 2 + (word[2] == '=');
    }
    if (!option && refusal)
        return FAIL(parser, "%s: %s", word, refusal);
    if (!option)
        return FAIL(parser, "unknown option %s; see kreplay --help", word);
    if (!(option->verbs & parser->options->verb))
        return FAIL(parser, "%s does not belong to this verb; see kreplay --help", word);
    parser->taken[option - options_table] = true;
    if (parser->from_before[option - options_table]) {
        parser->from_before[option - options_table] = false;
        forget_value(parser, option);
    }

    if (option->kind == FLAG && !value) {
        *(bool *)member(parser, option) = true;
        return 0;
    }
    unsigned taken = 0;
    if (value) {
        if (take_value(parser, option, value, true))
            return -1;
        taken++;
    }
    bool many = option->kind == SET || option->kind == GROUP;
    while (*parser->next && !is_option_word(*parser->next) && (many || taken == 0)) {
        if ((option->kind == BOOL || option->kind == GROUP) && strchr(*parser->next, '/'))
            return unexpected(parser); // a program: no counter or truth value has a slash
        if (take_value(parser, option, *parser->next, taken == 0))
            return -1;
        parser->next++;
        taken++;
    }
    if (taken == 0 && option->kind == BOOL) {
        *(bool *)member(parser, option) = true;
        return 0;
    }
    // rocprofv3 looks at an empty group later: alone it is none, among others it is fatal.
    if (taken == 0 && option->kind == GROUP && parser->options->compat == KR_COMPAT_ROCPROFV3)
        return append(parser, member(parser, option), ";", "");
    if (taken == 0)
        return FAIL(parser, "--%s needs a value: %s", option->name, option->value);
    return 0;
}

static void take_verb(struct parser *parser)
{
    parser->options->verb = KR_VERB_RUN;
    for (size_t i = 0; *parser->next && i < VERB_COUNT; i++)
        if (strcmp(*parser->next, verbs_table[i].name) == 0) {
            parser->options->verb = verbs_table[i].verb;
            parser->next++;
            return;
        }
}

// Known before everything else, since it changes how the rest is read: by the name of the call, the
// environment, or the option.
static int find_compat(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL, *name = argc > 0 ? argv[0] : "";
    int compat = strcmp(slash ? slash + 1 : name, "rocprofv3") == 0 ? KR_COMPAT_ROCPROFV3 : KR_COMPAT_NONE;
    const char *text = getenv("KREPLAY_COMPAT");
    for (int i = 0; i < argc && (i == 0 || strcmp(argv[i], "--") != 0); i++) {
        static const char option[] = "--compat";
        size_t length = strlen(option);
        if (i && strncmp(argv[i], option, length) == 0)
            text = argv[i][length] == '=' ? argv[i] + length + 1 : argv[i][length] ? text : argv[i + 1];
    }
    for (int i = 0; text && compat_choices[i]; i++)
        if (strcmp(text, compat_choices[i]) == 0)
            compat = i;
    return compat;
}

// What was not given, of `text` that the program called rocprofv3 takes from variables of its own.
static int take_rocprofv3_environment(struct parser *parser, char **at, const char *variable)
{
    const char *text = getenv(variable);
    if (*at || !text || !*text)
        return 0;
    *at = strdup(text);
    return *at ? 0 : FAIL(parser, "out of memory");
}

static int finish_options(struct parser *parser)
{
    struct kr_options *options = parser->options;
    bool rocprofv3 = options->compat == KR_COMPAT_ROCPROFV3;
    if (options->repeat == 0)
        return FAIL(parser, "--repeat: groups are measured once at least");
    if (options->quiet) {
        options->table = false;
        options->log_level = options->log_level < KR_LEVEL_ERROR ? options->log_level : KR_LEVEL_ERROR;
    }
    if (options->replay_mode < 0)
        options->replay_mode = rocprofv3 ? KR_REPLAY_APPLICATION : KR_REPLAY_KERNEL;
    if (!rocprofv3)
        return 0;
    if (take_rocprofv3_environment(parser, &options->directory, "ROCPROF_OUTPUT_PATH"))
        return -1;
    return take_rocprofv3_environment(parser, &options->file, "ROCPROF_OUTPUT_FILE_NAME");
}

// Up to the end, or the program behind "--".
static int take_words(struct parser *parser)
{
    while (*parser->next) {
        if (strcmp(*parser->next, "--") == 0) {
            if (parser->options->verb != KR_VERB_RUN)
                return FAIL(parser, "only kreplay run takes a program");
            parser->options->program = parser->next[1] ? parser->next + 1 : NULL;
            return 0;
        }
        if (!is_option_word(*parser->next))
            return unexpected(parser);
        if (take_option(parser))
            return -1;
    }
    return 0;
}

static void forget_pmc(struct kr_options *options, char *instead)
{
    free(options->pmc);
    options->pmc = instead;
}

// The words of a job stand between the environment and the command line; counters are the job's alone.
static int take_job(struct parser *parser, char **words)
{
    struct kr_options *options = parser->options;
    char **command_line = parser->next;
    forget_pmc(options, NULL);
    parser->next = words;
    if (take_words(parser))
        return -1;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        parser->from_before[i] |= parser->taken[i];
    char *pmc = options->pmc;
    options->pmc = NULL;
    parser->next = command_line;
    int status = take_words(parser);
    forget_pmc(options, pmc);
    return status;
}

int kr_options_parse_job(struct kr_options *options, int argc, char **argv, char **job, char *error,
                         size_t error_bytes)
{
    int compat = find_compat(argc, argv);
    *options = (struct kr_options){.compat = compat,
                                   .replay_mode = -1, // not given
                                   .table = compat == KR_COMPAT_NONE,
                                   .table_rows = 100,
                                   .repeat = 1,
                                   .witness = true,
                                   .log_level = KR_LEVEL_WARNING};
    struct parser parser = {
        .options = options, .next = argc > 0 ? argv + 1 : argv, .error = error, .error_bytes = error_bytes};
    take_verb(&parser);
    if (read_environment(&parser))
        return -1;
    if (job ? take_job(&parser, job) : take_words(&parser))
        return -1;
    return finish_options(&parser);
}

int kr_options_parse(struct kr_options *options, int argc, char **argv, char *error, size_t error_bytes)
{
    return kr_options_parse_job(options, argc, argv, NULL, error, error_bytes);
}

void kr_options_free(struct kr_options *options)
{
    free(options->pmc);
    free(options->directory);
    free(options->file);
    free(options->arch);
    free(options->input);
    free(options->tool);
    free(options->include);
    free(options->exclude);
    free(options->kernel_name);
    free(options->iterations);
}

const char *kr_options_level(const struct kr_options *options)
{
    return level_choices[options->log_level];
}

const char *kr_options_name_base(const struct kr_options *options)
{
    return base_choices[options->name_base];
}

// ---- Help

enum { HELP_INDENT = 8, HELP_WIDTH = 92 };

static void put_wrapped(FILE *out, const char *text)
{
    size_t column = 0; // 0 = the line has nothing yet
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column && column + 1 + length > HELP_WIDTH) {
            putc('\n', out);
            column = 0;
        }
        size_t blanks = column ? 1 : HELP_INDENT;
        fprintf(out, "%*s%.*s", (int)blanks, "", (int)length, text);
        column += blanks + length;
        text += length + (text[length] == ' ');
    }
    putc('\n', out);
}

static void put_option(FILE *out, const struct option *option)
{
    fputs("  ", out);
    if (option->letter)
        fprintf(out, "-%c, ", option->letter);
    fprintf(out, "--%s%s%s\n", option->name, option->value ? " " : "", option->value ? option->value : "");
    put_wrapped(out, option->help);
}

void kr_options_help(FILE *out, enum kr_verb verb)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(out, "%s kreplay %s\n", i ? "      " : "usage:", verbs_table[i].usage);
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (verbs_table[i].verb == verb)
            fprintf(out, "\n%s\n\n", verbs_table[i].help);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options_table[i].verbs & verb)
            put_option(out, &options_table[i]);
    fputs("\nEach option with a value has an environment twin: --output-format is KREPLAY_OUTPUT_FORMAT. In "
          "KREPLAY_PMC,\n"
          "groups are separated by ';'. The command line wins.\n",
          out);
    if (verb == KR_VERB_RUN)
        fputs("\nExit status: the program's; 128 + n when signal n ended it; 2 when kreplay did not start "
              "it; 1 when the\n"
              "program succeeded on a GPU but kreplay was not loaded into it.\n",
              out);
}

// SPDX-License-Identifier: MIT
// The rules held against each dispatch. A kernel's name is looked at once; the answer is kept by its id.
#include "select/selection.h"

#include "select/iterations.h"
#include "select/short_name.h"

#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGEX_PREFIX "regex:"

struct rule {
    bool set;
    regex_t regex;
};

// What is known of a kernel.
struct kernel {
    bool seen, named;          // named: its name passes
    uint64_t launches, chosen; // chosen: of these, by name and iteration
};

struct kr_selection {
    struct rule include, exclude, name_regex;
    char *name; // a whole name; NULL = none given
    enum kr_name_base base;
    struct kr_iterations iterations;
    uint64_t most, skip, count;
    kr_demangler demangle;
    pthread_mutex_t lock;   // what follows
    struct kernel *kernels; // by kernel id, which count from 1
    size_t capacity;
    uint64_t passed; // dispatches that passed name, iteration and the most of their kernel
};

static int compile(const char *option, const char *text, struct rule *rule, char *error, size_t error_bytes)
{
    if (text == NULL || *text == '\0')
        return KREPLAY_OK;
    int rc = regcomp(&rule->regex, text, REG_EXTENDED | REG_NOSUB);
    if (rc == 0) {
        rule->set = true;
        return KREPLAY_OK;
    }
    char reason[128];
    regerror(rc, &rule->regex, reason, sizeof(reason));
    snprintf(error, error_bytes, "%s: \"%s\" is not a POSIX extended regular expression: %s", option, text,
             reason);
    return rc == REG_ESPACE ? KREPLAY_NO_MEMORY : KREPLAY_INVALID;
}

static int read_name(struct kr_selection *selection, const char *text, char *error, size_t error_bytes)
{
    if (text == NULL || *text == '\0')
        return KREPLAY_OK;
    if (strncmp(text, REGEX_PREFIX, strlen(REGEX_PREFIX)) == 0)
        return compile("--kernel-name", text + strlen(REGEX_PREFIX), &selection->name_regex, error,
                       error_bytes);
    selection->name = strdup(text);
    return selection->name != NULL ? KREPLAY_OK : KREPLAY_NO_MEMORY;
}

static int read_iterations(struct kr_selection *selection, const char *text, char *error, size_t error_bytes)
{
    char reason[256] = "";
    int rc = kr_iterations_parse(text != NULL ? text : "", &selection->iterations, reason, sizeof(reason));
    if (rc != KREPLAY_OK)
        snprintf(error, error_bytes, "--kernel-iteration-range: %s", reason);
    return rc;
}

int kr_selection_create(const struct kr_selection_rules *rules, kr_demangler demangle,
                        struct kr_selection **out, char *error, size_t error_bytes)
{
    *out = NULL;
    struct kr_selection *selection = calloc(1, sizeof(*selection));
    if (selection == NULL) {
        snprintf(error, error_bytes, "out of memory");
        return KREPLAY_NO_MEMORY;
    }
    pthread_mutex_init(&selection->lock, NULL);
    selection->base = rules->base;
    selection->most = rules->most;
    selection->skip = rules->skip;
    selection->count = rules->count;
    selection->demangle = demangle;
    int rc = compile("--kernel-include-regex", rules->include, &selection->include, error, error_bytes);
    if (rc == KREPLAY_OK)
        rc = compile("--kernel-exclude-regex", rules->exclude, &selection->exclude, error, error_bytes);
    if (rc == KREPLAY_OK)
        rc = read_name(selection, rules->name, error, error_bytes);
    if (rc == KREPLAY_OK)
        rc = read_iterations(selection, rules->iterations, error, error_bytes);
    if (rc == KREPLAY_OK)
        *out = selection;
    else
        kr_selection_destroy(selection);
    return rc;
}

void kr_selection_destroy(struct kr_selection *selection)
{
    if (selection == NULL)
        return;
    struct rule *rules[] = {&selection->include, &selection->exclude, &selection->name_regex};
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i]->set)
            regfree(&rules[i]->regex);
    kr_iterations_free(&selection->iterations);
    pthread_mutex_destroy(&selection->lock);
    free(selection->name);
    free(selection->kernels);
    free(selection);
}

static bool found(const struct rule *rule, const char *text)
{
    return regexec(&rule->regex, text, 0, NULL, 0) == 0;
}

static bool matches(const struct kr_selection *selection, const char *mangled, const char *demangled,
                    const char *function)
{
    const char *forms[] = {
        [KR_NAME_FUNCTION] = function, [KR_NAME_DEMANGLED] = demangled, [KR_NAME_MANGLED] = mangled};
    const char *form = forms[selection->base];
    if (selection->include.set && !found(&selection->include, demangled))
        return false;
    if (selection->exclude.set && found(&selection->exclude, demangled))
        return false;
    if (selection->name_regex.set && !found(&selection->name_regex, form))
        return false;
    return selection->name == NULL || strcmp(selection->name, form) == 0;
}

// Out of memory the name is taken as it is.
static bool is_named(const struct kr_selection *selection, const char *mangled)
{
    int status = -1;
    bool cplusplus = strncmp(mangled, "_Z", 2) == 0;
    char *demangled =
        cplusplus && selection->demangle != NULL ? selection->demangle(mangled, NULL, NULL, &status) : NULL;
    const char *full = demangled != NULL && status == 0 ? demangled : mangled;
    char *function = kr_short_name(full);
    bool named = matches(selection, mangled, full, function != NULL ? function : full);
    free(function);
    free(demangled);
    return named;
}

// NULL: out of memory. The lock is held.
static struct kernel *find_kernel(struct kr_selection *selection, const kreplay_dispatch *dispatch)
{
    if (dispatch->kernel_id >= selection->capacity) {
        size_t capacity = 2 * (size_t)dispatch->kernel_id + 64;
        struct kernel *grown = realloc(selection->kernels, capacity * sizeof(*grown));
        if (grown == NULL)
            return NULL;
        memset(grown + selection->capacity, 0, (capacity - selection->capacity) * sizeof(*grown));
        selection->kernels = grown;
        selection->capacity = capacity;
    }
    struct kernel *kernel = &selection->kernels[dispatch->kernel_id];
    if (!kernel->seen) {
        kernel->seen = true;
        kernel->named = is_named(selection, dispatch->kernel_name);
    }
    return kernel;
}

bool kr_selection_wants(struct kr_selection *selection, const kreplay_dispatch *dispatch)
{
    bool wants = false;
    pthread_mutex_lock(&selection->lock);
    struct kernel *kernel = find_kernel(selection, dispatch);
    if (kernel != NULL && kernel->named && kr_iterations_have(&selection->iterations, ++kernel->launches) &&
        (selection->most == 0 || kernel->chosen < selection->most)) {
        kernel->chosen++;
        uint64_t number = selection->passed++;
        wants = number >= selection->skip &&
                (selection->count == 0 || number - selection->skip < selection->count);
    }
    pthread_mutex_unlock(&selection->lock);
    return wants;
}

// SPDX-License-Identifier: MIT
// Input files in YAML, and in JSON, which is YAML. A job's key is an option's name with '_' for '-'; what the command
// line does not know is refused there.
#include "cli/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FAIL(file, ...) (snprintf((file)->error, (file)->error_bytes, __VA_ARGS__), -1)

static const char *scalar(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

// An unquoted word for "not given".
static bool is_null(const yaml_node_t *node)
{
    const char *text = scalar(node);
    return text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*text || strcmp(text, "null") == 0 || strcmp(text, "~") == 0);
}

static size_t length_of(const yaml_node_t *list)
{
    return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static yaml_node_t *item(yaml_document_t *document, const yaml_node_t *list, size_t index)
{
    return yaml_document_get_node(document, list->data.sequence.items.start[index]);
}

// "--option" and the words of the list, or "--option=word".
static int add_option(struct kr_jobs_file *file, yaml_document_t *document, const char *option,
                      const yaml_node_t *value, struct kr_job *job)
{
    const char *text = scalar(value);
    if (text)
        return kr_job_add(job, "--%s=%s", option, text) ? FAIL(file, "out of memory") : 0;
    if (value->type != YAML_SEQUENCE_NODE)
        return FAIL(file, "%s: %s is neither a value nor a list", file->path, option);
    if (kr_job_add(job, "--%s", option))
        return FAIL(file, "out of memory");
    for (size_t i = 0; i < length_of(value); i++) {
        text = scalar(item(document, value, i));
        if (!text || *text == '-')
            return FAIL(file, "%s: %s: item %zu of the list is not a word", file->path, option, i + 1);
        if (kr_job_add(job, "%s", text))
            return FAIL(file, "out of memory");
    }
    return 0;
}

static int add_groups(struct kr_jobs_file *file, yaml_document_t *document, const yaml_node_t *value,
                      struct kr_job *job)
{
    if (value->type != YAML_SEQUENCE_NODE)
        return FAIL(file, "%s: pmc_groups is not a list of lists", file->path);
    for (size_t i = 0; i < length_of(value); i++)
        if (add_option(file, document, "pmc", item(document, value, i), job))
            return -1;
    job->groups = length_of(value) > 0;
    return 0;
}

static int add_pair(struct kr_jobs_file *file, yaml_document_t *document, const yaml_node_pair_t *pair,
                    struct kr_job *job)
{
    const char *key = scalar(yaml_document_get_node(document, pair->key));
    const yaml_node_t *value = yaml_document_get_node(document, pair->value);
    char option[64];
    if (!key || !value)
        return FAIL(file, "%s: a job has a key that is not a word", file->path);
    if (is_null(value) ||
        strcmp(key, "pmc_group_interval") == 0) // groups are replayed, they do not take turns
        return 0;
    if (strcmp(key, "pmc_groups") == 0)
        return add_groups(file, document, value, job);
    snprintf(option, sizeof(option), "%s", key);
    for (char *at = option; *at; at++)
        *at = *at == '_' ? '-' : *at;
    return add_option(file, document, option, value, job);
}

static int add_job(struct kr_jobs_file *file, yaml_document_t *document, const yaml_node_t *node,
                   struct kr_jobs *out)
{
    if (!node || node->type != YAML_MAPPING_NODE)
        return FAIL(file, "%s: job %zu is not a set of keys and values", file->path, out->count + 1);
    if (kr_jobs_add(out))
        return FAIL(file, "out of memory");
    struct kr_job *job = &out->list[out->count - 1];
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++)
        if (add_pair(file, document, pair, job))
            return -1;
    return 0;
}

// ---- One run of all jobs

// The job's next option: words [*at, result).
static size_t option_end(const struct kr_job *job, size_t at)
{
    do
        at++;
    while (at < job->count && strncmp(job->words[at], "--", 2) != 0);
    return at;
}

static size_t name_length(const char *word)
{
    return strcspn(word, "=");
}

static bool is_pmc(const char *word)
{
    static const char pmc[] = "--pmc";
    return name_length(word) == strlen(pmc) && strncmp(word, pmc, strlen(pmc)) == 0;
}

// Whether the job names counters.
static bool counts(const struct kr_job *job)
{
    for (size_t i = 0; i < job->count; i++)
        if (is_pmc(job->words[i]))
            return true;
    return false;
}

static bool same_words(const struct kr_job *a, size_t at, size_t end, const struct kr_job *b, size_t from)
{
    if (option_end(b, from) - from != end - at)
        return false;
    for (size_t i = 0; at + i < end; i++)
        if (strcmp(a->words[at + i], b->words[from + i]) != 0)
            return false;
    return true;
}

// An option that stands in `job` already: 1 if it agrees, -1 if not; 0: it does not.
static int stands_in(const struct kr_job *job, const struct kr_job *other, size_t at, size_t end)
{
    size_t length = name_length(other->words[at]);
    for (size_t i = 0; i < job->count; i = option_end(job, i))
        if (name_length(job->words[i]) == length && strncmp(job->words[i], other->words[at], length) == 0)
            return same_words(other, at, end, job, i) ? 1 : -1;
    return 0;
}

// Counters become one group more, other options must be the same wherever they stand.
static int merge(struct kr_jobs_file *file, struct kr_job *job, const struct kr_job *other)
{
    for (size_t at = 0, end; at < other->count; at = end) {
        end = option_end(other, at);
        int stands = is_pmc(other->words[at]) ? 0 : stands_in(job, other, at, end);
        if (stands < 0)
            return FAIL(file,
                        "%s: with job_replay_mode kernel all jobs are one run, and they disagree on %.*s",
                        file->path, (int)name_length(other->words[at]), other->words[at]);
        for (size_t i = at; !stands && i < end; i++)
            if (kr_job_add(job, "%s", other->words[i]))
                return FAIL(file, "out of memory");
    }
    return 0;
}

static int merge_all(struct kr_jobs_file *file, struct kr_jobs *jobs)
{
    struct kr_jobs one = {0};
    int status = kr_jobs_add(&one) || kr_job_add(&one.list[0], "--replay-mode=kernel")
                     ? FAIL(file, "out of memory")
                     : 0;
    for (size_t i = 0; !status && i < jobs->count; i++) {
        if (!counts(&jobs->list[i]) || jobs->list[i].groups)
            status = FAIL(file,
                          "%s: with job_replay_mode kernel each job needs pmc, and none has pmc_groups; "
                          "see job %zu",
                          file->path, i + 1);
        else
            status = merge(file, &one.list[0], &jobs->list[i]);
    }
    kr_jobs_free(jobs);
    *jobs = one;
    return status;
}

// ---- The document

static int take_top(struct kr_jobs_file *file, yaml_document_t *document, struct kr_jobs *out)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);
    bool together = false;
    if (!root || root->type != YAML_MAPPING_NODE)
        return FAIL(file, "%s: no key `jobs`", file->path);
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top;
         pair++) {
        const char *key = scalar(yaml_document_get_node(document, pair->key));
        const yaml_node_t *value = yaml_document_get_node(document, pair->value);
        if (!key || !value)
            return FAIL(file, "%s: a key that is not a word", file->path);
        if (strcmp(key, "job_replay_mode") == 0) {
            const char *mode = scalar(value);
            if (!mode || (strcmp(mode, "kernel") != 0 && strcmp(mode, "application") != 0))
                return FAIL(file, "%s: job_replay_mode is neither kernel nor application", file->path);
            together = strcmp(mode, "kernel") == 0;
        } else if (strcmp(key, "jobs") != 0) {
            return FAIL(file, "%s: unknown key %.100s; there are jobs and job_replay_mode", file->path, key);
        } else if (value->type != YAML_SEQUENCE_NODE) {
            return FAIL(file, "%s: jobs is not a list", file->path);
        } else {
            for (size_t i = 0; i < length_of(value); i++)
                if (add_job(file, document, item(document, value, i), out))
                    return -1;
        }
    }
    out->folder = "pass";
    return together && out->count ? merge_all(file, out) : 0;
}

int kr_jobs_read_yaml(struct kr_jobs_file *file, struct kr_jobs *out)
{
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser))
        return FAIL(file, "out of memory");
    yaml_parser_set_input_file(&parser, file->stream);
    int status;
    if (!yaml_parser_load(&parser, &document)) {
        status = FAIL(file, "%s, line %zu: %s", file->path, parser.problem_mark.line + 1,
                      parser.problem ? parser.problem : "it cannot be read");
    } else {
        status = take_top(file, &document, out);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return status;
}

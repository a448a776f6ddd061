// SPDX-License-Identifier: MIT
// What an expression needs, and what it comes to.
#include "counters/expression.h"
#include "counters/expression_tree.h"
#include "counters/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DERIVED_DEPTH 16u // derived counters inside derived counters; more is a circle

struct walk {
    const struct kr_catalogue *catalogue;
    const struct kr_expression_scope *scope; // evaluation only
    struct kr_counter_inputs *inputs;        // collection only
    unsigned depth;
    struct kr_text error;
};

static int __attribute__((format(printf, 3, 4))) fail(struct walk *walk, int rc, const char *format, ...)
{
    if (walk->error.room == 0)
        return rc;
    va_list args;
    va_start(args, format);
    vsnprintf(walk->error.at, walk->error.room, format, args);
    va_end(args);
    return rc;
}

static int no_memory(struct walk *walk)
{
    return fail(walk, KREPLAY_NO_MEMORY, "out of memory");
}

static int unknown(struct walk *walk, const char *name)
{
    return fail(walk, KREPLAY_UNKNOWN_COUNTER, "\"%s\" is neither a counter of %s nor a property", name,
                walk->catalogue->arch);
}

// Parses the expression of a derived counter and goes one level down. Undo with leave_derived.
static int enter_derived(struct walk *walk, const struct kr_counter_def *counter, struct kr_expression **out)
{
    if (walk->depth == MAX_DERIVED_DEPTH)
        return fail(walk, KREPLAY_INVALID, "derived counter %s leads back to itself", counter->name);
    int rc = kr_expression_parse(counter->expression, out, walk->error.at, walk->error.room);
    if (rc == KREPLAY_OK)
        walk->depth++;
    return rc;
}

static void leave_derived(struct walk *walk, struct kr_expression *expression)
{
    kr_expression_free(expression);
    walk->depth--;
}

// The hardware counter that accumulate(name, ...) is about.
static int find_level(struct walk *walk, const char *name, const struct kr_counter_def **out)
{
    *out = kr_catalogue_counter(walk->catalogue, name);
    if (*out == NULL)
        return unknown(walk, name);
    if ((*out)->block == NULL)
        return fail(walk, KREPLAY_INVALID, "accumulate(%s): only hardware counters can be accumulated", name);
    return KREPLAY_OK;
}

// ---- Inputs

static int insert_input(struct walk *walk, size_t at, const char *name, const char *level)
{
    struct kr_counter_inputs *inputs = walk->inputs;
    struct kr_counter_input *grown = realloc(inputs->list, (inputs->count + 1) * sizeof(*grown));
    if (grown == NULL)
        return no_memory(walk);
    inputs->list = grown;
    memmove(&grown[at + 1], &grown[at], (inputs->count - at) * sizeof(*grown));
    grown[at] = (struct kr_counter_input){.name = name, .level = level};
    inputs->count++;
    return KREPLAY_OK;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool has_input(const struct kr_counter_inputs *inputs, const char *name, const char *level)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (same_text(inputs->list[i].name, name) && same_text(inputs->list[i].level, level))
            return true;
    return false;
}

static int add_counter(struct walk *walk, const char *name)
{
    if (has_input(walk->inputs, name, NULL))
        return KREPLAY_OK;
    return insert_input(walk, walk->inputs->count, name, NULL);
}

// Puts the accumulating register directly behind its level counter.
static int add_accumulator(struct walk *walk, const struct kr_node *node)
{
    const struct kr_counter_def *level;
    int rc = find_level(walk, node->name, &level);
    if (rc != KREPLAY_OK)
        return rc;
    if (node->accumulator == NULL)
        return add_counter(walk, level->name);
    const struct kr_counter_def *accumulator = kr_catalogue_counter(walk->catalogue, node->accumulator);
    if (accumulator == NULL)
        return unknown(walk, node->accumulator);
    struct kr_counter_inputs *inputs = walk->inputs;
    if (has_input(inputs, accumulator->name, level->name))
        return KREPLAY_OK;
    for (size_t i = 0; i < inputs->count; i++) {
        bool is_level = inputs->list[i].level == NULL && same_text(inputs->list[i].name, level->name);
        bool is_taken = i + 1 < inputs->count && inputs->list[i + 1].level != NULL;
        if (is_level && !is_taken)
            return insert_input(walk, i + 1, accumulator->name, level->name);
    }
    rc = insert_input(walk, inputs->count, level->name, NULL);
    return rc != KREPLAY_OK ? rc : insert_input(walk, inputs->count, accumulator->name, level->name);
}

static int collect(struct walk *walk, const struct kr_node *node);

static int collect_name(struct walk *walk, const char *name)
{
    const struct kr_counter_def *counter = kr_catalogue_counter(walk->catalogue, name);
    if (counter == NULL)
        return kr_agent_property(NULL, name, NULL) == KREPLAY_OK ? KREPLAY_OK : unknown(walk, name);
    if (counter->block != NULL)
        return add_counter(walk, counter->name);
    struct kr_expression *derived;
    int rc = enter_derived(walk, counter, &derived);
    if (rc != KREPLAY_OK)
        return rc;
    rc = collect(walk, derived->root);
    leave_derived(walk, derived);
    return rc;
}

static int collect(struct walk *walk, const struct kr_node *node)
{
    if (node->kind == KR_NODE_NAME)
        return collect_name(walk, node->name);
    if (node->kind == KR_NODE_ACCUMULATE)
        return add_accumulator(walk, node);
    int rc = node->left == NULL ? KREPLAY_OK : collect(walk, node->left);
    return rc != KREPLAY_OK || node->right == NULL ? rc : collect(walk, node->right);
}

int kr_expression_inputs(const struct kr_expression *expression, const struct kr_catalogue *catalogue,
                         struct kr_counter_inputs *out, char *error, size_t error_bytes)
{
    *out = (struct kr_counter_inputs){0};
    struct walk walk = {.catalogue = catalogue, .inputs = out, .error = {.at = error, .room = error_bytes}};
    int rc = collect(&walk, expression->root);
    if (rc != KREPLAY_OK)
        kr_counter_inputs_free(out);
    return rc;
}

void kr_counter_inputs_free(struct kr_counter_inputs *inputs)
{
    free(inputs->list);
    *inputs = (struct kr_counter_inputs){0};
}

// ---- Evaluation

struct list {
    double *values; // allocated
    size_t count;   // at least 1
};

static int evaluate(struct walk *walk, const struct kr_node *node, struct list *out);

static int make_list(struct walk *walk, const double *values, size_t count, struct list *out)
{
    out->values = malloc(count * sizeof(*out->values));
    if (out->values == NULL)
        return no_memory(walk);
    memcpy(out->values, values, count * sizeof(*out->values));
    out->count = count;
    return KREPLAY_OK;
}

static int evaluate_input(struct walk *walk, const struct kr_counter_input *input, struct list *out)
{
    const double *values = NULL;
    size_t count = 0;
    int rc = walk->scope->measured(walk->scope->arg, input, &values, &count);
    if (rc == KREPLAY_OK && count == 0)
        rc = KREPLAY_NOT_FOUND;
    if (rc != KREPLAY_OK)
        return fail(walk, rc, "no values of %s%s%s", input->name, input->level == NULL ? "" : " over ",
                    input->level == NULL ? "" : input->level);
    return make_list(walk, values, count, out);
}

static int evaluate_name(struct walk *walk, const char *name, struct list *out)
{
    const struct kr_counter_def *counter = kr_catalogue_counter(walk->catalogue, name);
    if (counter == NULL) {
        double value;
        if (kr_agent_property(walk->scope->agent, name, &value) != KREPLAY_OK)
            return unknown(walk, name);
        return make_list(walk, &value, 1, out);
    }
    if (counter->block != NULL)
        return evaluate_input(walk, &(struct kr_counter_input){.name = counter->name}, out);
    struct kr_expression *derived;
    int rc = enter_derived(walk, counter, &derived);
    if (rc != KREPLAY_OK)
        return rc;
    rc = evaluate(walk, derived->root, out);
    leave_derived(walk, derived);
    return rc;
}

static int evaluate_accumulate(struct walk *walk, const struct kr_node *node, struct list *out)
{
    const struct kr_counter_def *level;
    int rc = find_level(walk, node->name, &level);
    if (rc != KREPLAY_OK)
        return rc;
    struct kr_counter_input input = {.name = level->name};
    if (node->accumulator != NULL)
        input = (struct kr_counter_input){.name = node->accumulator, .level = level->name};
    return evaluate_input(walk, &input, out);
}

static double apply(enum kr_node_kind kind, double a, double b)
{
    switch (kind) {
    case KR_NODE_ADD:
        return a + b;
    case KR_NODE_SUBTRACT:
        return a - b;
    case KR_NODE_MULTIPLY:
        return a * b;
    default:
        return b == 0 ? (double)NAN : a / b;
    }
}

static int evaluate_binary(struct walk *walk, const struct kr_node *node, struct list *out)
{
    struct list left = {0}, right = {0};
    int rc = evaluate(walk, node->left, &left);
    if (rc == KREPLAY_OK)
        rc = evaluate(walk, node->right, &right);
    if (rc == KREPLAY_OK && left.count != right.count && left.count != 1 && right.count != 1)
        rc = fail(walk, KREPLAY_INVALID, "values of %zu and of %zu instances cannot be combined", left.count,
                  right.count);
    if (rc != KREPLAY_OK) {
        free(left.values);
        free(right.values);
        return rc;
    }
    // The longer list takes the result.
    struct list *longer = left.count >= right.count ? &left : &right;
    for (size_t i = 0; i < longer->count; i++)
        longer->values[i] =
            apply(node->kind, left.values[left.count == 1 ? 0 : i], right.values[right.count == 1 ? 0 : i]);
    *out = *longer;
    free(longer == &left ? right.values : left.values);
    return KREPLAY_OK;
}

static void reduce(struct list *list, enum kr_reduction reduction)
{
    double result = list->values[0];
    for (size_t i = 1; i < list->count; i++) {
        double value = list->values[i];
        if (reduction == KR_REDUCE_MAX)
            result = value > result || isnan(value) ? value : result;
        else if (reduction == KR_REDUCE_MIN)
            result = value < result || isnan(value) ? value : result;
        else
            result += value;
    }
    list->values[0] = reduction == KR_REDUCE_AVR ? result / (double)list->count : result;
    list->count = 1;
}

static int evaluate_unary(struct walk *walk, const struct kr_node *node, struct list *out)
{
    struct list list = {0};
    int rc = evaluate(walk, node->left, &list);
    if (rc != KREPLAY_OK)
        return rc;
    if (node->kind == KR_NODE_REDUCE) {
        reduce(&list, node->reduction);
    } else if (node->kind == KR_NODE_NEGATE) {
        for (size_t i = 0; i < list.count; i++)
            list.values[i] = -list.values[i];
    } else { // select
        if (node->last >= list.count) {
            rc = fail(walk, KREPLAY_INVALID, "instance %zu selected of %zu", node->last, list.count);
            free(list.values);
            return rc;
        }
        list.count = node->last - node->first + 1;
        memmove(list.values, list.values + node->first, list.count * sizeof(*list.values));
    }
    *out = list;
    return KREPLAY_OK;
}

static int evaluate(struct walk *walk, const struct kr_node *node, struct list *out)
{
    switch (node->kind) {
    case KR_NODE_NUMBER:
        return make_list(walk, &node->number, 1, out);
    case KR_NODE_NAME:
        return evaluate_name(walk, node->name, out);
    case KR_NODE_ACCUMULATE:
        return evaluate_accumulate(walk, node, out);
    case KR_NODE_NEGATE:
    case KR_NODE_REDUCE:
    case KR_NODE_SELECT:
        return evaluate_unary(walk, node, out);
    default:
        return evaluate_binary(walk, node, out);
    }
}

int kr_expression_evaluate(const struct kr_expression *expression, const struct kr_expression_scope *scope,
                           double **values, size_t *count, char *error, size_t error_bytes)
{
    *values = NULL;
    *count = 0;
    struct walk walk = {
        .catalogue = scope->catalogue, .scope = scope, .error = {.at = error, .room = error_bytes}};
    struct list result = {0};
    int rc = evaluate(&walk, expression->root, &result);
    if (rc != KREPLAY_OK)
        return rc;
    *values = result.values;
    *count = result.count;
    return KREPLAY_OK;
}

// SPDX-License-Identifier: MIT
// Recursive-descent parser of derived-counter expressions.
#include "counters/expression.h"
#include "counters/expression_tree.h"
#include "counters/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 4096u // also bounds the recursion of those who walk the tree
#define MAX_DEPTH 100u

struct parser {
    const char *text, *at;
    struct kr_expression *expression;
    size_t node_count, node_room, name_bytes;
    unsigned depth;
    int rc; // the first error
    struct kr_text error;
};

static const struct {
    const char *name;
    enum kr_reduction reduction;
} reductions[] = {
    {"sum", KR_REDUCE_SUM}, {"max", KR_REDUCE_MAX}, {"min", KR_REDUCE_MIN}, {"avr", KR_REDUCE_AVR}};

static const struct {
    const char *name;
    const char *accumulator;
} resolutions[] = {{"HIGH_RES", "SQ_ACCUM_PREV_HIRES"}, {"LOW_RES", "SQ_ACCUM_PREV"}, {"NONE", NULL}};

static struct kr_node *parse_sum(struct parser *p);

// Always NULL, so that a caller can return it. Later errors are only consequences.
static struct kr_node *fail(struct parser *p, int rc, const char *what)
{
    if (p->rc != KREPLAY_OK)
        return NULL;
    p->rc = rc;
    kr_text_add(&p->error, "%s at character %zu of \"%s\"", what, (size_t)(p->at - p->text) + 1, p->text);
    return NULL;
}

static struct kr_node *new_node(struct parser *p, enum kr_node_kind kind)
{
    if (p->node_count == p->node_room)
        return fail(p, KREPLAY_INVALID, "expression is too long");
    struct kr_node *node = &p->expression->nodes[p->node_count++];
    *node = (struct kr_node){.kind = kind};
    return node;
}

static void skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool accept(struct parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static bool expect(struct parser *p, char c)
{
    if (p->rc == KREPLAY_OK && accept(p, c))
        return true;
    char what[] = "' ' expected";
    what[1] = c;
    fail(p, KREPLAY_INVALID, what);
    return false;
}

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// The name at this place, copied behind the names before it; NULL if there is none.
static const char *parse_word(struct parser *p)
{
    skip_blanks(p);
    if (!is_name_character(*p->at) || isdigit((unsigned char)*p->at))
        return NULL;
    char *word = p->expression->names + p->name_bytes;
    size_t length = 0;
    while (is_name_character(p->at[length]))
        length++;
    memcpy(word, p->at, length);
    word[length] = '\0';
    p->at += length;
    p->name_bytes += length + 1;
    return word;
}

static struct kr_node *parse_reduce(struct parser *p)
{
    struct kr_node *node = new_node(p, KR_NODE_REDUCE);
    struct kr_node *operand = parse_sum(p);
    if (node == NULL || operand == NULL || !expect(p, ','))
        return NULL;
    node->left = operand;
    const char *word = parse_word(p);
    for (size_t i = 0; word != NULL && i < sizeof(reductions) / sizeof(reductions[0]); i++)
        if (strcmp(word, reductions[i].name) == 0) {
            node->reduction = reductions[i].reduction;
            return expect(p, ')') ? node : NULL;
        }
    return fail(p, KREPLAY_INVALID, "reduce needs sum, max, min or avr");
}

static struct kr_node *parse_accumulate(struct parser *p)
{
    struct kr_node *node = new_node(p, KR_NODE_ACCUMULATE);
    if (node == NULL)
        return NULL;
    node->name = parse_word(p);
    if (node->name == NULL)
        return fail(p, KREPLAY_INVALID, "accumulate needs a counter");
    if (!expect(p, ','))
        return NULL;
    const char *word = parse_word(p);
    for (size_t i = 0; word != NULL && i < sizeof(resolutions) / sizeof(resolutions[0]); i++)
        if (strcmp(word, resolutions[i].name) == 0) {
            node->accumulator = resolutions[i].accumulator;
            return expect(p, ')') ? node : NULL;
        }
    return fail(p, KREPLAY_INVALID, "accumulate needs HIGH_RES, LOW_RES or NONE");
}

static bool parse_index(struct parser *p, size_t *out)
{
    skip_blanks(p);
    char *end;
    if (!isdigit((unsigned char)*p->at)) {
        fail(p, KREPLAY_INVALID, "instance number expected");
        return false;
    }
    *out = strtoul(p->at, &end, 10);
    p->at = end;
    return true;
}

static struct kr_node *parse_select(struct parser *p)
{
    struct kr_node *node = new_node(p, KR_NODE_SELECT);
    struct kr_node *operand = parse_sum(p);
    if (node == NULL || operand == NULL || !expect(p, ',') || !expect(p, '['))
        return NULL;
    node->left = operand;
    const char *dimension = parse_word(p);
    if (dimension == NULL)
        return fail(p, KREPLAY_INVALID, "dimension expected");
    if (strcmp(dimension, "DIMENSION_INSTANCE") != 0)
        return fail(p, KREPLAY_UNSUPPORTED, "only DIMENSION_INSTANCE can be selected");
    if (!expect(p, '=') || !expect(p, '[') || !parse_index(p, &node->first))
        return NULL;
    node->last = node->first;
    if (accept(p, ':') && !parse_index(p, &node->last))
        return NULL;
    if (node->last < node->first)
        return fail(p, KREPLAY_INVALID, "the range ends before it begins");
    return expect(p, ']') && expect(p, ']') && expect(p, ')') ? node : NULL;
}

static struct kr_node *parse_name(struct parser *p)
{
    const char *word = parse_word(p);
    if (word == NULL)
        return fail(p, KREPLAY_INVALID, *p->at == '\0' ? "unexpected end" : "number, name or '(' expected");
    if (accept(p, '(')) {
        if (strcmp(word, "reduce") == 0)
            return parse_reduce(p);
        if (strcmp(word, "select") == 0)
            return parse_select(p);
        if (strcmp(word, "accumulate") == 0)
            return parse_accumulate(p);
        return fail(p, KREPLAY_INVALID, "unknown function before this place");
    }
    struct kr_node *node = new_node(p, KR_NODE_NAME);
    if (node != NULL)
        node->name = word;
    return node;
}

// Decimal only: strtod alone would take "inf", "nan" and "0x1p3".
static struct kr_node *parse_number(struct parser *p)
{
    struct kr_node *node = new_node(p, KR_NODE_NUMBER);
    if (node == NULL)
        return NULL;
    double scale = 1;
    for (; isdigit((unsigned char)*p->at); p->at++)
        node->number = node->number * 10 + (*p->at - '0');
    if (*p->at == '.')
        for (p->at++; isdigit((unsigned char)*p->at); p->at++) {
            node->number = node->number * 10 + (*p->at - '0');
            scale *= 10;
        }
    node->number /= scale;
    return is_name_character(*p->at) ? fail(p, KREPLAY_INVALID, "number runs into a name") : node;
}

static struct kr_node *parse_primary(struct parser *p)
{
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at))
        return parse_number(p);
    if (!accept(p, '('))
        return parse_name(p);
    struct kr_node *inner = parse_sum(p);
    return expect(p, ')') ? inner : NULL;
}

static struct kr_node *parse_factor(struct parser *p)
{
    if (p->depth == MAX_DEPTH)
        return fail(p, KREPLAY_INVALID, "nested too deeply");
    p->depth++;
    struct kr_node *node;
    if (accept(p, '-')) {
        node = new_node(p, KR_NODE_NEGATE);
        struct kr_node *operand = node == NULL ? NULL : parse_factor(p);
        if (operand == NULL)
            node = NULL;
        else
            node->left = operand;
    } else {
        node = parse_primary(p);
    }
    p->depth--;
    return node;
}

// A run of operands of one precedence level, grouped from the left.
static struct kr_node *parse_run(struct parser *p, struct kr_node *(*operand)(struct parser *), char plain,
                                 enum kr_node_kind plain_kind, char inverse, enum kr_node_kind inverse_kind)
{
    struct kr_node *left = operand(p);
    while (left != NULL) {
        bool is_plain = accept(p, plain);
        if (!is_plain && !accept(p, inverse))
            break;
        struct kr_node *node = new_node(p, is_plain ? plain_kind : inverse_kind);
        if (node == NULL)
            return NULL;
        struct kr_node *right = operand(p);
        if (right == NULL)
            return NULL;
        node->left = left;
        node->right = right;
        left = node;
    }
    return left;
}

static struct kr_node *parse_product(struct parser *p)
{
    return parse_run(p, parse_factor, '*', KR_NODE_MULTIPLY, '/', KR_NODE_DIVIDE);
}

static struct kr_node *parse_sum(struct parser *p)
{
    return parse_run(p, parse_product, '+', KR_NODE_ADD, '-', KR_NODE_SUBTRACT);
}

int kr_expression_parse(const char *text, struct kr_expression **out, char *error, size_t error_bytes)
{
    *out = NULL;
    // No token makes more than one node, and a name is followed by something that is not one.
    size_t length = strlen(text);
    struct parser p = {.text = text,
                       .at = text,
                       .node_room = length < MAX_NODES ? length : MAX_NODES,
                       .error = {.at = error, .room = error_bytes}};
    p.expression = calloc(1, sizeof(*p.expression));
    if (p.expression != NULL) {
        p.expression->nodes = calloc(p.node_room + 1, sizeof(*p.expression->nodes));
        p.expression->names = malloc(length + 2);
    }
    if (p.expression == NULL || p.expression->nodes == NULL || p.expression->names == NULL) {
        kr_text_add(&p.error, "out of memory");
        kr_expression_free(p.expression);
        return KREPLAY_NO_MEMORY;
    }

    p.expression->root = parse_sum(&p);
    skip_blanks(&p);
    if (p.rc == KREPLAY_OK && *p.at != '\0')
        fail(&p, KREPLAY_INVALID, "operator expected");
    if (p.rc != KREPLAY_OK) {
        kr_expression_free(p.expression);
        return p.rc;
    }
    *out = p.expression;
    return KREPLAY_OK;
}

void kr_expression_free(struct kr_expression *expression)
{
    if (expression == NULL)
        return;
    free(expression->nodes);
    free(expression->names);
    free(expression);
}

// SPDX-License-Identifier: MIT
// The parsed form of an expression, shared by its parser and its users.
#ifndef KR_EXPRESSION_TREE_H
#define KR_EXPRESSION_TREE_H

#include <stddef.h>

enum kr_node_kind {
    KR_NODE_NUMBER, // number
    KR_NODE_NAME,   // name
    KR_NODE_ADD,    // left, right
    KR_NODE_SUBTRACT,
    KR_NODE_MULTIPLY,
    KR_NODE_DIVIDE,
    KR_NODE_NEGATE,     // left
    KR_NODE_REDUCE,     // left, reduction
    KR_NODE_SELECT,     // left, first and last instance
    KR_NODE_ACCUMULATE, // name, accumulator (NULL: the counter itself)
};

enum kr_reduction { KR_REDUCE_SUM, KR_REDUCE_MAX, KR_REDUCE_MIN, KR_REDUCE_AVR };

struct kr_node {
    enum kr_node_kind kind;
    const struct kr_node *left, *right;
    double number;
    const char *name;
    const char *accumulator; // hardware counter that accumulates
    enum kr_reduction reduction;
    size_t first, last;
};

struct kr_expression {
    const struct kr_node *root;
    struct kr_node *nodes; // all of them, one allocation
    char *names;           // NUL-terminated, one behind the other
};

#endif

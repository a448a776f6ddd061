// SPDX-License-Identifier: MIT
// Derived counters: expressions over counters, in the notation of rocprofiler-sdk's counter definitions.
//
//   + - * / ( ) and numbers; names of counters, of other derived counters and of agent properties;
//   reduce(X, sum|max|min|avr)               one value from the instances of X
//   select(X, [DIMENSION_INSTANCE=[a:b]])    instances a to b of X, or one with [a]
//   accumulate(X, HIGH_RES|LOW_RES|NONE)     X summed up over time by the hardware
//
// A value is a list, one number per hardware instance; numbers, properties and reduced values are lists of
// one and go with any list. x / 0 is NaN: "no value", which is not the same as zero.
#ifndef KR_EXPRESSION_H
#define KR_EXPRESSION_H

#include "counters/catalogue.h"
#include "kreplay/kreplay.h"

struct kr_expression;

// KREPLAY_INVALID (not an expression), KREPLAY_UNSUPPORTED (a dimension other than the instance),
// KREPLAY_NO_MEMORY; `error` says in one line what and where.
int kr_expression_parse(const char *text, struct kr_expression **out, char *error, size_t error_bytes);
void kr_expression_free(struct kr_expression *expression); // NULL is fine

// A hardware counter that must be measured. `level` is NULL, or names the level counter that this register
// (one of SQ_ACCUM_PREV*) accumulates: then the input before it in the list is that counter, and the two must
// be armed in neighbouring registers in this order.
struct kr_counter_input {
    const char *name;
    const char *level;
};

struct kr_counter_inputs {
    struct kr_counter_input *list; // each once; names live as long as the catalogue
    size_t count;
};

// What to measure for the expression, other derived counters followed to the ground. On error nothing is left
// to free: KREPLAY_UNKNOWN_COUNTER (neither counter nor property), KREPLAY_INVALID (derived counters in a
// circle, or accumulate of a derived counter), KREPLAY_NO_MEMORY.
int kr_expression_inputs(const struct kr_expression *expression, const struct kr_catalogue *catalogue,
                         struct kr_counter_inputs *out, char *error, size_t error_bytes);
void kr_counter_inputs_free(struct kr_counter_inputs *inputs); // leaves it empty

struct kr_expression_scope {
    const struct kr_catalogue *catalogue;
    const kreplay_agent *agent; // for properties
    // Gives the values of an input, one per instance, valid until the evaluation is over. Non-zero: not
    // measured, or whatever else went wrong; it ends the evaluation and is returned.
    int (*measured)(void *arg, const struct kr_counter_input *input, const double **values, size_t *count);
    void *arg;
};

// *values is allocated (free() it) with *count numbers: one, or one per instance when the expression does not
// reduce (a table then shows their sum). Errors as above, and KREPLAY_INVALID for lists of different lengths
// or a selection beyond the instances.
int kr_expression_evaluate(const struct kr_expression *expression, const struct kr_expression_scope *scope,
                           double **values, size_t *count, char *error, size_t error_bytes);

// Properties of a GPU that expressions may name, such as simd_count. KREPLAY_NOT_FOUND. A NULL agent asks
// only whether the property exists.
int kr_agent_property(const kreplay_agent *agent, const char *name, double *value);

#endif

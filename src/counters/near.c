// SPDX-License-Identifier: MIT
// Counter names close to a mistyped one.
#include "counters/catalogue.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define MAX_NAME 64u
#define TOO_FAR  UINT32_MAX

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t least = a < b ? a : b;
    return least < c ? least : c;
}

// Levenshtein distance of the texts without regard to case.
static uint32_t edit_distance(const char *a, const char *b)
{
    size_t columns = strlen(b);
    if (strlen(a) > MAX_NAME || columns > MAX_NAME)
        return TOO_FAR;
    uint32_t row[MAX_NAME + 1];
    for (uint32_t j = 0; j <= columns; j++)
        row[j] = j;
    for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            uint32_t above = row[j];
            uint32_t cost = toupper((unsigned char)a[i - 1]) != toupper((unsigned char)b[j - 1]);
            row[j] = min3(above + 1, row[j - 1] + 1, diagonal + cost);
            diagonal = above;
        }
    }
    return row[columns];
}

// How far a candidate is from what was typed, less is nearer. A name that was begun and not finished counts
// as near when it stops at a word; typing errors count one each, up to about a third of the name.
static uint32_t distance(const char *typed, const struct kr_counter_def *candidate)
{
    size_t length = strlen(typed);
    uint32_t edits = edit_distance(typed, candidate->name);
    uint32_t score = edits <= 1 + length / 3 ? 4 * edits : TOO_FAR;
    if (length >= 2 && strncasecmp(typed, candidate->name, length) == 0) {
        size_t rest = strlen(candidate->name) - length;
        bool at_word = candidate->name[length] == '_' || typed[length - 1] == '_';
        uint32_t begun = (uint32_t)(at_word ? 5 + rest / 8 : 10 + rest / 4);
        score = begun < score ? begun : score;
    }
    // Hardware counters first among equals.
    return score == TOO_FAR ? TOO_FAR : 2 * score + (candidate->block == NULL);
}

size_t kr_catalogue_near(const struct kr_catalogue *catalogue, const char *name, const char **near,
                         size_t max)
{
    size_t count = 0;
    uint32_t scores[16];
    if (max > sizeof(scores) / sizeof(scores[0]))
        max = sizeof(scores) / sizeof(scores[0]);
    for (size_t i = 0; max != 0 && i < catalogue->counter_count; i++) {
        uint32_t score = distance(name, &catalogue->counters[i]);
        if (score == TOO_FAR || (count == max && score >= scores[max - 1]))
            continue;
        // Insertion into the short sorted list; earlier names stay first among equals.
        size_t at = count < max ? count++ : max - 1;
        for (; at > 0 && scores[at - 1] > score; at--) {
            scores[at] = scores[at - 1];
            near[at] = near[at - 1];
        }
        scores[at] = score;
        near[at] = catalogue->counters[i].name;
    }
    return count;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Words and numbers of the partition file, and what is wrong with them.
 */
#ifndef MINISM_CONFIG_PARTITIONS_LEX_H
#define MINISM_CONFIG_PARTITIONS_LEX_H

#include "topology/text.h"

/*
 * Which of the words it is, or -1 and an error that names them. A word cut
 * short is taken, with a warning, if three letters are left and they begin one
 * word only. also: what else would do, for the error, or NULL.
 */
int partitions_choose(struct text_scan *s, const struct text_span *span,
		      const char *what, const char *also,
		      const char *const *words, size_t n);

/* A number of C, min to max; false and an error that says what is wrong. */
bool partitions_take_number(struct text_scan *s, const struct text_span *span,
			    const char *what, uint64_t min, uint64_t max,
			    uint64_t *value);

#endif

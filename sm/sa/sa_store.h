/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A store of what clients register: its elements in the order of their keys.
 */
#ifndef MINISM_SA_SA_STORE_H
#define MINISM_SA_SA_STORE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "topology/state_line.h"

struct sa_store {
	GPtrArray *list;	/* which frees its elements */
	/* By the key, with which an element begins: <0, 0, >0. */
	int (*compare)(const void *a, const void *b);
	uint64_t version;	/* counts changes */
};

/* A walk over a store that may change between two steps. */
#define SA_KEY_LEN	32u	/* no key is longer, no element shorter */
struct sa_cursor {
	union {
		uint64_t guid;		/* which a key begins with; or */
		uint8_t bytes[SA_KEY_LEN];
	} key;			/* of the first element, or one before it; of
				   the last one since the first step */
	size_t fixed;		/* bytes of it that all elements have */
	bool begun;
	guint place;		/* of the last one, most often */
};

/* The place of the first element that is not before the key. */
guint sa_store_place(const struct sa_store *s, const void *key);
/* NULL: none has this key. */
void *sa_store_find(const struct sa_store *s, const void *key);
/* NULL: there are no more. */
void *sa_store_next(const struct sa_store *s, struct sa_cursor *c);
/* A copy, `size` bytes, of an element whose key none has; returns it. */
void *sa_store_insert(struct sa_store *s, const void *element, size_t size);
void sa_store_remove(struct sa_store *s, guint place);

#endif

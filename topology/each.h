/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Loops over GLib's arrays, from the first element to the last; NULL is one without
 * elements. The body does not change the array.
 */
#ifndef MINISM_TOPOLOGY_EACH_H
#define MINISM_TOPOLOGY_EACH_H

#include <glib.h>
#include <stdbool.h>

/* Of a GPtrArray: `type` *x is each pointer. */
#define EACH_PTR(type, x, array) \
	for (type **x##_at = (array) ? (void *)(array)->pdata : NULL, *x; \
	     x##_at && (guint)(x##_at - (type **)(void *)(array)->pdata) < \
	     (array)->len && (x = *x##_at, true); x##_at++)

/* Of a GArray: `type` *x points to each element. */
#define EACH_ITEM(type, x, array) \
	for (type *x = (array) ? (void *)(array)->data : NULL; \
	     x && (guint)(x - (type *)(void *)(array)->data) < (array)->len; \
	     x++)

#endif

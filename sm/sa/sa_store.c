// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the stores of groups, services and subscriptions have in common.
 */
#include "sm/sa/sa_store.h"

#include <string.h>

guint
sa_store_place(const struct sa_store *s, const void *key)
{
	guint low = 0, high = s->list->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;

		if (s->compare(key, s->list->pdata[mid]) > 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void *
sa_store_find(const struct sa_store *s, const void *key)
{
	guint place = sa_store_place(s, key);

	return place < s->list->len &&
		!s->compare(key, s->list->pdata[place]) ?
		s->list->pdata[place] : NULL;
}

void *
sa_store_next(const struct sa_store *s, struct sa_cursor *c)
{
	guint place = sa_store_place(s, &c->key);
	void *const *element = s->list->pdata + place;

	if (c->begun && place < s->list->len && !s->compare(&c->key, *element)) {
		element++;
		place++;
	}
	if (place == s->list->len || memcmp(&c->key, *element, c->fixed))
		return NULL;
	memcpy(&c->key, *element, sizeof(c->key));
	c->begun = true;
	return *element;
}

void *
sa_store_insert(struct sa_store *s, const void *element, size_t size)
{
	void *copy = g_memdup2(element, size);

	g_assert(size >= SA_KEY_LEN);
	g_ptr_array_insert(s->list, (gint)sa_store_place(s, element), copy);
	s->version++;
	return copy;
}

void
sa_store_remove(struct sa_store *s, guint place)
{
	g_ptr_array_remove_index(s->list, place);
	s->version++;
}

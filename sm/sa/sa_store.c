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
	void *const *list = s->list->pdata;
	guint n = s->list->len;

	if (!c->begun || c->place >= n || s->compare(&c->key, list[c->place]))
		c->place = sa_store_place(s, &c->key);
	if (c->begun && c->place < n && !s->compare(&c->key, list[c->place]))
		c->place++;
	if (c->place >= n || memcmp(&c->key, list[c->place], c->fixed))
		return NULL;
	memcpy(&c->key, list[c->place], sizeof(c->key));
	c->begun = true;
	return list[c->place];
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

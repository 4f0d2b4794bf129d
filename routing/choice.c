// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "routing/choice.h"

void
choice_drop_tables(struct choice *c)
{
	lft_free(c->lft);
	c->lft = NULL;
	c->keeps_held = false;
	g_clear_pointer(&c->ranks, g_free);
	g_clear_pointer(&c->notes, g_ptr_array_unref);
	verify_result_clear(&c->alone);
	channels_clear(&c->together);
}

void
choice_clear(struct choice *c)
{
	choice_drop_tables(c);
	lft_free(c->bridge);
	g_clear_pointer(&c->later, g_array_unref);
	g_free(c->reason);
	g_free(c->warning);
	g_clear_pointer(&c->compared, g_ptr_array_unref);
	*c = (struct choice){ 0 };
}

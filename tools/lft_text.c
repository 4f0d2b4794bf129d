// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The text is that of opensm 3.3.23 with -D 0x43. */
#include "tools/lft_text.h"

#include <inttypes.h>
#include <string.h>

#include "topology/smp_attr.h"

GPtrArray *
lft_text_lines(const struct snapshot *s, const struct lid_map *lids,
	       uint32_t top)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (uint32_t lid = 0; lid <= top; lid++) {
		uint32_t port = lid_map_owner(lids, (uint16_t)lid);
		const struct snapshot_node *n = port == SNAPSHOT_NONE ? NULL :
			snapshot_node_of(s, port);

		g_ptr_array_add(lines, n ? g_strdup_printf("0x%04x 000 # %s "
			"portguid 0x%016" PRIx64 ": '%s'\n", lid,
			node_type_name(n->info.node_type), s->ports[port].guid,
			snapshot_node_name(n)) :
			g_strdup_printf("0x%04x 000 # unknown node and type\n",
					lid));
	}
	return lines;
}

void
lft_text_write_switch(const struct snapshot *s, const struct lid_map *lids,
		      const struct lft *lft, uint32_t sw,
		      const GPtrArray *lines, GString *out)
{
	const struct snapshot_node *n = &s->nodes[s->switches[sw]];
	const uint8_t *row = lft_row(lft, sw);
	uint32_t n_lines = 0;

	g_string_append_printf(out, "Unicast lids [0-%u] of switch Lid %u "
			       "guid 0x%016" PRIx64 " ('%s'):\n", lft->top,
			       lids->base[n->first_port], n->info.node_guid,
			       snapshot_node_name(n));
	for (uint32_t lid = LID_UNICAST_MIN; lid <= lft->top; lid++) {
		gsize at = out->len + strlen("0x0000 ");

		if (row[lid] == LFT_NO_PATH)
			continue;
		g_string_append(out, lines->pdata[lid]);
		for (unsigned i = 3, rest = row[lid]; i-- > 0; rest /= 10)
			out->str[at + i] = (char)('0' + rest % 10);
		n_lines++;
	}
	g_string_append_printf(out, "%u lids dumped\n", n_lines);
}

void
lft_text_write(const struct snapshot *s, const struct lid_map *lids,
	       const struct lft *lft, GString *out)
{
	g_autoptr(GPtrArray) lines = lft_text_lines(s, lids, lft->top);

	for (uint32_t sw = 0; sw < lft->n_switches; sw++)
		lft_text_write_switch(s, lids, lft, sw, lines, out);
}

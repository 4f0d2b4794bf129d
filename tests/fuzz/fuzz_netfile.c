// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics as text. What was read and is written must be read the same.
 */
#include "topology/net_file.h"
#include "tests/fuzz/fuzz.h"
#include "topology/text.h"

FUZZ_TARGET(netfile)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	struct snapshot *s = net_file_parse(text, "fuzz", &error);

	if (!s) {
		fuzz_assert_refused(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		return 0;
	}
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].peer != SNAPSHOT_NONE)
			g_assert_cmpuint(s->ports[s->ports[i].peer].peer, ==,
					 i);
	fuzz_assert_comes_back(s, net_file_parse, net_file_write,
			       snapshot_unref, again->n_ports == s->n_ports);
	snapshot_unref(s);
	return 0;
}

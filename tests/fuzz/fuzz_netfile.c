// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics as text. What was read and is written must be read the same.
 */
#include "topology/netfile.h"
#include "tests/fuzz/fuzz.h"

FUZZ_TARGET(netfile)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GString) twice = g_string_new(NULL);
	struct subnet *s = netfile_parse(text, "fuzz", &error), *again;

	if (!s) {
		g_assert_error(error, NETFILE_ERROR, NETFILE_ERROR_SYNTAX);
		g_assert_true(g_str_has_prefix(error->message, "fuzz:"));
		return 0;
	}
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].peer != SUBNET_NONE)
			g_assert_cmpuint(s->ports[s->ports[i].peer].peer, ==,
					 i);
	netfile_write(s, once);
	again = netfile_parse(once->str, "again", &error);
	g_assert_no_error(error);
	netfile_write(again, twice);
	g_assert_cmpstr(once->str, ==, twice->str);
	subnet_unref(s);
	subnet_unref(again);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Specs of generated fabrics. Byte 0: bit 0 shuffles the GUIDs, the others
 * take links away; byte 1: the seed; then the spec.
 */
#include "topology/generate.h"
#include "tests/fuzz/fuzz.h"
#include "topology/text.h"

FUZZ_TARGET(generate)
{
	struct fuzz_input in = { data, MIN(size, 256u) };
	unsigned flags = fuzz_byte(&in);
	const struct generate_options options = {
		.seed = fuzz_byte(&in),
		.shuffle_guids = flags & 1,
		.fail_per_mille = MIN((flags >> 1) * 8, 1000),
	};
	g_autofree char *spec = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	struct snapshot *s = generate_fabric(spec, &options, &error);

	if (!s) {
		g_assert_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		g_assert_cmpuint(strlen(error->message), >, 0);
		return 0;
	}
	g_assert_cmpuint(s->n_nodes, <=, 65535);
	g_assert_cmpuint(s->local_port, <, s->n_ports);
	g_assert_cmpuint(s->n_faults, ==, 0);
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].peer != SNAPSHOT_NONE)
			g_assert_cmpuint(s->ports[s->ports[i].peer].peer, ==,
					 i);
	snapshot_unref(s);
	return 0;
}

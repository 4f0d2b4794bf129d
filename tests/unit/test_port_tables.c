// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The store of ports' tables. */
#include "lab/generate.h"
#include "tests/lib/unit.h"
#include "topology/port_tables.h"
#include "topology/prng.h"

static struct snapshot *
make_fabric(void)
{
	g_autoptr(GError) error = NULL;
	struct snapshot *s = generate_fabric("PGFT(2,3;1,2)", NULL, &error);

	assert_non_null(s);
	return s;
}

/* Against a plain array, with more different blocks than a chunk has. */
TEST(test_blocks_read_back)
{
	uint64_t seed = 20261121, prng = seed;
	AUTO(snapshot) *s = make_fabric();
	AUTO(port_tables) *t = port_tables_new(s);
	uint16_t (*plain)[VL_ARB_N_BLOCKS] = g_malloc0_n(s->n_ports,
							 sizeof(*plain));

	print_message("seed %llu\n", (unsigned long long)seed);
	for (unsigned turn = 0; turn < 5000; turn++) {
		uint32_t port = prng_below(&prng, s->n_ports);
		unsigned block = prng_below(&prng, VL_ARB_N_BLOCKS);
		uint16_t value = (uint16_t)(1 + prng_below(&prng, 1000));
		union port_block b = { .pkeys = { value } };

		port_tables_set(t, PORT_TABLE_VL_ARB, port, block, &b);
		plain[port][block] = value;
	}
	port_tables_forget(t, PORT_TABLE_VL_ARB, 1);
	for (uint32_t port = 0; port < s->n_ports; port++)
		for (unsigned i = 0; i < VL_ARB_N_BLOCKS; i++) {
			const union port_block *b = port_tables_get(t,
				PORT_TABLE_VL_ARB, port, i);

			assert_int_equal(b ? b->pkeys[0] : 0,
					 port == 1 ? 0 : plain[port][i]);
		}
	g_free(plain);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The words of tests/scripts/qos.scn: tables of VLs as QoS wants them.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/plan/isolation.h"
#include "tests/lib/request.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

struct lab {
	struct snapshot *s;
	struct port_tables *wanted;
	struct qos qos;
	bool is_off;		/* there is no QoS at all */
	uint32_t host, leaf;	/* the ends of a cable */
	uint32_t up;		/* the leaf's port to a spine */
	uint32_t port0;		/* of the leaf */
};

static int
set_up(void **state)
{
	struct lab *lab = g_new0(struct lab, 1);
	const struct snapshot_node *sw;

	lab->s = generate_fabric("PGFT(2,2;1,2)", NULL, NULL);
	assert_non_null(lab->s);
	/* the built-in values */
	lab->qos.max_op_vls = 5;
	lab->qos.max_vls = QOS_VLS;
	for (uint8_t vl = 0; vl < QOS_VLS; vl++) {
		lab->qos.sl2vl[vl] = vl;
		lab->qos.high[vl] = (struct vl_share){ vl, vl ? 0 : 4 };
		lab->qos.low[vl] = (struct vl_share){ vl, vl ? 4 : 0 };
	}
	lab->qos.sl2vl[15] = 7;
	lab->host = lab->s->local_port;
	lab->leaf = lab->s->ports[lab->host].peer;
	sw = snapshot_node_of(lab->s, lab->leaf);
	lab->port0 = sw->first_port;
	for (unsigned num = 1; num <= sw->info.num_ports; num++) {
		uint32_t peer = lab->s->ports[sw->first_port + num].peer;

		if (peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(lab->s, peer)))
			lab->up = sw->first_port + num;
	}
	for (uint32_t port = 0; port < lab->s->n_ports; port++) {
		struct port_info *info = &lab->s->ports[port].info;

		info->vl_cap = 5;
		info->vl_arb_low_cap = 64;
		info->vl_arb_high_cap = 64;
	}
	*state = lab;
	return 0;
}

static int
tear_down(void **state)
{
	struct lab *lab = *state;

	port_tables_unref(lab->wanted);
	snapshot_unref(lab->s);
	g_free(lab);
	return 0;
}

static uint32_t
port_of(const struct lab *lab, const char *name)
{
	return strcmp(name, "host") == 0 ? lab->host :
		strcmp(name, "leaf") == 0 ? lab->leaf :
		strcmp(name, "up") == 0 ? lab->up :
		strcmp(name, "port0") == 0 ? lab->port0 :
		lab->s->ports[lab->up].peer;
}

static const union port_block *
block(const struct lab *lab, enum port_table table, uint32_t port, unsigned b)
{
	return port_tables_get(lab->wanted, table, port, b);
}

static const struct qos *
qos_of(const struct lab *lab)
{
	return lab->is_off ? NULL : &lab->qos;
}

WORD(do_want, struct lab *lab)
{
	port_tables_unref(lab->wanted);
	lab->wanted = port_tables_new(lab->s);
	isolation_want_vls(lab->s, qos_of(lab), lab->wanted);
}

WORD(do_off, struct lab *lab)
{
	lab->is_off = true;
}

/* PORT COMPONENT=VALUE ..: of PortInfo */
WORD(do_port, struct lab *lab)
{
	struct port_info *info = &lab->s->ports[port_of(lab, words[0])].info;

	for (words++; *words; words++)
		request_poke(SA_ATTR_PORT_INFO, info, *words);
}

WORD(do_enhanced, struct lab *lab)
{
	lab->s->nodes[lab->s->ports[lab->leaf].node].sw.enhanced_port0 = true;
}

/* PORT: its node is a router */
WORD(do_router, struct lab *lab)
{
	struct snapshot_port *p = &lab->s->ports[port_of(lab, words[0])];

	lab->s->nodes[p->node].info.node_type = NODE_ROUTER;
	p->info.cap_mask = PORT_CAP_HAS_SL_MAPPING;
}

static void
read_vls(const char *list, uint8_t vl[SL_COUNT])
{
	g_auto(GStrv) words = g_strsplit(list, ",", -1);

	assert_int_equal(g_strv_length(words), SL_COUNT);
	for (unsigned i = 0; i < SL_COUNT; i++)
		vl[i] = word_number(words[i]);
}

/* VL,VL,.. */
WORD(do_sl2vl, struct lab *lab)
{
	read_vls(words[0], lab->qos.sl2vl);
}

/* N=VL:WEIGHT ..: no others */
WORD(do_low, struct lab *lab)
{
	memset(lab->qos.low, 0, sizeof(lab->qos.low));
	for (; *words; words++) {
		g_auto(GStrv) parts = g_strsplit_set(*words, "=:", 3);

		lab->qos.low[word_number(parts[0])] = (struct vl_share){
			word_number(parts[1]), word_number(parts[2]) };
	}
}

WORD(do_full_shares, struct lab *lab)
{
	for (unsigned i = 0; i < QOS_ARB_ENTRIES; i++) {
		lab->qos.low[i] = (struct vl_share){ 1, 9 };
		lab->qos.high[i] = (struct vl_share){ 2, 9 };
	}
}

/* max-vls, max-op-vls N */
WORD(do_limit, struct lab *lab)
{
	*(words[-1][4] == 'v' ? &lab->qos.max_vls : &lab->qos.max_op_vls) =
		word_number(words[0]);
}

/* PORT IN VL,VL,.. */
WORD(do_vls, struct lab *lab)
{
	const union port_block *b = block(lab, PORT_TABLE_SL2VL,
					  port_of(lab, words[0]),
					  word_number(words[1]));
	uint8_t vl[SL_COUNT];

	assert_non_null(b);
	read_vls(words[2], vl);
	assert_memory_equal(b->vl, vl, SL_COUNT);
}

/* vl PORT SL VL, vl-mod PORT SL N: by way in 0 */
WORD(do_vl, struct lab *lab)
{
	unsigned sl = word_number(words[1]), n = word_number(words[2]);

	assert_int_equal(block(lab, PORT_TABLE_SL2VL, port_of(lab, words[0]),
			       0)->vl[sl], words[-1][2] ? sl % n : n);
}

/* PORT BLOCK HEX: and 0 behind it */
WORD(do_arb, struct lab *lab)
{
	const union port_block *b = block(lab, PORT_TABLE_VL_ARB,
					  port_of(lab, words[0]),
					  word_number(words[1]));
	size_t len = strlen(words[2]) / 2;

	assert_non_null(b);
	for (size_t i = 0; i < sizeof(b->bytes); i++)
		assert_int_equal(b->bytes[i], i >= len ? 0 :
			g_ascii_xdigit_value(words[2][2 * i]) << 4 |
			g_ascii_xdigit_value(words[2][2 * i + 1]));
}

/* has-, no-vls, -arb PORT: a mapping by way in 0, the first block of shares */
WORD(do_has, struct lab *lab)
{
	assert_int_equal(!block(lab, strstr(words[-1], "vls") ?
				PORT_TABLE_SL2VL : PORT_TABLE_VL_ARB,
				port_of(lab, words[0]), 0),
			 *words[-1] == 'n');
}

WORD(do_nothing, struct lab *lab)
{
	for (uint32_t port = 0; port < lab->s->n_ports; port++) {
		for (unsigned i = 0; i < VL_ARB_N_BLOCKS; i++)
			assert_null(block(lab, PORT_TABLE_VL_ARB, port, i));
		for (unsigned i = 0;
		     i < lab->wanted->n_blocks[PORT_TABLE_SL2VL][port]; i++)
			assert_null(block(lab, PORT_TABLE_SL2VL, port, i));
	}
}

/* PORT: entries of both tables are there up to their ends only */
WORD(do_shares_end, struct lab *lab)
{
	uint32_t port = port_of(lab, words[0]);
	const struct port_info *info = &lab->s->ports[port].info;

	for (unsigned i = 0; i < 4 * VL_ARB_ENTRIES; i++) {
		const union port_block *b = block(lab, PORT_TABLE_VL_ARB, port,
						  i / VL_ARB_ENTRIES);
		unsigned cap = i < 2 * VL_ARB_ENTRIES ?
			info->vl_arb_low_cap : info->vl_arb_high_cap;
		unsigned at = i % (2 * VL_ARB_ENTRIES);

		assert_int_equal(!b, at / VL_ARB_ENTRIES * VL_ARB_ENTRIES >=
				 cap);
		if (b)
			assert_int_equal(b->arb[i % VL_ARB_ENTRIES].weight,
					 at < cap ? 9 : 0);
	}
}

/* PORT of a switch: a block for port 0 and each port that has a link */
WORD(do_live_blocks, struct lab *lab)
{
	uint32_t port = port_of(lab, words[0]);
	const struct snapshot_node *sw = snapshot_node_of(lab->s, port);
	unsigned n = 0;

	for (unsigned in = 0; in <= sw->info.num_ports; in++) {
		bool live = in == 0 ||
			snapshot_link_up(lab->s, sw->first_port + in);

		assert_int_equal(!live, !block(lab, PORT_TABLE_SL2VL, port,
					       in));
		n += live;
	}
	assert_true(n > 1);
}

/* N: OperationalVLs of PortInfo */
WORD(do_vls_code, struct lab *lab)
{
	assert_range(words[0], isolation_vls_code(&lab->qos));
}

static const struct unit_word all_words[] = {
	{ "want", do_want }, { "no-qos", do_off },
	{ "port", do_port }, { "enhanced", do_enhanced },
	{ "router", do_router }, { "sl2vl", do_sl2vl }, { "low", do_low },
	{ "full-shares", do_full_shares }, { "max-vls", do_limit },
	{ "max-op-vls", do_limit },
	{ "vls", do_vls }, { "vl", do_vl }, { "vl-mod", do_vl },
	{ "arb", do_arb }, { "has-vls", do_has }, { "has-arb", do_has },
	{ "no-vls", do_has }, { "no-arb", do_has }, { "nothing", do_nothing },
	{ "shares-end", do_shares_end }, { "live-blocks", do_live_blocks },
	{ "vls-code", do_vls_code }, { NULL, NULL },
};

SCRIPT(qos, "qos.scn", all_words, set_up, tear_down)

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the fabric itself holds: see osmtruth.h.
 *
 * Flow. truth_records() walks the ports of the fabric, asks the agent of each
 * for every block of the table that it may have, by LID-routed SMPs as the
 * diagnostics send them, and puts the key fields of the SA's record (IBA
 * 15.2.5) in front of the bytes that came. The records are
 * laid out here, not by the encoders that the SA uses, so that a slip of those
 * shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sm/wire/bytes.h"
#include "sm/wire/smp_table.h"
#include "tests/lib/osmtruth.h"

#define PATIENCE	SECOND
#define LFT_ENTRIES	64u	/* a block */
#define MFT_ENTRIES	32u
#define MFT_PORTS	16u	/* a position */
#define MFT_BLOCKS	8u	/* of MLIDs that the tests look at */
#define GUIDS		8u	/* a block */
#define PORT_LOCAL	28u	/* LocalPortNum, in PortInfo */
#define NODE_LOCAL	36u	/* in NodeInfo */

/* -------------------------------------------------------- asking an agent */

static void
on_answer(const struct transport_mad *m, void *data)
{
	struct truth *x = data;
	struct mad_header h;

	assert_true(mad_header_read(m->mad, m->len, &h));
	if (m->event == TRANSPORT_RETURNED || (uint32_t)h.tid != x->tid)
		return;
	x->done = true;
	x->status = h.status;
	memcpy(x->data, smp_data_const(m->mad), SMP_DATA_LEN);
}

void
truth_open(struct truth *x, struct osm_world *o, uint32_t port)
{
	*x = (struct truth){
		.o = o,
		.t = sim_attach(o->w.sim, port, SIM_ROLE_CLIENT),
	};
	transport_set_receiver(x->t, on_answer, x);
}

void
truth_close(struct truth *x)
{
	transport_free(x->t);
}

uint32_t
truth_end_port(const struct osm_world *o, uint32_t port)
{
	const struct subnet_node *n = subnet_node_of(o->w.s, port);

	return subnet_is_switch(n) ? n->first_port : port;
}

bool
truth_ask(struct truth *x, uint32_t port, unsigned attr_id, uint32_t attr_mod)
{
	const struct mad_addr to = {
		.lid = osm_lid(x->o, truth_end_port(x->o, port)),
	};
	int64_t end = sim_now(x->o->w.sim) + PATIENCE;
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, MAD_METHOD_GET, attr_id, attr_mod, 0);
	mad_set_tid(mad, ++x->tid);
	x->done = false;
	assert_true(transport_send(x->t, &to, mad, MAD_SIZE, 0, NULL));
	while (!x->done && sim_now(x->o->w.sim) < end)
		assert_true(sim_step(x->o->w.sim));
	assert_true(x->done);
	return x->status == MAD_STATUS_OK;
}

GArray *
truth_end_ports(const struct osm_world *o)
{
	g_autofree uint8_t *alive = world_alive((struct world *)&o->w);
	GArray *ends = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t p = 0; p < o->w.s->n_ports; p++)
		if (alive[p])
			g_array_append_val(ends, p);
	return ends;
}

uint32_t
truth_owner(const struct osm_world *o, const GArray *ends, uint16_t lid)
{
	for (guint i = 0; i < ends->len; i++) {
		uint32_t p = g_array_index(ends, uint32_t, i);
		const struct port_info *info = sim_port_info(o->w.sim, p);

		if (lid >= info->lid && lid < info->lid + (1u << info->lmc))
			return p;
	}
	return SUBNET_NONE;
}

/* ---------------------------------------------------- one kind of records */

struct making {
	struct truth *x;
	unsigned attr_id;
	uint32_t port;
	unsigned num;		/* the port's, as agents number it: 0 at CAs */
	GByteArray *out;
};

static bool
at_switch(const struct making *m)
{
	return subnet_is_switch(subnet_node_of(m->x->o->w.s, m->port));
}

static uint8_t
port_num(const struct making *m)
{
	return m->x->o->w.s->ports[m->port].num;
}

static uint16_t
lid_here(const struct making *m)
{
	return osm_lid(m->x->o, truth_end_port(m->x->o, m->port));
}

static bool
ask(struct making *m, unsigned attr_id, uint32_t attr_mod)
{
	return truth_ask(m->x, m->port, attr_id, attr_mod);
}

/* A base port 0 has no VLs (IBA 14.2.5.8, .9), whatever its agent says. */
static bool
has_vls(const struct making *m)
{
	return !at_switch(m) || port_num(m) ||
		sim_switch_info(m->x->o->w.sim,
				m->x->o->w.s->ports[m->port].node)
			->enhanced_port0;
}

/* Of tables of VLs every port has all blocks: those that it lacks, or refuses,
 * are told as empty. */
static void
ask_for_vls(struct making *m, unsigned attr_id, uint32_t attr_mod)
{
	if (!has_vls(m) || !ask(m, attr_id, attr_mod))
		memset(m->x->data, 0, SMP_DATA_LEN);
}

/* The LID, what else is in front (`n_key` bytes of it), and `n` bytes of the
 * agent's answer. */
static void
add(struct making *m, const uint8_t *key, size_t n_key, size_t n)
{
	size_t size = sa_record_size(m->attr_id);
	uint8_t record[SA_DATA_LEN] = { 0 };

	bytes_store(record, lid_here(m), 2);
	memcpy(record + 2, key, n_key);
	memcpy(record + 2 + n_key, m->x->data, n);
	truth_blank(m->attr_id, record);
	g_byte_array_append(m->out, record, (guint)size);
}

static void
make_node(struct making *m)
{
	uint8_t record[SA_DATA_LEN] = { 0 };

	if (truth_end_port(m->x->o, m->port) != m->port)
		return;
	bytes_store(record, lid_here(m), 2);
	assert_true(ask(m, MAD_ATTR_NODE_INFO, 0));
	memcpy(record + 4, m->x->data, 40);
	assert_true(ask(m, MAD_ATTR_NODE_DESC, 0));
	memcpy(record + 44, m->x->data, NODE_DESC_LEN);
	truth_blank(m->attr_id, record);
	g_byte_array_append(m->out, record,
			    (guint)sa_record_size(m->attr_id));
}

static void
make_port_info(struct making *m)
{
	const uint8_t key[2] = { port_num(m), 0 };

	assert_true(ask(m, MAD_ATTR_PORT_INFO, m->num));
	assert_true(at_switch(m) || m->x->data[PORT_LOCAL] == key[0]);
	add(m, key, 2, SMP_DATA_LEN);
}

static void
make_switch_info(struct making *m)
{
	static const uint8_t key[2];

	if (!at_switch(m) || port_num(m))
		return;
	assert_true(ask(m, MAD_ATTR_SWITCH_INFO, 0));
	add(m, key, 2, 20);
}

static void
make_link(struct making *m)
{
	struct sim *sim = m->x->o->w.sim;
	uint32_t peer = sim_peer(sim, m->port);
	uint8_t record[8] = { 0 };

	if (peer == SUBNET_NONE ||
	    sim_port_info(sim, m->port)->phys_state != PORT_PHYS_LINK_UP ||
	    sim_port_info(sim, peer)->phys_state != PORT_PHYS_LINK_UP)
		return;
	bytes_store(record, lid_here(m), 2);
	record[2] = port_num(m);
	record[3] = m->x->o->w.s->ports[peer].num;
	bytes_store(record + 4, osm_lid(m->x->o,
					truth_end_port(m->x->o, peer)), 2);
	g_byte_array_append(m->out, record, sizeof(record));
}

static void
make_guid_info(struct making *m)
{
	unsigned n;

	if (truth_end_port(m->x->o, m->port) != m->port)
		return;
	n = (sim_port_info(m->x->o->w.sim, m->port)->guid_cap + GUIDS - 1) /
		GUIDS;
	for (uint8_t i = 0; i < n; i++) {
		const uint8_t key[6] = { i };

		assert_true(ask(m, MAD_ATTR_GUID_INFO, i));
		add(m, key, 6, SMP_DATA_LEN);
	}
}

static void
make_lft(struct making *m)
{
	unsigned n;

	if (!at_switch(m) || port_num(m))
		return;
	n = sim_switch_info(m->x->o->w.sim, m->x->o->w.s->ports[m->port].node)
		->linear_fdb_top / LFT_ENTRIES + 1;
	for (unsigned i = 0; i < n; i++) {
		const uint8_t key[6] = { (uint8_t)(i >> 8), (uint8_t)i };

		assert_true(ask(m, MAD_ATTR_LINEAR_FT, i));
		add(m, key, 6, SMP_DATA_LEN);
	}
}

static bool
is_zero(const uint8_t *data, size_t n)
{
	while (n--)
		if (data[n])
			return false;
	return true;
}

static void
make_mft(struct making *m)
{
	unsigned ports = subnet_node_of(m->x->o->w.s, m->port)->info.num_ports;

	if (!at_switch(m) || port_num(m))
		return;
	for (unsigned i = 0; i <= ports / MFT_PORTS; i++)
		for (unsigned k = 0; k < MFT_BLOCKS; k++) {
			const uint8_t key[6] = { (uint8_t)(i << 4 | k >> 8),
						 (uint8_t)k };

			assert_true(ask(m, MAD_ATTR_MULTICAST_FT,
					i << 28 | k));
			if (!is_zero(m->x->data, SMP_DATA_LEN))
				add(m, key, 6, SMP_DATA_LEN);
		}
}

/* As many blocks as the agent has. */
static void
make_pkeys(struct making *m)
{
	for (unsigned i = 0; ask(m, MAD_ATTR_PKEY_TABLE,
				 smp_table_modifier(PORT_TABLE_PKEY, m->num,
						    i)); i++) {
		const uint8_t key[6] = { (uint8_t)(i >> 8), (uint8_t)i,
					 port_num(m) };

		add(m, key, 6, SMP_DATA_LEN);
	}
}

static void
make_sl_to_vl(struct making *m)
{
	unsigned n = subnet_node_of(m->x->o->w.s, m->port)->info.num_ports;

	for (unsigned in = 0; in <= (at_switch(m) ? n : 0); in++) {
		const uint8_t key[6] = { (uint8_t)in, port_num(m) };

		ask_for_vls(m, MAD_ATTR_SL2VL,
			    smp_table_modifier(PORT_TABLE_SL2VL, m->num, in));
		add(m, key, 6, SL_COUNT / 2);
	}
}

static void
make_vl_arb(struct making *m)
{
	for (unsigned i = 0; i < VL_ARB_N_BLOCKS; i++) {
		const uint8_t key[6] = { port_num(m), (uint8_t)(i + 1) };

		ask_for_vls(m, MAD_ATTR_VL_ARB,
			    smp_table_modifier(PORT_TABLE_VL_ARB, m->num, i));
		add(m, key, 6, SMP_DATA_LEN);
	}
}

static const struct {
	unsigned attr_id;
	void (*make)(struct making *m);
} kinds[] = {
	{ SA_ATTR_NODE, make_node },
	{ SA_ATTR_PORT_INFO, make_port_info },
	{ SA_ATTR_SWITCH_INFO, make_switch_info },
	{ SA_ATTR_LINK, make_link },
	{ SA_ATTR_GUID_INFO, make_guid_info },
	{ SA_ATTR_LINEAR_FT, make_lft },
	{ SA_ATTR_MULTICAST_FT, make_mft },
	{ SA_ATTR_PKEY_TABLE, make_pkeys },
	{ SA_ATTR_SL_TO_VL, make_sl_to_vl },
	{ SA_ATTR_VL_ARB, make_vl_arb },
};

void
truth_blank(unsigned attr_id, uint8_t *record)
{
	if (attr_id == SA_ATTR_NODE && record[6] == NODE_SWITCH)
		record[4 + NODE_LOCAL] = 0;
	else if (attr_id == SA_ATTR_PORT_INFO)
		record[4 + PORT_LOCAL] = 0;
}

GByteArray *
truth_records(struct truth *x, unsigned attr_id)
{
	g_autofree uint8_t *alive = world_alive(&x->o->w);
	struct making m = {
		.x = x, .attr_id = attr_id, .out = g_byte_array_new(),
	};
	size_t kind = 0;

	while (kinds[kind].attr_id != attr_id)
		assert_true(++kind < G_N_ELEMENTS(kinds));
	for (m.port = 0; m.port < x->o->w.s->n_ports; m.port++) {
		if (!alive[truth_end_port(x->o, m.port)])
			continue;
		m.num = at_switch(&m) ? port_num(&m) : 0;
		kinds[kind].make(&m);
	}
	records_sort(m.out, sa_record_size(attr_id));
	return m.out;
}

/* ---------------------------------------------------------- sets of them */

static gint
compare(gconstpointer a, gconstpointer b, gpointer size)
{
	return memcmp(a, b, GPOINTER_TO_SIZE(size));
}

void
records_sort(GByteArray *records, size_t size)
{
	assert_int_equal(records->len % size, 0);
	if (records->len)
		g_qsort_with_data(records->data, (gint)(records->len / size),
				  size, compare, GSIZE_TO_POINTER(size));
}

GByteArray *
records_minus(const GByteArray *a, const GByteArray *b, size_t size)
{
	GByteArray *out = g_byte_array_new();
	guint k = 0;

	for (guint i = 0; i < a->len; i += size) {
		int order = 1;

		while (k < b->len && (order = memcmp(a->data + i, b->data + k,
						     size)) > 0)
			k += size;
		if (k < b->len && order == 0)
			k += size;
		else
			g_byte_array_append(out, a->data + i, (guint)size);
	}
	return out;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as records.
 *
 * Structs. A table is a domain (ports or switches) with a number of records
 * for each: blocks, positions. fabric_table says how a record of each kind is
 * made; the scan walks the domain, makes candidates, and keeps those that
 * match.
 *
 * Narrowing. If the mask names a LID or a GUID, the domain shrinks to the node
 * that owns it before anything is made: to a stretch, or to a list of indices
 * where they are not neighbours (the ports cabled to a LID, the nodes of a
 * system). A BlockNum shrinks the records of each of them to one. So what such
 * a query costs does not depend on the size of the fabric. A LID within a
 * port's range of LMC means that port, whose records carry the base LID. Of the
 * tables of a CA's ports (P_Keys, VLs) the LID alone names the port: whatever
 * port number a client asks with, it gets the record.
 *
 * Tables of ports. What the devices hold is told as it was read: of P_Keys of
 * end ports, which every sweep reads, by the sweep; of those of a switch's
 * external ports, and of the other two tables, on demand. An end port of which
 * no P_Key block is known is told what it should hold: that is what it will be
 * given.
 *
 * Who may see what. A requester that is not trusted sees ports with which it
 * shares a partition (IBA C15-0.1.22); M_Keys and P_Key tables only the
 * trusted.
 */
#include "sm/sa/query.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/smp.h"

#define CAP_MATCH	0x80000000u	/* AttributeModifier of PortInfoRecord:
					   of both capability masks the bits
					   that are set, not all of them */
#define NODE_DESC_OFFSET	44u	/* NodeDescription of a NodeRecord */
#define BLOCK_OFFSET	8u	/* what a block of a table begins at */

bool
sa_viewer_sees(const struct sa_viewer *who, uint32_t port)
{
	return who->trusted || port == who->port ||
		memberships_common(who->db->memberships, who->port, port);
}

enum sa_draw
sa_records_draw(struct sa_records *r, uint8_t *record)
{
	return r->draw(r, record);
}

bool
sa_records_next(struct sa_records *r, uint8_t *record)
{
	enum sa_draw drawn;

	do
		drawn = sa_records_draw(r, record);
	while (drawn == SA_DRAW_PAUSE);
	return drawn == SA_DRAW_RECORD;
}

size_t
sa_records_size(const struct sa_records *r)
{
	return sa_record_size(r->attr_id);
}

void
sa_records_free(struct sa_records *r)
{
	if (!r)
		return;
	if (r->free)
		r->free(r);
	sa_db_unref(r->who.db);
	g_free(r);
}

void
sa_records_init(struct sa_records *r, const struct sa_query *q,
		unsigned attr_id,
		enum sa_draw (*draw)(struct sa_records *r, uint8_t *record),
		void (*free)(struct sa_records *r))
{
	r->who = q->who;
	sa_db_ref(r->who.db);
	r->attr_id = attr_id;
	r->draw = draw;
	r->free = free;
}

/* ------------------------------------------------------------ ready-made */

struct ready {
	struct sa_records base;
	GByteArray *bytes;
	size_t at;
};

static enum sa_draw
ready_draw(struct sa_records *base, uint8_t *record)
{
	struct ready *r = (struct ready *)base;
	size_t size = sa_records_size(base);

	if (r->at + size > r->bytes->len)
		return SA_DRAW_END;
	memcpy(record, r->bytes->data + r->at, size);
	r->at += size;
	return SA_DRAW_RECORD;
}

static void
ready_free(struct sa_records *base)
{
	g_byte_array_unref(((struct ready *)base)->bytes);
}

struct sa_records *
records_of_bytes(const struct sa_query *q, unsigned attr_id,
		 GByteArray *bytes)
{
	struct ready *r = g_new0(struct ready, 1);

	sa_records_init(&r->base, q, attr_id, ready_draw, ready_free);
	r->bytes = bytes;
	return &r->base;
}

/* ----------------------------------------------- one kind after the other */

struct scan;

enum domain { DOMAIN_PORTS, DOMAIN_SWITCHES };

/* Of a kind of record. */
struct fabric_table {
	uint16_t attr_id;
	uint8_t domain;
	int8_t block;		/* component that is the number of a record, */
	uint8_t block_base;	/* which begins with this; -1: none */
	int8_t port;		/* component that is the port's number, or -1 */
	bool ca_by_lid;		/* of a CA the LID alone names the port: port
				   numbers in the record mean nothing there */
	/* Fills record number `i` of a port or switch, but for its LID. False:
	 * it has no such record. */
	bool (*make)(const struct scan *s, uint32_t at, uint32_t i,
		     uint8_t *record);
};

struct scan {
	struct sa_records base;
	struct sa_db *v;	/* base.who.db */
	struct mft *mft;	/* the view's when this began, or NULL */
	const struct fabric_table *table;
	struct sa_match match;
	const struct sa_query *q;	/* NULL: it has begun */
	GArray *list;		/* of indices, ascending; NULL: all of them */
	uint32_t at, end;	/* of the list, or of the domain */
	uint32_t i, n;		/* records of `at`, */
	uint16_t lid;		/* and its LID */
	uint32_t i_first, i_end;	/* those that are wanted */
	int port_num;		/* only ports with this number; -1: all */
	bool open;		/* i, n and lid are those of `at` */
};

static uint32_t
scan_end_port(const struct sa_db *v, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(v->subnet, port);

	return snapshot_is_switch(n) ? n->first_port : port;
}

static uint16_t
lid_of(const struct sa_db *v, uint32_t port)
{
	return v->lids->base[scan_end_port(v, port)];
}

static bool
make_node(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct snapshot_port *p = &s->v->subnet->ports[at];
	const struct snapshot_node *n = snapshot_node_of(s->v->subnet, at);
	struct node_info info = n->info;

	if (!snapshot_is_end_port(s->v->subnet, at))
		return false;
	info.port_guid = p->guid;
	if (p->num)
		info.local_port = p->num;
	sa_record_encode(SA_ATTR_NODE, record, &info);
	memcpy(record + NODE_DESC_OFFSET, n->desc, strnlen(n->desc, 64));
	return true;
}

static bool
make_port_info(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct snapshot_port *p = &s->v->subnet->ports[at];
	struct port_info info = p->info;

	if (!s->base.who.trusted)
		info.m_key = 0;
	sa_record_encode(SA_ATTR_PORT_INFO, record, &info);
	record[2] = p->num;
	return p->known;
}

static bool
make_link(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct snapshot *n = s->v->subnet;
	uint32_t peer = n->ports[at].peer;

	if (peer == SNAPSHOT_NONE || !snapshot_link_up(n, at) ||
	    !snapshot_link_up(n, peer) || !lid_of(s->v, peer) ||
	    !sa_viewer_sees(&s->base.who, scan_end_port(s->v, peer)))
		return false;
	record[2] = n->ports[at].num;
	record[3] = n->ports[peer].num;
	bytes_store16(record + 4, lid_of(s->v, peer));
	return true;
}

static bool
make_guid_info(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	record[2] = (uint8_t)i;
	if (i == 0)
		bytes_store64(record + BLOCK_OFFSET,
			      s->v->subnet->ports[at].guid);
	return snapshot_is_end_port(s->v->subnet, at);
}

static unsigned
pkey_blocks(const struct sa_db *v, uint32_t port)
{
	const struct port_tables *t = v->held ? v->held : v->read;

	return t ? port_tables_blocks(t, PORT_TABLE_PKEY, port) : 0;
}

static bool
knows_pkeys(const struct sa_db *v, uint32_t port)
{
	for (unsigned i = 0; i < pkey_blocks(v, port); i++)
		if (sa_db_block(v, PORT_TABLE_PKEY, port, i))
			return true;
	return false;
}

static bool
put_block(enum port_table table, const union port_block *block, size_t len,
	  uint8_t *record)
{
	uint8_t data[SMP_DATA_LEN];

	if (!block)
		return false;
	smp_table_encode(table, data, block);
	memcpy(record + BLOCK_OFFSET, data, len);
	return true;
}

static bool
make_pkeys(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct memberships *m = s->v->memberships;
	const union port_block *b = sa_db_block(s->v, PORT_TABLE_PKEY, at, i);
	union port_block desired = { .pkeys = { 0 } };
	uint32_t first = m->first[at] + i * PKEYS_A_BLOCK, k;

	if (!b && knows_pkeys(s->v, at))
		return false;
	for (k = 0; !b && k < PKEYS_A_BLOCK && first + k < m->first[at + 1];
	     k++)
		desired.pkeys[k] = m->pkeys[first + k];
	bytes_store16(record + 2, (uint16_t)i);
	record[4] = s->v->subnet->ports[at].num;
	return put_block(PORT_TABLE_PKEY, b ? b : &desired, SMP_DATA_LEN,
			 record);
}

static bool
make_sl_to_vl(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	record[2] = (uint8_t)i;
	record[3] = s->v->subnet->ports[at].num;
	return put_block(PORT_TABLE_SL2VL,
			 sa_db_block(s->v, PORT_TABLE_SL2VL, at, i),
			 SL_COUNT / 2, record);
}

static bool
make_vl_arb(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	record[2] = s->v->subnet->ports[at].num;
	record[3] = (uint8_t)(i + 1);
	return put_block(PORT_TABLE_VL_ARB,
			 sa_db_block(s->v, PORT_TABLE_VL_ARB, at, i),
			 SMP_DATA_LEN, record);
}

static bool
make_switch(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct snapshot *n = s->v->subnet;
	const struct snapshot_node *node = &n->nodes[n->switches[at]];

	sa_record_encode(SA_ATTR_SWITCH_INFO, record, &node->sw);
	return node->sw_known;
}

static bool
make_lft(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	bytes_store16(record + 2, (uint16_t)i);
	memcpy(record + BLOCK_OFFSET, lft_row(s->v->lft, at) + i * LFT_BLOCK,
	       LFT_BLOCK);
	return true;
}

static bool
make_mft(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	uint32_t position = i / s->mft->n_blocks, block = i % s->mft->n_blocks;
	const uint16_t *masks = mft_block(s->mft, at, position, block);

	bytes_store16(record + 2, (uint16_t)(position << 12 | block));
	for (unsigned k = 0; k < MFT_BLOCK; k++)
		bytes_store16(record + BLOCK_OFFSET + 2 * k, masks[k]);
	return true;
}

static const struct fabric_table tables[] = {
	{ SA_ATTR_NODE, DOMAIN_PORTS, -1, 0, -1, false, make_node },
	{ SA_ATTR_PORT_INFO, DOMAIN_PORTS, -1, 0, 1, false, make_port_info },
	{ SA_ATTR_LINK, DOMAIN_PORTS, -1, 0, 1, false, make_link },
	{ SA_ATTR_GUID_INFO, DOMAIN_PORTS, 1, 0, -1, false, make_guid_info },
	{ SA_ATTR_PKEY_TABLE, DOMAIN_PORTS, 1, 0, 2, true, make_pkeys },
	{ SA_ATTR_SL_TO_VL, DOMAIN_PORTS, 1, 0, 2, true, make_sl_to_vl },
	{ SA_ATTR_VL_ARB, DOMAIN_PORTS, 2, 1, 1, true, make_vl_arb },
	{ SA_ATTR_SWITCH_INFO, DOMAIN_SWITCHES, -1, 0, -1, false, make_switch },
	{ SA_ATTR_LINEAR_FT, DOMAIN_SWITCHES, 1, 0, -1, false, make_lft },
	{ SA_ATTR_MULTICAST_FT, DOMAIN_SWITCHES, -1, 0, -1, false, make_mft },
};

/* How many records a port or switch may have of the kind. */
static uint32_t
scan_count(const struct scan *s, uint32_t at)
{
	const struct snapshot *n = s->v->subnet;
	const struct memberships *m = s->v->memberships;

	switch (s->table->attr_id) {
	case SA_ATTR_GUID_INFO:
		return MAX((n->ports[at].info.guid_cap + 7u) / 8, 1u);
	case SA_ATTR_PKEY_TABLE:
		if (knows_pkeys(s->v, at))
			return pkey_blocks(s->v, at);
		return !snapshot_is_end_port(n, at) ? 0 :
			MAX((m->first[at + 1] - m->first[at] +
			     PKEYS_A_BLOCK - 1) / PKEYS_A_BLOCK, 1u);
	case SA_ATTR_SL_TO_VL:	/* one for each port of entry; a CA has none */
		return snapshot_is_switch(snapshot_node_of(n, at)) ?
			snapshot_node_of(n, at)->info.num_ports + 1u : 1;
	case SA_ATTR_VL_ARB:
		return VL_ARB_N_BLOCKS;
	case SA_ATTR_LINEAR_FT:
		return lft_n_blocks(s->v->lft);
	case SA_ATTR_MULTICAST_FT:
		return s->mft ? s->mft->n_positions * s->mft->n_blocks : 0;
	}
	return 1;
}

/* -------------------------------------------------------------- the scan */

/* The port, or the port 0 of the switch. */
static uint32_t
scan_port(const struct scan *s, uint32_t index)
{
	const struct snapshot *n = s->v->subnet;

	return s->table->domain == DOMAIN_SWITCHES ?
		n->nodes[n->switches[index]].first_port : index;
}

static bool
scan_sees(const struct scan *s, uint32_t index)
{
	return sa_viewer_sees(&s->base.who,
			      scan_end_port(s->v, scan_port(s, index)));
}

static uint32_t
scan_index(const struct scan *s)
{
	return s->list ? g_array_index(s->list, uint32_t, s->at) : s->at;
}

static bool
ignores_number(const struct scan *s, uint32_t index)
{
	return s->table->ca_by_lid &&
		!snapshot_is_switch(snapshot_node_of(s->v->subnet, index));
}

static bool
scan_has_number(const struct scan *s, uint32_t index)
{
	return s->port_num < 0 || ignores_number(s, index) ||
		s->v->subnet->ports[index].num == s->port_num;
}

/* False: nothing to be seen here. */
static bool
scan_open(struct scan *s)
{
	uint32_t index = scan_index(s);

	s->lid = lid_of(s->v, scan_port(s, index));
	if (!s->lid || !scan_has_number(s, index))
		return false;
	s->i = s->i_first;
	s->n = MIN(scan_count(s, index), s->i_end);
	if (s->table->attr_id == SA_ATTR_SL_TO_VL && ignores_number(s, index)) {
		s->i = 0;		/* a CA has one, of no input port */
		s->n = 1;
	}
	s->open = s->i < s->n && scan_sees(s, index);
	return s->open;
}

static enum sa_draw
scan_draw(struct sa_records *base, uint8_t *record)
{
	struct scan *s = (struct scan *)base;
	unsigned left = RECORDS_GO;

	for (; s->at < s->end; s->at++, s->open = false) {
		if (left-- == 0)
			return SA_DRAW_PAUSE;
		if (!s->open && !scan_open(s))
			continue;
		while (s->i < s->n) {
			sa_record_encode(base->attr_id, record, NULL);
			if (s->table->make(s, scan_index(s), s->i++, record)) {
				bytes_store16(record, s->lid);
				if (sa_match_test(&s->match, record))
					return SA_DRAW_RECORD;
			}
			if (left-- == 0)
				return SA_DRAW_PAUSE;
		}
	}
	return SA_DRAW_END;
}

static void
scan_free(struct sa_records *base)
{
	struct scan *s = (struct scan *)base;

	if (s->list)
		g_array_unref(s->list);
	mft_free(s->mft);
}

/* ------------------------------------------------------------- narrowing */

static bool
scan_asks(const struct scan *s, unsigned component)
{
	return s->q->h.comp_mask >> component & 1;
}

/* The value of a component of whole bytes. */
static uint64_t
scan_wanted(const struct scan *s, unsigned component)
{
	unsigned n;
	const struct mad_field *f = sa_fields(s->table->attr_id, &n);

	return bytes_load(s->q->wanted + f[component].offset / 8,
		       f[component].bits / 8);
}

static void
narrow_to_node(struct scan *s, uint32_t node)
{
	const struct snapshot_node *n = &s->v->subnet->nodes[node];

	s->at = n->first_port;
	s->end = n->first_port + n->info.num_ports + 1u;
}

/* The domain becomes one node, or one port of a CA. */
static void
narrow_to_port(struct scan *s, uint32_t port)
{
	const struct snapshot_node *n;

	if (port == SNAPSHOT_NONE) {
		s->end = s->at;
		return;
	}
	n = snapshot_node_of(s->v->subnet, port);
	if (s->table->domain == DOMAIN_SWITCHES) {
		s->at = n->sw_index;
		s->end = n->sw_index == SNAPSHOT_NONE ? s->at : s->at + 1;
	} else if (snapshot_is_switch(n)) {
		narrow_to_node(s, s->v->subnet->ports[port].node);
	} else {
		s->at = port;
		s->end = port + 1;
	}
}

/* The LID of the request is any of a range; that of a record is its first. */
static void
match_base_lid(struct scan *s, unsigned offset, uint32_t port)
{
	if (port == SNAPSHOT_NONE)
		return;
	s->match.value[offset] = (uint8_t)(s->v->lids->base[port] >> 8);
	s->match.value[offset + 1] = (uint8_t)s->v->lids->base[port];
}

static gint
compare_indices(gconstpointer a, gconstpointer b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void
list_end(struct scan *s)
{
	g_array_sort(s->list, compare_indices);
	s->at = 0;
	s->end = s->list->len;
}

#define LINK_TO_LID		3u
#define LINK_TO_LID_OFFSET	4u

/* The links that end at this LID begin at what its ports are cabled to. */
static void
narrow_link(struct scan *s)
{
	const struct snapshot *n = s->v->subnet;
	uint32_t port;

	if (!scan_asks(s, LINK_TO_LID))
		return;
	port = sa_db_lid(s->v, (uint16_t)scan_wanted(s, LINK_TO_LID));
	match_base_lid(s, LINK_TO_LID_OFFSET, port);
	if (scan_asks(s, 0))
		return;
	narrow_to_port(s, port);
	s->list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t p = s->at; p < s->end; p++)
		if (n->ports[p].peer != SNAPSHOT_NONE)
			g_array_append_val(s->list, n->ports[p].peer);
	list_end(s);
}

#define NODE_SYSTEM_GUID	6u
#define NODE_NODE_GUID		7u
#define NODE_PORT_GUID		8u

static void
narrow_to_system(struct scan *s, uint64_t guid)
{
	const struct snapshot *n = s->v->subnet;
	const struct snapshot_node *node;
	uint32_t count, first = sa_db_system(s->v, guid, &count), port;

	s->list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = first; i < first + count; i++) {
		node = &n->nodes[s->v->by_system[i]];
		for (unsigned p = 0; p <= node->info.num_ports; p++) {
			port = node->first_port + p;
			g_array_append_val(s->list, port);
		}
	}
	list_end(s);
}

static void
narrow_node(struct scan *s)
{
	uint32_t node;

	if (scan_asks(s, 0)) {
		return;
	} else if (scan_asks(s, NODE_PORT_GUID)) {
		narrow_to_port(s, sa_db_guid(s->v, scan_wanted(s,
							NODE_PORT_GUID)));
	} else if (scan_asks(s, NODE_NODE_GUID)) {
		node = snapshot_find_node(s->v->subnet,
					scan_wanted(s, NODE_NODE_GUID));
		if (node == SNAPSHOT_NONE)
			s->end = s->at;
		else
			narrow_to_node(s, node);
	} else if (scan_asks(s, NODE_SYSTEM_GUID)) {
		narrow_to_system(s, scan_wanted(s, NODE_SYSTEM_GUID));
	}
}

#define GUID_INFO_GUID0		4u

/* Only GUID0 of block 0 is not zero, and it is the PortGUID. */
static void
narrow_guid_info(struct scan *s)
{
	uint64_t guid;

	if (scan_asks(s, 0) || !scan_asks(s, GUID_INFO_GUID0))
		return;
	guid = scan_wanted(s, GUID_INFO_GUID0);
	if (guid)
		narrow_to_port(s, sa_db_guid(s->v, guid));
}

#define MFT_POSITION	1u
#define MFT_BLOCKNUM	3u

static void
narrow_mft(struct scan *s)
{
	const struct mft *mft = s->mft;
	uint32_t position = s->q->wanted[2] >> 4;
	uint32_t block = (uint32_t)bytes_load(s->q->wanted + 2, 2) & 0x1ffu;

	if (!mft || !scan_asks(s, MFT_POSITION) || !scan_asks(s, MFT_BLOCKNUM))
		return;
	if (block >= mft->n_blocks) {
		s->end = s->at;
		return;
	}
	s->i_first = position * mft->n_blocks + block;
	s->i_end = s->i_first + 1;
}

#define PORT_INFO_CAP_MASK	7u
#define PORT_INFO_CAP_MASK2	53u

static void
match_set_bits(struct scan *s, unsigned component)
{
	unsigned n, first, len;
	const struct mad_field *f = sa_fields(s->table->attr_id, &n);

	first = f[component].offset / 8;
	len = f[component].bits / 8;
	if (scan_asks(s, component))
		memcpy(s->match.mask + first, s->match.value + first, len);
}

static void
scan_narrow(struct scan *s)
{
	const struct fabric_table *t = s->table;
	uint32_t port;

	if (scan_asks(s, 0)) {		/* the LID, of all tables */
		port = sa_db_lid(s->v, (uint16_t)scan_wanted(s, 0));
		narrow_to_port(s, port);
		match_base_lid(s, 0, port);
	}
	if (t->block >= 0 && scan_asks(s, (unsigned)t->block)) {
		/* below the base: a number that no record has */
		s->i_first = (uint32_t)scan_wanted(s, (unsigned)t->block) -
			t->block_base;
		s->i_end = s->i_first + 1;
	}
	if (t->port >= 0 && scan_asks(s, (unsigned)t->port))
		s->port_num = (int)scan_wanted(s, (unsigned)t->port);
	switch (t->attr_id) {
	case SA_ATTR_NODE:
		narrow_node(s);
		break;
	case SA_ATTR_PORT_INFO:
		if (!(s->q->h.mad.attr_mod & CAP_MATCH))
			break;
		match_set_bits(s, PORT_INFO_CAP_MASK);
		match_set_bits(s, PORT_INFO_CAP_MASK2);
		break;
	case SA_ATTR_LINK:
		narrow_link(s);
		break;
	case SA_ATTR_GUID_INFO:
		narrow_guid_info(s);
		break;
	case SA_ATTR_MULTICAST_FT:
		narrow_mft(s);
		break;
	}
}

struct sa_records *
records_of_fabric(const struct sa_query *q, unsigned *status)
{
	const struct fabric_table *table = NULL;
	uint64_t plain = q->h.comp_mask;
	struct sa_match match;
	struct scan *s;

	*status = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (tables[i].attr_id == q->h.mad.attr_id)
			table = &tables[i];
	if (!table)
		return NULL;
	/* The numbers narrow the scan; a CA's record may have others. */
	if (table->ca_by_lid)
		plain &= ~(SA_BIT(table->port) | SA_BIT(table->block));
	*status = SA_STATUS_REQ_INVALID;
	if ((table->attr_id == SA_ATTR_PKEY_TABLE && !q->who.trusted) ||
	    !sa_match_init(&match, table->attr_id, plain, q->wanted))
		return NULL;
	s = g_new0(struct scan, 1);
	sa_records_init(&s->base, q, table->attr_id, scan_draw, scan_free);
	s->v = q->who.db;
	s->table = table;
	s->match = match;
	s->q = q;
	s->mft = s->v->mft ? mft_ref(s->v->mft) : NULL;
	s->i_end = UINT32_MAX;
	s->port_num = -1;
	s->end = table->domain == DOMAIN_PORTS ? s->v->subnet->n_ports :
		s->v->subnet->n_switches;
	scan_narrow(s);
	s->q = NULL;
	*status = 0;
	return &s->base;
}

/* ---------------------------------------------------- what must be read yet */

/* Which table of a port such a record tells of; PORT_N_TABLES: none, or one
 * that every sweep reads. */
static enum port_table
table_on_demand(unsigned attr_id)
{
	switch (attr_id) {
	case SA_ATTR_SL_TO_VL:
		return PORT_TABLE_SL2VL;
	case SA_ATTR_VL_ARB:
		return PORT_TABLE_VL_ARB;
	case SA_ATTR_PKEY_TABLE:
		return PORT_TABLE_PKEY;
	}
	return PORT_N_TABLES;
}

/* P_Keys of end ports are known by the sweep, those of a switch's external
 * ports only where they are written. */
static bool
may_have_table(const struct sa_db *v, enum port_table table, uint32_t port)
{
	const struct snapshot *s = v->subnet;

	if (!s->ports[port].known || !v->lids->base[scan_end_port(v, port)])
		return false;
	return table != PORT_TABLE_PKEY || !snapshot_is_end_port(s, port);
}

GArray *
records_unread(const struct sa_query *q, enum port_table *table)
{
	struct sa_records *r;
	GArray *ports;
	unsigned status;

	*table = table_on_demand(q->h.mad.attr_id);
	r = *table == PORT_N_TABLES ? NULL : records_of_fabric(q, &status);
	if (!r)
		return NULL;
	ports = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (struct scan *s = (struct scan *)r; s->at < s->end; s->at++) {
		uint32_t port = scan_index(s);

		if (scan_has_number(s, port) && scan_sees(s, port) &&
		    may_have_table(s->v, *table, port) &&
		    !sa_db_table_is_read(s->v, *table, port))
			g_array_append_val(ports, port);
	}
	sa_records_free(r);
	if (ports->len)
		return ports;
	g_array_unref(ports);
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as records.
 *
 * Method. A kind of record is a row of `tables`: whether each port has such
 * records or port 0 of a switch only, and which components number them;
 * scan_count() has how many, make_of_port() and make_of_switch() what is in one.
 * The scan walks the ports, makes their records, and keeps those that match the
 * request.
 *
 * Cost. If the mask has a LID, or of a NodeRecord a PortGUID, only
 * that node is walked; a BlockNum leaves one record of each port or switch. A
 * LID within a port's LMC range means that port, whose records carry the base
 * LID. Other queries walk the fabric, RECORDS_GO steps at a time.
 *
 * P_Key and VL tables of a CA: the LID alone identifies the port. Any port
 * number in the request matches the record, as osmtest expects.
 *
 * Tables of ports are answered as far as the sweep has read or written them:
 * P_Key tables of end ports, those of a switch's external ports if they enforce
 * partitions, and the other two tables with QoS. With QoS each port has all
 * blocks, as osmtest expects: those without a use are empty.
 *
 * Visibility. A requester that is not trusted sees ports with which it shares a
 * partition (IBA C15-0.1.22); M_Keys and P_Key tables only the trusted.
 */
#include "sm/sa/query.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/smp.h"

#define CAP_MATCH	0x80000000u	/* AttributeModifier of PortInfoRecord:
					   both capability masks are compared
					   in the bits that are set only */
#define NODE_DESC_OFFSET	44u	/* NodeDescription of a NodeRecord */
#define BLOCK_OFFSET	8u	/* of the block in the record of a table */

bool
sa_viewer_sees(const struct sa_viewer *viewer, uint32_t port)
{
	return viewer->trusted || port == viewer->port ||
		memberships_common(viewer->db->memberships, viewer->port, port);
}

enum sa_draw
sa_records_draw(struct sa_records *r, uint8_t *record)
{
	enum sa_draw drawn = SA_DRAW_PAUSE;

	while (drawn == SA_DRAW_PAUSE && r->steps++ < RECORDS_GO)
		drawn = r->next(r, record);
	if (drawn == SA_DRAW_PAUSE)
		r->steps = 0;
	return drawn;
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
	sa_db_unref(r->viewer.db);
	g_free(r);
}

void *
sa_records_new(size_t size, const struct sa_query *q, unsigned attr_id,
	       enum sa_draw (*next)(struct sa_records *r, uint8_t *record),
	       void (*free)(struct sa_records *r))
{
	struct sa_records *r = g_malloc0(size);

	r->viewer = q->viewer;
	if (r->viewer.db)
		sa_db_ref(r->viewer.db);
	r->attr_id = attr_id;
	r->next = next;
	r->free = free;
	return r;
}

/* ----------------------------------------------- one kind after the other */

#define NO_TABLE	PORT_N_TABLES

/* A kind of record. */
struct fabric_table {
	uint16_t attr_id;
	bool of_switch;		/* only port 0 of a switch has one */
	int8_t block;		/* component that is the number of a record, */
	uint8_t block_base;	/* which begins with this; -1: none */
	int8_t port;		/* component that is the port's number, or -1;
				   both of whole bytes */
	uint8_t table;		/* enum port_table: known blocks; the LID of a
				   CA alone identifies the port: port numbers
				   in the record mean nothing there */
};

struct scan {
	struct sa_records base;
	struct sa_db *v;	/* base.viewer.db */
	struct mft *mft;	/* the view's when this began, or NULL */
	const struct fabric_table *table;
	const struct mad_field *fields;	/* of a record, by component */
	uint32_t at, end;	/* ports */
	uint32_t i, n;		/* records of `at`, */
	uint16_t lid;		/* and its LID */
	uint32_t i_first, i_end;	/* those that are wanted */
	int port_num;		/* only ports with this number; -1: all */
	bool open;		/* i, n and lid are those of `at` */
};

static uint16_t
lid_of(const struct sa_db *v, uint32_t port)
{
	return v->lids->base[snapshot_holder_of(v->subnet, port)];
}

static bool
make_of_port(const struct scan *s, uint8_t *record)
{
	const struct snapshot *n = s->v->subnet;
	const struct snapshot_port *p = &n->ports[s->at];
	const struct snapshot_node *node = snapshot_node_of(n, s->at);
	enum port_table table = s->table->table;
	static const union port_block empty;
	const union port_block *b;
	uint8_t data[SMP_DATA_LEN];
	uint32_t peer = p->peer;
	struct port_info port;
	struct node_info info;

	switch (s->table->attr_id) {
	case SA_ATTR_NODE:
		info = node->info;
		info.port_guid = p->guid;
		info.local_port = p->num;	/* of entry, in the reply */
		sa_record_encode(SA_ATTR_NODE, record, &info);
		memcpy(record + NODE_DESC_OFFSET, node->desc,
		       strnlen(node->desc, 64));
		return snapshot_is_end_port(n, s->at);
	case SA_ATTR_PORT_INFO:
		port = p->info;
		if (!s->base.viewer.trusted)
			port.m_key = 0;
		sa_record_encode(SA_ATTR_PORT_INFO, record, &port);
		return p->known;
	case SA_ATTR_LINK:
		if (peer == SNAPSHOT_NONE || !snapshot_link_up(n, s->at) ||
		    !snapshot_link_up(n, peer) || !lid_of(s->v, peer) ||
		    !sa_viewer_sees(&s->base.viewer,
				    snapshot_holder_of(n, peer)))
			return false;
		record[3] = n->ports[peer].num;
		bytes_store16(record + 4, lid_of(s->v, peer));
		return true;
	case SA_ATTR_GUID_INFO:
		if (s->i == 0)
			bytes_store64(record + BLOCK_OFFSET, p->guid);
		return snapshot_is_end_port(n, s->at);
	}
	/* a block of a table: P_Keys, SL to VL, VL arbitration */
	b = sa_db_block(s->v, table, s->at, s->i);
	if (!b && table != PORT_TABLE_PKEY && s->v->qos && p->known)
		b = &empty;
	if (!b)
		return false;
	smp_table_encode(table, data, b);
	memcpy(record + BLOCK_OFFSET, data, table == PORT_TABLE_SL2VL ?
	       SL_COUNT / 2 : SMP_DATA_LEN);
	return true;
}

static bool
make_of_switch(const struct scan *s, uint8_t *record)
{
	const struct snapshot *n = s->v->subnet;
	const struct snapshot_node *node = snapshot_node_of(n, s->at);
	uint32_t position, block;
	const uint16_t *masks;

	switch (s->table->attr_id) {
	case SA_ATTR_SWITCH_INFO:
		sa_record_encode(SA_ATTR_SWITCH_INFO, record, &node->sw);
		return node->sw_known;
	case SA_ATTR_LINEAR_FT:
		memcpy(record + BLOCK_OFFSET, lft_row(s->v->lft, node->sw_index) +
		       s->i * LFT_BLOCK, LFT_BLOCK);
		return true;
	}
	/* a multicast table */
	position = s->i / s->mft->n_blocks;
	block = s->i % s->mft->n_blocks;
	masks = mft_block(s->mft, node->sw_index, position, block);
	bytes_store16(record + 2, (uint16_t)(position << 12 | block));
	for (unsigned k = 0; k < MFT_BLOCK; k++)
		bytes_store16(record + BLOCK_OFFSET + 2 * k, masks[k]);
	return true;
}

/* Makes the next record of a port or switch. False: it has no such record. */
static bool
scan_make(const struct scan *s, uint8_t *record)
{
	const struct fabric_table *t = s->table;
	const struct mad_field *f;

	sa_record_encode(t->attr_id, record, NULL);
	if (t->of_switch ? !make_of_switch(s, record) :
	    !make_of_port(s, record))
		return false;
	bytes_store16(record, s->lid);
	if (t->block >= 0) {
		f = &s->fields[t->block];
		bytes_store(record + f->offset / 8, s->i + t->block_base,
			    f->bits / 8);
	}
	if (t->port >= 0) {
		f = &s->fields[t->port];
		bytes_store(record + f->offset / 8,
			    s->v->subnet->ports[s->at].num, f->bits / 8);
	}
	return true;
}

static const struct fabric_table tables[] = {
	{ SA_ATTR_NODE, false, -1, 0, -1, NO_TABLE },
	{ SA_ATTR_PORT_INFO, false, -1, 0, 1, NO_TABLE },
	{ SA_ATTR_LINK, false, -1, 0, 1, NO_TABLE },
	{ SA_ATTR_GUID_INFO, false, 1, 0, -1, NO_TABLE },
	{ SA_ATTR_PKEY_TABLE, false, 1, 0, 2, PORT_TABLE_PKEY },
	{ SA_ATTR_SL_TO_VL, false, 1, 0, 2, PORT_TABLE_SL2VL },
	{ SA_ATTR_VL_ARB, false, 2, 1, 1, PORT_TABLE_VL_ARB },
	{ SA_ATTR_SWITCH_INFO, true, -1, 0, -1, NO_TABLE },
	{ SA_ATTR_LINEAR_FT, true, 1, 0, -1, NO_TABLE },
	{ SA_ATTR_MULTICAST_FT, true, -1, 0, -1, NO_TABLE },
};

/* How many records the port or switch may have of the kind. */
static uint32_t
scan_count(const struct scan *s)
{
	const struct snapshot *n = s->v->subnet;
	uint32_t at = s->at;

	switch (s->table->attr_id) {
	case SA_ATTR_GUID_INFO:
		return MAX((n->ports[at].info.guid_cap + 7u) / 8, 1u);
	case SA_ATTR_PKEY_TABLE:
		return s->v->tables ?
			s->v->tables->n_blocks[PORT_TABLE_PKEY][at] : 0;
	case SA_ATTR_SL_TO_VL:	/* one for each input port; a CA has none */
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

/* Does the LID alone identify this port? */
static bool
ignores_number(const struct scan *s)
{
	return s->table->table != NO_TABLE &&
		!snapshot_is_switch(snapshot_node_of(s->v->subnet, s->at));
}

/* False: it has no record that is requested, or the requester does not see its
 * port, or port 0 of the switch. */
static bool
scan_open(struct scan *s)
{
	const struct snapshot *n = s->v->subnet;
	uint8_t num = n->ports[s->at].num;

	s->lid = lid_of(s->v, s->at);
	if (!s->lid || (s->table->of_switch && (num ||
			!snapshot_is_switch(snapshot_node_of(n, s->at)))) ||
	    (s->port_num >= 0 && !ignores_number(s) && num != s->port_num) ||
	    !sa_viewer_sees(&s->base.viewer, snapshot_holder_of(n, s->at)))
		return false;
	s->i = s->i_first;
	s->n = MIN(scan_count(s), s->i_end);
	if (s->table->attr_id == SA_ATTR_SL_TO_VL && ignores_number(s)) {
		s->i = 0;		/* a CA has one, of no input port */
		s->n = 1;
	}
	s->open = s->i < s->n;
	return s->open;
}

static enum sa_draw
scan_next(struct sa_records *base, uint8_t *record)
{
	struct scan *s = (struct scan *)base;
	bool made;

	if (s->at >= s->end)
		return SA_DRAW_END;
	if (!s->open && !scan_open(s)) {
		s->at++;
		return SA_DRAW_PAUSE;
	}
	made = scan_make(s, record);
	if (++s->i >= s->n) {
		s->at++;
		s->open = false;
	}
	return made ? sa_records_test(base, record) : SA_DRAW_PAUSE;
}

static void
scan_free(struct sa_records *base)
{
	mft_free(((struct scan *)base)->mft);
}

/* -------------------------------------------------------------- narrowing */

#define LINK_TO_LID		3u
#define NODE_PORT_GUID		8u

/* Does the request have this component, of whole bytes? */
static bool
has_component(const struct scan *s, const struct sa_query *q,
	      unsigned component, uint64_t *value)
{
	const struct mad_field *f = &s->fields[component];

	if (!(q->h.comp_mask >> component & 1))
		return false;
	*value = bytes_load(q->wanted + f->offset / 8, f->bits / 8);
	return true;
}

/* To one node, one port of a CA, or nothing. */
static void
narrow_to_port(struct scan *s, uint32_t port)
{
	const struct snapshot_node *n;

	s->end = s->at;
	if (port == SNAPSHOT_NONE)
		return;
	n = snapshot_node_of(s->v->subnet, port);
	s->at = snapshot_is_switch(n) ? n->first_port : port;
	s->end = s->at + 1u + (snapshot_is_switch(n) ? n->info.num_ports : 0);
}

/* The LID of the request is any of a range; that of a record is its first. */
static uint32_t
match_base_lid(struct scan *s, unsigned offset, uint64_t lid)
{
	uint32_t port = lid_map_owner(s->v->lids, (uint16_t)lid);

	if (port != SNAPSHOT_NONE)
		bytes_store16(s->base.match.value + offset,
			      s->v->lids->base[port]);
	return port;
}

/* By name: they stand behind components that later revisions of IBA add. */
static void
match_caps(struct scan *s, const struct sa_query *q)
{
	unsigned n;
	const struct mad_field *f = sa_fields(SA_ATTR_PORT_INFO, &n);

	for (unsigned i = 0; i < n; i++) {
		size_t first = f[i].offset / 8;

		if (q->h.comp_mask >> i & 1 && f[i].name &&
		    g_str_has_prefix(f[i].name, "CapabilityMask"))
			memcpy(s->base.match.mask + first,
			       s->base.match.value + first, f[i].bits / 8);
	}
}

static void
scan_narrow(struct scan *s, const struct sa_query *q)
{
	const struct fabric_table *t = s->table;
	uint64_t value;

	if (has_component(s, q, 0, &value)) {	/* the LID, of all tables */
		narrow_to_port(s, match_base_lid(s, 0, value));
	} else if (t->attr_id == SA_ATTR_NODE &&
		   has_component(s, q, NODE_PORT_GUID, &value)) {
		narrow_to_port(s, sa_db_guid(s->v, value));
	}
	if (t->attr_id == SA_ATTR_LINK &&
	    has_component(s, q, LINK_TO_LID, &value))
		match_base_lid(s, 4, value);
	if (t->block >= 0 && has_component(s, q, (unsigned)t->block, &value)) {
		/* below the base: a number that no record has */
		s->i_first = (uint32_t)value - t->block_base;
		s->i_end = s->i_first + 1;
	}
	if (t->port >= 0 && has_component(s, q, (unsigned)t->port, &value))
		s->port_num = (int)value;
	if (t->attr_id == SA_ATTR_PORT_INFO && q->h.mad.attr_mod & CAP_MATCH)
		match_caps(s, q);
}

struct sa_records *
records_of_fabric(const struct sa_query *q, unsigned *status)
{
	const struct fabric_table *table = NULL;
	uint64_t plain = q->h.comp_mask;
	struct scan *s;

	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (tables[i].attr_id == q->h.mad.attr_id)
			table = &tables[i];
	if (!table)
		return NULL;
	/* The numbers narrow the scan; a CA's record may have others. */
	if (table->table != NO_TABLE)
		plain &= ~(SA_BIT(table->port) | SA_BIT(table->block));
	if (table->attr_id == SA_ATTR_PKEY_TABLE && !q->viewer.trusted) {
		*status = SA_STATUS_REQ_INVALID;
		return NULL;
	}
	s = sa_records_new(sizeof(*s), q, table->attr_id, scan_next, scan_free);
	s->v = q->viewer.db;
	s->table = table;
	s->fields = mad_attr_table(table->attr_id)->fields;
	sa_match_init(&s->base.match, table->attr_id, plain, q->wanted);
	s->mft = s->v->mft ? mft_ref(s->v->mft) : NULL;
	s->i_end = UINT32_MAX;
	s->port_num = -1;
	s->end = s->v->subnet->n_ports;
	scan_narrow(s, q);
	return &s->base;
}

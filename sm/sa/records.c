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
 * Who may see what. A requester that is not trusted sees ports with which it
 * shares a partition (IBA C15-0.1.22); M_Keys and P_Key tables only the
 * trusted.
 */
#include "sm/sa/scan.h"

#include <string.h>

#include "sm/mad/bytes.h"

#define CAP_MATCH	0x80000000u	/* AttributeModifier of PortInfoRecord:
					   of both capability masks the bits
					   that are set, not all of them */

struct sa_records {
	size_t size;
	const struct records_kind *kind;
	void *data;
};

struct sa_records *
records_new(unsigned attr_id, const struct records_kind *kind, void *data)
{
	struct sa_records *r = g_new0(struct sa_records, 1);

	r->size = sa_record_size(attr_id);
	r->kind = kind;
	r->data = data;
	return r;
}

enum sa_draw
sa_records_draw(struct sa_records *r, uint8_t *record)
{
	return r->kind->draw(r->data, record);
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
	return r->size;
}

void
sa_records_free(struct sa_records *r)
{
	if (!r)
		return;
	r->kind->free(r->data);
	g_free(r);
}

/* ------------------------------------------------------------ ready-made */

struct ready {
	GByteArray *bytes;
	size_t size, at;
};

static enum sa_draw
ready_draw(void *data, uint8_t *record)
{
	struct ready *r = data;

	if (r->at + r->size > r->bytes->len)
		return SA_DRAW_END;
	memcpy(record, r->bytes->data + r->at, r->size);
	r->at += r->size;
	return SA_DRAW_RECORD;
}

static void
ready_free(void *data)
{
	struct ready *r = data;

	g_byte_array_unref(r->bytes);
	g_free(r);
}

struct sa_records *
records_of_bytes(unsigned attr_id, GByteArray *bytes)
{
	static const struct records_kind kind = { ready_draw, ready_free };
	struct ready *r = g_new0(struct ready, 1);

	r->bytes = bytes;
	r->size = sa_record_size(attr_id);
	return records_new(attr_id, &kind, r);
}

bool
records_visible(const struct sa_db *v, const struct query *q, uint32_t port)
{
	return q->trusted || port == q->requester ||
		memberships_common(v->memberships, q->requester, port);
}

/* -------------------------------------------------------------- the scan */

static bool
scan_sees(const struct scan *s, uint32_t index)
{
	const struct snapshot *n = s->v->subnet;

	if (s->table->domain == DOMAIN_SWITCHES)
		return records_visible(s->v, &s->q,
				       n->nodes[n->switches[index]].first_port);
	return records_visible(s->v, &s->q, scan_end_port(s->v, index));
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

	if (!scan_has_number(s, index))
		return false;
	s->i = s->i_first;
	s->n = MIN(s->table->count(s, index), s->i_end);
	if (s->table->attr_id == SA_ATTR_SL_TO_VL && ignores_number(s, index)) {
		s->i = 0;		/* a CA has one, of no input port */
		s->n = 1;
	}
	s->open = s->i < s->n && scan_sees(s, index);
	return s->open;
}

static enum sa_draw
scan_draw(void *data, uint8_t *record)
{
	struct scan *s = data;
	unsigned left = RECORDS_GO;

	for (; s->at < s->end; s->at++, s->open = false) {
		if (left-- == 0)
			return SA_DRAW_PAUSE;
		if (!s->open && !scan_open(s))
			continue;
		while (s->i < s->n) {
			if (s->table->make(s, scan_index(s), s->i++, record) &&
			    sa_match_test(&s->match, record))
				return SA_DRAW_RECORD;
			if (left-- == 0)
				return SA_DRAW_PAUSE;
		}
	}
	return SA_DRAW_END;
}

static void
scan_free(void *data)
{
	struct scan *s = data;

	if (s->list)
		g_array_unref(s->list);
	mft_free(s->mft);
	sa_db_unref(s->v);
	g_free(s);
}

/* ------------------------------------------------------------- narrowing */

static bool
scan_asks(const struct scan *s, unsigned component)
{
	return s->q.h->comp_mask >> component & 1;
}

/* The value of a component of whole bytes. */
static uint64_t
scan_wanted(const struct scan *s, unsigned component)
{
	unsigned n;
	const struct mad_field *f = sa_fields(s->table->attr_id, &n);

	return bytes_load(s->q.wanted + f[component].offset / 8,
		       f[component].bits / 8);
}

static void
narrow_to_nothing(struct scan *s)
{
	s->end = s->at;
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
		narrow_to_nothing(s);
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

/* Component 0 of all tables. */
static void
narrow_by_lid(struct scan *s)
{
	uint32_t port = sa_db_lid(s->v, (uint16_t)scan_wanted(s, 0));

	narrow_to_port(s, port);
	match_base_lid(s, 0, port);
}

static void
list_begin(struct scan *s)
{
	s->list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
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
	list_begin(s);
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

	list_begin(s);
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
			narrow_to_nothing(s);
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
	uint32_t position = s->q.wanted[2] >> 4;
	uint32_t block = (uint32_t)bytes_load(s->q.wanted + 2, 2) & 0x1ffu;

	if (!mft || !scan_asks(s, MFT_POSITION) || !scan_asks(s, MFT_BLOCKNUM))
		return;
	if (block >= mft->n_blocks) {
		narrow_to_nothing(s);
		return;
	}
	s->i_first = position * mft->n_blocks + block;
	s->i_end = s->i_first + 1;
}

static void
narrow_by_block(struct scan *s)
{
	int block = s->table->block;

	if (block < 0 || !scan_asks(s, (unsigned)block))
		return;
	/* one that is below the base becomes one that nobody has */
	s->i_first = (uint32_t)scan_wanted(s, (unsigned)block) -
		s->table->block_base;
	s->i_end = s->i_first + 1;
}

static void
narrow_by_number(struct scan *s)
{
	if (s->table->port >= 0 && scan_asks(s, (unsigned)s->table->port))
		s->port_num = (int)scan_wanted(s, (unsigned)s->table->port);
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
	if (scan_asks(s, 0))
		narrow_by_lid(s);
	narrow_by_block(s);
	narrow_by_number(s);
	switch (s->table->attr_id) {
	case SA_ATTR_NODE:
		narrow_node(s);
		break;
	case SA_ATTR_PORT_INFO:
		if (!(s->q.h->mad.attr_mod & CAP_MATCH))
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

/* NULL: *status, or there is no such table. */
static struct scan *
scan_begin(struct sa_db *v, const struct query *q, unsigned *status)
{
	const struct fabric_table *table =
		scan_find_table(q->h->mad.attr_id);
	uint64_t plain = q->h->comp_mask;
	struct scan *s;

	*status = 0;
	if (!table)
		return NULL;
	/* The numbers narrow the scan; a CA's record may have others. */
	if (table->ca_by_lid)
		plain &= ~(SA_BIT(table->port) | SA_BIT(table->block));
	if (table->attr_id == SA_ATTR_PKEY_TABLE && !q->trusted) {
		*status = SA_STATUS_REQ_INVALID;
		return NULL;
	}
	s = g_new0(struct scan, 1);
	s->table = table;
	s->q = *q;
	if (!sa_match_init(&s->match, table->attr_id, plain, q->wanted)) {
		*status = SA_STATUS_REQ_INVALID;
		g_free(s);
		return NULL;
	}
	s->v = sa_db_ref(v);
	s->mft = v->mft ? mft_ref(v->mft) : NULL;
	s->i_end = UINT32_MAX;
	s->port_num = -1;
	s->end = table->domain == DOMAIN_PORTS ? v->subnet->n_ports :
		v->subnet->n_switches;
	scan_narrow(s);
	s->q.h = NULL;
	s->q.wanted = NULL;
	return s;
}

struct sa_records *
records_of_fabric(struct sa_db *v, const struct query *q, unsigned *status)
{
	static const struct records_kind kind = { scan_draw, scan_free };
	struct scan *s = scan_begin(v, q, status);

	return s ? records_new(s->table->attr_id, &kind, s) : NULL;
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
records_unread(struct sa_db *v, const struct query *q,
	       enum port_table *table)
{
	GArray *ports;
	unsigned status;
	struct scan *s;

	*table = table_on_demand(q->h->mad.attr_id);
	if (*table == PORT_N_TABLES)
		return NULL;
	s = scan_begin(v, q, &status);
	if (!s)
		return NULL;
	ports = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (; s->at < s->end; s->at++) {
		uint32_t port = scan_index(s);

		if (scan_has_number(s, port) && scan_sees(s, port) &&
		    may_have_table(v, *table, port) &&
		    !sa_db_table_is_read(v, *table, port))
			g_array_append_val(ports, port);
	}
	scan_free(s);
	if (ports->len)
		return ports;
	g_array_unref(ports);
	return NULL;
}

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
 * port's range of LMC means that port, whose records carry the base LID.
 *
 * Who may see what. A requester that is not trusted sees ports with which it
 * shares a partition (IBA C15-0.1.22); M_Keys and P_Key tables only the
 * trusted.
 */
#include "sm/sa/records.h"

#include <string.h>

#include "sm/wire/bytes.h"

#define CAP_MATCH	0x80000000u	/* AttributeModifier of PortInfoRecord:
					   all bits that are asked for */
#define PKEYS_BLOCK	32u

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
records_visible(const struct sa_view *v, const struct query *q, uint32_t port)
{
	return q->trusted || port == q->requester ||
		memberships_common(v->memberships, q->requester, port);
}

/* -------------------------------------------------------------- the scan */

/* Record number `i` of a port or switch. False: it has no such record. */
struct scan;
typedef bool (*make_fn)(const struct scan *s, uint32_t at, uint32_t i,
			uint8_t *record);

enum domain { DOMAIN_PORTS, DOMAIN_SWITCHES };

struct fabric_table {
	uint16_t attr_id;
	uint8_t domain;
	make_fn make;
	uint32_t (*count)(const struct scan *s, uint32_t at);
	int8_t block;		/* component that is the number of a record;
				   -1: none */
};

struct scan {
	struct sa_view *v;
	const struct fabric_table *table;
	struct sa_match match;
	struct query q;			/* q.h, q.wanted: not after the start */
	GArray *list;		/* of indices, ascending; NULL: all of them */
	uint32_t at, end;	/* of the list, or of the domain */
	uint32_t i, n;		/* records of `at` */
	uint32_t i_first, i_end;	/* those that are wanted */
	bool open;		/* i and n are those of `at` */
	bool cap_asked, cap_all;	/* PortInfoRecord.CapabilityMask */
	uint32_t cap_mask;
};

/* The end port of a port: itself, or port 0 of its switch. */
static uint32_t
end_port(const struct sa_view *v, uint32_t port)
{
	const struct subnet_node *n = subnet_node_of(v->subnet, port);

	return subnet_is_switch(n) ? n->first_port : port;
}

static uint16_t
lid_of(const struct sa_view *v, uint32_t port)
{
	return v->lids->base[end_port(v, port)];
}

static uint16_t
lid_of_switch(const struct sa_view *v, uint32_t sw)
{
	const struct subnet *s = v->subnet;

	return v->lids->base[s->nodes[s->switches[sw]].first_port];
}

static uint32_t
count_one(const struct scan *s, uint32_t at)
{
	return 1;
}

static bool
make_node(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct subnet_port *p = &s->v->subnet->ports[at];
	const struct subnet_node *n = subnet_node_of(s->v->subnet, at);
	struct node_info info = n->info;

	if (!subnet_is_end_port(s->v->subnet, at) || !lid_of(s->v, at))
		return false;
	info.port_guid = p->guid;
	if (p->num)
		info.local_port = p->num;
	node_record_encode(record, lid_of(s->v, at), &info, n->desc);
	return true;
}

static bool
make_port_info(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct subnet_port *p = &s->v->subnet->ports[at];
	struct port_info info = p->info;

	if (!p->known || !lid_of(s->v, at))
		return false;
	if (s->cap_asked && (s->cap_all ?
			     (info.cap_mask & s->cap_mask) != s->cap_mask :
			     info.cap_mask != s->cap_mask))
		return false;
	if (!s->q.trusted)
		info.m_key = 0;
	port_info_record_encode(record, lid_of(s->v, at), p->num, &info);
	return true;
}

static bool
make_link(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct subnet *n = s->v->subnet;
	uint32_t peer = n->ports[at].peer;

	if (peer == SUBNET_NONE || !subnet_link_up(n, at) ||
	    !subnet_link_up(n, peer) || !lid_of(s->v, at) ||
	    !lid_of(s->v, peer) ||
	    !records_visible(s->v, &s->q, end_port(s->v, peer)))
		return false;
	link_record_encode(record, lid_of(s->v, at), n->ports[at].num,
			   n->ports[peer].num, lid_of(s->v, peer));
	return true;
}

static uint32_t
count_guids(const struct scan *s, uint32_t at)
{
	const struct subnet_port *p = &s->v->subnet->ports[at];

	return MAX((p->info.guid_cap + 7u) / 8, 1u);
}

static bool
make_guid_info(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	uint64_t guids[8] = { 0 };

	if (!subnet_is_end_port(s->v->subnet, at) || !lid_of(s->v, at))
		return false;
	if (i == 0)
		guids[0] = s->v->subnet->ports[at].guid;
	guid_info_record_encode(record, lid_of(s->v, at), (uint8_t)i, guids);
	return true;
}

static uint32_t
count_pkeys(const struct scan *s, uint32_t at)
{
	const struct memberships *m = s->v->memberships;
	uint32_t n = m->first[at + 1] - m->first[at];

	return MAX((n + PKEYS_BLOCK - 1) / PKEYS_BLOCK, 1u);
}

static bool
make_pkeys(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct memberships *m = s->v->memberships;
	uint32_t first = m->first[at] + i * PKEYS_BLOCK, k;
	uint16_t pkeys[PKEYS_BLOCK] = { 0 };

	if (!subnet_is_end_port(s->v->subnet, at) || !lid_of(s->v, at))
		return false;
	for (k = 0; k < PKEYS_BLOCK && first + k < m->first[at + 1]; k++)
		pkeys[k] = m->pkeys[first + k];
	pkey_table_record_encode(record, lid_of(s->v, at), (uint16_t)i,
				 s->v->subnet->ports[at].num, pkeys);
	return true;
}

static bool
make_switch(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct subnet *n = s->v->subnet;
	const struct subnet_node *node = &n->nodes[n->switches[at]];

	if (!node->sw_known || !lid_of_switch(s->v, at))
		return false;
	switch_info_record_encode(record, lid_of_switch(s->v, at), &node->sw);
	return true;
}

static uint32_t
count_lft_blocks(const struct scan *s, uint32_t at)
{
	return lft_n_blocks(s->v->lft);
}

static bool
make_lft(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	if (!lid_of_switch(s->v, at))
		return false;
	linear_ft_record_encode(record, lid_of_switch(s->v, at), (uint16_t)i,
				lft_row(s->v->lft, at) + i * LFT_BLOCK);
	return true;
}

static uint32_t
count_mft_blocks(const struct scan *s, uint32_t at)
{
	return s->v->mft ? s->v->mft->n_positions * s->v->mft->n_blocks : 0;
}

static bool
make_mft(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	const struct mft *mft = s->v->mft;
	uint32_t position = i / mft->n_blocks, block = i % mft->n_blocks;

	if (!lid_of_switch(s->v, at))
		return false;
	multicast_ft_record_encode(record, lid_of_switch(s->v, at), position,
				   block, mft_block(mft, at, position, block));
	return true;
}

static uint32_t
count_none(const struct scan *s, uint32_t at)
{
	return 0;
}

static bool
make_none(const struct scan *s, uint32_t at, uint32_t i, uint8_t *record)
{
	return false;
}

static const struct fabric_table tables[] = {
	{ SA_ATTR_NODE, DOMAIN_PORTS, make_node, count_one, -1 },
	{ SA_ATTR_PORT_INFO, DOMAIN_PORTS, make_port_info, count_one, -1 },
	{ SA_ATTR_LINK, DOMAIN_PORTS, make_link, count_one, -1 },
	{ SA_ATTR_GUID_INFO, DOMAIN_PORTS, make_guid_info, count_guids, 1 },
	{ SA_ATTR_PKEY_TABLE, DOMAIN_PORTS, make_pkeys, count_pkeys, 1 },
	{ SA_ATTR_SWITCH_INFO, DOMAIN_SWITCHES, make_switch, count_one, -1 },
	{ SA_ATTR_LINEAR_FT, DOMAIN_SWITCHES, make_lft, count_lft_blocks, 1 },
	{ SA_ATTR_MULTICAST_FT, DOMAIN_SWITCHES, make_mft, count_mft_blocks,
	  -1 },
	/* The snapshot has none of these yet. */
	{ SA_ATTR_SL_TO_VL, DOMAIN_PORTS, make_none, count_none, -1 },
	{ SA_ATTR_VL_ARB, DOMAIN_PORTS, make_none, count_none, -1 },
};

static const struct fabric_table *
find_table(unsigned attr_id)
{
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (tables[i].attr_id == attr_id)
			return &tables[i];
	return NULL;
}

static bool
scan_sees(const struct scan *s, uint32_t index)
{
	const struct subnet *n = s->v->subnet;

	if (s->table->domain == DOMAIN_SWITCHES)
		return records_visible(s->v, &s->q,
				       n->nodes[n->switches[index]].first_port);
	return records_visible(s->v, &s->q, end_port(s->v, index));
}

static uint32_t
scan_index(const struct scan *s)
{
	return s->list ? g_array_index(s->list, uint32_t, s->at) : s->at;
}

/* False: nothing to be seen here. */
static bool
scan_open(struct scan *s)
{
	uint32_t index = scan_index(s);

	s->i = s->i_first;
	s->n = MIN(s->table->count(s, index), s->i_end);
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
	sa_view_unref(s->v);
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
	const struct sa_field *f = sa_fields(s->table->attr_id, &n);

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
	const struct subnet_node *n = &s->v->subnet->nodes[node];

	s->at = n->first_port;
	s->end = n->first_port + n->info.num_ports + 1u;
}

/* The domain becomes one node, or one port of a CA. */
static void
narrow_to_port(struct scan *s, uint32_t port)
{
	const struct subnet_node *n;

	if (port == SUBNET_NONE) {
		narrow_to_nothing(s);
		return;
	}
	n = subnet_node_of(s->v->subnet, port);
	if (s->table->domain == DOMAIN_SWITCHES) {
		s->at = n->sw_index;
		s->end = n->sw_index == SUBNET_NONE ? s->at : s->at + 1;
	} else if (subnet_is_switch(n)) {
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
	if (port == SUBNET_NONE)
		return;
	s->match.value[offset] = (uint8_t)(s->v->lids->base[port] >> 8);
	s->match.value[offset + 1] = (uint8_t)s->v->lids->base[port];
}

/* Component 0 of all tables. */
static void
narrow_by_lid(struct scan *s)
{
	uint32_t port = sa_view_lid(s->v, (uint16_t)scan_wanted(s, 0));

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
	const struct subnet *n = s->v->subnet;
	uint32_t port;

	if (!scan_asks(s, LINK_TO_LID))
		return;
	port = sa_view_lid(s->v, (uint16_t)scan_wanted(s, LINK_TO_LID));
	match_base_lid(s, LINK_TO_LID_OFFSET, port);
	if (scan_asks(s, 0))
		return;
	narrow_to_port(s, port);
	list_begin(s);
	for (uint32_t p = s->at; p < s->end; p++)
		if (n->ports[p].peer != SUBNET_NONE)
			g_array_append_val(s->list, n->ports[p].peer);
	list_end(s);
}

#define NODE_SYSTEM_GUID	6u
#define NODE_NODE_GUID		7u
#define NODE_PORT_GUID		8u

static void
narrow_to_system(struct scan *s, uint64_t guid)
{
	const struct subnet *n = s->v->subnet;
	const struct subnet_node *node;
	uint32_t count, first = sa_view_system(s->v, guid, &count), port;

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
		narrow_to_port(s, sa_view_guid(s->v, scan_wanted(s,
							NODE_PORT_GUID)));
	} else if (scan_asks(s, NODE_NODE_GUID)) {
		node = subnet_find_node(s->v->subnet,
					scan_wanted(s, NODE_NODE_GUID));
		if (node == SUBNET_NONE)
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
		narrow_to_port(s, sa_view_guid(s->v, guid));
}

#define MFT_POSITION	1u
#define MFT_BLOCKNUM	3u

static void
narrow_mft(struct scan *s)
{
	const struct mft *mft = s->v->mft;
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
	s->i_first = (uint32_t)scan_wanted(s, (unsigned)block);
	s->i_end = s->i_first + 1;
}

#define PORT_INFO_CAPABILITIES		7u
#define PORT_INFO_CAPABILITIES_OFFSET	24u

static void
scan_ask_capabilities(struct scan *s)
{
	if (!scan_asks(s, PORT_INFO_CAPABILITIES))
		return;
	s->cap_asked = true;
	s->cap_all = s->q.h->mad.attr_mod & CAP_MATCH;
	s->cap_mask = (uint32_t)bytes_load(s->q.wanted +
					PORT_INFO_CAPABILITIES_OFFSET, 4);
}

static void
scan_narrow(struct scan *s)
{
	if (scan_asks(s, 0))
		narrow_by_lid(s);
	narrow_by_block(s);
	switch (s->table->attr_id) {
	case SA_ATTR_NODE:
		narrow_node(s);
		break;
	case SA_ATTR_PORT_INFO:
		scan_ask_capabilities(s);
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
records_of_fabric(struct sa_view *v, const struct query *q, unsigned *status)
{
	static const struct records_kind kind = { scan_draw, scan_free };
	const struct fabric_table *table = find_table(q->h->mad.attr_id);
	struct scan *s;

	*status = 0;
	if (!table)
		return NULL;
	if (table->attr_id == SA_ATTR_PKEY_TABLE && !q->trusted) {
		*status = SA_STATUS_REQ_INVALID;
		return NULL;
	}
	s = g_new0(struct scan, 1);
	s->table = table;
	s->q = *q;
	if (!sa_match_init(&s->match, table->attr_id, q->h->comp_mask,
			   q->wanted)) {
		*status = SA_STATUS_REQ_INVALID;
		g_free(s);
		return NULL;
	}
	s->v = sa_view_ref(v);
	s->i_end = UINT32_MAX;
	s->end = table->domain == DOMAIN_PORTS ? v->subnet->n_ports :
		v->subnet->n_switches;
	scan_narrow(s);
	s->q.h = NULL;
	s->q.wanted = NULL;
	return records_new(table->attr_id, &kind, s);
}

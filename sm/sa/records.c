/*
 * The fabric as records.
 *
 * Structs. A table is a domain (ports or switches) with a number of records
 * for each: blocks, positions. fabric_table says how a record of each kind is
 * made; the scan walks the domain, makes candidates, and keeps those that
 * match.
 *
 * Narrowing. If the mask has the LID (the first component of all of these) or
 * the GUID, the domain shrinks to the node that owns it before anything is
 * made. A LID within a port's range of LMC means that port, whose records
 * carry the base LID.
 *
 * Who may see what. A requester that is not trusted sees ports with which it
 * shares a partition (IBA C15-0.1.22); M_Keys and P_Key tables only the
 * trusted.
 */
#include "sm/sa/records.h"

#include <string.h>

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

bool
sa_records_next(struct sa_records *r, uint8_t *record)
{
	return r->kind->next(r->data, record);
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

static bool
ready_next(void *data, uint8_t *record)
{
	struct ready *r = data;

	if (r->at + r->size > r->bytes->len)
		return false;
	memcpy(record, r->bytes->data + r->at, r->size);
	r->at += r->size;
	return true;
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
	static const struct records_kind kind = { ready_next, ready_free };
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
	int8_t node_guid, port_guid;	/* components; -1: none */
};

struct scan {
	struct sa_view *v;
	const struct fabric_table *table;
	struct sa_match match;
	struct query q;			/* q.h, q.wanted: not after the start */
	uint32_t at, end;		/* of the domain */
	uint32_t i, n;			/* of `at` */
	bool cap_asked, cap_any;	/* PortInfoRecord.CapabilityMask */
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
	if (s->cap_asked && (s->cap_any ?
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
	{ SA_ATTR_NODE, DOMAIN_PORTS, make_node, count_one, 7, 8 },
	{ SA_ATTR_PORT_INFO, DOMAIN_PORTS, make_port_info, count_one, -1,
	  -1 },
	{ SA_ATTR_LINK, DOMAIN_PORTS, make_link, count_one, -1, -1 },
	{ SA_ATTR_GUID_INFO, DOMAIN_PORTS, make_guid_info, count_guids, -1,
	  -1 },
	{ SA_ATTR_PKEY_TABLE, DOMAIN_PORTS, make_pkeys, count_pkeys, -1,
	  -1 },
	{ SA_ATTR_SWITCH_INFO, DOMAIN_SWITCHES, make_switch, count_one, -1,
	  -1 },
	{ SA_ATTR_LINEAR_FT, DOMAIN_SWITCHES, make_lft, count_lft_blocks, -1,
	  -1 },
	{ SA_ATTR_MULTICAST_FT, DOMAIN_SWITCHES, make_mft, count_mft_blocks,
	  -1, -1 },
	/* The snapshot has none of these yet. */
	{ SA_ATTR_SL_TO_VL, DOMAIN_PORTS, make_none, count_none, -1, -1 },
	{ SA_ATTR_VL_ARB, DOMAIN_PORTS, make_none, count_none, -1, -1 },
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
scan_sees(const struct scan *s, uint32_t at)
{
	const struct subnet *n = s->v->subnet;

	if (s->table->domain == DOMAIN_SWITCHES)
		return records_visible(s->v, &s->q,
				       n->nodes[n->switches[at]].first_port);
	return records_visible(s->v, &s->q, end_port(s->v, at));
}

static bool
scan_next(void *data, uint8_t *record)
{
	struct scan *s = data;

	for (; s->at < s->end; s->at++, s->i = 0) {
		if (s->i == 0) {
			s->n = s->table->count(s, s->at);
			if (!s->n || !scan_sees(s, s->at))
				continue;
		}
		while (s->i < s->n)
			if (s->table->make(s, s->at, s->i++, record) &&
			    sa_match_test(&s->match, record))
				return true;
	}
	return false;
}

static void
scan_free(void *data)
{
	struct scan *s = data;

	sa_view_unref(s->v);
	g_free(s);
}

static uint64_t
load_be(const uint8_t *from, unsigned n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | *from++;
	return value;
}

/* The domain becomes one node, or one port of a CA. */
static void
scan_narrow(struct scan *s, uint32_t port)
{
	const struct subnet_node *n;

	if (port == SUBNET_NONE) {
		s->end = s->at;
		return;
	}
	n = subnet_node_of(s->v->subnet, port);
	if (s->table->domain == DOMAIN_SWITCHES) {
		s->at = n->sw_index;
		s->end = n->sw_index == SUBNET_NONE ? s->at : s->at + 1;
	} else if (subnet_is_switch(n)) {
		s->at = n->first_port;
		s->end = n->first_port + n->info.num_ports + 1u;
	} else {
		s->at = port;
		s->end = port + 1;
	}
}

static uint64_t
wanted_guid(const struct scan *s, int component)
{
	unsigned n;
	const struct sa_field *f = sa_fields(s->table->attr_id, &n);

	return load_be(s->q.wanted + f[component].offset / 8, 8);
}

static void
scan_narrow_by_guid(struct scan *s)
{
	const struct subnet *n = s->v->subnet;
	uint64_t mask = s->q.h->comp_mask;
	uint32_t node;

	if (s->table->port_guid >= 0 && mask >> s->table->port_guid & 1) {
		scan_narrow(s, sa_view_guid(s->v, wanted_guid(s,
						s->table->port_guid)));
	} else if (s->table->node_guid >= 0 &&
		   mask >> s->table->node_guid & 1) {
		node = subnet_find_node(n, wanted_guid(s,
						s->table->node_guid));
		s->end = s->at;
		if (node == SUBNET_NONE)
			return;
		s->at = n->nodes[node].first_port;
		s->end = s->at + n->nodes[node].info.num_ports + 1u;
	}
}

/* The LID of the request is any of a range; that of a record is its first. */
static void
scan_narrow_by_lid(struct scan *s)
{
	uint16_t lid = (uint16_t)load_be(s->q.wanted, 2);
	uint32_t port = sa_view_lid(s->v, lid);

	scan_narrow(s, port);
	if (port == SUBNET_NONE)
		return;
	s->match.value[0] = (uint8_t)(s->v->lids->base[port] >> 8);
	s->match.value[1] = (uint8_t)s->v->lids->base[port];
}

static void
scan_ask_capabilities(struct scan *s)
{
	if (s->table->attr_id != SA_ATTR_PORT_INFO ||
	    !(s->q.h->comp_mask >> 7 & 1))
		return;
	s->cap_asked = true;
	s->cap_any = s->q.h->mad.attr_mod & CAP_MATCH;
	s->cap_mask = (uint32_t)load_be(s->q.wanted + 24, 4);
}

struct sa_records *
records_of_fabric(struct sa_view *v, const struct query *q, unsigned *status)
{
	static const struct records_kind kind = { scan_next, scan_free };
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
	s->end = table->domain == DOMAIN_PORTS ? v->subnet->n_ports :
		v->subnet->n_switches;
	scan_narrow_by_guid(s);
	if (q->h->comp_mask & 1)
		scan_narrow_by_lid(s);
	scan_ask_capabilities(s);
	s->q.h = NULL;
	s->q.wanted = NULL;
	return records_new(table->attr_id, &kind, s);
}

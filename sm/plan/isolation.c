// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The tables of ports: where in its table each P_Key of a port goes, and the
 * configured VLs fitted to each port.
 *
 * P_Keys. Queue pairs use a P_Key by its index, so a key that stays must stay at
 * its index, whatever else changes, also if only its membership changes between
 * full and limited; and a program that did not see its key go must not send into
 * another partition, so an index that becomes free is not used again in the same
 * change. And a leaf switch should drop packets of
 * partitions that the host is not in: the switch's port towards it gets the same
 * partitions, each as a full member. A switch matches a packet with its table as
 * an end port does (IBA 10.9.3), so a limited entry would drop all packets that a
 * limited member sends.
 *
 * Flow of want_pkeys(). For each end port: its keys (choose_keys(), which leaves
 * some out if the table is too small), the one for index 0, then layout_place()
 * in five steps:
 *   1. a key that is configured for index 0 is put there
 *   2. keys that the table has, and still shall have, stay at their index; of
 *	two equal ones the first
 *   3. a key of the same partition takes the index of the other membership
 *   4. the default partition takes index 0, if no key stays there
 *   5. keys without a place go behind the highest index that was in use, in its
 *	block; then to indexes without a key, then to those that became free.
 *	Other places become 0, which is no key (IBA 10.9.1.1)
 * Run on its own result this changes nothing. Then the port at the other end
 * of the cable, if it is a switch's: the same partitions, none at a fixed
 * index.
 *
 * Unknown is not empty. The table of an end port that is in use and was not read
 * as a whole is left alone until it is: the reader has reported it.
 *
 * Cost. `waiting` of a layout is a set of P_Keys, a bit each: those without a
 * place so far. With it a table costs one step for each of its entries and
 * keys, in any order. It is empty again when all keys are placed, so it is
 * cleared once and not for each port.
 *
 * Too small a table. The key for index 0 is kept, then the default partition,
 * then the lowest partitions, in each the full membership before the limited
 * one. What is left out is no membership: the SA offers no path and no group for
 * a key that the port does not have. A switch cannot enforce half of the keys, so
 * there it is all or none.
 *
 * VLs. One configuration serves ports that have one VL and ports that have
 * fifteen. A VL that a port does not have is mapped to those it has, modulo their
 * number: OpenSM does so, and every SL keeps some VL. In VL arbitration an entry
 * of such a VL gets weight 0, which skips it (IBA 7.6.9.2), since the entry of
 * the VL that took its SLs in is there already. An external port of a switch has
 * a mapping for each input port (IBA 14.2.5.8). Those of input ports without a
 * link are left out, which saves half of the blocks of a leaf that is half full.
 *
 * How many VLs? A port that carries traffic keeps its OperationalVLs, see
 * plan.c; one that comes up gets as many as both ends support and the
 * configuration permits. A packet may change its VL at every hop. That cannot
 * cause a deadlock: the channel dependency graph of the routes has no cycle even
 * without VLs.
 */
#include "sm/plan/isolation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topology/each.h"
#include "topology/text.h"

#define STRANGERS_MAX	100u	/* rules for absent ports that are printed */
#define SET_WORDS	(0x10000 / 64)
#define VLS_CODE_MAX	5u
#define SAID_MAX	4u	/* partitions that one line names */

/* The key for index 0 of a port, or 0. */
struct first_key {
	uint16_t pkey;
	bool asked;		/* by the configuration: others give way */
};

/* A partition that is to have index 0, and the ports where another one has. */
struct asks_first {
	uint16_t pkey;
	uint32_t port;		/* the first of them */
	unsigned n;
};

struct layout {
	const struct snapshot *s;
	const struct partition_rules *rules;
	struct memberships *m;		/* not shared yet */
	const struct port_tables *held;
	struct port_tables *wanted;
	unsigned enforce;
	GPtrArray *notes;
	GArray *first;			/* struct asks_first */
	uint16_t *keys;			/* of the present port */
	unsigned n_keys;
	uint16_t *table;		/* the same, in their places */
	uint16_t *was;			/* the table that the port holds */
	uint64_t waiting[SET_WORDS];
};

/* --- a set of P_Keys --- */

/* False: it was not there. */
static bool
wait_take(struct layout *l, uint16_t pkey)
{
	uint64_t *word = &l->waiting[pkey / 64], bit = UINT64_C(1) << pkey % 64;
	bool waits = *word & bit;

	*word &= ~bit;
	return waits;
}

/* --- words --- */

G_GNUC_PRINTF(3, 4) static void
pkey_complain(struct layout *l, uint32_t port, const char *format, ...)
{
	g_autofree char *place = snapshot_place(l->s, l->s->ports[port].node,
						port);
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_ptr_array_add(l->notes, g_strdup_printf("%s: %s", place, text));
}

static void
name_partition(const struct layout *l, uint16_t pkey, GString *out)
{
	const struct partition *p = partition_rules_find(l->rules, pkey);

	if (p && p->name)
		g_string_append_printf(out, "\"%s\" ", p->name);
	g_string_append_printf(out, "(0x%04x)", pkey_base(pkey));
}

/* --- the keys of a port --- */

/* The place of a key when there is not room for all. */
static int
compare_rank(gconstpointer a, gconstpointer b, gpointer first)
{
	uint16_t ka = *(const uint16_t *)a;
	uint16_t kb = *(const uint16_t *)b;
	uint16_t at_once = *(const uint16_t *)first;

	return uint_compare(ka != at_once, kb != at_once) ?:
		uint_compare(pkey_base(ka) != PKEY_DEFAULT,
			       pkey_base(kb) != PKEY_DEFAULT) ?:
		uint_compare(pkey_base(ka), pkey_base(kb)) ?:
		uint_compare(kb, ka);
}

/* Ascending by partition, limited before full. */
static int
order_pkeys(const void *a, const void *b)
{
	uint16_t ka = *(const uint16_t *)a, kb = *(const uint16_t *)b;

	return uint_compare(pkey_base(ka), pkey_base(kb)) ?:
		uint_compare(ka, kb);
}

/* Sets l->keys; `first` is kept in any case. Memberships that are left out
 * become 0, behind the others of the port. */
static void
choose_keys(struct layout *l, uint32_t port, unsigned cap, uint16_t first)
{
	uint16_t *pkeys = l->m->pkeys + l->m->first[port];
	unsigned n = l->m->first[port + 1] - l->m->first[port];
	g_autoptr(GString) names = NULL;

	l->n_keys = n;
	if (!n) {
		pkey_complain(l, port, "it is not in any partition");
		return;
	}
	memcpy(l->keys, pkeys, n * sizeof(*l->keys));
	if (l->n_keys <= cap)
		return;
	g_qsort_with_data(l->keys, (gint)l->n_keys, sizeof(*l->keys),
			  compare_rank, &first);
	names = g_string_new(NULL);
	for (unsigned i = cap; i < MIN(l->n_keys, cap + SAID_MAX); i++) {
		g_string_append(names, i > cap ? ", " : "");
		name_partition(l, l->keys[i], names);
		g_string_append(names, l->keys[i] & PKEY_FULL ? " full" :
				" limited");
	}
	if (l->n_keys > cap + SAID_MAX)
		g_string_append_printf(names, " and %u more",
				       l->n_keys - cap - SAID_MAX);
	pkey_complain(l, port, "its P_Key table has room for %u of %u P_Keys; "
		      "left out: %s", cap, l->n_keys, names->str);
	l->n_keys = cap;
	qsort(l->keys, cap, sizeof(*l->keys), order_pkeys);
	memset(pkeys, 0, n * sizeof(*pkeys));
	memcpy(pkeys, l->keys, cap * sizeof(*pkeys));
}

/* Removes those that are 0. */
static void
drop_left_out(struct memberships *m)
{
	uint32_t n = 0, begin = 0;

	for (uint32_t port = 0; port < m->n_ports; port++) {
		uint32_t end = m->first[port + 1];

		for (uint32_t i = begin; i < end; i++)
			if (m->pkeys[i])
				m->pkeys[n++] = m->pkeys[i];
		begin = end;
		m->first[port + 1] = n;
	}
}

/* The P_Key of the port in the partition; of two the full one. 0: none. */
static uint16_t
key_in(const struct layout *l, uint32_t port, uint16_t base)
{
	unsigned what = memberships_of(l->m, port, base);

	if (what & PARTITION_FULL)
		return (uint16_t)(base | PKEY_FULL);
	return what ? base : 0;
}

/* Both lists are sorted by partition. */
static struct first_key
choose_first(struct layout *l, uint32_t port)
{
	uint32_t at = l->m->first[port];
	uint32_t end = l->m->first[port + 1];
	struct first_key first = { 0 };

	EACH_ITEM(struct asks_first, asks, l->first) {
		while (at < end && pkey_base(l->m->pkeys[at]) < asks->pkey)
			at++;
		if (at == end)
			break;
		if (pkey_base(l->m->pkeys[at]) != asks->pkey)
			continue;
		if (!first.asked)
			first = (struct first_key){
				key_in(l, port, asks->pkey), true,
			};
		else if (!asks->n++)
			asks->port = port;
	}
	if (!first.asked)
		first.pkey = key_in(l, port, PKEY_DEFAULT);
	return first;
}

/* A line for a partition: its ports are many. */
static void
complain_of_first(struct layout *l)
{
	EACH_ITEM(const struct asks_first, asks, l->first) {
		g_autoptr(GString) name = g_string_new(NULL);
		g_autofree char *others = asks->n < 2 ? NULL :
			g_strdup_printf(" here and at %u other port%s",
					asks->n - 1, text_plural(asks->n - 1));

		if (!asks->n)
			continue;
		name_partition(l, asks->pkey, name);
		pkey_complain(l, asks->port, "partition %s is not at index 0%s,"
			      " a lower P_Key asks for it as well", name->str,
			      others ?: "");
	}
}

/* --- their places --- */

/* Sets l->was. False: blocks are not known, and count as empty there. */
static bool
read_was(struct layout *l, uint32_t port, unsigned cap)
{
	const union port_block *b = NULL;
	bool whole = true;

	for (unsigned i = 0; i < cap; i++) {
		if (i % PKEYS_A_BLOCK == 0)
			b = port_tables_get(l->held, PORT_TABLE_PKEY, port,
					    i / PKEYS_A_BLOCK);
		whole &= b != NULL;
		l->was[i] = b ? b->pkeys[i % PKEYS_A_BLOCK] : 0;
	}
	return whole;
}

/* May queue pairs hold indexes of its table? Port 0 of a switch may show no
 * PortState; it has a LID then. */
static bool
is_in_use(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	return p->num ? p->info.state > PORT_STATE_INIT : p->info.lid != 0;
}

/* The key of this partition that has no place so far; 0: none. */
static uint16_t
wait_take_other(struct layout *l, uint16_t pkey)
{
	if (wait_take(l, pkey_base(pkey)))
		return pkey_base(pkey);
	return wait_take(l, pkey | PKEY_FULL) ? pkey | PKEY_FULL : 0;
}

/* Step 5. Not at once into a further block: a device may report more entries
 * than it has. */
static void
place_new(struct layout *l, unsigned cap)
{
	unsigned end = cap, block_end, k = 0;

	while (end > 0 && !l->was[end - 1])
		end--;
	block_end = MIN(cap, (end + PKEYS_A_BLOCK - 1) / PKEYS_A_BLOCK *
			PKEYS_A_BLOCK);
	for (unsigned pass = 0; pass < 3; pass++)
		for (unsigned i = pass ? 0 : end;
		     i < (pass ? cap : block_end); i++) {
			if (l->table[i] || (pass < 2 && l->was[i]))
				continue;
			while (k < l->n_keys && !wait_take(l, l->keys[k]))
				k++;
			if (k == l->n_keys)
				return;
			l->table[i] = l->keys[k++];
		}
}

/* l->keys, of which there are no more than `cap`, into the port's blocks, which
 * hold l->was. */
static void
layout_place(struct layout *l, uint32_t port, unsigned cap,
	     struct first_key first)
{
	unsigned n = l->wanted->n_blocks[PORT_TABLE_PKEY][port];

	memset(l->table, 0, n * sizeof(union port_block));
	for (unsigned i = 0; i < l->n_keys; i++)
		l->waiting[l->keys[i] / 64] |= UINT64_C(1) << l->keys[i] % 64;
	if (first.asked && cap && wait_take(l, first.pkey))
		l->table[0] = first.pkey;
	for (unsigned i = 0; i < cap; i++)
		if (!l->table[i] && wait_take(l, l->was[i]))
			l->table[i] = l->was[i];
	for (unsigned i = 0; i < cap; i++)
		if (!l->table[i])
			l->table[i] = wait_take_other(l, l->was[i]);
	if (cap && !l->table[0] && wait_take(l, first.pkey))
		l->table[0] = first.pkey;
	place_new(l, cap);
	for (unsigned i = 0; i < n; i++) {
		union port_block b;

		memcpy(b.pkeys, l->table + i * PKEYS_A_BLOCK, sizeof(b));
		port_tables_set(l->wanted, PORT_TABLE_PKEY, port, i, &b);
	}
}

/* --- enforcement --- */

/* What the switch of this port can enforce, of PKEY_ENFORCE_ (IBA 14.2.5.4); 0:
 * the port is not of a switch. */
static unsigned
enforceable(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);

	if (!snapshot_is_switch(n) || !n->sw_known)
		return 0;
	return (n->sw.enforce_inbound ? PKEY_ENFORCE_IN : 0) |
		(n->sw.enforce_outbound ? PKEY_ENFORCE_OUT : 0);
}

/* `keys` are those of the end port behind it, by partition. Returns what to
 * enforce. */
static uint8_t
want_guard(struct layout *l, uint32_t port, const uint16_t *keys,
	   unsigned n_keys)
{
	unsigned cap = port_pkey_cap(l->s, port);

	/* full members, each partition once */
	l->n_keys = 0;
	for (unsigned i = 0; i < n_keys; i++)
		if (!i || pkey_base(keys[i]) != pkey_base(keys[i - 1]))
			l->keys[l->n_keys++] = keys[i] | PKEY_FULL;
	if (l->n_keys > cap) {
		pkey_complain(l, port, "no partition enforcement: its table "
			 "has room for %u P_Keys, and the port behind it has "
			 "%u", cap, l->n_keys);
		return 0;
	}
	read_was(l, port, cap);
	layout_place(l, port, cap, (struct first_key){ 0 });
	return (uint8_t)(l->enforce & enforceable(l->s, port));
}

/* --- all ports --- */

bool
isolation_is_default(const struct partition_rules *rules)
{
	const struct partition *p;
	bool is = false;

	if (rules->partitions->len != 1)
		return false;
	p = rules->partitions->pdata[0];
	/* a later rule counts */
	EACH_ITEM(const struct partition_rule, rule, p->rules)
		is = rule->membership == PARTITION_FULL &&
			(is || rule->who == PARTITION_ALL);
	return is && p->pkey == PKEY_DEFAULT;
}

static struct layout *
layout_new(const struct isolation *i, const struct isolation_params *p,
	   const struct snapshot *s, const struct port_tables *held)
{
	struct layout *l = g_new0(struct layout, 1);
	unsigned most = 1;

	l->s = s;
	l->rules = p->rules;
	l->m = i->memberships;
	l->held = held;
	l->wanted = i->wanted;
	l->enforce = isolation_is_default(p->rules) ? 0 : p->enforce;
	l->notes = i->notes;
	/* room for the longest table and for the longest list of keys */
	for (uint32_t port = 0; port < s->n_ports; port++) {
		most = MAX(most, port_pkey_cap(s, port));
		most = MAX(most, l->m->first[port + 1] - l->m->first[port]);
	}
	most = (most + PKEYS_A_BLOCK - 1) / PKEYS_A_BLOCK * PKEYS_A_BLOCK;
	l->keys = g_new(uint16_t, most);
	l->table = g_new(uint16_t, most);
	l->was = g_new(uint16_t, most);
	l->first = g_array_new(FALSE, FALSE, sizeof(struct asks_first));
	EACH_PTR(const struct partition, one, p->rules->partitions) {
		const struct asks_first asks = { .pkey = one->pkey };

		if (one->index0)
			g_array_append_val(l->first, asks);
	}
	return l;
}

static void
want_pkeys(struct isolation *i, const struct isolation_params *p,
	   const struct snapshot *s, const struct port_tables *held)
{
	struct layout *l = layout_new(i, p, s, held);

	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;
		unsigned cap = port_pkey_cap(s, port);
		struct first_key first;

		if (!snapshot_is_end_port(s, port))
			continue;
		first = choose_first(l, port);
		choose_keys(l, port, cap, first.pkey);
		if (read_was(l, port, cap) || !is_in_use(s, port))
			layout_place(l, port, cap, first);
		/* An end port with a cable is no switch's: that is port 0. */
		if (peer != SNAPSHOT_NONE &&
		    l->enforce & enforceable(s, peer))
			i->enforce[peer] = want_guard(l, peer,
				l->m->pkeys + l->m->first[port], l->n_keys);
	}
	complain_of_first(l);
	drop_left_out(l->m);
	g_free(l->keys);
	g_free(l->table);
	g_free(l->was);
	g_array_unref(l->first);
	g_free(l);
}

/* --- VLs --- */

/* A code that is none counts as one VL, which every port has. */
static unsigned
code_vls(unsigned code)
{
	return MAX(port_vls(code), 1);
}

unsigned
isolation_vls_code(const struct qos *qos)
{
	unsigned most = MIN(qos->max_vls, code_vls(qos->max_op_vls)), code = 1;

	while (code < VLS_CODE_MAX && code_vls(code + 1u) <= most)
		code++;
	return code;
}

static unsigned
vls_of_port(const struct snapshot *s, const struct qos *qos, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];
	unsigned most;

	if (p->num == 0 || p->info.state >= PORT_STATE_ACTIVE)
		return code_vls(p->info.oper_vls);
	most = MIN(code_vls(p->info.vl_cap),
		   code_vls(s->ports[p->peer].info.vl_cap));
	return MIN(most, code_vls(isolation_vls_code(qos)));
}

/* A table of `cap` entries in the block `block` and the next one, its VLs as
 * those of the SLs: a VL without a weight would never send. */
static void
want_shares(struct port_tables *wanted, uint32_t port, unsigned n_vls,
	    unsigned block, const struct vl_share *shares, unsigned cap)
{
	cap = MIN(cap, QOS_ARB_ENTRIES);
	for (unsigned at = 0; at < cap; at += VL_ARB_ENTRIES, block++) {
		union port_block b = { .bytes = { 0 } };

		for (unsigned i = 0; i < VL_ARB_ENTRIES && at + i < cap; i++)
			b.arb[i] = (struct vl_share){
				.vl = shares[at + i].vl % n_vls,
				.weight = shares[at + i].weight,
			};
		port_tables_set(wanted, PORT_TABLE_VL_ARB, port, block, &b);
	}
}

void
isolation_want_vls(const struct snapshot *s, const struct qos *qos,
		   struct port_tables *wanted)
{
	for (uint32_t port = 0; qos && port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];
		const struct snapshot_node *n = &s->nodes[p->node];
		bool has_tables = snapshot_is_switch(n) && p->num == 0 ?
			p->known && n->sw_known && n->sw.enhanced_port0 :
			snapshot_link_up(s, port);
		union port_block b = { 0 };
		unsigned n_vls;

		if (!has_tables)
			continue;
		n_vls = vls_of_port(s, qos, port);
		want_shares(wanted, port, n_vls, VL_ARB_LOW_1, qos->low,
			    p->info.vl_arb_low_cap);
		want_shares(wanted, port, n_vls, VL_ARB_HIGH_1, qos->high,
			    p->info.vl_arb_high_cap);
		if (!(s->ports[snapshot_holder_of(s, port)].info.cap_mask &
		      PORT_CAP_HAS_SL_MAPPING))
			continue;
		for (unsigned sl = 0; sl < SL_COUNT; sl++)
			b.vl[sl] = qos->sl2vl[sl] == QOS_VL_DROP ?
				QOS_VL_DROP : (uint8_t)(qos->sl2vl[sl] % n_vls);
		port_tables_set(wanted, PORT_TABLE_SL2VL, port, 0, &b);
		for (unsigned in = 1; snapshot_is_switch(n) &&
		     in <= n->info.num_ports; in++)
			if (snapshot_link_up(s, n->first_port + in))
				port_tables_set(wanted, PORT_TABLE_SL2VL, port,
						in, &b);
	}
}

/* --- from the configuration to all tables --- */

bool
isolation_reads(const struct isolation_params *p, const struct snapshot *s,
		enum port_table table, uint32_t port)
{
	const struct snapshot_port *at = &s->ports[port];

	if (!at->known)
		return false;
	switch (table) {
	case PORT_TABLE_PKEY:
		if (snapshot_is_end_port(s, port))
			return true;
		/* a switch's port towards an end port */
		return p->enforce & enforceable(s, port) &&
			at->peer != SNAPSHOT_NONE &&
			!snapshot_is_switch(snapshot_node_of(s, at->peer)) &&
			!isolation_is_default(p->rules);
	case PORT_TABLE_SL2VL:
	case PORT_TABLE_VL_ARB:
		return p->qos && (snapshot_link_up(s, port) || at->num == 0);
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}

struct isolation *
isolation_new(const struct isolation_params *p, const struct snapshot *s,
	      const struct port_tables *held)
{
	struct isolation *i = g_new0(struct isolation, 1);
	g_autoptr(GArray) strangers =
		g_array_new(FALSE, FALSE, sizeof(struct partition_rule));
	const char *source = p->rules->source ? p->rules->source :
		"partitions";

	i->notes = g_ptr_array_new_with_free_func(g_free);
	i->memberships = memberships_new(p->rules, s, strangers);
	/* Rules for ports that are not on the fabric, with the line of the
	 * file; a rule without one was made at run time. */
	for (guint k = 0; k < MIN(strangers->len, STRANGERS_MAX); k++) {
		const struct partition_rule *rule =
			&g_array_index(strangers, struct partition_rule, k);
		g_autofree char *place = rule->line ?
			g_strdup_printf("%s:%u", source, rule->line) :
			g_strdup("changed at run time");
		uint32_t node = snapshot_find_node(s, rule->guid);

		g_ptr_array_add(i->notes, g_strdup_printf(
			"%s: port 0x%016" G_GINT64_MODIFIER "x is not on the "
			"fabric%s%s", place, rule->guid, node == SNAPSHOT_NONE ?
			"" : ": this is the NodeGUID, not a PortGUID, of ",
			node == SNAPSHOT_NONE ? "" :
			snapshot_node_name(&s->nodes[node])));
	}
	if (strangers->len > STRANGERS_MAX)
		g_ptr_array_add(i->notes, g_strdup_printf(
			"%s: %u more ports are not in the fabric", source,
			strangers->len - STRANGERS_MAX));
	i->n_away = i->notes->len;
	i->wanted = port_tables_new(s);
	i->enforce = g_new0(uint8_t, s->n_ports);
	want_pkeys(i, p, s, held);
	isolation_want_vls(s, p->qos, i->wanted);
	return i;
}

void
isolation_free(struct isolation *i)
{
	if (!i)
		return;
	memberships_unref(i->memberships);
	port_tables_unref(i->wanted);
	g_free(i->enforce);
	g_ptr_array_unref(i->notes);
	g_free(i);
}

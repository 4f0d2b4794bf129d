// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The words of tests/scripts/plan.scn, pkey_table.scn and qos.scn: what the SM
 * wants of a port, a switch and their tables, and the plan.
 *
 * Ports are host, the SM's port, gate, the switch port it is at, port0, port 0
 * of that switch, up, one of its ports to another switch, and H-1 and the like;
 * ^ is the other end of the cable.
 */
#include "tests/lib/plan_lab.h"
#include "tests/lib/request.h"
#include "tests/lib/unit.h"

static struct unit_word all_words[72];

struct stage {
	struct fabric *f;
	uint32_t *forgotten;	/* by port */
	char *digest;		/* of the last plan */
	struct port_tables *wanted;
	struct qos qos;		/* the built-in values at first */
	uint8_t *again;
};

static void
use(struct stage *st, struct fabric *f)
{
	if (st->f)
		fabric_free(st->f);
	g_free(st->forgotten);
	g_free(st->again);
	st->f = f;
	st->forgotten = g_new0(uint32_t, f->s->n_ports);
	st->again = g_new0(uint8_t, f->s->n_ports);
}

static void
stage_open(struct stage *st)
{
	use(st, fabric_new("PGFT(2,2;1,2)"));
	st->qos.max_op_vls = 5;
	st->qos.max_vls = QOS_VLS;
	for (uint8_t vl = 0; vl < QOS_VLS; vl++) {
		st->qos.sl2vl[vl] = vl;
		st->qos.high[vl] = (struct vl_share){ vl, vl ? 0 : 4 };
		st->qos.low[vl] = (struct vl_share){ vl, vl ? 4 : 0 };
	}
	st->qos.sl2vl[15] = 7;
}

static void
stage_close(struct stage *st)
{
	g_free(st->digest);
	port_tables_unref(st->wanted);
	for (uint32_t i = 0; i < st->f->s->n_nodes; i++)
		st->f->s->nodes[i].name = NULL;
	fabric_free(st->f);
	g_free(st->forgotten);
	g_free(st->again);
}

FIXTURE(stage)

/* Tables have 40 places; no rules. */
static int
set_up_pkeys(void **state)
{
	struct stage *st;

	stage_new(state);
	st = *state;
	fabric_set_caps(st->f, 40, 8, 40);
	st->f->params.rules = partition_rules_new();
	return 0;
}

static int
set_up_qos(void **state)
{
	struct stage *st;

	stage_new(state);
	st = *state;
	st->f->params.qos = &st->qos;
	for (uint32_t port = 0; port < st->f->s->n_ports; port++) {
		struct port_info *info = &st->f->s->ports[port].info;

		info->vl_cap = 5;
		info->vl_arb_low_cap = 64;
		info->vl_arb_high_cap = 64;
	}
	return 0;
}

/* ---- names ---- */

static uint32_t
port_of(const struct stage *st, const char *name)
{
	const struct {
		const char *name;
		uint32_t port;
	} ports[] = {
		{ "host", st->f->host }, { "gate", st->f->gate },
		{ "port0", st->f->port0 }, { "up", st->f->up },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
		const char *rest = name + strlen(ports[i].name);

		if (g_str_has_prefix(name, ports[i].name) && strlen(rest) < 2)
			return *rest ? st->f->s->ports[ports[i].port].peer :
				ports[i].port;
	}
	return fabric_port(st->f->s, name);
}

/* A port's LID, or the top of the LIDs. */
static bool
find_name(void *fixture, const char *name, struct request_name *out)
{
	const struct stage *st = fixture;
	uint32_t port = port_of(st, name);

	if (g_str_has_prefix(name, "top"))
		out->lid = (uint16_t)(st->f->lft->top - (name[3] == '-'));
	else if (port != SNAPSHOT_NONE)
		out->lid = st->f->lids->base[port];
	else
		return false;
	return true;
}

static const struct request_kind kind = { .name = find_name };

/* "none", or names of fields with commas. */
static unsigned
fields_of(const struct plan_field *fields, const char *list)
{
	g_auto(GStrv) names = g_strsplit(list, ",", -1);
	unsigned mask = 0;

	for (unsigned i = 0; names[i] && strcmp(list, "none"); i++) {
		unsigned bit = 0;

		while (strcmp(fields[bit].name, names[i]))
			bit++;
		mask |= 1u << bit;
	}
	return mask;
}

static enum plan_kind
kind_of(const char *name)
{
	static const char *const names[PLAN_N_KINDS] = {
		"change-clear", "table", "port", "lft", "mft", "switch", "arm",
		"activate",
	};
	enum plan_kind k = 0;

	while (strcmp(names[k], name))
		k++;
	return k;
}

/* ---- what there is ---- */

WORDS("fabric", do_fabric, struct stage *st)
{
	use(st, fabric_new(words[0]));
}

WORDS("single", do_single, struct stage *st)
{
	use(st, fabric_single());
}

/* policy, qos KEY=VALUE .. */
WORDS("policy qos", do_setting, struct stage *st)
{
#define KEY(type, m)	{ #m, G_STRUCT_OFFSET(struct type, m), \
		  sizeof(((struct type *)0)->m) }
	static const struct setting {
		const char *name;
		size_t at, size;
	} policy[] = {
		KEY(policy, m_key), KEY(policy, m_key_protect),
		KEY(policy, m_key_lease), KEY(policy, sm_sl),
		KEY(policy, gid_prefix), KEY(policy, subnet_timeout),
		KEY(policy, vl_stall), KEY(policy, leaf_vl_stall),
		KEY(policy, max_oper_vls), KEY(policy, hoq_life),
		KEY(policy, leaf_hoq_life), KEY(policy, overrun_errors),
		KEY(policy, packet_life_time),
	}, qos[] = {
		KEY(qos, max_vls), KEY(qos, max_op_vls), KEY(qos, high_limit),
	};
	bool is_qos = strcmp(words[-1], "qos") == 0;
	uint8_t *to = is_qos ? (uint8_t *)&st->qos : (uint8_t *)&st->f->policy;

	if (is_qos)
		st->f->w.qos = &st->qos;
	for (; *words; words++) {
		g_auto(GStrv) parts = g_strsplit(*words, "=", 2);
		const struct setting *k = is_qos ? qos : policy;

		while (strcmp(k->name, parts[0]))
			k++;
		member_store(to + k->at, (unsigned)k->size,
				word_number(parts[1]));
	}
}

/* PORT COMPONENT=VALUE ..: of PortInfo */
WORDS("port", do_port, struct stage *st)
{
	struct port_info *info = &st->f->s->ports[port_of(st, words[0])].info;

	for (words++; *words; words++)
		request_poke(SA_ATTR_PORT_INFO, info, *words);
}

/* COMPONENT=VALUE ..: of SwitchInfo of the gate's switch */
WORDS("switch", do_switch, struct stage *st)
{
	struct switch_info *sw = &st->f->s->nodes[st->f->sw].sw;

	for (; *words; words++) {
		g_auto(GStrv) parts = g_strsplit(*words, "=top", 2);
		g_autofree char *word = parts[1] ? g_strdup_printf("%s=%u",
			parts[0], st->f->lft->top + (*parts[1] == '+')) :
			g_strdup(*words);

		request_poke(SA_ATTR_SWITCH_INFO, sw, word);
	}
	/* there may be room for more in its tables now */
	port_tables_unref(st->f->held);
	st->f->held = port_tables_new(st->f->s);
}

/* PORT COMPONENT=VALUE ..: of NodeInfo */
WORDS("node", do_node, struct stage *st)
{
	uint32_t node = st->f->s->ports[port_of(st, words[0])].node;

	for (words++; *words; words++)
		request_poke(SA_ATTR_NODE, &st->f->s->nodes[node].info, *words);
}

WORDS("has-switch", do_has_switch, struct stage *st)
{
	uint8_t data[SA_DATA_LEN] = { 0 };

	switch_info_encode(data + 4, &st->f->s->nodes[st->f->sw].sw);
	request_hold(&kind, st, SA_ATTR_SWITCH_INFO, words, data);
}

/* PORT BIT 0: of CapabilityMask */
WORDS("capability", do_capability, struct stage *st)
{
	st->f->s->ports[port_of(st, words[0])].info.cap_mask &=
		~(1u << word_number(words[1]));
}

/* PORT 0|1; sw-known 0: the gate's switch */
WORDS("known sw-known", do_known, struct stage *st)
{
	if (strcmp(words[-1], "known") == 0)
		st->f->s->ports[port_of(st, words[0])].known =
			word_number(words[1]);
	else
		st->f->s->nodes[st->f->sw].sw_known = word_number(words[0]);
}

/* PORT [LMC] */
WORDS("lmc no-lid", do_lid, struct stage *st)
{
	uint32_t port = port_of(st, words[0]);

	if (strcmp(words[-1], "lmc") == 0)
		st->f->lids->lmc[port] = word_number(words[1]);
	else
		st->f->lids->base[port] = 0;
}

/* unplug PORT; loop PORT: its cable leads to itself */
WORDS("unplug loop", do_cable, struct stage *st)
{
	struct snapshot_port *p = &st->f->s->ports[port_of(st, words[0])];

	if (strcmp(words[-1], "loop") == 0) {
		p->peer = port_of(st, words[0]);
		return;
	}
	st->f->s->ports[p->peer].peer = SNAPSHOT_NONE;
	p->peer = SNAPSHOT_NONE;
}

/* describe, name PORT TEXT: its node */
WORDS("describe name", do_name, struct stage *st)
{
	const struct snapshot *s = st->f->s;
	struct snapshot_node *n =
		&s->nodes[s->ports[port_of(st, words[0])].node];
	g_autofree char *plain = g_strcompress(words[1]);

	if (strcmp(words[-1], "name") == 0)
		n->name = (char *)g_intern_string(plain);
	else
		g_strlcpy(n->desc, plain, NODE_DESC_LEN);
}

/* BLOCK ENTRY ..: the switch holds other entries than these */
WORDS("other-block", do_other_block, struct stage *st)
{
	uint32_t at = word_number(words[0]);
	uint8_t block[LFT_BLOCK];

	memcpy(block, lft_row(st->f->lft, 0) + at * LFT_BLOCK, LFT_BLOCK);
	for (words++; *words; words++)
		block[word_number(*words)] ^= 0x80;
	lft_seen_set(st->f->seen, 0, at, block);
}

/* As after another manager all are written. */
WORDS("all-blocks", do_all_blocks, struct stage *st)
{
	st->f->w.all_blocks = true;
}

/* LID PORT: by the entry of the first switch */
WORDS("route", do_route, struct stage *st)
{
	lft_row(st->f->lft, 0)[word_number(words[0])] = word_number(words[1]);
}

/* PORT FIELDS: it accepted and forgot them */
WORDS("forgotten", do_forgotten, struct stage *st)
{
	st->forgotten[port_of(st, words[0])] = fields_of(port_fields, words[1]);
}

/* ---- tables of ports, and their members ---- */

static unsigned
ways_of(char **words)
{
	unsigned ways = 0;

	for (; *words; words++)
		ways |= strcmp(*words, "in") ? strcmp(*words, "out") ? 0 :
			PKEY_ENFORCE_OUT : PKEY_ENFORCE_IN;
	return ways;
}

/* [in] [out]: what the rules and the QoS want, with this enforcement */
WORDS("isolate", do_isolate, struct stage *st)
{
	st->f->params.enforce = ways_of(words);
	fabric_isolate(st->f);
}

static struct partition *
partition_of(struct stage *st, uint64_t pkey)
{
	return partition_rules_get(st->f->params.rules, (uint16_t)pkey);
}

/* default-rules, no-rules */
WORDS("default-rules no-rules", do_rules, struct stage *st)
{
	partition_rules_unref(st->f->params.rules);
	st->f->params.rules = *words[-1] == 'd' ? partition_rules_default() :
		partition_rules_new();
}

/* P_KEY [NAME] */
WORDS("partition index0", do_partition, struct stage *st)
{
	struct partition *p = partition_of(st, word_number(words[0]));

	p->name = g_strdup(words[1]);
	p->index0 |= strcmp(words[-1], "index0") == 0;
}

/* P_KEY|FROM..TO MEMBERSHIP PORT|GUID|ALL ..: by line 12 of the file */
WORDS("admit", do_admit, struct stage *st)
{
	g_auto(GStrv) ends = g_strsplit(words[0], "..", 2);
	uint64_t last = word_number(ends[1] ?: ends[0]);
	struct partition_rule rule = { .line = 12 };

	while (strcmp(partition_membership_names[rule.membership], words[1]))
		rule.membership++;
	for (uint64_t pkey = word_number(ends[0]); pkey <= last; pkey++)
		for (char **name = words + 2; *name; name++) {
			uint32_t port = port_of(st, *name);

			rule.who = strcmp(*name, "ALL") ? PARTITION_GUID :
				PARTITION_ALL;
			rule.guid = port != SNAPSHOT_NONE ?
				st->f->s->ports[port].guid : rule.who ==
				PARTITION_ALL ? 0 : word_number(*name);
			g_array_append_val(partition_of(st, pkey)->rules, rule);
		}
}

WORDS("are-default", do_are_default, struct stage *st)
{
	assert_range(words[0], isolation_is_default(st->f->params.rules));
}

/* N; note, no-note TEXT: in one of them */
WORDS("notes note no-note", do_notes, struct stage *st)
{
	const GPtrArray *notes = st->f->isolation->notes;
	unsigned n = 0;

	if (strcmp(words[-1], "notes") == 0) {
		assert_range(words[0], notes->len);
		return;
	}
	for (guint i = 0; i < notes->len; i++)
		n += strstr(notes->pdata[i], words[0]) != NULL;
	assert_int_equal(n > 0, strcmp(words[-1], "note") == 0);
}

/* PORT P_KEY [MEMBERSHIP]: for the SA it is a member, or none */
WORDS("member", do_member, struct stage *st)
{
	unsigned what = memberships_of(st->f->isolation->memberships,
				       port_of(st, words[0]),
				       word_number(words[1]));

	assert_string_equal(words[2] ?: "none",
			    partition_membership_names[what]);
}

/* PORT,..|all [in] [out] [none] */
WORDS("enforced", do_enforced, struct stage *st)
{
	g_auto(GStrv) names = g_strsplit(words[0], ",", -1);
	bool all = strcmp(words[0], "all") == 0;

	for (char **name = names; *name; name++)
		for (uint32_t port = 0; port < st->f->s->n_ports; port++)
			if (all || port == port_of(st, *name))
				assert_int_equal(st->f->isolation->enforce[port],
						 ways_of(words + 1));
}

static const union port_block *
wanted(const struct stage *st, enum port_table table, uint32_t port,
       unsigned block)
{
	const struct port_tables *t = st->f->isolation->wanted;

	return block < t->n_blocks[table][port] ?
		port_tables_get(t, table, port, block) : NULL;
}

/* PORT INDEX|FROM..TO P_KEY [same]: of its table; from this P_Key on, or all
 * the same */
WORDS("at", do_at, struct stage *st)
{
	g_auto(GStrv) ends = g_strsplit(words[1], "..", 2);
	uint64_t first = word_number(ends[0]);

	for (uint64_t i = first; i <= word_number(ends[1] ?: ends[0]); i++) {
		const union port_block *b = wanted(st, PORT_TABLE_PKEY,
						   port_of(st, words[0]),
						   i / PKEYS_A_BLOCK);

		assert_int_equal(b ? b->pkeys[i % PKEYS_A_BLOCK] : 0,
				 word_number(words[2]) +
				 (words[3] ? 0 : i - first));
	}
}

/* TABLE PORT|all BLOCK HEX ..|none|any: wanted of it, or of all end ports;
 * behind a block of P_Keys there are no others */
WORDS("block", do_expect_block, struct stage *st)
{
	static const union port_block empty = { .bytes = { 0 } };
	enum port_table table = request_table(words[0]);
	g_autofree char *hex = g_strjoinv("", words + 3);
	bool is_none = strcmp(hex, "none") == 0;
	bool is_hex = !is_none && strcmp(hex, "any");
	union port_block expected = is_hex ? request_block(table, hex) : empty;

	for (uint32_t port = 0; port < st->f->s->n_ports; port++) {
		unsigned at = word_number(words[2]);
		const union port_block *b = wanted(st, table, port, at);

		if (strcmp(words[1], "all") ? port != port_of(st, words[1]) :
		    !snapshot_is_end_port(st->f->s, port))
			continue;
		assert_int_equal(!b, is_none);
		if (!is_hex)
			continue;
		assert_memory_equal(b, &expected, sizeof(expected));
		while (table == PORT_TABLE_PKEY &&
		       ++at < st->f->isolation->wanted->n_blocks[table][port])
			assert_memory_equal(wanted(st, table, port, at) ?:
					    &empty, &empty, sizeof(empty));
	}
}

/* TABLE PORT BLOCK HEX ..: held, or wanted */
WORDS("held want-block", do_block, struct stage *st)
{
	enum port_table table = request_table(words[0]);
	bool is_held = strcmp(words[-1], "held") == 0;
	g_autofree char *hex = g_strjoinv("", words + 3);
	union port_block b = request_block(table, hex);

	if (!is_held && !st->wanted)
		st->wanted = port_tables_new(st->f->s);
	port_tables_set(is_held ? st->f->held : st->wanted, table,
			port_of(st, words[1]), word_number(words[2]), &b);
	if (!is_held)
		st->f->w.tables = st->wanted;
}

/* VL,VL,.. */
WORDS("sl2vl", do_sl2vl, struct stage *st)
{
	g_auto(GStrv) vls = g_strsplit(words[0], ",", -1);

	assert_int_equal(g_strv_length(vls), SL_COUNT);
	for (unsigned i = 0; i < SL_COUNT; i++)
		st->qos.sl2vl[i] = word_number(vls[i]);
}

/* N=VL:WEIGHT ..: no others */
WORDS("low", do_low, struct stage *st)
{
	memset(st->qos.low, 0, sizeof(st->qos.low));
	for (; *words; words++) {
		g_auto(GStrv) parts = g_strsplit_set(*words, "=:", 3);

		st->qos.low[word_number(parts[0])] = (struct vl_share){
			word_number(parts[1]), word_number(parts[2]) };
	}
}

/* PORT SL VL: by way in 0 */
WORDS("vl", do_vl, struct stage *st)
{
	assert_range(words[2], wanted(st, PORT_TABLE_SL2VL,
				      port_of(st, words[0]),
				      0)->vl[word_number(words[1])]);
}

/* N: OperationalVLs of PortInfo */
WORDS("vls-code", do_vls_code, struct stage *st)
{
	assert_range(words[0], isolation_vls_code(&st->qos));
}

WORDS("reregister", do_reregister, struct stage *st)
{
	st->again[port_of(st, words[0])] = true;
	st->f->w.reregister = st->again;
}

/* ---- what is wanted ---- */

/* =A,B: these fields differ; !none: some do; +A, -A: this one does, does not;
 * COMPONENT=VALUE: of what is wanted */
static void
expect_wanted(struct stage *st, const struct plan_field *names,
	      unsigned fields, unsigned attr_id, const uint8_t *data,
	      char **words)
{
	for (; *words; words++)
		if (**words == '=')
			assert_int_equal(fields, fields_of(names, *words + 1));
		else if (**words == '!')
			assert_int_not_equal(fields, 0);
		else if (**words == '+' || **words == '-')
			assert_int_equal(!(fields & fields_of(names,
							      *words + 1)),
					 **words == '-');
		else
			request_hold(&kind, st, attr_id,
				     (char *[]){ *words, NULL }, data);
}

WORDS("wants", do_wants, struct stage *st)
{
	uint8_t data[SA_DATA_LEN] = { 0 };
	struct port_info out;
	unsigned fields = desired_port(st->f->s, &st->f->w,
				       port_of(st, words[0]), &out);

	port_info_encode(data + 4, &out);
	expect_wanted(st, port_fields, fields, SA_ATTR_PORT_INFO, data,
		      words + 1);
}

WORDS("wants-switch", do_wants_switch, struct stage *st)
{
	uint8_t data[SA_DATA_LEN] = { 0 };
	struct switch_info out;
	unsigned fields = desired_switch(st->f->s, &st->f->w, st->f->sw, &out);

	switch_info_encode(data + 4, &out);
	expect_wanted(st, switch_fields, fields, SA_ATTR_SWITCH_INFO, data,
		      words);
}

/* ---- the plan ---- */

static struct plan *
make_plan(const struct stage *st)
{
	const struct fabric *f = st->f;

	return plan_diff(f->s, &f->w, f->seen, f->held, st->forgotten);
}

static void
check_order(const struct plan *plan)
{
	assert_int_equal(plan->first[0], 0);
	assert_int_equal(plan->first[PLAN_N_KINDS], plan->n_steps);
	for (unsigned k = 0; k < PLAN_N_KINDS; k++)
		for (uint32_t i = plan->first[k]; i < plan->first[k + 1]; i++)
			assert_int_equal(plan->steps[i].kind, k);
	for (uint32_t i = 1; i < plan->n_steps; i++) {
		const struct plan_step *a = &plan->steps[i - 1], *b = a + 1;

		if (a->kind != b->kind)
			continue;
		assert_true(a->node <= b->node);
		if (a->node < b->node)
			continue;
		assert_true(a->kind == PLAN_LFT ? a->block < b->block :
			    a->port < b->port || (a->kind == PLAN_TABLE &&
						  a->port == b->port));
	}
}

/* KIND=N ..: so many steps of these kinds and none of the others, in order */
WORDS("plan", do_plan, struct stage *st)
{
	AUTO(plan) *plan = make_plan(st);
	uint32_t sum = 0;

	check_order(plan);
	for (; *words; words++) {
		g_auto(GStrv) parts = g_strsplit(*words, "=", 2);

		assert_range(parts[1], plan_count(plan, kind_of(parts[0])));
		sum += word_number(parts[1]);
	}
	assert_int_equal(sum, plan->n_steps);
}

/* KIND PORT N: so many steps */
WORDS("steps", do_steps, struct stage *st)
{
	AUTO(plan) *plan = make_plan(st);
	unsigned n = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		n += plan->steps[i].kind == kind_of(words[0]) &&
			plan->steps[i].port == port_of(st, words[1]);
	assert_range(words[2], n);
}

static const struct plan_step *
find_step(const struct plan *plan, enum plan_kind k, uint32_t port)
{
	for (uint32_t i = plan->first[k]; i < plan->first[k + 1]; i++)
		if (plan->steps[i].port == port)
			return &plan->steps[i];
	return NULL;
}

/* KIND PORT [FIELDS], table PORT TABLE BLOCK, lft BLOCK of the gate's switch */
WORDS("step", do_step, struct stage *st)
{
	AUTO(plan) *plan = make_plan(st);
	enum plan_kind k = kind_of(words[0]);
	const struct plan_step *step = k == PLAN_LFT ?
		&plan->steps[plan->first[k]] :
		find_step(plan, k, port_of(st, words[1]));

	assert_non_null(step);
	if (k == PLAN_LFT) {
		assert_int_equal(step->node, st->f->sw);
		assert_range(words[1], step->block);
	} else if (k == PLAN_TABLE) {
		assert_int_equal(step->table, request_table(words[2]));
		assert_range(words[3], step->block);
	} else if (words[2]) {
		assert_int_equal(step->fields,
				 fields_of(port_fields, words[2]));
	}
}

WORDS("no-step-at", do_no_step_at, struct stage *st)
{
	AUTO(plan) *plan = make_plan(st);

	for (uint32_t i = 0; i < plan->n_steps; i++)
		assert_int_not_equal(plan->steps[i].port, port_of(st, words[0]));
}

/* PORT KIND: steps of this kind, and no others, tell its clients */
WORDS("told-with", do_told_with, struct stage *st)
{
	AUTO(plan) *plan = make_plan(st);
	unsigned kinds = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		if (plan->steps[i].port == port_of(st, words[0]) &&
		    plan->steps[i].fields & PORT_FIELD_REREGISTER)
			kinds |= 1u << plan->steps[i].kind;
	assert_int_equal(kinds, 1u << kind_of(words[1]));
}

/* PORT FIELDS: of the forgotten ones these differ */
WORDS("left", do_left, struct stage *st)
{
	assert_int_equal(st->forgotten[port_of(st, words[0])],
			 fields_of(port_fields, words[1]));
}

/* N steps are done; write-tables N: the blocks of tables only */
WORDS("carry-out write-tables", do_carry_out, struct stage *st)
{
	AUTO(snapshot) *before = snapshot_copy(st->f->s);
	bool all = strcmp(words[-1], "carry-out") == 0;
	AUTO(plan) *plan = make_plan(st);
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		if (all || plan->steps[i].kind == PLAN_TABLE) {
			fabric_take(st->f, before, &plan->steps[i]);
			n++;
		}
	assert_range(words[0], n);
}

/* [same|other]: as the last time, or not */
WORDS("digest", do_digest, struct stage *st)
{
	AUTO(plan) *plan = make_plan(st);
	g_autofree char *before = st->digest;

	st->digest = plan_digest(plan, st->f->s, &st->f->w, st->f->seen,
				 st->f->held);
	assert_int_equal(strlen(st->digest), PLAN_DIGEST_LEN);
	if (words[0])
		assert_int_equal(!strcmp(st->digest, before),
				 !strcmp(words[0], "same"));
}

/* TEXT: it is in the plan as printed; {guid}, {lid}: the host's */
WORDS("text", do_text, struct stage *st)
{
	g_autofree char *plain = g_strcompress(words[0]);
	g_autofree char *guid = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
						st->f->s->ports[st->f->host]
						.guid);
	g_autofree char *lid = g_strdup_printf("%u", st->f->w.sm_lid);
	g_autoptr(GString) part = g_string_new(plain);
	g_autoptr(GString) out = g_string_new(NULL);
	AUTO(plan) *plan = make_plan(st);

	g_string_replace(part, "{guid}", guid, 0);
	g_string_replace(part, "{lid}", lid, 0);
	plan_print(plan, st->f->s, &st->f->w, st->f->seen, st->f->held, out);
	assert_has(out->str, part->str);
}

WORDS("no-text", do_no_text, struct stage *st)
{
	AUTO(plan) *plan = make_plan(st);
	g_autoptr(GString) out = g_string_new(NULL);

	plan_print(plan, st->f->s, &st->f->w, st->f->seen, st->f->held, out);
	assert_null(strstr(out->str, words[0]));
}

TEST(test_names_are_there_for_every_bit)
{
	for (unsigned bit = 1; bit <= PORT_FIELD_PHYS; bit <<= 1) {
		assert_string_not_equal(port_field_name(bit), "?");
		for (unsigned b = 1; b < bit; b <<= 1)
			assert_string_not_equal(port_field_name(b),
						port_field_name(bit));
	}
	assert_string_equal(port_field_name(1u << 22), "?");
	assert_string_equal(port_field_name(3), "?");
}

SCRIPT(plan, "plan.scn", all_words, stage_new, stage_free)
SCRIPT(pkeys, "pkey_table.scn", all_words, set_up_pkeys, stage_free)
SCRIPT(qos, "qos.scn", all_words, set_up_qos, stage_free)

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The words of tests/scripts/sim_agent.scn, sim_link.scn and sim_probe.scn:
 * SMPs to the agents of the simulated fabric (request.h, options below), commands
 * of the console on its links and nodes, traps, probes of its data plane.
 *
 * Ports are H-2, of a host, S-0, port 0 of a switch, SM, where the questions
 * come from, and what `up` finds. Behind such a name, :0 is port 0 of the node,
 * /N its port N, ^ the other end of the cable.
 */

#include "sm/mad/bytes.h"
#include "lab/console.h"
#include "lab/sim/state.h"
#include "tests/lib/request.h"
#include "tests/lib/sim_lab.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"

static struct unit_word all_words[48];

#define N_HOPS	3u

struct stage {
	struct simlab lab;	/* the first member: words may take it */
	struct request r;
	struct mad_addr to;	/* of the request: by directed route, or LID */
	struct dr_path path;
	uint8_t mad[MAD_SIZE];
	struct port_info kept;
	uint8_t kept_trap[MAD_SIZE];
	bool is_up;		/* there is a manager: */
	struct manager sm;
	uint32_t a, b, hop[N_HOPS];
};

static void
stage_open(struct stage *st)
{
	simlab_open(&st->lab, "single(3)", NULL);
}

static void
stage_close(struct stage *st)
{
	if (st->is_up)
		manager_close(&st->sm);
	simlab_close(&st->lab);
}

FIXTURE(stage)

/* ---- names ---- */

static bool
find_port(const struct stage *st, const char *name, uint32_t *port)
{
	const struct snapshot *s = st->lab.s;
	size_t len = strcspn(name, "^:/+");
	g_autofree char *base = g_strndup(name, len);

	if (g_str_has_prefix(base, "H-") || g_str_has_prefix(base, "S-"))
		*port = simlab_end(&st->lab, *base == 'H' ? NODE_CA :
				   NODE_SWITCH,
				   (unsigned)strtoul(base + 2, NULL, 10));
	else if (g_str_has_prefix(base, "hop-"))
		*port = st->hop[base[4] - '0'];
	else if (strcmp(base, "SM") == 0)
		*port = s->local_port;
	else if (strcmp(base, "A") == 0 || strcmp(base, "B") == 0)
		*port = *base == 'A' ? st->a : st->b;
	else
		return false;
	if (name[len] == ':' || name[len] == '/')
		*port = snapshot_node_of(s, *port)->first_port +
			(uint32_t)strtoul(name + len + 1, NULL, 10);
	if (strchr(name + len, '^'))
		*port = sim_peer(st->lab.sim, *port);
	return true;
}

static uint32_t
port_of(const struct stage *st, const char *name)
{
	uint32_t port = 0;

	if (!find_port(st, name, &port))
		fail_msg("%s is no port", name);
	return port;
}

static uint32_t
node_of(const struct stage *st, const char *name)
{
	return st->lab.s->ports[port_of(st, name)].node;
}

/* "SM^port" is the number of a port, else its LID is meant. */
static bool
find_name(void *fixture, const char *name, struct request_name *out)
{
	const struct stage *st = fixture;
	g_autofree char *base = g_str_has_suffix(name, "^port") ?
		g_strndup(name, strlen(name) - 4) : g_strdup(name);
	uint32_t port;

	if (!find_port(st, base, &port))
		return false;
	out->lid = strcmp(base, name) ? st->lab.s->ports[port].num :
		sim_port_info(st->lab.sim, port)->lid;
	out->guid = st->lab.s->ports[port].guid;
	out->desc = snapshot_node_of(st->lab.s, port)->desc;
	return true;
}

/* ---- questions ---- */

/* at=PORT, or by path=N,N.. or lid=N; pointer=N, qp=N, key=N, version=N, mod=N,
 * port=PORT: the upper half of mod is its number */
static bool
read_option(void *fixture, const char *name, const char *value)
{
	struct stage *st = fixture;
	uint64_t n = value ? g_ascii_strtoull(value, NULL, 0) : 0;

	if (strcmp(name, "at") == 0) {
		assert_true(snapshot_path(st->lab.s, port_of(st, value),
					  &st->path));
	} else if (strcmp(name, "path") == 0) {
		g_auto(GStrv) hops = g_strsplit(value, ",", -1);

		st->path = (struct dr_path){
			.hops = (uint8_t)g_strv_length(hops),
		};
		for (unsigned i = 0; hops[i]; i++)
			st->path.port[i + 1] =
				(uint8_t)strtoul(hops[i], NULL, 10);
	} else if (strcmp(name, "lid") == 0) {
		st->to.lid = (uint16_t)n;
	} else if (strcmp(name, "mod") == 0) {
		bytes_store(st->mad + 20, n, 4);
	} else if (strcmp(name, "port") == 0) {
		bytes_store(st->mad + 20,
			    st->lab.s->ports[port_of(st, value)].num, 2);
	} else if (strcmp(name, "key") == 0) {
		bytes_store(st->mad + 24, n, 8);
	} else if (strcmp(name, "pointer") == 0) {
		st->mad[6] = (uint8_t)n;
	} else if (strcmp(name, "qp") == 0) {
		st->to.qp = (uint32_t)n;
	} else if (strcmp(name, "version") == 0) {
		st->mad[2] = (uint8_t)n;
	} else {
		return false;
	}
	return true;
}

static const struct request_kind kind = {
	.is_smp = true, .name = find_name, .option = read_option,
};

/* Options of the words count as those of a Get at first; then the path is
 * known. */
static void
send_request(struct stage *st)
{
	uint8_t mad[MAD_SIZE];
	uint32_t mod = (uint32_t)bytes_load(st->mad + 20, 4);
	uint64_t key = bytes_load(st->mad + 24, 8);

	if (st->to.lid == LID_PERMISSIVE)
		smp_build_direct(mad, st->r.method, st->r.attr_id, mod, key,
				 &st->path);
	else
		smp_build_lid(mad, st->r.method, st->r.attr_id, mod, key);
	mad[2] = st->mad[2] ?: mad[2];
	mad[6] = st->mad[6] ?: mad[6];
	memcpy(smp_data(mad), st->r.data, SMP_DATA_LEN);
	st->lab.answered = false;
	assert_true(transport_send(st->lab.t, &st->to, mad, MAD_SIZE,
				   LAB_TIMEOUT_MS, NULL));
}

static void
clear_request(struct stage *st)
{
	st->to = (struct mad_addr){ .lid = LID_PERMISSIVE };
	memset(st->mad, 0, sizeof(st->mad));
}

static void
expect_answer(struct stage *st)
{
	while (!st->lab.answered)
		assert_true(sim_step(st->lab.sim));
	request_expect_record(&st->r, st->lab.status, smp_data(st->lab.mad));
}

/* METHOD ATTRIBUTE ..; ask is for methods without a word of their own; begin
 * REQUEST: it is on its way */
WORDS("Get Set ask begin", do_request, struct stage *st)
{
	bool begins = strcmp(words[-1], "begin") == 0;

	clear_request(st);
	request_read(&st->r, &kind, st, begins || !strcmp(words[-1], "ask") ?
		     words : words - 1);
	send_request(st);
	if (!begins)
		expect_answer(st);
}

/* at=PORT COMPONENT=VALUE .. => STATUS ..: Set(PortInfo) of what it has;
 * set-switch: of SwitchInfo */
WORDS("set set-switch", do_set, struct stage *st)
{
	bool is_switch = strcmp(words[-1], "set") != 0;
	char *base[] = { "Set", is_switch ? "SwitchInfo" : "PortInfo", NULL };
	uint32_t port = port_of(st, words[0] + strlen("at="));
	struct port_info want;

	clear_request(st);
	request_read(&st->r, &kind, st, base);
	if (is_switch) {
		switch_info_encode(st->r.data, sim_switch_info(st->lab.sim,
					st->lab.s->ports[port].node));
	} else {
		simlab_port_wish(&st->lab, port, &want);
		port_info_encode(st->r.data, &want);
		bytes_store(st->mad + 20, st->lab.s->ports[port].num, 4);
	}
	request_put(&st->r, words);
	send_request(st);
	expect_answer(st);
}

/* ---- what devices hold ---- */

/* PORT[,PORT] COMPONENT=VALUE ..: of PortInfo; has-switch: of SwitchInfo */
WORDS("has has-switch", do_has, struct stage *st)
{
	g_auto(GStrv) names = g_strsplit(words[0], ",", -1);
	bool is_switch = strcmp(words[-1], "has-switch") == 0;
	uint8_t data[SA_DATA_LEN] = { 0 };

	for (char **name = names; *name; name++) {
		if (is_switch)
			switch_info_encode(data + 4, sim_switch_info(
				st->lab.sim, node_of(st, *name)));
		else
			port_info_encode(data + 4, sim_port_info(st->lab.sim,
						port_of(st, *name)));
		request_hold(&kind, st, is_switch ? SA_ATTR_SWITCH_INFO :
			     SA_ATTR_PORT_INFO, words + 1, data);
	}
}

/* keep, kept PORT: its PortInfo, all of it, is the same still */
WORDS("keep kept", do_keep, struct stage *st)
{
	const struct port_info *info = sim_port_info(st->lab.sim,
						     port_of(st, words[0]));

	if (strcmp(words[-1], "keep") == 0)
		st->kept = *info;
	else
		assert_memory_equal(info, &st->kept, sizeof(st->kept));
}

/* PORT COMPONENT=VALUE ..: of PortInfo */
WORDS("poke", do_poke, struct stage *st)
{
	struct sim_port *port = &st->lab.sim->ports[port_of(st, words[0])];

	for (words++; *words; words++)
		request_poke(SA_ATTR_PORT_INFO, &port->info, *words);
}

/* SWITCH LID PORT: of the forwarding table */
WORDS("entry", do_entry, struct stage *st)
{
	assert_range(words[2], sim_lft_entry(st->lab.sim, node_of(st, words[0]),
					     word_number(words[1])));
}

/* NAME=RANGE ..: of the fabric; came: traps that came to the SM's port; us:
 * since the start */
WORDS("stats", do_stats, struct stage *st)
{
	const struct sim_stats *s = sim_stats(st->lab.sim);
	const struct unit_count counts[] = {
		{ "served", s->served }, { "traps", s->traps },
		{ "came", st->lab.traps },
		{ "us", (uint64_t)sim_now(st->lab.sim) },
		{ "lost_at_node", s->lost_at_node },
		{ "lost_qp", s->lost_qp },
		{ "no-route", s->lost[SIM_NO_ROUTE] },
		{ "no-way", s->lost[SIM_NO_ROUTE] + s->lost[SIM_NO_LINK] },
		{ NULL, 0 },
	};

	assert_counts(counts, words);
}

/* ---- what happens ---- */

/* SPEC [KEY=N ..]: of struct sim_params; accepted=1: its same_state */
WORDS("fabric", do_fabric, struct stage *st)
{
	struct sim_params params = sim_params_default;
	unsigned accepted = 0;
	const struct unit_setting settings[] = {
		{ "vl15_depth", &params.vl15_depth },
		{ "trap_repeat_us", &params.trap_repeat_us },
		{ "trap_repeats", &params.trap_repeats },
		{ "accepted", &accepted }, { NULL, NULL },
	};

	unit_set(settings, words + 1);
	params.same_state = accepted ? SIM_SAME_STATE_ACCEPTED :
		params.same_state;
	stage_close(st);
	simlab_open(&st->lab, words[0], &params);
}

WORDS("run", do_run, struct stage *st)
{
	struct sim *sim = st->lab.sim;

	sim_run(sim, sim_now(sim) + word_time(words[0]));
}

WORDS("idle", do_idle, struct stage *st)
{
	assert_true(sim_run_idle(st->lab.sim, G_USEC_PER_SEC));
}

/* Of the lab's console, with ports as they are named here. */
WORDS("unplug plug remove swap flap kill revive reset guid rename "
      "hang slow trap", do_console, struct stage *st)
{
	const struct console console = {
		.sim = st->lab.sim, .fabric = st->lab.s,
	};
	g_autoptr(GString) line = g_string_new(words[-1]);
	g_autoptr(GString) out = g_string_new(NULL);
	uint32_t port;

	for (; *words; words++) {
		bool is_port = find_port(st, *words, &port);

		g_string_append_printf(line, " %s", is_port ?
				       snapshot_name_of(st->lab.s, port) :
				       *words);
		if (is_port && st->lab.s->ports[port].num &&
		    snapshot_is_switch(snapshot_node_of(st->lab.s, port)))
			g_string_append_printf(line, "/%u",
					       st->lab.s->ports[port].num);
	}
	if (console_command(&console, line->str, out))
		fail_msg("%s: %s", line->str, out->str);
}

WORDS("activate", do_activate, struct stage *st)
{
	simlab_activate(&st->lab, port_of(st, words[0]));
}

/* PORT PORT|none: the other end of its cable */
WORDS("peer", do_peer, const struct stage *st)
{
	assert_int_equal(sim_peer(st->lab.sim, port_of(st, words[0])),
			 strcmp(words[1], "none") ? port_of(st, words[1]) :
			 SNAPSHOT_NONE);
}

WORDS("clear-changes", do_clear_changes, struct simlab *lab)
{
	for (uint32_t i = 0; i < lab->s->n_nodes; i++)
		lab->sim->nodes[i].sw.port_state_change = false;
}

/* N: switches whose PortStateChange is set */
WORDS("changes", do_changes, const struct simlab *lab)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < lab->s->n_nodes; i++)
		n += lab->sim->nodes[i].sw.port_state_change;
	assert_range(words[0], n);
}

/* ---- traps ---- */

WORDS("told", do_told, void *fixture)
{
	static const char *const lines[] = {
		"set at=SM LID=1 MasterSMLID=1 SubnetTimeOut=18 => ok",
		"set at=S-0 LID=2 MasterSMLID=1 SubnetTimeOut=18 => ok",
		"set at=H-1 LID=3 MasterSMLID=1 SubnetTimeOut=18 => ok",
		"Set LinearForwardingTable at=S-0 Port[0]=255 Port[1]=SM^port "
		"Port[2]=0 Port[3]=255 => ok",
		"set-switch at=S-0 LinearFDBTop=3 => ok",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		unit_play(all_words, fixture, lines[i]);
}

/* KEY=RANGE ..: of the last trap's Notice */
WORDS("notice", do_notice, struct stage *st)
{
	struct notice n;

	notice_decode(smp_data(st->lab.trap), &n);
	assert_counts((struct unit_count[]) {
		{ "generic", n.generic }, { "trap", n.trap },
		{ "issuer", n.issuer_lid }, { "lid", n.lid },
		{ "producer", n.producer }, { "port", n.port },
		{ NULL, 0 } }, words);
}

/* @.. of the last trap's data */
WORDS("trap-data", do_trap_data, struct stage *st)
{
	request_hold(&kind, st, SA_ATTR_NOTICE, words, smp_data(st->lab.trap));
}

WORDS("keep-trap", do_keep_trap, struct stage *st)
{
	memcpy(st->kept_trap, st->lab.trap, MAD_SIZE);
}

/* The last trap has another TID than the one that was kept. */
WORDS("other-trap", do_other_trap, struct stage *st)
{
	assert_memory_not_equal(st->lab.trap + 8, st->kept_trap + 8, 8);
}

/* [kept] [key=N]: TrapRepress to LID 2 */
WORDS("repress", do_repress, struct stage *st)
{
	const struct mad_addr to = { .lid = 2 };
	bool is_kept = g_strcmp0(words[0], "kept") == 0;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, is_kept ? st->kept_trap : st->lab.trap, MAD_SIZE);
	if (words[0] && !is_kept)
		bytes_store(mad + 24, strtoul(words[0] + 4, NULL, 0), 8);
	smp_make_response(mad, 0);
	assert_true(transport_send(st->lab.t, &to, mad, MAD_SIZE, 0, NULL));
}

/* ---- the data plane ---- */

/* As sim_delivery_name() says, "-" for blanks. */
static enum sim_delivery
delivery_of(const char *name)
{
	g_autofree char *text = g_strdelimit(g_strdup(name), "-", ' ');
	enum sim_delivery d = 0;

	while (strcmp(sim_delivery_name(d), text))
		assert_true(++d < SIM_N_DELIVERIES);
	return d;
}

/* A port's LID and a number to it, or a number. */
static uint16_t
lid_of(const struct stage *st, const char *name)
{
	const char *more = strpbrk(name, "+-");
	uint32_t port;

	if (!find_port(st, name, &port))
		return (uint16_t)strtoul(name, NULL, 0);
	return (uint16_t)(sim_port_info(st->lab.sim, port)->lid +
			  (more && *name != 'H' && *name != 'S' ?
			   strtol(more, NULL, 10) : 0));
}

/* SPEC: a manager brings it up; A is its port. */
WORDS("up", do_up, struct stage *st)
{
	struct simlab *lab = &st->lab;

	stage_close(st);
	memset(lab, 0, sizeof(*lab));
	lab->s = generate_fabric(words[0], NULL, NULL);
	lab->sim = sim_new(lab->s, NULL);
	simlab_attach(lab, SIM_ROLE_CLIENT);
	manager_open(&st->sm, lab->sim, lab->s->local_port, NULL, NULL);
	st->is_up = true;
	assert_true(manager_wait_up(&st->sm, 10 * G_USEC_PER_SEC));
	st->a = lab->s->local_port;
	for (uint32_t p = 0; p < lab->s->n_ports; p++) {
		struct sim_trace trace;

		if (p == st->a || snapshot_is_switch(snapshot_node_of(lab->s,
								      p)) ||
		    sim_probe(lab->sim, st->a, sim_port_info(lab->sim, p)->lid,
			      0xffff, 0, &trace) != SIM_DELIVERED ||
		    trace.n != N_HOPS + 1)
			continue;
		st->b = p;
		for (unsigned i = 0; i < N_HOPS; i++)
			st->hop[i] = trace.hop[i].port;
	}
}

/* FROM TO [pkey=N] [sl=N] => RESULT [end=PORT] [hops=N] [vl=N]: on hop-1 */
WORDS("probe", do_probe, const struct stage *st)
{
	uint32_t from = port_of(st, words[0]);
	uint16_t to = lid_of(st, words[1]), pkey = 0xffff;
	struct sim_trace trace;
	unsigned sl = 0;

	for (words += 2; strcmp(*words, "=>"); words++)
		if (g_str_has_prefix(*words, "pkey="))
			pkey = (uint16_t)strtoul(*words + 5, NULL, 0);
		else
			sl = (unsigned)strtoul(*words + 3, NULL, 10);
	assert_int_equal(sim_probe(st->lab.sim, from, to, pkey, sl, &trace),
			 delivery_of(words[1]));
	for (words += 2; *words; words++)
		if (g_str_has_prefix(*words, "end="))
			assert_int_equal(trace.end, port_of(st, *words + 4));
		else if (g_str_has_prefix(*words, "hops="))
			assert_range(*words + 5, trace.n);
		else
			assert_range(*words + 3, trace.hop[1].vl);
}

/* PORT TO N|PORT: the entry of its switch for the LID of TO */
WORDS("set-way", do_set_way, struct stage *st)
{
	uint32_t port;

	sim_node_of(st->lab.sim, port_of(st, words[0]))
		->lft[lid_of(st, words[1])] = find_port(st, words[2], &port) ?
		st->lab.s->ports[port].num :
		word_number(words[2]);
}

static struct sim_tables *
tables_of(struct stage *st, const char *name)
{
	struct sim_port *p = &st->lab.sim->ports[port_of(st, name)];

	if (!p->tables)
		p->tables = g_new0(struct sim_tables, 1);
	return p->tables;
}

/* OUT IN SL VL */
WORDS("sl2vl", do_sl2vl, struct stage *st)
{
	struct sim_tables *t = tables_of(st, words[0]);
	unsigned in = st->lab.s->ports[port_of(st, words[1])].num;
	unsigned sl = word_number(words[2]);
	unsigned vl = word_number(words[3]);

	if (!t->sl2vl)
		t->sl2vl = g_malloc0_n(snapshot_node_of(st->lab.s,
				port_of(st, words[0]))->info.num_ports + 1,
				SIM_SL2VL_LEN);
	t->sl2vl[in][sl / 2] |= (uint8_t)(sl % 2 ? vl : vl << 4);
}

/* PORT BLOCK VL WEIGHT: the first entry of a table that has no other */
WORDS("vl-arb", do_vl_arb, struct stage *st)
{
	struct sim_tables *t = tables_of(st, words[0]);
	uint8_t *entry;

	if (!t->vl_arb)
		t->vl_arb = g_malloc0_n(SIM_VL_ARB_BLOCKS, SIM_TABLE_BLOCK);
	entry = t->vl_arb[word_number(words[1]) - 1];
	entry[0] = (uint8_t)word_number(words[2]);
	entry[1] = (uint8_t)word_number(words[3]);
}

/* These ports have a copy each; only: and no other has. */
static void
expect_reached(const struct stage *st, const struct sim_mcast *m,
	       const char *list, bool only)
{
	g_auto(GStrv) names = g_strsplit(list, ",", -1);

	for (unsigned i = 0; names[i]; i++) {
		uint32_t port = port_of(st, names[i]);
		unsigned n = 0;

		for (guint k = 0; k < m->reached->len; k++)
			n += g_array_index(m->reached, uint32_t, k) == port;
		assert_int_equal(n, 1);
	}
	if (only)
		assert_int_equal(m->reached->len, g_strv_length(names));
}

/* FROM MLID => RESULT [reached=PORT,..] [came=PORT,..] [channels=N] [RESULT=N]:
 * copies that were lost for this */
WORDS("multicast", do_multicast, const struct stage *st)
{
	struct sim_mcast m;

	assert_int_equal(sim_probe_mcast(st->lab.sim, port_of(st, words[0]),
					 word_number(words[1]),
					 0xffff, 0, &m), delivery_of(words[3]));
	for (words += 4; *words; words++) {
		g_auto(GStrv) parts = g_strsplit(*words, "=", 2);

		if (strcmp(parts[0], "reached") == 0)
			expect_reached(st, &m, parts[1], true);
		else if (strcmp(parts[0], "came") == 0)
			expect_reached(st, &m, parts[1], false);
		else if (strcmp(parts[0], "channels") == 0)
			assert_range(parts[1], m.channels);
		else
			assert_range(parts[1], m.lost[delivery_of(parts[0])]);
	}
	sim_mcast_clear(&m);
}

SCRIPT(sim_agent, "sim_agent.scn", all_words, stage_new, stage_free)
SCRIPT(sim_link, "sim_link.scn", all_words, stage_new, stage_free)
SCRIPT(sim_probe, "sim_probe.scn", all_words, stage_new, stage_free)

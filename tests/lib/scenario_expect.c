// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scenarios: what may be expected. Of managers, unless one is named, the first
 * is meant.
 */
#include "tests/lib/play.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <glib/gstdio.h>

#include "sm/control/control.h"
#include "sm/control/control_view.h"
#include "sm/sa/sa_db.h"
#include "lab/sim/state.h"
#include "tests/lib/dumped.h"
#include "tests/lib/script.h"
#include "topology/each.h"

struct play_word play_expectations[128];

bool
play_expect_range(struct play *p, const char *what, const char *range,
		  uint64_t n)
{
	return !range || range_holds(range, n) ||
		play_fail(p, "%s: %" G_GUINT64_FORMAT, what, n);
}

/* "but NODE": its end port, else SNAPSHOT_NONE. */
static bool
read_but(struct play *p, char **args, uint32_t *but)
{
	*but = SNAPSHOT_NONE;
	return g_strcmp0(args[0], "but") || play_read_port(p, args[1], but);
}

/* Or, of an expectation that is called no-.., the contrary. */
static bool
expect_that(struct play *p, char **args, bool is, const char *found)
{
	return is != g_str_has_prefix(args[-1], "no-") ||
		play_fail(p, "that is %s so: %s", is ? "" : "not", found);
}

/* ---- sweeps ---- */

/* [NODE of the manager]: how its last sweep ended */
EXPECTS("up not-up standby failed", expect_end_of)
{
	static const char *const ends[] = {
		[SWEEP_END_UP] = "up", [SWEEP_END_NOT_UP] = "not-up",
		[SWEEP_END_STANDBY] = "standby", [SWEEP_END_FAILED] = "failed",
	};
	const struct manager *m = play_manager_on(p, args[0]);

	return m && ((m->ends && strcmp(ends[m->last], args[-1]) == 0) ||
		     play_fail(p, "its last sweep did not end so"));
}

/* [N] [but NODE]: every pair of CA ports that have a way by links that are up;
 * and this is how many CA ports there are. */
EXPECTS("reach", expect_reach)
{
	g_autofree uint8_t *alive = world_alive(&p->w);
	const char *range = args[0] && strcmp(args[0], "but") ? *args++ : NULL;
	unsigned pairs, mixed, lost, n = 0;
	uint32_t but;

	if (!read_but(p, args, &but))
		return false;
	for (uint32_t i = 0; i < p->w.s->n_ports; i++)
		n += alive[i] && i != but &&
			!snapshot_is_switch(snapshot_node_of(p->w.s, i));
	lost = world_unreached(&p->w, but, &pairs, &mixed);
	if (lost)
		return play_fail(p, "%u of %u pairs do not reach each other",
				 lost, pairs);
	return play_expect_range(p, "hosts", range, n);
}

EXPECTS("lost", expect_lost)
{
	unsigned pairs, mixed;

	return world_unreached(&p->w, SNAPSHOT_NONE, &pairs, &mixed) > 0 ||
		play_fail(p, "all of %u pairs reach each other", pairs);
}

/* NODE NODE ..: from each to the next one */
EXPECTS("path no-path", expect_path)
{
	char **to = args + 1;
	uint32_t a, b;

	if (!play_read_port(p, args[0], &a))
		return false;
	for (; *to || to == args + 1; to++, a = b)
		if (!play_read_port(p, *to, &b) ||
		    !expect_that(p, args, sim_probe(p->w.sim, a,
				 sim_port_info(p->w.sim, b)->lid, 0xffff, 0,
				 NULL) == SIM_DELIVERED, *to))
			return false;
	return true;
}

/* N, <=N, >=N, N..N: of the first manager since the mark, of the fabric since the
 * start. */
EXPECTS("highest-lid sweeps flaps mads traps mft-blocks dropped "
	"returned violations took memory unheard", expect_count)
{
	const struct manager *m = &p->w.m;
	const struct sim_stats *sim = sim_stats(p->w.sim);
	uint64_t violations = 0;
	uint16_t highest = 0;
	struct rusage usage;
	size_t i = 0;

	getrusage(RUSAGE_SELF, &usage);
	for (uint32_t port = 0; port < p->w.s->n_ports; port++) {
		const struct port_info *info = sim_port_info(p->w.sim, port);

		highest = MAX(highest, info->lid);
		violations += info->m_key_violations;
	}

	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {
		{ "sweeps", m->ends - p->ends },	/* and repairs */
		{ "mads", m->t ? m->x->stats.sent - p->stats.sent :
		  UINT64_MAX },		/* no manager runs */
		{ "took", (uint64_t)m->took / 1000 },	/* ms */
		{ "traps", sim->traps - p->traps },
		/* of 1,000 MADs, without a place in an agent's queue */
		{ "dropped", sim->lost_vl15 * 1000 / MAX(sim->sent, 1) },
		{ "returned", sim->returned },	/* without an answer */
		{ "violations", violations }, { "highest-lid", highest },
		{ "memory", (uint64_t)usage.ru_maxrss / 1024 },	/* MiB */
		/* Active links that went down, since the start */
		{ "flaps", m->sweep ? m->sweep->flaps->downs : UINT64_MAX },
		/* of 32 groups, in the tables */
		{ "mft-blocks", m->mcast && m->mcast->wanted ?
		  m->mcast->wanted->n_blocks : 0 },
		/* Reports */
		{ "unheard", m->desk ? sa_server_stats(m->desk)->unheard :
		  UINT64_MAX },
	};

	while (strcmp(counts[i].name, args[-1]))
		i++;
	return play_expect_range(p, counts[i].name, args[0], counts[i].n);
}

EXPECTS("unique-lids", expect_unique_lids)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	for (uint32_t port = 0; port < p->w.s->n_ports; port++) {
		const struct port_info *info = sim_port_info(p->w.sim, port);

		for (unsigned i = 0; info->lid && i < 1u << info->lmc; i++)
			if (!g_hash_table_add(seen,
					      GUINT_TO_POINTER(info->lid + i)))
				return play_fail(p, "LID %u is there twice",
						 info->lid + i);
	}
	return true;
}

/* RANGE [among others]: else there was no heavy sweep. */
EXPECTS("repairs", expect_repairs)
{
	unsigned repairs = p->w.m.repairs - p->repairs;
	unsigned all = p->w.m.ends - p->ends;

	return play_expect_range(p, "repairs", args[0], repairs) &&
		(args[1] || play_expect_range(p, "heavy sweeps", "0",
					      all - repairs));
}

/* RANGE [ATTRIBUTE]: since the mark */
EXPECTS("sets", expect_sets)
{
	const struct mad_client_stats *now = &p->w.m.x->stats;
	unsigned attr_id = args[0] && args[1] ? play_read_attr(args[1]) : 0;

	return play_expect_range(p, "Sets", args[0], attr_id ?
				 now->sets[attr_id] - p->stats.sets[attr_id] :
				 now->sent_set - p->stats.sent_set);
}

/* A person's sweep reads everything, finds what was believed, and sends
 * nothing. */
EXPECTS("quiet", expect_quiet)
{
	uint64_t sets = p->w.m.x->stats.sent_set;

	sweep_request(p->w.m.sweep, SWEEP_CAUSE_SIGNAL);
	if (!world_settle(&p->w, 60 * SECOND))
		return play_fail(p, "it does not come to rest");
	return expect_end_of(p, (char *[]){ "up", NULL } + 1) &&
		play_expect_range(p, "Sets", "0",
				  p->w.m.x->stats.sent_set - sets);
}

EXPECTS("cause", expect_cause)
{
	return g_strcmp0(p->w.m.causes, args[0]) == 0 ||
		play_fail(p, "it was: %s", p->w.m.causes);
}

EXPECTS("same-engine", expect_same_engine)
{
	return p->engine == p->w.m.engine ||
		play_fail(p, "%s, not %s", p->w.m.engine->name,
			  p->engine->name);
}

static void
manager_look(struct control_view *out, void *data)
{
	const struct sm_instance *sm = ((struct manager *)data)->sm;

	*out = (struct control_view){
		.port_name = "", .ms = "ms", .now = transport_now(sm->t),
		.sweep = sm->sweep, .sa = sm->sa,
	};
	out->peers = sweep_peers(sm->sweep, &out->where);
}

/* REQUEST TEXT: as minismctl would ask it, and what the answer has */
EXPECTS("says", expect_says)
{
	const struct control_hooks hooks = {
		.look = manager_look, .data = &p->w.m,
	};
	g_autoptr(GString) out = g_string_new(NULL);

	control_answer(&hooks, args[0], out);
	return expect_that(p, args, strstr(out->str, args[1]), out->str);
}

/* LINE [TEXT]: a command of the console succeeds, or its answer has that */
EXPECTS("console", expect_console)
{
	g_autoptr(GString) out = g_string_new(NULL);
	int error = console_command(lab_console(p->lab), args[0], out);

	return expect_that(p, args, args[1] ? strstr(out->str, args[1]) !=
			   NULL : !error, out->str);
}

/* LINE WORD ..: all words by which it can go on */
EXPECTS("completes", expect_completes)
{
	g_auto(GStrv) found = console_complete(lab_console(p->lab), args[0]);
	g_autofree char *text = g_strjoinv(" ", found);

	return expect_that(p, args, g_strv_equal(
				(const char *const *)found,
				(const char *const *)args + 1), text);
}

/* Some of very many pairs. */
EXPECTS("sample", expect_sample)
{
	const struct snapshot *s = p->w.s;
	unsigned n = 0;

	for (uint32_t i = 0; i < 1000000; i++) {
		uint32_t a = i * 7919u % s->n_ports;
		uint32_t b = i * 104729u % s->n_ports;

		if (!snapshot_is_end_port(s, a) || !snapshot_is_end_port(s, b))
			continue;
		n++;
		if (sim_probe(p->w.sim, a, sim_port_info(p->w.sim, b)->lid,
			      0xffff, 0, NULL) != SIM_DELIVERED)
			return play_fail(p, "%s to %s does not arrive",
					 snapshot_node_of(s, a)->desc,
					 snapshot_node_of(s, b)->desc);
	}
	return n > 1000 || play_fail(p, "%u pairs", n);
}

/* NODE: all ports have this SMLID, its LID. */
EXPECTS("master", expect_master)
{
	g_autofree uint8_t *alive = world_alive(&p->w);
	uint32_t master;
	uint16_t lid;

	if (!play_read_port(p, args[0], &master))
		return false;
	lid = sim_port_info(p->w.sim, master)->lid;
	for (uint32_t i = 0; i < p->w.s->n_ports; i++)
		if (alive[i] && sim_port_info(p->w.sim, i)->sm_lid != lid &&
		    sim_port_info(p->w.sim, i)->state == PORT_STATE_ACTIVE &&
		    snapshot_is_end_port(p->w.s, i))
			return play_fail(p, "%s has another one",
					 snapshot_node_of(p->w.s, i)->desc);
	return true;
}

/* N [SEEN]: so many managers call themselves master, and so many ports have
 * IsSM. */
EXPECTS("masters", expect_masters)
{
	unsigned n = 0, seen = 0;

	for (unsigned i = 0; i < MANAGERS_MAX; i++)
		n += play_manager(p, i)->t && play_manager(p, i)->sweep->
			self.state == SM_STATE_MASTER;
	for (uint32_t i = 0; i < p->w.s->n_ports; i++)
		seen += (sim_port_info(p->w.sim, i)->cap_mask &
			 PORT_CAP_IS_SM) != 0;
	return play_expect_range(p, "masters", args[0], n) &&
		play_expect_range(p, "ports with IsSM", args[0] ? args[1] :
				  NULL, seen);
}

/* NODE STATE ..: of its manager */
EXPECTS("role", expect_role)
{
	do {
		const struct manager *m = play_manager_on(p, args[0]);
		struct sm_info info;

		if (!m || !args[1])
			return false;
		sweep_sm_info(m->sweep, &info);
		if (strcmp(sm_state_name(info.state), args[1]))
			return play_fail(p, "%s is %s", args[0],
					 sm_state_name(info.state));
	} while (*(args += 2));
	return true;
}

/* NODE/PORT TEXT: as the console shows it: "4xEDR", "Active", "Down". */
EXPECTS("port", expect_port)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *line = NULL, *start = NULL;
	char *slash = args[0] ? strrchr(args[0], '/') : NULL, *at, *end;

	if (!slash || !args[1])
		return play_fail(p, "expect port NODE/PORT TEXT");
	line = g_strdup_printf("show %.*s", (int)(slash - args[0]), args[0]);
	if (console_command(lab_console(p->lab), line, out))
		return play_fail(p, "%s", out->str);
	start = g_strdup_printf("\n  %3s ", slash + 1);
	at = strstr(out->str, start);
	end = at ? strchr(at + 1, '\n') : NULL;
	if (end)
		*end = '\0';
	return (at && strstr(at, args[1])) ||
		play_fail(p, "it is:%s", at ? at : " not there");
}

/* The last sweep's complaints: each TEXT in one of them, or N of them. */
static bool
expect_lines(struct play *p, const char *lines, char **args)
{
	unsigned n = 0;

	for (const char *c = lines; *c; c++)
		n += *c == '\n';
	do {
		if (!*args || !**args)
			return play_fail(p, "which line?");
		if (strspn(*args, "0123456789") < strlen(*args) ?
		    !strstr(lines, *args) : !range_holds(*args, n))
			return play_fail(p, "not %s, but %u: %s", *args, n,
					 lines);
	} while (*++args);
	return true;
}

EXPECTS("problem warning", expect_judged)
{
	return expect_lines(p, *args[-1] == 'p' ? p->w.m.problems->str :
			    p->w.m.warnings->str, args);
}

/* What is missing or slow of the expected fabric: "KIND NAME: TEXT", how
 * much of it, or as-cut. */
static bool
is_node_alive(const struct snapshot *s, const uint8_t *alive, uint32_t node)
{
	const struct snapshot_node *n = &s->nodes[node];
	bool is = false;

	for (unsigned num = 0; num <= n->info.num_ports; num++)
		is |= alive[n->first_port + num];
	return is;
}

/* By what is there: nodes that cannot be reached, cables that were cut between
 * those that can. */
static bool
expect_as_cut(struct play *p, const GPtrArray *faults)
{
	const struct snapshot *s = p->w.s;
	g_autofree uint8_t *alive = world_alive(&p->w);
	unsigned wanted[EXPECTED_KINDS] = { 0 }, found[EXPECTED_KINDS] = { 0 };

	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (!is_node_alive(s, alive, i))
			wanted[snapshot_is_switch(&s->nodes[i]) ?
				EXPECTED_SWITCH : EXPECTED_HOST]++;
	for (uint32_t i = 0; i < s->n_ports; i++)
		wanted[EXPECTED_LINK] += p->cut[i] &&
			is_node_alive(s, alive, s->ports[i].node) &&
			is_node_alive(s, alive,
				      s->ports[s->ports[i].peer].node);
	for (guint i = 0; i < faults->len; i++)
		found[((struct expected_fault *)faults->pdata[i])->kind]++;
	for (unsigned kind = 0; kind < EXPECTED_KINDS; kind++)
		if (found[kind] != wanted[kind])
			return play_fail(p, "%u of kind %s, not %u",
					 found[kind], expected_kind_names[kind],
					 wanted[kind]);
	return true;
}

EXPECTS("degraded", expect_degraded)
{
	const GPtrArray *faults = p->w.m.sm->expected->faults;
	g_autoptr(GString) lines = g_string_new(NULL);

	if (g_strcmp0(args[0], "as-cut") == 0)
		return expect_as_cut(p, faults);
	EACH_PTR(const struct expected_fault, f, faults)
		g_string_append_printf(lines, "%s %s: %s%s\n",
				       expected_kind_names[f->kind], f->name,
				       f->text, f->place ? f->place : "");
	return expect_lines(p, lines->str, args);
}

EXPECTS("changed", expect_changed)
{
	g_autoptr(GString) lines = g_string_new(NULL);

	EACH_PTR(const struct expected_fault, f, p->w.m.sm->expected->former)
		if (f->text)
			g_string_append_printf(lines, "%s\n", f->text);
	return expect_lines(p, lines->str, args);
}

/* Lines since the mark, "LEVEL ... TEXT" or part of it. */
EXPECTS("log no-log", expect_log)
{
	g_autofree char *text = NULL;
	const char *since;
	gsize len;

	if (!args[0] || !g_file_get_contents(p->log, &text, &len, NULL))
		return play_fail(p, "which line of which log?");
	since = text + MIN(p->said_before, len);
	for (char **what = args; *what; what++)
		if (!expect_that(p, args, strstr(since, *what), since))
			return false;
	return true;
}

/* None of the keys is in the log, and it speaks of keys. */
EXPECTS("no-secret", expect_no_secret)
{
	g_autofree char *text = NULL;

	if (!g_file_get_contents(p->log, &text, NULL, NULL) ||
	    !strstr(text, "M_Key") || p->secrets->len < 2)
		return play_fail(p, "there is no key to be told");
	for (guint i = 0; i < p->secrets->len; i++) {
		uint64_t key = g_array_index(p->secrets, uint64_t, i);
		g_autofree char *hex = g_strdup_printf("%" PRIx64, key);
		g_autofree char *decimal = g_strdup_printf("%" PRIu64, key);

		if (strstr(text, hex) || strstr(text, decimal))
			return play_fail(p, "the log holds the key %s", hex);
	}
	return true;
}

/* ---- what ports hold ---- */

/* WHERE FIELD=VALUE .. */
EXPECTS("field", expect_field)
{
	bool all = g_strcmp0(args[0], "switches") == 0;
	uint32_t port = 0;

	if (!all && !play_read_port(p, args[0], &port))
		return false;
	for (char **word = args + 1; *word; word++)
		for (uint32_t i = all ? 0 : port;
		     i <= (all ? p->w.s->n_ports - 1 : port); i++) {
			struct play_field f;
			uint64_t is;

			if (!play_read_field(p, *word, &f))
				return false;
			if (all && !snapshot_is_switch(
				    snapshot_node_of(p->w.s, i)))
				continue;
			is = play_field_get(&f, play_field_host(p, &f, i));
			if (is != f.to)
				return play_fail(p, "%s is 0x%" PRIx64,
						 f.field->name, is);
		}
	return args[1] || play_fail(p, "expect field WHERE FIELD=VALUE");
}

EXPECTS("pkey no-pkey", expect_pkey)
{
	uint32_t port;

	if (!args[0] || !args[1])
		return play_fail(p, "expect pkey WHERE P_KEY");
	return play_read_port(p, args[0], &port) &&
		expect_that(p, args, sim_table_has_pkey(p->w.sim, port,
			    (uint16_t)g_ascii_strtoull(args[1], NULL, 0)), "");
}

/* Ports that may talk by the rules can, and no others. */
EXPECTS("partitions", expect_partitions)
{
	unsigned asked, misled;

	if (!p->rules)
		return play_fail(p, "there are no partitions");
	misled = world_misled(&p->w, p->rules, &asked);
	return (!misled && asked > 100) ||
		play_fail(p, "%u of %u packets do otherwise", misled, asked);
}

/* [but NODE]: M_Key and protection are as configured. */
EXPECTS("keys", expect_keys)
{
	uint32_t but;
	unsigned n;

	if (!read_but(p, args, &but))
		return false;
	n = world_wrong_keys(&p->w, &p->sm, but);
	return !n || play_fail(p, "%u ports have another key", n);
}

/* Who has a key is known by his GUID to both files: he would be locked for
 * ever if the manager died now. Of a cable, a switch has its port 0's. */
EXPECTS("stored-keys", expect_stored_keys)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->w.s->n_ports; i++) {
		static const char *const names[] = { "guid2mkey", "neighbors" };
		g_autofree char *guid = g_strdup_printf("0x%016" PRIx64,
							p->w.s->ports[i].guid);

		if (!sim_port_info(p->w.sim, i)->m_key)
			continue;
		n++;
		for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
			g_autofree char *path = g_build_filename(p->dir,
				names[k], NULL);
			g_autofree char *text = NULL;

			if (!g_file_get_contents(path, &text, NULL, NULL) ||
			    !strstr(text, guid))
				return play_fail(p, "%s has no %s", names[k],
						 guid);
		}
	}
	return n || play_fail(p, "no port has a key");
}

/* [all | NODE ..]: these, once each, and nobody else were asked to register
 * again since the mark. */
EXPECTS("told", expect_told)
{
	bool all = g_strcmp0(args[0], "all") == 0;

	for (uint32_t i = 0; i < p->w.s->n_ports; i++) {
		const char *name = snapshot_node_of(p->w.s, i)->desc;
		unsigned want = all || g_strv_contains(
					(const char *const *)args, name);

		if (snapshot_is_end_port(p->w.s, i) && p->told[i] != want)
			return play_fail(p, "%s was asked %u times", name,
					 p->told[i]);
	}
	return true;
}

/* NODE ..: these were not asked to register again */
EXPECTS("untold", expect_untold)
{
	uint32_t port;

	for (; *args; args++)
		if (!play_read_port(p, *args, &port) || p->told[port])
			return play_fail(p, "%s was asked", *args);
	return true;
}

/* NODE NODE N: SL i travels on VL i / N */
EXPECTS("vls", expect_vls)
{
	struct sim_trace trace;
	uint32_t from, to;
	unsigned n;

	if (!play_read_port(p, args[0], &from) ||
	    !play_read_port(p, args[1], &to) || !args[2])
		return play_fail(p, "expect vls NODE NODE N");
	n = (unsigned)g_ascii_strtoull(args[2], NULL, 10);
	for (unsigned sl = 0; sl < SL_COUNT; sl++) {
		if (sim_probe(p->w.sim, from,
			      sim_port_info(p->w.sim, to)->lid, 0xffff, sl,
			      &trace) != SIM_DELIVERED)
			return play_fail(p, "SL %u does not arrive", sl);
		for (unsigned i = 0; i < trace.n; i++)
			if (trace.hop[i].vl != sl / n)
				return play_fail(p, "SL %u: VL %u", sl,
						 trace.hop[i].vl);
	}
	return true;
}

/* ---- what the manager tells of the fabric ---- */

/* FILE TEXT: what is written into it for OpenSM's users */
EXPECTS("dump no-dump", expect_dump)
{
	g_autoptr(GString) text = g_string_new(NULL);
	const struct view *v = &p->w.m.sweep->view;

	if (!v->subnet || !args[0] || !args[1])
		return play_fail(p, "expect dump FILE TEXT");
	dumped_read(v->subnet, v->lids, v->lft, args[0], text);
	return expect_that(p, args, strstr(text->str, args[1]), text->str);
}

/* ---- files in the folder of keys ---- */

/* NAME [MODE] */
EXPECTS("file no-file", expect_file)
{
	g_autofree char *path = g_build_filename(p->dir, args[0], NULL);
	GStatBuf st;
	bool is_there = g_stat(path, &st) == 0;

	if (is_there && args[1] &&
	    g_ascii_strtoull(args[1], NULL, 8) != (st.st_mode & 0777))
		return play_fail(p, "its mode is %o", st.st_mode & 0777);
	return expect_that(p, args, is_there, "");
}

/* NAME TEXT: it has this text */
EXPECTS("file-has no-file-has", expect_file_has)
{
	g_autofree char *path = g_build_filename(p->dir, args[0], NULL);
	g_autofree char *text = NULL;

	return expect_that(p, args,
			   g_file_get_contents(path, &text, NULL, NULL) &&
			   strstr(text, args[1]), text ? text : "away");
}

/* ---- subnet administration ---- */

/* Blocks of multicast tables since the mark; none failed. */
EXPECTS("mft-writes", expect_mft_writes)
{
	const struct mcast_manager_stats *stats = &p->w.m.mcast->stats;

	return play_expect_range(p, "failed", "0", stats->failed) &&
		play_expect_range(p, "blocks", args[0],
				  stats->written - p->written);
}

/* Requests; each was answered, or turned away as busy. */
EXPECTS("taken", expect_taken)
{
	const struct sa_server_stats *stats = sa_server_stats(p->w.m.desk);

	return play_expect_range(p, "waiting", "0", stats->waiting) &&
		play_expect_range(p, "requests", args[0], stats->taken) &&
		play_expect_range(p, "answered or busy", args[0],
				  stats->answered + stats->busy);
}

/* The standby could take over groups and the like. */
EXPECTS("warm no-warm", expect_warm)
{
	struct standby_status status;

	standby_status(p->w.m.sm->standby, &status);
	return expect_that(p, args, status.warm && !status.why,
			   status.why ? status.why : "");
}

EXPECTS("stalled no-stalled", expect_stalled)
{
	return expect_that(p, args, sweep_is_stalled(p->w.m.sweep),
			   sweep_state_names[p->w.m.sweep->state]);
}

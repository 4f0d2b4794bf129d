// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scenarios: see scenario.h. A play is a lab without programs, and subnet
 * managers on its simulated fabric. Words are looked up in tables; what is in
 * none is a command of the lab's console.
 */
#include "tests/lib/folder.h"
#include "tests/lib/scenario.h"

#include <stdlib.h>
#include <glib/gstdio.h>

#include "lab/generate.h"
#include "sm/config/options.h"
#include "sm/config/partitions_conf.h"
#include "tests/lib/play.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/member.h"
#include "topology/prng.h"

static struct play_word play_words[40];
#define PLAYS(names, name)	PLAY_WORDS(play_words, names, name)

#define LOOP_NODES_MAX	64u	/* larger fabrics would take too long */

bool
play_fail(struct play *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_vprintf(p->said, format, args);
	va_end(args);
	return false;
}

struct manager *
play_manager(struct play *p, unsigned i)
{
	return i ? &p->others[i - 1] : &p->w.m;
}

struct manager *
play_manager_on(struct play *p, const char *name)
{
	uint32_t port = p->w.m.port;

	if (name && !play_read_port(p, name, &port))
		return NULL;
	for (unsigned i = 0; i < MANAGERS_MAX; i++)
		if (play_manager(p, i)->t && play_manager(p, i)->port == port)
			return play_manager(p, i);
	play_fail(p, "%s has no subnet manager", name ?: "it");
	return NULL;
}

PLAYS("mark", do_mark)
{
	g_autofree char *text = NULL;

	if (!p->w.m.t)
		return true;
	if (p->log)
		g_file_get_contents(p->log, &text, &p->said_before, NULL);
	p->ends = p->w.m.ends;
	p->repairs = p->w.m.repairs;
	p->engine = p->w.m.engine;
	p->stats = p->w.m.x->stats;
	p->traps = sim_stats(p->w.sim)->traps;
	p->written = p->w.m.mcast ? p->w.m.mcast->stats.written : 0;
	memset(p->told, 0, p->w.s->n_ports * sizeof(*p->told));
	return true;
}

static void
on_reregister(struct sim *sim, uint32_t port, void *data)
{
	((struct play *)data)->told[port]++;
	play_forget_groups(data, port);
}

static bool
delivers(const struct play *p, uint32_t from, uint32_t to)
{
	return sim_probe(p->w.sim, from, sim_port_info(p->w.sim, to)->lid,
			 0xffff, 0, NULL) == SIM_DELIVERED;
}

/* From now on each pair of CA ports that has a path keeps one while an update is
 * written. */
PLAYS("guard", do_guard)
{
	const struct snapshot *s = p->w.s;

	g_array_set_size(p->guarded, 0);
	for (uint32_t a = 0; a < s->n_ports; a++)
		for (uint32_t b = 0; b < s->n_ports; b++) {
			if (!s->ports[a].num || !s->ports[b].num || a == b ||
			    snapshot_is_switch(snapshot_node_of(s, a)) ||
			    snapshot_is_switch(snapshot_node_of(s, b)) ||
			    !delivers(p, a, b))
				continue;
			g_array_append_val(p->guarded, a);
			g_array_append_val(p->guarded, b);
		}
	return true;
}

static bool
has_lost_pair(const struct play *p)
{
	const uint32_t *ends = (void *)p->guarded->data;

	for (guint i = 0; i < p->guarded->len; i += 2)
		if (!delivers(p, ends[i], ends[i + 1]))
			return true;
	return false;
}

/* An answer of an agent: after each Set that a device has executed, there is no
 * credit loop. The end of an update does not show it. */
static void
on_answer(struct sim *sim, uint32_t node, unsigned method,
	  const uint8_t *answer, void *data)
{
	struct play *p = data;
	struct mad_header h;
	bool has_loop, has_loss;

	mad_header_read(answer, MAD_SIZE, &h);
	play_see_state(p, node);
	if (method != MAD_METHOD_SET || h.status || p->loop || p->may_loop)
		return;
	has_loop = (h.attr_id == MAD_ATTR_LINEAR_FT ||
		    h.attr_id == MAD_ATTR_MULTICAST_FT ||
		    h.attr_id == MAD_ATTR_PORT_INFO) &&
		world_has_loop(&p->w, NULL);
	has_loss = p->w.m.t && p->w.m.sweep->state == SWEEP_PROGRAMMING &&
		has_lost_pair(p);
	if (has_loop || has_loss)
		p->loop = g_strdup_printf("%s after Set(%s) of %s at %"
					  G_GINT64_FORMAT " us", has_loop ?
					  "a credit loop" : "a path is lost",
					  mad_attr_name(h.attr_id),
					  p->w.s->nodes[node].desc,
					  sim_now(sim));
}

/* The fabric is made when the first word needs it. */
static bool
play_open(struct play *p)
{
	const struct lab_options options = { .params = p->params };
	const struct generate_options seeded = { .seed = p->params.seed };
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	struct snapshot *s;

	if (p->lab)
		return true;
	path = folder_source("tests/data", p->spec);
	s = generate_or_read(generate_is_formula(p->spec) ? p->spec : path,
			  &seeded, &error);
	if (s)
		p->lab = lab_new(s, &options, &error);
	if (!s || !p->lab)
		return play_fail(p, "%s", error->message);
	p->w = (struct world){ .s = s, .sim = lab_console(p->lab)->sim };
	p->told = g_new0(unsigned, s->n_ports);
	p->cut = g_new0(uint8_t, s->n_ports);
	sim_set_reregister(p->w.sim, on_reregister, p);
	if (s->n_nodes <= LOOP_NODES_MAX)
		sim_set_step(p->w.sim, on_answer, p);
	p->dir = g_dir_make_tmp("minism-scenario-XXXXXX", NULL);
	p->other_dir = g_build_filename(p->dir, "other", NULL);
	g_assert(p->dir && !g_mkdir(p->other_dir, 0700));
	if (!g_getenv("MINISM_TEST_LOG"))
		p->log = g_build_filename(p->dir, "log", NULL);
	else
		p->log = g_strdup(g_getenv("MINISM_TEST_LOG"));
	return true;
}

static void
play_close(struct play *p)
{
	play_clear_clients(p);
	for (unsigned i = MANAGERS_MAX; i-- > 0;)
		if (play_manager(p, i)->t)
			manager_close(play_manager(p, i));
	if (p->lab) {
		lab_free(p->lab);
		snapshot_unref(p->w.s);
		folder_remove(p->dir);
	}
	play_clear_devices(p);
	g_ptr_array_unref(p->clients);
	g_ptr_array_unref(p->cues);
	g_array_unref(p->lies);
	g_array_unref(p->secrets);
	g_clear_pointer(&p->rules, partition_rules_unref);
	g_clear_pointer(&p->names, g_hash_table_unref);
	g_clear_pointer(&p->sm.sweep.allowed_sms, g_array_unref);
	g_free(p->told);
	g_free(p->cut);
	g_free(p->loop);
	g_array_unref(p->guarded);
	g_free(p->dir);
	g_free(p->other_dir);
	g_free(p->log);
	g_string_free(p->said, TRUE);
}

void
play_add_secret(struct play *p, uint64_t key)
{
	if (key)
		g_array_append_val(p->secrets, key);
}

/* ---- reading ---- */

bool
play_read_time(struct play *p, const char *word, int64_t *us)
{
	return script_time(word, us) ||
		play_fail(p, "a time such as 50ms is missing");
}

bool
play_read_node(struct play *p, const char *name, uint32_t *node)
{
	const struct console *c = lab_console(p->lab);

	*node = name ? lab_find_node(c->fabric, c->sim, name) : SNAPSHOT_NONE;
	return *node != SNAPSHOT_NONE ||
		play_fail(p, "no node is called %s", name ? name : "so");
}

bool
play_read_port(struct play *p, const char *name, uint32_t *port)
{
	g_auto(GStrv) parts = g_strsplit(name ? name : "", "/", 2);
	const struct snapshot_node *n;
	unsigned num;
	uint32_t node;

	if (!play_read_node(p, parts[0], &node))
		return false;
	n = &p->w.s->nodes[node];
	num = parts[1] ? (unsigned)strtoul(parts[1], NULL, 10) :
		!snapshot_is_switch(n);
	*port = snapshot_port_of(p->w.s, node, num);
	return *port != SNAPSHOT_NONE || play_fail(p, "no port is %s", name);
}

unsigned
play_read_attr(const char *name)
{
	for (unsigned id = MAD_ATTR_NOTICE; id <= MAD_ATTR_SM_INFO; id++)
		if (strcmp(mad_attr_name(id), name) == 0)
			return id;
	return 0;
}

struct setting {
	const char *name;
	void *value;
	unsigned size;
};
#define VALUE(of)	&(of), sizeof(of)

/* KEY=VALUE of a list that ends with a NULL name. */
static bool
read_setting(struct play *p, const char *word, const struct setting *list)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : 0;

	for (; n && list->name; list++)
		if (strlen(list->name) == n && !strncmp(list->name, word, n)) {
			member_store(list->value, list->size,
				     g_ascii_strtoull(equals + 1, NULL, 0));
			return true;
		}
	return play_fail(p, "what is %s?", word);
}

/* ---- words ---- */

PLAYS("fabric", do_fabric)
{
	return true;		/* see play_on_each() */
}

PLAYS("sim", do_sim)
{
	struct sim_params *to = &p->params;
	const struct setting list[] = {
		{ "hop_ns", VALUE(to->hop_ns) },
		{ "smp_ns", VALUE(to->smp_ns) },
		{ "forward_ns", VALUE(to->forward_ns) },
		{ "vl15_depth", VALUE(to->vl15_depth) },
		{ "train_us", VALUE(to->train_us) },
		{ "mcast_top", VALUE(to->mcast_top) },
		{ "hide_ext_speeds", VALUE(to->hide_ext_speeds) },
		{ "seed", VALUE(to->seed) }, { NULL, NULL, 0 },
	};

	if (p->lab)
		return play_fail(p, "the fabric is there already");
	for (; *args; args++)
		if (!read_setting(p, *args, list))
			return false;
	return true;
}

/* "H-0,H-4": the managers that a manager accepts. */
static bool
read_allowed(struct play *p, const char *text)
{
	g_auto(GStrv) names = g_strsplit(text, ",", -1);
	GArray *guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	p->sm.sweep.allowed_sms = guids;
	for (unsigned i = 0; names[i]; i++) {
		uint32_t port;

		if (!play_read_port(p, names[i], &port))
			return false;
		g_array_append_val(guids, p->w.s->ports[port].guid);
	}
	g_array_sort(guids, guid_compare);
	return true;
}

/* What a manager that starts now is told. */
static bool
read_sm(struct play *p, char **words)
{
	struct sm_instance_params *sm = &p->sm;
	AUTO(options) *conf = options_new();
	unsigned each = 0, sl2vl = 0, sa = 1, key_files = 1, cache = 0;
	unsigned route_ms = 0, trees_ms = 0, disk_ms = 0, guest = 0, observe = 0;
	struct sweep_params *sweep = &sm->sweep;
	struct policy *policy = &p->policy;
	const struct setting list[] = {
		{ "priority", VALUE(sweep->priority) },
		{ "guest", VALUE(guest) }, { "observe", VALUE(observe) },
		{ "safe", VALUE(sweep->route.require_deadlock_free) },
		{ "sm_key", VALUE(sweep->sm_key) },
		{ "sweep_s", VALUE(sweep->sweep_s) },
		{ "lmc", VALUE(sweep->lmc) },
		{ "timeout_ms", VALUE(sm->wire.timeout_ms) },
		{ "retries", VALUE(sm->wire.retries) },
		{ "m_key", VALUE(sm->m_key) }, { "each", VALUE(each) },
		{ "protect", VALUE(policy->m_key_protect) },
		{ "lease", VALUE(policy->m_key_lease) },
		{ "prefix", VALUE(policy->gid_prefix) },
		{ "flap_hold", VALUE(sweep->flaps.hold_s) },
		{ "babbling", VALUE(sweep->flaps.disable) },
		{ "sl2vl", VALUE(sl2vl) },
		{ "clients", VALUE(sweep->clients) }, { "sa", VALUE(sa) },
		{ "key_files", VALUE(key_files) }, { "log", VALUE(p->has_log) },
		{ "cache", VALUE(cache) }, { "route_ms", VALUE(route_ms) },
		{ "trees_ms", VALUE(trees_ms) },
		{ "disk_ms", VALUE(disk_ms) }, { "avoid", VALUE(sweep->avoid) },
		{ "poll_ms", VALUE(sweep->poll_ms) },
		{ "polls_lost", VALUE(sweep->polls_lost) }, { NULL, NULL, 0 },
	};

	g_clear_pointer(&sm->sweep.allowed_sms, g_array_unref);
	*sm = manager_defaults;
	sm->sweep.priority = 8;
	sm->sweep.clients = REREGISTER_NONE;
	p->policy = policy_default;
	p->has_log = true;
	for (; *words; words++)
		if (g_str_has_prefix(*words, "engine="))
			sm->sweep.route.engine =
				engine_by_name(*words + strlen("engine="), NULL);
		else if (g_str_has_prefix(*words, "allowed=")) {
			if (!read_allowed(p, *words + strlen("allowed=")))
				return false;
		} else if (!read_setting(p, *words, list))
			return false;
	p->may_loop |= sm->sweep.route.engine &&
		!sm->sweep.route.engine->deadlock_free;
	sm->sa = sa ? &manager_sa : NULL;
	p->policy.m_key = sm->m_key;
	p->qos = conf->qos;
	for (unsigned sl = 0; sl2vl && sl < SL_COUNT; sl++)
		p->qos.sl2vl[sl] = (uint8_t)(sl / sl2vl);
	sm->key_mode = each ? MKEY_DB_PER_PORT : MKEY_DB_ONE;
	sm->key_dir = key_files ? p->dir : NULL;
	sm->cache_dir = cache > 1 ? p->other_dir : cache ? p->dir : NULL;
	sm->sweep.guest = guest;
	if (observe)
		sm->sweep.goal = SWEEP_GOAL_OBSERVE;
	sm->sweep.hidden = guest > 1 || observe;
	sm->sweep.policy = &p->policy;
	sm->sweep.route_us = route_ms * (int64_t)1000;
	sm->sweep.trees_us = trees_ms * (int64_t)1000;
	sm->disk_us = disk_ms * (int64_t)1000;
	sm->sweep.names = p->names;
	sm->sweep.isolation = (struct isolation_params){
		.rules = p->rules,
		.enforce = PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT,
		.qos = sl2vl ? &p->qos : NULL,
	};
	return true;
}

/* All keys that it may give. */
static void
add_secrets(struct play *p)
{
	AUTO(mkey_db) *keys = mkey_db_new(p->sm.m_key, p->sm.key_mode);

	play_add_secret(p, p->sm.m_key);
	for (uint32_t i = 0; i < p->w.s->n_ports; i++)
		if (snapshot_is_end_port(p->w.s, i))
			play_add_secret(p, mkey_db_wanted(keys,
						p->w.s->ports[i].guid));
}

PLAYS("sm", do_sm)
{
	uint32_t port;
	unsigned i = 0;

	if (!play_open(p))
		return false;
	while (i < MANAGERS_MAX && play_manager(p, i)->t)
		i++;
	if (i == MANAGERS_MAX)
		return play_fail(p, "so many subnet managers");
	port = p->w.s->local_port;
	if (*args && !strchr(*args, '=') &&
	    !play_read_port(p, *args++, &port))
		return false;
	if (!read_sm(p, args))
		return false;
	for (unsigned k = 0; k < MANAGERS_MAX; k++)
		if (play_manager(p, k)->t && play_manager(p, k)->port == port)
			return play_fail(p, "the port has one");
	if (p->sm.m_key)
		add_secrets(p);
	manager_open(play_manager(p, i), p->w.sim, port, &p->sm,
		     i || !p->has_log ? NULL : p->log);
	return do_mark(p, NULL);
}

/* [NODE]: it ends, as if it were killed */
PLAYS("stop", do_stop)
{
	struct manager *m = play_manager_on(p, args[0]);

	if (m)
		manager_close(m);
	return m != NULL;
}

/* [NODE]: it is told to end (TERM) */
PLAYS("retire", do_retire)
{
	struct manager *m = play_manager_on(p, args[0]);

	if (m && !manager_retire(m))
		return play_fail(p, "it does not end");
	return do_stop(p, args);
}

PLAYS("run", do_run)
{
	int64_t us;

	if (!play_read_time(p, args[0], &us))
		return false;
	sim_run(p->w.sim, sim_now(p->w.sim) + us);
	return true;
}

/* The first one is there: it has not been stopped. */
static bool
has_manager(struct play *p)
{
	return p->w.m.t || play_fail(p, "there is no subnet manager");
}

/* up TIME; N TIME: until so many heavy sweeps have ended */
PLAYS("wait", do_wait)
{
	unsigned n = args[0] ? (unsigned)strtoul(args[0], NULL, 10) : 0;
	int64_t us;

	if (!args[0] || !play_read_time(p, args[1], &us))
		return play_fail(p, "wait up|N TIME");
	if (!has_manager(p))
		return false;
	if (n)
		return manager_wait_ends(&p->w.m, n, us) ||
			play_fail(p, "they did not end");
	return manager_wait_up(&p->w.m, us) ||
		play_fail(p, "it is not UP: %s", p->w.m.problems->str);
}

static unsigned
role_of(const struct manager *m)
{
	struct sm_info info;

	sweep_sm_info(m->sweep, &info);
	return info.state;
}

/* NODE STATE TIME: as long as its manager is in it, TIME at the most */
PLAYS("while", do_while)
{
	const struct manager *m = play_manager_on(p, args[0]);
	int64_t began = sim_now(p->w.sim), us;

	if (!m || !args[1] || !play_read_time(p, args[2], &us))
		return false;
	while (strcmp(sm_state_name(role_of(m)), args[1]) == 0 &&
	       sim_now(p->w.sim) < began + us)
		sim_step(p->w.sim);
	p->waited = sim_now(p->w.sim) - began;
	return true;
}

PLAYS("start", do_start)
{
	return do_sm(p, args) && do_wait(p, (char *[]){ "up", "10s" });
}

/* N ms, by the last `while` */
PLAYS("waited", do_waited)
{
	return play_expect_range(p, "ms", args[0], (uint64_t)p->waited / 1000);
}

/* NODE handover|discover [NODE]: its manager gets this control, from the one
 * on another node, or from a foreign port */
PLAYS("control", do_control)
{
	const struct manager *m = play_manager_on(p, args[0]);
	const struct manager *from = args[1] && args[2] ?
		play_manager_on(p, args[2]) : NULL;
	const struct sm_info info = {
		.guid = from ? from->t->port_guid : 0x666,
		.state = SM_STATE_MASTER,
	};

	if (!m || !args[1] || (args[2] && !from))
		return false;
	sweep_control(m->sweep, strcmp(args[1], "handover") ?
		      SM_CONTROL_DISCOVER : SM_CONTROL_HANDOVER, &info);
	return true;
}

PLAYS("settle", do_settle)
{
	return has_manager(p) && (world_settle(&p->w, 60 * SECOND) ||
		play_fail(p, "it does not come to rest"));
}

/* [light|trap]: a person asks for it; or it is because of that */
PLAYS("sweep", do_sweep)
{
	if (!has_manager(p))
		return false;
	sweep_request(p->w.m.sweep, !args[0] ? SWEEP_CAUSE_SIGNAL :
		      strcmp(args[0], "trap") ? SWEEP_CAUSE_LIGHT :
		      SWEEP_CAUSE_TRAP);
	return true;
}

static gboolean
put_guid(const GMatchInfo *info, GString *out, gpointer data)
{
	g_autofree char *name = g_match_info_fetch(info, 0);
	struct play *p = data;
	uint32_t port;

	if (play_read_port(p, name, &port))
		g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x",
				       p->w.s->ports[port].guid);
	return FALSE;
}

/* The text of partitions.conf, with names of nodes in place of GUIDs; or
 * "default". Beside it, all are limited members of the default partition, and
 * the manager is a full one. */
PLAYS("partitions", do_partitions)
{
	g_autoptr(GRegex) names = g_regex_new("\\b[HS](-[0-9]+)+", 0, 0, NULL);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL, *more = g_strjoinv(" ", args);
	g_autofree char *line = g_strconcat("Default=0x7fff: ALL=limited, "
					    "SELF=full;", more, NULL);
	struct partition_rules *rules;

	if (!play_open(p))
		return false;
	text = g_regex_replace_eval(names, line, -1, 0, 0, put_guid, p, NULL);
	rules = g_strcmp0(args[0], "default") ?
		partitions_conf_parse(text, "scenario", NULL, &error) :
		partition_rules_default();
	if (!rules)
		return play_fail(p, "%s", error->message);
	g_clear_pointer(&p->rules, partition_rules_unref);
	p->rules = rules;
	if (p->w.m.t) {
		sweep_set_partitions(p->w.m.sweep, rules);
		sweep_request(p->w.m.sweep, SWEEP_CAUSE_PARTITIONS);
	}
	return true;
}

/* NODE TEXT: what the site calls it; off: no names */
PLAYS("name", do_name)
{
	GHashTable *names = g_hash_table_new_full(g_int64_hash, g_int64_equal,
						  g_free, g_free);
	bool off = g_strcmp0(args[0], "off") == 0;
	uint32_t node;

	g_clear_pointer(&p->names, g_hash_table_unref);
	p->names = names;
	if (!play_open(p) || (!off && !play_read_node(p, args[0], &node)))
		return false;
	if (!off)
		g_hash_table_insert(names, g_memdup2(
				&p->w.s->nodes[node].info.node_guid, 8),
				g_strdup(args[1]));
	if (p->w.m.t)
		sweep_set_names(p->w.m.sweep, off ? NULL : names);
	return true;
}

/* As minismctl does. */
PLAYS("accept", do_accept)
{
	return sm_instance_accept(p->w.m.sm, args[0]) ||
		play_fail(p, "there is no such fault");
}

/* PORT of a switch */
PLAYS("avoid use", do_avoid)
{
	const struct snapshot *s = p->w.s;
	uint64_t guid, errors;
	uint32_t port;
	uint8_t num;

	if (!play_read_port(p, args[0], &port))
		return false;
	guid = snapshot_node_of(s, port)->info.node_guid;
	num = s->ports[port].num;
	errors = args[1] ? g_ascii_strtoull(args[1], NULL, 10) : 0;
	return (strcmp(args[-1], "use") == 0 || (args[1] && !errors) ?
		sweep_use(p->w.m.sweep, guid, num, args[1] != NULL) :
		sweep_avoid(p->w.m.sweep, guid, num, errors)) ||
		play_fail(p, "it was so before");
}

PLAYS("pause resume", do_pause)
{
	sweep_set_paused(p->w.m.sweep, strcmp(args[-1], "pause") == 0);
	return true;
}

/* The manager's own; its agent answers all the same. */
PLAYS("device-gone device-back", do_device)
{
	if (strcmp(args[-1], "device-gone") == 0)
		sweep_suspend(p->w.m.sweep, "the device is gone");
	else
		sweep_resume(p->w.m.sweep);
	return true;
}

/* NODE of the manager */
PLAYS("freeze thaw", do_freeze)
{
	struct manager *m = play_manager_on(p, args[0]);

	if (!m)
		return false;
	if (strcmp(args[-1], "freeze") == 0)
		freezer_freeze(m->freezer);
	else
		freezer_thaw(m->freezer);
	return true;
}

/* NUMBER [NODE of the manager] */
PLAYS("priority", do_priority)
{
	struct manager *m = play_manager_on(p, args[0] ? args[1] : NULL);

	if (m)
		sweep_set_priority(m->sweep, args[0] ?
				   (unsigned)strtoul(args[0], NULL, 10) : 0);
	return m != NULL;
}

/* [NODE of the manager] */
PLAYS("takeover", do_takeover)
{
	struct manager *m = play_manager_on(p, args[0]);

	if (m)
		sweep_take_over(m->sweep);
	return m != NULL;
}

/* NAME MODE|gone|folder|add [TEXT]: in the folder of keys */
PLAYS("file", do_file)
{
	g_autofree char *path = NULL, *before = NULL, *text = NULL;

	if (!args[0] || !args[1] || !play_open(p))
		return play_fail(p, "file NAME MODE|gone|folder|add [TEXT]");
	path = g_build_filename(p->dir, args[0], NULL);
	if (strcmp(args[1], "gone") == 0)
		return !g_remove(path) || play_fail(p, "it is not there");
	if (strcmp(args[1], "folder") == 0)	/* it cannot be written */
		return !g_mkdir(path, 0755) || play_fail(p, "it is there");
	if (strcmp(args[1], "add") == 0) {
		if (!g_file_get_contents(path, &before, NULL, NULL))
			return play_fail(p, "it cannot be read");
		text = g_strconcat(before, args[2], "\n", NULL);
		return g_file_set_contents(path, text, -1, NULL);
	}
	if (args[2] && !g_file_set_contents(path, args[2], -1, NULL))
		return play_fail(p, "it cannot be written");
	return !g_chmod(path, (int)strtoul(args[1], NULL, 8)) ||
		play_fail(p, "it is not there");
}

void
play_add_words(struct play_word *table, size_t size, const char *names,
	       bool (*fn)(struct play *p, char **args))
{
	g_auto(GStrv) list = g_strsplit(names, " ", -1);
	size_t n = 0;

	while (table[n].name)
		n++;
	g_assert(n + g_strv_length(list) < size);
	for (char **name = list; *name; name++)
		table[n++] = (struct play_word){ g_intern_string(*name), fn };
}

static const struct play_word *
find_word(const struct play_word *list, const char *name)
{
	while (list->name && g_strcmp0(list->name, name))
		list++;
	return list->name ? list : NULL;
}

PLAYS("expect", do_expect)
{
	const struct play_word *w = find_word(play_expectations, args[0]);

	if (!p->w.m.t)
		return play_fail(p, "there is no subnet manager yet");
	return w ? w->fn(p, args + 1) : play_fail(p, "what is that?");
}

/* WORD ARG ..: a line for each of them */
PLAYS("each", do_each)
{
	if (!args[0] || !args[1])
		return play_fail(p, "each WORD ARG ..");
	for (char **arg = args + 1; *arg; arg++) {
		g_autofree char *line = g_strjoin(" ", args[0], *arg, NULL);

		if (!play_line(p, line))
			return false;
	}
	return true;
}

/* ---- playing ---- */

bool
play_line(struct play *p, const char *line)
{
	static const struct play_word *const lists[] = {
		play_words, play_device_words, play_client_words,
		play_chance_words,
	};
	g_auto(GStrv) argv = NULL;
	g_autoptr(GError) error = NULL;

	if (!g_shell_parse_argv(line, NULL, &argv, &error))
		return play_fail(p, "%s", error->message);
	g_string_truncate(p->said, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		const struct play_word *w = find_word(lists[i], argv[0]);

		if (w)
			return (lists[i] == play_words || play_open(p)) &&
				w->fn(p, argv + 1);
	}
	return play_open(p) &&
		!console_command(lab_console(p->lab), line, p->said);
}

static void *
stage_open(const void *data, const GPtrArray *bound)
{
	struct play *p = g_new(struct play, 1);

	*p = (struct play){
		.params = sim_params_default, .said = g_string_new(NULL),
		.spec = "PGFT(4,4;1,4)",
		.lies = g_array_new(FALSE, FALSE, sizeof(struct play_lie)),
		.guarded = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.secrets = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		.rng = prng_stream(seed_get(3), 5),
	};
	play_clear_devices(p);
	play_clear_clients(p);
	for (guint i = 0; i < bound->len; i += 2)
		if (strcmp(bound->pdata[i], "$fabric") == 0)
			p->spec = bound->pdata[i + 1];
	return p;
}

static char *
stage_play(void *stage, const char *line)
{
	struct play *p = stage;

	if (!play_line(p, line))
		return g_strdup(p->said->str);
	/* a port may have no LID yet, or no route to it */
	if (p->w.sim && sim_stats(p->w.sim)->by_lid)
		return g_strdup("a manager sent an SMP by a LID");
	if (p->w.sim && sim_stats(p->w.sim)->reserved > p->astray)
		return g_strdup("a reserved part of a modifier was not 0");
	return p->may_loop ? NULL : g_strdup(p->loop);
}

static void
stage_close(void *stage)
{
	play_close(stage);
	g_free(stage);
}

bool
scenario_play(struct scenario *s, char **why)
{
	static const struct script_player player = {
		.list = "fabric", .open = stage_open, .play = stage_play,
		.close = stage_close,
	};

	return script_play(s, &player, why);
}

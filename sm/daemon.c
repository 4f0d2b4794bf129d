/*
 * The daemon.
 *
 * Only this file knows everyone: it reads the configuration, opens the log,
 * the port and the memory, and connects transport -> transactions -> sweep.
 * Signals arrive as main-loop events, so nothing runs in a signal handler:
 * HUP sweeps at once, USR1 reopens the log, TERM and INT end in order.
 *
 * What a run is for follows from the mode alone: --plan prints the plan of its
 * first sweep, --once ends after its first sweep with a verdict, and the
 * resident manager stays.
 */
#include "sm/daemon.h"

#include <glib-unix.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "sm/admin.h"
#include "sm/archive.h"
#include "sm/backend.h"
#include "sm/cli/show.h"
#include "sm/conf/conf.h"
#include "sm/conf/guidlist.h"
#include "sm/conf/qospolicy.h"
#include "sm/desk.h"
#include "sm/dump.h"
#include "sm/log.h"
#include "sm/mcast.h"
#include "sm/memory.h"
#include "sm/serve.h"
#include "sm/sweep.h"

#define EXIT_NOT_UP	1
#define EXIT_USAGE	2
#define SHOW_LINES	200u

struct daemon {
	struct conf *conf;
	struct log *log;
	struct memory *memory;
	struct backend *backend;
	struct transport *transport;	/* the backend's */
	struct xact *x;
	struct serve *serve;
	struct sweep *sweep;
	struct admin *admin;
	struct archive *archive;
	struct desk *desk;
	struct mcast *mcast;
	struct keyring *keys;
	struct policy policy;
	struct qos qos;
	struct qos_policy *sls;		/* or NULL */
	struct route_params route;
	GArray *roots, *compute_nodes, *io_nodes;	/* or NULL */
	GMainLoop *loop;
	int exit_code;
};

/* Output. */

static void
print_plan(struct daemon *d, const struct sweep_report *r)
{
	g_autoptr(GString) out = g_string_new(NULL);

	if (d->conf->mode == CONF_MODE_PLAN_JSON)
		plan_print_json(r->plan, r->view->subnet, r->wanted,
				r->view->seen, r->view->tables,
				out);
	else
		plan_print_text(r->plan, r->view->subnet, r->wanted,
				r->view->seen, r->view->tables,
				out);
	fputs(out->str, stdout);
}

static void
print_picture(const struct view *v)
{
	g_autoptr(GString) out = g_string_new(NULL);
	uint32_t from, to;

	show_fabric(v->subnet, v->lids, SHOW_LINES, out);
	if (show_pick_route(v->subnet, v->lids, v->lft, &from, &to)) {
		g_string_append_c(out, '\n');
		show_route(v->subnet, v->lids, v->lft, from, to, out);
	}
	fputs(out->str, stdout);
	fflush(stdout);
}

static void
dump(struct daemon *d, const struct view *v)
{
	g_autoptr(GError) error = NULL;

	if (!dump_all(d->conf->dump_dir, v->subnet, v->lids, v->lft, &error))
		log_say(d->log, LOG_WARNING, "dump", "%s", error->message);
}

static int
end_code(enum sweep_end end)
{
	switch (end) {
	case SWEEP_END_PLANNED:
	case SWEEP_END_UP:
		return 0;
	case SWEEP_END_NOT_UP:
	case SWEEP_END_STANDBY:
	case SWEEP_END_FAILED:
		break;
	}
	return EXIT_NOT_UP;
}

/* What the sweep found is what the SA answers from; in a run that ends nobody
 * asks. */
static void
administer(struct daemon *d, const struct sweep_report *r)
{
	int64_t now = transport_now(d->transport);
	struct sm_info self;

	switch (r->end) {
	case SWEEP_END_UP:
	case SWEEP_END_NOT_UP:
		sweep_sm_info(d->sweep, &self);
		mcast_fabric(d->mcast, r->view->subnet, r->view->lids,
			     r->choice->ranks, r->fresh);
		admin_publish(d->admin, r, &self, mcast_tables(d->mcast),
			      now);
		desk_touch(d->desk);
		break;
	case SWEEP_END_STANDBY:
		mcast_fabric(d->mcast, NULL, NULL, NULL, NULL);
		admin_retire(d->admin, now);
		break;
	case SWEEP_END_PLANNED:
	case SWEEP_END_FAILED:
		break;		/* the fabric of before is still the best */
	}
}

static void
on_sweep_end(const struct sweep_report *r, void *data)
{
	struct daemon *d = data;

	if (d->conf->mode == CONF_MODE_RUN)
		administer(d, r);
	if (r->end == SWEEP_END_PLANNED)
		print_plan(d, r);
	else if (r->view && d->conf->dump_dir)
		dump(d, r->view);
	if (r->view && d->conf->show && r->end != SWEEP_END_PLANNED)
		print_picture(r->view);
	if (d->conf->mode == CONF_MODE_RUN)
		return;
	if (r->end == SWEEP_END_STANDBY)
		log_say(d->log, LOG_WARNING, "daemon", "another subnet "
			"manager is the master: nothing was programmed");
	d->exit_code = end_code(r->end);
	g_main_loop_quit(d->loop);
}

/* What others tell. */

static void
give_sm_info(struct sm_info *out, void *data)
{
	struct daemon *d = data;

	sweep_sm_info(d->sweep, out);
}

static void
on_sa(const struct transport_mad *m, void *data)
{
	struct daemon *d = data;

	desk_take(d->desk, m);
}

static void
on_sa_touched(void *data)
{
	struct daemon *d = data;

	archive_touch(d->archive);
}

static void
on_groups(void *data)
{
	struct daemon *d = data;

	mcast_touch(d->mcast);
}

static void
on_trap(const struct notice *n, const uint8_t *raw, void *data)
{
	struct daemon *d = data;

	sa_forward_trap(admin_sa(d->admin), raw, n->issuer_lid,
			transport_now(d->transport));
	desk_touch(d->desk);
	log_limited(d->log, LOG_INFO, "trap", n->generic ?
		    notice_trap_name(n->trap) : "vendor trap",
		    "from LID %u", n->issuer_lid);
	if (n->generic && (n->trap == 128 || n->trap == 144 ||
			   n->trap == 145))
		sweep_request(d->sweep, SWEEP_CAUSE_TRAP);
}

static void
on_control(enum sm_control control, const struct sm_info *from, void *data)
{
	struct daemon *d = data;

	sweep_control(d->sweep, control, from);
}

/* Signals. */

static gboolean
on_hup(gpointer data)
{
	struct daemon *d = data;

	sweep_request(d->sweep, SWEEP_CAUSE_SIGNAL);
	return G_SOURCE_CONTINUE;
}

static gboolean
on_usr1(gpointer data)
{
	struct daemon *d = data;
	g_autoptr(GError) error = NULL;

	if (!log_reopen(d->log, &error))
		log_say(d->log, LOG_WARNING, "daemon", "%s", error->message);
	else
		log_say(d->log, LOG_INFO, "daemon", "log opened again");
	return G_SOURCE_CONTINUE;
}

static gboolean
on_term(gpointer data)
{
	struct daemon *d = data;

	log_say(d->log, LOG_INFO, "daemon", "told to end");
	if (d->conf->mode != CONF_MODE_RUN)
		d->exit_code = EXIT_NOT_UP;
	g_main_loop_quit(d->loop);
	return G_SOURCE_CONTINUE;
}

/* The record that we replay has no more, and we are not at the end. */
static void
on_over(void *data)
{
	struct daemon *d = data;

	d->exit_code = EXIT_NOT_UP;
	g_main_loop_quit(d->loop);
}

/* Setting up. */

static bool
daemon_open(struct daemon *d, GError **error)
{
	const struct xact_params wire = {
		.timeout_ms = d->conf->timeout_ms,
		.retries = d->conf->retries,
		.max_wire = d->conf->max_smps,
	};

	d->backend = backend_open(d->conf, on_over, d, error);
	if (!d->backend)
		return false;
	d->transport = backend_transport(d->backend);
	log_say(d->log, LOG_INFO, "daemon", PACKAGE_STRING " on %s (0x%016"
		G_GINT64_MODIFIER "x)", d->transport->name,
		d->transport->port_guid);
	d->memory = memory_open(d->conf->cache_dir, d->log);
	d->x = xact_new(d->transport, &wire);
	d->keys = keyring_new(d->conf->m_key);
	return true;
}

/* A list of GUIDs that the configuration names. */
static bool
read_list(const char *key, const char *path, GArray **list)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	if (!path)
		return true;
	if (g_file_get_contents(path, &text, NULL, &error))
		*list = guidlist_parse(text, path, &error);
	if (!*list)
		fprintf(stderr, "minism: %s: %s\n", key, error->message);
	return *list != NULL;
}

/* What routing is to do. False: a person was told what is wrong. */
static bool
daemon_read_routing(struct daemon *d)
{
	const struct conf *c = d->conf;
	g_autoptr(GError) error = NULL;

	d->route = (struct route_params){
		.require_deadlock_free = c->require_deadlock_free,
		.threads = c->routing_threads,
	};
	if (strcmp(c->engine, "auto")) {
		d->route.engine = engine_by_name(c->engine, &error);
		if (!d->route.engine) {
			fprintf(stderr, "minism: --routing-engine: %s, auto\n",
				error->message);
			return false;
		}
	}
	if (!read_list("root_guid_file", c->root_guid_file, &d->roots) ||
	    !read_list("cn_guid_file", c->cn_guid_file, &d->compute_nodes) ||
	    !read_list("io_guid_file", c->io_guid_file, &d->io_nodes))
		return false;
	d->route.roots = d->roots;
	d->route.compute_nodes = d->compute_nodes;
	d->route.io_nodes = d->io_nodes;
	return true;
}

/* Which paths get which SL. False: a person was told what is wrong. */
static bool
daemon_read_sls(struct daemon *d)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;

	if (!qospolicy_read(d->conf, &d->sls, warnings, &error)) {
		fprintf(stderr, "minism: %s\n", error->message);
		return false;
	}
	for (guint i = 0; i < warnings->len; i++)
		log_say(d->log, LOG_WARNING, "conf", "%s",
			(char *)warnings->pdata[i]);
	return true;
}

static void
daemon_connect(struct daemon *d)
{
	const struct serve_hooks hooks = {
		.sm_info = give_sm_info,
		.trap = on_trap,
		.control = on_control,
		.sa = on_sa,
		.data = d,
	};
	struct desk_params desk = desk_params_default;
	struct sweep_params params = {
		.keys = d->keys,
		.sm_key = d->conf->sm_key,
		.port_guid = d->transport->port_guid,
		.priority = d->conf->priority,
		.lmc = d->conf->lmc,
		.sweep_s = d->conf->sweep_s,
		.goal = SWEEP_GOAL_FABRIC,
		.route = d->route,
		.policy = &d->policy,
		.isolation = { .qos = &d->qos },
	};

	if (d->conf->mode == CONF_MODE_PLAN ||
	    d->conf->mode == CONF_MODE_PLAN_JSON)
		params.goal = SWEEP_GOAL_PLAN;
	d->qos = d->conf->qos;
	d->qos.max_op_vls = (uint8_t)d->conf->max_op_vls;
	d->policy = policy_default;
	d->policy.m_key = d->conf->m_key;
	d->policy.gid_prefix = d->conf->subnet_prefix;
	d->admin = admin_new(&(struct admin_params){
		.sa_key = d->conf->sa_key,
		.gid_prefix = d->policy.gid_prefix,
		.packet_life = d->policy.packet_life_time,
		.subnet_timeout = d->policy.subnet_timeout,
	});
	admin_set_policy(d->admin, d->sls);
	d->archive = archive_open(d->conf->mode == CONF_MODE_RUN ?
				  d->conf->cache_dir : NULL,
				  admin_sa(d->admin), d->transport, d->log);
	desk.touched = on_sa_touched;
	desk.touched_data = d;
	d->desk = desk_new(d->x, admin_sa(d->admin), d->log, &desk,
			   on_groups, d);
	d->mcast = mcast_new(d->x, d->keys, admin_sa(d->admin), d->log);
	d->sweep = sweep_new(d->x, &params, d->memory, d->log, on_sweep_end,
			     d);
	d->serve = serve_new(d->x, &hooks, d->log);
}

static void
daemon_close(struct daemon *d)
{
	g_autoptr(GError) error = NULL;

	sweep_free(d->sweep);
	serve_free(d->serve);
	mcast_free(d->mcast);
	desk_free(d->desk);
	if (d->archive)
		archive_close(d->archive);
	admin_free(d->admin);
	if (d->x)
		xact_free(d->x);
	if (!backend_close(d->backend, &error)) {
		log_say(d->log, LOG_ERROR, "daemon", "%s", error->message);
		d->exit_code = EXIT_NOT_UP;
	}
	memory_free(d->memory);
	keyring_free(d->keys);
}

static int
daemon_run(struct daemon *d)
{
	g_autoptr(GError) error = NULL;

	if (!daemon_read_routing(d) || !daemon_read_sls(d))
		return EXIT_USAGE;
	if (!daemon_open(d, &error)) {
		log_say(d->log, LOG_ERROR, "daemon", "%s", error->message);
		return EXIT_NOT_UP;
	}
	d->loop = g_main_loop_new(NULL, FALSE);
	daemon_connect(d);

	guint signals[] = {
		g_unix_signal_add(SIGHUP, on_hup, d),
		g_unix_signal_add(SIGUSR1, on_usr1, d),
		g_unix_signal_add(SIGTERM, on_term, d),
		g_unix_signal_add(SIGINT, on_term, d),
	};

	sweep_request(d->sweep, SWEEP_CAUSE_START);
	g_main_loop_run(d->loop);
	backend_drain(d->backend);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		g_source_remove(signals[i]);
	daemon_close(d);
	g_main_loop_unref(d->loop);
	return d->exit_code;
}

static int
usage(const char *message)
{
	fprintf(stderr, "minism: %s\n", message);
	return EXIT_USAGE;
}

int
daemon_main(int argc, char **argv)
{
	struct daemon d = { .conf = conf_new() };
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	int code;

	if (!conf_from_args(d.conf, argc, argv, warnings, &error)) {
		code = usage(error->message);
	} else if (d.conf->mode == CONF_MODE_HELP) {
		fputs(conf_help(), stdout);
		code = 0;
	} else if (d.conf->mode == CONF_MODE_VERSION) {
		puts(PACKAGE_STRING);
		code = 0;
	} else if (!(d.log = log_open(d.conf->log_file, d.conf->verbosity,
				      &error))) {
		code = usage(error->message);
	} else {
		for (guint i = 0; i < warnings->len; i++)
			log_say(d.log, LOG_WARNING, "conf", "%s",
				(char *)warnings->pdata[i]);
		code = daemon_run(&d);
	}
	log_free(d.log);
	qos_policy_unref(d.sls);
	g_clear_pointer(&d.roots, g_array_unref);
	g_clear_pointer(&d.compute_nodes, g_array_unref);
	g_clear_pointer(&d.io_nodes, g_array_unref);
	conf_free(d.conf);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The daemon.
 *
 * Only this file knows everyone: it reads the configuration, opens the log,
 * the port and the memory, and connects transport -> transactions -> sweep.
 * Signals arrive as main-loop events, so nothing runs in a signal handler:
 * HUP reads the site's files again and sweeps, USR1 reopens the log, TERM
 * and INT end in order. What a person asks through the control socket
 * (control.h) takes the same ways.
 *
 * What a run is for follows from the mode alone: --plan prints the plan of its
 * first sweep, --once ends after its first sweep with a verdict, and the
 * resident manager stays. --check-config reads what the others would read, and
 * ends before a port is opened.
 */
#include "sm/daemon.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "sm/sa/sa_publish.h"
#include "sm/persist_sa.h"
#include "sm/backend.h"
#include "sm/daemonize.h"
#include "sm/check_config.h"
#include "sm/tools/show.h"
#include "sm/config/options.h"
#include "sm/control/control_socket.h"
#include "sm/sa/sa_server.h"
#include "sm/dump.h"
#include "sm/io/replay.h"
#include "sm/lockfile.h"
#include "sm/log.h"
#include "sm/mcast_manager.h"
#include "sm/persist.h"
#include "sm/sweep/qos_reader.h"
#include "sm/sm_agent.h"
#include "sm/site_settings.h"
#include "sm/site_files.h"
#include "sm/control/status.h"
#include "sm/sweep/sweep.h"

#define EXIT_NOT_UP	1
#define EXIT_USAGE	2
#define SHOW_LINES	200u

struct daemon {
	struct options *conf;
	struct background *background;	/* NULL: we stay where we are */
	struct lockfile *pid, *cache;	/* NULL: none */
	struct log *log;
	struct persist *memory;
	struct backend *backend;
	struct transport *transport;	/* the backend's */
	struct mad_client *x;
	struct sm_agent *serve;
	struct sweep *sweep;
	struct sa_publisher *admin;
	struct persist_sa *archive;
	struct sa_server *desk;
	struct qos_reader *qosread;
	struct mcast_manager *mcast;
	struct persist_keys *keys;
	struct policy policy;
	struct qos qos;
	struct site_files *site;
	struct status *status;
	struct control_socket *control;	/* NULL: nobody listens */
	int64_t since;
	GMainLoop *loop;
	int exit_code;
};

/* Output. */

static void
print_plan(struct daemon *d, const struct sweep_report *r)
{
	g_autoptr(GString) out = g_string_new(NULL);

	if (d->conf->mode == OPTIONS_MODE_PLAN_JSON)
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
		mcast_manager_fabric(d->mcast, r->view->subnet, r->view->lids,
			     r->choice, r->fresh);
		sa_publisher_publish(d->admin, r, &self,
				     mcast_manager_tables(d->mcast), now);
		qos_reader_refresh(d->qosread);
		sa_server_touch(d->desk);
		break;
	case SWEEP_END_STANDBY:
		mcast_manager_fabric(d->mcast, NULL, NULL, NULL, NULL);
		sa_publisher_retire(d->admin, now);
		qos_reader_refresh(d->qosread);
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

	/* A fast clock may go on until the loop looks again: a run that ends
	 * has one verdict, its first. */
	if (!g_main_loop_is_running(d->loop))
		return;
	status_note(d->status, r, transport_now(d->transport));
	if (d->conf->mode == OPTIONS_MODE_RUN)
		administer(d, r);
	if (r->end == SWEEP_END_PLANNED)
		print_plan(d, r);
	else if (r->view && d->conf->dump_dir)
		dump(d, r->view);
	if (r->view && d->conf->show && r->end != SWEEP_END_PLANNED)
		print_picture(r->view);
	if (d->conf->mode == OPTIONS_MODE_RUN)
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

	sa_server_take(d->desk, m);
}

static bool
on_unread(struct ticket *t, const struct sa_unread *unread, void *data)
{
	struct daemon *d = data;

	return qos_reader_park(d->qosread, t, unread);
}

static bool
sweep_rests(void *data)
{
	struct daemon *d = data;

	return sweep_state(d->sweep) == SWEEP_IDLE;
}

static void
on_read(struct ticket *t, void *data)
{
	struct daemon *d = data;

	sa_server_resume(d->desk, t);
}

static void
on_sa_touched(void *data)
{
	struct daemon *d = data;

	persist_sa_touch(d->archive);
}

static void
on_groups(void *data)
{
	struct daemon *d = data;

	mcast_manager_touch(d->mcast);
}

static void
on_trap(const struct notice *n, const uint8_t *raw, void *data)
{
	struct daemon *d = data;

	sa_forward_trap(sa_publisher_sa(d->admin), raw, n->issuer_lid,
			transport_now(d->transport));
	sa_server_touch(d->desk);
	/* 256 to 259: somebody has tried a wrong key */
	log_limited(d->log, n->trap >= 256 && n->trap <= 259 ? LOG_WARNING :
		    LOG_INFO, "trap", n->generic ?
		    notice_trap_name(n->trap) : "vendor trap",
		    "from LID %u", n->issuer_lid);
	if (n->generic && (n->trap == 128 || n->trap == 144 ||
			   n->trap == 145))
		sweep_request(d->sweep, SWEEP_CAUSE_TRAP);
}

static bool
has_lid(uint16_t lid, void *data)
{
	struct daemon *d = data;

	return sweep_has_lid(d->sweep, lid);
}

static void
on_control(enum sm_control control, const struct sm_info *from, void *data)
{
	struct daemon *d = data;

	sweep_control(d->sweep, control, from);
}

/* Reading the site's files again. */

static void
log_lines(struct daemon *d, enum log_level level, const GPtrArray *lines)
{
	for (guint i = 0; i < lines->len; i++)
		log_say(d->log, level, "conf", "%s",
			(char *)lines->pdata[i]);
}

static struct partition_rules *
rules_of(const struct daemon *d)
{
	return partitions_rules(site_files_partitions(d->site));
}

static bool
reload(struct daemon *d, GPtrArray *errors)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	bool ok = site_files_reload(d->site, warnings, errors);

	log_lines(d, LOG_WARNING, warnings);
	if (ok) {
		sweep_set_route(d->sweep, site_files_route(d->site));
		sweep_set_names(d->sweep, site_files_names(d->site));
		sweep_set_partitions(d->sweep, rules_of(d));
		sa_publisher_set_policy(d->admin, site_files_sls(d->site));
		return true;
	}
	log_lines(d, LOG_ERROR, errors);
	log_say(d->log, LOG_ERROR, "conf", "what was in force stays in force");
	return false;
}

/* Signals. */

static gboolean
on_hup(gpointer data)
{
	struct daemon *d = data;
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);

	reload(d, errors);
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
	if (d->conf->mode != OPTIONS_MODE_RUN)
		d->exit_code = EXIT_NOT_UP;
	g_main_loop_quit(d->loop);
	return G_SOURCE_CONTINUE;
}

/* A person at the control socket. */

static void
control_look(struct control_view *out, void *data)
{
	struct daemon *d = data;

	*out = (struct control_view){
		.port_name = d->transport->name,
		.port_guid = d->transport->port_guid,
		.ms = transport_ms(d->transport),
		.now = transport_now(d->transport),
		.since = d->since,
		.doing = sweep_state(d->sweep),
		.level = log_level(d->log),
		.status = d->status,
		.rivals = sweep_rivals(d->sweep),
		.rules = rules_of(d),
		.wire = mad_client_stats(d->x),
		.desk = sa_server_stats(d->desk),
		.multicast = mcast_manager_stats(d->mcast),
		.unreached = mcast_manager_lost(d->mcast),
	};
	sweep_sm_info(d->sweep, &out->self);
	sa_stats(sa_publisher_sa(d->admin), &out->sa);
}

static void
control_sweep(void *data)
{
	struct daemon *d = data;

	log_say(d->log, LOG_INFO, "control", "a sweep was asked for");
	sweep_request(d->sweep, SWEEP_CAUSE_SIGNAL);
}

static bool
control_reload(GError **error, void *data)
{
	struct daemon *d = data;
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = NULL;

	log_say(d->log, LOG_INFO, "control", "a reload was asked for");
	if (reload(d, errors)) {
		sweep_request(d->sweep, SWEEP_CAUSE_SIGNAL);
		return true;
	}
	g_ptr_array_add(errors, NULL);
	text = g_strjoinv("\n", (char **)errors->pdata);
	g_set_error_literal(error, OPTION_ERROR, OPTION_ERROR_FILE, text);
	return false;
}

static bool
control_change(uint16_t pkey, uint64_t guid, int membership, GError **error,
	       void *data)
{
	struct daemon *d = data;

	if (!partitions_change(site_files_partitions(d->site), pkey, guid,
			       membership, error))
		return false;
	log_say(d->log, LOG_INFO, "control", "partition 0x%04x: member "
		"0x%016" G_GINT64_MODIFIER "x changed", pkey_base(pkey), guid);
	sweep_set_partitions(d->sweep, rules_of(d));
	sweep_request(d->sweep, SWEEP_CAUSE_PARTITIONS);
	return true;
}

static void
control_log_level(enum log_level level, void *data)
{
	struct daemon *d = data;

	log_set_level(d->log, level);
}

/* A fabric is managed without the socket, too, if there can be none. */
static void
open_control(struct daemon *d)
{
	const struct control_hooks hooks = {
		.look = control_look,
		.sweep = control_sweep,
		.reload = control_reload,
		.change = control_change,
		.log_level = control_log_level,
		.data = d,
	};
	const char *named = d->conf->control_socket;
	g_autofree char *path = NULL;
	g_autoptr(GError) error = NULL;

	if (!named || d->conf->mode != OPTIONS_MODE_RUN)
		return;
	path = strcmp(named, OPTIONS_CONTROL_SOCKET) ? g_strdup(named) :
		g_strdup_printf(OPTIONS_CONTROL_DIR "/%016" G_GINT64_MODIFIER
				"x.ctl", d->transport->port_guid);
	d->control = control_socket_open(path, &hooks, NULL, d->log, &error);
	if (d->control)
		log_say(d->log, LOG_VERBOSE, "control", "listening on %s",
			path);
	else
		log_say(d->log, LOG_WARNING, "control", "%s; minismctl will "
			"not reach this manager", error->message);
}

/* The record that we replay has no more, and we are not at the end. */
static void
on_over(void *data)
{
	struct daemon *d = data;

	d->exit_code = EXIT_NOT_UP;
	g_main_loop_quit(d->loop);
}

/* The port of this machine. What ends with its first sweep ends here. */
static void
on_port(enum umad_event event, const char *text, void *data)
{
	struct daemon *d = data;

	switch (event) {
	case UMAD_NOTE:
		log_say(d->log, LOG_WARNING, "port", "%s", text);
		break;
	case UMAD_LOST:
		log_say(d->log, LOG_ERROR, "port", "%s (0x%016"
			G_GINT64_MODIFIER "x): the device is gone: %s%s",
			d->transport->name, d->transport->port_guid, text,
			d->conf->mode == OPTIONS_MODE_RUN ?
			"; looking for the port until it is back" : "");
		sweep_suspend(d->sweep, "the device of the port is gone");
		break;
	case UMAD_BACK:
		log_say(d->log, LOG_WARNING, "port", "%s (0x%016"
			G_GINT64_MODIFIER "x): the device is back", text,
			d->transport->port_guid);
		sweep_resume(d->sweep);
		break;
	}
}

/* Setting up. */

/* A port at level 2 tells nobody its GUID, and with a key of its own it is not
 * found again by who has not written down where it was. */
static void
open_keys(struct daemon *d)
{
	const struct options *c = d->conf;
	const char *dir = c->m_key_lookup ? c->cache_dir : NULL;

	d->keys = persist_keys_open(dir, c->m_key, c->m_key_per_port ?
				MKEY_DB_PER_PORT : MKEY_DB_ONE, d->log);
	if (c->m_key_per_port && !c->m_key)
		log_say(d->log, LOG_WARNING, "keys", "m_key_per_port without "
			"an m_key: there are no keys");
	else if (c->m_key_per_port && c->m_key_protect > 1 && !dir)
		log_say(d->log, LOG_WARNING, "keys", "m_key_per_port at "
			"protection level %u, and nothing is remembered: "
			"after a restart the ports will not answer",
			c->m_key_protect);
}

/* A run that ends is waited for, not looked for. */
static const char *
pid_file(const struct daemon *d)
{
	return d->conf->mode == OPTIONS_MODE_RUN ? d->conf->pid_file : NULL;
}

/* Before the port is opened: a second manager disturbs nothing. A plan only
 * reads, and a cache folder that cannot be written is told of later. */
static bool
take_locks(struct daemon *d, GError **error)
{
	const char *dir = d->conf->cache_dir;
	g_autofree char *path = NULL;
	g_autoptr(GError) why = NULL;

	if (pid_file(d)) {
		d->pid = lockfile_take(pid_file(d), error);
		g_prefix_error(error, "--pidfile: ");
		if (!d->pid)
			return false;
	}
	if (!dir || d->conf->mode == OPTIONS_MODE_PLAN ||
	    d->conf->mode == OPTIONS_MODE_PLAN_JSON)
		return true;
	g_mkdir_with_parents(dir, 0755);
	path = g_build_filename(dir, "lock", NULL);
	d->cache = lockfile_take(path, &why);
	if (d->cache || !g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_PERM))
		return true;
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM, "%s: two managers "
		    "cannot share a cache folder: give this one another "
		    "--cache-dir", why->message);
	return false;
}

static bool
daemon_open(struct daemon *d, GError **error)
{
	const struct mad_client_params wire = {
		.timeout_ms = d->conf->timeout_ms,
		.retries = d->conf->retries,
		.max_wire = d->conf->max_smps,
	};
	const struct backend_hooks hooks = {
		.over = on_over, .port = on_port, .data = d,
	};

	d->backend = backend_open(d->conf, &hooks, error);
	if (!d->backend)
		return false;
	d->transport = backend_transport(d->backend);
	log_say(d->log, LOG_INFO, "daemon", PACKAGE_STRING " on %s (0x%016"
		G_GINT64_MODIFIER "x)", d->transport->name,
		d->transport->port_guid);
	d->memory = persist_open(d->conf->cache_dir, d->log);
	open_keys(d);
	d->x = mad_client_new(d->transport, &wire);
	return true;
}

static void
set_policy(struct daemon *d)
{
	d->policy = site_settings_policy(d->conf);
	d->qos = site_settings_qos(d->conf);
}

static struct isolation_params
isolation_of(const struct daemon *d)
{
	return (struct isolation_params){
		.rules = rules_of(d),
		.enforce = options_enforce(d->conf),
		.qos = &d->qos,
	};
}

/* What clients of the SA know of us: see struct sweep_params. */
static enum reregister_start
clients_of(const struct daemon *d)
{
	if (d->conf->mode != OPTIONS_MODE_RUN || d->conf->no_rereg)
		return REREGISTER_NONE;
	return persist_sa_is_loaded(d->archive) ? REREGISTER_KNOWN :
		REREGISTER_FORGOTTEN;
}

static void
daemon_connect(struct daemon *d)
{
	const struct sm_agent_hooks hooks = {
		.keys = persist_keys_ring(d->keys),
		.sm_info = give_sm_info,
		.trap = on_trap,
		.has_lid = has_lid,
		.control = on_control,
		.sa = on_sa,
		.data = d,
	};
	struct sa_server_params desk = sa_server_params_default;
	struct sweep_params params = {
		.keystore = d->keys,
		.sm_key = d->conf->sm_key,
		.port_guid = d->transport->port_guid,
		.priority = d->conf->priority,
		.lmc = d->conf->lmc,
		.sweep_s = d->conf->sweep_s,
		.force_heavy = d->conf->force_heavy,
		.names = site_files_names(d->site),
		.poll_ms = d->conf->poll_ms,
		.polls_lost = d->conf->polls_lost,
		.goal = SWEEP_GOAL_FABRIC,
		.route = *site_files_route(d->site),
		.policy = &d->policy,
		.isolation = isolation_of(d),
	};

	if (d->conf->mode == OPTIONS_MODE_ONCE)
		params.goal = SWEEP_GOAL_ONCE;
	else if (d->conf->mode != OPTIONS_MODE_RUN)
		params.goal = SWEEP_GOAL_PLAN;
	set_policy(d);
	d->admin = sa_publisher_new(&(struct sa_publisher_params){
		.sa_key = d->conf->sa_key,
		.gid_prefix = d->policy.gid_prefix,
		.packet_life = d->policy.packet_life_time,
		.subnet_timeout = d->policy.subnet_timeout,
		.group_quota = d->conf->group_quota,
		.qos = d->conf->qos.enabled,
	});
	sa_publisher_set_policy(d->admin, site_files_sls(d->site));
	d->archive = persist_sa_open(d->conf->mode == OPTIONS_MODE_RUN
					     ? d->conf->cache_dir
					     : NULL,
				     sa_publisher_sa(d->admin), d->transport,
				     d->log);
	desk.touched = on_sa_touched;
	desk.touched_data = d;
	desk.unread = on_unread;
	desk.unread_data = d;
	d->desk = sa_server_new(d->x, sa_publisher_sa(d->admin), d->log, &desk,
			   on_groups, d);
	d->qosread = qos_reader_new(d->x, persist_keys_ring(d->keys),
				    sa_publisher_sa(d->admin),
				    &(struct qos_reader_hooks){
					    .rests = sweep_rests,
					    .resume = on_read,
					    .data = d,
				    });
	d->mcast = mcast_manager_new(d->x, persist_keys_ring(d->keys),
				     sa_publisher_sa(d->admin), d->log);
	params.clients = clients_of(d);
	d->sweep = sweep_new(d->x, &params, d->memory, d->log, on_sweep_end,
			     d);
	d->serve = sm_agent_new(d->x, &hooks, d->log);
	d->since = transport_now(d->transport);
	open_control(d);
}

static void
daemon_close(struct daemon *d)
{
	g_autoptr(GError) error = NULL;

	control_socket_close(d->control);
	sweep_free(d->sweep);
	sm_agent_free(d->serve);
	mcast_manager_free(d->mcast);
	qos_reader_free(d->qosread);
	sa_server_free(d->desk);
	if (d->archive)
		persist_sa_close(d->archive);
	sa_publisher_free(d->admin);
	if (d->x)
		mad_client_free(d->x);
	if (!backend_close(d->backend, &error)) {
		log_say(d->log, LOG_ERROR, "daemon", "%s", error->message);
		d->exit_code = EXIT_NOT_UP;
	}
	persist_free(d->memory);
	persist_keys_close(d->keys);
}

/* The port is open: who waits for that in the foreground may go. */
static void
let_go(struct daemon *d)
{
	if (d->background && !d->conf->log_file)
		log_say(d->log, LOG_WARNING, "daemon", "in the background "
			"there is no standard error: without a log_file "
			"nothing is logged from here on");
	daemonize_ready(d->background);
}

static int
daemon_run(struct daemon *d)
{
	g_autoptr(GError) error = NULL;

	if (!take_locks(d, &error) || !daemon_open(d, &error)) {
		log_say(d->log, LOG_ERROR, "daemon", "%s", error->message);
		if (d->background && d->conf->log_file)
			fprintf(stderr, "minism: %s\n", error->message);
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

	let_go(d);
	sweep_request(d->sweep, SWEEP_CAUSE_START);
	g_main_loop_run(d->loop);
	backend_drain(d->backend);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		g_source_remove(signals[i]);
	daemon_close(d);
	g_main_loop_unref(d->loop);
	return d->exit_code;
}

/* Each line for itself, so that none is without the name. */
static int
usage(const char *message)
{
	g_auto(GStrv) lines = g_strsplit(message, "\n", -1);

	for (guint i = 0; lines[i]; i++)
		fprintf(stderr, "minism: %s\n", lines[i]);
	return EXIT_USAGE;
}

static int
usage_lines(const GPtrArray *lines)
{
	for (guint i = 0; i < lines->len; i++)
		usage(lines->pdata[i]);
	return EXIT_USAGE;
}

/* The configuration is good so far: what it names, then the run. */
static int
daemon_start(struct daemon *d, GPtrArray *warnings)
{
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	int code = EXIT_NOT_UP;

	d->site = site_files_read(d->conf, warnings, errors);
	if (!d->site)
		return usage_lines(errors);
	d->log = log_open(d->conf->log_file, d->conf->verbosity, &error);
	if (!d->log)
		return usage(error->message);
	log_lines(d, LOG_WARNING, warnings);
	if (d->conf->background && d->conf->mode == OPTIONS_MODE_RUN) {
		d->background = daemonize_fork(&code, &error);
		if (error)
			log_say(d->log, LOG_ERROR, "daemon", "%s",
				error->message);
		if (!d->background)
			return code;
	}
	code = daemon_run(d);
	lockfile_free(d->cache, false);
	lockfile_free(d->pid, true);
	daemonize_end(d->background, code);
	return code;
}

static int
daemon_do(struct daemon *d, GPtrArray *warnings)
{
	switch (d->conf->mode) {
	case OPTIONS_MODE_HELP:
		options_print_help();
		return 0;
	case OPTIONS_MODE_VERSION:
		puts(PACKAGE_STRING);
		return 0;
	case OPTIONS_MODE_CHECK:
		return check_config_tell(d->conf, warnings, NULL);
	case OPTIONS_MODE_RUN:
	case OPTIONS_MODE_ONCE:
	case OPTIONS_MODE_PLAN:
	case OPTIONS_MODE_PLAN_JSON:
		break;
	}
	return daemon_start(d, warnings);
}

/* A replay has the options of the run that was recorded. If there is no good
 * record, that is told when it is opened. */
static bool
read_conf(struct daemon *d, int argc, char **argv, GPtrArray *warnings,
	  GError **error)
{
	g_autofree char *given = NULL;
	char *record;

	if (!options_from_args(d->conf, argc, argv, warnings, error))
		return false;
	record = d->conf->replay;
	given = record ? replay_options(record) : NULL;
	if (!given || d->conf->mode >= OPTIONS_MODE_CHECK)
		return true;
	options_free(d->conf);
	d->conf = options_new();
	g_ptr_array_set_size(warnings, 0);
	return options_from_record(d->conf, given, argc, argv, warnings, error);
}

int
daemon_main(int argc, char **argv)
{
	struct daemon d = { .conf = options_new(), .status = status_new() };
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	int code;

	/* that nobody reads the log any more is no reason to end */
	signal(SIGPIPE, SIG_IGN);
	if (read_conf(&d, argc, argv, warnings, &error))
		code = daemon_do(&d, warnings);
	else if (d.conf->mode == OPTIONS_MODE_CHECK)
		code = check_config_tell(d.conf, warnings, error);
	else
		code = usage(error->message);
	log_free(d.log);
	site_files_free(d.site);
	status_free(d.status);
	options_free(d.conf);
	return code;
}

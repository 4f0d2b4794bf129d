// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The daemon: reads the configuration, opens the log and the port, and runs a
 * sm_instance on it. Signals arrive as main-loop events, so nothing runs in a
 * signal handler: HUP reads the site's files again and sweeps, USR1 reopens the
 * log, TERM and INT end in order. Requests through the control socket
 * (control.h) do the same.
 *
 * What a run is for follows from the mode alone: --plan prints the plan of its
 * first sweep, --once ends with the result of its first sweep, and the
 * resident manager stays, as does the observer. --check-config reads what the
 * others would read, and ends before a port is opened.
 *
 * Exit status: 0 done (the fabric is up), 1 it is not, or an error, 2 the
 * command line or the configuration is bad.
 */
#include <glib-unix.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config.h"
#include "sm/daemon.h"
#include "sm/config/guid_files.h"
#include "sm/config/options.h"
#include "sm/control/control_socket.h"
#include "sm/io/beside.h"
#include "sm/lockfile.h"
#include "sm/log.h"
#include "sm/notify.h"
#include "sm/site_files.h"
#include "sm/control/status.h"
#include "sm/sm_instance.h"
#include "topology/each.h"
#include "topology/text.h"

#define EXIT_NOT_UP	1
#define EXIT_USAGE	2
#define SLOW_END_US	(2 * G_USEC_PER_SEC)	/* at the end, for the views */
#define SLOW_ONCE_US	(600 * (int64_t)G_USEC_PER_SEC)
#define FILES_MIN	16u	/* 12 while it rests, and some clients */

struct daemon {
	const struct daemon_kind *kind;
	struct options *conf;
	struct lockfile *pid, *cache;	/* NULL: none */
	struct log *log;
	struct backend *backend;
	struct transport *transport;	/* the backend's */
	struct sm_instance *sm;
	struct site_files *site;
	struct status *status;
	struct control_socket *control;	/* NULL: not open */
	struct notify *notify;		/* NULL: no service of systemd */
	/* for clients, without and with tables; for the file of --view, which
	 * has that of a sweep */
	struct views *views[3];
	struct file_writer *view_file;	/* NULL: none is asked for */
	/* Makes views, which are large, and reads what a site wrote: keys and
	 * state must not wait behind them. NULL: at once. */
	struct beside *slow;
	struct beside_job *reading;	/* the site's files; NULL: none is */
	uint64_t n_read;	/* how often they were read again, */
	GPtrArray *told;	/* and what was wrong with them then */
	char *refused;		/* why they were not taken */
	int64_t since;
	GMainLoop *loop;
	int exit_code;
};

/* Output. */

static void daemon_look(struct control_view *out, void *data);

static void
on_view(GString *text, void *data)
{
	file_writer_put(((struct daemon *)data)->view_file, text);
}

/* What was written of the fabric is no longer true. v: NULL, it is not read */
static void
renew_views(struct daemon *d, const struct view *v)
{
	struct control_view cv;

	for (unsigned i = 0; i < G_N_ELEMENTS(d->views); i++)
		views_expire(d->views[i]);
	if (!v || !d->view_file)
		return;
	daemon_look(&cv, d);
	views_make(d->views[2], control_view_values(&cv, v, true));
}

static void
on_sweep_end(const struct sweep_report *r, void *data)
{
	struct daemon *d = data;
	const struct view *v = r->view;
	g_autoptr(GString) out = g_string_new(NULL);
	/* As in the log: the multicast trees of this fabric come later. */
	const struct control_view cv = {
		.status = d->status, .expected = d->sm->expected,
		.sweep = d->sm->sweep,
	};
	const char *verdict;

	/* A fast clock may go on until the loop ends: a run that ends by itself
	 * has the verdict of its first sweep. */
	if (!g_main_loop_is_running(d->loop))
		return;
	status_note(d->status, r, transport_now(d->transport));
	control_verdict(&cv, &verdict);
	status_judge(d->status, verdict);
	d->log->generation = d->status->n_sweeps;
	if (d->backend->end)
		d->backend->end(r, d->backend);
	if (r->end == SWEEP_END_PLANNED) {
		plan_print(r->plan, v->subnet, r->wanted, v->seen, v->tables,
			   out);
		stream_put(d->backend->out, out->str, out->len);
	}
	renew_views(d, v);
	notify_tell(d->notify, NOTIFY_SWEPT);
	/* The holes that its small blocks have left are megabytes. */
#ifdef M_MMAP_THRESHOLD
	malloc_trim(0);
#endif
	if (d->conf->mode == OPTIONS_MODE_RUN)
		return;
	if (r->end == SWEEP_END_STANDBY)
		log_say(d->log, LOG_WARNING, "daemon", "another subnet "
			"manager is the master: nothing was programmed%s",
			options_is_guest(d->conf) ?
			" (to take over: --takeover, or a priority)" : "");
	d->exit_code = r->end == SWEEP_END_PLANNED || r->end == SWEEP_END_UP ?
		0 : EXIT_NOT_UP;
	g_main_loop_quit(d->loop);
}

/* Reload of the site's files. */

/* Which members are not on the fabric, which tables are too small; the log has
 * it from a sweep. */
static void
note_members(const struct options *conf, const struct site_files *site,
	     const struct snapshot *s, GPtrArray *warnings)
{
	const struct isolation_params params = {
		.rules = site->partitions->rules,
		.enforce = options_enforce(conf),
		.qos = conf->qos.enabled ? &conf->qos : NULL,
	};
	struct port_tables *held = port_tables_new(s);
	struct isolation *i = isolation_new(&params, s, held);

	EACH_PTR(const char, note, i->notes)
		g_ptr_array_add(warnings, g_strdup(note));
	isolation_free(i);
	port_tables_unref(held);
}

static void
log_lines(struct daemon *d, enum log_level level, const GPtrArray *lines)
{
	EACH_PTR(const char, line, lines)
		log_say(d->log, level, "conf", "%s", line);
}

static void
on_paths(G_GNUC_UNUSED void *paths, void *data)
{
	struct daemon *d = data;
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	size_t first;
	bool ok;

	d->reading = NULL;
	d->n_read++;
	notify_tell(d->notify, NOTIFY_RELOADING);
	ok = site_files_load(d->site, warnings, errors);
	notify_tell(d->notify, NOTIFY_RELOADED);
	log_lines(d, LOG_WARNING, warnings);
	g_clear_pointer(&d->refused, g_free);
	g_clear_pointer(&d->told, g_ptr_array_unref);
	d->told = g_ptr_array_ref(ok ? warnings : errors);
	if (ok) {
		sweep_set_route(d->sm->sweep, &d->site->route);
		sweep_set_names(d->sm->sweep, d->site->lists.names);
		sweep_set_partitions(d->sm->sweep, d->site->partitions->rules);
	} else {
		log_lines(d, LOG_ERROR, errors);
		log_say(d->log, LOG_ERROR, "conf", "the present configuration "
			"stays in force");
		first = strcspn(errors->pdata[0], "\n");
		d->refused = g_strdup_printf("a file has errors, so its "
			"contents of before are in force; the first: %.*s",
			(int)first, (char *)errors->pdata[0]);
		renew_views(d, NULL);
	}
	sweep_request(d->sm->sweep, SWEEP_CAUSE_SIGNAL);
}

/* The files are read beside the loop, and when the disk has answered, on it. */
static void
reload(struct daemon *d)
{
	static const struct beside_task task = {
		site_files_try, on_paths, (GDestroyNotify)g_strfreev,
	};

	g_clear_pointer(&d->reading, beside_cancel);
	d->reading = beside_run(d->slow, &task, site_files_paths(d->site), d);
}

/* Signals. */

static gboolean
on_hup(gpointer data)
{
	reload(data);
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
		log_say(d->log, LOG_INFO, "daemon", "log file reopened");
	return G_SOURCE_CONTINUE;
}

static void
on_retired(void *data)
{
	g_main_loop_quit(((struct daemon *)data)->loop);
}

/* The second signal does not wait for that. */
static gboolean
on_term(gpointer data)
{
	struct daemon *d = data;

	log_say(d->log, LOG_INFO, "daemon", "told to end");
	notify_tell(d->notify, NOTIFY_STOPPING);
	if (sm_instance_retire(d->sm, on_retired, d))
		return G_SOURCE_CONTINUE;
	if (d->conf->mode != OPTIONS_MODE_RUN)
		d->exit_code = EXIT_NOT_UP;
	g_main_loop_quit(d->loop);
	return G_SOURCE_CONTINUE;
}

/* Commands of the control socket. */

static void
daemon_look(struct control_view *out, void *data)
{
	struct daemon *d = data;

	*out = (struct control_view){
		.port_name = d->transport->name,
		.port_guid = d->transport->port_guid,
		.ms = transport_ms(d->transport),
		.now = transport_now(d->transport),
		.since = d->since,
		.log = d->log,
		.conf = d->conf,
		.status = d->status,
		.refused = d->refused,
		.unsaved = state_failure(d->sm->state),
		.unseen = file_writer_failure(d->view_file),
		.sweep = d->sm->sweep,
		.rules = d->site->partitions->rules,
		.desk = sa_server_stats(d->sm->sa_server),
		.mcast = d->sm->mcast,
	};
	out->peers = sweep_peers(d->sm->sweep, &out->where);
	/* a standby does not keep the expected fabric */
	if (out->sweep->self.state == SM_STATE_MASTER || d->conf->observe)
		out->expected = d->sm->expected;
	standby_status(d->sm->standby, &out->standby);
	sa_stats(d->sm->sa, &out->sa_stats);
	out->sa = d->sm->sa;
}

static GBytes *
daemon_view(bool tables, uint64_t *number, void *data)
{
	struct daemon *d = data;
	struct views *views = d->views[tables];
	GBytes *text = views_get(views, number);
	struct control_view v;

	if (text || *number)
		return text;
	daemon_look(&v, d);
	*number = views_make(views, control_view_values(
				    &v, &v.sweep->view, tables));
	return views_get(views, number);
}

static void
daemon_sweep(void *data)
{
	struct daemon *d = data;

	log_say(d->log, LOG_INFO, "control", "sweep requested");
	sweep_request(d->sm->sweep, SWEEP_CAUSE_SIGNAL);
}

static enum control_code
daemon_reload(uint64_t *number, GPtrArray *lines, void *data)
{
	struct daemon *d = data;
	const struct snapshot *s = d->sm->sweep->view.subnet;

	if (!*number) {
		log_say(d->log, LOG_INFO, "control", "reload requested");
		*number = d->n_read + 1;
		reload(d);
	}
	if (d->n_read < *number && d->reading)
		return CONTROL_AGAIN;
	if (d->n_read < *number) {
		text_add(lines, "this manager has started since");
		return CONTROL_NOT_DONE;
	}
	EACH_PTR(const char, line, d->told)
		g_ptr_array_add(lines, g_strdup(line));
	if (d->refused)
		return CONTROL_NOT_DONE;
	if (s)
		note_members(d->conf, d->site, s, lines);
	return CONTROL_DONE;
}

static void
on_changed(void *data)
{
	struct daemon *d = data;

	sweep_set_partitions(d->sm->sweep, d->site->partitions->rules);
	sweep_request(d->sm->sweep, SWEEP_CAUSE_PARTITIONS);
}

static uint64_t
daemon_change(uint16_t pkey, uint64_t guid, int membership,
	      const char *answer, GError **error, void *data)
{
	struct daemon *d = data;
	uint64_t number = partitions_change(d->site->partitions, d->slow,
					    pkey, guid, membership, answer,
					    on_changed, d, error);

	if (number)
		log_say(d->log, LOG_INFO, "control", "partition 0x%04x: member "
			GUID_FORMAT " changes", pkey_base(pkey), guid);
	return number;
}

static bool
daemon_changed(uint64_t number, const char **answer, GError **error, void *data)
{
	struct daemon *d = data;

	return partitions_changed(d->site->partitions, number, answer, error);
}

static char *
headline_of(void *data)
{
	struct control_view v;

	daemon_look(&v, data);
	return control_headline(&v);
}

static unsigned
daemon_accept(const char *word, void *data)
{
	struct daemon *d = data;
	const struct view *v = &d->sm->sweep->view;
	unsigned n = sm_instance_accept(d->sm, word);
	g_autofree char *line = headline_of(d);

	log_say(d->log, LOG_INFO, "control", "faults of %s that were accepted: "
		"%u", word ? word : "all nodes", n);
	if (!n)
		return 0;
	log_say(d->log, g_str_has_prefix(line, "UP:") ? LOG_INFO : LOG_WARNING,
		"sweep", "SUBNET %s", line);
	renew_views(d, v->subnet ? v : NULL);
	return n;
}

/* A resident manager runs without one that cannot be opened. */
static void
open_control(struct daemon *d)
{
	const struct control_hooks hooks = {
		.look = daemon_look,
		.view = daemon_view,
		.sweep = daemon_sweep,
		.reload = daemon_reload,
		.change = daemon_change,
		.changed = daemon_changed,
		.accept = daemon_accept,
		.data = d,
	};
	struct control_socket_params params = ctlsock_params_default;
	const char *named = d->conf->control_socket;
	g_autofree char *dir = options_control_dir();
	g_autofree char *path = named && strcmp(named, OPTIONS_CONTROL_SOCKET) ?
		g_strdup(named) :
		g_strdup_printf("%s/%016" G_GINT64_MODIFIER "x.ctl", dir,
				d->transport->port_guid);
	g_autoptr(GError) error = NULL;

	params.group = d->conf->control_group;
	if (named)
		d->control = control_socket_open(path, &hooks, &params, d->log,
						 &error);
	if (d->control)
		log_say(d->log, LOG_VERBOSE, "control", "listening on %s",
			path);
	else if (named)
		log_say(d->log, LOG_WARNING, "control", "%s; minismctl cannot "
			"reach this manager", error->message);
}

static bool
is_stalled(void *data)
{
	struct daemon *d = data;

	if (!sweep_is_stalled(d->sm->sweep))
		return false;
	log_limited(d->log, LOG_ERROR, "daemon", "no sweep", "no sweep or poll "
		    "has ended for long: the watchdog is not fed (state: %s)",
		    sweep_state_names[d->sm->sweep->state]);
	return true;
}

/* The `quit` of --step ends the run. */
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
		log_say(d->log, LOG_ERROR, "port", "%s (" GUID_FORMAT "): the "
			"device is gone: %s%s", d->transport->name,
			d->transport->port_guid, text,
			d->conf->mode == OPTIONS_MODE_RUN ?
			"; waiting until the port is back" : "");
		sweep_suspend(d->sm->sweep, "the device of the port is gone");
		break;
	case UMAD_BACK:
		log_say(d->log, LOG_WARNING, "port", "%s (" GUID_FORMAT "): "
			"the device is back", text, d->transport->port_guid);
		sweep_resume(d->sm->sweep);
		break;
	}
}

static void
on_lost(const char *name, void *data)
{
	struct daemon *d = data;

	log_limited(d->log, LOG_ERROR, "daemon", "output", "%s is not read in "
		    "time, or its disk is full: lines or packets are lost",
		    name);
}

/* Setting up. */

/* A port at protection level 2 answers no SMP without its key; with a key of
 * its own it can be found again only if its place in the fabric was written
 * down. */
static void
warn_of_keys(struct daemon *d)
{
	const struct options *c = d->conf;

	if (c->m_key_per_port && !c->policy.m_key)
		log_say(d->log, LOG_WARNING, "keys", "m_key_per_port without "
			"an m_key: no M_Keys are used");
	else if (c->m_key_per_port && c->policy.m_key_protect > 1 &&
		 !(c->m_key_lookup && c->cache_dir))
		log_say(d->log, LOG_WARNING, "keys", "m_key_per_port at "
			"protection level %u, and nothing is remembered: "
			"after a restart the ports will not answer",
			c->policy.m_key_protect);
}

/* Nothing is locked only where nothing can be written. */
static bool
lock_cache(struct daemon *d, GError **error)
{
	const char *dir = d->conf->cache_dir;
	g_autofree char *path = state_file_path(dir, STATE_FILE_LOCK);
	g_autoptr(GError) why = NULL;

	state_file_make_folder(dir, NULL);
	d->cache = lockfile_take(path, &why);
	if (d->cache)
		return true;
	if (!g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOSPC) &&
	    g_access(path, F_OK) == 0 && g_access(dir, W_OK) == 0) {
		g_set_error(error, G_FILE_ERROR, why->code, "%s%s",
			    why->message, why->code != G_FILE_ERROR_AGAIN ?
			    "" : ": two managers cannot share a cache folder: "
			    "give this one another --cache-dir");
		return false;
	}
	log_say(d->log, LOG_WARNING, "daemon", "the cache folder is not "
		"locked: %s", why->message);
	return true;
}

/* Before the port is opened, so that a second manager changes nothing. A plan
 * only reads. */
static bool
take_locks(struct daemon *d, GError **error)
{
	/* a run that ends by itself needs no pid file */
	if (d->conf->mode == OPTIONS_MODE_RUN && d->conf->pid_file) {
		d->pid = lockfile_take(d->conf->pid_file, error);
		g_prefix_error(error, "--pidfile: ");
		if (!d->pid)
			return false;
	}
	return !d->conf->cache_dir || d->conf->mode >= OPTIONS_MODE_PLAN ||
		lock_cache(d, error);
}

static const enum sweep_goal goals[] = {
	[OPTIONS_MODE_RUN] = SWEEP_GOAL_FABRIC,
	[OPTIONS_MODE_ONCE] = SWEEP_GOAL_ONCE,
	[OPTIONS_MODE_PLAN] = SWEEP_GOAL_PLAN,
};

static struct sweep_params
sweep_params_of(const struct daemon *d, GArray *allowed)
{
	const struct options *c = d->conf;

	return (struct sweep_params){
		.sm_key = c->sm_key,
		.allowed_sms = allowed,
		.priority = c->priority,
		.guest = !c->observe && options_is_guest(c),
		.hidden = d->backend->hidden,
		.take_over = c->takeover,
		.show = d->backend->show,
		.show_data = d->backend,
		.lmc = c->lmc,
		.sweep_s = c->sweep_s,
		.flaps = {
			.hold_s = c->observe ? 0 : c->flap_hold_s,
			.disable = !c->observe && c->babbling_disable,
		},
		.avoid = !c->observe && c->bad_links & OPTIONS_LINKS_SLOW ?
			AVOID_SLOW : 0,
		.names = d->site->lists.names,
		.poll_ms = c->poll_ms,
		.polls_lost = c->polls_lost,
		.goal = c->observe ? SWEEP_GOAL_OBSERVE : goals[c->mode],
		.digest = c->apply,
		.note = d->backend->note,
		.note_data = d->backend,
		.route = d->site->route,
		.policy = &d->site->policy,
		.isolation = {
			.rules = d->site->partitions->rules,
			.enforce = options_enforce(c),
			.qos = c->qos.enabled ? &c->qos : NULL,
		},
		.clients = c->mode != OPTIONS_MODE_RUN || c->no_rereg ?
			REREGISTER_NONE : REREGISTER_FORGOTTEN,
	};
}

static void
daemon_connect(struct daemon *d)
{
	const struct options *c = d->conf;
	const struct sa_params sa = {
		.sm_key = c->sa_key,
		.gid_prefix = d->site->policy.gid_prefix,
		.packet_life = d->site->policy.packet_life_time,
		.subnet_timeout = d->site->policy.subnet_timeout,
		.group_quota = c->group_quota,
		.qos = c->qos.enabled,
	};
	g_autoptr(GArray) allowed = c->allowed_sms ?
		guid_list_of_line(c->allowed_sms) : NULL;
	struct sm_instance_params params = {
		.wire = {
			.timeout_ms = c->timeout_ms,
			.retries = c->retries,
			.max_wire = c->max_smps,
		},
		.sweep = sweep_params_of(d, allowed),
		.sa = &sa,
		.cache_dir = c->cache_dir,
		.key_dir = c->m_key_lookup ? c->cache_dir : NULL,
		.m_key = c->policy.m_key,
		.key_mode = c->m_key_per_port ? MKEY_DB_PER_PORT : MKEY_DB_ONE,
	};

	d->sm = sm_instance_new(d->transport, &params, d->log, on_sweep_end, d);
}

static void
open_views(struct daemon *d)
{
	const struct file_writer_params params = {
		.path = d->conf->view_file, .subsystem = "daemon",
		.mode = 0666,
	};
	bool is_resident = d->conf->mode == OPTIONS_MODE_RUN;

	if (d->transport->in_real_time || is_resident)
		d->slow = beside_new(NULL, 0);
	if (params.path)
		d->view_file = file_writer_new(d->slow, d->log, &params);
	/* a run that ends by itself is asked for its file */
	for (unsigned i = 0; i < G_N_ELEMENTS(d->views); i++)
		d->views[i] = views_new(is_resident ? d->slow : NULL,
					i == 2 ? on_view : NULL, d);
}

/* The reverse order of daemon_run(). */
static void
daemon_disconnect(struct daemon *d)
{
	bool is_resident = d->conf->mode == OPTIONS_MODE_RUN;
	g_autoptr(GError) error = NULL;

	g_clear_pointer(&d->reading, beside_cancel);
	notify_close(d->notify);
	control_socket_close(d->control);
	for (unsigned i = 0; i < G_N_ELEMENTS(d->views); i++)
		views_free(d->views[i]);
	file_writer_free(d->view_file);
	/* a run that ends by itself is asked for its file */
	if (!beside_free(d->slow, is_resident ? SLOW_END_US : SLOW_ONCE_US)) {
		log_say(d->log, LOG_WARNING, "daemon", "the disk does not "
			"answer: the last view or change of partitions may "
			"be lost");
		d->exit_code = is_resident ? d->exit_code : EXIT_NOT_UP;
	}
	sm_instance_free(d->sm);
	if (!d->backend->close(d->backend, &error)) {
		log_say(d->log, LOG_ERROR, "daemon", "%s", error->message);
		d->exit_code = EXIT_NOT_UP;
	}
}

/* The port is open, and there is no thread yet. */
static bool
go_to_background(struct daemon *d, GError **error)
{
	if (!d->log->path)
		log_say(d->log, LOG_WARNING, "daemon", "in the background "
			"without a log file: nothing is logged from now on; "
			"see --log-file");
	fflush(NULL);		/* or both would write what is not written */
	if (daemon(true, false) < 0) {
		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
			    "cannot run in the background: %s",
			    g_strerror(errno));
		return false;
	}
	return lockfile_sign(d->pid, error) && lockfile_sign(d->cache, error);
}

static int
daemon_run(struct daemon *d)
{
	bool leaves = d->conf->background && d->conf->mode == OPTIONS_MODE_RUN;
	const struct backend_hooks hooks = {
		.over = on_over, .port = on_port, .lost = on_lost, .data = d,
	};
	g_autoptr(GError) error = NULL;

	if (take_locks(d, &error))
		d->backend = d->kind->open(d->conf, &hooks, &error);
	if (!d->backend || (leaves && !go_to_background(d, &error))) {
		log_say(d->log, LOG_ERROR, "daemon", "%s", error->message);
		if (leaves && d->conf->log_file)
			fprintf(stderr, "%s: %s\n", g_get_prgname(),
				error->message);
		if (d->backend)
			d->backend->close(d->backend, NULL);
		return EXIT_NOT_UP;
	}
	d->transport = d->backend->transport;
	log_say(d->log, LOG_INFO, "daemon", PACKAGE_STRING " on %s ("
		GUID_FORMAT ")", d->transport->name, d->transport->port_guid);
	d->loop = g_main_loop_new(NULL, FALSE);
	daemon_connect(d);
	open_views(d);
	d->since = transport_now(d->transport);
	warn_of_keys(d);
	if (d->conf->mode == OPTIONS_MODE_RUN) {
		open_control(d);
		d->notify = notify_open(headline_of, is_stalled, d);
	}

	/* until the process ends: none of them cuts the end short */
	g_unix_signal_add(SIGHUP, on_hup, d);
	g_unix_signal_add(SIGUSR1, on_usr1, d);
	g_unix_signal_add(SIGTERM, on_term, d);
	g_unix_signal_add(SIGINT, on_term, d);

	sweep_request(d->sm->sweep, SWEEP_CAUSE_START);
	g_main_loop_run(d->loop);
	daemon_disconnect(d);
	g_main_loop_unref(d->loop);
	return d->exit_code;
}

/* Each line has the program's name, or in the journal its level. */
static int
usage(const char *message)
{
	g_auto(GStrv) lines = g_strsplit(message, "\n", -1);
	bool is_journal = log_is_journal(STDERR_FILENO);

	for (guint i = 0; lines[i]; i++)
		fprintf(stderr, "%s%s%s\n", is_journal ? "<3>" :
			g_get_prgname(), is_journal ? "" : ": ", lines[i]);
	return EXIT_USAGE;
}

static void *
nothing(void *data)
{
	return data;
}

/* Without these GLib would abort somewhere on the way, with a core. */
static bool
has_means(GError **error)
{
	struct rlimit files;
	GThread *thread;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_cur < FILES_MIN) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NFILE,
			    "%u file descriptors are too few: %u at least "
			    "(ulimit -n, LimitNOFILE)",
			    (unsigned)files.rlim_cur, FILES_MIN);
		return false;
	}
	thread = g_thread_try_new("probe", nothing, NULL, error);
	if (thread)
		g_thread_join(thread);
	return thread != NULL;
}

/* The configuration is valid so far: reads the files that it names, then
 * runs. */
static int
daemon_start(struct daemon *d, GPtrArray *warnings)
{
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	int code;

	if (!has_means(&error) ||
	    (d->conf->cache_dir && d->conf->mode < OPTIONS_MODE_PLAN &&
	     !state_file_check(d->conf->cache_dir, &error))) {
		usage(error->message);
		return EXIT_NOT_UP;
	}
	d->site = site_files_read(d->conf, warnings, errors);
	for (guint i = 0; !d->site && i < errors->len; i++)
		usage(errors->pdata[i]);
	if (!d->site)
		return EXIT_USAGE;
	d->log = log_open(d->conf->log_file, options_log_level(d->conf),
			  &error);
	if (!d->log)
		return usage(error->message);
	log_set_format(d->log, (enum log_format)d->conf->log_format);
	log_lines(d, LOG_WARNING, warnings);
	code = daemon_run(d);
	lockfile_free(d->cache, false);
	lockfile_free(d->pid, true);
	return code;
}

/* Prints the mistakes that a run would find, by the functions of a run; `bad`:
 * the error of the configuration itself, or NULL. Returns the exit status. */
static int
check_config(const struct daemon *d, GPtrArray *warnings, const GError *bad)
{
	const struct options *conf = d->conf;
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	struct snapshot *fabric = NULL;
	struct site_files *site;

	if (bad)
		g_ptr_array_add(errors, g_strdup(bad->message));
	site = site_files_read(conf, warnings, errors);
	if (site && d->kind->fabric && conf->fabric)
		fabric = d->kind->fabric(conf, &error);
	if (fabric)
		note_members(conf, site, fabric, warnings);
	else if (error)
		g_ptr_array_add(errors, g_strdup(error->message));
	g_clear_pointer(&fabric, snapshot_unref);
	site_files_free(site);
	/* without the program's name: editors jump to file:line:column */
	EACH_PTR(const char, line, warnings)
		printf("%s (warning)\n", line);
	EACH_PTR(const char, line, errors)
		printf("%s\n", line);
	if (errors->len)
		return EXIT_USAGE;
	printf("the configuration is valid, with %u warning%s\n",
	       warnings->len, text_plural(warnings->len));
	return 0;
}

int
daemon_main(const struct daemon_kind *kind, int argc, char **argv)
{
	struct daemon d = {
		.kind = kind, .conf = options_new(), .status = status_new(),
	};
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	int code = 0;
	bool good;

	/* Tables are made anew by each sweep: their memory is returned as soon
	 * as they are freed, however large the last one was. */
#ifdef M_MMAP_THRESHOLD	/* glibc's */
	mallopt(M_MMAP_THRESHOLD, 64 * 1024);
#endif
	/* a log whose reader has gone does not end the manager */
	signal(SIGPIPE, SIG_IGN);
	/* nor do these two before its loop runs: all is just being read */
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	d.conf->simulator = kind->simulator;
	good = options_from_args(d.conf, argc, argv, warnings, &error);
	if (d.conf->mode == OPTIONS_MODE_CHECK)
		code = check_config(&d, warnings, error);
	else if (!good)
		code = usage(error->message);
	else if (d.conf->mode == OPTIONS_MODE_HELP)
		options_print_help(d.conf);
	else if (d.conf->mode == OPTIONS_MODE_VERSION)
		puts(PACKAGE_STRING);
	else
		code = daemon_start(&d, warnings);
	log_free(d.log);
	site_files_free(d.site);
	g_free(d.refused);
	g_clear_pointer(&d.told, g_ptr_array_unref);
	status_free(d.status);
	options_free(d.conf);
	return code;
}

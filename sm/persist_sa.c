// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SA's state over a restart: groups, services and subscriptions, in the
 * file sa-state. Without it clients are asked to reregister (IBA 14.4.2). It
 * has the keys of services, so it is mode 0600.
 *
 *	       touched, and the version is another
 *	CLEAN ------------------------------------> DUE, at 2 s after the last
 *	  ^                                          |   time
 *	  +--------- written, or touched again <-----+
 *
 * A change is written from a timer and beside the main loop, so no answer waits
 * for the disk, and a thousand joins at once are one write. A write that fails is
 * repeated after a minute. At the end the file is written in any case, since
 * leases have become shorter.
 */
#include "sm/persist.h"

#include "sm/io/transport.h"
#include "sm/sa/sa.h"

#define SA_PAUSE_US	(2 * (int64_t)G_USEC_PER_SEC)
#define SA_RETRY_US	(60 * (int64_t)G_USEC_PER_SEC)

static bool
parse_sa(const char *text, const char *path, void *data, GError **error)
{
	struct persist_sa *a = data;

	if (sa_load(a->sa, text, transport_now(a->transport), error))
		return true;
	g_prefix_error(error, "%s: ", path);
	return false;
}

static void
save_sa(struct persist_sa *a)
{
	GString *text = g_string_new(NULL);

	sa_save(a->sa, text, transport_now(a->transport));
	a->writing = sa_saved_version(a->sa);
	a->is_writing = true;
	file_writer_put(a->writer, text);
}

static void
persist_sa_on_written(bool ok, void *data)
{
	struct persist_sa *a = data;

	a->is_writing = false;
	if (ok) {
		a->version = a->writing;
		a->written = true;
	}
	a->not_before = transport_now(a->transport) +
		(ok ? SA_PAUSE_US : SA_RETRY_US);
	persist_sa_touch(a);
}

static void
persist_sa_on_timer(void *data)
{
	struct persist_sa *a = data;

	a->timer = 0;
	save_sa(a);
}

void
persist_sa_touch(struct persist_sa *a)
{
	int64_t now;

	if (!a->writer || a->timer || a->is_writing ||
	    sa_saved_version(a->sa) == a->version)
		return;
	now = transport_now(a->transport);
	a->timer = transport_timer_start(a->transport, MAX(now, a->not_before),
					 persist_sa_on_timer, a);
}

struct persist_sa *
persist_sa_open(const char *cache_dir, struct sa *sa, struct transport *t,
		struct beside *disk, struct log *log)
{
	struct persist_sa *a = g_new0(struct persist_sa, 1);
	g_autofree char *path = cache_dir ?
		state_file_path(cache_dir, STATE_FILE_SA) : NULL;
	const struct file_writer_params params = {
		.path = path, .subsystem = "sa", .mode = PERSIST_OWNER_ONLY,
		.written = persist_sa_on_written, .data = a,
	};
	enum state_file_end end = STATE_FILE_NONE;
	struct sa_stats st;

	a->sa = sa;
	a->transport = t;
	a->not_before = transport_now(t);
	if (path)
		end = persist_load_file(log, "sa", path, parse_sa, a,
			": groups, services and subscriptions start empty");
	if (path && end != STATE_FILE_STUCK)
		a->writer = file_writer_new(disk, log, &params);
	if (end == STATE_FILE_GOOD) {
		a->written = a->loaded = true;
		sa_stats(sa, &st);
		log_say(log, LOG_INFO, "sa", "remembered: groups %u with %u "
			"members, services %u, subscriptions %u", st.n_groups,
			st.n_members, st.n_services, st.n_subscriptions);
	}
	a->version = sa_saved_version(sa);
	return a;
}

void
persist_sa_close(struct persist_sa *a)
{
	if (!a)
		return;
	if (a->writer &&
	    (a->written || sa_saved_version(a->sa) != a->version))
		save_sa(a);
	transport_timer_clear(a->transport, &a->timer);
	file_writer_free(a->writer);
	g_free(a);
}

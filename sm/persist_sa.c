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
 * A change is written from a timer, so the client's answer does not wait for
 * the disk, and a thousand joins at once are one write. A write that fails is
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

static bool
save_sa(struct persist_sa *a)
{
	g_autoptr(GString) text = g_string_new(NULL);
	uint64_t version = sa_saved_version(a->sa);

	sa_save(a->sa, text, transport_now(a->transport));
	if (!persist_save_file(a->log, "sa", a->path, text, 0,
			       PERSIST_OWNER_ONLY))
		return false;
	a->version = version;
	return a->written = true;
}

static void
persist_sa_on_timer(void *data)
{
	struct persist_sa *a = data;
	int64_t pause;

	a->timer = 0;
	pause = save_sa(a) ? SA_PAUSE_US : SA_RETRY_US;
	a->not_before = transport_now(a->transport) + pause;
	persist_sa_touch(a);
}

void
persist_sa_touch(struct persist_sa *a)
{
	int64_t now;

	if (!a->path || a->timer || sa_saved_version(a->sa) == a->version)
		return;
	now = transport_now(a->transport);
	a->timer = transport_timer_start(a->transport, MAX(now, a->not_before),
					 persist_sa_on_timer, a);
}

struct persist_sa *
persist_sa_open(const char *cache_dir, struct sa *sa, struct transport *t,
	     struct log *log)
{
	struct persist_sa *a = g_new0(struct persist_sa, 1);
	enum state_file_end end = STATE_FILE_NONE;
	struct sa_stats st;

	a->sa = sa;
	a->transport = t;
	a->log = log;
	a->not_before = transport_now(t);
	if (cache_dir) {
		a->path = g_build_filename(cache_dir, "sa-state", NULL);
		end = persist_load_file(log, "sa", a->path, parse_sa, a,
			": groups, services and subscriptions start empty");
	}
	if (end == STATE_FILE_STUCK)
		g_clear_pointer(&a->path, g_free);
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
	transport_timer_clear(a->transport, &a->timer);
	if (a->path &&
	    (a->written || sa_saved_version(a->sa) != a->version))
		save_sa(a);
	g_free(a->path);
	g_free(a);
}

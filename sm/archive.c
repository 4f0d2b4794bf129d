// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The archive of the subnet administration.
 *
 * The file is written to a temporary one in the same folder that is renamed
 * over it, so a crash leaves either the old or the new state. Only its owner
 * may read it: the keys of services are in it.
 *
 *	       touched, and the version is another
 *	CLEAN ------------------------------------> DUE, at 2 s after the last
 *	  ^                                          |   time
 *	  +--------- written, or touched again <-----+
 *
 * A change is written in a turn of the main loop of its own, so who asked for
 * it does not wait for a disk, and a thousand joins at once are one file. What
 * cannot be written is tried again after a minute. At the end the file is
 * written in any case, for leases have become shorter since.
 *
 * A file that does not read is never overwritten: it goes to sa-state.damaged,
 * where a person can look at it. Clients that are asked to reregister fill the
 * gap (IBA 14.4.2).
 */
#include "sm/archive.h"

#include <errno.h>
#include <string.h>
#include <glib/gstdio.h>

#define PAUSE_US	(2 * (int64_t)G_USEC_PER_SEC)
#define RETRY_US	(60 * (int64_t)G_USEC_PER_SEC)
#define FILE_MODE	0600

struct archive {
	char *path;		/* NULL: no cache */
	struct sa *sa;
	struct transport *transport;
	struct log *log;
	uint64_t version;	/* that the file has */
	bool written;		/* there is a file of ours */
	bool loaded;
	int64_t not_before;
	unsigned timer;		/* 0: not running */
};

static void
set_aside(struct archive *a, const char *why)
{
	g_autofree char *aside = g_strdup_printf("%s.damaged", a->path);

	if (g_rename(a->path, aside) == 0) {
		log_say(a->log, LOG_WARNING, "sa", "%s: %s; the file is set "
			"aside as %s, groups, services and subscriptions "
			"begin anew", a->path, why, aside);
		return;
	}
	log_say(a->log, LOG_WARNING, "sa", "%s: %s; it cannot be set aside "
		"(%s), so nothing is remembered", a->path, why,
		g_strerror(errno));
	g_clear_pointer(&a->path, g_free);
}

static void
load(struct archive *a)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	struct sa_stats st;
	gsize len;

	if (!g_file_get_contents(a->path, &text, &len, &error)) {
		if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			log_say(a->log, LOG_WARNING, "sa", "%s",
				error->message);
		return;
	}
	if (strlen(text) != len) {
		set_aside(a, "a NUL byte");
		return;
	}
	if (!sa_load(a->sa, text, transport_now(a->transport), &error)) {
		set_aside(a, error->message);
		return;
	}
	a->written = a->loaded = true;
	sa_stats(a->sa, &st);
	log_say(a->log, LOG_INFO, "sa", "remembered: groups %u with %u "
		"members, services %u, subscriptions %u", st.n_groups,
		st.n_members, st.n_services, st.n_subscriptions);
}

static bool
save(struct archive *a)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *dir = g_path_get_dirname(a->path);
	uint64_t version = sa_saved_version(a->sa);
	g_autoptr(GError) error = NULL;

	sa_save(a->sa, text, transport_now(a->transport));
	if (g_mkdir_with_parents(dir, 0755) ||
	    !g_file_set_contents_full(a->path, text->str, (gssize)text->len,
				      G_FILE_SET_CONTENTS_CONSISTENT,
				      FILE_MODE, &error)) {
		log_limited(a->log, LOG_WARNING, "sa", "not remembered",
			    "%s: %s", a->path,
			    error ? error->message : g_strerror(errno));
		return false;
	}
	a->version = version;
	a->written = true;
	return true;
}

static void
on_timer(void *data)
{
	struct archive *a = data;
	int64_t pause;

	a->timer = 0;
	pause = save(a) ? PAUSE_US : RETRY_US;
	a->not_before = transport_now(a->transport) + pause;
	archive_touch(a);
}

bool
archive_is_loaded(const struct archive *a)
{
	return a->loaded;
}

void
archive_touch(struct archive *a)
{
	int64_t now;

	if (!a->path || a->timer || sa_saved_version(a->sa) == a->version)
		return;
	now = transport_now(a->transport);
	a->timer = transport_timer_start(a->transport,
					 MAX(now, a->not_before), on_timer, a);
}

struct archive *
archive_open(const char *cache_dir, struct sa *sa, struct transport *t,
	     struct log *log)
{
	struct archive *a = g_new0(struct archive, 1);

	a->sa = sa;
	a->transport = t;
	a->log = log;
	a->not_before = transport_now(t);
	if (cache_dir) {
		a->path = g_build_filename(cache_dir, "sa-state", NULL);
		load(a);
	}
	a->version = sa_saved_version(sa);
	return a;
}

void
archive_close(struct archive *a)
{
	if (!a)
		return;
	if (a->timer)
		transport_timer_cancel(a->transport, a->timer);
	if (a->path &&
	    (a->written || sa_saved_version(a->sa) != a->version))
		save(a);
	g_free(a->path);
	g_free(a);
}

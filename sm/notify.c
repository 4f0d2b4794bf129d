// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The protocol of sd_notify(3): datagrams of NAME=VALUE lines to the socket
 * that NOTIFY_SOCKET names. It is stable, and short enough to be written out;
 * libsystemd would bring its own dependencies into a program that runs next to
 * real hardware for one sendto().
 *
 * The watchdog is fed by a timer of the main loop, as long as sweeps or polls
 * end: a loop that hangs is detected, and one that runs without a manager. Until the first sweep has
 * ended systemd has a time limit for the start instead; the same timer extends
 * it, so that a large fabric is no time-out and a hang is one.
 */
#include "sm/notify.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "topology/text.h"

struct notify {
	struct sockaddr_un to;
	socklen_t to_len;
	int fd;
	char *(*headline)(void *data);
	bool (*is_stalled)(void *data);
	void *data;
	bool ready;
	uint64_t watchdog_us;	/* the longest time between two WATCHDOG=1 that
				   systemd permits; 0: none */
	guint timer;		/* 0: none */
};

/* A notification that cannot be sent at once is lost: the manager does not
 * wait. */
G_GNUC_PRINTF(2, 3) static void
notify_send(const struct notify *n, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	(void)!sendto(n->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		      (const struct sockaddr *)&n->to, n->to_len);
}

static gboolean
on_feed(gpointer data)
{
	struct notify *n = data;
	g_autofree char *headline = NULL;

	if (n->is_stalled(n->data))
		return G_SOURCE_CONTINUE;
	headline = n->headline(n->data);
	if (n->ready)
		notify_send(n, "WATCHDOG=1\nSTATUS=%s", headline);
	else
		notify_send(n, "EXTEND_TIMEOUT_USEC=%" G_GUINT64_FORMAT,
			    n->watchdog_us);
	return G_SOURCE_CONTINUE;
}

struct notify *
notify_open(char *(*headline)(void *data), bool (*is_stalled)(void *data),
	    void *data)
{
	const char *path = g_getenv("NOTIFY_SOCKET");
	const char *span = g_getenv("WATCHDOG_USEC");
	const char *pid = g_getenv("WATCHDOG_PID");
	size_t len = path ? strlen(path) : 0;
	uint64_t us, who;
	struct notify *n;
	int fd;

	/* '@' stands for the NUL of an abstract name (unix(7)) */
	if (!len || len >= sizeof(n->to.sun_path) || !strchr("/@", path[0]))
		return NULL;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	n = g_new(struct notify, 1);
	*n = (struct notify){
		.to.sun_family = AF_UNIX, .fd = fd, .headline = headline,
		.is_stalled = is_stalled, .data = data,
	};
	memcpy(n->to.sun_path, path, len);
	if (path[0] == '@')
		n->to.sun_path[0] = '\0';
	n->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (span && text_read_number(span, 0, INT64_MAX, &us) &&
	    (!pid || (text_read_number(pid, 0, INT32_MAX, &who) &&
		      who == (uint64_t)getpid())))
		n->watchdog_us = us;
	if (n->watchdog_us)
		n->timer = g_timeout_add((guint)CLAMP(n->watchdog_us / 2000, 1,
						      G_MAXUINT), on_feed, n);
	notify_send(n, "STATUS=first sweep in progress");
	return n;
}

void
notify_close(struct notify *n)
{
	if (!n)
		return;
	if (n->timer)
		g_source_remove(n->timer);
	close(n->fd);
	g_free(n);
}

void
notify_tell(struct notify *n, enum notify_event event)
{
	g_autofree char *headline = NULL;

	/* a reload before the first sweep is a part of the start */
	if (!n || (!n->ready && (event == NOTIFY_RELOADING ||
				 event == NOTIFY_RELOADED)))
		return;
	switch (event) {
	case NOTIFY_RELOADING:
		notify_send(n, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT,
			    g_get_monotonic_time());
		break;
	case NOTIFY_SWEPT:
	case NOTIFY_RELOADED:
		n->ready = true;
		headline = n->headline(n->data);
		notify_send(n, "READY=1\nSTATUS=%s", headline);
		break;
	case NOTIFY_STOPPING:
		notify_send(n, "STOPPING=1");
		break;
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Notifications of a service of Type=notify to systemd: the first sweep has
 * ended, the state of the subnet, and the watchdog.
 */
#ifndef MINISM_SM_NOTIFY_H
#define MINISM_SM_NOTIFY_H

#include <glib.h>

#include <stdbool.h>

struct notify;

enum notify_event {
	NOTIFY_SWEPT,		/* after the first sweep the service is ready */
	NOTIFY_RELOADING,	/* a reload begins, */
	NOTIFY_RELOADED,	/* and has ended */
	NOTIFY_STOPPING,	/* the service ends */
};

/* NULL, which the other functions ignore: NOTIFY_SOCKET is not set, or cannot
 * be used. headline: returns a new string, the state of the subnet in a line;
 * called whenever the state is sent. is_stalled: true: the watchdog is not fed. */
struct notify *notify_open(char *(*headline)(void *data),
			   bool (*is_stalled)(void *data), void *data);
void notify_close(struct notify *n);

void notify_tell(struct notify *n, enum notify_event event);

#endif

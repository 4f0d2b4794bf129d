/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Notifications of a service of Type=notify to systemd: the first sweep has
 * ended, the state of the subnet, and the watchdog.
 */
#ifndef MINISM_SM_NOTIFY_H
#define MINISM_SM_NOTIFY_H

#include <glib.h>

struct notify;

/* NULL, which the other functions ignore: NOTIFY_SOCKET is not set, or cannot
 * be used. headline: returns a new string, the state of the subnet in a line;
 * called whenever the state is sent. */
struct notify *notify_open(char *(*headline)(void *data), void *data);
void notify_close(struct notify *n);

/* A sweep has ended; after the first one the service is ready. */
void notify_ready(struct notify *n);
/* A reload begins; it has ended. */
void notify_reloading(struct notify *n);
void notify_reloaded(struct notify *n);
/* The service ends. */
void notify_stopping(struct notify *n);

#endif

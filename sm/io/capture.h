/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A record of all that passes a transport: MADs, timers and times go into a file
 * (sm/io/record.h), which sm/io/replay.h replays.
 */
#ifndef MINISM_IO_CAPTURE_H
#define MINISM_IO_CAPTURE_H

#include "sm/io/stream.h"
#include "sm/io/transport.h"

struct capture;

/*
 * Records what passes *t from now on, with the program's options at the head of
 * the file; how: of that (NULL: it waits). *t becomes a transport that has taken over what it was. NULL with
 * RECORD_ERROR_IO if the file cannot be written; then *t is as it was.
 */
struct capture *capture_open(struct transport **t, const char *path,
			     const char *options,
			     const struct stream_how *how, GError **error);

/*
 * Ends the record and frees the transport. False if not everything could be
 * written: the file is then useless. So is a record without an end, for example
 * after a crash.
 */
bool capture_close(struct capture *c, GError **error);

#endif

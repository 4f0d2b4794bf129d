/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Output that a subnet manager does not wait for: the log, standard output,
 * captures. A piece (a line, a packet) is written whole or is lost and counted.
 */
#ifndef MINISM_IO_STREAM_H
#define MINISM_IO_STREAM_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

struct stream_how {
	/* Of a run that ends by itself or waits for a person: for the reader,
	 * nothing is lost. */
	bool waits;
	/* Of what may wait for the reader, in bytes. 0: a piece that cannot be
	 * written at once is lost. */
	size_t hold;
	/* The first piece of a row is lost; may be NULL. */
	void (*lost)(const char *name, void *data);
	void *data;
};

#define STREAM_HOLD	((size_t)1 << 20)	/* bytes */

struct stream {
	int fd;
	unsigned lost;	/* pieces, since the last one that was taken */

	/* private */
	struct stream_how how;
	char *name;
	GByteArray *held;
	unsigned timer;		/* writes what is held; 0: not running */
	int error;		/* the last one; 0: there was none */
	bool has_lost;		/* anything, ever */
};

/* Takes fd over unless it is a standard one, whose O_NONBLOCK is left alone in
 * any case. how NULL: it waits. */
struct stream *stream_new(int fd, const char *name,
			  const struct stream_how *how);
/* To a file for its owner alone, also if it was there. NULL with an error. */
struct stream *stream_create(const char *path, const struct stream_how *how,
			     GError **error);
/* What is held is waited for 1 s, if the reader has taken all so far. False
 * with a G_FILE_ERROR: not all was written. s may be NULL. */
bool stream_close(struct stream *s, GError **error);

/* Written at once or, with `hold`, within 100 ms of the main loop. False: it is
 * lost. */
bool stream_put(struct stream *s, const void *piece, size_t len);
/* Now, as far as the reader lets it. */
void stream_flush(struct stream *s);

#endif

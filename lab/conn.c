// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Output is collected and written once in a turn of the main loop: a few
 * hundred MADs in one system call under load. What cannot be written at once is
 * written when the socket is ready. A callback may close any connection, its
 * own included; `busy` delays the freeing until the reader has returned.
 */
#include "lab/conn.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE	65536u
#define TURN_READS	4u	/* then other connections are served */

struct conn {
	int fd;
	guint in_source, out_source;
	GByteArray *in, *out;
	size_t out_done;
	conn_frame_fn on_frame;
	conn_closed_fn closed;
	void *user;
	bool busy, over;
};

static void
conn_free(struct conn *c)
{
	g_byte_array_unref(c->in);
	g_byte_array_unref(c->out);
	g_free(c);
}

void
conn_close(struct conn *c)
{
	if (c->over)
		return;
	conn_flush(c);
	c->over = true;
	if (!c->busy)
		g_source_remove(c->in_source);
	if (c->out_source)
		g_source_remove(c->out_source);
	close(c->fd);
	c->closed(c, c->user);
	if (!c->busy)
		conn_free(c);
}

static gboolean
on_writable(gint fd, GIOCondition condition, gpointer data)
{
	struct conn *c = data;

	c->out_source = 0;
	conn_flush(c);
	return G_SOURCE_REMOVE;
}

/* An error shows at the next read. */
void
conn_flush(struct conn *c)
{
	while (!c->over && c->out_done < c->out->len) {
		ssize_t n = send(c->fd, c->out->data + c->out_done,
				 c->out->len - c->out_done,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (!c->out_source)
				c->out_source = g_unix_fd_add(c->fd, G_IO_OUT,
							on_writable, c);
			return;
		}
		if (n < 0)
			break;
		c->out_done += n;
	}
	g_byte_array_set_size(c->out, 0);
	c->out_done = 0;
}

void
conn_put(struct conn *c, const void *bytes, size_t len)
{
	if (!c->over && len)
		g_byte_array_append(c->out, bytes, len);
}

void
conn_send(struct conn *c, enum lab_type type, unsigned channel,
	  const void *a, size_t a_len, const void *b, size_t b_len)
{
	const struct lab_frame frame = {
		.length = a_len + b_len, .type = type, .channel = channel,
	};

	conn_put(c, &frame, sizeof(frame));
	conn_put(c, a, a_len);
	conn_put(c, b, b_len);
}

/* All complete frames. False: the connection is to be closed. */
static bool
take_frames(struct conn *c)
{
	struct lab_frame frame;
	size_t at = 0;

	while (!c->over && c->in->len - at >= sizeof(frame)) {
		memcpy(&frame, c->in->data + at, sizeof(frame));
		if (frame.length > LAB_FRAME_MAX)
			return false;
		if (c->in->len - at < sizeof(frame) + frame.length)
			break;
		if (!c->on_frame(c, &frame, c->in->data + at + sizeof(frame),
				 c->user))
			return false;
		at += sizeof(frame) + frame.length;
	}
	if (at)
		g_byte_array_remove_range(c->in, 0, at);
	return !c->over;
}

static gboolean
on_readable(gint fd, GIOCondition condition, gpointer data)
{
	struct conn *c = data;
	bool alive = true;

	c->busy = true;
	for (unsigned i = 0; alive && i < TURN_READS; i++) {
		guint had = c->in->len;
		ssize_t n;

		g_byte_array_set_size(c->in, had + READ_SIZE);
		n = recv(fd, c->in->data + had, READ_SIZE, MSG_DONTWAIT);
		g_byte_array_set_size(c->in, had + MAX(n, 0));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		alive = n > 0 && take_frames(c);
	}
	c->busy = false;
	if (c->over) {
		conn_free(c);
		return G_SOURCE_REMOVE;
	}
	if (!alive)
		conn_close(c);
	return alive ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

struct conn *
conn_new(int fd, conn_frame_fn on_frame, conn_closed_fn closed, void *user)
{
	struct conn *c = g_new0(struct conn, 1);

	c->fd = fd;
	c->in = g_byte_array_new();
	c->out = g_byte_array_new();
	c->on_frame = on_frame;
	c->closed = closed;
	c->user = user;
	c->in_source = g_unix_fd_add(fd, G_IO_IN, on_readable, c);
	return c;
}

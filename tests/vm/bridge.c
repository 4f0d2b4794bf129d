// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hangs the HCAs of the vib module on nodes of a minism-lab:
 *
 *	bridge SOCKET NODE...
 *
 * The Nth NODE is vibN. An HCA that the lab pulls out is attached again as
 * soon as the lab has it back. It ends when the lab does.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lab/protocol.h"

#define CHANNELS_MAX	64
#define AGAIN_MS	100
#define BUFFER		(1u << 20)

struct bridge {
	int lab, module;
	char **nodes;
	unsigned n_nodes;
	bool attached[CHANNELS_MAX];
	size_t n;		/* of buffer, from the lab */
	unsigned char buffer[BUFFER];
};

static void
die(const char *what)
{
	fprintf(stderr, "bridge: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
write_all(int fd, const void *data, size_t n)
{
	const char *at = data;
	ssize_t put;

	for (; n; at += put, n -= put) {
		put = write(fd, at, n);
		if (put < 0)
			die("write");
	}
}

static void
attach(struct bridge *b, unsigned channel)
{
	struct {
		struct lab_frame frame;
		struct lab_attach attach;
	} m = {
		.frame = {
			.length = sizeof(m.attach), .type = LAB_ATTACH,
			.channel = channel,
		},
	};

	strncpy(m.attach.node, b->nodes[channel], LAB_NAME_LEN - 1);
	write_all(b->lab, &m, sizeof(m));
	b->attached[channel] = true;	/* until told otherwise */
}

/* The answer to an attach, and the end of one, are ours to act on. */
static void
from_lab(struct bridge *b, const struct lab_frame *f)
{
	const struct lab_result *result = (const void *)(f + 1);

	if (f->channel >= b->n_nodes)
		return;
	if (f->type == LAB_RESULT) {
		if (result->error)
			b->attached[f->channel] = false;
		return;
	}
	if (f->type == LAB_REMOVED)
		b->attached[f->channel] = false;
	if (write(b->module, f, sizeof(*f) + f->length) < 0)
		die("the module refuses a frame");
}

static void
read_lab(struct bridge *b)
{
	struct lab_frame f;
	size_t at = 0;
	ssize_t got;

	got = read(b->lab, b->buffer + b->n, sizeof(b->buffer) - b->n);
	if (got <= 0)
		exit(0);
	b->n += got;
	while (b->n - at >= sizeof(f)) {
		memcpy(&f, b->buffer + at, sizeof(f));
		if (f.length > BUFFER - sizeof(f)) {
			errno = EMSGSIZE;
			die("a frame of the lab");
		}
		if (b->n - at < sizeof(f) + f.length)
			break;
		/* frames begin anywhere, x86 does not mind */
		from_lab(b, (const void *)(b->buffer + at));
		at += sizeof(f) + f.length;
	}
	b->n -= at;
	memmove(b->buffer, b->buffer + at, b->n);
}

static void
read_module(struct bridge *b)
{
	char frame[sizeof(struct lab_frame) + sizeof(struct lab_address) +
		   LAB_UD_MAX];
	ssize_t got;

	while ((got = read(b->module, frame, sizeof(frame))) > 0)
		write_all(b->lab, frame, got);
	if (errno != EAGAIN)
		die("read from the module");
}

static void
run(struct bridge *b)
{
	struct pollfd fds[2] = {
		{ .fd = b->lab, .events = POLLIN },
		{ .fd = b->module, .events = POLLIN },
	};

	for (;;) {
		int n = poll(fds, 2, AGAIN_MS);

		if (n < 0)
			die("poll");
		if (fds[0].revents)
			read_lab(b);
		if (fds[1].revents)
			read_module(b);
		if (n)
			continue;
		for (unsigned i = 0; i < b->n_nodes; i++)
			if (!b->attached[i])
				attach(b, i);
	}
}

int
main(int argc, char **argv)
{
	static struct bridge b;
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	if (argc < 3 || argc - 2 > CHANNELS_MAX) {
		fprintf(stderr, "usage: bridge SOCKET NODE...\n");
		return 2;
	}
	b.nodes = argv + 2;
	b.n_nodes = argc - 2;
	strncpy(to.sun_path, argv[1], sizeof(to.sun_path) - 1);
	b.lab = socket(AF_UNIX, SOCK_STREAM, 0);
	if (b.lab < 0 || connect(b.lab, (struct sockaddr *)&to, sizeof(to)))
		die(argv[1]);
	b.module = open("/dev/vib", O_RDWR | O_NONBLOCK);
	if (b.module < 0)
		die("/dev/vib");
	for (unsigned i = 0; i < b.n_nodes; i++)
		attach(&b, i);
	run(&b);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The limit of a bring-up: sends the SMPs of a recorded one again, in their order
 * and as many at a time, checks that each is answered well, and decides nothing.
 *
 *	bench_limit CAPTURE SMPS	the requests of a minism --pcap
 *	bench_limit SMPS		sends them, on a fresh fabric
 */
#include <glib.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <string.h>

#include "sm/mad/mad.h"

#define WINDOW	128u
#define WAIT_MS	5000

/* See sm/io/pcap.c: a block's start, ERF, LRH, BTH, DETH, the MAD. */
#define BLOCK_PACKET	6u
#define MAD_AT		(28 + 16 + 8 + 12 + 8)

/* What minism answers and what it asks the SA are no requests of the bring-up. */
static bool
extract(const char *capture, FILE *smps)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *bytes = NULL;
	gsize len, at = 0;

	if (!g_file_get_contents(capture, &bytes, &len, &error)) {
		fprintf(stderr, "%s\n", error->message);
		return false;
	}
	while (at + MAD_AT + MAD_SIZE <= len) {
		const char *mad = bytes + at + MAD_AT;
		uint32_t block[2];	/* type, length */

		memcpy(block, bytes + at, sizeof(block));
		if (block[0] == BLOCK_PACKET &&
		    (uint8_t)mad[1] == MAD_CLASS_SMP_DIRECT &&
		    (mad[3] == MAD_METHOD_GET || mad[3] == MAD_METHOD_SET))
			fwrite(mad, MAD_SIZE, 1, smps);
		at += block[1];
	}
	return fclose(smps) == 0;
}

/* *n: answered; *bad: of these, with a status. False: the fabric no longer
 * answers. */
static bool
play(FILE *smps, int fd, int agent, unsigned *n, unsigned *bad)
{
	uint8_t *umad = umad_alloc(1, umad_size() + MAD_SIZE);
	uint8_t *mad = umad_get_mad(umad);
	unsigned in_flight = 0;
	bool more = true, ok = true;
	int len;

	while (ok && (more || in_flight)) {
		while (ok && more && in_flight < WINDOW &&
		       (more = fread(mad, MAD_SIZE, 1, smps) == 1)) {
			umad_set_addr(umad, 0xffff, 0, 0, 0);
			ok = umad_send(fd, agent, umad, MAD_SIZE, WAIT_MS,
				       0) >= 0;
			in_flight += ok;
		}
		len = MAD_SIZE;
		if (!ok || !in_flight ||
		    !(ok = umad_recv(fd, umad, &len, WAIT_MS) >= 0))
			continue;
		/* bit 15 is the direction */
		*bad += umad_status(umad) || (mad[4] & 0x7f) || mad[5];
		in_flight--;
		++*n;
	}
	umad_free(umad);
	return ok;
}

int
main(int argc, char **argv)
{
	FILE *smps = argc < 2 ? NULL : fopen(argv[argc - 1],
					     argc == 2 ? "r" : "w");
	unsigned n = 0, bad = 0;
	int fd, agent;
	bool ok;

	if (!smps || argc > 3) {
		fprintf(stderr, "usage: bench_limit [CAPTURE] SMPS\n");
		return 1;
	}
	if (argc == 3)
		return !extract(argv[1], smps);
	if (umad_init() < 0 || (fd = umad_open_port(NULL, 0)) < 0 ||
	    (agent = umad_register(fd, MAD_CLASS_SMP_DIRECT, 1, 0, NULL)) < 0) {
		fprintf(stderr, "there is no port\n");
		return 1;
	}
	ok = play(smps, fd, agent, &n, &bad);
	printf("%u SMPs, %u of them refused%s\n", n, bad, ok ? "" :
	       ", then no answer");
	umad_close_port(fd);
	fclose(smps);
	return !ok || bad > 0;
}

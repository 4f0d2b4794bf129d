// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The limit of a bring-up: sends the SMPs of a recorded one again, in their order
 * and as many at a time, checks that each is answered well, and decides nothing.
 *
 *	bench_limit RECORD SMPS		the requests of a minism --record
 *	bench_limit SMPS		sends them, on a fresh fabric
 */
#include <infiniband/umad.h>
#include <stdio.h>
#include <string.h>

#include "sm/io/record.h"
#include "sm/mad/mad.h"

#define WINDOW	128u
#define WAIT_MS	5000

/* Answers to others and MADs of the SA are no requests of the bring-up. */
static bool
extract(const char *record, FILE *smps)
{
	g_autoptr(GError) error = NULL;
	struct transport t = { NULL };
	struct record_reader *r = NULL;
	uint8_t mad[MAD_SIZE];
	struct record_event e;
	const char *options;
	g_autofree char *bytes = NULL;
	gsize len;

	if (g_file_get_contents(record, &bytes, &len, &error))
		r = record_reader_new((const uint8_t *)bytes, len, &t,
				      &options, &error);
	if (!r) {
		fprintf(stderr, "%s\n", error->message);
		return false;
	}
	while (record_next(r, &e)) {
		if (e.kind != RECORD_SEND || e.refusal || !e.timeout_ms ||
		    e.mad[1] != MAD_CLASS_SMP_DIRECT)
			continue;
		memset(mad, 0, sizeof(mad));
		memcpy(mad, e.mad, MIN(e.len, sizeof(mad)));
		fwrite(mad, sizeof(mad), 1, smps);
	}
	record_reader_free(r);
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
		fprintf(stderr, "usage: bench_limit [RECORD] SMPS\n");
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

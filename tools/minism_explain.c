// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism-explain: a capture of a manager's MADs, a sentence each.
 *
 * A capture is what minism --pcap writes, from a file or while it is written
 * (a pipe): pcapng with ERF records of type InfiniBand. Its comments are the
 * manager's decisions, "WHAT | WHERE | TEXT | WHY | CLAUSE", and "phase | NAME"
 * (see sm/backend.c). A capture of another program has MADs only. Blocks that
 * this program does not know are skipped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/mad.h"
#include "tools/explain.h"
#include "tools/tool_options.h"
#include "topology/text.h"

#define BLOCK_MAX	(1u << 20)
#define BLOCK_SECTION	0x0a0d0d0au
#define BLOCK_PACKET	6u
#define ORDER_MAGIC	0x1a2b3c4du
#define OPTION_COMMENT	1u
#define OPTION_FLAGS	2u
#define FLAG_INBOUND	1u
/* In a packet block: its fields, then ERF, LRH, BTH and DETH before the MAD. */
#define PACKET_AT	20u
#define ERF_LEN		16u
#define LRH_AT		(PACKET_AT + ERF_LEN)
#define MAD_AT		(LRH_AT + 8 + 12 + 8)

struct arguments {
	int mode;
	bool json;
};

#define AT(member)	offsetof(struct arguments, member)

static const struct option rows[] = {
	OPTION_SWITCH("json", 0, &option_bool, AT(json), 0,
		      "One JSON object a line"),
	TOOL_OPTIONS,
};

static const struct option_table table = {
	.options = rows,
	.n = G_N_ELEMENTS(rows),
	.usage = "FILE",
	.summary = "Prints a line for each MAD of a capture that minism "
		"--pcap has written (- for\nstandard input), and for each "
		"decision, with its reason.",
};

struct reader {
	FILE *file;
	enum explain_format format;
	struct explain *explain;
	bool has_begun;		/* with the head of a section */
	bool swapped;		/* of the other byte order than this machine */
	uint8_t block[BLOCK_MAX];
};

static void
on_explained(const struct explain_line *line, void *data)
{
	struct reader *r = data;
	g_autoptr(GString) out = g_string_new(NULL);

	explain_print(line, r->format, out);
	fputs(out->str, stdout);
}

static uint32_t
get32(const struct reader *r, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return r->swapped ? GUINT32_SWAP_LE_BE(value) : value;
}

static unsigned
get16(const struct reader *r, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return r->swapped ? GUINT16_SWAP_LE_BE(value) : value;
}

/* ---------------------------------------------------------------- packets */

static void
tell_comment(struct reader *r, int64_t us, const uint8_t *text, size_t len)
{
	g_autofree char *raw = g_strndup((const char *)text, len);
	g_autofree char *line = text_printable(raw);
	g_auto(GStrv) part = g_strsplit(line, " | ", 5);
	guint n = g_strv_length(part);

	if (n == 2 && !strcmp(part[0], "phase"))
		explain_phase(r->explain, us, g_intern_string(part[1]));
	else if (n == 5)
		explain_say(r->explain, us, part[0], part[1],
			    *part[3] ? g_intern_string(part[3]) : NULL,
			    *part[4] ? part[4] : NULL, "%s", part[2]);
}

/* The comments stand before the MAD that follows them. */
static void
tell_packet(struct reader *r, size_t len)
{
	const uint8_t *b = r->block;
	uint32_t packet = len >= PACKET_AT ? get32(r, b + 12) : UINT32_MAX;
	int64_t us;
	bool received = false;
	unsigned lid;

	if (packet > len - PACKET_AT || packet < MAD_AT - PACKET_AT + MAD_SIZE)
		return;
	us = (int64_t)((uint64_t)get32(r, b + 4) << 32 | get32(r, b + 8));
	for (size_t at = PACKET_AT + ((packet + 3) & ~3u); at + 4 <= len;) {
		unsigned code = get16(r, b + at), n = get16(r, b + at + 2);

		at += 4;
		if (!code || n > len - at)
			break;
		if (code == OPTION_COMMENT)
			tell_comment(r, us, b + at, n);
		if (code == OPTION_FLAGS && n == 4)
			received = (get32(r, b + at) & 3) == FLAG_INBOUND;
		at += (n + 3) & ~3u;
	}
	lid = bytes_load16(b + LRH_AT + (received ? 6 : 2));
	explain_mad(r->explain, us, received ? EXPLAIN_RECEIVED : EXPLAIN_SENT,
		    lid, b + MAD_AT, MAD_SIZE);
}

/* ----------------------------------------------------------------- blocks */

/* False: the end, or (with an error) no block. */
static bool
read_block(struct reader *r, uint32_t *type, size_t *len, GError **error)
{
	uint8_t head[12] = { 0 };
	size_t got = fread(head, 1, 8, r->file);
	uint32_t total;

	if (got == 0 && !ferror(r->file) && r->has_begun)
		return false;
	*type = get32(r, head);
	if (got == 8 && *type == BLOCK_SECTION) {
		/* its byte order decides how its length is read */
		if (fread(head + 8, 1, 4, r->file) != 4)
			got = 0;
		r->swapped = false;
		r->swapped = get32(r, head + 8) != ORDER_MAGIC;
		r->has_begun = get32(r, head + 8) == ORDER_MAGIC;
	}
	total = get32(r, head + 4);
	if (!r->has_begun || got != 8 || total < 12 || total % 4 || total > BLOCK_MAX) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s",
			    ferror(r->file) ? g_strerror(errno) :
			    "it is no capture of the form pcapng, or is cut "
			    "off here");
		return false;
	}
	got = *type == BLOCK_SECTION ? 12 : 8;
	*len = total > got + 4 ? total - got - 4 : 0;
	if (fread(r->block, 1, total - got, r->file) == total - got)
		return true;
	/* a manager that runs, or was killed, has written half a block */
	tool_options_complain("the capture ends within a packet");
	return false;
}

static int
explain_run(void *arguments, char **words)
{
	const struct arguments *a = arguments;
	g_autofree struct reader *r = g_new0(struct reader, 1);
	g_autoptr(GError) error = NULL;
	int status = EXIT_FAILURE;
	uint32_t type;
	size_t len;

	if (!tool_options_one_word(words, "FILE"))
		return EXIT_USAGE;
	r->file = strcmp(words[0], "-") ? fopen(words[0], "rbe") : stdin;
	if (!r->file) {
		tool_options_complain("%s: %s", words[0], g_strerror(errno));
		return EXIT_FAILURE;
	}
	r->format = a->json ? EXPLAIN_JSON : EXPLAIN_TEXT;
	r->explain = explain_new(on_explained, r);
	while (read_block(r, &type, &len, &error) && !ferror(stdout))
		if (type == BLOCK_PACKET)
			tell_packet(r, len);
	if (error)
		tool_options_complain("%s: %s", words[0], error->message);
	else if (!fflush(stdout) && !ferror(stdout))
		status = EXIT_SUCCESS;
	explain_free(r->explain);
	fclose(r->file);
	return status;
}

int
main(int argc, char **argv)
{
	struct arguments a = { .mode = TOOL_RUN };

	return tool_main("minism-explain", &table, &a, EXIT_USAGE, argc, argv,
			 explain_run);
}

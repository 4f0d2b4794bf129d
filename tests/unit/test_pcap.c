// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Captures. tshark judges whole ones in tests/interop/pcap.sh; here is what it
 * does not look at.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "sm/io/pcap.h"
#include "sm/mad/bytes.h"
#include "sm/mad/rmpp.h"
#include "sm/mad/sa_mad.h"
#include "tests/lib/scripted.h"
#include "tests/lib/unit.h"

/* A file to capture into. g_free, g_unlink. */
static char *
new_file(void)
{
	char *path;

	g_close(g_file_open_tmp("minism-pcap-XXXXXX", &path, NULL), NULL);
	return path;
}

/* A capture of this MAD alone. g_free. */
static char *
capture_of(const struct pcap_mad *m, gsize *len)
{
	g_autofree char *path = new_file();
	struct stream *p = pcap_open(path, NULL, NULL);
	char *bytes;

	assert_non_null(p);
	pcap_put(p, m);
	assert_true(stream_close(p, NULL));
	assert_true(g_file_get_contents(path, &bytes, len, NULL));
	g_unlink(path);
	return bytes;
}

/* 500 bytes of records: three segments, numbered, with their lengths. */
TEST(test_message_is_cut_into_its_segments)
{
	const struct mad_addr addr = { .qp = 1, .lid = 5, .qkey = 0x80010000 };
	const struct rmpp_header first = {
		.version = 1, .type = RMPP_TYPE_DATA,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST | RMPP_FLAG_LAST,
		.segment = 1,
	};
	static const uint32_t lengths[] = { 500 + 3 * 20, 0, 100 + 20 };
	static const unsigned flags[] = { 3, 1, 5 };
	uint8_t message[SA_DATA_OFFSET + 500] = { 1, 3, 2, 0x92 };
	g_autofree char *bytes = NULL;
	const char *at;
	gsize len;

	rmpp_header_write(message, &first);
	for (unsigned i = 0; i < 500; i++)
		message[SA_DATA_OFFSET + i] = (uint8_t)(i / 2);
	at = bytes = capture_of(&(struct pcap_mad) {
		.us = 7, .sent = true, .addr = &addr, .mad = message,
		.len = sizeof(message),
	}, &len);
	for (unsigned n = 0; n < 3; n++) {
		const uint8_t *mad;
		struct rmpp_header h;

		at = memmem(at, len - (gsize)(at - bytes), "\1\3\2\x92", 4);
		assert_non_null(at);
		mad = (const uint8_t *)at;
		assert_true(rmpp_header_read(mad, MAD_SIZE, &h));
		assert_int_equal(h.segment, n + 1);
		assert_int_equal(h.length, lengths[n]);
		assert_int_equal(h.flags, flags[n]);
		assert_int_equal(mad[SA_DATA_OFFSET + 4], (200 * n + 4) / 2);
		at += MAD_SIZE;
	}
	assert_int_equal(at[-1], 0);
	assert_null(memmem(at, len - (gsize)(at - bytes), "\1\3\2\x92", 4));
}

/* LIDs of the LRH: a MAD has them from its address and the port's own. Behind
 * it the P_Key. */
TEST(test_packet_has_the_lids_of_its_ends)
{
	static const struct {
		bool sent;
		uint16_t lid, to, from;
	} rows[] = {
		{ true, 5, 5, 3 }, { false, 5, 3, 5 },
		{ true, LID_PERMISSIVE, LID_PERMISSIVE, LID_PERMISSIVE },
		{ false, LID_PERMISSIVE, LID_PERMISSIVE, LID_PERMISSIVE },
	};
	static const char start[] = "\1\4\1\1\xab\xcd";

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct mad_addr addr = { .qp = 1, .lid = rows[i].lid };
		g_autofree char *bytes = NULL;
		uint8_t mad[MAD_SIZE] = { 0 };
		const uint8_t *lrh;
		gsize len;

		memcpy(mad, start, sizeof(start));
		bytes = capture_of(&(struct pcap_mad) {
			.sent = rows[i].sent, .addr = &addr, .own_lid = 3,
			.mad = mad, .len = sizeof(mad),
		}, &len);
		lrh = memmem(bytes, len, start, sizeof(start) - 1);
		assert_non_null(lrh);
		lrh -= 8 + 12 + 8;	/* LRH, BTH, DETH */
		assert_int_equal(bytes_load16(lrh + 2), rows[i].to);
		assert_int_equal(bytes_load16(lrh + 6), rows[i].from);
		assert_int_equal(bytes_load16(lrh + 8 + 2), UINT16_MAX);
	}
}

/* Takes the whole blocks of what has come so far: packets, and those that they
 * tell as lost. */
static void
read_blocks(int fd, GByteArray *in, unsigned *packets, uint64_t *lost)
{
	static const uint16_t dropped[] = { 4, 8 };	/* option, length */
	uint8_t bytes[4096];
	uint32_t head[2], end;
	uint64_t more;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		g_byte_array_append(in, bytes, (guint)n);
	while (in->len >= sizeof(head)) {
		memcpy(head, in->data, sizeof(head));
		assert_in_range(head[1], 12, sizeof(bytes));
		if (head[1] > in->len)
			return;
		memcpy(&end, in->data + head[1] - 4, sizeof(end));
		assert_int_equal(end, head[1]);
		*packets += head[0] == 6;
		if (head[1] > 20 && head[0] == 6 &&
		    memcmp(in->data + head[1] - 20, dropped, 4) == 0) {
			memcpy(&more, in->data + head[1] - 16, sizeof(more));
			*lost += more;
		}
		g_byte_array_remove_range(in, 0, head[1]);
	}
}

static void
count_call(const char *name, void *data)
{
	++*(unsigned *)data;
}

TEST(test_pipe_that_is_not_read_costs_whole_packets)
{
	enum { MANY = 9000 };
	const struct mad_addr addr = { 0 };
	const uint8_t mad[MAD_SIZE] = { 1, 1 };
	const struct pcap_mad m = {
		.addr = &addr, .mad = mad, .len = MAD_SIZE,
		.comments = (char *[]){ (char *)"5", NULL },
	};
	unsigned calls = 0, packets = 0, n = MANY;
	const struct stream_how how = {
		.hold = STREAM_HOLD, .lost = count_call, .data = &calls,
	};
	AUTO_FOLDER(dir);
	g_autofree char *path = g_build_filename(dir, "fifo", NULL);
	g_autoptr(GByteArray) in = g_byte_array_new();
	g_autoptr(GError) error = NULL;
	uint64_t lost = 0;
	struct stream *p;
	int reader;

	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	p = pcap_open(path, &how, NULL);
	assert_non_null(p);
	for (unsigned i = 0; i < MANY; i++)
		pcap_put(p, &m);
	assert_int_equal(calls, 1);
	/* each packet arrives or is told as lost by a later one */
	while (packets + lost < n) {
		if (!lost) {
			pcap_put(p, &m);
			assert_true(n++ < 2 * MANY);
		}
		g_main_context_iteration(NULL, lost != 0);
		read_blocks(reader, in, &packets, &lost);
	}
	assert_int_equal(packets + lost, n);
	assert_true(lost > MANY / 2);
	assert_false(stream_close(p, &error));
	assert_has(error->message, "did not read all");
	close(reader);
}

TEST(test_capture_is_for_its_owner)
{
	g_autofree char *path = new_file();
	GStatBuf st;

	assert_int_equal(g_chmod(path, 0644), 0);
	assert_true(stream_close(pcap_open(path, NULL, NULL), NULL));
	assert_int_equal(g_stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	g_unlink(path);
}

static void
note_kind(const struct transport_mad *m, bool is_sent, void *kinds)
{
	g_string_append_c(kinds, is_sent ? 's' :
			  m->event == TRANSPORT_RECEIVED ? 'r' : 'a');
	assert_int_equal(m->addr.lid, 9);
	assert_int_equal(m->mad[1], 3);
}

static void
note_arrival(const struct transport_mad *m, void *kinds)
{
	g_string_append_c(kinds, m->event == TRANSPORT_RECEIVED ? 'R' : 'A');
}

TEST(test_tap_reports_mads_and_passes_all)
{
	const uint8_t mad[MAD_SIZE] = { 1, 3 };
	struct transport_mad m = {
		.event = TRANSPORT_RECEIVED, .addr = { .lid = 9 }, .mad = mad,
		.len = MAD_SIZE,
	};
	g_autoptr(GString) kinds = g_string_new(NULL);
	struct transport *t = scripted_new();
	g_autoptr(GError) error = NULL;

	t->tap = note_kind;
	t->tap_data = kinds;
	transport_set_receiver(t, note_arrival, kinds);
	scripted_refuse(t, 1, TRANSPORT_ERROR_AGAIN);
	assert_false(transport_send(t, &m.addr, mad, MAD_SIZE, 5, &error));
	assert_gerror(error, TRANSPORT_ERROR, TRANSPORT_ERROR_AGAIN);
	assert_true(transport_send(t, &m.addr, mad, MAD_SIZE, 5, NULL));
	scripted_deliver(t, &m, 10);
	m.event = TRANSPORT_RETURNED;
	scripted_deliver(t, &m, 20);
	scripted_run(t, 40);
	assert_string_equal(kinds->str, "srRaA");
	transport_free(t);
}

TEST(test_what_cannot_be_written_is_an_error)
{
	const struct mad_addr addr = { 0 };
	const uint8_t mad[MAD_SIZE] = { 1, 1 };
	g_autoptr(GError) error = NULL;
	struct stream *p;

	assert_null(pcap_open("/nowhere/at/all", NULL, &error));
	assert_has(error->message, "/nowhere/at/all");
	g_clear_error(&error);
	p = pcap_open("/dev/full", NULL, &error);
	if (!p)
		skip();
	for (unsigned i = 0; i < 100; i++)
		pcap_put(p, &(struct pcap_mad) {
			.addr = &addr, .mad = mad, .len = MAD_SIZE,
		});
	assert_false(stream_close(p, &error));
	assert_has(error->message, "/dev/full");
}

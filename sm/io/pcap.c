// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs as a capture.
 *
 * A packet is written as it is on the wire: LRH, BTH, DETH, the MAD, ICRC, VCRC
 * (IBA 5.2, 7.8, 9.2). umad has no headers, so they are those that IBA prescribes
 * for a MAD: VL 15 for subnet management, P_Key 0xffff, the opcode of a
 * datagram; and CRCs of 0, since the port has checked them. Wireshark has no link
 * type for InfiniBand; ERF (link type 197) has the record type 21 for it.
 *
 * Keys are blanked: captures are passed on.
 */
#include "sm/io/pcap.h"

#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/mkey_mask.h"
#include "sm/mad/rmpp.h"
#include "sm/mad/sa_mad.h"

#define LINKTYPE_ERF	197u
#define ERF_TYPE_IB	21u
#define ERF_LEN		16u
#define LRH_LEN		8u
#define BTH_LEN		12u
#define DETH_LEN	8u
#define HEADERS		(LRH_LEN + BTH_LEN + DETH_LEN)
#define ICRC_AT		(HEADERS + MAD_SIZE)
#define PACKET_LEN	(ICRC_AT + 4 + 2)
#define LRH_NEXT_BTH	2u	/* IBA 7.7.6: a local packet of IBA transport */
#define VL_SMP		15u
#define OPCODE_UD_SEND	0x64u	/* IBA 9.2.1: UD, send only */

#define BLOCK_SECTION	0x0a0d0d0au
#define BLOCK_INTERFACE	1u
#define BLOCK_PACKET	6u
#define OPTION_COMMENT	1u
#define OPTION_FLAGS	2u	/* of a packet: */
#define OPTION_DROPPED	4u	/* packets before this one */
#define FLAG_INBOUND	1u
#define FLAG_OUTBOUND	2u
#define SPARE		7u	/* ERF records are multiples of 8 bytes */

/* ------------------------------------------------------------------ packets */

static void
make_packet(uint8_t packet[PACKET_LEN], const struct pcap_mad *m,
	    const uint8_t mad[MAD_SIZE])
{
	bool is_smp = mad[1] != MAD_CLASS_SA && m->addr->qp == 0;
	unsigned own = m->addr->lid == UINT16_MAX ? UINT16_MAX : m->own_lid;
	uint8_t *bth = packet + LRH_LEN, *deth = bth + BTH_LEN;
	unsigned qp = is_smp ? 0 : 1;

	memset(packet, 0, PACKET_LEN);
	packet[0] = (uint8_t)((is_smp ? VL_SMP : 0) << 4);
	packet[1] = (uint8_t)(m->addr->sl << 4 | LRH_NEXT_BTH);
	bytes_store16(packet + 2, m->sent ? m->addr->lid : (uint16_t)own);
	bytes_store16(packet + 4, (ICRC_AT + 4) / 4);
	bytes_store16(packet + 6, m->sent ? (uint16_t)own : m->addr->lid);
	bth[0] = OPCODE_UD_SEND;
	bytes_store16(bth + 2, UINT16_MAX);
	bytes_store(bth + 5, m->sent ? m->addr->qp : qp, 3);
	bytes_store32(deth, is_smp ? 0 : m->addr->qkey);
	bytes_store(deth + 5, m->sent ? qp : m->addr->qp, 3);
	memcpy(packet + HEADERS, mad, MAD_SIZE);
	mkey_mask_blank(packet + HEADERS, MAD_SIZE);
}

/* ------------------------------------------------------------------- pcapng */

/* In the byte order of this machine, as a reader sees by the first block. */
static void
put32(GByteArray *out, uint32_t value)
{
	g_byte_array_append(out, (uint8_t *)&value, sizeof(value));
}

static void
put16(GByteArray *out, uint16_t value)
{
	g_byte_array_append(out, (uint8_t *)&value, sizeof(value));
}

static void
put_block(struct stream *p, uint32_t type, const GByteArray *body)
{
	g_autoptr(GByteArray) block = g_byte_array_new();

	put32(block, type);
	put32(block, body->len + 12);
	g_byte_array_append(block, body->data, body->len);
	put32(block, body->len + 12);
	stream_put(p, block->data, block->len);
}

static void
put_segment(struct stream *p, const struct pcap_mad *m,
	    const uint8_t mad[MAD_SIZE])
{
	static const uint8_t spare[SPARE];
	g_autoptr(GByteArray) body = g_byte_array_new();
	uint32_t len = (ERF_LEN + PACKET_LEN + SPARE) & ~SPARE;
	uint64_t lost = p->lost;
	uint8_t packet[PACKET_LEN];

	make_packet(packet, m, mad);
	put32(body, 0);
	put32(body, (uint32_t)((uint64_t)m->us >> 32));
	put32(body, (uint32_t)m->us);
	put32(body, len);
	put32(body, len);
	/* flags: the records have different lengths */
	uint8_t erf[ERF_LEN] = { [8] = ERF_TYPE_IB, [9] = 4 };
	uint64_t stamp = (uint64_t)(m->us / G_USEC_PER_SEC) << 32 |
		((uint64_t)(m->us % G_USEC_PER_SEC) << 32) / G_USEC_PER_SEC;

	stamp = GUINT64_TO_LE(stamp);
	memcpy(erf, &stamp, sizeof(stamp));
	bytes_store16(erf + 10, (ERF_LEN + PACKET_LEN + SPARE) & ~SPARE);
	bytes_store16(erf + 14, PACKET_LEN);
	g_byte_array_append(body, erf, sizeof(erf));
	g_byte_array_append(body, packet, sizeof(packet));
	g_byte_array_append(body, spare, len - ERF_LEN - PACKET_LEN);
	for (guint i = 0; m->comments && m->comments[i]; i++) {
		size_t n = MIN(strlen(m->comments[i]), 4096);

		put16(body, OPTION_COMMENT);
		put16(body, (uint16_t)n);
		g_byte_array_append(body, (const uint8_t *)m->comments[i],
				    (guint)n);
		g_byte_array_append(body, spare, -body->len & 3);
	}
	put16(body, OPTION_FLAGS);
	put16(body, 4);
	put32(body, m->sent ? FLAG_OUTBOUND : FLAG_INBOUND);
	if (lost) {
		put16(body, OPTION_DROPPED);
		put16(body, sizeof(lost));
		g_byte_array_append(body, (uint8_t *)&lost, sizeof(lost));
	}
	put32(body, 0);		/* the end of the options */
	put_block(p, BLOCK_PACKET, body);
}

/* A message that the transport segments or reassembles, as its segments. */
void
pcap_put(struct stream *p, const struct pcap_mad *m)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	struct rmpp_header h;
	size_t at = SA_DATA_OFFSET;

	memcpy(mad, m->mad, MIN(m->len, MAD_SIZE));
	if (m->len <= MAD_SIZE || !rmpp_header_read(mad, m->len, &h)) {
		put_segment(p, m, mad);
		return;
	}
	h.length = rmpp_payload_length(m->len - at, SA_DATA_OFFSET);
	for (h.segment = 1; at < m->len; h.segment++, at += SA_DATA_LEN) {
		size_t rest = m->len - at;

		memset(mad + SA_DATA_OFFSET, 0, SA_DATA_LEN);
		memcpy(mad + SA_DATA_OFFSET, m->mad + at,
		       MIN(rest, SA_DATA_LEN));
		h.flags = RMPP_FLAG_ACTIVE |
			(h.segment == 1 ? RMPP_FLAG_FIRST : 0) |
			(rest <= SA_DATA_LEN ? RMPP_FLAG_LAST : 0);
		if (rest <= SA_DATA_LEN)
			h.length = (uint32_t)(rest + SA_DATA_OFFSET -
					      RMPP_HEADER_LEN);
		rmpp_header_write(mad, &h);
		put_segment(p, m, mad);
		h.length = 0;
	}
}

/* -------------------------------------------------------------------- open */

struct stream *
pcap_open(const char *path, const struct stream_how *how, GError **error)
{
	g_autoptr(GByteArray) section = g_byte_array_new();
	g_autoptr(GByteArray) interface = g_byte_array_new();
	struct stream *p = stream_create(path, how, error);

	if (!p)
		return NULL;
	put32(section, 0x1a2b3c4d);
	put16(section, 1);
	put16(section, 0);
	put32(section, UINT32_MAX);	/* how long the section is: not known */
	put32(section, UINT32_MAX);
	put_block(p, BLOCK_SECTION, section);
	put16(interface, LINKTYPE_ERF);
	put16(interface, 0);
	put32(interface, 0);		/* packets are whole */
	put_block(p, BLOCK_INTERFACE, interface);
	return p;
}

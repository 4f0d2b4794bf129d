// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The RMPP header.
 *
 * It follows the common header of a MAD (IBA 13.6.2), big-endian:
 *
 *	24 RMPPVersion	25 RMPPType	26 RRespTime (5 bits), RMPPFlags (3)
 *	27 RMPPStatus	28 Data1	32 Data2
 *
 *	type	Data1		Data2
 *	DATA	SegmentNumber	PayloadLength
 *	ACK	SegmentNumber	NewWindowLast
 *	STOP	0		0
 *	ABORT	0		0
 *
 * PayloadLength counts what is behind the RMPP header, in the first segment
 * for all segments together (0: not known yet), in the last one for itself;
 * in others it means nothing. The SA has a class header of 20 bytes between
 * the RMPP header and the data. It is repeated in every segment and counts
 * every time, so 450 bytes of records travel as
 *
 *	segment	flags		PayloadLength	data
 *	1	Active First	510		200
 *	2	Active		-		200
 *	3	Active Last	70		50
 *
 * The Linux kernel computes it so. The names are those of its ib_mad.h.
 */
#include "sm/mad/rmpp.h"

#include <glib.h>

#include "sm/mad/bytes.h"
#include "sm/mad/mad.h"

#define OFF_VERSION	24
#define OFF_TYPE	25
#define OFF_TIME_FLAGS	26
#define OFF_STATUS	27
#define OFF_DATA1	28
#define OFF_DATA2	32

#define FLAGS_MASK	0x7u
#define TIME_SHIFT	3

G_STATIC_ASSERT(RMPP_HEADER_LEN + RMPP_PAYLOAD_MAX == MAD_SIZE);

bool
rmpp_header_read(const uint8_t *mad, size_t len, struct rmpp_header *h)
{
	if (len < RMPP_HEADER_LEN)
		return false;
	h->version = mad[OFF_VERSION];
	h->type = mad[OFF_TYPE];
	h->flags = mad[OFF_TIME_FLAGS] & FLAGS_MASK;
	h->resp_time = mad[OFF_TIME_FLAGS] >> TIME_SHIFT;
	h->status = mad[OFF_STATUS];
	h->segment = bytes_load32(mad + OFF_DATA1);
	h->length = bytes_load32(mad + OFF_DATA2);
	return true;
}

void
rmpp_header_write(uint8_t *mad, const struct rmpp_header *h)
{
	mad[OFF_VERSION] = h->version;
	mad[OFF_TYPE] = h->type;
	mad[OFF_TIME_FLAGS] = (uint8_t)(h->resp_time << TIME_SHIFT |
					(h->flags & FLAGS_MASK));
	mad[OFF_STATUS] = h->status;
	bytes_store32(mad + OFF_DATA1, h->segment);
	bytes_store32(mad + OFF_DATA2, h->length);
}

uint64_t
rmpp_segment_count(uint64_t bytes, unsigned header_len)
{
	unsigned room = MAD_SIZE - header_len;

	return bytes ? (bytes - 1) / room + 1 : 1;
}

uint32_t
rmpp_payload_length(uint64_t bytes, unsigned header_len)
{
	uint64_t class_len = header_len - RMPP_HEADER_LEN;
	uint64_t length;

	if (bytes > UINT32_MAX)
		return 0;
	length = bytes + rmpp_segment_count(bytes, header_len) * class_len;
	return length > UINT32_MAX ? 0 : (uint32_t)length;
}

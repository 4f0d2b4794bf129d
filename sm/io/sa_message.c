// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages over a transport with RMPP.
 *
 * The Linux kernel cuts an SA message that is written to an agent which was
 * registered with an RMPP version and whose RMPP header is active and of type
 * DATA (user_mad.c, mad_rmpp.c). It fills in the components that differ from
 * segment to segment: flags, SegmentNumber, PayloadLength. The data end at the
 * length that is written, so a message is not padded to the size of a MAD. A
 * message that arrives has the header of its first segment, and its true length;
 * one that is shorter than a MAD is filled up (umad.c), and its only segment's
 * header has its length.
 */
#include "sm/io/sa_message.h"

#include "sm/mad/mad.h"

#define OFF_CLASS	1

/* A simulator in place of the kernel does not segment, and sends one MAD as it
 * is, so the header is that of a first segment. */
bool
sa_message_send(struct transport *t, const struct mad_addr *to,
		GByteArray *message)
{
	size_t len = message->len - RMPP_SA_HEADER_LEN;
	struct rmpp_header r = {
		.version = RMPP_VERSION, .type = RMPP_TYPE_DATA,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST,
		.resp_time = RMPP_NO_RESP_TIME, .segment = 1,
		.length = rmpp_payload_length(len, RMPP_SA_HEADER_LEN),
	};

	if (rmpp_segment_count(len, RMPP_SA_HEADER_LEN) == 1)
		r.flags |= RMPP_FLAG_LAST;
	rmpp_header_write(message->data, &r);
	return transport_send(t, to, message->data, message->len, 0, NULL);
}

bool
sa_message_read(const struct transport_mad *m, struct sa_message *out)
{
	unsigned only = RMPP_FLAG_FIRST | RMPP_FLAG_LAST;
	size_t class_len = RMPP_SA_HEADER_LEN - RMPP_HEADER_LEN;
	struct rmpp_header r;

	if (m->event == TRANSPORT_RETURNED ||
	    !rmpp_header_read(m->mad, m->len, &r) ||
	    m->mad[OFF_CLASS] != MAD_CLASS_SA ||
	    !(r.flags & RMPP_FLAG_ACTIVE) || m->len < RMPP_SA_HEADER_LEN ||
	    r.type != RMPP_TYPE_DATA)
		return false;
	*out = (struct sa_message){
		.from = m->addr, .header = m->mad,
		.data = m->mad + RMPP_SA_HEADER_LEN,
		.len = m->len - RMPP_SA_HEADER_LEN,
		.cut = !(r.flags & RMPP_FLAG_LAST) && m->len <= MAD_SIZE,
	};
	/* simulators always hand over 256 bytes */
	if ((r.flags & only) == only && r.length >= class_len)
		out->len = MIN(out->len, r.length - class_len);
	out->from.qkey = MAD_GSI_QKEY;
	return true;
}

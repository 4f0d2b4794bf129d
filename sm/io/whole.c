// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages in one piece.
 *
 * The Linux kernel cuts an SA message that is written to an agent which was
 * registered with an RMPP version and whose RMPP header is active and of type
 * DATA (user_mad.c, mad_rmpp.c). It fills in what differs from segment to
 * segment: flags, SegmentNumber, PayloadLength. Version, type and status go
 * out as they are here. The length that is written tells where the data end,
 * so a message is not filled up to the size of a MAD.
 *
 * What comes in has the header of its first segment, and its true length,
 * which may be less than a MAD, too. A simulator that poses as the kernel and
 * does nothing of this hands over all bytes of one MAD: if its header says
 * that it is the only one, it also says how much of it counts. For its sake
 * the header is written here as the kernel would.
 */
#include "sm/io/whole.h"

#define PIECE	4096u
#define GO	(16 * PIECE)	/* bytes in one go */

struct whole {
	GByteArray *all;
	rmpp_source_fn source;
	void *source_data;
	uint64_t max;		/* of data */
};

static void
write_header(uint8_t *message, size_t data_len)
{
	struct rmpp_header r = {
		.version = RMPP_VERSION, .type = RMPP_TYPE_DATA,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST,
		.resp_time = RMPP_NO_RESP_TIME, .segment = 1,
		.length = rmpp_payload_length(data_len, RMPP_SA_HEADER_LEN),
	};

	if (rmpp_segment_count(data_len, RMPP_SA_HEADER_LEN) == 1)
		r.flags |= RMPP_FLAG_LAST;
	rmpp_header_write(message, &r);
}

struct whole *
whole_new(const uint8_t *header, rmpp_source_fn source, void *source_data,
	  uint64_t max)
{
	struct whole *w = g_new(struct whole, 1);

	w->all = g_byte_array_new();
	w->source = source;
	w->source_data = source_data;
	w->max = MIN(max, G_MAXINT - PIECE);
	g_byte_array_append(w->all, header, RMPP_SA_HEADER_LEN);
	return w;
}

void
whole_free(struct whole *w)
{
	if (!w)
		return;
	g_byte_array_unref(w->all);
	g_free(w);
}

enum whole_state
whole_collect(struct whole *w)
{
	uint8_t piece[PIECE];
	bool later;
	size_t n;

	for (unsigned i = 0; i < GO / PIECE; i++) {
		n = w->source(w->source_data, piece, sizeof(piece));
		later = n & RMPP_SOURCE_LATER;
		n &= ~RMPP_SOURCE_LATER;
		g_byte_array_append(w->all, piece, (guint)n);
		if (w->all->len - RMPP_SA_HEADER_LEN > w->max)
			return WHOLE_TOO_LONG;
		if (later)
			return WHOLE_LATER;
		if (n == sizeof(piece))
			continue;
		write_header(w->all->data, w->all->len - RMPP_SA_HEADER_LEN);
		return WHOLE_READY;
	}
	return WHOLE_LATER;
}

size_t
whole_len(const struct whole *w)
{
	return w->all->len;
}

const GByteArray *
whole_message(const struct whole *w)
{
	return w->all;
}

bool
whole_measure(const uint8_t *message, size_t len, size_t *data_len)
{
	size_t class_len = RMPP_SA_HEADER_LEN - RMPP_HEADER_LEN;
	unsigned only = RMPP_FLAG_FIRST | RMPP_FLAG_LAST;
	struct rmpp_header r;

	if (len < RMPP_SA_HEADER_LEN || !rmpp_header_read(message, len, &r) ||
	    r.type != RMPP_TYPE_DATA)
		return false;
	*data_len = len - RMPP_SA_HEADER_LEN;
	if ((r.flags & only) == only && r.length >= class_len)
		*data_len = MIN(*data_len, r.length - class_len);
	return true;
}

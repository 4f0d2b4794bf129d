// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages over a transport with RMPP.
 *
 *	sa_message_send --> collect --> handed over --> done
 *	the transport's on_recv --> sa_message_read --> receiver
 *
 * The Linux kernel cuts an SA message that is written to an agent which was
 * registered with an RMPP version and whose RMPP header is active and of type
 * DATA (user_mad.c, mad_rmpp.c). It fills in the components that differ from
 * segment to segment: flags, SegmentNumber, PayloadLength. The data end at the
 * length that is written, so a message is not padded to the size of a MAD. A
 * message that arrives has the header of its first segment, and its true length,
 * which may be less than a MAD.
 *
 * A message that is not collected at once is continued after
 * RMPP_SOURCE_PAUSE_US, so that a long table delays nothing else; all that are
 * continued share the pieces of a turn. If max_collect bytes are collected, only
 * the first continues. done() must not come from
 * inside sa_message_send(), so a message that fails there waits for the timer.
 */
#include "sm/io/sa_message.h"

#include <string.h>

#include "sm/mad/mad.h"

#define OFF_CLASS	1
#define PIECE	4096u
#define PIECES	16u		/* at once */

/* A message on its way to the transport. */
struct outgoing {
	GList link;
	struct mad_addr to;
	GByteArray *bytes;		/* NULL: the outcome is known */
	rmpp_source_fn source;
	void *source_data;
	enum sa_message_outcome outcome;
	unsigned timeout_ms;
	sa_message_done_fn done;
	void *data;
};

struct sa_message {
	struct transport *transport;
	uint64_t max_collect, collected;
	GQueue queue;			/* struct outgoing, by age */
	unsigned timer;			/* 0: not running */
	sa_message_message_fn receiver;
	void *receiver_data;
	transport_recv_fn next;		/* gets all other MADs */
	void *next_data;
};

/* A simulator in place of the kernel does not segment, and sends one MAD as it
 * is, so the header is that of a first segment. */
static void
hand_over(struct sa_message *b, struct outgoing *o)
{
	size_t len = o->bytes->len - RMPP_SA_HEADER_LEN;
	struct rmpp_header r = {
		.version = RMPP_VERSION, .type = RMPP_TYPE_DATA,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST,
		.resp_time = RMPP_NO_RESP_TIME, .segment = 1,
		.length = rmpp_payload_length(len, RMPP_SA_HEADER_LEN),
	};

	if (rmpp_segment_count(len, RMPP_SA_HEADER_LEN) == 1)
		r.flags |= RMPP_FLAG_LAST;
	rmpp_header_write(o->bytes->data, &r);
	o->outcome = transport_send(b->transport, &o->to, o->bytes->data,
				    o->bytes->len, o->timeout_ms, NULL) ?
		SA_MESSAGE_SENT : SA_MESSAGE_NOT_ACCEPTED;
}

/* Collects so many pieces; false: there is more to come. */
static bool
collect(struct sa_message *b, struct outgoing *o, unsigned pieces)
{
	uint64_t max = MIN(b->max_collect, G_MAXINT - PIECE);
	uint8_t piece[PIECE];
	size_t n, got;

	while (pieces--) {
		n = o->source(o->source_data, piece, sizeof(piece));
		got = n & ~RMPP_SOURCE_LATER;
		g_byte_array_append(o->bytes, piece, (guint)got);
		b->collected += got;
		if (o->bytes->len - RMPP_SA_HEADER_LEN > max)
			o->outcome = SA_MESSAGE_TOO_LONG;
		else if (n & RMPP_SOURCE_LATER)
			return false;
		else if (got == sizeof(piece))
			continue;
		else
			hand_over(b, o);
		b->collected -= o->bytes->len;
		g_clear_pointer(&o->bytes, g_byte_array_unref);
		return true;
	}
	return false;
}

static void sa_message_on_timer(void *data);

static void
ring_soon(struct sa_message *b)
{
	if (!b->timer && b->queue.head)
		b->timer = transport_timer_in(b->transport,
					      RMPP_SOURCE_PAUSE_US,
					      sa_message_on_timer, b);
}

static void
sa_message_on_timer(void *data)
{
	struct sa_message *b = data;
	unsigned n = MIN(b->queue.length, PIECES);
	unsigned share = b->collected > b->max_collect ? PIECES : PIECES / n;
	GList *link;

	b->timer = 0;
	/* Those that have no turn now are the first in the next one. */
	for (; n; n--) {
		struct outgoing *o = b->queue.head->data;

		if (o->bytes)
			collect(b, o, share);
		if (b->collected > b->max_collect)
			break;
		g_queue_push_tail_link(&b->queue,
				       g_queue_pop_head_link(&b->queue));
	}
	/* done() may send, so the search begins again at the head. */
	for (link = b->queue.head; link;) {
		struct outgoing *o = link->data;

		if (o->bytes) {
			link = link->next;
			continue;
		}
		g_queue_unlink(&b->queue, link);
		o->done(o->outcome, o->data);
		g_free(o);
		link = b->queue.head;
	}
	ring_soon(b);
}

bool
sa_message_send(struct sa_message *b, const struct sa_message_order *order,
		sa_message_done_fn done, void *data)
{
	struct outgoing *o = g_new0(struct outgoing, 1);

	g_assert(done);
	o->link.data = o;
	o->to = order->to;
	o->timeout_ms = order->timeout_ms;
	o->done = done;
	o->data = data;
	o->source = order->source;
	o->source_data = order->source_data;
	o->bytes = g_byte_array_new();
	g_byte_array_append(o->bytes, order->header, RMPP_SA_HEADER_LEN);
	b->collected += o->bytes->len;
	if (collect(b, o, PIECES) && o->outcome == SA_MESSAGE_SENT) {
		g_free(o);
		return true;
	}
	g_queue_push_tail_link(&b->queue, &o->link);
	ring_soon(b);
	return false;
}

bool
sa_message_read(const struct transport_mad *m, struct sa_message_message *out)
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
	*out = (struct sa_message_message){
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

static void
sa_message_on_recv(const struct transport_mad *m, void *data)
{
	struct sa_message *b = data;
	struct sa_message_message message;

	if (sa_message_read(m, &message))
		b->receiver(&message, b->receiver_data);
	else if (b->next)
		b->next(m, b->next_data);
}

struct sa_message *
sa_message_new(struct transport *t, uint64_t max_collect,
	       sa_message_message_fn fn, void *data)
{
	struct sa_message *b = g_new0(struct sa_message, 1);

	b->transport = t;
	b->max_collect = max_collect;
	g_queue_init(&b->queue);
	b->receiver = fn;
	b->receiver_data = data;
	b->next = t->on_recv;
	b->next_data = t->recv_data;
	transport_set_receiver(t, sa_message_on_recv, b);
	return b;
}

void
sa_message_free(struct sa_message *b)
{
	GList *link;

	if (!b)
		return;
	while ((link = g_queue_pop_head_link(&b->queue))) {
		struct outgoing *o = link->data;

		g_clear_pointer(&o->bytes, g_byte_array_unref);
		g_free(o);
	}
	transport_timer_clear(b->transport, &b->timer);
	transport_set_receiver(b->transport, b->next, b->next_data);
	g_free(b);
}

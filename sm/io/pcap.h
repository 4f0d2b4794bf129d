/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MADs as a capture that Wireshark and tshark read: pcapng, each MAD in an ERF
 * record of type InfiniBand, with its link, transport and datagram headers.
 */
#ifndef MINISM_IO_PCAP_H
#define MINISM_IO_PCAP_H

#include "sm/io/stream.h"
#include "sm/io/transport.h"

/* As stream_create(), with what a capture begins with; for stream_close(). */
struct stream *pcap_open(const char *path, const struct stream_how *how,
			 GError **error);

struct pcap_mad {
	int64_t us;		/* since 1970 */
	bool sent;		/* to addr, else received from there */
	uint16_t own_lid;	/* 0: not known */
	const struct mad_addr *addr;
	const uint8_t *mad;	/* a message of several MADs is cut into these */
	size_t len;
	char *const *comments;	/* NULL: none; ends with NULL */
};

/* Keys are zeros in the file (sm/mad/mkey_mask.h). There is no GRH. The packet
 * behind those that are lost has their number. */
void pcap_put(struct stream *p, const struct pcap_mad *m);

#endif

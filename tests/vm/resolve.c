// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Resolves an address and a route by the kernel's rdma_cm and prints the path:
 *
 *	resolve IP
 *
 * It speaks to /dev/infiniband/rdma_cm itself, as librdmacm wants a provider
 * of verbs, which the simulated HCAs do not have.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADDR_RESOLVED	0
#define ROUTE_RESOLVED	2
#define LIMIT_MS	3000
#define QPT_RC		2

static int cm;

static void
command(unsigned cmd, void *in, size_t n_in, size_t n_out)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		char data[512];
	} m = { .hdr = { .cmd = cmd, .in = n_in, .out = n_out } };

	memcpy(m.data, in, n_in);
	if (write(cm, &m, sizeof(m.hdr) + n_in) < 0) {
		fprintf(stderr, "rdma_cm command %u: %s\n", cmd,
			strerror(errno));
		exit(1);
	}
}

static void
expect(unsigned event)
{
	struct rdma_ucm_event_resp resp;
	struct rdma_ucm_get_event get = { .response = (uintptr_t)&resp };

	memset(&resp, 0, sizeof(resp));
	command(RDMA_USER_CM_CMD_GET_EVENT, &get, sizeof(get), sizeof(resp));
	if (resp.event != event) {
		fprintf(stderr, "event %u, status %d instead of event %u\n",
			resp.event, (int)resp.status, event);
		exit(1);
	}
}

static unsigned
create_id(void)
{
	struct rdma_ucm_create_id_resp resp = { 0 };
	struct rdma_ucm_create_id create = {
		.uid = 1,	/* without one there are no events */
		.response = (uintptr_t)&resp, .ps = RDMA_PS_TCP,
		.qp_type = QPT_RC,
	};

	command(RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create),
		sizeof(resp));
	return resp.id;
}

static void
print_route(unsigned id)
{
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query query = {
		.response = (uintptr_t)&route, .id = id,
	};
	const struct ib_user_path_rec *path = &route.ib_route[0];

	memset(&route, 0, sizeof(route));
	command(RDMA_USER_CM_CMD_QUERY_ROUTE, &query, sizeof(query),
		sizeof(route));
	printf("paths %u slid %u dlid %u pkey 0x%04x sl %u mtu %u rate %u\n",
	       route.num_paths, ntohs(path->slid), ntohs(path->dlid),
	       ntohs(path->pkey), path->sl, path->mtu, path->rate);
}

int
main(int argc, char **argv)
{
	struct rdma_ucm_resolve_ip addr = { .timeout_ms = LIMIT_MS };
	struct rdma_ucm_resolve_route route = { .timeout_ms = LIMIT_MS };
	struct sockaddr_in to = { .sin_family = AF_INET };

	if (argc != 2 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
		fprintf(stderr, "usage: resolve IP\n");
		return 2;
	}
	alarm(10);
	cm = open("/dev/infiniband/rdma_cm", O_RDWR);
	if (cm < 0) {
		perror("/dev/infiniband/rdma_cm");
		return 1;
	}
	addr.id = route.id = create_id();
	memcpy(&addr.dst_addr, &to, sizeof(to));
	command(RDMA_USER_CM_CMD_RESOLVE_IP, &addr, sizeof(addr), 0);
	expect(ADDR_RESOLVED);
	command(RDMA_USER_CM_CMD_RESOLVE_ROUTE, &route, sizeof(route), 0);
	expect(ROUTE_RESOLVED);
	print_route(addr.id);
	return 0;
}

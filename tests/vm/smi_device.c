// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Adds the device for SMPs of an HCA with planes:
 *
 *	smi_device NAME INDEX
 *
 * INDEX is the kernel's number of the HCA, which `rdma dev` prints. It is
 * `rdma dev add NAME type SMI parent HCA` of iproute2 6.11, which Debian 12 has
 * not yet.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* since Linux 6.11 */
#define NLDEV_CMD_NEWDEV	26
#define NLDEV_ATTR_DEV_TYPE	99
#define DEVICE_TYPE_SMI		1

struct request {
	struct nlmsghdr head;
	char data[256];
};

static void
put(struct request *r, uint16_t type, const void *value, size_t n)
{
	struct nlattr a = { .nla_len = NLA_HDRLEN + n, .nla_type = type };
	char *at = (char *)r + r->head.nlmsg_len;

	memcpy(at, &a, sizeof(a));
	memcpy(at + NLA_HDRLEN, value, n);
	r->head.nlmsg_len += NLA_ALIGN(a.nla_len);
}

int
main(int argc, char **argv)
{
	static struct request r = {
		.head = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						       NLDEV_CMD_NEWDEV),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr end;
		char request[512];
	} answer = { .end = { .error = -EIO } };
	uint32_t index = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	uint8_t type = DEVICE_TYPE_SMI;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);

	if (argc != 3 || strlen(argv[1]) > 63)
		return 2;
	put(&r, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	put(&r, RDMA_NLDEV_ATTR_DEV_NAME, argv[1], strlen(argv[1]) + 1);
	put(&r, NLDEV_ATTR_DEV_TYPE, &type, sizeof(type));
	if (send(fd, &r, r.head.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < 0) {
		perror("smi_device");
		return 1;
	}
	if (answer.end.error)
		fprintf(stderr, "smi_device: %s\n",
			strerror(-answer.end.error));
	return answer.end.error != 0;
}

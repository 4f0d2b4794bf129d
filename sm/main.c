// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism: an InfiniBand subnet manager.
 */
#include "sm/daemon.h"

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv);
}

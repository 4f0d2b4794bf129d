// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* minism: a subnet manager on a port of this machine. */
#include "sm/daemon.h"

int
main(int argc, char **argv)
{
	static const struct daemon_kind port = { .open = backend_open_port };

	g_set_prgname("minism");
	return daemon_main(&port, argc, argv);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* minism: a subnet manager on a port of this machine. */
#include <stdio.h>
#include <string.h>

#include "sm/daemon.h"

int
main(int argc, char **argv)
{
	static const struct daemon_kind port = { .open = backend_open_port };

	g_set_prgname("minism");
	if (argc > 1 && !strcmp(argv[1], "import")) {
		fputs("minism: minism import is minism-import now\n", stderr);
		return 2;
	}
	return daemon_main(&port, argc, argv);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* minism: a subnet manager on a port of this machine. */
#include <string.h>

#include "sm/daemon.h"
#include "sm/import.h"

int
main(int argc, char **argv)
{
	static const struct daemon_kind port = { .open = backend_open_port };

	g_set_prgname("minism");
	if (argc > 1 && !strcmp(argv[1], "import"))
		return import_main(argc - 1, argv + 1);
	return daemon_main(&port, argc, argv);
}

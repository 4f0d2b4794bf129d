/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The daemon: puts the parts together and runs them. A library, so that tests
 * can link it; main() only calls it.
 */
#ifndef MINISM_SM_DAEMON_H
#define MINISM_SM_DAEMON_H

/* The whole program. Returns the exit code: 0 done (the fabric is up), 1 it
 * is not or something failed, 2 the command line or the configuration is
 * bad. */
int daemon_main(int argc, char **argv);

#endif

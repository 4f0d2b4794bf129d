/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * minism import: the configuration of an OpenSM, reported and taken over.
 */
#ifndef MINISM_SM_IMPORT_H
#define MINISM_SM_IMPORT_H

/* argv[0] is "import". An exit status: 0; 1 if something cannot be taken, or
 * not be written; 2 for a bad command line. */
int import_main(int argc, char **argv);

#endif

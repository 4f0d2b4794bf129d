/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The partitions in force: the partition file, and the changes that were made
 * at run time on top of it.
 *
 * Changes are kept in the file partitions-runtime of the cache folder, in the
 * grammar of the partition file, so that they survive a restart. Changes of a
 * partition that the partition file no longer has are not applied.
 */
#ifndef MINISM_SM_PARTITIONS_H
#define MINISM_SM_PARTITIONS_H

#include "sm/file_writer.h"
#include "topology/partition.h"

#define PARTITIONS_RESULTS	16u	/* changes whose ends are remembered */

struct partitions {
	char *changes_path;	/* NULL: none */
	struct partition_rules *rules;	/* in force */
	struct partition_rules *lost;	/* changes of partitions that the file no
					   longer has: they are kept */
	uint64_t n_changes;	/* begun since the start; the last one: */
	uint16_t pkey;
	uint64_t guid;
	int membership;
	bool is_writing;	/* it is not in force yet, */
	struct file_writer *writer;	/* since this writes it */
	void (*used)(void *data);	/* when they are in force */
	void *data;
	struct partitions_end {
		char *answer;
		GError *error;	/* NULL: it is in force, or not there yet */
	} ends[PARTITIONS_RESULTS];	/* of change n at n % .. */
};

/* The rules without a file, until partitions_load(). cache_dir NULL: changes are
 * lost at the end. */
struct partitions *partitions_new(const char *cache_dir);
void partitions_free(struct partitions *p);

/*
 * Takes over the text of the partition file `path`, NULL: there is none, and the
 * file of changes. On failure the rules stay as they were; the error is a
 * G_FILE_ERROR, or a TEXT_ERROR with lines file:line:column: text.
 * warnings: lines, of char *.
 */
bool partitions_load(struct partitions *p, const char *text, const char *path,
		     GPtrArray *warnings, GError **error);

/*
 * From now on the port has this membership, whatever the file has; -1: that of
 * the file again. It is written beside the loop (disk NULL: at once) before it
 * is in force, and then used(data) is called; p and data stay until disk's jobs
 * have ended. Returns its number for partitions_changed(), which then has this
 * answer (copied), or 0: a TEXT_ERROR if it cannot be done, G_FILE_ERROR_AGAIN if
 * the change before it has not ended.
 */
uint64_t partitions_change(struct partitions *p, struct beside *disk,
			   uint16_t pkey, uint64_t guid, int membership,
			   const char *answer, void (*used)(void *data),
			   void *data, GError **error);

/* Has the change ended? With an error: it could not be kept, and changed
 * nothing. */
bool partitions_changed(const struct partitions *p, uint64_t number,
			const char **answer, GError **error);

#endif

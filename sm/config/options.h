/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The configuration: built-in values, then the file, then the command line.
 * Text in, struct out.
 */
#ifndef MINISM_CONFIG_OPTIONS_H
#define MINISM_CONFIG_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sm/config/option.h"
#include "topology/policy.h"
#include "topology/qos.h"
#include "topology/text.h"

enum options_mode {
	OPTIONS_MODE_RUN,		/* resident */
	OPTIONS_MODE_ONCE,		/* one sweep, then end */
	OPTIONS_MODE_PLAN,		/* read only: print the plan */
	OPTIONS_MODE_CHECK,	/* look at the configuration, touch no fabric */
	OPTIONS_MODE_HELP,
	OPTIONS_MODE_VERSION,
};

/* Built-in places; configure decides, and a prefix of the system means /etc and
 * /var. The socket is one of GUID.ctl there, by PortGUID. */
#define OPTIONS_PARTITION_FILE	MINISM_SYSCONFDIR "/partitions.conf"
#define OPTIONS_CONTROL_DIR	MINISM_RUNDIR
#define OPTIONS_CONTROL_SOCKET	"auto"

/* The folder of control sockets: OPTIONS_CONTROL_DIR; in a lab one of that lab
 * and of the node on which this program runs, as a lab's minismctl must never
 * talk to the machine's manager. g_free */
char *options_control_dir(void);

/* On which side of a switch port is membership enforced? A mask. */
#define OPTIONS_SIDE_IN	1u
#define OPTIONS_SIDE_OUT	2u
/* Which links are kept out of routing? A mask; those with errors by minism-health
 * alone. */
#define OPTIONS_LINKS_ERRORS	1u
#define OPTIONS_LINKS_SLOW	2u

struct options {
	enum options_mode mode;
	bool observe;		/* resident, and writes nothing */
	char *apply;		/* --once if its plan has this digest; NULL: any */
	char *ca_name;		/* NULL: libibumad's choice */
	unsigned port_num;	/* 0: the same */
	uint64_t port_guid;	/* 0: the same */
	bool port_asked;	/* one of them, on the command line */
	char *engine;		/* a routing engine, or "auto" */
	bool require_deadlock_free;
	char *root_guid_file;	/* lists of GUIDs; NULL: none */
	char *cn_guid_file, *io_guid_file;
	unsigned routing_threads;	/* 0: one for each core */
	unsigned sweep_s;	/* 0: no light sweeps */
	unsigned timeout_ms;
	unsigned retries;
	unsigned max_smps;	/* at least 1 */
	unsigned priority;	/* 0 to 15 */
	bool takeover;
	unsigned lmc;		/* 0 to 7 */
	struct policy policy;	/* but for max_oper_vls, which is in `qos` */
	uint64_t sm_key;
	char *allowed_sms;	/* see guid_list_of_line(); NULL: all */
	uint64_t sa_key;	/* makes SA requesters trusted */
	bool m_key_per_port;	/* policy.m_key is a seed, each port has its own */
	bool m_key_lookup;	/* remember keys over a restart, and use them */
	char *partition_file;	/* NULL: the default partition */
	bool partition_file_asked;	/* on the command line: it must be
					   there */
	unsigned enforce;	/* OPTIONS_SIDE_*; see options_enforce() */
	bool no_enforcement;	/* OpenSM's old word for `off` */
	unsigned poll_ms;	/* a standby polls the master so often, */
	unsigned polls_lost;	/* and after so many without an answer acts */
	struct qos qos;
	unsigned group_quota;	/* groups that a port may create; 0: any */
	unsigned flap_hold_s;	/* flaps.h */
	bool babbling_disable;	/* a port that babbles */
	unsigned bad_links;	/* OPTIONS_LINKS_* */
	bool no_rereg;		/* never set ClientReregister */
	char *control_socket;	/* NULL: none; or OPTIONS_CONTROL_SOCKET */
	char *control_group;	/* may connect there as well; NULL: none */
	unsigned log_format;	/* enum log_format */
	unsigned verbose;	/* levels more than log_flags say; see
				   options_log_level() */
	char *config_file;
	char *node_names_file;	/* the node name map; NULL: none */
	bool background;	/* resident: detach from the terminal */
	char *pid_file;		/* NULL: none */
	char *log_file;		/* NULL: standard error */
	char *cache_dir;	/* NULL: nothing is remembered */
	char *view_file;	/* minism-view(5); NULL: none */
	unsigned log_flags;	/* OpenSM's mask of messages to log */
	char *pcap;		/* file for a capture of all MADs */
	/* Of minism-sim, which sets it before the command line is read: its
	 * own options; NULL: the fabric is a real one. */
	const struct option_table *simulator;
	char **fabric;		/* then one word: a net file or a formula */
	bool elsewhere;		/* in a simulation or a lab: the places in a
				   file are those of this machine's manager */
	struct options_given *origins;	/* by row of the table, for
					   options_next() */
};

/* Every option and key, with its range and default. */
extern const struct option_table options_table;

struct options *options_new(void);	/* built-in values */
void options_free(struct options *conf);

/*
 * Reads `key value` lines (OpenSM's grammar: # comments, values may be
 * quoted; "(null)" is "not set"). An unknown key is a line in `warnings` with
 * the nearest key there is; bad values are an error, TEXT_ERROR_SYNTAX, of up
 * to 20 lines, after which conf must not be used. Both begin with
 * file:line:column.
 */
bool options_parse(struct options *conf, const char *text, const char *name,
		GPtrArray *warnings, GError **error);

/*
 * The command line, with the file that -F names (or the default one, if it
 * exists) read first. On failure the message has the accepted values, an option
 * in one line; conf->mode is that of the command line if its options were good.
 */
bool options_from_args(struct options *conf, int argc, char **argv,
		    GPtrArray *warnings, GError **error);

/* On which sides switches are to enforce partitions: OPTIONS_SIDE_*. */
unsigned options_enforce(const struct options *conf);

/* enum log_level. */
unsigned options_log_level(const struct options *conf);

/* A manager that leaves the fabric to a living master: no priority is
 * configured, nor is it to take over. */
bool options_is_guest(const struct options *conf);

enum options_origin {
	OPTIONS_DEFAULT,
	OPTIONS_FILE,
	OPTIONS_COMMAND_LINE,
};
struct options_value {
	const char *key;	/* in the file; NULL: --name */
	const char *name;	/* on the command line; or NULL */
	const char *value;	/* as it was given, or the default; NULL: none */
	bool secret;		/* it is not printed */
	enum options_origin from;
};
/* The next one, from the beginning if *at is 0; its texts are borrowed. False:
 * there is none. */
bool options_next(const struct options *conf, size_t *at,
		  struct options_value *v);

/* --help, to standard output. */
void options_print_help(const struct options *conf);

#endif

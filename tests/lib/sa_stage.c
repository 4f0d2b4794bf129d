// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A subnet administration that scripts ask: see sa_stage.h.
 */
#include "tests/lib/sa_stage.h"

#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/service.h"
#include "tests/lib/request.h"
#include "tests/lib/state_text.h"

/* Other files play them, too. */
#define all_words	sa_words
struct unit_word sa_words[64];

struct stage {
	struct lab l;		/* the first member: words may take it */
	struct request r;
	GString *saved;
	struct sa_mark mark;	/* the last one */
	uint32_t from;		/* the requester's port, */
	int32_t slid;		/* or its LID; -1: the port's */
	int64_t start;		/* of the SA */
	uint8_t notice[NOTICE_LEN];	/* the last one */
	bool is_marked;		/* as those of a standby are */
	uint16_t manager;	/* LID */
	uint32_t gone_port;	/* it has no PortGUID now, */
	uint64_t gone;		/* but had this one */
};

static struct stage *
stage_new(const char *spec)
{
	struct stage *st = g_new0(struct stage, 1);

	sa_lab_open(&st->l, spec, 0);
	st->start = st->l.now;
	st->saved = g_string_new(NULL);
	return st;
}

int
sa_stage_set_up(void **state)
{
	*state = stage_new("PGFT(3,4;1,3)");
	return 0;
}

/* Without any client's. */
static void
renew(struct lab *l)
{
	const struct sa_params params = { .sm_key = LAB_KEY };

	sa_free(l->sa);
	l->sa = sa_new(&params);
}

int
sa_star_set_up(void **state)
{
	struct stage *st = stage_new("single(6)");

	g_array_set_size(partition_rules_get(st->l.rules, PKEY_DEFAULT)
			 ->groups, 0);
	renew(&st->l);
	lab_publish(&st->l);
	*state = st;
	return 0;
}

int
sa_stage_tear_down(void **state)
{
	struct stage *st = *state;

	sa_lab_close(&st->l);
	g_string_free(st->saved, TRUE);
	g_free(st);
	return 0;
}

/* ---- names ---- */

/* "H-3" is the third end port of a CA, "S-2" the port 0 of a switch, "SM" our
 * own port; what follows, or NULL. */
static const char *
read_port(const struct lab *l, const char *name, uint32_t *port)
{
	bool is_switch = g_str_has_prefix(name, "S-");
	char *end;
	unsigned n;

	if (strcmp(name, "SM") == 0) {
		*port = l->s->local_port;
		return "";
	}
	if (!is_switch && !g_str_has_prefix(name, "H-"))
		return NULL;
	n = (unsigned)strtoul(name + 2, &end, 10);
	*port = is_switch ? lab_switch(l, n) : lab_host(l, n);
	return end;
}

/* Also "S-2/1", port 1 of a switch, and "H-3^", the switch that H-3 is at. */
static bool
find_port(const struct lab *l, const char *name, uint32_t *port)
{
	const char *more = read_port(l, name, port);

	if (more && *more == '/')
		*port += (uint32_t)strtoul(more + 1, NULL, 10);
	else if (more && *more == '^')
		*port = snapshot_node_of(l->s, l->s->ports[*port].peer)
			->first_port;
	return more;
}

static uint32_t
port_of(const struct lab *l, const char *name)
{
	uint32_t port = 0;

	if (!find_port(l, name, &port))
		fail_msg("%s is no port", name);
	return port;
}

/* "H-3^port" is the number of the switch port that H-3 is at. */
static bool
find_name(void *fixture, const char *name, struct request_name *out)
{
	const struct stage *st = fixture;
	const struct lab *l = &st->l;
	uint32_t port;

	if (!find_port(l, name, &port))
		return false;
	out->lid = lab_lid(l, port);
	if (g_str_has_suffix(name, "^port")) {
		read_port(l, name, &port);
		out->lid = l->s->ports[l->s->ports[port].peer].num;
	}
	out->guid = st->gone && port == st->gone_port ? st->gone :
		l->s->ports[port].guid;
	out->desc = snapshot_node_of(l->s, port)->desc;
	bytes_store(out->gid, l->prefix, 8);
	bytes_store(out->gid + 8, out->guid, 8);
	return true;
}

/* ---- requests ---- */

static bool
read_option(void *fixture, const char *name, const char *value)
{
	struct stage *st = fixture;
	struct lab *l = &st->l;

	if (strcmp(name, "from") == 0 || strcmp(name, "by") == 0) {
		st->from = port_of(l, value);
	} else if (strcmp(name, "untrusted") == 0) {
		bytes_store64(l->mad + 36, 0);
	} else if (strcmp(name, "sm_key") == 0) {
		bytes_store(l->mad + 36, g_ascii_strtoull(value, NULL, 0), 8);
	} else if (strcmp(name, "mod") == 0) {
		bytes_store(l->mad + 20, g_ascii_strtoull(value, NULL, 0), 4);
	} else if (strcmp(name, "version") == 0) {
		l->mad[2] = (uint8_t)strtoul(value, NULL, 0);
	} else if (strcmp(name, "slid") == 0) {
		st->slid = (int32_t)strtoul(value, NULL, 0);
	} else if (strcmp(name, "qp") == 0) {
		l->qp = (uint32_t)strtoul(value, NULL, 0);
	} else if (strcmp(name, "marked") == 0) {
		st->is_marked = true;
	} else if (strcmp(name, "as-answered") == 0) {
		memcpy(st->r.data, lab_answer(l), SA_DATA_LEN);
	} else {
		return false;
	}
	if (strcmp(name, "by") == 0) {
		g_autofree char *own = g_strconcat(st->r.attr_id ==
			SA_ATTR_SERVICE ? "ServiceGID=" : "PortGID=", value,
			NULL);

		request_put(&st->r, (char *[]){ own, NULL });
	}
	return true;
}

static const struct request_kind kind = {
	.name = find_name, .option = read_option,
};

/* The options write into the MAD, so its header is made before them. */
static void
read_request(struct stage *st, char **words)
{
	struct lab *l = &st->l;

	lab_begin(l, MAD_METHOD_GET, SA_ATTR_NODE, 0);
	st->from = lab_host(l, 0);
	st->slid = -1;
	st->is_marked = false;
	request_read(&st->r, &kind, st, words);
	l->mad[3] = (uint8_t)st->r.method;
	bytes_store(l->mad + 16, st->r.attr_id, 2);
	bytes_store(l->mad + 48, st->r.mask, 8);
	memcpy(lab_data(l), st->r.data, SA_DATA_LEN);
	if (st->is_marked)
		sa_mark_write(l->mad, &(struct sa_mark){ 1, 1 });
}

static unsigned
ask(struct stage *st)
{
	struct lab *l = &st->l;
	unsigned status;

	status = lab_ask_at(l, st->slid < 0 ? lab_lid(l, st->from) :
			    (uint16_t)st->slid, l->now);
	sa_lab_check(l->sa);
	return status;
}

G_GNUC_PRINTF(2, 0) static void
write_request(struct lab *l, const char *format, va_list args)
{
	g_autofree char *line = g_strdup_vprintf(format, args);
	g_auto(GStrv) words = NULL;

	g_shell_parse_argv(line, NULL, &words, NULL);
	read_request((struct stage *)l, words);
}

void
sa_stage_write(struct lab *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_request(l, format, args);
	va_end(args);
}

unsigned
sa_stage_ask(struct lab *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_request(l, format, args);
	va_end(args);
	return ask((struct stage *)l);
}

/* METHOD ATTRIBUTE ..; ask is for methods without a word of their own */
WORDS("Get GetTable Set Delete GetMulti ask", do_request, struct stage *st)
{
	struct lab *l = &st->l;
	g_autoptr(GByteArray) all = NULL;
	unsigned status, n;

	read_request(st, strcmp(words[-1], "ask") ? words - 1 : words);
	status = ask(st);
	if (st->r.method == SA_METHOD_GET_MULTI)
		st->r.table = mad_attr_table(SA_ATTR_PATH);
	if (l->reply.kind != SA_REPLY_TABLE) {
		request_expect_record(&st->r, status, lab_answer(l));
		return;
	}
	all = lab_drain(l, &n);
	request_expect_table(&st->r, all->data, n,
			     sa_records_size(l->reply.records));
}

/* METHOD ATTRIBUTE of the last answer's header, its AttributeOffset */
WORDS("answer", do_answer, struct stage *st)
{
	const uint8_t *mad = st->l.reply.mad;

	assert_range(words[0], mad[3]);
	assert_range(words[1], bytes_load(mad + 16, 2));
	assert_range(words[2], bytes_load(mad + 44, 2));
}

/* SWITCH: the block that was answered is that of the tables */
WORDS("answer-is-lft", do_answer_is_lft, const struct lab *l)
{
	uint32_t sw = snapshot_node_of(l->s, port_of(l, words[0]))->sw_index;

	assert_memory_equal(lab_answer(l) + 8, lft_row(l->lft, sw), 64);
}

/* ---- the fabric and its rules ---- */

/* SPEC LMC */
WORDS("fabric", do_fabric, struct lab *l)
{
	sa_lab_close(l);
	sa_lab_open(l, words[0], word_number(words[1]));
}

WORDS("publish", do_publish, struct stage *st)
{
	lab_publish(&st->l);
}

WORDS("unpublish", do_unpublish, struct stage *st)
{
	sa_publish(st->l.sa, NULL, st->l.now);
}

WORDS("prefix", do_prefix, struct lab *l)
{
	l->prefix = word_number(words[0]);
	lab_publish(l);
}

/* [P_KEY]: no port is in any partition, in this one */
WORDS("no-rules", do_no_rules, struct lab *l)
{
	if (words[0]) {
		g_array_set_size(partition_rules_get(l->rules,
				 word_number(words[0]))->rules, 0);
		return;
	}
	lab_clear_rules(l);
	partition_rules_get(l->rules, PKEY_DEFAULT);
}

/* P_KEY full|limited|both PORT .. */
WORDS("member", do_member, struct lab *l)
{
	for (char **name = words + 2; *name; name++)
		lab_member(l, word_number(words[0]), port_of(l, *name),
			   (strcmp(words[1], "full") ? PARTITION_LIMITED : 0) |
			   (strcmp(words[1], "limited") ? PARTITION_FULL : 0));
}

/* P_KEY Q_KEY|none: IPoIB's group of the default partition */
WORDS("configured", do_configured, struct lab *l)
{
	struct partition *p = partition_rules_get(l->rules,
						  word_number(words[0]));
	struct partition_group group;

	partition_ipoib_group(PKEY_DEFAULT, 2, &group);
	g_array_set_size(p->groups, 0);
	if (strcmp(words[1], "none")) {
		group.q_key = word_number(words[1]);
		g_array_append_val(p->groups, group);
	}
}

/* P_KEY SL */
WORDS("sl", do_sl, struct lab *l)
{
	partition_rules_get(l->rules, word_number(words[0]))
		->sl = word_number(words[1]);
}

WORDS("no-qos", do_no_qos, struct stage *st)
{
	st->l.v->qos = false;
}

/* PORT COMPONENT=VALUE ..: of PortInfo; switch: of SwitchInfo */
WORDS("port switch", do_port, struct lab *l)
{
	uint32_t port = port_of(l, words[0]);
	bool is_switch = strcmp(words[-1], "switch") == 0;

	for (words++; *words; words++)
		request_poke(is_switch ? SA_ATTR_SWITCH_INFO :
			     SA_ATTR_PORT_INFO, is_switch ?
			     (void *)&snapshot_node_of(l->s, port)->sw :
			     &l->s->ports[port].info, *words);
}

/* PORT TEXT: what the site calls its node */
WORDS("name", do_name, struct lab *l)
{
	uint32_t node = l->s->ports[port_of(l, words[0])].node;

	l->s->nodes[node].name = (char *)g_intern_string(words[1]);
}

/* PORT GUID|0|back: publishes a copy of the subnet */
WORDS("guid", do_guid, struct stage *st)
{
	AUTO(snapshot) *old = st->l.s;
	uint32_t port = port_of(&st->l, words[0]);
	uint64_t guid = strcmp(words[1], "back") ?
		word_number(words[1]) : st->gone;

	st->gone_port = port;
	st->gone = guid ? 0 : old->ports[port].guid;
	st->l.s = snapshot_copy(old);
	st->l.s->ports[port].guid = guid;
	lab_publish(&st->l);
}

/* A B: the cable by which the LID of B leaves the switch of A */
WORDS("slow-way", do_slow_way, struct lab *l)
{
	uint32_t sw = l->v->ends[port_of(l, words[0])].sw;

	lab_slow_down(l, l->s->nodes[l->s->switches[sw]].first_port +
		      lft_row(l->lft, sw)[lab_lid(l, port_of(l, words[1]))]);
	lab_publish(l);
}

/* BLOCKS POSITIONS */
WORDS("mft", do_mft, struct lab *l)
{
	l->mft = mft_new(l->s->n_switches, word_number(words[0]),
			 word_number(words[1]));
}

/* SWITCH MLID PORT */
WORDS("group-entry", do_group_entry, struct lab *l)
{
	mft_add(l->mft, snapshot_node_of(l->s, port_of(l, words[0]))->sw_index,
		word_number(words[1]), word_number(words[2]));
}

/* ---- tables of ports ---- */

/* TABLE PORT BLOCK HEX: known from the last sweep */
WORDS("held", do_held, struct stage *st)
{
	enum port_table table = request_table(words[0]);
	union port_block b = request_block(table, words[3]);
	struct sa_db *v = st->l.v;

	if (!v->tables)
		v->tables = port_tables_new(v->subnet);
	port_tables_set(v->tables, table, port_of(&st->l, words[1]),
			word_number(words[2]), &b);
}

/* PartitionCap of all nodes, PartitionEnforcementCap of all switches */
WORDS("pkey-caps", do_pkey_caps, struct stage *st)
{
	struct snapshot *s = st->l.s;

	for (uint32_t n = 0; n < s->n_nodes; n++) {
		s->nodes[n].info.partition_cap = word_number(words[0]);
		s->nodes[n].sw.partition_enforcement_cap =
			word_number(words[1]);
	}
}

/* ---- what clients leave behind ---- */

/* Number n of those with members. */
static const struct group *
find_tree(const struct lab *l, unsigned n)
{
	const GPtrArray *all = l->sa->groups->all.list;

	EACH_PTR(const struct group, g, all)
		if (g->members.list->len && n-- == 0)
			return g;
	return NULL;
}

/* N MLID MEMBERS [receive=A,B,.. send=C,D,..]: in this order */
WORDS("tree", do_tree, const struct lab *l)
{
	const struct group *g = find_tree(l, word_number(words[0]));
	unsigned at = 0;

	assert_non_null(g);
	assert_range(words[1], g->r.mlid);
	assert_range(words[2], g->members.list->len);
	for (char **word = words + 3; *word; word++) {
		g_auto(GStrv) names = g_strsplit(strchr(*word, '=') + 1, ",",
						 -1);

		for (unsigned i = 0; names[i]; i++, at++) {
			const struct group_member *m =
				g->members.list->pdata[at];

			assert_int_equal((m->join_state & (JOIN_FULL |
					  JOIN_NON)) != 0, **word == 'r');
			assert_int_equal(sa_db_guid(l->v, m->port_guid),
					 port_of(l, names[i]));
		}
	}
}

/* groups, members, services, subscriptions N */
WORDS("groups members services subscriptions", do_stats, struct stage *st)
{
	const char *what = words[-1];
	struct sa_stats stats;

	sa_stats(st->l.sa, &stats);
	assert_range(words[0], *what == 'g' ? stats.n_groups :
		     *what == 'm' ? stats.n_members :
		     strcmp(what, "services") ? stats.n_subscriptions :
		     stats.n_services);
}

WORDS("quota", do_quota, struct lab *l)
{
	l->sa->groups->quota = word_number(words[0]);
}

/* new-.., same-.. LINE: the version behind it */
WORDS("same-groups-version new-saved-version "
      "same-saved-version", do_version, struct stage *st)
{
	const struct sa *sa = st->l.sa;
	uint64_t groups = sa->groups->all.version;
	uint64_t saved = sa_saved_version(sa);

	unit_play(sa_words, st, text);
	assert_int_equal(strstr(words[-1], "saved") ?
			 sa_saved_version(sa) != saved :
			 sa->groups->all.version != groups, *words[-1] == 'n');
}

WORDS("later", do_later, struct lab *l)
{
	l->now += word_time(words[0]);
}

/* deadline TIME|never: of the next lease; tick TIME. From the start on. */
static int64_t
read_due(const struct stage *st, const char *text)
{
	return strcmp(text, "never") ? st->start + word_time(text) : INT64_MAX;
}

WORDS("deadline", do_deadline, struct stage *st)
{
	assert_true(st->l.sa->services->next == read_due(st, words[0]));
}

WORDS("tick", do_tick, struct stage *st)
{
	services_tick(st->l.sa->services, read_due(st, words[0]));
}

/* PORT TRAP [qp=N] [pkey=N] [index=N] [@.. of the Notice] */
WORDS("report", do_report, struct stage *st)
{
	struct sa_report report;

	assert_true(sa_next_report(st->l.sa, st->l.now, &report));
	assert_int_equal(report.lid, lab_lid(&st->l, port_of(&st->l,
							      words[0])));
	assert_int_equal(report.mad[3], SA_METHOD_REPORT);
	assert_range(words[1], bytes_load(report.mad + SA_DATA_OFFSET + 4, 2));
	for (words += 2; *words; words++)
		if (**words == '@')
			request_hold(&kind, st, SA_ATTR_NOTICE,
				     (char *[]){ *words, NULL },
				     report.mad + SA_DATA_OFFSET);
		else
			assert_counts((struct unit_count[]) {
				{ "qp", report.qp }, { "pkey", report.pkey },
				{ "index", report.pkey_index }, { NULL, 0 } },
				(char *[]){ *words, NULL });
}

/* PORT, or a PortGUID; [QP] */
WORDS("report-failed", do_report_failed, struct lab *l)
{
	informs_drop(l->sa->informs, g_ascii_isdigit(*words[0]) ?
		     word_number(words[0]) :
		     l->s->ports[port_of(l, words[0])].guid,
		     words[1] ? (uint32_t)word_number(words[1]) : 1, l->now);
}

/* => PORT ..: these get the last Notice, in this order, one each */
WORDS("reports", do_reports, struct stage *st)
{
	struct sa_report r;

	assert_string_equal(*words, "=>");
	for (words++; *words; words++) {
		assert_true(sa_next_report(st->l.sa, st->l.now, &r));
		assert_int_equal(r.lid, lab_lid(&st->l,
						port_of(&st->l, *words)));
		assert_memory_equal(r.mad + SA_DATA_OFFSET, st->notice,
				    NOTICE_ISSUER_OFFSET);
	}
	assert_false(sa_next_report(st->l.sa, st->l.now, &r));
}

/* PORT TRAP [slid=LID] [@BYTE=VALUE ..] [=> PORT ..]: a switch's */
WORDS("notice", do_notice, struct stage *st)
{
	struct request r = { .kind = &kind, .fixture = st };
	uint16_t lid = lab_lid(&st->l, port_of(&st->l, words[0]));

	r.data[0] = 0x81;	/* generic, urgent */
	r.data[3] = 2;
	bytes_store(r.data + 4, word_number(words[1]), 2);
	bytes_store(r.data + 6, lid, 2);
	bytes_store(r.data + 10, lid, 2);
	st->slid = lid;
	request_put(&r, words + 2);
	memcpy(st->notice, r.data, NOTICE_LEN);
	sa_forward_trap(st->l.sa, st->notice, (uint16_t)st->slid, st->l.now);
	if (r.expected)
		do_reports(st, r.expected - 1, NULL);
}

/* TRAP GID [pkey=P_KEY] => PORT ..: traps 64 to 67, which the SM makes */
WORDS("gid-notice", do_gid_notice, struct stage *st)
{
	bool has_pkey = g_str_has_prefix(words[2], "pkey=");
	g_autofree char *gid = g_strconcat("@0/16=", words[1], NULL);
	struct request r = { .kind = &kind, .fixture = st };
	uint8_t issuer[16];

	request_put(&r, (char *[]){ gid, NULL });
	notice_build_gid(st->notice, word_number(words[0]), 1, r.data);
	lab_gid(&st->l, lab_host(&st->l, 0), issuer);
	informs_notify(st->l.sa->informs, st->l.v, st->notice, issuer,
		       has_pkey ? (uint16_t)word_number(words[2] + 5) : 0,
		       st->l.now);
	do_reports(st, words + 2 + has_pkey, NULL);
}

/* ---- restarts, standbys ---- */

WORDS("save", do_save, struct stage *st)
{
	g_string_truncate(st->saved, 0);
	sa_save(st->l.sa, st->saved, st->l.now);
}

WORDS("load", do_load, struct stage *st)
{
	assert_true(sa_load(st->l.sa, st->saved->str, st->l.now, NULL));
}

/* It saves what it has loaded as it was. The clock is another one. */
WORDS("restart", do_restart, struct stage *st)
{
	g_autofree char *before = NULL;

	do_save(st, NULL, NULL);
	before = g_strdup(st->saved->str);
	renew(&st->l);
	st->start = st->l.now = 5 * G_USEC_PER_SEC;
	do_load(st, NULL, NULL);
	lab_publish(&st->l);
	do_save(st, NULL, NULL);
	assert_string_equal(before, st->saved->str);
}

/* "LINE;LINE .." [TEXT], the last of which is bad, behind what was saved: the
 * error names it and has this text, and all others are loaded */
WORDS("load-but", do_load_but, struct stage *st)
{
	g_autofree char *bad = g_strdup_printf("%s%s\n", st->saved->str,
					       words[0]);
	g_auto(GStrv) lines = g_strsplit(g_strdelimit(bad, ";", '\n'), "\n",
					 -1);
	g_autofree char *good = g_strndup(bad, strlen(bad) - 1 -
		strlen(lines[g_strv_length(lines) - 2]));
	g_autofree char *before = g_strdup(st->saved->str), *rest = NULL;
	g_autofree char *where = g_strdup_printf("line %u: ",
						 g_strv_length(lines) - 1);
	g_autoptr(GError) error = NULL;

	assert_true(sa_load(st->l.sa, good, st->l.now, NULL));
	do_save(st, NULL, NULL);
	rest = g_strdup(st->saved->str);
	assert_false(sa_load(st->l.sa, bad, st->l.now, &error));
	assert_true(g_str_has_prefix(error->message, where));
	assert_has(error->message, words[1] ? words[1] : "");
	do_save(st, NULL, NULL);
	assert_string_equal(rest, st->saved->str);
	g_string_assign(st->saved, before);
	do_load(st, NULL, NULL);
}

static bool
is_manager(uint16_t lid, void *data)
{
	return lid == ((struct stage *)data)->manager;
}

WORDS("manager", do_manager, struct stage *st)
{
	st->manager = lab_lid(&st->l, port_of(&st->l, words[0]));
	st->l.sa->is_manager = is_manager;
	st->l.sa->is_manager_data = st;
}

/* new|same|none: the mark in the last answer against the one before */
WORDS("mark", do_mark, struct stage *st)
{
	struct sa_mark mark;
	bool is_marked = sa_mark_read(st->l.reply.mad, &mark);

	assert_int_equal(is_marked, strcmp(words[0], "none") != 0);
	if (!is_marked)
		return;
	assert_true(!st->mark.epoch || st->mark.epoch == mark.epoch);
	if (*words[0] == 'n')
		assert_true(mark.version > st->mark.version);
	else
		assert_true(mark.version == st->mark.version);
	st->mark = mark;
}

/* TIME later, PORT ..: the standbys that asked lately */
WORDS("followers", do_followers, struct lab *l)
{
	const GArray *lids = sa_followers(l->sa, l->now + word_time(words[0]));

	assert_int_equal(lids->len, g_strv_length(words + 1));
	for (unsigned i = 0; i < lids->len; i++)
		assert_int_equal(g_array_index(lids, struct sa_follower, i).lid,
				 lab_lid(l, port_of(l, words[1 + i])));
}

/* Two SMs; five members, three of them full, in one group; five subscriptions,
 * five services of two ServiceIDs. */
WORDS("clients", do_clients, struct stage *st)
{
	static const struct sa_sm sms[] = {
		{ .lid = 1, .info = { .guid = 5, .priority = 3, .state = 3 } },
		{ .lid = 2, .info = { .guid = 6, .priority = 3, .state = 2,
				      .sm_key = 77 } },
	};

	g_array_set_size(st->l.sa->sms, 0);
	g_array_append_vals(st->l.sa->sms, sms, 2);
	for (unsigned i = 0; i < 5; i++) {
		ask_well(&st->l, "Set MCMemberRecord by=H-%u JoinState=%u "
			 "MGID=ff12:401b:ffff::ffff:ffff", i, i < 3 ? 1 : 5);
		ask_well(&st->l, "Set InformInfo LIDRangeBegin=0xffff "
			 "IsGeneric=1 Subscribe=1 TrapNumberDeviceID=0xffff "
			 "ProducerTypeVendorID=0xffffff from=H-%u Type=%u "
			 "QPN=%u", i, i & 1 ? 0xffff : 3, 1 + i);
		ask_well(&st->l, "Set ServiceRecord ServiceP_Key=0xffff "
			 "ServiceLease=60 ServiceName=one by=H-%u "
			 "ServiceID=%u", i, 100 + i % 2);
	}
}

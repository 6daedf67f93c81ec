/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instructions are warnings, and of which line. Included by k_core.c. */

/* All of the kernel's: oracle.lds puts them together. */
extern const struct bug_entry oracle_bug_start[], oracle_bug_end[];

static u32 bug_place(const struct bug_entry *bug, const char **file, u32 *line)
{
	*file = (const char *)&bug->file_disp + bug->file_disp;
	*line = bug->line;
	return bug->flags & BUGFLAG_WARNING ? 2 : 1;
}

/* Is the instruction at `ip` a warning (2), a BUG (1) or neither (0)? */
u32 k_bug(u64 ip, const char **file, u32 *line)
{
	const struct bug_entry *bug;

	for (bug = oracle_bug_start; bug < oracle_bug_end; bug++)
		if ((unsigned long)&bug->bug_addr_disp + bug->bug_addr_disp == ip)
			return bug_place(bug, file, line);
	return 0;
}

#if ORACLE_VERSION >= 619
/* There, a warning is a call, of a place that says where it is. */
void k_warned(const struct bug_entry *bug)
{
	const char *file;
	u32 line;

	bug_place(bug, &file, &line);
	oracle_warned(file, line);
}

asm(".globl __SCT__WARN_trap\n__SCT__WARN_trap: jmp k_warned\n");
#endif

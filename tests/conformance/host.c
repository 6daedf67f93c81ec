/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the entry function in a process of its own, so that 32-bit builds and builds that stop on undefined behaviour
 * need no special care. Words of 64 bits in this machine's order on standard input:
 *
 *   0, count, words...                      set the state
 *   1, count, then 8 words per call         run; answers result and hash of the state per call
 *   2                                       answers the state
 */
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long word;

#define CALL_WORDS 8
#define STATE_WORDS_MAX 4096

word pelton_test_entry(word *words);

static word state[STATE_WORDS_MAX] __attribute__((aligned(16)));
static word state_words;

static void stop(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static void read_words(word *to, word count)
{
	if (fread(to, sizeof(word), count, stdin) != count)
		stop("input ended early");
}

static void write_words(const word *from, word count)
{
	if (fwrite(from, sizeof(word), count, stdout) != count)
		stop("output is closed");
}

/* The arguments are no part of the state. */
static word state_hash(void)
{
	word hash = 0xcbf29ce484222325ull;
	word i;

	for (i = CALL_WORDS; i < state_words; i++)
		hash = (hash ^ state[i]) * 0x100000001b3ull;
	return hash;
}

static void run_one(void)
{
	word answer[2];

	read_words(state, CALL_WORDS);
	answer[0] = pelton_test_entry(state);
	answer[1] = state_hash();
	write_words(answer, 2);
}

static void load(word count)
{
	if (count > STATE_WORDS_MAX)
		stop("the state is too large");
	read_words(state, count);
	state_words = count;
}

int main(void)
{
	word command[2];

	while (fread(command, sizeof(word), 2, stdin) == 2) {
		word i;

		if (command[0] == 0)
			load(command[1]);
		for (i = 0; command[0] == 1 && i < command[1]; i++)
			run_one();
		if (command[0] == 2)
			write_words(state, state_words);
		fflush(stdout);
	}
	return 0;
}

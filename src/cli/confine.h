// What a command gives up before it reads what strangers wrote: a space file, a template, a list,
// the texts of a stored session.
//
//     struct sandbox s;
//     confine_begin(&s);                             what workers need, this program, what ships
//     confine_read_space(&s, "my.lua");              what this command needs
//     confine_write_database(&s, "runs/tilewalk.db");
//     confine_enter(&s);                             for good; frees `s`
//
// Once a process, early: what is read and written later has to be known by then. A process that
// only starts others (several devices at once) does not enter; those do.
#ifndef TILEWALK_CLI_CONFINE_H
#define TILEWALK_CLI_CONFINE_H

#include "base/sandbox.h"
#include "cli/command.h"

void confine_begin(struct sandbox *s);
void confine_enter(struct sandbox *s);

// A preset (that ships) or a file: with it the folder that it includes from.
void confine_read_space(struct sandbox *s, const char *name);
void confine_read_settings(struct sandbox *s, const struct arguments *a); // folders of --set
// The recording of a --source ("replay:FILE..."); of others nothing.
void confine_read_source(struct sandbox *s, const char *source);
// Those on which sessions of the database ran.
void confine_read_recordings(struct sandbox *s, const char *database);

// A folder, where it is not there yet the nearest one above it that is. NULL: none.
void confine_write_folder(struct sandbox *s, const char *path);
void confine_write_beside(struct sandbox *s, const char *file); // the folder of a file; NULL: none
// The folder of the database, for what SQLite puts there.
void confine_write_database(struct sandbox *s, const char *database);

// Enters with what is needed to read stored sessions and to run their kernels.
void confine_stored(const struct arguments *a);
// Enters with what tune and resume need.
void confine_session(const struct arguments *a);
// Enters with what the workbench needs: the spaces of the stored sessions, that of its command
// line, and those in the current folder, for sessions to come.
void confine_workbench(const struct arguments *a);

#endif

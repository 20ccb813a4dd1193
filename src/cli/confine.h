// Confines a command before it reads foreign files: a space file, a template, a list, the texts of
// a stored session.
//
//     struct sandbox s;
//     confine_begin(&s);                             allows the files of workers and of tilewalk
//     confine_read_space(&s, "my.lua");              allows the files of this command
//     confine_write_database(&s, "runs/tilewalk.db");
//     confine_enter(&s);                             for good; frees `s`
//
// A process enters once and early: all that it reads and writes later has to be known by then. A
// process that only starts others (several devices at once) does not enter; those do.
#ifndef TILEWALK_CLI_CONFINE_H
#define TILEWALK_CLI_CONFINE_H

#include "base/sandbox.h"
#include "cli/command.h"

void confine_begin(struct sandbox *s);
void confine_enter(struct sandbox *s);

// Allows a space file, and its folder, from which it includes. Shipped presets are allowed already.
void confine_read_space(struct sandbox *s, const char *name);
void confine_read_settings(struct sandbox *s, const struct arguments *a); // folders in --set
// Allows the recordings on which sessions of the database ran.
void confine_read_recordings(struct sandbox *s, const char *database);

// Allows a folder, or the nearest existing folder above it. NULL: none.
void confine_write_folder(struct sandbox *s, const char *path);
void confine_write_beside(struct sandbox *s, const char *file); // the folder of a file; NULL: none
// Allows the folder of the database, where SQLite writes other files too.
void confine_write_database(struct sandbox *s, const char *database);

// Enters with permission to read stored sessions and to run their kernels.
void confine_stored(const struct arguments *a);
// Enters with the permissions of tune and resume.
void confine_session(const struct arguments *a);
// Enters with the permissions of the workbench: the spaces of the stored sessions, that of its
// command line, and those in the current folder, for sessions to come.
void confine_workbench(const struct arguments *a);

#endif

// serve --mcp: the Model Context Protocol over standard input and output, a JSON-RPC object a line,
// for programs that write kernels.
//
// Each tool is a command line of this program with --json, run as a child process: it is confined
// as ever, its time and its output are bounded, and what a client says can be no option, since
// values stand behind `--NAME=`, and operands behind `--`. The last line of JSON that the command
// prints is the result.
#include "base/build.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/program.h"
#include "cli/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    MOST_LINE = 1 << 20,
    MOST_WORDS = 64,
    PARSE = -32700,
    REQUEST = -32600,
    METHOD = -32601,
    PARAMS = -32602
};

// --- the tools ---

enum value { TEXT, WHOLE, SETTINGS };

struct tool_argument {
    const char *name;
    enum value type;
    bool required; // and so an operand: others are the option of that name
    int64_t most;  // of a number
    const char *help;
};

struct tool {
    const char *name, *help;
    int seconds; // until it is ended
    const char *fixed;
    struct tool_argument argument[7]; // ends with a NULL name
};

#define SPACE  "preset or space file"
#define SET    "sizes and choices of the space by name, {\"N\": 512}"
#define DEVICE "index or part of the name of a device (default: the best one)"

static const struct tool tools[] = {
    {"judge",
     "Judge a compute kernel in GLSL: is it right on hidden shapes and inputs, every access "
     "checked, "
     "and how fast is it beside the kernel of a space, whose operator, sizes and dispatch it "
     "takes? "
     "The verdict is right, wrong (with the reasons) or not judged.",
     600,
     NULL,
     {{"file", TEXT, true, 0, "path of the kernel"},
      {"space", TEXT, false, 0, SPACE},
      {"set", SETTINGS, false, 0, SET},
      {"seed", WHOLE, false, INT64_C(1) << 53,
       "seed of shapes and inputs (default: another each time)"},
      {"runs", WHOLE, false, 1000, "repeated runs (default: 80)"},
      {"device", TEXT, false, 0, DEVICE}}},
    {"check",
     "Check a space file: its parameters, its size, what constraints and the device remove, and "
     "that "
     "a candidate compiles.",
     120,
     NULL,
     {{"space", TEXT, true, 0, SPACE},
      {"set", SETTINGS, false, 0, SET},
      {"device", TEXT, false, 0, DEVICE}}},
    {"tune",
     "Search a space for the fastest configuration, within at most 200 trials and 8 minutes. Gives "
     "the session, which show describes.",
     600,
     "--seconds=480",
     {{"space", TEXT, true, 0, SPACE},
      {"trials", WHOLE, false, 200, "trials (default: as many as fit)"},
      {"set", SETTINGS, false, 0, SET},
      {"seed", WHOLE, false, INT64_C(1) << 53, "seed of the search"},
      {"device", TEXT, false, 0, DEVICE}}},
    {"show",
     "Show a session: its problem, device, best configuration, and how it compares with what is in "
     "use.",
     60,
     NULL,
     {{"session", WHOLE, true, INT64_C(1) << 53, "number of the session"}}},
};

static void add_schema(struct json_writer *w, const struct tool *t)
{
    static const char *const types[] = {"string", "integer", "object"};
    json_begin_object(w, "inputSchema");
    json_add_text(w, "type", "object");
    json_begin_object(w, "properties");
    for (const struct tool_argument *a = t->argument; a->name; a++) {
        json_begin_object(w, a->name);
        json_add_text(w, "type", types[a->type]);
        json_add_text(w, "description", a->help);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "required");
    for (const struct tool_argument *a = t->argument; a->name; a++)
        if (a->required || str_equal(a->name, "space"))
            json_add_text(w, NULL, a->name);
    json_end(w);
    json_add_flag(w, "additionalProperties", false);
    json_end(w);
}

static void list_tools(struct json_writer *w)
{
    json_begin_list(w, "tools");
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", tools[i].name);
        json_add_text(w, "description", tools[i].help);
        add_schema(w, &tools[i]);
        json_end(w);
    }
    json_end(w);
}

// --- calls ---

struct call {
    const char *program;
    const struct tool *tool;
    const char *word[MOST_WORDS + 1];
    int words;
    struct arena arena;
};

static bool add_word(struct call *c, const char *word, struct err *e)
{
    if (c->words == MOST_WORDS)
        return err_set(e, "too many arguments");
    c->word[c->words++] = word;
    return true;
}

// Adds --set=NAME=VALUE for each member.
static bool add_settings(struct call *c, const struct tool_argument *a, struct json object,
                         struct err *e)
{
    for (struct json_walk w = json_walk(object); json_next(&w);) {
        const char *name = json_text(w.key, &c->arena), *value = json_text(w.value, &c->arena);
        double number;
        if (json_number(w.value, &number))
            value = arena_printf(&c->arena, "%.*s", (int)json_length(w.value), w.value.at);
        if (!value || !*name || strchr(name, '='))
            return err_set(e, "%s: the value of '%s' is neither a number nor a text", a->name,
                           name);
        if (!add_word(c, arena_printf(&c->arena, "--%s=%s=%s", a->name, name, value), e))
            return false;
    }
    return true;
}

static bool add_argument(struct call *c, const struct tool_argument *a, struct json value,
                         struct err *e)
{
    static const char *const types[] = {"a text", "a whole number", "an object"};
    double number;
    const char *text = NULL;
    if (a->type == SETTINGS && json_type(value) == JSON_OBJECT)
        return add_settings(c, a, value, e);
    if (a->type == TEXT)
        text = json_text(value, &c->arena);
    else if (a->type == WHOLE && json_number(value, &number) && number >= 0 &&
             number <= (double)a->most && number == (double)(int64_t)number)
        text = arena_printf(&c->arena, "%" PRId64, (int64_t)number);
    if (!text)
        return a->type == WHOLE
                   ? err_set(e, "%s is a whole number from 0 to %" PRId64, a->name, a->most)
                   : err_set(e, "%s is %s", a->name, types[a->type]);
    return add_word(c, a->required ? text : arena_printf(&c->arena, "--%s=%s", a->name, text), e);
}

// Makes the command line: options first, then the operands behind `--`.
static bool make_words(struct call *c, struct json given, struct err *e)
{
    const struct tool_argument *a;
    if (given.at && json_type(given) != JSON_OBJECT)
        return err_set(e, "arguments is an object");
    for (struct json_walk w = json_walk(given); json_next(&w);) {
        for (a = c->tool->argument; a->name && !json_is(w.key, a->name); a++)
            ;
        if (!a->name)
            return err_set(e, "%s has no argument '%s'", c->tool->name,
                           json_text(w.key, &c->arena));
    }
    c->word[0] = c->program;
    c->word[1] = c->tool->name;
    c->word[2] = "--json";
    c->words = 3;
    if (c->tool->fixed)
        c->word[c->words++] = c->tool->fixed;
    for (int operands = 0; operands < 2; operands++) {
        if (operands && !add_word(c, "--", e))
            return false;
        for (a = c->tool->argument; a->name; a++) {
            struct json value = json_member(given, a->name);
            if (!value.at && (a->required || str_equal(a->name, "space")))
                return err_set(e, "%s needs %s", c->tool->name, a->name);
            if (value.at && a->required == (operands > 0) && !add_argument(c, a, value, e))
                return false;
        }
    }
    return true;
}

// Adds the result of a command: the lines that are no JSON, and the last one that is.
static void add_result(struct json_writer *w, char *said, bool failed)
{
    struct str text = {0};
    struct json root = {0};
    const char *last = NULL;
    char *rest;
    for (char *line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        bool is_json = line[0] == '{' && json_parse(line, &root);
        last = is_json ? line : last;
        if (!is_json)
            str_printf(&text, "%s\n", line);
    }
    if (last)
        str_add(&text, last);
    json_begin_list(w, "content");
    json_begin_object(w, NULL);
    json_add_text(w, "type", "text");
    json_add_text(w, "text", str_text(&text));
    json_end(w);
    json_end(w);
    if (last)
        json_add_raw(w, "structuredContent", last);
    json_add_flag(w, "isError", failed);
    str_finish(&text);
}

// Runs a tool. False: the call was not understood.
static bool call_tool(const char *program, struct json params, struct json_writer *w, struct err *e)
{
    struct call c = {.program = program};
    struct json name = json_member(params, "name");
    struct str said = {0};
    int status = 0;
    arena_init(&c.arena);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (json_is(name, tools[i].name))
            c.tool = &tools[i];
    bool ok = c.tool ? make_words(&c, json_member(params, "arguments"), e)
                     : err_set(e, "there is no such tool");
    if (ok) {
        struct err why;
        bool ended = program_run(c.word, c.tool->seconds, &said, &status, &why);
        if (!ended)
            str_printf(&said, "\n%s\n", why.text);
        int code = ended && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
        json_begin_object(w, "result");
        // Nothing valid, or a wrong kernel, is an answer.
        add_result(w, said.text ? said.text : (char[]){""},
                   code != EXIT_OK && code != EXIT_NOTHING_VALID);
        json_end(w);
    }
    str_finish(&said);
    arena_finish(&c.arena);
    return ok;
}

// --- messages ---

static void add_error(struct json_writer *w, int code, const char *text)
{
    json_begin_object(w, "error");
    json_add_int(w, "code", code);
    json_add_text(w, "message", text);
    json_end(w);
}

static void initialize(struct json_writer *w, struct json params)
{
    static const char *const versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};
    int version = 0; // the newest, unless the client asks for one of the others
    for (int i = 0; i < 3; i++)
        if (json_is(json_member(params, "protocolVersion"), versions[i]))
            version = i;
    json_add_text(w, "protocolVersion", versions[version]);
    json_begin_object(w, "capabilities");
    json_begin_object(w, "tools");
    json_end(w);
    json_end(w);
    json_begin_object(w, "serverInfo");
    json_add_text(w, "name", "tilewalk");
    json_add_text(w, "version", build_name());
    json_end(w);
}

// Answers a request; a notification has no answer.
static void answer(const char *program, struct json root, struct json_writer *w)
{
    struct err e;
    struct json method = json_member(root, "method"), params = json_member(root, "params");
    bool initializes = json_is(method, "initialize"), lists = json_is(method, "tools/list");
    if (initializes || lists || json_is(method, "ping")) {
        json_begin_object(w, "result");
        if (initializes)
            initialize(w, params);
        if (lists)
            list_tools(w);
        json_end(w);
    } else if (!json_is(method, "tools/call")) {
        add_error(w, METHOD, "there is no such method");
    } else if (!call_tool(program, params, w, &e)) {
        add_error(w, PARAMS, e.text);
    }
}

// Takes a message; without a value the line was no JSON.
static void take_message(const char *program, struct json root)
{
    struct str out = {0};
    struct json id = json_member(root, "id");
    bool is_object = json_type(root) == JSON_OBJECT;
    bool has_id = json_type(id) == JSON_TEXT || json_type(id) == JSON_NUMBER;
    bool is_request = is_object && json_is(json_member(root, "jsonrpc"), "2.0") &&
                      json_type(json_member(root, "method")) == JSON_TEXT;
    // Notifications, and answers to what was never asked, have no answer.
    if (is_object &&
        ((is_request && !id.at) || json_member(root, "result").at || json_member(root, "error").at))
        return;
    struct json_writer w = json_begin(&out);
    json_add_text(&w, "jsonrpc", "2.0");
    if (has_id && id.at) {
        char *raw = mem_printf("%.*s", (int)json_length(id), id.at);
        struct str valid = {0};
        str_add_valid(&valid, raw);
        json_add_raw(&w, "id", str_text(&valid));
        str_finish(&valid);
        free(raw);
    } else
        json_add_null(&w, "id");
    if (!root.at)
        add_error(&w, PARSE, "this line is no JSON");
    else if (!is_request || !has_id)
        add_error(&w, REQUEST, "this is no request of JSON-RPC 2.0");
    else
        answer(program, root, &w);
    json_print(&w);
    fflush(stdout);
}

// The answers to a batch are lines of their own.
static void take_line(const char *program, const char *line)
{
    struct json root;
    json_parse(line, &root);
    struct json_walk w = json_walk(root);
    if (json_type(root) != JSON_LIST || !json_next(&w)) {
        take_message(program, root);
        return;
    }
    do
        take_message(program, w.value);
    while (json_next(&w));
}

// Reads a line of at most MOST_LINE bytes; of a longer one there is nothing but "". False: the end.
static bool read_line(struct str *line)
{
    int c;
    bool is_long = false;
    str_cut(line, 0);
    while ((c = getchar()) != EOF && c != '\n') {
        is_long |= line->length >= MOST_LINE;
        if (!is_long)
            str_add_char(line, c ? (char)c : ' ');
    }
    if (is_long)
        str_cut(line, 0);
    return c != EOF || line->length > 0;
}

static int run_serve(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct str line = {0};
    if (!arguments_flag(a, "mcp")) {
        err_usage(&e, "%s: name the protocol, --mcp", self->name);
        return fail_with(&e, EXIT_USAGE);
    }
    char *program = path_program();
    while (read_line(&line))
        take_line(program, str_text(&line));
    str_finish(&line);
    free(program);
    return EXIT_OK;
}

static const struct option options[] = {
    {"mcp", OPTION_FLAG, NULL,
     "Model Context Protocol: JSON-RPC 2.0 on standard input and output, a message a line"},
    OPTION_SANDBOX,
    OPTION_END,
};

const struct command cmd_serve = {
    .name = "serve",
    .help =
        "let other programs judge, check, tune and show, as tools of the Model Context Protocol",
    .options = options,
    .run = run_serve,
};

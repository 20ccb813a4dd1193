// The workbench on a terminal: random keys, over sessions of all kinds. (`./dev fuzz keys` plays
// far more of them, without a terminal.)
#include "campaign.h"

#include <string.h>

#define MOST_KEYS 40

static void prepare(struct attempt *a)
{
    static const char *const strategies[] = {"random", "opevo", "walk"};
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
        if (RUN(a->box, "tune", flow_path(a->box, "small.lua"), "--source",
                "synthetic:rugged:seed=3:invalid=0.2", "--trials", "40", "--strategy",
                strategies[i])
                .code != 0)
            fail_msg("the sessions cannot be made");
    tamper(a->box, "PRAGMA wal_checkpoint(TRUNCATE)");
    copy_file(box_path(a->box, "tilewalk.db"), a->prepared);
}

// Words that the workbench knows, sequences that terminals send, and any byte.
static size_t add_key(struct attempt *a, char *keys)
{
    static const char *const known[] = {"1",
                                        "2",
                                        "3",
                                        "4",
                                        "5",
                                        "6",
                                        "7",
                                        "\r",
                                        "\x1b",
                                        "j",
                                        "k",
                                        "\t",
                                        "/ok\r",
                                        ":help\r",
                                        "n",
                                        "x",
                                        "?",
                                        "z",
                                        "m",
                                        "c",
                                        "\x1b[A",
                                        "\x1b[B",
                                        "\x1b[C",
                                        "\x1b[D",
                                        "\x1b[5~",
                                        "\x1b[6~",
                                        "\x1b[M !!",
                                        "\x1b[<0;5;5M",
                                        "\x1b[200~a\nb\x1b[201~",
                                        "\xc3\xa9",
                                        "\xff",
                                        "q"};
    const char *one = PICK(a, known);
    if (below(a, 4) == 0) {
        keys[0] = (char)below(a, 256);
        return 1;
    }
    memcpy(keys, one, strlen(one));
    return strlen(one);
}

static void attempt(struct attempt *a)
{
    char keys[MOST_KEYS * 32];
    size_t length = 0;
    static const char *const starts[][3] = {{NULL}, {"watch", "1", NULL}, {"watch", "2", NULL}};
    copy_file(a->prepared, box_path(a->box, "tilewalk.db"));
    for (uint64_t i = 1 + below(a, MOST_KEYS); i; i--)
        length += add_key(a, keys + length);
    strike_keys(a, PICK(a, starts), keys, length);
    if (trials_of(a->box, 3) < 40 && listed_session(a->box, 3)) // the keys may have resumed it
        fail_msg("trials are lost");
}

const struct attack attack_keys = {
    .name = "keys",
    .what = "random keys in the workbench, on a terminal",
    .share = 1,
    .prepare = prepare,
    .attempt = attempt,
};

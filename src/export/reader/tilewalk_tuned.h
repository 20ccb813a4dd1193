// Reads tables of tuned kernels in other programs and finds the configuration for a problem: C99 or
// C++, this file alone. The tables are those of `tilewalk export ID... --as table` (JSON, read at
// run time) and `--as c-table` (a header to compile in).
//
//     struct tilewalk_tuned t;
//     if (!tilewalk_tuned_read(&t, text, length, why, sizeof why)) ...   or a compiled-in table
//     struct tilewalk_member m[] = {{"N", NULL, 300}, {"M", NULL, 64}, {"type", "f32", 0}};
//     struct tilewalk_found f = tilewalk_tuned_find(&t, "copy", m, 3, &device, "{\"rows\": 4}");
//     rows = tilewalk_configuration_number(f.configuration, "rows", 0, 4);
//     tilewalk_tuned_free(&t);                                           not of a compiled-in table
//
// The rule: an entry has to be of the same operation with the same members. Whole numbers are
// sizes, all others have to be equal. Among these the entries of the same device and driver come
// first, then those of the device with another driver, then those of another device of the vendor
// (the driver's name up to its first comma). Entries of another vendor are never taken, nor what
// needs more than the device has, nor what another device ran if needs or limits are not known. Of
// what is left the nearest shape is taken: the least sum over the sizes of log2(size / wanted)^2,
// the logarithms in whole units of 2^-16, so that every reader finds the same; at equal distance
// that with more TFLOPS, then the first by device, driver and sizes. Else it is the default.
//
// After reading, nothing is allocated and nothing is written: any number of threads may look up.
#ifndef TILEWALK_TUNED_H
#define TILEWALK_TUNED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILEWALK_MOST_MEMBERS 32   // of a problem
#define TILEWALK_SIGNATURE    1024 // bytes of a problem's names and words

// Bits of `features`.
#define TILEWALK_F16     1u          // 16-bit floats: storage and arithmetic
#define TILEWALK_I8      2u          // 8-bit integers: storage and arithmetic
#define TILEWALK_DOT     4u          // dot products of four bytes in a word
#define TILEWALK_MATRIX  8u          // cooperative matrices
#define TILEWALK_UNKNOWN 0x80000000u // a need that this reader does not know

struct tilewalk_member { // of a problem
    const char *name;
    const char *word; // NULL: `size` is its value. Else the text, as in the table
    int64_t size;
};

// The needs of a kernel, of all its passes the most; or the limits of a device, those of
// VkPhysicalDeviceLimits and the subgroup sizes that a pipeline may require.
struct tilewalk_limits {
    uint32_t invocations; // of a workgroup; 0: nothing is known
    uint32_t group_size[3], shared_bytes;
    uint32_t subgroup_least, subgroup_most; // 0: none
    uint32_t features;
};

struct tilewalk_device {
    const char *name;
    const char *driver; // VkPhysicalDeviceDriverProperties: driverName, ", ", driverInfo
    struct tilewalk_limits limits;
};

struct tilewalk_extent {
    int64_t value;
    int32_t log2; // tilewalk_log2(value); 0 of the size 0
};

struct tilewalk_entry {
    const char *device, *driver, *identity;
    const char *configuration; // a JSON object
    double tflops, ms;
    struct tilewalk_limits needs;
    const char *json; // all of the entry, `json_length` bytes; NULL in a compiled-in table
    size_t json_length;
};

// Problems that differ in sizes alone. Their entries follow each other.
struct tilewalk_group {
    const char *signature; // see tilewalk_sign
    uint32_t first, count; // entries
    uint32_t size, sizes;  // the first size of the first entry, and the sizes of each
};

struct tilewalk_tuned {
    const struct tilewalk_group *group; // sorted by signature
    const struct tilewalk_entry *entry;
    const struct tilewalk_extent *size;
    uint32_t groups, entries;
    char *pool; // texts; NULL: the table is compiled in, and nothing is to be freed
};

enum tilewalk_likeness {
    TILEWALK_SAME_DEVICE, // and driver
    TILEWALK_OTHER_DRIVER,
    TILEWALK_SAME_VENDOR,
    TILEWALK_ANY_DEVICE, // the lookup named none
    TILEWALK_NOT_FOUND
};

struct tilewalk_found {
    const char *configuration;          // the entry's, or the default
    const struct tilewalk_entry *entry; // NULL: the default
    enum tilewalk_likeness likeness;
    int64_t distance; // the sum of squares in units of 2^-32; 0: exactly this shape
};

// --- looking up ---

// Returns log2 of a size > 0 in units of 2^-16, rounded down. Sizes that are doubled differ by
// exactly 2^16.
static inline int32_t tilewalk_log2(int64_t size)
{
    uint64_t x = (uint64_t)size;
    int32_t log = 0, bit;
    while (x >> log > 1)
        log++;
    x = log > 31 ? x >> (log - 31) : x << (31 - log); // 31 bits behind the point
    for (bit = 0; bit < 16; bit++) {
        if (x == (uint64_t)1 << 31)
            return (int32_t)((uint32_t)log << (16 - bit));
        x = x * x >> 31;
        log = (int32_t)((uint32_t)log << 1 | (uint32_t)(x >> 32));
        x >>= x >> 32;
    }
    return log;
}

static inline size_t tilewalk_append(char *out, size_t at, const char *text)
{
    size_t length = strlen(text);
    if (at + length + 2 > TILEWALK_SIGNATURE)
        return TILEWALK_SIGNATURE; // and so do all that follow
    memcpy(out + at, text, length);
    return at + length;
}

// Writes the operation, the names of the sizes and the other members, each behind a line end, and
// gives the sizes in that order. Returns how many there are; -1: there are too many members.
static inline int tilewalk_sign(const char *operation, const struct tilewalk_member *m,
                                size_t count, char out[TILEWALK_SIGNATURE],
                                struct tilewalk_extent size[TILEWALK_MOST_MEMBERS])
{
    const struct tilewalk_member *sorted[TILEWALK_MOST_MEMBERS];
    size_t i, j, at;
    int sizes = 0;
    if (count > TILEWALK_MOST_MEMBERS)
        return -1;
    for (i = 0; i < count; i++) {
        for (j = i; j > 0 && strcmp(sorted[j - 1]->name, m[i].name) > 0; j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = &m[i];
    }
    at = tilewalk_append(out, 0, operation);
    for (i = 0; i < count && at < TILEWALK_SIGNATURE; i++) {
        out[at++] = '\n';
        at = tilewalk_append(out, at, sorted[i]->name);
        if (!sorted[i]->word) {
            if (sorted[i]->size < 0)
                return -1;
            size[sizes].value = sorted[i]->size;
            size[sizes++].log2 = sorted[i]->size ? tilewalk_log2(sorted[i]->size) : 0;
        } else if (at < TILEWALK_SIGNATURE) {
            out[at++] = '=';
            at = tilewalk_append(out, at, sorted[i]->word);
        }
    }
    if (at >= TILEWALK_SIGNATURE)
        return -1;
    out[at] = '\0';
    return sizes;
}

static inline int tilewalk_may_run(const struct tilewalk_entry *x, const struct tilewalk_device *d,
                                   enum tilewalk_likeness like)
{
    const struct tilewalk_limits *n = &x->needs, *l = d ? &d->limits : n;
    if (!d || !n->invocations || !l->invocations)
        return !d || like <= TILEWALK_OTHER_DRIVER;
    return n->invocations <= l->invocations && n->shared_bytes <= l->shared_bytes &&
           !(n->features & ~l->features) && n->group_size[0] <= l->group_size[0] &&
           n->group_size[1] <= l->group_size[1] && n->group_size[2] <= l->group_size[2] &&
           (!n->subgroup_most ||
            (n->subgroup_least >= l->subgroup_least && n->subgroup_most <= l->subgroup_most));
}

static inline enum tilewalk_likeness tilewalk_compare(const struct tilewalk_entry *x,
                                                      const struct tilewalk_device *d)
{
    const char *driver = d->driver ? d->driver : "";
    size_t length = strcspn(driver, ",");
    int same_vendor = length && strncmp(x->driver, driver, length) == 0 &&
                      (x->driver[length] == ',' || !x->driver[length]);
    if (!same_vendor && (length || x->driver[0]))
        return TILEWALK_NOT_FOUND;
    if (!d->name || !x->device[0] || strcmp(x->device, d->name) != 0)
        return same_vendor ? TILEWALK_SAME_VENDOR : TILEWALK_NOT_FOUND;
    return strcmp(x->driver, driver) == 0 ? TILEWALK_SAME_DEVICE : TILEWALK_OTHER_DRIVER;
}

// Returns the distance of two shapes; -1: one has the size 0 where the other has not.
static inline int64_t tilewalk_distance(const struct tilewalk_extent *a,
                                        const struct tilewalk_extent *b, uint32_t count)
{
    int64_t sum = 0, by;
    uint32_t i;
    for (i = 0; i < count; i++) {
        if (!a[i].value != !b[i].value)
            return -1;
        by = (int64_t)a[i].log2 - b[i].log2;
        // Large sizes may have one logarithm: only equal ones are at no distance.
        sum += by || a[i].value == b[i].value ? by * by : 1;
    }
    return sum;
}

static inline int tilewalk_sought(const void *signature, const void *group)
{
    return strcmp((const char *)signature, ((const struct tilewalk_group *)group)->signature);
}

// Finds the entry for a problem by the rule above. `d` NULL: all devices count alike, and what they
// can run is not looked at; that is for people who compare.
static inline struct tilewalk_found tilewalk_tuned_find(
    const struct tilewalk_tuned *t, const char *operation, const struct tilewalk_member *m,
    size_t count, const struct tilewalk_device *d, const char *standard)
{
    struct tilewalk_found best = {standard, NULL, TILEWALK_NOT_FOUND, 0};
    char signature[TILEWALK_SIGNATURE];
    struct tilewalk_extent wanted[TILEWALK_MOST_MEMBERS];
    int sizes = tilewalk_sign(operation, m, count, signature, wanted);
    const struct tilewalk_group *g = NULL;
    const struct tilewalk_entry *x;
    enum tilewalk_likeness like = TILEWALK_ANY_DEVICE;
    uint32_t i;
    if (sizes >= 0 && t->groups)
        g = (const struct tilewalk_group *)bsearch(signature, t->group, t->groups, sizeof *g,
                                                   tilewalk_sought);
    if (!g || g->sizes != (uint32_t)sizes)
        return best;
    for (i = 0; i < g->count; i++) {
        int64_t distance;
        x = &t->entry[g->first + i];
        if (d && (!i || x[-1].device != x->device || x[-1].driver != x->driver))
            like = tilewalk_compare(x, d); // entries of one device follow each other
        if (like > best.likeness || like == TILEWALK_NOT_FOUND || !tilewalk_may_run(x, d, like))
            continue;
        distance = tilewalk_distance(wanted, &t->size[g->size + i * g->sizes], g->sizes);
        if (distance < 0 || (best.entry && like == best.likeness &&
                             (distance > best.distance ||
                              (distance == best.distance && x->tflops <= best.entry->tflops))))
            continue;
        best.configuration = x->configuration;
        best.entry = x;
        best.likeness = like;
        best.distance = distance;
    }
    return best;
}

// --- reading JSON ---

struct tilewalk_reader {
    const char *at, *end;
    int line, depth;
    char *pool; // room for copies of what is read, each once
    char *why;
    size_t why_size;
};

static inline int tilewalk_fail(struct tilewalk_reader *r, const char *what)
{
    if (r->why_size)
        snprintf(r->why, r->why_size, "line %d: %s", r->line,
                 r->at < r->end ? what : "the table ends here: it was cut off");
    return 0;
}

static inline char tilewalk_next(struct tilewalk_reader *r) // 0: the end
{
    for (; r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at; r->at++)
        r->line += *r->at == '\n';
    return r->at < r->end ? *r->at : '\0';
}

static inline int tilewalk_take(struct tilewalk_reader *r, char wanted)
{
    if (tilewalk_next(r) != wanted)
        return 0;
    r->at++;
    return 1;
}

// Reads the escape behind a backslash, of a character of at most 16 bits; returns its end in the
// pool, NULL where there is none.
static inline char *tilewalk_escape(struct tilewalk_reader *r, char *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = r->at < r->end && *r->at ? strchr(names, *r->at) : NULL;
    unsigned code = 0;
    int i;
    if (found) {
        r->at++;
        *out = values[found - names];
        return out + 1;
    }
    for (i = 1; i < 5; i++) {
        found = r->end - r->at > i && r->at[i] ? strchr(digits, r->at[i]) : NULL;
        if (!found || *r->at != 'u')
            return NULL;
        code = code * 16 + (unsigned)(found - digits) % 16;
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return NULL;
    r->at += 5;
    if (code >= 0x800)
        *out++ = (char)(0xe0 | code >> 12);
    if (code >= 0x80)
        *out++ = (char)(code < 0x800 ? 0xc0 | code >> 6 : 0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(code < 0x80 ? code : 0x80 | (code & 0x3f));
    return out;
}

// Reads a text into the pool; `out` NULL: passes over it. Without a pool it gives the text's place.
static inline int tilewalk_read_text(struct tilewalk_reader *r, const char **out)
{
    char *to = r->pool, skipped[8];
    int copies = out && r->pool;
    if (!tilewalk_take(r, '"'))
        return tilewalk_fail(r, "a text is expected here");
    if (out)
        *out = r->at;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return tilewalk_fail(r, "a text is not closed on its line");
        to = copies ? to : skipped;
        if (*r->at != '\\') {
            *to++ = *r->at++;
            continue;
        }
        r->at++;
        to = tilewalk_escape(r, to);
        if (!to)
            return tilewalk_fail(r, "this reader does not know such an escape");
    }
    if (r->at == r->end)
        return tilewalk_fail(r, "");
    r->at++;
    if (copies) {
        *to++ = '\0';
        *out = r->pool;
        r->pool = to;
    }
    return 1;
}

// Reads digits, behind those that were read already; returns how many.
static inline int tilewalk_read_digits(struct tilewalk_reader *r, double *value)
{
    const char *from = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        *value = *value * 10 + (*r->at - '0');
    return (int)(r->at - from);
}

static inline int tilewalk_take_sign(struct tilewalk_reader *r, const char *signs)
{
    int is_negative = r->at < r->end && *r->at == '-';
    r->at += r->at < r->end && *r->at && strchr(signs, *r->at) != NULL;
    return is_negative;
}

// Reads a number, without the locale's decimal point.
static inline int tilewalk_read_number(struct tilewalk_reader *r, double *out)
{
    char first = tilewalk_next(r);
    double value = 0, exponent = 0;
    int is_negative = tilewalk_take_sign(r, "-"), power = 0, is_small, ok;
    const char *digits = r->at;
    ok = tilewalk_read_digits(r, &value);
    ok = ok && (ok == 1 || *digits != '0');
    if (ok && r->at < r->end && *r->at == '.') {
        r->at++;
        ok = power = tilewalk_read_digits(r, &value);
        power = -power;
    }
    if (ok && r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        is_small = tilewalk_take_sign(r, "-+");
        ok = tilewalk_read_digits(r, &exponent);
        exponent = exponent < 10000 ? exponent : 10000;
        power += (int)(is_small ? -exponent : exponent);
    }
    if (!ok)
        return tilewalk_fail(r, strchr("NnIi-", first) ? "NaN and infinity are no numbers of JSON"
                                                       : "a value is expected here");
    for (; power > 0 && value > 0 && value < 1e300; power--)
        value *= 10;
    for (; power < 0 && value > 0; power++)
        value /= 10;
    if (value >= 1e300)
        return tilewalk_fail(r, "this number is too large");
    *out = is_negative ? -value : value;
    return 1;
}

// Passes over true, false and null.
static inline int tilewalk_skip_word(struct tilewalk_reader *r)
{
    const char *word = *r->at == 't' ? "true" : *r->at == 'f' ? "false" : "null";
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return tilewalk_fail(r, "NaN and the like are no values of JSON");
    r->at += length;
    return 1;
}

// Walks an object or a list, whose bracket was taken: returns 1 for each value that comes (with its
// name, where that is wanted), 0 behind the last one, -1 where it fails.
static inline int tilewalk_walk(struct tilewalk_reader *r, char close, int *count,
                                const char **name)
{
    if (tilewalk_take(r, close)) {
        r->depth--;
        return 0;
    }
    if ((*count)++ && !tilewalk_take(r, ',')) {
        tilewalk_fail(r, "a comma or the end of this list is expected here");
        return -1;
    }
    if (close == '}' && !tilewalk_read_text(r, name))
        return -1;
    return close == ']' || tilewalk_take(r, ':') ||
           tilewalk_fail(r, "a colon is expected behind a name") - 1;
}

// Takes the bracket that opens an object or a list.
static inline int tilewalk_open(struct tilewalk_reader *r, char open)
{
    if (!tilewalk_take(r, open))
        return tilewalk_fail(r, "an object or a list is expected here");
    return ++r->depth <= 64 || tilewalk_fail(r, "values are nested too deeply");
}

// Passes over any value; it calls itself at most 64 times.
static inline int tilewalk_skip(struct tilewalk_reader *r)
{
    char c = tilewalk_next(r);
    double number;
    int count = 0, more;
    if (c == '"')
        return tilewalk_read_text(r, NULL);
    if (c != '{' && c != '[')
        return c && strchr("tfn", c) ? tilewalk_skip_word(r) : tilewalk_read_number(r, &number);
    if (!tilewalk_open(r, c))
        return 0;
    while ((more = tilewalk_walk(r, c == '{' ? '}' : ']', &count, NULL)) > 0)
        if (!tilewalk_skip(r))
            return 0;
    return more == 0;
}

// Copies a value as it is written.
static inline int tilewalk_read_raw(struct tilewalk_reader *r, const char **out)
{
    const char *from;
    size_t length;
    tilewalk_next(r);
    from = r->at;
    if (!tilewalk_skip(r))
        return 0;
    length = (size_t)(r->at - from);
    memcpy(r->pool, from, length);
    r->pool[length] = '\0';
    *out = r->pool;
    r->pool += length + 1;
    return 1;
}

// --- reading a table ---

struct tilewalk_draft { // an entry as it is read
    struct tilewalk_entry entry;
    const char *operation, *signature;
    struct tilewalk_member member[TILEWALK_MOST_MEMBERS]; // of its problem
    struct tilewalk_extent size[TILEWALK_MOST_MEMBERS];
    uint32_t members, sizes, invocations, passes, parts;
    int line;
};

static inline void tilewalk_raise(uint32_t *most, double value)
{
    if (value > *most)
        *most = value < 4294967295.0 ? (uint32_t)value : UINT32_MAX;
}

static inline int tilewalk_read_member(struct tilewalk_reader *r, struct tilewalk_draft *d,
                                       const char *name)
{
    struct tilewalk_member *m = &d->member[d->members];
    const char *at = (tilewalk_next(r), r->at);
    double size = 0;
    if (d->members == TILEWALK_MOST_MEMBERS || strpbrk(name, "=\n"))
        return tilewalk_fail(r, "this reader cannot take such a problem");
    m->name = name;
    if (at < r->end && *at == '"')
        return tilewalk_read_text(r, strcmp(name, "kind") ? &m->word : &d->operation) &&
               (d->members += strcmp(name, "kind") != 0, 1);
    if (!tilewalk_read_number(r, &size))
        return 0;
    m->size = size >= 0 && size < 9e15 ? (int64_t)size : -1;
    memcpy(r->pool, at, (size_t)(r->at - at));
    r->pool[r->at - at] = '\0';
    if (strpbrk(r->pool, ".eE-")) {
        m->word = r->pool;
        r->pool += r->at - at + 1;
    }
    d->members++;
    return 1;
}

// Reads a text or number of an entry at its path, "timing.ms"; `index` is that in its list.
static inline int tilewalk_read_leaf(struct tilewalk_reader *r, struct tilewalk_draft *d,
                                     const char *path, const char *name, int index)
{
    static const char *const features[] = {"f16", "i8", "dot", "matrix"};
    struct tilewalk_limits *n = &d->entry.needs;
    const char *text = NULL;
    double value = 0;
    uint32_t feature = 0;
    char c = tilewalk_next(r);
    if (strncmp(path, "problem.", 8) == 0 && strchr(path + 8, '.') == NULL)
        return tilewalk_read_member(r, d, name);
    if (c == '"'                ? !tilewalk_read_text(r, &text)
        : c && strchr("tfn", c) ? !tilewalk_skip_word(r)
                                : !tilewalk_read_number(r, &value))
        return 0;
    if (text && strcmp(path, "device") == 0)
        d->entry.device = text;
    else if (text && strcmp(path, "driver") == 0)
        d->entry.driver = text;
    else if (text && strcmp(path, "device_identity") == 0)
        d->entry.identity = text;
    else if (text && strcmp(path, "passes.needs") == 0) {
        while (feature < 4 && strcmp(text, features[feature]) != 0)
            feature++;
        n->features |= feature < 4 ? 1u << feature : TILEWALK_UNKNOWN;
    } else if (strcmp(path, "timing.ms") == 0)
        d->entry.ms = value;
    else if (strcmp(path, "timing.tflops") == 0)
        d->entry.tflops = value;
    else if (strcmp(path, "passes.shared_bytes") == 0) {
        tilewalk_raise(&n->shared_bytes, value);
        d->parts++;
    } else if (strcmp(path, "passes.subgroup_size") == 0) {
        tilewalk_raise(&n->subgroup_most, value);
        if (value >= 1 && (!n->subgroup_least || value < n->subgroup_least))
            n->subgroup_least = (uint32_t)value;
    } else if (strcmp(path, "passes.local_size") == 0 && index < 3) {
        tilewalk_raise(&n->group_size[index], value);
        value *= index ? d->invocations : 1;
        d->invocations = 0;
        tilewalk_raise(&d->invocations, value);
        tilewalk_raise(&n->invocations, value);
        d->parts += index == 0;
    }
    return 1;
}

// Reads a value of an entry. It calls itself at most 64 times.
static inline int tilewalk_read_value(struct tilewalk_reader *r, struct tilewalk_draft *d,
                                      char path[64], const char *name, int index)
{
    char c = tilewalk_next(r);
    size_t length = strlen(path);
    int count = 0, more;
    if (strcmp(path, "configuration") == 0)
        return c == '{' ? tilewalk_read_raw(r, &d->entry.configuration)
                        : tilewalk_fail(r, "a configuration is an object");
    if (c != '{' && c != '[')
        return tilewalk_read_leaf(r, d, path, name, index);
    d->parts += strcmp(path, "passes.needs") == 0;
    d->passes += c == '{' && strcmp(path, "passes") == 0;
    if (!tilewalk_open(r, c))
        return 0;
    while ((more = tilewalk_walk(r, c == '{' ? '}' : ']', &count, c == '{' ? &name : NULL)) > 0) {
        size_t added = c == '{' ? strlen(name) + 1 : 0;
        if (c == '{' && length + added < 63) {
            strcat(path, length ? "." : "");
            strcat(path, name);
        }
        // Nothing that is looked for has a longer name.
        if (length + added < 63 ? !tilewalk_read_value(r, d, path, name, count - 1)
                                : !tilewalk_skip(r))
            return 0;
        path[length] = '\0';
    }
    return more == 0;
}

// Completes an entry: its signature, what its kernel needs.
static inline int tilewalk_complete(struct tilewalk_reader *r, struct tilewalk_draft *d)
{
    int sizes;
    if (!d->operation || !d->entry.configuration || !(d->entry.ms > 0) || !(d->entry.tflops > 0))
        return tilewalk_fail(r, "an entry needs a problem with its kind, a configuration, and "
                                "timing with ms and tflops above 0");
    sizes = tilewalk_sign(d->operation, d->member, d->members, r->pool, d->size);
    if (sizes < 0)
        return tilewalk_fail(r, "this reader cannot take so long a problem");
    d->sizes = (uint32_t)sizes;
    d->signature = r->pool;
    r->pool += strlen(r->pool) + 1;
    if (d->parts != 3 * d->passes)
        d->entry.needs.invocations = 0;
    return 1;
}

static inline int tilewalk_order(const void *a, const void *b)
{
    const struct tilewalk_draft *x = (const struct tilewalk_draft *)a;
    const struct tilewalk_draft *y = (const struct tilewalk_draft *)b;
    int order = strcmp(x->signature, y->signature);
    uint32_t i;
    order = order ? order : strcmp(x->entry.device, y->entry.device);
    order = order ? order : strcmp(x->entry.driver, y->entry.driver);
    for (i = 0; !order && i < x->sizes && i < y->sizes; i++)
        order = (x->size[i].value > y->size[i].value) - (x->size[i].value < y->size[i].value);
    return order ? order : strcmp(x->entry.identity, y->entry.identity);
}

// Sorts the drafts and packs them into one block.
static inline int tilewalk_pack(struct tilewalk_reader *r, struct tilewalk_draft *d, uint32_t count,
                                struct tilewalk_tuned *out)
{
    size_t sizes = 0;
    uint32_t i, at = 0;
    struct tilewalk_group *group;
    struct tilewalk_entry *entry;
    struct tilewalk_extent *size;
    if (count)
        qsort(d, count, sizeof *d, tilewalk_order);
    for (i = 0; i < count; i++) {
        sizes += d[i].sizes;
        r->line = d[i].line;
        if (i && tilewalk_order(&d[i - 1], &d[i]) == 0)
            return tilewalk_fail(r, "another entry is of the same problem and device");
    }
    entry = (struct tilewalk_entry *)calloc(count + 1, sizeof *entry + sizeof *group);
    size = (struct tilewalk_extent *)calloc(sizes + 1, sizeof *size);
    group = (struct tilewalk_group *)(void *)(entry + count + 1);
    out->entry = entry;
    out->size = size;
    out->group = group;
    if (!entry || !size)
        return tilewalk_fail(r, "there is no memory for the table");
    for (i = 0; i < count; at += d[i++].sizes) {
        struct tilewalk_group *last = group + out->groups - 1;
        entry[i] = d[i].entry;
        if (i && strcmp(d[i].entry.device, entry[i - 1].device) == 0)
            entry[i].device = entry[i - 1].device;
        if (i && strcmp(d[i].entry.driver, entry[i - 1].driver) == 0)
            entry[i].driver = entry[i - 1].driver;
        if (d[i].sizes)
            memcpy(size + at, d[i].size, d[i].sizes * sizeof *size);
        if (i && strcmp(d[i].signature, last->signature) == 0) {
            last->count++;
            continue;
        }
        last = group + out->groups++;
        last->signature = d[i].signature;
        last->first = i;
        last->count = 1;
        last->size = at;
        last->sizes = d[i].sizes;
    }
    out->entries = count;
    return 1;
}

static inline int tilewalk_read_entries(struct tilewalk_reader *r, struct tilewalk_draft **drafts,
                                        uint32_t *count)
{
    uint32_t capacity = 0;
    int values = 0, more;
    if (!tilewalk_open(r, '['))
        return 0;
    while ((more = tilewalk_walk(r, ']', &values, NULL)) > 0) {
        struct tilewalk_draft *d;
        char path[64] = "";
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            d = (struct tilewalk_draft *)realloc(*drafts, capacity * sizeof *d);
            if (!d)
                return tilewalk_fail(r, "there is no memory for the table");
            *drafts = d;
        }
        d = *drafts + (*count)++;
        memset(d, 0, sizeof *d);
        d->entry.device = d->entry.driver = d->entry.identity = "";
        if (tilewalk_next(r) != '{')
            return tilewalk_fail(r, "an entry is an object");
        d->line = r->line;
        d->entry.json = r->at;
        if (!tilewalk_read_value(r, d, path, "", 0))
            return 0;
        d->entry.json_length = (size_t)(r->at - d->entry.json);
        if (!tilewalk_complete(r, d))
            return 0;
    }
    return more == 0;
}

static inline void tilewalk_tuned_free(struct tilewalk_tuned *t)
{
    if (t->pool) { // else it is compiled in
        free((void *)(uintptr_t)t->entry);
        free((void *)(uintptr_t)t->size);
        free(t->pool);
    }
    memset(t, 0, sizeof *t);
}

// Reads a table. The `json` of its entries points into the text; else the text may go. On failure
// returns 0, `why` has one line, and there is nothing to free.
static inline int tilewalk_tuned_read(struct tilewalk_tuned *t, const char *text, size_t length,
                                      char *why, size_t why_size)
{
    struct tilewalk_reader r;
    struct tilewalk_draft *drafts = NULL;
    const char *name = NULL, *format = "";
    double version = 0;
    uint32_t count = 0;
    int members = 0, more, ok = 1, listed = 0;
    memset(t, 0, sizeof *t);
    memset(&r, 0, sizeof r);
    r.at = text, r.end = text + length, r.line = 1, r.why = why, r.why_size = why_size;
    // Each text and each signature takes no more than it does in the table.
    r.pool = t->pool = (char *)malloc(2 * length + 64);
    ok = t->pool ? tilewalk_open(&r, '{') : tilewalk_fail(&r, "there is no memory for the table");
    while (ok && (more = tilewalk_walk(&r, '}', &members, &name)) != 0) {
        if (more < 0)
            ok = 0;
        else if (strcmp(name, "format") == 0)
            ok = tilewalk_read_text(&r, &format);
        else if (strcmp(name, "version") == 0)
            ok = tilewalk_read_number(&r, &version) &&
                 (version == 1 || tilewalk_fail(&r, "a version of the format that this reader "
                                                    "does not know (only 1 is)"));
        else if (strcmp(name, "entries") == 0 && !listed)
            ok = listed = tilewalk_read_entries(&r, &drafts, &count);
        else
            ok = tilewalk_skip(&r);
    }
    if (ok && tilewalk_next(&r))
        ok = tilewalk_fail(&r, "something stands behind the table");
    r.at = ok ? text : r.at; // what fails from here on is not that it ends
    if (ok && (strcmp(format, "tilewalk-table") != 0 || version != 1 || !listed))
        ok = tilewalk_fail(
            &r, "no table: it has no \"format\": \"tilewalk-table\", version and entries");
    ok = ok && tilewalk_pack(&r, drafts, count, t);
    free(drafts);
    if (!ok)
        tilewalk_tuned_free(t);
    return ok;
}

// Returns a number of a configuration: `index` counts from 0 within lists. `standard`: it has no
// such number.
static inline int64_t tilewalk_configuration_number(const char *configuration, const char *name,
                                                    int index, int64_t standard)
{
    struct tilewalk_reader r;
    const char *member = NULL;
    size_t length = strlen(name);
    int members = 0, items = 0;
    double value;
    memset(&r, 0, sizeof r);
    r.at = configuration;
    r.end = configuration + strlen(configuration);
    if (!tilewalk_open(&r, '{'))
        return standard;
    while (tilewalk_walk(&r, '}', &members, &member) > 0) {
        if (strncmp(member, name, length) != 0 || member[length] != '"') {
            if (!tilewalk_skip(&r))
                return standard;
            continue;
        }
        if (tilewalk_next(&r) == '[' && tilewalk_open(&r, '['))
            while (tilewalk_walk(&r, ']', &items, NULL) > 0 && items <= index)
                if (!tilewalk_skip(&r))
                    return standard;
        return (items > 0 ? items - 1 : 0) == index && tilewalk_read_number(&r, &value) &&
                       value > -9e15 && value < 9e15
                   ? (int64_t)value
                   : standard;
    }
    return standard;
}

#endif

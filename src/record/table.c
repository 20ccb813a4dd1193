#include "record/table.h"

#include "base/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- from rows to a recording: topology, then entries ---

static double number_at(const struct table *t, int row, int column)
{
    int32_t value = t->cells[(size_t)row * (size_t)t->columns + (size_t)column];
    return t->column[column].value[value].number;
}

// Returns the product of a list's parts, which is the same in all rows; 0: it is not.
static int64_t product_of(const struct table *t, int first)
{
    int64_t product = 0;
    for (int i = 0; i < t->rows; i++) {
        double own = 1;
        for (int k = 0; k < t->column[first].parts; k++) {
            double part = number_at(t, i, first + k);
            own *= part >= 1 && part == floor(part) ? part : NAN;
        }
        if (!(own <= INT32_MAX) || (i > 0 && (int64_t)own != product))
            return 0;
        product = (int64_t)own;
    }
    return product;
}

static bool make_param(struct table *t, const struct column *c, struct param *out, struct err *e)
{
    struct space *s = t->recording->space;
    bool is_number = true;
    double *number = mem_alloc((size_t)c->count * sizeof *number);
    const char **label = mem_alloc((size_t)c->count * sizeof *label);
    for (int k = 0; k < c->count; k++) {
        is_number = is_number && c->value[k].type == VALUE_NUMBER;
        number[k] = c->value[k].number;
    }
    for (int k = 0; k < c->count && !is_number; k++) {
        const struct value *v = &c->value[k];
        struct str text = {0};
        if (v->type == VALUE_NUMBER)
            str_add_real(&text, v->number);
        else
            str_add(&text, v->type == VALUE_TEXT ? v->text : v->number ? "true" : "false");
        label[k] = arena_strdup(&s->arena, str_text(&text));
        str_finish(&text);
    }
    bool ok = is_number ? param_discrete(out, &s->arena, c->name, c->count, number, e)
                        : param_categorical(out, &s->arena, c->name, c->count, label, e);
    free(number);
    free(label);
    return ok;
}

bool table_make_params(struct table *t, struct err *e)
{
    struct space *s = t->recording->space;
    for (int i = 0; i < t->columns;) {
        const struct column *c = &t->column[i];
        struct param p;
        int64_t product = c->list ? product_of(t, i) : 0;
        bool ok = product > 0 ? param_factorization(&p, &s->arena, c->list, product, c->parts, e)
                              : make_param(t, c, &p, e);
        if (!ok || !space_add(s, &p, e))
            return err_prefix(e, "%s", t->recording->path);
        i += p.width;
    }
    return true;
}

// Adds the rows. `at` has the slots of each column's values.
static bool add_rows(struct table *t, int32_t *const *at, struct err *e)
{
    const double *runs = t->run;
    for (int i = 0; i < t->rows; i++) {
        struct config c = {0};
        bool was_new;
        for (int k = 0; k < t->columns; k++)
            c.slot[k] = at[k][t->cells[(size_t)i * (size_t)t->columns + (size_t)k]];
        t->row[i].entry.runs = runs;
        if (runs)
            runs += t->row[i].entry.run_count;
        recording_add(t->recording, &c, &t->row[i].entry, &was_new);
        if (!was_new && !t->keeps_first) {
            int first = config_set_find(&t->recording->configs, &c);
            struct str text = {0};
            config_add_json(t->recording->space, &c, &text);
            err_at(e, t->recording->path, t->row[i].line, "%s is here a second time (see line %d)",
                   str_text(&text), t->row[first].line);
            str_finish(&text);
            return false;
        }
    }
    return true;
}

bool table_finish(struct table *t, struct err *e)
{
    struct recording *r = t->recording;
    int32_t *at[SPACE_MAX_SLOTS];
    if (t->columns == 0)
        return err_at(e, r->path, 0, "there are no recorded configurations");
    if (!table_make_params(t, e) || !recording_seal_space(r, e))
        return false;
    const struct param *p = r->space->param;
    for (int i = 0; i < t->columns; i++) {
        const struct column *c = &t->column[i];
        at[i] = mem_alloc((size_t)c->count * sizeof *at[i]);
        p += i >= p->offset + p->width;
        for (int k = 0; k < c->count; k++) {
            int low = 0, high = p->count - 1; // numbers are sorted
            while (p->kind == PARAM_DISCRETE && low < high) {
                int middle = low + (high - low) / 2;
                if (p->number[middle] < c->value[k].number)
                    low = middle + 1;
                else
                    high = middle;
            }
            at[i][k] = p->kind == PARAM_FACTORIZATION ? (int32_t)c->value[k].number
                       : p->kind == PARAM_DISCRETE    ? low
                                                      : k;
        }
    }
    bool ok = add_rows(t, at, e);
    for (int i = 0; i < t->columns; i++)
        free(at[i]);
    return ok && recording_finish(r, e);
}

// --- values and columns ---

void table_release(struct table *t)
{
    for (int i = 0; i < t->columns; i++)
        free(t->column[i].value);
    free(t->row);
    free(t->cells);
    free(t->run);
}

// Reads a value; refuses lists, objects and null.
static bool table_value(struct table *t, struct json v, struct value *out, struct err *e)
{
    bool flag;
    *out = (struct value){.type = VALUE_NUMBER};
    if (json_number(v, &out->number))
        return true;
    if (json_flag(v, &flag)) {
        *out = (struct value){.type = VALUE_FLAG, .number = flag};
        return true;
    }
    out->type = VALUE_TEXT;
    out->text = json_text(v, &t->recording->arena);
    return out->text || err_at(e, t->recording->path, v.line,
                               "a parameter's value is a number, a text or a flag, not %s",
                               json_type(v) == JSON_NUMBER ? "a number without end"
                                                           : json_type_name(json_type(v)));
}

static int find_value(struct column *c, const struct value *v)
{
    for (int n = 0; n < c->count; n++) {
        int i = c->last + n < c->count ? c->last + n : c->last + n - c->count;
        const struct value *known = &c->value[i];
        bool has_text = known->type == VALUE_TEXT || v->type == VALUE_TEXT;
        if (has_text ? known->type == v->type && str_equal(known->text, v->text)
                     : known->number == v->number)
            return c->last = i;
    }
    return -1;
}

// Returns the index of a value, new or old; -1: there are too many.
static int add_value(struct column *c, const struct value *v)
{
    int found = find_value(c, v);
    if (found >= 0 || c->count == PARAM_MAX_VALUES)
        return found;
    MEM_GROW(c->value, c->count, c->capacity);
    c->value[c->count] = *v;
    return c->last = c->count++;
}

static bool add_column(struct table *t, const char *name, int line, struct err *e)
{
    if (t->columns == SPACE_MAX_SLOTS)
        return err_at(e, t->recording->path, line, "more than %d parameters", SPACE_MAX_SLOTS);
    t->cell[t->columns] = -1;
    t->column[t->columns++] = (struct column){.name = name};
    return true;
}

static bool too_many(const struct table *t, const struct column *c, int line, struct err *e)
{
    return err_at(e, t->recording->path, line, "parameter '%s' has more than %d values", c->name,
                  PARAM_MAX_VALUES);
}

bool table_declare(struct table *t, const char *name, struct json values, struct err *e)
{
    struct value v;
    if (json_type(values) != JSON_LIST)
        return err_at(e, t->recording->path, values.line,
                      "the values of parameter '%s' are a list, not %s", name,
                      json_type_name(json_type(values)));
    if (!add_column(t, name, values.line, e))
        return false;
    struct column *c = &t->column[t->columns - 1];
    for (struct json_walk w = json_walk(values); json_next(&w);) {
        if (!table_value(t, w.value, &v, e))
            return err_prefix(e, "parameter '%s'", name);
        if (add_value(c, &v) < 0)
            return too_many(t, c, w.value.line, e);
    }
    c->declared = true;
    return c->count > 0 ||
           err_at(e, t->recording->path, values.line, "parameter '%s' has no values", name);
}

bool table_declare_values(struct table *t, const char *name, int count, const struct value *value,
                          int line, struct err *e)
{
    if (!add_column(t, name, line, e))
        return false;
    struct column *c = &t->column[t->columns - 1];
    for (int i = 0; i < count; i++)
        if (add_value(c, &value[i]) < 0)
            return too_many(t, c, line, e);
    c->declared = true;
    return c->count > 0 ||
           err_at(e, t->recording->path, line, "parameter '%s' has no values", name);
}

int table_find(const struct table *t, struct json name)
{
    for (int n = 0; n < t->columns; n++) {
        int i = t->expected + n < t->columns ? t->expected + n : t->expected + n - t->columns;
        if (json_is(name, t->column[i].name))
            return i;
    }
    return -1;
}

// --- rows ---

void table_begin_row(struct table *t, int line)
{
    for (int i = 0; i < t->columns; i++)
        t->cell[i] = -1;
    t->row_line = line;
    t->expected = 0;
    t->row_first_run = t->runs;
}

bool table_set(struct table *t, int column, struct json value, struct err *e)
{
    struct column *c = &t->column[column];
    struct value v;
    if (!table_value(t, value, &v, e))
        return err_prefix(e, "parameter '%s'", c->name);
    t->cell[column] = c->declared ? find_value(c, &v) : add_value(c, &v);
    t->expected = column + 1 < t->columns ? column + 1 : 0;
    if (t->cell[column] >= 0)
        return true;
    if (!c->declared)
        return too_many(t, c, value.line, e);
    struct str text = {0};
    if (v.type == VALUE_TEXT)
        json_add_string(&text, v.text);
    else if (v.type == VALUE_FLAG)
        str_add(&text, v.number ? "true" : "false");
    else
        str_add_real(&text, v.number);
    err_at(e, t->recording->path, value.line, "parameter '%s': %s is not among the declared values",
           c->name, str_text(&text));
    str_finish(&text);
    return false;
}

bool table_set_named(struct table *t, struct json name, struct json value, struct err *e)
{
    int column = table_find(t, name);
    if (column >= 0 && t->cell[column] >= 0)
        return err_at(e, t->recording->path, name.line, "parameter '%s' is given twice",
                      t->column[column].name);
    if (column < 0 && t->rows == 0) {
        if (!add_column(t, json_text(name, &t->recording->arena), name.line, e))
            return false;
        column = t->columns - 1;
    }
    if (column < 0)
        return err_at(e, t->recording->path, name.line, "the first row has no parameter '%s'",
                      json_text(name, &t->recording->arena));
    return table_set(t, column, value, e);
}

bool table_set_text(struct table *t, const char *name, struct json value, struct err *e)
{
    int column =
        t->expected < t->columns && str_equal(t->column[t->expected].name, name) ? t->expected : 0;
    while (column < t->columns && !str_equal(t->column[column].name, name))
        column++;
    if (column < t->columns && t->cell[column] >= 0)
        return err_at(e, t->recording->path, t->row_line, "parameter '%s' is given twice", name);
    if (column == t->columns && t->rows > 0)
        return err_at(e, t->recording->path, t->row_line, "the first row has no parameter '%s'",
                      name);
    if (column == t->columns && !add_column(t, name, t->row_line, e))
        return false;
    static const char none[] = "\"None\"";
    if (json_type(value) == JSON_NULL)
        value = (struct json){.at = none, .line = value.line};
    return table_set(t, column, value, e);
}

bool table_set_list(struct table *t, const char *name, struct json list, struct err *e)
{
    int first = -1, i = 0;
    bool is_numbers = true;
    for (struct json_walk w = json_walk(list); json_next(&w); i++) {
        if (!table_set_text(t, arena_printf(&t->recording->arena, "%s_%d", name, i), w.value, e))
            return false;
        is_numbers = is_numbers && json_type(w.value) == JSON_NUMBER;
        first = i ? first : t->expected ? t->expected - 1 : t->columns - 1;
    }
    if (t->rows == 0 && is_numbers && i > 1 && i <= PARAM_MAX_WIDTH) {
        t->column[first].list = name;
        t->column[first].parts = i;
    }
    return true;
}

bool table_set_members(struct table *t, struct json object, struct err *e)
{
    for (struct json_walk w = json_walk(object); json_next(&w);)
        if (!table_set_named(t, w.key, w.value, e))
            return false;
    return true;
}

// Returns the length of this value at the begin of `key`, as Python's str() writes it, up to a
// comma or the end; 0: it is not there.
static size_t match_value(const struct value *v, const char *key)
{
    size_t length = strcspn(key, ",");
    if (v->type == VALUE_TEXT) {
        length = strlen(v->text);
        return str_starts(key, v->text) && (key[length] == ',' || !key[length]) ? length : 0;
    }
    char piece[64];
    double number;
    if (length >= sizeof piece)
        return 0;
    memcpy(piece, key, length);
    piece[length] = '\0';
    if (str_equal(piece, "True") || str_equal(piece, "False"))
        return v->number == (*piece == 'T') ? length : 0;
    return str_to_real(piece, &number) && number == v->number ? length : 0;
}

int table_first_unset(const struct table *t)
{
    int i = 0;
    while (i < t->columns && t->cell[i] >= 0)
        i++;
    return i;
}

bool table_set_key(struct table *t, const char *key, struct err *e)
{
    int32_t cell[SPACE_MAX_SLOTS];
    const char *rest = key;
    for (int i = 0; i < t->columns; i++) {
        const struct column *c = &t->column[i];
        size_t longest = 0;
        for (int k = 0; k < c->count; k++) {
            size_t length = match_value(&c->value[k], rest);
            if (length > longest) {
                longest = length;
                cell[i] = k;
            }
        }
        rest += longest;
        bool last = i == t->columns - 1;
        if (longest == 0 || *rest != (last ? '\0' : ',')) {
            // A row that gives some parameters itself lacks the others; its key does not matter.
            int column = longest > 0 && !*rest ? i + 1 : i;
            const char *path = t->recording->path;
            for (int j = 0; j < t->columns; j++)
                if (t->cell[j] >= 0)
                    return err_at(
                        e, path, t->row_line,
                        "parameter '%s' is missing (and key '%s' is not the %d values in order)",
                        t->column[table_first_unset(t)].name, key, t->columns);
            return err_at(
                e, path, t->row_line,
                "key '%s' does not hold a declared value of parameter '%s' (the %d values in "
                "order are wanted)",
                key, t->column[column].name, t->columns);
        }
        rest += !last;
    }
    memcpy(t->cell, cell, (size_t)t->columns * sizeof *cell);
    return true;
}

bool table_end_row(struct table *t, const struct record_entry *entry, struct err *e)
{
    int unset = table_first_unset(t);
    if (unset < t->columns)
        return err_at(e, t->recording->path, t->row_line, "parameter '%s' is missing",
                      t->column[unset].name);
    if (t->columns == 0)
        return err_at(e, t->recording->path, t->row_line, "there are no parameters");
    if (entry->outcome != OUTCOME_OK)
        t->runs = t->row_first_run;
    if (t->rows == t->row_capacity) {
        t->row_capacity = t->row_capacity ? 2 * t->row_capacity : 64;
        t->row = mem_resize(t->row, (size_t)t->row_capacity, sizeof *t->row);
        t->cells =
            mem_resize(t->cells, (size_t)t->row_capacity, (size_t)t->columns * sizeof *t->cells);
    }
    struct row *row = &t->row[t->rows];
    *row = (struct row){.line = t->row_line, .entry = *entry};
    row->entry.run_count = (int)(t->runs - t->row_first_run);
    memcpy(t->cells + (size_t)t->rows * (size_t)t->columns, t->cell,
           (size_t)t->columns * sizeof *t->cells);
    t->rows++;
    return true;
}

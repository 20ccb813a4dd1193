#include "report/chart.h"

#include "base/file.h"
#include "report/chart_draw.h"
#include "report/svg_text.h"

#include <cairo-svg.h>
#include <string.h>

enum { PNG_SCALE = 2 }; // dots of a .png for one point

static cairo_status_t keep(void *context, const unsigned char *bytes, unsigned length)
{
    str_add_bytes(context, bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

static cairo_status_t draw_on(const struct chart *c, cairo_surface_t *surface)
{
    cairo_t *cairo = cairo_create(surface);
    chart_draw(c, cairo);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    return status;
}

static cairo_status_t make_svg(const struct chart *c, struct str *out)
{
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(keep, out, CHART_WIDTH, chart_height(c));
    cairo_status_t status = draw_on(c, surface);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        svg_shorten(out);
    return status;
}

static cairo_status_t make_png(const struct chart *c, struct str *out)
{
    cairo_surface_t *surface = cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, CHART_WIDTH * PNG_SCALE, (int)chart_height(c) * PNG_SCALE);
    cairo_surface_set_device_scale(surface, PNG_SCALE, PNG_SCALE);
    cairo_status_t status = draw_on(c, surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, keep, out);
    cairo_surface_destroy(surface);
    return status;
}

void chart_add_names(const char *const *name, int count, struct str *out)
{
    for (int i = 0; i < count && i < 2; i++) {
        const char *between = count > 2 ? ", " : " and ";
        str_printf(out, "%s%s", i ? between : "", name[i]);
    }
    if (count > 2)
        str_printf(out, " and %d more", count - 2);
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), wanted = strlen(ending);
    return length > wanted && str_equal(path + length - wanted, ending);
}

bool chart_check_name(const char *path, struct err *e)
{
    return ends_in(path, ".svg") || ends_in(path, ".png") ||
           err_usage(e, "'%s': pictures are .svg or .png files", path);
}

bool chart_write(const struct chart *c, const char *path, struct err *e)
{
    struct str out = {0};
    if (!chart_check_name(path, e))
        return false;
    cairo_status_t status = ends_in(path, ".svg") ? make_svg(c, &out) : make_png(c, &out);
    bool ok = status == CAIRO_STATUS_SUCCESS
                  ? file_write(path, out.text, out.length, e)
                  : err_set(e, "%s cannot be drawn: %s", path, cairo_status_to_string(status));
    str_finish(&out);
    return ok;
}

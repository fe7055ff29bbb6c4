/* content_type.c — simple Content-Type headers: "text/html; charset=utf-8", "multipart/mixed; boundary="x y"". */
#include "mail/content_type.h"

#include <string.h>

#include "mail/fields.h"

static bool is_token_byte(char c)
{
    return twin__is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '+';
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* The token at *at, which moves behind it. */
static twin_text token(const char **at)
{
    const char *begin = *at;
    while (is_token_byte(**at))
        ++*at;
    return (twin_text){ begin, (size_t)(*at - begin) };
}

/* What stands between quotation marks; *at is at the first and moves behind the second. False: it is not simple. */
static bool quoted(twin_text *out, const char **at)
{
    const char *begin = ++*at;
    for (; **at != '"'; ++*at)
        if (**at < ' ' || **at > '~' || **at == '\\' || (**at == '=' && (*at)[1] == '?'))
            return false;
    *out = (twin_text){ begin, (size_t)(*at - begin) };
    ++*at;
    return true;
}

static bool keep(struct twin__content_type *out, twin_text name, twin_text value)
{
    const struct {
        const char *name;
        twin_text *value;
    } wanted[] = {
        { "charset", &out->charset }, { "boundary", &out->boundary }, { "name", &out->name }, { "delsp", &out->delsp }
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (twin__is_named(name, wanted[i].name)) {
            bool is_first = !wanted[i].value->bytes;
            *wanted[i].value = value;
            return is_first;
        }
    return true;
}

static bool read_parameter(struct twin__content_type *out, const char **at)
{
    *at = skip_blanks(*at);
    twin_text name = token(at), value;
    if (name.length == 0 || **at != '=')
        return false;
    ++*at;
    if (**at != '"')
        value = token(at);
    else if (!quoted(&value, at))
        return false;
    return value.length > 0 && keep(out, name, value);
}

bool twin__content_type_read(struct twin__content_type *out, const char *value)
{
    *out = (struct twin__content_type){ 0 };
    const char *at = value;
    bool has_type = token(&at).length > 0 && *at == '/';
    at += has_type;
    if (!has_type || token(&at).length == 0)
        return false;
    out->type = (twin_text){ value, (size_t)(at - value) };
    for (at = skip_blanks(at); *at == ';'; at = skip_blanks(at)) {
        at++;
        if (!read_parameter(out, &at))
            return false;
    }
    return *at == '\0';
}

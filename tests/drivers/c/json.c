#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

/* A case nests a few levels deep; a script's own deep lines are written as a number. */
#define DEEPEST 200

typedef struct {
    const char *at;
    const char *end;
    int depth;
} reader;

static void skip_space(reader *in) {
    while (in->at < in->end && strchr(" \t\r\n", *in->at) != NULL && *in->at != '\0') {
        in->at++;
    }
}

static bool takes(reader *in, const char *word) {
    size_t len = strlen(word);
    if ((size_t)(in->end - in->at) < len || memcmp(in->at, word, len) != 0) {
        return false;
    }
    in->at += len;
    return true;
}

static void add_character(text *to, uint32_t code) {
    char bytes[4];
    if (code < 0x80) {
        bytes[0] = (char)code;
        text_add(to, bytes, 1);
    } else if (code < 0x800) {
        bytes[0] = (char)(0xc0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 0x3f));
        text_add(to, bytes, 2);
    } else if (code < 0x10000) {
        bytes[0] = (char)(0xe0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (code & 0x3f));
        text_add(to, bytes, 3);
    } else {
        bytes[0] = (char)(0xf0 | code >> 18);
        bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[3] = (char)(0x80 | (code & 0x3f));
        text_add(to, bytes, 4);
    }
}

static bool unit(reader *in, uint32_t *code) {
    int i;
    *code = 0;
    for (i = 0; i < 4; i++, in->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = in->at < in->end && *in->at != '\0' ? strchr(digits, *in->at) : NULL;
        if (digit == NULL) {
            return false;
        }
        *code = *code << 4 | (uint32_t)((digit - digits) & 15);
    }
    return true;
}

/* What follows a backslash and a 'u': a surrogate that stands alone is replaced. */
static bool escaped(reader *in, text *to) {
    uint32_t code, low;
    if (!unit(in, &code)) {
        return false;
    }
    if (code >= 0xd800 && code < 0xdc00) {
        const char *before = in->at;
        if (takes(in, "\\u") && unit(in, &low) && low >= 0xdc00 && low < 0xe000) {
            add_character(to, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
            return true;
        }
        in->at = before;
    }
    add_character(to, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return true;
}

/* The text of a string, decoded, with in->at behind its first quote. */
static bool read_string(reader *in, text *to) {
    text_add(to, "", 0);
    while (in->at < in->end && *in->at != '"') {
        static const char names[] = "\"\\/bfnrt";
        static const char stand_for[] = "\"\\/\b\f\n\r\t";
        const char *name;
        if (*in->at != '\\') {
            text_add(to, in->at++, 1);
            continue;
        }
        if (takes(in, "\\u")) {
            if (!escaped(in, to)) {
                return false;
            }
            continue;
        }
        in->at++;
        name = in->at < in->end && *in->at != '\0' ? strchr(names, *in->at) : NULL;
        if (name == NULL) {
            return false;
        }
        text_add(to, stand_for + (name - names), 1);
        in->at++;
    }
    return takes(in, "\"");
}

static bool read_value(reader *in, json *value);

static bool read_items(reader *in, json *value, const char *close) {
    json **end = &value->first;
    skip_space(in);
    if (takes(in, close)) {
        return true;
    }
    do {
        json *item = must_have(sizeof *item);
        memset(item, 0, sizeof *item);
        *end = item;
        end = &item->next;
        if (value->kind == JSON_OBJECT) {
            text name = {NULL, 0, 0};
            bool read;
            skip_space(in);
            read = takes(in, "\"") && read_string(in, &name);
            item->name = name.bytes;
            skip_space(in);
            if (!read || !takes(in, ":")) {
                return false;
            }
        }
        if (!read_value(in, item)) {
            return false;
        }
        skip_space(in);
    } while (takes(in, ","));
    return takes(in, close);
}

static bool read_number(reader *in, json *value) {
    char *number, *end;
    size_t len = 0;
    while (in->at + len < in->end && in->at[len] != '\0' &&
           strchr("+-.0123456789eE", in->at[len]) != NULL) {
        len++;
    }
    number = copy_of(in->at, len);
    value->kind = JSON_NUMBER;
    value->number = strtod(number, &end);
    in->at += len;
    len = len > 0 && *end == '\0';
    free(number);
    return len != 0;
}

static bool read_known(reader *in, json *value) {
    if (takes(in, "{")) {
        value->kind = JSON_OBJECT;
        return read_items(in, value, "}");
    }
    if (takes(in, "[")) {
        value->kind = JSON_ARRAY;
        return read_items(in, value, "]");
    }
    if (takes(in, "\"")) {
        text string = {NULL, 0, 0};
        bool read = read_string(in, &string);
        value->kind = JSON_STRING;
        value->string = string.bytes;
        value->length = string.len;
        return read;
    }
    if (takes(in, "null")) {
        return true;
    }
    value->kind = JSON_BOOL;
    value->number = takes(in, "true");
    return value->number == 1 || takes(in, "false") || read_number(in, value);
}

static bool read_value(reader *in, json *value) {
    bool read;
    skip_space(in);
    value->start = in->at;
    if (++in->depth > DEEPEST) {
        return false;
    }
    read = read_known(in, value);
    in->depth--;
    value->size = (size_t)(in->at - value->start);
    return read;
}

json *json_parse(const char *document, size_t size) {
    reader in;
    json *value = must_have(sizeof *value);
    memset(value, 0, sizeof *value);
    in.at = document;
    in.end = document + size;
    in.depth = 0;
    if (read_value(&in, value)) {
        skip_space(&in);
        if (in.at == in.end) {
            return value;
        }
    }
    json_free(value);
    return NULL;
}

void json_free(json *value) {
    while (value != NULL) {
        json *next = value->next;
        json_free(value->first);
        free(value->string);
        free(value->name);
        free(value);
        value = next;
    }
}

const json *json_get(const json *value, const char *name) {
    const json *member = value == NULL || value->kind != JSON_OBJECT ? NULL : value->first;
    while (member != NULL && strcmp(member->name, name) != 0) {
        member = member->next;
    }
    return member;
}

bool json_is(const json *value, const char *other) {
    return value != NULL && value->kind == JSON_STRING &&
           (other == NULL || strcmp(value->string, other) == 0);
}

const char *json_string(const json *value, const char *otherwise) {
    return json_is(value, NULL) ? value->string : otherwise;
}

int64_t json_int(const json *value, int64_t otherwise) {
    return value != NULL && value->kind == JSON_NUMBER ? (int64_t)value->number : otherwise;
}

char *json_text(const json *value) {
    return value == NULL ? NULL : copy_of(value->start, value->size);
}

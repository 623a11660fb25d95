#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *must_have(size_t size) {
    void *memory = malloc(size == 0 ? 1 : size);
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return memory;
}

char *copy_of(const char *bytes, size_t len) {
    char *copy = must_have(len + 1);
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

static char *grown(text *to, size_t more) {
    if (to->len + more + 1 > to->room) {
        size_t room = (to->len + more + 1) * 2;
        char *bytes = must_have(room);
        if (to->bytes != NULL) {
            memcpy(bytes, to->bytes, to->len);
            free(to->bytes);
        }
        to->bytes = bytes;
        to->room = room;
    }
    to->bytes[to->len + more] = '\0';
    return to->bytes + to->len;
}

void text_add(text *to, const char *bytes, size_t len) {
    char *end = grown(to, len);
    if (len > 0) {
        memcpy(end, bytes, len);
    }
    to->len += len;
}

void text_print(text *to, const char *format, ...) {
    va_list values;
    int len;
    va_start(values, format);
    len = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (len > 0) {
        char *end = grown(to, (size_t)len);
        va_start(values, format);
        vsnprintf(end, (size_t)len + 1, format, values);
        va_end(values);
        to->len += (size_t)len;
    }
}

void text_quote(text *to, const char *bytes, size_t len) {
    size_t i, done = 0;
    text_add(to, "\"", 1);
    for (i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte < 0x20 || byte == '"' || byte == '\\') {
            text_add(to, bytes + done, i - done);
            text_print(to, "\\u%04x", byte);
            done = i + 1;
        }
    }
    text_add(to, bytes + done, len - done);
    text_add(to, "\"", 1);
}

void text_item(text *to) {
    if (to->len > 0) {
        text_add(to, ",", 1);
    }
}

void text_fill(text *to, char byte, size_t count) {
    memset(grown(to, count), byte, count);
    to->len += count;
}

void text_free(text *to) {
    free(to->bytes);
    memset(to, 0, sizeof *to);
}

/* A text that grows, to write JSON with. */
#ifndef CASE_TEXT_H
#define CASE_TEXT_H

#include <stddef.h>

typedef struct {
    char *bytes; /* NUL-terminated; NULL while it is empty */
    size_t len;
    size_t room;
} text;

/* malloc() that ends the program when there is no memory. */
void *must_have(size_t size);
/* A NUL-terminated copy. */
char *copy_of(const char *bytes, size_t len);

void text_add(text *to, const char *bytes, size_t len);
/* As printf(). */
void text_print(text *to, const char *format, ...);
/* The bytes as a JSON string. */
void text_quote(text *to, const char *bytes, size_t len);
/* A comma unless it is empty: what follows is the next item of a list. */
void text_item(text *to);
/* A byte that many times. */
void text_fill(text *to, char byte, size_t count);
void text_free(text *to);

#endif

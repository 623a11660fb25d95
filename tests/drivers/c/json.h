/* Reads the case: a JSON document as a tree whose values know how they are written. */
#ifndef CASE_JSON_H
#define CASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json json;
struct json {
    json_kind kind;
    const char *start; /* the value as it stands in the document */
    size_t size;
    char *string; /* of a string, decoded; NUL-terminated, though it may hold NULs */
    size_t length;
    double number; /* of a number; 1 of true */
    char *name;    /* of a member */
    json *first;   /* of an array or object */
    json *next;
};

/* NULL when the text is no JSON. The tree points into the text. */
json *json_parse(const char *document, size_t size);
void json_free(json *value);

/* The member of that name; NULL when there is none, or value is no object. */
const json *json_get(const json *value, const char *name);
/* Whether it is there and a string, this one unless other is NULL. */
bool json_is(const json *value, const char *other);
/* The string, or what stands for it. */
const char *json_string(const json *value, const char *otherwise);
int64_t json_int(const json *value, int64_t otherwise);
/* Its text, NUL-terminated; for free(). NULL for NULL. */
char *json_text(const json *value);

#endif

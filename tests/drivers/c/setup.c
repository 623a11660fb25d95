/* Steps that say with what a session starts. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

static callback *callback_of(host *self, callback_kind kind, const json *policy) {
    callback *made = must_have(sizeof *made);
    made->owner = self;
    made->kind = kind;
    made->policy = policy;
    return made;
}

static void on_line(void *data, const char *line, size_t len) {
    host *self = data;
    note_text(self, &self->stderr_lines, line, len);
}

static towline_status add_hook(host *self, const json *hook, towline_error **error) {
    const json *timeout = json_get(hook, "timeout_s");
    uint64_t ms = timeout == NULL ? 0 : (uint64_t)(timeout->number * 1000);
    return towline_options_on_hook(self->options, json_string(json_get(hook, "event"), ""),
                                   json_string(json_get(hook, "matcher"), NULL), ms,
                                   TOWLINE_HOOK_DEFAULT, called,
                                   callback_of(self, HOOK, json_get(hook, "do")), free, error);
}

static towline_status add_tool(host *self, const json *tool, towline_error **error) {
    char *schema = json_text(json_get(tool, "schema"));
    char *annotations = json_text(json_get(tool, "annotations"));
    towline_status status = towline_options_add_tool(
        self->options, json_string(json_get(tool, "server"), ""),
        json_string(json_get(tool, "name"), ""), json_string(json_get(tool, "description"), "d"),
        schema != NULL ? schema : "{\"type\":\"object\",\"properties\":{}}", annotations, called,
        callback_of(self, TOOL, json_get(tool, "do")), free, error);
    free(schema);
    free(annotations);
    return status;
}

/* Options whose value is only told by its length. */
static bool add_filled(const char *name, const json *value, text *to) {
    size_t bytes = (size_t)json_int(value, 0);
    if (strcmp(name, "system_prompt_fill") == 0) {
        text_print(to, "{\"system_prompt\":\"");
        text_fill(to, 'p', bytes);
        text_print(to, "\"}");
    } else if (strcmp(name, "agents_fill") == 0) {
        int n;
        text_print(to, "{\"agents\":{");
        for (n = 0; n < 4; n++) {
            text_print(to, "%s\"a%d\":{\"description\":\"d\",\"prompt\":\"", n == 0 ? "" : ",", n);
            text_fill(to, 'p', bytes / 4);
            text_print(to, "\"}");
        }
        text_print(to, "}}");
    } else {
        return false;
    }
    return true;
}

static towline_status set_options(host *self, const json *options, towline_error **error) {
    const json *option;
    for (option = options->first; option != NULL; option = option->next) {
        towline_status status;
        text object = {NULL, 0, 0};
        if (!add_filled(option->name, option, &object)) {
            text_print(&object, "{\"%s\":", option->name);
            text_add(&object, option->start, option->size);
            text_print(&object, "}");
        }
        status = towline_options_set_json(self->options, object.bytes, object.len, error);
        text_free(&object);
        if (status != TOWLINE_OK) {
            return status;
        }
    }
    return TOWLINE_OK;
}

bool set_up(host *self, const json *step, failure *error) {
    towline_error *why = NULL;
    towline_status status;
    const json *what;
    if ((what = json_get(step, "permission")) != NULL) {
        status = towline_options_on_permission(self->options, called,
                                               callback_of(self, PERMISSION, what), free, &why);
    } else if ((what = json_get(step, "hook")) != NULL) {
        status = add_hook(self, what, &why);
    } else if ((what = json_get(step, "tool")) != NULL) {
        status = add_tool(self, what, &why);
    } else if (json_get(step, "stderr_callback") != NULL) {
        status = towline_options_on_stderr(self->options, on_line, self, NULL, &why);
    } else if ((what = json_get(step, "options")) != NULL) {
        status = set_options(self, what, &why);
    } else {
        return false;
    }
    *error = status == TOWLINE_OK ? no_failure() : failed(status, why);
    return true;
}

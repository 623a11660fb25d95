/* Callbacks: policies that answer at once, or later from a thread of their own. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* How long a callback waits at a barrier. */
#define AT_A_BARRIER 5000
/* How often a waiting callback looks whether it was cancelled. */
#define LOOK 20
/* How long a step may take that a callback does. */
#define CALL 8000

/* A callback that waits. */
typedef struct {
    callback on;
    const json *policy;
    towline_request *request;
} waiting;

static bool waits(const json *policy) {
    const json *tool = json_get(policy, "by_tool");
    for (tool = tool == NULL ? NULL : tool->first; tool != NULL; tool = tool->next) {
        if (waits(tool)) {
            return true;
        }
    }
    return json_get(policy, "barrier") != NULL || json_get(policy, "sleep_ms") != NULL ||
           json_get(policy, "call") != NULL;
}

static const json *by_tool(const json *policy, const towline_request *request) {
    const json *tools = json_get(policy, "by_tool");
    const char *tool = towline_request_tool(request, NULL);
    return tools == NULL ? policy : json_get(tools, tool == NULL ? "" : tool);
}

static towline_status answer_permission(const json *policy, towline_request *request,
                                        towline_error **error) {
    const json *raw = json_get(policy, "return_raw");
    const json *deny = json_get(policy, "deny");
    const json *interrupt = json_get(policy, "interrupt");
    char *input;
    towline_status status;
    if (raw != NULL) {
        return towline_request_respond(request, raw->start, raw->size, error);
    }
    if (json_is(deny, NULL)) {
        return towline_request_deny(request, deny->string, deny->length,
                                    interrupt != NULL && interrupt->number == 1, error);
    }
    input = json_text(json_get(policy, "updated_input"));
    status = towline_request_allow(request, input, NULL, error);
    free(input);
    return status;
}

static towline_status answer_tool(const json *policy, towline_request *request,
                                  towline_error **error) {
    const json *given = json_get(policy, "return");
    const json *big = json_get(policy, "return_big");
    if (big != NULL) {
        towline_status status;
        text filled = {NULL, 0, 0};
        text_fill(&filled, 'y', (size_t)json_int(big, 0));
        status = towline_request_tool_text(request, filled.bytes, filled.len, false, error);
        text_free(&filled);
        return status;
    }
    if (given == NULL) {
        return towline_request_tool_json(request, "null", TOWLINE_NUL, error);
    }
    return towline_request_tool_json(request, given->start, given->size, error);
}

/* Answers as a policy says that has nothing to wait for; whether it could. */
static bool answer(const callback *on, const json *policy, towline_request *request) {
    towline_error *error = NULL;
    towline_status status;
    const json *given = json_get(policy, "return");
    const json *raised = json_get(policy, "raise");
    if (raised != NULL) {
        /* C has no exceptions: a callback that cannot answer says so with an error. */
        status = towline_request_respond_error(request, raised->string, raised->length, &error);
    } else if (on->kind == PERMISSION) {
        status = answer_permission(policy, request, &error);
    } else if (on->kind == TOOL) {
        status = answer_tool(policy, request, &error);
    } else if (given != NULL) {
        status = towline_request_respond(request, given->start, given->size, &error);
    } else {
        status = towline_request_respond(request, "{}", TOWLINE_NUL, &error);
    }
    /* A late answer is harmless and says so. */
    if (status != TOWLINE_OK && status != TOWLINE_ERR_WITHDRAWN) {
        const char *message = towline_error_message(error);
        note_text(on->owner, &on->owner->loop_errors, message, strlen(message));
    }
    towline_error_free(error);
    return status == TOWLINE_OK || status == TOWLINE_ERR_WITHDRAWN;
}

/* The barrier of that name, with the lock held. */
static barrier *barrier_named(host *self, const char *name) {
    barrier *found = self->barriers;
    while (found != NULL && strcmp(found->name, name) != 0) {
        found = found->next;
    }
    if (found == NULL) {
        found = must_have(sizeof *found);
        found->name = copy_of(name, strlen(name));
        found->come = 0;
        found->next = self->barriers;
        self->barriers = found;
    }
    return found;
}

typedef enum { CAME, PASSED, CANCELLED } waited;

/* Until so many have come to the barrier, or to the deadline when there is none. */
static waited wait_for(host *self, const barrier *at, int64_t count, int64_t deadline,
                       const towline_request *request) {
    for (;;) {
        int64_t next = now() + LOOK;
        bool come;
        if (towline_request_cancelled(request)) {
            return CANCELLED;
        }
        host_lock(self);
        come = at != NULL && at->come >= count;
        if (!come && left(deadline) > 0) {
            host_wait(self, next < deadline ? next : deadline);
        }
        pthread_mutex_unlock(&self->lock);
        if (come) {
            return CAME;
        }
        if (left(deadline) == 0) {
            return PASSED;
        }
    }
}

/* Does what the policy says before it answers; NULL when it cannot go on. */
static const json *settle(const waiting *this, bool *cancelled) {
    static const char *const kinds[] = {"permission", "hook", "tool"};
    host *self = this->on.owner;
    const json *policy = by_tool(this->policy, this->request);
    for (;; policy = json_get(policy, "then")) {
        const json *count = json_get(policy, "barrier");
        const json *sleeping = json_get(policy, "sleep_ms");
        const json *step = json_get(policy, "call");
        waited how = CAME;
        if (count != NULL) {
            barrier *at;
            host_lock(self);
            at = barrier_named(self, json_string(json_get(policy, "name"), kinds[this->on.kind]));
            at->come++;
            host_changed(self);
            how = wait_for(self, at, json_int(count, 0), now() + AT_A_BARRIER, this->request);
            if (how == PASSED) {
                return NULL;
            }
        } else if (sleeping != NULL) {
            how = wait_for(self, NULL, 0, now() + json_int(sleeping, 0), this->request);
        } else if (step != NULL) {
            failure error = do_step(self, step, now() + CALL);
            bool fails = error.kind != NULL;
            failure_free(&error);
            if (fails) {
                return NULL;
            }
        } else {
            return policy;
        }
        if (how == CANCELLED) {
            *cancelled = true;
            return NULL;
        }
    }
}

static void *later(void *data) {
    waiting *this = data;
    host *self = this->on.owner;
    bool cancelled = false;
    const json *policy = settle(this, &cancelled);
    if (!cancelled && (policy == NULL || !answer(&this->on, policy, this->request))) {
        towline_request_respond_error(this->request, "it failed", TOWLINE_NUL, NULL);
    }
    towline_request_free(this->request);
    free(this);
    host_lock(self);
    self->cancelled += cancelled;
    self->running--;
    host_changed(self);
    return NULL;
}

towline_answer called(void *data, towline_request *request) {
    callback *on = data;
    host *self = on->owner;
    waiting *this;
    pthread_t thread;
    host_lock(self);
    *(on->kind == PERMISSION ? &self->permission : on->kind == HOOK ? &self->hook : &self->tool) +=
        1;
    host_changed(self);
    if (!waits(on->policy)) {
        return answer(on, by_tool(on->policy, request), request) ? TOWLINE_ANSWERED
                                                                 : TOWLINE_FAILED;
    }
    this = must_have(sizeof *this);
    this->on = *on;
    this->policy = on->policy;
    this->request = request;
    towline_request_retain(request);
    host_lock(self);
    self->running++;
    host_changed(self);
    if (pthread_create(&thread, NULL, later, this) != 0) {
        abort();
    }
    pthread_detach(thread);
    return TOWLINE_LATER;
}

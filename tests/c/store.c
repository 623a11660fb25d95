/* Stores of sessions: one written in C that keeps every contract, those of the library by URL, and
 * operations over both. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "towline_test.h"

#define SESSION "11111111-2222-4333-8444-555555555555"
#define PROJECT "\"project_key\":\"-p\""

struct line {
    struct line *next;
    char *json, *uuid;
};

struct transcript {
    struct transcript *next;
    char *project_key, *session_id, *subpath;
    struct line *lines;
    char *summary;
    int64_t mtime;
};

/* A store in memory. */
struct memory {
    pthread_mutex_t lock;
    struct transcript *transcripts;
};

static volatile int finalized;

static char *copy(const char *text) {
    char *made = NULL;
    if (text != NULL) {
        made = malloc(strlen(text) + 1);
        CHECK(made != NULL);
        strcpy(made, text);
    }
    return made;
}

static bool same(const char *one, const char *other) {
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static struct transcript **find(struct memory *memory, const towline_store_key *key) {
    struct transcript **at = &memory->transcripts;
    while (*at != NULL && !(same((*at)->project_key, key->project_key) &&
                            same((*at)->session_id, key->session_id) && same((*at)->subpath, key->subpath))) {
        at = &(*at)->next;
    }
    return at;
}

static int64_t now(void) {
    struct timespec time;
    CHECK(clock_gettime(CLOCK_REALTIME, &time) == 0);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void fold(struct transcript *transcript, const char *added) {
    towline_buffer *folded = NULL;
    OK(towline_store_fold_summary(transcript->summary, TOWLINE_NUL, added, TOWLINE_NUL, &folded, NULL));
    free(transcript->summary);
    transcript->summary = copy(towline_buffer_data(folded, NULL));
    OK(towline_buffer_free(folded));
}

static towline_answer append(void *user_data, const towline_store_key *key,
                             const towline_store_entry *entries, size_t count,
                             towline_store_reply *reply) {
    struct memory *memory = user_data;
    struct transcript **at;
    size_t size = 3;
    char *added, *rest;
    (void)reply;
    for (size_t n = 0; n < count; n++) {
        CHECK(strlen(entries[n].json) == entries[n].len);
        size += entries[n].len + 1;
    }
    added = malloc(size);
    CHECK(added != NULL);
    rest = added;
    *rest++ = '[';
    pthread_mutex_lock(&memory->lock);
    at = find(memory, key);
    if (*at == NULL) {
        *at = calloc(1, sizeof **at);
        CHECK(*at != NULL);
        (*at)->project_key = copy(key->project_key);
        (*at)->session_id = copy(key->session_id);
        (*at)->subpath = copy(key->subpath);
    }
    for (size_t n = 0; n < count; n++) {
        struct line **end = &(*at)->lines;
        while (*end != NULL && (entries[n].uuid == NULL || !same((*end)->uuid, entries[n].uuid))) {
            end = &(*end)->next;
        }
        if (*end == NULL) {
            *end = calloc(1, sizeof **end);
            CHECK(*end != NULL);
            (*end)->json = copy(entries[n].json);
            (*end)->uuid = copy(entries[n].uuid);
            if (rest > added + 1) {
                *rest++ = ',';
            }
            memcpy(rest, entries[n].json, entries[n].len);
            rest += entries[n].len;
        }
    }
    (*at)->mtime = now();
    if (key->subpath == NULL) {
        strcpy(rest, "]");
        fold(*at, added);
    }
    pthread_mutex_unlock(&memory->lock);
    free(added);
    return TOWLINE_ANSWERED;
}

static towline_answer load(void *user_data, const towline_store_key *key, towline_store_reply *reply) {
    struct memory *memory = user_data;
    struct transcript *found;
    pthread_mutex_lock(&memory->lock);
    found = *find(memory, key);
    for (struct line *line = found == NULL ? NULL : found->lines; line != NULL; line = line->next) {
        OK(towline_store_reply_entry(reply, line->json, TOWLINE_NUL, NULL));
    }
    pthread_mutex_unlock(&memory->lock);
    return TOWLINE_ANSWERED;
}

static towline_answer list(struct memory *memory, const char *project_key, bool summaries,
                           towline_store_reply *reply) {
    pthread_mutex_lock(&memory->lock);
    for (struct transcript *one = memory->transcripts; one != NULL; one = one->next) {
        if (one->subpath != NULL || !same(one->project_key, project_key)) {
            continue;
        }
        if (summaries) {
            OK(towline_store_reply_summary(reply, one->session_id, one->mtime, one->summary, TOWLINE_NUL, NULL));
        } else {
            OK(towline_store_reply_session(reply, one->session_id, one->mtime, NULL));
        }
    }
    pthread_mutex_unlock(&memory->lock);
    return TOWLINE_ANSWERED;
}

static towline_answer list_sessions(void *user_data, const char *project_key, towline_store_reply *reply) {
    return list(user_data, project_key, false, reply);
}

static towline_answer list_summaries(void *user_data, const char *project_key, towline_store_reply *reply) {
    return list(user_data, project_key, true, reply);
}

static void drop(struct transcript *one) {
    while (one->lines != NULL) {
        struct line *line = one->lines;
        one->lines = line->next;
        free(line->json);
        free(line->uuid);
        free(line);
    }
    free(one->project_key);
    free(one->session_id);
    free(one->subpath);
    free(one->summary);
    free(one);
}

static towline_answer forget(void *user_data, const towline_store_key *key, towline_store_reply *reply) {
    struct memory *memory = user_data;
    (void)reply;
    pthread_mutex_lock(&memory->lock);
    for (struct transcript **at = &memory->transcripts; *at != NULL;) {
        struct transcript *one = *at;
        if (same(one->project_key, key->project_key) && same(one->session_id, key->session_id) &&
            (key->subpath == NULL || same(one->subpath, key->subpath))) {
            *at = one->next;
            drop(one);
        } else {
            at = &one->next;
        }
    }
    pthread_mutex_unlock(&memory->lock);
    return TOWLINE_ANSWERED;
}

static towline_answer list_subkeys(void *user_data, const towline_store_key *key, towline_store_reply *reply) {
    struct memory *memory = user_data;
    CHECK(key->subpath == NULL);
    pthread_mutex_lock(&memory->lock);
    for (struct transcript *one = memory->transcripts; one != NULL; one = one->next) {
        if (one->subpath != NULL && same(one->project_key, key->project_key) &&
            same(one->session_id, key->session_id)) {
            OK(towline_store_reply_subkey(reply, one->subpath, NULL));
        }
    }
    pthread_mutex_unlock(&memory->lock);
    return TOWLINE_ANSWERED;
}

static void finalize(void *user_data) {
    struct memory *memory = user_data;
    while (memory->transcripts != NULL) {
        struct transcript *one = memory->transcripts;
        memory->transcripts = one->next;
        drop(one);
    }
    pthread_mutex_destroy(&memory->lock);
    free(memory);
    finalized++;
}

static towline_store *make(const towline_store_callbacks *callbacks) {
    struct memory *memory = calloc(1, sizeof *memory);
    towline_store *store = NULL;
    CHECK(memory != NULL && pthread_mutex_init(&memory->lock, NULL) == 0);
    OK(towline_store_from_callbacks(callbacks, memory, finalize, &store, NULL));
    return store;
}

static const towline_store_callbacks all = {
    sizeof(towline_store_callbacks), append, load, list_sessions, list_summaries, forget, list_subkeys,
};
static const towline_store_callbacks minimal = {
    sizeof(towline_store_callbacks), append, load, NULL, NULL, NULL, NULL,
};
static int made;

static towline_store *make_all(void *user_data) {
    CHECK(user_data == &made);
    made++;
    return make(&all);
}

static towline_store *make_minimal(void *user_data) {
    (void)user_data;
    return make(&minimal);
}

/* A store that gives back what was appended last. */
static towline_answer append_last(void *user_data, const towline_store_key *key,
                                  const towline_store_entry *entries, size_t count,
                                  towline_store_reply *reply) {
    return append(user_data, key, entries + count - 1, 1, reply);
}

static towline_store *make_forgetful(void *user_data) {
    towline_store_callbacks callbacks = all;
    (void)user_data;
    callbacks.append = append_last;
    return make(&callbacks);
}

static void conformance(void) {
    OK(towline_store_check(make_all, &made, true, NULL));
    CHECK(made > 20 && finalized == made);
    OK(towline_store_check(make_minimal, NULL, true, NULL));
    FAILS(TOWLINE_ERR_CONTRACT, "in order: load(proj/sess) gave 1 entries for 2",
          towline_store_check(make_forgetful, NULL, false, &error));
}

/* Does an operation or a call whose result has this text in it. */
static void gives(towline_store *store, const char *document, const char *part) {
    towline_buffer *result = NULL;
    towline_error *error = NULL;
    bool is_call = strncmp(document, "{\"call\"", 7) == 0;
    towline_status status = is_call ? towline_store_call(store, document, TOWLINE_NUL, &result, &error)
                                    : towline_store_run(store, document, TOWLINE_NUL, &result, &error);
    if (status != TOWLINE_OK || strstr(towline_buffer_data(result, NULL), part) == NULL) {
        fprintf(stderr, "%s: \"%s\" is not in: %s\n", document, part,
                status == TOWLINE_OK ? towline_buffer_data(result, NULL) : towline_error_message(error));
        exit(1);
    }
    OK(towline_buffer_free(result));
}

#define OPERATION(name, more) "{\"operation\":\"" name "\"," PROJECT ",\"session_id\":\"" SESSION "\"" more "}"
#define CALL(name, more) "{\"call\":\"" name "\",\"key\":{" PROJECT ",\"session_id\":\"" SESSION "\"" more "}"

static void operations(towline_store *store) {
    towline_buffer *none = NULL;
    gives(store, CALL("append", "},\"entries\":[{\"type\":\"user\",\"uuid\":\"aaaaaaaa-0000-4000-8000-000000000001\","
                      "\"sessionId\":\"" SESSION "\",\"message\":{\"role\":\"user\",\"content\":\"hello from C\"}}]"), "null");
    gives(store, CALL("append", ",\"subpath\":\"subagents/agent-a\"},\"entries\":[{\"type\":\"x\"}]"), "null");
    gives(store, CALL("load", "}"), "hello from C");
    gives(store, CALL("list_subkeys", "}"), "[\"subagents/agent-a\"]");
    gives(store, "{\"operation\":\"list_sessions\"," PROJECT ",\"limit\":5}", "\"summary\":\"hello from C\"");
    gives(store, OPERATION("get_session_messages", ""), "hello from C");
    gives(store, OPERATION("list_subagents", ""), "[\"a\"]");
    gives(store, OPERATION("rename_session", ",\"title\":\"A title\""), "null");
    gives(store, OPERATION("tag_session", ",\"tag\":\"red\""), "null");
    gives(store, OPERATION("get_session_info", ""), "\"custom_title\":\"A title\"");
    gives(store, OPERATION("fork_session", ""), "\"session_id\":\"");
    gives(store, "{\"operation\":\"list_sessions\"," PROJECT "}", "\"A title (fork)\"");
    gives(store, OPERATION("delete_session", ""), "null");
    gives(store, OPERATION("get_session_info", ""), "null");
    FAILS(TOWLINE_ERR_NOT_FOUND, SESSION,
          towline_store_run(store, OPERATION("fork_session", ""), TOWLINE_NUL, &none, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "title",
          towline_store_run(store, OPERATION("rename_session", ",\"title\":\" \""), TOWLINE_NUL, &none, &error));
    CHECK(none == NULL);
}

static void all_operations(void) {
    towline_buffer *none = NULL;
    towline_store *store = NULL;
    char url[4096];
    operations(store = make(&all));
    OK(towline_store_free(store));
    snprintf(url, sizeof url, "sqlite:%s/operations.db", test_env("SCRATCH"));
    OK(towline_store_open(url, &store, NULL));
    operations(store);
    OK(towline_store_free(store));
    store = make(&minimal);
    FAILS(TOWLINE_ERR_UNSUPPORTED, "list_sessions()",
          towline_store_run(store, "{\"operation\":\"list_sessions\"}", TOWLINE_NUL, &none, &error));
    FAILS(TOWLINE_ERR_UNSUPPORTED, "delete()",
          towline_store_call(store, CALL("delete", "}"), TOWLINE_NUL, &none, &error));
    OK(towline_store_free(store));
}

/* On a thread of its own: what Rust keeps of a thread that has blocked is freed with the thread, and
 * of the first one never, which valgrind would call lost. */
static void *no_server(void *store) {
    FAILS(TOWLINE_ERR_STORE, "PostgreSQL", towline_store_open("postgres:///x?host=/none&user=u", store, &error));
    return NULL;
}

static void wrong_urls(void) {
    towline_store *none = NULL;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, no_server, &none) == 0 && pthread_join(thread, NULL) == 0);
    FAILS(TOWLINE_ERR_STORE, "sqlite:x.db", towline_store_open("x.db", &none, &error));
    FAILS(TOWLINE_ERR_STORE, "folder must exist", towline_store_open("sqlite:/none/x.db", &none, &error));
    CHECK(none == NULL);
}

#define MIRRORED                                                                                   \
    "{\"emit\":{\"type\":\"transcript_mirror\",\"filePath\":\"/config/projects/-p/" SESSION ".jsonl\","   \
    "\"entries\":[{\"type\":\"user\",\"uuid\":\"m-1\",\"sessionId\":\"" SESSION "\","                  \
    "\"message\":{\"role\":\"user\",\"content\":\"said to the CLI\"}}]}}"

static int threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    CHECK(tasks != NULL);
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        count += task->d_name[0] != '.';
    }
    closedir(tasks);
    return count;
}

/* A session mirrors to a store of the host's, which is freed before; its functions run on a thread
 * of the store's. */
static void mirror(void) {
    towline_options *options = test_options("[" USER "," MIRRORED "," DONE "]");
    towline_store *store = make(&all);
    towline_session *session;
    finalized = 0;
    OK(towline_options_set_env(options, "CLAUDE_CONFIG_DIR", "/config", NULL));
    OK(towline_options_set_store(options, store, "batched", NULL));
    session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(session, "Say hello", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(session, TOWLINE_TURN_ENDED)));
    /* A result comes when what was said before it is stored. */
    gives(store, "{\"operation\":\"list_sessions\"," PROJECT "}", "\"summary\":\"said to the CLI\"");
    OK(towline_store_free(store));
    CHECK(finalized == 0);
    test_finish(session);
    /* The thread ends with the last that uses the store. */
    while (threads() > 1) {
        sched_yield();
    }
    CHECK(finalized == 1);
}

int main(void) {
    conformance();
    all_operations();
    wrong_urls();
    mirror();
    return 0;
}

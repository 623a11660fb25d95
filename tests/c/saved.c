/* Saved sessions: listed, read and changed. */
#include <sys/stat.h>

#include "towline_test.h"

#define ID "00000000-0000-4000-8000-000000000001"

#define FIRST                                                                                      \
    "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-00000000000a\",\"parentUuid\":null,"    \
    "\"sessionId\":\"" ID "\",\"timestamp\":\"2026-01-02T03:04:05.000Z\","                         \
    "\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n"
#define SECOND                                                                                     \
    "{\"type\":\"assistant\",\"uuid\":\"00000000-0000-4000-8000-00000000000b\","                   \
    "\"parentUuid\":\"00000000-0000-4000-8000-00000000000a\",\"sessionId\":\"" ID "\","            \
    "\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}\n"

static char options[1200];

static void write_file(const char *name, const char *text) {
    char path[1000];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", getenv("SCRATCH"), name);
    file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_folder(const char *name) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", getenv("SCRATCH"), name);
    CHECK(mkdir(path, 0700) == 0);
}

/* The document has this text in it, or has not; it is freed. */
static void has(towline_buffer *json, const char *text, bool wanted) {
    size_t len;
    const char *data = towline_buffer_data(json, &len);
    CHECK(data != NULL && strlen(data) == len);
    if ((strstr(data, text) != NULL) != wanted) {
        fprintf(stderr, "\"%s\" %s in: %s\n", text, wanted ? "is not" : "is", data);
        exit(1);
    }
    OK(towline_buffer_free(json));
}

static void info_has(const char *text) {
    towline_buffer *json;
    OK(towline_sessions_info(ID, options, TOWLINE_NUL, &json, NULL));
    has(json, text, true);
}

static void list_has(const char *text, bool wanted) {
    towline_buffer *json;
    OK(towline_sessions_list(options, TOWLINE_NUL, &json, NULL));
    has(json, text, wanted);
}

int main(void) {
    towline_buffer *json;
    const char *data;
    char fork_id[37], more[1400];

    snprintf(options, sizeof options, "{\"config_dir\":\"%s/saved\"}", getenv("SCRATCH"));
    make_folder("saved");
    list_has("[]", true);
    make_folder("saved/projects");
    make_folder("saved/projects/-project");
    make_folder("saved/projects/-project/" ID);
    make_folder("saved/projects/-project/" ID "/subagents");
    write_file("saved/projects/-project/" ID ".jsonl", FIRST SECOND);
    write_file("saved/projects/-project/" ID "/subagents/agent-a1.jsonl", FIRST);
    write_file("saved/projects/-project/" ID "/subagents/agent-a1.meta.json", "{\"toolUseId\":\"t1\"}");

    list_has("\"summary\":\"hello\"", true);
    info_has("\"created_at\":1767323045000");
    info_has("\"archived\":null");
    OK(towline_sessions_messages(ID, options, TOWLINE_NUL, &json, NULL));
    has(json, "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]", true);
    snprintf(more, sizeof more, "{\"limit\":1,%s", options + 1);
    OK(towline_sessions_messages(ID, more, strlen(more), &json, NULL));
    has(json, "\"text\":\"hi\"", false);
    OK(towline_sessions_subagents(ID, options, TOWLINE_NUL, &json, NULL));
    has(json, "[\"a1\"]", true);
    OK(towline_sessions_subagent_messages(ID, "a1", options, TOWLINE_NUL, &json, NULL));
    has(json, "\"parent_tool_use_id\":\"t1\"", true);

    OK(towline_sessions_rename(ID, " a title ", options, TOWLINE_NUL, NULL));
    info_has("\"custom_title\":\"a title\"");
    OK(towline_sessions_tag(ID, "v1", options, TOWLINE_NUL, NULL));
    info_has("\"tag\":\"v1\"");
    OK(towline_sessions_tag(ID, NULL, options, TOWLINE_NUL, NULL));
    info_has("\"tag\":null");
    OK(towline_sessions_archive(ID, true, options, TOWLINE_NUL, NULL));
    info_has("\"archived\":true");
    OK(towline_sessions_archive(ID, false, options, TOWLINE_NUL, NULL));
    info_has("\"archived\":false");
    FAILS(TOWLINE_ERR_ARGUMENT, "title", towline_sessions_rename(ID, " ", options, TOWLINE_NUL, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "tag", towline_sessions_tag(ID, " ", options, TOWLINE_NUL, &error));

    snprintf(more, sizeof more,
             "{\"up_to_message_id\":\"00000000-0000-4000-8000-00000000000a\",\"title\":\"other\",%s",
             options + 1);
    OK(towline_sessions_fork(ID, more, TOWLINE_NUL, &json, NULL));
    data = towline_buffer_data(json, NULL);
    CHECK(sscanf(data, "{\"session_id\":\"%36[-0-9a-f]\"}", fork_id) == 1 && strlen(fork_id) == 36);
    OK(towline_buffer_free(json));
    list_has("\"summary\":\"other\"", true);
    OK(towline_sessions_messages(fork_id, options, TOWLINE_NUL, &json, NULL));
    has(json, "\"text\":\"hi\"", false);
    snprintf(more, sizeof more,
             "{\"up_to_message_id\":\"00000000-0000-4000-8000-00000000000c\",%s", options + 1);
    FAILS(TOWLINE_ERR_NOT_FOUND, "00000000000c", towline_sessions_fork(ID, more, TOWLINE_NUL, &json, &error));
    CHECK(json == NULL);

    OK(towline_sessions_delete(ID, options, TOWLINE_NUL, NULL));
    list_has(ID, false);
    list_has(fork_id, true);
    OK(towline_sessions_info(ID, options, TOWLINE_NUL, &json, NULL));
    has(json, "null", true);
    FAILS(TOWLINE_ERR_NOT_FOUND, ID, towline_sessions_delete(ID, options, TOWLINE_NUL, &error));
    FAILS(TOWLINE_ERR_NOT_FOUND, ID, towline_sessions_rename(ID, "x", options, TOWLINE_NUL, &error));
    return 0;
}

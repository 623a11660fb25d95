/*
 * Towline: hold a conversation with the Claude Code CLI from C.
 *
 * Generated from the library's sources; do not edit.
 *
 * HANDLES. Everything is an opaque handle, made by a function that says so and freed by the
 * _free() function of its type. A _free() takes NULL, and returns TOWLINE_ERR_BUSY, having done
 * nothing, while another call on the handle runs. A handle of the wrong type is refused with
 * TOWLINE_ERR_HANDLE, and so is, for a while, one that was freed; nobody should rely on the latter.
 * Any other pointer that is no handle is the caller's mistake and cannot always be told.
 *
 * THREADS. The library starts no thread, but for one to each session store that sessions use, and
 * those that towline_store_check() needs. It installs no signal handler and changes no setting of the
 * process. Functions can be called from any thread, with these exceptions: one thread at a time
 * polls a session (a second one gets TOWLINE_ERR_BUSY); one thread at a time uses an event or a
 * connection; a handle is freed once. None can be called in a signal handler.
 *
 * CALLBACKS run on the thread that polls, inside the call, with no lock held. They may call every
 * function but those that wait (TOWLINE_ERR_REENTRANT) and the _free() of the session that they run
 * for (TOWLINE_ERR_BUSY). They must return: no longjmp, no C++ exception. With a callback goes a
 * pointer to data of the host and a function that is called once when nothing uses it any more.
 * Where a callback may be NULL, data and finalizer that come with a NULL are not used.
 *
 * TEXT IN is a pointer and a length in bytes, TOWLINE_NUL for a text that ends with a NUL; names,
 * keys and JSON Pointers always end with one and have no length. All text is UTF-8 and checked. It is
 * copied: the caller's memory is not used after the call.
 *
 * TEXT OUT is a view: a pointer into memory of the handle that it came from, valid as long as that
 * handle, with a NUL behind it; its length goes to len unless that is NULL. A text that may hold
 * NULs itself needs the length.
 *
 * ERRORS. Functions return a towline_status, TOWLINE_OK when they worked, and give more in an
 * object: the last parameter, NULL when it is not wanted. What stood there is overwritten, with NULL
 * on success; the object belongs to the caller, towline_error_free(). Other results are the
 * parameters before; they are set to 0, false or NULL when the call fails. Functions that return
 * a value say what they return for a wrong handle. There is no state of a thread and none of the
 * process.
 *
 * FORK. A session belongs to the process that started it. In a child made by fork() every call on
 * it returns TOWLINE_ERR_FORKED, and functions that return a text or a number return what they do
 * for a wrong handle; its _free() frees the child's copy alone.
 */

#ifndef TOWLINE_H
#define TOWLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The version of this header. That of the library: towline_version(). */
#define TOWLINE_VERSION "0.1.0"
#define TOWLINE_VERSION_MAJOR 0
#define TOWLINE_VERSION_MINOR 1
#define TOWLINE_VERSION_PATCH 0
/** One number that grows with the version, for comparisons in #if. */
#define TOWLINE_VERSION_NUMBER 1000
/** The binary interface of this header; see towline_abi_version(). */
#define TOWLINE_ABI_VERSION 0

/** As the length of a text: it ends with a NUL. */
#define TOWLINE_NUL SIZE_MAX

/**
 * The callback has answered by one of the towline_request_ functions.
 */
#define TOWLINE_ANSWERED 0

/**
 * The callback keeps the request, having called towline_request_retain(), and answers later,
 * from any thread. Without that call the safe answer is sent at once.
 */
#define TOWLINE_LATER 1

/**
 * The callback could not answer: the safe answer is sent, and a TOWLINE_DIAGNOSTIC event says so.
 */
#define TOWLINE_FAILED 2

/**
 * The session failed.
 */
#define TOWLINE_LOG_ERROR 1

/**
 * Something is odd, or was ended by force.
 */
#define TOWLINE_LOG_WARN 2

/**
 * A session began, opened, ended.
 */
#define TOWLINE_LOG_INFO 3

/**
 * Turns, requests, tool calls, store calls, lines of stderr.
 */
#define TOWLINE_LOG_DEBUG 4

/**
 * Lines of the wire, with option wireLog set to log.
 */
#define TOWLINE_LOG_TRACE 5

/**
 * A hook that fails does what the CLI's default is: the CLI goes on.
 */
#define TOWLINE_HOOK_DEFAULT 0

/**
 * When the hook fails, the CLI goes on as if there were none.
 */
#define TOWLINE_HOOK_CONTINUE 1

/**
 * When the hook fails, what it was asked about does not happen.
 */
#define TOWLINE_HOOK_BLOCK 2

/**
 * What a transport returns that can read or write nothing at once.
 */
#define TOWLINE_WOULD_BLOCK -1

/**
 * What a transport returns that can read or write nothing any more.
 */
#define TOWLINE_BROKEN -2

/**
 * The exit of a transport that leads to no process, or does not know how it ended.
 */
#define TOWLINE_NO_EXIT INT64_MIN

/**
 * What a function returns. The values never change their meaning and are never reused; new ones
 * may be added.
 */
typedef enum {
    /**
     * It worked.
     */
    TOWLINE_OK = 0,
    /**
     * Nothing came within the time limit, or towline_session_wake() was called. No error object
     * comes with it from towline_session_poll().
     */
    TOWLINE_TIMEOUT = 1,
    /**
     * An argument that may not be NULL is.
     */
    TOWLINE_ERR_NULL = 10,
    /**
     * A handle is not what the function takes: of another type, freed, or no handle at all.
     */
    TOWLINE_ERR_HANDLE = 11,
    /**
     * A text is not UTF-8.
     */
    TOWLINE_ERR_UTF8 = 12,
    /**
     * A length that no text can have.
     */
    TOWLINE_ERR_LENGTH = 13,
    /**
     * A text that has to be JSON is not, or is JSON of the wrong shape.
     */
    TOWLINE_ERR_JSON = 14,
    /**
     * Any other argument is out of range.
     */
    TOWLINE_ERR_ARGUMENT = 15,
    /**
     * A JSON Pointer is malformed: it is empty or starts with '/', and '~' in it is followed by
     * 0 or 1.
     */
    TOWLINE_ERR_POINTER = 16,
    /**
     * There is no such value.
     */
    TOWLINE_ERR_ABSENT = 17,
    /**
     * The value is there and has another type.
     */
    TOWLINE_ERR_TYPE = 18,
    /**
     * An option is unknown, or its value has the wrong type.
     */
    TOWLINE_ERR_OPTION = 20,
    /**
     * The definition of a tool or its schema is refused, or its name is taken.
     */
    TOWLINE_ERR_TOOL = 21,
    /**
     * The CLI could not be started, for a reason that has no code of its own.
     */
    TOWLINE_ERR_START = 30,
    /**
     * There is no CLI there; the message says where it was looked for.
     */
    TOWLINE_ERR_CLI_NOT_FOUND = 31,
    /**
     * The CLI is there and cannot be executed.
     */
    TOWLINE_ERR_NOT_EXECUTABLE = 32,
    /**
     * The working directory does not exist or is no folder.
     */
    TOWLINE_ERR_CWD = 33,
    /**
     * Arguments and environment are longer than the system takes.
     */
    TOWLINE_ERR_ARGUMENTS_TOO_LONG = 34,
    /**
     * The options contradict each other or cannot be carried out.
     */
    TOWLINE_ERR_LAUNCH = 35,
    /**
     * The session is over: its TOWLINE_CLOSED event was delivered, or its handle was freed while
     * a request of it was still held.
     */
    TOWLINE_ERR_CLOSED = 40,
    /**
     * The conversation has ended; nothing can be sent any more.
     */
    TOWLINE_ERR_ENDED = 41,
    /**
     * The input was ended by towline_session_end_input() or by closing, or the CLI has closed it.
     */
    TOWLINE_ERR_INPUT_ENDED = 42,
    /**
     * The CLI is not reading and the write queue is at its limit (option maxQueuedBytes).
     */
    TOWLINE_ERR_QUEUE_FULL = 43,
    /**
     * The call would wait for the very poll it is made in: it was made in a callback.
     */
    TOWLINE_ERR_REENTRANT = 44,
    /**
     * Another thread is polling this session, or the handle is in use and cannot be freed now.
     */
    TOWLINE_ERR_BUSY = 45,
    /**
     * The session was started before fork() and belongs to the parent process.
     */
    TOWLINE_ERR_FORKED = 46,
    /**
     * The call does not fit the state that the handle is in.
     */
    TOWLINE_ERR_STATE = 47,
    /**
     * All sessions that the pool may have are in use (maxSessions), and none came back in time.
     */
    TOWLINE_ERR_POOL_FULL = 48,
    /**
     * The conversation that was asked for is in use.
     */
    TOWLINE_ERR_IN_USE = 49,
    /**
     * The CLI ended before it had opened the session.
     */
    TOWLINE_ERR_EXITED_EARLY = 50,
    /**
     * The CLI refused to open the session.
     */
    TOWLINE_ERR_REFUSED = 51,
    /**
     * The CLI did not open the session in time (option initializeTimeoutMs).
     */
    TOWLINE_ERR_INITIALIZE_TIMEOUT = 52,
    /**
     * The CLI ended by itself with an error.
     */
    TOWLINE_ERR_FAILED = 53,
    /**
     * The system refused a wait.
     */
    TOWLINE_ERR_SYSTEM = 54,
    /**
     * The CLI answered a control request with an error.
     */
    TOWLINE_ERR_REMOTE = 60,
    /**
     * A control request was not answered in time (option controlTimeoutMs).
     */
    TOWLINE_ERR_REQUEST_TIMEOUT = 61,
    /**
     * The session ended before a control request was answered.
     */
    TOWLINE_ERR_REQUEST_ENDED = 62,
    /**
     * No open request has this key.
     */
    TOWLINE_ERR_UNKNOWN_REQUEST = 70,
    /**
     * The request was answered already. Harmless.
     */
    TOWLINE_ERR_ANSWERED = 71,
    /**
     * The CLI took the request back, or its time limit passed. Harmless.
     */
    TOWLINE_ERR_WITHDRAWN = 72,
    /**
     * The answer does not fit the request, which stays open.
     */
    TOWLINE_ERR_WRONG_ANSWER = 73,
    /**
     * No running turn has this number.
     */
    TOWLINE_ERR_UNKNOWN_TURN = 74,
    /**
     * The uuid of a user message was used already; the CLI would drop the message.
     */
    TOWLINE_ERR_DUPLICATE_UUID = 75,
    /**
     * No in-process MCP server has this name.
     */
    TOWLINE_ERR_UNKNOWN_SERVER = 76,
    /**
     * The CLI would drop this user message or die of it.
     */
    TOWLINE_ERR_MESSAGE = 77,
    /**
     * A session store refused or failed.
     */
    TOWLINE_ERR_STORE = 80,
    /**
     * The session is not there.
     */
    TOWLINE_ERR_NOT_FOUND = 81,
    /**
     * The session store lacks a call that this needs.
     */
    TOWLINE_ERR_UNSUPPORTED = 82,
    /**
     * A session store does not do what stores have to do.
     */
    TOWLINE_ERR_CONTRACT = 83,
    /**
     * A file could not be read or written.
     */
    TOWLINE_ERR_FILE = 84,
    /**
     * The library failed in a way it should not. The handle cannot be used any more.
     */
    TOWLINE_ERR_PANIC = 90,
    /**
     * The handle cannot be used since a call on it ended with TOWLINE_ERR_PANIC. It can still
     * be freed.
     */
    TOWLINE_ERR_POISONED = 91,
} towline_status;

/**
 * What is asked.
 */
typedef enum {
    /**
     * No request: the handle is none.
     */
    TOWLINE_ASKS_NOTHING = 0,
    /**
     * May this tool run?
     */
    TOWLINE_ASKS_PERMISSION = 1,
    /**
     * A hook is called.
     */
    TOWLINE_ASKS_HOOK = 2,
    /**
     * A tool of this program is called.
     */
    TOWLINE_ASKS_TOOL_CALL = 3,
    /**
     * A resource of an in-process MCP server is read.
     */
    TOWLINE_ASKS_RESOURCE = 4,
    /**
     * A prompt of an in-process MCP server is wanted.
     */
    TOWLINE_ASKS_PROMPT = 5,
    /**
     * A JSON-RPC request for an MCP server that the host runs itself.
     */
    TOWLINE_ASKS_MCP_MESSAGE = 6,
    /**
     * An external MCP server wants something of the user.
     */
    TOWLINE_ASKS_ELICITATION = 7,
    /**
     * A dialog is to be shown.
     */
    TOWLINE_ASKS_DIALOG = 8,
    /**
     * Anything else; "/subtype" tells what.
     */
    TOWLINE_ASKS_OTHER = 9,
} towline_kind_of_request;

/**
 * What an event tells.
 */
typedef enum {
    /**
     * No event: the handle is none.
     */
    TOWLINE_NO_EVENT = 0,
    /**
     * A message of the conversation, of a type known or not; towline_event_type() tells which.
     * towline_event_json() is the line that the CLI wrote.
     */
    TOWLINE_MESSAGE = 1,
    /**
     * The CLI asks something that no callback serves: towline_event_request(). Freed with nobody
     * having answered or retained it, the safe answer is sent.
     */
    TOWLINE_REQUEST = 2,
    /**
     * The request with the key towline_event_id() need not be answered any more: "/reason" is
     * withdrawn, timed_out or session_ended.
     */
    TOWLINE_REQUEST_CANCELLED = 3,
    /**
     * The answer to the control request towline_event_id(); towline_event_subtype() is that of
     * the request, towline_event_json() the payload of the answer, {} when there is none.
     * towline_event_error() tells why there is no answer.
     */
    TOWLINE_RESPONSE = 4,
    /**
     * A turn is over: towline_event_turn(), towline_event_outcome(). towline_event_json() is the
     * result message, which came as TOWLINE_MESSAGE just before.
     */
    TOWLINE_TURN_ENDED = 5,
    /**
     * A line of the CLI's stderr: towline_event_text().
     */
    TOWLINE_STDERR = 6,
    /**
     * Something odd that does not end the session: towline_event_text() is a sentence.
     */
    TOWLINE_DIAGNOSTIC = 7,
    /**
     * The CLI answered initialize: towline_event_json() is the payload, what this CLI has to
     * offer.
     */
    TOWLINE_INITIALIZED = 8,
    /**
     * The last event: the process is gone, and everything that it wrote was delivered.
     * towline_event_error() tells what went wrong, NULL when nothing did, and so does "/error"
     * ("/error/message", …). In any case there are "/exitCode" or "/signal", "/result" (the
     * text of the last error result) and "/stderr" (the end of it); with a transport of the host
     * "/transport", how it ended in words.
     */
    TOWLINE_CLOSED = 9,
    /**
     * A JSON-RPC notification for an MCP server that the host runs itself: "/server",
     * "/message".
     */
    TOWLINE_MCP_NOTIFICATION = 10,
} towline_kind_of_event;

/**
 * How a turn ended.
 */
typedef enum {
    /**
     * The event is no TOWLINE_TURN_ENDED.
     */
    TOWLINE_NO_OUTCOME = 0,
    /**
     * With a result of the CLI, good or bad; "/is_error" and "/subtype" tell.
     */
    TOWLINE_ENDED_WITH_RESULT = 1,
    /**
     * The prompt was cancelled before its turn began.
     */
    TOWLINE_ENDED_CANCELLED = 2,
    /**
     * A time limit of the options passed, and the turn was interrupted: "/option" names it.
     */
    TOWLINE_ENDED_TIMED_OUT = 3,
    /**
     * The session ended first: "/result" is the text of the CLI's last error result, or empty.
     */
    TOWLINE_ENDED_WITH_SESSION = 4,
} towline_outcome;

/**
 * A text that the caller owns: read with towline_buffer_data(), freed with
 * towline_buffer_free(). It can be read from any thread.
 */
typedef struct towline_buffer towline_buffer;

/**
 * The protocol without a process: bytes in, bytes and events out. It reads no clock and no
 * descriptor. One thread at a time uses it and answers its requests. Freed with
 * towline_connection_free().
 *
 * After every input (bytes, the end, the time, a command) take towline_connection_event() until it
 * returns TOWLINE_TIMEOUT, write towline_connection_outgoing() to the CLI, end the CLI's stdin when
 * towline_connection_wants_end() says so, and come back no later than
 * towline_connection_deadline().
 */
typedef struct towline_connection towline_connection;

/**
 * Why a call failed. Made by the library, freed with towline_error_free(). It can be read from
 * any thread.
 */
typedef struct towline_error towline_error;

/**
 * Something that happened. It belongs to who polled it and is freed with towline_event_free().
 * One thread at a time uses it, any thread; it may outlive its session.
 */
typedef struct towline_event towline_event;

/**
 * What sessions are started with: options, callbacks and tools. Any number of sessions can be
 * started with one; each takes a copy, so that later changes do not reach it, and it may be freed
 * while they run. Functions on it can be called from any thread.
 */
typedef struct towline_options towline_options;

/**
 * Sessions that are started before anybody needs them, so that a first prompt costs no start-up,
 * and conversations that are kept open for their next prompt, within a limit on the number of
 * processes. Freed with towline_pool_free().
 *
 * It starts no thread: towline_pool_poll(), _fill(), _take() and _close() do the I/O and run the
 * callbacks of the sessions that wait, on the thread that calls them. A pool that nobody polls still
 * has its processes started ahead; health and age of its sessions are then looked at by the next
 * take. All functions can be called from any thread; in a callback of a session that the pool holds
 * those that wait fail with TOWLINE_ERR_REENTRANT.
 */
typedef struct towline_pool towline_pool;

/**
 * A session that a pool was asked for with towline_pool_begin_take(). Freed with
 * towline_pool_ticket_free(), before or after its pool. From any thread.
 */
typedef struct towline_pool_ticket towline_pool_ticket;

/**
 * A request of the CLI, to be answered once, by one of the towline_request_ functions that do so
 * or by towline_session_respond(). All functions on it can be called from any thread.
 *
 * It is counted: a callback and towline_event_request() lend one that they own;
 * towline_request_retain() keeps it, each such call needs one towline_request_free(). When nobody
 * holds it and nobody has answered, the safe answer is sent: a permission is denied, a hook
 * reports an error, a tool call gets an error result, an elicitation is cancelled. An answer that
 * comes too late is harmless: TOWLINE_ERR_ANSWERED or TOWLINE_ERR_WITHDRAWN.
 */
typedef struct towline_request towline_request;

/**
 * A conversation with one CLI process. Freed with towline_session_free().
 *
 * It starts no thread: towline_session_poll(), _connect(), _request_wait() and _close() do the
 * I/O and run the callbacks on the thread that calls them, one thread at a time. Everything else
 * can be called from any thread, callbacks too, and wakes the thread that polls.
 */
typedef struct towline_session towline_session;

/**
 * A place where sessions are kept so that they outlive a machine. Functions on it block until the
 * store has done its work and can be called from any thread; from a process made by fork() they
 * return TOWLINE_ERR_FORKED. Freed with towline_store_free().
 */
typedef struct towline_store towline_store;

/**
 * Takes the answer to a call of a store. It is valid until the callback returns and used on its
 * thread alone.
 */
typedef struct towline_store_reply towline_store_reply;

/**
 * How a transport says that it is ready. The transport gets one when it is opened and frees it
 * with towline_waker_free(), when it likes; it may outlive the session.
 */
typedef struct towline_waker towline_waker;

/**
 * What a callback has done with its request: TOWLINE_ANSWERED, TOWLINE_LATER or TOWLINE_FAILED.
 * Any other value counts as TOWLINE_FAILED.
 */
typedef int32_t towline_answer;

/**
 * Serves a request of the CLI. It runs on the thread that is inside towline_session_poll(),
 * _connect() or _request_wait(), with no lock held, and may call every function that does not
 * wait; those that do return TOWLINE_ERR_REENTRANT. request is valid until it returns; see
 * towline_request_retain(). It must return: no longjmp, no C++ exception.
 */
typedef towline_answer (*towline_request_callback)(void *user_data, towline_request *request);

/**
 * Called once with a callback's user data when nothing uses it any more: the options object that
 * it was registered with and every session made from it are freed, or another callback has
 * taken its place in the options and no session has it. It runs on the thread that frees the last
 * of them. When the registration fails, it is not called. NULL for none.
 */
typedef void (*towline_finalize)(void *user_data);

/**
 * Gets a line: of the CLI's stderr without its end, or a diagnostic. NUL-terminated, UTF-8, valid
 * until the callback returns. It runs like a towline_request_callback.
 */
typedef void (*towline_line_callback)(void *user_data, const char *line, size_t len);

/**
 * Gets a record of the log. level is TOWLINE_LOG_ERROR to TOWLINE_LOG_TRACE; target what it is
 * about (towline.session, towline.turn, towline.request, towline.callback,
 * towline.store, towline.diagnostic, towline.stderr, towline.wire); message a short
 * sentence; fields JSON text of an object with more of it; session_id NULL until it is known;
 * turn 0 when it belongs to none. The texts are NUL-terminated UTF-8 and valid until the callback
 * returns. It runs like a towline_request_callback, and inside towline_session_close() too.
 */
typedef void (*towline_log_callback)(void *user_data,
                                     int32_t level,
                                     const char *target,
                                     const char *message,
                                     const char *fields,
                                     const char *session_id,
                                     uint64_t turn);

/**
 * How the CLI is to be started, for a transport that starts it: what execve() takes. Everything is
 * valid until the function that gets it returns.
 */
typedef struct {
    /**
     * The executable, after a launcher's prefix if there is one, and its arguments, then NULL.
     */
    const char *const *argv;
    /**
     * The whole environment, each "NAME=value", then NULL.
     */
    const char *const *env;
    /**
     * The folder to start in; NULL is the host's.
     */
    const char *cwd;
    /**
     * The user to run as, by name or number; NULL is the host's.
     */
    const char *user;
} towline_launch;

/**
 * A byte stream to a CLI, in functions of the host. None of them may wait: what cannot be done at
 * once returns TOWLINE_WOULD_BLOCK, and towline_waker_wake() is called when it can. They run one at
 * a time, on whatever thread calls a function of the session, with the session locked: what of the
 * session they call fails with TOWLINE_ERR_REENTRANT. They must return: no longjmp, no C++ exception.
 * One that does not return is a call that does not return: the function of the session in which it
 * was called waits for it, so do all others that need the session, and no deadline ends that, since
 * they are kept by those very calls.
 *
 * What a function cannot return (a count above len, 0 of write, a negative number that is
 * neither TOWLINE_WOULD_BLOCK nor TOWLINE_BROKEN) ends the session with an error, whenever it
 * happens, which names the function and the number; so does an *exit that no process ends with,
 * unless the host was closing the session. TOWLINE_BROKEN is an error as well unless ended tells
 * how the CLI ended or the host was closing.
 */
typedef struct {
    /**
     * sizeof(towline_transport), so that members can be added.
     */
    size_t size;
    /**
     * Whether the CLI is started by open, with every option: then it gets a launch.
     * "watchdog" and "processGroup" are its own to see to. Otherwise the CLI runs already, or is
     * started in some other way: options that only a command line or the environment can carry have
     * no effect, and a TOWLINE_DIAGNOSTIC names them.
     */
    bool launches;
    /**
     * Opens the stream of a session and returns it for the functions below; NULL fails
     * towline_session_create() with TOWLINE_ERR_START. launch is NULL unless launches is set.
     * waker is the stream's own from then on, whatever is returned.
     */
    void *(*open)(void *user_data, const towline_launch *launch, towline_waker *waker);
    /**
     * Reads at most len bytes of the CLI's output: how many, 0 at the end,
     * TOWLINE_WOULD_BLOCK or TOWLINE_BROKEN.
     */
    ptrdiff_t (*read)(void *stream, void *buffer, size_t len);
    /**
     * The same for its stderr. NULL when there is none.
     */
    ptrdiff_t (*read_stderr)(void *stream, void *buffer, size_t len);
    /**
     * Takes at most len bytes for the CLI's input, one at least: how many, TOWLINE_WOULD_BLOCK or
     * TOWLINE_BROKEN.
     */
    ptrdiff_t (*write)(void *stream, const void *bytes, size_t len);
    /**
     * No more input comes. Called once.
     */
    void (*end_input)(void *stream);
    /**
     * The grace after the end of the input has passed: asks the CLI to end, as SIGTERM does. false
     * when it cannot be asked; close then follows at once. NULL is the same.
     */
    bool (*terminate)(void *stream);
    /**
     * Ends it for good. Called once, also when the CLI has ended by itself.
     */
    void (*close)(void *stream);
    /**
     * Whether it is known how the CLI ended; asked after the end of the output and after close.
     * *exit is TOWLINE_NO_EXIT before, *problem NULL: they may be set to the exit status, or a
     * signal's number made negative, and to what went wrong with the stream (a text that stays valid
     * until free). Until it is known the session waits, for its graces at most. NULL: nothing is
     * ever known.
     */
    bool (*ended)(void *stream, int64_t *exit, const char **problem);
    /**
     * Nothing uses the stream any more. NULL for none.
     */
    void (*free)(void *stream);
} towline_transport;

/**
 * Names one transcript. The texts are valid until the callback returns.
 */
typedef struct {
    /**
     * The scope of the session: the name of its project's folder, unless the host has its own.
     */
    const char *project_key;
    /**
     * The session.
     */
    const char *session_id;
    /**
     * The transcript below the session, such as subagents/agent-1; NULL for the session's own.
     */
    const char *subpath;
} towline_store_key;

/**
 * One line of a transcript. The texts are valid until the callback returns.
 */
typedef struct {
    /**
     * A JSON object on one line.
     */
    const char *json;
    /**
     * The length of json.
     */
    size_t len;
    /**
     * The entry's own id; NULL if it has none. An entry with an id that is there already is not
     * added again.
     */
    const char *uuid;
} towline_store_entry;

/**
 * Adds entries to the end of a transcript, in order, and returns when they are safe.
 */
typedef towline_answer (*towline_store_append)(void *user_data,
                                               const towline_store_key *key,
                                               const towline_store_entry *entries,
                                               size_t count,
                                               towline_store_reply *reply);

/**
 * Does something with a transcript or a session: gives all its entries in order by
 * towline_store_reply_entry(), none if it was never written (load); forgets it, and for a
 * session everything below it too (remove); gives the subpaths below a session by
 * towline_store_reply_subkey() (list_subkeys).
 */
typedef towline_answer (*towline_store_on_key)(void *user_data,
                                               const towline_store_key *key,
                                               towline_store_reply *reply);

/**
 * Gives the sessions of a project, without what is below them, by towline_store_reply_session()
 * (list_sessions), or their summaries by towline_store_reply_summary()
 * (list_session_summaries).
 */
typedef towline_answer (*towline_store_on_project)(void *user_data,
                                                   const char *project_key,
                                                   towline_store_reply *reply);

/**
 * What a store of the host does. append and load are needed, the others may be NULL: a store
 * without list_sessions and list_session_summaries cannot be listed, one without remove
 * keeps everything, from one without list_subkeys no subagents come back.
 *
 * The functions return TOWLINE_ANSWERED, or TOWLINE_FAILED after towline_store_reply_error() has
 * said why. They run on the thread that calls a function of the store, for a session on a thread
 * of the store's own, and may come from several threads at once. They must return: no longjmp, no
 * C++ exception.
 */
typedef struct {
    /**
     * sizeof(towline_store_callbacks); later versions may have more functions.
     */
    size_t size;
    towline_store_append append;
    towline_store_on_key load;
    towline_store_on_project list_sessions;
    towline_store_on_project list_session_summaries;
    towline_store_on_key remove;
    towline_store_on_key list_subkeys;
} towline_store_callbacks;

/**
 * Makes a new, empty store for towline_store_check(), which frees it; NULL when it cannot.
 */
typedef towline_store *(*towline_store_maker)(void *user_data);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library that the program runs with, "0.1.0". The version of the header
 * it was compiled with is TOWLINE_VERSION.
 */
const char *towline_version(void);

/**
 * The version of the binary interface that the library has. Compare with TOWLINE_ABI_VERSION of
 * the header: a program works with a library whose number is the same. It is raised only by what
 * breaks programs compiled before; the shared library's file name carries it.
 */
uint32_t towline_abi_version(void);

/**
 * The name of a status, "TOWLINE_ERR_UTF8"; "unknown status" for a number that is none. Never
 * NULL; the text is static.
 */
const char *towline_status_name(int32_t status);

/**
 * The status that the failed call returned; TOWLINE_ERR_NULL or TOWLINE_ERR_HANDLE when error
 * is no error object.
 */
towline_status towline_error_code(const towline_error *error);

/**
 * What went wrong and what to do, in English, for people. Never NULL; the view belongs to the
 * error object.
 */
const char *towline_error_message(const towline_error *error);

/**
 * The same for programs: a JSON object with code (the name of the status), status, message,
 * and what is known of exitCode, signal, stderr (the end of what the CLI wrote there),
 * transport (how a transport of the host ended), result (the text of its last error result), subtype, error and errorCode (of a control
 * request the CLI refused), limitMs, option, path, tool. Never NULL; the view belongs to
 * the error object.
 */
const char *towline_error_detail_json(const towline_error *error);

/**
 * Frees an error object. NULL is fine. Those that towline_event_error() shows belong to their
 * event and must not be freed.
 */
towline_status towline_error_free(towline_error *error);

/**
 * The text, NUL-terminated; its length without the NUL goes to len unless that is NULL. NULL
 * when buffer is no buffer. The view belongs to the buffer.
 */
const char *towline_buffer_data(const towline_buffer *buffer, size_t *len);

/**
 * Frees a buffer. NULL is fine.
 */
towline_status towline_buffer_free(towline_buffer *buffer);

/**
 * New options with nothing set. Never NULL. Free them with towline_options_free().
 */
towline_options *towline_options_new(void);

/**
 * A copy, which shares the callbacks: their finalizers run when the last copy and the last
 * session are gone. NULL when options are no options. Free it with towline_options_free().
 */
towline_options *towline_options_clone(const towline_options *options);

/**
 * Frees options. NULL is fine. Sessions started with them go on.
 */
towline_status towline_options_free(towline_options *options);

/**
 * Applies a JSON object of options over what is set: a key that it has replaces that option
 * whole, one that it lacks leaves it alone, null sets it back to its default (a time limit to
 * none). All of it is applied or nothing. The keys are described in
 * include/schema/options.json.
 *
 * Errors: TOWLINE_ERR_JSON when the text is not one JSON object; TOWLINE_ERR_OPTION for an
 * unknown key or a value of the wrong type.
 */
towline_status towline_options_set_json(towline_options *options,
                                        const char *json,
                                        size_t len,
                                        towline_error **error);

/**
 * Sets an option that is a string, such as "model" or "cwd". The keys are those of
 * towline_options_set_json().
 *
 * Errors: TOWLINE_ERR_OPTION for an unknown key or one that takes no string.
 */
towline_status towline_options_set_string(towline_options *options,
                                          const char *key,
                                          const char *value,
                                          size_t len,
                                          towline_error **error);

/**
 * Sets an option that is a number, such as "maxTurns" or "idleTimeoutMs".
 *
 * Errors: TOWLINE_ERR_OPTION for an unknown key, one that takes no number, or a number out of
 * range.
 */
towline_status towline_options_set_int(towline_options *options,
                                       const char *key,
                                       int64_t value,
                                       towline_error **error);

/**
 * Sets an option that is true or false, such as "includePartialMessages".
 *
 * Errors: TOWLINE_ERR_OPTION for an unknown key or one that is not true or false.
 */
towline_status towline_options_set_bool(towline_options *options,
                                        const char *key,
                                        bool value,
                                        towline_error **error);

/**
 * Sets an option that is a list of strings, such as "allowedTools", to count NUL-terminated
 * texts; NULL and 0 give an empty list.
 *
 * Errors: TOWLINE_ERR_OPTION for an unknown key or one that takes no list.
 */
towline_status towline_options_set_strings(towline_options *options,
                                           const char *key,
                                           const char *const *values,
                                           size_t count,
                                           towline_error **error);

/**
 * Sets a variable of the CLI's environment, or takes one away when value is NULL. Variables set
 * earlier stay; the option "env" of towline_options_set_json() replaces them all.
 *
 * Errors: TOWLINE_ERR_ARGUMENT when variable is empty or has a =, or a text has a NUL.
 */
towline_status towline_options_set_env(towline_options *options,
                                       const char *variable,
                                       const char *value,
                                       towline_error **error);

/**
 * The options that differ from their defaults, as the JSON object that
 * towline_options_set_json() takes, with the values of variables and secrets in it. Callbacks and
 * tools are not part of it. Free *json with towline_buffer_free().
 */
towline_status towline_options_json(const towline_options *options,
                                    towline_buffer **json,
                                    towline_error **error);

/**
 * Registers who decides whether a tool may run that the permission rules do not settle. With a
 * callback of NULL such requests come as TOWLINE_REQUEST events; with nothing registered the CLI
 * refuses them. Takes the place of what was registered before.
 *
 * In the callback: the tool is "/tool_name", its input is under "/input"; answer with
 * towline_request_allow() or towline_request_deny().
 */
towline_status towline_options_on_permission(towline_options *options,
                                             towline_request_callback callback,
                                             void *user_data,
                                             towline_finalize finalize,
                                             towline_error **error);

/**
 * Registers a hook: what is asked, or told, at an event of the CLI ("PreToolUse", "Stop", …).
 * matcher picks some ("Bash", "Edit|Write"), NULL is all of them. timeout_ms is how long
 * the CLI waits for the answer, 0 for its default. on_failure is one of TOWLINE_HOOK_DEFAULT,
 * _CONTINUE and _BLOCK. With a callback of NULL the calls come as TOWLINE_REQUEST events. Any
 * number of hooks can be registered.
 *
 * In the callback: the hook's input is under "/input"; answer with towline_request_respond()
 * and a hook output, "{}" for no opinion.
 */
towline_status towline_options_on_hook(towline_options *options,
                                       const char *event,
                                       const char *matcher,
                                       uint64_t timeout_ms,
                                       int32_t on_failure,
                                       towline_request_callback callback,
                                       void *user_data,
                                       towline_finalize finalize,
                                       towline_error **error);

/**
 * Registers who answers when an external MCP server wants something of the user. With a callback
 * of NULL such requests come as TOWLINE_REQUEST events; with nothing registered they are
 * cancelled. Answer with towline_request_respond() and {"action":"accept","content":{…}},
 * "decline" or "cancel".
 */
towline_status towline_options_on_elicitation(towline_options *options,
                                              towline_request_callback callback,
                                              void *user_data,
                                              towline_finalize finalize,
                                              towline_error **error);

/**
 * Registers who shows dialogs, of the count kinds named. With a callback of NULL such requests
 * come as TOWLINE_REQUEST events; the CLI does not ask for kinds that nobody named. Takes the place
 * of what was registered before.
 */
towline_status towline_options_on_dialog(towline_options *options,
                                         const char *const *kinds,
                                         size_t count,
                                         towline_request_callback callback,
                                         void *user_data,
                                         towline_finalize finalize,
                                         towline_error **error);

/**
 * Registers who answers every other request of the CLI, those of subtypes that this library does
 * not know among them. With a callback of NULL they come as TOWLINE_REQUEST events; with nothing
 * registered they are answered with an error, so that the CLI never hangs.
 */
towline_status towline_options_on_request(towline_options *options,
                                          towline_request_callback callback,
                                          void *user_data,
                                          towline_finalize finalize,
                                          towline_error **error);

/**
 * Registers who gets the lines of the CLI's stderr. With a callback of NULL they come as
 * TOWLINE_STDERR events; with nothing registered only their end is kept, for errors.
 */
towline_status towline_options_on_stderr(towline_options *options,
                                         towline_line_callback callback,
                                         void *user_data,
                                         towline_finalize finalize,
                                         towline_error **error);

/**
 * Registers who gets diagnostics: sentences about what is odd and does not end the session.
 * With a callback of NULL, or nothing registered, they come as TOWLINE_DIAGNOSTIC events. The
 * callback runs inside towline_session_poll().
 */
towline_status towline_options_on_log(towline_options *options,
                                      towline_line_callback callback,
                                      void *user_data,
                                      towline_finalize finalize,
                                      towline_error **error);

/**
 * Registers who gets records of what happens in the session, from TOWLINE_LOG_ERROR up to level:
 * that it has started, opened, ended; turns, requests both ways, tool calls and store calls, with
 * their outcomes and how long they took; steps of the end; diagnostics, which come as without this
 * too; lines of stderr; with option wireLog set to log also those of the wire, at
 * TOWLINE_LOG_TRACE. Nothing secret stands in them. A callback of NULL takes the registration back.
 *
 * Errors: TOWLINE_ERR_ARGUMENT when there is no such level.
 */
towline_status towline_options_on_log_record(towline_options *options,
                                             int32_t level,
                                             towline_log_callback callback,
                                             void *user_data,
                                             towline_finalize finalize,
                                             towline_error **error);

/**
 * Adds a tool that runs inside this program, to the in-process MCP server named server, which
 * is made at its first tool. The model calls it mcp__SERVER__NAME.
 *
 * description is for the model. schema is the JSON Schema of the arguments, an object with
 * "type":"object"; arguments that do not fit never reach the callback. annotations is NULL or a
 * JSON object ({"readOnlyHint":true}). These five texts are NUL-terminated. With a callback of
 * NULL the calls come as TOWLINE_REQUEST events.
 *
 * In the callback: the arguments are under "/message/params/arguments", and
 * towline_request_arguments() has them whole; answer with towline_request_tool_text() or
 * towline_request_tool_json(). The callback runs on the polling thread: one that takes long
 * retains the request, returns TOWLINE_LATER and answers from elsewhere.
 *
 * Errors: TOWLINE_ERR_TOOL when the definition is refused or the name is taken.
 */
towline_status towline_options_add_tool(towline_options *options,
                                        const char *server,
                                        const char *tool,
                                        const char *description,
                                        const char *schema,
                                        const char *annotations,
                                        towline_request_callback callback,
                                        void *user_data,
                                        towline_finalize finalize,
                                        towline_error **error);

/**
 * Announces an MCP server that the host runs itself. What the CLI sends it comes as
 * TOWLINE_REQUEST events of kind TOWLINE_ASKS_MCP_MESSAGE (answer with the JSON-RPC response) and
 * as TOWLINE_MCP_NOTIFICATION events; what it sends goes by towline_session_mcp_send().
 *
 * Errors: TOWLINE_ERR_ARGUMENT when the name is empty or taken.
 */
towline_status towline_options_bridge_server(towline_options *options,
                                             const char *server,
                                             towline_error **error);

/**
 * Has sessions run over a stream of the host in the place of a CLI that they start themselves.
 * transport is copied; each session opens a stream of its own. NULL goes back to a CLI.
 *
 * Errors: TOWLINE_ERR_ARGUMENT when a function is missing that may not be NULL, or size is none
 * that this library knows.
 */
towline_status towline_options_set_transport(towline_options *options,
                                             const towline_transport *transport,
                                             void *user_data,
                                             towline_finalize finalize,
                                             towline_error **error);

/**
 * Says that the stream can be read or written again, or has ended. Never waits; from any thread, in
 * the functions of the transport too. Does nothing after the end of the session.
 */
towline_status towline_waker_wake(const towline_waker *waker);

/**
 * Frees a waker. NULL is fine.
 */
towline_status towline_waker_free(towline_waker *waker);

/**
 * Starts the CLI and returns at once: the session opens inside towline_session_poll(). Prompts may
 * be sent before. *session is NULL after a failure.
 *
 * Errors: TOWLINE_ERR_CLI_NOT_FOUND, TOWLINE_ERR_NOT_EXECUTABLE, TOWLINE_ERR_CWD,
 * TOWLINE_ERR_ARGUMENTS_TOO_LONG, TOWLINE_ERR_LAUNCH when the options contradict each other,
 * TOWLINE_ERR_TOOL when a tool's schema is none, TOWLINE_ERR_START.
 */
towline_status towline_session_create(const towline_options *options,
                                      towline_session **session,
                                      towline_error **error);

/**
 * Waits until the session is open, running callbacks on the way; events stay for the next poll.
 * Not needed, but it tells at once what is wrong. TOWLINE_OK too for a session that was open and is
 * over by now. timeout_ms below 0 is no limit.
 *
 * Errors: TOWLINE_TIMEOUT; TOWLINE_ERR_EXITED_EARLY, TOWLINE_ERR_REFUSED,
 * TOWLINE_ERR_INITIALIZE_TIMEOUT, each with the process's status and stderr in its detail;
 * TOWLINE_ERR_REENTRANT in a callback.
 */
towline_status towline_session_connect(towline_session *session,
                                       int64_t timeout_ms,
                                       towline_error **error);

/**
 * Sends a prompt. The turn's number, never 0, goes to *turn unless turn is NULL: events name
 * it. It never blocks.
 *
 * Errors: TOWLINE_ERR_ENDED, TOWLINE_ERR_INPUT_ENDED, TOWLINE_ERR_QUEUE_FULL.
 */
towline_status towline_session_send(towline_session *session,
                                    const char *prompt,
                                    size_t len,
                                    uint64_t *turn,
                                    towline_error **error);

/**
 * Sends a user message given as a whole JSON object: {"type":"user","message":{"role":"user",
 * "content":[…]}}, with uuid, priority and more if need be. Without a uuid it gets one.
 *
 * Errors: those of towline_session_send(); TOWLINE_ERR_JSON; TOWLINE_ERR_MESSAGE for what the CLI
 * would drop or die of; TOWLINE_ERR_DUPLICATE_UUID.
 */
towline_status towline_session_send_json(towline_session *session,
                                         const char *message,
                                         size_t len,
                                         uint64_t *turn,
                                         towline_error **error);

/**
 * Does what is ready, runs the callbacks of what the CLI asks, and gives the next event; waits for
 * one up to timeout_ms, below 0 for ever, 0 not at all. *event belongs to the caller; it is
 * NULL unless TOWLINE_OK is returned.
 *
 * TOWLINE_TIMEOUT, without an error object, means that there was none, or that
 * towline_session_wake() was called. The last event is TOWLINE_CLOSED; after it, TOWLINE_ERR_CLOSED.
 *
 * Errors: TOWLINE_ERR_CLOSED, TOWLINE_ERR_BUSY when another thread polls, TOWLINE_ERR_REENTRANT
 * in a callback, TOWLINE_ERR_SYSTEM.
 */
towline_status towline_session_poll(towline_session *session,
                                    int64_t timeout_ms,
                                    towline_event **event,
                                    towline_error **error);

/**
 * The descriptor to watch for reading in an event loop: ready whenever a poll with a limit of 0
 * would make progress, together with towline_session_next_timeout(). It belongs to the session:
 * neither read nor close it. The same one for the whole life of the session.
 *
 * Errors: TOWLINE_ERR_CLOSED when the session has ended and nobody asked for it before.
 */
towline_status towline_session_fd(towline_session *session, int32_t *fd, towline_error **error);

/**
 * How many milliseconds the event loop may wait on the descriptor before it must poll all the
 * same; -1 is for ever.
 */
towline_status towline_session_next_timeout(towline_session *session,
                                            int64_t *timeout_ms,
                                            towline_error **error);

/**
 * Makes a waiting poll return TOWLINE_TIMEOUT, or the next one if none waits. From any thread.
 */
towline_status towline_session_wake(towline_session *session, towline_error **error);

/**
 * Ends the input: what was sent is still worked through, then the CLI exits by itself. What it
 * would ask after that (permissions, hooks, tools) it does not ask any more. Go on polling until
 * TOWLINE_CLOSED.
 */
towline_status towline_session_end_input(towline_session *session, towline_error **error);

/**
 * Ends the input by itself as soon as the CLI needs nothing more of this program: for one that has
 * sent its last prompt. Go on polling until TOWLINE_CLOSED.
 */
towline_status towline_session_end_input_when_settled(towline_session *session,
                                                      towline_error **error);

/**
 * Begins to end the session and returns at once: the CLI's stdin is ended; if it has not exited
 * after the grace (option closeGraceMs), SIGTERM goes to its process group, after another
 * (terminateGraceMs) SIGKILL. Polling sees it through. From any thread, callbacks too, any number
 * of times.
 */
towline_status towline_session_begin_close(towline_session *session, towline_error **error);

/**
 * Ends the session and waits until the process is gone, which the graces bound. grace_ms stands
 * for both of them; below 0 those of the options hold. Events that were not polled yet can still
 * be. From any thread, any number of times.
 *
 * Errors: TOWLINE_ERR_REENTRANT in a callback: use towline_session_begin_close() there.
 */
towline_status towline_session_close(towline_session *session,
                                     int64_t grace_ms,
                                     towline_error **error);

/**
 * Ends the session if need be, with graces of at most one second each, and frees it. NULL is fine.
 * Events and requests of it stay valid. After fork() the child's copy is freed and the parent's
 * session goes on.
 *
 * Errors: TOWLINE_ERR_BUSY while a call on it runs, in a callback of it for one: then nothing has
 * happened.
 */
towline_status towline_session_free(towline_session *session);

/**
 * The process id of the CLI, or of its launcher; it stays the same when the process is gone. 0 when
 * the session runs over a transport that leads to no process of this machine.
 */
towline_status towline_session_pid(towline_session *session, int64_t *pid, towline_error **error);

/**
 * The session's id, as the last message gave it. NULL before the first turn. The view lives as
 * long as the session.
 */
const char *towline_session_id(towline_session *session, size_t *len);

/**
 * The CLI's version, "2.1.332". NULL until it is known. The view lives as long as the session.
 */
const char *towline_session_cli_version(towline_session *session, size_t *len);

/**
 * The payload of the CLI's answer to initialize, a JSON object: commands, models, account, ….
 * NULL until it has come. The view lives as long as the session.
 */
const char *towline_session_capabilities_json(towline_session *session, size_t *len);

/**
 * Counters, a JSON object: bytesRead, bytesWritten, stderrBytes, linesRead, linesWritten,
 * events, messages, turns (prompts sent), turnsSucceeded, turnsFailed, turnsCancelled,
 * turnsTimedOut, requestsSent (control requests of the host), requestsFailed,
 * requestsPending, requestsReceived (permissions, hooks, tool calls, …), requestsOpen,
 * diagnostics, shed (events dropped while closing), queueHighWater and writeHighWater (the
 * most bytes that waited for the host and for the CLI), and startup with the milliseconds from the call that created the session
 * until spawnedMs, initializedMs, takenMs (from a pool) and firstMessageMs, null for what has not happened. Free *json with towline_buffer_free().
 */
towline_status towline_session_stats_json(towline_session *session,
                                          towline_buffer **json,
                                          towline_error **error);

/**
 * The end of what the CLI has written to stderr so far (option stderrTailBytes). Free *tail
 * with towline_buffer_free().
 */
towline_status towline_session_stderr(towline_session *session,
                                      towline_buffer **tail,
                                      towline_error **error);

/**
 * Sends a control request: any subtype, with the JSON object of its fields (NULL for none;
 * include/schema/control-requests.json describes those known). Its number goes to *id unless
 * id is NULL; its answer is the TOWLINE_RESPONSE event with that number. It never blocks.
 *
 * Errors: TOWLINE_ERR_ENDED, TOWLINE_ERR_INPUT_ENDED, TOWLINE_ERR_QUEUE_FULL, TOWLINE_ERR_JSON,
 * TOWLINE_ERR_MESSAGE.
 */
towline_status towline_session_request(towline_session *session,
                                       const char *subtype,
                                       const char *payload,
                                       size_t len,
                                       uint64_t *id,
                                       towline_error **error);

/**
 * Sends a control request and waits for its answer, running callbacks on the way; other events
 * stay for the next poll. *event is a TOWLINE_RESPONSE that the caller frees, NULL unless
 * TOWLINE_OK is returned. timeout_ms below 0 is no limit but that of option controlTimeoutMs.
 *
 * Errors: those of towline_session_request(); TOWLINE_TIMEOUT, and the request is withdrawn;
 * TOWLINE_ERR_REMOTE when the CLI refuses; TOWLINE_ERR_REQUEST_TIMEOUT;
 * TOWLINE_ERR_REQUEST_ENDED; TOWLINE_ERR_REENTRANT in a callback.
 */
towline_status towline_session_request_wait(towline_session *session,
                                            const char *subtype,
                                            const char *payload,
                                            size_t len,
                                            int64_t timeout_ms,
                                            towline_event **event,
                                            towline_error **error);

/**
 * Interrupts what the CLI is doing; prompts that wait run next. Number and answer as with
 * towline_session_request(). From any thread, callbacks too; not in a signal handler.
 */
towline_status towline_session_interrupt(towline_session *session,
                                         uint64_t *id,
                                         towline_error **error);

/**
 * Changes the model for what follows; NULL is the account's default. Number and answer as with
 * towline_session_request().
 */
towline_status towline_session_set_model(towline_session *session,
                                         const char *model,
                                         uint64_t *id,
                                         towline_error **error);

/**
 * Changes the permission mode: "default", "acceptEdits", "plan", "dontAsk", … Number and
 * answer as with towline_session_request().
 */
towline_status towline_session_set_permission_mode(towline_session *session,
                                                   const char *mode,
                                                   uint64_t *id,
                                                   towline_error **error);

/**
 * Stops a background task. Number and answer as with towline_session_request().
 */
towline_status towline_session_stop_task(towline_session *session,
                                         const char *task_id,
                                         uint64_t *id,
                                         towline_error **error);

/**
 * Takes files back to what they were at the user message with this uuid; with dry_run only tells
 * what would change. Needs option enableFileCheckpointing. Number and answer as with
 * towline_session_request().
 */
towline_status towline_session_rewind_files(towline_session *session,
                                            const char *user_message_id,
                                            bool dry_run,
                                            uint64_t *id,
                                            towline_error **error);

/**
 * Withdraws a control request: the CLI aborts what it can and answers with an error, which still
 * comes. Whether it was open goes to *was_open unless that is NULL.
 */
towline_status towline_session_cancel_request(towline_session *session,
                                              uint64_t id,
                                              bool *was_open,
                                              towline_error **error);

/**
 * Takes back a prompt whose turn has not begun. Number and answer as with
 * towline_session_request(); the turn's end comes as TOWLINE_TURN_ENDED.
 *
 * Errors: TOWLINE_ERR_UNKNOWN_TURN.
 */
towline_status towline_session_cancel_turn(towline_session *session,
                                           uint64_t turn,
                                           uint64_t *id,
                                           towline_error **error);

/**
 * Answers a request of the CLI by its key, towline_event_id() or towline_request_id(), as
 * towline_request_respond() does. Its handle must still be held by somebody: an event, a callback
 * or towline_request_retain().
 *
 * Errors: TOWLINE_ERR_UNKNOWN_REQUEST and those of towline_request_respond().
 */
towline_status towline_session_respond(towline_session *session,
                                       uint64_t key,
                                       const char *json,
                                       size_t len,
                                       towline_error **error);

/**
 * Answers a request of the CLI with an error, by its key. Errors as towline_session_respond().
 */
towline_status towline_session_respond_error(towline_session *session,
                                             uint64_t key,
                                             const char *message,
                                             size_t len,
                                             towline_error **error);

/**
 * Sends a JSON-RPC message of an MCP server that was announced with
 * towline_options_bridge_server().
 *
 * Errors: TOWLINE_ERR_UNKNOWN_SERVER, TOWLINE_ERR_JSON, and those of towline_session_send().
 */
towline_status towline_session_mcp_send(towline_session *session,
                                        const char *server,
                                        const char *message,
                                        size_t len,
                                        towline_error **error);

/**
 * Makes a pool of sessions with these options, callbacks and tools, of which it takes a copy, and
 * starts their processes. limits is a JSON object, NULL for the defaults: size (sessions kept
 * warm, default 1), maxSessions (most at a time, of all kinds; null is no limit), idleTimeoutMs
 * (a session unused for this long is closed and, if warm, replaced; 600000), checkIntervalMs (how
 * often one that waits is asked for a sign of life; 30000), checkTimeoutMs (5000),
 * takeTimeoutMs (60000).
 *
 * Errors: TOWLINE_ERR_OPTION for the limits; TOWLINE_ERR_TOOL; TOWLINE_ERR_STATE for options with a
 * transport. A start that fails is told by towline_pool_take().
 */
towline_status towline_pool_create(const towline_options *options,
                                   const char *limits,
                                   size_t len,
                                   towline_pool **pool,
                                   towline_error **error);

/**
 * Gives a session that is open and lives: a warm one at once, else one that is started. With a
 * session_id the one of that conversation: the parked one, else one that resumes it. *session
 * belongs to the caller, who gives it back with towline_pool_put_back() or ends it with
 * towline_session_free(). Waits up to timeout_ms; below 0 as long as takeTimeoutMs says.
 *
 * Errors: those of the start, with the end of the CLI's stderr; TOWLINE_ERR_POOL_FULL,
 * TOWLINE_TIMEOUT when none was ready in time, TOWLINE_ERR_IN_USE for a conversation that somebody
 * else has, TOWLINE_ERR_CLOSED, TOWLINE_ERR_REENTRANT.
 */
towline_status towline_pool_take(towline_pool *pool,
                                 const char *session_id,
                                 size_t len,
                                 int64_t timeout_ms,
                                 towline_session **session,
                                 towline_error **error);

/**
 * As towline_pool_take(), and does not wait: for event loops. The pool has to be polled, as it tells
 * by towline_pool_fd() and towline_pool_next_timeout(); the descriptor is readable and
 * towline_pool_poll() returns as long as there is something for a ticket, which
 * towline_pool_ticket_take() fetches. Tickets are served in their order, among those who wait in
 * towline_pool_take(). timeout_ms is how long the ticket is good for; below 0 as long as
 * takeTimeoutMs says. May be called in callbacks.
 */
towline_status towline_pool_begin_take(towline_pool *pool,
                                       const char *session_id,
                                       size_t len,
                                       int64_t timeout_ms,
                                       towline_pool_ticket **ticket,
                                       towline_error **error);

/**
 * Fetches the session of a ticket: TOWLINE_OK with *session NULL while there is none yet. Does no
 * work of the pool. After a session or an error the ticket is used.
 *
 * Errors: those of towline_pool_take(); TOWLINE_ERR_STATE for a ticket that is used.
 */
towline_status towline_pool_ticket_take(towline_pool_ticket *ticket,
                                        towline_session **session,
                                        towline_error **error);

/**
 * Frees a ticket. One that is not used is cancelled: a session that it has already goes back to the
 * pool. NULL is fine.
 *
 * Errors: TOWLINE_ERR_BUSY while a call on it runs: then nothing has happened.
 */
towline_status towline_pool_ticket_free(towline_pool_ticket *ticket);

/**
 * Gives a session back. One with a conversation is parked under its session id; one that never had
 * a prompt is warm again, for anybody. Events that were not polled stay in it. session is freed,
 * unless this fails.
 *
 * Errors: TOWLINE_ERR_STATE when a turn of it is open, when it has ended or has no id, and when it is
 * of another pool; TOWLINE_ERR_BUSY while a call on it runs.
 */
towline_status towline_pool_put_back(towline_pool *pool,
                                     towline_session *session,
                                     towline_error **error);

/**
 * Ends a session that was taken and frees it without waiting: the pool sees its process through.
 *
 * Errors: TOWLINE_ERR_STATE when it is of another pool; TOWLINE_ERR_BUSY while a call on it runs.
 */
towline_status towline_pool_discard(towline_pool *pool,
                                    towline_session *session,
                                    towline_error **error);

/**
 * Does what is due: starts, opens, checks, replaces and closes sessions and runs their callbacks.
 * Waits for something to do or for something for a ticket, up to timeout_ms, below 0 for ever.
 *
 * Errors: TOWLINE_ERR_REENTRANT, TOWLINE_ERR_SYSTEM.
 */
towline_status towline_pool_poll(towline_pool *pool, int64_t timeout_ms, towline_error **error);

/**
 * Polls until as many sessions are warm as shall be, or there is no room for more.
 * TOWLINE_TIMEOUT, without an error object, when that takes longer than timeout_ms.
 *
 * Errors: TOWLINE_ERR_CLOSED, TOWLINE_ERR_REENTRANT, TOWLINE_ERR_SYSTEM.
 */
towline_status towline_pool_fill(towline_pool *pool, int64_t timeout_ms, towline_error **error);

/**
 * The descriptor to watch for reading in an event loop: ready whenever a poll with a limit of 0
 * would get on, and while there is something for a ticket, together with towline_pool_next_timeout(). It belongs to the pool: neither read nor
 * close it.
 */
towline_status towline_pool_fd(towline_pool *pool,
                               int32_t *fd,
                               towline_error **error);

/**
 * How many milliseconds the event loop may wait on the descriptor before it must poll all the
 * same; -1 is for ever.
 */
towline_status towline_pool_next_timeout(towline_pool *pool,
                                         int64_t *timeout_ms,
                                         towline_error **error);

/**
 * Makes a waiting poll of the pool return. From any thread.
 */
towline_status towline_pool_wake(towline_pool *pool, towline_error **error);

/**
 * Counters, a JSON object: warm, parked, starting, handedOut, closing, waiting (calls
 * that wait for a session) are numbers of this moment; started, resumed, hits, misses,
 * failed (starts), exited, unhealthy, idle, evicted (closed to make room) are counts;
 * failures is how many starts have failed in a row and lastFailure why, or null. Free *json
 * with towline_buffer_free().
 */
towline_status towline_pool_stats_json(towline_pool *pool,
                                       towline_buffer **json,
                                       towline_error **error);

/**
 * Begins to close the pool and returns at once: every session it holds is closed, who waits for one
 * gets TOWLINE_ERR_CLOSED. Polling sees it through. Sessions that were taken are their users'.
 */
towline_status towline_pool_begin_close(towline_pool *pool, towline_error **error);

/**
 * Closes the pool and waits until all sessions that it holds have ended: at the same time, each
 * within the graces of its options. Any number of times.
 *
 * Errors: TOWLINE_ERR_REENTRANT, TOWLINE_ERR_SYSTEM.
 */
towline_status towline_pool_close(towline_pool *pool, towline_error **error);

/**
 * Ends what the pool holds, with graces of at most one second each, and frees it. NULL is fine.
 * Sessions that were taken stay their users'. After fork() the child's copy is freed and the
 * parent's pool goes on.
 *
 * Errors: TOWLINE_ERR_BUSY while a call on it runs: then nothing has happened.
 */
towline_status towline_pool_free(towline_pool *pool);

/**
 * The key of the request, unique within its session; 0 when request is none.
 */
uint64_t towline_request_id(const towline_request *request);

/**
 * What is asked.
 */
towline_kind_of_request towline_request_kind(const towline_request *request);

/**
 * The request object as the CLI sent it, JSON text. The view belongs to the request. NULL when
 * request is none.
 */
const char *towline_request_json(const towline_request *request, size_t *len);

/**
 * The string at a JSON Pointer (RFC 6901) into the request object, decoded: "/tool_name",
 * "/input/command". The view belongs to the request. NULL when there is none, or it is no string.
 */
const char *towline_request_str(const towline_request *request, const char *pointer, size_t *len);

/**
 * The JSON text of the value at a JSON Pointer. The view belongs to the request. NULL when there
 * is none.
 */
const char *towline_request_value(const towline_request *request, const char *pointer, size_t *len);

/**
 * The W3C trace context that the request belongs to, as header traceparent: what the CLI says in
 * a tool call's _meta, else that of the session (option traceparent, or TRACEPARENT of the
 * CLI). The view belongs to the request. NULL without a valid one.
 */
const char *towline_request_traceparent(const towline_request *request, size_t *len);

/**
 * What goes with it as header tracestate. The view belongs to the request. NULL without one.
 */
const char *towline_request_tracestate(const towline_request *request, size_t *len);

/**
 * The whole number at a JSON Pointer.
 *
 * Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
 */
towline_status towline_request_int(const towline_request *request,
                                   const char *pointer,
                                   int64_t *value);

/**
 * The number at a JSON Pointer.
 *
 * Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
 */
towline_status towline_request_double(const towline_request *request,
                                      const char *pointer,
                                      double *value);

/**
 * The true or false at a JSON Pointer.
 *
 * Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
 */
towline_status towline_request_bool(const towline_request *request,
                                    const char *pointer,
                                    bool *value);

/**
 * How many elements the array at a JSON Pointer has, members the object, bytes the string.
 *
 * Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
 */
towline_status towline_request_length(const towline_request *request,
                                      const char *pointer,
                                      size_t *value);

/**
 * Whether null stands at a JSON Pointer, or nothing at all. True when request is none.
 */
bool towline_request_is_null(const towline_request *request, const char *pointer);

/**
 * The name of the tool that a permission request or a tool call is about; of an in-process tool
 * without mcp__SERVER__. The view belongs to the request. NULL when it is about none.
 */
const char *towline_request_tool(const towline_request *request, size_t *len);

/**
 * The in-process MCP server that the request is for. The view belongs to the request. NULL when
 * it is for none.
 */
const char *towline_request_server(const towline_request *request, size_t *len);

/**
 * The arguments of a tool call or prompt, or the input of the tool that a permission request is
 * about: JSON text of an object, "{}" when there is none. The view belongs to the request. NULL
 * when request is none.
 */
const char *towline_request_arguments(const towline_request *request, size_t *len);

/**
 * Whether nobody waits for an answer any more: it was answered, the CLI took it back, its time
 * limit passed, or the session ended. True when request is none, and after fork().
 */
bool towline_request_cancelled(const towline_request *request);

/**
 * Keeps the request beyond its callback or event. Each such call needs one
 * towline_request_free().
 */
towline_status towline_request_retain(towline_request *request);

/**
 * Ends one towline_request_retain(). When it was the last hold and nobody has answered, the safe
 * answer is sent. NULL is fine. Never for a request that a callback or an event lent.
 */
towline_status towline_request_free(towline_request *request);

/**
 * Allows what a permission request asks. input is NULL, or the JSON object that the tool gets
 * in place of its input; permissions is NULL, or a JSON array of permission updates, such as the
 * request's own "/permission_suggestions"; both end with a NUL.
 *
 * Errors: TOWLINE_ERR_ANSWERED, TOWLINE_ERR_WITHDRAWN; TOWLINE_ERR_WRONG_ANSWER when it is no
 * permission request; TOWLINE_ERR_JSON and TOWLINE_ERR_MESSAGE when the CLI would not take it: then
 * the request is still open.
 */
towline_status towline_request_allow(towline_request *request,
                                     const char *input,
                                     const char *permissions,
                                     towline_error **error);

/**
 * Denies what a permission request asks. The model reads message; with interrupt the turn
 * ends too. Errors as towline_request_allow().
 */
towline_status towline_request_deny(towline_request *request,
                                    const char *message,
                                    size_t len,
                                    bool interrupt,
                                    towline_error **error);

/**
 * Answers with the JSON text of the payload: a hook's output, the result of an elicitation or a
 * dialog, a permission result, the whole result of a tool call, a JSON-RPC response to an MCP
 * message. It is checked against what the CLI takes. Errors as towline_request_allow().
 */
towline_status towline_request_respond(towline_request *request,
                                       const char *json,
                                       size_t len,
                                       towline_error **error);

/**
 * Answers with an error. To a tool call it is an error result for the model to read. Errors:
 * TOWLINE_ERR_ANSWERED, TOWLINE_ERR_WITHDRAWN.
 */
towline_status towline_request_respond_error(towline_request *request,
                                             const char *message,
                                             size_t len,
                                             towline_error **error);

/**
 * Answers a tool call with a text; with is_error it is a failure for the model to read. Errors
 * as towline_request_allow().
 */
towline_status towline_request_tool_text(towline_request *request,
                                         const char *result,
                                         size_t len,
                                         bool is_error,
                                         towline_error **error);

/**
 * Answers a tool call with a whole MCP result, a JSON object: content, structuredContent,
 * isError. JSON of the wrong shape becomes an error result that says what is wrong. Errors as
 * towline_request_allow().
 */
towline_status towline_request_tool_json(towline_request *request,
                                         const char *result,
                                         size_t len,
                                         towline_error **error);

/**
 * Tells how far a tool call has come: progress of total (negative: unknown), with a message
 * or NULL. Nothing is sent when the CLI asked for no progress. The call stays open.
 *
 * Errors: TOWLINE_ERR_WRONG_ANSWER when it is no tool call; TOWLINE_ERR_CLOSED after the session's
 * end; TOWLINE_ERR_ARGUMENT for what is no number.
 */
towline_status towline_request_tool_progress(towline_request *request,
                                             double progress,
                                             double total,
                                             const char *message,
                                             size_t len,
                                             towline_error **error);

/**
 * What the event tells.
 */
towline_kind_of_event towline_event_kind(const towline_event *event);

/**
 * The turn that the event belongs to, as towline_session_send() gave it; 0 for what no prompt of
 * this program asked for.
 */
uint64_t towline_event_turn(const towline_event *event);

/**
 * The control request that a TOWLINE_RESPONSE answers (0 from towline_session_request_wait()), or
 * the key of the request that a TOWLINE_REQUEST or TOWLINE_REQUEST_CANCELLED is about; else 0.
 */
uint64_t towline_event_id(const towline_event *event);

/**
 * How the turn of a TOWLINE_TURN_ENDED ended.
 */
towline_outcome towline_event_outcome(const towline_event *event);

/**
 * The type of the message that the event is about: "assistant", "result", "stream_event",
 * … The view belongs to the event. NULL when it is about none.
 */
const char *towline_event_type(const towline_event *event);

/**
 * The subtype of that message, or the subtype of the control request that a TOWLINE_RESPONSE
 * answers. The view belongs to the event. NULL when there is none.
 */
const char *towline_event_subtype(const towline_event *event);

/**
 * The session_id of that message. The view belongs to the event. NULL when there is none.
 */
const char *towline_event_session_id(const towline_event *event);

/**
 * The uuid of that message. The view belongs to the event. NULL when there is none.
 */
const char *towline_event_uuid(const towline_event *event);

/**
 * The parent_tool_use_id of that message, which marks what belongs to a subagent. The view
 * belongs to the event. NULL when there is none.
 */
const char *towline_event_parent_tool_use_id(const towline_event *event);

/**
 * The JSON of the event, which the kinds of events describe: always one object. The view belongs
 * to the event. NULL when event is none.
 */
const char *towline_event_json(const towline_event *event, size_t *len);

/**
 * The visible text: the text blocks of an assistant message, one after the other; the text that a
 * stream_event adds; the line of a TOWLINE_STDERR; the sentence of a TOWLINE_DIAGNOSTIC. Empty
 * for everything else, never NULL. The view belongs to the event.
 *
 * With the option includePartialMessages the same text comes in pieces and then whole: tell them
 * apart by towline_event_type(). Text of subagents has towline_event_parent_tool_use_id().
 */
const char *towline_event_text(const towline_event *event, size_t *len);

/**
 * The request of a TOWLINE_REQUEST, lent by the event: towline_request_retain() keeps it. NULL for
 * other kinds.
 */
towline_request *towline_event_request(const towline_event *event);

/**
 * What went wrong: why a control request has no answer, or how the session failed. NULL when
 * nothing did. It belongs to the event and must not be freed.
 */
const towline_error *towline_event_error(const towline_event *event);

/**
 * Frees an event, and what belongs to it. NULL is fine.
 */
towline_status towline_event_free(towline_event *event);

/**
 * The string at a JSON Pointer (RFC 6901) into towline_event_json(), decoded:
 * "/message/content/0/text". The view belongs to the event. NULL when there is none, or it is no
 * string.
 */
const char *towline_event_str(const towline_event *event, const char *pointer, size_t *len);

/**
 * The JSON text of the value at a JSON Pointer. The view belongs to the event. NULL when there is
 * none.
 */
const char *towline_event_value(const towline_event *event, const char *pointer, size_t *len);

/**
 * The whole number at a JSON Pointer.
 *
 * Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
 */
towline_status towline_event_int(const towline_event *event, const char *pointer, int64_t *value);

/**
 * The number at a JSON Pointer.
 *
 * Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
 */
towline_status towline_event_double(const towline_event *event, const char *pointer, double *value);

/**
 * The true or false at a JSON Pointer.
 *
 * Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
 */
towline_status towline_event_bool(const towline_event *event, const char *pointer, bool *value);

/**
 * How many elements the array at a JSON Pointer has, members the object, bytes the string.
 *
 * Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
 */
towline_status towline_event_length(const towline_event *event, const char *pointer, size_t *value);

/**
 * Whether null stands at a JSON Pointer, or nothing at all. True when event is none.
 */
bool towline_event_is_null(const towline_event *event, const char *pointer);

/**
 * A connection on which initialize is queued, with the options and tools of options. Callbacks
 * are not called: every request comes as an event, and the arguments of tools are not checked.
 * now_ms is the time in milliseconds since a moment of the caller's choice.
 *
 * Errors: TOWLINE_ERR_LAUNCH when the options contradict each other.
 */
towline_status towline_connection_new(const towline_options *options,
                                      uint64_t now_ms,
                                      towline_connection **connection,
                                      towline_error **error);

/**
 * How the CLI has to be launched for these options, a JSON object: arguments behind the
 * executable; env and unsetEnv, over the inherited environment when inheritEnv; cwd;
 * files, each to be written with mode 0600 as name and passed as flag=PATH. It holds secrets.
 * Free *json with towline_buffer_free().
 */
towline_status towline_connection_launch_json(const towline_connection *connection,
                                              towline_buffer **json,
                                              towline_error **error);

/**
 * Frees a connection. NULL is fine. Events and requests of it stay valid.
 */
towline_status towline_connection_free(towline_connection *connection);

/**
 * Room to read the CLI's output into: never empty, valid until the next call on this connection.
 * Tell how much was read with towline_connection_received().
 */
towline_status towline_connection_buffer(towline_connection *connection,
                                         void **data,
                                         size_t *capacity,
                                         towline_error **error);

/**
 * The first count bytes of the buffer that was handed out last now hold output of the CLI.
 *
 * Errors: TOWLINE_ERR_ARGUMENT when that buffer is not as large, or was used already.
 */
towline_status towline_connection_received(towline_connection *connection,
                                           size_t count,
                                           towline_error **error);

/**
 * Takes output of the CLI that stands elsewhere, at the price of one copy.
 */
towline_status towline_connection_receive(towline_connection *connection,
                                          const void *data,
                                          size_t count,
                                          towline_error **error);

/**
 * The CLI's output has ended: everything open ends with it.
 */
towline_status towline_connection_ended(towline_connection *connection, towline_error **error);

/**
 * The next thing that happened. *event belongs to the caller; it is NULL unless TOWLINE_OK is
 * returned. TOWLINE_TIMEOUT, without an error object, means that there is nothing more.
 */
towline_status towline_connection_event(towline_connection *connection,
                                        towline_event **event,
                                        towline_error **error);

/**
 * Bytes for the CLI's stdin, valid until the next call on this connection. Tell how many were
 * written with towline_connection_sent().
 */
towline_status towline_connection_outgoing(towline_connection *connection,
                                           const void **data,
                                           size_t *count,
                                           towline_error **error);

/**
 * The first count bytes of towline_connection_outgoing() were written.
 *
 * Errors: TOWLINE_ERR_ARGUMENT when there are fewer.
 */
towline_status towline_connection_sent(towline_connection *connection,
                                       size_t count,
                                       towline_error **error);

/**
 * Whether the CLI's stdin is to be ended now: the host is done and everything is written.
 */
towline_status towline_connection_wants_end(towline_connection *connection,
                                            bool *wants,
                                            towline_error **error);

/**
 * When towline_connection_time() has to be called at the latest, on the caller's clock; -1 is
 * never.
 */
towline_status towline_connection_deadline(towline_connection *connection,
                                           int64_t *deadline_ms,
                                           towline_error **error);

/**
 * Tells the time, which never goes back; deadlines that have passed become events.
 */
towline_status towline_connection_time(towline_connection *connection,
                                       uint64_t now_ms,
                                       towline_error **error);

/**
 * Sends a prompt; as towline_session_send().
 */
towline_status towline_connection_send(towline_connection *connection,
                                       const char *prompt,
                                       size_t len,
                                       uint64_t *turn,
                                       towline_error **error);

/**
 * Sends a user message given as a whole JSON object; as towline_session_send_json().
 */
towline_status towline_connection_send_json(towline_connection *connection,
                                            const char *message,
                                            size_t len,
                                            uint64_t *turn,
                                            towline_error **error);

/**
 * Sends a control request; as towline_session_request().
 */
towline_status towline_connection_request(towline_connection *connection,
                                          const char *subtype,
                                          const char *payload,
                                          size_t len,
                                          uint64_t *id,
                                          towline_error **error);

/**
 * Answers a request of the CLI by its key; as towline_session_respond().
 */
towline_status towline_connection_respond(towline_connection *connection,
                                          uint64_t key,
                                          const char *json,
                                          size_t len,
                                          towline_error **error);

/**
 * Ends the host's input: what is queued is still written.
 */
towline_status towline_connection_end_input(towline_connection *connection, towline_error **error);

/**
 * Lists the sessions that the CLI has saved on this machine, newest first. *json gets a JSON
 * array of objects with session_id, summary (a title, or what stands for one),
 * last_modified and created_at (milliseconds since 1970), file_size, custom_title,
 * first_prompt, git_branch, cwd, tag and archived; what is not known is null. Free it
 * with towline_buffer_free().
 *
 * options is a JSON object or NULL. Members that all functions over saved sessions take:
 * directory, the directory that the sessions ran in (its git worktrees count too; without it
 * all projects are looked through), and where the CLI's files are: config_dir, or env, an
 * object of variables that count before this process's. This function also takes limit,
 * offset, include_worktrees and include_programmatic (both true by default; false leaves out
 * what the SDKs and daemons have run).
 *
 * Errors: TOWLINE_ERR_JSON when the options are no JSON object; TOWLINE_ERR_ARGUMENT for an
 * unknown or wrong one.
 */
towline_status towline_sessions_list(const char *options,
                                     size_t len,
                                     towline_buffer **json,
                                     towline_error **error);

/**
 * What towline_sessions_list() tells of one session: an object, or null if there is no such
 * session or it is none that a list shows.
 *
 * Errors: those of towline_sessions_list().
 */
towline_status towline_sessions_info(const char *session_id,
                                     const char *options,
                                     size_t len,
                                     towline_buffer **json,
                                     towline_error **error);

/**
 * The conversation of a saved session, oldest message first: a JSON array of objects with type
 * ("user", "assistant"), uuid, session_id, message (as the API has it),
 * parent_tool_use_id and parent_agent_id. It is empty if there is no such session. Options:
 * limit, offset, include_system_messages.
 *
 * Errors: those of towline_sessions_list().
 */
towline_status towline_sessions_messages(const char *session_id,
                                         const char *options,
                                         size_t len,
                                         towline_buffer **json,
                                         towline_error **error);

/**
 * The ids of a saved session's subagents: a JSON array of texts.
 *
 * Errors: those of towline_sessions_list().
 */
towline_status towline_sessions_subagents(const char *session_id,
                                          const char *options,
                                          size_t len,
                                          towline_buffer **json,
                                          towline_error **error);

/**
 * The conversation of a subagent, as towline_sessions_messages() gives a session's;
 * parent_tool_use_id is the call that started it, parent_agent_id the subagent that made the
 * call. Options: limit, offset.
 *
 * Errors: those of towline_sessions_list().
 */
towline_status towline_sessions_subagent_messages(const char *session_id,
                                                  const char *agent_id,
                                                  const char *options,
                                                  size_t len,
                                                  towline_buffer **json,
                                                  towline_error **error);

/**
 * Copies a saved session as a new one that can be resumed: {"session_id": …}. Options:
 * up_to_message_id (the uuid of the last message to copy) and title (else that of the
 * original with  (fork) behind it). Nobody sees the new file before it is complete.
 *
 * Errors: those of towline_sessions_list(); TOWLINE_ERR_ARGUMENT for an id that is no UUID;
 * TOWLINE_ERR_NOT_FOUND when there is no such session, or no such message, or none at all;
 * TOWLINE_ERR_FILE.
 */
towline_status towline_sessions_fork(const char *session_id,
                                     const char *options,
                                     size_t len,
                                     towline_buffer **json,
                                     towline_error **error);

/**
 * Gives a saved session a title, also while a CLI runs it. White space around it is dropped.
 *
 * Errors: those of towline_sessions_list(); TOWLINE_ERR_ARGUMENT for an id that is no UUID and
 * for an empty title; TOWLINE_ERR_NOT_FOUND; TOWLINE_ERR_FILE.
 */
towline_status towline_sessions_rename(const char *session_id,
                                       const char *title,
                                       const char *options,
                                       size_t len,
                                       towline_error **error);

/**
 * Tags a saved session, also while a CLI runs it; NULL takes the tag away. Characters that cannot
 * be seen are dropped.
 *
 * Errors: those of towline_sessions_rename(), for an empty tag too.
 */
towline_status towline_sessions_tag(const char *session_id,
                                    const char *tag,
                                    const char *options,
                                    size_t len,
                                    towline_error **error);

/**
 * Marks a saved session as archived, or takes it out of the archive. It stays on disk and in
 * lists; the next prompt in it takes it out too.
 *
 * Errors: those of towline_sessions_list(); TOWLINE_ERR_ARGUMENT for an id that is no UUID;
 * TOWLINE_ERR_NOT_FOUND; TOWLINE_ERR_FILE.
 */
towline_status towline_sessions_archive(const char *session_id,
                                        bool archived,
                                        const char *options,
                                        size_t len,
                                        towline_error **error);

/**
 * Deletes a saved session: its transcript, and the folder with its subagents' transcripts.
 *
 * Errors: those of towline_sessions_archive().
 */
towline_status towline_sessions_delete(const char *session_id,
                                       const char *options,
                                       size_t len,
                                       towline_error **error);

/**
 * Opens the store that a URL names, making what is not there yet: memory:, sqlite:PATH,
 * dir:PATH (a folder of JSON lines files as the CLI's own), postgres://user@host/database
 * (many hosts share it; no TLS). Free *store with towline_store_free().
 *
 * Errors: TOWLINE_ERR_STORE; the message says what is wrong with the URL or what could not be
 * opened.
 */
towline_status towline_store_open(const char *url, towline_store **store, towline_error **error);

/**
 * Makes a store of the host's own functions. callbacks is copied. finalize is called once
 * with user_data when nothing uses the store any more. Free *store with towline_store_free().
 *
 * Errors: TOWLINE_ERR_NULL without append or load; TOWLINE_ERR_ARGUMENT when size is none
 * that the struct has had. Then finalize is not called.
 */
towline_status towline_store_from_callbacks(const towline_store_callbacks *callbacks,
                                            void *user_data,
                                            towline_finalize finalize,
                                            towline_store **store,
                                            towline_error **error);

/**
 * Has sessions mirror their transcripts to a store, and look there for the session that options
 * "resume" and "continue" name. Takes the place of a store set before, and of the one that
 * option "sessionStore" names; NULL takes it away. flush is "batched" (with each turn),
 * "eager" (at once), or NULL for what option "sessionStoreFlush" says. The store may be freed;
 * the sessions keep it.
 *
 * The sessions' calls of one store run on one thread, one after another. What could not be stored
 * comes as a message of the subtype mirror_error. towline_session_create() loads the session
 * that is resumed, which blocks. towline_session_close() waits until everything is stored.
 *
 * Errors: TOWLINE_ERR_ARGUMENT for another flush.
 */
towline_status towline_options_set_store(towline_options *options,
                                         const towline_store *store,
                                         const char *flush,
                                         towline_error **error);

/**
 * Frees a store. NULL is fine. Sessions that use it go on.
 */
towline_status towline_store_free(towline_store *store);

/**
 * Does an operation on the sessions of a store. operation is a JSON object: "operation" and
 * its arguments. The sessions are those of "project_key", or of the project of "directory", by
 * default the current one. Absent and null arguments are the same. *result gets a JSON document,
 * to be freed with towline_buffer_free():
 *
 * list_sessions (limit, offset): an array of objects, newest first; get_session_info
 * (session_id): such an object or null; get_session_messages (session_id, limit,
 * offset, include_system_messages) and get_subagent_messages (agent_id too): arrays of
 * messages; list_subagents (session_id): an array of ids; rename_session (session_id,
 * title), tag_session (session_id, tag or null), delete_session (session_id): null;
 * fork_session (session_id, up_to_message_id, title): an object with the new
 * session_id; import_session (session_id, include_subagents, batch_size,
 * config_dir) from this machine's disk: an object with project_key, entries and
 * skipped_lines.
 *
 * Errors: TOWLINE_ERR_ARGUMENT for a wrong operation or argument; TOWLINE_ERR_NOT_FOUND when the
 * session is not there; TOWLINE_ERR_UNSUPPORTED when the store lacks a call; TOWLINE_ERR_STORE
 * when a call failed; TOWLINE_ERR_FILE when a file could not be read.
 */
towline_status towline_store_run(towline_store *store,
                                 const char *operation,
                                 size_t len,
                                 towline_buffer **result,
                                 towline_error **error);

/**
 * Makes one call of a store. call is a JSON object: "call" is append (key, entries),
 * load (key), list_sessions (project_key), list_session_summaries (project_key),
 * delete (key) or list_subkeys (key); a key is an object with project_key, session_id
 * and, for a subagent's transcript, subpath. *answer gets null, an array of entries or null,
 * an array of {"session_id","mtime"}, of {"session_id","mtime","data"}, or of strings; free it
 * with towline_buffer_free().
 *
 * Errors: TOWLINE_ERR_JSON when it is no call; TOWLINE_ERR_UNSUPPORTED when the store lacks it;
 * TOWLINE_ERR_STORE when it failed.
 */
towline_status towline_store_call(towline_store *store,
                                  const char *call,
                                  size_t len,
                                  towline_buffer **answer,
                                  towline_error **error);

/**
 * The summary of a session after entries were appended to it, for stores that keep summaries.
 * previous is the data of the summary before, NULL for a new session; entries is a JSON
 * array of those that were added. *data gets a JSON object that the store keeps as it is; free
 * it with towline_buffer_free(). A subagent's entries (a key with a subpath) must not be folded.
 *
 * Errors: TOWLINE_ERR_JSON when a text is not what it has to be.
 */
towline_status towline_store_fold_summary(const char *previous,
                                          size_t previous_len,
                                          const char *entries,
                                          size_t entries_len,
                                          towline_buffer **data,
                                          towline_error **error);

/**
 * Puts a store to everything that a session store has to do: make is called for a fresh one,
 * many times. strict asks for what the stores of the library do beyond that: entries that are
 * there by their uuid are not added again, texts come back byte for byte.
 *
 * Errors: TOWLINE_ERR_CONTRACT, its message says what was demanded and what came instead.
 */
towline_status towline_store_check(towline_store_maker make,
                                   void *user_data,
                                   bool strict,
                                   towline_error **error);

/**
 * Adds an entry to the answer to load: a JSON object as it was appended.
 *
 * Errors: TOWLINE_ERR_JSON when it is none; TOWLINE_ERR_WRONG_ANSWER for another call.
 */
towline_status towline_store_reply_entry(towline_store_reply *reply,
                                         const char *json,
                                         size_t len,
                                         towline_error **error);

/**
 * Adds a session to the answer to list_sessions, with the time of its last append in
 * milliseconds since 1970.
 *
 * Errors: TOWLINE_ERR_WRONG_ANSWER for another call.
 */
towline_status towline_store_reply_session(towline_store_reply *reply,
                                           const char *session_id,
                                           int64_t mtime,
                                           towline_error **error);

/**
 * Adds a summary to the answer to list_session_summaries: what towline_store_fold_summary()
 * gave, and when it was kept, on the clock of list_sessions.
 *
 * Errors: TOWLINE_ERR_JSON when data is no JSON object; TOWLINE_ERR_WRONG_ANSWER for another
 * call.
 */
towline_status towline_store_reply_summary(towline_store_reply *reply,
                                           const char *session_id,
                                           int64_t mtime,
                                           const char *data,
                                           size_t len,
                                           towline_error **error);

/**
 * Adds a subpath to the answer to list_subkeys.
 *
 * Errors: TOWLINE_ERR_WRONG_ANSWER for another call.
 */
towline_status towline_store_reply_subkey(towline_store_reply *reply,
                                          const char *subpath,
                                          towline_error **error);

/**
 * Says why a call of any kind fails. What was answered before does not count.
 */
towline_status towline_store_reply_error(towline_store_reply *reply,
                                         const char *message,
                                         size_t len,
                                         towline_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TOWLINE_H */

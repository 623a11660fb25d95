//! The least that a host can do: a process, its pipes, `read` and `write`.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// A fake CLI with pipes to it, started by `posix_spawn`.
pub struct Bare {
    pub pid: libc::pid_t,
    pub stdin: Option<OwnedFd>,
    pub stdout: OwnedFd,
}

/// What opens a conversation.
pub const INITIALIZE: &[u8] = b"{\"type\":\"control_request\",\"request_id\":\"1\",\"request\":{\"subtype\":\"initialize\"}}\n";
/// A prompt.
pub const PROMPT: &[u8] = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"},\"parent_tool_use_id\":null}\n";

fn pipe() -> [OwnedFd; 2] {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors, which are ours from then on.
    unsafe {
        assert_eq!(libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC), 0);
        fds.map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

impl Bare {
    /// `mode` is `FAKE_CLI_BENCH`.
    pub fn start(mode: &str) -> Bare {
        let path = CString::new(crate::fake_cli().as_os_str().as_bytes()).expect("a path");
        let env = CString::new(format!("FAKE_CLI_BENCH={mode}")).expect("a mode");
        let [their_stdin, stdin] = pipe();
        let [stdout, their_stdout] = pipe();
        let mut pid = 0;
        // SAFETY: initialised objects, NULL-terminated lists of NUL-terminated strings.
        unsafe {
            let mut actions = std::mem::zeroed();
            libc::posix_spawn_file_actions_init(&mut actions);
            libc::posix_spawn_file_actions_adddup2(&mut actions, their_stdin.as_raw_fd(), 0);
            libc::posix_spawn_file_actions_adddup2(&mut actions, their_stdout.as_raw_fd(), 1);
            let argv = [path.as_ptr().cast_mut(), std::ptr::null_mut()];
            let envp = [env.as_ptr().cast_mut(), std::ptr::null_mut()];
            let status = libc::posix_spawn(
                &mut pid,
                path.as_ptr(),
                &actions,
                std::ptr::null(),
                argv.as_ptr(),
                envp.as_ptr(),
            );
            assert_eq!(status, 0, "posix_spawn");
            libc::posix_spawn_file_actions_destroy(&mut actions);
        }
        Bare {
            pid,
            stdin: Some(stdin),
            stdout,
        }
    }

    pub fn write(&self, bytes: &[u8]) {
        let Some(stdin) = &self.stdin else { return };
        // SAFETY: valid for its length.
        let n = unsafe { libc::write(stdin.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        assert_eq!(n, bytes.len() as isize, "one write takes it");
    }

    /// 0 at the end.
    pub fn read(&self, buffer: &mut [u8]) -> usize {
        // SAFETY: valid for its length.
        let n = unsafe {
            libc::read(
                self.stdout.as_raw_fd(),
                buffer.as_mut_ptr().cast(),
                buffer.len(),
            )
        };
        usize::try_from(n).expect("read")
    }

    pub fn poll(&self) {
        let mut entry = libc::pollfd {
            fd: self.stdout.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid entry.
        assert_eq!(unsafe { libc::poll(&mut entry, 1, -1) }, 1);
    }

    pub fn reap(&mut self) {
        self.stdin = None;
        let mut status = 0;
        // SAFETY: valid memory; the child is our own.
        assert_eq!(unsafe { libc::waitpid(self.pid, &mut status, 0) }, self.pid);
    }
}

/// Where `needle` begins.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|part| part == needle)
}

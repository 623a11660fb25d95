//! A helper process that ends the CLI's whole tree when the host is gone, however the host ends.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::io::Errno;
use rustix::net::{send, socketpair, AddressFamily, SendFlags, SocketFlags, SocketType};

use super::tree::MARK;

/// Lines on stdin: `+ GROUP MARK FOLDER` for a process group to look after and its folder of private
/// files, if any; `- GROUP` for one that is gone. The end of stdin means that the host is gone: what is left gets a second to end by the end
/// of its own stdin, a second after SIGTERM, then SIGKILL, its marked descendants with it and what
/// those start meanwhile, and the folder is removed.
///
/// A child that the host has forked without `exec` holds the other end as well: while it lives, the
/// host does not count as gone.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM PIPE
while read -r op group mark folder; do
  case $op in
    +) eval "g_$group=$mark f_$group=\$folder" ;;
    -) unset "g_$group" "f_$group" ;;
  esac
done
groups=$(set | sed -n 's/^g_\([0-9]*\)=.*/\1/p')
alive() { for g in $groups; do kill -s 0 -- "-$g" && return 0; done; return 1; }
later() { alive && sleep 1; }
exec 2>/dev/null
later
for g in $groups; do kill -s TERM -- "-$g"; done
later
for g in $groups; do
  kill -s KILL -- "-$g"
  eval "mark=\$g_$g"
  killed=" $$ "
  for round in 1 2 3 4 5 6 7 8; do
    before=$killed
    for e in $(grep -l -a -F "$MARK_NAME=$mark" /proc/[0-9]*/environ); do
      p=${e#/proc/}; p=${p%/environ}
      case $killed in
        *" $p "*) ;;
        *) kill -s KILL "$p"; killed="$killed$p " ;;
      esac
    done
    [ "$killed" = "$before" ] && break
  done
  eval "folder=\$f_$g"
  case $folder in
    /*/towline-*) rm -rf "$folder" ;;
  esac
done
"#;

/// Starts watchdogs, and lets all sessions that come from the same options share one.
///
/// A clone means the same watchdog. Its process starts with the first session and ends with the
/// last.
#[derive(Debug, Clone, Default)]
pub struct Watchdog {
    running: Arc<Mutex<Weak<Process>>>,
}

impl Watchdog {
    /// The running watchdog process, started if need be.
    pub(crate) fn start(&self) -> io::Result<Arc<Process>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(process) = running.upgrade() {
            if process.owner == std::process::id() {
                return Ok(process);
            }
        }
        let process = Arc::new(Process::spawn()?);
        *running = Arc::downgrade(&process);
        Ok(process)
    }
}

/// A running watchdog. Dropping it ends the process without harm to anybody.
#[derive(Debug)]
pub(crate) struct Process {
    line: OwnedFd,
    child: Mutex<std::process::Child>,
    owner: u32,
}

impl Process {
    fn spawn() -> io::Result<Process> {
        use std::os::unix::process::CommandExt;
        let (line, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        let child = Command::new("/bin/sh")
            .arg("-c")
            .arg(SCRIPT)
            .arg("towline-watchdog")
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("MARK_NAME", MARK)
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Process {
            line,
            child: Mutex::new(child),
            owner: std::process::id(),
        })
    }

    pub(crate) fn watch(&self, group: u32, mark: &str, folder: Option<&Path>) -> io::Result<()> {
        use std::os::unix::ffi::OsStrExt;
        let mut line = format!("+ {group} {mark} ").into_bytes();
        let folder = folder.map(|folder| folder.as_os_str().as_bytes());
        line.extend(
            folder
                .filter(|folder| !folder.contains(&b'\n'))
                .unwrap_or_default(),
        );
        line.push(b'\n');
        self.tell(&line)
    }

    pub(crate) fn forget(&self, group: u32) {
        // A watchdog that is gone has forgotten.
        let _ = self.tell(format!("- {group}\n").as_bytes());
    }

    fn tell(&self, line: &[u8]) -> io::Result<()> {
        loop {
            match send(&self.line, line, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.owner != std::process::id() {
            return;
        }
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Reaped by somebody else in this program: nothing is left to do.
        let _ = child.kill();
        let _ = child.wait();
    }
}

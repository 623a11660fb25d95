//! `towline sessions …`

mod change;
mod export;
mod list;
mod show;
mod text;

use crate::args::Sessions;
use crate::failure::Failure;

pub(crate) fn run(command: Sessions) -> Result<(), Failure> {
    match command {
        Sessions::List(list) => list::run(&list),
        Sessions::Show(show) => show::run(&show),
        Sessions::Fork(fork) => change::fork(&fork),
        Sessions::Rename(rename) => change::rename(&rename),
        Sessions::Tag(tag) => change::tag(&tag),
        Sessions::Archive(one) => change::archive(&one, true),
        Sessions::Unarchive(one) => change::archive(&one, false),
        Sessions::Delete(delete) => change::delete(&delete),
        Sessions::Export(export) => export::run(&export),
        Sessions::Import(import) => export::import(&import),
    }
}

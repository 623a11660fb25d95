//! The decisions of a pool, with a clock and sessions that are made up.

use std::collections::{BTreeMap, BTreeSet};

use towline::pool::{Action, Loss, Member, Policy, Ticket};
use towline::{PoolError, PoolOptions};

use crate::support::Random;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Is {
    Starting,
    Ready,
    Out,
    Closing,
}

/// Sessions that do what the policy says, and look whether it may.
struct World {
    policy: Policy,
    now: u64,
    sessions: BTreeMap<Member, (Is, Option<String>)>,
    tickets: BTreeMap<Ticket, Option<String>>,
    refused: Vec<PoolError>,
    starts: Vec<u64>,
    most: usize,
}

impl World {
    fn new(options: PoolOptions) -> World {
        World {
            most: options.max_sessions.unwrap_or(usize::MAX),
            policy: Policy::new(options).unwrap(),
            now: 0,
            sessions: BTreeMap::new(),
            tickets: BTreeMap::new(),
            refused: Vec::new(),
            starts: Vec::new(),
        }
    }

    fn take(&mut self, key: Option<&str>, limit: Option<u64>) -> Ticket {
        let key = key.map(String::from);
        let ticket = self.policy.take(key.clone(), limit, self.now);
        self.tickets.insert(ticket, key);
        ticket
    }

    fn all(&self, is: Is) -> Vec<Member> {
        let found = self.sessions.iter().filter(|(_, (state, _))| *state == is);
        found.map(|(member, _)| *member).collect()
    }

    /// Does all that is to be done; `lives` says whether a session that shall be given still does.
    fn settle(&mut self, mut lives: impl FnMut() -> bool) {
        for actions in 0.. {
            assert!(actions < 1_000, "it never has enough");
            let Some(action) = self.policy.next(self.now) else {
                break;
            };
            match action {
                Action::Start { member, resume } => {
                    self.starts.push(self.now);
                    let before = self.sessions.insert(member, (Is::Starting, resume));
                    assert_eq!(before, None);
                }
                Action::Check { member } => assert_eq!(self.sessions[&member].0, Is::Ready),
                Action::Close { member } => {
                    let session = self.sessions.get_mut(&member).unwrap();
                    assert_ne!(session.0, Is::Closing, "closed twice");
                    session.0 = Is::Closing;
                }
                Action::Give { ticket, member } => {
                    if !lives() {
                        self.policy.lost(member, Loss::Exited, self.now);
                        continue;
                    }
                    let key = self.tickets.remove(&ticket).unwrap();
                    let session = self.sessions.get_mut(&member).unwrap();
                    assert_eq!(*session, (Is::Ready, key));
                    session.0 = Is::Out;
                    self.policy.given(ticket, member);
                }
                Action::Refuse { ticket, error } => {
                    self.tickets.remove(&ticket).unwrap();
                    self.refused.push(error);
                }
            }
        }
        assert!(self.sessions.len() <= self.most, "too many");
        let stats = self.policy.stats();
        assert_eq!(stats.handed_out, self.all(Is::Out).len());
        assert_eq!(stats.starting, self.all(Is::Starting).len());
        assert_eq!(stats.closing, self.all(Is::Closing).len());
        assert_eq!(stats.waiting, self.tickets.len());
    }

    fn open(&mut self, member: Member) {
        self.sessions.get_mut(&member).unwrap().0 = Is::Ready;
        self.policy.opened(member, self.now);
    }

    fn fail(&mut self, member: Member) {
        if let Some(ticket) = self.policy.failed(member, self.now) {
            self.tickets.remove(&ticket).unwrap();
        }
        self.gone(member);
    }

    fn gone(&mut self, member: Member) {
        self.policy.gone(member);
        self.sessions.remove(&member);
    }
}

#[test]
fn whatever_happens_the_limits_hold_and_everybody_is_served() {
    for seed in 1..60 {
        let mut random = Random(seed * 0x9e37_79b9);
        let most = random.below(5) as usize + 1;
        let options = PoolOptions {
            size: random.below(most as u64 + 1) as usize,
            max_sessions: (seed % 4 > 0).then_some(most),
            idle_timeout_ms: Some(random.below(3_000)),
            check_interval_ms: Some(random.below(500)),
            check_timeout_ms: random.below(100) + 1,
            take_timeout_ms: None,
        };
        let mut world = World::new(options.clone());
        for _ in 0..1_500 {
            world.now += random.below(60);
            let pick = |members: Vec<Member>, random: &mut Random| {
                let length = members.len() as u64;
                (length > 0).then(|| members[random.below(length) as usize])
            };
            let is = match random.below(9) {
                0 | 1 => {
                    let key = ["a", "b", "c"][random.below(3) as usize];
                    let limit = (random.below(4) > 0).then(|| random.below(400));
                    world.take((random.below(2) == 0).then_some(key), limit);
                    None
                }
                2 | 3 => Some(Is::Starting),
                4 | 5 => Some(Is::Out),
                6 => Some(Is::Closing),
                _ => Some(Is::Ready),
            };
            if let Some((is, member)) = is.zip(is.and_then(|is| pick(world.all(is), &mut random))) {
                match is {
                    Is::Starting if random.below(4) == 0 => world.fail(member),
                    Is::Starting => world.open(member),
                    Is::Closing => world.gone(member),
                    Is::Ready if random.below(5) == 0 => {
                        world.policy.lost(member, Loss::Exited, world.now);
                    }
                    Is::Ready => world.policy.answered(member, world.now),
                    Is::Out if random.below(4) == 0 => world.gone(member),
                    Is::Out => {
                        let session = world.sessions.get_mut(&member).unwrap();
                        if random.below(4) > 0 {
                            let key = ["a", "b", "c"][random.below(3) as usize];
                            session.1.get_or_insert(key.into());
                        }
                        session.0 = Is::Ready;
                        let key = session.1.clone();
                        world.policy.put_back(member, key, world.now);
                    }
                }
            }
            world.settle(|| random.below(10) > 0);
        }
        // With all sessions well and given back, nobody is left waiting, however long a round takes.
        let slowness = random.below(2) * 1_000;
        for _ in 0..200 {
            world.now += 400;
            world.settle(|| true);
            for member in world.all(Is::Starting) {
                world.open(member);
            }
            for is in [Is::Closing, Is::Out] {
                world
                    .all(is)
                    .into_iter()
                    .for_each(|member| world.gone(member));
            }
            for member in world.all(Is::Ready) {
                world.policy.answered(member, world.now);
            }
            // The next check may be due before anything else is done.
            world.now += slowness;
            world.settle(|| true);
        }
        assert!(world.tickets.is_empty(), "{options:?}: {:?}", world.tickets);
        world.policy.close();
        world.settle(|| true);
        let left: BTreeSet<Member> = world.all(Is::Closing).into_iter().collect();
        left.iter().for_each(|member| world.gone(*member));
        assert!(world.policy.is_empty());
    }
}

#[test]
fn starts_that_fail_come_later_each_time() {
    let mut world = World::new(PoolOptions {
        size: 2,
        ..PoolOptions::default()
    });
    while world.now < 120_000 {
        world.settle(|| true);
        for member in world.all(Is::Starting) {
            world.fail(member);
        }
        let due = world.policy.deadline().unwrap();
        assert!(due > world.now, "it would spin");
        world.now = due;
    }
    assert!(world.starts.len() < 30, "{:?}", world.starts);
    let pause = world.starts.last().unwrap() - world.starts[world.starts.len() - 3];
    assert!((30_000..=60_000).contains(&pause), "{:?}", world.starts);
    // Somebody who asks does not wait for that.
    world.now -= 1;
    let before = world.starts.len();
    world.take(None, None);
    world.settle(|| true);
    assert_eq!(world.starts.len(), before + 1);
    let member = world.all(Is::Starting)[0];
    world.fail(member);
    assert!(world.tickets.is_empty());
}

#[test]
fn the_least_recently_used_makes_room() {
    let mut world = World::new(PoolOptions {
        size: 0,
        max_sessions: Some(3),
        ..PoolOptions::default()
    });
    for key in ["a", "b", "c"] {
        world.take(Some(key), None);
        world.settle(|| true);
        let member = world.all(Is::Starting)[0];
        world.open(member);
        world.settle(|| true);
        world.now += 10;
        let member = world.all(Is::Out)[0];
        world.sessions.get_mut(&member).unwrap().0 = Is::Ready;
        world.policy.put_back(member, Some(key.into()), world.now);
    }
    // "a" is used again: now "b" is the one.
    world.take(Some("a"), None);
    world.settle(|| true);
    let member = world.all(Is::Out)[0];
    world.sessions.get_mut(&member).unwrap().0 = Is::Ready;
    world.now += 10;
    world.policy.put_back(member, Some("a".into()), world.now);
    world.take(None, None);
    world.settle(|| true);
    let closing = world.all(Is::Closing);
    assert_eq!(closing.len(), 1);
    assert_eq!(world.sessions[&closing[0]].1.as_deref(), Some("b"));
    // While it ends, nothing more is closed, and its conversation is not opened twice.
    let ticket = world.take(Some("b"), Some(1_000));
    world.settle(|| true);
    assert_eq!(world.all(Is::Closing).len(), 1);
    world.gone(closing[0]);
    world.settle(|| true);
    assert_eq!(world.all(Is::Starting).len(), 1);
    assert!(world.tickets.contains_key(&ticket));
}

/// A pool that was not driven for long asks before it gives.
#[test]
fn a_session_whose_check_is_overdue_is_not_given() {
    let mut world = World::new(PoolOptions::default());
    world.settle(|| true);
    let member = world.all(Is::Starting)[0];
    world.open(member);
    world.settle(|| true);
    world.now += 31_000;
    world.take(None, Some(60_000));
    world.settle(|| true);
    assert_eq!(world.tickets.len(), 1, "it has not answered yet");
    world.policy.answered(member, world.now);
    world.settle(|| true);
    assert!(world.tickets.is_empty());
    assert_eq!(world.all(Is::Out), [member]);
}

/// A check interval that is shorter than a round of the pool's driver.
#[test]
fn checks_that_never_end_leave_nobody_waiting() {
    let mut world = World::new(PoolOptions {
        size: 1,
        max_sessions: Some(1),
        check_interval_ms: Some(1),
        ..PoolOptions::default()
    });
    let round = |world: &mut World| {
        for member in world.all(Is::Starting) {
            world.open(member);
        }
        for member in world.all(Is::Closing) {
            world.gone(member);
        }
        for member in world.all(Is::Ready) {
            world.policy.answered(member, world.now);
        }
        world.now += 2;
        world.settle(|| true);
    };
    round(&mut world);
    round(&mut world);
    assert!(world.policy.is_full());
    world.take(None, None);
    round(&mut world);
    round(&mut world);
    assert!(world.tickets.is_empty());
    let member = world.all(Is::Out)[0];
    *world.sessions.get_mut(&member).unwrap() = (Is::Ready, Some("a".into()));
    world.policy.put_back(member, Some("a".into()), world.now);
    round(&mut world);
    // The parked conversation, which is asked all the time, makes room.
    world.take(Some("b"), None);
    for _ in 0..4 {
        round(&mut world);
    }
    assert!(world.tickets.is_empty());
}

/// A conversation that was resumed and got no prompt is nobody else's.
#[test]
fn a_resumed_session_without_a_prompt_stays_what_it_was() {
    let mut world = World::new(PoolOptions {
        size: 0,
        ..PoolOptions::default()
    });
    world.take(Some("a"), None);
    world.settle(|| true);
    let first = world.all(Is::Starting)[0];
    world.open(first);
    world.settle(|| true);
    *world.sessions.get_mut(&first).unwrap() = (Is::Ready, Some("a".into()));
    world.policy.put_back(first, None, world.now);
    world.take(None, None);
    world.settle(|| true);
    assert_eq!(world.all(Is::Ready), [first]);
    assert_eq!(world.all(Is::Starting).len(), 1);
    world.take(Some("a"), None);
    world.settle(|| true);
    assert_eq!(world.all(Is::Out), [first]);
}

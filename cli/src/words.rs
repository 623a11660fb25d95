//! Numbers and moments for people.

use towline::transcripts::time;

use crate::conversation::{Cost, Numbers};

/// A number of bytes.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut units = UNITS.iter();
    let mut unit = units.next().unwrap_or(&"");
    while amount >= 1023.5 {
        let Some(next) = units.next() else { break };
        amount /= 1024.0;
        unit = next;
    }
    match amount < 9.95 {
        true => format!("{amount:.1} {unit}"),
        false => format!("{amount:.0} {unit}"),
    }
}

/// A whole number, its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A span of milliseconds.
pub(crate) fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..=9 => format!("{:.1} s", millis as f64 / 1000.0),
        10..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..=86_399 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// A past moment seen from now, both in milliseconds since 1970; a date where it is long ago.
pub(crate) fn ago(moment: i64, now: i64) -> String {
    let seconds = (now - moment) / 1000;
    match seconds {
        ..=-60 => date(moment),
        -59..=59 => "just now".to_owned(),
        60..=3599 => format!("{} min ago", seconds / 60),
        3600..=86_399 => format!("{} h ago", seconds / 3600),
        86_400..=172_799 => "yesterday".to_owned(),
        172_800..=2_591_999 => format!("{} days ago", seconds / 86_400),
        _ => date(moment),
    }
}

fn date(moment: i64) -> String {
    time::iso(moment).chars().take(10).collect()
}

/// A moment to the minute.
pub(crate) fn moment(moment: i64) -> String {
    let iso = time::iso(moment);
    let (day, hour) = iso.split_once('T').unwrap_or((&iso, ""));
    format!("{day} {} UTC", hour.get(..5).unwrap_or_default())
}

/// An amount in US dollars, with as many digits as tell something.
pub(crate) fn dollars(amount: f64) -> String {
    match amount.abs() {
        0.0 => "$0".to_owned(),
        ..0.0001 => format!("${amount:.6}"),
        ..1.0 => format!("${amount:.4}"),
        ..1e12 => format!("${amount:.2}"),
        _ => format!("${amount:e}"),
    }
}

pub(crate) fn cost(cost: Cost) -> String {
    let more = if cost.at_least { "at least " } else { "" };
    format!("{more}{}", dollars(cost.dollars))
}

/// What a turn took: time, tokens, models, cost, as far as it is known.
pub(crate) fn numbers(numbers: &Numbers) -> Vec<String> {
    let tokens = numbers.tokens();
    let mut parts: Vec<String> = numbers.duration().map(duration).into_iter().collect();
    let read = tokens.input + tokens.cache_read + tokens.cache_written;
    if read + tokens.output > 0 {
        let cached = match tokens.cache_read {
            0 => String::new(),
            cached => format!(" ({} from the cache)", grouped(cached)),
        };
        parts.push(format!(
            "{} tokens in{cached}, {} out",
            grouped(read),
            grouped(tokens.output)
        ));
    }
    parts.extend(numbers.cost.map(dollars));
    if !numbers.models.is_empty() {
        parts.push(numbers.models.join(", "));
    }
    parts
}

/// `1 tool call`, `2 tool calls`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {one}{s}", grouped(count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (bytes, words) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (10_239, "10 KiB"),
            (250 << 10, "250 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (3 << 30, "3.0 GiB"),
        ] {
            assert_eq!(size(bytes), words, "{bytes}");
        }
    }

    #[test]
    fn spans_and_moments() {
        assert_eq!(duration(999), "999 ms");
        assert_eq!(duration(1500), "1.5 s");
        assert_eq!(duration(61_000), "1 min 1 s");
        assert_eq!(duration(7_260_000), "2 h 1 min");
        let now = 1_767_323_045_000;
        assert_eq!(ago(now - 5_000, now), "just now");
        assert_eq!(ago(now - 3_700_000, now), "1 h ago");
        assert_eq!(ago(now - 90_000_000, now), "yesterday");
        assert_eq!(ago(now - 86_400_000 * 400, now), "2024-11-28");
        assert_eq!(moment(now), "2026-01-02 03:04 UTC");
    }

    #[test]
    fn amounts() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
        assert_eq!(dollars(0.0), "$0");
        assert_eq!(dollars(0.00002), "$0.000020");
        assert_eq!(dollars(0.01944), "$0.0194");
        assert_eq!(dollars(12.345), "$12.35");
        assert_eq!(counted(1, "prompt"), "1 prompt");
        assert_eq!(counted(1200, "prompt"), "1,200 prompts");
    }
}

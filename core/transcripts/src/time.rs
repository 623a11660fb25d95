//! Moments: ISO 8601 as the CLI writes it, and milliseconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub fn now() -> i64 {
    millis(SystemTime::now())
}

/// Whole milliseconds since 1970, rounded down.
pub(crate) fn millis(moment: SystemTime) -> i64 {
    match moment.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let whole = i64::try_from(before.as_millis()).unwrap_or(i64::MAX);
            -whole - i64::from(before.subsec_nanos() % 1_000_000 != 0)
        }
    }
}

/// `2026-01-02T03:04:05.678Z`, as JavaScript's `toISOString` writes it.
pub fn iso(millis: i64) -> String {
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    let (year, month, day) = date_of_days(days);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, fraction) = (rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
}

/// The moment an ISO 8601 text names: a date, optionally a time, optionally an offset. Without an
/// offset it is taken as UTC.
pub fn parse_iso(text: &str) -> Option<i64> {
    let mut reader = Reader(text.as_bytes());
    let year = reader.digits(4)?;
    reader.byte(b'-')?;
    let month = reader.digits(2)?;
    reader.byte(b'-')?;
    let day = reader.digits(2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year < 1 || !(1..=length).contains(&day) {
        return None;
    }
    let date = days_of_date(year, month, day) * 86_400_000;
    if reader.0.is_empty() {
        return Some(date);
    }
    reader.separator()?;
    let time = reader.time()?;
    let offset = match reader.0 {
        [] | [b'Z'] => 0,
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let mut offset = Reader(rest);
            let millis = offset.offset()?;
            if !offset.0.is_empty() {
                return None;
            }
            if *sign == b'-' {
                -millis
            } else {
                millis
            }
        }
        _ => return None,
    };
    Some(date + time - offset)
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut number = 0;
        for digit in digits {
            number = number * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        self.0 = rest;
        Some(number)
    }

    fn byte(&mut self, wanted: u8) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        (*first == wanted).then(|| self.0 = rest)
    }

    fn separator(&mut self) -> Option<()> {
        self.byte(b'T').or_else(|| self.byte(b' '))
    }

    /// `HH:MM[:SS[.fraction]]` in milliseconds; digits behind the milliseconds are dropped.
    fn time(&mut self) -> Option<i64> {
        let hour = self.digits(2)?;
        self.byte(b':')?;
        let minute = self.digits(2)?;
        let mut millis = 0;
        if self.byte(b':').is_some() {
            let second = self.digits(2)?;
            if second > 59 {
                return None;
            }
            millis = second * 1000;
            if self.byte(b'.').is_some() {
                let length = self
                    .0
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                if length == 0 {
                    return None;
                }
                let mut unit = 100;
                for _ in 0..length {
                    millis += self.digits(1)? * unit;
                    unit /= 10;
                }
            }
        }
        (hour <= 23 && minute <= 59).then_some((hour * 60 + minute) * 60_000 + millis)
    }

    fn offset(&mut self) -> Option<i64> {
        let hours = self.digits(2)?;
        let minutes = if self.0.is_empty() {
            0
        } else {
            let _ = self.byte(b':');
            self.digits(2)?
        };
        (hours <= 23 && minutes <= 59).then_some((hours * 60 + minutes) * 60_000)
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar. Years begin in March here, so that
/// the leap day is the last of its year.
fn days_of_date(year: i64, month: i64, day: i64) -> i64 {
    let shifted = (month + 9) % 12;
    let year = if month <= 2 { year - 1 } else { year };
    let in_year = (153 * shifted + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + in_year
        - 719_468
}

fn date_of_days(days: i64) -> (i64, i64, i64) {
    // Close from below, then stepped up: exact without a table.
    let longest = if days < 0 { 365 } else { 366 };
    let mut year = 1970 + days.div_euclid(longest);
    while days_of_date(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && days_of_date(year, month + 1, 1) <= days {
        month += 1;
    }
    (year, month, days - days_of_date(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_the_cli_and_others_write() {
        for (text, millis) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2026-01-02T03:04:05.678Z", 1_767_323_045_678),
            ("2026-01-02T03:04:05Z", 1_767_323_045_000),
            ("2026-01-02T03:04:05.678901+00:00", 1_767_323_045_678),
            ("2026-01-02T05:04:05.678+02:00", 1_767_323_045_678),
            ("2026-01-01T21:34:05.678-0530", 1_767_323_045_678),
            ("2026-01-02T05:04:05.678+02", 1_767_323_045_678),
            ("2026-01-02 03:04:05.5", 1_767_323_045_500),
            ("2024-02-29", 1_709_164_800_000),
            ("1969-12-31T23:59:59.999Z", -1),
        ] {
            assert_eq!(parse_iso(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn no_moments() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-30",
            "2023-02-29T00:00:00Z",
            "0000-01-01",
            "2026-01-02T24:00:00Z",
            "2026-01-02T03:60:00Z",
            "2026-01-02T03:04:60Z",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04:05Zx",
            "2026-01-02T03:04:05+",
            "x",
            "2026-01-02T",
            "2026-01-02T03:04:05+25:00",
            "yesterday",
            "２026-01-02",
        ] {
            assert_eq!(parse_iso(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn written_moments_read_back(millis in -62_135_596_800_000i64..253_402_300_800_000) {
            prop_assert_eq!(parse_iso(&iso(millis)), Some(millis), "{}", iso(millis));
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            parse_iso(&text);
        }
    }
}

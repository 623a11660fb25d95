//! What a turn and a session took: time, tokens, cost. Only what the transcript tells: no price is
//! ever worked out here.

use crate::document::{count, is_true, number, object, text, value};

/// Tokens of the API's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_written: u64,
}

impl Tokens {
    fn of_usage(usage: &str) -> Tokens {
        let tokens = |name: &str| count(usage, name).unwrap_or_default();
        Tokens {
            input: tokens("/input_tokens"),
            output: tokens("/output_tokens"),
            cache_read: tokens("/cache_read_input_tokens"),
            cache_written: tokens("/cache_creation_input_tokens"),
        }
    }

    fn combined(self, other: Tokens, combine: impl Fn(u64, u64) -> u64) -> Tokens {
        Tokens {
            input: combine(self.input, other.input),
            output: combine(self.output, other.output),
            cache_read: combine(self.cache_read, other.cache_read),
            cache_written: combine(self.cache_written, other.cache_written),
        }
    }

    pub(crate) fn plus(self, other: Tokens) -> Tokens {
        self.combined(other, u64::saturating_add)
    }
}

/// What one turn took.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Numbers {
    first: Option<i64>,
    last: Option<i64>,
    /// The API's messages by id: several lines share one, and the last of them tells most.
    messages: Vec<(String, Tokens)>,
    pub(crate) models: Vec<String>,
    /// In US dollars, where the lines carry it.
    pub(crate) cost: Option<f64>,
}

impl Numbers {
    /// Counts a moment of the turn.
    pub(crate) fn at(&mut self, moment: Option<i64>) {
        let Some(moment) = moment else { return };
        self.first = Some(self.first.map_or(moment, |first| first.min(moment)));
        self.last = Some(self.last.map_or(moment, |last| last.max(moment)));
    }

    /// Counts an assistant's line.
    pub(crate) fn message(&mut self, line: &str, message: &str) {
        if let Some(cost) = number(line, "/costUSD") {
            *self.cost.get_or_insert(0.0) += cost;
        }
        let model = text(message, "/model").filter(|model| model != "<synthetic>");
        if let Some(model) = model.filter(|model| !self.models.contains(model)) {
            self.models.push(model);
        }
        let Some(usage) = value(message, "/usage") else {
            return;
        };
        let tokens = Tokens::of_usage(usage);
        let id = text(message, "/id").unwrap_or_default();
        let known = self.messages.iter_mut().find(|(known, _)| *known == id);
        match known {
            Some((_, counted)) if !id.is_empty() => *counted = counted.combined(tokens, u64::max),
            _ => self.messages.push((id, tokens)),
        }
    }

    pub(crate) fn tokens(&self) -> Tokens {
        let each = self.messages.iter().map(|(_, tokens)| *tokens);
        each.fold(Tokens::default(), Tokens::plus)
    }

    /// From the prompt to the last message, in milliseconds; none of a single moment.
    pub(crate) fn duration(&self) -> Option<u64> {
        let duration = u64::try_from(self.last? - self.first?).ok();
        duration.filter(|duration| *duration > 0)
    }

    pub(crate) fn first(&self) -> Option<i64> {
        self.first
    }

    pub(crate) fn last(&self) -> Option<i64> {
        self.last
    }
}

/// What a session cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// In US dollars.
    pub(crate) dollars: f64,
    /// A model was used whose price the CLI did not know: it was more.
    pub(crate) at_least: bool,
}

/// What the CLI counted of one model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelUse {
    pub(crate) model: String,
    pub(crate) tokens: Tokens,
    pub(crate) dollars: Option<f64>,
}

/// What a session took as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
    /// Time in turns, in milliseconds.
    pub(crate) working: u64,
    pub(crate) prompts: usize,
    pub(crate) calls: usize,
    pub(crate) denied: usize,
    pub(crate) agents: usize,
    pub(crate) tokens: Tokens,
    /// Those of subagents, which are in `tokens` as well.
    pub(crate) agent_tokens: Tokens,
    pub(crate) models: Vec<String>,
    pub(crate) cost: Option<Cost>,
    /// As the CLI counted it, when it wrote that down at its end (`cost-state`).
    pub(crate) by_model: Vec<ModelUse>,
}

impl Totals {
    /// Takes in the CLI's own count: the last one in the transcript.
    pub(crate) fn take_count(&mut self, entries: &[String]) {
        let is_count = |entry: &&String| {
            entry.contains("cost-state") && text(entry, "/type").as_deref() == Some("cost-state")
        };
        let Some(count) = entries.iter().rev().find(is_count) else {
            return;
        };
        if let Some(dollars) = number(count, "/totalCostUSD") {
            self.cost = Some(Cost {
                dollars,
                at_least: is_true(count, "/hasUnknownModelCost"),
            });
        }
        let models = object(value(count, "/modelUsage").unwrap_or_default()).into_iter();
        self.by_model = models
            .map(|(model, usage)| ModelUse::read(model, usage))
            .collect();
    }
}

impl ModelUse {
    fn read(model: String, usage: &str) -> ModelUse {
        let tokens = |name: &str| count(usage, name).unwrap_or_default();
        ModelUse {
            model,
            tokens: Tokens {
                input: tokens("/inputTokens"),
                output: tokens("/outputTokens"),
                cache_read: tokens("/cacheReadInputTokens"),
                cache_written: tokens("/cacheCreationInputTokens"),
            },
            dollars: number(usage, "/costUSD"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_message_are_counted_once() {
        let mut numbers = Numbers::default();
        let message = |id: &str, output: u64| {
            format!(
                r#"{{"id":"{id}","model":"m","usage":{{"input_tokens":10,"output_tokens":{output}}}}}"#
            )
        };
        numbers.message("{}", &message("a", 1));
        numbers.message("{}", &message("a", 5));
        numbers.message("{}", &message("b", 2));
        assert_eq!((numbers.tokens().input, numbers.tokens().output), (20, 7));
        assert_eq!(numbers.models, ["m"]);
        assert_eq!(numbers.cost, None);
        numbers.message(r#"{"costUSD":0.5}"#, "{}");
        assert_eq!(numbers.cost, Some(0.5));
    }

    #[test]
    fn the_last_count_of_the_cli_is_the_cost() {
        let entries = [
            r#"{"type":"cost-state","totalCostUSD":1}"#.to_owned(),
            r#"{"type":"cost-state","totalCostUSD":2.5,"modelUsage":{"m":{"inputTokens":3,"costUSD":2.5}}}"#.to_owned(),
            r#"{"type":"user","message":{"content":"cost-state"}}"#.to_owned(),
        ];
        let mut totals = Totals::default();
        totals.take_count(&entries);
        assert_eq!(totals.cost.map(|cost| cost.dollars), Some(2.5));
        assert_eq!(totals.by_model.first().map(|one| one.tokens.input), Some(3));
        totals = Totals::default();
        totals.take_count(&[]);
        assert_eq!(totals.cost, None);
    }
}

//! What was used and what it cost.

use alloc::borrow::Cow;

use crate::json::JsonText;
use crate::view::view;

view! {
    /// Tokens of one API reply, or of a turn in a `result` (Messages API). An absent or null count
    /// is 0.
    ///
    /// In an `assistant` message it is not final (`protocol.md §5.1`).
    pub struct Usage {
        /// Tokens read that no cache had.
        input_tokens [default]: u64,
        /// Tokens written.
        output_tokens [default]: u64,
        /// Tokens put into the cache.
        cache_creation_input_tokens [default]: u64,
        /// Tokens read from the cache.
        cache_read_input_tokens [default]: u64,
        /// Tokens put into the cache, by how long it keeps them.
        cache_creation: Option<CacheCreation<'a>>,
        /// What the written tokens were used for.
        output_tokens_details: Option<OutputTokensDetails<'a>>,
        /// Calls of the API's own tools.
        server_tool_use: Option<ServerToolUsage<'a>>,
        /// `standard`, `priority` or `batch`.
        service_tier: Option<Cow<'a, str>>,
        /// Where the model ran.
        inference_geo: Option<Cow<'a, str>>,
        /// `standard` or `fast`.
        speed: Option<Cow<'a, str>>,
        /// The reply's parts, when several models or passes wrote it.
        iterations: Option<JsonText<'a>>,
        /// Credit for a fallback to another model.
        fallback_credit: Option<JsonText<'a>>,
    }
}

view! {
    /// Tokens put into the cache.
    pub struct CacheCreation {
        /// Kept for an hour.
        ephemeral_1h_input_tokens [default]: u64,
        /// Kept for five minutes.
        ephemeral_5m_input_tokens [default]: u64,
    }
}

view! {
    /// What written tokens were used for.
    pub struct OutputTokensDetails {
        /// Tokens of thinking.
        thinking_tokens [default]: u64,
    }
}

view! {
    /// Calls of the API's own tools.
    pub struct ServerToolUsage {
        /// Searches.
        web_search_requests [default]: u64,
        /// Pages read.
        web_fetch_requests [default]: u64,
    }
}

view! {
    /// What one model used, in a `result`.
    pub struct ModelUsage {
        /// Tokens read that no cache had.
        input_tokens as "inputTokens" [default]: u64,
        /// Tokens written.
        output_tokens as "outputTokens" [default]: u64,
        /// Tokens of thinking among them.
        thinking_tokens as "thinkingTokens": Option<u64>,
        /// Tokens read from the cache.
        cache_read_input_tokens as "cacheReadInputTokens" [default]: u64,
        /// Tokens put into the cache.
        cache_creation_input_tokens as "cacheCreationInputTokens" [default]: u64,
        /// Those kept for five minutes.
        cache_creation_ephemeral_5m_input_tokens as "cacheCreationEphemeral5mInputTokens": Option<u64>,
        /// Those kept for an hour.
        cache_creation_ephemeral_1h_input_tokens as "cacheCreationEphemeral1hInputTokens": Option<u64>,
        /// Web searches.
        web_search_requests as "webSearchRequests" [default]: u64,
        /// Cost in US dollars.
        cost_usd as "costUSD" [default]: f64,
        /// The model's context window in tokens.
        context_window as "contextWindow" [default]: u64,
        /// The most tokens a reply may have.
        max_output_tokens as "maxOutputTokens" [default]: u64,
        /// The model's name without an alias.
        canonical_model as "canonicalModel": Option<Cow<'a, str>>,
        /// Who serves the model, such as `firstParty`.
        provider: Option<Cow<'a, str>>,
        /// What the cost is counted by: `list`, `managed` or `unknown`.
        cost_basis as "costBasis": Option<Cow<'a, str>>,
    }
}

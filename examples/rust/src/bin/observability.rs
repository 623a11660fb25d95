//! Spans of a session in OpenTelemetry: one of this program's own around a question, those of crate
//! `towline` in it, and one of a tool. They are written to stdout; an exporter that sends them takes
//! the place of that one.
//!
//!     cargo run -p towline-examples --features opentelemetry --bin observability

use std::process::ExitCode;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use towline::{Error, Event, Options, Reply, Session, Tool, ToolServer};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::layer::SubscriberExt;

fn main() -> ExitCode {
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(opentelemetry_stdout::SpanExporter::default())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("towline-example"));
    let subscriber = tracing_subscriber::registry().with(layer);
    let answered = tracing::subscriber::with_default(subscriber, || {
        let span = tracing::info_span!("question");
        span.in_scope(ask)
    });
    // What was not sent yet is sent now.
    let sent = provider.shutdown();
    match (answered, sent) {
        (Err(error), _) => eprintln!("{error}"),
        (_, Err(error)) => eprintln!("{error}"),
        (Ok(()), Ok(())) => return ExitCode::SUCCESS,
    }
    ExitCode::FAILURE
}

/// The trace of a span as headers, for the CLI and what it starts.
fn headers(span: &Span) -> Vec<(String, String)> {
    let mut headers = std::collections::HashMap::new();
    TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
    headers.into_iter().collect()
}

fn ask() -> Result<(), Error> {
    let mut tools = ToolServer::new("demo", "1.0.0");
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}}}"#;
    tools
        .add(Tool::new(
            "weather",
            "The weather in a city",
            schema,
            |call| {
                // It stands in the span of the call, which is current here.
                let _span = tracing::info_span!("look at the sky").entered();
                let city = call
                    .text("/message/params/arguments/city")
                    .unwrap_or_default();
                Reply::text(format!("Sunny and 21 °C in {city}"))
            },
        ))
        .expect("the tool is well-formed");

    let session = Session::builder(Options::new())
        .tool_server(tools)
        .on_permission(|_| Reply::allow())
        .trace_context(headers(&Span::current()))
        .start()?;
    session.send("What is the weather in Oslo? Use the weather tool.")?;
    session.end_input_when_settled()?;
    while let Some(event) = session.poll(None)? {
        match event {
            Event::Message { message, .. } => eprintln!("{}", message.json()),
            Event::Closed(closed) => return closed.error.map_or(Ok(()), Err),
            _ => {}
        }
    }
    Ok(())
}

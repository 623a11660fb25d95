//! One question, with a tool of this program's own and a say in what runs.

use std::error::Error;
use std::process::ExitCode;

use towline::{Event, Options, Reply, Session, Tool, ToolServer, TurnOutcome};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut tools = ToolServer::new("demo", "1.0.0");
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
    tools
        .add(Tool::new(
            "weather",
            "The weather in a city",
            schema,
            |call| {
                let city = call
                    .text("/message/params/arguments/city")
                    .unwrap_or_default();
                Reply::text(format!("Sunny and 21 °C in {city}"))
            },
        ))
        .expect("the tool is well-formed");

    let session = Session::builder(Options::new())
        .tool_server(tools)
        .on_permission(|request| {
            let tool = request.tool_name().unwrap_or_default();
            match tool.starts_with("mcp__demo__") {
                true => Reply::allow(),
                false => Reply::deny(format!("{tool} is not for this example")),
            }
        })
        .start()?;
    let question = "What is the weather in Oslo? Use the weather tool.";
    let prompt = std::env::args().nth(1);
    session.send(prompt.as_deref().unwrap_or(question))?;
    session.end_input_when_settled()?;

    let mut answered = false;
    while let Some(event) = session.poll(None)? {
        match event {
            Event::Message { message, .. } => println!("{}", message.json()),
            Event::TurnEnded { outcome, .. } => {
                answered = matches!(outcome, TurnOutcome::Result(_))
            }
            Event::Closed(closed) => match closed.error {
                Some(error) => return Err(error.into()),
                None => break,
            },
            _ => {}
        }
    }
    match answered {
        true => Ok(()),
        false => Err("the turn ended without a result".into()),
    }
}

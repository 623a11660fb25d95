//! The schema of a tool's arguments.

use serde_json::Value;

/// How many problems of bad arguments are told to the model.
#[cfg(feature = "tool-arguments")]
const PROBLEMS: usize = 8;

/// A compiled JSON Schema.
pub(super) struct Schema(#[cfg(feature = "tool-arguments")] jsonschema::Validator);

impl Schema {
    /// Fails with the reason when it is no schema.
    pub(super) fn compile(schema: &str) -> Result<Schema, String> {
        let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        #[cfg(feature = "tool-arguments")]
        return match jsonschema::validator_for(&schema) {
            Ok(validator) => Ok(Schema(validator)),
            Err(error) => Err(error.to_string()),
        };
        #[cfg(not(feature = "tool-arguments"))]
        match schema.is_object() || schema.is_boolean() {
            true => Ok(Schema()),
            false => Err("it is no object".into()),
        }
    }

    /// What does not fit, as places (JSON Pointers) and reasons; nothing when all does. Without the
    /// feature `tool-arguments` that is for the host to say.
    pub(super) fn problems(&self, arguments: &Value) -> Vec<(String, String)> {
        #[cfg(feature = "tool-arguments")]
        if !self.0.is_valid(arguments) {
            let problems = self.0.iter_errors(arguments).take(PROBLEMS);
            let told = problems.map(|problem| {
                let place = problem.instance_path().to_string();
                (place, problem.to_string())
            });
            return told.collect();
        }
        #[cfg(not(feature = "tool-arguments"))]
        let _ = arguments;
        Vec::new()
    }
}

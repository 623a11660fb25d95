//! What a server offers: tools, resources, resource templates and prompts, checked when they are
//! registered and kept as the JSON that a list answer carries.
//!
//! CLI 2.1.332 reads a whole list or none of it: one schema without `"type":"object"`, or one hint
//! that is no boolean, hides every tool of the server. So what it would refuse is refused here.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::jsonrpc::{fields, push_display, push_json};
use crate::json::{elements, members, push_string, string, Kind};

/// A tool that the model can call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tool {
    /// The name in `tools/call`. The model sees `mcp__server__name`.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the tool does, for the model.
    pub description: Option<String>,
    /// JSON Schema of the arguments: an object with `"type":"object"`, which is added when there
    /// is no `type`.
    pub input_schema: String,
    /// JSON Schema of `structuredContent`, under the same rule.
    pub output_schema: Option<String>,
    /// JSON object: `title`, `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`.
    pub annotations: Option<String>,
    /// JSON object: `taskSupport`.
    pub execution: Option<String>,
    /// JSON object for `_meta`.
    pub meta: Option<String>,
}

impl Tool {
    /// A tool with a name, a description and a JSON Schema of its arguments.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: impl Into<String>,
    ) -> Self {
        Tool {
            name: name.into(),
            description: Some(description.into()),
            input_schema: input_schema.into(),
            ..Tool::default()
        }
    }
}

/// A resource that `resources/read` can name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resource {
    /// Its identity.
    pub uri: String,
    /// A short name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it holds.
    pub description: Option<String>,
    /// Media type, if known.
    pub mime_type: Option<String>,
    /// Size in bytes before any encoding, if known.
    pub size: Option<u64>,
    /// JSON object: `audience`, `priority`, `lastModified`.
    pub annotations: Option<String>,
    /// JSON object for `_meta`.
    pub meta: Option<String>,
}

/// A family of resources, by a URI template (RFC 6570).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// A short name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What such a resource holds.
    pub description: Option<String>,
    /// Media type, if all of them share one.
    pub mime_type: Option<String>,
    /// JSON object: `audience`, `priority`, `lastModified`.
    pub annotations: Option<String>,
    /// JSON object for `_meta`.
    pub meta: Option<String>,
}

/// A prompt. CLI 2.1.332 does not ask an in-process server for its prompts, announced or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The name in `prompts/get`.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the prompt is for.
    pub description: Option<String>,
    /// What can be filled in. Values are strings.
    pub arguments: Vec<PromptArgument>,
    /// JSON object for `_meta`.
    pub meta: Option<String>,
}

/// One argument of a [`Prompt`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// `prompts/get` without it is refused.
    pub required: bool,
}

/// Why something was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// A part of the definition is not what MCP allows.
    #[error("{kind} \"{name}\": {key}: {problem}")]
    Invalid {
        /// `tool`, `resource`, `resource template` or `prompt`.
        kind: &'static str,
        /// The name (or URI) of the definition.
        name: String,
        /// The part at fault, with the path inside it, as in `input_schema/properties/a`.
        key: String,
        /// What is wrong there.
        problem: String,
    },
    /// The name (or URI) is taken; remove the old one first.
    #[error("{kind} \"{name}\" is already registered")]
    Duplicate {
        /// `tool`, `resource`, `resource template` or `prompt`.
        kind: &'static str,
        /// The name (or URI).
        name: String,
    },
}

/// A key and what is wrong with its value.
type Problem = (String, String);

fn problem<T>(key: impl Into<String>, text: impl Into<String>) -> Result<T, Problem> {
    Err((key.into(), text.into()))
}

/// One kind of thing on offer: its registered definition and its JSON, in order of registration.
pub(super) trait Definition {
    const KIND: &'static str;
    fn key(&self) -> &str;
    /// Checks the definition, brings it into the form that is served, and writes its JSON.
    fn listing(&mut self) -> Result<String, Problem>;
}

#[derive(Debug)]
pub(super) struct Catalog<D> {
    entries: Vec<(D, String)>,
}

impl<D> Default for Catalog<D> {
    fn default() -> Self {
        Catalog {
            entries: Vec::new(),
        }
    }
}

impl<D: Definition> Catalog<D> {
    pub(super) fn add(&mut self, mut definition: D) -> Result<(), RegisterError> {
        let name = definition.key().to_owned();
        if self.get(&name).is_some() {
            return Err(RegisterError::Duplicate {
                kind: D::KIND,
                name,
            });
        }
        match definition.listing() {
            Ok(json) => {
                self.entries.push((definition, json));
                Ok(())
            }
            Err((key, problem)) => Err(RegisterError::Invalid {
                kind: D::KIND,
                name,
                key,
                problem,
            }),
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> bool {
        let before = self.entries.len();
        self.entries
            .retain(|(definition, _)| definition.key() != key);
        self.entries.len() != before
    }

    pub(super) fn get(&self, key: &str) -> Option<&D> {
        self.iter().find(|definition| definition.key() == key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &D> {
        self.entries.iter().map(|(definition, _)| definition)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The result of a list request: `{"MEMBER":[…],"nextCursor":"…"}`. A cursor is the number of
    /// entries before the page. `None`: there is no such page.
    pub(super) fn page(
        &self,
        member: &str,
        cursor: Option<&str>,
        page_size: usize,
    ) -> Option<String> {
        let start: usize = cursor.map_or(Some(0), |cursor| cursor.parse().ok())?;
        let rest = self.entries.get(start..)?;
        let page = rest.get(..page_size).unwrap_or(rest);
        let length: usize = page.iter().map(|(_, json)| json.len() + 1).sum();
        let mut out = String::with_capacity(length + member.len() + 40);
        out.push('{');
        push_string(&mut out, member);
        out.push_str(":[");
        for (at, (_, json)) in page.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(json);
        }
        out.push(']');
        if page.len() < rest.len() {
            out.push_str(r#","nextCursor":""#);
            push_display(&mut out, start + page.len());
            out.push('"');
        }
        out.push('}');
        Some(out)
    }
}

impl Definition for Tool {
    const KIND: &'static str = "tool";

    fn key(&self) -> &str {
        &self.name
    }

    fn listing(&mut self) -> Result<String, Problem> {
        self.input_schema = object_schema("input_schema", &self.input_schema)?;
        if let Some(schema) = &self.output_schema {
            self.output_schema = Some(object_schema("output_schema", schema)?);
        }
        if let Some(annotations) = &self.annotations {
            check_annotations(annotations)?;
        }
        let mut out = Object::new("name", &self.name)?;
        out.text("title", &self.title);
        out.text("description", &self.description);
        out.json("inputSchema", &self.input_schema);
        if let Some(schema) = &self.output_schema {
            out.json("outputSchema", schema);
        }
        out.object("annotations", "annotations", &self.annotations)?;
        out.object("execution", "execution", &self.execution)?;
        out.object("_meta", "meta", &self.meta)?;
        Ok(out.end())
    }
}

impl Definition for Resource {
    const KIND: &'static str = "resource";

    fn key(&self) -> &str {
        &self.uri
    }

    fn listing(&mut self) -> Result<String, Problem> {
        let mut out = Object::new("uri", &self.uri)?;
        out.required("name", &self.name)?;
        out.text("title", &self.title);
        out.text("description", &self.description);
        out.text("mimeType", &self.mime_type);
        if let Some(size) = self.size {
            out.json("size", &size.to_string());
        }
        out.object("annotations", "annotations", &self.annotations)?;
        out.object("_meta", "meta", &self.meta)?;
        Ok(out.end())
    }
}

impl Definition for ResourceTemplate {
    const KIND: &'static str = "resource template";

    fn key(&self) -> &str {
        &self.uri_template
    }

    fn listing(&mut self) -> Result<String, Problem> {
        let mut out = Object::new("uriTemplate", &self.uri_template)?;
        out.required("name", &self.name)?;
        out.text("title", &self.title);
        out.text("description", &self.description);
        out.text("mimeType", &self.mime_type);
        out.object("annotations", "annotations", &self.annotations)?;
        out.object("_meta", "meta", &self.meta)?;
        Ok(out.end())
    }
}

impl Definition for Prompt {
    const KIND: &'static str = "prompt";

    fn key(&self) -> &str {
        &self.name
    }

    fn listing(&mut self) -> Result<String, Problem> {
        let mut out = Object::new("name", &self.name)?;
        out.text("title", &self.title);
        out.text("description", &self.description);
        if !self.arguments.is_empty() {
            let mut list = String::from("[");
            for (at, argument) in self.arguments.iter().enumerate() {
                let mut item = Object::new("name", &argument.name)
                    .or_else(|(_, text)| problem(format!("arguments/{at}/name"), text))?;
                item.text("description", &argument.description);
                if argument.required {
                    item.json("required", "true");
                }
                if at > 0 {
                    list.push(',');
                }
                list.push_str(&item.end());
            }
            list.push(']');
            out.json("arguments", &list);
        }
        out.object("_meta", "meta", &self.meta)?;
        Ok(out.end())
    }
}

/// A JSON object under construction.
struct Object(String);

impl Object {
    fn new(key: &str, name: &str) -> Result<Self, Problem> {
        let mut object = Object(String::from("{"));
        object.required(key, name)?;
        Ok(object)
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        push_string(&mut self.0, key);
        self.0.push(':');
    }

    fn required(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        if text.is_empty() {
            return problem(key, "must not be empty");
        }
        self.key(key);
        push_string(&mut self.0, text);
        Ok(())
    }

    fn text(&mut self, key: &str, text: &Option<String>) {
        if let Some(text) = text {
            self.key(key);
            push_string(&mut self.0, text);
        }
    }

    fn json(&mut self, key: &str, json: &str) {
        self.key(key);
        push_json(&mut self.0, json);
    }

    fn object(&mut self, key: &str, part: &str, json: &Option<String>) -> Result<(), Problem> {
        if let Some(json) = json {
            members(json, |_, _| ()).or_else(|error| problem(part, error.to_string()))?;
            self.json(key, json);
        }
        Ok(())
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// The schema on one line, with its `type`.
fn object_schema(part: &str, schema: &str) -> Result<String, Problem> {
    let wanted = ["type", "properties", "required"];
    let [kind, properties, required] =
        fields(schema, wanted).or_else(|error| problem(part, error.to_string()))?;
    if kind.is_some_and(|kind| string(kind).as_deref() != Some("object")) {
        return problem(format!("{part}/type"), "must be \"object\"");
    }
    if let Some(properties) = properties {
        let key = format!("{part}/properties");
        let mut wrong = None;
        members(properties, |name, value| {
            let is_schema = matches!(Kind::of(value), Some(Kind::Object | Kind::Bool));
            if wrong.is_none() && !is_schema {
                wrong = Some(format!("{key}/{name}"));
            }
        })
        .or_else(|_| problem(key.as_str(), "must be an object"))?;
        if let Some(key) = wrong {
            return problem(key, "must be a schema: an object, true or false");
        }
    }
    if let Some(required) = required {
        let mut strings = true;
        let array = elements(required, |value| {
            strings &= Kind::of(value) == Some(Kind::String);
        });
        if array.is_err() || !strings {
            return problem(format!("{part}/required"), "must be an array of strings");
        }
    }
    let mut out = String::with_capacity(schema.len() + 16);
    if kind.is_some() {
        push_json(&mut out, schema);
    } else {
        insert_type(&mut out, schema);
    }
    Ok(out)
}

/// Writes an object schema that has no `type` (or a null one) with `"type":"object"` in front.
fn insert_type(out: &mut String, schema: &str) {
    out.push_str(r#"{"type":"object""#);
    // The text was read as an object before, so this cannot fail half-way.
    let _ = members(schema, |name, value| {
        if name != "type" {
            out.push(',');
            push_string(out, name);
            out.push(':');
            push_json(out, value);
        }
    });
    out.push('}');
}

fn check_annotations(annotations: &str) -> Result<(), Problem> {
    let mut wrong = None;
    members(annotations, |name, value| {
        let (kind, what) = match name {
            "title" => (Kind::String, "must be a string"),
            "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint" => {
                (Kind::Bool, "must be true or false")
            }
            _ => return,
        };
        if wrong.is_none() && Kind::of(value) != Some(kind) {
            wrong = Some((format!("annotations/{name}"), what.to_owned()));
        }
    })
    .or_else(|error| problem("annotations", error.to_string()))?;
    wrong.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn listed<D: Definition>(definition: D) -> Result<String, RegisterError> {
        let mut catalog = Catalog::default();
        catalog.add(definition)?;
        Ok(catalog.page("x", None, usize::MAX).unwrap())
    }

    #[test]
    fn a_tool_is_listed_on_one_line_with_its_type() {
        let tool = Tool {
            title: Some("Add".into()),
            output_schema: Some(r#"{"type":"object"}"#.into()),
            annotations: Some(r#"{"readOnlyHint":true,"other":1}"#.into()),
            execution: Some(r#"{"taskSupport":"forbidden"}"#.into()),
            meta: Some("{\n}".into()),
            ..Tool::new(
                "add",
                "adds \"two\"",
                "{\n \"properties\": {\"a\": {}},\n \"required\": [\"a\"]}",
            )
        };
        assert_eq!(
            listed(tool).unwrap(),
            concat!(
                r#"{"x":[{"name":"add","title":"Add","description":"adds \"two\"","#,
                r#""inputSchema":{"type":"object","properties":{"a": {}},"required":["a"]},"#,
                r#""outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"other":1},"#,
                r#""execution":{"taskSupport":"forbidden"},"_meta":{ }}]}"#
            )
        );
    }

    #[test]
    fn a_wrong_definition_names_the_tool_and_the_key() {
        let tool = |schema: &str| Tool::new("add", "", schema);
        for (tool, wanted) in [
            (
                tool("nonsense"),
                "tool \"add\": input_schema: not an object at byte 0",
            ),
            (
                tool("{\"a\":}"),
                "tool \"add\": input_schema: expected a value at byte 5",
            ),
            (
                tool(r#"{"type":"string"}"#),
                "tool \"add\": input_schema/type: must be \"object\"",
            ),
            (
                tool(r#"{"properties":[]}"#),
                "tool \"add\": input_schema/properties: must be an object",
            ),
            (
                tool(r#"{"properties":{"a":{},"b":true,"c":"number"}}"#),
                "tool \"add\": input_schema/properties/c: must be a schema: an object, true or false",
            ),
            (
                tool(r#"{"required":"a"}"#),
                "tool \"add\": input_schema/required: must be an array of strings",
            ),
            (
                Tool {
                    output_schema: Some("[]".into()),
                    ..tool("{}")
                },
                "tool \"add\": output_schema: not an object at byte 0",
            ),
            (
                Tool {
                    annotations: Some(r#"{"readOnlyHint":"yes"}"#.into()),
                    ..tool("{}")
                },
                "tool \"add\": annotations/readOnlyHint: must be true or false",
            ),
            (
                Tool {
                    meta: Some("1".into()),
                    ..tool("{}")
                },
                "tool \"add\": meta: not an object at byte 0",
            ),
            (
                Tool::new("", "", "{}"),
                "tool \"\": name: must not be empty",
            ),
        ] {
            assert_eq!(listed(tool).unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn the_other_kinds_are_listed() {
        let resource = Resource {
            uri: "file:///a".into(),
            name: "a".into(),
            mime_type: Some("text/plain".into()),
            size: Some(3),
            ..Resource::default()
        };
        assert_eq!(
            listed(resource).unwrap(),
            r#"{"x":[{"uri":"file:///a","name":"a","mimeType":"text/plain","size":3}]}"#
        );
        let template = ResourceTemplate {
            uri_template: "file:///{path}".into(),
            name: "files".into(),
            ..ResourceTemplate::default()
        };
        assert_eq!(
            listed(template).unwrap(),
            r#"{"x":[{"uriTemplate":"file:///{path}","name":"files"}]}"#
        );
        let mut prompt = Prompt {
            name: "review".into(),
            arguments: vec![
                PromptArgument {
                    name: "file".into(),
                    required: true,
                    ..PromptArgument::default()
                },
                PromptArgument {
                    name: "tone".into(),
                    description: Some("how".into()),
                    ..PromptArgument::default()
                },
            ],
            ..Prompt::default()
        };
        assert_eq!(
            listed(prompt.clone()).unwrap(),
            concat!(
                r#"{"x":[{"name":"review","arguments":[{"name":"file","required":true},"#,
                r#"{"name":"tone","description":"how"}]}]}"#
            )
        );
        prompt.arguments[1].name.clear();
        assert_eq!(
            listed(prompt).unwrap_err().to_string(),
            "prompt \"review\": arguments/1/name: must not be empty"
        );
        assert_eq!(
            listed(Resource {
                uri: "u".into(),
                ..Resource::default()
            })
            .unwrap_err()
            .to_string(),
            "resource \"u\": name: must not be empty"
        );
    }

    #[test]
    fn names_are_unique_and_pages_follow_one_another() {
        let mut catalog = Catalog::default();
        for name in ["a", "b", "c"] {
            catalog.add(Tool::new(name, "", "{}")).unwrap();
        }
        assert_eq!(
            catalog.add(Tool::new("b", "", "{}")),
            Err(RegisterError::Duplicate {
                kind: "tool",
                name: "b".into()
            })
        );
        let names = |page: &str| page.matches("\"name\"").count();
        let first = catalog.page("tools", None, 2).unwrap();
        assert_eq!(names(&first), 2);
        assert!(first.ends_with(r#","nextCursor":"2"}"#), "{first}");
        let last = catalog.page("tools", Some("2"), 2).unwrap();
        assert_eq!(names(&last), 1);
        assert!(!last.contains("nextCursor"));
        for cursor in ["x", "-1", "4", ""] {
            assert_eq!(catalog.page("tools", Some(cursor), 2), None, "{cursor}");
        }
        assert!(catalog.remove("b"));
        assert!(!catalog.remove("b"));
        assert!(catalog.get("b").is_none() && catalog.get("c").is_some());
    }
}
